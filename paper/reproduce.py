"""All of the paper's experiments: run what is missing, then write tables, figures and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import figures, paper_tables
from .cells import CellStore, run_missing
from .figures import Illustration, illustrate
from .methods import Method, all_methods
from .page import write_page
from .plan import Plan, cost
from .protocols import run_task
from .results import Results
from .tables import Table


def reproduce(plan: Plan, folder: Path, *, n_jobs: int = -1) -> Path:
    """Run every task that is not yet in the folder's `cells.jsonl`, write tables and figures, and return the page."""
    tasks = plan.tasks()  # loads all sets: a missing one is reported before hours of work
    if not tasks:
        msg = "There is nothing to run: the folder named by RFSC_DATA has none of KEEL's folds of these sets."
        raise ValueError(msg)
    folder.mkdir(parents=True, exist_ok=True)
    store = CellStore(folder / "cells.jsonl")
    run_missing(tasks, store, run_task, cost, n_jobs)
    results = Results(cell for cell in store.cells(tasks) if cell.protocol in plan.protocols)
    methods = [method for name, method in all_methods().items() if name in plan.methods]
    tables = _tables(results, methods, plan.sets)
    for table in tables:
        for ending, text in (("md", table.markdown()), ("csv", table.csv()), ("tex", table.latex())):
            (folder / f"{table.name}.{ending}").write_text(text, encoding="utf-8")
    shown = _draw_figures(results, methods, plan.sets, folder)
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


def _draw_figures(results: Results, methods: Sequence[Method], sets: Sequence[str], folder: Path) -> Illustration:
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
