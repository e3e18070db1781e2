"""Arrays of the caller as the library takes them: row-major, native bytes, images [n, height, width, channels].

Nothing is copied that has this layout already. Torch tensors, PIL images and data frames come by the array protocol.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import ArgumentError, DomainError, KindError, ShapeError

Layout = Literal["NHWC", "NCHW"]
Kind = Literal["auto", "floats", "bytes", "tokens"]
Array = NDArray[Any]

LAYOUTS = ("NHWC", "NCHW")
KINDS = ("auto", "floats", "bytes", "tokens")


@dataclass
class Values:
    """Examples as the library takes them, and how the caller had them."""

    array: Array  # [n, shape]
    kind: Kind
    given: tuple[int, ...]  # shape of the caller's array
    layout: Layout

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape[1:]

    @property
    def features(self) -> int:
        return int(np.prod(self.shape))

    def as_given(self, result: Array) -> Array:
        """[n, features] in the shape and layout of the caller."""
        if self.array.ndim == 4 and self.layout == "NCHW" and len(self.given) == 4:
            return np.ascontiguousarray(result.reshape(self.array.shape).transpose(0, 3, 1, 2))
        return result.reshape(self.given)


def either(x: Any, X: Any) -> Any:
    """Examples by the name that r4 has for them, or by that of scikit-learn."""
    if (x is None) == (X is None):
        raise ArgumentError("X is missing" if x is None else "x and X are given: they are two names of the same")
    return X if x is None else x


def to_array(x: Any, what: str) -> Array:
    """Whatever has the array protocol, as an array of numbers, or of texts where these are allowed."""
    if isinstance(x, str):
        raise ArgumentError(f"{what} is one text, expected a list of texts: [{x[:40]!r}]")
    if type(x).__module__.startswith("scipy.sparse"):
        raise ArgumentError(f"{what} is sparse, expected an array: see its method toarray")
    if hasattr(x, "detach"):  # a tensor of torch may still know its gradient
        x = x.detach().cpu()
    try:
        return np.asarray(x)
    except (ValueError, TypeError) as e:
        raise ArgumentError(f"{what} is not an array: {e}") from e


def _numbers(x: Array, dtype: type, what: str) -> Array:
    if np.iscomplexobj(x):
        raise ArgumentError(f"Complex data not supported: {what} has type {x.dtype}, expected real numbers")
    if x.dtype.kind not in "fiubO":
        raise ArgumentError(f"{what} has type {x.dtype}, expected numbers")
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
            return np.require(x, dtype, ["C_CONTIGUOUS", "ALIGNED"])
    except (ValueError, TypeError) as e:
        raise KindError(f"{what}: {e}; expected an array of numbers") from e


def check_word(word: str, words: Sequence[str], what: str) -> None:
    if word not in words:
        raise ArgumentError(f"{what} is {word!r}, expected one of {', '.join(words)}")


def _as_images(x: Array, layout: Layout) -> Array:
    if x.ndim == 3:
        return x[..., np.newaxis]
    return x.transpose(0, 2, 3, 1) if layout == "NCHW" else x


def values(x: Any, *, layout: Layout = "NHWC", kind: Kind = "auto", what: str = "X") -> Values:
    """Examples: [n, features], [n, height, width], or [n, height, width, channels] (or as layout says).

    uint8 is bytes, of which 255 is 1; all else becomes float32, unless it is stated that they are tokens.
    """
    check_word(layout, LAYOUTS, "layout")
    check_word(kind, KINDS, "kind")
    a = to_array(x, what)
    if a.ndim == 2 and a.shape[1] == 1 and len(a) and isinstance(a[0, 0], str):
        column = f'df["{x.columns[0]}"], not df[["{x.columns[0]}"]]' if hasattr(x, "columns") else "X[:, 0]"
        raise ArgumentError(f"{what} is a table with one column of texts, expected the column itself: {column}")
    if a.ndim == 1 and a.dtype == object and len(a) and np.ndim(a[0]) > 0:
        raise ArgumentError(f"{what} is a column of arrays, expected one array: np.stack({what})")
    if a.ndim < 2 or a.ndim > 4:
        raise ShapeError(
            f"Expected 2D array, got {a.ndim}D array instead: {what} has shape {a.shape}, expected [n, features], "
            "[n, height, width] or images with channels. Reshape your data either using array.reshape(-1, 1) if it "
            "has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    if a.shape[0] < 1:
        raise ShapeError(f"0 sample(s): {what} has shape {a.shape}, expected at least one example")
    if 0 in a.shape:
        raise ShapeError(f"0 feature(s) (shape={a.shape}) while a minimum of 1 is required.")
    if kind == "auto":
        kind = "bytes" if a.dtype == np.uint8 else "floats"
    if kind == "bytes" and a.dtype != np.uint8:
        raise ArgumentError(f"{what} has type {a.dtype}, expected uint8 for bytes")
    if kind == "tokens" and (a.ndim != 2 or a.dtype.kind not in "iu"):
        raise ArgumentError(f"{what} has type {a.dtype} and shape {a.shape}, expected whole numbers [n, tokens]")
    dtype = {"floats": np.float32, "bytes": np.uint8, "tokens": np.int32}[kind]
    array = _numbers(a if a.ndim == 2 else _as_images(a, layout), dtype, what)
    if kind == "floats" and not np.isfinite(array).all():
        first = int(np.argmin(np.isfinite(array).reshape(len(array), -1).all(axis=1)))
        raise DomainError(f"{what} contains NaN or infinity, or a value too large for float32: example {first}")
    return Values(array, kind, a.shape, layout)


def without_gaps(m: Any, means: str | None) -> Any:
    """None for an example is no mask: nothing in it is irrelevant, which is ones where 1 marks what is relevant."""
    if not isinstance(m, (list, tuple)) and getattr(getattr(m, "dtype", None), "kind", "") != "O":
        return m
    every = [None if one is None else to_array(one, "masks") for one in m]
    there = next((one for one in every if one is not None), None)
    if there is None or len(there.shape) == 0:
        return None if there is None else m
    whole = 255 if there.dtype == np.uint8 and max(one.max(initial=0) for one in every if one is not None) > 1 else 1
    none = np.full(there.shape, whole if means == "relevant" else 0, there.dtype)
    return [none if one is None else one for one in every]


def _check_shares(a: Array) -> None:
    wrong = ~((a >= 0) & (a <= 1)).reshape(len(a), -1).all(axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        value = next(float(v) for v in a[i].ravel() if not 0 <= v <= 1)
        two = value > 1 and ((a == 0) | (a == value)).all()
        advice = f"; {value:g} seems to stand for 1: give masks > 0" if two else ""
        raise DomainError(f"masks: example {i} has {value:g}, expected bool, 0 to 1, or uint8 up to 255{advice}")


def _without_channel(a: Array, x: Values) -> Array:
    """Masks of images of several channels, [n, height, width, 1] (or as layout says), by pixel."""
    n, height, width = x.array.shape[:3]
    if x.layout == "NCHW" and a.shape == (n, 1, height, width):
        return a[:, 0]
    return a[..., 0] if a.shape == (n, height, width, 1) else a


def masks(m: Any, x: Values) -> tuple[Array, bool]:
    """Masks as bytes or floats, and whether they are by feature, [n, shape], or by pixel, [n, height, width]."""
    a = to_array(m, "masks")
    by_pixel = x.array.shape[:3]
    if x.array.ndim == 4 and a.shape not in (x.array.shape, x.given):
        a = _without_channel(a, x)
    allowed = {x.array.shape, x.given} | ({by_pixel} if x.array.ndim == 4 else set())
    if a.shape not in allowed:
        shapes = " or ".join(str(s) for s in sorted(allowed, key=len, reverse=True))
        raise ShapeError(f"masks have shape {a.shape}, expected {shapes}, as X has shape {x.given}")
    if a.ndim == 4 and x.layout == "NCHW" and a.shape == x.given:
        a = a.transpose(0, 2, 3, 1)
    by_feature = x.array.ndim == 2 or a.ndim == 4
    dtype = np.uint8 if a.dtype in (np.bool_, np.uint8) else np.float32
    marks = _numbers(a, dtype, "masks")
    if dtype is np.float32:
        _check_shares(marks)
    return marks, by_feature


def _conversion() -> type[Warning]:
    """The warning that users of scikit-learn filter by."""
    try:
        from sklearn.exceptions import DataConversionWarning
    except ImportError:
        return UserWarning
    kind: type[Warning] = DataConversionWarning
    return kind


def column(v: Any, n: int, what: str) -> Array:
    """One value for each example."""
    a = to_array(v, what)
    if a.ndim == 2 and a.shape[1] == 1:
        warnings.warn(f"A column-vector {what} was passed when a 1d array was expected", _conversion(), stacklevel=4)
        a = a[:, 0]
    if a.ndim != 1:
        raise ShapeError(f"{what} should be a 1d array, got an array of shape {a.shape} instead")
    if a.shape[0] != n:
        raise ShapeError(f"{what} has {a.shape[0]} values, X has {n} examples: inconsistent numbers of samples")
    return a


def whole(v: Any, n: int, what: str) -> Array:
    """One whole number for each example, as int32."""
    a = column(v, n, what)
    if a.dtype.kind not in "iub":
        raise ArgumentError(f"{what} has type {a.dtype}, expected whole numbers")
    if a.size and (a.min() < np.iinfo(np.int32).min or a.max() > np.iinfo(np.int32).max):
        raise ArgumentError(f"{what} is out of range: from {a.min()} to {a.max()}")
    return np.ascontiguousarray(a, dtype=np.int32)


def named(v: Any, n: int, what: str) -> tuple[Array, list[str] | None]:
    """Numbers, and names if these are texts: classes in the order of the alphabet."""
    a = column(v, n, what)
    if a.dtype.kind not in "UOS":
        return whole(a, n, what), None
    names, numbers = np.unique(a.astype(str), return_inverse=True)
    return numbers.astype(np.int32), [str(name) for name in names]
