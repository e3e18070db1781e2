"""The page about a model: what is measured of it, and the library's report of that."""

from __future__ import annotations

import ctypes
import os
import tempfile
from typing import TYPE_CHECKING

from . import _header as h
from ._library import LIB, call, encode
from .data import Data
from .errors import ArgumentError
from .settings import Settings

if TYPE_CHECKING:
    from .classifier import Classifier

DRAWS = 3  # of the swap test, as "r4 report" has it


def run_data(c: Classifier) -> Data:
    """The test part of the data that a run was trained on, which its folder leads to."""
    from .files import CONFIG

    folder = getattr(c, "folder_", None)
    if folder is None:
        raise ArgumentError("there are no examples to report on: give X and y, or a data set, or call evaluate before")
    s = Settings.read(os.path.join(folder, CONFIG))
    call("r4_settings_locate", s.pointer, encode(folder, "a folder"), None)
    with Data.of_run(s) as data:
        test = data.part("test")
    if len(test) == 0:
        raise ArgumentError(f"{folder}: its data have no test part; give X and y, or a data set")
    return test


def _measure(c: Classifier, data: Data, eps: float, kappa: int) -> h.r4_measured:
    m, o = h.r4_measured(), LIB.r4_measure_defaults()
    o.eps, o.kappa, o.draws = eps, kappa, DRAWS
    call("r4_measure", *c.model_.addresses, data.pointer, ctypes.byref(o), ctypes.byref(m))
    return m


def write_page(
    path: str | os.PathLike[str],
    c: Classifier,
    data: Data,
    *,
    name: str | None,
    title: str | None,
    examples: int,
    eps: float,
    kappa: int,
) -> None:
    """The page of one model on these examples."""
    if kappa < 1 or examples < 0:
        raise ArgumentError(f"kappa is {kappa} and examples {examples}, expected at least 1 and 0")
    c.model_.check(data)
    called = encode(name or str(c.settings_.get("method", "erm")), "a name")
    measured = _measure(c, data, eps, kappa)
    seed = ctypes.c_int64(int(c.settings_.get("seed", 0)))
    settings = Settings({key: value for key, value in c.settings_.items() if key != "data"})
    with tempfile.TemporaryDirectory(prefix="r4-") as folder:
        c.save(folder)
        folders = (ctypes.c_char_p * 1)(encode(folder, "a folder"))
        run = h.r4_report_run()
        run.name, run.settings, run.seeds = called, settings.pointer, 1
        run.seed, run.folder = ctypes.addressof(seed), ctypes.addressof(folders)
        run.measured = ctypes.addressof(measured)
        run.subject.name = called
        run.subject.net, run.subject.weights = c.model_.addresses
        o = h.r4_report_options()
        o.examples = examples
        if title is not None:
            o.title = encode(title, "a title")
        call("r4_report_write", ctypes.byref(run), 1, data.pointer, ctypes.byref(o), encode(path, "a path"))
