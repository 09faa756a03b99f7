"""How far numbers can be rounded: coefficients of a model, and the constants within its terms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._model import SparseModel
from .._model.access import one_model
from .._terms import Term
from .._terms.expression import (
    Divided,
    Exp,
    Expression,
    Number,
    Positive,
    Product,
    Ramp,
    Sum,
    Wave,
    as_difference,
    bare,
    bound,
)
from .._terms.naming import rounded as rounded_number
from .._terms.naming import written
from .._utils.arrays import FloatArray
from .._utils.validation import check_choice, check_count

MAX_DIGITS = 17  # enough for any double
UNITS = ("scaled", "original")
SAFETY = 0.9  # products of two rounded parts also change by the product of both changes

Ranges = Mapping[int, tuple[float, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """Coefficients with few digits, and how much they can change f.

    Parameters
    ----------
    terms : tuple of Term
        The terms that the coefficients belong to; in original units those of ``model.unscaled(expand=False)``.
    coef : ndarray of shape (n_terms,)
        The rounded coefficients.
    digits : int
        How many significant digits they have.
    units : {"scaled", "original"}
        What the features are measured in.
    largest_change : float
        If every feature lies within its training range, f with these coefficients differs from f by no more than
        this (and by what computing with sixteen digits costs). Outside the ranges nothing is promised.
    model : SparseModel or None
        The model with the rounded coefficients, for scaled units only. It has no score: that belongs to the
        coefficients that were fitted.
    """

    terms: tuple[Term, ...]
    coef: FloatArray
    digits: int
    units: str
    largest_change: float
    model: SparseModel | None


def rounded(source: Any, digits: int, units: str = "scaled", *, label: object = None) -> Rounded:
    """Round the coefficients of a model, and say by how much f can change.

    The change is at most the sum over the terms of (change of the coefficient) * (largest absolute value of the term
    within the training ranges). No smaller bound holds for every model: if all terms reach their largest value at one
    point, and all changes have the same sign, f does change by this much.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    digits : int
        Significant digits to keep, from 1 to 17.
    units : {"scaled", "original"}, default="scaled"
        Whether to round the coefficients for features on [0, 1] or those in the user's own units.
    label : object, optional
        Which class, by default the second of two; for the first, f has the opposite sign.

    Returns
    -------
    Rounded
        The coefficients and the largest change of f.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(y == 1, "versicolor", "other")
    >>> clf = RFSCClassifier(basis="step", size=4, n_restarts=2, random_state=0).fit(X[:, 2:], y)
    >>> short = rounded(clf, digits=2)
    >>> short.coef
    array([-4.1, -3.7,  3.5,  3.5, -3.2])
    >>> round(short.largest_change, 2)
    0.13
    """
    model = one_model(source, label)
    check_choice("units", units, UNITS)
    check_count("digits", digits, most=MAX_DIGITS)
    parts = coefficients(model, units)
    coef, change = _shortened(parts, digits, _bounds(model, parts, units))
    short = replace(model, coef=coef, score=None) if units == "scaled" else None
    return Rounded(tuple(parts), coef, digits, units, change, short)


def digits_needed(model: SparseModel, units: str, digits: int, tolerance: float) -> int:
    """Fewest digits, at least `digits`, with which rounding changes f by no more than the tolerance."""
    parts = coefficients(model, units)
    largest = _bounds(model, parts, units)
    enough = (n for n in range(digits, MAX_DIGITS) if _shortened(parts, n, largest)[1] <= tolerance)
    return next(enough, MAX_DIGITS)


def coefficients(model: SparseModel, units: str) -> dict[Term, float]:
    """Coefficients by term, for features on [0, 1] or in the user's own units."""
    if units == "scaled":
        return dict(zip(model.terms, model.coef.tolist(), strict=True))
    with np.errstate(over="ignore", invalid="ignore"):
        found = model.unscaled(expand=False)
    minima = [2.0 * float(model.scaling.half_minimum[p]) for p in model.features]
    if not all(map(math.isfinite, [*found.values(), *minima])):
        msg = (
            "in original units some coefficients of this model are beyond the largest number of double precision: "
            "the range of a feature is too small or too large. Use units='scaled', or measure it in other units."
        )
        raise ValueError(msg)
    return found


def with_short_minima(model: SparseModel, parts: Mapping[Term, float], tolerance: float) -> dict[Term, float]:
    """The same with fewer digits of the minima in products, f changed by at most `tolerance` within the ranges."""
    ranges, share = training_ranges(model), tolerance / max(sum(map(has_minima, parts)), 1)
    found = {}
    for term, coef in parts.items():
        is_long = coef and has_minima(term)
        found[Term(rounded_expression(term.expression, share / abs(coef), ranges)) if is_long else term] = coef
    return found


def has_minima(term: Term) -> bool:
    """Whether features of a product in original units count from their minima."""
    parts = term.expression.parts if isinstance(term.expression, Product) else ()
    differences = [found for part in parts if (found := as_difference(part))]
    return any(number.shown is None for _, _, number in differences)


def training_ranges(model: SparseModel) -> dict[int, tuple[float, float]]:
    """Least and largest training value of every feature that the model reads, in the user's own units."""
    low, high = model.scaling.half_minimum, model.scaling.half_minimum + model.scaling.half_span
    return {p: (2.0 * float(low[p]), 2.0 * float(high[p])) for p in model.features}


def _bounds(model: SparseModel, parts: Mapping[Term, float], units: str) -> dict[Term, float]:
    """Largest absolute value of every term within the training ranges."""
    ranges = training_ranges(model) if units == "original" else dict.fromkeys(model.features, (0.0, 1.0))
    return {term: bound(term.expression, ranges) for term in parts}


def _shortened(parts: Mapping[Term, float], digits: int, largest: Mapping[Term, float]) -> tuple[FloatArray, float]:
    """Coefficients with few digits, and how much they can change f."""
    short = {term: float(f"{coef:.{digits}g}") for term, coef in parts.items()}
    # a coefficient that is not changed costs nothing, however large its term may become
    change = math.fsum(abs(short[term] - coef) * largest[term] for term, coef in parts.items() if short[term] != coef)
    return np.array(list(short.values()), dtype=np.float64), change


def six_digits(value: float) -> str:
    """A number of a table or a range as a person writes it."""
    return written(float(f"{value:.6g}"))


def three_digits(value: float) -> str:
    """An effect as a person writes it."""
    return written(float(f"{value:.3g}"))


def rounded_expression(node: Expression, error: float, ranges: Ranges) -> Expression:
    """The expression with shorter numbers, its value changed by at most `error` within the ranges; knots stay."""
    node = bare(node)
    match node:
        case Number(value):
            is_multiple_of_pi = value == math.pi * round(value / math.pi)
            return node if is_multiple_of_pi else Number(rounded_number(value, error))
        case Sum(parts):
            share = error / len(parts)
            return Sum(tuple(rounded_expression(part, share, ranges) for part in parts))
        case Product(parts):
            return _rounded_product(parts, error * SAFETY / len(parts), ranges)
        case Divided(Sum((Divided(part, 2.0), Number(value))), by):  # halved, so that a range cannot overflow
            return rounded_expression(Divided(Sum((part, Number(2.0 * value))), 2.0 * by), error, ranges)
        case Divided(part, by):
            share = error * SAFETY / 2.0
            shorter = rounded_number(by, share * by * by / max(bound(part, ranges), 1e-300))
            return Divided(rounded_expression(part, share * by, ranges), shorter)
        case Positive(part) | Exp(part):  # neither is steeper than 1
            return type(node)(rounded_expression(part, error, ranges))
        case Wave(kind, part):
            return Wave(kind, rounded_expression(part, error, ranges))
        case Ramp(part):  # nowhere steeper than a quarter
            return Ramp(rounded_expression(part, 4.0 * error, ranges))
    return node


def _rounded_product(parts: tuple[Expression, ...], share: float, ranges: Ranges) -> Expression:
    """Each part may change the product by `share`."""
    largest = [bound(part, ranges) for part in parts]
    others = [math.prod(largest[:i] + largest[i + 1 :]) for i in range(len(parts))]
    pairs = zip(parts, others, strict=True)
    return Product(tuple(rounded_expression(part, share / max(other, 1e-300), ranges) for part, other in pairs))
