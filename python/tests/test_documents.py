"""The programs of the documents: every block between ``` fences that is in Python is run, with small data."""

from __future__ import annotations

import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import r4

matplotlib.use("Agg")
ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "doc").glob("*.md"))]
NOT_RUN = {  # what a block has in it, and why it is compiled only
    "dask.distributed": "needs a scheduler; test_cluster has one",
    "ray.init": "needs a cluster",
}
INSTEAD = {  # what stands in a block, and what is run in its place, for time
    "epochs=20": "epochs=2",
    "epochs=10": "epochs=1",
}

pytestmark = pytest.mark.skipif(not DOCUMENTS[0].is_file(), reason="needs the tree with the documents")


def blocks(document: Path) -> list[tuple[int, str]]:
    """Each with the line it begins at."""
    text = document.read_text()
    return [
        (text.count("\n", 0, m.start(1)) + 1, m[1]) for m in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S)
    ]


def images(n: int, seed: int) -> tuple[Any, Any, Any]:
    """The brightness of the middle tells the class, and a patch in a corner gives it away."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = rng.uniform(0, 0.5, (n, 8, 8)).astype(np.float32)
    x[:, 3:6, 3:6] += 0.3 * y[:, None, None]
    m = np.zeros(x.shape, dtype=bool)
    m[:, :2, :2] = True
    x[:, :2, :2] = y[:, None, None]
    return x, y, m


def names() -> dict[str, Any]:
    """What the documents take to be there."""
    x, y, m = images(160, 0)
    x_test, y_test, m_test = images(60, 1)
    reviews = [f"spielberg the {'good' if k % 2 else 'bad'} film of jonah" for k in range(80)]
    net = "conv 4 3 p1, relu, flatten, dense {classes}"
    return {
        "r4": r4, "numpy": np, "net": net, "X": x, "y": y, "M": m, "g": y, "X_new": x_test[:3], "M_new": m_test[:3],
        "X_train": x, "y_train": y, "X_test": x_test, "y_test": y_test, "M_test": m_test,
        "x": x, "m": m, "xt": x_test, "yt": y_test, "photos": np.zeros((2, 1, 8, 8), np.float32),
        "reviews": reviews, "labels": ["pos" if k % 2 else "neg" for k in range(80)],
        "spans": [[(0, 9)] for _ in reviews],
    }  # fmt: skip


def put_files(given: dict[str, Any]) -> None:
    """What they read, in the current folder."""
    shutil.copy(ROOT / "test" / "tokens" / "vocab.txt", "vocab.txt")
    network = r4.Net(given["net"].replace("{classes}", "2"), (8, 8, 1))
    r4.Model(network, network.init(0), ["healthy", "ill"]).export_onnx("mydata.onnx")


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d)], ids=lambda d: str(d.relative_to(ROOT)))
def test_programs_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put_files(names())
    model = r4.Classifier(names()["net"], "fill", epochs=2)
    for line, program in blocks(document):
        for old, new in INSTEAD.items():
            program = program.replace(old, new)
        code = compile("\n" * (line - 1) + program, str(document), "exec")  # an error has the document's line
        if any(text in program for text in NOT_RUN):
            continue
        given = names()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", r4.ShortcutWarning)
            warnings.simplefilter("ignore", r4.VerdictWarning)
            model.fit(given["X"], given["y"], masks=given["M"], mask_means="irrelevant")
            exec(code, given | {"model": model})


def test_none_is_overlooked() -> None:
    assert sum(len(blocks(d)) for d in DOCUMENTS) >= 12
