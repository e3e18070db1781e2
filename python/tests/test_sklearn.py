"""scikit-learn's conventions, as scikit-learn checks them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import NET, Bars

import r4

sklearn = pytest.importorskip("sklearn")


def test_check_estimator() -> None:
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(r4.Classifier(), on_fail=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not failed
    assert sum(r["status"] == "passed" for r in results) >= 50


def test_clone_and_parameters() -> None:
    from sklearn.base import clone, is_classifier

    c = r4.Classifier(NET, "r3", lambda_=2.0, settings={"optimizer": "sgd"})
    assert clone(c).get_params() == c.get_params()
    assert is_classifier(c)
    assert c.set_params(eps=0.2).eps == 0.2
    assert "method='r3'" in repr(c)


def test_searches_and_pipelines(bars: Bars) -> None:
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    more: dict[str, Any] = {"masks": bars.m, "mask_means": "irrelevant"}
    base = r4.Classifier(NET, "r3", epochs=3, rate=0.01)
    search = GridSearchCV(base, {"method": ["erm", "r3"], "eps": [0.1]}, cv=2).fit(bars.x, bars.y, **more)
    assert search.best_estimator_.predict(bars.x).shape == (120,)
    assert len(cross_val_score(base, bars.x, bars.y, cv=2, params=more)) == 2
    flat = bars.x.reshape(120, -1)
    pipe = make_pipeline(StandardScaler(), r4.Classifier(NET, "r3", epochs=3))
    pipe.fit(flat, bars.y, classifier__masks=bars.m.reshape(120, -1), classifier__mask_means="irrelevant")
    assert pipe.predict_proba(flat).shape == (120, 2)


def test_a_grid_on_several_jobs(bars: Bars) -> None:
    """Over lambda, in two processes: the figures of one."""
    from sklearn.model_selection import GridSearchCV

    base = r4.Classifier(NET, "r3", epochs=5, rate=0.01, settings={"threads": 1})
    more: dict[str, Any] = {"masks": bars.m, "mask_means": "irrelevant"}
    grid = {"lambda_": [0.01, 1.0, 1000.0]}
    one, two = (
        GridSearchCV(base, grid, cv=2, n_jobs=jobs, error_score="raise").fit(bars.x, bars.y, **more) for jobs in (1, 2)
    )
    assert np.array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert len(two.cv_results_["params"]) == 3
    assert np.array_equal(one.predict_proba(bars.x), two.predict_proba(bars.x))


def test_frames(bars: Bars) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(bars.x.reshape(120, -1), columns=[f"f{k}" for k in range(36)])
    labels = pandas.Series(np.array(["no", "yes"])[bars.y])
    c = r4.Classifier(NET, epochs=1).fit(frame, labels)
    assert list(c.feature_names_in_) == list(frame.columns)
    assert set(c.predict(frame)) <= {"no", "yes"}


def test_without_sklearn(bars: Bars) -> None:
    import subprocess
    import sys

    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import numpy as np, r4\n"
        "x, y = np.random.rand(30, 4), np.arange(30) % 2\n"
        "c = r4.Classifier('dense 2', epochs=1).fit(x, y)\n"
        "print(repr(c), c.get_params()['net'], 0 <= c.score(x, y) <= 1, c.set_params(rate=2).rate)\n"
        "try: r4.Classifier().predict(x)\n"
        "except ValueError as e: print('not fitted' in str(e))\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said == "Classifier(net='dense 2', epochs=1) dense 2 True 2\nTrue\n"
