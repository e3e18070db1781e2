"""The swap test in figures and in searches: a model that uses the shortcut is not chosen."""

from __future__ import annotations

import json
import pickle
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import NET, Bars

import r4


def shortcut(bars: Bars, method: str = "erm", **more: Any) -> r4.Classifier:
    c = r4.Classifier(NET, method, epochs=60, batch=30, rate=0.01, **more)
    return c.fit(r4.Masked(bars.x, bars.m, "irrelevant"), bars.y)


def test_the_swap_test_of_evaluate(bars: Bars) -> None:
    groups = np.where(np.arange(120) < 50, "<first>", "second")
    both = r4.Masked(bars.x, bars.m, "irrelevant", groups=groups)
    used = shortcut(bars).evaluate(both, bars.y, content=["swap", "blank"], draws=3)
    right = shortcut(bars, "cert-r4").evaluate(both, bars.y, draws=3)
    assert used.accuracy == 1.0
    assert used.swap is not None
    assert right.swap is not None
    assert used.swap.lost > 0.5 > 0.1 > right.swap.lost
    assert [s.content for s in used.swaps] == ["swap", "blank"]
    assert (used.swap.draws, used.swap.donors, used.swap.examples) == (3, 120, 120)
    assert [(g.name, g.examples) for g in used.swap.groups] == [("<first>", 50), ("second", 70)]
    g = used.swap.groups[0]
    assert g.left == pytest.approx((g.found - g.lost_count) / 50)
    assert g.lost == pytest.approx(g.lost_count / g.found)
    assert g.flipped == pytest.approx(g.flipped_count / g.examples)
    assert 0 < g.lost <= 1 < g.lost_count
    assert used.swap.figures["inside"] == 120
    for sentence in ("predictions changed", "worst group", "kappa", "blank: correct ones lost", "lost of group second"):
        assert sentence in used.table()
    assert pickle.loads(pickle.dumps(used)) == used
    page = used._repr_html_()
    assert "&lt;first&gt;" in page
    assert "<first>" not in page
    assert page.count("<tr>") == len(used.table("csv").splitlines())


def test_the_figures_of_the_command(bars: Bars, tmp_path: Path, command: str) -> None:
    d = r4.Data(bars.x, bars.y, masks=bars.m, mask_means="irrelevant", splits=["train"] * 60 + ["test"] * 60)
    c = r4.Classifier(NET, epochs=20, batch=30, rate=0.01, settings={"threads": 1}).fit(d)
    c.save(tmp_path / "run", data=d)
    asked = [command, "eval", tmp_path / "run", "--json", "--swap", "swap,blank", "--noise", "1,2"]
    said = subprocess.run([*asked, "--pointing", "gradient"], check=True, capture_output=True, text=True).stdout
    theirs = json.loads(said)
    m = c.evaluate(d.part("test"), content=["swap", "blank"], noise=[1, 2], pointing=["gradient"])
    for swap in m.swaps:
        assert theirs["swap"][swap.content]["lost_share"] == pytest.approx(swap.lost)
        assert theirs["swap"][swap.content]["flipped_share"] == pytest.approx(swap.flipped)
    assert set(m.figures) >= {"accuracy", "auc", "ece", "swap_lost_share.blank", "core_sensitivity.2"}
    assert "pointing_energy.gradient" in m.figures
    for key, value in m.figures.items():
        assert (theirs[key] is None) == (value != value)
        assert theirs[key] is None or float(theirs[key]) == pytest.approx(value)
    assert "AUC" in m.table()
    assert m.noise is not None
    assert [a["sigma"] for a in m.noise["at"]] == [1, 2]
    assert m.pointing is not None
    assert 0 <= m.pointing["gradient"]["energy"] <= 1
    assert "core sensitivity, noise 2" in m.table()
    assert "gradient points at the core" in m.table()


def test_nothing_to_swap(bars: Bars) -> None:
    c = r4.Classifier(NET, epochs=1).fit(bars.x, bars.y)
    m = c.evaluate(bars.x, bars.y)
    assert m.swap is not None
    assert m.swap.none
    assert m.swap.left != m.swap.left
    assert "swap test (swap): none, as" in m.table()
    assert c.evaluate(bars.x, bars.y, content=None).swap is None
    with pytest.raises(r4.ArgumentError, match="content is 'paint'"):
        c.evaluate(bars.x, bars.y, content="paint")
    with pytest.raises(r4.ArgumentError, match="draws is 0"):
        c.evaluate(bars.x, bars.y, draws=0)


def test_masked_is_cut_like_an_array(bars: Bars) -> None:
    both = r4.Masked(bars.x, bars.m, "irrelevant", groups=bars.y)
    assert (len(both), both.shape, both.ndim) == (120, (120, 6, 6), 3)
    rows = np.array([3, 1])
    for part in (both[rows], both[rows, ...], both[np.isin(np.arange(120), rows)][::-1]):
        assert np.array_equal(part.x, bars.x[rows])
        assert np.array_equal(part.groups, bars.y[rows])
        assert part.mask_means == "irrelevant"
    assert np.array_equal(np.asarray(both), bars.x)
    texts = r4.Masked(["a", "b", "c"], [[(0, 1)], [], []])[np.array([2, 0])]
    assert (texts.x, texts.masks) == (["c", "a"], [[], [(0, 1)]])
    with pytest.raises(r4.ShapeError, match="masks are of 3 examples, X has 120"):
        r4.Masked(bars.x, bars.m[:3])
    with pytest.raises(r4.ArgumentError, match="rows are cut"):
        both[:, 1]
    c = shortcut(bars)
    assert np.array_equal(c.predict(both), c.predict(bars.x))
    assert np.array_equal(c.explain(both, y=bars.y), c.explain(bars.x, y=bars.y))
    with pytest.raises(r4.ArgumentError, match="give no others"):
        c.evaluate(both, bars.y, masks=bars.m)


def test_scorers(bars: Bars) -> None:
    both = r4.Masked(bars.x, bars.m, "irrelevant")
    c = shortcut(bars)
    swapped = pickle.loads(pickle.dumps(r4.scorer("swapped")))
    model = c._model
    data = c._labelled(bars.x, bars.y, bars.m, "irrelevant", None)
    rule = model.exchanged_score(data)
    assert rule["exchanged"] == len(bars.y)
    assert rule["worst"] - 1e-9 <= rule["score"] <= rule["avg"] + 1e-9
    assert swapped(c, both, bars.y) == rule["score"] < 0.5
    assert swapped(c, bars.x, bars.y, masks=bars.m) == rule["score"]
    assert swapped(shortcut(bars, "cert-r4"), both, bars.y) > 0.9
    test = c.evaluate(bars.x_test, bars.y)
    assert r4.scorer("worst")(c, bars.x_test, bars.y) == test.worst_group_accuracy
    assert r4.scorer("average")(c, bars.x_test, bars.y) == test.avg_group_accuracy
    few = bars.m.copy()
    few[19:] = False
    with pytest.warns(r4.FewMasksWarning, match="19 examples of the fold can be exchanged, expected at least 20"):
        assert np.isnan(swapped(c, r4.Masked(bars.x, few), bars.y))
    with pytest.warns(r4.FewMasksWarning, match=r'of 0 examples.*r4\.Masked\(X, M, mask_means="irr'):
        assert np.isnan(swapped(c, bars.x, bars.y))
    with pytest.raises(r4.ArgumentError, match="a scorer is 'best'"):
        r4.scorer("best")
    with pytest.raises(r4.ArgumentError, match=r"for r4\.Classifier"):
        swapped(object(), both, bars.y)


def told(c: r4.Classifier, bars: Bars) -> int:
    with warnings.catch_warnings(record=True) as all_:
        warnings.simplefilter("always")
        assert c.score(bars.x, bars.y) == c.score(bars.x, bars.y) == np.mean(c.predict(bars.x) == bars.y)
    return sum(issubclass(w.category, r4.ShortcutWarning) for w in all_)


def test_score_says_what_it_does_not_measure(bars: Bars) -> None:
    c = shortcut(bars)
    assert told(c, bars) == 1
    assert told(c.fit(r4.Masked(bars.x, bars.m, "irrelevant"), bars.y), bars) == 1
    assert told(c.fit(bars.x, bars.y), bars) == 0


def test_a_search_that_is_not_fooled(bars: Bars) -> None:
    """By accuracy on folds that carry the shortcut both are perfect; by what is left after the exchange one is."""
    selection = pytest.importorskip("sklearn.model_selection")
    base = r4.Classifier(NET, "erm", epochs=60, batch=30, rate=0.01)
    both = r4.Masked(bars.x, bars.m, "irrelevant")
    search = selection.GridSearchCV(base, {"method": ["erm", "cert-r4"]}, cv=2, scoring=r4.scorer("swapped"))
    search.fit(both, bars.y)
    assert search.best_params_ == {"method": "cert-r4"}
    erm, cert = search.cv_results_["mean_test_score"]
    assert erm < 0.6 < 0.8 < cert
    every = {name: r4.scorer(name) for name in ("swapped", "worst", "average")}
    more = selection.cross_validate(base, both, bars.y, cv=2, scoring=every)
    assert more["test_swapped"].mean() < more["test_worst"].mean()


def test_a_pipeline(bars: Bars) -> None:
    pytest.importorskip("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    flat, m = bars.x.reshape(120, -1), bars.m.reshape(120, -1)
    pipe = make_pipeline(StandardScaler(), r4.Classifier(NET, "r3", epochs=20, batch=30, rate=0.01))
    pipe.fit(flat, bars.y, classifier__masks=m, classifier__mask_means="irrelevant")
    assert 0 <= r4.scorer("swapped")(pipe, r4.Masked(flat, m), bars.y) <= 1


def test_metadata_routing(bars: Bars) -> None:
    """Masks as metadata of fit and of the scorer, where scikit-learn knows of it."""
    sklearn = pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV

    if "enable_metadata_routing" not in sklearn.get_config():
        pytest.skip("this scikit-learn has no metadata routing")
    with sklearn.config_context(enable_metadata_routing=True):
        base = r4.Classifier(NET, epochs=20, batch=30).set_fit_request(masks=True, mask_means=True)
        scorer = r4.scorer("swapped").set_score_request(masks=True)
        search = GridSearchCV(base, {"rate": [0.01]}, cv=2, scoring=scorer, error_score="raise")
        search.fit(bars.x, bars.y, masks=bars.m, mask_means="irrelevant")
    assert np.isfinite(search.best_score_)
