"""Texts: lists of strings, which the library makes into tokens. What is marked in them are spans, or words."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _header as h
from ._arrays import Array
from ._assemble import Assembled, check_meaning, meaning
from ._library import call, encode
from .errors import ArgumentError, ShapeError

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".npy")


class Explained(NamedTuple):
    """How much each token of a text has to do with the answer."""

    tokens: list[str]  # pieces of words as the vocabulary has them, "[CLS]" first
    values: Array  # as many


def are_texts(x: Any) -> bool:
    """Whether this is a list of strings, or an array or a column of a data frame with strings in it."""
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and isinstance(x[0], str)
    if getattr(x, "ndim", 0) != 1 or len(x) == 0:
        return False
    return isinstance(np.asarray(x[:1], dtype=object)[0], str)


def strings(x: Any) -> list[str]:
    """Each of them, checked."""
    found = list(x)
    for k, text in enumerate(found):
        if not isinstance(text, str):
            raise ArgumentError(f"text {k} is of type {type(text).__name__}, expected a string")
    return [str(text) for text in found]


def _encoded(said: Sequence[str]) -> Any:
    """``const char *const *`` of UTF-8."""
    raw = []
    for k, text in enumerate(said):
        try:
            raw.append(text.encode())
        except UnicodeEncodeError as e:
            raise ArgumentError(f"text {k} is not Unicode: {e.reason} at character {e.start}") from e
        if "\0" in text:
            raise ArgumentError(f"text {k} has a zero in it, at character {text.index(chr(0))}")
    return (ctypes.c_char_p * len(raw))(*raw)


def refuse_files(texts: Sequence[str]) -> None:
    """Names of image files are not what a net for texts should read."""
    if texts and all(text.lower().endswith(IMAGES) for text in texts):
        raise ArgumentError(
            f"X has names of files such as {texts[0]!r}, and strings are texts: r4.data(folder) reads images, with "
            "labels and masks (doc/data.md)"
        )


def words_of(masks: Any) -> str | None:
    """Words that must not matter, as the setting data.mask_words has them; None if masks are something else."""
    if masks is None or not (isinstance(masks, str) or (len(masks) > 0 and isinstance(masks[0], str))):
        return None
    words = masks.replace(",", " ").split() if isinstance(masks, str) else strings(masks)
    for word in words:
        if len(word.replace(",", " ").split()) != 1:
            raise ArgumentError(f"masks: {word!r} is not one word; mark it by spans of each text")
    return ", ".join(words) + ","  # which is no name of a file


def _spans(masks: Any, n: int) -> tuple[Array, Array]:
    """How many spans each text has, and all of them in a row, [spans, 2]."""
    if len(masks) != n:
        raise ShapeError(f"masks have the spans of {len(masks)} texts, X has {n}")
    counts, rows = np.zeros(n, dtype=np.uintp), []
    for k, spans in enumerate(masks):
        a = np.asarray([] if spans is None else spans)
        if a.size == 0:
            continue
        if a.ndim != 2 or a.shape[1] != 2 or a.dtype.kind not in "iu":
            raise ArgumentError(f"masks: text {k} has {spans!r}, expected spans of characters such as [(3, 9)]")
        counts[k] = len(a)
        rows.append(a)
    return counts, np.ascontiguousarray(np.concatenate(rows) if rows else np.zeros((1, 2)), dtype=np.int64)


def text_data(
    x: Any,
    y: Any,
    *,
    masks: Any,
    mask_means: str | None,
    groups: Any,
    splits: Any,
    classes: Sequence[str] | None,
    tokenizer: str | os.PathLike[str] | None,
    length: int,
) -> int:
    """The address of a data set of these texts."""
    said = strings(x)
    refuse_files(said)
    made = Assembled(len(said))
    made.about(y, classes, groups, splits)
    o = h.r4_data_options()
    o.length, o.mask_means = length, meaning(mask_means)
    if tokenizer is not None:
        o.tokenizer = encode(tokenizer, "a tokenizer")
    words = words_of(masks)
    counts = spans = None
    if words is not None:
        o.mask_words = encode(words, "masks")
    elif masks is not None:
        check_meaning(mask_means)
        counts, spans = _spans(masks, len(said))
    address: int = call(
        "r4_data_texts",
        _encoded(said),
        None if counts is None else counts.ctypes.data,
        None if spans is None else spans.ctypes.data,
        ctypes.byref(made.arrays),
        ctypes.byref(o),
    )
    return address
