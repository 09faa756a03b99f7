"""TableEncoder: readable names, grouped rare levels, indicators of blanks and limits, scikit-learn's conventions."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from rfsc._input.column_checks import useless
from rfsc._input.column_types import infer_column
from rfsc._model.cells import capitals_of, level_key, small
from rfsc._model.recipe_reader import read_recipe
from rfsc.tables import TableEncoder


@pytest.fixture
def frame():
    cells = {
        "age": [str(20 + i) for i in range(36)] + ["", "?", "n/a", "-"],
        "sex": ["m", "f"] * 20,
        "job": ["cook"] * 20 + ["nurse"] * 14 + ["poet"] * 3 + ["clown"] * 3,
        "ward": [""] * 10 + ["a"] * 15 + ["b"] * 15,
    }
    return pd.DataFrame(cells, dtype=object)


def test_names_and_values(frame):
    out = TableEncoder().set_output(transform="pandas").fit_transform(frame)
    names = ["age", "age missing", "sex=m", "job=cook", "job=nurse", "job: other", "ward=a", "ward=b", "ward missing"]
    assert list(out.columns) == names
    assert out["age"].iloc[-1] == np.median(np.arange(20, 56))
    for name, truth in {
        "age missing": np.arange(40) >= 36,
        "sex=m": frame["sex"] == "m",
        "job=cook": frame["job"] == "cook",
        "job: other": frame["job"].isin(["poet", "clown"]),
        "ward missing": frame["ward"] == "",
    }.items():
        np.testing.assert_array_equal(out[name], truth)


def test_unknown_levels_count_as_other(frame):
    encoder = TableEncoder().set_output(transform="pandas").fit(frame)
    out = encoder.transform(pd.DataFrame({"age": [None], "sex": ["x"], "job": ["astronaut"], "ward": ["z"]}))
    assert out.loc[0, "job: other"] == 1
    assert out.loc[0, ["sex=m", "ward=a", "ward=b", "ward missing"]].sum() == 0


def test_table_of_what_was_done(frame):
    cells = frame.assign(crp=["<1 mg/L"] * 6 + ["2 mg/L", "3"] * 16 + ["4 g/L", ">9"], sex=["m", "m", "M", "f"] * 10)
    rows = {row["column"]: row for row in TableEncoder().fit(cells).columns_.rows()}
    assert {name: row["use"] for name, row in rows.items()} == {
        "age": "blanks become 37.5, with indicator age missing",
        "sex": "indicator sex=m",
        "job": "indicators job=cook, job=nurse and job: other",
        "ward": "indicators ward=a, ward=b and ward missing",
        "crp": "blanks become 2, with indicators crp missing and crp below limit",
    }
    assert rows["crp"]["changed"] == "unit mg/L; 7 cells with < or > count as the limit"
    assert rows["crp"]["doubtful"] == "1 cell without a number in mg/L counts as blank"
    assert rows["sex"]["changed"] == "1 spelling merged with others"
    assert rows["age"]["changed"] == rows["age"]["doubtful"] == ""


def test_letters_of_known_words_are_those_words():
    sex = ["F", "female ", "m", "Male", "MALE", "d", "f", None] * 10
    encoder = TableEncoder().set_output(transform="pandas").fit(pd.DataFrame({"sex": sex}))
    assert list(encoder.get_feature_names_out()) == ["sex=d", "sex=female", "sex=MALE", "sex missing"]
    assert "F read as female; m read as MALE" in encoder.columns_.changed[0]
    found = encoder.transform(pd.DataFrame({"sex": [" f", "FEMALE", "M", "male", "d", "?", "x"]}))
    assert found.to_numpy()[:6].argmax(axis=1).tolist() == [1, 1, 2, 2, 0, 3]
    assert found.to_numpy().sum(axis=1).tolist() == [1.0] * 6 + [0.0]
    alone = pd.DataFrame({"sex": ["F", "female"] * 10, "blood": ["A", "AB", "B", "0"] * 5})
    assert "dropped" in TableEncoder().fit(alone).columns_.use[0]
    assert "blood=A" in TableEncoder().fit(alone).get_feature_names_out()


def test_other_letters_and_their_words_are_doubted():
    ward = pd.DataFrame({"side": ["L", "left", "r", "R", "other"] * 10, "ward": ["N", "north", "Nook", "?", "s"] * 10})
    rows = {row["column"]: row["doubtful"] for row in TableEncoder().fit(ward).columns_.rows()}
    assert rows == {"side": "L and left may be the same: write them alike", "ward": ""}
    rare = pd.DataFrame({"side": ["L"] * 20 + ["left"] * 4})  # rare levels are not shown
    assert TableEncoder().fit(rare).columns_.doubtful == ("",)


def test_commas_that_may_be_decimal_are_doubted():
    cells = pd.DataFrame({"x": ["1,234", "2,345"] * 10})
    assert TableEncoder(decimal=".").fit(cells).columns_.doubtful == ("1,234 read as 1234, but it may be 1.234",)
    assert TableEncoder().fit(cells).columns_.doubtful == ("1,234 read as text, but it may be 1.234",)
    assert TableEncoder(decimal=",").fit(cells).columns_.doubtful == ("",)


def test_many_levels_are_limited():
    town = pd.DataFrame({"town": [f"t{i % 60}" for i in range(600)]})
    names = TableEncoder().fit(town).get_feature_names_out()
    assert (len(names), names[-1]) == (20, "town: other")
    assert len(TableEncoder(max_categories=4).fit(town).get_feature_names_out()) == 4
    assert len(TableEncoder(min_frequency=0.01, max_categories=99).fit(town).get_feature_names_out()) == 60


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
    assert useless(infer_column("x", pd.Series(cells, dtype=object))) == words


def test_data_frames_of_pandas_and_polars_and_arrays_agree():
    rng = np.random.default_rng(0)
    cells = {
        "a": [None if v > 0.9 else v for v in rng.random(60)],
        "b": rng.choice(["x", "y", "Y"], 60, p=[0.4, 0.4, 0.2]).tolist(),
        "flag": (rng.random(60) > 0.5).tolist(),
    }
    pandas, polars = pd.DataFrame(cells), pl.DataFrame(cells)
    expected = TableEncoder().fit_transform(pandas)
    np.testing.assert_array_equal(TableEncoder().fit_transform(polars), expected)
    np.testing.assert_array_equal(TableEncoder().fit_transform(pandas.astype({"b": "category"})), expected)
    np.testing.assert_array_equal(TableEncoder().fit_transform(pandas.to_numpy(dtype=object)), expected)
    out = TableEncoder().set_output(transform="polars").fit_transform(polars)
    assert out.columns == ["a", "a missing", "b=y", "flag"]


def test_numbers_that_are_categories_are_levels():
    code = pd.DataFrame({"code": pd.Categorical([1, 2, 3] * 10)})
    assert TableEncoder().fit(code).get_feature_names_out().tolist() == ["code=1", "code=2", "code=3"]


def test_kinds_and_decimal_signs_can_be_given():
    frame = pd.DataFrame({"x": ["1,234", "2,500", "none"] * 10, "code": [1, 2, 3] * 10})
    encoder = TableEncoder(decimal=".", kinds={"x": "number", "code": "text"}).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["x", "x missing", "code=1", "code=2", "code=3"]
    assert encoder.transform(frame)[0, 0] == 1234.0
    assert TableEncoder(decimal=",").fit(frame).transform(frame)[0, 0] == 1.234
    assert "x=1,234" in TableEncoder().fit(frame).get_feature_names_out()  # not known, so not guessed
    for wrong in ({"decimal": ";"}, {"kinds": {"y": "text"}}, {"kinds": {"x": "time"}}):
        with pytest.raises(ValueError, match=r"decimal|kinds"):
            TableEncoder(**wrong).fit(frame)


@pytest.mark.parametrize(
    ("cells", "days", "doubt"),
    [
        (["2020-01-05", "2020-01-01 10:30", "2020-3-1", "n.d."], [4, 0, 60], ""),
        (["5.1.2020", "01.01.2020", "1.3.2020", ""], [4, 0, 60], ""),
        (["5/1/2020", "1/1/2020", "1/3/2020", None], [4, 0, 60], "01/02/2026 read as 1 February"),
        (["1/15/2020", "1/11/2020", "3/11/2020", "-"], [4, 0, 60], ""),
        (
            [datetime.date(2020, 1, 5), datetime.datetime(2020, 1, 1, 9), pd.Timestamp("2020-03-01"), None],
            [4, 0, 60],
            "",
        ),
        (list(pd.to_datetime(["2020-01-05", "2020-01-01", "2020-03-01", None])), [4, 0, 60], ""),
    ],
)
def test_dates_become_days(cells, days, doubt):
    frame = pd.DataFrame({"day": cells * 6})
    encoder = TableEncoder().fit(frame)
    first = "2020-01-11" if cells[0] == "1/15/2020" else "2020-01-01"
    assert encoder.get_feature_names_out().tolist() == [f"day (days since {first})", "day missing"]
    np.testing.assert_array_equal(encoder.transform(frame)[:4, 0], [*days, np.median(days)])
    assert encoder.columns_.rows()[0]["kind"] == "date"
    assert encoder.columns_.rows()[0]["doubtful"].startswith(doubt)
    assert bool(encoder.columns_.rows()[0]["doubtful"]) == bool(doubt)


def test_dates_that_cannot_be_read_and_repeated_names_are_refused():
    for cells in (["31.12.99", "1.1.01"], [datetime.timedelta(1), datetime.timedelta(3)]):
        with pytest.raises(ValueError, match="the dates of 'day' cannot be read"):
            TableEncoder().fit(pd.DataFrame({"day": cells * 9}))
    clash = pd.DataFrame({"sex": ["m", "f"] * 9, "sex=m": np.arange(18.0)})
    with pytest.raises(ValueError, match="two features would have the name 'sex=m'"):
        TableEncoder().fit(clash)


def test_recipe_is_read_off_pipelines_and_column_transformers(frame):
    encoder = TableEncoder()
    some = make_column_transformer((encoder, ["job", "age"]), remainder="drop", verbose_feature_names_out=False)
    for step in (make_pipeline(encoder, StandardScaler()), some):
        step.fit(frame)
        recipe, minus, over = read_recipe(step, list(frame.columns))
        np.testing.assert_allclose((recipe.table(frame) - minus) / over, step.transform(frame), atol=1e-12)
    scaled = make_pipeline(StandardScaler(), TableEncoder()).fit(pd.DataFrame({"a": np.arange(20.0)}))
    with pytest.raises(TypeError, match="filled, scaled or encoded before"):
        read_recipe(scaled, ["a"])


def test_clones_are_not_fitted(frame):
    encoder = clone(TableEncoder(min_frequency=3, kinds={"age": "text"}).fit(frame))
    assert (encoder.min_frequency, encoder.kinds, hasattr(encoder, "recipe_")) == (3, {"age": "text"}, False)


def test_conventions_of_scikit_learn():
    failed = {
        report["check_name"]: str(report["exception"])
        for report in check_estimator(TableEncoder(), on_fail=None, on_skip=None)
        if report["status"] == "failed"
    }
    assert failed == {}


@given(st.text(max_size=12), st.booleans())
def test_level_keys_do_not_depend_on_case_and_blanks(text, is_loud):
    key = level_key(text)
    assert level_key(f" \t{text}\u00a0\n") == key
    assert level_key(key) == key
    if is_loud:
        text = "".join(letter.upper() if len(letter.upper()) == 1 else letter for letter in text)
    table = str.maketrans({chr(c): chr(c + 32) for c in range(65, 91)} | capitals_of(small(text)))
    assert text.translate(table) == small(text)  # what SQL does


def test_texts_that_only_new_rows_have_count_as_missing():
    """A fold of a cross-validation may hold the only blank of a column."""
    encoder = TableEncoder().fit(pd.DataFrame({"a": ["1", "2", "3.5", "4"] * 5}, dtype=object))
    found = encoder.transform(pd.DataFrame({"a": ["", "n.d.", "2", None, 7, "about 3"]}, dtype=object))
    median = encoder.recipe_.features[0].fill
    np.testing.assert_array_equal(found[:, 0], [median, median, 2.0, median, 7.0, median])


@pytest.mark.parametrize("name", ["kinds", "decimal", "min_frequency", "max_categories"])
@pytest.mark.parametrize("value", [0, -1.5, float("nan"), [], ["a"], np.arange(2), object()])
def test_parameters_are_checked(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of TableEncoder must be"):
        TableEncoder(**{name: value}).fit(pd.DataFrame({"x": [1.0, 2.0]}))


def test_errors_show_no_cells():
    encoder = TableEncoder().fit([["a", 1.0], ["b", 2.0]] * 5)
    for wrong in ("SECRET", ["SECRET", "b"], {"a": "SECRET"}, np.array(["SECRET"] * 9)):
        for method in (encoder.transform, TableEncoder().fit):
            with pytest.raises((ValueError, TypeError), match=r"2D|table|text") as caught:
                method(wrong)
            assert "SECRET" not in str(caught.value)


def test_infinite_numbers_are_missing():
    """As in every export."""
    encoder = TableEncoder().fit(pd.DataFrame({"x": [1.0, 2.0, 3.0]}))
    assert encoder.transform(pd.DataFrame({"x": [np.inf, -np.inf, 3.0]})).ravel().tolist() == [2.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("cells", "decimal", "numbers"),
    [
        (["1.234,56", "950,5", "12.000", "-1.000.000"], ",", [1234.56, 950.5, 12000.0, -1e6]),
        (["1.234,56", "950,5", "12.000", "-1.000.000"], None, [1234.56, 950.5, 12000.0, -1e6]),
        (["1 234,5", "950", "12\u202f000", "\u22121\xa0000"], ",", [1234.5, 950, 12000, -1000]),
        (["1'234.5", "950", "12\u2019000", "-1'000"], ".", [1234.5, 950, 12000, -1000]),
        (["22,7", "22.7", "1,5", "3.25"], ",", [22.7, 22.7, 1.5, 3.25]),
    ],
)
def test_thousands(cells, decimal, numbers):
    frame = pd.DataFrame({"x": cells * 5})
    encoder = TableEncoder(decimal=decimal).fit(frame)
    assert encoder.transform(frame)[:4, 0].tolist() == numbers


def test_points_that_may_stand_between_thousands_are_doubtful():
    frame = pd.DataFrame({"x": ["1.234", "2.500", "310"] * 5, "y": ["1,5", "2,5", "22.750"] * 5})
    encoder = TableEncoder().fit(frame)
    doubts = [row["doubtful"] for row in encoder.columns_.rows()]
    assert doubts == ["1.234 read as 1.234, but it may be 1234"] * 2
    assert encoder.transform(frame)[0].tolist() == [1.234, 1.5]
