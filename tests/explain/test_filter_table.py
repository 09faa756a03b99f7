"""The table of the filter agrees with the filter itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rfsc import DistanceCorrelationFilter, RFSCClassifier, SearchSettings
from rfsc.explain import filter_table

from .models import model_of


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = (X[:, 1] + X[:, 4] > 0).astype(int)
    clf = RFSCClassifier(
        basis="polynomial", n_restarts=1, search=SearchSettings(filter_significance=0.001), random_state=0
    )
    return clf.fit(X, y), X, y


def test_drops_what_the_filter_drops(fitted):
    clf, X, y = fitted
    found = filter_table(clf)
    kept = DistanceCorrelationFilter(significance=0.001).fit(X, y).get_support()
    assert set(found.dropped) == {f"x{p}" for p in np.flatnonzero(~kept)}
    assert 0 < len(found.dropped) < 6
    assert (np.diff(found.statistic) <= 0).all()
    np.testing.assert_array_equal(found.kept, found.margin > 0)
    np.testing.assert_allclose(found.margin + found.threshold, found.statistic)


def test_text_frame_and_rows(fitted):
    found = filter_table(fitted[0])
    frame = found.to_frame()
    assert frame.index.tolist() == list(found.feature)
    assert frame["kept"].tolist() == found.kept.tolist()
    assert all(name in found.text() for name in found.feature)
    assert f"{len(found.dropped)} of 6 features dropped" in found.text()
    assert found.text().count("yes") == 6 - len(found.dropped)
    assert [row["feature"] for row in found.rows()] == list(found.feature)


def test_no_filter_no_table():
    assert filter_table(model_of("step")) is None
    X, y = load_iris(return_X_y=True)
    clf = RFSCClassifier(basis="step", n_restarts=1, random_state=0).fit(X, y)
    assert filter_table(clf, label=1) is None
