"""Bounds of the gradient, or of the logits, over a box: bound(grad(loss)) as a graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._arrays import Array
from ._library import choice
from .data import Data
from .errors import ArgumentError
from .graph import Box
from .learn import batch_of
from .net import Model
from .plan import Plan

ROWS = 64  # examples that are looked at together


class Bounds(NamedTuple):
    """lo <= value <= hi, element by element."""

    lo: Array
    hi: Array

    @property
    def width(self) -> Array:
        """hi - lo; its largest value is kappa."""
        return self.hi - self.lo


def _plan(model: Model, rows: int, eps: float, of: str) -> Plan:
    """[lo, hi] of g(x') for x' in x -+ eps m, where g = d sum_i l_i / d x: examples do not see each other."""
    net = model.net
    b = batch_of(net, rows, learning=False)
    if b.leaf.id != b.x.id:
        raise ArgumentError('bounds are of nets that are explained at their input; see explain(X, "bounds")')
    value = b.used_logits if of == "logits" else b.graph.grad(b.used_loss.sum(), b.x)
    pair = b.graph.bound(value, Box.around(b.x, b.m * eps))
    plan = Plan(b.graph, [pair.lo, pair.hi])
    weights = model.weights
    for p in net.parameters:
        plan.bind(p.name, p.of(weights))
    return plan


def bounds_of(model: Model, data: Data, eps: float, of: str = "gradient", *, masked: bool = True) -> Bounds:
    """[n, features] or [n, classes]; masked: the masks of the data move, otherwise all features do."""
    choice(of, ("gradient", "logits"), "of")
    if not (eps >= 0 and np.isfinite(eps)):
        raise ArgumentError(f"eps is {eps}, expected a number from 0 on")
    x, y = data.x, data.y.astype(np.float32)
    m = data.masks if masked else np.ones_like(x)
    ends: list[list[Array]] = []
    plan, shape = None, model.input
    for first in range(0, len(x), ROWS):
        part = slice(first, first + ROWS)
        rows = len(y[part])
        if plan is None or plan.inputs["y"] != (rows,):
            plan = _plan(model, rows, eps, of)
        given = {"x": x[part].reshape(rows, *shape), "m": m[part].reshape(rows, *shape)}
        if of == "gradient":
            given["y"] = y[part]
        ends.append(plan.run(given))
    lo, hi = (np.concatenate([e[k] for e in ends]).reshape(len(x), -1) for k in (0, 1))
    return Bounds(lo, hi)
