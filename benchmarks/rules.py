"""What rules cost: default fits beside fits that choose from the same mixes without rules, and the screening of pairs.

Every measurement runs in a process of its own, after a small fit that loads compiled code. The two fits take turns, and
medians of three count. `--write PAGE` replaces the section `rules` of the page.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from paper.tables import markdown_table, replace_section
from sklearn.datasets import load_breast_cancer

from rfsc import RFSCClassifier, bases
from rfsc._terms import Training
from rfsc._terms.scaling import Scaling
from rfsc._terms.score_tests import ScoreTest, strongest

from .default_fits import CASES, CORES, N_RUNS, Case, simulated
from .measuring import Outcomes, memory, verdict
from .report import machine_and_date

TABLES = [name for name, case in CASES.items() if case.data in ("wdbc", "simulated")]
MOST_RATIO = 1.3  # of the default's time to that without rules
N_KNOTS, N_KEPT = 8, 1_000
SCREENED = {"100 features": (1_000, 100, 1.0), "30 features": (100_000, 30, 10.0)}  # rows, features, most seconds
PARTS = {"pairs of thresholds": slice(1, 2), "all rules": slice(None)}  # of the space; the bars are of the former
MOST_MB = 500.0


@contextmanager
def without_rules() -> Iterator[None]:
    """Default fits choose from the other mixes; `basis` itself cannot name a choice."""
    usual = bases.auto_mixes

    def others(n_features: int, n_rows: int) -> dict[str, tuple[Any, ...]]:
        return {name: mix for name, mix in usual(n_features, n_rows).items() if name != "rule"}

    bases.auto_mixes = others
    try:
        yield
    finally:
        bases.auto_mixes = usual


def time_fit(case: Case, rules: bool) -> dict[str, Any]:
    """Seconds of a default fit, with or without rules among the mixes, and what it chose."""
    warnings.simplefilter("ignore")
    fit = partial(RFSCClassifier, random_state=0)
    X, y = load_breast_cancer(return_X_y=True) if case.data == "wdbc" else simulated(case)[0]
    with nullcontext() if rules else without_rules():
        fit().fit(*simulated(Case(100, 4, 0.0, case.n_classes))[0])
        began = time.perf_counter()
        model = fit().fit(X, y)
    return {"seconds": time.perf_counter() - began, "mixes": list(model.basis_losses_ or {})}


def time_screening(n_rows: int, n_features: int, parts: str) -> dict[str, Any]:
    """Seconds, and memory above the table, of laying out all rules and the score test of some."""
    rng = np.random.default_rng(0)
    table = rng.random((n_features, n_rows))
    target = np.where((table[0] > 0.5) & (table[1] > 0.5) ^ (rng.random(n_rows) < 0.2), 1.0, -1.0)
    screen(np.ascontiguousarray(table[:3, :100]), target[:100], parts)
    before = memory("VmRSS")
    began = time.perf_counter()
    n_terms = screen(table, target, parts)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "n_terms": n_terms, "mb": (memory("VmHWM") - before) / 1e6}


def screen(table: np.ndarray, target: np.ndarray, parts: str) -> int:
    """Lay out the rules of a table and test some; the number of these."""
    weight = np.ones(table.shape[1])
    training = Training(table, weight, np.arange(len(table)), Scaling.from_rows(table.T))
    space = bases.Rule(n_knots=N_KNOTS).space(training, np.random.default_rng(0))
    test = ScoreTest.of_model(target, weight)
    tested = space.parts(table, weight)[PARTS[parts]]
    for part in tested:
        if part.n_terms:
            strongest(part, test, N_KEPT, CORES)
    return sum(part.n_terms for part in tested)


def measure(task: dict[str, Any]) -> dict[str, Any]:
    """One measurement, in this process."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    if task["what"] in PARTS:
        return time_screening(*SCREENED[task["table"]][:2], task["what"])
    return time_fit(CASES[task["table"]], task["what"] == "with")


def run_all(outcomes: Outcomes) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Every measurement by what is measured and its table, the two fits in turns."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for table in (*TABLES, *SCREENED):
        kinds = tuple(PARTS) if table in SCREENED else ("with", "without")
        for run in range(N_RUNS):
            for what in kinds:
                found.setdefault((what, table), []).append(outcomes.get({"what": what, "table": table, "run": run}))
    return found


def section(found: dict[tuple[str, str], list[dict[str, Any]]]) -> str:
    """Both tables and what one must know to read them."""
    seconds = {key: statistics.median(one["seconds"] for one in runs) for key, runs in found.items()}
    rows = []
    for table in TABLES:
        one, other = seconds["with", table], seconds["without", table]
        met = one <= MOST_RATIO * other
        chosen_from = "" if "rule" in found["with", table][0]["mixes"] else "no rules among its mixes"
        shown = [f"{one:.1f}", f"{other:.1f}", f"{one / other:.2f}", f"≤ {MOST_RATIO}", verdict(met), chosen_from]
        rows.append([table, *shown])
    screened = []
    for what, (table, (n_rows, n_features, most)) in product(PARTS, SCREENED.items()):
        runs, took = found[what, table], seconds[what, table]
        mb, is_judged = max(one["mb"] for one in runs), what == next(iter(PARTS))
        bars = f"≤ {most:g} s, ≤ {MOST_MB:g} MB" if is_judged else ""
        met = verdict(took <= most and mb <= MOST_MB) if is_judged else ""
        size = [what, f"{n_rows:,} x {n_features}", f"{runs[0]['n_terms']:,}"]
        screened.append([*size, f"{took:.2f}", f"{mb:.0f}", bars, met])
    loads = [one["load"] for runs in found.values() for one in runs]
    about = (
        f"Wall time on {CORES} cores, medians of {N_RUNS} runs in turns, after a small fit (`benchmarks/rules.py`). "
        f"{machine_and_date()}, load {min(loads):.1f} to {max(loads):.1f} after the runs."
    )
    head = ["table of the default fits", "default, s", "without rules, s", "ratio", "bar", "", ""]
    of_screening = ["screening", "rows x features", "rules", "s", "MB above the table", "bar", ""]
    notes = (
        "Without rules: the same choice of basis and size, with rules taken out of the mixes in the measuring process. "
        f"Screening: the score test, at {N_KNOTS} cuts of every feature; two thresholds make four rules. All rules: "
        "those of one condition, and intervals with thresholds and with each other, too."
    )
    return "\n\n".join([about, markdown_table(head, rows), markdown_table(of_screening, screened), notes])


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="page whose section 'rules' is replaced")
    parser.add_argument("--results", type=Path, help="file that keeps the outcomes, to continue an interrupted run")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(json.loads(options.one))))
        return
    text = section(run_all(Outcomes("rules", options.results)))
    sys.stdout.write(f"{text}\n")
    if options.write:
        replace_section(options.write, "rules", text)


if __name__ == "__main__":
    main()
