"""Scorers for GridSearchCV and cross_val_score: which model is chosen is decided by what it must not use, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._library import choice
from ._say import VerdictWarning, warn
from .errors import ArgumentError
from .masked import Masked, apart

if TYPE_CHECKING:
    from typing import Self

    from .classifier import Classifier

KINDS = ("swapped", "worst", "average")
FEWEST = 20  # masked examples of a fold, below which the share that is left says too little
NAMES = ("masks", "mask_means", "groups")


class FewMasksWarning(UserWarning):
    """A fold has too few examples with a mask to be scored."""


def _classifier(estimator: Any, x: Any) -> tuple[Classifier, Any]:
    """The classifier, behind the other steps of a pipeline, and X as it sees it."""
    from .classifier import Classifier

    if hasattr(estimator, "steps"):
        inner = x.x if isinstance(x, Masked) else x
        seen = estimator[:-1].transform(inner) if len(estimator.steps) > 1 else inner
        x = Masked(seen, x.masks, x.mask_means, groups=x.groups) if isinstance(x, Masked) else seen
        estimator = estimator[-1]
    if not isinstance(estimator, Classifier):
        raise ArgumentError(f"a scorer of r4 is for r4.Classifier, and this is a {type(estimator).__name__}")
    return estimator, x


class Scorer:
    """``scorer(estimator, X, y)`` is a number, larger for a better model. ``r4.scorer`` makes one."""

    def __init__(self, kind: str, seed: int = 0) -> None:
        choice(kind, KINDS, "a scorer")
        self.kind, self.seed = kind, seed
        self._requested: dict[str, bool | str] = {}

    def __call__(
        self, estimator: Any, X: Any, y: Any = None, *, masks: Any = None, mask_means: Any = None, groups: Any = None
    ) -> float:
        c, X = _classifier(estimator, X)
        if self._unpenalised(c):
            return float("nan")
        x, masks, mask_means, groups = apart(X, masks, mask_means, groups)
        if self.kind == "swapped":
            return self._swapped(c, x, y, masks, mask_means)
        data = c._labelled(x, y, None, None, groups)
        found = c._model.evaluate(data, kappa=0)
        return found.worst_group_accuracy if self.kind == "worst" else found.avg_group_accuracy

    @staticmethod
    def _unpenalised(c: Classifier) -> bool:
        """Whether its penalty took effect in no step: it would be ranked as a method that it was not trained with."""
        v = c.__dict__.get("verdict_")
        if v is None or not v.unpenalised:
            return False
        name = " ".join(repr(c).split())
        sentence = (
            f"{name}: its penalty took effect in none of {v.steps} steps, so it was not trained with {c.method_}, and "
            'its score is NaN; try more epochs, smaller batches, or settings={"penalty.cap": False}'
        )
        warn(sentence, VerdictWarning)
        return True

    def _swapped(self, c: Classifier, x: Any, y: Any, masks: Any, mask_means: Any) -> float:
        """The score by which training chooses in validation (r4_exchanged)."""
        data = c._labelled(x, y, masks, mask_means, None)
        found = c._model.exchanged_score(data, seed=self.seed)
        if found["exchanged"] < FEWEST:
            why = 'give the search r4.Masked(X, M, mask_means="irrelevant")' if masks is None else "make folds larger"
            sentence = (
                f"the masked content of {found['exchanged']} examples of the fold can be exchanged, expected at least "
                f"{FEWEST}: its score is NaN; {why}"
            )
            warn(sentence, FewMasksWarning)
            return float("nan")
        return float(found["score"])

    # ---- Metadata routing of scikit-learn, where it is turned on ----

    def set_score_request(self, **requests: bool | str) -> Self:
        """Which of masks, mask_means and groups a search hands on to the scorer."""
        for name in requests:
            choice(name, NAMES, "what is requested")
        self._requested |= requests
        return self

    def get_metadata_routing(self) -> Any:
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=type(self).__name__)
        for name, alias in self._requested.items():
            request.score.add_request(param=name, alias=alias)
        return request

    def __repr__(self) -> str:
        return f"r4.scorer({self.kind!r})"


def scorer(kind: str = "swapped", *, seed: int = 0) -> Scorer:
    """For ``GridSearchCV(..., scoring=r4.scorer("swapped"))``; X is then ``r4.Masked(X, masks, mask_means=...)``.

    swapped   what training itself chooses by in validation: accuracy where the masked content is that of other classes:
              the average of its mean over classes and that of the worst class, which is moved towards the mean where
              few examples make it uncertain; NaN, with a warning, for folds in which the content of fewer than 20
              examples can be exchanged
    worst     accuracy of the worst group (the classes are the groups, unless Masked has others)
    average   mean of the accuracies of groups

    A candidate whose penalty took effect in no step, as in a run that is too short, scores NaN, with a warning.
    """
    return Scorer(kind, seed)
