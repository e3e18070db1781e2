"""Data sets: examples with labels and, where known, masks of what must not matter, groups and splits."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _arrays as arrays
from . import _header as h
from ._arrays import Array, Kind, Layout
from ._assemble import SPLITS, Assembled, meaning
from ._library import LIB, Owned, call, choice, encode, from_shape, text_of
from .errors import ArgumentError
from .texts import are_texts, text_data

if TYPE_CHECKING:
    from .settings import Settings

Split = Literal["train", "val", "test"]
MaskMeans = Literal["irrelevant", "relevant"]

FILLS = tuple(text_of(name) for name in takewhile(lambda name: name is not None, map(LIB.r4_fill_name, count())))
CORRUPTIONS = ("misposition", "shift", "dilation", "shrink")


def content_number(word: str) -> int:
    """What a swap test puts into masks: no content at all, and a mix for training, are none."""
    return 1 + choice(word, FILLS[1 : h.R4_FILL_BLANK + 1], "content")


@dataclass(frozen=True)
class Finding:
    """What is probably wrong with a data set; a note is worth knowing, but nothing to fix."""

    code: str
    text: str
    note: bool


def _set_reading(o: h.r4_data_options, reading: dict[str, int | bool]) -> None:
    """Numbers and flags of r4_data_options by their names in r4.h."""
    plain = sorted(name for name, kind, *_ in o._fields_ if kind in (ctypes.c_int64, ctypes.c_bool))
    for name, value in reading.items():
        choice(name, plain, "an option of reading")
        setattr(o, name, value)


def _say_how_to_read(o: h.r4_data_options, mask_means: MaskMeans | None, size: int, seed: int) -> None:
    o.mask_means = meaning(mask_means)
    o.height = o.width = size
    o.seed = seed


class Data(Owned):
    """A data set is a value: a method that would change something returns a new one, which shares memory with it."""

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        *,
        X: Any = None,
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
        tokenizer: str | os.PathLike[str] | None = None,
        length: int = 0,
        copy: bool = True,
    ) -> None:
        """From arrays: x (or X) [n, features] or images [n, height, width(, channels)], labels y [n], and what else is
        known.

        uint8 values are ``byte * scale + offset``, and without a scale ``byte / 255``. Masks are 0 to 1, [n, height,
        width] or shaped as x, or a list with None for examples without a mask; mask_means says what 1 marks. Labels and
        groups are whole numbers from 0 on, or texts; splits are "train", "val", "test" or 0, 1, 2. The data set has the
        hash of the same arrays in an npz file.

        From texts: x is a list of strings. tokenizer: a tokenizer.json, a vocab.txt, or a net downloaded with
        ``r4 data get`` ("minilm"). length: how many tokens each text is cut or padded to, 0 for those of the longest.
        masks are words that must not matter, ["spielberg", "jonah"], or for each text a list of spans of characters,
        [[(3, 9)], []].

        copy=False looks at x where it is, if it is float32 or uint8 in row-major order: it must then stay as it is as
        long as the data set, or anything made of it, is used.
        """
        x = arrays.either(x, X)
        if y is None:
            raise ArgumentError("y is missing: r4.Data(X, y) has a label for each example")
        if are_texts(x):
            if kind != "auto" or lengths is not None:
                raise ArgumentError("X has texts: kind is found out, and lengths are counted")
            about = {"masks": masks, "mask_means": mask_means, "groups": groups, "splits": splits, "classes": classes}
            self._own(text_data(x, y, tokenizer=tokenizer, length=length, **about), "r4_data_free")
            return
        if tokenizer is not None or length:
            raise ArgumentError("tokenizer and length are for texts, and X has none")
        v = arrays.values(x, layout=layout, kind=kind)
        made = Assembled(v.array.shape[0])
        made.values(v, lengths, scale, offset, vocabulary, padding)
        made.about(y, classes, groups, splits)
        made.masks(masks, v, mask_means, soft_masks)
        made.arrays.borrow = not copy
        self._own(call("r4_data_new", ctypes.byref(made.arrays)), "r4_data_free", *([] if copy else [v.array]))

    @classmethod
    def _of(cls, pointer: int, *keeps: Any) -> Data:
        self = cls.__new__(cls)
        self._own(pointer, "r4_data_free", *keeps)
        return self

    def _made(self, pointer: int) -> Data:
        """Another data set, which shares memory with this one."""
        return self._of(pointer, *self._kept)

    @property
    def lent(self) -> tuple[Any, ...]:
        """Arrays that the data set looks at where they are: whatever holds it must keep them."""
        return self._kept

    @classmethod
    def open(
        cls,
        source: str | os.PathLike[str],
        *,
        mask_means: MaskMeans | None = None,
        size: int = 0,
        seed: int = 0,
        **reading: int | bool,
    ) -> Data:
        """A known data set ("mnist", "digits:600"), an npz file or a folder, as doc/formats.md has them.

        reading: numbers and flags of r4_data_options in r4.h, such as soft_masks=True or length=64.
        """
        o = h.r4_data_options()
        _set_reading(o, reading)
        _say_how_to_read(o, mask_means, size, seed)
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
        o.val, o.clean = val, clean
        _say_how_to_read(o.read, mask_means, size, seed)
        return cls._of(call("r4_data_make", encode(recipe, "a recipe"), ctypes.byref(o)))

    @classmethod
    def of_settings(cls, settings: Settings) -> Data:
        """The data, with all of their splits, that settings name."""
        return cls._of(call("r4_settings_data", settings.pointer))

    @classmethod
    def of_run(cls, settings: Settings) -> Data:
        """The same of a run that is only read: nothing is added to its cache of images."""
        return cls._of(call("r4_run_data", settings.pointer))

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
    def vocabulary(self) -> int:
        """How many ids of tokens there are; 0 unless examples are texts."""
        return int(LIB.r4_data_vocabulary(self.pointer))

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

    def tokens(self, i: int) -> list[str]:
        """The tokens of text i, without padding, as the vocabulary has them; numbers if it is not known."""
        p = self.pointer
        if not 0 <= i < len(self):
            raise ArgumentError(f"there is no example {i}, expected 0 to {len(self) - 1}")
        if not self.vocabulary:
            raise ArgumentError("the examples are not texts, and have no tokens")
        ids = np.empty(self.shape, dtype=np.float32)
        LIB.r4_data_values(p, i, ids.ctypes.data)
        pieces = ((k, LIB.r4_data_piece(p, k)) for k in map(int, ids[: LIB.r4_data_length(p, i)]))
        return [str(k) if piece is None else text_of(piece) for k, piece in pieces]

    @property
    def has_mask(self) -> Array:
        p = self.pointer
        return np.array([LIB.r4_data_has_mask(p, i) for i in range(len(self))], dtype=bool)

    @property
    def masked_count(self) -> int:
        """How many examples have a mask."""
        return sum(int(LIB.r4_data_mask_count(self.pointer, split, -1)) for split in range(len(SPLITS)))

    # ---- Other data sets made of it ----

    def part(self, split: Split) -> Data:
        return self._made(call("r4_data_part", self.pointer, choice(split, SPLITS, "split")))

    def subset(self, examples: Any) -> Data:
        """These examples, by number, or where a mask of booleans is true."""
        which = arrays.to_array(examples, "examples")
        if which.dtype == bool:
            which = np.flatnonzero(arrays.column(which, len(self), "examples"))
        if which.ndim != 1 or (which.size and which.dtype.kind not in "iu") or (which.size and which.min() < 0):
            raise ArgumentError(f"examples are numbers from 0 to {len(self) - 1}")
        numbers = np.ascontiguousarray(which, dtype=np.uintp)
        return self._made(call("r4_data_subset", self.pointer, len(numbers), numbers.ctypes.data))

    def fraction(self, share: float, seed: int = 0) -> Data:
        """A share of each class of the training part, and all of the others."""
        return self._made(call("r4_data_fraction", self.pointer, share, seed))

    def split(self, val: float, test: float, seed: int = 0) -> Data:
        """A new split by seed: shares of every class; examples with the same id stay together."""
        return self._made(call("r4_data_split", self.pointer, val, test, seed))

    def hold_out(self, val: float, seed: int = 0) -> Data:
        """Moves a share of the training part to validation."""
        return self._made(call("r4_data_hold_out", self.pointer, val, seed))

    def keep_masks(self, share: float, seed: int = 0) -> Data:
        """The masks of a share of each class of the training part; the others of training have none."""
        return self._made(call("r4_data_keep_masks", self.pointer, share, seed))

    def invert_masks(self) -> Data:
        return self._made(call("r4_data_invert_masks", self.pointer))

    def soften_masks(self, alpha: float) -> Data:
        return self._made(call("r4_data_soften_masks", self.pointer, alpha))

    def corrupt_masks(self, kind: str, correct: float, seed: int = 0) -> Data:
        number = choice(kind, CORRUPTIONS, "kind")
        return self._made(call("r4_data_corrupt_masks", self.pointer, number, correct, seed))

    def fill(self, kind: str, seed: int = 0, epoch: int = 0) -> Data:
        """Masked content replaced, as a net sees it in that epoch."""
        return self._made(call("r4_data_fill", self.pointer, choice(kind, FILLS, "kind"), seed, epoch))

    # ---- Looking and writing ----

    @property
    def value_range(self) -> tuple[float, float]:
        """The smallest and the largest of all values."""
        facts = LIB.r4_data_facts(self.pointer)
        return facts.low, facts.high

    def lint(self) -> list[Finding]:
        """What is probably wrong with it."""
        return self._findings("r4_data_lint", None)

    def lint_masks(self) -> list[Finding]:
        """What is probably wrong with its masks: a part of lint that is quick."""
        return self._findings("r4_data_lint_masks")

    def _findings(self, function: str, *how: Any) -> list[Finding]:
        found, n = (h.r4_finding * h.R4_FINDINGS)(), ctypes.c_size_t()
        call(function, self.pointer, *how, found, ctypes.byref(n))
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
