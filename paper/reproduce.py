"""All of the paper's experiments in one call: run what is missing, then write tables, figures and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rfsc._utils.optional import require

from . import figures, paper_tables, printed
from .cells import CellStore, Task
from .datasets import LOADERS, table_hash
from .illustration import Illustration, illustrate
from .methods import Method, all_methods
from .page import write_page
from .protocols import N_FOLDS, PROTOCOLS, has_keel_folds, run_task
from .results import Results
from .running import cost_of, run_missing, tasks_of
from .tables import Table

QUICK_COST = 0.5  # comparators that cost more are left out of a quick run


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run."""

    sets: tuple[str, ...] = printed.SETS  # names
    methods: tuple[str, ...] = ()  # names
    protocols: tuple[str, ...] = PROTOCOLS  # names
    # of the stratified folds and of the methods; on KEEL's folds a method without randomness is run once
    seeds: tuple[int, ...] = (0, 1, 2)
    n_folds: int = N_FOLDS  # how many of the ten folds; fewer only to have a quick look

    def tasks(self) -> list[Task]:
        """Every fold to run, the dearest first, so that no slow one is left alone at the end."""
        known = all_methods()
        tasks = []
        for data in self.sets:
            content = table_hash(*LOADERS[data](return_X_y=True))
            for method in (known[name] for name in self.methods):
                for folds, seeds in self._folds(data, method):
                    tasks += tasks_of(method, data, folds, content, product(seeds, range(self.n_folds)))
        return sorted(tasks, key=lambda task: (-cost_of(known[task.method], task.data), task))

    def _folds(self, data: str, method: Method) -> list[tuple[str, tuple[int, ...]]]:
        """Whose folds the protocols need, and with which seeds."""
        found: list[tuple[str, tuple[int, ...]]] = []
        if "honest" in self.protocols or ("paper" in self.protocols and method.kind == "rfsc"):
            found.append(("stratified", self.seeds))
        if "keel" in self.protocols and has_keel_folds(data):
            found.append(("keel", self.seeds if method.is_random(data) else self.seeds[:1]))
        return found


def quick_plan(plan: Plan) -> Plan:
    """The same plan cut down to a first look: one seed, two folds, no slow method."""
    known = all_methods()
    quick = tuple(name for name in plan.methods if known[name].cost <= QUICK_COST or known[name].kind == "rfsc")
    if not quick:
        msg = (
            f"A quick run leaves out {', '.join(plan.methods)}: too slow. Choose other methods, or run without --quick."
        )
        raise ValueError(msg)
    return Plan(sets=plan.sets, methods=quick, protocols=plan.protocols, seeds=plan.seeds[:1], n_folds=2)


def cost(task: Task) -> float:
    """Roughly the seconds that a task takes."""
    return cost_of(all_methods()[task.method], task.data)


def require_packages() -> None:
    """Raise an ImportError that says what to install, unless everything that a run needs is there."""
    require("rfsc reproduce", ["matplotlib", "cma", "tqdm"], "experiments")


def reproduce(plan: Plan, folder: Path, *, n_jobs: int = -1, progress: Any = None) -> Path:
    """Run every task that is not yet on disk and write all tables, figures and REPRODUCTION.md."""
    require_packages()
    for data in plan.sets:
        LOADERS[data]()  # what is missing is said before hours of work, and no two processes download at a time
    folder.mkdir(parents=True, exist_ok=True)
    store = CellStore(folder / "cells.jsonl")
    tasks = plan.tasks()
    if not tasks:
        msg = "There is nothing to run: the folder named by RFSC_DATA has none of KEEL's folds of these sets."
        raise ValueError(msg)
    run_missing(tasks, store, run_task, cost, n_jobs=n_jobs, progress=progress)
    results = Results(cell for cell in store.cells(tasks) if cell.protocol in plan.protocols)
    methods = [method for name, method in all_methods().items() if name in plan.methods]
    tables = _tables(results, methods, plan.sets)
    for table in tables:
        _write(folder, table)
    shown = _figures(results, methods, plan.sets, folder)
    return write_page(folder, plan, results, methods, tables, shown)


def _tables(results: Results, methods: Sequence[Method], sets: Sequence[str]) -> list[Table]:
    ours = [method for method in methods if method.kind == "rfsc"]
    return [
        paper_tables.main_table(results, methods, sets),
        paper_tables.table_1(sets),
        paper_tables.table_2(results, ours, sets),
        paper_tables.table_3(results, methods, sets),
        paper_tables.table_3_spread(results, methods, sets),
        paper_tables.table_4(results, methods, sets),
        paper_tables.table_5(results, methods, sets),
        paper_tables.table_ranks(results, methods, sets),
    ]


def _write(folder: Path, table: Table) -> None:
    (folder / f"{table.name}.md").write_text(table.markdown(), encoding="utf-8")
    (folder / f"{table.name}.csv").write_text(table.csv(), encoding="utf-8")
    (folder / f"{table.name}.tex").write_text(table.latex(), encoding="utf-8")


def _figures(results: Results, methods: Sequence[Method], sets: Sequence[str], folder: Path) -> Illustration:
    shown = illustrate()
    for number, run in enumerate(shown.runs, start=1):
        figures.draw_run(run, number, folder / f"figure{number}.png")
    figures.draw_contributions(shown, folder / "figure3.png")
    labels = {method.name: method.label for method in methods}
    for name, small in (("ranks.png", False), ("ranks_small.png", True)):
        ranks = paper_tables.ranks_of(results, methods, sets, small=small)
        if ranks is not None:
            figures.draw_ranks(ranks, labels, folder / name)
    return shown
