"""Examples with their masks in one object that is cut like an array: so masks reach the folds of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array, either
from ._say import DataWarning, warn
from .data import MaskMeans
from .errors import ArgumentError, ShapeError


def _length(a: Any) -> int:
    return int(a.shape[0]) if hasattr(a, "shape") else len(a)


def _cut(a: Any, key: Any) -> Any:
    """These rows of an array, a column of a data frame, or a list."""
    if a is None:
        return None
    if hasattr(a, "iloc"):
        return a.iloc[key]
    if hasattr(a, "shape"):
        return a[key]
    return a[key] if isinstance(key, slice) else [a[int(k)] for k in _numbers(key, len(a))]


def _numbers(key: Any, n: int) -> Array:
    rows = np.asarray(key)
    return np.flatnonzero(rows) if rows.dtype == bool and len(rows) == n else rows


class Masked:
    """``r4.Masked(X, masks, mask_means="irrelevant")`` stands for X wherever a classifier takes examples.

    Rows are taken together: ``both[rows]`` has the masks (and groups) of these rows. GridSearchCV and cross_val_score
    cut it into folds, so that scorers see the masks of theirs. Other estimators see X alone.
    """

    def __init__(
        self,
        x: Any = None,
        masks: Any = None,
        mask_means: MaskMeans | None = None,
        *,
        X: Any = None,
        groups: Any = None,
    ) -> None:
        x = either(x, X)
        n = _length(x)
        for name, a in (("masks", masks), ("groups", groups)):
            if a is not None and _length(a) != n:
                raise ShapeError(f"{name} are of {_length(a)} examples, X has {n}")
        self.x, self.masks, self.mask_means, self.groups = x, masks, mask_means, groups

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.x.shape) if hasattr(self.x, "shape") else (len(self.x),)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return _length(self.x)

    def __getitem__(self, key: Any) -> Masked:
        if isinstance(key, tuple):  # rows, and all of the rest: rows[key, ...]
            if any(rest is not Ellipsis and rest != slice(None) for rest in key[1:]):
                raise ArgumentError(f"{key!r}: rows are cut, and nothing else, so that masks stay in their place")
            key = key[0]
        if isinstance(key, (int, np.integer)):
            raise ArgumentError(f"{key} is one row: expected several, as [{key}:{key + 1}]")
        return Masked(_cut(self.x, key), _cut(self.masks, key), self.mask_means, groups=_cut(self.groups, key))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.masks is not None and len(self):
            warn(
                "r4.Masked becomes an array here, without its masks, which whoever comes next will not see: in a "
                "pipeline with other steps give them as classifier__masks=M, classifier__mask_means=...",
                DataWarning,
            )
        return np.array(self.x, dtype=dtype) if copy else np.asarray(self.x, dtype=dtype)

    def __repr__(self) -> str:
        return f"Masked({len(self)} examples of {self.shape[1:]})"


def apart(x: Any, masks: Any, mask_means: MaskMeans | None, groups: Any = None) -> tuple[Any, Any, Any, Any]:
    """X, masks, what these mean and groups, whether they came together or apart."""
    if not isinstance(x, Masked):
        return x, masks, mask_means, groups
    if masks is not None:
        raise ArgumentError("X has its masks with it (r4.Masked): give no others")
    return x.x, x.masks, mask_means or x.mask_means, groups if groups is not None else x.groups
