"""A data set while it is put together: the struct that r4_data_new takes, and what must live until it has."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays as arrays
from . import _header as h
from ._arrays import Array, Values
from ._library import choice, texts, to_shape
from .errors import ArgumentError

SPLITS = ("train", "val", "test")
MEANINGS = ("irrelevant", "relevant")  # in the order of r4_mask_meaning, which begins with "unstated"


def meaning(word: str | None) -> int:
    """What 1 marks, as the library has it."""
    return 0 if word is None else 1 + choice(word, MEANINGS, "mask_means")


def check_meaning(word: str | None) -> None:
    """Masks are nothing without."""
    if word is None:
        raise ArgumentError(
            'masks are given without mask_means: pass mask_means="irrelevant" if 1 (or True) marks what must not '
            'matter, mask_means="relevant" if it marks what matters'
        )


def _splits(given: Any, n: int) -> Array:
    a = arrays.column(given, n, "splits")
    if a.dtype.kind in "UOS":
        numbers = [choice(str(word), SPLITS, "a split") for word in a]
        return np.array(numbers, dtype=np.int32)
    return arrays.whole(a, n, "splits")


class Assembled:
    """Arrays of n examples, bound one after the other."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.arrays = h.r4_data_arrays()
        self.arrays.n = n
        self._keep: list[Any] = []

    def bind(self, field: str, array: Array) -> None:
        self._keep.append(array)
        setattr(self.arrays, field, array.ctypes.data)

    def _bind_names(self, field: str, count: str, names: Sequence[str]) -> None:
        self._keep.append(texts(names))
        setattr(self.arrays, field, ctypes.addressof(self._keep[-1]))
        setattr(self.arrays, count, len(names))

    def values(self, v: Values, lengths: Any, scale: float, offset: float, vocabulary: int, padding: int) -> None:
        a = self.arrays
        a.shape = to_shape(v.shape)
        self.bind(v.kind, v.array)
        a.scale, a.offset, a.vocabulary, a.padding = scale, offset, vocabulary, padding
        if v.kind == "tokens":
            every = np.full(self.n, v.features) if lengths is None else lengths
            self.bind("lengths", arrays.whole(every, self.n, "lengths"))
        elif lengths is not None:
            raise ArgumentError("lengths are for tokens: say kind='tokens'")

    def masks(self, m: Any, v: Values, means: str | None, soft: bool) -> None:
        number = meaning(means)
        if (m := arrays.without_gaps(m, means)) is not None:
            check_meaning(means)
            marks, self.arrays.masks_by_feature = arrays.masks(m, v)
            self.bind("mask_bytes" if marks.dtype == np.uint8 else "mask_floats", marks)
        self.arrays.mask_means = number
        self.arrays.soft_masks = soft

    def about(self, y: Any, classes: Sequence[str] | None, groups: Any, splits: Any) -> None:
        """What is known of each example, besides its values."""
        labels, names = arrays.named(y, self.n, "y")
        self.bind("labels", labels)
        if classes is not None and names is not None:
            raise ArgumentError("classes name the numbers in y, but y has texts in it")
        if classes is not None or names is not None:
            self._bind_names("class_names", "classes", list(classes if classes is not None else names or []))
        if groups is not None:
            numbers, group_names = arrays.named(groups, self.n, "groups")
            self.bind("groups", numbers)
            if group_names is not None:
                self._bind_names("group_names", "group_count", group_names)
        if splits is not None:
            self.bind("splits", _splits(splits, self.n))
