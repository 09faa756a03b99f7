"""Nogueira, Sechidis and Brown (JMLR 18, 2018), Definition 4, Theorem 7 and Corollary 9, one number at a time."""

from __future__ import annotations

import math
from statistics import NormalDist


def naive_stability(selections, n_candidates):
    """Index and the variance of its estimate; selections are sets of numbers below n_candidates."""
    m, d = len(selections), n_candidates
    share = [sum(j in chosen for chosen in selections) / m for j in range(d)]
    mean_size = sum(len(chosen) for chosen in selections) / m
    denominator = mean_size / d * (1 - mean_size / d)
    index = 1 - sum(m / (m - 1) * p * (1 - p) for p in share) / d / denominator
    parts = []
    for chosen in selections:
        k = len(chosen)
        overlap = sum(share[j] for j in chosen) / d
        correction = index / 2 * (2 * k * mean_size / d**2 - k / d - mean_size / d + 1)
        parts.append((overlap - k * mean_size / d**2 + correction) / denominator)
    mean = sum(parts) / m
    return index, 4 / m**2 * sum((part - mean) ** 2 for part in parts)


def naive_interval(index, variance, level):
    """Ends of the interval by the normal approximation."""
    reach = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt(variance)
    return index - reach, index + reach


def kuncheva(a, b, n_candidates):
    """Agreement of two selections of the same size, corrected for chance."""
    k, d = len(a), n_candidates
    return (len(a & b) - k * k / d) / (k - k * k / d)
