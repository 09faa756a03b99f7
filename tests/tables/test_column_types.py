"""What a column holds: numbers, text or dates, and which cells are blank."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._input.column_types import column_of_kind, infer_column


def column(cells, dtype=object):
    return infer_column("x", pd.Series(cells, dtype=dtype))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2.5", "3e4", ""], "number"),
        (["1"] * 19 + ["abc"], "number"),
        (["1"] * 18 + ["abc", "def"], "text"),
        (["1", "n/a", "-", "?", "unknown"], "number"),
        (["True", "FALSE", ""], "text"),
        (["yes", "no"], "text"),
        (["01234", "99999"], "text"),  # post codes
        (["0", "0.5", "00.5"], "number"),
        (["2020-01-31", "2021-12-01T10:00", ""], "date"),
        (["31.1.2020", "1.12.21"], "date"),
        (["1/2/2020"] * 19 + ["soon"], "date"),
        (["", "?"], "text"),
        (["none", "none"], "text"),
        (["inf", "nan", "1_0"], "text"),
        ([True, None, False], "number"),
        ([Decimal("1.5"), 2, None], "number"),
        ([datetime.date(2020, 1, 1), None], "date"),
        ([[1], [2]], "other"),
        ([1, "a"], "text"),
        ([None, None], "text"),
    ],
    ids=str,
)
def test_kinds(cells, kind):
    assert column(cells).kind == kind


def test_dtypes_of_data_frames():
    assert column([1, 2], "int64").kind == "number"
    assert column([1, None], "Int64").values.tolist()[0] == 1.0
    assert column(["a", None], "category").values.tolist() == ["a", None]
    assert column(["a", None], "str").values.tolist() == ["a", None]
    assert column(["2020-01-01"], "datetime64[ns]").kind == "date"
    assert column([1.0, np.inf], "float64").n_not_numbers == 1


def test_cells_that_are_not_numbers_are_counted():
    found = column(["1"] * 60 + ["12 kg", "abc", "n/a", "", "1e999"])
    assert (found.kind, found.n_not_numbers, int(found.blank.sum())) == ("number", 3, 5)


def test_values():
    np.testing.assert_array_equal(column(["1", " -2.5 ", "n/a", ""]).values, [1, -2.5, np.nan, np.nan])
    assert column(["true", "False", "?", "TRUE", "true"]).values.tolist() == ["true", "False", None, "true", "true"]
    assert column([" a ", "?", "none", "NA"]).values.tolist() == ["a", None, "none", None]


def test_column_of_a_given_kind():
    series = pd.Series(["1", "a", "none", ""], dtype=object, name="x")
    numbers, texts = column_of_kind("x", series, "number"), column_of_kind("x", series, "text")
    np.testing.assert_array_equal(numbers.values, [1, np.nan, np.nan, np.nan])
    assert numbers.n_not_numbers == 1
    assert texts.values.tolist() == ["1", "a", "none", None]
    assert column_of_kind("x", pd.Series([1.0, 2.5, None]), "text").values.tolist() == ["1", "2.5", None]


@given(st.lists(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.none()), min_size=1))
def test_numbers_survive_being_written(values):
    cells = ["" if value is None else repr(value) for value in values]
    found = column_of_kind("x", pd.Series(cells, dtype=object), "number")
    np.testing.assert_array_equal(found.values, np.array(values, dtype=float))
    if any(value is not None for value in values):
        assert column(cells).kind == "number"


@given(st.lists(st.text(max_size=3), min_size=1))
def test_every_column_has_a_kind(cells):
    found = column(cells)
    assert found.kind in ("number", "text", "date")
    assert len(found.values) == len(cells)
    assert found.n_distinct <= (~found.blank).sum()
