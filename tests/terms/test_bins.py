"""Bins hold every term once, whatever the size of the space, and differ from seed to seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rfsc._terms.bins import deal, shuffled


@given(n_terms=st.integers(1, 3000), share=st.floats(0, 0.1), seed=st.integers(0, 2**32 - 1))
def test_bins_hold_every_term_once(n_terms, share, seed):
    n_bins = max(1, round(share * n_terms))
    bins = [deal(n_terms, n_bins, k, np.random.SeedSequence(seed)) for k in range(n_bins)]
    sizes = [one.size for one in bins]
    assert max(sizes) - min(sizes) <= 1
    assert all(np.all(np.diff(one) > 0) for one in bins)
    np.testing.assert_array_equal(np.sort(np.concatenate(bins)), np.arange(n_terms))


@given(n=st.integers(2**40, 2**60), seed=st.integers(0, 2**32 - 1))
def test_huge_spaces_are_shuffled_one_to_one(n, seed):
    numbers = np.unique(np.random.default_rng(seed).integers(0, n, 200))
    out = shuffled(numbers, n, np.random.SeedSequence(seed))
    assert np.unique(out).size == numbers.size
    assert out.min() >= 0
    assert out.max() < n


def test_every_term_may_come_anywhere():
    """Over many seeds, each of ten terms lands at each of ten places alike, and so do pairs of neighbours."""
    places = np.array([shuffled(np.arange(10), 10, np.random.SeedSequence(seed)) for seed in range(2000)])
    for term in range(10):
        assert stats.chisquare(np.bincount(places[:, term], minlength=10)).pvalue > 1e-4
    gaps = np.bincount((places[:, 1] - places[:, 0]) % 10, minlength=10)[1:]
    assert stats.chisquare(gaps).pvalue > 1e-4


def test_neighbours_are_parted():
    """Terms of one block, which move together, are spread over the bins of a wide space."""
    owner = np.empty(100_001, dtype=np.int64)
    for k in range(200):
        owner[deal(100_001, 200, k, np.random.SeedSequence(3))] = k
    together = np.mean(owner[1:] == owner[:-1])
    assert together == pytest.approx(1 / 200, abs=4 * np.sqrt(1 / 200 / 100_000))


def test_bins_that_cannot_be_listed_are_refused():
    with pytest.raises(ValueError, match=r"12,500,000 in each, more than .* Raise n_bins, lower degree"):
        deal(12_500_000_000, 1_000, 0, np.random.SeedSequence(0))
    assert deal(5_000_150_001, 1_000_000, 7, np.random.SeedSequence(0)).size in (5000, 5001)
