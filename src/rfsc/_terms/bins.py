"""Deal the terms of a space into bins at random, without ever listing the space.

A shuffle of n numbers is a one-to-one map of 0, ..., n - 1 onto themselves. Ours is computed number by number: a
Feistel network mixes the two halves of the bits of a number, which can be undone and is therefore one-to-one, and a
number that comes out at n or beyond goes through it again until it is below. So a bin costs what it holds, whatever the
size of the space.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._utils.arrays import IntArray

N_MIXINGS = 6
MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # odd, with bits all over
MOST_IN_A_BIN = 10_000_000  # terms that can be listed


def deal(n_terms: int, n_bins: int, which: int, seed: np.random.SeedSequence) -> IntArray:
    """The terms of one bin, ascending. All bins of a seed together hold every term once; they differ by one in size."""
    first, last = which * n_terms // n_bins, (which + 1) * n_terms // n_bins
    if last - first > MOST_IN_A_BIN:
        msg = (
            f"{n_terms:,} terms in {n_bins:,} bins are {last - first:,} in each, more than the {MOST_IN_A_BIN:,} that "
            "a bin can hold. Raise n_bins, lower degree, or keep fewer features with filter_significance."
        )
        raise ValueError(msg)
    return np.sort(shuffled(np.arange(first, last), n_terms, seed))


def shuffled(numbers: IntArray, n: int, seed: np.random.SeedSequence) -> IntArray:
    """Where a shuffle of 0, ..., n - 1 sends some numbers."""
    half = np.uint64(max((max(n - 1, 1).bit_length() + 1) // 2, 1))
    keys = np.asarray(seed.generate_state(N_MIXINGS, np.uint64), dtype=np.uint64)
    out = _mixed(numbers.astype(np.uint64), half, keys)
    beyond = np.flatnonzero(out >= n)
    while beyond.size:  # the map goes in circles, and each began below n
        out[beyond] = _mixed(out[beyond], half, keys)
        beyond = beyond[out[beyond] >= n]
    return out.astype(np.int64)


def _mixed(numbers: npt.NDArray[np.uint64], half: np.uint64, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A one-to-one map of the numbers of 2 * half bits."""
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = numbers >> half, numbers & mask
    for key in keys:
        left, right = right, left ^ (_hash(right ^ key) & mask)
    return (left << half) | right


def _hash(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Numbers that look unrelated to those that went in."""
    for multiplier in MULTIPLIERS:
        numbers = (numbers ^ (numbers >> np.uint64(31))) * multiplier
    return numbers ^ (numbers >> np.uint64(31))
