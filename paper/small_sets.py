"""RFSC beside a lasso, a forest and logistic regression on TabMini's 44 sets, and the published AUCs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from .cells import Cell, Task, finished_cells
from .comparators.modern import expansion
from .datasets import table_hash
from .methods import DEFAULT, Method, by_cost, study_methods
from .protocols import fit_task, honest_cell
from .results import Figures, Results
from .tables import Table, best_cells, verdict
from .tabmini import N_SMALL_FOLDS, PUBLISHED_MEANS, SMALL_SETS, load_small, published_auc

MEASURES = {"AUC": "auc", "log-loss": "log_loss", "terms": "terms_per_output", "features": "n_features"}
SIGN = {"AUC": 1.0, "log-loss": -1.0, "terms": -1.0, "features": -1.0}  # times this, higher is better
BARS = {"AUC": 0.846, "log-loss": 0.395, "terms": 6.0, "features": 6.0}  # of RFSC's defaults, means over the sets


def small_methods() -> dict[str, Method]:
    """The rows of the table by name."""
    known = study_methods()
    plain = Method(
        name="logistic regression",
        make=lambda _: make_pipeline(*expansion(1), LogisticRegression(max_iter=5000)),
        kind="today",
    )
    rows = [known[name] for name in (DEFAULT, "L1 logistic, degree 2", "random forest")]
    return {method.name: method for method in (*rows, plain)}


def small_tasks(sets: Sequence[str] = SMALL_SETS) -> list[Task]:
    """Every fold of every method."""
    methods = small_methods()
    content = {data: table_hash(*load_small(data)) for data in sets}
    places = list(product([0], range(N_SMALL_FOLDS)))
    tasks = [t for m in methods.values() for data in sets for t in m.tasks(data, "tabmini", content[data], places)]
    return by_cost(tasks, methods)


def run_task(task: Task) -> list[Cell]:
    """Fit one fold and judge it."""
    return [honest_cell(task, *fit_task(task, small_methods()[task.method]))]


def small_section(folder: Path, *, n_jobs: int, sets: Sequence[str] = SMALL_SETS) -> str:
    """Run what is missing; the table of means and the bars. The AUC of each set goes to `tabmini.csv`."""
    tasks, methods = small_tasks(sets), small_methods()
    results = Results(finished_cells(tasks, folder, run_task, lambda task: methods[task.method].cost, n_jobs))
    found = {m: [f for data in sets if (f := results.get(data, m, "honest"))] for m in methods}
    published = published_auc()
    (folder / "tabmini.csv").write_text(_by_set(found, published, sets).csv(), encoding="utf-8")
    means = {name: {m: _mean(figures, of) for m, of in MEASURES.items()} for name, figures in found.items()}
    rows, values = [], []
    for name, figures in found.items():
        own, seconds = means[name], float(np.mean([f.seconds for f in figures]))
        rows.append([name, *("" if v is None else f"{v:.{_digits(m)}f}" for m, v in own.items()), f"{seconds:.2g}"])
        values.append([None if v is None else SIGN[m] * v for m, v in own.items()])
    best = best_cells([line[:2] for line in values], [0] * len(rows), first_column=1, digits=3)
    aucs = {m: float(np.mean([auc[data] for data in sets])) for m, auc in published.items()} or PUBLISHED_MEANS
    rows += [[f"{name} (published)", f"{auc:.3f}", "", "", "", ""] for name, auc in aucs.items()]
    table = Table("tabmini", _title(sets), ["method", *MEASURES, "seconds"], rows, best, _notes(bool(published)))
    lines = [
        verdict(f"{m} {'>=' if SIGN[m] > 0 else '<='} {bar:g}", SIGN[m] * round(v, 10) >= SIGN[m] * bar, f"{v:.3f}")
        for m, bar in BARS.items()
        if (v := means[DEFAULT][m]) is not None
    ]
    return table.markdown() + "\n" + "\n".join(lines)


def _title(sets: Sequence[str]) -> str:
    part = "" if len(sets) == len(SMALL_SETS) else f" (a quick look at {len(sets)} of them)"
    return f"TabMini's {len(SMALL_SETS)} sets{part}: means over the sets"


def _notes(has_published: bool) -> list[str]:
    source = "published for each set" if has_published else "means quoted from the paper"
    return [
        "Three stratified folds without shuffling. Bold: best of the methods that were run. The constant is not "
        "counted among the terms, a forest has none; seconds: of one fit on one thread.",
        f"Published: arXiv 2409.01635, one hour for each AutoML system, {source}.",
    ]


def _by_set(found: dict[str, list[Figures]], published: dict[str, dict[str, float]], sets: Sequence[str]) -> Table:
    """The AUC of every method on every set."""
    columns = [[f"{f.auc:.4f}" for f in figures] for figures in found.values()]
    columns += [[f"{auc[data]:.2f}" for data in sets] for auc in published.values()]
    head = ["set", *found, *(f"{name} (published)" for name in published)]
    return Table("tabmini", "AUC by set", head, list(zip(sets, *columns, strict=True)))


def _mean(figures: list[Figures], of: str) -> float | None:
    values = [getattr(f, of) for f in figures]
    return None if None in values else float(np.mean(values))


def _digits(measure: str) -> int:
    return 1 if measure in ("terms", "features") else 3
