"""Data gravitation: every training row pulls at a new one with a force of one over the squared weighted distance.

DGC weighs the features; DGC+ weighs them separately for every class and pulls less strongly from large classes. Written
from the published descriptions; none of the authors' code was used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..arrays import FloatArray, IntArray
from .base import Comparator

# If a squared distance is this small beside the squared lengths that it came from, rounding may have spoiled it.
_CANCELLED = 1e-8

# Distances computed in one go: so many that calls do not count, so few that they stay in a core's cache.
_BLOCK = 2**16


@dataclass(frozen=True, slots=True)
class _Particles:
    """Training rows, those of a class side by side."""

    rows: FloatArray
    code: IntArray
    groups: tuple[slice, ...]

    @classmethod
    def from_rows(cls, X: FloatArray, code: IntArray) -> Self:
        order = np.argsort(code, kind="stable")
        ends = np.cumsum(np.bincount(code)).tolist()
        return cls(X[order], code[order], tuple(slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)))

    @property
    def class_factor(self) -> FloatArray:
        """What DGC+ multiplies the force of each class with."""
        return 1.0 - (np.bincount(self.code) - 1.0) / len(self.code)

    def forces(self, X: FloatArray, candidates: FloatArray, *, leave_one_out: bool = False) -> FloatArray:
        """Force of every class on every row under every candidate: shape (n_candidates, n_rows, n_classes).

        `candidates` has shape (n_candidates, n_classes, n_features) and holds weights. To leave one out, X must be the
        training rows themselves.
        """
        pull = np.empty((len(candidates), len(X), len(self.groups)))
        for c, group in enumerate(self.groups):
            particles = self.rows[group]
            n_at_once = max(1, _BLOCK // (len(X) * len(particles)))
            for start in range(0, len(candidates), n_at_once):
                block = slice(start, start + n_at_once)
                distance = _squared_distances(X, particles, candidates[block, c])
                if leave_one_out:
                    own = np.arange(len(particles))
                    distance[:, group][:, own, own] = np.inf  # infinitely far from itself: no force
                with np.errstate(divide="ignore", over="ignore"):
                    np.reciprocal(distance, out=distance)
                pull[block, :, c] = distance.sum(axis=2)
        return pull

    def errors(self, candidates: FloatArray, factor: FloatArray) -> FloatArray:
        """Leave-one-out error of every candidate, the force of every class times its factor."""
        pull = self.forces(self.rows, candidates, leave_one_out=True) * factor
        return np.asarray((pull.argmax(axis=2) != self.code).mean(axis=1))


def _squared_distances(X: FloatArray, particles: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted squared distances from rows to particles, for several weight vectors: (n_weights, n_rows, n_particles).

    One product per weight vector, (x, w·x², 1) times (-2·w·a, 1, w·a²), does it all. It leaves noise if a distance is
    next to nothing, and a row that equals a particle must feel exactly infinite force: these few are computed again.
    """
    n_features = X.shape[1]
    left = np.ones((len(weights), len(X), n_features + 2))
    left[:, :, :n_features] = X
    left[:, :, n_features] = row_square = weights @ np.square(X).T
    right = np.ones((len(weights), len(particles), n_features + 2))
    weighted = weights[:, None, :] * particles
    right[:, :, :n_features] = -2.0 * weighted
    right[:, :, -1] = square = (weighted * particles).sum(axis=2)
    distance = left @ right.transpose(0, 2, 1)
    limit = _CANCELLED * (row_square.max(axis=1) + square.max(axis=1))
    noisy = np.flatnonzero(distance <= limit[:, None, None])
    k, row, particle = np.unravel_index(noisy, distance.shape)
    distance[k, row, particle] = (np.square(X[row] - particles[particle]) * weights[k]).sum(axis=1)
    return np.asarray(distance)


class DGC(Comparator):
    """Data gravitation classification of Peng, Yang, Chen and Abraham (2009), in our reading.

    The force of a class is the sum over its training rows of one over the squared distance, features weighted; the
    strongest class wins. The weights come from a random search: one weight at a time is moved by a Gaussian step, and
    the move stays when leave-one-out training accuracy rises. The paper's text was not at hand, so the number of
    trials, the step, and doing without the merging of near rows are our reading. `n_trials=None` means 20 for every
    feature; weights start at 1 and stay in [0, 1].
    """

    def __init__(self, n_trials: int | None = None, step: float = 0.1, random_state: Any = None) -> None:
        self.n_trials = n_trials
        self.step = step
        self.random_state = random_state

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        self.particles_ = _Particles.from_rows(X, code)
        rng = self._generator()
        weight = np.ones(X.shape[1])
        error = self._error(weight)
        for _ in range(20 * X.shape[1] if self.n_trials is None else self.n_trials):
            feature = rng.integers(len(weight))
            trial = weight.copy()
            trial[feature] = np.clip(trial[feature] + self.step * rng.standard_normal(), 0.0, 1.0)
            if trial[feature] != weight[feature] and (found := self._error(trial)) < error:
                weight, error = trial, found
        self.weights_, self.error_ = weight, error

    def _error(self, weight: FloatArray) -> float:
        n_classes = len(self.particles_.groups)
        shared = np.broadcast_to(weight, (1, n_classes, len(weight)))
        return float(self.particles_.errors(shared, np.ones(n_classes))[0])

    def _classify(self, X: FloatArray) -> IntArray:
        shared = np.broadcast_to(self.weights_, (1, len(self.classes_), len(self.weights_)))
        return np.asarray(self.particles_.forces(X, shared)[0].argmax(axis=1))


class DGCPlus(Comparator):
    """Data gravitation with weights per class, DGC+, of Cano, Zafra and Ventura (2013).

    The force of class c on a row is (1 - (n_c - 1) / n) times the sum over its training rows of one over the squared
    distance, with features weighted as class c weighs them; the strongest class wins. CMA-ES looks for the weights with
    the lowest leave-one-out training error; the best of `n_runs` runs counts.
    """

    def __init__(self, n_runs: int = 3, max_generations: int = 500, random_state: Any = None) -> None:
        self.n_runs = n_runs
        self.max_generations = max_generations
        self.random_state = random_state

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        self.particles_ = _Particles.from_rows(X, code)
        n_classes = len(self.classes_)
        if n_classes == 1:  # nothing to weigh, and CMA-ES does not run in one dimension
            self.weights_, self.error_ = np.full((1, X.shape[1]), 0.5), 0.0
            return
        rng = self._generator()
        best = [_last_population(self.particles_, self.max_generations, rng) for _ in range(self.n_runs)]
        population = np.concatenate([candidates for candidates, _ in best])
        error = np.concatenate([found for _, found in best])
        chosen = np.lexsort((-_evenness(population), error))[0]
        self.weights_, self.error_ = population[chosen], float(error[chosen])

    def _classify(self, X: FloatArray) -> IntArray:
        force = self.particles_.forces(X, self.weights_[None])[0]
        return np.asarray((force * self.particles_.class_factor).argmax(axis=1))


def _last_population(
    particles: _Particles, max_generations: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Run CMA-ES once; the weights of its last population, and their errors."""
    shape = len(particles.groups), particles.rows.shape[1]
    n_weights = shape[0] * shape[1]
    options = {
        "bounds": [0.0, 1.0],
        "popsize": int(4.0 * np.log(n_weights**2)),
        "maxiter": max_generations,
        "tolfun": 1e-12,
        "tolfunhist": 1e-13,
        # cma would seed and use NumPy's global generator
        "randn": lambda n_rows, n_columns: rng.standard_normal((n_rows, n_columns)),
        "seed": np.nan,
        "verbose": -10,
        "verb_disp": 0,
        "verb_log": 0,
    }
    import cma  # no other comparator needs it

    strategy = cma.CMAEvolutionStrategy(np.full(n_weights, 0.5), 0.3, options)
    while True:
        points = strategy.ask()
        population = np.clip(np.reshape(points, (-1, *shape)), 0.0, 1.0)
        error = particles.errors(population, particles.class_factor)
        strategy.tell(points, error.tolist())
        if strategy.stop():
            return population, error


def _evenness(population: FloatArray) -> FloatArray:
    """Product of the weights over their maximum, as a logarithm, which does not underflow: breaks ties in the error."""
    flat = population.reshape(len(population), -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        product = np.log(flat / flat.max(axis=1, keepdims=True)).sum(axis=1)
    return np.where(np.isnan(product), -np.inf, product)
