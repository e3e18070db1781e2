"""What is said where something of other libraries, or of another shape, is given: the sentence must work as advice."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import NET, Bars

import r4

RUN: dict[str, Any] = {"epochs": 5, "batch": 30, "rate": 0.01}


@pytest.fixture(scope="module")
def fitted(bars: Bars) -> r4.Classifier:
    return r4.Classifier(NET, "erm", **RUN).fit(bars.x, bars.y)


@pytest.fixture(scope="module")
def colours() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.uniform(0, 1, (40, 8, 8, 3)).astype(np.float32), np.arange(40) % 2


# ---- Names of other libraries ----


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"lambda": 1}, r"did you mean lambda_\?"),
        ({"class_weight": "balanced"}, 'it is a setting: settings={"class_weights": "balanced"}'),
        ({"data.val": 0.2}, r"did you mean validation\?"),
        ({"optimizer": "sgd"}, 'it is a setting: settings={"optimizer": ...}'),
    ],
)
def test_names_of_others(given: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        r4.Classifier(NET, **given)


def test_weights_of_examples_are_not_there(bars: Bars) -> None:
    with pytest.raises(TypeError, match=r'of their own: settings={"class_weights": "balanced"} weighs classes'):
        r4.Classifier(NET).fit(bars.x, bars.y, sample_weight=np.ones(120))
    with pytest.raises(TypeError, match=r"fit\(\) takes X, y by their places, and 3 are given: .* masks=\.\.\."):
        r4.Classifier(NET).fit(bars.x, bars.y, bars.m)


def test_weights_by_label(bars: Bars) -> None:
    names = np.array(["up", "down"])[bars.y]

    def weights(given: Any) -> Any:
        c = r4.Classifier(NET, "erm", settings={"class_weights": given}, **RUN).fit(bars.x, names)
        return c, c.settings_["class_weights"]

    by_label, listed = weights({"up": 3})[0], weights([1, 3])[0]  # classes in the order of the alphabet
    assert weights({"up": 3})[1] == [1, 3]
    assert np.array_equal(by_label.predict_proba(bars.x), listed.predict_proba(bars.x))
    assert not np.array_equal(by_label.predict_proba(bars.x), weights("none")[0].predict_proba(bars.x))
    with pytest.raises(r4.ArgumentError, match=r"class_weights has 'left', which is not one of the classes"):
        weights({"left": 2})


# ---- Examples and masks of another shape ----


def test_one_example(fitted: r4.Classifier, bars: Bars, colours: tuple[Any, Any], tmp_path: Path) -> None:
    x, y = colours
    c = r4.Classifier("flatten, dense 2", "erm", **RUN).fit(x, y)
    c.save(tmp_path)
    for model, one in ((fitted, bars.x[0]), (c, x[0]), (r4.load(tmp_path), x[0])):
        for ask in (model.predict, model.plot):
            with pytest.raises(r4.ArgumentError, match=r"that of one example: give X\[None\]"):
                ask(one)
        assert len(model.predict(one[None])) == 1


def test_columns_of_arrays_and_names_of_files(bars: Bars) -> None:
    column = np.empty(120, dtype=object)
    column[:] = list(bars.x)
    with pytest.raises(r4.ArgumentError, match=r"X is a column of arrays, expected one array: np\.stack\(X\)"):
        r4.Classifier(NET).fit(column, bars.y)
    with pytest.raises(r4.ArgumentError, match=r"names of files such as 'a/0\.PNG', and strings are texts: r4\.data"):
        r4.Classifier(NET).fit([f"a/{k}.PNG" for k in range(120)], bars.y)
    for y in ([0, "a"] * 60, np.array([0, "a"] * 60, dtype=object)):
        with pytest.raises(r4.ArgumentError, match="y has texts and other labels, expected one type"):
            r4.Classifier(NET).fit(bars.x, y)


def test_masks_with_one_channel(colours: tuple[Any, Any]) -> None:
    x, y = colours
    m = x[..., 0] > 0.9

    def hash_of(masks: Any, layout: str = "NHWC") -> str:
        images = x if layout == "NHWC" else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
        return r4.Data(images, y, masks=masks, mask_means="irrelevant", layout=layout).hash

    assert hash_of(m[..., None]) == hash_of(m)
    assert hash_of(m[:, None], "NCHW") == hash_of(m)
    for scaled in (m * 255, m * 255.0):
        with pytest.raises(r4.DomainError, match="255 seems to stand for 1: give masks > 0"):
            hash_of(scaled)
    with pytest.raises(r4.ShapeError):
        hash_of(np.stack([m, m], axis=-1))


# ---- What is known of a model ----


def test_figures_by_class_and_mask(bars: Bars) -> None:
    c = r4.Classifier(NET, "erm", **RUN).fit(bars.x, bars.y)
    masks = [mask if k % 4 < 2 else None for k, mask in enumerate(bars.m)]
    m = c.evaluate(bars.x_test, bars.y, masks=masks, mask_means="irrelevant")
    lines = m.table("csv").splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("worst group"))
    assert lines[at + 1].startswith(f"worst of class and mask,{100 * m.figures['worst_class_mask_accuracy']:.1f} %")
    assert "worst of class and mask" not in c.evaluate(bars.x, bars.y, masks=bars.m, mask_means="irrelevant").table()


def test_the_page_names_no_part_of_what_was_given(fitted: r4.Classifier, bars: Bars, tmp_path: Path) -> None:
    fitted.report(tmp_path / "page.html", bars.x_test, bars.y, masks=bars.m, mask_means="irrelevant")
    text = (tmp_path / "page.html").read_text()
    assert "120 given examples" in text
    assert "training examples" not in text
    assert "training images" not in text


def test_logarithms_and_notices(fitted: r4.Classifier, bars: Bars, tmp_path: Path) -> None:
    assert np.allclose(np.exp(fitted.predict_log_proba(bars.x)), fitted.predict_proba(bars.x))
    fitted.save(tmp_path)
    assert r4.load(tmp_path).notices_ == []


def test_images_out_of_scale_are_named(colours: tuple[Any, Any]) -> None:
    x, y = colours
    c = r4.Classifier("flatten, dense 2", "erm", **RUN)
    said = "those of images are meant to be in [0, 1]: divide them by 255"
    assert said in c.fit(x * 255, y).notices_[0]
    assert not any(said in sentence for sentence in c.fit(x, y).notices_)


# ---- scikit-learn ----


def test_masks_that_a_pipeline_loses(bars: Bars) -> None:
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    both = r4.Masked(bars.x, bars.m, "irrelevant")
    steps = [("same", preprocessing.FunctionTransformer(np.asarray)), ("classifier", r4.Classifier(NET, **RUN))]
    with pytest.warns(r4.DataWarning, match="becomes an array here, without its masks.* classifier__masks=M"):
        lost = pipeline.Pipeline(steps).fit(both, bars.y)
    assert lost[-1].method_ == "erm"
    with warnings.catch_warnings():
        warnings.simplefilter("error", r4.DataWarning)
        kept = pipeline.Pipeline(steps).fit(
            bars.x, bars.y, classifier__masks=bars.m, classifier__mask_means="irrelevant"
        )
        search = pytest.importorskip("sklearn.model_selection").GridSearchCV
        search(r4.Classifier(NET, **RUN), {"rate": [0.01]}, cv=2).fit(both, bars.y)  # folds have theirs
    assert kept[-1].method_ != "erm"


@pytest.mark.parametrize("kind", ["swapped", "worst", "average"])
def test_a_candidate_without_its_penalty_has_no_score(bars: Bars, kind: Any) -> None:
    both = r4.Masked(bars.x, bars.m, "irrelevant")
    scored = r4.scorer(kind)
    with pytest.warns(r4.VerdictWarning):
        short = r4.Classifier(NET, "r3", epochs=1, batch=120, rate=1e-6).fit(both, bars.y)
    with pytest.warns(r4.VerdictWarning, match=r"method='r3'.* took effect in none of \d+ steps, .*its score is NaN"):
        assert np.isnan(scored(short, both, bars.y))
    full = r4.Classifier(NET, "r3", epochs=20, batch=30, rate=0.01).fit(both, bars.y)
    assert scored(full, both, bars.y) > 0
