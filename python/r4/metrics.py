"""What was measured of a net on a data set."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from . import _header as h
from ._library import LIB, choice, encode, take_text, text_of
from .swap import Swap, percent, plain, swap_of

if TYPE_CHECKING:
    from .trainer import Verdict

FORMS = ("plain", "markdown", "csv")


@dataclass(frozen=True)
class Group:
    name: str
    count: int
    accuracy: float  # NaN without examples


@dataclass(frozen=True)
class Metrics:
    """Accuracies are shares, 0 to 1.

    kappa is the width hi - lo of the bounds of the input gradient of the loss while the masked (or all other)
    features move by up to eps: the largest, and the mean over examples and features. NaN where nothing is masked.
    swaps are the swap tests that were asked for, of which swap is the first. noise has the relative core sensitivity
    and pointing the pointing games by attribution, if they were asked for, by the names of r4.h. figures has all
    figures of the library's table that were measured, by the keys of eval.json: "auc", "ece", "swap_lost_share.blank".
    """

    accuracy: float
    loss: float
    avg_group_accuracy: float
    worst_group_accuracy: float
    worst_group: str
    groups: tuple[Group, ...]
    eps: float
    masked_examples: int
    kappa_masked_max: float
    kappa_masked_mean: float
    kappa_core_max: float
    kappa_core_mean: float
    only: str | None  # the one class that the net names, though there are others: its kappa means nothing
    swaps: tuple[Swap, ...] = ()
    noise: dict[str, Any] | None = None
    pointing: dict[str, dict[str, Any]] | None = None
    figures: dict[str, float] = field(default_factory=dict)
    validation: Verdict | None = None  # of the model, where it saw a shortcut that the swap test here cannot show
    listed: tuple[tuple[str, str], ...] = ()  # label and text of those that tables list

    @property
    def swap(self) -> Swap | None:
        """The swap test; None if it was not asked for."""
        return self.swaps[0] if self.swaps else None

    def table(self, form: Literal["plain", "markdown", "csv"] = "plain") -> str:
        """The figures as text."""
        number = choice(form, FORMS, "form")
        t = LIB.r4_table_new()
        try:
            LIB.r4_table_column(t, b"", b"l", 0)
            LIB.r4_table_column(t, b"value", b"r", 0)
            LIB.r4_table_column(t, b"examples", b"r", 0)
            for cells in self._rows():
                for cell in cells:
                    LIB.r4_table_cell(t, encode(cell, "a cell"))
            return take_text(LIB.r4_table_take(t, number))
        finally:
            LIB.r4_table_free(t)

    def _rows(self) -> list[tuple[str, str, str]]:
        count = str(sum(g.count for g in self.groups))
        rows = [
            ("accuracy", percent(self.accuracy), count),
            ("mean over groups", percent(self.avg_group_accuracy), ""),
            (f"worst group ({self.worst_group})", percent(self.worst_group_accuracy), ""),
        ]
        if (worst := self.figures.get("worst_class_mask_accuracy")) is not None:
            rows.append(("worst of class and mask", percent(worst), ""))
        rows += [(f"group {g.name}", percent(g.accuracy), str(g.count)) for g in self.groups]
        rows += [(label, text, "") for label, text in self.listed]
        if self.masked_examples:
            rows.append((f"kappa, eps {self.eps:g}", f"{self.kappa_masked_max:.3g}", str(self.masked_examples)))
            rows.append(("mean of it", f"{self.kappa_masked_mean:.3g}", ""))
        if self.only is not None:
            rows.append((f"answers {self.only} to everything: its kappa means nothing", "", ""))
        rows += [row for swap in self.swaps for row in swap.rows()]
        if (seen := self.validation) is not None:
            unseen = "swap: lost in validation; here masked content probably says little of the class"
            rows.append((unseen, percent(seen.lost), str(seen.exchanged)))
        return rows + self._further_rows()

    def _further_rows(self) -> list[tuple[str, str, str]]:
        """Of what is measured if somebody asks for it."""
        levels = (self.noise or {}).get("at", [])
        rows = [(f"core sensitivity, noise {a['sigma']:g}", f"{a['rcs']:.3f}", "") for a in levels]
        for method, p in (self.pointing or {}).items():
            rows.append((f"{method} points at the core: energy", percent(p["energy"]), str(p["examples"])))
        return rows

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self._rows())
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><tr><th></th><th>value</th><th>examples</th></tr>{body}</table>"

    def __str__(self) -> str:
        return self.table()


def metrics_of(m: h.r4_metrics, groups: Sequence[str], classes: Sequence[str]) -> Metrics:
    found = tuple(Group(groups[k], m.group_count[k], m.group_accuracy[k]) for k in range(m.groups))
    most = m.answers.most
    return Metrics(
        accuracy=m.accuracy,
        loss=m.loss,
        avg_group_accuracy=m.avg_group_accuracy,
        worst_group_accuracy=m.worst_group_accuracy,
        worst_group=groups[m.worst_group] if m.worst_group < len(groups) else "",
        groups=found,
        eps=m.eps,
        masked_examples=m.masked_examples,
        kappa_masked_max=m.kappa_masked_max,
        kappa_masked_mean=m.kappa_masked_mean,
        kappa_core_max=m.kappa_core_max,
        kappa_core_mean=m.kappa_core_mean,
        only=classes[most] if m.answers.constant and most < len(classes) else None,
    )


def _listed(v: h.r4_value) -> list[tuple[str, str]]:
    """The row of a figure that has no other; none if it is not listed or not there."""
    info = LIB.r4_figure_describe(v.figure)
    if info.shown != h.R4_SHOWN_ROW or v.key == b"accuracy" or v.value != v.value:
        return []
    label = ctypes.create_string_buffer(h.R4_LABEL_SIZE)
    LIB.r4_value_label(ctypes.byref(v), label)
    text = percent(v.value) if info.unit == h.R4_UNIT_SHARE else f"{v.value:.4g}"
    return [(text_of(label.value), text)]


def measured_of(m: h.r4_measured, contents: Sequence[str], groups: Sequence[str], classes: Sequence[str]) -> Metrics:
    """All that r4_measure found."""
    values = m.value[: m.values]
    noise: dict[str, Any] | None = None
    if m.sensitivity.n:
        noise = plain(m.sensitivity)
        noise = noise | {"at": noise["at"][: m.sensitivity.n], "unit": noise["unit"][: m.sensitivity.channels]}
    return replace(
        metrics_of(m.metrics, groups, classes),
        swaps=tuple(swap_of(m.swapped[k], word, groups) for k, word in enumerate(contents)),
        noise=noise,
        pointing={text_of(m.pointed_by[k].value): plain(m.pointing[k]) for k in range(m.pointings)} or None,
        figures={text_of(v.key): v.value for v in values},
        listed=tuple(row for v in values for row in _listed(v)),
    )
