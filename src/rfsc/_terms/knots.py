"""Where the terms of one feature bend or jump.

Knots are weighted quantiles, moved to round numbers in the user's own units. They are found for many features at once,
because a loop over 20,000 of them would delay the search.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .naming import MAX_DIGITS
from .space import Training

BLOCK = 2**20  # numbers sorted at once


def sorted_blocks(training: Training) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    """Features that vary, a few at a time, with their sorted values and the weight up to and including each.

    There is at least one block, which may be empty.
    """
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
