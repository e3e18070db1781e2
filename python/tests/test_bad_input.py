"""Bad input is an exception with a sentence, never a crash."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from conftest import NET, Bars

import r4

X, Y = np.zeros((6, 4), np.float32), [0, 1] * 3
CASES: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("Expected 2D array, got 1D array", np.zeros(6), Y, {}),
    ("Expected 2D array, got 5D array", np.zeros((6, 1, 1, 1, 1)), Y, {}),
    ("0 sample", np.zeros((0, 4)), [], {}),
    ("0 feature", np.zeros((6, 0)), Y, {}),
    ("expected numbers", np.full((6, 4), "a"), Y, {}),
    ("Complex data", X + 1j, Y, {}),
    ("contains NaN or infinity.*example 2", np.where(np.arange(6)[:, None] == 2, np.nan, X), Y, {}),
    ("too large for float32", np.full((6, 4), 1e300), Y, {}),
    ("not an array", [[1, 2], [3]], [0, 1], {}),
    ("y has 5 values, X has 6", X, Y[:5], {}),
    ("1d array", X, np.zeros((6, 2)), {}),
    ("one class", X, [1] * 6, {}),
    ("not whole", X, [0.5, 1, 2, 0.5, 1, 2], {}),
    ("y contains NaN", X, [0, 1, np.nan, 0, 1, 0], {}),
    ("labels", X, None, {}),
    ("masks have shape", X, Y, {"masks": np.zeros((6, 5)), "mask_means": "irrelevant"}),
    ("masks have shape", X, Y, {"masks": np.zeros((5, 4)), "mask_means": "irrelevant"}),
    ("without mask_means", X, Y, {"masks": np.zeros((6, 4))}),
    ("mask_means is 'white'", X, Y, {"masks": np.zeros((6, 4)), "mask_means": "white"}),
    ("masks", X, Y, {"masks": np.full((6, 4), 2.0), "mask_means": "irrelevant"}),
    ("masks", X, Y, {"masks": np.full((6, 4), np.nan), "mask_means": "irrelevant"}),
    ("groups", X, Y, {"groups": [0, 1]}),
    ("groups", X, Y, {"groups": [-1, 0, 1, 0, 1, 0]}),
    ("a split is 'exam'", X, Y, {"splits": ["train"] * 5 + ["exam"]}),
    ("splits", X, Y, {"splits": [7] * 6}),
    ("no training examples", X, Y, {"splits": ["test"] * 6}),
    ("lengths are for tokens", X, Y, {"lengths": [1] * 6}),
]


@pytest.mark.parametrize(("sentence", "x", "y", "more"), CASES, ids=[f"{k}" for k in range(len(CASES))])
def test_fit(sentence: str, x: Any, y: Any, more: dict[str, Any]) -> None:
    with pytest.raises(r4.Error, match=sentence):
        r4.Classifier("dense {classes}", epochs=1).fit(x, y, **more)


SETTINGS = [
    ("magic", {"method": "magic"}),
    ("epochs", {"epochs": 0}),
    ("epochs", {"epochs": 1.5}),
    ("rate", {"rate": float("nan")}),
    ("lambda", {"lambda_": "much"}),
    ("wrong", {"net": "wrong 3"}),
    ("outputs", {"net": "dense 5"}),
    ("no setting", {"settings": {"colour": "red"}}),
    ("arrays are taken as they are", {"settings": {"data.keep_masks": 0.5}}),
    ("layout is 'HWC'", {"layout": "HWC"}),
    ("kind is 'words'", {"kind": "words"}),
    ("expected uint8", {"kind": "bytes"}),
    ("zero in it", {"net": "dense 2\0"}),
]


@pytest.mark.parametrize(("sentence", "params"), SETTINGS, ids=[s for s, _ in SETTINGS])
def test_parameters(sentence: str, params: dict[str, Any]) -> None:
    c = r4.Classifier(**({"net": "dense 2", "epochs": 1} | params))
    with pytest.raises((r4.Error, ValueError), match=sentence):
        c.fit(X, Y)


def test_asking(bars: Bars) -> None:
    c = r4.Classifier(NET, epochs=1)
    with pytest.raises(ValueError, match="not fitted"):
        c.predict(bars.x)
    c.fit(bars.x, bars.y)
    with pytest.raises(r4.Error, match="X has 25 features, but Classifier is expecting 36"):
        c.predict(np.zeros((3, 5, 5)))
    with pytest.raises(r4.Error, match="not one of the classes"):
        c.evaluate(bars.x[:2], [0, 7])
    with pytest.raises(r4.Error, match="eps"):
        c.bounds(bars.x[:2], eps=-1)
    with pytest.raises(r4.Error, match="samples"):
        c.explain(bars.x[:2], "smoothgrad", samples=0)
    with pytest.raises(r4.Error, match="baseline has shape"):
        c.explain(bars.x[:2], "integrated", baseline=np.zeros(3))


def test_files(tmp_path: Any) -> None:
    with pytest.raises(r4.FileError, match="does not exist"):
        r4.load(tmp_path / "nowhere")
    with pytest.raises(OSError, match="no model"):
        r4.load(tmp_path)
    (tmp_path / "a.safetensors").write_bytes(b"12345678901234567890")
    with pytest.raises(r4.ParseError):
        r4.load(tmp_path / "a.safetensors")
    with pytest.raises(r4.FileError):
        r4.data(tmp_path / "b.npz")
    with pytest.raises(r4.Error, match="decoy"):
        r4.data("decoy")


def test_closed(bars: Bars) -> None:
    d = r4.Data(bars.x, bars.y)
    part = d.part("train")
    d.close()
    d.close()
    assert len(part) == 120
    for use in (lambda: len(d), lambda: d.x, lambda: d.part("train"), lambda: r4.Classifier().fit(d)):
        with pytest.raises(r4.ClosedError, match="this Data is closed"):
            use()
    assert repr(d) == "Data(closed)"
    with r4.Graph() as g:
        x = g.input("x", (2,))
        plan = g.plan(x * 2)
    with pytest.raises(r4.ClosedError, match="Graph"):
        x + 1
    assert list(plan(x=[1, 2])) == [2, 4]
    with pytest.raises(TypeError, match="cannot be pickled"):
        __import__("pickle").dumps(d)


def test_everything_closed(bars: Bars, tmp_path: Any) -> None:
    """Whatever is asked of what is closed, it says that it is."""
    d = r4.Data(bars.x, bars.y)
    net = r4.Net(NET, (36,))
    model = r4.Model(net, net.init())
    g = r4.Graph()
    plan = g.plan(g.input("x", (2,)) + 1)
    s = r4.Settings({"net": NET})
    t = r4.Trainer(s, d)
    batches, optimizer = r4.Batches(d, 10), r4.Optimizer(3)
    w = np.zeros(3, np.float32)
    uses: dict[Any, list[Any]] = {
        t: [t.step, t.epoch, lambda: t.weights, lambda: t.net, lambda: t.manifest, lambda: t.log, lambda: t.done],
        batches: [batches.next, lambda: len(batches)],
        optimizer: [lambda: optimizer.step(w, w), lambda: optimizer.set_rate(0.1), lambda: optimizer.freeze([(0, 1)])],
        plan: [lambda: plan(x=[1, 2]), lambda: plan.kernels, lambda: plan.flops, lambda: str(plan)],
        g: [lambda: len(g), lambda: g.input("y", (1,)), g.inputs, lambda: g.text([]), lambda: g.const(1)],
        model: [lambda: model.weights, lambda: model.evaluate(d), lambda: model.probabilities(d), lambda: model.net]
        + [lambda: model.save(tmp_path / "m"), lambda: model.export_onnx(tmp_path / "m.onnx"), lambda: repr(model)],
        net: [net.init, lambda: net.parameters, lambda: net.layers, lambda: net.inputs(r4.Graph()), lambda: net.size],
        s: [lambda: s["net"], s.changed, s.check, s.idle, lambda: str(s), lambda: s.save(tmp_path / "s")],
    }
    for thing, calls in uses.items():
        thing.close()
        for use in calls:
            with pytest.raises(r4.ClosedError, match="is closed"):
                use()
    t2 = r4.Trainer(r4.Settings({"net": NET}), d)  # needs its data no longer
    d.close()
    t2.step()


def test_arrays_that_change(bars: Bars) -> None:
    """A data set is a copy, unless told otherwise: what another thread writes to the array does not matter then."""
    x = bars.x.copy()
    d = r4.Data(x, bars.y)
    before, expected = d.hash, r4.Classifier(NET, epochs=3).fit(bars.x, bars.y).model_.weights
    stop = threading.Event()

    def scribble() -> None:
        while not stop.is_set():
            x[...] = np.random.default_rng().random(x.shape)

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        c = r4.Classifier(NET, epochs=3).fit(d)
    finally:
        stop.set()
        thread.join()
    assert np.array_equal(c.model_.weights, expected)
    assert d.hash == before


def test_graphs() -> None:
    g = r4.Graph()
    x, w = g.input("x", (2, 3)), g.input("w", (3, 2))
    p = g.plan(x @ w)
    with pytest.raises(r4.ShapeError, match=r'"x" has shape \(3, 2\), expected \(2, 3\)'):
        p(x=np.zeros((3, 2)), w=np.zeros((3, 2)))
    with pytest.raises(r4.ArgumentError, match='no input "z"'):
        p(z=np.zeros(3))
    with pytest.raises(r4.ArgumentError, match="not bound"):
        g.plan(x @ w)()
    with pytest.raises(r4.ArgumentError, match="another graph"):
        r4.Graph().input("x", (2, 3)) + x
    with pytest.raises(r4.ShapeError, match="matmul"):
        x @ x
    assert (g.plan(x + x)(x=np.ones((2, 3))) == 2).all()  # the graph stays as it was
    with pytest.raises(r4.ShapeError, match="grad"):
        g.grad(x, x)
    with pytest.raises(r4.ShapeError, match="conv2d"):  # a sentence of its own, not the last one
        x.conv2d(w)
    assert len(g.inputs()) == 2
    g = r4.Graph()
    with pytest.raises(r4.ArgumentError, match="axes are"):
        g.input("x", (2, 3)).transpose(0)
    with pytest.raises(r4.ArgumentError, match="2 numbers each"):
        g.input("x", (2, 3)).slice([0], [1])
    with pytest.raises(r4.DomainError, match="log"):
        g.plan(g.bound(g.input("v").log(), r4.Box.around(g.input("v"), 1.0)).lo)(v=0.5)


CALLS: list[tuple[str, str, tuple[Any, ...]]] = [
    ("not a function", "r4_graph_free", ()),
    ("not a function", "system", (b"true",)),
    ("not a function", "r4_graph_input", (0, None)),
    ("not a function", "r4_net_apply", (None, None)),
    ("got 0 arguments.*expected 1", "r4_relu", ()),
    ("got 3 arguments.*expected 2", "r4_add", (1, 2, 3)),
    ("argument 2 is 5, expected an array", "r4_transpose", (r4.Graph().input("x"), 5)),
]


@pytest.mark.parametrize(("sentence", "name", "arguments"), CALLS, ids=[f"{c[1]} {c[0]}" for c in CALLS])
def test_calls_that_build_nothing(sentence: str, name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(r4.ArgumentError, match=sentence):
        r4.Graph().call(name, *arguments)


def test_options_of_reading() -> None:
    with pytest.raises(r4.ArgumentError, match=r"an option of reading is 'soft_mask', expected .*soft_masks"):
        r4.Data.open("digits:20", soft_mask=True)
    assert len(r4.Data.open("digits:20", soft_masks=True, length=0)) > 20  # and those of the test
