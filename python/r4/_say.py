"""What is said to the user: warnings at the line that led to them, in the words of Python."""

from __future__ import annotations

import os
import re
import sys
import warnings

from .errors import Error
from .settings import PARAMETERS, Settings

HERE = os.path.dirname(__file__) + os.sep
PAIR = re.compile(r"(?<![\w.])([a-z][a-z_]*(?:\.[a-z_]+)*): ([\w.+-]*\w)")
OTHER = {"data", "net", "name"}  # begin sentences of another kind: "data: example 3 has ..."


class DataWarning(UserWarning):
    """Examples or masks are probably not what was meant."""


class ShortcutWarning(UserWarning):
    """A figure does not tell whether a model uses what masks mark."""


class VerdictWarning(UserWarning):
    """The model that fit made uses what masks mark, or its penalty counted in no step."""


def warn(sentence: str, kind: type[Warning]) -> None:
    """A warning at the line that called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, kind, stacklevel=level)


def _assigned(found: re.Match[str]) -> str:
    """One "key: value" of a YAML file as an argument of Classifier; anything else as it is."""
    key, word = found[1], found[2]
    try:
        value = Settings({key: word})[key] if key not in OTHER else None
    except Error:
        value = None
    if value is None:
        return found[0]
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    written = f'"{value}"' if isinstance(value, str) else str(value)
    name = PARAMETERS.get(key)
    return f"{name}={written}" if name else f'settings={{"{key}": {written}}}'


def in_python(sentence: str) -> str:
    """A sentence of the library, which speaks of settings as files have them, and of options of its command."""
    return PAIR.sub(_assigned, sentence).replace("--mask-means", "mask_means")
