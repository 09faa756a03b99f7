"""Workbooks against `predict_proba`, computed by the rules of spreadsheets, and by LibreOffice if it is there."""

from __future__ import annotations

import math
import subprocess
import zipfile

import numpy as np
import pytest

from rfsc._model import Predictor
from rfsc._model.cells import CellFormat, number_in
from rfsc._model.recipe import LevelOf, NumberOf, RawColumn, Recipe
from rfsc.export import to_xlsx
from rfsc.export.workbook import FIRST, workbook

from .random_models import FAMILIES, answers, assert_agree, assert_same_classes, random_models, random_predictor
from .sheet_formulas import Book
from .test_raw_cells import one_column
from .test_spreadsheet import OFFICE, STEP, cases

openpyxl = pytest.importorskip("openpyxl")


def names_read(predictor, sheet):
    """Row of every column that is asked for, by its name."""
    rows = {}
    for row in range(FIRST, sheet.max_row + 1):
        if sheet[f"A{row}"].value is None:
            break
        rows[sheet[f"A{row}"].value] = row
    return rows


def compute(book, predictor, cells):
    """Probabilities, class and warnings after the cells, by name, have been entered."""
    form = book["Calculator"]
    rows = names_read(predictor, form)
    for name, row in rows.items():
        value = cells[name]
        form[f"B{row}"].value = None if value is None or value != value else value
        form[f"B{row}"].data_type = "s" if isinstance(value, str) else "n"
    found, first = Book(book), FIRST + len(rows) + 1
    values = [found.value("Calculator", f"B{first + k}") for k in range(len(predictor.classes_) + 1)]
    probability = [np.nan if value == "" else value for value in values[:-1]]
    said = {name: found.value("Calculator", f"D{row}") for name, row in rows.items()}
    return probability, None if values[-1] == "" else values[-1], said


def column_names(predictor):
    recipe = predictor.recipe_
    return [c.name for c in recipe.columns] if recipe else list(predictor.models_[0].feature_names)


def check(predictor, rows):
    decision, probability, predicted = answers(predictor, rows)
    book, names = workbook(predictor), column_names(predictor)
    found = [compute(book, predictor, dict(zip(names, row, strict=True)))[:2] for row in rows]
    assert_agree([one[0] for one in found], probability)
    assert_same_classes([one[1] for one in found], predicted, decision)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0])
def test_workbooks_compute_the_same(case, monkeypatch):
    _, predictor, rows, cut = case
    monkeypatch.setattr("rfsc.export.spreadsheet.MAX_FORMULA", 900 if cut else 8192)
    check(predictor, rows[::STEP])


@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1, 2)], ids=["two", "three"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family(family, classes):
    predictor = random_predictor(4, classes, families=[family], ranges=[(0.0, 1.0), (-3.0, 5.0), (20.0, 90.0)])
    check(predictor, [[0.25, 4.0, 61.5], [1.0, -3.0, 20.0], [0.5, None, 33.0]])


@pytest.fixture
def clinic():
    """A model of a number with a unit, of text levels and of codes."""
    columns = (RawColumn("=age", "number"), RawColumn("ward", "text"), RawColumn("code", "number", (1.0, 2.0, None)))
    features = (NumberOf(0, 40.0), LevelOf(1, ("=1+1", "007")), LevelOf(2, (2.0,)), LevelOf(1, ("west",), other=True))
    recipe = Recipe(columns, features, ("age", "ward_a", "code_2", "ward_other"))
    ranges = [(18.0, 90.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]
    models = random_models(2, ["ill"], ranges=ranges, families=["monomial"], n_terms=12, names=recipe.names)
    return Predictor(models, ["well", "ill"], recipe)


def test_warnings(clinic):
    assert set(clinic.models_[0].features) == {0, 1, 2, 3}
    book = workbook(clinic)

    def said(*cells):
        return list(compute(book, clinic, dict(zip(column_names(clinic), cells, strict=True)))[2].values())

    assert said(50.0, "007", 2.0) == ["", "", ""]
    assert said(None, None, None) == ["", "", ""]
    strange = "Not one of the levels of the training table."
    outside = "Outside of the training range: the result is extrapolated."
    assert said(91.0, "8", 3.0) == [outside, strange, strange]
    assert said(None, "West", 1.0) == ["", strange, ""]
    with pytest.raises(AssertionError, match="#VALUE! from 'fifty'"):  # an error, never the number of a blank
        said("fifty", "West", 1.0)
    name = book["Calculator"]["A4"].value
    assert (name, Book(book).value("Calculator", "D4")) == ("=age", "Text: counts as missing unless it is a number.")


def test_the_file(clinic, tmp_path):
    path = to_xlsx(clinic, tmp_path / "model.xlsx")
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Calculator", "Model"]
    form = book["Calculator"]
    assert form["A4"].value == "=age"
    assert form["A4"].data_type == "s"  # as is every name and level, whatever it looks like
    rules = {str(rule.sqref): rule for rule in form.data_validations.dataValidation}
    assert (rules["B4"].type, rules["B4"].formula1, rules["B4"].formula2) == ("decimal", "18.0", "90.0")
    assert rules["B5"].type == rules["B6"].type == "list"
    assert [cell[0].value for cell in book["Model"][rules["B5"].formula1.split("!")[1]]] == ["=1+1", "007", "west"]
    assert {cell[0].data_type for cell in book["Model"][rules["B5"].formula1.split("!")[1]]} == {"s"}
    assert [rules[place].errorStyle for place in ("B4", "B5", "B6")] == ["warning", "warning", "stop"]
    assert form["B5"].number_format == "@"
    assert form["C4"].value == "Training range: 18 to 90. A blank counts as 40."
    assert not form["B4"].protection.locked
    assert form["B8"].protection.locked
    with zipfile.ZipFile(path) as parts:
        assert not [name for name in parts.namelist() if "external" in name.lower() or "macro" in name.lower()]


def test_hostile_names_are_texts():
    text = "</script><img src=x onerror=alert(1)>\n=cmd|'/c calc'!A1"
    models = random_models(3, [text], ranges=[(0.0, 1.0)] * 2, families=["hinge"], n_terms=6, names=[text, "=1+1"])
    book = workbook(Predictor(models, ["a", text]))
    formulas = {cell.value for sheet in book for row in sheet for cell in row if cell.data_type == "f"}
    assert not [formula for formula in formulas if "cmd" in formula and '"' not in formula]
    probability, label, _ = compute(book, Predictor(models, ["a", text]), {text.replace("\n", " "): 0.5, "=1+1": 0.25})
    assert label in ("a", text)
    assert math.isclose(sum(probability), 1.0)


@pytest.mark.slow
@pytest.mark.skipif(OFFICE is None, reason="LibreOffice is not installed (Debian: apt install libreoffice-calc)")
def test_libreoffice_computes_the_same(clinic, tmp_path):
    expected = clinic.predict_proba([[50.0, "007", 2.0]])[0]
    book = workbook(clinic)
    for row, value in zip((4, 5, 6), (50.0, "007", 2.0), strict=True):
        book["Calculator"][f"B{row}"] = value
    book.save(tmp_path / "in.xlsx")
    command = [OFFICE, f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to", "xlsx"]
    command += ["--outdir", str(tmp_path / "out"), str(tmp_path / "in.xlsx")]
    subprocess.run(command, capture_output=True, timeout=180, check=True)
    form = openpyxl.load_workbook(tmp_path / "out" / "in.xlsx", data_only=True)["Calculator"]
    assert_agree([form["B8"].value, form["B9"].value], expected)


TEXTS = [
    "<30",
    "22.7",
    "22,7",
    "1 234",
    "1  234",
    "1'234.5",
    "1,234.5",
    "1.234,56",
    "\u22125",
    "n.d.",
    "12 %",
    "\u2265 5 mg/L",
    "1e3",
]
TEXTS += [
    "1\u202f234",
    "12\u2019000",
    "1.234.567",
    "-1,000",
    ".5",
    ",5",
    "5.",
    "1,5,5",
    "12 34",
    "0,123",
    "0'123",
    "TRUE",
    "+7",
    "x",
]


@pytest.mark.parametrize(
    "form", [CellFormat(), CellFormat("%"), CellFormat("mg/L", "."), CellFormat("", ""), CellFormat("", "swap")]
)
def test_texts_are_read_as_numbers_by_the_rule_of_the_recipe(form):
    model = one_column(form)
    book = workbook(model)
    sheet, place = book["Calculator"], next(cell.column_letter for cell in book["Model"][1] if cell.value == "decision")
    for text in TEXTS:
        sheet["B4"].value, sheet["B4"].data_type = text, "s"
        value, sign = number_in(text, form)
        expected = (-1e7 if np.isnan(value) else value) + {"": 0.0, "<": 1e8, ">": 2e8}[sign]
        assert Book(book).value("Model", f"{place}2") == expected, text
