"""The preprocessing that `rfsc fit` builds: readable names, grouped rare levels, indicators of blanks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rfsc._model.recipe_reader import read_recipe
from rfsc._tables.column_checks import useless
from rfsc._tables.column_types import infer_column
from rfsc._tables.training_data import description, encoder_of


def columns_of(**cells):
    return [infer_column(pd.Series(list(values), dtype=object, name=name)) for name, values in cells.items()]


def frame_of(columns):
    return pd.DataFrame({column.name: column.values for column in columns})


@pytest.fixture
def columns():
    job = ["cook"] * 20 + ["nurse"] * 14 + ["poet"] * 3 + ["clown"] * 3
    age = [str(20 + i) for i in range(36)] + ["", "?", "n/a", "-"]
    return columns_of(age=age, sex=["m", "f"] * 20, job=job, ward=[""] * 10 + ["a"] * 15 + ["b"] * 15)


def test_names_and_values(columns):
    frame = frame_of(columns)
    out = encoder_of(columns).fit_transform(frame)
    names = ["age", "age missing", "sex=m", "job=cook", "job=nurse", "job: other", "ward=a", "ward=b", "ward missing"]
    assert list(out.columns) == names
    assert out["age"].iloc[-1] == np.median(np.arange(20, 56))
    for name, truth in {
        "age missing": frame["age"].isna(),
        "sex=m": frame["sex"] == "m",
        "job=cook": frame["job"] == "cook",
        "job: other": frame["job"].isin(["poet", "clown"]),
        "ward missing": frame["ward"].isna(),
    }.items():
        np.testing.assert_array_equal(out[name], truth)


def test_unknown_levels_count_as_other(columns):
    encoder = encoder_of(columns).fit(frame_of(columns))
    new = pd.DataFrame({"age": [np.nan], "sex": ["x"], "job": ["astronaut"], "ward": ["z"]})
    with pytest.warns(UserWarning, match="Found unknown categories"):
        out = encoder.transform(new)
    assert out.loc[0, "job: other"] == 1
    assert out.loc[0, ["sex=m", "ward=a", "ward=b", "ward missing"]].sum() == 0


def test_description_of_columns(columns):
    encoder = encoder_of(columns).fit(frame_of(columns))
    recipe = read_recipe(encoder, [column.name for column in columns]).recipe
    assert [description(recipe, j) for j in range(4)] == [
        "blanks become 37.5, with indicator age missing",
        "indicator sex=m",
        "indicators job=cook, job=nurse, job: other",
        "indicators ward=a, ward=b, ward missing",
    ]
    np.testing.assert_array_equal(recipe.table(frame_of(columns)), encoder.transform(frame_of(columns)))


def test_many_levels_are_limited():
    (column,) = columns_of(town=[f"t{i % 60}" for i in range(600)])
    names = encoder_of([column]).fit(frame_of([column])).get_feature_names_out()
    assert len(names) == 20
    assert names[-1] == "town: other"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1"] * 30, "the same value everywhere"),
        (["a"] * 30, "the same value everywhere"),
        (["", "?"] * 15, "all blank"),
        ([f"t{i // 3}" for i in range(60)], "20 levels, each in fewer than 5 rows"),
        ([f"t{i // 8}" for i in range(1000)], "125 levels, each in fewer than 10 rows"),
        ([[1]] * 30, "neither numbers nor text"),
        (["a"] * 25 + [""] * 5, None),
        (["1"] * 25 + [""] * 5, None),
        ([f"t{i // 5}" for i in range(60)], None),
    ],
)
def test_useless_columns(cells, words):
    (column,) = columns_of(x=cells)
    assert useless(column) == words
