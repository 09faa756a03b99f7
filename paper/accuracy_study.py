"""The accuracy study: the paper's six sets and the synthetic families, from the data to the sections of its page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from rfsc._utils.optional import require

from . import accuracy_tables, figures
from .accuracy_bars import verdict_lines
from .accuracy_tables import Outcome
from .cells import Cell, CellStore, Task
from .datasets import LOADERS, table_hash
from .methods import Method
from .printed import SETS
from .protocols import N_FOLDS, fit_task, honest_cell
from .results import Results
from .running import cost_of, run_missing, tasks_of
from .study_methods import same_settings, study_methods
from .synthetic import FAMILIES, draw

N_DRAWS = 5
PICTURES = {"accuracy": "ranks.png", "log_loss": "ranks_log_loss.png"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What to run."""

    methods: tuple[str, ...]  # names of the rows, of data sets of the paper, and of synthetic families
    sets: tuple[str, ...] = SETS  # names of the rows, of data sets of the paper, and of synthetic families
    # names of the rows, of data sets of the paper, and of synthetic families
    families: tuple[str, ...] = tuple(FAMILIES)
    seeds: tuple[int, ...] = (0, 1, 2)  # of the stratified folds and of the methods
    # how many of the ten folds, and training sets of each family; fewer only to have a quick look
    n_folds: int = N_FOLDS
    # how many of the ten folds, and training sets of each family; fewer only to have a quick look
    n_draws: int = N_DRAWS

    @property
    def is_whole(self) -> bool:
        """Whether every fold and draw is in it."""
        return (self.n_folds, self.n_draws) == (N_FOLDS, N_DRAWS)

    def quick(self) -> Study:
        """The same cut down to a first look: one seed, two folds, two draws."""
        return replace(self, seeds=self.seeds[:1], n_folds=2, n_draws=2)

    def same_as(self) -> dict[str, str]:
        """For each row the first one with its settings."""
        known = study_methods()
        return same_settings([known[name] for name in self.methods])

    def tasks(self) -> list[Task]:
        """Every fold to run, the dearest first; rows with equal settings are run once."""
        known, same_as = study_methods(), self.same_as()
        tasks = []
        for method in (known[name] for name in self.methods if same_as[name] == name):
            for data in self.sets:
                content = table_hash(*LOADERS[data](return_X_y=True))
                tasks += tasks_of(method, data, "stratified", content, product(self.seeds, range(self.n_folds)))
            for data in self.families:
                content = table_hash(*draw(data, 0)[:2])
                tasks += tasks_of(method, data, "synthetic", content, product(range(self.n_draws), [0]))
        return sorted(tasks, key=lambda task: (-_cost(task, known), task))


def _cost(task: Task, known: dict[str, Method]) -> float:
    return cost_of(known[task.method], task.data)


def run_task(task: Task) -> list[Cell]:
    """Fit one fold or draw and judge it on its test rows."""
    return [honest_cell(task, *fit_task(task, study_methods()[task.method]))]


def run_study(study: Study, folder: Path, *, n_jobs: int = -1, progress: Any = None, link: str = ".") -> dict[str, str]:
    """Run every task that is not yet on disk, draw the ranks, and write up everything."""
    require("The accuracy study", ["matplotlib", "tqdm"], "bench")
    tasks, known = study.tasks(), study_methods()  # a missing set is said here, before hours of work
    folder.mkdir(parents=True, exist_ok=True)
    store = CellStore(folder / "cells.jsonl")
    run_missing(tasks, store, run_task, lambda task: _cost(task, known), n_jobs=n_jobs, progress=progress)
    outcome = Outcome(Results(store.cells(tasks)), study.same_as(), study.sets, study.families)
    return _sections(study, outcome, _draw(outcome, folder), link)


def _draw(outcome: Outcome, folder: Path) -> dict[str, str]:
    """Critical-difference diagrams over all sets; the names of the files by what is compared."""
    drawn = {}
    for by, name in PICTURES.items():
        ranks = outcome.ranks((*outcome.sets, *outcome.families), by)
        if ranks is not None:
            figures.draw_ranks(ranks, {row: row for row in ranks.names}, folder / name)
            drawn[by] = name
    return drawn


def _sections(study: Study, outcome: Outcome, pictures: dict[str, str], link: str) -> dict[str, str]:
    seeds = ", ".join(map(str, study.seeds))
    about = (
        f"Stratified {N_FOLDS}-fold cross-validation, seeds {seeds}; {study.n_draws} draws of each synthetic family."
    )
    if not study.is_whole:
        part = f"{study.n_folds} of {N_FOLDS} folds of seed {seeds} and {study.n_draws} of {N_DRAWS} draws"
        about = f"**This was a quick look** at {part}."
    twins = [f"{name} has the settings of {first}." for name, first in outcome.same_as.items() if name != first]
    images = [_image(by, f"{link}/{name}") for by, name in pictures.items()]
    table = {name: made.markdown().rstrip("\n") for name, made in accuracy_tables.all_tables(outcome).items()}
    return {
        "accuracy": "\n\n".join([" ".join([about, *twins]), table["accuracy"]]),
        "log-loss": table["log-loss"],
        "synthetic": "\n\n".join([table["synthetic accuracy"], table["synthetic log-loss"]]),
        "ranks": "\n\n".join([table["ranks"], *images]),
        "times": table["times"],
        "verdicts": ("" if study.is_whole else f"{about}\n\n") + "\n".join(f"- {v}" for v in verdict_lines(outcome)),
    }


def _image(by: str, path: str) -> str:
    name = accuracy_tables.NAME[by]
    return f"By {name}, all sets (bars join what is not told apart):\n\n![Mean ranks by {name} over all sets]({path})"
