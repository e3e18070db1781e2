"""Covering masks: predictions that no content of any one region of a family can change."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _header as h
from ._library import call, encode
from .errors import ArgumentError

if TYPE_CHECKING:
    from .data import Data
    from .net import Model

Array = NDArray[Any]


@dataclass(frozen=True)
class Covered:
    """What two-mask inference says, an entry for each example; doc/cover.md has the claims and their proofs.

    predicted  the class, by its number, or its label where a Classifier was asked; -1: a logit is not finite
    alone      of the net, without masks
    certified  whatever is put into any one region of the family, predicted stays
    detected   whatever is put there, predicted stays, or predictions with one mask differ
    agreed     predictions with one mask are all the same; if not, what is in one place decides
    margin     of what is certified: the smallest difference of logits over all passes; else 0
    """

    family: str
    predicted: Array
    alone: Array
    certified: Array
    detected: Array
    agreed: Array
    margin: Array

    def certified_accuracy(self, y: Any) -> float:
        """The share of examples that are certified for their label."""
        return float(np.mean((self.predicted == np.asarray(y)) & self.certified))


def cover(model: Model, data: Data, family: str) -> Covered:
    numbers = np.ascontiguousarray(model.constant, dtype=np.float32)
    if not len(numbers):
        raise ArgumentError("the model does not say by what hidden content is replaced: expected one that r4 trained")
    o = h.r4_cover_options()
    name = encode(family, "a family")
    o.family, o.constant = name, numbers.ctypes.data
    found = (h.r4_covered * max(len(data), 1))()
    call("r4_cover_predict", *model.addresses, data.pointer, ctypes.byref(o), found)
    rows = found[: len(data)]

    def column(key: str, kind: type) -> Array:
        return np.array([getattr(row, key) for row in rows], dtype=kind)

    return Covered(
        family,
        column("predicted", np.int32),
        column("alone", np.int32),
        column("recovered", np.bool_),
        column("detected", np.bool_),
        column("agreed", np.bool_),
        column("margin", np.float32),
    )
