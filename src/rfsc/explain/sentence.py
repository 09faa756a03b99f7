"""Why a row gets its class, in plain words: its probability, and what each column does to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from .._model import SparseModel, class_codes, class_probabilities, decision_table
from .._model.access import as_predictor
from .._model.predictor import Predictor
from .._model.recipe import NumberOf, Recipe
from .._utils.arrays import FloatArray
from .._utils.validation import is_missing
from .._utils.words import listed, plural
from .contributions import feature_table, row_cells
from .rounding import six_digits, training_ranges
from .typical import MISSING, Typical

MOST_REASONS = 6  # columns that the text names
MOST_OUTSIDE = 5  # features outside their range that it names
NEGLIGIBLE = 0.05  # change of the logarithm of the odds, about 5 % of them, that is not mentioned
TINY = 1e-12  # of a range: rounding


@dataclass(frozen=True, slots=True)
class Reason:
    """What one column does to the probability of a class."""

    column: str
    value: str  # the cell of the row, as a person writes it
    typical: str | None  # the typical cell; None if it is a level that the model does not name
    raises: bool  # whether the value gives a higher probability than the typical one
    probability: float  # of the class if the row had the typical value instead


@dataclass(frozen=True, slots=True)
class Explanation:
    """The probability of a class in one row, and why; the strongest reason first."""

    label: str  # with two classes the second, else the class that is predicted
    predicted: str
    probability: float
    typical_probability: float
    runner_up: tuple[str, float] | None  # of more than two classes, with its probability
    reasons: tuple[Reason, ...]
    outside: tuple[str, ...]  # values outside their training range
    is_typical_known: bool
    blank: tuple[str, ...] = ()  # missing columns for which another model answers

    def text(self) -> str:
        """Two or three sentences."""
        start = "The"
        if self.blank:
            start = f"Without {listed(self.blank)}, which {'is' if len(self.blank) == 1 else 'are'} missing, the"
        first = f"{start} probability of class {self.label} is {_probability(self.probability)}"
        if self.runner_up is not None:
            name, probability = self.runner_up
            first += f", the largest (next: {name} with {_probability(probability)})"
        elif self.predicted != self.label:
            first += f", so the model predicts {self.predicted}"
        row = "a typical row" if self.is_typical_known else "a row in the middle of all ranges"
        parts = [f"{first}; it is {_probability(self.typical_probability)} for {row}.", self._why()]
        if self.outside:
            values = listed(self.outside, MOST_OUTSIDE)
            parts.append(f"Treat this with caution, because the row is outside the training range: {values}.")
        return " ".join(parts)

    def _why(self) -> str:
        if not self.reasons:
            return "No value of the row changes it much."
        said = [self._statement(reason) for reason in self.reasons[:MOST_REASONS]]
        if n_more := len(self.reasons) - len(said):
            said.append(f"{plural(n_more, 'column')} {'changes' if n_more == 1 else 'change'} it less")
        text = listed(said)
        return f"{text[0].upper()}{text[1:]}."

    def _statement(self, reason: Reason) -> str:
        """One column: its value, what this does, and the probability with the typical value."""
        if reason.typical is None:
            other = f"other values of {reason.column}"
        else:
            other = f"the {'typical' if self.is_typical_known else 'middle'} {reason.typical}"
        verb = "raises" if reason.raises else "lowers"
        would_be = _probability(reason.probability)
        return f"{reason.column} {reason.value} {verb} it compared with {other} (which would give {would_be})"


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """A row with all that the text needs of it."""

    recipe: Recipe
    cells: Sequence[Any]
    features: FloatArray

    def value(self, feature: int) -> str:
        """The cell that a feature is made of, as ``column = cell``."""
        made = self.recipe.features[feature]
        name, cell = self.recipe.columns[made.column].name, _written(self.cells[made.column])
        if cell == MISSING and isinstance(made, NumberOf) and made.fill is not None:
            return f"{name} missing, taken as {_written(made.fill)}"
        return f"{name} = {cell}"


def explain(source: Any, row: Any) -> str:
    """Say in plain words why a row gets its class.

    The text gives the probability of a class: with two classes that of the second, else that of the predicted class.
    Then, column by column, it says whether the value of the row raises or lowers this probability compared with the
    typical value, and what the probability would be with the typical value and everything else as it is. All terms of
    a column count together. Typical are the median of the training rows and the most frequent level. Values outside
    their training range are listed at the end.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        What classifies the row. A single model knows two classes: its own and "not" that.
    row : mapping, Series, data frame with one row, or sequence
        The row in the user's own units: raw columns if the source makes its features itself.

    Returns
    -------
    str
        Plain text; it repeats names and values of the row, so escape it before it goes into a page.

    Examples
    --------
    >>> import textwrap
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> y = np.where(y == 1, "versicolor", "other")
    >>> clf = RFSCClassifier(basis="step", size=4, n_restarts=2, random_state=0).fit(X.iloc[:, 2:], y)
    >>> print(textwrap.fill(explain(clf, [6.2, 2.4]), 100))
    The probability of class versicolor is 0.017, so the model predicts other; it is 0.94 for a typical
    row. Petal width (cm) 2.4 lowers it compared with the typical 1.3 (which would give 0.40) and petal
    length (cm) 6.2 lowers it compared with the typical 4.3 (which would give 0.30).
    """
    return explanation(as_predictor(source), row).text()


def explanation(predictor: Predictor, row: Any) -> Explanation:
    """What `explain` says, as numbers and texts."""
    cells, typical = row_cells(predictor, row), Typical.of(predictor)
    own = _Row(typical.recipe, cells, feature_table(predictor, cells))
    predictor, blank = predictor.answering(own.features)
    columns = sorted({typical.recipe.features[p].column for model in predictor.models_ for p in model.features})
    # the row, a typical one, and the row with one column after the other made typical
    table = np.repeat(own.features, 2 + len(columns), axis=0)
    table[1] = typical.features
    for i, column in enumerate(columns, start=2):
        table[i, typical.column(column)] = typical.features[typical.column(column)]
    values = decision_table([model.decision(table) for model in predictor.models_])
    code, proba = int(class_codes(values)[0]), class_probabilities(values)
    of = 1 if values.ndim == 1 else code
    with np.errstate(divide="ignore", invalid="ignore"):
        log_odds = values if values.ndim == 1 else logit(proba[:, of])
        gain = np.nan_to_num(log_odds[0] - log_odds[2:])
    order = [k for k in np.argsort(-np.abs(gain), kind="stable").tolist() if abs(gain[k]) > NEGLIGIBLE]
    names = [column.name for column in typical.recipe.columns]
    runner_up = None
    if values.ndim > 1:
        second = int(np.argsort(-proba[0], kind="stable")[1 if np.argmax(proba[0]) == code else 0])
        runner_up = str(predictor.classes_[second]), float(proba[0, second])
    return Explanation(
        label=str(predictor.classes_[of]),
        predicted=str(predictor.classes_[code]),
        probability=float(proba[0, of]),
        typical_probability=float(proba[1, of]),
        runner_up=runner_up,
        reasons=tuple(
            Reason(names[c], _written(cells[c]), typical.cell(c), bool(gain[k] > 0), float(proba[2 + k, of]))
            for k, c in ((k, columns[k]) for k in order)
        ),
        outside=tuple(_outside(own, predictor.models_)),
        is_typical_known=typical.is_known,
        blank=blank,
    )


def _outside(row: _Row, models: Sequence[SparseModel]) -> list[str]:
    """Features that the models read and that lie outside their training range, with that range."""
    found: dict[str, None] = {}
    for model in models:
        scaled = model.scaling.rows(row.features, model.features)
        for p, ends in training_ranges(model).items():
            if not -TINY <= float(scaled[p][0]) <= 1.0 + TINY:
                form = row.recipe.columns[row.recipe.features[p].column].cells
                low, high = map(form.day if form is not None and form.since else _written, ends)
                found[f"{row.value(p)} ({low} to {high})"] = None
    return list(found)


def _probability(value: float) -> str:
    """Two digits, but never 0 or 1."""
    if value > 0.995:
        return "above 0.99" if value < 0.9995 else "above 0.999"
    if value < 0.095:
        return "below 0.001" if value < 0.001 else f"{value:.2g}"
    return f"{value:.2f}"


def _written(cell: Any) -> str:
    """A cell as a person writes it; numbers with at most six digits."""
    if is_missing(cell) or (isinstance(cell, str) and not cell.strip()):
        return MISSING
    return six_digits(float(cell)) if isinstance(cell, float | np.floating) else str(cell).strip()
