"""Folds, the pick of the best restart, and finished cells against computations done directly."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import cohen_kappa_score, confusion_matrix, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from paper.cells import Task
from paper.datasets import load
from paper.keel import N_FOLDS
from paper.methods import Method, all_methods
from paper.protocols import (
    best_restart,
    fit_task,
    has_keel_folds,
    honest_cell,
    log_loss_of,
    read_fold,
    run_task,
    size_of,
)
from paper.synthetic import draw


def in_order(X, y):
    table = np.column_stack([X, y])
    return table[np.lexsort(table.T)]


def check_partition(folds, n_classes):
    """Each fold's two parts are the whole set, and so are all test parts together."""
    whole = [in_order(np.vstack([f.X_train, f.X_test]), np.concatenate([f.y_train, f.y_test])) for f in folds]
    tests = in_order(np.vstack([f.X_test for f in folds]), np.concatenate([f.y_test for f in folds]))
    for table in whole:
        np.testing.assert_array_equal(table, tests)
    for fold in folds:
        share = np.bincount(fold.y_test, minlength=n_classes) * len(folds)
        total = np.bincount(tests[:, -1].astype(int), minlength=n_classes)
        assert (np.abs(share - total) < len(folds)).all()  # within one row of an equal part
    return tests


# ---- folds


@pytest.mark.parametrize("data", ["Iris", "WDBC", "Wine"])
def test_stratified_folds_partition_the_rows(data):
    X, y = load(data)[:2]
    tests = check_partition([read_fold(data, "stratified", 3, fold) for fold in range(N_FOLDS)], y.max() + 1)
    np.testing.assert_array_equal(tests, in_order(X, y))


def test_seed_changes_the_stratified_folds_and_nothing_else_does():
    first, again, other = (read_fold("Iris", "stratified", seed, 0) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X_test, again.X_test)
    assert not np.array_equal(first.X_test, other.X_test)


@pytest.mark.parametrize(
    ("data", "shape"), [("Bupa", (345, 6)), ("Iris", (150, 4)), ("WDBC", (569, 30)), ("Wine", (178, 13))]
)
def test_keel_folds_are_scaled_and_partition(with_data, data, shape):
    assert has_keel_folds(data)
    n_folds = 10 if data == "Iris" else 2  # every call reads all the files
    folds = [read_fold(data, "keel", 0, fold) for fold in range(n_folds)]
    for fold in folds:
        both = np.vstack([fold.X_train, fold.X_test])
        assert both.shape == shape
        assert both.min() == 0
        assert both.max() == 1
    # the ranges are those that the header names, which are wider than the data for Wine
    raw = (with_data / "keel" / data.lower() / f"{data.lower()}-10-2tst.dat").read_text().splitlines()
    low, high = np.array([re.findall(r"\[(.*),(.*)\]", line)[0] for line in raw if "[" in line], dtype=float).T
    rows = np.array([line.split(",")[:-1] for line in raw if line and not line.startswith("@")], dtype=float)
    np.testing.assert_allclose(folds[1].X_test, (rows - low) / (high - low), atol=1e-12)
    if data == "Iris":
        tests = check_partition(folds, 3)
        assert np.bincount(tests[:, -1].astype(int)).tolist() == [50, 50, 50]


def test_keel_folds_only_where_they_are(with_data, monkeypatch):
    assert not has_keel_folds("Sonar")
    monkeypatch.delenv("RFSC_DATA")
    assert not has_keel_folds("Iris")


# ---- the best restart


def linear_model(coef):
    """A model with one term for each coefficient that is not zero."""
    features = tuple(np.flatnonzero(coef).tolist())
    return SimpleNamespace(terms=features, features=features, decision=lambda X: X @ coef)


@st.composite
def restarts(draw):
    """(n_restarts, n_outputs, n_features) coefficients, and a test fold; few values, so that ties are common."""
    n_outputs, n_features = draw(st.sampled_from([1, 3])), 3
    shape = (draw(st.integers(1, 6)), n_outputs, n_features)
    coef = draw(arrays(float, shape, elements=st.sampled_from([-1.0, 0.0, 0.0, 1.0, 2.0])))
    X = draw(arrays(float, (5, n_features), elements=st.sampled_from([-1.0, 0.5, 1.0])))
    y = draw(arrays(np.int64, 5, elements=st.integers(0, max(1, n_outputs - 1))))
    return coef, X, y


@given(restarts())
def test_best_restart_by_trying_all(case):
    coef, X, y = case
    fake = SimpleNamespace(
        searches_=[[None] * len(coef) for _ in range(coef.shape[1])],
        models_=[None] * coef.shape[1],
        restart_model=lambda restart, output: linear_model(coef[restart, output]),
    )
    predicted, models = best_restart(fake, X, y)
    tried = []
    for values in coef:
        f = X @ values.T
        label = (f[:, 0] > 0).astype(int) if len(values) == 1 else f.argmax(axis=1)
        tried.append((int((label != y).sum()), int((values != 0).any(axis=0).sum())))
    assert (int((predicted != y).sum()), size_of(models)[1]) == min(tried)


def test_size_is_the_union_over_the_outputs():
    models = [linear_model(np.array(coef)) for coef in ([1.0, 0.0, 2.0], [0.0, 0.0, 3.0])]
    assert size_of(models) == (2.0, 2.0)


# ---- cells


def task_of(data, method, fold, folds="stratified", seed=0):
    return Task(data, method, folds, seed, fold, all_methods()[method].fingerprint(data, folds))


@pytest.mark.parametrize("fold", [0, 7])
def test_cell_of_knn_is_that_of_scikit_learn(fold):
    X, y = load("Iris")[:2]
    rows, held_out = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))[fold]
    peer = make_pipeline(MinMaxScaler(), KNeighborsClassifier(3)).fit(X[rows], y[rows])
    predicted = peer.predict(X[held_out])
    task = task_of("Iris", "KNN", fold)
    (cell,) = run_task(task)
    assert (cell.task, cell.protocol) == (task, "honest")
    assert cell.accuracy == pytest.approx(np.mean(predicted == y[held_out]))
    assert cell.kappa == pytest.approx(cohen_kappa_score(y[held_out], predicted))
    assert cell.confusion == confusion_matrix(y[held_out], predicted).tolist()
    assert (cell.n_features, cell.n_terms) == (4.0, None)
    assert (cell.log_loss, cell.terms_per_output) == (None, None)  # the comparators give no probabilities
    assert cell.seconds > 0


def test_keel_cells_give_the_printed_figures(with_data):
    cells = [cell for fold in range(10) for cell in run_task(task_of("Iris", "KNN", fold, "keel"))]
    assert {cell.protocol for cell in cells} == {"keel"}
    assert np.mean([cell.accuracy for cell in cells]) == pytest.approx(0.9400, abs=5e-5)
    assert np.mean([cell.kappa for cell in cells]) == pytest.approx(0.9100, abs=5e-5)


def test_paper_cell_is_the_best_of_all_restarts():
    data = "Iris"
    task = task_of(data, "RFSC, paper settings", 1)
    honest, paper = run_task(task)
    assert (honest.protocol, paper.protocol) == ("honest", "paper")
    fold = read_fold(data, "stratified", 0, 1)
    clf = all_methods()[task.method].estimator(data, "stratified", 0)
    clf.fit(fold.X_train, fold.y_train)
    assert honest.accuracy == pytest.approx(clf.score(fold.X_test, fold.y_test))
    assert honest.n_terms == len({term for model in clf.models_ for term in model.terms})
    assert honest.log_loss == pytest.approx(log_loss(fold.y_test, clf.predict_proba(fold.X_test)))
    assert honest.terms_per_output == pytest.approx(np.mean([model.size for model in clf.models_]))
    tried = []
    for restart in range(clf.n_restarts):
        models = [clf.restart_model(restart, output) for output in range(len(clf.models_))]
        f = np.column_stack([model.coef @ model.columns(fold.X_test) for model in models])
        label = (f[:, 0] > 0).astype(int) if len(models) == 1 else f.argmax(axis=1)
        tried.append((np.mean(label == fold.y_test), -len({term for model in models for term in model.terms})))
    assert (paper.accuracy, -paper.n_terms) == pytest.approx(max(tried))
    assert paper.accuracy >= max(accuracy for accuracy, _ in tried)


@pytest.mark.parametrize("data", ["linear", "three classes"])
def test_cell_of_a_synthetic_draw(data):
    method = Method(name="forest", make=lambda _: ExtraTreesClassifier(30), kind="today")
    task = Task(data, "forest", "synthetic", 2, 0, "f")
    fold, fitted, seconds = fit_task(task, method)
    for rows, expected in zip(fold, draw(data, 2), strict=True):
        np.testing.assert_array_equal(rows, expected)
    cell = honest_cell(task, fold, fitted, seconds)
    again = ExtraTreesClassifier(30, random_state=2).fit(fold.X_train, fold.y_train)
    assert (cell.protocol, cell.terms_per_output) == ("honest", None)
    assert cell.accuracy == pytest.approx(again.score(fold.X_test, fold.y_test))
    # scikit-learn clips at another number, so ours is clipped first
    probability = np.clip(again.predict_proba(fold.X_test), 1e-15, 1)
    assert cell.log_loss == pytest.approx(-np.mean(np.log(probability[np.arange(3000), fold.y_test])))


@given(arrays(float, (6, 3), elements=st.floats(0.01, 1)), arrays(np.int64, 6, elements=st.integers(0, 2)))
def test_log_loss_is_that_of_scikit_learn(weight, y):
    probability = weight / weight.sum(axis=1, keepdims=True)
    assert log_loss_of(probability, y) == pytest.approx(log_loss(y, probability, labels=[0, 1, 2]))


def test_log_loss_of_a_sure_answer():
    sure = np.array([[1.0, 0.0]])
    assert log_loss_of(sure, np.array([0])) == 0
    assert log_loss_of(sure, np.array([1])) == pytest.approx(-np.log(1e-15))
