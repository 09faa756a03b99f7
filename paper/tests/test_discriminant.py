"""Discriminant analysis on subsets against scikit-learn's, and the greedy choice against a loop over its fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from paper.comparators.discriminant import SequentialLDA, greedy, lda_rule, moments


def blobs(rng, n_classes=3, n_features=5, sizes=(40, 25, 12)):
    """Correlated normal classes of unequal sizes, at unlike levels and scales."""
    code = np.repeat(np.arange(n_classes), sizes[:n_classes])
    X = rng.normal(size=(n_classes, n_features))[code] + rng.normal(size=(code.size, n_features))
    return X @ rng.normal(size=(n_features, n_features)) * 10.0 ** rng.integers(-3, 4, n_features) + 5.0, code


def sklearn_lda(n_classes):
    """The solver that pools by class counts; the others weight the class covariances by the priors."""
    return LinearDiscriminantAnalysis(solver="svd", priors=np.full(n_classes, 1.0 / n_classes))


def decide(X, code, n_classes, subset):
    known = moments(X, code, n_classes)
    coef, intercept = lda_rule(known.scatter, known.means, subset)
    return known.standardise(X)[:, subset] @ coef + intercept


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("subset", [[0], [1, 3], [0, 1, 2, 3, 4]])
def test_rule_is_that_of_scikit_learn(rng, n_classes, subset):
    X, code = blobs(rng, n_classes)
    value = decide(X, code, n_classes, np.array(subset))
    peer = sklearn_lda(n_classes).fit(X[:, subset], code)
    np.testing.assert_array_equal(value.argmax(axis=1), peer.predict(X[:, subset]))
    # log-odds, up to the common factor that the divisor of the pooled covariance makes
    ours, theirs = value[:, 1] - value[:, 0], np.subtract(*peer.predict_log_proba(X[:, subset])[:, 1::-1].T)
    near = np.abs(theirs) < 20
    factor = np.linalg.norm(theirs[near]) / np.linalg.norm(ours[near])
    np.testing.assert_allclose(factor * ours[near], theirs[near], rtol=1e-4, atol=1e-4)


def test_rule_is_that_of_the_least_squares_solver_on_balanced_classes(rng):
    X, code = blobs(rng, sizes=(30, 30, 30))
    peer = LinearDiscriminantAnalysis(solver="lsqr", priors=np.full(3, 1 / 3)).fit(X, code)
    np.testing.assert_array_equal(decide(X, code, 3, np.ones(5, bool)).argmax(axis=1), peer.predict(X))


def test_mask_and_indices_mean_the_same(rng):
    X, code = blobs(rng)
    known = moments(X, code, 3)
    by_mask = lda_rule(known.scatter, known.means, np.array([True, False, True, False, True]))
    by_index = lda_rule(known.scatter, known.means, np.array([0, 2, 4]))
    for a, b in zip(by_mask, by_index, strict=True):
        np.testing.assert_array_equal(a, b)


def test_constant_and_repeated_features_change_nothing(rng):
    X, code = blobs(rng)
    wide = np.column_stack([X, np.full(len(X), 0.1), X[:, 0], np.zeros(len(X))])
    lean = decide(X, code, 3, np.arange(5)).argmax(axis=1)
    np.testing.assert_array_equal(decide(wide, code, 3, np.arange(8)).argmax(axis=1), lean)


def test_feature_that_is_constant_in_each_class_decides(rng):
    X, code = blobs(rng)
    X[:, 2] = code
    np.testing.assert_array_equal(decide(X, code, 3, np.arange(5)).argmax(axis=1), code)


def naive_sequential(X, y, forward):
    """Section 3.10, first rule, word by word."""

    def accuracy(features):
        if not features:
            return -1.0
        columns = X[:, sorted(features)]
        return sklearn_lda(len(set(y))).fit(columns, y).score(columns, y)

    now = set() if forward else set(range(X.shape[1]))
    best = accuracy(now)
    while True:
        moves = [now ^ {j} for j in range(X.shape[1]) if (j in now) != forward]
        scores = [accuracy(move) for move in moves]
        if not scores or max(scores) <= best:
            return sorted(now)
        best, now = max(scores), moves[int(np.argmax(scores))]


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_choice_is_the_naive_one(direction, load):
    X, y = load(return_X_y=True)
    rows = np.random.default_rng(1).permutation(len(y))[: len(y) * 9 // 10]
    model = SequentialLDA(direction).fit(X[rows], y[rows])
    chosen = naive_sequential(X[rows], y[rows], direction == "forward")
    assert np.flatnonzero(model.support_).tolist() == chosen
    peer = sklearn_lda(3).fit(X[rows][:, chosen], y[rows])
    np.testing.assert_array_equal(model.predict(X), peer.predict(X[:, chosen]))


def test_planted_features_are_found(rng):
    X = rng.normal(size=(200, 8))
    y = X[:, 2] - X[:, 5] > 0
    assert SequentialLDA().fit(X, y).support_[[2, 5]].all()
    assert SequentialLDA("backward").fit(X, y).support_[[2, 5]].all()


def test_greedy_stops_at_the_first_step_without_strict_gain():
    values = {(): -1, (0,): 3, (1,): 3, (2,): 1, (0, 1): 3, (0, 2): 3, (0, 1, 2): 9}
    score = lambda mask: values[tuple(np.flatnonzero(mask).tolist())]  # noqa: E731
    assert greedy(np.zeros(3, bool), score, adding=True).tolist() == [True, False, False]
    assert greedy(np.ones(3, bool), lambda mask: -mask.sum() if mask.any() else -9, adding=False).sum() == 1
    assert greedy(np.zeros(3, bool), lambda mask: mask.sum(), adding=True).all()


def test_scale_of_the_features_does_not_matter(rng):
    X, code = blobs(rng)
    model, other = SequentialLDA().fit(X, code), SequentialLDA().fit(1e3 * X - 7.0, code)
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_array_equal(model.predict(X), other.predict(1e3 * X - 7.0))
