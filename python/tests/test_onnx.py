"""ONNX: what is written answers the same elsewhere, and is read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import r4


def logits_of(model: r4.Model, x: Any) -> Any:
    """By the engine itself, in float64."""
    g = r4.Graph()
    net = model.net
    params = net.inputs(g)
    y = net.apply(params, g.input("x", x.shape))
    flat = model.weights.astype(np.float64)
    values = {p.name: p.of(flat) for p in net.parameters}
    return g.plan(y, dtype="float64").run({"x": x.astype(np.float64), **values})[0]


def test_back_to_the_bit(tmp_path: Path) -> None:
    net = r4.Net("conv 4 3 p1, batchnorm, relu, flatten, dense 2", (6, 5, 3))
    model = r4.Model(net, net.init(3), ["cat", "dog"])
    model.export_onnx(tmp_path / "a.onnx")
    again = r4.Model.open(tmp_path / "a.onnx")
    assert again.net.layers == net.layers
    assert again.classes == ["cat", "dog"]
    assert np.array_equal(again.weights, model.weights)


def test_classifier(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((40, 5, 4)).astype(np.float32), np.arange(40) % 2
    c = r4.Classifier("conv 2 3, relu, flatten, dense {classes}", epochs=1).fit(x, y)
    c.export_onnx(tmp_path / "c.onnx")
    assert np.array_equal(r4.load(tmp_path / "c.onnx").predict_proba(x), c.predict_proba(x))
    with pytest.raises(r4.FileError):
        c.export_onnx(tmp_path / "none" / "c.onnx")


def test_not_onnx(tmp_path: Path) -> None:
    (tmp_path / "x.onnx").write_bytes(b"nothing of the kind")
    with pytest.raises(r4.Error, match=r"x\.onnx: not ONNX, or damaged"):
        r4.load(tmp_path / "x.onnx")


@pytest.mark.parametrize(
    ("net", "shape"),
    [
        ("resnet18(classes=5)", (64, 64, 3)),
        ("efficientnet-lite0(classes=4)", (64, 64, 3)),
        ("derm28", (28, 28, 3)),
        ("bert(classes=3, layers=3, width=48, heads=4, inner=96, words=200, positions=24)", (20,)),
    ],
)
def test_architectures(net: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    """Whole architectures in ONNX Runtime."""
    onnx = pytest.importorskip("onnx")
    ort = pytest.importorskip("onnxruntime")
    n = r4.Net(net, shape)
    model = r4.Model(n, n.init(1))
    path = tmp_path / "net.onnx"
    model.export_onnx(path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    rng = np.random.default_rng(1)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    if len(shape) == 3:
        x = rng.random((2, *shape)).astype(np.float32)
        inputs = {"input": x.transpose(0, 3, 1, 2)}
    else:
        x = rng.integers(0, 200, (2, *shape))
        inputs = {"input_ids": x, "attention_mask": np.ones_like(x)}
    got = session.run(["logits"], inputs)[0]
    want = logits_of(model, x)
    assert np.abs(got - want).max() <= 1e-5 * max(1, np.abs(want).max())
    assert json.loads(session.get_modelmeta().custom_metadata_map["input"]) == list(shape)
