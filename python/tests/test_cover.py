"""Covering masks: the inference of the command, and what it certifies holds."""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import Bars

import r4

NET = "conv 4 3 p1, relu, flatten, dense 2"


@pytest.fixture
def images(bars: Bars) -> np.ndarray:
    side = int(np.sqrt(bars.x[0].size))
    return bars.x.reshape(len(bars.x), side, side, 1)[:40]


@pytest.fixture
def fitted(bars: Bars, images: np.ndarray) -> r4.Classifier:
    c = r4.Classifier(NET, "erm", epochs=6, batch=8, rate=0.01, settings={"augment.strips": 0.3}, validation=0)
    return c.fit(images, np.where(bars.y[:40], "yes", "no"))


def test_what_is_certified_holds(fitted: r4.Classifier, images: np.ndarray) -> None:
    found = fitted.certify(images, cover="edges:0.2")
    assert found.certified.any()
    assert (found.detected | ~found.certified).all()
    assert set(found.predicted) <= {"no", "yes"}
    assert (found.margin[found.certified] > 0).all()
    assert np.array_equal(fitted.predict(images, cover="edges:0.2"), found.predicted)
    assert np.array_equal(fitted.predict(images), found.alone)
    strip = int(np.ceil(0.2 * images.shape[1]))
    draw = np.random.default_rng(0)
    for _ in range(20):
        other = images.copy()
        other[:, :, -strip:] = draw.uniform(-1, 2, other[:, :, -strip:].shape)
        assert (fitted.predict(other, cover="edges:0.2") == found.predicted)[found.certified].all()
    assert 0 < found.certified_accuracy(found.predicted) <= 1


def test_the_constant_goes_with_the_model(fitted: r4.Classifier, images: np.ndarray, tmp_path: Path) -> None:
    assert fitted.model_.constant == pytest.approx((images.mean(),), abs=1e-6)
    fitted.save(tmp_path / "run")
    for other in (r4.load(tmp_path / "run"), pickle.loads(pickle.dumps(fitted))):
        assert other.model_.constant == fitted.model_.constant
    bare = r4.Model(fitted.model_.net, fitted.model_.weights)
    with pytest.raises(r4.ArgumentError, match="does not say by what"):
        bare.cover(r4.Data(images, np.zeros(40, int)), "edges:0.2")


def test_the_same_as_the_command(fitted: r4.Classifier, images: np.ndarray, tmp_path: Path, command: str) -> None:
    labels = np.arange(40) % 2
    d = r4.Data(images, labels, splits=["train"] * 20 + ["test"] * 20, classes=["no", "yes"])
    fitted.save(tmp_path / "run", d)
    line = [command, "certify", str(tmp_path / "run"), "--cover", "edges:0.2", "--json", "--other-data"]
    counts = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)["counts"]
    found = fitted.certify(images[20:], cover="edges:0.2")
    correct = found.predicted == np.where(labels[20:], "yes", "no")
    assert counts["correct"] == correct.sum()
    assert counts["certified"] == (correct & found.certified).sum()


def test_bad_families(fitted: r4.Classifier, images: np.ndarray) -> None:
    for family, says in (("edges:0.5", "below 0.5"), ("tokens:2", "is for texts"), ("x", "expected edges:F")):
        with pytest.raises(r4.ArgumentError, match=says):
            fitted.certify(images, cover=family)
