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
    if isinstance(y, (list, tuple)) or a.dtype.kind == "O":
        kinds = sorted({"texts" if isinstance(v, str) else "others" for v in (y if a.dtype.kind != "O" else a)})
        if len(kinds) > 1:
            raise ArgumentError("y has texts and other labels, expected one type: [str(label) for label in y]")
    if a.dtype.kind == "f":
        if not np.isfinite(a).all():
            raise ArgumentError("Input y contains NaN or infinity: expected labels")
        if (a != np.floor(a)).any():
            raise ArgumentError("Unknown label type: y has numbers that are not whole, expected classes")
    if a.dtype.kind == "O" and any(v is None or v != v for v in a):
        raise ArgumentError("y contains NaN or None: expected labels")
    return a


def type_of(classes: Array) -> str:
    """A word for the type of labels, for files, in which all of them are texts."""
    texts = classes.dtype.kind == "O" and all(isinstance(c, str) for c in classes)
    return "str" if texts or classes.dtype.kind in "US" else classes.dtype.name


def _of_type(names: list[str], word: str) -> Array | None:
    """The classes of that type; None if they are none of it."""
    if word == "str":
        return np.array(names)
    if word == "bool":
        return np.array([n == "True" for n in names])
    try:
        dtype = np.dtype(word)
        read = {"i": int, "u": int, "f": float}[dtype.kind]
        return np.array([read(n) for n in names], dtype=dtype)
    except (TypeError, KeyError, ValueError, OverflowError):
        return None


def _written(name: str, read: type[int] | type[float]) -> bool:
    """Whether this is how a number is written."""
    try:
        return str(read(name)) == name and bool(np.isfinite(read(name)))
    except (ValueError, OverflowError):
        return False


def class_values(names: list[str], word: str | None = None) -> Array:
    """Classes of their names in files: of the type that they had (type_of), or else numbers if all names are."""
    if word is not None and (known := _of_type(names, word)) is not None:
        return known
    for read in (int, float):
        if all(_written(n, read) for n in names):
            return np.array([read(n) for n in names])
    return np.array(names)


def not_fitted(sentence: str) -> Exception:
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return NotFitted(sentence)
    kind: type[Exception] = NotFittedError
    return kind(sentence)
