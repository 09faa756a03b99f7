"""Copies of everything that a user may hold are as good as the original."""

from __future__ import annotations

import copy
import pickle

import cloudpickle
import numpy as np
import pytest
from sklearn.datasets import load_iris

from rfsc.export import from_json, to_json
from rfsc.export.compare import compared_text
from rfsc.report import Report
from tests.making import make

WAYS = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "cloudpickle": lambda thing: cloudpickle.loads(cloudpickle.dumps(thing)),
    "deepcopy": copy.deepcopy,
}
BASIS = ["polynomial", "hinge", "step", "fourier", "radial", "sigmoid"]
X, Y = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(params=WAYS, name="again")
def copying(request):
    """One way to copy."""
    return WAYS[request.param]


@pytest.fixture(scope="module")
def fitted():
    """A classifier whose models hold terms of several families."""
    return make(basis=BASIS, n_restarts=2, max_iter=15, random_state=0).fit(X, Y)


def test_unfitted(again):
    clf = make(basis="polynomial", n_restarts=1, max_iter=20, criterion="kappa", random_state=0)
    other = again(clf)
    assert other.get_params() == clf.get_params()
    assert compared_text(other.fit(X, Y)) == compared_text(clf.fit(X, Y))


def test_unfitted_with_a_generator(again):
    """A copy goes on from where the original stood."""
    clf = make(basis="polynomial", n_restarts=1, max_iter=20, random_state=np.random.default_rng(3))
    other = again(clf)
    assert compared_text(other.fit(X, Y)) == compared_text(clf.fit(X, Y))


def test_fitted(again, fitted):
    other = again(fitted)
    assert to_json(other) == to_json(fitted)
    np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
    assert other.term_names([0, 1, 2]) == fitted.term_names([0, 1, 2])
    assert other.restart_model(1).names == fitted.restart_model(1).names
    assert compared_text(other.fit(X, Y)) == compared_text(fitted)


def test_predictor(again, fitted):
    predictor = from_json(to_json(fitted))
    other = again(predictor)
    assert to_json(other) == to_json(predictor)
    np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))


def test_model(again, fitted):
    model = fitted.models_[1]
    other = again(model)
    assert other.names == model.names
    np.testing.assert_array_equal(other.decision(X.to_numpy()), model.decision(X.to_numpy()))
    np.testing.assert_array_equal(other.p_value, model.p_value)


@pytest.fixture(scope="module")
def report():
    """A report with pictures."""
    clf = make(basis="polynomial", n_restarts=1, max_iter=20, random_state=0).fit(X, Y)
    return Report.from_estimator(clf, X, Y, cv=2, baselines={})


@pytest.mark.slow
def test_report(again, report):
    other = again(report)
    assert other.html() == report.html()
    assert other.content == report.content
