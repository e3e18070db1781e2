"""The command and the package: the same data have one hash, the same settings and seed one model, either way."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import NET, Bars

import r4


@pytest.fixture
def npz(bars: Bars, tmp_path: Path) -> Path:
    m = bars.m.astype(np.uint8)
    np.savez(tmp_path / "bars.npz", x_train=bars.x, y_train=bars.y, m_train=m, x_test=bars.x_test, y_test=bars.y)
    return tmp_path / "bars.npz"


def test_the_hash_of_the_file(bars: Bars, npz: Path, tmp_path: Path) -> None:
    part = ["train"] * 120 + ["test"] * 120
    x, y = np.concatenate([bars.x, bars.x_test]), np.concatenate([bars.y, bars.y])
    read = r4.data(npz, mask_means="irrelevant")
    plain = r4.Data(x, y, splits=part)
    assert plain.hash != read.hash
    np.savez(tmp_path / "plain.npz", x_train=bars.x, y_train=bars.y, x_test=bars.x_test, y_test=bars.y)
    assert plain.hash == r4.data(tmp_path / "plain.npz").hash
    named = r4.Data(x, y, splits=part, classes=["0", "1"])
    assert named.hash == plain.hash
    train = r4.Data(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")
    assert train.hash == read.part("train").hash
    train.save(tmp_path / "again.npz")
    assert r4.data(tmp_path / "again.npz").hash == train.hash


def test_the_bits_of_the_command(bars: Bars, npz: Path, tmp_path: Path, command: str) -> None:
    run = tmp_path / "run"
    set_ = {"net": NET, "method": "cert-r4", "rate": 0.02, "epochs": 12, "batch": 25, "seed": 5, "threads": 1}
    (tmp_path / "a.yaml").write_text(f"data: {npz}\ndata.mask_means: irrelevant\n")
    words = [w for k, v in set_.items() for w in ("--set", f"{k}={v}")]
    subprocess.run([command, "train", tmp_path / "a.yaml", *words, "--out", run, "--quiet"], check=True)
    c = r4.Classifier(NET, "cert-r4", epochs=12, batch=25, rate=0.02, random_state=5, settings={"threads": 1})
    c.fit(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")
    theirs = r4.load(run)
    assert np.array_equal(theirs.model_.weights, c.model_.weights)
    assert theirs.get_params() == c.get_params()
    assert r4.load(run, seed=5).model_.classes == ["0", "1"]
    r4.train({"data": str(npz), "data.mask_means": "irrelevant", **set_}, tmp_path / "own")
    assert np.array_equal(r4.load(tmp_path / "own").model_.weights, c.model_.weights)


def test_the_command_opens_a_saved_run(bars: Bars, tmp_path: Path, command: str) -> None:
    d = r4.Data(
        np.concatenate([bars.x, bars.x_test]),
        np.concatenate([bars.y, bars.y]),
        masks=np.concatenate([bars.m, bars.m]),
        mask_means="irrelevant",
        splits=["train"] * 120 + ["test"] * 120,
    )
    c = r4.Classifier(NET, "r3", epochs=30, rate=0.01, validation=0).fit(d)
    c.save(tmp_path / "run", data=d)
    (tmp_path / "run").rename(tmp_path / "moved")
    said = subprocess.run([command, "eval", tmp_path / "moved"], capture_output=True, text=True, check=False)
    assert f"{100 * c.evaluate(d.part('test')).accuracy:.1f}" in said.stdout, said.stderr
    assert json.loads((tmp_path / "moved" / "manifest.json").read_text())["data"]["sha256"] == d.hash
    c.save(tmp_path / "other", data=d.part("test"))
    said = subprocess.run([command, "eval", tmp_path / "other"], capture_output=True, text=True, check=False)
    assert "--other-data accepts them" in said.stderr


def test_checkpoints(bars: Bars, tmp_path: Path) -> None:
    d = r4.Data(bars.x, bars.y)
    s = r4.Settings({"net": NET, "epochs": 3, "batch": 50})
    whole, first, second = (r4.Trainer(s, d) for _ in range(3))
    while not whole.done:
        whole.epoch()
    for _ in range(4):
        first.step()
    first.save(tmp_path / "state")
    second.load(tmp_path / "state")
    assert second.progress.epoch == 1
    while not second.done:
        second.step()
    assert np.array_equal(whole.weights, second.weights)
