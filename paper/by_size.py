"""Accuracy by size: left-out log-loss and AUC of small models at 1 to 15 terms, on TabMini and the paper's six sets."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from rfsc import RFSCClassifier

from .cells import Cell, Task, finished_cells
from .comparators import faster_risk
from .comparators.modern import FastCanTerms, Figs, LassoTerms, expansion, with_seed
from .datasets import load, table_hash
from .figures import draw_by_size
from .keel import N_FOLDS
from .methods import DEFAULT, Method, by_cost
from .printed import SETS
from .protocols import Fold, probability_cell, read_fold, shares
from .results import Results
from .tables import Table, best_cells
from .tabmini import N_SMALL_FOLDS, SMALL_SETS, load_small

SIZES = (1, 2, 3, 5, 8, 10, 15)
MEASURES = {"log_loss": "log-loss", "auc": "AUC"}
COST = {DEFAULT: 3.0, "FasterRisk": 10.0, "lasso, degree 2": 0.5}
PICTURES = {"TabMini": "by_size.png", "The paper's six sets": "by_size_six.png"}
NOTES = (
    "Mean over the sets; bold: best of the column. A term is one of the formula, of each output if there are several "
    "(RFSC, lasso, FasterRisk); one of all outputs together (fastcan); one split (FIGS, tree).",
    "RFSC: one fit with `max_terms=15`, then `at_size`. Lasso: the terms with the largest weights as soon as a "
    "weakening penalty gives so many of them a weight, refitted with scikit-learn's default ridge, as after fastcan's "
    "selection. FIGS: `predict_proba` as imodels gives it, a softmax that hardly leaves 0.27 to 0.73 for two classes.",
    "A leaf of a tree without rows of a class has probability 0, which counts as 1e-15 and costs 34.5 for each row "
    "that it gets wrong.",
    "FasterRisk: conditions `feature <= cut` at the deciles of the training rows, whole points from -5 to 5, "
    "each class against the rest if there are several; in an environment of its own, because it needs NumPy below 2.",
)


def sized_methods(k: int = max(SIZES)) -> dict[str, Any]:
    """Unfitted models of at most k terms by name; RFSC and FasterRisk are fitted once for all sizes."""
    ridge = LogisticRegression(max_iter=5000)
    found = {
        DEFAULT: RFSCClassifier(max_terms=max(SIZES), n_jobs=1),
        "lasso, degree 2": make_pipeline(*expansion(), OneVsRestClassifier(make_pipeline(LassoTerms(k), ridge))),
    }
    if find_spec("fastcan"):
        found["fastcan, degree 2"] = make_pipeline(*expansion(), FastCanTerms(k), ridge)
    if find_spec("imodels"):
        found["FIGS"] = Figs(k)
    found["FasterRisk"] = OneVsRestClassifier(faster_risk.FasterRisk(k, SIZES))
    return found | {"tree": DecisionTreeClassifier(max_leaf_nodes=k + 1)}


def size_tasks(small: Sequence[str] = SMALL_SETS, sets: Sequence[str] = SETS) -> list[Task]:
    """Every fold of every method; one task gives all sizes."""
    methods = {name: _method(name) for name in sized_methods()}
    tables = {(data, "tabmini"): load_small(data) for data in small}
    tables |= {(data, "stratified"): load(data)[:2] for data in sets}
    tasks = []
    for method, ((data, folds), table) in product(methods.values(), tables.items()):
        places = product([0], range(N_SMALL_FOLDS if folds == "tabmini" else N_FOLDS))
        tasks += method.tasks(data, folds, f"{table_hash(*table)}-{'.'.join(map(str, SIZES))}", places)
    return by_cost(tasks, methods)


def _method(name: str) -> Method:
    return Method(
        name=name,
        make=lambda _: sized_methods()[name],
        kind="rfsc" if name == DEFAULT else "today",
        cost=COST.get(name, 0.2),
    )


def models_of(method: str, fold: Fold, seed: int) -> Callable[[int], Any]:
    """From a number of terms to the fitted model."""

    @cache
    def fitted(k: int) -> Any:
        return with_seed(sized_methods(k)[method], seed).fit(fold.X_train, fold.y_train)

    def from_largest(k: int) -> Any:
        whole = fitted(max(SIZES))
        if method == DEFAULT:
            return whole.at_size(max(n for n in whole.front_.n_terms.tolist() if n <= k))  # it may have fewer sizes
        model = copy(whole)
        model.estimators_ = [one.at_size(k) for one in whole.estimators_]
        return model

    return from_largest if method in (DEFAULT, "FasterRisk") else fitted


def run_task(task: Task) -> list[Cell]:
    """One cell for each size; where the method raises, the constant's prediction counts."""
    fold = read_fold(task.data, task.folds, task.seed, task.fold)
    model, cells = models_of(task.method, fold, task.seed), []
    for k in SIZES:
        notes = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                probability = np.asarray(model(k).predict_proba(fold.X_test))
        except FileNotFoundError:  # the environment of FasterRisk is missing, which says nothing about the method
            raise
        except Exception as error:
            probability, notes = shares(fold), {"failed": type(error).__name__}
        cells.append(probability_cell(task, f"{k} terms", fold, probability, k, notes=notes))
    return cells


def size_section(
    folder: Path, *, n_jobs: int, link: str = ".", small: Sequence[str] = SMALL_SETS, sets: Sequence[str] = SETS
) -> str:
    """Run what is missing; a table for each measure and collection of sets, and the pictures."""
    cells = finished_cells(size_tasks(small, sets), folder, run_task, lambda task: COST.get(task.method, 0.2), n_jobs)
    found = {}  # TabMini has sets of the same names
    for title, folds, names in zip(PICTURES, ("tabmini", "stratified"), (small, sets), strict=True):
        results = Results(cell for cell in cells if cell.task.folds == folds)
        found[title] = {by: _curves(results, names, by) for by in MEASURES}
    images = []
    for title, name in PICTURES.items():
        draw_by_size({MEASURES[by]: curves for by, curves in found[title].items()}, SIZES, folder / name)
        images.append(f"{title}:\n\n![{title}: log-loss and AUC against the number of terms, means]({link}/{name})")
    tables = [_table(title, by, curves) for title, each in found.items() for by, curves in each.items()]
    notes = "\n".join(f"- {note}" for note in (*NOTES, _failures(cells)))
    return "\n".join([*(table.markdown() for table in tables), notes]) + "\n\n" + "\n\n".join(images)


def _curves(results: Results, names: Sequence[str], by: str) -> dict[str, list[float]]:
    """Means over the sets, by method and size."""

    def mean(method: str, k: int) -> float:
        return float(np.mean([getattr(results.get(data, method, f"{k} terms"), by) for data in names]))

    return {method: [mean(method, k) for k in SIZES] for method in sized_methods()}


def _table(title: str, by: str, curves: dict[str, list[float]]) -> Table:
    sign = -1.0 if by == "log_loss" else 1.0
    best = best_cells([[sign * v for v in c] for c in curves.values()], [0] * len(curves), first_column=1, digits=3)
    rows = [[method, *(f"{v:.3f}" for v in curve)] for method, curve in curves.items()]
    return Table(by, f"{title}: {MEASURES[by]} by number of terms", ["method", *map(str, SIZES)], rows, best)


def _failures(cells: Sequence[Cell]) -> str:
    """How often a method raised."""
    failed = Counter(cell.task.method for cell in cells if cell.notes)
    total = Counter(cell.task.method for cell in cells)
    each = "; ".join(f"{method} {n} of {total[method]}" for method, n in failed.items())
    if not each:
        return "Every method could be fitted to every fold at every size."
    return f"Fits that raised and count with the constant's prediction: {each}."
