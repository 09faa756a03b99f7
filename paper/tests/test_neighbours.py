"""The neighbour comparators: the printed figures, slow versions written from the descriptions."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import cohen_kappa_score
from sklearn.neighbors import KNeighborsClassifier

from paper.comparators import neighbours
from paper.comparators.neighbours import KNN, AdaptiveKNN, CamNN, CenterNN, DistanceWeightedKNN

ALL = [KNN(), AdaptiveKNN(), DistanceWeightedKNN(), CamNN(), CenterNN()]
ids = [type(model).__name__ for model in ALL]

# ---- printed figures, accuracy and kappa, means over KEEL's ten folds

PRINTED = {
    (KNN, "bupa"): (0.6066, 0.1944),
    (KNN, "iris"): (0.9400, 0.9100),
    (KNN, "wine"): (0.9549, 0.9318),
    (AdaptiveKNN, "bupa"): (0.6257, 0.2021),
    (AdaptiveKNN, "iris"): (0.9533, 0.9300),
    (AdaptiveKNN, "wine"): (0.9663, 0.9491),
    (CamNN, "bupa"): (0.5962, 0.1024),
    (CamNN, "iris"): (0.9467, 0.9200),
    (CamNN, "wine"): (0.9497, 0.9228),
    (CenterNN, "bupa"): (0.6316, 0.2571),
    (CenterNN, "iris"): (0.9267, 0.8900),
    (CenterNN, "wine"): (0.9663, 0.9491),
    # Bupa's figures for this one, .6376 and .2645, are reached by no known setting
    (DistanceWeightedKNN, "iris"): (0.9400, 0.9100),
    (DistanceWeightedKNN, "wine"): (0.9438, 0.9152),
}


def keel_figures(model, folds):
    figures = []
    for train, test in folds:
        # ties go to the first class in the header's order, which must be that of `classes_`
        assert list(train.labels) == sorted(train.labels)
        found = model.fit(train.scaled(), train.target).predict(test.scaled())
        figures.append([np.mean(found == test.target), cohen_kappa_score(test.target, found)])
    return np.mean(figures, axis=0)


@pytest.mark.parametrize(("cls", "name"), PRINTED, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_printed_figures_are_reproduced(keel_folds, cls, name):
    found = keel_figures(cls(skip_zero=True), keel_folds(name))
    np.testing.assert_allclose(found, PRINTED[cls, name], rtol=0, atol=5.1e-5)


def test_rows_at_distance_zero_are_what_separates_keel_from_scikit_learn_on_bupa(keel_folds):
    bupa = keel_folds("bupa")
    np.testing.assert_allclose(keel_figures(KNN(), bupa), keel_figures(KNeighborsClassifier(3), bupa))
    np.testing.assert_allclose(keel_figures(KNN(), bupa), (0.6095, 0.2013), rtol=0, atol=5.1e-5)


# ---- slow versions, one query at a time


def euclid(a, b):
    return math.sqrt(sum((u - v) ** 2 for u, v in zip(a, b, strict=True)))


def naive_vote(distance, labels, k, same, weigh=None):
    """The k smallest (distance, row), of those allowed; the first of the best classes."""
    voters = sorted((d, i) for i, d in enumerate(distance) if d is not None and not same[i])[:k]
    weights = weigh([d for d, _ in voters]) if weigh and voters else [1.0] * len(voters)
    votes = Counter(dict.fromkeys(labels, 0.0))
    for (_, i), weight in zip(voters, weights, strict=True):
        votes[labels[i]] += weight
    return min(votes, key=lambda label: (-votes[label], label))


def naive_knn(X, y, x, k, same):
    return naive_vote([euclid(x, row) for row in X], y, k, same)


def naive_adaptive(X, y, x, k, same):
    reach = [min(euclid(a, b) for b, cb in zip(X, y, strict=True) if cb != ca) for a, ca in zip(X, y, strict=True)]
    floor = np.finfo(float).eps * (max(reach) or 1.0)
    return naive_vote([euclid(x, a) / max(r, floor) for a, r in zip(X, reach, strict=True)], y, k, same)


def dudani(d):
    return [1.0 if d[-1] == d[0] else (d[-1] - dj) / (d[-1] - d[0]) for dj in d]


def naive_weighted(X, y, x, k, same):
    return naive_vote([euclid(x, row) for row in X], y, k, same, dudani)


def naive_cam(X, y, x, k, same):
    q = len(x)
    n = min(q, 16)
    c2 = math.sqrt(2) * math.gamma((n + 1) / 2) / math.gamma(n / 2)
    c1 = c2 / q
    distance = []
    for xi, yi in zip(X, y, strict=True):
        others = sorted((euclid(xi, xj), j) for j, xj in enumerate(X) if euclid(xi, xj) > 0)[:k]
        w = [(X[j] - xi) * (1.0 if y[j] == yi else -0.5) for _, j in others]
        if euclid(x, xi) == 0:
            distance.append(0.0)
            continue
        if not w:
            distance.append(None)
            continue
        G, L = sum(w) / len(w), sum(np.linalg.norm(v) for v in w) / len(w)
        size = np.linalg.norm(G)
        a, b = L / c2, size / c1
        cosine = (x - xi) @ (G / size) / euclid(x, xi) if size > 0 else 0.0
        below = a + b * cosine
        distance.append(euclid(x, xi) / below if below > 0 else None)
    return naive_vote(distance, y, k, same)


def naive_center(X, y, x, k, same):
    distance = []
    for xi, yi in zip(X, y, strict=True):
        line = X[y == yi].mean(axis=0) - xi
        t = (x - xi) @ line / (line @ line) if line.any() else 0.0
        distance.append(np.linalg.norm(x - xi - t * line))
    return naive_vote(distance, y, 1, same)


SLOW_VERSIONS = {
    KNN: naive_knn,
    AdaptiveKNN: naive_adaptive,
    DistanceWeightedKNN: naive_weighted,
    CamNN: naive_cam,
    CenterNN: naive_center,
}
seeds = st.integers(0, 2**32 - 1)


def agree(cls, X, y, queries, k, skip_zero):
    options = {} if cls is CenterNN else {"n_neighbors": k}
    found = cls(**options, skip_zero=skip_zero).fit(X, y).predict(queries)
    expected = [SLOW_VERSIONS[cls](X, y, x, k, [skip_zero and np.array_equal(x, row) for row in X]) for x in queries]
    assert list(found) == expected


@pytest.mark.parametrize("cls", SLOW_VERSIONS, ids=lambda cls: cls.__name__)
@given(seed=seeds, k=st.integers(1, 7), n_classes=st.integers(2, 4), n_features=st.integers(2, 18), zero=st.booleans())
def test_each_agrees_with_its_slow_version(cls, seed, k, n_classes, n_features, zero):
    rng = np.random.default_rng(seed)
    X = rng.random((14, n_features))
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=14 - n_classes)])
    agree(cls, X, y, rng.random((5, n_features)), k, zero)


@pytest.mark.parametrize("cls", [KNN, DistanceWeightedKNN, AdaptiveKNN], ids=lambda cls: cls.__name__)
@given(seed=seeds, k=st.integers(1, 20), zero=st.booleans())
def test_ties_and_equal_rows_are_resolved_as_described(cls, seed, k, zero):
    rng = np.random.default_rng(seed)
    # whole numbers on few places: equal distances, equal rows of different classes, more neighbours than rows; with
    # one feature the distances are exact, so that a tie is one for both
    X = rng.integers(3, size=(12, 1)).astype(float)
    y = np.concatenate([[0, 1], rng.integers(3, size=10)])
    agree(cls, X, y, rng.integers(-1, 4, size=(6, 1)).astype(float), k, zero)


@pytest.mark.parametrize("cls", [CamNN, CenterNN], ids=lambda cls: cls.__name__)
@given(seed=seeds, zero=st.booleans())
def test_a_query_on_a_training_row(cls, seed, zero):
    rng = np.random.default_rng(seed)
    X = rng.random((12, 3))
    X[8:] = X[:4]
    # no class of two different rows, whose lines would be one and their order a matter of rounding
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1])
    agree(cls, X, y, X[:10:3], 3, zero)


@given(seed=seeds, k=st.integers(1, 12))
def test_nearest_is_a_stable_sort(seed, k):
    distance = np.random.default_rng(seed).integers(4, size=(6, 9)).astype(float)
    distance[distance == 3] = np.inf
    np.testing.assert_array_equal(
        neighbours.nearest(distance, k), distance.argsort(axis=1, kind="stable")[:, : min(k, 9)]
    )


# ---- cases


@pytest.mark.parametrize("model", ALL, ids=ids)
def test_blocks_of_rows_change_nothing(model, monkeypatch):
    rng = np.random.default_rng(3)
    X, y, queries = rng.random((40, 4)), rng.integers(3, size=40), rng.random((25, 4))
    whole = clone(model).fit(X, y).predict(queries)
    monkeypatch.setattr(neighbours, "BLOCK_ENTRIES", 90)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(queries), whole)


@pytest.mark.parametrize("model", ALL, ids=ids)
@pytest.mark.parametrize("skip_zero", [False, True])
def test_without_a_voter_the_first_class_is_the_answer(model, skip_zero):
    X, y = np.ones((4, 2)), np.array(["b", "a", "b", "b"])
    found = clone(model).set_params(skip_zero=skip_zero).fit(X, y).predict(X[:2])
    assert skip_zero is False or list(found) == ["a", "a"]
    assert set(found) <= {"a", "b"}


def test_adaptive_rows_far_from_other_classes_reach_further():
    X, y = np.array([[0.0], [4.0], [5.0]]), np.array([0, 1, 0])
    assert KNN(1).fit(X, y).predict([[2.2]]) == 1
    assert AdaptiveKNN(1).fit(X, y).predict([[2.2]]) == 0


def test_weighted_votes_let_one_near_row_beat_two_far_ones():
    X, y = np.array([[0.0], [3.0], [4.0]]), np.array([0, 1, 1])
    assert KNN(3).fit(X, y).predict([[0.5]]) == 1
    assert DistanceWeightedKNN(3).fit(X, y).predict([[0.5]]) == 0


def test_center_follows_the_line_beyond_the_rows():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [8.0, 2.0], [8.0, 3.0]])
    y = np.array([0, 0, 1, 1])
    assert KNN(1).fit(X, y).predict([[7.0, 0.1]]) == 1
    assert CenterNN().fit(X, y).predict([[7.0, 0.1]]) == 0
