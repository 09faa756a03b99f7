"""A tuned classifier with probabilities: its predictions stay, its probabilities are scikit-learn's calibration."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from paper.comparators.calibrated import CalibratedSearch
from paper.comparators.modern import model_size, terms_per_output


@pytest.fixture(autouse=True)
def one_thread():
    """Small fits on a busy machine: threads would mostly wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def search():
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.01, 1.0]}, cv=3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_of_the_search_and_probabilities_of_its_winner(search, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes, 1:], y[y < n_classes]
    train = np.arange(len(y)) % 3 > 0
    fitted = CalibratedSearch(search).fit(X[train], y[train])
    alone = search.fit(X[train], y[train])
    np.testing.assert_array_equal(fitted.predict(X[~train]), alone.predict(X[~train]))
    winner = make_pipeline(StandardScaler(), SVC(C=alone.best_params_["svc__C"]))
    expected = CalibratedClassifierCV(winner, method="sigmoid", cv=5).fit(X[train], y[train]).predict_proba(X[~train])
    np.testing.assert_allclose(fitted.predict_proba(X[~train]), expected)
    assert log_loss(y[~train], expected) < 0.5 * np.log(n_classes)


def test_labels_and_size(search):
    X, y = load_iris(return_X_y=True)
    names = np.array(["b", "c", "a"])[y]
    fitted = CalibratedSearch(search).fit(X, names)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    assert fitted.score(X, names) > 0.9
    n_features, n_terms = model_size(fitted)
    assert n_features == 4
    assert np.isnan([n_terms, terms_per_output(fitted)]).all()
    assert not hasattr(search, "best_estimator_")  # what was passed in stays as it was


def test_accuracy_stays_where_the_two_disagree(search, rng):
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0.3).astype(int)
    rows = rng.normal(size=(400, 3))
    fitted = CalibratedSearch(search).fit(X, y)
    by_probability = fitted.classes_[fitted.predict_proba(rows).argmax(axis=1)]
    assert (by_probability != fitted.predict(rows)).any()
    np.testing.assert_array_equal(fitted.predict(rows), search.fit(X, y).predict(rows))
