"""From the p-values and selections of many halves to one statement about each unit."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from .._utils.arrays import FloatArray

QUANTILE = 0.1  # of the p-values of the halves; of 0.1 to 0.5 the one with the most power in simulations
LEAST_HALVES = 2  # a single half decides on nothing
LOW, HIGH = -30.0, 15.0  # between which log(a) of the extreme distributions lies


def aggregated(p_values: FloatArray) -> FloatArray:
    """One p-value for each unit out of those of the halves (half, unit), whatever their dependence.

    A fixed quantile over its share: the k-th smallest of n p-values times n / k (Meinshausen, Meier and Bühlmann,
    JASA 104, 2009, equation 2.2). To choose the best of all quantiles from 0.05 on would cost a factor of 4.
    """
    n = len(p_values)
    k = max(int(np.ceil(QUANTILE * n - 1e-9)), min(LEAST_HALVES, n))
    return np.asarray(np.minimum(np.sort(p_values, axis=0)[k - 1] * (n / k), 1.0))


def most_by_chance(mean_size: float, n_units: int, threshold: float, n_pairs: int) -> float:
    """Bound on the expected number of units that chance selects in a share of the halves of at least `threshold`.

    By chance means: no more often than a unit drawn at random (Shah and Samworth, JRSS B 75, 2013, with r-concave
    shares).
    """
    share = mean_size / n_units
    times = round(2 * n_pairs * threshold)
    both = _largest_tail(share**2, times - n_pairs, n_pairs, -0.5)  # selected in both halves of a pair
    one = _largest_tail(share, times, 2 * n_pairs, -0.25)
    return float(n_units * min(both, one, 1.0))


def _largest_tail(mean: float, times: int, n: int, r: float) -> float:
    """The largest probability of at least `times` out of n under an r-concave distribution with this mean share.

    The extreme distributions follow (a + i)^(1/r) up to some k, with a smaller atom at k + 1.
    """
    expected = mean * n
    if expected == 0.0:
        return 0.0
    if times <= 2.0 * expected + 1.0:
        return 1.0

    def mass(log_a: float, k: int) -> FloatArray:
        return np.asarray((np.exp(log_a) + np.arange(k + 1.0)) ** (1.0 / r))

    def log_a_of(k: int) -> float:  # with which the distribution up to k alone has this mean
        i = np.arange(k + 1.0)
        return float(brentq(lambda log_a: np.average(i, weights=mass(log_a, k)) - expected, LOW, HIGH))

    def below(log_a: float, k: int) -> float:
        own = mass(log_a, k)
        atom = ((expected - np.arange(k + 1.0)) * own).sum() / (k + 1.0 - expected)  # what the mean demands
        return float(own[:times].sum() / (own.sum() + atom))

    ends = [log_a_of(k) for k in range(times - 1, n + 1)]
    least = [
        minimize_scalar(below, bounds=(after, before), args=(k,), method="bounded").fun
        for k, before, after in zip(range(times - 1, n), ends, ends[1:], strict=False)
    ]
    return 1.0 - min(least, default=1.0)
