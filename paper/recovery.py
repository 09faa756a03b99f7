"""How often the search finds a planted polynomial: terms known, several noise levels and sample sizes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rfsc import RFSCClassifier

from .arrays import FloatArray, IntArray
from .cells import Cell, Task, finished_cells
from .datasets import table_hash
from .methods import Method
from .protocols import Fold, probability_cell
from .tables import markdown_table, verdict

PLANTED = {"x0": 6.0, "x1*x2": 12.0, "x3^2": -9.0}  # of features on [0, 1], plus a constant that balances the classes
N_FEATURES = 10
SETTINGS: dict[str, dict[str, Any]] = {"default": {}, "strict": {"size": None, "significance": 0.01}}
SIZES = (200, 500, 1000, 3000)
NOISE = (0.25, 0.5, 1.0)  # scale of logistic noise; 1 is the noise that the model assumes
SEEDS = range(10)
MOST_OTHERS, FROM_ROWS = 1.0, 500  # the bar: terms that were not planted, on average from so many rows on


def planted_data(n: int, noise: float, seed: int) -> tuple[FloatArray, IntArray]:
    """Samples whose class is the sign of the planted polynomial plus logistic noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, N_FEATURES))
    f = 6.0 * X[:, 0] + 12.0 * X[:, 1] * X[:, 2] - 9.0 * X[:, 3] ** 2
    return X, (f - np.median(f) + noise * rng.logistic(size=n) > 0).astype(np.int64)


def _maker(setting: str) -> Callable[[str], Any]:
    return lambda _: RFSCClassifier(basis="polynomial", n_restarts=5, **SETTINGS[setting])


METHODS = {name: Method(name=name, make=_maker(name), kind="rfsc") for name in SETTINGS}
TABLES = {f"{n} rows, noise {noise:g}": (n, noise) for n in SIZES for noise in NOISE}


def run_task(task: Task) -> list[Cell]:
    """What one fit finds; the other figures are those on its training rows."""
    X, y = planted_data(*TABLES[task.data], task.seed)
    model = METHODS[task.method].estimator(task.data, task.folds, task.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    found = set(model.models_[0].names) - {"1"}
    notes = {"planted": len(found & set(PLANTED)), "others": len(found - set(PLANTED))}
    return [probability_cell(task, "all rows", Fold(X, y, X, y), model.predict_proba(X), len(found), notes=notes)]


def recovery_section(
    folder: Path, *, n_jobs: int, tables: Sequence[str] = tuple(TABLES), seeds: Sequence[int] = SEEDS
) -> str:
    """Run what is missing; the table over sizes, noise levels and settings, and the bar."""
    content = {data: table_hash(*planted_data(*TABLES[data], 0)) for data in tables}
    places = [(seed, 0) for seed in seeds]
    tasks = [t for m, d in product(METHODS.values(), tables) for t in m.tasks(d, "planted", content[d], places)]
    cells = finished_cells(tasks, folder, run_task, lambda task: TABLES[task.data][0] / 500, n_jobs)
    head, rows = ["samples", "noise"], [[f"{n:,}", f"{noise}"] for n, noise in map(TABLES.__getitem__, tables)]
    for name in SETTINGS:
        head += [f"{name}: planted terms found", "other terms", "exactly the planted set"]
        for data, row in zip(tables, rows, strict=True):
            found = _notes(cells, name, [data])
            exact = np.mean([one == {"planted": len(PLANTED), "others": 0} for one in found])
            share = np.mean([one["planted"] for one in found]) / len(PLANTED)
            row += [f"{share:.2f}", f"{_others(found):.1f}", f"{exact:.1f}"]
    others = _others(_notes(cells, "default", [data for data in tables if TABLES[data][0] >= FROM_ROWS]))
    bar = f"default: at most {MOST_OTHERS:g} other term on average from {FROM_ROWS} samples on"
    return markdown_table(head, rows) + "\n\n" + verdict(bar, others <= MOST_OTHERS, f"{others:.2f}")


def _notes(cells: Sequence[Cell], method: str, tables: Sequence[str]) -> list[dict[str, Any]]:
    own = [cell for cell in cells if cell.task.method == method and cell.task.data in tables]
    return [cell.notes for cell in own if cell.notes is not None]


def _others(found: Sequence[dict[str, Any]]) -> float:
    """Mean number of terms that were not planted."""
    return float(np.mean([one["others"] for one in found]))
