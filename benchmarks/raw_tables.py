"""From raw files to report, score card, calculator and SQL, each by one command: wall time, and whether exports agree.

Five tables are written as hospitals, banks and laboratories write them. `rfsc fit` writes model and report, `rfsc card`
a card, and `rfsc export` all other formats. Every format then reads new rows, and its probabilities are compared with
those of `rfsc predict`: SQLite, DuckDB, Python and JavaScript get the very texts of the file, C and ONNX the numbers
and levels that these stand for, and the page in Chromium what a person would type. `--write PAGE` replaces the section
`raw tables` of the page; `--only TABLE` is for a quicker look.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import json
import os
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
from paper.tables import markdown_table, replace_section

from rfsc._model import Predictor
from rfsc._model.recipe import Cells
from rfsc.export import load
from rfsc.export.c_code import field_names
from rfsc.export.calculator import fields_of
from rfsc.export.program import Program

from .measuring import verdict
from .report import machine_and_date

BAR = 60.0  # seconds of one command
TOLERANCE = 1e-9  # of a probability
N_COMPARED = 2_000  # rows
N_IN_BROWSER = 3
ENDINGS = {"html": "html", "sql": "sql", "python": "py", "javascript": "mjs", "c": "c", "onnx": "onnx"}
Rows = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Table:
    """A table, and what its user tells `rfsc fit` about it."""

    draw: Callable[[np.random.Generator], pd.DataFrame]
    options: tuple[str, ...]
    sign: str = ","  # between the cells
    label: str | None = None  # the class of the card, if there are more than two


def hospital(rng: np.random.Generator) -> pd.DataFrame:
    """Visits of 600 patients: detection limits, units, spellings of a sex, words for blanks, dates."""
    n_patients, n = 600, 900
    patient = np.concatenate([np.arange(n_patients), rng.integers(0, n_patients, n - n_patients)])
    age = rng.normal(66, 14, n_patients).clip(19, 97).round()[patient]
    lactate, crp = rng.lognormal(0.4, 0.7, n), rng.lognormal(3.0, 1.4, n)
    frail = rng.normal(size=n_patients)[patient]
    f = 0.06 * (age - 70) + 1.4 * (lactate > 2.5) + 0.5 * frail - 2.1
    day = rng.integers(0, 700, n)
    admitted = pd.Timestamp("2024-01-01") + pd.to_timedelta(day, unit="D")
    f -= 0.003 * day
    table = pd.DataFrame(
        {
            "patient": [f"P{1000 + k}" for k in patient],
            "age": age.astype(int).astype(str),
            "sex": rng.choice(["F", "f", "female ", "M", "m", "male"], n),
            "admitted": admitted.strftime("%d.%m.%Y"),
            "ward": rng.choice(["Internal", "Surgery", "ICU", "surgery"], n),
            "lactate": np.where(lactate < 0.8, "<0.8", np.char.mod("%.1f", lactate)),
            "CRP": np.where(crp > 200, ">200", np.char.mod("%.0f mg/L", crp)),
            "saturation": np.char.mod("%.0f%%", rng.normal(95, 3, n).clip(70, 100)),
            "weight": np.char.mod("%.0f kg", rng.normal(78, 15, n)),
            "blood pressure": np.char.mod("%.0f", rng.normal(125, 20, n)),
            "diabetes": rng.choice(["yes", "no"], n, p=[0.25, 0.75]),
        }
    )
    for name, word in {"CRP": "n.d.", "weight": "-", "lactate": "", "saturation": "NA"}.items():
        table.loc[rng.random(n) < 0.07, name] = word
    table.loc[rng.integers(0, n, 3), "age"] = "673"
    table.loc[rng.integers(0, n, 4), "blood pressure"] = "0"
    return table.assign(died=np.where(f + rng.logistic(size=n) > 0, "yes", "no"))


def bank(rng: np.random.Generator) -> pd.DataFrame:
    """40,000 loans with thousands in the amounts, and a column of sixty branches."""
    n = 40_000
    income, amount = rng.lognormal(7.9, 0.5, n), rng.lognormal(9.0, 0.8, n)
    rate, term, late = rng.uniform(2, 14, n), rng.choice([12, 24, 36, 48, 60, 84], n), rng.poisson(0.4, n)
    branch = rng.integers(0, 60, n)
    f = 0.8 * np.log(amount / income) + 0.12 * rate + 0.9 * (late > 0) + 0.5 * (branch % 7 == 0) - 5.6
    table = pd.DataFrame(
        {
            "loan": np.arange(n) + 700_001,
            "branch": [f"branch {b:02d}" for b in branch],
            "purpose": rng.choice(["car", "house", "business", "holiday", "other"], n),
            "income": [f"{v:,.2f}" for v in income],
            "amount": [f"{v:,.0f}" for v in amount],
            "rate": [f"{v:.2f}%" for v in rate],
            "term": term,
            "late payments": late,
            "employed since": (pd.Timestamp("2024-06-30") - pd.to_timedelta(rng.integers(30, 9000, n), unit="D")).date,
            "housing": rng.choice(["own", "rent", "family", ""], n, p=[0.4, 0.4, 0.15, 0.05]),
        }
    )
    for k in range(1, 11):
        table[f"ratio {k}"] = rng.gamma(2.0, 1.0, n).round(3)
    return table.assign(defaulted=(f + rng.logistic(size=n) > 0).astype(int))


def laboratory(rng: np.random.Generator) -> pd.DataFrame:
    """80 samples with 300 analytes, decimal commas and detection limits."""
    n, p = 80, 300
    value = np.exp(rng.normal(size=(n, 30)) @ rng.normal(size=(30, p)) * 0.15 + 0.6 * rng.normal(size=(n, p)))
    f = 2.2 * np.log(value[:, 7]) - 2.0 * np.log(value[:, 41])
    table = pd.DataFrame({"sample": [f"S-{k:03d}" for k in range(n)]})
    cells = {}
    for j in range(p):
        limit = np.quantile(value[:, j], 0.05) if j % 3 == 0 else 0.0
        cells[f"analyte {j:03d}"] = [f"<{limit:.2f}" if v < limit else f"{v:.3f}" for v in value[:, j]]
    table = pd.concat([table, pd.DataFrame(cells).apply(lambda column: column.str.replace(".", ","))], axis=1)
    return table.assign(group=np.where(f + rng.logistic(size=n) > 0, "case", "control"))


def sites(rng: np.random.Generator) -> pd.DataFrame:
    """1,500 patients of five clinics that measure a little differently; thousands are written with spaces."""
    n = 1_500
    site = rng.integers(0, 5, n)
    values = {name: rng.normal(size=n) + 0.3 * (site == k) for k, name in enumerate(["troponin", "bnp", "egfr", "bmi"])}
    f = 1.2 * values["troponin"] - 0.9 * values["egfr"] + 0.7 * values["bnp"] * (values["bmi"] > 0) - 1.5
    table = pd.DataFrame({"clinic": [f"clinic {'ABCDE'[s]}" for s in site]})
    for name, value in values.items():
        table[name] = (50 + 12 * value).round(1)
    table["platelets"] = [f"{v:,.0f}".replace(",", " ") for v in rng.normal(240_000, 60_000, n).clip(900)]
    for k in range(1, 9):
        table[f"marker {k}"] = rng.lognormal(size=n).round(2)
    table["smoker"] = rng.choice(["never", "former", "current", None], n, p=[0.4, 0.3, 0.25, 0.05])
    return table.assign(event=np.where(f + rng.logistic(size=n) > 0, "event", "none"))


def quality(rng: np.random.Generator) -> pd.DataFrame:
    """700 parts of a factory, in three classes."""
    n = 700
    table = pd.DataFrame({f"sensor {k}": rng.normal(20 + k, 2, n).round(2) for k in range(1, 11)})
    table["machine"] = rng.choice(["M1", "M2", "M3", "M4"], n)
    table["shift"] = rng.choice(["day", "night"], n)
    a, b = (table["sensor 2"] - 22) / 2, (table["sensor 5"] - 25) / 2
    f = np.column_stack(
        [np.zeros(n) + 0.8, 1.8 * a - (table["machine"] == "M2"), 1.8 * b * (table["shift"] == "night")]
    )
    return table.assign(grade=np.array(["good", "rework", "scrap"])[np.argmax(f + rng.gumbel(size=f.shape), axis=1)])


TABLES = {
    "hospital": Table(hospital, ("--target", "died", "--group", "patient", "--keep", "admitted")),
    "bank": Table(bank, ("--target", "defaulted", "--drop", "loan", "--keep", "employed since")),
    "laboratory": Table(laboratory, ("--target", "group", "--drop", "sample"), ";"),
    "five clinics": Table(sites, ("--target", "event", "--site", "clinic")),
    "three classes": Table(quality, ("--target", "grade"), label="rework"),
}


def measure(name: str, folder: Path) -> dict[str, Any]:
    """Seconds of each command, and the largest difference between `rfsc predict` and each export."""
    table = TABLES[name]
    drawn = table.draw(np.random.default_rng(0))
    drawn.to_csv(folder / "table.csv", index=False, sep=table.sign)
    fit = ("fit", "table.csv", *table.options, "--basis", "hinge", "-o", "model.json", "--report", "report.html")
    which = ("--class", table.label) if table.label else ()
    seconds = {"fit": rfsc(folder, *fit)}
    seconds["card"] = rfsc(folder, "card", "model.json", "table.csv", *which, "-o", "card.html")
    model = load(folder / "model.json")
    program = Program.of(model)
    for form, ending in ENDINGS.items():
        if form == "onnx" and any(map(program.reads_limits, program.read)):
            continue  # a number in ONNX cannot say that it is a limit
        seconds[form] = rfsc(folder, "export", "model.json", "--to", form, "-o", f"model.{ending}")
    rfsc(folder, "export", "model.json", "--to", "sql", "--dialect", "duckdb", "-o", "duckdb.sql")
    new, other = drawn[:N_COMPARED], "\t" if table.sign == ";" else ";"
    new.to_csv(folder / "new.csv", index=False, sep=table.sign)
    new.to_csv(folder / "other.csv", index=False, sep=other)
    for file in ("new", "other"):
        rfsc(folder, "predict", "model.json", f"{file}.csv", "--proba", "--all-digits", "-o", f"predicted_{file}.csv")
    if (folder / "predicted_new.csv").read_text() != (folder / "predicted_other.csv").read_text():
        raise SystemExit(f"{name}: `rfsc predict` depends on the delimiter")
    return {
        "shape": drawn.shape,
        "seconds": seconds,
        "terms": sum(one.size for one in model.models_),
        "gaps": gaps(folder, model, table.sign, set(seconds)),
        "load": round(os.getloadavg()[0], 1),
    }


def rfsc(folder: Path, *arguments: str) -> float:
    """Wall time of a command."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "rfsc", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return time.perf_counter() - began
    raise SystemExit(f"rfsc {' '.join(arguments)} failed in {folder.name}:\n{done.stderr}")


# ---- what the exports say of the same rows


def gaps(folder: Path, model: Predictor, sign: str, made: set[str]) -> dict[str, float]:
    """Between probabilities of `rfsc predict` and those of every export, the largest difference."""
    with (folder / "new.csv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter=sign))
    labels = [str(label) for label in model.classes_]
    with (folder / "predicted_new.csv").open(newline="") as file:
        predicted = [[float(row[f"probability_{label}"]) for label in labels] for row in csv.DictReader(file)]
    expected = np.array(predicted)
    readers: dict[str, Callable[[], Any]] = {
        "load": lambda: model.predict_proba(pd.DataFrame(rows, dtype=object)),
        "Python": lambda: from_python(folder, rows, labels),
        "SQLite": lambda: from_sqlite(folder, rows, labels),
    }
    if has("duckdb"):
        readers["DuckDB"] = lambda: from_duckdb(folder, rows, labels)
    if shutil.which("node"):
        readers["JavaScript"] = lambda: from_javascript(folder, rows, labels)
    if shutil.which("gcc"):
        readers["C"] = lambda: from_c(folder, model, rows)
    if has("onnxruntime") and "onnx" in made:
        readers["ONNX"] = lambda: from_onnx(folder, model, rows)
    found = {name: float(np.abs(np.array(read()) - expected).max()) for name, read in readers.items()}
    if browser := shutil.which("chromium"):
        found["page"] = in_browser(browser, folder, model, rows, expected)
    return found


def has(module: str) -> bool:
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def from_python(folder: Path, rows: Rows, labels: Sequence[str]) -> list[list[float]]:
    scope: dict[str, Any] = {}
    exec((folder / "model.py").read_text(), scope)
    by_label = [{str(k): p for k, p in scope["predict"](row)["probability"].items()} for row in rows]
    return [[row[label] for label in labels] for row in by_label]


def from_javascript(folder: Path, rows: Rows, labels: Sequence[str]) -> Any:
    (folder / "rows.json").write_text(json.dumps(rows))
    script = f"""import {{ readFileSync }} from "node:fs";
import {{ predict }} from "./model.mjs";
const found = JSON.parse(readFileSync("rows.json")).map((row) => predict(row).probability);
console.log(JSON.stringify(found.map((one) => {json.dumps(list(labels))}.map((label) => one[label]))));"""
    (folder / "run.mjs").write_text(script)
    done = subprocess.run(["node", "run.mjs"], cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def from_sqlite(folder: Path, rows: Rows, labels: Sequence[str]) -> list[list[float]]:
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    pd.DataFrame(rows, dtype=object).to_sql("data", database, index_label="rfsc_row")
    found = database.execute((folder / "model.sql").read_text()).fetchall()
    return [[row[f"probability_{label}"] for label in labels] for row in found]


def from_duckdb(folder: Path, rows: Rows, labels: Sequence[str]) -> Any:
    import duckdb

    with duckdb.connect(":memory:") as database:
        database.register("data", pd.DataFrame(rows, dtype=str))
        found = database.execute((folder / "duckdb.sql").read_text()).df()
    return found[[f"probability_{label}" for label in labels]].to_numpy()


def cells_of(model: Predictor, rows: Rows) -> dict[int, Cells]:
    """The numbers, limits and levels that the columns of the model stand for."""
    assert model.recipe_ is not None
    return model.recipe_.cells(pd.DataFrame(rows, dtype=object), Program.of(model).read)


def from_c(folder: Path, model: Predictor, rows: Rows) -> Any:
    program = Program.of(model)
    flags = ["-shared", "-fPIC", "-O2", "-ffp-contract=off", "-o", "model.so", "model.c", "-lm"]
    subprocess.run(["gcc", *flags], cwd=folder, check=True)
    fields, columns = [], []
    for j, name in field_names(program).items():
        read = cells_of(model, rows)[j]
        is_number = program.columns[j].kind == "number"
        fields.append((name, ctypes.c_double if is_number else ctypes.c_char_p))
        texts = [None if gone else str(cell).encode() for cell, gone in zip(read.values, read.missing, strict=True)]
        columns.append(read.values.tolist() if is_number else texts)
        if program.reads_limits(j) and read.below is not None and read.above is not None:
            fields.append((f"{name}_limit", ctypes.c_int))
            columns.append((read.above.astype(int) - read.below.astype(int)).tolist())
    row_type = type("Row", (ctypes.Structure,), {"_fields_": fields})
    library, n_classes = ctypes.CDLL(str(folder / "model.so")), len(model.classes_)
    found = []
    for cells in zip(*columns, strict=True):
        probability = (ctypes.c_double * n_classes)()
        library.rfsc_predict(ctypes.byref(row_type(*cells)), None, probability)
        found.append(list(probability))
    return found


def from_onnx(folder: Path, model: Predictor, rows: Rows) -> Any:
    import onnxruntime

    program, given = Program.of(model), {}
    for j, read in cells_of(model, rows).items():
        column = program.columns[j]
        cells = np.where(read.missing, "", read.values).astype(object) if column.kind == "text" else read.values
        given[column.name] = cells.reshape(-1, 1)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    return session.run(["probabilities"], given)[0]


def in_browser(browser: str, folder: Path, model: Predictor, rows: Rows, expected: Any) -> float:
    """The page asked about the first rows without limits, with the values that a person would enter."""
    program, read, found = Program.of(model), cells_of(model, rows), []
    known = {field.name: field for field in fields_of(model)}
    places = {program.columns[j].name: j for j in read}
    limits = [
        cells.below | cells.above for cells in read.values() if cells.below is not None and cells.above is not None
    ]
    for i in [i for i in range(len(rows)) if not any(limit[i] for limit in limits)][:N_IN_BROWSER]:
        typed = {}
        for name, field in known.items():
            cells = read[places[name]]
            form = program.columns[places[name]].cells
            if cells.missing[i]:
                continue
            if field.is_date and form is not None:
                typed[name] = str(np.datetime64(form.since) + int(cells.values[i]))
            elif field.levels is None:
                typed[name] = repr(float(cells.values[i]))
            else:
                options = {cell: code for cell, code, _ in field.options}
                typed[name] = options.get(cells.values[i], field.options[-1][1])
        address = f"{(folder / 'model.html').as_uri()}#{urlencode(typed)}"
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", address]
        page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        shares = list(map(float, re.findall(r'<li data-value="([^"]+)"', page)))
        found.append(np.abs(np.array(shares) - expected[i]).max())
    return float(max(found))


def section(found: dict[str, dict[str, Any]]) -> str:
    """The table and what one must know to read it."""
    rows = []
    for name, one in found.items():
        seconds, worst = one["seconds"], max(one["gaps"].values())
        exports = max(seconds[form] for form in ENDINGS if form in seconds)
        shape = "{:,} x {:,}".format(*one["shape"])
        times = [f"{seconds['fit']:.1f}", f"{seconds['card']:.1f}", f"{exports:.1f}"]
        times.append(verdict(max(seconds.values()) <= BAR))
        compared = ", ".join(one["gaps"])
        rows.append([name, shape, *times, str(one["terms"]), f"{worst:.0e} {verdict(worst <= TOLERANCE)}", compared])
    head = ["", "rows x columns", "fit, s", "card, s", "slowest export, s", f"each ≤ {BAR:.0f} s"]
    head += ["terms", "largest gap", "compared"]
    loads = [one["load"] for one in found.values()]
    return f"""Wall time of commands, one run (`make raw-tables`). {machine_and_date()}, \
{os.cpu_count()} cores, Python {platform.python_version()}, load {min(loads)} to {max(loads)} after the runs;
above 2, other programs have lengthened the times.

{markdown_table(head, rows)}

- Hospital: 600 patients with repeated visits, detection limits, units, words for blanks, dates. Bank: amounts with
  thousands, 60 branches, dates. Laboratory: decimal commas and detection limits. Five clinics: `--site`, numbers such
  as 245 000.
- Fit: `rfsc fit table.csv --target COLUMN --basis hinge -o model.json --report report.html`, with `--group`, `--site`,
  `--drop` of the key and `--keep` of dates, and its cross-validated score beside other methods. Card: from hinges.
- Largest gap: between the probabilities of `rfsc predict` and those of each export on up to {N_COMPARED:,} rows; at
  most {TOLERANCE:.0e}. `load` in Python, SQLite, DuckDB, Python and JavaScript read the texts; C and ONNX the
  numbers and levels that they stand for (ONNX only models that do not ask for limits); the page in Chromium what
  a person would enter, for {N_IN_BROWSER} rows. `rfsc predict` gives the same for a file with another delimiter."""


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="page whose section 'raw tables' is replaced")
    parser.add_argument("--only", action="append", choices=list(TABLES), help="one of the tables; may be repeated")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="folder that keeps the files")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.only or TABLES:
            folder = Path(options.keep or temporary).resolve() / name.replace(" ", "_")
            folder.mkdir(parents=True, exist_ok=True)
            found[name] = measure(name, folder)
            print(name, json.dumps(found[name]), file=sys.stderr, flush=True)
    text = section(found)
    print(text)
    if options.write:
        replace_section(options.write, "raw tables", text)


if __name__ == "__main__":
    main()
