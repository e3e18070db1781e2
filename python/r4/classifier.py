"""A classifier with scikit-learn's conventions."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _arrays as arrays
from ._arrays import Array, Kind, Layout
from ._doubts import unseen_by_swap, warn_of_layout, warn_of_masks
from ._estimator import Base
from ._labels import class_values, labels_of, not_fitted, type_of
from ._library import threads
from ._names import named
from ._progress import Bar, bar
from ._say import ShortcutWarning, VerdictWarning, in_python, warn
from ._scale import ScaleWarning, Seen, compare, seen_in
from .bounds import Bounds, bounds_of
from .certify import Certified, Number, Valid, box_of, certify, valid_of
from .cover import Covered
from .data import Data, MaskMeans
from .errors import ArgumentError
from .masked import apart
from .metrics import Metrics
from .net import Model
from .settings import KEYS, PARAMETERS, Settings
from .swap import DRAWS, contents_of
from .texts import Explained, are_texts, words_of
from .trainer import Progress, Trainer, Verdict, choose_lambda, choose_method

if TYPE_CHECKING:
    from typing import Self

log = logging.getLogger("r4")

# What explain hands on to an attribution.
OPTIONS = ("eps", "sigma", "samples", "seed", "baseline", "window", "stride", "fill")
AS_THEY_ARE = (
    "score is the accuracy on the examples as they are, and the model was fitted with masks: where these carry the "
    'shortcut that masks mark, using it makes the score better. r4.scorer("swapped") and evaluate exchange it'
)
# Settings of data that arrays have as well; the others are for data that are read by name.
DATA_KEYS = ("data.val", "data.val_fill", "data.seed")


class Classifier(Base):
    """A network that is trained to ignore what masks mark.

    It minimises ``mean_i l_i + lambda mean_i q_i``, with l_i the cross entropy of example i and q_i what the method
    penalises: for "cert-r4" ``|| m_i . max(|lo_i|, |hi_i|) ||``, where lo_i <= d l_i / d x <= hi_i for all x within
    eps of x_i on the mask m_i. doc/objectives.md has all of them.

    net         parts in a row, or a name such as "resnet18(classes=6)"; {classes} stands for their number, and {words}
                for that of the tokens that there are
    method      "auto" (by the masks that there are, as the command chooses; method_ is what it took), erm, group-dro,
                fill, r3, smooth-r3, ibp-ex, rand-r4, adv-r4, cert-r4 or pairing, or up to four of those with a penalty:
                "cert-r4+pairing"
    lambda_     weight of the penalty, "auto", or None for the method's own; of several the first one's, and
                settings={"lambda.pairing": 3} those of others
    eps         how far masked features may move
    delta       how small the penalised quantity must become; lambda then follows
    epochs, batch, rate
    validation  share held out for validation if ``splits`` is not given; None: 0.1, as the command; 0: none
    settings    any other of ``r4 help train``, by its key: {"optimizer": "sgd", "augment.flip": True}
    layout      of images with channels, "NHWC" or "NCHW"
    kind        "auto": uint8 is bytes, of which 255 is 1, all else floats; "tokens" for ids of tokens
    tokenizer   for texts: a tokenizer.json, a vocab.txt, or a net downloaded with ``r4 data get`` (None: "minilm")
    length      for texts: tokens that each is cut or padded to; None: those of the longest, at most 512
    random_state  seed of weights, order and noise
    verbose     1 shows a progress bar

    None stands for the default of the command. The same data, settings, seed and number of threads give the bits that
    the command gives.
    """

    @named(settings=True)
    def __init__(
        self,
        net: str = "dense 512, relu, dense {classes}",
        method: str = "auto",
        *,
        lambda_: float | str | None = None,
        eps: float | None = None,
        delta: float | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        rate: float | None = None,
        validation: float | None = None,
        settings: Mapping[str, Any] | None = None,
        layout: Layout = "NHWC",
        kind: Kind = "auto",
        tokenizer: str | os.PathLike[str] | None = None,
        length: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.net = net
        self.method = method
        self.lambda_ = lambda_
        self.eps = eps
        self.delta = delta
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.validation = validation
        self.settings = settings
        self.layout = layout
        self.kind = kind
        self.tokenizer = tokenizer
        self.length = length
        self.random_state = random_state
        self.verbose = verbose

    # ---- Learning ----

    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            state = np.random.mtrand._rand
        if isinstance(state, np.random.RandomState):
            return int(state.randint(2**31 - 1))
        if isinstance(state, np.random.Generator):
            return int(state.integers(2**31 - 1))
        return int(state)

    def _make_settings(self) -> Settings:
        s = Settings(origin="r4.Classifier")
        s["net"] = str(self.net)
        s["seed"] = self._seed()
        for name, key in KEYS.items():
            if getattr(self, name) is not None:
                s[key] = getattr(self, name)
        for key, value in (self.settings or {}).items():
            if (key == "data" or key.startswith("data.")) and key not in DATA_KEYS:
                raise ArgumentError(f"{key} is about data that are read by name: arrays are taken as they are")
            if key == "class_weights" and isinstance(value, Mapping):
                value = self._weights_of(value)
            self._set(s, key, value)
        for sentence in s.renamed():
            warn(sentence, FutureWarning)
        return s

    def _weights_of(self, by_label: Mapping[Any, float]) -> list[float]:
        """A weight for each class, of those that are given by label; 1 for the others."""
        classes = self.classes_.tolist()
        unknown = [label for label in by_label if label not in classes]
        if unknown:
            raise ArgumentError(f"class_weights has {unknown[0]!r}, which is not one of the classes: {classes}")
        return [float(by_label.get(label, 1)) for label in classes]

    def _set(self, s: Settings, key: str, value: Any) -> None:
        """A setting, which must not contradict the parameter that is the same."""
        name = PARAMETERS.get(key, "random_state" if key == "seed" else key)
        given = getattr(self, name, None) if name in USUAL else None
        before = s[key] if given is not None and given != USUAL[name] else None
        s[key] = value
        if before is not None and s[key] != before:
            raise ArgumentError(f'{name}={given!r} and settings={{"{key}": {value!r}}} say different things: give one')

    def _take_data(self, X: Any, y: Any, **more: Any) -> Data:
        if isinstance(X, Data):
            if y is not None or any(v is not None for v in more.values()):
                raise ArgumentError("a data set has its labels, masks, groups and splits: give nothing else")
            self.classes_ = class_values(X.classes)
            return X
        if y is None:
            raise ArgumentError("requires y to be passed, but the target y is None: a classifier learns from labels")
        labels = labels_of(y, self._count(X))
        classes, numbers = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ArgumentError(f"y has one class, {classes[0]!r}: a classifier needs at least two")
        self.classes_ = classes
        if not are_texts(X):
            warn_of_layout(X, self.layout)
        data = Data(X, numbers, classes=[str(c) for c in classes], **self._about(X, self.length or 0), **more)
        self._note_features(X)
        self._one = tuple(np.shape(X)[1:]) if hasattr(X, "shape") else None
        return data

    def _count(self, X: Any) -> int:
        """How many examples there are."""
        return len(X) if are_texts(X) else len(arrays.values(X, layout=self.layout, kind=self.kind).array)

    def _is_bytes(self, X: Any) -> bool:
        """Whether X has pixels from 0 to 255, as far as is known: they become 0 to 1."""
        if isinstance(X, Data) or are_texts(X):
            return False
        return self.kind in ("auto", "bytes") and arrays.to_array(X, "X").dtype == np.uint8

    def _warn_once(self, sentence: str, kind: type[Warning]) -> None:
        told = self.__dict__.setdefault("_told", set())
        if kind not in told:
            told.add(kind)
            warn(sentence, kind)

    def _about(self, X: Any, length: int) -> dict[str, Any]:
        """How examples are to be understood."""
        if are_texts(X):
            return {"tokenizer": self.tokenizer, "length": length, "kind": self.kind}
        return {"layout": self.layout, "kind": self.kind, "copy": False}

    def _note_features(self, X: Any) -> None:
        self.__dict__.pop("feature_names_in_", None)
        columns = getattr(X, "columns", None)
        if columns is not None and all(isinstance(c, str) for c in columns):
            self.feature_names_in_ = np.asarray(columns, dtype=object)

    @named()
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        masks: Any = None,
        mask_means: MaskMeans | None = None,
        groups: Any = None,
        splits: Any = None,
        lengths: Any = None,
    ) -> Self:
        """Learns from examples X [n, ...] with labels y [n], or from a data set (r4.data) alone.

        masks [n, height, width] or shaped as X, or a list with None for examples without a mask; mask_means says what 1
        marks, "irrelevant" or "relevant" (with which zeros make all of an example irrelevant). groups and splits
        ("train", "val", "test") are [n]. Ctrl-C stops at a step: the exception passes on, and the model is the one so
        far (stopped_ is then true).

        X may be a list of texts. masks are then words that must not matter, ["spielberg", "jonah"], or for each text a
        list of spans of characters, [[(3, 9)], []], of which mask_means says what they mark.
        """
        self.__dict__.pop("model_", None)  # one that does not fit the new classes
        X, masks, mask_means, groups = apart(X, masks, mask_means, groups)
        more = {"masks": masks, "mask_means": mask_means, "groups": groups, "splits": splits, "lengths": lengths}
        data = self._take_data(X, y, **more)
        s = self._make_settings()
        if are_texts(X) and (words := words_of(masks)) is not None:
            s["data.mask_words"] = words
        share = s["data.val"]
        if share > 0 and len(data.part("val")) == 0:
            data = data.hold_out(share, s["data.seed"])
        parts = (data.part("test"), data.part("val"))
        self._measured: Data | None = next((part for part in parts if len(part)), None)
        self.n_features_in_ = int(np.prod(data.shape))
        self.mask_means_ = mask_means if masks is not None else None
        self._seen: Seen | None = seen_in(data, self._is_bytes(X))
        self._told: set[type[Warning]] = set()  # once for each fit
        self._masked = data.masked_count > 0
        warn_of_masks(data, mask_means)
        before = threads()
        threads(s["threads"])  # 0 keeps the number
        try:
            self._learn(s, data)
        finally:
            threads(before)
        return self

    def _learn(self, s: Settings, data: Data) -> None:
        self.notices_: list[str] = []
        level = logging.WARNING

        def notice(sentence: str) -> None:
            sentence = in_python(sentence)
            self.notices_.append(sentence)
            log.log(level, sentence)

        if (why := choose_method(s, data)) is not None:
            log.info(in_python(why))
        self.method_ = str(s["method"])
        choose_lambda(s, data, notice)
        self.verdict_: Verdict | None = None
        self.history_: list[dict[str, float]] = []
        self.stopped_ = True
        shown = bar(self.verbose, s["epochs"])
        with Trainer(s, data, notice=notice) as trainer:
            self.manifest_: dict[str, Any] | None = trainer.manifest
            try:
                self._run(trainer, shown)
                self.stopped_ = False
            except KeyboardInterrupt:
                self._keep(trainer, s)
                log.warning("stopped in epoch %d: the model is the one so far", trainer.progress.epoch + 1)
                raise
            finally:
                shown.close()
            self._keep(trainer, s)
            level = logging.INFO  # what is wrong then is a warning of Python
            self._judge(trainer)

    def _judge(self, trainer: Trainer) -> None:
        told = len(self.notices_)
        self.verdict_ = found = trainer.judge()
        sentences = self.notices_[told:]  # the penalty first, the verdict last
        if found.unpenalised:
            warn(sentences[0], VerdictWarning)
        if found.verdict in ("uses", "reacts"):
            warn(f"the model {sentences[-1]}", VerdictWarning)

    def _run(self, trainer: Trainer, shown: Bar) -> None:
        while not trainer.done:
            p = trainer.step()
            shown.show(p)
            if p.epoch_done:
                self._note_epoch(p)

    def _keep(self, trainer: Trainer, s: Settings) -> None:
        self.model_ = trainer.model
        self.log_ = trainer.log
        self.folder_: str | None = None
        if self.mask_means_ is not None:  # for whoever opens the run; the data set has it already
            s["data.mask_means"] = self.mask_means_
        self.settings_ = s.changed()
        self.n_iter_ = len(self.history_)

    def _note_epoch(self, p: Progress) -> None:
        line = {"loss": p.loss, "penalty": p.penalty, "accuracy": p.accuracy, "lambda": p.lambda_, "eps": p.eps}
        if len(p.penalties) > 1:
            line |= {f"penalty.{name}": value for name, value in p.penalties.items()}
            line |= {f"lambda.{name}": value for name, value in list(p.lambdas.items())[1:]}
        if p.validated:
            line |= {"val_avg": p.val_avg, "val_worst": p.val_worst, "val_se": p.val_se}
        self.history_.append(line)
        log.info("epoch %d of %d: loss %.4g, accuracy %.4g", p.epoch, p.epochs, p.loss, p.accuracy)

    # ---- Asking ----

    @property
    def _model(self) -> Model:
        model = self.__dict__.get("model_")
        if model is None:
            raise not_fitted(f"this {type(self).__name__} is not fitted: call fit before asking it")
        assert isinstance(model, Model)
        return model

    def _numbers(self, y: Any, n: int) -> Array:
        labels = labels_of(y, n)
        known = {c: k for k, c in enumerate(self.classes_.tolist())}
        wrong = [label for label in labels.tolist() if label not in known]
        if wrong:
            raise ArgumentError(f"y has {wrong[0]!r}, which is not one of the classes: {list(known)}")
        return np.array([known[label] for label in labels.tolist()], dtype=np.int32)

    def _examples(self, X: Any, y: Any = None, **more: Any) -> Data:
        """A data set with the classes of the model; labels that are not given are 0."""
        model, data = self._model, X
        if not isinstance(X, Data):
            self._check_features(X, model)
            n = self._count(X)
            numbers = np.zeros(n, np.int32) if y is None else self._numbers(y, n)
            names = [str(c) for c in self.classes_]
            data = Data(X, numbers, classes=names, **self._about(X, model.input[0]), **more)
        if sentence := compare(self.__dict__.get("_seen"), data):
            self._warn_once(sentence, ScaleWarning)
        assert isinstance(data, Data)
        return data

    def _check_features(self, X: Any, model: Model) -> None:
        if are_texts(X):
            if len(model.input) != 1 or not model.net.vocabulary:
                raise ArgumentError(f"X has texts, and the net takes examples of {model.input}, not tokens")
            return
        self._check_several(X)
        x = arrays.values(X, layout=self.layout, kind=self.kind)
        if x.features != int(np.prod(model.input)):
            raise ArgumentError(
                f"X has {x.features} features, but {type(self).__name__} is expecting {int(np.prod(model.input))} "
                f"features as input: X has shape {x.given}, the net takes examples of {model.input}"
            )

    def _check_several(self, X: Any) -> None:
        """One example, where several are expected, as it was in fit."""
        shape = tuple(np.shape(X)) if hasattr(X, "shape") and not isinstance(X, Data) else ()
        if len(shape) > 1 and shape[0] > 1 and shape in (self.__dict__.get("_one"), tuple(self._model.input)):
            raise ArgumentError(f"X has shape {shape}, which is that of one example: give X[None]")

    def _means(self, masks: Any, stated: MaskMeans | None) -> MaskMeans | None:
        """What masks mean: as stated, or as in fit."""
        return (stated or getattr(self, "mask_means_", None)) if masks is not None else None

    def predict_proba(self, X: Any) -> Array:
        """[n, classes], in the order of classes_: softmax of the logits."""
        return self._model.probabilities(self._examples(apart(X, None, None)[0]))

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of predict_proba; -inf where that is 0."""
        with np.errstate(divide="ignore"):
            found: Array = np.log(self.predict_proba(X))
        return found

    def predict(self, X: Any, *, cover: str | None = None) -> Array:
        """The class with the largest probability, the first at a tie.

        cover: by two-mask inference under the masks of a family, as "edges:0.33"; see certify.
        """
        if cover is not None:
            return self.certify(X, cover=cover).predicted
        best = self.predict_proba(X).argmax(axis=1)
        answers: Array = self.classes_[best]
        return answers

    @overload
    def certify(self, X: Any, y: Any = None, *, cover: str) -> Covered: ...

    @overload
    def certify(
        self,
        X: Any,
        y: Any = None,
        *,
        masks: Any = None,
        mask_means: MaskMeans | None = None,
        groups: Any = None,
        eps: Number | None = None,
        range: bool = False,
        valid: Valid = None,
        semantics: str = "real",
        radius: bool = False,
        gradient: bool = False,
        attack: int = 0,
    ) -> Certified: ...

    def certify(
        self,
        X: Any,
        y: Any = None,
        *,
        cover: str | None = None,
        masks: Any = None,
        mask_means: MaskMeans | None = None,
        groups: Any = None,
        eps: Number | None = None,
        range: bool = False,
        valid: Valid = None,
        semantics: str = "real",
        radius: bool = False,
        gradient: bool = False,
        attack: int = 0,
    ) -> Certified | Covered:
        """Which predictions provably stay what they are: whatever is in the masks, or in any one region of a family.

        Masks: masked features move by up to eps (a number, of which the decimal as it is written counts, or a text), or
        take any valid value (range=True). valid: lowest and highest valid value, or "none"; usually the setting
        "range", or 0 to 1 for images. semantics: "real", the stored weights in real arithmetic, or "any-float", every
        float evaluation. radius, gradient: also the largest eps that is certified, and how long the masked explanation
        can be. attack: so many starts of a search for a counter-example in the same box. With labels y (and groups)
        the result has shares by group. doc/certificates.md has the claims and why the arithmetic is sound.

        cover: "edges:F" (one strip at an edge, of at most F of the side), "square:P" (one square of at most P pixels),
        "frame:F" or, for texts, "tokens:N"; no mask is needed (doc/cover.md). predicted and alone are labels; a
        prediction that is none is None.
        """
        if cover is not None:
            if masks is not None or eps is not None or range:
                raise ArgumentError(
                    "cover is about any one region; masks, eps and range about masks: expected one kind"
                )
            return self._cover(X, cover)
        labelled = y is not None or isinstance(X, Data)
        box = box_of(eps, range)
        x, y, masks, mask_means, groups = self._apart(X, y, masks, mask_means, groups)
        data = self._labelled(x, y if labelled else self.predict(x), masks, mask_means, groups)
        if valid is None and self.settings_.get("range"):
            valid = self.settings_["range"]
        found = certify(
            self._model,
            data,
            box,
            valid=valid_of(valid, data.shape),
            semantics=semantics,
            radius=radius,
            gradient=gradient,
            attack=attack,
            labelled=labelled,
        )
        return replace(found, predicted=self._labels_of(found.predicted))

    def _labels_of(self, predicted: Array) -> Array:
        """Labels by number; None where there is no prediction."""
        labels: Array = self.classes_[predicted]
        if (predicted < 0).any():
            labels = labels.astype(object)
            labels[predicted < 0] = None
        return labels

    def _cover(self, X: Any, family: str) -> Covered:
        found = self._model.cover(self._examples(apart(X, None, None)[0]), family)
        return replace(found, predicted=self._labels_of(found.predicted), alone=self._labels_of(found.alone))

    @named()
    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        masks: Any = None,
        mask_means: MaskMeans | None = None,
        groups: Any = None,
        eps: float = 0.1,
        content: str | Sequence[str] | None = "swap",
        draws: int = DRAWS,
        kappa: int | None = None,
        noise: Sequence[float] | Literal["usual", "published"] | None = None,
        pointing: Sequence[str] = (),
        specificity: float = 0.95,
        certified: Number | None = None,
        attack: int = 3,
    ) -> Metrics:
        """What ``r4 eval`` measures: accuracy by group, the worst group, fragility kappa, and the swap test.

        Without groups the classes are the groups. Masks mean what they meant in fit, unless stated. content: what the
        swap test puts into masks, "swap" (that of other classes), "blank", "mean", "noise", "colour", "blur", several
        of them, or None for no test; draws: how often for each example. kappa: of at most so many examples. noise:
        levels of the relative core sensitivity; pointing: attributions, as ["gradcam"]; specificity: of two
        classes, what the sensitivity is at; certified: accuracy that is proved for masked features that move by up to
        so much, or "range", any valid value, and under an attack of so many starts (see certify). ``.figures`` has all
        of it by key, ``.table()`` is the text.
        """
        data = self._labelled(*self._apart(X, y, masks, mask_means, groups))
        model = self._model
        found = model.evaluate(
            data,
            eps,
            kappa=kappa,
            contents=contents_of(content),
            draws=draws,
            noise=noise,
            pointing=pointing,
            specificity=specificity,
            certified=certified,
            valid=self.settings_.get("range"),
            attack=attack,
        )
        self._measured = data
        all_masked = found.masked_examples == len(data)
        if (sentence := unseen_by_swap(self.__dict__.get("verdict_"), found.swaps, all_masked)) is not None:
            warn(sentence, ShortcutWarning)
            found = replace(found, validation=self.verdict_)
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of correct predictions on the examples as they are. See r4.scorer for others."""
        if self.__dict__.get("_masked"):
            self._warn_once(AS_THEY_ARE, ShortcutWarning)
        return float(np.average(self.predict(X) == labels_of(y, len(X)), weights=sample_weight))

    @staticmethod
    def _apart(X: Any, y: Any, masks: Any, mask_means: Any, groups: Any) -> tuple[Any, ...]:
        x, masks, mask_means, groups = apart(X, masks, mask_means, groups)
        return x, y, masks, mask_means, groups

    def _labelled(self, X: Any, y: Any, masks: Any, mask_means: MaskMeans | None, groups: Any) -> Data:
        if isinstance(X, Data):
            return X
        if y is None:
            raise ArgumentError("y is missing: accuracy needs labels")
        return self._examples(X, y, masks=masks, mask_means=self._means(masks, mask_means), groups=groups)

    @named(*OPTIONS)
    def explain(
        self,
        X: Any,
        method: str = "gradient",
        *,
        y: Any = None,
        masks: Any = None,
        mask_means: MaskMeans | None = None,
        what: str = "loss",
        **options: Any,
    ) -> Any:
        """How much each feature has to do with the answer, shaped as X: ``g(x) = d e / d x`` and what follows from it.

        method: gradient, input-x-gradient, smoothgrad, integrated, gradcam, occlusion, bounds or bounds-all; what (e):
        loss, logit, margin or logprob-sum, of the labels y or else of the model's own answers. options: eps, sigma,
        samples, seed, baseline, window, stride, fill. doc/explain.md has the formulas. Of texts, a list with the tokens
        and their values for each (Explained).
        """
        X, masks, mask_means, _ = apart(X, masks, mask_means)
        labels = y if y is not None or isinstance(X, Data) else self.predict(X)
        data = self._examples(X, labels, masks=masks, mask_means=self._means(masks, mask_means))
        found = self._model.attribute(data, method, what=what, **options)
        if isinstance(X, Data):
            return found.reshape(len(X), *X.shape)
        if are_texts(X):
            tokens = [data.tokens(i) for i in range(len(data))]
            return [Explained(words, row[: len(words)]) for words, row in zip(tokens, found)]
        return arrays.values(X, layout=self.layout, kind=self.kind).as_given(found)

    @named("what", *OPTIONS)
    def plot(
        self,
        X: Any,
        y: Any = None,
        *,
        masks: Any = None,
        mask_means: MaskMeans | None = None,
        method: str = "gradient",
        n: int = 8,
        most: int | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Any:
        """Heat maps of the first n images as a figure of matplotlib, masks outlined; method and options as in explain.

        ax: axes of your own to draw in, one or as many as there are to be images. most: an older name of n.
        """
        from .plot import axes_of, channels_last, figure

        X, masks, mask_means, _ = apart(X, masks, mask_means)
        axes = axes_of(ax)
        self._check_several(X)
        n = len(axes) if axes is not None else n if most is None else most
        if isinstance(X, Data):
            d = X.subset(np.arange(min(n, len(X))))
            values = self.explain(d, method, **options)
            return figure(d.x, values, d.masks, self._titles(d, self.classes_[d.y]), axes)
        masks = arrays.without_gaps(masks, self._means(masks, mask_means))
        X, y, masks = (None if a is None else arrays.to_array(a, "X, y and masks")[:n] for a in (X, y, masks))
        known = masks if self._means(masks, mask_means) else None  # only drawn, if nobody says what they mean
        values = self.explain(X, method, y=y, masks=known, mask_means=mask_means, **options)
        images, heat = (channels_last(a, self.layout) for a in (X, values))
        outlined = channels_last(masks, self.layout) if masks is not None else None
        return figure(images, heat, outlined, self._titles(X, y), axes)

    def _titles(self, X: Any, labels: Any) -> list[str]:
        """For each example the prediction, and its label if that is known."""
        predicted = self.predict(X)
        if labels is None:
            return [str(p) for p in predicted]
        return [f"{label}:\npredicted {p}" for label, p in zip(labels, predicted)]

    def bounds(
        self,
        X: Any,
        masks: Any = None,
        *,
        eps: float = 0.1,
        y: Any = None,
        mask_means: MaskMeans | None = None,
        of: str = "gradient",
    ) -> Bounds:
        """``lo <= d l / d x (x') <= hi`` for all x' within eps of x on the mask (everywhere without masks).

        l is the loss of the labels y, or else of the model's own answers; a data set has its labels and masks.
        of="logits" bounds the logits instead. Bounds hold in real arithmetic; float rounding is not covered.
        """
        X, masks, mask_means, _ = apart(X, masks, mask_means)
        if isinstance(X, Data):
            found = bounds_of(self._model, X, eps, of)
            return found if of == "logits" else Bounds(*(end.reshape(len(X), *X.shape) for end in found))
        labels = y if y is not None else self.predict(X)
        data = self._examples(X, labels, masks=masks, mask_means=self._means(masks, mask_means))
        found = bounds_of(self._model, data, eps, of, masked=masks is not None)
        if of == "logits":
            return found
        v = arrays.values(X, layout=self.layout, kind=self.kind)
        return Bounds(v.as_given(found.lo), v.as_given(found.hi))

    # ---- Files ----

    def save(self, path: str | os.PathLike[str], data: Data | None = None) -> None:
        """A folder that ``r4.load`` and the command open: config.yaml, model.safetensors, manifest.json, log.jsonl and
        outcome.json.

        With data, they are kept beside it as data.npz, so that ``r4 eval`` and ``r4 explain`` find them.
        """
        from .files import save_run

        model = self._model
        about = {"labels": type_of(self.classes_), "values": self.__dict__.get("_seen")}
        manifest = self.__dict__.get("manifest_")
        if manifest is not None:
            manifest = {**manifest, "classifier": about}
        log, verdict = self.__dict__.get("log_"), self.__dict__.get("verdict_")
        save_run(path, model, self.settings_, data, manifest, log, verdict)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        masks: Any = None,
        mask_means: MaskMeans | None = None,
        groups: Any = None,
        name: str | None = None,
        title: str | None = None,
        examples: int = 0,
        eps: float = 0.1,
        kappa: int = 256,
    ) -> None:
        """One HTML page that needs no other file: does the model use what is masked? doc/report.md describes it.

        The examples are those of X and y, or a data set; without them those that evaluate had last, or else those that
        fit did not learn from, or of a run that was loaded its test part. examples: how many with heat maps (0: 6).
        kappa: the fragility is that of at most so many examples.
        """
        from .report import run_data, write_page

        if X is not None:
            self._measured = self._labelled(*self._apart(X, y, masks, mask_means, groups))
        data = self.__dict__.get("_measured")
        if data is None:
            data = run_data(self)
        write_page(path, self, data, name=name, title=title, examples=examples, eps=eps, kappa=kappa)

    def export_onnx(self, path: str | os.PathLike[str]) -> None:
        """The net as an ONNX file, for programs that run nets; see Model.export_onnx."""
        self._model.export_onnx(path)

    def __getstate__(self) -> dict[str, Any]:
        """Without the examples that were measured: a model is no data set."""
        state: Any = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_measured"}

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.three_d_array = True
        return tags


# Parameters and their defaults.
USUAL = {name: p.default for name, p in inspect.signature(Classifier).parameters.items()}
