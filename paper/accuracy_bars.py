"""What the accuracy study is to reach, and whether it does: one line for each bar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .accuracy_tables import Outcome
from .printed import SETS
from .study_methods import AVERAGE, DEFAULT

MEAN = "mean of the six sets"
MOST_TERMS = 15.0


@dataclass(frozen=True, slots=True)
class Bar:
    """An accuracy to reach."""

    where: str  # A data set, or the mean of the six
    at_least: float  # the accuracy
    rows: tuple[str, ...] = (DEFAULT,)  # who is to reach it; one of several is enough
    most_terms: float | None = None  # largest mean number of terms per output that counts

    @property
    def text(self) -> str:
        """In words."""
        size = "" if self.most_terms is None else f" with at most {self.most_terms:g} terms per output on average"
        return f"{self.where} >= {self.at_least:g}{size}"


FLOORS = {"Bupa": 0.70, "Ionosphere": 0.88, "Iris": 0.95, "Sonar": 0.75, "WDBC": 0.96, "Wine": 0.97}
BARS = (
    Bar(MEAN, 0.895, most_terms=MOST_TERMS),
    Bar(MEAN, 0.907, (AVERAGE,)),
    Bar("Ionosphere", 0.93, (DEFAULT, AVERAGE)),
    Bar("WDBC", 0.97, (DEFAULT, AVERAGE)),
    Bar("Sonar", 0.80, (DEFAULT, AVERAGE)),
    *(Bar(data, floor, most_terms=MOST_TERMS) for data, floor in FLOORS.items()),
)


def verdict_lines(outcome: Outcome, bars: tuple[Bar, ...] = BARS) -> list[str]:
    """Each bar with whether it is met, and the figures that say so."""
    return [_line(outcome, bar) for bar in bars]


def _line(outcome: Outcome, bar: Bar) -> str:
    found = {row: reached for row in bar.rows if (reached := _reached(outcome, row, bar.where)) is not None}
    missing = [row for row in bar.rows if row not in found]
    each = [f"{row} {_figure(accuracy, terms)}" for row, (accuracy, terms) in found.items()]
    each += [f"{row} not run" for row in missing]
    met = [row for row, (accuracy, terms) in found.items() if _meets(bar, accuracy, terms)]
    without = "not judged" if missing else "**MISSED**"
    verdict = f"met by {' and '.join(met)}" if met else without
    return f"{bar.text}: {verdict} ({'; '.join(each)})"


def _reached(outcome: Outcome, row: str, where: str) -> tuple[float, float | None] | None:
    """Accuracy and terms per output; None where not all of it was run."""
    found = [outcome.get(data, row) for data in (SETS if where == MEAN else (where,))]
    figures = [f for f in found if f is not None]
    if len(figures) < len(found):
        return None
    terms = [f.terms_per_output for f in figures if f.terms_per_output is not None]
    size = float(np.mean(terms)) if len(terms) == len(figures) else None
    return float(np.mean([f.accuracy for f in figures])), size


def _meets(bar: Bar, accuracy: float, terms: float | None) -> bool:
    # a mean of equal numbers may miss them by a rounding error; no more than that is forgiven
    small = bar.most_terms is None or (terms is not None and round(terms, 10) <= bar.most_terms)
    return round(accuracy, 10) >= bar.at_least and small


def _figure(accuracy: float, terms: float | None) -> str:
    return f"{accuracy:.4f}" + ("" if terms is None else f", {terms:.1f} terms")
