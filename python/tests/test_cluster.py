"""Searches on clusters of others: what travels is small, and the figures are those of one process."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from conftest import NET, Bars, make_bars

import r4

WEIGHTS = 4 * (36 * 8 + 8 + 8 * 2 + 2)  # bytes, of NET on 6 x 6 pixels


def fitted(b: Bars) -> r4.Classifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", r4.VerdictWarning)
        return r4.Classifier(NET, "r3", epochs=3).fit(b.x, b.y, masks=b.m, mask_means="irrelevant")


def test_estimators_pickle_small() -> None:
    """Parameters before fit; weights and a few kB about the run after it; never examples."""
    assert len(pickle.dumps(r4.Classifier(NET, "r3", epochs=3))) < 500
    few, many = make_bars(120), make_bars(1200)
    sizes = []
    for b in (few, many):
        c = fitted(b)
        c.evaluate(b.x, b.y, masks=b.m)
        c.predict_proba(b.x)
        kept = pickle.dumps(c)
        assert b.x[0].tobytes() not in kept
        assert b.m[0].tobytes() not in kept
        assert (pickle.loads(kept).predict_proba(b.x) == c.predict_proba(b.x)).all()
        sizes.append(len(kept))
    assert WEIGHTS < min(sizes) <= max(sizes) < WEIGHTS + 5000
    assert abs(sizes[1] - sizes[0]) < 500  # of 155 kB more examples


def search(b: Bars) -> Any:
    """One thread for each fit, as the figures depend on the number."""
    from sklearn.model_selection import GridSearchCV

    base = r4.Classifier(NET, "r3", epochs=20, batch=15, rate=0.01, settings={"threads": 1})
    grid = {"lambda_": [0.01, 1.0], "method": ["erm", "r3"]}
    x = r4.Masked(b.x, b.m, mask_means="irrelevant")
    return GridSearchCV(base, grid, scoring=r4.scorer("worst"), cv=2, n_jobs=2, error_score="raise", refit=False).fit(
        x, b.y
    )


def same_as_here(b: Bars, other: Any) -> None:
    here = search(b)
    for split in range(2):
        key = f"split{split}_test_score"
        assert np.array_equal(here.cv_results_[key], other.cv_results_[key])
    assert here.best_params_ == other.best_params_


@contextmanager
def dask_here() -> Iterator[None]:
    """Two processes, which nobody outside of this machine can reach."""
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install dask distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, protocol="tcp"
    )
    with cluster, distributed.Client(cluster):
        yield


def test_a_search_on_dask(bars: Bars) -> None:
    joblib = pytest.importorskip("joblib")
    pytest.importorskip("sklearn")
    with dask_here(), joblib.parallel_config(backend="dask"):
        other = search(bars)
    same_as_here(bars, other)


def test_a_search_on_ray(bars: Bars) -> None:
    joblib = pytest.importorskip("joblib")
    pytest.importorskip("sklearn")
    ray = pytest.importorskip("ray", reason="needs Ray: pip install ray")
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    try:
        with joblib.parallel_config(backend="ray"):
            other = search(bars)
    finally:
        ray.shutdown()
    same_as_here(bars, other)
