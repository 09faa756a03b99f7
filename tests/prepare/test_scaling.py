"""Scaling to [0, 1]: the range of the rows, also at the ends of floating point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rfsc._terms.scaling import Scaling

TINY = np.finfo(float).tiny
finite = st.floats(allow_nan=False, allow_infinity=False)
tables = arrays(float, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=finite)


@settings(max_examples=200)
@given(tables)
def test_every_finite_table_goes_to_the_unit_range(X):
    scaling = Scaling.from_rows(X)
    table = scaling.table(X)
    assert table.shape == X.T.shape
    assert table.flags.c_contiguous
    assert ((table >= 0) & (table <= 1)).all()
    varies = ~scaling.constant
    np.testing.assert_array_equal(table[varies].min(axis=1), 0.0)
    np.testing.assert_array_equal(table[varies].max(axis=1), 1.0)
    np.testing.assert_array_equal(table[~varies], 0.0)


@settings(max_examples=200)
@given(tables)
def test_rows_are_the_rows_of_the_table(X):
    scaling = Scaling.from_rows(X)
    table = scaling.table(X)
    features = np.flatnonzero(~scaling.constant).tolist()
    rows = scaling.rows(X, features)
    assert list(rows) == features
    for p in features:
        np.testing.assert_array_equal(rows[p], table[p])


@given(
    X=arrays(float, (6, 3), elements=st.floats(-1.0, 1.0, allow_subnormal=False), fill=st.nothing()),
    unit=st.sampled_from([1e-290, 1.0, 1e300, 1.7e308]),
)
def test_slope_and_offset_give_the_same_line(X, unit):
    X[0], X[1] = -1.0, 0.75  # a range of the size of the values: nothing cancels
    X = X * unit
    scaling = Scaling.from_rows(X)
    for p, row in scaling.rows(X, range(3)).items():
        np.testing.assert_allclose(scaling.slope(p) * X[:, p] + scaling.offset(p), row, rtol=1e-12, atol=1e-12)


def test_other_rows_use_the_range_of_the_training_rows():
    scaling = Scaling.from_rows(np.array([[1.0], [5.0], [3.0]]))
    np.testing.assert_array_equal(scaling.table(np.array([[9.0], [-3.0], [2.0]])), [[2.0, -1.0, 0.25]])


def test_constant_features_are_found():
    X = np.array([[1.0, 7.3, 0.0, 5e-324], [2.0, 7.3, 0.0, 5e-324]])
    scaling = Scaling.from_rows(X)
    np.testing.assert_array_equal(scaling.constant, [False, True, True, True])
    np.testing.assert_array_equal(scaling.table(X), [[0, 1], [0, 0], [0, 0], [0, 0]])


def test_a_range_that_overflows_is_scaled_all_the_same():
    X = np.array([[-1.7e308], [0.0], [1.7e308]])
    scaling = Scaling.from_rows(X)
    np.testing.assert_array_equal(scaling.table(X), [[0.0, 0.5, 1.0]])
    assert scaling.slope(0) > 0
    assert scaling.offset(0) == 0.5


@pytest.mark.parametrize(("top", "constant"), [(5e-324, True), (TINY, True), (2 * TINY, False), (4 * TINY, False)])
def test_ranges_below_the_normal_numbers_count_as_constant(top, constant):
    X = np.array([[0.0], [top]])
    scaling = Scaling.from_rows(X)
    assert scaling.constant.item() is constant
    np.testing.assert_array_equal(scaling.table(X), [[0.0, 0.0 if constant else 1.0]])


def test_the_input_is_not_changed(rng):
    X = np.asfortranarray(rng.normal(size=(5, 3)))
    copy = X.copy()
    Scaling.from_rows(X).table(X)
    np.testing.assert_array_equal(X, copy)
