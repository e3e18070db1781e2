"""Training with an objective of one's own: a penalty in a few lines.

def right_reasons(b):
    g = b.graph.grad(b.loss.sum(), b.x)                       # the explanation of each example
    return b.loss.mean() + 10 * (b.m * g).square().sum() / b.rows

weights = r4.minimize(net, data, right_reasons, epochs=5)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _header as h
from ._arrays import Array
from ._library import LIB, Owned, call, choice
from .data import Data
from .errors import ArgumentError, DomainError, ShapeError
from .graph import Graph, Node
from .net import Net
from .plan import Plan

OPTIMIZERS = ("sgd", "adam", "adamw")


class Optimizer(Owned):
    """SGD, Adam or AdamW on one flat array of weights, a step in one pass over memory."""

    def __init__(self, size: int, kind: str = "adam", rate: float | None = None, **options: float) -> None:
        """options: momentum, beta1, beta2, epsilon, weight_decay."""
        o = LIB.r4_optimizer_defaults(choice(kind, OPTIMIZERS, "optimizer"))
        if rate is not None:
            o.learning_rate = rate
        for name, value in options.items():
            if name not in ("momentum", "beta1", "beta2", "epsilon", "weight_decay"):
                raise ArgumentError(f"an optimizer has no option {name!r}")
            setattr(o, name, value)
        self.size = size
        self._own(call("r4_optimizer_new", size, ctypes.byref(o)), "r4_optimizer_free")

    def step(self, weights: Array, gradient: Array) -> None:
        """weights move against gradient, in place."""
        for name, a in (("weights", weights), ("gradient", gradient)):
            if a.dtype != np.float32 or a.shape != (self.size,) or not a.flags.c_contiguous:
                raise ShapeError(f"{name}: an array of {a.dtype} {a.shape}, expected float32 ({self.size},)")
        if not weights.flags.writeable:
            raise ArgumentError("weights cannot be written to")
        LIB.r4_optimizer_step(self.pointer, weights.ctypes.data, gradient.ctypes.data)

    def set_rate(self, rate: float) -> None:
        call("r4_optimizer_set_rate", self.pointer, rate)


class Batches(Owned):
    """Every example once in an epoch, shuffled by seed and epoch and by nothing else."""

    def __init__(self, data: Data, size: int, *, seed: int = 0, shuffle: bool = True) -> None:
        if size < 1:
            raise ArgumentError(f"batch is {size}, expected 1 or more")
        o = h.r4_batch_options()
        o.size, o.seed, o.shuffle = size, seed, shuffle
        self._own(call("r4_batches_new", data.pointer, ctypes.byref(o)), "r4_batches_free")

    def __len__(self) -> int:
        """Batches of an epoch."""
        return int(LIB.r4_batches_count(self.pointer))

    def next(self) -> h.r4_batch:
        """The next batch, whose memory stays as it is until the next one; it never ends."""
        b: h.r4_batch = LIB.r4_batches_next(self.pointer)
        return b


@dataclass(frozen=True)
class Batch:
    """What an objective is made of: nodes for a batch of so many rows."""

    graph: Graph
    rows: int
    x: Node  # [rows, input...]
    y: Node  # labels [rows]
    m: Node  # masks, shaped as x, 1 = must not matter
    parameters: list[Node]
    logits: Node  # [rows, classes]: 2 columns for a net with one output
    one_hot: Node  # [rows, classes]
    loss: Node  # [rows]: -log softmax(logits)[y]


Objective = Callable[[Batch], Node]


def batch_of(net: Net, rows: int) -> Batch:
    """The nodes of a batch, in a graph of their own."""
    g = Graph()
    parameters = net.inputs(g)
    x, y = g.input("x", (rows, *net.input)), g.input("y", (rows,))
    m = g.input("m", (rows, *net.input))
    logits = net.apply(parameters, x)
    if net.outputs == 1:
        logits = logits.pad((0, 1), (rows, 2))
    one_hot = y.one_hot(logits.shape[1])
    return Batch(g, rows, x, y, m, parameters, logits, one_hot, g.cross_entropy(logits, one_hot))


class _Step:
    """The loss and its gradient for batches of one size, bound to the arrays of the weights."""

    def __init__(self, net: Net, objective: Objective, rows: int, weights: Array, gradient: Array) -> None:
        b = batch_of(net, rows)
        loss = objective(b)
        if not isinstance(loss, Node) or loss.shape != ():
            raise ShapeError(f"the objective returned {loss!r}, expected one scalar node")
        b.graph.own(loss)
        self.plan = Plan(b.graph, [loss, *b.graph.grad(loss, b.parameters)])
        self.loss = np.zeros((), dtype=np.float32)
        self.plan.bind_output(0, self.loss)
        for k, p in enumerate(net.parameters):
            self.plan.bind(p.name, p.of(weights))
            self.plan.bind_output(k + 1, p.of(gradient))

    def run(self, batch: h.r4_batch, owner: Batches) -> float:
        for name in ("x", "y", "m"):
            self.plan.bind_address(name, getattr(batch, name), owner)
        self.plan.run()
        return float(self.loss)


def minimize(
    net: Net,
    data: Data,
    objective: Objective,
    *,
    epochs: int = 10,
    batch: int = 128,
    rate: float | None = None,
    optimizer: str = "adam",
    seed: int = 0,
    weights: Any = None,
    report: Callable[[int, float], None] | None = None,
) -> Array:
    """Weights that make the objective small on the training part of the data.

    objective gets a Batch and returns a scalar node. It is called once for each size of a batch: the last one of an
    epoch may be smaller. report(epoch, mean loss) is called after each epoch. The net learns as it answers: nets with
    batch norm are refused, and dropout does nothing.
    """
    if any(p.buffer for p in net.parameters):
        raise ArgumentError("the net has batch norm, whose statistics only r4.Classifier and r4.Trainer can learn")
    train = data.part("train")
    if len(train) == 0:
        raise ArgumentError("the data has no training examples")
    if int(np.prod(train.shape)) != int(np.prod(net.input)):
        raise ShapeError(f"the data has examples of shape {train.shape}, the net takes {net.input}")
    if len(train.classes) > max(net.outputs, 2):
        raise ShapeError(f"the data has {len(train.classes)} classes, the net {net.outputs} outputs")
    flat = net.init(seed) if weights is None else net.check(weights).copy()
    gradient = np.zeros_like(flat)
    steps: dict[int, _Step] = {}
    with Batches(train, batch, seed=seed) as batches, Optimizer(net.size, optimizer, rate) as o:
        for epoch in range(epochs):
            total = 0.0
            for _ in range(len(batches)):
                b = batches.next()
                if b.count not in steps:
                    steps[b.count] = _Step(net, objective, b.count, flat, gradient)
                loss = steps[b.count].run(b, batches)
                if not np.isfinite(loss):
                    raise DomainError(f"epoch {epoch + 1}: the objective is {loss}, expected a finite number")
                total += loss * b.count
                o.step(flat, gradient)
            if report is not None:
                report(epoch + 1, total / len(train))
    return flat
