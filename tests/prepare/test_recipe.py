"""Recipes: raw cells to numbers, with every kind of missing cell."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rfsc._model.cells import CellFormat
from rfsc._model.recipe import LevelOf, MissingIn, NumberOf, RawColumn, Recipe
from rfsc._utils.files import DamagedError, decode, encode

COLUMNS = (RawColumn("age", "number"), RawColumn("sex", "text"), RawColumn("ward", "text"))
FEATURES = (
    NumberOf(0, fill=40.0),
    NumberOf(0),
    MissingIn(0),
    LevelOf(1, ("f",)),
    LevelOf(1, (None,)),
    LevelOf(2, ("a", 3.0, None), other=True),
)
RECIPE = Recipe(COLUMNS, FEATURES, ("age", "z", "age missing", "sex=f", "sex missing", "ward: other"))
ROWS = [[50, "f", "a"], [None, "m", 3], [30.5, None, "zz"], [float("nan"), "f", None]]
EXPECTED = np.array(
    [
        [50.0, 50.0, 0, 1, 0, 0],
        [40.0, np.nan, 1, 0, 0, 0],
        [30.5, 30.5, 0, 0, 1, 1],
        [40.0, np.nan, 1, 1, 0, 0],
    ]
)


@pytest.mark.parametrize(
    "make", [list, lambda rows: np.array(rows, dtype=object), lambda rows: pd.DataFrame(rows)[[0, 1, 2]]]
)
def test_every_kind_of_cell(make):
    rows = make(ROWS)
    if isinstance(rows, pd.DataFrame):
        rows = rows.set_axis(["age", "sex", "ward"], axis=1)[["ward", "age", "sex"]]  # found by name
    np.testing.assert_array_equal(RECIPE.table(rows), EXPECTED)


def test_frames_with_their_own_kinds_of_missing():
    frame = pd.DataFrame(
        {
            "age": pd.array([50, pd.NA, 30], dtype="Int64"),
            "sex": pd.array(["f", pd.NA, "m"], dtype="string"),
            "ward": pd.Categorical(["a", None, "b"]),
        }
    )
    expected = [[50, 50, 0, 1, 0, 0], [40, np.nan, 1, 0, 1, 0], [30, 30, 0, 0, 0, 1]]
    np.testing.assert_array_equal(RECIPE.table(frame), expected)
    polars = pl.DataFrame({"age": [50, None, 30], "sex": ["f", None, "m"], "ward": ["a", None, "b"]})
    np.testing.assert_array_equal(RECIPE.table(polars), expected)


@pytest.mark.parametrize(
    ("comma", "cells", "refused"),
    [
        (None, ["22,7"], True),
        (None, ["<22,7 mg", "5"], True),
        ("", ["1.234,5", "5", None], True),
        ("swap", ["22.7", "1,234.5", "x"], True),
        ("", ["1,234", "22.7"], False),
        (None, ["1,234", "n.d.", "1,5,5"], False),  # may be thousands
        (".", ["22.7", "22,7"], False),
        ("swap", ["1.234", "22,7"], False),
        (None, [*map(str, range(19)), "22,7"], False),  # a slip of the pen, as in the table of a fit
        (None, [*map(str, range(18)), "22,7"], True),
    ],
)
def test_columns_with_another_decimal_sign_are_refused(comma, cells, refused):
    recipe = Recipe((RawColumn("x", "number", None, CellFormat("mg", comma)),), (NumberOf(0, 7.0),), ("x",))
    frame = pd.DataFrame({"x": cells}, dtype=object)
    if not refused:
        assert recipe.table(frame).shape == (len(cells), 1)
        return
    with pytest.raises(ValueError, match=r"column 'x' has decimal (commas|points), but decimal") as caught:
        recipe.table(frame)
    assert "22" not in str(caught.value)


def test_no_rows_give_no_rows():
    assert RECIPE.table(pd.DataFrame({"age": [], "sex": [], "ward": []})).shape == (0, 6)


def test_plain_data_and_back():
    assert decode(Recipe, encode(RECIPE)) == RECIPE
    assert Recipe.identity(["a", "b"]).table([[1, 2]]).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    "change",
    [
        {"columns": [{"name": "age"}]},
        {"columns": [{"name": "age", "kind": "date", "levels": None}] * 3},
        {"columns": [{"name": "age", "kind": "text", "levels": [[]]}] * 3},
        {"features": [{"kind": "code", "column": 0}]},
        {"features": [{"kind": "missing", "column": 7}] * 6},
        {"features": [{"kind": "missing", "column": "0"}] * 6},
        {"features": [{"kind": "number", "column": 0, "fill": "1"}] * 6},
        {"features": [{"kind": "level", "column": 1, "levels": [[]], "other": False}] * 6},
        {"names": ["a"]},
        {"names": None},
    ],
)
def test_damage_is_refused(change):
    with pytest.raises((DamagedError, ValueError, KeyError)):
        decode(Recipe, encode(RECIPE) | change)


def test_errors_name_columns_and_show_no_cells():
    with pytest.raises(ValueError, match=r"lacks 1 of the 3 columns.*'ward'"):
        RECIPE.table(pd.DataFrame({"age": [1], "sex": ["f"]}))
    with pytest.raises(ValueError, match="3 columns"):
        RECIPE.table([[1, 2]])
    with pytest.raises(ValueError, match="column 'age' must hold numbers") as error:
        RECIPE.table([["secret", "f", "a"]])
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("cells", [np.array(["2020-01-31"], "M8[D]"), [datetime.date(2020, 1, 31)]])
def test_dates_in_a_column_of_numbers(cells):
    with pytest.raises(ValueError, match=r"column 'x' must hold numbers, got dates. Turn them into days or years."):
        Recipe.identity(["x"]).table(pd.DataFrame({"x": cells}))


def test_infinite_values_are_not_called_missing():
    recipe = Recipe((RawColumn("x", "number"),), (NumberOf(0, 60.0),), ("x",))
    with pytest.raises(ValueError, match=r"^infinite values in 1 column: 'x'. Replace them by numbers or None"):
        recipe.complete_table(pd.DataFrame({"x": [np.inf, 1.0]}))


def test_the_text_nan_is_missing():
    recipe = Recipe((RawColumn("x", "number"),), (NumberOf(0, 60.0), MissingIn(0)), ("x", "x missing"))
    np.testing.assert_array_equal(recipe.complete_table(pd.DataFrame({"x": ["nan", "5"]})), [[60.0, 1.0], [5.0, 0.0]])
