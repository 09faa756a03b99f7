"""Small models, tables with hostile names, and reports about them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from rfsc import RFSCClassifier, SearchSettings
from rfsc.bases import Polynomial
from rfsc.report import Report, default_baselines

FEW_MODELS = {"n_models": 30, "max_iter": 30}
QUICK = {"basis": "polynomial", "search": SearchSettings(**FEW_MODELS), "n_restarts": 3, "random_state": 0}
HOSTILE = (
    "<script>alert(1)</script>",
    'it\'s "quoted" & <b>bold</b>',
    "🦠 emoji é",
    "L" * 200,
    "{{7*7}}",
    "$x$ and $\\alpha$",
    "&amp;",
    "a|b`c`*d*_e_",
    "' onmouseover='alert(2)",
    "</style></svg><script>alert(3)</script>",
    "--> a + b - (c",
)
LABELS = ('<img src=x onerror="alert(4)">', '{% raw %}"no" \' & $1$')


@pytest.fixture(scope="session")
def two_classes():
    """A table whose classes overlap, and a classifier."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 4)).round(2), columns=["age", "dose", "weight", "noise"])
    signal = X["age"] - X["dose"] * X["weight"] + 0.7 * rng.logistic(size=300)
    y = pd.Series(np.where(signal > 0, "ill", "well"), name="state")
    return RFSCClassifier(**QUICK | {"search": SearchSettings(**FEW_MODELS, filter_significance=0.4)}).fit(X, y), X, y


@pytest.fixture(scope="session")
def report_two(two_classes):
    """Their report, compared with two quick methods."""
    known = default_baselines()
    quick = {name: known[name] for name in ("majority class", "logistic regression")}
    return Report.from_estimator(*two_classes, baselines=quick)


@pytest.fixture(scope="session")
def report_three():
    """A report about three classes, two of them separable."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    return Report.from_estimator(RFSCClassifier(**QUICK).fit(X, y), X, y, cv=2, baselines={})


@pytest.fixture(scope="session")
def hostile():
    """A table whose names and labels try to break out of a page, and a classifier that reads most of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, len(HOSTILE))), columns=list(HOSTILE))
    y = pd.Series(np.where(X.sum(axis=1) > 0, *LABELS), name="<i>target</i>")
    search = SearchSettings(**FEW_MODELS, filter_significance=0.5)
    clf = RFSCClassifier(**QUICK | {"basis": Polynomial(degree=1), "search": search})
    return clf.fit(X, y), X, y


@pytest.fixture(scope="session")
def report_hostile(hostile):
    """Its report."""
    return Report.from_estimator(*hostile, cv=2, baselines={}, title="<h1>{{ 6*6 }}</h1>")
