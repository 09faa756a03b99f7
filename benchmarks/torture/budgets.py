"""Time limits on tables of all sizes: a fit may take 1 second and 5 % more than it was given."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.measuring import make_classifier
from rfsc import StopAfter

# rows, features, classes, seconds, settings
SMALL: list[tuple[int, int, int, float, dict[str, Any]]] = [
    (150, 4, 3, 0.5, {}),
    (2_000, 10, 2, 3.0, {}),
    (2_000, 10, 2, 3.0, {"basis": "hinge"}),
    (20_000, 20, 5, 6.0, {}),
    (300, 5_000, 2, 5.0, {}),
    (300, 5_000, 2, 5.0, {"initial_rip": "screened"}),
]
LARGE: list[tuple[int, int, int, float, dict[str, Any]]] = [
    (100_000, 20, 2, 10.0, {"max_samples": None, "n_jobs": 2}),
    (1_000_000, 30, 2, 20.0, {"max_samples": None, "n_jobs": 2}),
    (1_000_000, 30, 2, 20.0, {"max_samples": None, "basis": "polynomial", "initial_rip": "uniform"}),
    (1_000_000, 30, 2, 20.0, {"n_restarts": 1000}),
    (1_000_000, 10, 3, 15.0, {"basis": "hinge", "n_jobs": 2}),
]


def table_of(n_rows: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    """A table with an interaction in it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    value = X[:, 0] - X[:, 1] * X[:, 2] + rng.normal(size=n_rows)
    return X, np.digitize(value, np.quantile(value, np.linspace(0, 1, n_classes + 1)[1:-1]))


def time_limits(*, large: bool = True) -> list[tuple[str, int, int, int]]:
    """Rows (name, fits, lost, wrong); lost are fits without a model, wrong those that took too long."""
    cases = SMALL + (LARGE if large else [])
    lost = wrong = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_classifier(n_restarts=1, max_iter=3, random_state=0).fit(*table_of(200, 3, 2))  # compiles the kernels
        for n_rows, n_features, n_classes, seconds, settings in cases:
            X, y = table_of(n_rows, n_features, n_classes)
            began = time.perf_counter()
            clf = make_classifier(random_state=0, callbacks=StopAfter(seconds), **settings).fit(X, y)
            took = time.perf_counter() - began
            lost += not all(model.terms for model in clf.models_)
            wrong += took > 1.05 * seconds + 1.0
            print(f"time limit, {n_rows} x {n_features}, {settings}: {took:.2f} s of {seconds:g}, {clf.stop_reason_}")
    return [("time limits kept within 1 s and 5 %", len(cases), lost, wrong)]
