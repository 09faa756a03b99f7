"""P-values of many halves become one; and the bound on what chance selects."""

from __future__ import annotations

import numpy as np
import pytest
from hidimstat.statistical_tools.aggregation import quantile_aggregation
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rfsc.certify.certificate import aggregated, most_by_chance

P_VALUES = arrays(float, st.tuples(st.integers(1, 40), st.integers(0, 4)), elements=st.floats(0, 1))


def naive(p_values):
    """The definition: the least share g of at least 0.1, and of two halves, and the g-quantile over g."""
    n = len(p_values)
    g = next(k / n for k in range(min(2, n), n + 1) if k / n >= 0.1 - 1e-9)
    return min(1.0, np.quantile(p_values, g, method="inverted_cdf") / g)


@given(p_values=P_VALUES)
def test_aggregation_is_that_of_the_definition(p_values):
    found = aggregated(p_values)
    assert found.shape == p_values.shape[1:]
    for own, p in zip(found, p_values.T, strict=True):
        assert own == pytest.approx(naive(p), rel=1e-9)


def test_one_small_value_in_many_halves_is_not_enough():
    p_values = np.ones((100, 1))
    p_values[0] = 1e-9
    assert aggregated(p_values)[0] == 1.0
    p_values[:9] = 1e-9
    assert aggregated(p_values)[0] == 1.0
    p_values[:10] = 1e-9
    assert aggregated(p_values)[0] == pytest.approx(1e-8)


@given(p_values=arrays(float, st.tuples(st.integers(5, 60), st.just(2)), elements=st.floats(0, 1)))
def test_aggregation_beside_hidimstat(p_values):
    """It interpolates between the quantile and the next larger value; ours is the quantile itself."""
    n = len(p_values)
    k = max(int(np.ceil(0.1 * n - 1e-9)), 2)
    theirs = quantile_aggregation(p_values, gamma=k / n)
    above = np.minimum(np.sort(p_values, axis=0)[min(k, n - 1)] * n / k, 1.0)
    assert np.all(aggregated(p_values) <= theirs + 1e-12)
    assert np.all(theirs <= above + 1e-12)


def test_bound_of_shah_and_samworth():
    assert most_by_chance(8.0, 30, 0.9, 50) == pytest.approx(0.2334, abs=1e-3)  # the classical bound is 2.7
    assert most_by_chance(0.0, 30, 0.9, 50) == 0.0
    assert most_by_chance(29.0, 30, 0.9, 50) == 30.0


@given(size=st.floats(0.5, 15.0), threshold=st.sampled_from([0.6, 0.75, 0.9, 1.0]))
def test_bound_falls_with_the_threshold_and_rises_with_the_size(size, threshold):
    bound = most_by_chance(size, 30, threshold, 20)
    assert 0.0 <= bound <= 30.0
    assert most_by_chance(size + 1.0, 30, threshold, 20) >= bound - 1e-6
    assert most_by_chance(size, 30, min(threshold + 0.1, 1.0), 20) <= bound + 1e-6
