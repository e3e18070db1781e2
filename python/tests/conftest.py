"""Small images: the label is a bright row, and in training a corner gives it away."""

from __future__ import annotations

import os
import shutil
from typing import Any, NamedTuple

import numpy as np
import pytest

NET = "dense 8, relu, dense 2"
COMMAND = os.environ.get("R4") or shutil.which("r4")


class Bars(NamedTuple):
    x: Any
    y: Any
    m: Any
    x_test: Any


def make_bars(n: int = 120, side: int = 6) -> Bars:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    x = rng.uniform(0, 0.5, (n, side, side)).astype(np.float32)
    x[np.arange(n), np.where(y, 4, 2)] += 0.2
    m = np.zeros_like(x, dtype=bool)
    m[:, :2, :2] = True
    x_test = x.copy()
    x[:, :2, :2] = y[:, None, None]
    x_test[:, :2, :2] = 1 - y[:, None, None]
    return Bars(x, y, m, x_test)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also the tests that take minutes")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes minutes, and runs with --long alone")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        for item in items:
            if "long" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="takes minutes: ask for it with --long"))


@pytest.fixture(scope="session")
def bars() -> Bars:
    return make_bars()


@pytest.fixture(scope="session")
def command() -> str:
    if not COMMAND:
        pytest.skip("the command r4 is not here: say where in $R4")
    return COMMAND
