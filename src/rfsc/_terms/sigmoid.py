"""Ramps: the logistic function of a random projection of few features, as in a layer of a small neural network."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from .._utils.arrays import FloatArray, IntArray
from .base import DamagedTermError, Term, Training, Unrelated, check_count, checked_ids, quoted
from .expression import Expression, Number, Product, Ramp, Scaled, Sum
from .knots import rounded
from .scaling import Scaling

MAX_ROWS = 10_000  # enough to know a quantile; more only take time
LEVELS = (0.05, 0.95)  # where ramps are centred: not at the few observations on the rim, which a name would show
MIN_SPREAD = 1e-9  # a projection that varies less is rounding
NAME_ERROR = 0.5  # what rounding the numbers of a name may change the argument by; a ramp rises from -3 to 3
MARKS = "*^+-"  # what a sum is read by


@dataclass(frozen=True, slots=True)
class SigmoidTerm:
    """One ramp: 1 / (1 + exp(-(sum_p slope_p x_p + offset))), in the units of the rows that it is evaluated on.

    Parameters
    ----------
    features : tuple of int
        Indices of the features that it reads, ascending.
    slopes : tuple of float
        One for each feature.
    offset : float
        The summand.
    shown : tuple of float
        Slopes and offset in the user's own units, rounded, for the name.
    """

    features: tuple[int, ...]
    slopes: tuple[float, ...]
    offset: float
    shown: tuple[float, ...]

    def name(self, feature_names: Sequence[str]) -> str:
        """The formula in the user's own units: ``ramp(0.4*age - 1.2*bmi + 3)``, rounded."""
        factors = [f"*{quoted(feature_names[p], MARKS)}" for p in self.features] + [""]
        text = ""
        for value, factor in zip(self.shown, factors, strict=True):
            sign = "-" if value < 0 else "+" if text else ""
            text += f" {sign} {abs(value):.15g}{factor}" if text else f"{sign}{abs(value):.15g}{factor}"
        return f"ramp({text})"

    def column(self, rows: Mapping[int, FloatArray], n_samples: int) -> FloatArray:
        """Values of the ramp; feature by feature, so that no rounding depends on a BLAS library."""
        total = np.full(n_samples, self.offset)
        for p, slope in zip(self.features, self.slopes, strict=True):
            total += slope * rows[p]
        return np.asarray(expit(total), dtype=np.float64)

    def expression(self) -> Expression:
        """The ramp over the scaled features."""
        slopes = zip(self.features, self.slopes, strict=True)
        parts = [Product((Number(slope), Scaled(p))) for p, slope in slopes]
        return Ramp(Sum((Number(self.offset), *parts)))

    def unscaled(self, scaling: Scaling) -> dict[Term, float]:
        """The same ramp over the features themselves."""
        slopes, offset = _raw(scaling, self.features, self.slopes, self.offset)
        return {SigmoidTerm(self.features, slopes, offset, self.shown): 1.0}

    def bound(self, ranges: Mapping[int, tuple[float, float]]) -> float:
        """Value at the highest corner of the box, a little more for rounding."""
        pairs = zip(self.features, self.slopes, strict=True)
        highest = {p: np.array([ranges[p][1 if slope > 0 else 0]]) for p, slope in pairs}
        return min(1.0, float(self.column(highest, 1)[0]) * (1.0 + 1e-9) + sys.float_info.min)

    def as_dict(self) -> dict[str, Any]:
        """All fields."""
        return {
            "kind": "sigmoid",
            "features": list(self.features),
            "slopes": list(self.slopes),
            "offset": self.offset,
            "shown": list(self.shown),
        }

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> SigmoidTerm:
        """The term that `as_dict` has described."""
        if not len(d["features"]) == len(d["slopes"]) == len(d["shown"]) - 1:
            msg = "there must be one slope for each feature, and one number more in shown"
            raise DamagedTermError(msg)
        return cls(
            features=tuple(int(p) for p in d["features"]),
            slopes=tuple(float(value) for value in d["slopes"]),
            offset=float(d["offset"]),
            shown=tuple(float(value) for value in d["shown"]),
        )


class SigmoidSpace(Unrelated):
    """The ramps that were drawn; an id is a place in the table.

    Parameters
    ----------
    ramps : sequence of SigmoidTerm
        All of them, over scaled features.
    """

    def __init__(self, ramps: Sequence[SigmoidTerm]) -> None:
        self._ramps = tuple(ramps)
        self.n_terms = len(self._ramps)

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each."""
        out = np.empty((len(ids), table.shape[1]))
        for row, term in zip(out, self.terms(ids), strict=True):
            row[:] = term.column({p: table[p] for p in term.features}, row.size)
        return out

    def terms(self, ids: IntArray) -> tuple[SigmoidTerm, ...]:
        """The ramps behind `ids`."""
        ids = checked_ids(ids, self.n_terms)
        return tuple(self._ramps[j] for j in ids.tolist())


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """Ramps 1 / (1 + exp(-steepness (projection - middle) / spread)) of random projections of the scaled features.

    The features, the direction and the quantile of the training observations at which the ramp has its middle are
    drawn; the first feature always enters with a plus, for a falling ramp is 1 minus a rising one. Draws that a name
    cannot tell apart count once, so there may be fewer ramps than asked for.

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
        ramps: dict[tuple[object, ...], SigmoidTerm] = {}
        for _ in range(self.n_terms if features.size else 0):
            ramp = self._draw(training, features, rows, rng)
            if ramp is not None:
                ramps.setdefault((ramp.features, ramp.shown), ramp)
        return SigmoidSpace(list(ramps.values()))

    def _draw(
        self, training: Training, features: IntArray, rows: IntArray, rng: np.random.Generator
    ) -> SigmoidTerm | None:
        """One ramp, or None where the projection does not vary."""
        n_used = int(rng.integers(1, min(self.n_features, features.size) + 1))
        used = tuple(np.sort(rng.choice(features, n_used, replace=False)).tolist())
        direction = rng.standard_normal(n_used)
        direction /= math.copysign(math.hypot(*direction), direction[0])
        level = rng.uniform(*LEVELS)
        projection = np.zeros(rows.size)
        for p, part in zip(used, direction, strict=True):
            projection += part * training.table[p][rows]
        weight = training.weight[rows]
        spread = math.sqrt(np.average((projection - np.average(projection, weights=weight)) ** 2, weights=weight))
        if spread < MIN_SPREAD:
            return None
        slopes = tuple((self.steepness / spread * direction).tolist())
        offset = -self.steepness / spread * _quantile(projection, weight, level)
        return SigmoidTerm(used, slopes, offset, shown_numbers(training.scaling, used, slopes, offset))


def _quantile(values: FloatArray, weight: FloatArray, level: float) -> float:
    """Weighted quantile, between neighbours on a straight line."""
    distinct, which = np.unique(values, return_inverse=True)
    mass = np.bincount(which, weights=weight)  # equal values are one: a row twice is the row with twice the weight
    return float(np.interp(level * mass.sum(), np.cumsum(mass) - mass / 2, distinct))


def _raw(
    scaling: Scaling, features: tuple[int, ...], slopes: tuple[float, ...], offset: float
) -> tuple[tuple[float, ...], float]:
    """Slopes and offset in the user's own units."""
    pairs = list(zip(features, slopes, strict=True))
    raw_offset = offset + math.fsum(slope * scaling.offset(p) for p, slope in pairs)
    return tuple(slope * scaling.slope(p) for p, slope in pairs), raw_offset


def shown_numbers(
    scaling: Scaling, features: tuple[int, ...], slopes: tuple[float, ...], offset: float
) -> tuple[float, ...]:
    """Slopes and offset for the name, with enough digits to be true within the training ranges."""
    raw_slopes, raw_offset = _raw(scaling, features, slopes, offset)
    error = NAME_ERROR / (len(features) + 1)
    shown = []
    for p, slope in zip(features, raw_slopes, strict=True):
        half_minimum = float(scaling.half_minimum[p])
        reach = max(abs(half_minimum), abs(half_minimum + float(scaling.half_span[p])))
        shown.append(rounded(slope, error / reach / 2))
    return (*shown, rounded(raw_offset, error))
