"""The tables of the accuracy study: accuracy, log-loss, ranks and times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .methods import TIME_REFERENCE
from .results import Figures, Ranks, Results, compare
from .synthetic import best_possible
from .tables import Table, best_cells

NAME = {"accuracy": "accuracy", "log_loss": "log-loss"}
SIGN = {"accuracy": 1.0, "log_loss": -1.0, "terms_per_output": -1.0}  # times this, higher is better
TERMS_NOTE = "In brackets the mean number of terms per output, the constant not counted, for methods with a formula."
LOSS_NOTE = (
    "Mean of -log(probability of the true class), lower is better; a probability below 1e-15 counts as that and costs "
    "34.5, for instance in a forest without a tree that votes for the true class. The SVM has no probabilities of its "
    "own: they come from a sigmoid calibrated in five folds inside the training rows."
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was run."""

    results: Results  # means over folds
    same_as: dict[str, str]  # for each row the first with its settings; only that one was run
    sets: tuple[str, ...]  # data sets of the paper
    families: tuple[str, ...]  # synthetic

    @property
    def rows(self) -> list[str]:
        """Names of what is shown."""
        return [name for name, first in self.same_as.items() if name == first]

    def get(self, data: str, row: str) -> Figures | None:
        """Figures of a row, also if it was run under another name."""
        return self.results.get(data, self.same_as.get(row, row), "honest")

    def values(self, data: str, row: str, by: str) -> tuple[float, float] | None:
        """(mean, spread) of accuracy or log-loss."""
        figures = self.get(data, row)
        found = None if figures is None else (getattr(figures, by), getattr(figures, f"{by}_spread"))
        return None if found is None or found[0] is None else found

    def ranks(self, sets: Sequence[str], by: str) -> Ranks | None:
        """Ranks of the rows with figures on all these sets; None if there is too little to compare."""
        found = self.results.complete(self.rows, sets, "honest", by)
        scores = {row: [SIGN[by] * value for value in values] for row, values in found.items()}
        return compare(scores) if len(scores) > 1 and len(sets) > 1 else None


def all_tables(outcome: Outcome) -> dict[str, Table]:
    """Every table by name."""
    return {
        "accuracy": set_table(outcome, "accuracy"),
        "log-loss": set_table(outcome, "log_loss"),
        "synthetic accuracy": family_table(outcome, "accuracy"),
        "synthetic log-loss": family_table(outcome, "log_loss"),
        "ranks": rank_table(outcome),
        "times": time_table(outcome),
    }


def set_table(outcome: Outcome, by: str) -> Table:
    """One row for each method, one column for each of the paper's sets, and their mean."""
    rows, values = [], []
    for row in outcome.rows:
        found = [outcome.values(data, row, by) for data in outcome.sets]
        means = [None if pair is None else pair[0] for pair in found]
        texts = [_spread_text(outcome, data, row, pair) for data, pair in zip(outcome.sets, found, strict=True)]
        sizes = [_size(outcome, data, row) if by == "accuracy" else None for data in outcome.sets]
        overall = _mean(means)
        cells = [text + _brackets(size) for text, size in zip(texts, sizes, strict=True)]
        rows.append([row, *cells, "" if overall is None else f"{overall:.4f}" + _brackets(_mean(sizes))])
        values.append([*map(_rounded, means), overall])
    signed = [[None if v is None else SIGN[by] * v for v in line] for line in values]
    best = best_cells(signed, [0] * len(rows), first_column=1) if rows else frozenset()
    notes = ["± standard deviation between the seeds. Bold: best of the column."]
    notes.append(TERMS_NOTE if by == "accuracy" else LOSS_NOTE)
    return Table(
        f"sets_{by}", f"The paper's six sets: {NAME[by]}", ["method", *outcome.sets, "mean"], rows, best, notes
    )


def family_table(outcome: Outcome, by: str) -> Table:
    """One row for each family, one column for each method, beside what is possible."""
    rows, best, spreads = [], set(), []
    for i, data in enumerate(outcome.families):
        found = [outcome.values(data, row, by) for row in outcome.rows]
        spreads += [pair[1] for pair in found if pair is not None]
        texts = ["" if pair is None else f"{pair[0]:.3f}" for pair in found]
        sizes = [_size(outcome, data, row) if by == "accuracy" else None for row in outcome.rows]
        ceiling = best_possible(data)[list(NAME).index(by)]
        rows.append([data, f"{ceiling:.3f}", *(t + _brackets(s) for t, s in zip(texts, sizes, strict=True))])
        signed = [[None if pair is None else SIGN[by] * pair[0]] for pair in found]
        best |= {(i, 2 + j) for j, _ in best_cells(signed, [0] * len(found), first_column=0, digits=3)}
    rows.append(["mean", *_column_means(outcome, by)])
    notes = [
        "Best possible: of a classifier that knows the truth. Bold: best of the row."
        + (f" Standard deviation between the draws: median {np.median(spreads):.3f}." if spreads else ""),
    ]
    notes += [TERMS_NOTE] if by == "accuracy" else []
    head = ["family", "best possible", *outcome.rows]
    return Table(f"families_{by}", f"Synthetic families: {NAME[by]}", head, rows, frozenset(best), notes)


def _column_means(outcome: Outcome, by: str) -> list[str]:
    ceilings: list[float | None] = [best_possible(data)[list(NAME).index(by)] for data in outcome.families]
    columns = [ceilings]
    for row in outcome.rows:
        found = [outcome.values(data, row, by) for data in outcome.families]
        columns.append([None if pair is None else pair[0] for pair in found])
    return ["" if (mean := _mean(column)) is None else f"{mean:.4f}" for column in columns]


def rank_table(outcome: Outcome) -> Table:
    """Mean ranks on the paper's sets, on the synthetic families and on all, by accuracy and by log-loss."""
    groups = {"six sets": outcome.sets, "synthetic": outcome.families, "all": (*outcome.sets, *outcome.families)}
    ranks = {(by, name): outcome.ranks(sets, by) for by in NAME for name, sets in groups.items()}
    of_row = {key: dict(zip(r.names, r.mean_rank, strict=True)) if r else {} for key, r in ranks.items()}
    order = sorted(outcome.rows, key=lambda row: of_row["accuracy", "all"].get(row, np.inf))
    values = [[of_row[key].get(row) for key in ranks] for row in order]
    rows = [[row, *("" if v is None else f"{v:.2f}" for v in line)] for row, line in zip(order, values, strict=True)]
    signed = [[None if v is None else -v for v in line] for line in values]
    best = best_cells(signed, [0] * len(rows), first_column=1, digits=2) if rows else frozenset()
    head = ["method", *(f"{NAME[by]}, {name}" for by, name in ranks)]
    notes = [_test_line(f"{NAME[by]}, {name}", r, len(groups[name])) for (by, name), r in ranks.items() if r]
    return Table("ranks", "Mean ranks, 1 is best", head, rows, best, notes or ["Ranks need two methods on two sets."])


def _test_line(what: str, ranks: Ranks, n_sets: int) -> str:
    p_value = "not defined for two methods" if np.isnan(ranks.p_value) else f"p = {ranks.p_value:.2g}"
    return (
        f"{what} ({n_sets}): Friedman's test {p_value}; Nemenyi's critical difference at {ranks.level}: "
        f"{ranks.critical_difference:.2f}."
    )


def time_table(outcome: Outcome) -> Table:
    """Time of a fit beside that of the reference on the same set."""
    rows = []
    for row in outcome.rows:
        real = [_ratio(outcome, data, row) for data in outcome.sets]
        drawn = [ratio for data in outcome.families if (ratio := _ratio(outcome, data, row)) is not None]
        middle = float(np.median(drawn)) if drawn else None
        rows.append([row, *("" if v is None else f"{v:.2g}" for v in (*real, middle))])
    notes = [
        f"Median time of a fit as a multiple of that of {TIME_REFERENCE} on the same set, one thread each; what a "
        "method tunes is in its time. Synthetic: median over the families.",
    ]
    return Table("times", "Time of a fit", ["method", *outcome.sets, "synthetic"], rows, notes=notes)


def _ratio(outcome: Outcome, data: str, row: str) -> float | None:
    own, reference = outcome.get(data, row), outcome.get(data, TIME_REFERENCE)
    return None if own is None or not own.seconds or reference is None else own.seconds / reference.seconds


def _size(outcome: Outcome, data: str, row: str) -> float | None:
    figures = outcome.get(data, row)
    return None if figures is None else figures.terms_per_output


def _spread_text(outcome: Outcome, data: str, row: str, pair: tuple[float, float] | None) -> str:
    """Mean and spread; a single seed has no spread, and 0 would look like a very sure figure."""
    figures = outcome.get(data, row)
    if pair is None or figures is None:
        return ""
    return f"{pair[0]:.3f}" + (f" ± {pair[1]:.3f}" if figures.n_seeds > 1 else "")


def _brackets(size: float | None) -> str:
    return "" if size is None else f" ({size:.1f})"


def _rounded(value: float | None) -> float | None:
    """As shown: figures that print alike are best together."""
    return None if value is None else round(value, 3)


def _mean(values: Sequence[float | None]) -> float | None:
    """None if a value is missing: rows with other sets could not be compared."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None
