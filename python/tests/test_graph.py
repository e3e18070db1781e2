"""Graphs: numbers, derivatives, bounds, and an objective of one's own."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from conftest import NET, Bars

import r4


def test_the_program_of_the_readme() -> None:
    g = r4.Graph()
    x, w = g.input("x", (1, 2)), g.input("w", (2, 2))
    dx = g.grad((x @ w).relu().sum(), x)
    b = g.bound(dx, r4.Box.around(x, 0.1))
    lo, hi = g.plan([b.lo, b.hi]).run({"x": [[1, 0.05]], "w": np.eye(2)})
    assert lo.tolist() == [[1, 0]]
    assert hi.tolist() == [[1, 1]]


def test_operations() -> None:
    g = r4.Graph()
    a, b = g.input("a", (2, 3)), g.input("b", (3,))
    x, y = np.array([[1.0, -2, 3], [0.5, 4, -1]]), np.array([2.0, 0.5, -1])
    relu = np.maximum
    cases: list[tuple[r4.Node, Any]] = [
        (a + b, x + y),
        (1 - a, 1 - x),
        (2 / (a * b), 2 / (x * y)),
        (-a / 2, -x / 2),
        (abs(a), abs(x)),
        (a.maximum(b), relu(x, y)),
        (a.less(0).where(b, a), np.where(x < 0, y, x)),
        (a.square().sum(1).sqrt(), np.sqrt((x**2).sum(1))),
        (a.mean((0, 1)), x.mean()),
        (a.max(0), x.max(0)),
        (a.softmax(), np.exp(x) / np.exp(x).sum(1, keepdims=True)),
        (a.transpose(1, 0).reshape(6), x.T.reshape(6)),
        (a.slice((0, 1), (2, 2)), x[:, 1:]),
        (a.pad((1, 0), (4, 3)), np.pad(x, ((1, 1), (0, 0)))),
        (g.concat([a, a], 0), np.concatenate([x, x])),
        (g.iota(1, (2, 3)), np.tile(np.arange(3), (2, 1))),
        (a.matmul(a, transpose_b=True), x @ x.T),
        (a.tanh() + a.sigmoid() + a.exp(), np.tanh(x) + 1 / (1 + np.exp(-x)) + np.exp(x)),
    ]
    for dtype, accuracy in (("float32", 1e-5), ("float64", 1e-12)):
        results = g.plan([node for node, _ in cases], dtype=dtype).run({"a": x, "b": y})  # type: ignore[arg-type]
        for result, (_, expected) in zip(results, cases, strict=True):
            assert np.allclose(result, expected, rtol=accuracy, atol=accuracy)


def test_convolution_and_text() -> None:
    g = r4.Graph()
    x, w = g.input("x", (1, 3, 3, 1)), g.input("w", (1, 2, 2, 1))
    y = x.conv2d(w).sum()
    again, out = r4.Graph.parse(g.text([y]))
    v = np.arange(9.0).reshape(1, 3, 3, 1)
    assert again.plan(out[0])(x=v, w=np.ones((1, 2, 2, 1))) == 8 + 12 + 20 + 24
    assert again.inputs()["x"].shape == (1, 3, 3, 1)


def test_memory_is_shared_and_kept() -> None:
    g = r4.Graph()
    plan = g.plan(g.input("x", (4,)) + 1)
    x = np.zeros(4, np.float32)
    plan.bind("x", x)
    x[:] = 5
    assert plan().tolist() == [6] * 4  # type: ignore[union-attr]
    plan.bind("x", np.full(4, 2.0))  # a copy, which the plan keeps
    gc.collect()
    assert plan().tolist() == [3] * 4  # type: ignore[union-attr]
    plan.bind("x", x)
    with pytest.raises(r4.ArgumentError, match="shares memory"):
        plan.bind_output(0, x)


def right_reasons(b: r4.Batch) -> r4.Node:
    g = b.graph.grad(b.loss.sum(), b.x)
    return b.loss.mean() + 100 * (b.m * g).square().sum() / b.rows


def test_a_penalty_in_two_lines(bars: Bars) -> None:
    d = r4.Data(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")
    test = r4.Data(bars.x_test, bars.y)
    losses: list[float] = []
    net = r4.Net(NET, d.shape)
    w = r4.minimize(net, d, right_reasons, epochs=60, batch=50, rate=0.01, report=lambda _, v: losses.append(v))
    plain = r4.minimize(net, d, lambda b: b.loss.mean(), epochs=60, batch=50, rate=0.01)
    assert losses[-1] < losses[0]
    assert r4.Model(net, plain).evaluate(test).accuracy < 0.5 < 0.9 < r4.Model(net, w).evaluate(test).accuracy
    assert np.array_equal(w, r4.minimize(net, d, right_reasons, epochs=60, batch=50, rate=0.01))


def test_objectives_that_are_none(bars: Bars) -> None:
    d, net = r4.Data(bars.x, bars.y), r4.Net(NET, (36,))
    with pytest.raises(r4.ShapeError, match="scalar"):
        r4.minimize(net, d, lambda b: b.loss, epochs=1)
    with pytest.raises(r4.DomainError, match="finite"):
        r4.minimize(net, d, lambda b: b.loss.mean() * 1e38 * 1e38, epochs=1)
    with pytest.raises(r4.ShapeError, match="one value per channel has no variance"):
        r4.minimize(r4.Net("dense 4, batchnorm, dense 2", (36,)), d, right_reasons, batch=119)


@pytest.mark.parametrize("net", ["dense 8, batchnorm, relu, dropout 0.25, dense 2", "dense 8, relu, dense 2"])
def test_nets_that_learn_otherwise(bars: Bars, net: str) -> None:
    """Statistics follow the batches, and dropout drops: to the bit as the library's trainer has it."""
    d, n = r4.Data(bars.x, bars.y), r4.Net(net, (36,))
    s = r4.Settings({"net": net, "epochs": 3, "batch": 25, "seed": 7, "rate": 0.01, "select": "last", "data.val": 0})
    with r4.Trainer(s, d) as t:
        while not t.done:
            t.step()
        expected = t.weights
    found = r4.minimize(n, d, lambda b: b.loss.mean(), epochs=3, batch=25, rate=0.01, seed=7)
    assert np.array_equal(found, expected)
    for p in n.parameters:
        if p.buffer:
            assert not np.array_equal(p.of(found), p.of(n.init(7)))


def test_penalties_look_at_the_net_as_it_is_used(bars: Bars) -> None:
    """With batch norm, the gradient of an example does not depend on the others of its batch."""
    from r4.learn import batch_of

    net = r4.Net("dense 8, batchnorm, relu, dense 2", (36,))
    w = r4.minimize(net, r4.Data(bars.x, bars.y), lambda b: b.loss.mean(), epochs=2, batch=30)
    found = []
    for rows in (2, 5):
        b = batch_of(net, rows)
        g = b.graph.plan(b.graph.grad(b.used_loss.sum(), b.x))
        values = {p.name: p.of(w) for p in net.parameters}
        found.append(g.run({"x": bars.x[:rows].reshape(rows, 36), "y": bars.y[:rows], **values})[0][:2])
    assert np.allclose(found[0], found[1], atol=1e-6)
    assert np.allclose(found[0], r4.Model(net, w).attribute(r4.Data(bars.x[:2], bars.y[:2])), atol=1e-6)


def test_penalties_of_texts() -> None:
    """Explanations of texts are taken at the embeddings, and what is behind their end is not there."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(1, 20, (60, 5)), np.arange(60) % 2
    x[:, 0] = 1 + y
    m = np.zeros((60, 5), bool)
    m[:, 0] = True
    x[:, 2] = 10 + y
    d = r4.Data(x, y, masks=m, mask_means="irrelevant", kind="tokens", lengths=rng.integers(3, 6, 60))
    net = r4.Net("embedding 20 4, leaf, mean, dense 2", (5,))

    def right(b: r4.Batch) -> r4.Node:
        g = b.graph.grad(b.used_loss.sum(), b.leaf)
        return b.loss.mean() + 1000 * (b.m * g).square().sum() / b.rows

    plain = r4.minimize(net, d, lambda b: b.loss.mean(), epochs=40, batch=20, rate=0.05)
    ours = r4.minimize(net, d, right, epochs=40, batch=20, rate=0.05)

    def masked(w: Any) -> float:
        return float(np.abs(r4.Model(net, w).attribute(d) * m).max())

    losses = [r4.Model(net, w).evaluate(d).loss for w in (plain, ours)]
    s = r4.Settings(
        {"net": net.layers, "method": "erm", "epochs": 40, "batch": 20, "rate": 0.05, "select": "last", "data.val": 0}
    )
    with r4.Trainer(s, d) as t:
        while not t.done:
            t.step()
        assert np.array_equal(plain, t.weights)
    assert losses[0] < 0.3
    assert masked(ours) < masked(plain) / 2
