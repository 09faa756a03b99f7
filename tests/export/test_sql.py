"""SQL against `decision_function`, in real databases."""

from __future__ import annotations

import contextlib
import sqlite3
import struct

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rfsc import RFSCClassifier
from rfsc._model import Predictor, SparseModel
from rfsc._terms import monomial
from rfsc._terms.scaling import Scaling
from rfsc.export import to_sql
from rfsc.export.sql_dialects import DIALECTS

from .random_models import (
    answers,
    assert_agree,
    assert_same_classes,
    awkward_rows,
    ordinary_rows,
    random_model,
    random_models,
    random_predictor,
    raw_rows,
    recipe_predictor,
    with_gaps,
)

# what SQL can write at all: no NUL, no half surrogates
writable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)


def numbers(names):
    return [(name, "number") for name in names]


def check_select(database, predictor, rows):
    """The SELECT gives what it should."""
    decision, probability, predicted = answers(predictor, rows)
    names, found = database.ask(to_sql(predictor, dialect=database.dialect, keep=["row_number"]))
    n = decision.shape[1]
    assert names[-1] == "predicted"
    assert_agree([row[:n] for row in found], decision)
    assert_agree([row[n:-1] for row in found], probability)
    assert_same_classes([row[-1] for row in found], predicted, decision)


@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1, 2)], ids=["two", "three"])
@pytest.mark.parametrize("seed", range(8))
def test_random_models_on_awkward_rows(database, seed, classes):
    predictor, rng = random_predictor(seed, classes), np.random.default_rng(seed)
    model = predictor.models_[0]
    X = np.vstack([ordinary_rows(model, rng), awkward_rows(model, rng)])
    X = np.vstack([X, with_gaps(X[::4], rng)])
    database.load(X.tolist(), numbers(model.feature_names))
    check_select(database, predictor, X)


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")], ids=["two", "three"])
@pytest.mark.parametrize("seed", range(5))
def test_recipes(database, seed, classes):
    predictor, rows = recipe_predictor(seed, classes, n_terms=8), raw_rows(np.random.default_rng(seed))
    database.load(rows, [(column.name, column.kind) for column in predictor.recipe_.columns])
    check_select(database, predictor, rows)


def test_products_of_tiny_features_do_not_stop_the_query(database):
    """The worst of PostgreSQL: every feature may be next to nothing, and the product even less."""
    names = [f"x{p}" for p in range(5)]
    families = ["monomial", "centred", "hinge"]
    model = random_model(0, families=families, ranges=[(0.0, 1.0)] * 5, n_terms=60, names=names)
    rng = np.random.default_rng(0)
    X = rng.choice([0.0, 1e-300, -1e-200, 1e-160, 1e-100, 1e-60, 1e60, 1.0, 1e300], (200, 5))
    database.load(X.tolist(), numbers(names))
    check_select(database, Predictor([model], ["no", "yes"]), X)


def test_formulas_all_far_below_zero_still_have_probabilities(database):
    models = random_models(1, [0, 1, 2], families=["monomial"], ranges=[(0.0, 1.0)], n_terms=3)
    predictor, X = Predictor(models, [0, 1, 2]), np.array([[1e3], [-1e3], [1e9], [-1e9], [0.3]])
    database.load(X.tolist(), numbers(["x0"]))
    check_select(database, predictor, X)


def test_integers_are_not_divided_as_integers(database):
    model = random_model(5, families=["monomial"], ranges=[(0.0, 7.0), (1.0, 4.0)], n_terms=4)
    kind = {"sqlite": "INTEGER", "duckdb": "INTEGER", "postgresql": "smallint"}[database.dialect]
    run = database.connection.execute
    run("DROP TABLE IF EXISTS data")
    run(f"CREATE TABLE data (row_number INTEGER, x0 {kind}, x1 {kind})")
    run("INSERT INTO data VALUES (0, 3, 2), (1, 5, 3)")
    check_select(database, Predictor([model], ["no", "yes"]), np.array([[3.0, 2.0], [5.0, 3.0]]))


def test_not_a_number_is_missing(database):
    if database.dialect == "sqlite":
        pytest.skip("SQLite has no NaN")
    model = random_model(5, families=["step"], ranges=[(0.0, 7.0)], n_terms=1)
    database.load([[1.0]], numbers(["x0"]))
    database.connection.execute("UPDATE data SET x0 = 'NaN'")
    check_select(database, Predictor([model], ["no", "yes"]), np.array([[np.nan]]))


def test_blanks_of_an_imported_file_are_missing_in_sqlite(databases):
    database = databases("sqlite")
    database.load([[""], ["2.5"]], [("x0", "text")])
    model = random_model(5, families=["monomial"], ranges=[(0.0, 7.0)], n_terms=2)
    found = database.numbers(to_sql(model, keep=["row_number"], output="decision"))
    assert_agree(found[:, 0], [np.nan, model.decision(np.array([[2.5]]))[0]])


def test_texts_are_compared_letter_by_letter_in_sqlite(databases):
    database, predictor = databases("sqlite"), recipe_predictor(0, n_terms=8)
    rows = raw_rows(np.random.default_rng(3), 40)
    columns = predictor.recipe_.columns
    database.load(rows, [(column.name, column.kind) for column in columns])
    database.connection.execute("ALTER TABLE data RENAME COLUMN colour TO old")
    database.connection.execute("ALTER TABLE data ADD COLUMN colour TEXT COLLATE NOCASE")
    database.connection.execute("UPDATE data SET colour = old")
    check_select(database, predictor, rows)


def test_an_unknown_column_is_an_error_not_a_text(database):
    database.load([[1.0]], numbers(["x0"]))
    model = random_model(5, families=["monomial"], ranges=[(0.0, 7.0)], n_terms=2, names=["not there"])
    with pytest.raises(Exception, match="not there"):
        database.ask(to_sql(model, dialect=database.dialect, keep=["row_number"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=writable, table=writable, labels=st.lists(writable, min_size=2, max_size=4, unique=True))
def test_any_name_is_safe(database, name, table, labels):
    assume(len(name.encode()) <= 60 and name.lower() != "row_number")
    assume(not table.lower().startswith(("pg_", "sqlite_")))
    models = random_models(2, labels[1:] if len(labels) == 2 else labels, ranges=[(0.0, 3.0)], n_terms=3, names=[name])
    predictor, X = Predictor(models, labels), np.array([[1.0], [np.nan], [2.5]])
    database.load(X.tolist(), numbers([name]), table=table)
    decision, _, predicted = answers(predictor, X)
    query = to_sql(predictor, dialect=database.dialect, table=table, keep=["row_number", name])
    names, found = database.ask(query)
    assert names[0] == name
    assert_agree([row[1 : 1 + decision.shape[1]] for row in found], decision)
    assert [row[-1] for row in found] == predicted
    database.connection.execute(f"CREATE VIEW rfsc_view AS {query}")  # no two columns have the same name
    database.connection.execute("DROP VIEW rfsc_view")
    quoted = '"' + table.replace('"', '""') + '"'
    database.connection.execute(f"DROP TABLE {quoted}")


def test_what_sql_cannot_write_is_refused():
    with pytest.raises(ValueError, match="NUL"):
        to_sql(random_model(2, ranges=[(0.0, 3.0)], families=["step"], names=["a\0b"]))
    with pytest.raises(ValueError, match="surrogate"):
        to_sql(random_model(2), table="\ud800")
    with pytest.raises(ValueError, match="empty name"):
        to_sql(random_model(2), table="")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(1e-25, 1e25) | st.floats(-1e25, -1e-25) | st.integers(-(2**60), 2**60).map(float))
def test_numbers_come_back_to_the_last_bit(database, value):
    """A level is met exactly or not at all."""
    printed = DIALECTS[database.dialect].number(None, value)
    kind = DIALECTS[database.dialect].double
    found = database.connection.execute(f"SELECT CAST({printed} AS {kind})").fetchone()[0]
    assert struct.pack("<d", found) == struct.pack("<d", value)


def test_outputs_and_labels():
    model, several = random_model(3), random_predictor(3, ("a", "A", "b"))
    assert to_sql(model, output="class").count(' AS "') == 1
    names = [
        "decision_a",
        "decision_A_2",
        "decision_b",
        "probability_a",
        "probability_A_2",
        "probability_b",
        "predicted",
    ]
    text = to_sql(several)
    assert [text.rpartition("SELECT")[2].count(f'"{name}"') for name in names] == [1] * len(names)
    assert '"probability"' in to_sql(several, label="b")
    assert 'f2 AS "decision"' in to_sql(several, label="b")
    assert '-f0 AS "decision"' in to_sql(model, label="not yes")
    for wrong in ({"output": "odds"}, {"dialect": "oracle"}, {"label": "z"}):
        with pytest.raises(ValueError, match=r"(output|dialect|label) must be"):
            to_sql(several, **wrong)


@pytest.mark.slow
def test_long_labels_are_cut_as_postgresql_would(databases):
    database = databases("postgresql")
    labels = ["ä" * 60 + "1", "ä" * 60 + "2", "b"]
    predictor = Predictor(random_models(1, labels, ranges=[(0.0, 1.0)]), labels, named=False)
    database.load([[0.5]], numbers(["x0"]))
    names, rows = database.ask(to_sql(predictor, dialect="postgresql", keep=["row_number"]))
    assert len(set(names)) == len(names)
    assert rows[0][-1] == predictor.predict([[0.5]])[0]


def test_schema_and_a_table_that_is_called_like_a_step(databases):
    database = databases("duckdb")
    model = random_model(5, families=["monomial"], ranges=[(0.0, 7.0)], n_terms=2)
    database.connection.execute('CREATE SCHEMA IF NOT EXISTS "my clinic"')
    database.connection.execute('CREATE OR REPLACE TABLE "my clinic"."t" AS SELECT 0 AS row_number, 2.5 AS x0')
    found = database.numbers(
        to_sql(model, dialect="duckdb", table=("my clinic", "t"), keep="row_number", output="decision")
    )
    assert_agree(found[0, 0], model.decision(np.array([[2.5]]))[0])
    sqlite = databases("sqlite")
    sqlite.load([[2.5]], numbers(["x0"]), table="rfsc_columns")
    found = sqlite.numbers(to_sql(model, table="rfsc_columns", keep=["row_number"], output="decision"))
    assert_agree(found[0, 0], model.decision(np.array([[2.5]]))[0])


def test_a_fitted_classifier(database):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] - X[:, 1] * X[:, 2] + 0.3 * rng.logistic(size=120) > 0, "ill", "well")
    clf = RFSCClassifier(n_restarts=1, basis="polynomial", random_state=0).fit(X, y)
    database.load(X.tolist(), numbers(clf.models_[0].feature_names))
    found = database.numbers(to_sql(clf, dialect=database.dialect, keep=["row_number"], output="decision"))
    assert_agree(found[:, 0], clf.decision_function(X))
    query = to_sql(clf, dialect=database.dialect, keep=["row_number"], output="class")
    assert [row[0] for row in database.ask(query)[1]] == clf.predict(X).tolist()


def test_sqlite_takes_texts_that_are_no_numbers_for_missing():
    """A file imported without types holds texts; SQLite itself would make 0 of them."""
    model = SparseModel(
        (monomial((0,)),), np.array([1.0]), None, Scaling(np.zeros(1), np.full(1, 0.5)), ("x",), "yes", 1.0, None
    )
    cells = ["12", " 12.5 ", "-1e3", 7, "NA", "unknown", " ", "", "12,5", None]
    expected = [12.0, 12.5, -1000.0, 7.0, None, None, None, None, None, None]
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE data (x)")
        database.executemany("INSERT INTO data VALUES (?)", [(cell,) for cell in cells])
        found = database.execute(to_sql(model, output="decision", label="yes")).fetchall()
    assert [row[0] for row in found] == expected


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("constant", [True, False])
def test_models_that_read_nothing(dialect, constant):
    terms, coef = ((monomial(()),), [-0.5]) if constant else ((), [])
    model = SparseModel(terms, np.array(coef), None, Scaling(np.zeros(1), np.full(1, 0.5)), ("x",), "yes", 1.0, None)
    connect = sqlite3.connect if dialect == "sqlite" else duckdb.connect
    with contextlib.closing(connect(":memory:")) as database:
        database.execute("CREATE TABLE data (x REAL)")
        database.execute("INSERT INTO data VALUES (1), (2)")
        found = database.execute(to_sql(model, dialect=dialect, output="decision")).fetchall()
        kept = database.execute(to_sql(model, dialect=dialect, keep=["x"])).fetchall()
    assert [row[0] for row in found] == [sum(coef)] * 2
    assert [row[0] for row in kept] == [1.0, 2.0]
