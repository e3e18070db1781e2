"""What someone new to it meets: warnings that are seen, and messages that say what to type."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from conftest import NET, Bars

import r4


def one_epoch(b: Bars, m: Any, means: Any = "irrelevant") -> r4.Classifier:
    return r4.Classifier(NET, "erm", epochs=1, validation=0.25).fit(b.x, b.y, masks=m, mask_means=means)


@pytest.mark.parametrize("means", ["irrelevant", "relevant"])
@pytest.mark.parametrize("kind", [bool, np.uint8, np.float32])
def test_none_is_no_mask(bars: Bars, means: Any, kind: Any) -> None:
    m = (bars.m if means == "irrelevant" else ~bars.m).astype(kind) * (255 if kind is np.uint8 else 1)
    gaps = [None if i < 40 else one for i, one in enumerate(m)]
    d = r4.Data(X=bars.x, y=bars.y, masks=gaps, mask_means=means)
    assert list(d.has_mask) == [False] * 40 + [True] * 80
    assert np.array_equal(d.masks[40:, ..., 0] > 0, bars.m[40:])
    assert r4.Data(bars.x, bars.y, masks=[None] * 120, mask_means=means).masked_count == 0
    assert r4.Data(r4.Masked(X=bars.x, masks=gaps).x, bars.y).masked_count == 0


def test_masks_need_a_meaning(bars: Bars) -> None:
    c = r4.Classifier(NET, epochs=1).fit(bars.x, bars.y)
    for use in (lambda: c.evaluate(bars.x, bars.y, masks=bars.m), lambda: r4.Data(bars.x, bars.y, masks=bars.m)):
        with pytest.raises(r4.ArgumentError, match='without mask_means: pass mask_means="irrelevant" if 1'):
            use()
    with pytest.raises(r4.ArgumentError, match='without mask_means: pass mask_means="irrelevant" if 1'):
        r4.Data(["a b", "c"], [0, 1], masks=[[(0, 1)], []])
    with pytest.raises(r4.ArgumentError, match=r"mask_means is 'irelevant', expected one of irrelevant, relevant$"):
        c.evaluate(bars.x, bars.y, masks=bars.m, mask_means="irelevant")  # type: ignore[arg-type]


def test_values_of_masks(bars: Bars) -> None:
    for value, said in ((np.nan, "nan"), (255, "255"), (-1, "-1")):
        m = bars.m.astype(float)
        m[3, 2, 2] = value
        with pytest.raises(r4.Error, match=f"masks: example 3 has {said}, expected bool, 0 to 1, or uint8 up to 255$"):
            one_epoch(bars, m)


# ---- Sentences ----


def test_sentences(bars: Bars) -> None:
    c = r4.Classifier(NET, epochs=1).fit(bars.x, bars.y)
    with pytest.raises(r4.ArgumentError, match=r"X is one text, expected a list of texts: \['a fine film'\]"):
        c.predict("a fine film")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": ["a", "b"], "y": [0, 1]})
    with pytest.raises(r4.ArgumentError, match=re.escape('expected the column itself: df["text"], not df[["text"]]')):
        r4.Classifier().fit(table[["text"]], table.y)
    with pytest.raises(r4.Error, match=r"^data: no training example has a mask"):
        r4.Classifier(NET, "r3", epochs=1).fit(bars.x, bars.y)
    with pytest.raises(r4.ArgumentError, match=r"y is missing: r4\.Data\(X, y\)"):
        r4.Data(X=bars.x)
    with pytest.raises(r4.ArgumentError, match="content is 'wish', expected one of ") as raised:
        c.evaluate(bars.x, bars.y, masks=bars.m, mask_means="irrelevant", content="wish")
    for word in str(raised.value).partition("one of ")[2].split(", "):
        c.evaluate(bars.x[:20], bars.y[:20], masks=bars.m[:20], mask_means="irrelevant", content=word)


def test_a_net_that_is_not_there(tmp_path: Any) -> None:
    program = "import r4; r4.Classifier('embedding {words} 4, mean, dense 2').fit(['a', 'b'], [0, 1])"
    env = os.environ | {"HOME": str(tmp_path), "R4_DATA_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=env)
    assert "minilm is not there: python -m r4 data get minilm" in found.stderr
