"""What someone new to it meets: warnings that are seen, and messages that say what to type."""

from __future__ import annotations

import math
import os
import pickle
import re
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from conftest import NET, Bars, make_bars

import r4
from r4._say import in_python

RUN: dict[str, Any] = {"epochs": 30, "batch": 30, "rate": 0.01, "validation": 0.25}


def stamped(alike: bool, n: int = 400) -> Bars:
    """Bars whose corner is white on class 1; alike: on both classes, as in a test set where the stamp says nothing."""
    b = make_bars(n)
    x = b.x.copy()
    x[:, :2, :2] = 1 if alike else b.y[:, None, None]
    return b._replace(x=x)


@pytest.fixture(scope="module")
def user() -> r4.Classifier:
    """A model that uses the corner."""
    b = stamped(alike=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return r4.Classifier(NET, "erm", **RUN).fit(b.x, b.y, masks=b.m, mask_means="irrelevant")


# ---- The swap test where masked content is alike ----


def test_a_swap_test_that_cannot_show_it_says_so(user: r4.Classifier) -> None:
    b, v = stamped(alike=True), user.verdict_
    assert v is not None
    said = (
        rf"in validation the model lost {100 * v.lost:.1f} % of its correct predictions .* in these examples swapping "
        r'loses 0\.0 %: their masked content probably says little of the class, .* content="blank" may show more, or'
    )
    with pytest.warns(r4.ShortcutWarning, match=said) as caught:
        m = user.evaluate(b.x, b.y, masks=b.m)
    assert caught[0].filename == __file__
    row = f"swap: lost in validation; here masked content probably says little of the class  {100 * v.lost:.1f} %"
    assert row in re.sub(" {3,}", "  ", str(m))
    assert "probably says little of the class</td>" in m._repr_html_()
    assert pickle.loads(pickle.dumps(m)).table("csv") == m.table("csv")
    some = [mask if k % 4 < 2 else None for k, mask in enumerate(b.m)]  # masks on some examples of both classes
    with pytest.warns(r4.ShortcutWarning, match='content="paste" may show more, or content="blank"'):
        user.evaluate(b.x, b.y, masks=some)


@pytest.mark.parametrize("content", ["swap", "paste", "blank", None])
def test_a_swap_test_that_shows_it_does_not(user: r4.Classifier, content: str | None) -> None:
    b = stamped(alike=content != "swap")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = user.evaluate(b.x, b.y, masks=b.m, content=content)
    assert m.validation is None
    assert "in validation" not in str(m)


def test_a_model_that_does_not_use_it_is_not_doubted() -> None:
    b = stamped(alike=False)
    c = r4.Classifier(NET, **RUN).fit(b.x, b.y, masks=b.m, mask_means="irrelevant")
    assert c.verdict_ is not None
    assert c.verdict_.verdict in ("does not use", "uses a little")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        c.evaluate(stamped(alike=True).x, b.y, masks=b.m)


# ---- Masks that are not what was meant ----


def one_epoch(b: Bars, m: Any, means: Any = "irrelevant") -> r4.Classifier:
    return r4.Classifier(NET, "erm", epochs=1, validation=0.25).fit(b.x, b.y, masks=m, mask_means=means)


def test_masks_that_are_not_what_was_meant_are_warnings(bars: Bars) -> None:
    full = bars.m.copy()
    full[:3] = True
    one = bars.m & (bars.y == 1)[:, None, None]
    places = np.zeros_like(bars.m)
    places[np.arange(120), np.arange(120) % 6, np.arange(120) // 6 % 6] = True
    middle = places.copy()
    middle[:, 3, 3] = True
    cases = [
        (~places, "irrelevant", r'120 of 120 masks mark more than half .* pass mask_means="relevant"'),
        (~bars.m, "irrelevant", r'120 of 120 masks mark more than half .* pass mask_means="relevant"'),
        (bars.m, "relevant", r'120 of 120 masks mark more than half .* pass mask_means="irrelevant"$'),
        (places, "relevant", r'120 of 120 masks mark more than half .* pass mask_means="irrelevant"$'),
        (one, "irrelevant", r"only examples of class 1 .* no action is needed, as r4 pastes"),
        (full, "irrelevant", "3 masks cover the whole example, example 0 first"),
        (np.zeros_like(bars.m), "irrelevant", "all masks are zero everywhere"),
    ]
    for masks, means, sentence in cases:
        with pytest.warns(r4.DataWarning, match=f"masks: {sentence}") as caught:
            one_epoch(bars, masks, means)
        assert len([w for w in caught if w.category is r4.DataWarning]) == 1
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", r4.DataWarning)
        one_epoch(bars, bars.m)
        one_epoch(bars, middle, "relevant")


def test_zeros_of_what_is_relevant_are_not_no_mask(bars: Bars) -> None:
    masks = ~bars.m
    masks[:40] = False
    with pytest.warns(
        r4.DataWarning, match='40 masks cover .*; with mask_means="relevant" zeros make all .*: give None'
    ):
        one_epoch(bars, masks, "relevant")


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


# ---- Names ----


def test_names_that_do_not_exist(bars: Bars) -> None:
    c = r4.Classifier(NET, epochs=1).fit(bars.x, bars.y)
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (r4.Classifier, {"lr": 1}, "Classifier() has no argument 'lr': did you mean rate?"),
        (r4.Classifier, {"epoch": 1}, "Classifier() has no argument 'epoch': did you mean epochs?"),
        (r4.Classifier, {"optimizer": "sgd"}, "'optimizer': it is a setting: settings={\"optimizer\": ...}"),
        (c.fit, {"mask": 1}, "Classifier.fit() has no argument 'mask': did you mean masks?"),
        (c.evaluate, {"kapa": 1}, "did you mean kappa?"),
        (c.explain, {"n_samples": 3}, "Classifier.explain() has no argument 'n_samples': did you mean samples?"),
        (c.plot, {"number": 3}, "Classifier.plot() has no argument 'number': there are X, y, masks,"),
    ]
    for use, given, said in cases:
        with pytest.raises(TypeError, match=re.escape(said)):
            use(*([] if use is r4.Classifier else [bars.x, bars.y]), **given)
    assert c.explain(bars.x[:2], "smoothgrad", samples=2, seed=1).shape == (2, 6, 6)


def test_settings_in_the_words_of_python() -> None:
    cases = {
        "warmup: 0.5 or init: kaiming may help": 'settings={"warmup": 0.5} or settings={"init": "kaiming"} may help',
        "try more epochs, lambda: auto": 'try more epochs, lambda_="auto"',
        "method: auto uses the masks": 'method="auto" uses the masks',
        "or penalty.cap: false": 'or settings={"penalty.cap": False}',
        "may use the shortcut: it loses 3 %": "may use the shortcut: it loses 3 %",
        "epoch 3: the net predicts": "epoch 3: the net predicts",
        "if it means the reverse, say so: --mask-means": "if it means the reverse, say so: mask_means",
    }
    for said, expected in cases.items():
        assert in_python(said) == expected


def test_what_is_given_twice(bars: Bars) -> None:
    with pytest.raises(r4.ArgumentError, match=r'epochs=1 and settings=\{"epochs": 3\} say different things'):
        r4.Classifier(NET, epochs=1, settings={"epochs": 3}).fit(bars.x, bars.y)
    with pytest.raises(r4.ArgumentError, match="random_state=2 and"):
        r4.Classifier(NET, random_state=2, settings={"seed": 3, "epochs": 1}).fit(bars.x, bars.y)
    c = r4.Classifier(NET, epochs=2, settings={"epochs": 2, "method": "erm", "seed": 3}).fit(bars.x, bars.y)
    assert (c.n_iter_, c.method_, c.settings_["seed"]) == (2, "erm", 3)
    assert "annotations" not in dir(r4)
    assert "Classifier" in dir(r4)


# ---- What is shown ----


def test_a_verdict_is_a_sentence(user: r4.Classifier, bars: Bars) -> None:
    v = user.verdict_
    assert v is not None
    said = rf"the model uses the shortcut: it loses {100 * v.lost:.1f} \+- {100 * v.lost_error:.1f} % of its .* 100"
    assert re.match(said, str(v))
    assert v._repr_html_() == f"<p>{v}</p>"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = r4.Classifier(NET, **RUN).fit(bars.x, bars.y).verdict_
    assert plain is not None
    assert plain.verdict == "unknown"
    assert math.isnan(plain.lost_error)
    assert "which is unknown: there are no masks in validation" in str(plain)


def test_history_and_not_fitted(user: r4.Classifier, tmp_path: Any) -> None:
    sklearn = pytest.importorskip("sklearn.exceptions")
    with pytest.raises(sklearn.NotFittedError):
        r4.Classifier(NET).save(tmp_path / "none")
    user.save(tmp_path / "run")
    again = r4.load(tmp_path / "run")
    assert len(again.history_) == again.n_iter_ == 30
    for key, value in user.history_[-1].items():
        assert again.history_[-1][key] == pytest.approx(value, rel=1e-5), key


def test_channels_that_come_first() -> None:
    x, y = np.random.default_rng(0).random((8, 3, 12, 12), np.float32), [0, 1] * 4
    with pytest.warns(
        r4.DataWarning, match=r'images of 3 x 12 pixels with 12 channels; .* pass layout="NCHW"'
    ) as caught:
        r4.Classifier("flatten, dense 2", epochs=1).fit(x, y)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r4.Classifier("flatten, dense 2", epochs=1, layout="NCHW").fit(x, y)
        r4.Classifier("flatten, dense 2", epochs=1).fit(x.transpose(0, 2, 3, 1), y)


# ---- Sentences ----


def test_sentences(bars: Bars) -> None:
    c = r4.Classifier(NET, epochs=1).fit(bars.x, bars.y)
    with pytest.raises(r4.ArgumentError, match=r"X is one text, expected a list of texts: \['a fine film'\]"):
        c.predict("a fine film")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": ["a", "b"], "y": [0, 1]})
    with pytest.raises(r4.ArgumentError, match=re.escape('expected the column itself: df["text"], not df[["text"]]')):
        r4.Classifier().fit(table[["text"]], table.y)
    with pytest.raises(r4.Error, match=r"^the data: no training example has a mask"):
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
