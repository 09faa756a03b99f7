"""How far ten values of `random_state` agree on features and terms, with the folds of the choice fixed and not."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path

import numpy as np

from rfsc import RFSCClassifier
from rfsc._fit import choice

from .arrays import FloatArray, IntArray
from .cells import Cell, Task, finished_cells
from .datasets import load, table_hash
from .methods import DEFAULT, RELATIVE_COST, Method
from .protocols import Fold, probability_cell
from .synthetic import FAMILIES, draw
from .tables import markdown_table, verdict

REAL_SETS = ("WDBC", "Sonar", "Ionosphere", "Bupa")
N_SEEDS = 10
OTHER_FOLDS = "RFSC, other folds"
METHODS = {n: Method(name=n, make=lambda _: RFSCClassifier(n_jobs=1), kind="rfsc") for n in (DEFAULT, OTHER_FOLDS)}
BARS = {"features": 0.8, "terms": 0.6}  # means over the sets


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
    """What one fit chooses; its figures are those on the training rows."""
    X, y = read_rows(task.data)
    model = METHODS[task.method].estimator(task.data, task.folds, task.seed)
    context = other_choice(task.seed) if task.method == OTHER_FOLDS else nullcontext()
    with context, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    terms = [f"{k} {name}" for k, m in enumerate(model.models_) for name in m.names if name != "1"]
    notes = {
        "features": [str(j) for j in np.flatnonzero(model.support_)],
        "terms": terms,
        "n_candidates": int(model.n_terms_.sum()),
    }
    return [probability_cell(task, "all rows", Fold(X, y, X, y), model.predict_proba(X), len(terms), notes=notes)]


def agreement_section(
    folder: Path, *, n_jobs: int, sets: Sequence[str] = (*REAL_SETS, *FAMILIES), n_seeds: int = N_SEEDS
) -> str:
    """Run what is missing; one row for each set, and the bars."""
    content = {data: table_hash(*read_rows(data)) for data in sets}
    places = [(seed, 0) for seed in range(n_seeds)]
    tasks = [t for m, d in product(METHODS.values(), sets) for t in m.tasks(d, "all rows", content[d], places)]
    tasks.sort(key=lambda task: -RELATIVE_COST.get(task.data, 1.0))
    cells = finished_cells(tasks, folder, run_task, lambda task: 3 * RELATIVE_COST.get(task.data, 1.0), n_jobs)
    rows, found = [], []
    for data in sets:
        groups = [[c for c in cells if (c.task.data, c.task.method) == (data, method)] for method in METHODS]
        found.append([of_cells(group, what, read_rows(data)[0].shape[1]) for group in groups for what in BARS])
        rows.append([data, f"{np.mean([c.n_terms for c in groups[0]]):.1f}", *(f"{v:.2f}" for v in found[-1])])
    means = np.mean(found, axis=0)
    rows.append(["mean", "", *(f"{v:.2f}" for v in means)])
    head = ["set", "terms", *(f"{what}{more}" for more in ("", ", other folds too") for what in BARS)]
    lines = []
    for k, (what, bar) in enumerate(BARS.items()):
        below = sum(own[k] < bar for own in found)
        figures = f"{means[k]:.2f}; below it on {below} of {len(sets)} sets"
        lines.append(verdict(f"{what} >= {bar:g}, mean over the sets", means[k] >= bar, figures))
    return markdown_table(head, rows) + "\n\n" + "\n".join(lines)


def of_cells(cells: Sequence[Cell], what: str, n_features: int) -> float:
    """Stability over the seeds; the candidates are those of the largest mix that was chosen."""
    notes = [cell.notes for cell in cells if cell.notes is not None]
    n_candidates = n_features if what == "features" else max(each["n_candidates"] for each in notes)
    return stability([each[what] for each in notes], n_candidates)
