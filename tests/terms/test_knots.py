"""Sorted values and the weight up to each: rows of weight one take a faster way to the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rfsc._terms.steps import sorted_blocks

from .layout import training_of

TABLES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(-3, 3).map(float))


@given(TABLES)
def test_rows_of_weight_one_are_half_of_rows_of_weight_two(X):
    ones, twos = (list(sorted_blocks(training_of(X, weight=np.full(len(X), w)))) for w in (1.0, 2.0))
    assert len(ones) == len(twos)
    for one, two in zip(ones, twos, strict=True):
        np.testing.assert_array_equal(one[0], two[0])
        np.testing.assert_array_equal(one[1], two[1])
        np.testing.assert_array_equal(2 * one[2], two[2])
