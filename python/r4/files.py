"""Runs in folders: those of the command, and those that a classifier leaves."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ._labels import class_values
from ._scale import seen_of
from .classifier import Classifier
from .data import Data
from .errors import ArgumentError, FileError
from .net import Model
from .settings import KEYS, Settings
from .trainer import Verdict, read_verdict

CONFIG, MODEL, DATA, MANIFEST, LOG = "config.yaml", "model.safetensors", "data.npz", "manifest.json", "log.jsonl"
OUTCOME = "outcome.json"
# Of a line of the log what is in history_, and of its validation by another name.
FIGURES = ("loss", "penalty", "accuracy", "lambda", "eps")
VALIDATION = {"val_avg": "avg", "val_worst": "worst", "val_se": "avg_se"}


def save_run(
    path: str | os.PathLike[str],
    model: Model,
    settings: Mapping[str, Any],
    data: Data | None,
    manifest: Mapping[str, Any] | None,
    log: str | None,
    verdict: Verdict | None,
) -> None:
    """config.yaml, model.safetensors; what learning left: manifest.json, log.jsonl, outcome.json; data.npz of data."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise FileError(f"{path}: {e.strerror}") from e
    s = Settings(settings)
    if os.path.exists(s["data.tokenizer"]):  # wherever the run is opened from
        s["data.tokenizer"] = os.path.abspath(s["data.tokenizer"])
    if data is not None:
        data.save(folder / DATA)
        s["data"] = str((folder / DATA).resolve())
        s["data.mask_means"] = "unstated"  # the file says it
    s.save(folder / CONFIG)
    model.save(folder / MODEL)
    if manifest is not None:
        about = dict(manifest["data"])
        about.pop("source", None)
        if data is not None:  # so that the command finds them where the folder has moved
            about["source"] = {"setting": "data", "written": s["data"], "path": s["data"], "from_run": DATA}
        (folder / LOG).write_text(log or "")
        (folder / MANIFEST).write_text(json.dumps({**manifest, "data": about}, indent=1) + "\n")
    if verdict is not None:
        known = {key: None if value != value else value for key, value in asdict(verdict).items()}  # JSON has no NaN
        (folder / OUTCOME).write_text(json.dumps(known) + "\n")


def _folder(path: Path, seed: int | None) -> Path:
    """The folder of a seed: path itself, or the first in it that has a model."""
    if (path / MODEL).is_file() and seed is None:
        return path
    found = {int(f.parent.name[5:]): f.parent for f in path.glob(f"seed-*/{MODEL}") if f.parent.name[5:].isdecimal()}
    if seed is None and found:
        return found[min(found)]
    if seed in found:
        return found[seed]
    which = "" if seed is None else f" of seed {seed}"
    raise FileError(f"{path}: no model{which}; expected the folder of a run, with {MODEL} or seed-N/{MODEL} in it")


def _parameters(changed: dict[str, Any]) -> dict[str, Any]:
    """Settings as parameters of a classifier, and the rest as its settings. Where data are is not one of them."""
    names = {key: name for name, key in KEYS.items()}
    params: dict[str, Any] = {"random_state": changed.pop("seed", 0)}
    rest: dict[str, Any] = {}
    for key, value in changed.items():
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if key == "net" or key in names:
            params[names.get(key, key)] = value
        elif key in ("data.val_fill", "data.seed") or not (key == "data" or key.startswith("data.")):
            rest[key] = value
    return params | ({"settings": rest} if rest else {})


def _history(log: str) -> list[dict[str, float]]:
    """What fit keeps of each epoch, from the lines of log.jsonl; the last may be half written."""
    epochs = []
    for line in log.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        epoch = {k: v for k, v in found.items() if k.partition(".")[0] in FIGURES}
        if (val := found.get("val")) is not None:
            epoch |= {name: val[key] for name, key in VALIDATION.items() if key in val}
        epochs.append(epoch)
    return epochs


def load(path: str | os.PathLike[str], seed: int | None = None) -> Classifier:
    """A classifier of a run's folder, by the command or by save, or of a model in a safetensors or ONNX file.

    seed: which of the run's. Names of classes that are all numbers become numbers.
    """
    place = Path(path)
    if not place.exists():
        raise FileError(f"{path}: does not exist; expected the folder of a run, or a safetensors or ONNX file")
    params: dict[str, Any] = {}
    if place.is_dir():
        place = _folder(place, seed)
        config = place / CONFIG
        changed = Settings.read(config).changed() if config.is_file() else {}
        params = _parameters(dict(changed))
    elif seed is not None:
        raise ArgumentError(f"{path}: is a file, which has no seeds")
    else:
        changed = {}
    c = Classifier(**params)
    c.model_ = Model.open(place)
    about = place / MANIFEST
    c.manifest_ = json.loads(about.read_text()) if place.is_dir() and about.is_file() else None
    log = place / LOG
    c.log_ = log.read_text() if place.is_dir() and log.is_file() else ""
    c.history_ = _history(c.log_)
    c.n_iter_ = len(c.history_)
    c.folder_ = str(place) if place.is_dir() else None
    c.notices_ = []  # they are not kept
    c.verdict_ = read_verdict(place) if (place / OUTCOME).is_file() else None
    if not place.is_dir() or "net" not in params:
        c.net = c.model_.net.layers
    names = c.model_.classes or [str(k) for k in range(c.model_.class_count)]
    kept = (c.manifest_ or {}).get("classifier") or {}
    c.classes_ = class_values(names, kept.get("labels"))
    c._seen, c._told = seen_of(kept.get("values")), set()
    c.settings_ = {"net": c.net, **changed}
    if "method" in changed:
        c.method_ = str(changed["method"])
    c.mask_means_ = changed.get("data.mask_means")
    c.n_features_in_ = int(np.prod(c.model_.input))
    return c
