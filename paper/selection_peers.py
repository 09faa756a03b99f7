"""What other methods that select features find on the simulated tables of the certificate's study.

Naive: features of the default polynomial model with a term whose p-value is at most 0.05. IPSS, with gradient boosting,
and knockoffs, with a lasso: false discovery rate 0.1. Boruta: random forests, its defaults. Finished tables are kept in
`peers.csv` of the output folder.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from rfsc import RFSCClassifier

from .arrays import FloatArray, IntArray
from .calibration import LEVEL, TRUE_FEATURES, Outcome, Setting, draw, read_records, run_missing
from .tables import markdown_table

CELLS = (Setting("signal"), Setting("signal", n_rows=500))
N_TABLES = 50  # of a cell
FDR = 0.1
OURS = "certificate, 10 pairs"


@dataclass(frozen=True, slots=True)
class Selection:
    """What a method selected of one table."""

    method: str
    n_rows: int
    number: int
    n_true: int
    n_false: int
    seconds: float


def naive(X: FloatArray, y: IntArray, seed: int) -> set[int]:
    """Features of terms that are significant in the chosen model, as if it had not been searched for."""
    (model,) = RFSCClassifier(basis="polynomial", n_jobs=1, random_state=seed).fit(X, y).models_
    p_values = model.p_value
    assert p_values is not None
    return {j for term, p in zip(model.terms, p_values, strict=True) if p <= LEVEL for j in term.features}


def ipss(X: FloatArray, y: IntArray, seed: int) -> set[int]:
    """Integrated path stability selection (Melikechi and Miller 2024); it draws from NumPy's global generator."""
    np.random.seed(seed)  # noqa: NPY002
    found = import_module("ipss").ipss(X.copy(), y.copy())["q_values"]
    return {int(j) for j, q in found.items() if q <= FDR}


def boruta(X: FloatArray, y: IntArray, seed: int) -> set[int]:
    """Features that a forest needs more than the best of their shuffled copies (Kursa and Rudnicki 2010)."""
    forest = RandomForestClassifier(max_depth=5, n_jobs=1)
    found = import_module("boruta").BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y)
    return set(np.flatnonzero(found.support_).tolist())


def knockoffs(X: FloatArray, y: IntArray, seed: int) -> set[int]:
    """Gaussian knockoffs and a lasso on both (Candes et al. 2018)."""
    selected, *_ = import_module("hidimstat").model_x_knockoff_importance(X, y, fdr=FDR, random_state=seed)
    return set(np.flatnonzero(selected).tolist())


METHODS: dict[str, Callable[[FloatArray, IntArray, int], set[int]]] = {
    "naive p-values": naive,
    "IPSS": ipss,
    "Boruta": boruta,
    "knockoffs": knockoffs,
}


def run_table(method: str, setting: Setting, number: int) -> Selection:
    """The features that a method selects of one table."""
    X, y, _ = draw(setting, number)
    started = time.perf_counter()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        found = METHODS[method](X, y, number)
    seconds = round(time.perf_counter() - started, 2)
    return Selection(method, setting.n_rows, number, len(found & TRUE_FEATURES), len(found - TRUE_FEATURES), seconds)


def run_peers(folder: Path, *, n_jobs: int, most: int | None = None) -> list[Selection]:
    """Run the tables that are missing."""
    known = read_records(folder / "peers.csv", Selection)
    have = {(one.method, one.n_rows, one.number) for one in known}
    numbers = range(min(most or N_TABLES, N_TABLES))
    wanted = [(method, setting, number) for number in numbers for setting in CELLS for method in METHODS]
    missing = [(method, setting, k) for method, setting, k in wanted if (method, setting.n_rows, k) not in have]
    return known + run_missing(missing, run_table, folder / "peers.csv", n_jobs)


def section(selections: Sequence[Selection], outcomes: Sequence[Outcome]) -> str:
    """A row for each method and cell, over the tables that all methods have."""
    ours = [
        Selection(OURS, one.n_rows, one.number, one.true_features, one.false_features, one.seconds)
        for one in outcomes
        if one.setting in CELLS
    ]
    every, rows = [*ours, *selections], []
    for setting in CELLS:
        by_method = {
            method: {one.number: one for one in every if (one.method, one.n_rows) == (method, setting.n_rows)}
            for method in (OURS, *METHODS)
        }
        common = sorted(set.intersection(*(set(own) for own in by_method.values())))
        for method, own in by_method.items():
            some = [own[number] for number in common]
            if some:
                false = [one.n_false / max(one.n_true + one.n_false, 1) for one in some]
                means = [np.mean([one.n_true for one in some]), np.mean([one.n_false > 0 for one in some])]
                seconds = np.median([one.seconds for one in some])
                rows.append([method, str(setting.n_rows), str(len(some)), f"{means[0]:.1f}", f"{means[1]:.2f}"])
                rows[-1] += [f"{np.mean(false):.2f}", f"{seconds:.1f}"]
    head = ["method", "rows", "tables", "true features of 4", "any false feature", "share of false ones", "seconds"]
    return markdown_table(head, rows)
