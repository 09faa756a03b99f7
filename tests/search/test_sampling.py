"""Drawing: the right distribution, no dense space, no more than max_terms."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rfsc._search.rips import RIPs, sample_population
from tests.search.runs import dense


def counts(supports, n_terms):
    return np.bincount(supports.ids, minlength=n_terms)


def test_each_term_is_drawn_with_its_probability(rng):
    rips = RIPs(12, 0.07, np.array([0, 3, 4, 11]), np.array([0.9, 0.0, 0.35, 1.0]))
    n = 20_000
    supports = sample_population(rips, n, 60, rng)
    expected = dense(rips)
    for seen, p in zip(counts(supports, 12), expected, strict=True):
        assert stats.binomtest(int(seen), n, p).pvalue > 1e-4 if 0 < p < 1 else seen == n * p


def test_terms_are_drawn_independently(rng):
    n = 20_000
    supports = sample_population(RIPs(3, 0.5, np.array([1]), np.array([0.3])), n, 60, rng)
    patterns = np.zeros(8)
    for m in range(n):
        patterns[sum(1 << int(j) for j in supports[m])] += 1
    p = np.array([np.prod([q if k >> j & 1 else 1 - q for j, q in enumerate((0.5, 0.3, 0.5))]) for k in range(8)])
    assert stats.chisquare(patterns, n * p).pvalue > 1e-4


@given(
    n_terms=st.integers(1, 50),
    default=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
    limit=st.integers(1, 10),
    data=st.data(),
)
def test_supports_are_sorted_distinct_and_small(n_terms, default, seed, limit, data):
    ids = np.array(sorted(data.draw(st.sets(st.integers(0, n_terms - 1)))), dtype=np.int64)
    values = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(ids), max_size=len(ids))))
    supports = sample_population(RIPs(n_terms, default, ids, values), 7, limit, np.random.default_rng(seed))
    assert len(supports) == 7
    for m in range(7):
        assert supports[m].size <= limit
        assert (np.diff(supports[m]) > 0).all()
        assert ((supports[m] >= 0) & (supports[m] < n_terms)).all()
        assert not np.isin(supports[m], ids[values == 0]).any()


def test_the_cap_drops_terms_at_random(rng):
    supports = sample_population(RIPs(20, 1.0, np.empty(0, np.int64), np.empty(0)), 5000, 4, rng)
    assert (supports.sizes == 4).all()
    assert stats.chisquare(counts(supports, 20)).pvalue > 1e-4


def test_same_seed_same_population():
    rips = RIPs(1000, 0.01, np.empty(0, np.int64), np.empty(0))
    a, b = (sample_population(rips, 50, 60, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(a.ids, b.ids)
    assert np.array_equal(a.indptr, b.indptr)
