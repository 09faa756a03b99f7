"""SSMA + SFLSDE: the nearest neighbour over a few prototypes, first selected from the training rows, then moved.

The first part of this file is SSMA, a memetic search over subsets of the training rows; the second is SFLSDE, a
differential evolution of the positions of the rows that SSMA kept. Written from the published descriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .base import Comparator

_NOBODY = -1  # class of a neighbour that does not exist: never the right one


class SSMASFLSDE(Comparator):
    """Prototype selection by SSMA and positioning by SFLSDE (Triguero, García and Herrera, 2011).

    A steady-state memetic algorithm selects training rows for the accuracy of a nearest-neighbour rule and for being
    few; a differential evolution that adapts its own rates then moves them. New rows get the class of the nearest
    prototype.
    """

    def __init__(
        self,
        n_evaluations: int = 10_000,
        population: int = 30,
        de_population: int = 50,
        de_iterations: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_evaluations = n_evaluations
        self.population = population
        self.de_population = de_population
        self.de_iterations = de_iterations
        self.random_state = random_state

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        rng = self._generator()
        selected = select(X, code, self.n_evaluations, self.population, rng)
        self.selected_ = np.flatnonzero(selected)
        self.codes_ = code[self.selected_]
        self.prototypes_ = position(X, code, self.selected_, self.de_population, self.de_iterations, rng)
        self.reduction_ = 1.0 - len(self.selected_) / len(X)

    def _classify(self, X: FloatArray) -> IntArray:
        return self.codes_[_nearest(X, self.prototypes_[None])[:, 0]]


# Part one: SSMA -----------------------------------------------------------------------------------------------------


class _Fitness(NamedTuple):
    """Both in [0, 1]; the value is what the population is ranked by."""

    accuracy: float
    reduction: float

    @property
    def value(self) -> float:
        return 50.0 * self.accuracy + 50.0 * self.reduction


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Leave-one-out nearest neighbours among any subset of the training rows."""

    distance: FloatArray  # squared distances; infinite from a row to itself, so that no row is its own neighbour
    code: IntArray  # class codes

    def two_nearest(self, rows: IntArray, selected: IntArray) -> tuple[IntArray, IntArray]:
        """Nearest and second nearest selected row of every row in `rows`; n_rows stands for none."""
        near = self.distance[rows[:, None], selected]
        at = np.arange(len(rows))
        first = near.argmin(axis=1)
        missing_first = near[at, first] == np.inf
        near[at, first] = np.inf
        second = near.argmin(axis=1)
        missing_second = near[at, second] == np.inf
        nobody = len(self.code)
        return np.where(missing_first, nobody, selected[first]), np.where(missing_second, nobody, selected[second])

    def fitness(self, member: BoolArray) -> _Fitness:
        """Leave-one-out accuracy over all rows, and part of the rows that the subset lacks."""
        selected = np.flatnonzero(member)
        if not len(selected):
            return _Fitness(0.0, 0.0)  # an empty subset is no classifier, however short
        first = self.distance[:, selected].argmin(axis=1)
        right = self.code[selected[first]] == self.code
        if len(selected) == 1:
            right[selected] = False
        return _Fitness(float(right.mean()), 1.0 - len(selected) / len(self.code))


def select(X: FloatArray, code: IntArray, budget: int, population: int, rng: np.random.Generator) -> BoolArray:
    """Which training rows to keep, by SSMA; every class is among them."""
    distance = np.stack([np.square(X - row).sum(axis=1) for row in X])
    np.fill_diagonal(distance, np.inf)
    neighbours = Neighbours(distance, code)
    members = rng.random((population, len(X))) < 0.5
    scores = [neighbours.fitness(member) for member in members]
    spent = float(population)
    threshold = _Threshold(max(scores, key=lambda score: score.value))
    while spent < budget:
        values = [score.value for score in scores]
        mother, father = members[_tournament(values, rng)], members[_tournament(values, rng)]
        swap = rng.random(len(X)) < 0.5
        for child in (np.where(swap, mother, father), np.where(swap, father, mother)):
            child ^= rng.random(len(X)) < 0.001
            score = neighbours.fitness(child)
            worst = int(np.argmin(values))
            if score.value > values[worst] or rng.random() < 0.0625:
                cost = drop_rows(neighbours, child, threshold.value, rng)
                score = neighbours.fitness(child)  # known from the partial evaluations: not counted again
                spent += cost
            spent += 1.0
            if score.value > values[worst]:
                members[worst], scores[worst], values[worst] = child, score, score.value
        threshold.update(scores[int(np.argmax(values))], rng)
    best = int(np.argmax([score.value for score in scores]))
    return _complete(members[best], code, rng)


def _tournament(values: list[float], rng: np.random.Generator) -> int:
    """The better of two members drawn at random."""
    one, other = rng.integers(len(values), size=2).tolist()
    return int(one if values[one] >= values[other] else other)


class _Threshold:
    """How many rows more must be right for a row to be dropped; falls or rises when the best subset stands still."""

    patience = 10

    def __init__(self, best: _Fitness) -> None:
        self.value = 0
        self._best = best
        self._stale_accuracy = self._stale_reduction = 0

    def update(self, best: _Fitness, rng: np.random.Generator) -> None:
        """Take note of the best member after a generation."""
        self._stale_accuracy = 0 if best.accuracy > self._best.accuracy else self._stale_accuracy + 1
        self._stale_reduction = 0 if best.reduction > self._best.reduction else self._stale_reduction + 1
        self._best = best
        accuracy_stands = self._stale_accuracy >= self.patience
        reduction_stands = self._stale_reduction >= self.patience
        if accuracy_stands and reduction_stands:
            accuracy_stands = bool(rng.random() < 0.5)
            reduction_stands = not accuracy_stands
        if accuracy_stands:
            self.value += 1
            self._stale_accuracy = 0
        if reduction_stands:
            self.value -= 1
            self._stale_reduction = 0


def drop_rows(neighbours: Neighbours, member: BoolArray, threshold: int, rng: np.random.Generator) -> float:
    """Local search of SSMA, in place: drop selected rows in random order while enough rows become right.

    Dropping a row touches only those whose nearest neighbour it was, and these go to their second nearest. So the gain
    of every possible drop is one count, and walking down the random order is finding its first good entry.
    Returns the evaluations that trying the drops one by one would have cost: rows touched over all rows.
    """
    n_rows = len(member)
    label = np.append(neighbours.code, _NOBODY)
    selected = np.flatnonzero(member)
    if not len(selected):
        return 0.0
    first, second = neighbours.two_nearest(np.arange(n_rows), selected)
    touched_in_all = 0
    while len(selected) > 1:
        change = (label[second] == neighbours.code).astype(float) - (label[first] == neighbours.code)
        gain = np.bincount(first, weights=change, minlength=n_rows)
        touched = np.bincount(first, minlength=n_rows)
        order = rng.permutation(selected)
        good = gain[order] >= threshold
        tried = int(np.argmax(good)) + 1 if good.any() else len(order)
        touched_in_all += int(touched[order[:tried]].sum())
        if not good.any():
            break
        dropped = order[tried - 1]
        member[dropped] = False
        selected = selected[selected != dropped]
        stale = np.flatnonzero((first == dropped) | (second == dropped))
        first[stale], second[stale] = neighbours.two_nearest(stale, selected)
    return touched_in_all / n_rows


def _complete(member: BoolArray, code: IntArray, rng: np.random.Generator) -> BoolArray:
    """Fall back on 2 % of the rows, at random, when fewer than two were kept; give every class a row."""
    kept = member.copy() if member.sum() >= 2 else np.zeros_like(member)
    for c in np.setdiff1d(np.arange(code.max() + 1), code[kept]):
        kept[rng.choice(np.flatnonzero(code == c))] = True
    if member.sum() < 2:
        missing = max(2, round(0.02 * len(code))) - int(kept.sum())
        kept[rng.permutation(np.flatnonzero(~kept))[: max(missing, 0)]] = True
    return kept


# Part two: SFLSDE ---------------------------------------------------------------------------------------------------


def _nearest(X: FloatArray, sets: FloatArray) -> IntArray:
    """Index of the prototype nearest to every row in every set: shape (n_rows, n_sets)."""
    n_sets, n_prototypes, n_features = sets.shape
    flat = sets.reshape(-1, n_features)
    # the square of the row itself is the same for all prototypes
    distance = np.hstack([X, np.ones((len(X), 1))]) @ np.vstack([-2.0 * flat.T, np.einsum("ij,ij->i", flat, flat)])
    return np.asarray(distance.reshape(len(X), n_sets, n_prototypes).argmin(axis=2))


@dataclass(frozen=True, slots=True)
class Positioning:
    """What the evolution moves in: the training rows, and the classes of the prototypes."""

    X: FloatArray  # training rows
    code: IntArray  # class codes
    layout: IntArray  # class of every prototype, the same in all sets

    def accuracy(self, sets: FloatArray) -> FloatArray:
        """Training accuracy of the nearest-prototype rule of every set."""
        return np.asarray((self.layout[_nearest(self.X, sets)] == self.code[:, None]).mean(axis=0))

    def random_sets(self, n_sets: int, rng: np.random.Generator) -> FloatArray:
        """Sets of training rows with the layout's classes."""
        chosen = np.empty((n_sets, len(self.layout)), dtype=np.int64)
        for p, c in enumerate(self.layout):
            chosen[:, p] = rng.choice(np.flatnonzero(self.code == c), size=n_sets)
        return self.X[chosen]

    def clip(self, sets: FloatArray) -> FloatArray:
        """Keep prototypes within the range of the training rows."""
        return np.clip(sets, self.X.min(axis=0), self.X.max(axis=0))


class _Ray(NamedTuple):
    """Where the best set can go: `origin` + rate · `step`, and only the prototypes in `moved`."""

    problem: Positioning
    origin: FloatArray
    step: FloatArray
    moved: BoolArray

    def at(self, rates: FloatArray) -> FloatArray:
        trial = self.problem.clip(self.origin + rates[:, None, None] * self.step)
        return np.where(self.moved[:, None], trial, self.origin)

    def accuracy(self, *rates: float) -> list[float]:
        values: list[float] = self.problem.accuracy(self.at(np.array(rates))).tolist()
        return values


def _golden_section(ray: _Ray, low: float = 0.1, high: float = 1.0, steps: int = 8) -> float:
    """Rate of a local best accuracy by golden-section search."""
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    for _ in range(steps):
        inner = [high - ratio * (high - low), low + ratio * (high - low)]
        left, right = ray.accuracy(*inner)
        if left > right:
            high = inner[1]
        else:
            low = inner[0]
    return float(low + high) / 2.0


def _hill_climbing(ray: _Ray, rate: float, steps: int = 20, width: float = 0.5) -> float:
    """Rate of a local best accuracy by steps to either side, halved when the centre wins."""
    for _ in range(steps):
        points = [rate, max(rate - width, 0.1), min(rate + width, 1.0)]
        winner = int(np.argmax(ray.accuracy(*points)))  # the centre comes first, so it wins ties
        rate = points[winner]
        if winner == 0:
            width /= 2.0
    return rate


def position(
    X: FloatArray,
    code: IntArray,
    selected: IntArray,
    population: int,
    iterations: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Move the selected rows for training accuracy, by SFLSDE."""
    problem = Positioning(X, code, code[selected])
    sets = np.concatenate([X[selected][None], problem.random_sets(population - 1, rng)])
    accuracy = problem.accuracy(sets)
    scale, crossover = rng.random(population), rng.random(population)
    for _ in range(iterations):
        best = int(np.argmax(accuracy))
        new_scale = np.where(rng.random(population) < 0.1, 0.1 + 0.9 * rng.random(population), scale)
        new_crossover = np.where(rng.random(population) < 0.1, rng.random(population), crossover)
        one, other = _two_others(population, rng)
        moved = rng.random((population, len(selected))) < new_crossover[:, None]
        moved[np.arange(population), rng.integers(len(selected), size=population)] = True  # or a trial is a copy
        step = sets[one] - sets[other] + sets[best] - sets
        new_scale[best] = _tuned(_Ray(problem, sets[best], step[best], moved[best]), float(new_scale[best]), rng)
        trial = problem.clip(sets + new_scale[:, None, None] * step)
        trial = np.where(moved[:, :, None], trial, sets)
        found = problem.accuracy(trial)
        better = found > accuracy
        sets[better], accuracy[better] = trial[better], found[better]
        # rates live on with the sets that they made
        scale[better], crossover[better] = new_scale[better], new_crossover[better]
    return np.asarray(sets[int(np.argmax(accuracy))])


def _tuned(ray: _Ray, rate: float, rng: np.random.Generator) -> float:
    """Scale factor of the best set: at times the outcome of a local search."""
    draw = rng.random()
    if draw < 0.03:
        return _golden_section(ray)
    if draw < 0.07:
        return _hill_climbing(ray, rate)
    return rate


def _two_others(population: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """For every member two others, all three different."""
    me = np.arange(population)
    one = (me + rng.integers(1, population, size=population)) % population
    # one of the remaining: skip the two taken places, in ascending order
    other = rng.integers(population - 2, size=population)
    other += other >= np.minimum(me, one)
    other += other >= np.maximum(me, one)
    return one, other
