"""Graphs of operations, and the two transforms that compose: grad and bound.

A node is an expression: ``(x @ w).relu().sum()``. Broadcasting is NumPy's. A builder that is refused raises at once,
with the operation and the shapes in its sentence; the graph and its nodes stay as they were.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union, overload

from . import _header as h
from ._library import LIB, Owned, call, encode, from_shape, take_text, text_of, to_shape
from .errors import ArgumentError, error

if TYPE_CHECKING:
    from .plan import Plan

Axes = Union[int, Sequence[int], None]


@dataclass(frozen=True)
class Pair:
    """Bounds: lo <= value <= hi."""

    lo: Node
    hi: Node


@dataclass(frozen=True)
class Box:
    """All values of the node x between two others, element by element."""

    x: Node
    lo: Node | None = None
    hi: Node | None = None
    centre: Node | None = None
    radius: Node | None = None

    @classmethod
    def around(cls, x: Node, radius: Node | float, centre: Node | None = None) -> Box:
        """centre -+ radius, with radius >= 0; the centre is x itself unless stated."""
        r = x.graph.as_node(radius).broadcast(x.shape)
        return cls(x, centre=centre if centre is not None else x, radius=r)

    @classmethod
    def between(cls, x: Node, lo: Node | float, hi: Node | float) -> Box:
        g = x.graph
        return cls(x, lo=g.as_node(lo).broadcast(x.shape), hi=g.as_node(hi).broadcast(x.shape))


class Graph(Owned):
    """An append-only list of nodes; equal nodes are one node."""

    def __init__(self) -> None:
        self._own(LIB.r4_graph_new(), "r4_graph_free")

    @classmethod
    def parse(cls, text: str) -> tuple[Graph, list[Node]]:
        """The text form, and the nodes of its "output" lines."""
        out, n = (h.r4_id * 256)(), ctypes.c_size_t()
        pointer = call("r4_graph_parse", encode(text, "a graph"), 256, out, ctypes.byref(n))
        self = cls.__new__(cls)
        self._own(pointer, "r4_graph_free")
        return self, [Node(self, i.i) for i in out[: n.value]]

    def check(self) -> None:
        """Raises the error of the last call of the library, if there was one, after which building can go on."""
        message = ctypes.c_char_p()
        status = LIB.r4_graph_status(self.pointer, ctypes.byref(message))
        if status:
            refused = error(status, text_of(message.value))
            LIB.r4_graph_forget_error(self.pointer)
            raise refused

    def node(self, i: h.r4_id) -> Node:
        """What a builder returned, or its error."""
        if not i.i:
            self.check()
            raise ArgumentError("there is no such node")
        return Node(self, i.i)

    def own(self, x: Node) -> h.r4_id:
        """The id of one of this graph's nodes."""
        if x.graph is not self:
            raise ArgumentError("a node of another graph")
        return h.r4_id(x.id)

    def as_node(self, value: Node | float) -> Node:
        return value if isinstance(value, Node) else self.const(value)

    def call(self, name: str, *arguments: Any) -> Node:
        """A builder of r4.h by its name: nodes become ids, and the result a node.

        Arrays are those of ctypes: ``(ctypes.c_int64 * 2)(3, 3)``.
        """
        if name not in h.BUILDERS:
            raise ArgumentError(f"{name!r} is not a function of r4.h that takes a graph and returns a node")
        kinds = h.FUNCTIONS[name][1][1:]
        if len(arguments) != len(kinds):
            raise ArgumentError(f"{name} got {len(arguments)} arguments besides the graph, expected {len(kinds)}")
        for k, (a, kind) in enumerate(zip(arguments, kinds)):
            if kind is ctypes.c_void_p and not isinstance(a, ctypes.Array):
                raise ArgumentError(f"{name}: argument {k + 1} is {a!r}, expected an array of ctypes")
        ids = (self.own(a) if isinstance(a, Node) else a for a in arguments)
        return self.node(getattr(LIB, name)(self.pointer, *ids))

    # ---- Leaves ----

    def input(self, name: str, shape: Sequence[int] = ()) -> Node:
        """A named input, bound to memory when a plan runs."""
        return self.call("r4_input", encode(name, "a name"), to_shape(shape))

    def const(self, value: float, shape: Sequence[int] = ()) -> Node:
        return self.call("r4_const", float(value), to_shape(shape))

    def iota(self, axis: int, shape: Sequence[int]) -> Node:
        """Element [i0, i1, ...] is its index along axis."""
        return self.call("r4_iota", axis, to_shape(shape))

    def inputs(self) -> dict[str, Node]:
        """All inputs by name."""
        found: dict[str, Node] = {}
        while True:
            name = ctypes.c_char_p()
            i = LIB.r4_graph_input(self.pointer, len(found), ctypes.byref(name))
            if not i.i:
                return found
            found[text_of(name.value)] = Node(self, i.i)

    # ---- Transforms ----

    @overload
    def grad(self, y: Node, x: Node) -> Node: ...
    @overload
    def grad(self, y: Node, x: Sequence[Node]) -> list[Node]: ...
    def grad(self, y: Node, x: Node | Sequence[Node]) -> Node | list[Node]:
        """dy/dx of a scalar y, as new nodes that can be differentiated and bounded again."""
        many = [x] if isinstance(x, Node) else list(x)
        ids = (h.r4_id * max(len(many), 1))(*(self.own(n) for n in many))
        dx = (h.r4_id * max(len(many), 1))()
        LIB.r4_grad(self.pointer, self.own(y), len(many), ids, dx)
        found = [self.node(dx[k]) for k in range(len(many))]
        return found[0] if isinstance(x, Node) else found

    def bound(self, y: Node, *boxes: Box) -> Pair:
        """lo <= y <= hi while each box's x ranges over it, as new nodes."""
        parts = ("x", "lo", "hi", "centre", "radius")
        given = (h.r4_box * max(len(boxes), 1))()
        for to, box in zip(given, boxes):
            for part in parts:
                node = getattr(box, part)
                if node is not None:
                    setattr(to, part, self.own(node))
        pair = LIB.r4_bound(self.pointer, self.own(y), len(boxes), given)
        return Pair(self.node(pair.lo), self.node(pair.hi))

    def cross_entropy(self, logits: Node, one_hot: Node) -> Node:
        """-log softmax(logits)[label] of each row: logsumexp(z) - z_y."""
        return self.call("r4_cross_entropy", logits, one_hot)

    def concat(self, nodes: Sequence[Node], axis: int) -> Node:
        ids = (h.r4_id * max(len(nodes), 1))(*(self.own(n) for n in nodes))
        return self.call("r4_concat", len(nodes), ids, axis)

    # ---- Running and printing ----

    def plan(self, outputs: Node | Sequence[Node], **options: Any) -> Plan:
        """Compiles what the outputs need; see Plan."""
        from .plan import Plan

        return Plan(self, outputs, **options)

    def text(self, outputs: Sequence[Node]) -> str:
        """As text that parse reads."""
        self.check()
        ids = (h.r4_id * max(len(outputs), 1))(*(self.own(n) for n in outputs))
        return take_text(LIB.r4_graph_text(self.pointer, len(outputs), ids))

    def __len__(self) -> int:
        return int(LIB.r4_graph_size(self.pointer))


def _bits(axes: Axes) -> int:
    if axes is None:
        return 0xFFFFFFFF
    return sum({1 << (a if 0 <= a < 31 else 31) for a in ([axes] if isinstance(axes, int) else axes)})


def _int64s(numbers: Sequence[int]) -> Any:
    return (ctypes.c_int64 * max(len(numbers), 1))(*numbers)


def window(stride: int = 1, pad: int = 0, groups: int = 1) -> h.r4_window:
    """Of convolutions and pooling, the same on both axes and sides."""
    w: h.r4_window = LIB.r4_window_of(stride, pad)
    w.groups = groups
    return w


@dataclass(frozen=True, eq=False)
class Node:
    """An expression. Operators and methods make new ones; a number stands for a constant."""

    graph: Graph
    id: int

    @property
    def shape(self) -> tuple[int, ...]:
        return from_shape(LIB.r4_node_shape(self.graph.pointer, h.r4_id(self.id)))

    def _two(self, name: str, other: Node | float, swapped: bool = False) -> Node:
        b = self.graph.as_node(other)
        return self.graph.call(name, b, self) if swapped else self.graph.call(name, self, b)

    def __add__(self, b: Node | float) -> Node:
        return self._two("r4_add", b)

    def __radd__(self, b: float) -> Node:
        return self._two("r4_add", b, swapped=True)

    def __sub__(self, b: Node | float) -> Node:
        return self._two("r4_sub", b)

    def __rsub__(self, b: float) -> Node:
        return self._two("r4_sub", b, swapped=True)

    def __mul__(self, b: Node | float) -> Node:
        return self._two("r4_mul", b)

    def __rmul__(self, b: float) -> Node:
        return self._two("r4_mul", b, swapped=True)

    def __truediv__(self, b: Node | float) -> Node:
        return self._two("r4_div", b)

    def __rtruediv__(self, b: float) -> Node:
        return self._two("r4_div", b, swapped=True)

    def __matmul__(self, b: Node) -> Node:
        return self.matmul(b)

    def __neg__(self) -> Node:
        return self.graph.call("r4_neg", self)

    def __abs__(self) -> Node:
        return self.graph.call("r4_abs", self)

    def minimum(self, b: Node | float) -> Node:
        return self._two("r4_min", b)

    def maximum(self, b: Node | float) -> Node:
        return self._two("r4_max", b)

    def less(self, b: Node | float) -> Node:
        """1 where self < b, else 0."""
        return self._two("r4_less", b)

    def where(self, a: Node | float, b: Node | float) -> Node:
        """a where self > 0, else b."""
        return self.graph.call("r4_select", self, self.graph.as_node(a), self.graph.as_node(b))

    def sign(self) -> Node:
        return self.graph.call("r4_sign", self)

    def square(self) -> Node:
        return self.graph.call("r4_square", self)

    def sqrt(self) -> Node:
        """Its derivative at 0 is 0, so that norms have one everywhere."""
        return self.graph.call("r4_sqrt", self)

    def exp(self) -> Node:
        return self.graph.call("r4_exp", self)

    def log(self) -> Node:
        return self.graph.call("r4_log", self)

    def log1p(self) -> Node:
        return self.graph.call("r4_log1p", self)

    def tanh(self) -> Node:
        return self.graph.call("r4_tanh", self)

    def sigmoid(self) -> Node:
        return self.graph.call("r4_sigmoid", self)

    def relu(self) -> Node:
        return self.graph.call("r4_relu", self)

    def gelu(self) -> Node:
        return self.graph.call("r4_gelu", self)

    def step(self) -> Node:
        """1 where self > 0, else 0: the derivative of relu."""
        return self.graph.call("r4_step", self)

    def detach(self) -> Node:
        """Itself, but a constant for grad."""
        return self.graph.call("r4_detach", self)

    def sum(self, axes: Axes = None) -> Node:
        return self.graph.call("r4_sum", self, _bits(axes))

    def mean(self, axes: Axes = None) -> Node:
        return self.graph.call("r4_mean", self, _bits(axes))

    def max(self, axes: Axes = None) -> Node:
        return self.graph.call("r4_reduce_max", self, _bits(axes))

    def softmax(self) -> Node:
        """Over the last axis."""
        return self.graph.call("r4_softmax", self)

    def logsumexp(self) -> Node:
        """Over the last axis, which disappears."""
        return self.graph.call("r4_logsumexp", self)

    def one_hot(self, n: int) -> Node:
        """[.., n] with 1 at the label."""
        return self.graph.call("r4_one_hot", self, n)

    def broadcast(self, shape: Sequence[int]) -> Node:
        return self.graph.call("r4_broadcast", self, to_shape(shape))

    def reshape(self, *shape: int) -> Node:
        return self.graph.call("r4_reshape", self, to_shape(shape))

    def transpose(self, *axes: int) -> Node:
        """Axis k of the result is axis axes[k]."""
        if sorted(axes) != list(range(len(self.shape))):
            raise ArgumentError(f"axes are {axes}, expected each of 0 to {len(self.shape) - 1} once")
        return self.graph.call("r4_transpose", self, (ctypes.c_int * max(len(axes), 1))(*axes))

    def slice(self, start: Sequence[int], size: Sequence[int], step: Sequence[int] | None = None) -> Node:
        """y[i] = x[start + i * step] along each axis, for i < size."""
        steps = list(step) if step is not None else [1] * len(self.shape)
        if not len(start) == len(size) == len(steps) == len(self.shape):
            raise ArgumentError(f"start, size and step need {len(self.shape)} numbers each")
        return self.graph.call("r4_slice", self, _int64s(start), _int64s(size), _int64s(steps))

    def pad(self, start: Sequence[int], shape: Sequence[int]) -> Node:
        """Zeros of the given shape, with self from start on."""
        if not len(start) == len(shape) == len(self.shape):
            raise ArgumentError(f"start and shape need {len(self.shape)} numbers each")
        return self.graph.call("r4_pad", self, _int64s(start), _int64s([1] * len(start)), to_shape(shape))

    def matmul(self, b: Node, transpose_a: bool = False, transpose_b: bool = False) -> Node:
        return self.graph.call("r4_matmul", self, b, transpose_a, transpose_b)

    def conv2d(self, w: Node, stride: int = 1, pad: int = 0, groups: int = 1) -> Node:
        """Of images [batch, height, width, channels] with w [out, height, width, in / groups]."""
        return self.graph.call("r4_conv2d", self, w, window(stride, pad, groups))

    def pool_max(self, kernel: int, stride: int | None = None, pad: int = 0) -> Node:
        return self.graph.call("r4_pool_max", self, _int64s([kernel, kernel]), window(stride or kernel, pad))

    def pool_mean(self, kernel: int, stride: int | None = None, pad: int = 0) -> Node:
        return self.graph.call("r4_pool_mean", self, _int64s([kernel, kernel]), window(stride or kernel, pad))

    def __repr__(self) -> str:
        return f"Node({self.id}, shape {self.shape})"
