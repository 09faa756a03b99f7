"""The terms of a model with everything that is known about each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._model import SparseModel
from .._model.access import as_predictor
from .._model.switches import switches
from .._terms import Term
from .._terms.expression import Above, Equals, Positive, Scaled, as_difference
from .._utils.arrays import FloatArray
from .._utils.optional import require
from .checks import one_model
from .rounding import training_ranges
from .tables import cells, html_table, markdown_table, text_table

FORMATS = {
    "term": "",
    "coef": ".4g",
    "standard_error": ".3g",
    "t": ".2f",
    "p_value": ".2g",
    "low": ".4g",
    "high": ".4g",
    "odds_ratio": ".3g",
    "change": "",
    "rip": ".2f",
    "share": ".0%",
}
HEADS = {
    "standard_error": "std. error",
    "p_value": "p (naive)",
    "odds_ratio": "odds ×",
    "change": "for",
    "rip": "RIP",
    "share": "restarts",
}
NAIVE = (
    "p-values and intervals are naive: they take the terms as given, and the search that found them makes them look "
    "better than they are. They are those of the penalised fit (ridge), which draws coefficients towards zero."
)
ODDS = (
    "odds ×: what the odds are multiplied by when this term alone changes as the next column says, in the units of the "
    'feature or, where it says "scaled", of the term on the [0, 1] scale.'
)
AVERAGE = "An average of several models: standard errors do not apply."


@dataclass(frozen=True, slots=True, eq=False)
class TermTable:
    """The terms of one model, one row each; what is not known is None.

    Parameters
    ----------
    term : tuple of str
        Names, as in ``model.names``.
    coef : ndarray of shape (n_terms,)
        Coefficients on the [0, 1] scale.
    standard_error, t, p_value : ndarray of shape (n_terms,) or None
        Of the coefficients, given the terms. Naive: they ignore the search. None for an average of models.
    low, high : ndarray of shape (n_terms,) or None
        Ends of the confidence interval of each coefficient, naive too.
    level : float
        Confidence level of the interval.
    odds_ratio : ndarray of shape (n_terms,)
        What the odds of the class are multiplied by when the value of the term alone changes as `change` says; NaN for
        the constant, which does not change.
    change : tuple of str
        That change in words: of a comparison from no to yes, of any other term by a share of the [0, 1] scale, told in
        the user's own units where the term is a straight line in one feature.
    rip : ndarray of shape (n_terms,) or None
        Final inclusion probability, mean over the restarts; None where the history of the search is not known.
    share : ndarray of shape (n_terms,) or None
        Share of the restarts whose model holds the term.
    """

    term: tuple[str, ...]
    coef: FloatArray
    standard_error: FloatArray | None
    t: FloatArray | None
    p_value: FloatArray | None
    low: FloatArray | None
    high: FloatArray | None
    level: float
    odds_ratio: FloatArray
    change: tuple[str, ...]
    rip: FloatArray | None
    share: FloatArray | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are known."""
        return tuple(name for name in FORMATS if getattr(self, name) is not None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of the figures."""
        lines = [AVERAGE if self.standard_error is None else NAIVE, ODDS]
        if self.rip is not None:
            lines.append("RIP: final inclusion probability; restarts: share of the restarts that chose the term.")
        return tuple(lines)

    def rows(self) -> list[dict[str, Any]]:
        """One dict of plain values for each term, with None for what is not known."""
        out = []
        for j in range(len(self.term)):
            values = {name: getattr(self, name) for name in FORMATS}
            row = {name: None if column is None else _plain(column[j]) for name, column in values.items()}
            out.append(row)
        return out

    def text(self) -> str:
        """The table as plain text, with its notes."""
        return "\n".join([text_table(self._heads(), self._cells()), *(f"({line})" for line in self.notes)])

    def markdown(self) -> str:
        """The table as Markdown, with its notes."""
        return "\n\n".join([markdown_table(self._heads(), self._cells()), *self.notes])

    def html(self) -> str:
        """The table as an HTML element without style; the notes are its caption."""
        return html_table(self._heads(), self._cells(), caption=" ".join(self.notes))

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row for each term, without columns of which nothing is known."""
        require("a table as a DataFrame", ["pandas"], "demo")
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(FORMATS))[list(self.columns)].set_index("term")

    def _heads(self) -> list[str]:
        percent = f"{100 * self.level:g}%"
        named = {**HEADS, "low": f"{percent} from", "high": "to"}
        return [named.get(name, name) for name in self.columns]

    def _cells(self) -> list[list[str]]:
        return cells(self.rows(), {name: FORMATS[name] for name in self.columns})


def term_table(source: Any, *, change: float = 0.1, level: float = 0.95, label: object = None) -> TermTable:
    """The terms of a model with what is known about each.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    change : float, default=0.1
        What the odds ratios are for: a change of the value of a term by this much on the [0, 1] scale; for a single
        feature or hinge this share of the training range of the feature. Comparisons, and features that the source
        makes of the levels or blanks of a column, always change from no to yes.
    level : float, default=0.95
        Confidence level of the intervals.
    label : object, optional
        Which class, where the source has an output for each of several.

    Returns
    -------
    TermTable
        With ``rows()``, ``text()``, ``markdown()``, ``html()`` and ``to_frame()``.
    """
    model = one_model(source, label)
    if not 0.0 < change < math.inf:
        msg = f"change must be a positive number, got {change!r}."
        raise ValueError(msg)
    if not 0.0 < level < 1.0:
        msg = f"level must be between 0 and 1, got {level!r}."
        raise ValueError(msg)
    yes_or_no = _yes_or_no(source)
    steps = [_step(model, term, float(change), yes_or_no) for term in model.terms]
    with np.errstate(over="ignore"):  # odds beyond the largest number are infinite
        odds = np.exp(model.coef * [size for size, _ in steps])
    reach = None
    if model.standard_error is not None:
        freedom = max(model.n_observations - len(model.terms), 1.0)
        reach = float(stats.t.ppf(0.5 + level / 2.0, freedom)) * model.standard_error
    evidence, n = model.evidence, len(model.terms)
    return TermTable(
        term=model.names,
        coef=model.coef,
        standard_error=model.standard_error,
        t=model.t_value,
        p_value=model.p_value,
        low=None if reach is None else model.coef - reach,
        high=None if reach is None else model.coef + reach,
        level=float(level),
        odds_ratio=odds,
        change=tuple(words for _, words in steps),
        # the model's own terms come first
        rip=None if evidence is None else evidence.rip[:, :n].mean(axis=0),
        share=None if evidence is None else evidence.selected[:, :n].mean(axis=0),
    )


def _yes_or_no(source: Any) -> frozenset[int]:
    """Features that are 0 or 1, as far as the source tells."""
    try:
        recipe = None if isinstance(source, SparseModel) else as_predictor(source).recipe_
    except TypeError:  # behind steps that no recipe can say, nothing is known of the features
        recipe = None
    return switches(recipe) if recipe else frozenset()


def _step(model: SparseModel, term: Term, change: float, yes_or_no: frozenset[int]) -> tuple[float, str]:
    """By how much the value of a term changes for its odds ratio, and that change in words."""
    if not term.features:
        return math.nan, ""
    node = term.expression
    if isinstance(node, Above | Equals) or (term.factors is not None and yes_or_no.issuperset(term.factors)):
        return 1.0, "no to yes"
    hinge = as_difference(node.part) if isinstance(node, Positive) else None
    if hinge is None and not isinstance(node, Scaled):
        return change, f"+{change:g} scaled"
    low, high = training_ranges(model)[term.features[0]]
    falls = hinge is not None and hinge[1] < 0
    return change, f"{'-' if falls else '+'}{(high / 2 - low / 2) * 2 * change:.3g}"


def _plain(value: Any) -> Any:
    """A number of Python; None instead of NaN."""
    if isinstance(value, str):
        return value
    number = float(value)
    return None if math.isnan(number) else number
