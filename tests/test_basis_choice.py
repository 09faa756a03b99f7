"""`basis="auto"`: an honest choice, the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from rfsc import RFSCClassifier
from rfsc.bases import auto_mixes
from rfsc.basis_choice import N_RESTARTS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_models": 40, "max_iter": 30, "n_restarts": 2, "random_state": 0}


def blobs(n_rows, rng):
    """Six clusters of alternating class in the plane: no polynomial of low degree follows them."""
    centre = np.array([[0, 0], [2, 0], [4, 0], [0, 2], [2, 2], [4, 2]], dtype=float)
    which = rng.integers(6, size=n_rows)
    return centre[which] + rng.normal(scale=0.25, size=(n_rows, 2)), np.array([0, 1, 0, 1, 0, 1])[which]


def kinked(n_rows, rng):
    """Two features that begin to count at a knot, among six."""
    X = rng.random((n_rows, 6))
    f = np.maximum(0, X[:, 0] - 0.6) + np.maximum(0, 0.4 - X[:, 1])
    return X, (f + rng.normal(scale=0.01, size=n_rows) > 0.1).astype(int)


def test_chooses_what_fits():
    X, y = blobs(240, np.random.default_rng(0))
    round_one = RFSCClassifier(basis="auto", **QUICK).fit(X, y)
    assert min(round_one.basis_losses_, key=round_one.basis_losses_.get) == "linear + radial"
    assert round_one.score(*blobs(400, np.random.default_rng(1))) > 0.95
    X, y = kinked(240, np.random.default_rng(0))
    bent = RFSCClassifier(basis="auto", **QUICK).fit(X, y)
    assert min(bent.basis_losses_, key=bent.basis_losses_.get) == "hinge"


def test_answer_is_that_of_the_chosen_mix():
    X, y = blobs(150, np.random.default_rng(0))
    auto = RFSCClassifier(basis="auto", **QUICK).fit(X, y)
    chosen = min(auto.basis_losses_, key=auto.basis_losses_.get)
    assert auto.basis_ == auto_mixes(2)[chosen]
    alone = RFSCClassifier(basis=list(auto.basis_), **QUICK).fit(X, y)
    np.testing.assert_array_equal(auto.decision_function(X), alone.decision_function(X))
    assert alone.basis_losses_ == {}
    again = clone(auto).set_params(n_jobs=2).fit(X, y)
    assert again.basis_losses_ == auto.basis_losses_


def test_loss_is_that_of_a_cross_validation():
    """The slow twin: whole classifiers on the inner folds, scaled by the range of all rows."""
    rng = np.random.default_rng(3)
    X, y = rng.random((90, 2)), np.arange(90) % 3
    X[:, 0] += 0.4 * y
    X[0], X[1] = X.min(axis=0), X.max(axis=0)
    auto = RFSCClassifier(basis="auto", **QUICK).fit(X, y)
    assert set(auto.basis_losses_) == set(auto_mixes(2))
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    proba = np.empty((90, 3))
    for train, test in folds:
        both = np.concatenate([train, [0, 1]])  # the extreme rows, at next to no weight, fix the scaling
        weight = np.concatenate([np.ones(len(train)), [1e-12, 1e-12]])
        model = RFSCClassifier(**(QUICK | {"n_restarts": N_RESTARTS})).fit(X[both], y[both], weight)
        proba[test] = model.predict_proba(X[test])
    # other folds and seeds, so only about the same
    assert auto.basis_losses_["polynomial"] == pytest.approx(log_loss(y, proba), rel=0.25)


def test_too_few_rows_take_the_first():
    X, y = np.random.default_rng(0).random((7, 2)), np.array([0, 0, 0, 0, 0, 0, 1])
    clf = RFSCClassifier(basis="auto", **QUICK).fit(X, y)
    assert clf.basis_losses_ == {}
    assert clf.basis_ == auto_mixes(2)["polynomial"]


def test_auto_stands_alone():
    with pytest.raises(ValueError, match="cannot stand in a list"):
        RFSCClassifier(basis=["auto", "hinge"]).fit([[0.0], [1.0]], [0, 1])
