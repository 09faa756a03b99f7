"""Column summaries: correct, the same for every kind of table, and never about fewer than five rows."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc.report.subject import summarize_columns


def one(values):
    return summarize_columns(pd.DataFrame({"c": values}))[0]


def test_a_column_of_numbers():
    found = one([float(k) for k in range(1, 101)] + [None] * 25)
    assert (found.kind, found.missing, found.n_distinct) == ("number", 0.2, 100)


@given(counts=st.lists(st.integers(1, 12), min_size=2, max_size=8))
def test_no_level_of_fewer_than_five_rows_is_shown(counts):
    found = one([f"level {k}" for k, n in enumerate(counts) for _ in range(n)])
    shown = dict(found.levels)
    for k, n in enumerate(counts):
        if n < 5:
            assert f"level {k}" not in shown
        elif f"level {k}" in shown:
            assert shown[f"level {k}"] == pytest.approx(n / sum(counts))
    assert len(shown) == min(4, sum(n >= 5 for n in counts))


@pytest.mark.parametrize(("value", "kind"), [("seen", "text"), (1.5, "number")])
def test_one_value_and_blanks_are_two_answers(value, kind):
    assert one([value] * 20).kind == "constant"
    assert one([value, None] * 20).kind == kind


def test_kinds_of_columns():
    n = 40
    frame = pd.DataFrame(
        {
            "text": ["a", "b"] * 20,
            "flag": [True, False, False, False] * 10,
            "rare flag": [1] * 2 + [0] * 38,
            "same": ["x"] * n,
            "empty": [None] * n,
            "day": pd.to_datetime([datetime.date(2020, 1, 1 + k % 20) for k in range(n)]),
            "whole": pd.array([1, 2, 3, None] * 10, dtype="Int64"),
            "mixed": [1, "a"] * 20,
            "level": pd.Categorical(["u", "v"] * 20),
        }
    )
    kinds = {c.name: c.kind for c in summarize_columns(frame)}
    assert kinds == {
        "text": "text",
        "flag": "yes/no",
        "rare flag": "yes/no",
        "same": "constant",
        "empty": "empty",
        "day": "date",
        "whole": "number",
        "mixed": "text",
        "level": "text",
    }
    by_name = {c.name: c for c in summarize_columns(frame)}
    assert by_name["flag"].levels == (("yes", 0.25),)
    assert by_name["rare flag"].levels == ()  # it would describe two rows
    assert by_name["whole"].missing == 0.25
    assert by_name["same"].levels == ()


def test_pandas_polars_and_arrays_give_the_same_summaries():
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=50), "b": np.where(rng.random(50) < 0.2, np.nan, rng.normal(size=50))}
    from_pandas = summarize_columns(pd.DataFrame(columns))
    assert summarize_columns(pl.DataFrame(columns)) == from_pandas
    assert summarize_columns(np.column_stack(list(columns.values())), ["a", "b"]) == from_pandas
    assert [c.name for c in summarize_columns(np.zeros((3, 2)))] == ["x0", "x1"]


def test_columns_with_the_same_name():
    frame = pd.DataFrame(np.column_stack([np.zeros(30), np.arange(30)]), columns=["a", "a"])
    assert [c.kind for c in summarize_columns(frame)] == ["constant", "number"]
