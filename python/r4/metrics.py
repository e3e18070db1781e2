"""What was measured of a net on a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from . import _header as h
from ._library import LIB, choice, encode, take_text

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
        def share(v: float) -> str:
            return f"{100 * v:.1f} %" if v == v else "none"

        count = str(sum(g.count for g in self.groups))
        rows = [
            ("accuracy", share(self.accuracy), count),
            ("mean over groups", share(self.avg_group_accuracy), ""),
            (f"worst group ({self.worst_group})", share(self.worst_group_accuracy), ""),
        ]
        rows += [(f"group {g.name}", share(g.accuracy), str(g.count)) for g in self.groups]
        if self.masked_examples:
            rows.append((f"kappa, eps {self.eps:g}", f"{self.kappa_masked_max:.3g}", str(self.masked_examples)))
            rows.append(("mean of it", f"{self.kappa_masked_mean:.3g}", ""))
        if self.only is not None:
            rows.append((f"answers {self.only} to everything: its kappa means nothing", "", ""))
        return rows

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
