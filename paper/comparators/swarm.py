"""Particle swarms that choose features: one loop, and the two comparators that use it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedKFold

from ..arrays import BoolArray, FloatArray, IntArray
from .base import Comparator
from .discriminant import SubsetLDA, moments

Score = Callable[[BoolArray], IntArray]

INNER_FOLDS = 10
N_NEIGHBORS = 5
# subsets whose equations are solved together: enough to hide the calls, few enough to stay in the cache
BATCH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """What does not change while a swarm moves."""

    inertia: float  # weight of the old velocity
    own_pull: float  # weight of the way to a particle's own best place
    swarm_pull: float  # weight of the way to the best place of all
    max_speed: float  # largest change of a coordinate in one step
    threshold: float  # a feature is chosen if its coordinate, between 0 and 1, is above this
    n_iterations: int  # most steps
    patience: int  # steps without gain after which the swarm stops


def remembering(score: Score) -> Score:
    """The same function of a stack of masks, which scores each subset once."""
    seen: dict[bytes, int] = {}

    def remembered(masks: BoolArray) -> IntArray:
        keys = [row.tobytes() for row in np.packbits(masks, axis=1)]
        fresh = {key: i for i, key in enumerate(keys) if key not in seen}
        if fresh:
            seen.update(zip(fresh, score(masks[list(fresh.values())]).tolist(), strict=True))
        return np.array([seen[key] for key in keys], dtype=np.int64)

    return remembered


def worth(masks: BoolArray, score: Score) -> IntArray:
    """One integer per mask: more hits first, then fewer features; no feature at all is worst."""
    size = masks.sum(axis=1)
    hits = np.full(len(masks), -1)
    if size.any():
        hits[size > 0] = score(masks[size > 0])
    return np.asarray(hits * (masks.shape[1] + 1) - size)


def fly(
    score: Score, position: FloatArray, velocity: FloatArray, flight: Flight, rng: np.random.Generator
) -> BoolArray:
    """Move a swarm; the best subset that it passed, or all features if no particle ever held one."""
    best, value = position.copy(), worth(position > flight.threshold, score)
    leader, idle = int(np.argmax(value)), 0
    for _ in range(flight.n_iterations):
        own, swarm = rng.random((2, *position.shape))
        velocity = (
            flight.inertia * velocity
            + flight.own_pull * own * (best - position)
            + flight.swarm_pull * swarm * (best[leader] - position)
        ).clip(-flight.max_speed, flight.max_speed)
        position = (position + velocity).clip(0.0, 1.0)
        found, record = worth(position > flight.threshold, score), value[leader]
        gain = found > value
        best[gain], value[gain] = position[gain], found[gain]
        leader = int(np.argmax(value))
        idle = 0 if value[leader] > record else idle + 1
        if idle >= flight.patience:
            break
    chosen = best[leader] > flight.threshold
    return chosen if chosen.any() else np.ones_like(chosen)


def inner_splits(code: IntArray, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """Stratified folds of the training rows: ten, fewer if a class has fewer rows; with a single row, no split."""
    n_folds = min(INNER_FOLDS, int(np.bincount(code).min()))
    seed = int(rng.integers(2**31))
    if n_folds < 2:
        return [(np.arange(len(code)), np.arange(len(code)))]
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(folds.split(code[:, None], code))


class LDAHits:
    """Inner-fold hits of linear discriminant analysis with equal priors, for many subsets at a time."""

    def __init__(self, X: FloatArray, code: IntArray, splits: list[tuple[IntArray, IntArray]]) -> None:
        n_classes = int(code.max()) + 1
        known = [moments(X[train], code[train], n_classes) for train, _ in splits]
        self._tests = [(one.standardise(X[test]), code[test]) for one, (_, test) in zip(known, splits, strict=True)]
        self._scatter = np.stack([one.scatter.ravel() for one in known])
        self._means = np.stack([one.means for one in known])

    def __call__(self, masks: BoolArray) -> IntArray:
        """Count the held-out rows that each subset classifies rightly."""
        hits = np.zeros(len(masks), dtype=np.int64)
        by_size = np.argsort(masks.sum(axis=1), kind="stable")
        for start in range(0, len(masks), BATCH):
            batch = by_size[start : start + BATCH]  # of like size, so that little is padding
            hits[batch] = self._count(masks[batch])
        return hits

    def _count(self, masks: BoolArray) -> IntArray:
        coef, intercept = self._rules(masks)
        hits = np.zeros(len(masks), dtype=np.int64)
        for (rows, code), weights, constants in zip(self._tests, coef, intercept, strict=True):
            value = rows @ weights + constants[:, None]
            hits += np.sum(value.argmax(axis=2) == code, axis=1)
        return hits

    def _rules(self, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        """`lda_rule` of all folds and subsets; the blocks are filled up with the identity to one common size."""
        n_subsets, n_features = masks.shape
        first = np.argsort(~masks, axis=1, kind="stable")[:, : masks.sum(axis=1).max()]
        real = np.take_along_axis(masks, first, axis=1)
        both = real[:, :, None] & real[:, None, :]
        block = self._scatter.take(first[:, :, None] * n_features + first[:, None, :], axis=1)
        block = np.where(both, block, np.eye(real.shape[1]))
        means = np.moveaxis(self._means.take(first, axis=2), 1, -1) * real[:, :, None]
        short = np.linalg.solve(block, means)
        coef = np.zeros((len(block), n_subsets, n_features, means.shape[-1]))
        coef[:, np.arange(n_subsets)[:, None], first] = short
        return coef, -0.5 * np.einsum("bsjc,bsjc->bsc", means, short)


class PSOLDA(SubsetLDA):
    """Features chosen by a particle swarm for linear discriminant analysis, after Lin and Chen (2009).

    Constants of motion: inertia 0.9, pulls 0.8 and 1.2, largest speed 1, threshold 0.5. Subsets are compared by
    stratified 10-fold cross-validation inside the training rows with equal priors, of equals the smaller; test rows
    play no part. The swarm stops after `patience` steps without gain.
    """

    def __init__(
        self, n_particles: int = 150, n_iterations: int = 400, patience: int = 150, random_state: Any = None
    ) -> None:
        self.n_particles = n_particles
        self.n_iterations = n_iterations
        self.patience = patience
        self.random_state = random_state

    def _choose(self, X: FloatArray, code: IntArray) -> BoolArray:
        rng = self._generator()
        score = remembering(LDAHits(X, code, inner_splits(code, rng)))
        flight = Flight(
            inertia=0.9,
            own_pull=0.8,
            swarm_pull=1.2,
            max_speed=1.0,
            threshold=0.5,
            n_iterations=self.n_iterations,
            patience=self.patience,
        )
        shape = (self.n_particles, X.shape[1])
        return fly(score, rng.random(shape), rng.uniform(-1.0, 1.0, shape), flight, rng)


def nearest_vote(distance: FloatArray, code: IntArray, n_classes: int, n_neighbors: int = N_NEIGHBORS) -> IntArray:
    """Majority class among the nearest rows; infinite distance means no vote, ties go to the lower row and class."""
    k = min(n_neighbors, distance.shape[1])
    last = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
    voter = distance <= last
    crowded = np.flatnonzero(voter.sum(axis=1) > k)  # several rows share the last place
    nearest = np.argsort(distance[crowded], axis=1, kind="stable")[:, :k]
    voter[crowded] = False
    voter[crowded[:, None], nearest] = True
    votes = (voter & np.isfinite(distance)).astype(np.float64) @ np.eye(n_classes)[code]
    return np.asarray(np.argmax(votes, axis=1))


class NeighborHits:
    """Inner-fold hits of the five nearest neighbours, for a stack of subsets."""

    def __init__(self, X: FloatArray, code: IntArray, splits: list[tuple[IntArray, IntArray]]) -> None:
        self._X, self._code, self._n_classes = X, code, int(code.max()) + 1
        self._barred = np.ones((len(X), len(X)), dtype=bool)
        for train, test in splits:
            self._barred[np.ix_(test, train)] = False

    def __call__(self, masks: BoolArray) -> IntArray:
        """Count the held-out rows that each subset classifies rightly."""
        return np.array([self._count(mask) for mask in masks], dtype=np.int64)

    def _count(self, mask: BoolArray) -> int:
        rows = self._X[:, mask]
        distance = cdist(rows, rows, "sqeuclidean")
        distance[self._barred] = np.inf
        return int(np.sum(nearest_vote(distance, self._code, self._n_classes) == self._code))


def mixed_start(n_particles: int, n_features: int, threshold: float, rng: np.random.Generator) -> FloatArray:
    """Place two thirds of a swarm at a tenth of the features and one third at more than half of them."""
    size = rng.integers(n_features // 2 + 1, n_features + 1, n_particles)
    size[: 2 * n_particles // 3] = max(1, round(n_features / 10))
    rank = rng.permuted(np.tile(np.arange(n_features), (n_particles, 1)), axis=1)
    share = 1.0 - rng.random((n_particles, n_features))  # in (0, 1], so that a held feature is above the threshold
    return np.where(rank < size[:, None], threshold + (1.0 - threshold) * share, threshold * share)


class PSOKNN(Comparator):
    """Features chosen by a particle swarm for five nearest neighbours, PSO(4-2) of Xue, Zhang and Browne (2014).

    Constants of motion: inertia 0.7298, pulls 1.49618, largest speed 6, threshold 0.6. Two thirds of the particles
    start with a tenth of the features, the others with more than half; they start at rest, because a random speed would
    undo these starts at the first step. Subsets are compared by stratified 10-fold cross-validation inside the training
    rows, of equals the smaller.
    """

    def __init__(self, n_particles: int = 30, n_iterations: int = 100, random_state: Any = None) -> None:
        self.n_particles = n_particles
        self.n_iterations = n_iterations
        self.random_state = random_state

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        rng = self._generator()
        score = remembering(NeighborHits(X, code, inner_splits(code, rng)))
        flight = Flight(
            inertia=0.7298,
            own_pull=1.49618,
            swarm_pull=1.49618,
            max_speed=6.0,
            threshold=0.6,
            n_iterations=self.n_iterations,
            patience=self.n_iterations + 1,
        )
        start = mixed_start(self.n_particles, X.shape[1], flight.threshold, rng)
        self.support_ = fly(score, start, np.zeros_like(start), flight, rng)
        self.rows_, self.codes_ = X[:, self.support_], code

    def _classify(self, X: FloatArray) -> IntArray:
        distance = cdist(X[:, self.support_], self.rows_, "sqeuclidean")
        return nearest_vote(distance, self.codes_, len(self.classes_))
