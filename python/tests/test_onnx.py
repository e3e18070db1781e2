"""ONNX: what is written answers the same elsewhere, and is read back."""

from __future__ import annotations

import json
import subprocess
import sys
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


STRANGER = """
import json, sys
sys.modules["r4"] = None
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
about = session.get_modelmeta().custom_metadata_map
x = np.load(sys.argv[2])
z = session.run(["logits"], {session.get_inputs()[0].name: x})[0]
p = np.exp(z - z.max(1, keepdims=True))
np.save(sys.argv[3], p / p.sum(1, keepdims=True))
print(json.loads(about["classes"]), about["layout"])
"""


def test_a_run_in_the_hands_of_a_stranger(tmp_path: Path, command: str) -> None:
    """A run of the command, exported by it, and opened by a program that does not know r4."""
    pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(1)
    x, y = rng.random((60, 9, 8, 3)).astype(np.float32), np.arange(60) % 3
    x[np.arange(60), :, :, y] += 0.5
    np.savez(tmp_path / "d.npz", x_train=x, y_train=y, class_names=np.array(["akiec", "bcc", "b k l"]))
    net = "normalize mean 0.5/0.4/0.3 std 0.2/0.3/0.4, conv 4 3 p1, batchnorm, relu, maxpool 2, flatten, dense 3"
    (tmp_path / "a.yaml").write_text(f"data: {tmp_path / 'd.npz'}\nnet: {net}\nepochs: 8\nbatch: 20\nrate: 0.01\n")
    subprocess.run([command, "train", tmp_path / "a.yaml", "--out", tmp_path / "run", "--quiet"], check=True)
    subprocess.run([command, "export", tmp_path / "run", "--onnx", tmp_path / "run.onnx"], check=True)
    np.save(tmp_path / "x.npy", x.transpose(0, 3, 1, 2))
    (tmp_path / "stranger.py").write_text(STRANGER)
    names = [tmp_path / n for n in ("stranger.py", "run.onnx", "x.npy", "p.npy")]
    said = subprocess.run([sys.executable, *names], check=True, capture_output=True, text=True).stdout
    assert said == "['akiec', 'bcc', 'b k l'] NCHW\n"
    assert np.abs(np.load(tmp_path / "p.npy") - r4.load(tmp_path / "run").predict_proba(x)).max() <= 1e-5
    back = r4.load(tmp_path / "run.onnx")
    assert list(back.classes_) == ["akiec", "bcc", "b k l"]
    assert np.array_equal(back.predict_proba(x), r4.load(tmp_path / "run").predict_proba(x))


BERT = "bert(classes=2, layers=2, width=24, heads=3, inner=40, words=50, positions=12)"
KINDS = [
    ("dense 6, relu, dense 3", (5,)),
    ("conv 4 3 p1, batchnorm, relu, maxpool 2, residual(conv 4 3 p1, relu; conv 4 1), globalpool, dense 2", (8, 8, 3)),
    ("normalize mean 0.5 std 0.25, conv 4 3, avgpool 2, relu6, flatten, layernorm, tanh, dense 2", (9, 9, 1)),
    (BERT, (10,)),
    ("sum(embedding 9 4; position 6 4; type 2 4), layernorm, leaf, attention 2, mean, dense 3", (6,)),
    ("embedding 9 4, tokenconv 4 3, gelu, first, dense 2", (6,)),
]


@pytest.mark.parametrize(("text", "shape"), KINDS, ids=[str(k) for k in range(len(KINDS))])
def test_back_and_forth(text: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    """r4 to ONNX to r4 and to ONNX again: net, weights, names and bytes stay."""
    net = r4.Net(text, shape)
    model = r4.Model(net, net.init(2), [f"class {k}" for k in range(net.outputs)])
    model.export_onnx(tmp_path / "a.onnx")
    again = r4.Model.open(tmp_path / "a.onnx")
    assert again.net.layers == net.layers
    assert again.classes == model.classes
    assert np.array_equal(again.weights, model.weights)
    again.export_onnx(tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def foreign(tmp_path: Path, change: Any = None) -> Path:
    """BERT without the notes by which r4 knows its own files, and changed by someone."""
    onnx = pytest.importorskip("onnx")
    net = r4.Net(BERT, (10,))
    r4.Model(net, net.init(3)).export_onnx(tmp_path / "own.onnx")
    model = onnx.load(tmp_path / "own.onnx")
    del model.metadata_props[:]
    if change is not None:
        change(onnx, model.graph)
    onnx.save(model, tmp_path / "foreign.onnx")
    return tmp_path / "foreign.onnx"


def test_attention_of_others(tmp_path: Path) -> None:
    """It is read operator by operator, answers the same, and can be explained at its embeddings."""
    path = foreign(tmp_path)
    own, other = r4.Model.open(tmp_path / "own.onnx"), r4.Model.open(path)
    assert "attention 3" in other.net.layers
    assert other.net.layers != own.net.layers
    rng = np.random.default_rng(0)
    d = r4.Data(rng.integers(0, 50, (8, 10)), np.arange(8) % 2, kind="tokens", lengths=rng.integers(1, 11, 8))
    assert np.array_equal(own.probabilities(d), other.probabilities(d))
    assert np.allclose(own.attribute(d), other.attribute(d), atol=1e-7)
    assert other.attribute(d, "bounds", eps=0.0).max() < 1e-3


def find(graph: Any, op: str, k: int = 0) -> Any:
    return [n for n in graph.node if n.op_type == op][k]


def set_numbers(onnx: Any, graph: Any, name: str, change: Any) -> None:
    t = next(t for t in graph.initializer if t.name == name)
    t.CopyFrom(onnx.numpy_helper.from_array(change(onnx.numpy_helper.to_array(t)), name))


def scale_scores(onnx: Any, graph: Any) -> None:
    node = next(
        n for n in graph.node if n.op_type == "MatMul" and "attention.self" in n.output[0] and "Mul" in n.input[0]
    )
    mul = next(n for n in graph.node if n.output[0] == node.input[0])
    set_numbers(onnx, graph, mul.input[1], lambda v: v * np.float32(1.5))


def weak_mask(onnx: Any, graph: Any) -> None:
    mul = next(n for n in graph.node if n.op_type == "Mul" and n.input[0].split("/")[-1].startswith("Sub"))
    set_numbers(onnx, graph, mul.input[1], lambda v: v * np.float32(1e-8))


def other_axis(onnx: Any, graph: Any) -> None:
    find(graph, "Softmax").attribute[0].i = 2


def turned_values(onnx: Any, graph: Any) -> None:
    turns = [n for n in graph.node if n.op_type == "Transpose" and len(n.attribute) and len(n.attribute[0].ints) == 4]
    turns[2].attribute[0].ints[:] = [0, 2, 3, 1]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (scale_scores, r"its products are multiplied by 0\.53.*, expected 1 / sqrt\(8\)"),
        (weak_mask, "adds -?0 where there is a token and -10 where there is padding"),
        (other_axis, "as attention computes it"),
        (turned_values, "as attention computes it"),
    ],
)
def test_attention_that_is_none(change: Any, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(r4.Error, match=sentence):
        r4.Model.open(foreign(tmp_path, change))


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
