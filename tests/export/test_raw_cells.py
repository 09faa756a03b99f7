"""Raw cells as laboratories write them: the model, its file and all exports that read text agree."""

from __future__ import annotations

import json
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from rfsc import RFSCClassifier
from rfsc._model import Predictor, SparseModel
from rfsc._model.access import as_predictor
from rfsc._model.cells import CellFormat, number_in, small
from rfsc._model.recipe import LevelOf, LimitIn, MissingIn, NumberOf, RawColumn, Recipe
from rfsc._terms import monomial
from rfsc._terms.scaling import FAR, Scaling
from rfsc.export import from_json, to_json, to_onnx, to_python, to_sql
from rfsc.tables import TableEncoder

from .test_javascript import NODE, needs_node
from .test_spreadsheet import OFFICE, by_heading, converted, fill

DIALECTS = ["sqlite", "duckdb", "postgresql"]
N_ROWS = 240

# cells that no training row has: new levels, other spellings, words for blanks, and what is nearly a number
NEW = {
    "CRP": ["<0,5", "≤ 0.5", "< 12,5 mg/L", ">1000", ">= 1000 MG/L", "12 mg/L", "45 g/L", "n.d.", "-", "?", "", None],
    "share": ["45.3%", "45,3 %", "45.3", "%", "100 percent", "NA", " 12 % ", "1.2.3", "12 34", "1,5,5", "-3%", "+.5%"],
    "glucose": ["22,7", "22.7", "1.234,5", "5,", ",5", "1e2", "1e-3", "e5", "1_000", "inf", "0x10", "\u00a07,5\u00a0"],
    "sex": ["F", "f", " Female", "FEMALE\u00a0", "male", "M", "x", "NA", "", None, "n/a", "femme"],
    "ward": ["Nord  1", "nord 1", "NORD 1", "süd", "SÜD", "Sud", "?", "west", "\tnord 1\n", None, "Süd 2", ""],
    "loan": [
        "CHF 5'859.50",
        "chf1200",
        "1'200.00 CHF",
        "< CHF 500",
        "CHF",
        "EUR 5",
        "CHF CHF 5",
        "CHF 5 CHF",
        "-CHF 5",
        "CHF -5",
        "5859.5",
        "> chf  12",
    ],
    "age": [40, 41.5, 42, None, 55, 60, 61, 62, 63, 64, 65, 66],
}


def training_table():
    rng = np.random.default_rng(3)
    crp = rng.lognormal(2, 1, N_ROWS).round(1)
    written = [f"{v:.1f} mg/L".replace(".", ",") if v < 20 else ">20 mg/L" for v in crp]
    frame = pd.DataFrame(
        {
            "CRP": np.where(crp < 3, "<3", written),
            "share": [f"{v:.1f}%" for v in rng.uniform(0, 100, N_ROWS)],
            "glucose": [f"{v:.1f}".replace(".", ",") for v in rng.normal(20, 5, N_ROWS)],
            "sex": rng.choice(["F", "f ", "female", "Female", "m"], N_ROWS, p=[0.3, 0.1, 0.3, 0.1, 0.2]),
            "ward": rng.choice(["Nord 1", "nord  1", "Süd", "SÜD", "ost"], N_ROWS, p=[0.3, 0.1, 0.3, 0.1, 0.2]),
            "loan": [f"CHF {v:,.2f}".replace(",", "'") for v in np.geomspace(200, 90000, N_ROWS)],
            "age": rng.integers(20, 90, N_ROWS).astype(float),
        }
    )
    for name, word in {"CRP": "n.d.", "glucose": "-", "sex": "NA", "ward": "", "age": np.nan}.items():
        frame.loc[rng.random(N_ROWS) < 0.1, name] = word
    return frame


@pytest.fixture(scope="module")
def encoder():
    return TableEncoder().fit(training_table())


@pytest.fixture(scope="module")
def predictor(encoder):
    """A model of all features, each with a coefficient of its own."""
    features = encoder.transform(training_table())
    coef = np.linspace(-1.7, 2.3, features.shape[1])
    names = tuple(encoder.get_feature_names_out())
    terms = tuple(monomial([p]) for p in range(len(names)))
    model = SparseModel(terms, coef, None, Scaling.from_rows(features), names, "sick", float(N_ROWS), None)
    return Predictor([model], np.array(["fit", "sick"]), encoder.recipe_)


@pytest.fixture(scope="module")
def rows():
    """Every new cell of a column beside all kinds of other cells."""
    rng = np.random.default_rng(0)
    mixed = {name: [cells[i] for i in rng.integers(0, len(cells), 60)] for name, cells in NEW.items()}
    return pd.concat([pd.DataFrame(NEW, dtype=object), pd.DataFrame(mixed, dtype=object)], ignore_index=True)


def test_features_of_the_training_table(encoder):
    names = encoder.get_feature_names_out().tolist()
    assert names[:4] == ["CRP", "CRP missing", "CRP below limit", "CRP above limit"]
    assert {"sex=female", "sex=m", "sex missing", "ward=Nord 1", "ward=Süd", "age missing"} <= set(names)
    raw = {column.name: column for column in encoder.recipe_.columns}
    assert (raw["CRP"].cells.unit, raw["CRP"].cells.comma) == ("mg/L", ".")
    assert (raw["loan"].cells.unit, raw["loan"].cells.comma) == ("CHF", ".")
    assert raw["age"].cells == CellFormat()  # plain numbers are read by the same rule


def test_new_cells(encoder, rows):
    table = pd.DataFrame(encoder.transform(rows), columns=encoder.get_feature_names_out())[: len(NEW["CRP"])]
    fill = encoder.recipe_.features[0].fill
    crp = [0.5, 0.5, 12.5, 1000, 1000, 12, *[fill] * 6]
    np.testing.assert_array_equal(table["CRP"], crp)
    np.testing.assert_array_equal(table["CRP below limit"], [1, 1, 1, *[0] * 9])
    np.testing.assert_array_equal(table["CRP above limit"], [0, 0, 0, 1, 1, *[0] * 7])
    np.testing.assert_array_equal(table["sex=female"], [1, 1, 1, 1, *[0] * 8])
    np.testing.assert_array_equal(table["ward=Süd"], [0, 0, 0, 1, 1, *[0] * 7])
    np.testing.assert_array_equal(table["ward=Nord 1"], [1, 1, 1, *[0] * 5, 1, 0, 0, 0])
    loan = encoder.recipe_.features[list(encoder.recipe_.names).index("loan")].fill
    found = [5859.5, 1200, 1200, 500, *[loan] * 3, 5, loan, -5, 5859.5, 12]
    np.testing.assert_array_equal(table["loan"], found)
    glucose = encoder.recipe_.features[list(encoder.recipe_.names).index("glucose")].fill
    np.testing.assert_array_equal(table["glucose"], [22.7, 22.7, glucose, 5, 0.5, 100, 0.001, *[glucose] * 4, 7.5])


def test_model_file(predictor, rows):
    again = from_json(to_json(predictor))
    assert again.recipe_ == predictor.recipe_
    np.testing.assert_array_equal(again.decision_function(rows), predictor.decision_function(rows))


def test_python(predictor, rows):
    scope = {}
    exec(to_python(predictor), scope)
    found = [scope["predict"](row)["decision"]["sick"] for row in rows.to_dict("records")]
    np.testing.assert_allclose(found, predictor.decision_function(rows), rtol=0, atol=1e-9)


@needs_node
def test_javascript(predictor, rows, run_javascript):
    (found,) = run_javascript([(predictor, list(rows.columns), rows.to_numpy(dtype=object).tolist())])
    decisions = [dict(decision)["sick"] for _, decision, _ in found]
    np.testing.assert_allclose(decisions, predictor.decision_function(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sql(dialect, predictor, rows, databases):
    database = databases(dialect)
    kinds = [(name, "number" if name == "age" else "text") for name in rows.columns]
    ready = rows.assign(age=[None if cell is None else float(cell) for cell in rows["age"]])
    database.load([list(row) for row in ready.itertuples(index=False)], kinds)
    query = to_sql(predictor, dialect=dialect, output="decision", keep="row_number")
    np.testing.assert_allclose(database.numbers(query)[:, 0], predictor.decision_function(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_columns_of_numbers_in_a_database_are_read_as_they_are(dialect, predictor, databases):
    database = databases(dialect)
    values = np.random.default_rng(1).normal(20, 5, (20, 3))
    rows = [[*numbers, "f", "ost", 1200.0, 50.0] for numbers in values.tolist()]
    rows[3][0] = None
    kinds = [(name, "text" if name in ("sex", "ward") else "number") for name in NEW]
    database.load(rows, kinds)
    query = to_sql(predictor, dialect=dialect, output="decision", keep="row_number")
    expected = predictor.decision_function(pd.DataFrame(rows, columns=list(NEW), dtype=object))
    np.testing.assert_allclose(database.numbers(query)[:, 0], expected, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_spreadsheet(predictor, rows, tmp_path):
    if OFFICE is None:
        pytest.skip("LibreOffice is not installed (Debian: apt install libreoffice-calc)")
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for i, row in enumerate(rows.itertuples(index=False)):
        fill(book.create_sheet(f"raw, row {i}"), predictor, list(row))
    found = by_heading(converted(book, tmp_path))["raw"]["decision"]
    np.testing.assert_allclose(np.array(found, float), predictor.decision_function(rows), rtol=0, atol=1e-9)


def test_onnx_refuses_limits_and_reads_the_rest(predictor):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="asks whether 'CRP' is a limit"):
        to_onnx(predictor)


NUMBERS = st.one_of(
    st.floats(-1e6, 1e6).map(lambda v: f"{v:.3f}"),
    st.integers(-(10**9), 10**9).map(lambda v: f"{v:,}"),
    st.tuples(st.integers(-(10**9), 10**9), st.sampled_from(" '.\u2019\u202f"), st.sampled_from(["", ".5", ",25"])).map(
        lambda parts: f"{parts[0]:,}".replace(",", parts[1]) + parts[2]
    ),
    st.sampled_from(["true", "FALSE", "\u22125"]),
)
TEXTS = st.one_of(
    st.text(st.sampled_from(" \u00a0\u202f\u2212\u2019'<>=≤≥+-.,0123456789eE%µμgmlL/k\t"), max_size=9),
    st.tuples(
        st.sampled_from(["", "<", "> ", "≤", ">="]), NUMBERS, st.sampled_from(["", " mg/L", "%", "µg", "μg"])
    ).map("".join),
)


@settings(max_examples=60)
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=30),
    unit=st.sampled_from(["", "mg/L", "%", "µg"]),
    comma=st.sampled_from([None, ".", "", "swap"]),
)
def test_all_languages_read_any_text_as_the_recipe_does(texts, unit, comma, databases):
    form = CellFormat(unit, comma)
    expected = [number_in(text, form) for text in texts]
    model = one_column(form)
    scope = {}
    exec(to_python(model), scope)
    by_sign = {"": 0.0, "<": 1.0, ">": 2.0}
    flags = [by_sign[sign] for _, sign in expected]
    values = [-1e7 if value != value else value for value, _ in expected]
    wanted = np.array(values) + 1e8 * np.array(flags)
    value = np.array([scope["predict"]({"x": text})["decision"]["yes"] for text in texts])
    np.testing.assert_allclose(value, wanted, rtol=1e-9)
    for dialect in ("sqlite", "duckdb"):
        database = databases(dialect)
        database.load([[text] for text in texts], [("x", "text")])
        found = database.numbers(to_sql(model, dialect=dialect, output="decision", keep="row_number"))
        np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-9)


# what databases would read in another way: other spaces, numbers at the ends of the doubles, more than numbers
SPACED = ["<\t5", ">\xa0\t5", "5\t %", "5\n%", "\u20035"]
AT_THE_ENDS = [
    "1e-400",
    "≤1e-400 %",
    "5e-324",
    "-2e-308",
    "1.7976931348623157e308",
    "1.79769e308 %",
    "1.8e308",
    "1e309",
]
NO_NUMBERS = ["--5", "5-", "e5", "1_0", "١٢", "１２", "0x10", "inf", "nan", "1e", ".", "%", "1.234,5", "1,234.5,6"]
GROUPED = [
    "1 234",
    "1  234",
    "1 23",
    "1'234.5",
    "\u22121\u202f234",
    "1.234,5",
    "1.234.567",
    "22.7",
    "12 \u202f%",
    "1,234.5",
    "1,234e5",
    "1,234.5e2",
    "1,234,5.6",
]
NEARLY = [*SPACED, *AT_THE_ENDS, *NO_NUMBERS, *GROUPED]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", [CellFormat("%"), CellFormat("%", "."), CellFormat("", ""), CellFormat("%", "swap")])
def test_databases_read_what_is_nearly_a_number_as_the_recipe_does(dialect, form, databases):
    model = one_column(form)
    database = databases(dialect)
    database.load([[text] for text in NEARLY], [("x", "text")])
    found = database.numbers(to_sql(model, dialect=dialect, output="decision", keep="row_number"))[:, 0]
    # without predict, which refuses a column of so many numbers with another decimal sign
    numbers = [number_in(text, form) for text in NEARLY]
    expected = [(-1e7 if value != value else value) + {"": 0, "<": 1e8, ">": 2e8}[sign] for value, sign in numbers]
    expected = np.clip(expected, -FAR, FAR)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-200)  # what is nearly nothing may be zero


def levels_model(levels, form):
    """The number of the level, from 1."""
    features = tuple(LevelOf(0, (level,)) for level in levels)
    names = tuple(map(str, range(len(levels))))
    recipe = Recipe((RawColumn("x", "text", None, form),), features, names)
    n = len(levels)
    terms, scaling = tuple(monomial([p]) for p in range(n)), Scaling(np.zeros(n), np.full(n, 0.5))
    model = SparseModel(terms, np.arange(1.0, n + 1), None, scaling, names, "yes", 9.0, None)
    return Predictor([model], np.array(["no", "yes"]), recipe)


# all letters that turn into others, and alphabets in one level, which SQLite refuses to replace one by one
LETTERS = [chr(i) for i in range(65, 0x1E944) if (not 0xD800 <= i <= 0xDFFF and small(chr(i)) != chr(i)) or i == 0x130]
ALPHABETS = ["абвгдеёжзийклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρστυφχψω àáâãäåæçèéêëìíîïðñòóôõö"]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_databases_know_all_capitals(dialect, databases):
    database, form = databases(dialect), CellFormat(blanks=("",))
    every = sorted({small(letter) for letter in LETTERS})
    cells = [*LETTERS, *(text.upper() for text in ALPHABETS)]
    database.load([[cell] for cell in cells], [("x", "text")])
    for start in range(0, len(every), 200):
        model = levels_model([*every[start : start + 200], *ALPHABETS], form)
        found = database.numbers(to_sql(model, dialect=dialect, output="decision", keep="row_number"))[:, 0]
        expected = model.decision_function(pd.DataFrame({"x": cells}, dtype=object))
        assert [c for c, a, b in zip(cells, found, expected, strict=True) if a != b] == []


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_levels_in_a_column_of_numbers(dialect, databases):
    model, cells = levels_model(["1", "2", "2.5", "-3", "100000"], CellFormat()), [1.0, 2.0, 2.5, -3.0, 1e5, 7.0, None]
    database = databases(dialect)
    database.load([[cell] for cell in cells], [("x", "number")])
    found = database.numbers(to_sql(model, dialect=dialect, output="decision", keep="row_number"))[:, 0]
    assert found.tolist() == model.decision_function(pd.DataFrame({"x": cells}, dtype=object)).tolist()
    scope = {}
    exec(to_python(model), scope)
    for kind in (float, np.float32, np.float64):
        given = [None if cell is None else kind(cell) for cell in cells]
        assert [scope["predict"]({"x": cell})["decision"]["yes"] for cell in given] == found.tolist()


@needs_node
def test_levels_in_javascript(run_javascript):
    model, cells = levels_model(["1", "2.5", "1000000000000000000000", "true"], CellFormat()), [1.0, 2.5, 1e21, True]
    (found,) = run_javascript([(model, ["x"], [[cell] for cell in cells])])
    assert [dict(decision)["yes"] for _, decision, _ in found] == [1, 2, 3, 4]


def test_plain_numbers_are_no_other_texts(databases, run_javascript):
    """Python's float and JavaScript's Number read more, and SQLite the beginning of anything."""
    model = Predictor([one_column(CellFormat()).models_[0]], np.array(["no", "yes"]), plain_column())
    scope = {}
    exec(to_python(model), scope)
    texts = ["1_0", "１２", "0x10", "0b1", "inf", "--5", "5-", "e5", "Infinity"]
    for cell in [math.inf, "-1e400"]:
        with pytest.raises(ValueError, match=r"^infinite values in 1 column"):
            model.decision_function(pd.DataFrame({"x": [cell]}, dtype=object))
        with pytest.raises(ValueError, match="a column of numbers holds an infinite number"):
            scope["predict"]({"x": cell})
    for cell in [*texts, b"5", np.datetime64("2020-01-01"), 10**400]:
        with pytest.raises(ValueError, match="column 'x' must hold numbers"):
            model.decision_function(pd.DataFrame({"x": pd.Series([cell], dtype=object)}))
    for cell in [*texts, b"5"]:
        with pytest.raises(ValueError, match=r"^(a column of numbers holds|could not convert)"):
            scope["predict"]({"x": cell})
    database = databases("sqlite")
    database.load([[text] for text in texts], [("x", "text")])
    assert np.isnan(database.numbers(to_sql(model, output="decision", keep="row_number"))).all()
    if NODE is not None:
        (found,) = run_javascript([(model, ["x"], [[cell] for cell in [*texts, "-1e400", [5], {}]])])
        assert all("must hold numbers" in one["error"] for one in found)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_texts_in_plain_numbers_never_become_the_number_of_a_blank(dialect, databases, run_javascript):
    """Of a preprocessing that is not ours: whatever reads the cell refuses it."""
    recipe = Recipe((RawColumn("x", "number"),), (NumberOf(0, 60.0), MissingIn(0), MissingIn(0)), ("x", "m", "n"))
    model, scope = Predictor([one_column(CellFormat()).models_[0]], np.array(["no", "yes"]), recipe), {}
    exec(to_python(model), scope)
    database = databases(dialect)
    for text in ["<30", "n. d.", "1,5", "12 kg"]:
        with pytest.raises(ValueError, match="must hold numbers"):
            model.decision_function(pd.DataFrame({"x": [text]}, dtype=object))
        with pytest.raises(ValueError, match=r"a column of numbers holds|could not convert"):
            scope["predict"]({"x": text})
        database.load([[text]], [("x", "text")])
        with pytest.raises(Exception, match=r"overflow|Conversion|invalid input"):
            database.numbers(to_sql(model, dialect=dialect, output="decision", keep="row_number"))
    database.load([[130.0], [None]], [("x", "number")])
    found = database.numbers(to_sql(model, dialect=dialect, output="decision", keep="row_number"))[:, 0]
    assert found.tolist() == model.decision_function(pd.DataFrame({"x": [130.0, None]})).tolist()


@needs_node
def test_no_break_spaces_around_plain_numbers(run_javascript):
    model, scope = Predictor([one_column(CellFormat()).models_[0]], np.array(["no", "yes"]), plain_column()), {}
    exec(to_python(model), scope)
    expected = model.decision_function(pd.DataFrame({"x": ["\u00a0130"]})).tolist()
    assert [scope["predict"]({"x": "\u00a0130"})["decision"]["yes"]] == expected
    (found,) = run_javascript([(model, ["x"], [["\u00a0130"]])])
    assert [dict(decision)["yes"] for _, decision, _ in found] == expected


def test_truth_values_in_sqlite(databases):
    """SQLite stores them as 1 and 0; 0 and 1 that are levels stay what they are."""
    database = databases("sqlite")
    cells = [True, False, None]
    database.load([[cell] for cell in cells], [("x", "number")])
    for levels in (["true", "false"], ["true"], ["0", "1"]):
        model = levels_model(levels, CellFormat(blanks=("",)))
        found = database.numbers(to_sql(model, output="decision", keep="row_number"))[:, 0]
        given = cells if "true" in levels else [1, 0, None]
        assert found.tolist() == model.decision_function(pd.DataFrame({"x": given}, dtype=object)).tolist()


def plain_column():
    return Recipe(
        (RawColumn("x", "number"),), (NumberOf(0), *[MissingIn(0)] * 2), ("x", "x below limit", "x above limit")
    )


@pytest.mark.parametrize("cell", [[5.0], b"5", 1 + 2j, 10**400, np.datetime64("2020-01-01"), Decimal("Infinity"), {}])
def test_cells_of_other_types_are_missing_in_python(cell):
    model, scope = one_column(CellFormat("%")), {}
    exec(to_python(model), scope)
    table = pd.DataFrame({"x": pd.Series([cell], dtype=object)})
    assert scope["predict"]({"x": cell})["decision"]["yes"] == model.decision_function(table)[0] == -1e7


def one_column(form):
    """x with -1e7 for what is missing, plus 1e8 below and 2e8 above a limit."""
    features = (NumberOf(0, -1e7), LimitIn(0, above=False), LimitIn(0, above=True))
    recipe = Recipe((RawColumn("x", "number", None, form),), features, ("x", "x below limit", "x above limit"))
    scaling = Scaling(np.zeros(3), np.full(3, 0.5))
    terms = tuple(monomial([p]) for p in range(3))
    model = SparseModel(terms, np.array([1.0, 1e8, 2e8]), None, scaling, recipe.names, "yes", 9.0, None)
    return Predictor([model], np.array(["no", "yes"]), recipe)


@pytest.mark.slow
def test_pipeline_from_raw_table_to_exports(databases):
    table = training_table()
    score = np.array([float(t.strip("%")) for t in table["share"]]) - 50 + 30 * table["sex"].str.startswith("m")
    y = np.where(score > 0, "sick", "fit")
    search = RFSCClassifier(basis="polynomial", size=3, n_restarts=1, random_state=0)
    pipeline = make_pipeline(TableEncoder(), search).fit(table, y)
    predictor = as_predictor(pipeline)
    np.testing.assert_allclose(predictor.decision_function(table), pipeline.decision_function(table), atol=1e-9)
    assert json.loads(to_json(pipeline))["recipe"]["columns"][1]["cells"]["unit"] == "%"
    scope = {}
    exec(to_python(pipeline), scope)
    labels = [scope["predict"](row)["label"] for row in table.to_dict("records")]
    assert labels == pipeline.predict(table).tolist()
