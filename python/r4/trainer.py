"""Training, step by step or as a run in a folder."""

from __future__ import annotations

import ctypes
import json
import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from . import _header as h
from ._arrays import Array
from ._library import LIB, Owned, call, encode, from_shape, take_text, text_of
from .data import Data
from .metrics import Metrics, metrics_of
from .net import Model, Net
from .settings import Settings

log = logging.getLogger("r4")

FIELDS: Any = h.r4_train_options._fields_
REPORT, NOTICE = dict(FIELDS)["report"], dict(FIELDS)["notice"]


# What figures of validation are of, in the order of r4_val_kind.
VAL_KINDS = ("none", "plain", "exchanged", "filled", "carries the shortcut")


@dataclass(frozen=True)
class Progress:
    """Where a run is. Loss, penalty and accuracy are means over the epoch so far.

    Figures of validation are of val_examples examples: "exchanged", between classes, so that the shortcut says nothing;
    "filled"; "plain", as there are no masks; or "carries the shortcut", as too few have masks.
    """

    epoch: int
    epochs: int
    batch: int
    batches: int
    loss: float
    penalty: float
    accuracy: float
    lambda_: float  # of the first penalty
    eps: float
    rate: float
    epoch_done: bool
    validated: bool
    val_avg: float
    val_worst: float
    val_se: float
    val_plain: float
    val_kind: str
    val_examples: int
    seconds: float
    penalties: dict[str, float]  # of each term of the method, by its name; penalty is their sum
    lambdas: dict[str, float]  # their weights in the last step


def _progress(p: h.r4_progress) -> Progress:
    names = (f for f in Progress.__dataclass_fields__ if f not in ("penalties", "lambdas"))
    found = {f: getattr(p, f.rstrip("_")) for f in names}
    terms = {text_of(t.name): t for t in p.term[: p.terms]}
    return Progress(
        **found | {"val_kind": VAL_KINDS[p.val_kind]},
        penalties={name: t.penalty for name, t in terms.items()},
        lambdas={name: getattr(t, "lambda") for name, t in terms.items()},
    )


@dataclass(frozen=True)
class Verdict:
    """How training ended: whether the model uses what masks mark, by the validation examples whose masked content was
    exchanged, and in how many steps the penalty counted. What is not known is NaN.

    verdict      "uses", "may use", "reacts" (to any change of what is masked, whatever its class), "uses a little",
                 "does not use", "collapsed" (one class for everything), "unknown"
    lost         share of correct predictions that are wrong after the exchange; lost_error is its standard error
    changed      share of all predictions that are others after the exchange
    unpenalised  a penalty was asked for, and counted in no step: this is not a model of its method
    one_sided    masks are on some classes only: what gives the others away, if anything does, was not measured
    doubtful     the masks may mean the reverse: they mark what usually is the object
    followed     share of correct predictions that masked content of another class costs, and of their own class does
                 not; followed_error is its standard error
    """

    verdict: str
    lost: float
    lost_error: float
    changed: float
    exchanged: int
    steps: int
    penalised_steps: int
    unpenalised: bool
    one_sided: bool
    doubtful: bool
    followed: float
    followed_error: float

    def __str__(self) -> str:
        """The sentence."""
        then = ""
        if self.one_sided:
            then += "; in some classes few examples or none have masks: shortcuts of theirs were not measured"
        if self.doubtful:
            then += "; but the masks may mean the reverse"
        if self.unpenalised:
            then += f"; the penalty took effect in none of {self.steps} steps"
        return f"the model {self._does()}{then}"

    def _does(self) -> str:
        if self.verdict == "collapsed":
            return "predicts one class for everything"
        if self.lost != self.lost:
            return (
                "may use the shortcut or not, which is unknown: there are no masks in validation whose content could "
                "be exchanged, or too few"
            )
        loses = (
            f"it loses {100 * self.lost:.1f} +- {100 * self.lost_error:.1f} % of its correct predictions when masked "
            f"content is exchanged on {self.exchanged} validation examples"
        )
        if self.verdict == "reacts":
            return (
                f"reacts to any change of what is masked, rather than using it as a shortcut: {loses}; content of "
                f"another class than its own costs {100 * self.followed:.1f} +- {100 * self.followed_error:.1f} %, so "
                "its class is not the cause"
            )
        little = " a little" if self.verdict == "uses a little" else ""
        return f"{self.verdict.removesuffix(' a little')} the shortcut{little}: {loses}"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return f"<p>{escape(str(self))}</p>"


def _verdict(o: h.r4_outcome) -> Verdict:
    word = text_of(LIB.r4_verdict_name(o.verdict))
    return Verdict(
        word,
        o.lost,
        o.lost_error if o.lost == o.lost else float("nan"),
        o.changed,
        o.exchanged,
        o.steps,
        o.penalised,
        unpenalised=bool(o.unpenalised),
        one_sided=bool(o.one_sided),
        doubtful=bool(o.doubtful),
        followed=o.followed,
        followed_error=o.followed_error,
    )


def read_verdict(folder: str | os.PathLike[str]) -> Verdict:
    """What outcome.json of a run's folder says."""
    o = h.r4_outcome()
    call("r4_outcome_read", encode(folder, "a folder"), ctypes.byref(o))
    return _verdict(o)


def _notice(tell: Callable[[str], None]) -> Any:
    return NOTICE(lambda sentence, _: tell(text_of(sentence)))


class Trainer(Owned):
    """One seed of one configuration, driven by the program: the bits are those of the command."""

    def __init__(
        self, settings: Settings, data: Data | None = None, *, notice: Callable[[str], None] | None = None
    ) -> None:
        """data: used as they are, in their splits; without, those that the settings name. notice: what looks wrong."""
        pointer = call("r4_trainer_new", settings.pointer, data.pointer if data is not None else None)
        self._callback = _notice(notice or log.warning)
        self._own(pointer, "r4_trainer_free", settings, self._callback, *(data.lent if data is not None else ()))
        self._classes = data.classes if data is not None else None
        self._how = LIB.r4_settings_measure(settings.pointer)
        LIB.r4_trainer_listen(self.pointer, self._callback, None)

    def step(self) -> Progress:
        """The next step, and after the last of an epoch validation."""
        p = h.r4_progress()
        call("r4_trainer_step", self.pointer, ctypes.byref(p))
        return _progress(p)

    def epoch(self) -> Progress:
        """All steps up to the end of the epoch."""
        p = self.step()
        while not p.epoch_done:
            p = self.step()
        return p

    @property
    def done(self) -> bool:
        return bool(LIB.r4_trainer_done(self.pointer))

    @property
    def progress(self) -> Progress:
        p = h.r4_progress()
        LIB.r4_trainer_progress(self.pointer, ctypes.byref(p))
        return _progress(p)

    @property
    def net(self) -> Net:
        n = LIB.r4_trainer_net(self.pointer)
        return Net(text_of(LIB.r4_net_layers(n)), from_shape(LIB.r4_net_input(n)))

    @property
    def manifest(self) -> dict[str, Any]:
        """What manifest.json of a run has: version, seed, net, hash of the data, machine."""
        found: dict[str, Any] = json.loads(take_text(LIB.r4_trainer_manifest(self.pointer)))
        return found

    @property
    def log(self) -> str:
        """What log.jsonl of a run has: a line of JSON for each epoch that was done here."""
        return take_text(LIB.r4_trainer_log(self.pointer))

    @property
    def weights(self) -> Array:
        """A copy of those of the epoch that "select" chose so far; before the first is done, of the last step."""
        n = LIB.r4_net_size(LIB.r4_trainer_net(self.pointer))
        return np.array((ctypes.c_float * n).from_address(LIB.r4_trainer_weights(self.pointer)), dtype=np.float32)

    @property
    def model(self) -> Model:
        """A model of the weights as they are now."""
        return Model(self.net, self.weights, self._classes, self.constant)

    @property
    def constant(self) -> tuple[float, ...]:
        """What takes the place of what a cover hides: the mean of each channel, or the id of [MASK]; (): none."""
        numbers = np.empty(LIB.r4_trainer_constants(self.pointer), dtype=np.float32)
        there = LIB.r4_trainer_constant(self.pointer, len(numbers), numbers.ctypes.data)
        return tuple(float(v) for v in numbers) if there else ()

    def evaluate(self, data: Data) -> Metrics:
        """Of the weights as they are now, with the settings eval.*."""
        m = h.r4_metrics()
        of = LIB.r4_trainer_net(self.pointer), LIB.r4_trainer_weights(self.pointer)
        call("r4_evaluate", *of, data.pointer, ctypes.byref(self._how), ctypes.byref(m))
        return metrics_of(m, data.group_names, data.classes)

    def judge(self) -> Verdict:
        """Whether the weights use what masks mark, once an epoch is done; the notices say it, too."""
        o = h.r4_outcome()
        call("r4_trainer_judge", self.pointer, ctypes.byref(o))
        return _verdict(o)

    def save(self, path: str | os.PathLike[str]) -> None:
        """A checkpoint: a trainer of the same settings and data that loads it goes on to the same bits."""
        call("r4_trainer_save", self.pointer, encode(path, "a path"))

    def load(self, path: str | os.PathLike[str]) -> None:
        call("r4_trainer_load", self.pointer, encode(path, "a path"))


class _Listener:
    """Callbacks of a run. An exception, Ctrl-C included, ends the run at this step and is raised afterwards."""

    def __init__(self, report: Callable[[Progress], bool | None] | None, notice: Callable[[str], None]) -> None:
        self.raised: BaseException | None = None
        self._report, self._tell = report, notice
        self.report, self.notice = REPORT(self._on_step), NOTICE(self._on_notice)

    def _on_step(self, p: int, _: object) -> bool:
        try:
            if self._report is None:
                return self.raised is None
            return self._report(_progress(h.r4_progress.from_address(p))) is not False and self.raised is None
        except BaseException as e:  # must not pass through the library
            self.raised = e
            return False

    def _on_notice(self, sentence: bytes, _: object) -> None:
        try:
            self._tell(text_of(sentence))
        except BaseException as e:  # must not pass through the library
            self.raised = e

    def options(self, folder: str | os.PathLike[str], resume: bool, force: bool) -> h.r4_train_options:
        o = h.r4_train_options()
        o.folder, o.resume, o.force = encode(folder, "a folder"), resume, force
        o.report, o.notice = self.report, self.notice
        return o

    def settle(self) -> None:
        if self.raised is not None:
            raise self.raised


def train(
    settings: Settings | Mapping[str, Any],
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    force: bool = False,
    report: Callable[[Progress], bool | None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> bool:
    """A run of one seed in a folder, as ``r4 train`` leaves it; the settings name the data.

    report is called after each step, and may return False to stop. Returns whether the run came to its end; one that
    was stopped, by Ctrl-C, too, goes on to the same bits with resume.
    """
    s = settings if isinstance(settings, Settings) else Settings(settings)
    listener = _Listener(report, notice or log.warning)
    outcome = h.r4_outcome()
    o = listener.options(folder, resume, force)
    try:
        call("r4_train", s.pointer, ctypes.byref(o), ctypes.byref(outcome))
    finally:
        listener.settle()
    return not outcome.stopped


def choose_method(settings: Settings, data: Data) -> str | None:
    """Sets method, which is "auto", to what fits the masks that there are. Returns why."""
    if not LIB.r4_method_is_open(settings.pointer):
        return None
    why = ctypes.create_string_buffer(h.R4_ERROR_SIZE)
    call("r4_method_choose", settings.pointer, data.pointer, why)
    return text_of(why.value)


def choose_lambda(settings: Settings, data: Data, notice: Callable[[str], None]) -> None:
    """Sets lambda, which is "auto", to the best of short runs (doc/objectives.md)."""
    if not LIB.r4_lambda_is_open(settings.pointer):
        return
    listener = _Listener(None, notice)
    curve, stopped = h.r4_lambda_curve(), ctypes.c_bool()
    with tempfile.TemporaryDirectory(prefix="r4-") as folder:
        file = os.path.join(folder, "data.npz")
        data.save(file)
        settings["data"] = file
        o = listener.options(os.path.join(folder, "search"), False, False)
        try:
            call("r4_lambda_search", settings.pointer, ctypes.byref(o), ctypes.byref(curve), ctypes.byref(stopped))
        finally:
            listener.settle()
            settings["data"] = ""
    log.info("lambda is %g, the best of %d", getattr(curve.tried[curve.chosen], "lambda"), curve.n)
