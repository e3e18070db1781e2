"""In one process with others: orders of import, threads, forks, garbage, and memory that stays flat."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import NET, Bars, make_bars

import r4

FITS = int(os.environ.get("R4_FITS", "1000"))

BOTH = """
import {first}
import {second}
import numpy as np, torch, r4
x = np.random.default_rng(0).normal(size=(40, 12)).astype(np.float32)
c = r4.Classifier("dense 7, relu, dense 3", epochs=2).fit(x, np.arange(40) % 3)
net, w = c.model_.net, c.model_.weights
p = {{q.name: torch.from_numpy(q.of(w).copy()) for q in net.parameters}}
t = torch.from_numpy(x).requires_grad_()
z = torch.relu(t @ p["0.weight"].T + p["0.bias"]) @ p["2.weight"].T + p["2.bias"]
assert torch.allclose(z.softmax(1), torch.from_numpy(c.predict_proba(t)), atol=1e-5)
y = z.argmax(1)
torch.nn.functional.cross_entropy(z, y, reduction="sum").backward()
assert torch.allclose(t.grad, torch.from_numpy(c.explain(x)), atol=1e-5)
big = torch.randn(300, 300)
assert torch.allclose(big @ big, (big.double() @ big.double()).float(), atol=1e-2)
before, own = torch.get_num_threads(), r4.threads()
assert r4.threads(1) == 1 and r4.threads(own) == own and torch.get_num_threads() == before
print("same")
"""


@pytest.mark.parametrize("order", [("torch", "r4"), ("r4", "torch")])
def test_beside_torch(order: tuple[str, str]) -> None:
    pytest.importorskip("torch")
    program = BOTH.format(first=order[0], second=order[1])
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False)
    assert said.stdout == "same\n", said.stderr


def test_threads_as_asked() -> None:
    before = r4.threads()
    try:
        assert r4.threads(1) == 1
        assert r4.threads() == 1
        assert r4.threads(2) in (1, 2)
    finally:
        r4.threads(before)
    program = "import r4; print(r4.threads())"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert said.stdout == "1\n"


BESIDE = """
import {first}
import {second}
import os, torch, r4, numpy as np
torch.set_num_threads(2)
a = torch.randn(400, 400)
x, y = np.random.default_rng(0).random((256, 784), dtype=np.float32), np.arange(256) % 10

def count():
    return len(os.listdir("/proc/self/task"))

def weights(n):
    s = {{"threads": n}}
    return r4.Classifier("dense 512, relu, dense 10", epochs=1, settings=s).fit(x, y).model_.weights

one = weights(1)
(a @ a).sum()
two = weights(2)
(a @ a).sum()
busy = count()
again = weights(2)
assert np.array_equal(two, again) and np.array_equal(one, weights(1)), "bits"
assert np.allclose(one, two, atol=1e-4), "numbers"
assert count() <= busy + 1, "threads grow"
print("same", r4.threads() == int(os.environ["OMP_NUM_THREADS"]))
"""


@pytest.mark.parametrize("order", [("torch", "r4"), ("r4", "torch"), ("numpy", "r4")])
def test_threads_beside_torch(order: tuple[str, str]) -> None:
    """As many threads as asked, and the same bits, whoever computes in between."""
    pytest.importorskip("torch")
    program = BESIDE.format(first=order[0], second=order[1])
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-c", program]
    said = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert said.stdout == "same True\n", said.stderr


FORKED = """
import multiprocessing as mp, numpy as np, torch, r4
x, y = np.random.default_rng(0).random((64, 30), dtype=np.float32), np.arange(64) % 2

def work(seed):
    t = torch.from_numpy(x)
    s = float((t @ t.T).sum())
    c = r4.Classifier("dense 8, relu, dense 2", epochs=2, random_state=seed, settings={{"threads": 1}}).fit(t, y)
    return s, c.predict_proba(x).tobytes()

if __name__ == "__main__":
    expected = [work(k) for k in range(4)]
    r4.Classifier("dense 8, relu, dense 2", epochs=1, settings={{"threads": 2}}).fit(x, y)
    with mp.get_context("{way}").Pool(2) as pool:
        found = pool.map_async(work, range(4)).get(timeout=300)
    assert [p for _, p in found] == [p for _, p in expected]
    assert np.allclose([s for s, _ in found], [s for s, _ in expected])
    print("same")
"""


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_workers_beside_torch(way: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = tmp_path / "program.py"
    program.write_text(FORKED.format(way=way))
    command = [sys.executable, str(program)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert said.stdout == "same\n", said.stderr


def answer(seed: int) -> list[float]:
    bars = make_bars()
    c = r4.Classifier(NET, epochs=2, random_state=seed, settings={"threads": 1}).fit(bars.x, bars.y)
    return [float(v) for v in c.predict_proba(bars.x[:4]).ravel()]


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_workers(way: str) -> None:
    import multiprocessing

    expected = [answer(seed) for seed in (1, 2)]
    r4.threads(2)
    r4.Classifier(NET, epochs=1).fit(*make_bars()[:2])  # the parent has threads by now
    with multiprocessing.get_context(way).Pool(2) as pool:
        assert pool.map_async(answer, [1, 2]).get(timeout=300) == expected


def test_garbage_in_any_order(bars: Bars) -> None:
    shuffle = random.Random(0)
    for _ in range(20):
        d = r4.Data(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")
        s = r4.Settings({"net": NET, "epochs": 1})
        t = r4.Trainer(s, d)
        t.step()
        g = r4.Graph()
        x = g.input("x", (2,))
        things: list[object] = [d, s, t, t.model, t.net, g, x, g.plan(x + 1), d.part("train")]
        ring: list[object] = [things]
        ring.append(ring)  # a cycle: only the collector can end it
        del d, s, t, g, x
        shuffle.shuffle(things)
        while len(things) > shuffle.randrange(9):
            things.pop()
            gc.collect(0)
        del things, ring
        gc.collect()


def resident() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_memory_stays_flat(bars: Bars) -> None:
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc")

    def fit(n: int) -> None:
        for k in range(n):
            c = r4.Classifier(NET, "r3", epochs=1, random_state=k)
            c.fit(bars.x, bars.y, masks=bars.m, mask_means="irrelevant").explain(bars.x[:5])

    fit(FITS // 10 + 20)
    before = resident()
    fit(FITS)
    assert resident() - before < 8e6


def test_the_sum_of_numpy() -> None:
    a = np.random.default_rng(0).normal(size=(200, 200))
    assert np.allclose((a @ np.linalg.inv(a)), np.eye(200), atol=1e-6)


LEFT = """
import sys, threading, numpy as np, r4
x, y = np.random.default_rng(0).random((1000, 784), dtype=np.float32), np.arange(1000) % 10
t = r4.Trainer(r4.Settings({"net": "dense 512, relu, dense 10", "batch": 1000, "epochs": 1000000}), r4.Data(x, y))
going = threading.Event()

def learn():
    while t.step():
        going.set()

threading.Thread(target=learn, daemon=True).start()
assert going.wait(60)
sys.exit(7)
"""


def test_leaving_while_a_daemon_thread_learns() -> None:
    """What a thread still computes with is not freed under its feet."""
    said = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=300, check=False)
    assert (said.returncode, said.stderr) == (7, "")
