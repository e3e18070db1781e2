"""Names of arguments, checked at the door: one that does not exist is a TypeError that says which was meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar, cast

from .settings import PARAMETERS, Settings

F = TypeVar("F", bound=Callable[..., Any])
# What other libraries call it.
ELSEWHERE = {
    "lr": "rate",
    "learning_rate": "rate",
    "n_epochs": "epochs",
    "max_iter": "epochs",
    "batch_size": "batch",
    "seed": "random_state",
    "val": "validation",
    "n_samples": "samples",
    "n_jobs": "threads",
    "mask": "masks",
    "labels": "y",
    "class_weight": "class_weights",
}
# What there is instead of it.
INSTEAD = {
    "sample_weight": 'examples have no weights of their own: settings={"class_weights": "balanced"} weighs classes, '
    'method="group-dro" with groups=... weighs groups',
    "class_weights": 'it is a setting: settings={"class_weights": "balanced"}, or a weight by class, as {label: 2}',
}


def _meant(name: str, known: Sequence[str], settings: bool) -> str:
    """A sentence's end: what was probably meant, or all that there is."""
    usual = ELSEWHERE.get(name, name)
    keys = list(Settings.keys()) if settings else []
    for meant in (usual, PARAMETERS.get(usual)):
        if meant in known:
            return f"did you mean {meant}?"
    if usual in INSTEAD and (settings or usual == name):
        return INSTEAD[usual]
    if usual in keys:
        return f'it is a setting: settings={{"{usual}": ...}}'
    close = get_close_matches(name, known, 1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"


def _by_name(function: Callable[..., Any], given: int, places: Sequence[str], known: Sequence[str]) -> str:
    """What must be given by its name, where it was given by its place."""
    what = function.__qualname__.removesuffix(".__init__")
    names = ", ".join(f"{name}=..." for name in known if name not in places)
    return f"{what}() takes {', '.join(places)} by their places, and {given} are given: name the others, {names}"


def named(*more: str, settings: bool = False) -> Callable[[F], F]:
    """For methods. more: arguments that they hand on; settings: whether there are settings for all else."""

    def decorate(function: F) -> F:
        kinds = inspect.signature(function).parameters
        plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        known = [name for name, p in kinds.items() if p.kind in plain and name != "self"] + list(more)

        @functools.wraps(function)
        def checked(*args: Any, **given: Any) -> Any:
            most = [name for name, p in kinds.items() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
            if len(args) > len(most) and inspect.Parameter.VAR_POSITIONAL not in (p.kind for p in kinds.values()):
                raise TypeError(_by_name(function, len(args) - 1, most[1:], known))
            for name in given:
                if name not in known:
                    what = function.__qualname__.removesuffix(".__init__")
                    raise TypeError(f"{what}() has no argument {name!r}: {_meant(name, known, settings)}")
            return function(*args, **given)

        return cast(F, checked)

    return decorate
