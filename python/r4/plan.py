"""Plans: a graph as a fixed list of kernel calls over one buffer, ready to run."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from . import _header as h
from ._arrays import Array, to_array
from ._library import LIB, Owned, call, encode, take_text
from .errors import ArgumentError, ShapeError
from .graph import Graph, Node

TYPES = {"float32": (h.R4_F32, np.float32), "float64": (h.R4_F64, np.float64)}


class Plan(Owned):
    """``plan(x=..., w=...)`` runs it: one array for each output, or one array for one node."""

    def __init__(
        self,
        graph: Graph,
        outputs: Node | Sequence[Node],
        *,
        dtype: Literal["float32", "float64"] = "float32",
        reference: bool = False,
        profile: bool = False,
        winograd: bool = False,
        bf16: bool = False,
    ) -> None:
        """reference: plain loops in double, node by node, which are the definition. profile: measure each kernel.

        winograd: convolutions of 3 x 3 in half of the time, with rounding errors of 1e-6; training has it.

        bf16: operands of large products in bfloat16, sums in float, where the CPU has instructions for it.
        """
        if dtype not in TYPES:
            raise ArgumentError(f"dtype is {dtype!r}, expected float32 or float64")
        self._single = isinstance(outputs, Node)
        nodes = [outputs] if isinstance(outputs, Node) else list(outputs)
        ids = (h.r4_id * max(len(nodes), 1))(*(graph.own(n) for n in nodes))
        o = h.r4_plan_options()
        o.type, self.dtype = TYPES[dtype]
        o.reference, o.profile, o.winograd, o.bf16 = reference, profile, winograd, bf16
        self.inputs: dict[str, tuple[int, ...]] = {name: n.shape for name, n in graph.inputs().items()}
        self.outputs: list[tuple[int, ...]] = [n.shape for n in nodes]
        self._own(call("r4_plan_new", graph.pointer, len(nodes), ids, ctypes.byref(o)), "r4_plan_free")
        self._bound: dict[str | int, Array] = {}

    def bind(self, name: str, value: Any) -> None:
        """Binds an array to an input. One of the right type and layout is not copied: changes of it are seen."""
        shape = self.inputs.get(name)
        if shape is None:
            raise ArgumentError(f'plan: the graph has no input "{name}"; it has {", ".join(self.inputs)}')
        a = to_array(value, name)
        if a.dtype.kind not in "fiub":
            raise ArgumentError(f'plan: input "{name}" has type {a.dtype}, expected numbers')
        a = np.ascontiguousarray(a, dtype=self.dtype).reshape(a.shape)
        if a.shape != shape:
            raise ShapeError(f'plan: input "{name}" has shape {a.shape}, expected {shape}')
        if any(np.may_share_memory(a, other) for key, other in self._bound.items() if isinstance(key, int)):
            raise ArgumentError(f'plan: input "{name}" shares memory with an output')
        call("r4_plan_input", self.pointer, encode(name, "a name"), a.ctypes.data)
        self._bound[name] = a

    def bind_address(self, name: str, address: int, owner: object) -> None:
        """Binds memory that somebody else owns, of the right size: rows of batches."""
        call("r4_plan_input", self.pointer, encode(name, "a name"), address)
        self._owner = owner

    def bind_output(self, k: int, to: Array) -> None:
        """The array that output k is written to; without, a new one for each run."""
        if not 0 <= k < len(self.outputs):
            raise ArgumentError(f"plan: output {k} of {len(self.outputs)}")
        if to.shape != self.outputs[k] or to.dtype != self.dtype or not to.flags.c_contiguous:
            raise ShapeError(f"plan: output {k} needs an array of {self.dtype.__name__} of shape {self.outputs[k]}")
        if not to.flags.writeable:
            raise ArgumentError(f"plan: output {k} cannot be written to")
        if any(np.may_share_memory(to, other) for key, other in self._bound.items() if key != k):
            raise ArgumentError(f"plan: output {k} shares memory with an input or another output")
        call("r4_plan_output", self.pointer, k, to.ctypes.data)
        self._bound[k] = to

    def run(self, inputs: Mapping[str, Any] | None = None) -> list[Array]:
        """Runs all kernels: the arrays of the outputs."""
        for name, value in (inputs or {}).items():
            self.bind(name, value)
        results = []
        for k, shape in enumerate(self.outputs):
            to = self._bound.get(k)
            if to is None:
                to = np.empty(shape, dtype=self.dtype)
                call("r4_plan_output", self.pointer, k, to.ctypes.data)
            results.append(to)
        call("r4_plan_run", self.pointer)
        return results

    def __call__(self, **inputs: Any) -> Array | list[Array]:
        results = self.run(inputs)
        return results[0] if self._single else results

    @property
    def kernels(self) -> int:
        return int(LIB.r4_plan_kernels(self.pointer))

    @property
    def flops(self) -> float:
        """Of products and convolutions, per run."""
        return float(LIB.r4_plan_flops(self.pointer))

    def __str__(self) -> str:
        return take_text(LIB.r4_plan_text(self.pointer))
