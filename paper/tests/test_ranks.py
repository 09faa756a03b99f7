"""Ranks against sorting by hand, the tests against scipy and Demšar, the groups against their definition."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import friedmanchisquare

from paper.ranks import Ranks, compare

# few different values, so that ties are common
tables = arrays(float, st.tuples(st.integers(2, 6), st.integers(2, 7)), elements=st.sampled_from([0.5, 0.7, 0.8, 0.9]))


def as_scores(table):
    return {f"m{i}": row.tolist() for i, row in enumerate(table)}


@given(tables)
def test_mean_ranks_by_counting(table):
    found = compare(as_scores(table))
    for name, rank in zip(found.names, found.mean_rank, strict=True):
        own = table[int(name[1:])]
        better, equal = (table > own).sum(axis=0), (table == own).sum(axis=0)
        assert rank == pytest.approx(np.mean(better + (equal + 1) / 2))
    assert sorted(found.names) == sorted(as_scores(table))
    assert (np.diff(found.mean_rank) >= 0).all()
    assert found.mean_rank.mean() == pytest.approx((len(table) + 1) / 2)


@given(tables)
def test_p_value_is_that_of_scipy(table):
    p_value = compare(as_scores(table)).p_value
    if len(table) == 2 or (table == table[:1]).all():
        assert math.isnan(p_value)
    else:
        assert p_value == pytest.approx(friedmanchisquare(*table).pvalue)


def test_scores_that_differ_by_rounding_are_tied():
    found = compare({"a": [0.1 + 0.2, 0.5], "b": [0.3, 0.5]})
    assert found.mean_rank.tolist() == [1.5, 1.5]
    assert found.names == ("a", "b")


@pytest.mark.parametrize(
    ("n_methods", "n_sets", "level", "difference"),
    [
        (4, 14, 0.05, 1.25),  # Demšar 2006, section 3.2.2
        (4, 14, 0.10, 2.291 * math.sqrt(20 / 84)),  # his Table 5
        (2, 10, 0.05, 1.960 * math.sqrt(6 / 60)),
        (10, 6, 0.05, 3.164 * math.sqrt(110 / 36)),
    ],
)
def test_critical_difference_of_demsar(n_methods, n_sets, level, difference):
    table = np.random.default_rng(0).random((n_methods, n_sets))
    found = compare(as_scores(table), level=level)
    assert found.critical_difference == pytest.approx(difference, rel=3e-3)
    assert found.level == level


@given(
    st.lists(st.integers(4, 40).map(lambda quarter: quarter / 4), min_size=1, max_size=9),
    st.integers(0, 24).map(lambda quarter: quarter / 4),
)
def test_groups_are_the_longest_runs_within_the_difference(ranks, difference):
    rank = np.sort(np.array(ranks))  # quarters: sums and differences are exact
    names = tuple(f"m{i}" for i in range(len(rank)))
    groups = Ranks(names, rank, math.nan, difference, 0.05).groups()
    runs = [(a, b) for a, b in itertools.combinations(range(len(rank)), 2) if rank[b] - rank[a] <= difference]
    longest = [(a, b) for a, b in runs if not any((c, d) != (a, b) and c <= a and b <= d for c, d in runs)]
    assert groups == sorted(longest)


@pytest.mark.parametrize("scores", [{"a": [1.0, 0.5]}, {"a": [1.0], "b": [0.5]}])
def test_too_few_to_compare(scores):
    with pytest.raises(ValueError, match="at least two methods on at least two data sets"):
        compare(scores)
