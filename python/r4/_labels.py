"""Labels as users have them: numbers or texts, kept as classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays as arrays
from ._arrays import Array
from .errors import ArgumentError, Error


class NotFitted(Error, ValueError, AttributeError):
    """The classifier must learn before it is asked."""

    status = "not fitted"


def labels_of(y: Any, n: int) -> Array:
    """Labels of any type that can be sorted."""
    a = arrays.column(y, n, "y")
    if a.dtype.kind == "f":
        if not np.isfinite(a).all():
            raise ArgumentError("Input y contains NaN or infinity: expected labels")
        if (a != np.floor(a)).any():
            raise ArgumentError("Unknown label type: y has numbers that are not whole, expected classes")
    if a.dtype.kind == "O" and any(v is None or v != v for v in a):
        raise ArgumentError("y contains NaN or None: expected labels")
    return a


def class_values(names: list[str]) -> Array:
    """Names of classes that are all numbers become numbers again."""
    whole = all(n.lstrip("-").isdecimal() and str(int(n)) == n for n in names)
    return np.array([int(n) for n in names] if whole else names)


def not_fitted(sentence: str) -> Exception:
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return NotFitted(sentence)
    kind: type[Exception] = NotFittedError
    return kind(sentence)
