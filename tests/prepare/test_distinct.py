"""Equal rows: the same sets in the same order as numpy finds by sorting whole rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rfsc._utils.arrays import distinct_rows


@given(
    arrays(
        np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.sampled_from([-1.5, -0.0, 0.0, 2.0])
    )
)
def test_the_same_as_sorting_whole_rows(X):
    first, which = distinct_rows(list(X.T), len(X))
    distinct, index, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(X[first], distinct)
    np.testing.assert_array_equal(first, index)
    np.testing.assert_array_equal(which, inverse.ravel())


def test_columns_after_the_last_tie_are_not_read():
    def columns():
        yield np.array([3.0, 1.0, 2.0, 1.0])
        yield np.array([0.0, 5.0, 0.0, 4.0])
        yield np.array([0.0, 0.0, 0.0, 0.0])  # asked for, to find that nothing is tied
        raise AssertionError

    first, which = distinct_rows(columns(), 4)
    assert first.tolist() == [3, 1, 2, 0]
    assert which.tolist() == [3, 1, 2, 0]
