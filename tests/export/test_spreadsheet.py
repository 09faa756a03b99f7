"""Formulas against `decision_function`, computed by LibreOffice."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

import rfsc.export.spreadsheet as module
from rfsc._model import Predictor
from rfsc.export.spreadsheet import ROW, sheet_cells

from .random_models import (
    FAMILIES,
    answers,
    assert_agree,
    assert_same_classes,
    ordinary_rows,
    random_model,
    random_models,
    random_predictor,
    raw_rows,
    recipe_predictor,
    with_gaps,
)

openpyxl = pytest.importorskip("openpyxl")
OFFICE = shutil.which("soffice") or shutil.which("libreoffice")
# what a person may have in a sheet; a cell has fifteen digits, and no denormals
RANGES = [(0.0, 1.0), (-3.0, 5.0), (0.0, 1e6), (1e6, 1e6 + 8.0), (2e2, 7e3)]
NOT_SO_FAR = (-1e6, -17.0, -1.0, 0.0, 1e-5, 3.0, 1e6)
STEP = 5  # every so many rows are computed
FAR = (-1e300, -1e20, -1e6, -1.0, 0.0, 1e-5, 3.0, 1e9, 1e100, 1e307)


def cases():
    """Name, classifier and rows of every sheet; whether formulas are cut up."""
    for seed in range(20):
        # no spreadsheet takes the sine of a huge number
        families, far = (FAMILIES, NOT_SO_FAR) if seed % 4 < 2 else (set(FAMILIES) - {"fourier"}, FAR)
        classes = ("no", "yes") if seed % 2 else ("a", 'b "2"', "c")
        predictor, rng = (
            random_predictor(seed, classes, ranges=RANGES, families=sorted(families)),
            np.random.default_rng(seed),
        )
        X = ordinary_rows(predictor.models_[0], rng, 30)
        X = X.round(6)  # a cell keeps fifteen digits
        X[10:20] = rng.choice(far, (10, len(RANGES)))
        X[20:] = with_gaps(X[20:], rng, 0.1)
        yield f"random {seed}", predictor, X.tolist(), seed > 12
    for seed in range(4):
        classes = (("no", "yes"), ("a", "b", "c"), (0, 1), (True, False))[seed]
        predictor = recipe_predictor(seed, classes, n_terms=8)
        rows = raw_rows(np.random.default_rng(seed), 80)
        # what is empty is missing, whatever was meant; and again no sine of huge numbers
        rows = [row for row in rows if row[2] != "" and not {-1e300, 5e-324, 1e290} & set(row)]
        yield f"recipe {seed}", predictor, rows, seed == 1


@pytest.fixture
def computed(tmp_path_factory):
    """What LibreOffice makes of a workbook with a sheet for each row: by case, by heading, one value for each row."""
    if OFFICE is None:
        pytest.skip("LibreOffice is not installed (Debian: apt install libreoffice-calc)")
    folder = tmp_path_factory.mktemp("office")
    book = openpyxl.Workbook()
    book.remove(book.active)
    with pytest.MonkeyPatch.context() as patch:
        for name, predictor, rows, cut in cases():
            patch.setattr(module, "MAX_FORMULA", 900 if cut else 8192)
            for i, row in enumerate(rows[::STEP]):
                fill(book.create_sheet(f"{name}, row {i}"), predictor, row)
    return by_heading(converted(book, folder))


def converted(book, folder):
    """The workbook with the values that LibreOffice gives its formulas."""
    book.save(folder / "book.xlsx")
    (folder / "out").mkdir()
    command = [OFFICE, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "xlsx"]
    command += ["--outdir", str(folder / "out"), str(folder / "book.xlsx")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    if not (folder / "out" / "book.xlsx").exists():
        pytest.skip(f"LibreOffice did not convert the workbook: {(done.stdout + done.stderr).strip()[-300:]}")
    return openpyxl.load_workbook(folder / "out" / "book.xlsx", data_only=True)


def by_heading(book):
    """The values of all sheets of a case below their headings."""
    found = {}
    for sheet in book:
        for heading, value in zip(*sheet.iter_rows(values_only=True), strict=True):
            found.setdefault(sheet.title.split(",")[0], {}).setdefault(heading, []).append(value)
    return found


def fill(sheet, predictor, row):
    """The columns that are read, and the formulas."""
    names = [c.name for c in predictor.recipe_.columns] if predictor.recipe_ else predictor.models_[0].feature_names
    known = dict(zip(names, row, strict=True))
    for cell in sheet_cells(predictor):
        # in a file, functions that Excel has had since 2013 only need a prefix
        value = re.sub("(UNICHAR|NUMBERVALUE)", r"_xlfn.\1", cell.formula) or known[cell.heading]
        sheet[f"{cell.column}1"] = cell.heading
        sheet[f"{cell.column}{ROW}"] = None if value is None or value != value else value


@pytest.mark.slow
def test_libreoffice_computes_the_same(computed):
    for name, predictor, rows, _ in cases():
        decision, probability, predicted = answers(predictor, rows[::STEP])
        sheet = computed[name]
        assert_agree(numbers(sheet, "decision"), decision)
        assert_agree(numbers(sheet, "probability"), probability)
        assert_same_classes([None if v in ("", None) else v for v in sheet["predicted"]], predicted, decision)


def numbers(sheet, word):
    """The columns whose headings begin with a word, NaN for empty cells."""
    values = [values for head, values in sheet.items() if head.startswith(word)]
    return np.array([[np.nan if v in ("", None) else v for v in row] for row in zip(*values, strict=True)], dtype=float)


def test_a_model_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_FORMULA", 60)
    with pytest.raises(ValueError, match="characters"):
        sheet_cells(random_model(0))


def test_long_formulas_get_helper_cells():
    model = random_model(0, families=["radial"], ranges=[(0.0, 1.0)] * 3, n_terms=40)
    cells = sheet_cells(model)
    assert max(len(cell.formula) for cell in cells) <= module.MAX_FORMULA
    assert [cell.heading for cell in cells[3:6]] == ["scaled x0", "scaled x1", "scaled x2"]


def test_long_texts_are_written_in_pieces():
    label = 'x"' * 300
    predictor = Predictor(random_models(1, ["b"], ranges=[(0.0, 1.0)]), [label, "b"])
    formula = sheet_cells(predictor)[-1].formula
    pieces = formula.split("&")
    assert len(pieces) == 3
    assert all(len(piece.replace('""', '"')) < 300 for piece in pieces)
