"""The unit of work of an experiment and its outcome, and a file that keeps every outcome as soon as it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO


@dataclass(frozen=True, slots=True, order=True)
class Task:
    """One fold of one method."""

    data: str  # names of the set and of the method
    method: str  # names of the set and of the method
    folds: str  # whose folds
    seed: int  # of the folds and of the method; on synthetic data the number of the draw, of which each is one fold
    fold: int  # from 0
    fingerprint: str  # of the method's settings and of the data: an outcome with others is not taken for this one


@dataclass(frozen=True, slots=True)
class Cell:
    """What one protocol reads off a finished task."""

    task: Task  # which fold of what
    protocol: str  # how it was judged
    accuracy: float  # on the test fold
    kappa: float  # on the test fold
    confusion: list[list[int]]  # counts by true class (rows) and predicted class
    n_features: float  # features that the classifier reads
    n_terms: float | None  # terms of its formula, the union over its outputs; None for methods without a formula
    seconds: float  # time of the fit
    # mean of -log(probability of the true class) on the test fold; None for methods without probabilities, and for
    # cells that were written before it was measured
    log_loss: float | None = None
    # terms of its formula, mean over its outputs; None as for `n_terms`, and for older cells
    terms_per_output: float | None = None


class CellStore:
    """Finished tasks in a text file, one line for each, so that an interrupted run goes on where it stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: dict[Task, list[Cell]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                self._take(line)

    def _take(self, line: str) -> None:
        """Remember a line; one that an interruption cut short is as good as none."""
        try:
            record = json.loads(line)
            task = Task(**record["task"])
            self._found[task] = [Cell(task=task, **cell) for cell in record["cells"]]
        except (ValueError, TypeError, KeyError):
            return

    def __contains__(self, task: object) -> bool:
        return task in self._found

    def cells(self, tasks: Iterable[Task]) -> list[Cell]:
        """Every cell of these tasks that is there."""
        return [cell for task in tasks for cell in self._found.get(task, [])]

    def add(self, task: Task, cells: list[Cell]) -> None:
        """Keep the outcome of a task, on disk before anything else happens."""
        bare = [{k: v for k, v in asdict(cell).items() if k != "task"} for cell in cells]
        line = json.dumps({"task": asdict(task), "cells": bare})
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+b") as file:
            # a line that was cut short must not swallow this one
            if file.tell() and not _ends_line(file):
                line = "\n" + line
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._found[task] = cells


def _ends_line(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"
