"""Columns of dates become days since the first of them, in the model and in every export that reads texts."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest

from rfsc._model import Predictor
from rfsc._model.cells import CellFormat
from rfsc._model.recipe import MissingIn, NumberOf, RawColumn, Recipe
from rfsc.export import from_json, to_html, to_json, to_python, to_sql
from rfsc.export.calculator import fields_of
from rfsc.export.spreadsheet import sheet_cells

from .test_javascript import NODE
from .test_raw_cells import one_column, plain_column

DATES = ["2021-03-05", "2021/3/5", " 2021-03-05T10:30 ", "2020-12-31", "2024-02-29", "5.3.2021", "05.03.2021 10:00"]
DATES += ["3/5/2021", "12/31/2021", "31/12/2021", "5-3-2021", "0001-01-01", "9999-12-31"]
NO_DATES = ["2021-02-29", "2021-13-01", "1900-02-29", "5.3.21", "2021-3", "2021-03-051", "0000-01-01", "x", "", None]
NO_DATES += [
    "2021--03-05",
    "2021-03-05x",
    "44260",
    "31.04.2021",
    "2021-00-05",
    "-2021-03-05",
    "2021-03-05-",
    "99/99/2021",
]


@pytest.mark.parametrize("month_first", [False, True])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_dates_are_read_alike(dialect, month_first, databases, run_javascript):
    form = CellFormat(since="2021-03-01", month_first=month_first)
    features = (NumberOf(0, 100.0), MissingIn(0), MissingIn(0))
    recipe = Recipe((RawColumn("x", "number", None, form),), features, plain_column().names)
    model, scope = Predictor([one_column(CellFormat()).models_[0]], np.array(["no", "yes"]), recipe), {}
    cells = [*DATES, *NO_DATES]
    expected = model.decision_function(pd.DataFrame({"x": cells}, dtype=object)).tolist()
    assert expected[:6] == [4, 4, 4, -60, 1095, 4]
    assert expected[7] == (4 if month_first else 63)  # the fifth of March, or the third of May
    assert expected[len(DATES) :] == [expected[-1]] * len(NO_DATES)
    assert from_json(to_json(model)).recipe_ == model.recipe_
    exec(to_python(model), scope)
    assert [scope["predict"]({"x": cell})["decision"]["yes"] for cell in cells] == expected
    typed = [date(2021, 3, 5), datetime(2021, 3, 5, 23), pd.Timestamp("2021-03-05"), pd.NaT, 5]
    assert model.decision_function(pd.DataFrame({"x": pd.Series(typed, dtype=object)})).tolist()[:3] == [4, 4, 4]
    assert [scope["predict"]({"x": cell})["decision"]["yes"] for cell in typed] == [4, 4, 4, expected[-1], expected[-1]]
    if NODE is not None:
        (found,) = run_javascript([(model, ["x"], [[cell] for cell in cells])])
        assert [dict(decision)["yes"] for _, decision, _ in found] == expected
    database = databases(dialect)
    database.load([[cell] for cell in cells], [("x", "text")])
    query = to_sql(model, dialect=dialect, output="decision", keep="row_number")
    assert database.numbers(query)[:, 0].tolist() == expected
    with pytest.raises(ValueError, match="'x' holds dates, which a spreadsheet does not read"):
        sheet_cells(model)
    (field,) = fields_of(model)
    assert (field.is_date, field.low, field.high, field.typical) == (True, "2021-03-01", "2021-03-02", "2021-06-09")
    assert '<input type="date"' in to_html(model)
