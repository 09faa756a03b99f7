"""Tables that can be read: the terms of a model, and a page with all of it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from .._model import SparseModel
from .._model.access import (
    WEIGHTED,
    models_of,
    one_model,
    predictor_if_readable,
    weights_classes,
    yes_or_no_features,
)
from .._terms import Term
from .._terms.expression import Positive, Scaled, as_difference, conditions_of, interval
from .._utils.arrays import FloatArray
from .._utils.optional import require
from .._utils.words import plural, shortened
from .equation import Rendered, equation_lines, formulas_html, legend, units_that_fit
from .rounding import three_digits, training_ranges

WIDEST = 48  # of a name in a table of plain text; longer ones keep both ends
ODDS = "odds ×: what the odds are multiplied by when the term (of a bend: its column) changes as stated"
WORTH = "worth: rise of the left-out log-loss without the term, in thousandths"
EVENTS_PER_TERM = 10  # the usual rule of thumb for logistic regression


@dataclass(frozen=True, slots=True)
class _Shown:
    """How a column is shown."""

    spec: str = ""  # format of its values
    head: str | None = None  # None: its name
    text: bool = False  # to the left, as the first column is
    sentence: bool = False  # plain text does not cut it
    long: bool = False  # plain text leaves it out
    asked: bool = False  # only `rows` and `to_frame` have it
    hidden: bool = False  # it is never shown


def per_row(spec: str = "", head: str | None = None, **how: bool) -> dict[str, _Shown]:
    """Metadata of a field of a table that holds one entry for each row."""
    return {"column": _Shown(spec, head, **how)}


class ReadableTable:
    """One row for each term or feature; a subclass is a dataclass with a field for each column, the first of names."""

    @property
    def _formats(self) -> dict[str, _Shown]:
        """All columns by name."""
        own = fields(self)  # type: ignore[arg-type]
        return {one.name: one.metadata["column"] for one in own if "column" in one.metadata}

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are known."""
        shown = (name for name, one in self._formats.items() if not one.hidden)
        return tuple(name for name in shown if getattr(self, name) is not None)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of those that plain text shows."""
        return tuple(name for name in self.columns if not (self._formats[name].long or self._formats[name].asked))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of the values."""
        return ()

    def rows(self) -> list[dict[str, Any]]:
        """One dict of plain values for each row, with None for what is not known."""
        values = {name: getattr(self, name) for name, one in self._formats.items() if not one.hidden}
        n_rows = len(next(iter(values.values())))
        return [{name: _plain(entries, j) for name, entries in values.items()} for j in range(n_rows)]

    def first(self, n: int) -> Self:
        """The same table with its first rows only."""
        return self.only(range(min(n, len(getattr(self, self.columns[0])))))

    def only(self, rows: Sequence[int]) -> Self:
        """The same table with some of its rows."""
        known = {name: own for name in self._formats if (own := getattr(self, name)) is not None}
        some = {k: tuple(v[j] for j in rows) if isinstance(v, tuple) else v[list(rows)] for k, v in known.items()}
        return replace(self, **some)  # type: ignore[type-var]

    def text(self) -> str:
        """The table as plain text, with its notes."""
        return "\n".join([self.aligned(self.text_columns), *(f"({line})" for line in self.notes)])

    def __str__(self) -> str:
        return self.text()

    def aligned(self, columns: Sequence[str], width: int = WIDEST) -> str:
        """Some columns as plain text, words to the left; their cells have at most `width` characters."""
        formats = [self._formats[name] for name in columns]
        words = [one is formats[0] or one.text for one in formats]
        cut = [is_word and not one.sentence for one, is_word in zip(formats, words, strict=True)]
        rows = self._cells(columns)
        short = [[shortened(cell, width) if c else cell for cell, c in zip(row, cut, strict=True)] for row in rows]
        cells = [[*map(self._head, columns)], *short]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        sides = [str.ljust if w else str.rjust for w in words]
        lines = ["  ".join(side(cell, w) for side, cell, w in zip(sides, row, widths, strict=True)) for row in cells]
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])

    def to_frame(self) -> Any:
        """A pandas DataFrame, without columns of which nothing is known."""
        require("a table as a DataFrame", ["pandas"], "demo")
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(self.columns)).set_index(self.columns[0])

    def _repr_html_(self) -> str:
        return self.html([name for name in self.columns if not self._formats[name].asked])

    def html(self, columns: Sequence[str]) -> str:
        """Some columns as an HTML table, with the notes."""
        head = "".join(f"<th>{escape(self._head(name))}</th>" for name in columns)
        cells = self._cells(columns)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{notes}"

    def _cells(self, columns: Sequence[str]) -> list[list[str]]:
        specs = {name: self._formats[name].spec for name in columns}
        return [[_cell(row[name], spec) for name, spec in specs.items()] for row in self.rows()]

    def _head(self, name: str) -> str:
        return self._formats[name].head or name


@dataclass(frozen=True, slots=True, eq=False)
class TermTable(ReadableTable):
    """The terms of one model, one row each; what is not known is None.

    Parameters
    ----------
    term : tuple of str
        Names, as in ``model.names``.
    worth : ndarray of shape (n_terms,) or None
        By how much the mean log-loss of left-out rows rises without the term, in thousandths; NaN for the intercept.
    coef : ndarray of shape (n_terms,)
        Coefficients on the [0, 1] scale.
    standard_error, t, p_value : ndarray of shape (n_terms,) or None
        Of the coefficients, given the terms. Naive: they ignore the search, so they are in
        `rows()` and `to_frame()` but not in the text and in notebooks.
    low, high : ndarray of shape (n_terms,) or None
        Ends of the confidence interval of each coefficient, naive too.
    odds_ratio : ndarray of shape (n_terms,)
        What the odds of the class are multiplied by when the value of the term alone changes as `change` says; NaN for
        the constant, which does not change.
    change : tuple of str
        That change in words: of a comparison from no to yes, of any other term by a share of the range of its values,
        in the user's own units: those of the feature, or of the term as an equation in these units writes it.
    rip : ndarray of shape (n_terms,) or None
        Final inclusion probability, mean over the restarts; None if the history of the search is not known.
    share : ndarray of shape (n_terms,) or None
        Share of the restarts whose model holds the term.
    level : float
        Confidence level of the interval.
    """

    term: tuple[str, ...] = field(metadata=per_row())
    worth: FloatArray | None = field(metadata=per_row(".1f"))
    coef: FloatArray = field(metadata=per_row(".4g"))
    standard_error: FloatArray | None = field(metadata=per_row(".3g", "std. error", asked=True))
    t: FloatArray | None = field(metadata=per_row(".2f", asked=True))
    p_value: FloatArray | None = field(metadata=per_row(".2g", "p (naive)", asked=True))
    low: FloatArray | None = field(metadata=per_row(".4g", asked=True))
    high: FloatArray | None = field(metadata=per_row(".4g", "to", asked=True))
    odds_ratio: FloatArray = field(metadata=per_row(".3g", "odds ×"))
    change: tuple[str, ...] = field(metadata=per_row("", "for"))
    rip: FloatArray | None = field(metadata=per_row(".2f", "RIP", asked=True))
    share: FloatArray | None = field(metadata=per_row(".0%", "restarts", asked=True))
    level: float

    @property
    def notes(self) -> tuple[str, ...]:
        if not any(self.change):
            return ()
        return (ODDS,) if self.worth is None else (WORTH, ODDS)

    def _head(self, name: str) -> str:
        return f"{100 * self.level:g}% from" if name == "low" else super(TermTable, self)._head(name)


def term_table(source: Any, *, change: float = 0.1, level: float = 0.95, label: object = None) -> TermTable:
    """The terms of a model with what is known about each.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    change : float, default=0.1
        What the odds ratios are for: a change of the value of a term by this share of the range that it has within the
        training ranges of its features. The range of a hinge is the part beyond its knot. Comparisons, and features
        that the source makes of the levels or blanks of a column, always change from no to yes.
    level : float, default=0.95
        Confidence level of the intervals.
    label : object, optional
        Which class, by default the second of two; for the first, f has the opposite sign.

    Returns
    -------
    TermTable
        With ``rows()``, ``text()`` and ``to_frame()``.
    """
    model = one_model(source, label)
    if not 0.0 < change < math.inf:
        msg = f"change must be a positive number, got {change!r}."
        raise ValueError(msg)
    if not 0.0 < level < 1.0:
        msg = f"level must be between 0 and 1, got {level!r}."
        raise ValueError(msg)
    yes_or_no = yes_or_no_features(getattr(predictor_if_readable(source), "recipe_", None))
    steps = [_step(model, term, float(change), yes_or_no) for term in model.terms]
    with np.errstate(over="ignore"):  # odds beyond the largest number are infinite
        odds = np.exp(model.coef * [size for size, _ in steps])
    reach = model.reach(level)
    evidence, n = model.evidence, len(model.terms)
    return TermTable(
        term=model.names,
        worth=None if model.worth is None else 1000.0 * model.worth,
        coef=model.coef,
        standard_error=model.standard_error,
        t=model.t_value,
        p_value=model.p_value,
        low=None if reach is None else model.coef - reach,
        high=None if reach is None else model.coef + reach,
        odds_ratio=odds,
        change=tuple(words for _, words in steps),
        # the model's own terms come first
        rip=None if evidence is None else evidence.rip[:, :n].mean(axis=0),
        share=None if evidence is None else evidence.selected[:, :n].mean(axis=0),
        level=float(level),
    )


def summary(source: Any, *, label: object = None, width: int = 100) -> Rendered:
    """Equation, table of terms and features of a model, as plain text.

    The equation is in the user's own units, unless its numbers do not fit into double precision.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    label : object, optional
        Which class, by default the second of two; for the first, f has the opposite sign.
    width : int, default=100
        Longest line of words and equation; a table or a single term may be wider.

    Returns
    -------
    str
        Several lines; a notebook shows them as HTML.
    """
    model = one_model(source, label)
    units, table = units_that_fit([model]), term_table(source, label=label)
    table = table.only([j for j, term in enumerate(model.terms) if term.features])  # the equation has the constant
    # coefficients on the [0, 1] scale beside an equation in other units would only confuse
    shown = [name for name in table.text_columns if units == "scaled" or name != "coef"]
    used = [model.feature_names[p] for p in model.features]
    size = f"{plural(model.size, 'term')} of {plural(len(used), 'feature')}: {', '.join(used)}"
    if not used:
        size = "The model has no terms: it predicts the shares of the classes among the training rows."
    head = [
        f"f of class {model.label}; the class with the largest f is predicted"
        if len(models_of(source)) > 1
        else f"f > 0 predicts class {model.label}; its probability is 1/(1 + exp(-f))",
        *legend(model, units=units, ranges=False),
    ]
    below = [size, *events_caution(source, {model.label: model.size})]
    below += [f"Caution: {WEIGHTED}"] if weights_classes(source) else []
    lines = [
        *(line for words in head for line in textwrap.wrap(words, width)),
        "",
        *equation_lines(model, width, units),
        "",
        *([table.aligned(shown, width=10**6)] if used else []),
        *(line for note in table.notes for line in textwrap.wrap(f"({note})", width)),
        *([""] if used else []),
        *(line for words in below for line in textwrap.wrap(words, width)),
    ]
    text = Rendered("\n".join(lines))
    text.html = formulas_html([model]) + table.html(shown) + "".join(f"<p>{escape(words)}</p>" for words in below)
    return text


def events_caution(source: Any, n_terms: Mapping[Any, int]) -> tuple[str, ...]:
    """A sentence about few rows for each term, if there are, and if the source knows it; terms by class."""
    last = source[-1] if isinstance(source, Pipeline) else source
    n_rows = ((getattr(last, "manifest_", None) or {}).get("data") or {}).get("class_sizes")
    if n_rows is None or len(n_rows) != len(last.classes_):
        return ()
    own = dict(zip(last.classes_.tolist(), n_rows, strict=True))
    few = [(min(own[label], sum(n_rows) - own[label]), n) for label, n in n_terms.items() if n and label in own]
    n_events, most = min(few, key=lambda one: one[0] / one[1], default=(0, 0))
    if n_events >= EVENTS_PER_TERM * most:
        return ()
    rows, terms = plural(n_events, "row"), plural(most, "term")
    return (f"Caution: {rows} of the rarer class for {terms}, fewer than ten for each: coefficients may be far off.",)


def _step(model: SparseModel, term: Term, change: float, yes_or_no: frozenset[int]) -> tuple[float, str]:
    """By how much the value of a term changes for its odds ratio, and that change in words."""
    if not term.features:
        return math.nan, ""
    node = term.expression
    if conditions_of(node) or (term.factors is not None and yes_or_no.issuperset(term.factors)):
        return 1.0, "no to yes"
    lowest, highest = interval(node, dict.fromkeys(term.features, (0.0, 1.0)))
    size = change * (highest - lowest)
    hinge = as_difference(node.part) if isinstance(node, Positive) else None
    if hinge is None and not isinstance(node, Scaled):
        (weight,) = term.unscaled(model.scaling, expand=False).values()
        return size, f"+{three_digits(size / weight if weight else math.inf)}"
    low, high = training_ranges(model)[term.features[0]]
    falls = hinge is not None and hinge[1] < 0
    return size, f"{'-' if falls else '+'}{three_digits((high / 2 - low / 2) * 2 * size)}"


def _plain(entries: Any, j: int) -> Any:
    """A value of Python; None instead of NaN and of a column that is not known."""
    if entries is None or isinstance(entries[j], str | tuple):
        return None if entries is None else entries[j]
    value = entries[j].item()
    return None if value != value else value


def _cell(value: Any, spec: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else format(value, spec)
