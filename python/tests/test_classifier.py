"""A classifier learns, answers, explains, bounds, and is kept in every way there is."""

from __future__ import annotations

import copy
import ctypes
import gc
import logging
import pickle
import signal
import subprocess
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import NET, Bars

import r4


@pytest.fixture(scope="module")
def fitted(bars: Bars) -> r4.Classifier:
    c = r4.Classifier(NET, "cert-r4", epochs=60, batch=30, rate=0.01)
    return c.fit(bars.x, np.array(["up", "down"])[bars.y], masks=bars.m, mask_means="irrelevant")


def test_it_is_right_for_the_right_reason(fitted: r4.Classifier, bars: Bars) -> None:
    y = np.array(["up", "down"])[bars.y]
    plain = r4.Classifier(NET, epochs=60, batch=30, rate=0.01).fit(bars.x, y)
    a = plain.evaluate(bars.x_test, y, masks=bars.m, mask_means="irrelevant")
    b = fitted.evaluate(bars.x_test, y, masks=bars.m)
    assert a.accuracy < 0.5 < 0.9 < b.accuracy
    assert b.kappa_masked_max < a.kappa_masked_max
    assert [g.name for g in b.groups] == ["down", "up"]
    assert [g.count for g in b.groups] == [60, 60]
    assert "worst group" in b.table()
    assert b.table("csv").splitlines()[0] == ",value,examples"
    assert list(fitted.classes_) == ["down", "up"]
    assert fitted.n_iter_ == 60
    assert not fitted.stopped_


def test_probabilities(fitted: r4.Classifier, bars: Bars) -> None:
    p = fitted.predict_proba(bars.x)
    assert p.shape == (120, 2)
    assert np.allclose(p.sum(axis=1), 1)
    assert (fitted.predict(bars.x) == fitted.classes_[p.argmax(axis=1)]).all()


def test_explanations_are_derivatives(fitted: r4.Classifier, bars: Bars) -> None:
    x, y = bars.x[:3], np.array(["up", "down"])[bars.y[:3]]
    a = fitted.explain(x, y=y)
    assert a.shape == x.shape
    step, at = 1e-2, (1, 4, 3)
    there, back = x.copy(), x.copy()
    there[at] += step
    back[at] -= step
    which = list(fitted.classes_).index(y[1])

    def loss(x: Any) -> float:
        return -float(np.log(fitted.predict_proba(x)[1, which]))

    assert np.isclose(a[at], (loss(there) - loss(back)) / (2 * step), rtol=0.05, atol=1e-3)
    with pytest.raises(r4.ArgumentError, match="no attribution"):
        fitted.explain(x, "magic")


def test_bounds_hold_and_are_the_librarys(fitted: r4.Classifier, bars: Bars) -> None:
    x, m = bars.x[:70], bars.m[:70]
    b = fitted.bounds(x, m, eps=0.1)
    y = fitted.predict(x)
    assert np.array_equal(b.width, fitted.explain(x, "bounds", masks=m, eps=0.1))
    z = fitted.bounds(x, m, eps=0.1, of="logits")
    rng = np.random.default_rng(1)
    for _ in range(10):
        moved = (x + m * rng.uniform(-0.1, 0.1, x.shape)).astype(np.float32)
        g = fitted.explain(moved, y=y)
        slack = 1e-5 * np.abs(g).max()  # rounding, which bounds do not cover: some probabilities are 1 - 4e-7
        assert (b.lo - slack <= g).all()
        assert (g <= b.hi + slack).all()
        p = np.log(fitted.predict_proba(moved))
        difference = p[:, 0] - p[:, 1]
        assert (difference <= z.hi[:, 0] - z.lo[:, 1] + 1e-5).all()
        assert (difference >= z.lo[:, 0] - z.hi[:, 1] - 1e-5).all()
    assert (fitted.bounds(x, eps=0.1).width >= b.width - 1e-6).all()


def test_round_trips(fitted: r4.Classifier, bars: Bars, tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    p = fitted.predict_proba(bars.x_test)
    fitted.save(tmp_path / "run")
    joblib.dump(fitted, tmp_path / "j")
    others = [
        pickle.loads(pickle.dumps(fitted)),
        joblib.load(tmp_path / "j"),
        copy.deepcopy(fitted),
        r4.load(tmp_path / "run"),
        r4.load(tmp_path / "run" / "model.safetensors"),
    ]
    for other in others:
        assert np.array_equal(other.predict_proba(bars.x_test), p)
        assert list(other.classes_) == list(fitted.classes_)
        assert other.n_features_in_ == 36
    assert others[3].get_params() == fitted.get_params()
    again = others[3].fit(bars.x, np.array(["up", "down"])[bars.y], masks=bars.m, mask_means="irrelevant")
    assert np.array_equal(again.predict_proba(bars.x_test), p)


def test_masks_mean_what_they_meant(fitted: r4.Classifier, bars: Bars, tmp_path: Path) -> None:
    y = np.array(["up", "down"])[bars.y]
    other = r4.Classifier(NET, "r3", epochs=60, batch=30, rate=0.01)
    other.fit(bars.x, y, masks=~bars.m, mask_means="relevant")
    expected = other.evaluate(bars.x, y, masks=bars.m, mask_means="irrelevant")
    assert other.evaluate(bars.x, y, masks=~bars.m) == expected
    other.save(tmp_path / "run")
    assert r4.load(tmp_path / "run").evaluate(bars.x, y, masks=~bars.m) == expected
    with pytest.raises(r4.ArgumentError, match="without mask_means"):
        r4.Classifier(NET, epochs=1).fit(bars.x, y).evaluate(bars.x, y, masks=bars.m)


def test_layouts_and_kinds(bars: Bars) -> None:
    rgb = np.stack([bars.x, bars.x * 0.5, bars.x * 0.25], axis=-1)
    net = "conv 2 3, relu, flatten, dense 2"
    a = r4.Classifier(net, "r3", epochs=2).fit(rgb, bars.y, masks=bars.m, mask_means="irrelevant")
    first = np.ascontiguousarray(rgb.transpose(0, 3, 1, 2))
    b = r4.Classifier(net, "r3", epochs=2, layout="NCHW")
    b.fit(first, bars.y, masks=bars.m, mask_means="irrelevant")
    assert np.array_equal(a.predict_proba(rgb), b.predict_proba(first))
    assert np.array_equal(a.explain(rgb).transpose(0, 3, 1, 2), b.explain(first))
    grey = (bars.x.clip(0, 1) * 255).astype(np.uint8)
    c = r4.Classifier(NET, epochs=1).fit(grey, bars.y)
    d = r4.Classifier(NET, epochs=1).fit(grey / np.float32(255), bars.y)
    assert np.allclose(c.predict_proba(grey), d.predict_proba(grey / np.float32(255)), atol=1e-6)


def test_nothing_is_copied_without_need(bars: Bars) -> None:
    """Of the layouts that the library has, values are read where they are, and kept as long as they are needed."""
    for x in (bars.x.copy(), (bars.x * 255).astype(np.uint8)):
        own, lent = r4.Data(x, bars.y), r4.Data(x, bars.y, copy=False)
        part = lent.part("train").subset(np.arange(4))
        assert own.hash == lent.hash
        x[:] = 0
        assert own.x.any()
        assert not lent.x.any()
        del lent
        assert not part.x.any()
    lent = r4.Data(np.asfortranarray(bars.x.astype(">f8")), bars.y, copy=False)  # is converted, and that is kept
    trainer, batches = r4.Trainer(r4.Settings({"net": NET}), lent), r4.Batches(lent, 120, shuffle=False)
    expected = lent.x.ravel()
    del lent
    gc.collect()
    junk = [np.full(bars.x.shape, 9, np.float32) for _ in range(20)]
    assert np.array_equal((ctypes.c_float * expected.size).from_address(batches.next().x), expected)
    assert np.isfinite(trainer.step().loss)
    assert len(junk) == 20
    odd = np.frombuffer(b"x" + bars.x.tobytes(), np.uint8)[1:].view(np.float32).reshape(bars.x.shape)
    assert r4.Data(odd, bars.y, copy=False).hash == r4.Data(bars.x, bars.y).hash


def test_tokens() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(1, 20, (60, 5))
    y = (x[:, 0] > 9).astype(int)
    c = r4.Classifier("embedding 20 4, mean, dense 2", kind="tokens", epochs=1).fit(x, y)
    assert c.predict_proba(x).shape == (60, 2)
    assert c.explain(x).shape == (60, 5)


def test_other_sources(bars: Bars, fitted: r4.Classifier) -> None:
    image = pytest.importorskip("PIL.Image")
    grey = (bars.x.clip(0, 1) * 255).astype(np.uint8)
    c = r4.Classifier(NET, epochs=1).fit([image.fromarray(g) for g in grey], bars.y)
    assert np.array_equal(c.predict(grey), c.predict([image.fromarray(g) for g in grey]))
    foreign = bars.x.astype(">f8")[:, ::-1][:, ::-1]
    assert np.array_equal(fitted.predict_proba(foreign), fitted.predict_proba(bars.x))
    assert np.array_equal(fitted.predict_proba(np.asfortranarray(bars.x)), fitted.predict_proba(bars.x))


def test_several_penalties(bars: Bars) -> None:
    """A method of two terms says what each of them does."""
    c = r4.Classifier(NET, "r3 + pairing", epochs=2, batch=30, settings={"lambda.pairing": 2, "guard": False})
    c.fit(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")
    line = c.history_[-1]
    assert c.method_ == "r3+pairing"
    assert line["lambda"] == 10
    assert line["lambda.pairing"] == 2
    assert line["penalty"] == pytest.approx(line["penalty.r3"] + line["penalty.pairing"])
    assert "lambda.r3" not in line
    with pytest.raises(r4.ArgumentError, match="which has r3 twice"):
        r4.Classifier(NET, "r3+r3").fit(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")


def test_auto_lambda(bars: Bars) -> None:
    c = r4.Classifier(NET, "r3", lambda_="auto", epochs=40, batch=30, rate=0.01)
    c.fit(bars.x, bars.y, masks=~bars.m, mask_means="relevant")
    same = r4.Classifier(NET, "r3", lambda_=c.settings_["lambda"], epochs=40, batch=30, rate=0.01)
    same.fit(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")
    assert np.array_equal(same.model_.weights, c.model_.weights)
    assert "data" not in c.settings_


def test_ctrl_c_leaves_a_model(bars: Bars) -> None:
    c = r4.Classifier(NET, epochs=1_000_000)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of a shell may ignore it
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        c.fit(bars.x, bars.y)
    signal.signal(signal.SIGINT, before)
    assert c.stopped_
    assert c.predict_proba(bars.x).shape == (120, 2)


def test_notices_are_logged(bars: Bars, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="r4"):
        c = r4.Classifier(NET, epochs=2, settings={"steps": 3}).fit(bars.x, bars.y)
    assert any("epoch 2 of 2" in r.getMessage() for r in caplog.records)
    assert len(c.history_) == 2


def test_a_data_set_is_enough() -> None:
    d = r4.data("decoy", source="digits:200", seed=1)
    c = r4.Classifier("dense {classes}", epochs=1).fit(d)
    assert list(c.classes_) == list(range(10))
    assert c.evaluate(d.part("test")).accuracy > 0
    assert c.explain(d.part("test")).shape == (len(d.part("test")), 28, 28, 1)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([1.0, 10.0]),
        np.array([2.0, 3.0], np.float32),
        np.array([-1, 7]),
        np.array(["1", "2"]),
        np.array([False, True]),
        np.array(["1.5", "x"]),
        np.array(["no", "yes"], object),
    ],
    ids=str,
)
def test_labels_keep_their_type(labels: Any, bars: Bars, tmp_path: Path, command: str) -> None:
    c = r4.Classifier("dense 2", epochs=1).fit(bars.x, labels[bars.y])
    c.save(tmp_path / "run", data=r4.Data(bars.x, bars.y, splits=["test"] * 120))
    again = r4.load(tmp_path / "run")
    assert again.classes_.tolist() == c.classes_.tolist()
    assert [type(v) for v in again.classes_.tolist()] == [type(v) for v in c.classes_.tolist()]
    assert again.classes_.dtype.kind == ("U" if c.classes_.dtype.kind == "O" else c.classes_.dtype.kind)
    assert again.score(bars.x, labels[bars.y]) == c.score(bars.x, labels[bars.y])
    again.save(tmp_path / "twice")
    assert r4.load(tmp_path / "twice").classes_.tolist() == c.classes_.tolist()
    subprocess.run([command, "eval", tmp_path / "run", "--other-data"], check=True, stdout=subprocess.DEVNULL)
    if labels.dtype.kind in "fi":
        file = r4.load(tmp_path / "run" / "model.safetensors")
        assert file.classes_.tolist() == c.classes_.tolist()


def test_fills_are_those_of_the_library(bars: Bars) -> None:
    d = r4.Data(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")
    assert not (d.fill("blank").x[..., 0] * bars.m).any()
    with pytest.raises(r4.ArgumentError, match=r"colour, .*swap, paste, blank"):
        d.fill("paint")


def off_scale(c: r4.Classifier, x: Any) -> int:
    """How many warnings of the scale there are, if it is asked twice."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        c.predict(x)
        c.predict_proba(x)
    return sum(issubclass(w.category, r4.ScaleWarning) for w in told)


def test_another_scale_is_noticed(bars: Bars, tmp_path: Path) -> None:
    grey = (bars.x.clip(0, 1) * 255).astype(np.uint8)

    def fit(x: Any) -> r4.Classifier:
        return r4.Classifier("dense 2", epochs=1).fit(x, bars.y)

    for other in (grey.astype("int64"), grey.astype(np.float32), grey - 128.0):
        assert off_scale(fit(grey), other) == 1
    for same in (grey, grey / 255, grey[:1], grey // 100):
        assert off_scale(fit(grey), same) == 0
    assert off_scale(fit(grey), r4.Data(grey.astype(float), bars.y)) == 1
    assert off_scale(fit(grey.astype("int64")), grey) == 1
    assert off_scale(fit(grey / 255), grey.astype("int64")) == 1
    assert off_scale(fit(grey / 255), grey) == 0
    assert off_scale(fit(bars.x - 0.5), 3 * bars.x - 1.5) == 0
    c = fit(grey)
    c.save(tmp_path / "run")
    for kept in (r4.load(tmp_path / "run"), pickle.loads(pickle.dumps(c))):
        assert off_scale(kept, grey.astype(float)) == 1
        assert off_scale(kept.fit(grey, bars.y), grey.astype(float)) == 1
