"""Certificates of boxes: what is certified holds, is what the command says, and bad input is named."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import NET, Bars

import r4


@pytest.fixture(scope="module")
def labels(bars: Bars) -> np.ndarray:
    return np.where(bars.y, "yes", "no")


@pytest.fixture(scope="module")
def fitted(bars: Bars, labels: np.ndarray) -> r4.Classifier:
    c = r4.Classifier(NET, "cert-r4", epochs=20, rate=0.01, eps=1.0, settings={"eps.ramp": 8})
    return c.fit(bars.x, labels, masks=bars.m, mask_means="irrelevant")


def test_what_is_certified_holds(fitted: r4.Classifier, bars: Bars, labels: np.ndarray) -> None:
    found = fitted.certify(bars.x_test, labels, masks=bars.m, range=True, radius=True, gradient=True, attack=3)
    assert found.eps == "range"
    assert found.valid == ("0", "1")
    assert found.semantics == "real"
    assert found.certified.any()
    assert (found.margin[found.certified] > 0).all()
    assert np.array_equal(found.predicted, fitted.predict(bars.x_test))
    assert found.broken is not None
    assert not (found.broken & found.certified).any()
    assert found.radius is not None
    assert found.delta is not None
    assert ((found.radius == 1) == found.certified).all()
    draw = np.random.default_rng(0)
    for _ in range(20):
        other = bars.x_test.copy()
        other[bars.m] = draw.uniform(0, 1, bars.m.sum()).round(draw.integers(0, 3))
        assert (fitted.predict(other) == found.predicted)[found.certified].all()


def test_shares_are_those_of_groups(fitted: r4.Classifier, bars: Bars, labels: np.ndarray) -> None:
    groups = np.arange(len(labels)) % 3
    found = fitted.certify(bars.x_test, labels, masks=bars.m, groups=groups, eps=0.3, attack=1)
    assert found.shares is not None
    assert found.broken is not None
    correct = found.predicted == labels
    for name, good in (
        ("accuracy", correct),
        ("certified", correct & found.certified),
        ("attacked", correct & ~found.broken),
    ):
        share, each = found.shares[name], [good[groups == k].mean() for k in range(3)]
        assert list(share["groups"].values()) == each
        assert share["all"] == pytest.approx(good.mean())
        assert share["avg_group"] == pytest.approx(np.mean(each))
        assert share["worst_group"] == min(each) == share["groups"][share["worst"]]
    assert found.certified_accuracy == found.shares["certified"]["all"]
    less = fitted.certify(bars.x_test, masks=bars.m, eps=0.3)
    assert less.shares is None
    assert less.broken is None
    assert less.radius is None
    assert np.isnan(less.certified_accuracy)
    assert np.array_equal(less.certified, found.certified)


def test_decimals_mean_what_they_say(fitted: r4.Classifier, bars: Bars) -> None:
    for eps, text in ((0.1, "0.1"), ("0.10", "0.10"), (1e-05, "0.00001"), (np.float32(0.25), "0.25"), (1, "1.0")):
        assert fitted.certify(bars.x_test[:4], masks=bars.m[:4], eps=eps).eps == text
    free = fitted.certify(bars.x_test[:4], masks=bars.m[:4], eps=0.1, valid="none")
    assert free.valid is None
    narrow = fitted.certify(bars.x_test[:4], masks=bars.m[:4], range=True, valid=(0, 0.5))
    assert narrow.valid == ("0.0", "0.5")
    floats = fitted.certify(bars.x_test, masks=bars.m, range=True, semantics="any-float")
    real = fitted.certify(bars.x_test, masks=bars.m, range=True)
    assert (floats.margin <= real.margin).all()
    assert floats.semantics == "any-float"


def test_the_same_as_the_command(
    fitted: r4.Classifier, bars: Bars, labels: np.ndarray, tmp_path: Path, command: str
) -> None:
    n = len(labels)
    d = r4.Data(bars.x_test, bars.y, masks=bars.m, mask_means="irrelevant", splits=["test"] * n, classes=["no", "yes"])
    fitted.save(tmp_path / "run", d)
    line = [command, "certify", str(tmp_path / "run"), "--eps", "0.4", "--json", "--other-data", "--attack", "0"]
    said = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)["all"]
    found = fitted.certify(bars.x_test, labels, masks=bars.m, eps=0.4)
    assert found.shares is not None
    assert said["certified_accuracy"] == pytest.approx(found.shares["certified"]["all"])
    assert said["certified_worst_group_accuracy"] == pytest.approx(found.shares["certified"]["worst_group"])
    measured = fitted.evaluate(bars.x_test, labels, masks=bars.m, certified=0.4, attack=2)
    assert measured.figures["certified_accuracy.0.4"] == found.shares["certified"]["all"]
    assert measured.figures["certified_worst_group_accuracy.0.4"] == found.shares["certified"]["worst_group"]
    assert measured.figures["attacked_accuracy.0.4"] >= measured.figures["certified_accuracy.0.4"]
    assert "certified, worst group, box 0.4" in measured.table()
    whole = fitted.evaluate(bars.x_test, labels, masks=bars.m, certified="range", attack=0)
    assert "certified_accuracy.range" in whole.figures
    assert "attacked_accuracy.range" not in whole.figures
    assert not any("certified" in key for key in fitted.evaluate(bars.x_test, labels, masks=bars.m).figures)


def test_bad_boxes(fitted: r4.Classifier, bars: Bars, labels: np.ndarray) -> None:
    x, m = bars.x_test[:4], bars.m[:4]
    for how, says in (
        ({}, "expected eps=0.1 or range=True"),
        ({"eps": 0.1, "range": True}, "expected one of eps=0.1 and range=True"),
        ({"eps": -0.1}, "expected a decimal of at least 0"),
        ({"eps": float("nan")}, "expected a decimal"),
        ({"eps": float("inf")}, "expected a decimal"),
        ({"eps": "much"}, "expected a decimal"),
        ({"eps": True}, "expected a number"),
        ({"eps": 1.5}, "larger than the range"),
        ({"range": True, "valid": "none"}, "there is no range"),
        ({"range": True, "valid": (1, 0)}, "the lower one first"),
        ({"range": True, "valid": (1,)}, "the lowest and the highest"),
        ({"range": True, "semantics": "exact"}, "semantics is 'exact'"),
        ({"range": True, "attack": -1}, "attack is -1"),
    ):
        with pytest.raises(r4.ArgumentError, match=says):
            fitted.certify(x, masks=m, **how)  # type: ignore[call-overload]
    with pytest.raises(r4.ArgumentError, match="no example has a mask"):
        fitted.certify(x, range=True)
    with pytest.raises(r4.ArgumentError, match="expected one kind"):
        fitted.certify(x, cover="edges:0.2", eps=0.1)  # type: ignore[call-overload]
    with pytest.raises(r4.ArgumentError, match="no example has a mask"):
        fitted.evaluate(x, labels[:4], certified="range")
