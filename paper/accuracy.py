"""The accuracy study: the paper's six sets and the synthetic families, from the data to the sections of its page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from . import accuracy_tables, by_size, figures
from .accuracy_tables import SIGN, Outcome
from .cells import Cell, Task, finished_cells
from .datasets import load, table_hash
from .keel import N_FOLDS
from .methods import DEFAULT, LARGER, by_cost, same_settings, study_methods
from .printed import SETS
from .protocols import fit_task, honest_cell
from .results import Results
from .synthetic import FAMILIES, draw

N_DRAWS = 5
FASTER_RISK, ITS_TERMS = "FasterRisk, 8 terms", "8 terms"  # on the six sets its row is that of the table by size
PICTURES = {"accuracy": "ranks.png", "log_loss": "ranks_log_loss.png"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What to run."""

    methods: tuple[str, ...]
    sets: tuple[str, ...] = SETS
    families: tuple[str, ...] = tuple(FAMILIES)
    seeds: tuple[int, ...] = (0, 1, 2)  # of the stratified folds and of the methods
    n_folds: int = N_FOLDS  # fewer only for a quick look
    n_draws: int = N_DRAWS  # training sets of each family

    @property
    def is_whole(self) -> bool:
        """Whether it has every fold and draw."""
        return (self.n_folds, self.n_draws) == (N_FOLDS, N_DRAWS)

    def quick(self) -> Study:
        """The same study reduced to a first look: one seed, two folds, two draws."""
        return replace(self, seeds=self.seeds[:1], n_folds=2, n_draws=2)

    def same_as(self) -> dict[str, str]:
        """For each row the first one with its settings."""
        known = study_methods()
        return same_settings([known[name] for name in self.methods])

    def tasks(self) -> list[Task]:
        """Every fold to run, in the order of work; rows with equal settings are run once."""
        known, same_as = study_methods(), self.same_as()
        tasks = []
        for method in (known[name] for name in self.methods if same_as[name] == name):
            for data in self.sets if method.name != FASTER_RISK else ():
                content = table_hash(*load(data)[:2])
                tasks += method.tasks(data, "stratified", content, product(self.seeds, range(self.n_folds)))
            for data in self.families:
                content = table_hash(*draw(data, 0)[:2])
                tasks += method.tasks(data, "synthetic", content, product(range(self.n_draws), [0]))
        return by_cost(tasks, known)

    def tasks_by_size(self) -> list[Task]:
        """FasterRisk's folds of the six sets, which take it minutes each: one seed, fitted once for all sizes."""
        if FASTER_RISK not in self.methods or 0 not in self.seeds:
            return []
        tasks = by_size.size_tasks((), self.sets)
        return [task for task in tasks if task.method == "FasterRisk" and task.fold < self.n_folds]


def run_task(task: Task) -> list[Cell]:
    """Fit one fold or draw and judge it on its test rows."""
    return [honest_cell(task, *fit_task(task, study_methods()[task.method]))]


def run_study(study: Study, folder: Path, *, n_jobs: int = -1, link: str = ".") -> dict[str, str]:
    """Run every task that is not yet in the folder's `cells.jsonl`, and draw the ranks.

    Returns the Markdown of each section of the page, from which `link` leads to the folder.
    """
    tasks, known = study.tasks(), study_methods()  # loads all sets: a missing one is reported before hours of work
    folder.mkdir(parents=True, exist_ok=True)
    cells = finished_cells(tasks, folder, run_task, lambda task: known[task.method].cost_on(task.data), n_jobs)
    for cell in finished_cells(study.tasks_by_size(), folder, by_size.run_task, lambda _: 10.0, n_jobs):
        if cell.protocol == ITS_TERMS:
            cells.append(replace(cell, task=replace(cell.task, method=FASTER_RISK), protocol="honest", n_terms=None))
    outcome = Outcome(Results(cells), study.same_as(), study.sets, study.families)
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
    equal = [f"{name} has the settings of {first}." for name, first in outcome.same_as.items() if name != first]
    if study.tasks_by_size():
        equal.append(f"{FASTER_RISK}: seed 0 alone on the six sets, from the table by size.")
    images = [_image(by, f"{link}/{name}") for by, name in pictures.items()]
    table = {name: made.markdown().rstrip("\n") for name, made in accuracy_tables.all_tables(outcome).items()}
    return {
        "accuracy": "\n\n".join([" ".join([about, *equal]), table["accuracy"]]),
        "log-loss": table["log-loss"],
        "synthetic": "\n\n".join([table["synthetic accuracy"], table["synthetic log-loss"]]),
        "ranks": "\n\n".join([table["ranks"], *images]),
        "times": table["times"],
        "verdicts": ("" if study.is_whole else f"{about}\n\n") + "\n".join(f"- {v}" for v in verdict_lines(outcome)),
    }


def _image(by: str, path: str) -> str:
    name = accuracy_tables.NAME[by]
    title = f"By {name}, all sets (bars join methods that do not differ significantly):"
    return f"{title}\n\n![Mean ranks by {name} over all sets]({path})"


# ---- the accuracy that is required

MEAN = "mean of the six sets"
SYNTHETIC = "mean of the synthetic families"
BOXES = "mean of rules, checkerboard, islands and thresholds"
MOST_TERMS = 8.0  # the constant not counted


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure to reach on a data set, or on the mean of several; one of several rows is enough."""

    where: str
    number: float  # the least accuracy, or the highest log-loss
    rows: tuple[str, ...] = (DEFAULT,)
    most_terms: float | None = None  # largest mean number of terms per output that counts
    by: str = "accuracy"

    @property
    def text(self) -> str:
        """As a line of the page shows it."""
        size = "" if self.most_terms is None else f" with at most {self.most_terms:g} terms per output on average"
        return f"{self.where}{RELATION[self.by]} {self.number:g}{size}"

    def is_met(self, figure: float, terms: float | None) -> bool:
        """Whether these figures reach it; a mean of equal numbers may miss them by a rounding error."""
        small = self.most_terms is None or (terms is not None and round(terms, 10) <= self.most_terms)
        return SIGN[self.by] * (round(figure, 10) - self.number) >= 0.0 and small

    @property
    def sets(self) -> tuple[str, ...]:
        """The data sets whose mean counts."""
        return {MEAN: SETS, SYNTHETIC: tuple(FAMILIES), BOXES: BOX_FAMILIES}.get(self.where, (self.where,))


FLOORS = {"Bupa": 0.70, "Ionosphere": 0.88, "Iris": 0.95, "Sonar": 0.75, "WDBC": 0.96, "Wine": 0.97}
OF_BOXES = {"rules": 0.90, "checkerboard": 0.84, "islands": 0.71}
BOX_FAMILIES = (*OF_BOXES, "thresholds")
RELATION = {"accuracy": " >=", "log_loss": ", log-loss <=", "terms_per_output": ", terms per output <="}
BARS = (
    Bar(MEAN, 0.894, most_terms=MOST_TERMS),
    Bar(MEAN, 0.240, by="log_loss"),
    Bar(SYNTHETIC, 0.802),
    Bar(SYNTHETIC, 0.415, by="log_loss"),
    Bar(SYNTHETIC, 0.82),
    *(Bar(data, floor, most_terms=MOST_TERMS) for data, floor in OF_BOXES.items()),
    Bar(BOXES, MOST_TERMS, by="terms_per_output"),
    Bar(MEAN, 0.907, (LARGER,)),
    Bar("Ionosphere", 0.93, (DEFAULT, LARGER)),
    Bar("WDBC", 0.97, (DEFAULT, LARGER)),
    Bar("Sonar", 0.80, (DEFAULT, LARGER)),
    *(Bar(data, floor, most_terms=MOST_TERMS) for data, floor in FLOORS.items()),
)


def verdict_lines(outcome: Outcome, bars: tuple[Bar, ...] = BARS) -> list[str]:
    """Each bar with whether it is met, and the figures that show it."""
    return [_line(outcome, bar) for bar in bars]


def _line(outcome: Outcome, bar: Bar) -> str:
    found = {row: reached for row in bar.rows if (reached := _reached(outcome, row, bar)) is not None}
    missing = [row for row in bar.rows if row not in found]
    each = [
        f"{row} {figure:.4f}" + ("" if terms is None or bar.by == "terms_per_output" else f", {terms:.1f} terms")
        for row, (figure, terms) in found.items()
    ]
    each += [f"{row} not run" for row in missing]
    met = [row for row, figures in found.items() if bar.is_met(*figures)]
    without = "not judged" if missing else "**MISSED**"
    verdict = f"met by {' and '.join(met)}" if met else without
    return f"{bar.text}: {verdict} ({'; '.join(each)})"


def _reached(outcome: Outcome, row: str, bar: Bar) -> tuple[float, float | None] | None:
    """The figure and terms per output; None if not all of it was run."""
    found = [outcome.get(data, row) for data in bar.sets]
    figures = [f for f in found if f is not None]
    if len(figures) < len(found):
        return None
    terms = [f.terms_per_output for f in figures if f.terms_per_output is not None]
    size = float(np.mean(terms)) if len(terms) == len(figures) else None
    values = [value for f in figures if (value := getattr(f, bar.by)) is not None]
    return (float(np.mean(values)), size) if len(values) == len(figures) else None
