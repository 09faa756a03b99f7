"""How values are spread over bins, and by how much two spreads differ: the population stability index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from .._model.reference import Spread
from .._terms.scaling import Scaling
from .._utils.arrays import BoolArray, FloatArray

N_BINS = 10
LEAST_ROWS = 5  # that a bin or a level stands for
MOST_LEVELS = 50
SLACK = 1e-9  # of a range that is stored as minimum and span: rounding


def spread_of(name: str, values: Any, missing: BoolArray | None = None, *, kind: str = "number") -> Spread:
    """The values of one column in bins of about the same number of rows, or by level."""
    present = values if missing is None else values[~missing]
    n_blank = len(values) - len(present)
    if kind == "number":
        cuts = _cuts(np.asarray(present, dtype=np.float64))
        return Spread(name, kind, tuple(cuts), (), _counted(present, cuts), 0, n_blank)
    frequent = [(level, n) for level, n in Counter(map(str, present)).most_common(MOST_LEVELS) if n >= LEAST_ROWS]
    levels, counts = zip(*frequent, strict=True) if frequent else ((), ())
    return Spread(name, kind, (), levels, counts, len(present) - sum(counts), n_blank)


def _cuts(values: FloatArray) -> list[float]:
    """Deciles of the values, less those that would leave fewer than five rows between them."""
    if not values.size:
        return []
    deciles = np.unique(np.quantile(values, np.arange(1, N_BINS) / N_BINS))
    below = np.searchsorted(np.sort(values), deciles, side="right")
    cuts: list[float] = []
    n_binned = 0
    for cut, n_below in zip(deciles.tolist(), below.tolist(), strict=True):
        if n_below - n_binned >= LEAST_ROWS <= values.size - n_below:
            cuts.append(cut)
            n_binned = n_below
    return cuts


def _counted(values: Any, cuts: Sequence[float]) -> tuple[int, ...]:
    places = np.searchsorted(cuts, np.asarray(values, dtype=np.float64), side="left")
    return tuple(np.bincount(places, minlength=len(cuts) + 1).tolist())


def spread_like(reference: Spread, values: Any, missing: BoolArray | None = None) -> Spread:
    """Other values in the bins of a reference."""
    present = values if missing is None else values[~missing]
    name, kind, n_blank = reference.name, reference.kind, len(values) - len(present)
    if kind == "number":
        return Spread(name, kind, reference.cuts, (), _counted(present, reference.cuts), 0, n_blank)
    found = Counter(map(str, present))
    counts = tuple(found[level] for level in reference.levels)
    return Spread(name, kind, (), reference.levels, counts, found.total() - sum(counts), n_blank)


def stability_index(one: Spread, two: Spread) -> tuple[float, int]:
    """Sum of (p - q) log(p / q) over the bins, blanks and other levels being bins too, and the number of bins.

    An empty bin counts as half a row: its logarithm would be infinite.
    """
    counts = np.array([(*spread.counts, spread.n_other, spread.n_blank) for spread in (one, two)], dtype=np.float64)
    counts = counts[:, counts.any(axis=0)]
    p, q = np.maximum(counts, 0.5) / counts.sum(axis=1, keepdims=True)
    return float((p - q) @ np.log(p / q)), counts.shape[1]


def largest_by_chance(n_bins: int, n_one: int, n_two: int, level: float) -> float:
    """What the index of two samples of one population exceeds with a probability of at most `level`, about.

    It is 1 / n + 1 / m times a chi-squared variable with one degree of freedom less than there are bins.
    """
    return float(stats.chi2.ppf(1.0 - level, n_bins - 1) * (1.0 / n_one + 1.0 / n_two)) if n_bins > 1 else 0.0


def outside_range(scaling: Scaling, features: FloatArray, some: Sequence[int]) -> BoolArray:
    """Which values of some features are beyond the training range, shape (n_samples, n_some)."""
    low, span = scaling.half_minimum[some], scaling.half_span[some]  # halves, which cannot overflow
    slack, values = SLACK * np.maximum(span, np.abs(low)), features[:, some] / 2
    return np.asarray((values < low - slack) | (values > low + span + slack))
