"""Certificates of boxes: predictions that are proved for whatever is in the masks, within eps or the valid range."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from . import _header as h
from ._library import LIB, call, choice, encode
from .errors import ArgumentError

if TYPE_CHECKING:
    from .data import Data
    from .net import Model

Array = NDArray[Any]
Number = Union[int, float, str, Decimal]
Valid = Union[Sequence[Number], Literal["none"], None]
SEMANTICS = ("real", "any-float")
SHARES = {"accuracy": h.R4_SHARE_CORRECT, "certified": h.R4_SHARE_CERTIFIED, "attacked": h.R4_SHARE_ATTACKED}


@dataclass(frozen=True)
class Certified:
    """What is proved of each example; doc/certificates.md says what that means, and why it is true.

    eps        how far masked features move, a decimal that is taken exactly, or "range": any valid value
    valid      lowest and highest valid value, decimals, or None: there are no limits
    semantics  "real" arithmetic with the stored weights, or "any-float" evaluation of them
    predicted  the class, by its number, or its label where a Classifier was asked
    certified  whatever is in the mask, within the box, predicted stays
    margin     the logit of predicted is at least so much above all others in the whole box; -inf: nothing is known
    broken     an attack found another prediction in the box; None: no attack was made
    radius     the largest eps that is certified, as far as bisection went; None: not asked for
    delta      the masked explanation of the loss is at most so long in the whole box; None: not asked for
    shares     "accuracy", "certified" and, after an attack, "attacked": of all examples ("all"), as a mean over groups
               ("avg_group"), of the worst of them ("worst_group", whose name is "worst"), and of each ("groups"); None:
               there are no labels
    """

    eps: str
    valid: tuple[str, str] | None
    semantics: str
    predicted: Array
    certified: Array
    margin: Array
    broken: Array | None
    radius: Array | None
    delta: Array | None
    shares: dict[str, dict[str, Any]] | None

    @property
    def certified_accuracy(self) -> float:
        """The share of examples that are correct, and certified; NaN without labels."""
        return float(self.shares["certified"]["all"]) if self.shares else float("nan")


def decimal(v: Number, what: str) -> str:
    """0.1 as "0.1": what was written, not the float that is near it."""
    if isinstance(v, (bool, np.bool_)):
        raise ArgumentError(f"{what} is {v}, expected a number")
    try:
        number = Decimal(v) if isinstance(v, str) else Decimal(repr(float(v))) if not isinstance(v, Decimal) else v
    except (ArithmeticError, TypeError, ValueError):
        raise ArgumentError(f"{what} is {v!r}, expected a decimal, as 0.1") from None
    if not number.is_finite():
        raise ArgumentError(f"{what} is {v}, expected a decimal, as 0.1")
    return format(number, "f")


def valid_of(valid: Valid, shape: Sequence[int]) -> tuple[str, str] | None:
    """As the command has it: of images, if nothing is said, 0 to 1."""
    if valid is None:
        return ("0", "1") if len(shape) == 3 else None
    if isinstance(valid, str):
        choice(valid, ("none",), "valid")
        return None
    if len(valid) != 2:
        raise ArgumentError(f"valid has {len(valid)} numbers, expected the lowest and the highest valid value")
    return decimal(valid[0], "valid"), decimal(valid[1], "valid")


def box_of(eps: Number | None, whole: bool) -> str | None:
    """The decimal; None: the whole range."""
    if whole == (eps is not None):
        raise ArgumentError("expected one of eps=0.1 and range=True" if whole else "expected eps=0.1 or range=True")
    return None if eps is None else decimal(eps, "eps")


def _shares_of(data: Data, found: Any, which: int) -> dict[str, Any]:
    s = LIB.r4_certified_shares(data.pointer, found, which, False)
    names = data.group_names
    return {
        "all": s.all,
        "avg_group": s.avg_group,
        "worst_group": s.worst_group,
        "worst": names[s.worst] if s.worst < len(names) else "",
    }


def _by_group(data: Data, good: Array) -> dict[str, float]:
    groups = data.groups
    return {name: float(np.mean(good[groups == k])) for k, name in enumerate(data.group_names) if (groups == k).any()}


def certify(
    model: Model,
    data: Data,
    eps: str | None,
    *,
    valid: tuple[str, str] | None,
    semantics: str = "real",
    radius: bool = False,
    gradient: bool = False,
    attack: int = 0,
    donors: Data | None = None,
    labelled: bool = True,
) -> Certified:
    """r4_certify_box, and r4_attack_box in the same boxes with contents of donors."""
    o = h.r4_certify_options()
    o.semantics = choice(semantics, SEMANTICS, "semantics")
    o.eps = None if eps is None else encode(eps, "eps")
    if valid:
        o.low, o.high = (encode(v, "valid") for v in valid)
    o.radius, o.gradient = radius, gradient
    if attack < 0:
        raise ArgumentError(f"attack is {attack}, expected a number of starts from 0 on")
    if not data.masked_count:
        raise ArgumentError("no example has a mask, so nothing in them may change: expected masks")
    found = (h.r4_certified * max(len(data), 1))()
    call("r4_certify_box", *model.addresses, data.pointer, ctypes.byref(o), found)
    if attack:
        others = (donors or data).pointer
        call("r4_attack_box", *model.addresses, data.pointer, ctypes.byref(o), others, attack, 0, found)
    rows = found[: len(data)]

    def column(key: str, kind: type) -> Array:
        return np.array([getattr(row, key) for row in rows], dtype=kind)

    predicted, certified, broken = column("predicted", np.int32), column("holds", np.bool_), column("broken", np.bool_)
    correct = predicted == data.y
    good = {"accuracy": correct, "certified": correct & certified, "attacked": correct & ~broken}
    shares = {
        name: _shares_of(data, found, SHARES[name]) | {"groups": _by_group(data, mine)}
        for name, mine in good.items()
        if attack or name != "attacked"
    }
    return Certified(
        eps="range" if eps is None else eps,
        valid=valid,
        semantics=semantics,
        predicted=predicted,
        certified=certified,
        margin=column("margin", np.float64),
        broken=broken if attack else None,
        radius=column("radius", np.float64) if radius else None,
        delta=column("delta", np.float64) if gradient else None,
        shares=shares if labelled else None,
    )
