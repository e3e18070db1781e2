"""The swap test: is a prediction still correct when the masked content of another class stands in the mask?"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _header as h
from ._library import LIB, call, text_of
from .errors import ArgumentError

if TYPE_CHECKING:
    from .data import Data

DRAWS = 10  # of each example, as the command has it


def _share(part: float, all_: float) -> float:
    return part / all_ if all_ else float("nan")


@dataclass(frozen=True)
class SwapGroup:
    """A group in the swap test. Counts are means over draws where they depend on what is drawn."""

    name: str
    examples: int  # that were tested
    found: int  # of these, correct before
    flipped_count: float  # predictions that change
    lost_count: float  # correct before, and wrong then

    @property
    def flipped(self) -> float:
        """The share of the examples whose prediction changes; NaN without examples."""
        return _share(self.flipped_count, self.examples)

    @property
    def lost(self) -> float:
        """Of the correct predictions, the share that is wrong then; NaN if there are none."""
        return _share(self.lost_count, self.found)

    @property
    def left(self) -> float:
        """The share of the examples that is correct before and after; NaN without examples."""
        return _share(self.found - self.lost_count, self.examples)


@dataclass(frozen=True)
class Swap:
    """What the swap test found. Shares are 0 to 1, and NaN where there is nothing to count; figures has all that the
    library says (r4_swapped), by the names in r4.h."""

    content: str  # what was put into masks: "swap" is the masked content of examples of other classes
    draws: int
    donors: int  # examples with a mask
    none: str | None  # why there is nothing to report
    groups: tuple[SwapGroup, ...]
    figures: dict[str, Any]

    @property
    def examples(self) -> int:
        return sum(g.examples for g in self.groups)

    @property
    def flipped(self) -> float:
        """The share of predictions that change."""
        return _share(sum(g.flipped_count for g in self.groups), self.examples)

    @property
    def lost(self) -> float:
        """Of the correct predictions, the share that is wrong then."""
        return _share(sum(g.lost_count for g in self.groups), sum(g.found for g in self.groups))

    @property
    def left(self) -> float:
        """The share of examples that are correct before the exchange and after it, groups weighed alike."""
        each = [g.left for g in self.groups if g.examples]
        return _share(sum(each), len(each))

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, value and number of examples, for tables."""
        if self.none is not None:
            return [(f"swap test ({self.content}): none, as {self.none}", "", "")]
        found = sum(g.found for g in self.groups)
        rows = [
            (f"{self.content}: predictions changed", f"{100 * self.flipped:.1f} %", str(self.examples)),
            (f"{self.content}: correct ones lost", percent(self.lost), str(found)),
            (f"{self.content}: correct before and after, mean over groups", percent(self.left), str(self.examples)),
        ]
        tested = (g for g in self.groups if g.examples)
        return rows + [(f"{self.content}: lost of group {g.name}", percent(g.lost), str(g.found)) for g in tested]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share == share else "none"


def plain(value: Any) -> Any:
    """A struct or array of the library as dictionaries and lists, which can be pickled."""
    if isinstance(value, ctypes.Structure):
        return {name: plain(getattr(value, name)) for name, *_ in value._fields_}
    if isinstance(value, ctypes.Array) and not isinstance(value, bytes):
        return [plain(v) for v in value]
    return text_of(value) if isinstance(value, bytes) else value


def _figures(s: h.r4_swapped) -> dict[str, Any]:
    """All fields; those of groups for as many groups as there are."""
    cut = {name: getattr(s, name) for name, *_ in s._fields_}
    return {k: plain(v[: s.groups]) if isinstance(v, ctypes.Array) else plain(v) for k, v in cut.items()}


def swap_of(s: h.r4_swapped, content: str, names: Sequence[str]) -> Swap:
    figures = _figures(s)
    by_group = zip(names, *(figures[k] for k in ("examples", "found", "flipped", "lost")))
    groups = tuple(SwapGroup(*g) for g in by_group)
    none = text_of(s.none) if s.none is not None else None
    return Swap(content, s.draws, s.donors, none, groups, figures)


def swap_test(
    addresses: tuple[int, int], data: Data, content: str = "swap", draws: int = DRAWS, seed: int = 0, batch: int = 256
) -> Swap:
    """Of the net and weights at these addresses."""
    from .data import content_number

    if draws < 1:
        raise ArgumentError(f"draws is {draws}, expected 1 or more")
    o = LIB.r4_swap_defaults()
    o.content, o.draws, o.seed, o.batch = content_number(content), draws, seed, batch
    s = h.r4_swapped()
    call("r4_swap_test", *addresses, data.pointer, ctypes.byref(o), ctypes.byref(s))
    return swap_of(s, content, data.group_names)


def contents_of(content: str | Sequence[str] | None) -> list[str]:
    """One word, several, or none."""
    return [] if content is None else [content] if isinstance(content, str) else list(content)
