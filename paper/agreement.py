"""How far ten values of `random_state` agree on features and terms, and what the fixed choice costs on left-out rows.

In the package the folds and searches that choose basis, size and terms are fixed; the study also fits with others. And
it fits the same rows in other orders of rows and columns, which must give the same model.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from rfsc import RFSCClassifier
from rfsc._fit import choice

from .arrays import FloatArray, IntArray
from .cells import Cell, Task, finished_cells
from .datasets import load, table_hash
from .keel import N_FOLDS
from .methods import DEFAULT, RELATIVE_COST, Method, study_methods
from .protocols import Fold, fit_task, honest_cell, probability_cell
from .synthetic import FAMILIES, draw
from .tables import markdown_table, verdict

REAL_SETS = ("WDBC", "Sonar", "Ionosphere", "Bupa")
N_SEEDS = 10
N_ORDERS = 3  # of rows and columns
SAME = 1e-8  # log-losses that are closer are those of one model
OTHER_FOLDS = "RFSC, other folds"
REORDERED = "RFSC, reordered"
HINGE, BEST_RESTART = "RFSC hinge", "RFSC hinge, best restart"  # with several bases no restart can decide
METHODS = {
    n: Method(name=n, make=lambda _: RFSCClassifier(), kind="rfsc", cost=3.0) for n in (DEFAULT, OTHER_FOLDS, REORDERED)
}
LEFT_OUT = {
    DEFAULT: METHODS[DEFAULT],  # with the fingerprint of the study's row, so that its folds are fitted once
    OTHER_FOLDS: METHODS[OTHER_FOLDS],
    HINGE: study_methods()[HINGE],
    BEST_RESTART: Method(name=BEST_RESTART, make=lambda _: RFSCClassifier("hinge", size=None), kind="rfsc"),
}
LOSSES = {  # head of the column
    DEFAULT: "RFSC",
    OTHER_FOLDS: "RFSC, other folds and searches",
    HINGE: "hinges",
    BEST_RESTART: "hinges, best restart",
}
BARS = {"features": 0.8, "terms": 0.6}  # of every set


def stability(chosen: Sequence[Collection[str]], n_candidates: int) -> float:
    """Nogueira's stability of sets out of `n_candidates` (JMLR 18, 2018): 1 for equal sets, about 0 for random ones."""
    names = sorted(set().union(*chosen))
    member = np.array([[name in own for name in names] for own in chosen], dtype=np.float64)
    mean_size = member.sum() / len(chosen)
    if (member == member[:1]).all():  # also where the measure is not defined: no candidate is ever chosen, or all are
        return 1.0
    by_chance = mean_size * (1.0 - mean_size / n_candidates)
    return float(1.0 - member.var(axis=0, ddof=1).sum() / by_chance)


@contextmanager
def other_choice(seed: int) -> Iterator[None]:
    """Other folds and searches where basis and size are chosen; in the package these do not depend on a seed."""
    usual = choice.CHOICE_SEED
    choice.CHOICE_SEED = usual + 1 + seed
    try:
        yield
    finally:
        choice.CHOICE_SEED = usual


def read_rows(data: str) -> tuple[FloatArray, IntArray]:
    """All rows of a set, or the training rows of a family's first draw."""
    return draw(data, 0)[:2] if data in FAMILIES else load(data)[:2]


def run_task(task: Task) -> list[Cell]:
    """What one fit to all rows chooses, or how one to the training rows of a fold does on the others."""
    other = task.method == OTHER_FOLDS
    with other_choice(max(task.seed, task.fold)) if other else nullcontext():
        return [_left_out(task) if task.folds == "stratified" else _all_rows(task)]


def _left_out(task: Task) -> Cell:
    return honest_cell(task, *fit_task(task, LEFT_OUT[task.method]))


def _all_rows(task: Task) -> Cell:
    """What a fit chooses; its figures are those on the training rows."""
    X, y = read_rows(task.data)
    rows, columns = np.arange(len(X)), np.arange(X.shape[1])
    if task.method == REORDERED:
        rng = np.random.default_rng(task.seed)
        rows, columns = rng.permutation(rows), rng.permutation(columns)
    model = METHODS[task.method].estimator(task.data, task.folds, task.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[rows][:, columns], y[rows])
    terms = [f"{k} {name}" for k, m in enumerate(model.models_) for name in m.names if name != "1"]
    notes = {
        "features": sorted(map(str, columns[np.flatnonzero(model.support_)])),
        "terms": terms,
        "n_candidates": int(model.n_terms_.sum()),
    }
    probability = model.predict_proba(X[:, columns])
    return probability_cell(task, "all rows", Fold(X, y, X, y), probability, len(terms), notes=notes)


def agreement_section(
    folder: Path,
    *,
    n_jobs: int,
    sets: Sequence[str] = (*REAL_SETS, *FAMILIES),
    n_seeds: int = N_SEEDS,
    n_folds: int = N_FOLDS,
) -> str:
    """Run what is missing; one row for each set, the bars, and the log-loss on left-out rows."""
    content = {data: table_hash(*read_rows(data)) for data in sets}
    real = [data for data in sets if data in REAL_SETS]
    tasks = []
    for method, data in product(METHODS.values(), sets):
        n_fits = N_ORDERS if method.name == REORDERED else n_seeds
        tasks += method.tasks(data, "all rows", content[data], [(seed, 0) for seed in range(n_fits)])
    for method, data in product(LEFT_OUT.values(), real):
        tasks += method.tasks(data, "stratified", content[data], [(0, fold) for fold in range(n_folds)])
    tasks.sort(key=lambda task: -RELATIVE_COST.get(task.data, 1.0))
    cells = finished_cells(tasks, folder, run_task, lambda task: 3 * RELATIVE_COST.get(task.data, 1.0), n_jobs)
    whole = [cell for cell in cells if cell.task.folds == "all rows"]
    parts = [cell for cell in cells if cell.task.folds == "stratified"]
    return "\n\n".join([_agreement(whole, sets), *([_losses(parts, real)] if real else [])])


def _agreement(cells: Sequence[Cell], sets: Sequence[str]) -> str:
    rows, found, same = [], [], {}
    for data in sets:
        groups = [[c for c in cells if (c.task.data, c.task.method) == (data, method)] for method in METHODS]
        n_features = read_rows(data)[0].shape[1]
        found.append([of_cells(group, what, n_features) for group in groups[:2] for what in BARS])
        same[data] = sum(is_same(groups[0][0], other) for other in groups[2])
        orders = f"{same[data]} of {N_ORDERS}"
        rows.append([data, f"{np.mean([c.n_terms for c in groups[0]]):.1f}", *(f"{v:.2f}" for v in found[-1]), orders])
    rows.append(["mean", "", *(f"{v:.2f}" for v in np.mean(found, axis=0)), ""])
    head = ["set", "terms", *(f"{what}{more}" for more in ("", ", other folds too") for what in BARS)]
    head.append("same model in other orders")
    lines = []
    for k, (what, bar) in enumerate(BARS.items()):
        own, other = ([data for data, v in zip(sets, found, strict=True) if v[i] < bar] for i in (k, k + len(BARS)))
        least = min(v[k] for v in found)
        lines.append(verdict(f"{what} >= {bar:g} on every set", not own, f"least {least:.2f}; below: {_listed(own)}"))
        lines.append(f"- with other folds too, {what} below {bar:g} on {len(other)} of {len(sets)}: {_listed(other)}")
    moved = [data for data in sets if same[data] < N_ORDERS]
    lines.append(verdict("the same model in any order of rows and columns", not moved, f"other on: {_listed(moved)}"))
    return markdown_table([*head], rows) + "\n\n" + "\n".join(lines)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def is_same(one: Cell, other: Cell) -> bool:
    """Whether two fits to the same rows, in whatever order, gave the same model: features, size and training loss."""

    def shown(cell: Cell) -> tuple[Any, Any]:
        return cell.n_terms, sorted((cell.notes or {})["features"])

    assert one.log_loss is not None
    assert other.log_loss is not None
    return shown(one) == shown(other) and abs(one.log_loss - other.log_loss) < SAME


def _losses(cells: Sequence[Cell], sets: Sequence[str]) -> str:
    """Log-loss of left-out rows of every way to decide, and whether the default's is worse than by chance."""
    by_fold = {(c.task.method, c.task.data, c.task.fold): float(c.log_loss or 0.0) for c in cells}
    loss = {
        method: {data: [v for (m, d, _), v in sorted(by_fold.items()) if (m, d) == (method, data)] for data in sets}
        for method in LEFT_OUT
    }
    rows = [[data, *(f"{np.mean(loss[method][data]):.3f}" for method in LEFT_OUT)] for data in sets]
    rows.append(["mean", *(f"{np.mean([loss[method][data] for data in sets]):.3f}" for method in LEFT_OUT)])
    lines = []
    for method, other in ((DEFAULT, OTHER_FOLDS), (HINGE, BEST_RESTART)):
        more = np.ravel([np.subtract(loss[method][data], loss[other][data]) for data in sets])
        error = float(more.std(ddof=1) / np.sqrt(more.size))
        figures = f"{more.mean():+.4f}, standard error {error:.4f}"
        bar = f"log-loss of {LOSSES[method]} not above that of {LOSSES[other]} by more than a paired standard error"
        lines.append(verdict(bar, more.mean() <= error, figures))
    head = ["log-loss of left-out rows", *LOSSES.values()]
    return markdown_table(head, rows) + "\n\n" + "\n".join(lines)


def of_cells(cells: Sequence[Cell], what: str, n_features: int) -> float:
    """Stability over the seeds; the candidates are those of the largest mix that was chosen."""
    notes = [cell.notes for cell in cells if cell.notes is not None]
    n_candidates = n_features if what == "features" else max(each["n_candidates"] for each in notes)
    return stability([each[what] for each in notes], n_candidates)
