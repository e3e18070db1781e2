"""Data sets: examples with labels and, where known, masks of what must not matter, groups and splits."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _arrays as arrays
from . import _header as h
from ._arrays import Array, Kind, Layout
from ._library import LIB, Owned, call, choice, encode, from_shape, text_of, texts, to_shape
from .errors import ArgumentError

Split = Literal["train", "val", "test"]
MaskMeans = Literal["irrelevant", "relevant"]

SPLITS = ("train", "val", "test")
MEANINGS = ("unstated", "irrelevant", "relevant")
FILLS = ("none", "colour", "noise", "mean", "blur", "swap", "paste")
CORRUPTIONS = ("misposition", "shift", "dilation", "shrink")


@dataclass(frozen=True)
class Finding:
    """What is probably wrong with a data set; a note is worth knowing, but nothing to fix."""

    code: str
    text: str
    note: bool


def _splits(given: Any, n: int) -> Array:
    a = arrays.column(given, n, "splits")
    if a.dtype.kind in "UOS":
        numbers = [choice(str(word), SPLITS, "a split") for word in a]
        return np.array(numbers, dtype=np.int32)
    return arrays.whole(a, n, "splits")


class Data(Owned):
    """A data set is a value: a method that would change something returns a new one, which shares memory with it."""

    def __init__(
        self,
        x: Any,
        y: Any,
        *,
        masks: Any = None,
        mask_means: MaskMeans | None = None,
        soft_masks: bool = False,
        groups: Any = None,
        splits: Any = None,
        layout: Layout = "NHWC",
        kind: Kind = "auto",
        lengths: Any = None,
        vocabulary: int = 0,
        padding: int = 0,
        classes: Sequence[str] | None = None,
        scale: float = 0.0,
        offset: float = 0.0,
    ) -> None:
        """From arrays: x [n, features] or images [n, height, width(, channels)], labels y [n], and what else is known.

        uint8 values are ``byte * scale + offset``, and without a scale ``byte / 255``. Masks are 0 to 1, [n, height,
        width] or shaped as x; mask_means says what 1 marks. Labels and groups are whole numbers from 0 on, or texts;
        splits are "train", "val", "test" or 0, 1, 2. The data set has the hash of the same arrays in an npz file.
        """
        v = arrays.values(x, layout=layout, kind=kind)
        a = h.r4_data_arrays()
        n = a.n = v.array.shape[0]
        a.shape = to_shape(v.shape)
        setattr(a, v.kind, v.array.ctypes.data)
        keep: list[Any] = [v.array]
        a.scale, a.offset, a.vocabulary, a.padding = scale, offset, vocabulary, padding

        def bind(field: str, array: Array) -> None:
            keep.append(array)
            setattr(a, field, array.ctypes.data)

        def bind_names(field: str, count: str, names: Sequence[str]) -> None:
            keep.append(texts(names))
            setattr(a, field, ctypes.addressof(keep[-1]))
            setattr(a, count, len(names))

        if v.kind == "tokens":
            bind("lengths", arrays.whole(np.full(n, v.features) if lengths is None else lengths, n, "lengths"))
        elif lengths is not None:
            raise ArgumentError("lengths are for tokens: say kind='tokens'")
        labels, names = arrays.named(y, n, "y")
        bind("labels", labels)
        if classes is not None and names is not None:
            raise ArgumentError("classes name the numbers in y, but y has texts in it")
        if classes is not None or names is not None:
            bind_names("class_names", "classes", list(classes if classes is not None else names or []))
        if groups is not None:
            numbers, group_names = arrays.named(groups, n, "groups")
            bind("groups", numbers)
            if group_names is not None:
                bind_names("group_names", "group_count", group_names)
        if splits is not None:
            bind("splits", _splits(splits, n))
        if masks is not None:
            marks, a.masks_by_feature = arrays.masks(masks, v)
            bind("mask_bytes" if marks.dtype == np.uint8 else "mask_floats", marks)
        a.mask_means = choice(mask_means or "unstated", MEANINGS, "mask_means")
        a.soft_masks = soft_masks
        self._own(call("r4_data_new", ctypes.byref(a)), "r4_data_free")

    @classmethod
    def _of(cls, pointer: int) -> Data:
        self = cls.__new__(cls)
        self._own(pointer, "r4_data_free")
        return self

    @classmethod
    def open(
        cls,
        source: str | os.PathLike[str],
        *,
        mask_means: MaskMeans | None = None,
        soft_masks: bool = False,
        size: int = 0,
        seed: int = 0,
    ) -> Data:
        """A known data set ("mnist", "digits:600"), an npz file or a folder, as doc/data.md has them."""
        o = h.r4_data_options()
        o.mask_means = choice(mask_means or "unstated", MEANINGS, "mask_means")
        o.soft_masks, o.seed = soft_masks, seed
        o.height = o.width = size
        return cls._of(call("r4_data_open", encode(source, "a source"), ctypes.byref(o)))

    @classmethod
    def make(
        cls,
        recipe: str,
        *,
        source: str | os.PathLike[str] | None = None,
        seed: int = 0,
        val: float = 0.0,
        size: int = 0,
        clean: bool = False,
        mask_means: MaskMeans | None = None,
    ) -> Data:
        """By a recipe ("decoy-mnist", see recipes()), from its own source or another."""
        o = h.r4_recipe_options()
        if source is not None:
            setattr(o, "from", encode(source, "a source"))
        o.seed, o.val, o.size, o.clean = seed, val, size, clean
        o.mask_means = choice(mask_means or "unstated", MEANINGS, "mask_means")
        return cls._of(call("r4_data_make", encode(recipe, "a recipe"), ctypes.byref(o)))

    # ---- What is in it ----

    def __len__(self) -> int:
        return int(LIB.r4_data_count(self.pointer))

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one example: (height, width, channels), (features,) or (tokens,)."""
        return from_shape(LIB.r4_data_shape(self.pointer))

    @property
    def classes(self) -> list[str]:
        p = self.pointer
        return [text_of(LIB.r4_data_class_name(p, k)) for k in range(LIB.r4_data_classes(p))]

    @property
    def group_names(self) -> list[str]:
        p = self.pointer
        return [text_of(LIB.r4_data_group_name(p, k)) for k in range(LIB.r4_data_groups(p))]

    @property
    def about(self) -> str:
        """One line that says how it was made."""
        return text_of(LIB.r4_data_about(self.pointer))

    @property
    def notes(self) -> list[str]:
        """Sentences about what was odd when it was read."""
        p = self.pointer
        return [text_of(LIB.r4_data_note(p, k)) for k in range(LIB.r4_data_notes(p))]

    @property
    def hash(self) -> str:
        """SHA-256 of the content, however it is stored."""
        text = ctypes.create_string_buffer(h.R4_HASH_SIZE)
        LIB.r4_data_hash(self.pointer, text)
        return text.value.decode()

    def _rows(self, function: str) -> Array:
        p, to = self.pointer, np.empty((len(self), *self.shape), dtype=np.float32)
        size = to[:1].nbytes
        fill, address = getattr(LIB, function), to.ctypes.data
        for i in range(len(to)):
            fill(p, i, address + i * size)
        return to

    @property
    def x(self) -> Array:
        """Values, [n, shape], as float32; of images 0 to 1."""
        return self._rows("r4_data_values")

    @property
    def masks(self) -> Array:
        """[n, shape], 1 = must not matter; zeros where there is none."""
        return self._rows("r4_data_mask")

    def _column(self, field: str) -> Array:
        p = self.pointer
        return np.array([getattr(LIB.r4_data_example(p, i), field) for i in range(len(self))], dtype=np.int32)

    @property
    def y(self) -> Array:
        """Numbers of classes."""
        return self._column("label")

    @property
    def groups(self) -> Array:
        return self._column("group")

    @property
    def splits(self) -> Array:
        """0, 1, 2 for train, val, test."""
        return self._column("split")

    @property
    def has_mask(self) -> Array:
        p = self.pointer
        return np.array([LIB.r4_data_has_mask(p, i) for i in range(len(self))], dtype=bool)

    # ---- Other data sets made of it ----

    def part(self, split: Split) -> Data:
        return self._of(call("r4_data_part", self.pointer, choice(split, SPLITS, "split")))

    def subset(self, examples: Any) -> Data:
        """These examples, by number, or where a mask of booleans is true."""
        which = arrays.to_array(examples, "examples")
        if which.dtype == bool:
            which = np.flatnonzero(arrays.column(which, len(self), "examples"))
        if which.ndim != 1 or (which.size and which.dtype.kind not in "iu") or (which.size and which.min() < 0):
            raise ArgumentError(f"examples are numbers from 0 to {len(self) - 1}")
        numbers = np.ascontiguousarray(which, dtype=np.uintp)
        return self._of(call("r4_data_subset", self.pointer, len(numbers), numbers.ctypes.data))

    def fraction(self, share: float, seed: int = 0) -> Data:
        """A share of each class of the training part, and all of the others."""
        return self._of(call("r4_data_fraction", self.pointer, share, seed))

    def split(self, val: float, test: float, seed: int = 0) -> Data:
        """A new split by seed: shares of every class; examples with the same id stay together."""
        return self._of(call("r4_data_split", self.pointer, val, test, seed))

    def hold_out(self, val: float, seed: int = 0) -> Data:
        """Moves a share of the training part to validation."""
        return self._of(call("r4_data_hold_out", self.pointer, val, seed))

    def keep_masks(self, share: float, seed: int = 0) -> Data:
        """The masks of a share of each class of the training part; the others of training have none."""
        return self._of(call("r4_data_keep_masks", self.pointer, share, seed))

    def invert_masks(self) -> Data:
        return self._of(call("r4_data_invert_masks", self.pointer))

    def soften_masks(self, alpha: float) -> Data:
        return self._of(call("r4_data_soften_masks", self.pointer, alpha))

    def corrupt_masks(self, kind: str, correct: float, seed: int = 0) -> Data:
        number = choice(kind, CORRUPTIONS, "kind")
        return self._of(call("r4_data_corrupt_masks", self.pointer, number, correct, seed))

    def fill(self, kind: str, seed: int = 0, epoch: int = 0) -> Data:
        """Masked content replaced, as a net sees it in that epoch."""
        return self._of(call("r4_data_fill", self.pointer, choice(kind, FILLS, "kind"), seed, epoch))

    # ---- Looking and writing ----

    def lint(self) -> list[Finding]:
        """What is probably wrong with it."""
        found, n = (h.r4_finding * h.R4_FINDINGS)(), ctypes.c_size_t()
        call("r4_data_lint", self.pointer, None, found, ctypes.byref(n))
        return [Finding(text_of(f.code), text_of(f.text), f.note) for f in found[: n.value]]

    def sheet(self, file: str | os.PathLike[str], columns: int = 0) -> None:
        """A contact sheet as a PNG file: a row for each class, masks outlined."""
        call("r4_data_sheet", self.pointer, h.R4_SHEET_CLASSES, columns, encode(file, "a file"))

    def save(self, file: str | os.PathLike[str]) -> None:
        """An npz file that NumPy, r4.Data.open and the command read."""
        call("r4_data_save", self.pointer, encode(file, "a file"))

    def __repr__(self) -> str:
        if not self._finalizer.alive:
            return "Data(closed)"
        return f"Data({len(self)} examples of {self.shape}, {len(self.classes)} classes: {self.about})"


def recipes() -> list[str]:
    """The names of the recipes."""
    return [text_of(LIB.r4_recipe_describe(k).name) for k in range(LIB.r4_recipe_count())]


def data(source: str | os.PathLike[str], /, **options: Any) -> Data:
    """A data set by name or path: a recipe (Data.make says which options), or a source (Data.open)."""
    if str(source) in recipes():
        return Data.make(str(source), **options)
    return Data.open(source, **options)
