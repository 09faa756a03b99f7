"""From raw files to report, score card, calculator and SQL, each by one command: wall time, and whether exports agree.

Five tables are written as hospitals, banks and laboratories write them. `rfsc fit` writes model and report; `rfsc card`
writes a card if the model can be one, and `rfsc export` a calculator page, SQL and Python. Then SQLite and the Python
code read the raw cells, and their answers are compared with those of `rfsc predict`. `--write PAGE` replaces the
section `raw tables` of the page; `--only TABLE` is for a quicker look.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from paper.tables import markdown_table, replace_section

from .measuring import verdict
from .report import processor

BAR = 60.0  # seconds of one command
TOLERANCE = 1e-9  # of a probability
N_COMPARED = 2_000  # rows


@dataclass(frozen=True, slots=True)
class Table:
    """A table, and what its user tells `rfsc fit` about it."""

    draw: Callable[[np.random.Generator], pd.DataFrame]
    options: tuple[str, ...]
    sign: str = ","  # between the cells


def hospital(rng: np.random.Generator) -> pd.DataFrame:
    """Visits of 600 patients: detection limits, units, spellings of a sex, words for blanks, dates."""
    n_patients, n = 600, 900
    patient = np.concatenate([np.arange(n_patients), rng.integers(0, n_patients, n - n_patients)])
    age = rng.normal(66, 14, n_patients).clip(19, 97).round()[patient]
    lactate, crp = rng.lognormal(0.4, 0.7, n), rng.lognormal(3.0, 1.4, n)
    frail = rng.normal(size=n_patients)[patient]
    f = 0.06 * (age - 70) + 1.4 * (lactate > 2.5) + 0.5 * frail - 2.1
    admitted = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    table = pd.DataFrame(
        {
            "patient": [f"P{1000 + k}" for k in patient],
            "age": age.astype(int).astype(str),
            "sex": rng.choice(["F", "f", "female ", "M", "m", "male"], n),
            "admitted": admitted.strftime("%Y-%m-%d"),
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
    """1,500 patients of five clinics that measure a little differently."""
    n = 1_500
    site = rng.integers(0, 5, n)
    values = {name: rng.normal(size=n) + 0.3 * (site == k) for k, name in enumerate(["troponin", "bnp", "egfr", "bmi"])}
    f = 1.2 * values["troponin"] - 0.9 * values["egfr"] + 0.7 * values["bnp"] * (values["bmi"] > 0) - 1.5
    table = pd.DataFrame({"clinic": [f"clinic {'ABCDE'[s]}" for s in site]})
    for name, value in values.items():
        table[name] = (50 + 12 * value).round(1)
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
    "hospital": Table(hospital, ("--target", "died", "--group", "patient", "--drop", "admitted")),
    "bank": Table(bank, ("--target", "defaulted", "--drop", "loan")),
    "laboratory": Table(laboratory, ("--target", "group", "--drop", "sample"), ";"),
    "five clinics": Table(sites, ("--target", "event", "--site", "clinic")),
    "three classes": Table(quality, ("--target", "grade")),
}


def measure(name: str, folder: Path) -> dict[str, Any]:
    """Seconds of each command, and the largest difference between `rfsc predict` and an export."""
    table = TABLES[name]
    drawn = table.draw(np.random.default_rng(0))
    drawn.to_csv(folder / "table.csv", index=False, sep=table.sign)
    seconds = {"fit": rfsc(folder, "fit", "table.csv", *table.options, "-o", "model.json", "--report", "report.html")}
    model = json.loads((folder / "model.json").read_text())
    seconds["card"] = rfsc(folder, "card", "model.json", "table.csv", "-o", "card.html", may_fail=True)
    for form, file in {"html": "calculator.html", "sql": "query.sql", "python": "model.py"}.items():
        seconds[form] = rfsc(folder, "export", "model.json", "--to", form, "-o", file)
    drawn[:N_COMPARED].to_csv(folder / "new.csv", index=False, sep=table.sign)
    rfsc(folder, "predict", "model.json", "new.csv", "-o", "predicted.csv")
    terms = [term["name"] for output in model["outputs"] for term in output["terms"] if term["name"] != "1"]
    return {
        "shape": drawn.shape,
        "seconds": seconds,
        "terms": len(terms),
        "gap": largest_gap(folder, model, table.sign),
        "load": round(os.getloadavg()[0], 1),
    }


def rfsc(folder: Path, *arguments: str, may_fail: bool = False) -> float | None:
    """Wall time of a command; None if it was refused, where that is an answer."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "rfsc", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode == 0:
        return seconds
    if may_fail and done.returncode == 2:
        return None
    raise SystemExit(f"rfsc {' '.join(arguments)} failed in {folder.name}:\n{done.stderr}")


def largest_gap(folder: Path, model: dict[str, Any], sign: str) -> float:
    """Between probabilities of `rfsc predict` and those of SQLite and of the Python code on the same raw cells."""
    with (folder / "new.csv").open(newline="") as file:
        raw = list(csv.DictReader(file, delimiter=sign))
    plain = {c["name"] for c in model["recipe"]["columns"] if c["kind"] == "number" and not c.get("cells")}
    rows = [{k: plain_cell(v) if k in plain else v or None for k, v in row.items()} for row in raw]
    with (folder / "predicted.csv").open(newline="") as file:
        predicted = list(csv.DictReader(file))
    scope: dict[str, Any] = {}
    exec((folder / "model.py").read_text(), scope)
    from_python = [scope["predict"](row)["probability"] for row in rows]
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    frame = pd.DataFrame(rows, dtype=object)
    frame.to_sql("data", database, index_label="rfsc_row")
    from_sql = database.execute((folder / "query.sql").read_text()).fetchall()
    gaps = []
    for expected, first, second in zip(predicted, from_python, from_sql, strict=True):
        for label, probability in first.items():
            own = float(expected[f"probability_{label}"])
            gaps += [abs(own - probability), abs(own - second[f"probability_{label}"])]
    return max(gaps)


def plain_cell(cell: str) -> float | None:
    """A number of a column of plain numbers, whose blanks are empty."""
    return float(cell) if cell.strip() else None


def section(found: dict[str, dict[str, Any]]) -> str:
    """The table and what one must know to read it."""
    rows = []
    for name, one in found.items():
        seconds = one["seconds"]
        slowest = max(s for s in seconds.values() if s is not None)
        card = "no card" if seconds["card"] is None else f"{seconds['card']:.1f}"
        exports = max(seconds[form] for form in ("html", "sql", "python"))
        gap = f"{one['gap']:.0e} {verdict(one['gap'] <= TOLERANCE)}"
        shape = "{:,} x {:,}".format(*one["shape"])
        times = [f"{seconds['fit']:.1f}", card, f"{exports:.1f}", verdict(slowest <= BAR)]
        rows.append([name, shape, *times, str(one["terms"]), gap])
    head = ["", "rows x columns", "fit, s", "card, s", "slowest export, s", f"each ≤ {BAR:.0f} s"]
    head += ["terms", "largest gap"]
    loads = [one["load"] for one in found.values()]
    return f"""Wall time of commands, one run (`benchmarks/raw_tables.py`). {processor()}, \
{os.cpu_count()} cores, Python {platform.python_version()}, load {min(loads)} to {max(loads)} after the runs.

{markdown_table(head, rows)}

- Fit: `rfsc fit table.csv --target COLUMN -o model.json --report report.html`, with `--group`, `--site` or `--drop` of
  the key, and its cross-validated score beside other methods. No card: the model has a product of numbers.
- Largest gap: between the probabilities of `rfsc predict` and those of SQLite and of the generated Python on the raw
  cells of up to {N_COMPARED:,} rows; at most {TOLERANCE:.0e}."""


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
