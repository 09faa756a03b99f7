"""Numbers as laboratories write them: limits, percent signs, units; and values that are probably mistakes."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from rfsc._input.column_checks import far_from_others
from rfsc._input.column_types import column_of_kind, comma_meaning, infer_column, share_of_numbers
from rfsc._model.cells import CellFormat, number_in, read_numbers
from rfsc.cli import main
from rfsc.tables import TableEncoder


def column(cells):
    return infer_column("x", pd.Series(cells))


@pytest.mark.parametrize(
    ("cell", "unit", "expected"),
    [
        ("<0.5", "", 0.5),
        ("≥ 1000", "", 1000.0),
        ("> -2e3", "", -2000.0),
        ("45.3%", "%", 45.3),
        ("12 mg/L", "mg/l", 12.0),
        ("<5 μg/dL", "µg/dL", 5.0),
        ("37.2°C", "°C", 37.2),
        (".5kg", "kg", 0.5),
        ("12", "mg/L", 12.0),
        ("CHF 5'859.50", "CHF", 5859.5),
        ("$1200", "$", 1200.0),
        ("< 12.50 €", "€", 12.5),
        ("-$5", "$", None),
        ("12 g/L", "mg/L", None),
        ("12 mg/L", "", None),
        ("18-65", "", None),
        ("120/80", "", None),
        ("1_000", "", None),
        ("<", "", None),
        ("<inf", "", None),
        ("1e999 kg", "kg", None),
    ],
)
def test_number_in_a_cell(cell, unit, expected):
    value, sign = number_in(cell, CellFormat(unit))
    np.testing.assert_equal(value, np.nan if expected is None else expected)
    assert sign == ("" if expected is None or cell[0] not in "<>≥" else "<" if cell[0] == "<" else ">")


def test_limits_are_numbers_at_the_limit_and_never_blank():
    found = column(["<0.5", "0.7", "1.2", ">9", "n.d.", "-"])
    assert found.kind == "number"
    assert (found.below.sum(), found.above.sum(), found.n_not_numbers, found.cells.unit) == (1, 1, 0, "")
    np.testing.assert_array_equal(found.values, [0.5, 0.7, 1.2, 9.0, np.nan, np.nan])


@pytest.mark.parametrize("cells", [["<0.4", 0.7, 1.25, 2, ">4", "n.d."] * 9, [3, 4.5, "5 mg", 6] * 9, [1, 2, "a"] * 9])
def test_sheets_are_read_like_texts(cells):
    """A sheet holds numbers beside texts, a file of texts does not."""
    sheet, texts = column(cells), column([str(cell) for cell in cells])
    assert (sheet.kind, sheet.cells, sheet.n_not_numbers) == (texts.kind, texts.cells, texts.n_not_numbers)
    assert sheet.values.tolist() == texts.values.tolist() or np.isnan(sheet.values).tolist() == texts.blank.tolist()
    if sheet.kind == "number":
        np.testing.assert_array_equal(sheet.values, texts.values)
        np.testing.assert_array_equal(sheet.below, texts.below)


@pytest.mark.parametrize(
    ("cells", "comma", "values"),
    [
        (["1,22", "0,5", "", "12,345"] * 9, ".", [1.22, 0.5, np.nan, 12.345]),
        (["0,573", "0,012"], ".", [0.573, 0.012]),
        (["<0,5", "1,25 mg/L"] * 2 + ["3,75 mg/L"] * 6, ".", [0.5, 1.25]),
        (["1,234", "12,345.5"], "", [1234, 12345.5]),
        (["1,234"] * 30 + ["12,34"], "", [1234]),  # a mistake
    ],
)
def test_commas_of_a_column_in_a_file_with_commas_between_cells(cells, comma, values):
    for found in (infer_column("x", cells, ""), column_of_kind("x", cells, "number", "")):
        assert (found.kind, found.cells.comma) == ("number", comma)
        np.testing.assert_array_equal(found.values[: len(values)], values)


def test_choices_are_no_decimal_numbers():
    """1,2 may be two choices where most cells are single ones, so that the user has to say."""
    cells = ["1", "2", "3", "1,2", "2,3"] * 9
    assert infer_column("x", cells, "").kind == "text"
    assert share_of_numbers(infer_column("x", cells, ""), "") == 1.0
    assert column_of_kind("x", cells, "number", "").values.tolist()[:5] == [1.0, 2.0, 3.0, 1.2, 2.3]


@pytest.mark.parametrize("cells", [["<50", ">50"] * 9, ["3a", "3b", "4a", "4b"] * 9, ["1 mg", "2 g"] * 9])
def test_levels_and_mixed_units_stay_text(cells):
    assert column(cells).kind == "text"


def test_a_few_cells_in_another_unit_are_counted_as_blank():
    found = column(["3 mg/L"] * 30 + ["4"] * 9 + ["0.1 g/L"])
    assert (found.kind, found.cells.unit, found.n_not_numbers) == ("number", "mg/L", 1)
    assert np.isnan(found.values[-1])


@pytest.mark.parametrize(
    ("cells", "unit"),
    [
        (["CHF 5'859.50", "CHF 120.00"], "CHF"),
        (["€ 12.50", "€14"], "€"),
        (["12.50 €", "14 €"], "€"),
        (["US$ 3", "US$4.5"], "US$"),
        (["ABC 12", "ABC 14"], ""),
    ],
)
def test_currencies_are_units_before_or_behind_a_number(cells, unit):
    found = column(cells * 9)
    assert (found.kind, found.cells.unit) == ("number" if unit else "text", unit)


def test_the_unit_of_a_saved_model_decides():
    cells = ["3 g/L", "4 g/L", "5"]
    np.testing.assert_array_equal(read_numbers(cells, CellFormat("mg/L"))[0], [np.nan, np.nan, 5.0])
    np.testing.assert_array_equal(read_numbers(cells, CellFormat("G/l"))[0], [3.0, 4.0, 5.0])


@pytest.mark.parametrize(
    ("cell", "comma", "expected"),
    [
        ("1,234", "", 1234.0),
        ("-1,234,567.5", "", -1234567.5),
        ("12,34", "", np.nan),
        ("0,123", "", np.nan),
        ("1234,567", "", np.nan),
        ("1,234", ".", 1.234),
        ("1.234,5", ".", np.nan),
        ("1,5", None, np.nan),
    ],
)
def test_commas(cell, comma, expected):
    np.testing.assert_equal(number_in(cell, CellFormat("", comma))[0], expected)


def test_mistakes_are_found_and_skewed_columns_are_left_alone():
    rng = np.random.default_rng(0)
    age, pressure = rng.integers(20, 90, 400).astype(float), rng.normal(120, 15, 400)
    age[[3, 8]], pressure[7] = [673, 0], 0
    assert far_from_others(column(age)).tolist() == [3, 8]
    assert far_from_others(column(pressure)).tolist() == [7]
    age[5] = -4
    assert far_from_others(column(age)).tolist() == [3, 5, 8]
    for plain in (rng.lognormal(0, 2, 400), rng.exponential(size=400), rng.poisson(3, 400), rng.normal(size=400)):
        assert not far_from_others(column(plain.astype(float))).size


@pytest.mark.parametrize("n", [80, 400, 10_000])
@pytest.mark.parametrize(
    ("draw", "factor"),
    [
        (lambda rng, n: rng.normal(60, 12, n), 10),
        (lambda rng, n: rng.lognormal(2, 0.4, n), 100),
        (lambda rng, n: rng.exponential(5000, n), 100_000),
        (lambda rng, n: rng.gamma(2.0, 3.0, n), 100_000),
        (lambda rng, n: rng.exponential(3, n) * (rng.random(n) > 0.3), 100_000),
        (lambda rng, n: rng.lognormal(0, 1.5, n), 100_000),
    ],
)
def test_few_columns_without_mistakes_are_doubted_and_impossible_values_are_found(draw, factor, n):
    """The wider the distribution, the larger a value must be to be impossible."""
    rng = np.random.default_rng(n)
    n_alarms = 0
    for _ in range(100):
        values = draw(rng, n).round(2)
        n_alarms += far_from_others(column(values)).size > 0
        values[7] = factor * values.max()
        assert 7 in far_from_others(column(values))
    assert n_alarms <= 3


def test_a_fit_names_all_doubtful_columns_in_one_warning(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(60, 12, (60, 8)).round(1), columns=list("abcdefgh"))
    for k in range(7):
        X.iloc[k, k] = 999.0
    X.assign(y=np.where(X["h"] > 60, "yes", "no")).to_csv(tmp_path / "t.csv", index=False)
    line = ["fit", str(tmp_path / "t.csv"), "-t", "y", "--cv", "0", "--restarts", "1", "--basis", "step", "--size", "1"]
    assert main([*line, "--keep", "h"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "Warning" in line]
    words = "'a' (row 1), 'b' (row 2), 'c' (row 3), 'd' (row 4), 'e' (row 5) and 2 more"
    assert said == [f"Warning: values far from all others in {words}; check them for mistakes"]


def test_fit_and_predict_read_cells_alike(tmp_path, capsys):
    rng = np.random.default_rng(1)
    crp, age = rng.lognormal(1, 1, 300).round(1), rng.integers(20, 90, 300)
    outcome = np.where(np.log(crp) - 1 + (age - 55) / 20 + rng.logistic(size=300) / 3 > 0, "dead", "alive")
    plain = pd.DataFrame({"crp": np.maximum(crp, 0.5), "age": age, "outcome": outcome})
    written = plain.assign(crp=["<0,5" if v <= 0.5 else f"{v} mg/L".replace(".", ",") for v in plain["crp"]])
    for name, table in {"plain": plain, "written": written}.items():
        table.to_csv(tmp_path / f"{name}.csv", sep=";", index=False)
    table, model = str(tmp_path / "written.csv"), tmp_path / "model.json"
    options = ["--cv", "0", "--basis", "polynomial", "--keep", "crp", "-o", str(model)]
    assert main(["fit", table, "-t", "outcome", *options]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "unit mg/L; decimal commas" in said
    saved = json.loads(model.read_text())
    cells = saved["recipe"]["columns"][0]["cells"]
    assert (cells["unit"], cells["comma"]) == ("mg/L", ".")
    assert saved["manifest"]["columns"][0]["changed"].startswith("unit mg/L; decimal commas; ")
    found = {}
    for name in ("plain", "written"):
        assert main(["predict", str(model), str(tmp_path / f"{name}.csv"), "--proba"]) == 0
        found[name] = pd.read_csv(io.StringIO(capsys.readouterr().out))
    is_limit = plain["crp"] <= 0.5  # only the written table says so
    pd.testing.assert_frame_equal(found["plain"][~is_limit], found["written"][~is_limit])
    plain.assign(crp="12 g/L").to_csv(table, sep=";", index=False)
    assert main(["predict", str(model), table]) == 0
    assert "are not numbers in mg/L, the unit of the fit, and count as blank" in capsys.readouterr().err


def test_mistakes_are_named_before_the_fit(tmp_path, capsys):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"age": rng.integers(20, 90, 200), "b": rng.normal(size=200)})
    table["out"] = np.where(table["age"] > 55, "y", "n")
    table.loc[17, "age"] = 673
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["fit", str(tmp_path / "t.csv"), "-t", "out", "--keep", "age", "--cv", "0", "--size", "1"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "values far from all others in 'age' (row 18); check them for mistakes" in said


@pytest.mark.parametrize(
    ("others", "meaning"),
    [
        (["22.7", "1.25"], ""),
        (["CHF 8'294.26"], ""),
        (["1.234", "2.345"], None),
        (["31.12.2024"], None),
        (["22.7", "1,5"], "."),
        (["3", "a.b"], None),
    ],
)
def test_other_columns_show_what_a_comma_means(others, meaning):
    """A number such as 1.5 settles that 1,234 is no decimal number, unless there is one such as 1,5."""
    cells = [["$35,131", "$1,200"] * 9, others * 9]
    assert comma_meaning(cells) == meaning
    frame = pd.DataFrame({"amount": ["$35,131", "$1,200", "$2,300"] * 9, "rate": (others * 27)[:27]})
    rows = {row["column"]: row for row in TableEncoder().fit(frame).columns_.rows()}
    assert (rows["amount"]["kind"] == "number") == (meaning is not None)
    if meaning == "":
        assert rows["amount"]["doubtful"] == ""
