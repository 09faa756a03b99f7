"""The transformers: which features stay, under which names, in frames and pipelines."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from rfsc import DistanceCorrelationFilter, RFSCSelector
from rfsc._fit.distance_correlation import independence_test, threshold
from tests.making import make

NAMES = ["linear", "circle", "noise_a", "noise_b", "flat"]


def planted(seed, n=300):
    """The class depends on the first feature linearly, on the second through its absolute value alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 4] = 3.0
    y = np.where(X[:, 0] + 2.5 * (np.abs(X[:, 1]) - 0.8) + 0.3 * rng.normal(size=n) > 0, "in", "out")
    return X, y


def three_classes(n=150):
    """The sign of a product of two features, or a third class where another feature is large."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(n, 4))
    return X, np.where(X[:, 2] > 0.5, 2, X[:, 0] * X[:, 1] > 0)


def make_selector(**options):
    search = make(basis="polynomial", n_restarts=1, n_models=40, max_iter=30, random_state=0)
    return RFSCSelector(search, **options)


@pytest.mark.parametrize("seed", range(5))
def test_filter_keeps_dependent_features_however_they_depend(seed):
    X, y = planted(seed)
    selector = DistanceCorrelationFilter(significance=0.01).fit(X, y)
    np.testing.assert_array_equal(selector.get_support(), [True, True, False, False, False])
    np.testing.assert_array_equal(selector.transform(X), X[:, :2])
    assert selector.pvalues_[4] == 1.0
    assert selector.scores_[4] == 0.0


def test_filter_sees_what_a_correlation_does_not():
    x = np.linspace(-1.0, 1.0, 201)
    y = np.sign(np.abs(x) - 0.5)
    assert abs(np.corrcoef(x, y)[0, 1]) < 1e-12
    assert DistanceCorrelationFilter().fit(x[:, None], y).get_support().all()


def test_filter_publishes_the_test_and_its_level_moves_the_choice():
    X, y = three_classes()
    strict, loose = DistanceCorrelationFilter(1e-6).fit(X, y), DistanceCorrelationFilter(0.9).fit(X, y)
    test = independence_test(X, y, np.ones(len(y)))
    np.testing.assert_allclose(strict.statistics_, test.statistic)
    np.testing.assert_allclose(strict.scores_, test.correlation)
    assert strict.threshold_ == threshold(1e-6)
    for selector in (strict, loose):
        np.testing.assert_array_equal(selector.get_support(), selector.pvalues_ < selector.significance)
    assert strict.get_support().sum() < loose.get_support().sum()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_filter_names_come_from_the_frame(frame):
    X, y = planted(0)
    table = frame(dict(zip(NAMES, X.T, strict=True)))
    selector = DistanceCorrelationFilter(significance=0.01).fit(table, y)
    assert selector.feature_names_in_.tolist() == NAMES
    assert selector.get_feature_names_out().tolist() == ["linear", "circle"]
    np.testing.assert_array_equal(selector.transform(table), X[:, :2])


def test_filter_returns_frames_when_asked():
    X, y = planted(0)
    table = pd.DataFrame(X, columns=NAMES, index=np.arange(len(X)) + 100)
    selector = DistanceCorrelationFilter(significance=0.01).set_output(transform="pandas")
    pd.testing.assert_frame_equal(selector.fit_transform(table, y), table[["linear", "circle"]])


def test_filter_in_a_pipeline_with_weights():
    X, y = planted(1)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    pipeline = make_pipeline(DistanceCorrelationFilter(0.01), LogisticRegression())
    weights = {"distancecorrelationfilter__sample_weight": weight, "logisticregression__sample_weight": weight}
    pipeline.fit(X, y, **weights)
    repeated = DistanceCorrelationFilter(0.01).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(pipeline[0].statistics_, repeated.statistics_)
    assert pipeline[1].n_features_in_ == 2
    assert pipeline.score(X, y) > 0.6


def test_filter_survives_pickling():
    X, y = planted(0)
    selector = DistanceCorrelationFilter().fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))


def test_selector_features_are_the_columns_of_x_that_some_model_uses():
    X, y = three_classes()
    table = pd.DataFrame(X, columns=list("abcd"))
    selector = make_selector().fit(table, y)
    used = sorted({p for model in selector.estimator_.models_ for p in model.features})
    assert {0, 1, 2} <= set(used)
    np.testing.assert_array_equal(selector.transform(table), X[:, used])
    assert selector.get_support(indices=True).tolist() == used
    assert selector.get_feature_names_out().tolist() == [list("abcd")[p] for p in used]
    back = np.zeros_like(X)
    back[:, used] = X[:, used]
    np.testing.assert_array_equal(selector.inverse_transform(X[:, used]), back)


def test_selector_terms_are_products_of_scaled_features():
    X, y = three_classes()
    table = pd.DataFrame(X, columns=list("abcd"))
    selector = make_selector(output="terms").fit(table, y)
    scaled = dict(zip("abcd", ((X - X.min(axis=0)) / np.ptp(X, axis=0)).T, strict=True))
    names = selector.get_feature_names_out().tolist()
    columns = selector.transform(table)
    assert columns.shape == (len(X), len(names))
    for name, column in zip(names, columns.T, strict=True):
        expression = name.replace("^", "**")  # such as a*b or a**2
        np.testing.assert_allclose(column, eval(expression, {}, scaled), rtol=1e-12, atol=1e-15)
    chosen = {name for model in selector.estimator_.models_ for name in model.names}
    assert set(names) == chosen - {"1"}
    assert len(names) == len(set(names))
    assert "a*b" in names


def test_selector_terms_have_no_inverse():
    X, y = three_classes()
    selector = make_selector(output="terms").fit(X, y)
    with pytest.raises(ValueError, match="inverse_transform needs output='features'"):
        selector.inverse_transform(selector.transform(X))


@pytest.mark.parametrize("output", ["features", "terms"])
@pytest.mark.parametrize(("container", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_selector_returns_frames_when_asked(output, container, frame):
    X, y = three_classes()
    selector = make_selector(output=output).set_output(transform=container).fit(X, y)
    out = selector.transform(X)
    assert isinstance(out, frame)
    assert list(out.columns) == selector.get_feature_names_out().tolist()
    np.testing.assert_array_equal(out.to_numpy(), make_selector(output=output).fit_transform(X, y))


@pytest.mark.parametrize("output", ["features", "terms"])
def test_selector_survives_pickling_and_leaves_its_estimator_alone(output):
    X, y = three_classes()
    selector = make_selector(output=output).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))
    assert not hasattr(selector.estimator, "models_")


def test_selector_feeds_terms_to_a_linear_model():
    X, y = three_classes()
    weight = np.ones(len(y))
    pipeline = make_pipeline(make_selector(output="terms"), LogisticRegression(C=100.0))
    pipeline.fit(X, y, rfscselector__sample_weight=weight)
    linear = LogisticRegression(C=100.0).fit(X, y)
    assert pipeline.score(X, y) > linear.score(X, y) + 0.1


def test_selector_refuses_other_estimators():
    X, y = three_classes()
    with pytest.raises(ValueError, match="'estimator' parameter of RFSCSelector must be an instance of"):
        RFSCSelector(LogisticRegression()).fit(X, y)


def test_refitting_on_an_array_forgets_old_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = RFSCSelector(make(basis="polynomial", n_restarts=1, max_iter=30, random_state=0))
    selector.fit(X, y)
    selector.fit(X.to_numpy()[:, :3], y)
    assert not hasattr(selector, "feature_names_in_")
    assert all(name in ("x0", "x1", "x2") for name in selector.get_feature_names_out())


def test_random_state_of_the_selector():
    """Restarts of an answer without folds depend on the seed, which the selector hands on."""
    X, y = load_iris(return_X_y=True)
    search = make("polynomial", n_restarts=1, max_iter=3, size=None)
    first, again = (RFSCSelector(search, random_state=4).fit(X, y) for _ in range(2))
    assert first.estimator_.random_state == 4
    assert search.random_state is None
    assert [model.names for model in first.estimator_.models_] == [model.names for model in again.estimator_.models_]
