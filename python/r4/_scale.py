"""The scale of values: pixels from 0 to 255 and those from 0 to 1 look alike to a program, and not to a net."""

from __future__ import annotations

from typing import Any, NamedTuple

from .data import Data

NEAR_BYTES, NEAR = 0.5, 10.0  # how far outside of what was learned from, in widths of its range, is another scale
PIXELS = 100.0  # a range that reaches so far is not 0 to 1


class ScaleWarning(UserWarning):
    """Values are on another scale than those that the classifier learned from."""


class Seen(NamedTuple):
    """The range of the values of an example as the net sees them, and whether they were bytes, of which 255 is 1."""

    bytes: bool
    low: float
    high: float


def seen_in(data: Data, is_bytes: bool) -> Seen | None:
    """None for texts: ids of tokens have no scale."""
    if data.vocabulary:
        return None
    return Seen(True, 0.0, 1.0) if is_bytes else Seen(False, *data.value_range)


def seen_of(kept: Any) -> Seen | None:
    """As files have it."""
    try:
        is_bytes, low, high = kept
        return Seen(bool(is_bytes), float(low), float(high))
    except (TypeError, ValueError):
        return None


def compare(seen: Seen | None, data: Data) -> str | None:
    """A sentence if the data are clearly on another scale."""
    if seen is None or data.vocabulary or seen.high <= seen.low:
        return None
    low, high = data.value_range
    outside = max(seen.low - low, high - seen.high) / (seen.high - seen.low)
    shrunk = seen.low >= 0 and seen.high >= PIXELS and low >= 0 and 0 < high <= 1
    if outside <= (NEAR_BYTES if seen.bytes else NEAR) and not shrunk:
        return None
    learned = "uint8, which is 0 to 1 for the net" if seen.bytes else f"values from {seen.low:g} to {seen.high:g}"
    return (
        f"X has values from {low:g} to {high:g} for the net, and it learned from {learned}: another scale gives other "
        "predictions. Give X as it was in fit (uint8 is divided by 255, other types are taken as they are)"
    )
