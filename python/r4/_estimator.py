"""What estimators are made of: scikit-learn's base classes where it is installed, and the same few methods without."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing import Self


class Plain:
    """The conventions of scikit-learn, without it: parameters are the arguments of __init__."""

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        for name, value in params.items():
            if name not in self._names():
                raise ValueError(f"Invalid parameter {name!r}: there are {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def score(self, X: Any, y: Any) -> float:
        """The share that is right."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def predict(self, X: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        usual = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        changed = {k: v for k, v in self.get_params().items() if repr(v) != repr(usual[k])}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"


if TYPE_CHECKING:
    Base = Plain
else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin

        class Base(ClassifierMixin, BaseEstimator):
            pass

    except ImportError:
        Base = Plain
