"""What gives the label away, before anything is marked: r4.find, and what it returns."""

from __future__ import annotations

import base64
import ctypes
import html
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _header as h
from ._arrays import Kind, Layout
from ._assemble import SPLITS
from ._library import LIB, Owned, call, encode, take_text, text_of
from ._say import DataWarning, warn
from .data import Data, MaskMeans
from .errors import ArgumentError
from .masked import apart

if TYPE_CHECKING:
    from .classifier import Classifier

CROPS, CROP = 5, 96


@dataclass(frozen=True)
class Sighting:
    """Where a cue is seen: an example, how clearly (1 to 0), and its place as shares of the image."""

    number: int
    file: str | None
    label: str
    split: str
    score: float
    box: tuple[float, float, float, float] | None
    token: int
    _data: Data | None = field(default=None, repr=False, compare=False)

    @property
    def picture(self) -> str:
        """The image with the place outlined, as SVG; "" for a text."""
        return _picture(self._data, self) if self._data is not None else ""


@dataclass(frozen=True, repr=False)
class Cue:
    """A set of examples that are alike in one respect and share a label; doc/find.md says what each figure is."""

    id: str
    kind: str
    what: str
    where: str
    words: str | None
    label: str
    shown_on: int
    of_class: int
    base: float
    p: float
    pure: bool
    local: bool
    lean: float
    lean_se: float
    sightings: tuple[Sighting, ...]
    leaning: str | None = None  # what lean says, in words

    @property
    def told(self) -> str:
        """What it is, how likely by chance, and how much the net leans on it, where these are known."""
        p = "" if np.isnan(self.p) else f" (p = {self.p:.2g})" if self.p > 0 else " (p < 1e-300)"
        return f"{self.what}{p}{f'; {self.leaning}' if self.leaning else ''}"

    def __repr__(self) -> str:
        first = ", ".join(s.file or str(s.number) for s in self.sightings[:CROPS])
        more = f", ... {len(self.sightings) - CROPS} more" if len(self.sightings) > CROPS else ""
        return f"Cue({self.id!r}: {self.told};\n    seen on {first}{more})"

    def _repr_html_(self) -> str:
        pictures = "".join(f" {s.picture}" for s in self.sightings[:CROPS] if s.picture)
        return f"<p><b>{html.escape(self.id)}</b>: {html.escape(self.told)}</p>" + (
            f"<p>{pictures.strip()}</p>" if pictures else ""
        )


def _png(pixels: np.ndarray) -> bytes:
    """Grey or RGB bytes, [height, width, channels]."""
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _picture(data: Data, s: Sighting) -> str:
    shape = LIB.r4_data_shape(data.pointer)
    if shape.rank != 3:
        return ""
    height, width, channels = shape.dim[0], shape.dim[1], shape.dim[2]
    values = np.empty((height, width, channels), np.float32)
    LIB.r4_data_values(data.pointer, s.number, values.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
    pixels = np.clip(values * 255, 0, 255).astype(np.uint8)
    if channels not in (1, 3):
        pixels = pixels[:, :, :1]
    url = base64.b64encode(_png(np.ascontiguousarray(pixels))).decode()
    x, y, w, high = s.box or (0, 0, 0, 0)
    mark = f'<rect x="{x}" y="{y}" width="{w}" height="{high}" fill="none" stroke="#f0f" stroke-width=".03"/>'
    return (
        f'<svg width="{CROP}" height="{CROP}" viewBox="0 0 1 1" role="img">'
        f"<title>{html.escape(s.file or str(s.number))}: {html.escape(s.label)}</title>"
        f'<image href="data:image/png;base64,{url}" width="1" height="1" preserveAspectRatio="none"/>'
        f"{mark if s.box else ''}</svg>"
    )


def _label(data: Data, k: int) -> str:
    return text_of(LIB.r4_data_class_name(data.pointer, k))


def _sighting(data: Data, s: h.r4_sighting) -> Sighting:
    x = LIB.r4_data_example(data.pointer, s.example)
    box = (s.box[0], s.box[1], s.box[2], s.box[3]) if s.box[2] > 0 else None
    file = text_of(x.file) if x.file else None
    return Sighting(s.example, file, _label(data, x.label), SPLITS[x.split], s.score, box, s.token, data)


def _cue(data: Data, c: h.r4_clue) -> Cue:
    seen = (h.r4_sighting * c.sightings).from_address(c.sighting) if c.sightings else ()
    return Cue(
        id=text_of(c.id),
        kind=text_of(LIB.r4_clue_kind_name(c.kind)),
        what=text_of(c.what),
        where=text_of(c.where),
        words=text_of(c.words) if c.words else None,
        label=_label(data, c.label),
        shown_on=c.shown_on,
        of_class=c.of_class,
        base=c.base,
        p=c.p,
        pure=c.pure,
        local=c.local,
        lean=c.lean,
        lean_se=c.lean_se,
        sightings=tuple(_sighting(data, s) for s in seen),
        leaning=None if np.isnan(c.lean) else take_text(LIB.r4_clue_leaning(ctypes.byref(c))),
    )


class Found(Owned, Sequence[Cue]):
    """What was found, in the order in which a person should see it: a list of cues, with pictures in a notebook."""

    def __init__(self, data: Data, source: str | None, pointer: int, all_parts: bool = False) -> None:
        self._own(pointer, "r4_found_free", data)
        self._data, self._source, self._all_parts = data, source, all_parts
        self._cues = [_cue(data, LIB.r4_found_at(pointer, k)) for k in range(LIB.r4_found_count(pointer))]

    def __len__(self) -> int:
        return len(self._cues)

    def __iter__(self) -> Iterator[Cue]:
        return iter(self._cues)

    @overload
    def __getitem__(self, k: int) -> Cue: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[Cue]: ...
    @overload
    def __getitem__(self, k: str) -> Cue: ...
    def __getitem__(self, k: int | slice | str) -> Cue | Sequence[Cue]:
        """By place in the list, or by id."""
        return self._cues[self._index(k)] if isinstance(k, str) else self._cues[k]

    def _index(self, name: str) -> int:
        names = [c.id for c in self._cues]
        if name not in names:
            raise KeyError(f"no cue is called {name!r}; there are {', '.join(names) or 'none'}")
        return names.index(name)

    @property
    def tried(self) -> int:
        """How many tests were made, for which p is corrected."""
        return int(LIB.r4_found_tried(self.pointer))

    @property
    def sentence(self) -> str:
        said = LIB.r4_found_sentence(self.pointer)
        try:
            return ctypes.string_at(said).decode()
        finally:
            LIB.r4_string_free(said)

    def __str__(self) -> str:
        """The sentence, and a line for each cue."""
        return "\n".join([self.sentence, *(f"{c.id}: {c.told}" for c in self._cues)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """As find.json, which ``r4 find --propose ID --from`` goes on with."""
        source = encode(self._source, "a source") if self._source else None
        call("r4_found_save", self.pointer, self._data.pointer, source, None, encode(path, "a file"))

    def propose(self, cue: Cue | str, folder: str | os.PathLike[str]) -> int:
        """Masks for all images that show a cue, in folder/masks, listed in proposals.json; returns how many.

        A DataWarning says when they are not to be trusted: fewer than half are likely on images that show the cue, by
        how often images of other classes are listed.
        """
        name = cue if isinstance(cue, str) else cue.id
        c = LIB.r4_found_at(self.pointer, self._index(name))
        o = h.r4_find_options()
        o.all = self._all_parts
        made = call("r4_find_propose", self._data.pointer, ctypes.byref(c), ctypes.byref(o))
        try:
            source = encode(self._source, "a source") if self._source else None
            to = encode(folder, "a folder")
            call("r4_proposed_save", made, self._data.pointer, encode(name, "a name"), source, to)
            self._warn_of(made, c)
            return int(LIB.r4_proposed_count(made))
        finally:
            LIB.r4_proposed_free(made)

    @staticmethod
    def _warn_of(proposed: int, c: h.r4_clue) -> None:
        said = LIB.r4_proposed_doubt(proposed, ctypes.byref(c))
        if not said:
            return
        try:
            doubt = ctypes.string_at(said).decode()
        finally:
            LIB.r4_string_free(said)
        instead = "another cue may do better"
        if np.isnan(c.lean):
            instead += ", and r4.find(..., quick_net=True) says what a net leans on"
        warn(f"{doubt} Look at them before you use any; {instead}", DataWarning)

    # ---- In a notebook ----

    def _repr_html_(self) -> str:
        return "".join([f"<p>{html.escape(self.sentence)}</p>", *(c._repr_html_() for c in self._cues)])


def _data_of(X: Any, y: Any, more: dict[str, Any]) -> tuple[Data, str | None]:
    """The data set, and the path that it was read from."""
    given = [name for name, v in {"y": y, **more}.items() if v is not None]
    if isinstance(X, (Data, str, os.PathLike)):
        if given:
            raise ArgumentError(f"{given[0]} is for arrays: a data set, or the files of one, have their own")
        if isinstance(X, Data):
            return X, None
        return Data._of(call("r4_find_data", encode(X, "a source"), None)), os.fspath(X)
    X, more["masks"], more["mask_means"], more["groups"] = apart(X, more["masks"], more["mask_means"], more["groups"])
    if y is None:
        raise ArgumentError("labels are missing: r4.find(X, y) looks for what gives y away")
    return Data(X, y, **{name: v for name, v in more.items() if v is not None}), None


def find(
    X: Data | str | os.PathLike[str] | Any,
    y: Any = None,
    *,
    splits: Any = None,
    masks: Any = None,
    mask_means: MaskMeans | None = None,
    groups: Any = None,
    layout: Layout | None = None,
    kind: Kind | None = None,
    tokenizer: str | os.PathLike[str] | None = None,
    model: Classifier | None = None,
    quick_net: bool = False,
    seed: int = 0,
    most: int = 20,
    masked: bool = False,
    all_parts: bool = False,
) -> Found:
    """What gives the label away: places, colours, edges and files of images; words, phrases and lengths of texts.

    X: examples with labels y, and what else r4.Data takes; or a data set; or the path of one (folders of images are
    then looked at in 64 x 64 pixels). model: a fitted classifier of these images, whose net is asked what it looks at:
    clusters, and how much it leans on each cue. quick_net: a small one, which is trained for that. seed: of that net,
    and of where clusters begin. masked: what is masked already is looked at, too. all_parts: not training examples
    alone.
    """
    if model is not None and quick_net:
        raise ArgumentError("model and quick_net are two nets: choose one")
    more = {"splits": splits, "masks": masks, "mask_means": mask_means, "groups": groups}
    data, source = _data_of(X, y, {**more, "layout": layout, "kind": kind, "tokenizer": tokenizer})
    o = h.r4_find_options()
    o.source = encode(source, "a source") if source else None
    o.most, o.masked, o.all, o.seed = most, masked, all_parts, seed
    found = call("r4_find_scan", data.pointer, ctypes.byref(o))
    try:
        if model is not None:
            call("r4_find_clusters", found, *model.model_.addresses, data.pointer, ctypes.byref(o))
        elif quick_net:
            _ask_quick_net(found, data, o)
    except BaseException:
        LIB.r4_found_free(found)
        raise
    return Found(data, source, found, all_parts)


def _ask_quick_net(found: int, data: Data, o: h.r4_find_options) -> None:
    trainer = call("r4_find_quick_net", data.pointer, o.seed)
    try:
        while not LIB.r4_trainer_done(trainer):
            call("r4_trainer_epoch", trainer, None)
        net = LIB.r4_trainer_net(trainer), LIB.r4_trainer_weights(trainer)
        call("r4_find_clusters", found, *net, data.pointer, ctypes.byref(o))
    finally:
        LIB.r4_trainer_free(trainer)
