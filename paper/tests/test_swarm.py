"""Fitness of the swarms against scikit-learn's cross-validation, and the laws of their motion."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from paper.comparators import swarm
from paper.comparators.swarm import PSOKNN, PSOLDA, Flight, LDAHits, NeighborHits

SMALL = [PSOLDA(n_particles=12, n_iterations=8, random_state=0), PSOKNN(n_particles=9, n_iterations=6, random_state=0)]


def wine(n_features=8):
    X, y = load_wine(return_X_y=True)
    X = X + 1e-6 * np.random.default_rng(0).normal(size=X.shape)  # scikit-learn leaves equal distances to chance
    return ((X - X.mean(axis=0)) / X.std(axis=0))[:, :n_features], y.astype(np.int64)


def some_masks(rng, n_features, n=40):
    masks = rng.random((n, n_features)) < rng.random((n, 1))
    masks[np.arange(n), rng.integers(n_features, size=n)] = True
    return masks


@pytest.mark.parametrize(
    ("hits", "peer"),
    [
        (LDAHits, LinearDiscriminantAnalysis(priors=np.full(3, 1 / 3))),
        (NeighborHits, KNeighborsClassifier(5)),
    ],
)
def test_hits_are_those_of_cross_validation(rng, hits, peer):
    X, y = wine()
    splits = swarm.inner_splits(y, rng)
    assert len(splits) == 10
    masks = some_masks(rng, X.shape[1])
    expected = [np.sum(cross_val_predict(peer, X[:, mask], y, cv=splits) == y) for mask in masks]
    np.testing.assert_array_equal(hits(X, y, splits)(masks), expected)


@pytest.mark.parametrize("hits", [LDAHits, NeighborHits])
def test_hits_do_not_depend_on_company_or_memory(rng, hits):
    X, y = wine()
    score, masks = hits(X, y, swarm.inner_splits(y, rng)), some_masks(rng, X.shape[1])
    alone = np.concatenate([score(masks[i : i + 1]) for i in range(len(masks))])
    np.testing.assert_array_equal(score(masks), alone)
    remembered = swarm.remembering(score)
    for _ in range(2):
        np.testing.assert_array_equal(remembered(np.tile(masks, (2, 1))), np.tile(alone, 2))


@pytest.mark.parametrize("model", SMALL)
def test_memory_does_not_change_the_choice(model, monkeypatch):
    X, y = wine()
    support = clone(model).fit(X, y).support_
    monkeypatch.setattr(swarm, "remembering", lambda score: score)
    np.testing.assert_array_equal(clone(model).fit(X, y).support_, support)


def test_memory_scores_each_subset_once(rng):
    asked = []
    score = swarm.remembering(lambda masks: asked.extend(masks.tolist()) or masks.sum(axis=1))
    masks = some_masks(rng, 6)
    score(masks)
    score(masks[::-1])
    assert len(asked) == len({tuple(mask) for mask in asked}) == len(np.unique(masks, axis=0))


def test_neighbours_are_those_of_scikit_learn(rng):
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 4, 80)
    query = rng.normal(size=(50, 3))
    distance = np.sum((query[:, None] - X) ** 2, axis=2)
    np.testing.assert_array_equal(swarm.nearest_vote(distance, y, 4), KNeighborsClassifier(5).fit(X, y).predict(query))


def naive_vote(distance, code, n_classes):
    out = []
    for row in distance:
        nearest = sorted(range(len(row)), key=lambda i: (row[i], i))[:5]
        votes = [sum(code[i] == c for i in nearest if np.isfinite(row[i])) for c in range(n_classes)]
        out.append(votes.index(max(votes)))
    return out


@pytest.mark.parametrize("n_training", [3, 5, 30])
def test_ties_go_to_the_lower_row_and_the_first_class(rng, n_training):
    distance, code = rng.integers(0, 4, (60, n_training)).astype(float), rng.integers(0, 3, n_training)
    distance[rng.random(distance.shape) < 0.2] = np.inf
    np.testing.assert_array_equal(swarm.nearest_vote(distance, code, 3), naive_vote(distance, code, 3))


def test_folds_shrink_with_the_smallest_class(rng):
    few = np.repeat([0, 1], [20, 4])
    assert len(swarm.inner_splits(few, rng)) == 4
    single = np.repeat([0, 1], [20, 1])
    [(train, test)] = swarm.inner_splits(single, rng)
    np.testing.assert_array_equal(train, test)
    X = rng.normal(size=(21, 2))
    everywhere = KNeighborsClassifier(5).fit(X, single).predict(X) == single
    assert NeighborHits(X, single, [(train, test)])(np.ones((1, 2), bool))[0] == everywhere.sum()


def test_worth_orders_by_hits_then_by_size():
    masks = np.array([[1, 1, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0]], dtype=bool)
    hits = {3: 8, 2: 8, 1: 0}
    value = swarm.worth(masks, lambda some: np.array([hits[k] for k in some.sum(axis=1)]))
    assert np.argsort(-value).tolist() == [1, 0, 2, 3]
    assert (swarm.worth(masks[3:], None) < 0).all()


def naive_flight(score, position, velocity, flight, rng):
    """One particle and one coordinate at a time; the random pulls are drawn in the order of the fast loop."""

    def value(place):
        mask = [x > flight.threshold for x in place]
        return (score(np.array([mask]))[0], -sum(mask)) if any(mask) else (-1, 0)

    n, width = position.shape
    x, v = position.tolist(), velocity.tolist()
    best = [(value(p), list(p)) for p in x]
    top = max(best, key=lambda b: b[0])
    idle = 0
    for _ in range(flight.n_iterations):
        r = rng.random((2, n, width))
        for i in range(n):
            for j in range(width):
                own, swarm_ = best[i][1][j] - x[i][j], top[1][j] - x[i][j]
                speed = flight.inertia * v[i][j] + flight.own_pull * r[0, i, j] * own
                speed += flight.swarm_pull * r[1, i, j] * swarm_
                v[i][j] = min(max(speed, -flight.max_speed), flight.max_speed)
                x[i][j] = min(max(x[i][j] + v[i][j], 0.0), 1.0)
        for i in range(n):
            if value(x[i]) > best[i][0]:
                best[i] = (value(x[i]), list(x[i]))
        new = max(best, key=lambda b: b[0])
        idle = 0 if new[0] > top[0] else idle + 1
        top = new
        if idle >= flight.patience:
            break
    return [p > flight.threshold for p in top[1]]


@pytest.mark.parametrize("patience", [3, 100])
def test_flight_is_the_naive_one(rng, patience):
    table = rng.integers(0, 30, 2**6)
    score = lambda masks: table[masks @ (1 << np.arange(6))]  # noqa: E731
    flight = Flight(
        inertia=0.9,
        own_pull=0.8,
        swarm_pull=1.2,
        max_speed=0.4,
        threshold=0.5,
        n_iterations=15,
        patience=patience,
    )
    for seed in range(5):
        start, speed = rng.random((4, 6)), rng.uniform(-0.4, 0.4, (4, 6))
        fast = swarm.fly(score, start, speed, flight, np.random.default_rng(seed))
        assert fast.tolist() == naive_flight(score, start, speed, flight, np.random.default_rng(seed))


def test_swarm_that_never_holds_a_feature_takes_all(rng):
    still = Flight(inertia=0.0, own_pull=0.0, swarm_pull=0.0, max_speed=1.0, threshold=0.5, n_iterations=3, patience=9)
    assert swarm.fly(None, np.zeros((2, 4)), np.zeros((2, 4)), still, rng).all()


@pytest.mark.parametrize("n_features", [1, 2, 13, 60])
def test_mixed_start_holds_few_or_many(rng, n_features):
    place = swarm.mixed_start(30, n_features, 0.6, rng)
    held = (place > 0.6).sum(axis=1)
    assert ((place >= 0.0) & (place <= 1.0)).all()
    assert (held[:20] == max(1, round(n_features / 10))).all()
    assert (held[20:] > n_features / 2).all()


def planted(rng):
    """The class is where the first two of ten features point."""
    X = rng.normal(size=(150, 10))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "up", "down")


@pytest.mark.parametrize("model", [PSOLDA(60, 40, 20, 0), PSOKNN(30, 25, 0)])
def test_planted_features_are_found(rng, model):
    X, y = planted(rng)
    fitted = clone(model).fit(X, y)
    assert fitted.support_[:2].all()
    assert fitted.support_.sum() <= 5
    assert fitted.score(*planted(rng)) > 0.85


@pytest.mark.parametrize("model", SMALL)
def test_same_seed_same_choice_and_no_global_generator(rng, model):
    X, y = planted(rng)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (clone(model).set_params(random_state=7).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.testing.assert_array_equal(first.support_, second.support_)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    for seed in (None, np.random.RandomState(1)):
        assert clone(model).set_params(random_state=seed).fit(X, y).support_.any()


def test_prediction_is_that_of_scikit_learn_on_the_chosen_features(rng):
    X, y = planted(rng)
    query = rng.normal(size=(70, 10))
    linear, local = (clone(model).fit(X, y) for model in SMALL)
    lda = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X[:, linear.support_], y)
    np.testing.assert_array_equal(linear.predict(query), lda.predict(query[:, linear.support_]))
    knn = KNeighborsClassifier(5).fit(X[:, local.support_], y)
    np.testing.assert_array_equal(local.predict(query), knn.predict(query[:, local.support_]))
