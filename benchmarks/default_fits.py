"""Default fits beside two peers: wall time on two cores, left-out log-loss, and number of terms.

Every fit runs in a process of its own, after a small one that loads compiled code and starts workers. The methods take
turns, and the median of three runs counts; a peer that takes longer than two minutes is stopped. `--write PAGE`
replaces the section `default fits` of the page, `--only CASE` and `--runs N` are for a quicker look.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import inspect
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from paper.datasets import load
from paper.printed import SETS
from paper.tables import markdown_table, replace_section
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from rfsc import RFSCClassifier

from .measuring import Outcomes, run_python, verdict
from .report import machine_and_date

CORES, N_RUNS = 2, 3
RFSC, LASSO, FOREST = METHODS = ("RFSC", "lasso", "random forest")
PEER_LIMIT = 120.0  # seconds
START_SECONDS = 60.0  # that a process may need besides for imports, the table, the small fit, and predictions
MOST_COLUMNS = 20_000  # of the lasso; above, it gets the features alone
N_INFORMATIVE, LABEL_NOISE = 6, 0.05
N_FRESH = 4_000  # rows of a simulated table that no fit sees
N_NUMBERS, N_TEXTS = 7, 13  # columns of the table that the command reads
Rows = tuple[np.ndarray, np.ndarray]
Found = dict[str, dict[str, list[dict[str, Any]]]]  # by case and method, one for each run


@dataclass(frozen=True, slots=True)
class Case:
    """One table, and how long a default fit may take."""

    n_rows: int
    n_features: int
    bar: float  # seconds
    n_classes: int = 2
    data: str = "simulated"  # or "wdbc", "experiment", "command"

    @property
    def methods(self) -> tuple[str, ...]:
        """Who is measured; the command has no peer."""
        return (RFSC,) if self.data == "command" else METHODS

    @property
    def degree(self) -> int:
        """Of the terms of the lasso."""
        return 2 if self.n_features * (self.n_features + 3) // 2 <= MOST_COLUMNS else 1


CASES = {
    "WDBC": Case(569, 30, 2.0, data="wdbc"),
    "many features": Case(3_750, 50, 4.0),
    "many rows": Case(30_000, 25, 6.0),
    "wide": Case(150, 2_000, 3.0),
    "four classes": Case(846, 18, 8.0, n_classes=4),
    "few features": Case(5_000, 5, 5.0),
    "very wide": Case(500, 10_000, 60.0),
    "the paper's experiment": Case(351, 60, 60.0, data="experiment"),
    "command": Case(1_000, N_NUMBERS + N_TEXTS, 60.0, data="command"),
}


def simulated(case: Case, seed: int = 0) -> tuple[Rows, Rows]:
    """Rows to fit and fresh rows, both from `make_classification`: clusters at the corners of a cube, and noise."""
    X, y = make_classification(
        case.n_rows + N_FRESH,
        case.n_features,
        n_informative=min(N_INFORMATIVE, case.n_features),
        n_redundant=0,
        n_classes=case.n_classes,
        flip_y=LABEL_NOISE,
        random_state=seed,
    )
    return (X[: case.n_rows], y[: case.n_rows]), (X[case.n_rows :], y[case.n_rows :])


def text_table(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Seven columns of numbers and thirteen of three to six levels, with blanks; two of each kind decide the class."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"number_{j}": rng.normal(size=n_rows).round(3) for j in range(1, N_NUMBERS + 1)})
    for j in range(1, N_TEXTS + 1):
        table[f"text_{j}"] = rng.choice([f"level {k}" for k in range(1, 4 + j % 4)], n_rows)
    f = 1.5 * table.number_1 - table.number_1 * table.number_2
    f += 2.0 * (table.text_1 == "level 1") - 1.5 * (table.text_2 == "level 2")
    table = table.mask(rng.random(table.shape) < 0.02)
    return table.assign(outcome=np.where(f + rng.logistic(size=n_rows) > 0.0, "yes", "no"))


def method_of(name: str, case: Case, n_jobs: int | None) -> Any:
    """An unfitted classifier."""
    if name == RFSC:
        return RFSCClassifier(random_state=0, n_jobs=n_jobs)
    if name == FOREST:
        return RandomForestClassifier(500, random_state=0, n_jobs=n_jobs or -1)
    options: dict[str, Any] = {"penalty": "l1"}
    if "use_legacy_attributes" in inspect.signature(LogisticRegressionCV).parameters:
        options = {"l1_ratios": (1.0,), "use_legacy_attributes": False}
    # liblinear is faster but knows two classes only
    options |= {"solver": "liblinear" if case.n_classes == 2 else "saga", "random_state": 0, "n_jobs": n_jobs or -1}
    lasso = LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", **options)
    return make_pipeline(PolynomialFeatures(case.degree, include_bias=False), StandardScaler(), lasso)


def n_terms(model: Any) -> int | None:
    """Of a fitted model, all outputs together; None for a forest."""
    if isinstance(model, RFSCClassifier):
        return sum(one.size for one in model.models_)
    return None if isinstance(model, RandomForestClassifier) else int(np.count_nonzero(model[-1].coef_))


# ---- one run, in a process of its own


def measure(case: Case, method: str) -> dict[str, Any]:
    """Seconds, left-out log-loss and number of terms."""
    warnings.simplefilter("ignore")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    small = Case(100, 4, 0.0, case.n_classes)
    method_of(method, small, None).fit(*simulated(small)[0])
    if case.data == "command":
        return run_command(case.n_rows)
    if case.data == "experiment":
        return run_experiment(method)
    if case.data == "wdbc":  # all rows count for the time, and a third for the loss
        X, y = load_breast_cancer(return_X_y=True)
        X_part, X_left, y_part, y_left = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
        fresh = X_left, y_left
    else:
        (X, y), fresh = simulated(case)
    began, processor_began = time.perf_counter(), time.process_time()
    model = method_of(method, case, None).fit(X, y)
    found = {"seconds": time.perf_counter() - began, "processor": time.process_time() - processor_began}
    found["terms"] = n_terms(model)
    if case.data == "wdbc":
        model = method_of(method, case, None).fit(X_part, y_part)
    return found | {"log_loss": float(log_loss(fresh[1], model.predict_proba(fresh[0])))}


def run_experiment(method: str) -> dict[str, Any]:
    """Ten folds of each of the six data sets, two folds at a time with one core each."""
    tables = [load(name) for name in SETS]
    parts = StratifiedKFold(10, shuffle=True, random_state=0)
    tasks = [(table.X, table.y, *split) for table in tables for split in parts.split(table.X, table.y)]
    with Parallel(CORES) as pool:
        pool(delayed(fit_fold)(method, *tasks[20]) for _ in range(CORES))  # of Iris: loads compiled code
        began = time.perf_counter()
        losses, sizes = zip(*pool(delayed(fit_fold)(method, *task) for task in tasks), strict=True)
        seconds = time.perf_counter() - began
    return {"seconds": seconds, "terms": None if None in sizes else round(np.mean(sizes)), "log_loss": np.mean(losses)}


def fit_fold(
    method: str, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> tuple[float, int | None]:
    """Left-out log-loss and number of terms."""
    warnings.simplefilter("ignore")
    case = Case(len(train), X.shape[1], 0.0, int(y.max()) + 1)
    model = method_of(method, case, 1).fit(X[train], y[train])
    return float(log_loss(y[test], model.predict_proba(X[test]))), n_terms(model)


def run_command(n_rows: int) -> dict[str, Any]:
    """`rfsc fit` on a table with text columns, with a score on held-out rows and a report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        text_table(n_rows).to_csv(path, index=False)
        results = ["-o", str(path.with_name("model.json")), "--report", str(path.with_name("report.html")), "--json"]
        began = time.perf_counter()
        printed = run_python(sys.executable, "-m", "rfsc", "fit", str(path), "--target", "outcome", *results)
        seconds = time.perf_counter() - began
        model = json.loads(printed)
    score = model["score"]["methods"]["RFSC"]["log_loss"]["mean"]
    terms = [term for output in model["outputs"] for term in output["terms"] if term["name"] != "1"]
    return {"seconds": seconds, "terms": len(terms), "log_loss": score}


# ---- all runs


def run_all(cases: dict[str, Case], n_runs: int, outcomes: Outcomes) -> Found:
    """Every method on every table in turns; a peer that was stopped is not run again."""
    found: Found = {}
    for name, case in cases.items():
        found[name] = {method: [] for method in case.methods}
        for run in range(n_runs):
            for method, own in found[name].items():
                if not any("stopped" in one for one in own):
                    own.append(run_one(case, method, run, outcomes))
    return found


def run_one(case: Case, method: str, run: int, outcomes: Outcomes) -> dict[str, Any]:
    """One run of one method, from the file or measured now."""
    task = {"case": asdict(case), "method": method, "run": run}
    if task not in outcomes:
        arguments = "-m", "benchmarks.default_fits", "--one", json.dumps(task)
        limit = None if method == RFSC else PEER_LIMIT + START_SECONDS
        try:
            printed = run_python(sys.executable, *arguments, limit=limit, PYTHONWARNINGS="ignore")
            outcomes.add(task, json.loads(printed.splitlines()[-1]))
        except subprocess.TimeoutExpired:
            outcomes.add(task, {"stopped": PEER_LIMIT})
    return outcomes.get(task)


def section(cases: dict[str, Case], found: Found) -> str:
    """The table, how many bars are met, and what one must know to read it."""
    rows, missed = [], []
    for name, own in found.items():
        case, seconds = cases[name], median_seconds(own[RFSC])
        is_met = seconds <= case.bar
        missed += [] if is_met else [name]
        peers = [peer_text(own[method]) if method in own else "" for method in METHODS[1:]]
        if case.degree == 1 and peers[0]:
            peers[0] += " (degree 1)"
        size = "6 sets x 10 folds" if case.data == "experiment" else f"{case.n_rows:,} x {case.n_features:,}"
        firsts = [own[method][0] if method in own else {} for method in METHODS]
        losses = [f"{one['log_loss']:.3f}" if "log_loss" in one else "" for one in firsts]
        terms = ["" if one.get("terms") is None else f"{one['terms']:,}" for one in firsts[:2]]
        times = [f"{seconds:.1f}", f"≤ {case.bar:g}", verdict(is_met), *peers]
        rows.append([name, size, *times, *losses, *terms])
    head = ["", "rows x features", "RFSC, s", "bar", "", "lasso, s", "random forest, s"]
    head += [f"log-loss: {method}" for method in METHODS] + ["terms: RFSC", "terms: lasso"]
    summary = f"**{len(found) - len(missed)} of {len(found)} bars met.**"
    summary += f" MISSED: {'; '.join(missed)}." if missed else ""
    n_runs = max(len(runs) for own in found.values() for runs in own.values())
    return "\n\n".join([f"{conditions(found, n_runs)}\n\n{summary}", markdown_table(head, rows), notes()])


def median_seconds(runs: list[dict[str, Any]]) -> float:
    """Infinite if a run was stopped."""
    return statistics.median(one.get("seconds", float("inf")) for one in runs)


def peer_text(runs: list[dict[str, Any]]) -> str:
    """The seconds of a peer as the table writes them."""
    seconds = median_seconds(runs)
    return f"> {PEER_LIMIT:.0f}" if seconds > PEER_LIMIT else f"{seconds:.1f}"


def conditions(found: Found, n_runs: int) -> str:
    """Where and how it was measured."""
    loads = [one["load"] for own in found.values() for runs in own.values() for one in runs]
    runs = "one run" if n_runs == 1 else f"median of {n_runs} runs"
    return (
        f"Wall time on {CORES} cores, {runs} in turns, after a small fit that loads compiled code "
        f"(`benchmarks/default_fits.py`). {machine_and_date()}, Python {platform.python_version()}, scikit-learn "
        f"{importlib.metadata.version('scikit-learn')}, load {min(loads):.1f} to {max(loads):.1f} after the runs; "
        f"above {CORES}, other programs have lengthened the times."
    )


def notes() -> str:
    """What one must know to read the table."""
    return f"""\
- RFSC: `RFSCClassifier().fit`. Lasso: standardised `PolynomialFeatures(2)`, or the features alone where that would be
  more than {MOST_COLUMNS:,} columns, and `LogisticRegressionCV` with an L1 penalty, ten strengths, five folds and
  log-loss as its criterion, by liblinear (several classes: saga). Random forest: 500 trees. All use all cores.
- A peer that takes longer than {PEER_LIMIT:.0f} s is stopped.
- Simulated tables: `make_classification` with {N_INFORMATIVE} informative features or all five, no redundant ones, and
  {100 * LABEL_NOISE:.0f} % of the labels drawn at random; log-loss on {N_FRESH:,} fresh rows. WDBC: the time is that of
  a fit to all rows, the log-loss that of a third of the rows that was held out.
- The paper's experiment: two folds at a time with one core each, mean log-loss and number of terms of the sixty folds.
- Command: `rfsc fit table.csv --target outcome -o model.json --report report.html` on {N_NUMBERS} columns of numbers
  and {N_TEXTS} of text. The time includes the start of the process, the cross-validated score beside other methods, and
  the report; the log-loss is that score."""


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="page whose section 'default fits' is replaced")
    parser.add_argument("--results", type=Path, help="file that keeps the outcomes, to continue an interrupted run")
    parser.add_argument("--only", action="append", choices=list(CASES), help="one of the tables; may be repeated")
    parser.add_argument("--runs", type=int, default=N_RUNS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        task = json.loads(options.one)
        print(json.dumps(measure(Case(**task["case"]), task["method"])))
        return
    cases = {name: CASES[name] for name in options.only or CASES}
    text = section(cases, run_all(cases, options.runs, Outcomes("default_fits", options.results)))
    print(text)
    if options.write:
        replace_section(options.write, "default fits", text)


if __name__ == "__main__":
    main()
