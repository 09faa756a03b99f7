"""What monitoring finds, as tables and sentences; none of them shows a row of a table."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any

from .._utils.arrays import FloatArray, IntArray
from .._utils.words import listed, paragraphs, percent, plural
from ..explain.term_table import ReadableTable, per_row

MODERATE, LARGE = 0.1, 0.25  # the usual limits of the population stability index
LEVEL = 0.05  # probability of any change of the whole table that is called more than chance, if nothing has changed
FEW_ROWS = 100  # of which the index is noisy
MOST_NAMES = 5  # in a sentence
STABLE, SOME_CHANGE, LARGE_CHANGE, BY_CHANCE = "stable", "some change", "large change", "no more than chance"
PSI = (
    f"PSI: population stability index, the sum of (p - q) log(p / q) over the deciles or levels of the rows of the "
    f"fit, with blanks as a bin of their own; from {MODERATE} on it is called some change, from {LARGE} on a large one."
)
CHANCE = (
    "by chance: largest PSI to expect of so many rows if nothing has changed; the probability that any score or "
    f"column exceeds it is then {LEVEL:g}."
)
INTERVALS = "from, to: 95 % interval; rows are taken as independent."


@dataclass(frozen=True, slots=True, eq=False)
class ShiftTable(ReadableTable):
    """By how much the score or the columns have moved, the largest PSI first.

    Parameters
    ----------
    name : tuple of str
        The score or the column.
    verdict : tuple of str
        "stable", "some change", "large change", or "no more than chance" if the PSI of so few rows says nothing.
    psi : ndarray of shape (n_rows,)
        Population stability index.
    chance : ndarray of shape (n_rows,)
        The largest index that chance explains.
    blank, blank_at_fit : ndarray of shape (n_rows,) or None
        Share of the rows without a value, now and at the fit; None for scores.
    outside : ndarray of shape (n_rows,) or None
        Share of the rows beyond the training range of a column of numbers; NaN for text, None without such columns.
    unlisted, unlisted_at_fit : ndarray of shape (n_rows,) or None
        Share of the rows with a level of a text column that the reference does not list because it was rare at the
        fit, or was not there; NaN for numbers, None without such columns.
    new_levels : tuple of tuple of str or None
        Those levels, if they are in at least five of the new rows.
    """

    name: tuple[str, ...] = field(metadata=per_row())
    verdict: tuple[str, ...] = field(metadata=per_row(text=True))
    psi: FloatArray = field(metadata=per_row(".3f", "PSI"))
    chance: FloatArray = field(metadata=per_row(".3f", "by chance"))
    blank: FloatArray | None = field(default=None, metadata=per_row(".1%"))
    blank_at_fit: FloatArray | None = field(default=None, metadata=per_row(".1%", "blank at fit"))
    outside: FloatArray | None = field(default=None, metadata=per_row(".1%", "out of range"))
    unlisted: FloatArray | None = field(default=None, metadata=per_row(".1%"))
    unlisted_at_fit: FloatArray | None = field(default=None, metadata=per_row(".1%", "unlisted at fit"))
    new_levels: tuple[tuple[str, ...], ...] | None = field(
        default=None, metadata=per_row("", "new levels", text=True, long=True)
    )

    @property
    def notes(self) -> tuple[str, ...]:
        listing = "unlisted: share of the rows with a level that was rare at the fit, or was not there."
        return (PSI, CHANCE) if self.unlisted is None else (PSI, CHANCE, listing)

    def named(self, verdict: str) -> tuple[str, ...]:
        """The rows with a verdict."""
        return tuple(name for name, own in zip(self.name, self.verdict, strict=True) if own == verdict)

    def above_chance(self) -> float:
        """The largest PSI that is more than chance explains; 0 if there is none."""
        return float(self.psi[self.psi > self.chance].max(initial=0.0))


@dataclass(frozen=True, slots=True, eq=False)
class PerformanceTable(ReadableTable):
    """Measures of the predictions of rows whose classes are known, beside those of the fit.

    Parameters
    ----------
    measure : tuple of str
        "log-loss", and for the second of two classes, or for every class, "AUC", "calibration intercept" (0 if as many
        events are predicted as happen) and "calibration slope" (1 if predictions are neither too extreme nor too
        cautious).
    label : tuple of str or None
        The class; None if there are two.
    at_fit : ndarray of shape (n_rows,) or None
        Values at the fit; None if its classes were not recorded.
    now : ndarray of shape (n_rows,)
        Values of the new rows; NaN if these do not tell.
    low, high : ndarray of shape (n_rows,)
        Their 95 % intervals.
    verdict : tuple of str
        What follows.
    """

    measure: tuple[str, ...] = field(metadata=per_row())
    label: tuple[str, ...] | None = field(metadata=per_row("", "class", text=True))
    at_fit: FloatArray | None = field(metadata=per_row(".3f", "at fit"))
    now: FloatArray = field(metadata=per_row(".3f"))
    low: FloatArray = field(metadata=per_row(".3f", "from"))
    high: FloatArray = field(metadata=per_row(".3f", "to"))
    verdict: tuple[str, ...] = field(metadata=per_row(text=True))

    @property
    def notes(self) -> tuple[str, ...]:
        return (INTERVALS,)


@dataclass(frozen=True, slots=True, eq=False)
class DecileTable(ReadableTable):
    """Rows in groups of rising predicted probability: what was predicted, and what happened.

    Parameters
    ----------
    group : ndarray of shape (n_rows,)
        Number of the group.
    label : tuple of str or None
        The class that the probability is of; None if there are two.
    n : ndarray of shape (n_rows,)
        Number of rows.
    predicted : ndarray of shape (n_rows,)
        Mean predicted probability.
    observed : ndarray of shape (n_rows,)
        Share of the rows of the class.
    low, high : ndarray of shape (n_rows,)
        Wilson's 95 % interval of that share.
    """

    group: IntArray = field(metadata=per_row("d"))
    label: tuple[str, ...] | None = field(metadata=per_row("", "class", text=True))
    n: IntArray = field(metadata=per_row("d", "rows"))
    predicted: FloatArray = field(metadata=per_row(".3f"))
    observed: FloatArray = field(metadata=per_row(".3f"))
    low: FloatArray = field(metadata=per_row(".3f", "from"))
    high: FloatArray = field(metadata=per_row(".3f", "to"))

    @property
    def notes(self) -> tuple[str, ...]:
        return (INTERVALS,)


@dataclass(frozen=True, slots=True, eq=False)
class Monitoring:
    """What has moved since the fit.

    Parameters
    ----------
    scores : ShiftTable
        The probability of the second of two classes, or of every class.
    columns : ShiftTable
        The columns that the model reads.
    performance : PerformanceTable or None
        Measures of the predictions; None if no class of the new rows is known.
    deciles : DecileTable or None
        Observed against predicted; None if no class of the new rows is known.
    n_rows : int
        Number of new rows.
    n_at_fit : int
        Number of rows of the fit that the columns are compared with.
    n_labelled : int
        Number of new rows whose class is known.
    is_left_out : bool
        Whether the measures of the fit are those of rows that were left out of it.
    """

    scores: ShiftTable
    columns: ShiftTable
    performance: PerformanceTable | None
    deciles: DecileTable | None
    n_rows: int
    n_at_fit: int
    n_labelled: int
    is_left_out: bool

    @property
    def largest_psi(self) -> float:
        """The largest PSI of score or columns that is more than chance explains; 0 if there is none."""
        return max(self.scores.above_chance(), self.columns.above_chance())

    def lines(self) -> list[str]:
        """What was found, in sentences."""
        found = [f"{plural(self.n_rows, 'new row')}, compared with {plural(self.n_at_fit, 'row')} of the fit."]
        for row in self.scores.rows():
            is_real = row["psi"] > max(row["chance"], MODERATE)
            verdict = f"{row['verdict']}, more than chance explains" if is_real else row["verdict"]
            found.append(f"Score ({row['name']}): PSI {row['psi']:.3f}, {verdict}.")
        changed = {words: self.columns.named(words) for words in (LARGE_CHANGE, SOME_CHANGE)}
        found += [
            f"Columns with {words}, more than chance explains: {listed(names)}."
            for words, names in changed.items()
            if names
        ]
        if not any(changed.values()):
            found.append(f"No column has a PSI of at least {MODERATE} that is more than chance explains.")
        found += self._unknown_values()
        if self.performance is not None:
            rows, what = self.performance.rows(), f"{plural(self.n_labelled, 'row')} with a known class"
            found.append(f"Of {what}: {'; '.join(_in_words(row) for row in rows)}.")
        if self.performance is not None and not self.is_left_out:
            found.append(
                "Measures of the fit are of its own rows, which look better than new ones: no rows were left out."
            )
        if min(self.n_rows, self.n_at_fit) < FEW_ROWS:
            found.append("The PSI of few rows is noisy: look at whether it is more than chance explains.")
        return found

    def _unknown_values(self) -> list[str]:
        """Sentences about values that the fit has not seen."""
        found, table = [], self.columns
        if table.outside is not None:
            far = [f"{name} ({percent(s)})" for name, s in zip(table.name, table.outside, strict=True) if s > 0]
            found += [f"Rows beyond the training range: {listed(far, MOST_NAMES)}."] if far else []
        if table.new_levels is not None:
            new = [
                f"{name} ({listed(own, MOST_NAMES)})"
                for name, own in zip(table.name, table.new_levels, strict=True)
                if own
            ]
            found += [f"Levels that were rare at the fit or are new: {listed(new, MOST_NAMES)}."] if new else []
        return found

    def text(self) -> str:
        """Sentences and tables as plain text."""
        tables = [[title, table.aligned(table.text_columns)] for title, table in self._tables]
        notes = dict.fromkeys(note for _, table in self._tables for note in table.notes)
        return paragraphs([self.lines(), *tables, [f"({note})" for note in notes]])

    @property
    def _tables(self) -> list[tuple[str, ReadableTable]]:
        tables: dict[str, ReadableTable | None] = {"Score": self.scores, "Columns": self.columns}
        tables |= {"Performance": self.performance, "Observed against predicted": self.deciles}
        return [(title, table) for title, table in tables.items() if table is not None]

    def to_json(self) -> str:
        """Figures and sentences, no row of a table."""
        found: dict[str, Any] = {"rows": self.n_rows, "rows_at_fit": self.n_at_fit, "rows_with_class": self.n_labelled}
        found |= {"is_left_out": self.is_left_out, "largest_psi": self.largest_psi, "sentences": self.lines()}
        for name in ("scores", "columns", "performance", "deciles"):
            table = getattr(self, name)
            found[name] = None if table is None else table.rows()
        return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        head = "".join(f"<p>{escape(line)}</p>" for line in self.lines())
        return head + "".join(f"<h4>{title}</h4>{table._repr_html_()}" for title, table in self._tables)


def verdict_of(psi: float, chance: float) -> str:
    """A stability index in words."""
    if psi < MODERATE:
        return STABLE
    return BY_CHANCE if psi <= chance else SOME_CHANGE if psi < LARGE else LARGE_CHANGE


def _in_words(row: dict[str, Any]) -> str:
    what = f"{row['measure']} of {row['label']}" if row["label"] else row["measure"]
    if row["now"] is None:
        return f"{what} unknown"
    return f"{what} {row['now']:.3f}" + (f" ({row['verdict']})" if row["verdict"] else "")
