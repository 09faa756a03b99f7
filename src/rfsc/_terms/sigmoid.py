"""Ramps: the logistic function of a random projection of few features, as in a layer of a small neural network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .._utils.validation import check_count
from .expression import Ramp
from .naming import line
from .space import TermSpace, Training
from .term import Term

MAX_ROWS = 10_000  # enough to know a quantile; more only take time
MIDDLE_QUANTILES = (0.05, 0.95)  # between which ramps are centred: a name must not show the extreme observations
MIN_SPREAD = 1e-9  # a projection that varies less is rounding


class SigmoidSpace(TermSpace):
    """The ramps that were drawn; an id is a place in the list."""

    def __init__(self, ramps: Sequence[Term]) -> None:
        self._ramps = tuple(ramps)
        self.n_terms = len(self._ramps)

    def term(self, j: int) -> Term:
        return self._ramps[j]


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """Ramps 1 / (1 + exp(-steepness (projection - middle) / spread)) of random projections of the scaled features.

    The features, the direction and the quantile of the training observations at which the ramp has its middle are
    drawn; the first feature always enters with a plus, because a falling ramp is 1 minus a rising one. Draws with the
    same name count once, so there may be fewer ramps than asked for.

    Parameters
    ----------
    n_terms : int, default=200
        Ramps to draw.
    n_features : int, default=2
        Most features in a projection.
    steepness : float, default=6.0
        Slope of the argument per standard deviation of the projection over the training observations.
    """

    n_terms: int = 200
    n_features: int = 2
    steepness: float = 6.0

    def __post_init__(self) -> None:
        for name in ("n_terms", "n_features"):
            check_count(name, getattr(self, name))
        if not 0.0 < self.steepness < math.inf:
            msg = f"steepness must be positive and finite, got {self.steepness}."
            raise ValueError(msg)

    def space(self, training: Training, rng: np.random.Generator) -> SigmoidSpace:
        """Draw the ramps from `rng`."""
        features = training.features[~training.scaling.constant[training.features]]
        n_rows = training.weight.size
        rows = np.arange(n_rows) if n_rows <= MAX_ROWS else np.sort(rng.choice(n_rows, MAX_ROWS, replace=False))
        names = [f"x{p}" for p in range(len(training.table))]
        ramps: dict[str, Term] = {}  # by name, because restrictions refer to terms by name
        for _ in range(self.n_terms if features.size else 0):
            ramp = self._draw(training, features, rows, rng)
            if ramp is not None:
                ramps.setdefault(ramp.name(names), ramp)
        return SigmoidSpace(list(ramps.values()))

    def _draw(self, training: Training, features: IntArray, rows: IntArray, rng: np.random.Generator) -> Term | None:
        """One ramp, or None if the projection does not vary."""
        n_used = int(rng.integers(1, min(self.n_features, features.size) + 1))
        used = tuple(np.sort(rng.choice(features, n_used, replace=False)).tolist())
        direction = rng.standard_normal(n_used)
        direction /= math.copysign(math.hypot(*direction), direction[0])
        level = rng.uniform(*MIDDLE_QUANTILES)
        projection = np.zeros(rows.size)
        for p, part in zip(used, direction, strict=True):
            projection += part * training.table[p][rows]
        weight = training.weight[rows]
        spread = math.sqrt(np.average((projection - np.average(projection, weights=weight)) ** 2, weights=weight))
        if spread < MIN_SPREAD:
            return None
        slopes = (self.steepness / spread * direction).tolist()
        offset = -self.steepness / spread * _quantile(projection, weight, level)
        return Term(Ramp(line(training.scaling, list(zip(used, slopes, strict=True)), offset)))


def _quantile(values: FloatArray, weight: FloatArray, level: float) -> float:
    """Weighted quantile, between neighbours on a straight line."""
    distinct, which = np.unique(values, return_inverse=True)
    mass = np.bincount(which, weights=weight)  # equal values are one: a row twice is the row with twice the weight
    return float(np.interp(level * mass.sum(), np.cumsum(mass) - mass / 2, distinct))
