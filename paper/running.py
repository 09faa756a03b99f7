"""Run the tasks that are not on disk yet, the dearest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from joblib import Parallel, delayed

from .cells import Cell, CellStore, Task
from .methods import Method

# time of a fit beside that on Bupa; a set that is not named counts as Bupa
WEIGHT = {"Ionosphere": 3.0, "Iris": 0.3, "Sonar": 2.0, "WDBC": 5.0, "Wine": 0.7, "irrelevant": 3.0, "correlated": 2.0}


def tasks_of(method: Method, data: str, folds: str, content: str, places: Iterable[tuple[int, int]]) -> list[Task]:
    """The tasks of one method on one set."""
    mark = f"{method.fingerprint(data, folds)}-{content}"
    return [Task(data, method.name, folds, seed, fold, mark) for seed, fold in places]


def cost_of(method: Method, data: str) -> float:
    """Roughly the seconds of one fit."""
    return method.cost * WEIGHT.get(data, 1.0)


def run_missing(
    tasks: Sequence[Task],
    store: CellStore,
    run: Callable[[Task], list[Cell]],
    cost: Callable[[Task], float],
    *,
    n_jobs: int,
    progress: Any,
) -> None:
    """Run what is not in the store; every outcome is on disk before the next is waited for."""
    missing = [task for task in tasks if task not in store]
    if progress is not None:
        progress.start(sum(cost(task) for task in missing), len(tasks) - len(missing))
    work = Parallel(n_jobs, return_as="generator_unordered")(delayed(run)(task) for task in missing)
    try:
        for cells in work:
            task = cells[0].task
            store.add(task, cells)
            if progress is not None:
                progress.advance(cost(task), f"{task.method} on {task.data}")
    finally:
        if progress is not None:
            progress.close()
