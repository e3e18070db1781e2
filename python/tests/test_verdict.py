"""What a classifier says of itself after fit: whether it uses what masks mark, and which method it took."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import NET, Bars, make_bars

import r4
from r4._progress import _figures


@pytest.fixture(scope="module")
def many() -> Bars:
    return make_bars(400)


def fitted(bars: Bars, method: str = "auto", **more: Any) -> r4.Classifier:
    more = {"epochs": 30, "batch": 30, "rate": 0.01, "validation": 0.25} | more
    return r4.Classifier(NET, method, **more).fit(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")


def test_a_model_that_uses_the_shortcut_is_a_warning(many: Bars) -> None:
    with pytest.warns(r4.VerdictWarning, match=r'model uses the shortcut: it loses .* method="auto" uses') as caught:
        c = fitted(many, "erm")
    assert caught[0].filename == __file__
    v = c.verdict_
    assert v is not None
    assert v.verdict == "uses"
    assert v.lost > 0.5
    assert 0 < v.lost_error < 0.2
    assert v.exchanged == 100
    assert (v.penalised_steps, v.unpenalised) == (0, False)
    assert v.steps == 300
    assert pickle.loads(pickle.dumps(c)).verdict_ == v


def test_the_method_is_chosen_by_the_masks(many: Bars) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", r4.VerdictWarning)
        c = fitted(many)
        plain = r4.Classifier(NET, epochs=1).fit(many.x, many.y)
    assert (c.method, c.method_, c.settings_["method"]) == ("auto", "pairing", "pairing")
    assert c.verdict_ is not None
    assert c.verdict_.verdict in ("does not use", "uses a little")
    assert (plain.method_, plain.settings_["method"]) == ("erm", "erm")
    assert plain.verdict_ is not None
    assert plain.verdict_.verdict in ("unknown", "collapsed")
    assert math.isnan(plain.verdict_.lost)


def test_a_penalty_that_never_counted_is_a_warning(many: Bars, tmp_path: Path, command: str) -> None:
    with pytest.warns(r4.VerdictWarning, match="the penalty took effect in none of 20 steps: this net was not"):
        c = fitted(many, "r3", rate=1e-9, epochs=2)
    assert c.verdict_ is not None
    assert c.verdict_.unpenalised
    d = r4.Data(many.x, many.y, masks=many.m, mask_means="irrelevant", splits=["test"] * 400)
    c.save(tmp_path / "run", data=d)
    assert r4.load(tmp_path / "run").verdict_ == c.verdict_
    assert r4.load(tmp_path / "run").method_ == "r3"
    found = subprocess.run(
        [command, "eval", str(tmp_path / "run"), "--other-data"], capture_output=True, text=True, check=False
    )
    assert "the penalty took effect in none of 20 steps" in found.stdout
    c.report(tmp_path / "page.html", d)
    assert "The penalty took effect in none of 20 steps" in (tmp_path / "page.html").read_text()


def test_what_is_not_known_is_null_in_files(bars: Bars, tmp_path: Path) -> None:
    c = r4.Classifier(NET, epochs=1).fit(bars.x, bars.y)
    c.save(tmp_path / "run")
    assert json.loads((tmp_path / "run/outcome.json").read_text())["lost"] is None
    again = r4.load(tmp_path / "run").verdict_
    assert again is not None
    assert math.isnan(again.lost)
    (tmp_path / "run/outcome.json").unlink()
    assert r4.load(tmp_path / "run").verdict_ is None


def test_trainers_are_judged(many: Bars) -> None:
    told: list[str] = []
    d = r4.Data(many.x, many.y, masks=many.m, mask_means="irrelevant").hold_out(0.25, 0)
    with r4.Trainer(r4.Settings({"net": NET, "method": "erm", "epochs": 1}), d, notice=told.append) as t:
        with pytest.raises(r4.ArgumentError, match="no epoch is done yet"):
            t.judge()
        p = t.epoch()
        assert (p.val_kind, p.val_examples) == ("exchanged", 100)
        assert p.val_se > 0
        assert t.judge().exchanged == 100
    found = f"{100 * p.val_avg:.1f} +- {100 * p.val_se:.1f} %, worst group "
    assert f"val {100 * p.val_plain:.1f} %; masked content exchanged (100): {found}" in _figures(p)
    assert _figures(replace(p, val_kind="carries the shortcut")).endswith(" (with the shortcut in it)")
    assert _figures(replace(p, val_kind="plain")).endswith(" %")


def test_the_library_knows_the_numbers_of_the_data(many: Bars) -> None:
    c = r4.Classifier("dense 4, relu, dense {classes}", "erm", epochs=1, validation=0).fit(many.x, many.y)
    assert c.settings_["net"] == "dense 4, relu, dense {classes}"
    assert c.model_.net.layers.endswith("dense 2")
