"""Steps x > k between neighbouring training values and, as an option, levels x = v of features with few integers.

Knots, here and in other families, are weighted quantiles moved to round numbers in the user's own units. They are found
for many features at once, because a loop over 20,000 of them would delay the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.validation import check_count
from .expression import Condition, Scaled
from .naming import MAX_DIGITS
from .scaling import Scaling
from .space import TermSpace, Training, checked_ids
from .term import Term

BLOCK = 2**20  # numbers sorted at once
MAX_LEVELS = 10  # a feature with more distinct values is a quantity
MARGIN = 0.01  # share of the gap between two values that a cut keeps away from either


def sorted_blocks(training: Training) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    """Features that vary, a few at a time, with sorted values and the weight up to each; at least one block."""
    features = training.features[~training.scaling.constant[training.features]]
    rows = np.flatnonzero(training.weight > 0)
    weight = training.weight[rows]
    size = max(1, BLOCK // max(rows.size, 1))
    for first in range(0, max(features.size, 1), size):
        block = features[first : first + size]
        values = training.table[np.ix_(block, rows)]
        if np.all(weight == 1.0):  # many times faster than sorting the weights too
            values.sort(axis=1)
            cumulative = np.broadcast_to(np.arange(1.0, rows.size + 1), values.shape)
        else:
            order = np.argsort(values, axis=1, kind="stable")
            values = np.take_along_axis(values, order, axis=1)
            cumulative = np.cumsum(weight[order], axis=1)
        varies = values[:, 0] < values[:, -1]  # rows without weight may have made the range
        yield block[varies], values[varies], cumulative[varies]


def quantile_positions(cumulative: FloatArray, n_levels: int) -> IntArray:
    """Positions, shape (n_features, n_levels), of the quantiles at 1, ..., n_levels over n_levels + 1.

    A quantile is the smallest value whose rows and those below make up that share of the weight. Shares are compared
    after multiplying by n_levels + 1, so that a row of weight 2 and the same row twice never differ by rounding.
    """
    scaled, total = cumulative * (n_levels + 1), cumulative[:, -1]
    position = [(scaled < (level * total)[:, None]).sum(axis=1) for level in range(1, n_levels + 1)]
    return np.stack(position, axis=1).astype(np.int64)


def readable(value: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """The number with the fewest digits near each value that lies in [low, high]; the value itself if there is none."""
    out = np.where((low <= 0) & (high >= 0), 0.0, value)
    left = np.flatnonzero((out != 0) & np.isfinite(value))
    magnitude = np.zeros(value.size, dtype=np.int64)
    magnitude[left] = np.floor(np.log10(np.abs(value[left])))
    for digits in range(1, MAX_DIGITS):
        if not left.size:
            break
        v, places = value[left], digits - 1 - magnitude[left]
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):  # what overflows is out of reach
            power = 10.0 ** np.abs(places)
            # dividing by an exact power of ten gives the double that is printed with these few digits
            short = np.where(places >= 0, np.rint(v * power) / power, np.rint(v / power) * power)
        fits = (low[left] <= short) & (short <= high[left])
        out[left[fits]] = short[fits]
        left = left[~fits]
    return out + 0.0  # no negative zero


class StepSpace(TermSpace):
    """All steps at given knots, then all given levels.

    `knots` and `shown` are the knot or level of every term in scaled and in the user's own units; the first `n_steps`
    terms are steps.
    """

    def __init__(self, features: IntArray, knots: FloatArray, shown: FloatArray, n_steps: int) -> None:
        self.features, self.knots, self.shown, self.n_steps = features, knots, shown, n_steps
        self.n_terms = int(features.size)

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        ids = checked_ids(ids, self.n_terms)
        x, at = table[self.features[ids]], self.knots[ids][:, None]
        return np.where((ids < self.n_steps)[:, None], x > at, x == at).astype(np.float64)

    def term(self, j: int) -> Term:
        relation = ">" if j < self.n_steps else "="
        return Term(Condition(Scaled(int(self.features[j])), relation, float(self.knots[j]), float(self.shown[j])))

    @property
    def singles(self) -> tuple[IntArray, IntArray]:
        return np.arange(self.n_terms), self.features


@dataclass(frozen=True, slots=True)
class Step:
    """Steps between training values, at weighted quantiles.

    Parameters
    ----------
    n_knots : int, default=8
        Quantiles at which a feature may be cut; a feature with at most one more distinct values is cut everywhere.
    levels : bool, default=False
        Whether features with at most 10 distinct values, all of them integers, also offer ``x=3``. The lowest and
        the highest level are left out if a cut says the same.
    """

    n_knots: int = 8
    levels: bool = False

    def __post_init__(self) -> None:
        check_count("n_knots", self.n_knots)
        if not isinstance(self.levels, bool | np.bool_):
            msg = f"levels must be True or False, got {self.levels!r}."
            raise ValueError(msg)

    def space(self, training: Training, rng: np.random.Generator) -> StepSpace:  # noqa: ARG002  no randomness needed
        """Place the cuts, and list the levels if asked for."""
        steps, levels = [], []
        for features, values, cumulative in sorted_blocks(training):
            cut = choose_cuts(values, cumulative, int(self.n_knots))
            steps.append(place_cuts(features, values, cut, training.scaling))
            if self.levels:
                levels.append(list_levels(features, values, cut, training.scaling))
        features, knots, shown = (np.concatenate(arrays) for arrays in zip(*steps, *levels, strict=True))
        return StepSpace(features, knots, shown, n_steps=sum(part[0].size for part in steps))


def choose_cuts(values: FloatArray, cumulative: FloatArray, n_knots: int) -> BoolArray:
    """Whether to cut between each sorted value and the next: everywhere if few differ, else above the quantiles."""
    differ = values[:, 1:] > values[:, :-1]
    last = differ.shape[1]
    # for each position the first gap at or after it; `last` stands for none
    gap = np.minimum.accumulate(np.where(differ, np.arange(last), last)[:, ::-1], axis=1)[:, ::-1]
    gap = np.append(gap, np.full((len(gap), 1), last), axis=1)
    chosen = np.zeros((len(gap), last + 1), dtype=np.bool_)
    np.put_along_axis(chosen, np.take_along_axis(gap, quantile_positions(cumulative, n_knots), axis=1), True, axis=1)
    few = differ.sum(axis=1) <= n_knots
    return np.where(few[:, None], differ, chosen[:, :-1])


def place_cuts(
    features: IntArray, values: FloatArray, cut: BoolArray, scaling: Scaling
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Features and knots of the chosen cuts; the knots are short numbers between the neighbouring values."""
    group, at = np.nonzero(cut)
    feature, below, above = features[group], values[group, at], values[group, at + 1]
    low, high = scaling.to_user(feature, below), scaling.to_user(feature, above)
    middle = low / 2 + high / 2
    middle = np.where((low < middle) & (middle < high), middle, low)  # no number between: x > low is the same rule
    margin = MARGIN * (high / 2 - low / 2) * 2
    shown = readable(middle, np.nextafter(low + margin, high), np.nextafter(high - margin, low))
    knots = np.clip(scaling.to_scaled(feature, shown), below, np.nextafter(above, below))
    use = low < high
    return feature[use], knots[use], shown[use]


def list_levels(
    features: IntArray, values: FloatArray, cut: BoolArray, scaling: Scaling
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Features and levels of the features with few integers, but for the ends that a cut sets apart already."""
    differ = values[:, 1:] > values[:, :-1]
    few = differ.sum(axis=1) < MAX_LEVELS
    starts = np.append(np.ones((len(values), 1), dtype=np.bool_), differ, axis=1) & few[:, None]
    group, at = np.nonzero(starts)
    feature, level = features[group], values[group, at]
    shown = np.rint(scaling.to_user(feature, level)) + 0.0
    # exact: the scaled integer must be the very number that the rows hold, or x = level would never be true
    broken = np.bincount(group[scaling.to_scaled(feature, shown) != level], minlength=features.size) > 0
    first_gap, last_start = differ.argmax(axis=1)[group], differ.shape[1] - differ[:, ::-1].argmax(axis=1)[group]
    is_cut_off = ((at == 0) & cut[group, first_gap]) | ((at == last_start) & cut[group, last_start - 1])
    use = ~broken[group] & ~is_cut_off
    return feature[use], level[use], shown[use]
