"""What is probably wrong with what fit was given: said as warnings, since a notebook shows no logger."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

from . import _arrays as arrays
from . import _header as h
from ._arrays import Layout
from ._library import LIB
from ._say import DataWarning, in_python, warn
from .data import Data, MaskMeans
from .swap import Swap, percent
from .trainer import Verdict

# Findings of lint that spoil what fit learns of masks.
SERIOUS = ("mask-empty", "mask-full", "mask-inverted", "mask-large", "mask-one-class")
CHANNELS = (1, 3, 4)
REVERSE = re.compile(r"If white marks what .* use mask_means (\w+)")


def _sentence(code: str, text: str, means: MaskMeans | None) -> str:
    said = REVERSE.sub(r'If it means the reverse, pass mask_means="\1"', in_python(text))
    if code == "mask-full" and means == "relevant":
        said += '; with mask_means="relevant" zeros make all of an example irrelevant: give None where there is no mask'
    if code == "mask-one-class":
        said += "; shortcuts of other classes, if any, are not marked"
    return said


def warn_of_masks(data: Data, means: MaskMeans | None) -> None:
    """The reverse of what was meant, on one class alone, or all over examples."""
    for finding in data.lint_masks():
        if finding.code in SERIOUS:
            warn(f"masks: {_sentence(finding.code, finding.text, means)}", DataWarning)


def warn_of_layout(x: Any, layout: Layout) -> None:
    """Images as PyTorch has them look like images of 3 rows with many channels."""
    shape = arrays.to_array(x, "X").shape
    if layout == "NHWC" and len(shape) == 4 and shape[3] not in CHANNELS and shape[1] in CHANNELS:
        warn(
            f'X has shape {shape}, which layout="NHWC" takes for images of {shape[1]} x {shape[2]} pixels with '
            f'{shape[3]} channels; if the channels come first, pass layout="NCHW"',
            DataWarning,
        )


def unseen_by_swap(verdict: Verdict | None, swaps: Sequence[Swap], all_masked: bool = False) -> str | None:
    """A sentence if validation found a shortcut that the swap test of these examples hides (r4_judge)."""
    swap = next((s for s in swaps if s.content == "swap" and s.none is None), None)
    if verdict is None or swap is None:
        return None
    o = h.r4_outcome()
    o.verdict = h.R4_VERDICT_COLLAPSED if verdict.verdict == "collapsed" else h.R4_VERDICT_NONE
    o.lost, o.lost_error = verdict.lost, verdict.lost_error
    if not LIB.r4_judge(ctypes.addressof(o), 1, swap.lost).hidden:
        return None
    blank, paste = 'content="blank"', 'content="paste"'
    first, then = (blank, paste) if all_masked else (paste, blank)
    return (
        f"in validation the model lost {percent(verdict.lost)} of its correct predictions when masked content was "
        f"exchanged, in these examples swapping loses {percent(swap.lost)}: their masked content probably says "
        f"little of the class, so the swap test shows less than there is; {first} may show more, or {then}"
    )
