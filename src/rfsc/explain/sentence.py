"""One sentence about one row: which class, how certain, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._model import SparseModel, class_codes, class_probabilities, decision_table
from .._model.access import as_predictor
from .._model.recipe import NumberOf, Recipe, is_missing
from .._utils.arrays import FloatArray
from .._utils.words import listed
from .contributions import feature_table, row_cells, split
from .rounding import six_digits, training_ranges

MOST_FOR, MOST_AGAINST = 3, 2  # terms that the sentence names
MOST_OUTSIDE = 5  # features outside their range that it names
MOST_VALUES = 3  # features of a term whose values it shows
MISSING = "missing"
TINY = 1e-12  # of a range: rounding


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """A row with all that the sentence needs of it."""

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
    """Say in one sentence why a row gets its class.

    The sentence gives the class with its probability and the confidence delta, the strongest terms for and against it
    with what each adds to f and with the values of the row behind it, with more than two classes also the runner-up,
    and which features lie outside their training range. With two classes what counts against one favours the other;
    with more, the terms are those of the predicted class's own formula.

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
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(y == 1, "versicolor", "other")
    >>> clf = RFSCClassifier(basis="step", size=4, n_restarts=2, random_state=0).fit(X[:, 2:], y)
    >>> print(textwrap.fill(explain(clf, [6.2, 2.4]), 100))
    The model predicts class other with probability 0.98 (confidence 0.37), because the constant
    (+4.13), x1>1.65 (x1 = 2.4; +3.66) and x0>4.95 (x0 = 6.2; +3.23) favour it, while x0>2 (x0 = 6.2;
    -3.48) and x1>0.8 (x1 = 2.4; -3.48) count against it.
    """
    predictor = as_predictor(source)
    cells = row_cells(predictor, row)
    recipe = predictor.recipe_ or Recipe.identity(predictor.column_names)
    own = _Row(recipe, cells, feature_table(predictor, cells))
    predictor, blank = predictor.answering(own.features)
    start = f"Without {listed(blank)}, which {'is' if len(blank) == 1 else 'are'} missing, the" if blank else "The"
    values = decision_table([model.decision(own.features) for model in predictor.models_])
    code, proba = int(class_codes(values)[0]), class_probabilities(values)[0]
    binary = len(predictor.models_) == 1
    model, sign = (predictor.models_[0], 1.0 if code else -1.0) if binary else (predictor.models_[code], 1.0)
    parts = sign * model.coef * model.columns(own.features)[:, 0]
    delta = float(split(parts[:, None]).confidence[0])
    certainty = f"{predictor.classes_[code]} with probability {_probability(proba[code])} (confidence {delta:.2f})"
    if not binary:
        second = int(np.argsort(-proba, kind="stable")[1 if np.argmax(proba) == code else 0])
        certainty += f" rather than {predictor.classes_[second]} ({_probability(proba[second])})"
    return f"{start} model predicts class {certainty}, {_reasons(own, model, parts)}{_outside(own, predictor.models_)}."


def _reasons(row: _Row, model: SparseModel, parts: FloatArray) -> str:
    """The strongest terms on either side."""
    order = np.argsort(-np.abs(parts), kind="stable").tolist()
    above, below = [j for j in order if parts[j] > 0], [j for j in order if parts[j] < 0]
    pros = [_term(row, model, j, parts[j]) for j in above[:MOST_FOR]]
    cons = [_term(row, model, j, parts[j]) for j in below[:MOST_AGAINST]]
    favour, count = ("" if len(pros) > 1 else "s"), ("" if len(cons) > 1 else "s")
    against = f"{listed(cons)} count{count} against it" if cons else "nothing counts against it"
    if not pros:
        return f"although nothing favours it and {against}"
    if cons and len(above) == 1 and not model.terms[above[0]].features and parts.sum() > 0:
        return f"because {pros[0]} outweighs {listed(cons)}"  # no feature favours it, but too little is against it
    if parts.sum() < 0:  # of several classes none may have a formula above zero
        return f"although {against} more than {listed(pros)} favour{favour} it"
    return f"because {listed(pros)} favour{favour} it{', while' if cons else ' and'} {against}"


def _term(row: _Row, model: SparseModel, j: int, part: float) -> str:
    """A term with the values of the row behind it, and what it adds."""
    term, adds = model.terms[j], f"{part:+.2f}"
    if not term.features:
        return f"the constant ({adds})"
    if term.factors == term.features[:1] and isinstance(row.recipe.features[term.features[0]], NumberOf):
        return f"{row.value(term.features[0])} ({adds})"
    name = model.names[j]
    name = f"“{name}”" if " and " in name else name  # a rule, among terms that the sentence joins in the same way
    if len(term.features) > MOST_VALUES:
        return f"{name} ({adds})"
    values = list(dict.fromkeys(row.value(p) for p in term.features))
    return f"{name} ({', '.join(values)}; {adds})"


def _outside(row: _Row, models: Sequence[SparseModel]) -> str:
    """Features that the models read and that lie outside their training range, with that range."""
    found: dict[str, None] = {}
    for model in models:
        scaled = model.scaling.rows(row.features, model.features)
        for p, ends in training_ranges(model).items():
            if not -TINY <= float(scaled[p][0]) <= 1.0 + TINY:
                low, high = map(_written, ends)
                found[f"{row.value(p)} ({low} to {high})"] = None
    if not found:
        return ""
    values = listed(list(found), MOST_OUTSIDE)
    return f"; treat it with caution, because the row is outside the training range: {values}"


def _probability(value: float) -> str:
    """Two digits, but never 0 or 1."""
    if value > 0.995:
        return "above 0.99" if value < 0.9995 else "above 0.999"
    return "below 0.01" if value < 0.005 else f"{value:.2f}"


def _written(cell: Any) -> str:
    """A cell as a person writes it; numbers with at most six digits."""
    if is_missing(cell):
        return MISSING
    return six_digits(float(cell)) if isinstance(cell, float | np.floating) else str(cell)
