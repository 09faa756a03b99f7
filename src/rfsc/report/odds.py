"""Odds ratios per unit that a reader would choose, and the formula computed step by step for a typical row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from .._model import SparseModel
from .._model.access import yes_or_no_features
from .._terms.expression import Scaled, evaluate
from .._utils.words import minus_sign, number
from ..explain.rounding import coefficients, six_digits, with_short_minima
from ..explain.typical import Typical
from .subject import MIN_ROWS, Subject

LEVEL = 0.95
NICE = (1.0, 2.0, 5.0, 10.0)  # leading digits of a unit
SMALL_CHANGE = 0.0025  # of f, by the minima of features in the worked example
STEPS = 10  # between the quartiles, to whose multiples these are rounded


def nice(value: float) -> float:
    """The nearest of 1, 2 or 5 times a power of ten, on a logarithmic scale."""
    power = 10.0 ** math.floor(math.log10(value))
    units = [digit * power for digit in NICE if digit * power > 0.0]  # of subnormal numbers the power is 0
    return min(units, key=lambda unit: abs(math.log(unit / value)), default=value)


def odds_ratios(subject: Subject, model: SparseModel, *, intervals: bool) -> list[dict[str, Any]]:
    """One row for each feature of a model, the largest effect first; other features are at their typical values.

    A straight line is the same everywhere, so its odds ratio is per unit. For a bent line it is that of two values,
    about the quartiles.
    """
    typical, yes_or_no = Typical.of(subject.predictor), yes_or_no_features(subject.predictor.recipe_)
    quantile, rows = stats.norm.ppf(0.5 + LEVEL / 2), []
    for p in model.features:
        places = [j for j, term in enumerate(model.terms) if p in term.features]
        is_line = all(model.terms[j].expression == Scaled(p) for j in places)
        ends, words = _change(subject, p, is_line=is_line, yes_or_no=p in yes_or_no)
        table = np.repeat(typical.features[None], 2, axis=0)
        table[:, p] = ends
        moved = np.diff(model.columns(table), axis=1)[:, 0]
        log_odds, reach = float(model.coef @ moved), None
        if intervals and model.standard_error is not None and len(places) == 1:
            reach = quantile * abs(float(model.standard_error[places[0]] * moved[places[0]]))
        rows.append((log_odds, reach, model.feature_names[p], words))
    rows.sort(key=lambda row: -abs(row[0]))
    return [
        {
            "feature": name,
            "change": words,
            "odds_ratio": _exp(log_odds),
            "low": None if reach is None else _exp(log_odds - reach),
            "high": None if reach is None else _exp(log_odds + reach),
        }
        for log_odds, reach, name, words in rows
    ]


def _exp(value: float) -> float:
    """Odds beyond the largest number are infinite."""
    with np.errstate(over="ignore"):
        return float(np.exp(value))


def _change(subject: Subject, p: int, *, is_line: bool, yes_or_no: bool) -> tuple[tuple[float, float], str]:
    """Two values of a feature whose odds are compared, and words for them."""
    values = subject.features[:, p]
    distinct = np.unique(values)
    if yes_or_no or set(distinct.tolist()) <= {0.0, 1.0}:
        return (0.0, 1.0), "yes vs no"
    weight = np.ones(values.size) if subject.weight is None else subject.weight
    used = weight > 0
    q = np.quantile(values[used], (0.25, 0.75), method="inverted_cdf", weights=weight[used])
    low, high = float(q[0]), float(q[1])
    if not 0.0 < high - low < math.inf or values.size * 0.25 < MIN_ROWS:
        scaling = subject.models[0].scaling
        low, high = (float(scaling.to_user(p, u)) for u in (0.25, 0.75))  # of the range
    if not 0.0 < high - low < math.inf:
        return (low, high), "first to third quarter of the range"
    if is_line:
        unit = nice(high - low)
        return (low, low + unit), f"per {number(unit, 6)}"
    if (high - low) / STEPS > 0.0:  # of subnormal numbers it is 0
        step = nice((high - low) / STEPS)
        low, high = (round(end / step) * step for end in (low, high))
    return (low, high), minus_sign(f"{six_digits(high)} vs {six_digits(low)}")


def worked_example(subject: Subject, model: SparseModel) -> dict[str, Any]:
    """A typical row, and what each summand of the formula in original units is in it."""
    typical = Typical.of(subject.predictor)
    try:
        parts = with_short_minima(model, coefficients(model, "original"), SMALL_CHANGE)
        units = "original"
    except ValueError:  # its numbers do not fit into double precision
        parts, units = coefficients(model, "scaled"), "scaled"
    row = typical.features[None]
    values = (
        {p: row[:, p] for p in range(row.shape[1])} if units == "original" else model.scaling.rows(row, model.features)
    )
    summands = []
    for term, coef in parts.items():
        value = float(np.ravel(evaluate(term.expression, values))[0])
        name = term.name(model.feature_names) if term.features else ""
        summands.append({"term": name, "coef": coef, "value": value, "product": coef * value})
    f = float(model.decision(row)[0])
    columns = sorted({typical.recipe.features[p].column for p in model.features})
    cells = {typical.recipe.columns[c].name: typical.cell(c) or "another level" for c in columns}
    return {"row": cells, "units": units, "summands": summands, "f": f, "is_typical": typical.is_known}
