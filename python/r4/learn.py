"""Training with an objective of one's own: a penalty in a few lines.

def right_reasons(b):
    g = b.graph.grad(b.used_loss.sum(), b.x)                  # the explanation of each example
    return b.loss.mean() + 10 * (b.m * g).square().sum() / b.rows

weights = r4.minimize(net, data, right_reasons, epochs=5)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _header as h
from ._arrays import Array
from ._library import LIB, Owned, call, choice, text_of
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

    def freeze(self, places: Sequence[tuple[int, int]]) -> None:
        """Weights that neither move nor decay: (first, count), in order."""
        ranges = (h.r4_rate_range * max(len(places), 1))(*(h.r4_rate_range(*place, 0.0) for place in places))
        call("r4_optimizer_set_ranges", self.pointer, len(places), ranges)


class Batches(Owned):
    """Every example once in an epoch, shuffled by seed and epoch and by nothing else."""

    def __init__(self, data: Data, size: int, *, seed: int = 0, shuffle: bool = True, drop_last: bool = False) -> None:
        if size < 1:
            raise ArgumentError(f"batch is {size}, expected 1 or more")
        o = h.r4_batch_options()
        o.size, o.seed, o.shuffle, o.drop_last = size, seed, shuffle, drop_last
        self._own(call("r4_batches_new", data.pointer, ctypes.byref(o)), "r4_batches_free", *data.lent)

    def __len__(self) -> int:
        """Batches of an epoch."""
        return int(LIB.r4_batches_count(self.pointer))

    def next(self) -> h.r4_batch:
        """The next batch, whose memory stays as it is until the next one; it never ends."""
        b: h.r4_batch = LIB.r4_batches_next(self.pointer)
        return b


@dataclass(frozen=True)
class Batch:
    """What an objective is made of: nodes for a batch of so many rows.

    logits and loss are of the net as it learns: batch norm takes the statistics of the batch, dropout drops. Penalties
    look at the net as it will be used: used_logits and used_loss, with running statistics and nothing dropped, so that
    examples do not see each other. Without batch norm and dropout the two are the same nodes.
    """

    graph: Graph
    rows: int
    x: Node  # [rows, input...]
    y: Node  # labels [rows]
    leaf: Node  # where explanations are taken: x, or for texts the embeddings, a vector for each token
    m: Node  # masks, shaped as leaf, 1 = must not matter
    parameters: list[Node]
    logits: Node  # [rows, classes]: 2 columns for a net with one output
    one_hot: Node  # [rows, classes]
    loss: Node  # [rows]: -log softmax(logits)[y]
    used_logits: Node
    used_loss: Node
    objective: h.r4_objective  # of the library: what is drawn for each step, and what becomes of buffers


Objective = Callable[[Batch], Node]


def batch_of(net: Net, rows: int, *, lengths: bool = False, learning: bool = True) -> Batch:
    """The nodes of a batch, in a graph of their own.

    lengths: of texts, what is behind their end is not there. Unless learning, a batch of one example will do: running
    statistics stay as they are.
    """
    g = Graph()
    parameters = net.inputs(g)
    o = h.r4_objective_options()
    o.method, o.batch, o.lengths, o.used = b"erm", rows, lengths, True
    o.frozen_statistics = not learning
    ids = (h.r4_id * max(len(parameters), 1))(*(g.own(p) for p in parameters))
    found: h.r4_objective = LIB.r4_objective_build(g.pointer, net.pointer, ids, ctypes.byref(o))
    g.check()
    given = getattr(found, "in")
    y, logits, used = g.node(given.y), g.node(found.logits), g.node(found.used)
    one_hot = y.one_hot(logits.shape[1])
    return Batch(
        graph=g,
        rows=rows,
        x=g.node(given.x),
        y=y,
        leaf=g.node(found.leaf),
        m=g.node(found.mask),
        parameters=parameters,
        logits=logits,
        one_hot=one_hot,
        loss=g.cross_entropy(logits, one_hot),
        used_logits=used,
        used_loss=g.cross_entropy(used, one_hot),
        objective=found,
    )


class _Step:
    """The loss and its gradient for batches of one size, bound to the arrays of the weights."""

    def __init__(
        self, net: Net, objective: Objective, rows: int, lengths: bool, weights: Array, gradient: Array
    ) -> None:
        b = batch_of(net, rows, lengths=lengths)
        loss = objective(b)
        if not isinstance(loss, Node) or loss.shape != ():
            raise ShapeError(f"the objective returned {loss!r}, expected one scalar node")
        b.graph.own(loss)
        parameters = net.parameters
        new = {k: i for k, i in enumerate(self._updated(b, len(parameters))) if i.i}
        outputs = [loss, *b.graph.grad(loss, b.parameters), *(b.graph.node(i) for i in new.values())]
        self.plan = Plan(b.graph, outputs)
        self.loss = np.zeros((), dtype=np.float32)
        self.plan.bind_output(0, self.loss)
        for k, p in enumerate(parameters):
            self.plan.bind(p.name, p.of(weights))
            self.plan.bind_output(k + 1, p.of(gradient))
        self._buffers = [(p.of(weights), np.empty(p.shape, np.float32)) for p in (parameters[k] for k in new)]
        for k, (_, value) in enumerate(self._buffers):
            self.plan.bind_output(1 + len(parameters) + k, value)
        self._names = [name for name in ("x", "y", "m", "length") if name in self.plan.inputs]
        self._bind_drawn(b)

    @staticmethod
    def _updated(b: Batch, params: int) -> list[h.r4_id]:
        """For each parameter the node of its new value, or none."""
        address = b.objective.updated
        return list((h.r4_id * params).from_address(address)) if address and params else []

    def _bind_drawn(self, b: Batch) -> None:
        """Numbers that a step draws anew: by them dropout drops."""
        self._graph = b.graph  # which keeps the list
        first, n = b.objective.drawn, b.objective.draws
        self._drawn = [h.r4_drawn.from_address(first + k * ctypes.sizeof(h.r4_drawn)) for k in range(n)]
        self._numbers = [np.empty(d.count, np.float32) for d in self._drawn]
        for d, numbers in zip(self._drawn, self._numbers):
            self.plan.bind(text_of(d.name), numbers.reshape(self.plan.inputs[text_of(d.name)]))

    def run(self, batch: h.r4_batch, owner: Batches, seed: int, step: int) -> float:
        for name in self._names:
            self.plan.bind_address(name, getattr(batch, name), owner)
        for d, numbers in zip(self._drawn, self._numbers):
            LIB.r4_drawn_fill(ctypes.byref(d), seed, step, ctypes.byref(batch), numbers.ctypes.data)
        self.plan.run()
        return float(self.loss)

    def settle(self) -> None:
        """Buffers get their new values: running statistics follow those of the batch."""
        for place, value in self._buffers:
            place[...] = value


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
    drop_last: bool = False,
    report: Callable[[int, float], None] | None = None,
) -> Array:
    """Weights that make the objective small on the training part of the data.

    objective gets a Batch and returns a scalar node. It is called once for each size of a batch: the last one of an
    epoch may be smaller, unless drop_last leaves it out. report(epoch, mean loss) is called after each epoch. Running
    statistics of batch norm follow, and are in the result. An objective of ``b.loss.mean()`` gives the bits of a
    Trainer with method "erm".
    """
    train = _check(net, data)
    flat = net.init(seed) if weights is None else net.check(weights).copy()
    gradient = np.zeros_like(flat)
    steps: dict[int, _Step] = {}
    count = 0
    with (
        Batches(train, batch, seed=seed, drop_last=drop_last) as batches,
        Optimizer(net.size, optimizer, rate) as o,
    ):
        o.freeze([(p.offset, p.count) for p in net.parameters if p.buffer])
        for epoch in range(epochs):
            total = rows = 0.0
            for _ in range(len(batches)):
                b = batches.next()
                step = steps.get(b.count)
                if step is None:
                    step = steps[b.count] = _Step(net, objective, b.count, bool(b.length), flat, gradient)
                loss = step.run(b, batches, seed, count)
                if not np.isfinite(loss):
                    raise DomainError(f"epoch {epoch + 1}: the objective is {loss}, expected a finite number")
                o.step(flat, gradient)
                step.settle()
                total, rows, count = total + loss * b.count, rows + b.count, count + 1
            if report is not None:
                report(epoch + 1, total / rows)
    return flat


def _check(net: Net, data: Data) -> Data:
    """The training part of the data, if the net can learn from it."""
    train = data.part("train")
    if len(train) == 0:
        raise ArgumentError("the data has no training examples")
    if int(np.prod(train.shape)) != int(np.prod(net.input)):
        raise ShapeError(f"the data has examples of shape {train.shape}, the net takes {net.input}")
    if len(train.classes) > max(net.outputs, 2):
        raise ShapeError(f"the data has {len(train.classes)} classes, the net {net.outputs} outputs")
    return train
