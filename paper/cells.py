"""The unit of work of an experiment, its outcome, a file that keeps outcomes, and running what is missing in it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from joblib import Parallel, delayed

SLOW_PEERS = "faster_risk.jsonl"  # outcomes under version control: hours of work that no change of the package alters


@dataclass(frozen=True, slots=True, order=True)
class Task:
    """One fold of one method."""

    data: str
    method: str
    folds: str  # "stratified", "keel", "synthetic", "tabmini", "noise" or "all rows"
    seed: int  # of the folds and of the method; on synthetic data the number of the draw, each of which is one fold
    fold: int  # from 0
    fingerprint: str  # of the method's settings and of the data: an outcome with another one is not used


@dataclass(frozen=True, slots=True)
class Cell:
    """The outcome of a task under one protocol."""

    task: Task
    protocol: str  # "honest", "paper", "keel", or what a part of the accuracy study compares
    accuracy: float
    kappa: float
    confusion: list[list[int]]  # counts by true class (rows) and predicted class
    n_features: float  # features that the classifier reads
    n_terms: float | None  # terms of its formula, the union over its outputs; None without a formula
    seconds: float  # time of the fit
    log_loss: float | None = None  # mean of -log(probability of the true class); None without probabilities
    terms_per_output: float | None = None  # mean over the outputs; None without a formula
    auc: float | None = None  # mean over the classes against the rest; None without probabilities
    notes: dict[str, Any] | None = None  # what a part of the study needs beside the figures


class CellStore:
    """Finished tasks in a text file, one line for each, so that an interrupted run continues where it stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: dict[Task, list[Cell]] = {}
        for known in (path.with_name(SLOW_PEERS), path):
            if known.exists():
                for line in known.read_text(encoding="utf-8", errors="replace").splitlines():
                    self._read(line)

    def _read(self, line: str) -> None:
        """Remember a line; one that an interruption cut short is ignored."""
        try:
            record = json.loads(line)
            task = Task(**record["task"])
            self._found[task] = [Cell(task=task, **cell) for cell in record["cells"]]
        except (ValueError, TypeError, KeyError):
            return

    def __contains__(self, task: object) -> bool:
        return task in self._found

    def cells(self, tasks: Iterable[Task]) -> list[Cell]:
        """Every stored cell of these tasks."""
        return [cell for task in tasks for cell in self._found.get(task, [])]

    def add(self, task: Task, cells: list[Cell]) -> None:
        """Keep the outcome of a task, on disk before anything else happens."""
        bare = [{k: v for k, v in asdict(cell).items() if k != "task"} for cell in cells]
        line = json.dumps({"task": asdict(task), "cells": bare})
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+b") as file:
            # a line that was cut short must not absorb this one
            if file.tell() and not _ends_line(file):
                line = "\n" + line
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._found[task] = cells


def _ends_line(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def run_missing(
    tasks: Sequence[Task],
    store: CellStore,
    run: Callable[[Task], list[Cell]],
    cost: Callable[[Task], float],
    n_jobs: int,
) -> None:
    """Run what is not in the store, in this order; every outcome is on disk before the next is waited for.

    The progress bar on stderr counts the expected cost of the tasks, in seconds, rather than their number.
    """
    from tqdm import tqdm

    missing = [task for task in tasks if task not in store]
    work = Parallel(n_jobs, return_as="generator_unordered")(delayed(run)(task) for task in missing)
    thousandths = {task: round(1000 * cost(task)) for task in missing}  # whole numbers add up to their total
    with tqdm(
        total=sum(thousandths.values()),
        disable=not missing,
        mininterval=0.2 if sys.stderr.isatty() else 30.0,
        bar_format="{percentage:3.0f}% {bar} {elapsed} elapsed, {remaining} left  {desc}",
    ) as bar:
        for cells in work:
            task = cells[0].task
            store.add(task, cells)
            bar.set_description_str(f"{task.method} on {task.data}", refresh=False)
            bar.update(thousandths[task])


def finished_cells(
    tasks: Sequence[Task],
    folder: Path,
    run: Callable[[Task], list[Cell]],
    cost: Callable[[Task], float],
    n_jobs: int,
) -> list[Cell]:
    """The cells of these tasks; what is not yet in the folder's `cells.jsonl` is run."""
    store = CellStore(folder / "cells.jsonl")
    run_missing(tasks, store, run, cost, n_jobs)
    return store.cells(tasks)
