"""Today's classifiers: they fit without a warning, take a seed, and their size is counted correctly."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from paper.comparators.discriminant import SequentialLDA
from paper.comparators.modern import (
    CalibratedSearch,
    FastCanTerms,
    Figs,
    model_size,
    modern_classifiers,
    terms_per_output,
    with_seed,
)

needs_fastcan = pytest.mark.skipif(find_spec("fastcan") is None, reason="fastcan is not installed")


@pytest.fixture(autouse=True)
def one_thread():
    """Small fits on a busy machine: threads would mostly wait for each other."""
    with threadpool_limits(1):
        yield


def product(rng, n=160):
    """Four features; the class is the sign of the product of the second and the fourth."""
    X = rng.uniform(-1.0, 1.0, size=(n, 4))
    return X, np.where(X[:, 1] * X[:, 3] > 0, "same", "unlike")


def quick(name, seed=0):
    """The classifier with fewer trees and a smaller grid."""
    model = with_seed(modern_classifiers()[name], seed)
    if isinstance(model, GridSearchCV):
        model.set_params(param_grid={key: values[:3] for key, values in model.param_grid.items()})
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=20)
    if name == "EBM":
        model.set_params(outer_bags=2, max_rounds=500)
    return model


def test_classifiers_are_those_of_the_tables():
    names = ["L1 logistic, degree 2", "RBF SVM", "random forest", "gradient boosting"]
    names += ["EBM"] if find_spec("interpret") else []
    names += ["fastcan, degree 2"] if find_spec("fastcan") else []
    assert list(modern_classifiers()) == names
    assert modern_classifiers()["RBF SVM"] is not modern_classifiers()["RBF SVM"]


@pytest.mark.filterwarnings("ignore:For multiclass we cannot currently visualize pairs")
@pytest.mark.parametrize("name", modern_classifiers())
def test_classifier_learns_two_and_three_classes(name):
    X, y = product(np.random.default_rng(0))
    model = quick(name).fit(X, y)
    assert set(model.predict(X)) == {"same", "unlike"}
    assert model.score(X, y) > 0.9
    X, y = load_iris(return_X_y=True)
    assert quick(name).fit(X, y).score(X, y) > 0.93


@pytest.mark.parametrize("name", modern_classifiers())
def test_seed_reaches_every_part_of_a_copy(name):
    model = modern_classifiers()[name]
    seeded = with_seed(model, 5)
    asked = {key: value for key, value in seeded.get_params().items() if key.endswith("random_state")}
    assert asked
    assert set(asked.values()) == {5}
    assert seeded is not model
    assert 5 not in [value for key, value in model.get_params().items() if key.endswith("random_state")]


@pytest.mark.parametrize("name", modern_classifiers())
def test_same_seed_same_answer_and_no_global_generator(name):
    X, y = product(np.random.default_rng(1), 80)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = quick(name, 3).fit(X, y), quick(name, 3).fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


@pytest.mark.skipif(find_spec("imodels") is None, reason="imodels is not installed")
def test_figs_is_the_same_for_every_state_of_the_global_generator():
    rng = np.random.default_rng(0)
    one = rng.normal(size=(80, 1)).round(1)
    X, y = np.hstack([one] * 12), (one[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(int)  # every split is a tie
    chosen = []
    for state in range(6):
        np.random.seed(state)  # noqa: NPY002
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        model = Figs(3, random_state=1).fit(X, y)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
        chosen.append([tree.feature for tree in model.model_.trees_])
    assert chosen == chosen[:1] * 6
    others = {tuple(tree.feature for tree in Figs(3, random_state=s).fit(X, y).model_.trees_) for s in range(6)}
    assert len(others) > 1


def test_size_of_l1_is_the_union_over_the_outputs():
    X, y = load_iris(return_X_y=True)
    model = modern_classifiers()["L1 logistic, degree 2"].fit(X, y)
    names = model[1].get_feature_names_out([f"f{j}" for j in range(4)])
    used = {names[t] for output in model[-1].estimators_ for t in np.flatnonzero(output.coef_)}
    features = {j for j in range(4) if any(f"f{j}" in name for name in used)}
    assert model_size(model) == (len(features), len(used))
    by_output = [np.count_nonzero(output.coef_) for output in model[-1].estimators_]
    assert terms_per_output(model) == pytest.approx(np.mean(by_output))
    assert terms_per_output(model) < len(used)  # not every output needs every term


def test_size_of_l1_on_two_classes():
    X, y = product(np.random.default_rng(0))
    model = modern_classifiers()["L1 logistic, degree 2"].fit(X, y)
    assert model_size(model)[1] == np.count_nonzero(model[-1].estimators_[0].coef_)


@needs_fastcan
def test_size_of_fastcan_is_what_it_selected():
    X, y = product(np.random.default_rng(0))
    X = X[:, [1, 3]]  # five terms: no more than that can be chosen, whatever the number requested
    model = quick("fastcan, degree 2").fit(X, y)
    assert model_size(model) == (2.0, 5.0)
    assert terms_per_output(model) == 5.0
    model = clone(modern_classifiers()["fastcan, degree 2"].estimator).set_params(fastcanterms__n_terms=1).fit(X, y)
    assert model_size(model)[1] == 1.0


@needs_fastcan
def test_fastcan_does_not_see_an_order_of_the_classes(rng):
    X = rng.normal(size=(150, 6))
    code = rng.integers(0, 3, 150)
    X[:, 2] += 2.0 * (code == 1)  # of no use to a target 0, 1, 2
    for labels in (code, np.array(["b", "c", "a"])[code]):
        assert FastCanTerms(1).fit(X, labels).support_.tolist() == [False, False, True, False, False, False]


@pytest.mark.parametrize("name", ["RBF SVM", "random forest", "gradient boosting"])
def test_size_of_the_others_is_all_features(name):
    X, y = product(np.random.default_rng(0), 60)
    fitted = quick(name).fit(X, y)
    n_features, n_terms = model_size(fitted)
    assert n_features == 4.0
    assert np.isnan(n_terms)
    assert np.isnan(terms_per_output(fitted))


def test_size_of_comparators_and_of_support_vectors_in_pipelines():
    X, y = product(np.random.default_rng(0), 60)
    chosen = make_pipeline(StandardScaler(), SequentialLDA()).fit(X, y)
    assert model_size(chosen)[0] == chosen[-1].support_.sum()
    assert model_size(make_pipeline(StandardScaler(), SVC()).fit(X, y))[0] == 4.0


# ---- probabilities for a tuned classifier that has none


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
