"""Names, classes and levels that try to become commands stay texts: in three databases and in a workbook."""

from __future__ import annotations

import numpy as np
import pytest

from rfsc._model import Predictor
from rfsc._model.recipe import LevelOf, RawColumn, Recipe
from rfsc.cli.model_commands import as_text
from rfsc.export import to_sql
from rfsc.export.workbook import workbook

from .random_models import random_models

HOSTILE = [
    'x"; DROP TABLE victims; --',
    "x'; DROP TABLE victims; --",
    "x'); DELETE FROM victims; --",
    "\\'; DROP TABLE victims; --",
    "\\\\'; DROP TABLE victims; --",
    "' || (SELECT secret FROM victims) || '",
    '" || (SELECT secret FROM victims) || "',
    "*/ DROP TABLE victims; /*",
    "-- \n; DROP TABLE victims",
    "$$; DROP TABLE victims; $$",
    "E'\\''; DROP TABLE victims; --",
    "%s %(x)s ? :x @x $1",
    "{x!r} {0}",
    "`x`; DROP TABLE victims; #",
    "[x]; DROP TABLE victims",
    "U&'\\0027'; DROP TABLE victims",
]


def hostile_predictor(text):
    """A model in which the text is the name of a column, a level and a class."""
    column, levels = RawColumn(text, "text"), (LevelOf(0, (text,)), LevelOf(0, (text, None)))
    recipe = Recipe((column,), levels, (text, f"{text} 2"))
    models = random_models(3, [text], ranges=[(0.0, 1.0)] * 2, families=["monomial"], n_terms=3, names=recipe.names)
    return Predictor(models, ["other", text], recipe)


@pytest.fixture
def victims(database):
    """A table that no query may change or read."""
    run = database.connection.execute
    if database.dialect == "postgresql":
        # the old meaning of backslashes, which a server may still be set to
        run("SET standard_conforming_strings = off")
        run("SET escape_string_warning = off")
    run("DROP TABLE IF EXISTS victims")
    run("CREATE TABLE victims (secret INTEGER)")
    run("INSERT INTO victims VALUES (42)")
    yield run
    run("DROP TABLE victims")
    if database.dialect == "postgresql":
        run("RESET standard_conforming_strings")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts_in_databases(database, victims, text):
    predictor = hostile_predictor(text)
    rows = [[text], [None], ["something else"]]
    table = f"t {text}"[:40]
    database.load(rows, [(text, "text")], table=table)
    query = to_sql(predictor, dialect=database.dialect, table=table, keep=["row_number", text])
    if database.dialect == "sqlite":
        database.connection.executescript(query + ";")  # execute() would refuse a second statement by itself
    _, found = database.ask(query)
    np.testing.assert_allclose([row[1] for row in found], predictor.decision_function(rows), atol=1e-9)
    assert [row[-1] for row in found] == predictor.predict(rows).tolist()
    assert [row[0] for row in found] == [text, None, "something else"]
    quoted = '"' + table.replace('"', '""') + '"'
    assert victims("SELECT secret FROM victims").fetchall() == [(42,)]
    victims(f"DROP TABLE {quoted}")


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1+1", " \r=1+1", "=HYPERLINK(A1)", "=cmd|' /C calc'!A0", "＝1+1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_names_that_look_like_formulas_are_texts_of_a_workbook(text):
    book = workbook(hostile_predictor(text))
    headings = [book["Calculator"]["A4"], *book["Model"][1]]
    assert [cell.data_type for cell in headings] == ["s"] * len(headings)
    assert as_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["a", "-5", "+3.5e2", "", "'=x", "x=1"])
def test_other_cells_stay_as_they_are(text):
    assert as_text(text) == text
