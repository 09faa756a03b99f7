"""A score card: points, the risk of every total, and what rounding costs.

No postponed annotations: files are read by the types of these classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from .._model.recipe import NumberOf, Recipe
from .._utils.arrays import FloatArray, IntArray
from .._utils.files import SavedRecord, require
from .._utils.words import listed, paragraphs, plural
from ..explain.rounding import six_digits
from ..explain.term_table import ReadableTable, per_row
from .pieces import Bound

LEAST_ROWS = 5  # a smaller number is not given
NEARLY_SURE = 0.01  # risks below, and above one less this, are not listed one by one
STYLE = (
    "body{font:16px/1.4 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
    ".card{display:flex;flex-wrap:wrap;gap:0 3rem}p{margin:.3rem 0;max-width:44rem}.card p{max-width:21rem}"
    "table{border-collapse:collapse;margin:.4rem 0 1rem}th{text-align:left;border-bottom:2px solid #333}"
    "th,td{padding:.2rem 1rem .2rem 0}td{border-top:1px solid #ccc;font-variant-numeric:tabular-nums}"
    "td:first-child{font-weight:600}td:first-child:empty,td:first-child:empty~td{border-top-color:transparent}"
    "th:last-child,td:last-child{text-align:right;padding-right:.2rem}"
    "@media print{body{margin:0;font-size:10pt}tr{break-inside:avoid}}"
)


@dataclass(frozen=True, slots=True, eq=False)
class PointTable(ReadableTable):
    """One row for each range or condition that has points, the feature with most of them first.

    Parameters
    ----------
    feature : tuple of str
        The feature, or a rule that joins several.
    condition : tuple of str
        Range of the feature in the units of the table, its upper end included, or "yes".
    points : ndarray of shape (n_rows,)
        What to add to the total.
    bounds : tuple of tuple of Bound
        The same as limits of features, all of which must hold.
    """

    feature: tuple[str, ...] = field(metadata=per_row(sentence=True))
    condition: tuple[str, ...] = field(metadata=per_row("", "value", text=True, sentence=True))
    points: IntArray = field(metadata=per_row("d"))
    bounds: tuple[tuple[Bound, ...], ...] = field(metadata=per_row(hidden=True))

    @property
    def notes(self) -> tuple[str, ...]:
        return ("A range includes its upper end. What is not listed adds 0.",)

    def totals(self, values: FloatArray) -> IntArray:
        """The total of every row of a table of features."""
        total = np.zeros(len(values), dtype=np.int64)
        for points, bounds in zip(self.points.tolist(), self.bounds, strict=True):
            total[np.logical_and.reduce([one.holds(values[:, one.feature]) for one in bounds])] += points
        return total

    def named_once(self) -> tuple[str, ...]:
        """Names of the features, empty where that of the row before stands for both."""
        pairs = zip(("", *self.feature), self.feature, strict=False)
        return tuple("" if name == before else name for before, name in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class RiskTable(ReadableTable):
    """One row for each total, from the lowest to the highest that can be had.

    Parameters
    ----------
    total : ndarray of shape (n_totals,)
        Totals, ascending.
    risk : ndarray of shape (n_totals,)
        Predicted probability of the class.
    n_rows : ndarray of shape (n_totals,) or None
        Training rows with this total, 0 if they are fewer than five; None if the card was made without a table.
    """

    total: IntArray = field(metadata=per_row("d"))
    risk: FloatArray = field(metadata=per_row(".1%"))
    n_rows: IntArray | None = field(metadata=per_row("d", "training rows"))

    def _cells(self, columns: Sequence[str]) -> list[list[str]]:
        rows = super(RiskTable, self)._cells(columns)
        if "n_rows" not in columns:
            return rows
        return [[*row[:-1], f"<{LEAST_ROWS}" if row[-1] == "0" else row[-1]] for row in rows]

    def middle(self) -> tuple["RiskTable", list[str]]:
        """The totals that are not nearly sure, and sentences about the others."""
        inside = np.flatnonzero((self.risk >= NEARLY_SURE) & (self.risk <= 1 - NEARLY_SURE))
        if not inside.size:
            return self, []
        some, ends = slice(inside[0], inside[-1] + 1), []
        low, high = self.total[inside[[0, -1]]].tolist()
        for rest, words in (
            (self.total < low, f"Below {low} points: below"),
            (self.total > high, f"Above {high} points: above"),
        ):
            if rest.any():
                counts = np.zeros(1, dtype=np.int64) if self.n_rows is None else self.n_rows[rest]
                least = "" if counts.all() else "at least "
                rows = f" ({least}{plural(int(counts.sum()), 'training row')})" if counts.any() else ""
                ends.append(f"{words} {NEARLY_SURE if words.startswith('B') else 1 - NEARLY_SURE:.0%}{rows}.")
        n_rows = None if self.n_rows is None else self.n_rows[some]
        return RiskTable(self.total[some], self.risk[some], n_rows), ends


@dataclass(frozen=True, slots=True)
class RoundingCost:
    """Left-out log-loss of cards beside that of the formulas that they were made from.

    Parameters
    ----------
    log_loss, formula_log_loss : float
        Of the cards, and of the formulas before rounding, both on rows that neither has seen.
    difference, standard_error : float
        What rounding costs, and its standard error, paired by row (by group if there are groups).
    n_folds : int
        Folds, in each of which formula and card were made from the other rows.
    """

    log_loss: float
    formula_log_loss: float
    difference: float
    standard_error: float
    n_folds: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreCard(SavedRecord):
    """A formula as whole points that are added by hand; made by `rfsc.card.card`.

    Parameters
    ----------
    points : PointTable
        What each range of a feature, and each condition, adds to the total.
    risks : RiskTable
        Predicted probability by total.
    label : str
        The class whose probability it is.
    intercept, slope : float
        The probability is 1 / (1 + exp(-(intercept + slope * total))).
    cost : RoundingCost or None
        What rounding costs on left-out rows; None if that was not measured.
    why_no_cost : str
        Why it was not measured; else empty.
    recipe : Recipe
        How the features are made from the columns of a table.
    """

    _format: ClassVar = "rfsc-card"
    _what: ClassVar = "score card"

    points: PointTable
    risks: RiskTable
    label: str
    intercept: float
    slope: float
    cost: RoundingCost | None
    why_no_cost: str
    recipe: Recipe

    def __post_init__(self) -> None:
        n_features = len(self.recipe.names)
        require(all(p in range(n_features) for p in self._features()), "it reads features that it does not name")

    def total(self, X: Any) -> IntArray:
        """Points of rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows such as those that the classifier predicts.

        Returns
        -------
        ndarray of shape (n_samples,)
            Whole numbers.
        """
        values = self.recipe.table(X)
        gaps = [self.recipe.names[p] for p in self._features() if np.isnan(values[:, p]).any()]
        if gaps:
            msg = f"missing values in {listed(list(map(repr, gaps)), 5)}. Fill them first, or leave those rows out."
            raise ValueError(msg)
        return self.points.totals(values)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities by the totals.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows such as those that the classifier predicts.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Of all other classes together, and of the class `label`.
        """
        f = self.intercept + self.slope * self.total(X)
        return np.stack([expit(-f), expit(f)], axis=1)

    def with_totals(self, total: IntArray, n_rows: IntArray) -> Self:
        """The card with the risks of these totals, without small numbers of rows."""
        n_rows = np.where(n_rows < LEAST_ROWS, 0, n_rows)
        return replace(self, risks=RiskTable(total, expit(self.intercept + self.slope * total), n_rows))

    def _features(self) -> list[int]:
        """Features that the card reads."""
        return sorted({bound.feature for bounds in self.points.bounds for bound in bounds})

    # ---- as text

    def lines(self) -> list[str]:
        """What the card is worth, in sentences."""
        head = [f"Every point multiplies the odds by {np.exp(self.slope):.3g}."]
        made = {self.recipe.features[p]: self.recipe.names[p] for p in self._features()}
        fills = [
            f"{name} as {six_digits(one.fill)}"
            for one, name in made.items()
            if isinstance(one, NumberOf) and one.fill is not None
        ]
        head += [f"Missing values count: {listed(fills)}."] if fills else []
        cost = self.cost
        if cost is None:
            return [*head, f"What rounding costs is not known: {self.why_no_cost}"]
        return [
            *head,
            f"Rounding changes the left-out log-loss by {cost.difference:+.4f} ± {cost.standard_error:.4f}: "
            f"{cost.log_loss:.4f} with points, {cost.formula_log_loss:.4f} with the formula "
            f"({cost.n_folds} folds; formula and points both made without the rows of the fold).",
        ]

    def _tables(self) -> tuple[PointTable, RiskTable, list[str]]:
        """Points with every feature named once, risks that are not nearly sure, and sentences about the others."""
        points = replace(self.points, feature=self.points.named_once())
        return points, *self.risks.middle()

    def text(self) -> str:
        """Both tables and the sentences as plain text."""
        points, risks, ends = self._tables()
        head = [f"Points for class {self.label}", "", points.aligned(points.columns), *points.notes]
        return paragraphs([head, [risks.aligned(risks.columns), *ends], self.lines()])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"ScoreCard({plural(len(self.points.feature), 'row')}, class {self.label})"

    def _repr_html_(self) -> str:
        points, risks, ends = self._tables()
        said, below = ("".join(f"<p>{escape(line)}</p>" for line in some) for some in (self.lines(), ends))
        tables = f"<div>{points._repr_html_()}</div><div>{risks._repr_html_()}{below}</div>"
        return f'<h2>Points for class {escape(self.label)}</h2><div class="card">{tables}</div>{said}'

    def to_html(self) -> str:
        """A page of its own, which needs no network and can be printed."""
        head = f'<meta charset="utf-8"><title>Score card: {escape(self.label)}</title><style>{STYLE}</style>'
        view = '<meta name="viewport" content="width=device-width">'
        return f'<!doctype html><html lang="en"><head>{head}{view}</head><body>{self._repr_html_()}</body></html>\n'
