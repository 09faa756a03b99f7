"""SSMA + SFLSDE against loops written from the description, and the laws of both parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import cohen_kappa_score
from sklearn.preprocessing import minmax_scale

from paper.comparators.prototypes import (
    SSMASFLSDE,
    Neighbours,
    Positioning,
    _complete,
    _Fitness,
    _golden_section,
    _hill_climbing,
    _Threshold,
    _two_others,
    drop_rows,
    position,
    select,
)


def naive_nearest(x, rows, candidates, leave_out=None):
    """Index of the nearest candidate row, the lower one of equals; None if there is none."""
    nearest, least = None, math.inf
    for j in candidates:
        square = sum((x[f] - rows[j][f]) ** 2 for f in range(len(x)))
        if j != leave_out and square < least:
            nearest, least = j, square
    return nearest


def naive_right(X, code, member):
    """Rows whose nearest selected row, themselves aside, has their class."""
    selected = [j for j in range(len(X)) if member[j]]
    right = 0
    for i, x in enumerate(X):
        nearest = naive_nearest(x, X, selected, leave_out=i)
        right += nearest is not None and code[nearest] == code[i]
    return right


def naive_drops(X, code, member, threshold, rng):
    """SSMA's local search with full evaluations; the cost counts rows whose nearest row was the dropped one."""
    member, cost = member.copy(), 0.0
    order = list(rng.permutation(np.flatnonzero(member)))
    while order and member.sum() > 1:
        j = order.pop(0)
        before = naive_right(X, code, member)
        selected = list(np.flatnonzero(member))
        cost += sum(naive_nearest(x, X, selected, leave_out=i) == j for i, x in enumerate(X)) / len(X)
        member[j] = False
        if naive_right(X, code, member) - before >= threshold:
            order = list(rng.permutation(np.flatnonzero(member))) if member.sum() > 1 else []
        else:
            member[j] = True
    return member, cost


def noisy_problem(rng, n_rows=36, decimals=1):
    """Two overlapping classes, on a grid where distances tie."""
    code = np.arange(n_rows) % 2
    return np.round(rng.random((n_rows, 2)) + 0.4 * code[:, None], decimals), code


def neighbours_of(X, code):
    distance = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    return Neighbours(distance, code)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.5, 1.0])
def test_fitness_of_a_subset_equals_that_of_the_loop(rng, share):
    X, code = noisy_problem(rng, decimals=9)
    member = rng.random(len(X)) < share
    if share == 0.02:
        member[:] = np.arange(len(X)) == 5
    fitness = neighbours_of(X, code).fitness(member)
    accuracy = naive_right(X, code, member) / len(X)
    reduction = 1.0 - member.mean() if member.any() else 0.0
    assert fitness.value == pytest.approx(50.0 * accuracy + 50.0 * reduction)


@pytest.mark.parametrize("threshold", [-2, -1, 0, 1])
def test_drops_equal_those_of_the_loop(rng, threshold):
    X, code = noisy_problem(rng, decimals=9)
    seed = int(rng.integers(1000))
    member = rng.random(len(X)) < 0.4
    expected, expected_cost = naive_drops(X, code, member, threshold, np.random.default_rng(seed))
    cost = drop_rows(neighbours_of(X, code), member, threshold, np.random.default_rng(seed))
    np.testing.assert_array_equal(member, expected)
    assert cost == pytest.approx(expected_cost)


def test_drops_never_lower_the_fitness_at_threshold_zero(rng):
    X, code = noisy_problem(rng)
    neighbours = neighbours_of(X, code)
    member = rng.random(len(X)) < 0.7
    before = neighbours.fitness(member)
    drop_rows(neighbours, member, 0, rng)
    after = neighbours.fitness(member)
    assert after.accuracy >= before.accuracy
    assert after.reduction >= before.reduction


def test_threshold_rises_without_accuracy_and_falls_without_reduction():
    rng = np.random.default_rng(0)
    threshold = _Threshold(_Fitness(0.5, 0.5))
    for step in range(1, 11):
        threshold.update(_Fitness(0.5, 0.5 + step / 100), rng)
    assert threshold.value == 1
    threshold = _Threshold(_Fitness(0.5, 0.5))
    for step in range(1, 11):
        threshold.update(_Fitness(0.5 + step / 100, 0.5), rng)
    assert threshold.value == -1
    threshold = _Threshold(_Fitness(0.5, 0.5))
    for _ in range(10):
        threshold.update(_Fitness(0.5, 0.5), rng)
    assert abs(threshold.value) == 1


def test_selection_is_small_accurate_and_has_every_class(rng):
    X, code = load_wine(return_X_y=True)
    X = minmax_scale(X)
    member = select(X, code, 600, 10, rng)
    assert set(code[member]) == {0, 1, 2}
    fitness = neighbours_of(X, code).fitness(member)
    assert fitness.reduction > 0.8
    assert fitness.accuracy > 0.9


@pytest.mark.parametrize("kept", [[], [3], [3, 4]])
def test_a_poor_selection_is_completed(rng, kept):
    code = np.repeat([0, 1, 2], [180, 15, 5])
    member = np.isin(np.arange(200), kept)
    complete = _complete(member, code, rng)
    assert set(code[complete]) == {0, 1, 2}
    assert complete.sum() == 4
    assert len(kept) < 2 or complete[kept].all()


def test_accuracy_of_prototype_sets_equals_that_of_the_loop(rng):
    X, code = noisy_problem(rng, decimals=9)
    layout = np.array([0, 0, 1])
    sets = rng.random((4, 3, 2))
    expected = [
        np.mean([layout[naive_nearest(x, Z, range(3))] == c for x, c in zip(X, code, strict=True)]) for Z in sets
    ]
    np.testing.assert_allclose(Positioning(X, code, layout).accuracy(sets), expected)


def test_random_sets_are_training_rows_of_the_right_class(rng):
    X, code = noisy_problem(rng, decimals=9)
    layout = np.array([1, 0, 1])
    for Z in Positioning(X, code, layout).random_sets(5, rng):
        for z, c in zip(Z, layout, strict=True):
            assert (X[code == c] == z).all(axis=1).any()


def test_positioning_never_lowers_accuracy_and_stays_in_range(rng):
    X, code = noisy_problem(rng, n_rows=80, decimals=9)
    selected = np.array([0, 1, 2, 3])
    problem = Positioning(X, code, code[selected])
    moved = position(X, code, selected, 10, 40, rng)
    assert problem.accuracy(moved[None])[0] > problem.accuracy(X[selected][None])[0]
    assert (moved >= X.min(axis=0)).all()
    assert (moved <= X.max(axis=0)).all()


@pytest.mark.parametrize("n", [3, 4, 9])
def test_two_others_are_different_and_all_occur(rng, n):
    seen = set()
    for _ in range(60 * n):
        for triple in zip(range(n), *_two_others(n, rng), strict=True):
            assert len(set(triple)) == 3
            seen.add(triple)
    assert len(seen) == n * (n - 1) * (n - 2)
    assert max(max(triple) for triple in seen) == n - 1


class _Slope:
    """Stands for a ray: accuracy falls off on both sides of a rate."""

    def __init__(self, top):
        self.top = top

    def accuracy(self, *rates):
        return [-abs(rate - self.top) for rate in rates]


@pytest.mark.parametrize("top", [0.13, 0.4, 0.77, 0.99])
def test_local_searches_find_the_best_rate(top):
    assert _golden_section(_Slope(top)) == pytest.approx(top, abs=0.9 * 0.62**8)
    assert _hill_climbing(_Slope(top), 0.5) == pytest.approx(top, abs=1e-3)


def test_decision_is_that_of_the_nearest_prototype(rng):
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X)
    model = SSMASFLSDE(300, 6, 8, 5, random_state=1).fit(X, y)
    new = rng.random((50, 4))
    n_prototypes = len(model.prototypes_)
    expected = [model.codes_[naive_nearest(x, model.prototypes_, range(n_prototypes))] for x in new]
    np.testing.assert_array_equal(model.predict(new), expected)
    assert model.reduction_ == 1 - n_prototypes / 150
    assert set(model.codes_) == {0, 1, 2}


def test_equal_seeds_give_equal_prototypes_and_others_do_not():
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X)
    models = [SSMASFLSDE(300, 6, 8, 5, random_state=seed).fit(X, y) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(models[0].prototypes_, models[1].prototypes_)
    assert not np.array_equal(models[0].prototypes_, models[2].prototypes_)


def test_printed_figures_on_iris(keel_folds):
    """Cano et al. print accuracy .9533 and kappa .9300; the search is random, and one row is .0067."""
    figures = []
    for train, test in keel_folds("iris"):
        model = SSMASFLSDE(n_evaluations=3000, de_iterations=150, random_state=0).fit(train.scaled(), train.target)
        label = model.predict(test.scaled())
        figures.append([np.mean(label == test.target), cohen_kappa_score(test.target, label)])
    np.testing.assert_allclose(np.mean(figures, axis=0), [0.9533, 0.93], atol=0.03)
