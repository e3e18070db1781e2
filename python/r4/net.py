"""Networks as text, and models: networks with weights."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays as arrays
from . import _header as h
from ._arrays import Array
from ._library import LIB, Owned, call, choice, encode, from_shape, text_of, texts, to_shape
from .certify import Certified, Number, Valid, box_of, certify, decimal, valid_of
from .cover import Covered, cover
from .errors import ArgumentError, ShapeError
from .metrics import Metrics, measured_of
from .swap import DRAWS, Swap, plain, swap_test

if TYPE_CHECKING:
    from .data import Data
    from .graph import Graph, Node

EXPLAINED = ("loss", "logit", "margin", "logprob-sum")
BATCH = 256  # examples that are asked about together


@dataclass(frozen=True)
class Parameter:
    """A parameter of a net, named as PyTorch names it; a buffer has no gradient."""

    name: str
    shape: tuple[int, ...]
    offset: int
    buffer: bool

    @property
    def count(self) -> int:
        return int(np.prod(self.shape))

    def of(self, flat: Array) -> Array:
        """Its place in an array of all weights; not a copy."""
        return flat[self.offset : self.offset + self.count].reshape(self.shape)


class Net(Owned):
    """``Net("conv 16 3 p1, relu, flatten, dense 10", (28, 28, 1))``; doc/nets.md has the language."""

    def __init__(self, text: str, shape: Sequence[int]) -> None:
        self._own(call("r4_net_open", encode(text, "a net"), to_shape(shape)), "r4_net_free")

    def __reduce__(self) -> Any:
        return Net, (self.layers, self.input)

    @property
    def layers(self) -> str:
        """Text that makes the net again."""
        return text_of(LIB.r4_net_layers(self.pointer))

    @property
    def input(self) -> tuple[int, ...]:
        return from_shape(LIB.r4_net_input(self.pointer))

    @property
    def outputs(self) -> int:
        return int(LIB.r4_net_classes(self.pointer))

    @property
    def vocabulary(self) -> int:
        """How many ids of tokens it knows; 0: it takes none."""
        return int(LIB.r4_net_vocabulary(self.pointer))

    @property
    def size(self) -> int:
        """How many weights it has, buffers included."""
        return int(LIB.r4_net_size(self.pointer))

    @property
    def parameters(self) -> list[Parameter]:
        p = self.pointer
        return [
            Parameter(
                text_of(LIB.r4_net_param_name(p, k)),
                from_shape(LIB.r4_net_param_shape(p, k)),
                int(LIB.r4_net_param_offset(p, k)),
                bool(LIB.r4_net_param_is_buffer(p, k)),
            )
            for k in range(LIB.r4_net_params(p))
        ]

    def init(self, seed: int = 0, how: str = "default") -> Array:
        """Fresh weights: U(-1/sqrt(fan_in), 1/sqrt(fan_in)), or as "xavier", "kaiming" or "ibp" say."""
        weights = np.zeros(self.size, dtype=np.float32)
        call("r4_net_init", self.pointer, encode(how, "how"), seed, weights.ctypes.data)
        return weights

    def check(self, weights: Any) -> Array:
        """The weights as one flat array of float32 of the right size."""
        flat = np.ascontiguousarray(arrays.to_array(weights, "weights"), dtype=np.float32)
        if flat.shape != (self.size,):
            raise ShapeError(f"weights have shape {flat.shape}, expected ({self.size},)")
        return flat

    def inputs(self, graph: Graph) -> list[Node]:
        """The inputs of the graph that stand for the parameters."""
        from .graph import Node

        ids = (h.r4_id * max(LIB.r4_net_params(self.pointer), 1))()
        LIB.r4_net_inputs(self.pointer, graph.pointer, ids)
        graph.check()
        return [Node(graph, i.i) for i in ids[: LIB.r4_net_params(self.pointer)]]

    def apply(self, parameters: Sequence[Node], x: Node) -> Node:
        """Logits [batch, classes] of x [batch, input...]: as the net answers, not as it learns (no dropout)."""
        wanted = LIB.r4_net_params(self.pointer)
        if len(parameters) != wanted:
            raise ShapeError(f"{len(parameters)} parameters, the net has {wanted}")
        ids = (h.r4_id * max(wanted, 1))(*(x.graph.own(p) for p in parameters))
        return x.graph.node(LIB.r4_net_apply(self.pointer, x.graph.pointer, ids, x.graph.own(x)))

    def __repr__(self) -> str:
        return f"Net({self.layers!r}, {self.input})"


def noise_options(levels: Sequence[float] | str) -> h.r4_sensitivity_options:
    """Levels of noise, "usual" or "published"."""
    o = h.r4_sensitivity_options()
    o.published = levels == "published"
    chosen = () if isinstance(levels, str) else levels
    if len(chosen) > h.R4_MAX_NOISES:
        raise ArgumentError(f"noise has {len(chosen)} levels, expected at most {h.R4_MAX_NOISES}")
    o.n = len(chosen)
    for k, level in enumerate(chosen):
        o.sigma[k] = level
    return o


class Model(Owned):
    """A net with its weights, names of classes, and the constant that takes the place of what a cover hides."""

    def __init__(
        self, net: Net, weights: Any, classes: Sequence[str] | None = None, constant: Sequence[float] = ()
    ) -> None:
        flat = net.check(weights)
        if classes is not None and len(classes) != max(net.outputs, 2):
            raise ShapeError(f"{len(classes)} names of classes, the net has {max(net.outputs, 2)} classes")
        names = texts(classes) if classes is not None else None
        self._own(call("r4_model_new", net.pointer, flat.ctypes.data, names), "r4_model_free")
        numbers = np.ascontiguousarray(constant, dtype=np.float32)
        call("r4_model_set_constant", self.pointer, len(numbers), numbers.ctypes.data)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Model:
        """A safetensors or ONNX file, or the folder of a seed of a run."""
        self = cls.__new__(cls)
        self._own(call("r4_model_open", encode(path, "a path"), None), "r4_model_free")
        return self

    def __reduce__(self) -> Any:
        return Model, (self.net, self.weights, self.classes, self.constant)

    @property
    def _net(self) -> int:
        return int(LIB.r4_model_net(self.pointer))

    @property
    def _weights(self) -> int:
        return int(LIB.r4_model_weights(self.pointer))

    @property
    def net(self) -> Net:
        return Net(text_of(LIB.r4_net_layers(self._net)), self.input)

    @property
    def input(self) -> tuple[int, ...]:
        return from_shape(LIB.r4_net_input(self._net))

    @property
    def weights(self) -> Array:
        """A copy of all of them, flat."""
        n = LIB.r4_net_size(self._net)
        return np.array((ctypes.c_float * n).from_address(self._weights), dtype=np.float32)

    @property
    def class_count(self) -> int:
        return int(LIB.r4_model_classes(self.pointer))

    @property
    def classes(self) -> list[str] | None:
        names = [LIB.r4_model_class_name(self.pointer, k) for k in range(self.class_count)]
        return None if names[0] is None else [text_of(n) for n in names]

    @property
    def constant(self) -> tuple[float, ...]:
        """One number for each channel, or the id of a token; (): there is none."""
        n = int(LIB.r4_model_constants(self.pointer))
        numbers = np.empty(n, dtype=np.float32)
        LIB.r4_model_constant(self.pointer, n, numbers.ctypes.data)
        return tuple(float(v) for v in numbers)

    @property
    def addresses(self) -> tuple[int, int]:
        """Of its net and its weights, for calls of the library; they live as long as the model."""
        return self._net, self._weights

    def check(self, data: Data) -> None:
        """Refuses data whose examples the net does not take."""
        has, takes = int(np.prod(data.shape)), int(np.prod(self.input))
        if has != takes:
            raise ShapeError(
                f"X has {has} features, but Classifier is expecting {takes} features as input: "
                f"examples of shape {data.shape}, and a net for {self.input}"
            )

    def probabilities(self, data: Data) -> Array:
        """[n, classes]: softmax of the logits, in double."""
        self.check(data)
        to = np.empty((len(data), self.class_count), dtype=np.float32)
        call("r4_predict", self._net, self._weights, data.pointer, BATCH, to.ctypes.data)
        return to

    def attribute(
        self,
        data: Data,
        method: str = "gradient",
        *,
        what: str = "loss",
        eps: float = 0.1,
        sigma: float = 0.1,
        samples: int = 32,
        seed: int = 0,
        baseline: Any = None,
        window: int = 0,
        stride: int = 0,
        fill: float = 0.0,
    ) -> Array:
        """Attributions [n, features] to the labels of the data; doc/explain.md has the formulas."""
        self.check(data)
        features = int(np.prod(data.shape))
        o = LIB.r4_attribution_defaults()
        o.explain = choice(what, EXPLAINED, "what")
        o.eps, o.sigma, o.samples, o.seed = eps, sigma, samples, seed
        o.window, o.stride, o.fill = window, stride, fill
        if baseline is not None:
            start = np.ascontiguousarray(arrays.to_array(baseline, "baseline"), dtype=np.float32)
            if start.size != features:
                raise ShapeError(f"baseline has shape {start.shape}, expected {data.shape}")
            o.baseline = start.ctypes.data
        to = np.empty((len(data), features), dtype=np.float32)
        name = encode(method, "a method")
        call("r4_attribute", name, self._net, self._weights, data.pointer, ctypes.byref(o), to.ctypes.data)
        return to

    def evaluate(
        self,
        data: Data,
        eps: float = 0.1,
        batch: int = BATCH,
        kappa: int | None = None,
        *,
        contents: Sequence[str] = (),
        draws: int = DRAWS,
        noise: Sequence[float] | str | None = None,
        pointing: Sequence[str] = (),
        specificity: float = 0.95,
        certified: Number | None = None,
        valid: Valid = None,
        attack: int = 3,
    ) -> Metrics:
        """Accuracy by group, fragility of at most kappa examples (None: of all), and what else is asked for."""
        from .data import content_number

        self.check(data)
        if draws < 1:
            raise ArgumentError(f"draws is {draws}, expected 1 or more")
        for what, n, most in (
            ("content", len(contents), h.R4_MAX_SWAPS),
            ("pointing", len(pointing), h.R4_MAX_POINTING),
        ):
            if n > most:
                raise ArgumentError(f"{what} has {n} words, expected at most {most}")
        o, m = LIB.r4_measure_defaults(), h.r4_measured()
        o.eps, o.batch, o.draws, o.specificity, o.swaps = eps, batch, draws, specificity, len(contents)
        if kappa is not None:
            o.kappa = kappa
        for k, word in enumerate(contents):
            o.swap[k] = content_number(word)
        heard = None if noise is None else noise_options(noise)
        if heard is not None:
            o.noise = ctypes.addressof(heard)
        if certified is not None:
            box = "range" if certified == "range" else decimal(certified, "certified")
            ends = valid_of(valid, data.shape)
            o.certify, o.attack, o.donors = encode(box, "certified"), attack, data.pointer
            o.low, o.high = (encode(v, "valid") for v in ends) if ends else (None, None)
        names = texts(pointing)
        o.pointings = len(pointing)
        for k in range(len(pointing)):
            o.pointing[k] = names[k]
        call("r4_measure", *self.addresses, data.pointer, ctypes.byref(o), ctypes.byref(m))
        return measured_of(m, contents, data.group_names, data.classes)

    def cover(self, data: Data, family: str) -> Covered:
        """Predictions that no content of any one region of a family can change; doc/cover.md has the proofs."""
        self.check(data)
        return cover(self, data, family)

    def certify(
        self,
        data: Data,
        *,
        eps: Number | None = None,
        range: bool = False,
        valid: Valid = None,
        semantics: str = "real",
        radius: bool = False,
        gradient: bool = False,
        attack: int = 0,
        donors: Data | None = None,
    ) -> Certified:
        """Predictions that are proved for whatever is in the masks of the data; doc/certificates.md has the proofs."""
        self.check(data)
        return certify(
            self,
            data,
            box_of(eps, range),
            valid=valid_of(valid, data.shape),
            semantics=semantics,
            radius=radius,
            gradient=gradient,
            attack=attack,
            donors=donors,
        )

    def swap_test(self, data: Data, content: str = "swap", *, draws: int = DRAWS, seed: int = 0) -> Swap:
        """Which predictions change when the masked content of another class, or other content, stands in the mask."""
        self.check(data)
        return swap_test(self.addresses, data, content, draws, seed, BATCH)

    def exchanged_score(self, data: Data, *, seed: int = 0) -> dict[str, Any]:
        """What training chooses by in validation (r4_exchanged): accuracy where masked content says nothing."""
        self.check(data)
        found = h.r4_exchanged()
        call("r4_exchanged_score", *self.addresses, data.pointer, seed, BATCH, ctypes.byref(found))
        figures: dict[str, Any] = plain(found)
        return figures

    def core_sensitivity(self, data: Data, levels: Sequence[float] = (), *, published: bool = False) -> dict[str, Any]:
        """Which noise hurts more, that on the core or that on what is masked (r4_sensitivity); (): the usual levels."""
        self.check(data)
        o, found = noise_options("published" if published else levels), h.r4_sensitivity()
        call("r4_core_sensitivity", *self.addresses, data.pointer, ctypes.byref(o), ctypes.byref(found))
        figures: dict[str, Any] = plain(found)
        return figures | {"at": figures["at"][: found.n], "unit": figures["unit"][: found.channels]}

    def pointing_game(self, data: Data, method: str = "gradient") -> dict[str, Any]:
        """Whether an attribution points at the core (r4_pointing)."""
        self.check(data)
        found = h.r4_pointing()
        name = encode(method, "a method")
        call("r4_pointing_game", name, *self.addresses, data.pointer, None, ctypes.byref(found))
        figures: dict[str, Any] = plain(found)
        return figures

    def _write(self, function: str, path: str | os.PathLike[str]) -> None:
        names = texts(self.classes) if self.classes is not None else None
        call(function, self._net, self._weights, names, encode(path, "a path"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """A safetensors file that PyTorch reads."""
        call("r4_model_write", self.pointer, encode(path, "a path"))

    def export_onnx(self, path: str | os.PathLike[str]) -> None:
        """An ONNX file for programs that run nets: images are [batch, channels, height, width] from 0 to 1, the output
        is ``logits``; names of classes, layout and scale are in the metadata. doc/onnx.md says more."""
        self._write("r4_onnx_save", path)

    def __repr__(self) -> str:
        return f"Model({self.net!r})"
