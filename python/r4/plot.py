"""Heat maps with matplotlib, which is imported when something is drawn. ``r4 explain`` draws them without it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import Any

import numpy as np

from ._arrays import Array, to_array
from .errors import ArgumentError, ShapeError

TITLE = 24  # characters of a line that have room above an image


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as e:
        raise ImportError("r4.plot draws with matplotlib, which is not installed: pip install matplotlib") from e
    return pyplot


def _picture(image: Any) -> Array:
    """[height, width] or [height, width, 3], from 0 to 1."""
    a = to_array(image, "image")
    if a.ndim == 3 and a.shape[2] == 1:
        a = a[..., 0]
    if a.ndim != 2 and not (a.ndim == 3 and a.shape[2] == 3):
        raise ShapeError(f"image has shape {a.shape}, expected [height, width], with 1 or 3 channels behind")
    scaled: Array = np.clip(a / (255 if a.dtype == np.uint8 else 1), 0, 1)
    return scaled


def _flat(values: Any, size: tuple[int, ...], what: str) -> Array:
    """One number for each pixel: the sum over its channels."""
    a = to_array(values, what).astype(float)
    if a.shape[:2] != size or a.ndim not in (2, 3):
        raise ShapeError(f"{what} have shape {a.shape}, expected {size}, with or without channels, as the image")
    one: Array = a.sum(axis=2) if a.ndim == 3 else a
    return one


def heatmap(image: Any, values: Any, mask: Any = None, ax: Any = None) -> Any:
    """The image in grey, attributions over it (red above 0, blue below, the same scale for both), the mask outlined.

    image [height, width(, 1 or 3)], uint8 or from 0 to 1; values and mask are as large. Returns the axes.
    """
    picture = _picture(image)
    v = _flat(values, picture.shape[:2], "values")
    m = _flat(mask, picture.shape[:2], "mask") if mask is not None else None
    axes = ax if ax is not None else _pyplot().subplots()[1]
    grey = picture.mean(axis=2) if picture.ndim == 3 else picture
    top = float(np.abs(v[np.isfinite(v)]).max(initial=0)) or 1.0
    axes.imshow(grey, cmap="gray", vmin=0, vmax=1)
    axes.imshow(np.clip(v, -top, top), cmap="RdBu_r", vmin=-top, vmax=top, alpha=0.6)
    if m is not None and (m > 0).any():  # a border of zeros closes outlines at the edge
        at = (np.arange(-1, n + 1) for n in m.shape[::-1])
        axes.contour(*at, np.pad(m > 0, 1).astype(float), levels=[0.5], colors="gold", linewidths=1)
        axes.set(xlim=(-0.5, m.shape[1] - 0.5), ylim=(m.shape[0] - 0.5, -0.5))
    axes.set(xticks=[], yticks=[])
    return axes


def channels_last(a: Any, layout: str) -> Array:
    """Images or masks as [n, height, width(, channels)]."""
    x = to_array(a, "X")
    return x.transpose(0, 2, 3, 1) if layout == "NCHW" and x.ndim == 4 else x


def axes_of(ax: Any) -> list[Any] | None:
    """Axes of the caller, one or an array of them, in a row."""
    return None if ax is None else list(np.ravel(np.asarray(ax, dtype=object)))


def figure(images: Array, values: Array, masks: Array | None, titles: Sequence[str], own: list[Any] | None) -> Any:
    """A row of heat maps with titles above them; arrays are [n, height, width(, channels)].

    own: axes to draw in. Without, a new figure, which is closed: a notebook shows what a cell returns, and would show
    an open figure once more.
    """
    if images.ndim not in (3, 4):
        raise ArgumentError(f"plot shows images, and X has shape {images.shape}")
    pyplot, row = _pyplot(), own
    if row is None:
        drawn, axes = pyplot.subplots(1, len(images), squeeze=False, figsize=(2 * len(images), 2.4))
        row = list(axes[0])
        pyplot.close(drawn)
    for k, ax in enumerate(row[: len(images)]):
        heatmap(images[k], values[k], masks[k] if masks is not None else None, ax)
        ax.set_title("\n".join(shorten(line, TITLE, placeholder="..") for line in titles[k].split("\n")), fontsize=8)
    if own is None:
        key = "red: above 0, blue: below 0" + ("; gold: the mask" if masks is not None else "")
        row[0].figure.text(0.5, 0.01, key, ha="center", va="bottom", fontsize=7)
    return row[0].figure
