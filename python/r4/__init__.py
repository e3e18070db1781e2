"""r4 trains classifiers that are right for the right reasons; doc/python.md is the guide.

High up, scikit-learn's conventions: Classifier, load. Data: data, Data. Below, what the library is made of: Graph with
grad and bound, Plan, Net, Model, Trainer, minimize.
"""

from __future__ import annotations

import logging

from . import plot
from ._header import VERSION as __version__
from ._library import threads
from ._say import DataWarning, ShortcutWarning, VerdictWarning
from ._scale import ScaleWarning
from .bounds import Bounds
from .certify import Certified
from .classifier import Classifier
from .cover import Covered
from .data import Data, Finding, data, recipes
from .errors import (
    ArgumentError,
    BusyError,
    ClosedError,
    DomainError,
    Error,
    FileError,
    InternalError,
    KindError,
    OutOfMemory,
    ParseError,
    RuleError,
    ShapeError,
)
from .files import load
from .find import Cue, Found, Sighting, find
from .graph import Box, Graph, Node, Pair
from .learn import Batch, Batches, Optimizer, minimize
from .masked import Masked
from .metrics import Group, Metrics
from .net import Model, Net, Parameter
from .plan import Plan
from .scoring import FewMasksWarning, Scorer, scorer
from .settings import Settings
from .swap import Swap, SwapGroup
from .texts import Explained
from .trainer import Progress, Trainer, Verdict, train

logging.getLogger("r4").addHandler(logging.NullHandler())

__all__ = [
    "ArgumentError",
    "Batch",
    "Batches",
    "Bounds",
    "Box",
    "BusyError",
    "Certified",
    "Classifier",
    "ClosedError",
    "Covered",
    "Cue",
    "Data",
    "DataWarning",
    "DomainError",
    "Error",
    "Explained",
    "FewMasksWarning",
    "FileError",
    "Finding",
    "Found",
    "Graph",
    "Group",
    "InternalError",
    "KindError",
    "Masked",
    "Metrics",
    "Model",
    "Net",
    "Node",
    "Optimizer",
    "OutOfMemory",
    "Pair",
    "Parameter",
    "ParseError",
    "Plan",
    "Progress",
    "RuleError",
    "ScaleWarning",
    "Scorer",
    "Settings",
    "ShapeError",
    "ShortcutWarning",
    "Sighting",
    "Swap",
    "SwapGroup",
    "Trainer",
    "Verdict",
    "VerdictWarning",
    "__version__",
    "data",
    "find",
    "load",
    "minimize",
    "plot",
    "recipes",
    "scorer",
    "threads",
    "train",
]


def __dir__() -> list[str]:
    """What is there for users."""
    return sorted(__all__)
