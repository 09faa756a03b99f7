"""The matching vote and the ants against versions written word by word from the description."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

from paper.comparators.ants import ACOPMC, TOLERANCES, Colony, matches, matching_vote

SMALL = ACOPMC(n_ants=4, n_iterations=4, random_state=0)


def naive_vote(query, X, code, n_classes, tolerance, skip=None):
    """Section 3.9 for one row: most matches, majority, then mean matches per class, then the first class."""
    others = [i for i in range(len(X)) if i != skip]
    count = {i: sum(abs(a - b) <= tolerance for a, b in zip(query, X[i], strict=True)) for i in others}
    best = [i for i in others if count[i] == max(count.values())]
    votes = [sum(code[i] == c for i in best) for c in range(n_classes)]
    mean = []
    for c in range(n_classes):
        own = [count[i] for i in others if code[i] == c]
        mean.append(sum(own) / len(own) if own else 0.0)
    return max((c for c in range(n_classes) if votes[c] == max(votes)), key=lambda c: (mean[c], -c))


def grid_data(rng, n=40, n_features=4):
    """Few values, so that matches and votes tie."""
    return rng.integers(0, 6, (n, n_features)) / 8.0, np.append(rng.integers(0, 3, n - 1), 3)


@pytest.mark.parametrize("tolerance", [0.0, 0.125, 0.3, 5.0])
def test_vote_is_the_naive_one(rng, tolerance):
    X, code = grid_data(rng)
    query = rng.integers(0, 6, (25, 4)) / 8.0
    count = matches(query, X, tolerance).sum(axis=0, dtype=np.uint16)
    expected = [naive_vote(q, X, code, 4, tolerance) for q in query]
    np.testing.assert_array_equal(matching_vote(count, code, 4), expected)
    count = matches(X, X, tolerance).sum(axis=0, dtype=np.uint16)
    expected = [naive_vote(X[i], X, code, 4, tolerance, skip=i) for i in range(len(X))]
    np.testing.assert_array_equal(matching_vote(count, code, 4, leave_one_out=True), expected)


def naive_hits(X, code, features, tolerance):
    rows = X[:, sorted(features)]
    label = [naive_vote(rows[i], rows, code, 4, tolerance, skip=i) for i in range(len(rows))]
    return int(np.sum(label == code))


def test_ant_adds_features_while_its_hits_rise(rng):
    X, code = grid_data(rng)
    for seed in range(10):
        hits, chosen = Colony(X, code, 0.125).walk(np.ones(4), np.random.default_rng(seed))
        order = np.argsort(np.random.default_rng(seed).exponential(size=4)).tolist()
        path = [naive_hits(X, code, order[: k + 1], 0.125) for k in range(4)]
        steps = next((k for k in range(1, 4) if path[k] <= path[k - 1]), 4)
        assert (hits, chosen) == (path[steps - 1], frozenset(order[:steps]))


def test_ant_draws_in_proportion_to_the_pheromone():
    rng = np.random.default_rng(0)
    colony = Colony(np.zeros((4, 3)), np.array([0, 0, 1, 1]), 0.1)  # nothing ever rises: the first draw is the walk
    first = [next(iter(colony.walk(np.array([0.1, 0.3, 0.6]), rng)[1])) for _ in range(3000)]
    np.testing.assert_allclose(np.bincount(first, minlength=3) / 3000, [0.1, 0.3, 0.6], atol=0.03)


def test_search_keeps_the_best_set_that_any_ant_found(rng):
    X, code = grid_data(rng)
    colony = Colony(X, code, 0.125)
    hits, support = colony.search(5, 6, 0.1, np.random.default_rng(3))
    assert hits == naive_hits(X, code, np.flatnonzero(support), 0.125)
    assert hits == max(colony._seen.values())
    # a remembered score is that of a new evaluation
    for chosen, remembered in colony._seen.items():
        assert remembered == naive_hits(X, code, chosen, 0.125)


def test_tolerance_is_the_one_with_the_most_hits():
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X)
    model = clone(SMALL).fit(X, y)
    assert model.tolerance_ in TOLERANCES
    assert clone(SMALL).set_params(tolerance=0.3).fit(X, y).tolerance_ == 0.3
    columns = X[:, model.support_]
    labels = [naive_vote(row, columns, y, 3, model.tolerance_) for row in columns]
    np.testing.assert_array_equal(model.predict(X), labels)


def test_planted_features_are_found(rng):
    X = rng.random((150, 8))
    y = np.where(X[:, 3] > 0.5, np.where(X[:, 6] > 0.5, "a", "b"), "c")
    support = ACOPMC(n_ants=15, n_iterations=20, random_state=0).fit(X, y).support_
    assert support[[3, 6]].all()
    assert support.sum() <= 3


def test_same_seed_same_choice_and_no_global_generator(rng):
    X, y = rng.random((60, 6)), rng.integers(0, 2, 60)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (clone(SMALL).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.testing.assert_array_equal(first.support_, second.support_)
    assert first.tolerance_ == second.tolerance_
    assert first.support_.any()
    for seed in (None, np.random.RandomState(1)):
        assert clone(SMALL).set_params(random_state=seed).fit(X, y).support_.any()
