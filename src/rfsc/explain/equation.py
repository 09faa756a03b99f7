"""The model as a formula that a person can read, typeset, or type into a calculator, and what explains that formula."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from .._model import SparseModel
from .._model.access import models_of, one_model
from .._terms import Term
from .._terms.expression import Condition, Exp, Ramp, Sum, Wave, as_difference, conditions_of, nodes_of
from .._terms.naming import quoted
from .._utils.optional import require
from .._utils.validation import check_choice, check_count
from .notation import NOTATIONS, Sympy, Text
from .rounding import (
    MAX_DIGITS,
    UNITS,
    coefficients,
    digits_needed,
    has_minima,
    rounded_expression,
    six_digits,
    training_ranges,
    with_short_minima,
)

DIGITS, TOLERANCE = 4, 0.01
MINIMA_SHARE = 0.25  # of the tolerance, for minima of features in products; the rest is for coefficients
DIVISOR_DIGITS = 6  # more than coefficients have, so that divisors do not add to the error of these
FORMS = ("text", "latex", "html", "sympy")
RAMP_ERROR = 0.125  # by which a ramp with the numbers of the equation may differ from the one that `definitions` writes
WAVE_ERROR = 1e-6
LEGEND: tuple[tuple[tuple[type, ...], str], ...] = (
    ((Condition,), "A comparison in brackets is 1 if it is true, else 0."),
    ((Wave,), "Angles are in radians; the numbers inside waves are rounded, `definitions` has them in full."),
    ((Ramp,), "ramp(z) is 1 / (1 + exp(-z)); its numbers are rounded, `definitions` has them in full."),
    (
        (Exp,),
        "A cluster is a group of training rows: the term is 1 at its centre and 0 far away; "
        "`definitions` has the formulas.",
    ),
)


class Rendered(str):
    """Text that a console shows as it is, and a notebook typeset."""

    html: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return str(self)


def equation(
    source: Any,
    *,
    units: str | None = None,
    digits: int | None = None,
    form: str = "text",
    tolerance: float | None = TOLERANCE,
    label: object = None,
) -> Any:
    """Write f as a sum of terms, by default in the user's own units.

    In scaled units a feature in a product stands for its value on [0, 1], and other terms are divided by the range of
    their features, ``3.2*max(0, age-52)/60``. What is not spelled out (ramps, clusters, waves) is in `definitions`.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it. A pipeline that shifts and scales its numbers is explained in the units of the raw
        table.
    units : {"original", "scaled"} or None, default=None
        The user's own units, where features in products count from their lowest training values,
        ``(age-18)*(bmi-16)``, or features on [0, 1]. None: the first, unless numbers exceed double precision.
    digits : int, optional
        Significant digits of the coefficients; by default 4, and all of them for sympy.
    form : {"text", "latex", "html", "sympy"}, default="text"
        LaTeX is for math mode with the amsmath package; sympy has a symbol for each feature.
    tolerance : float or None, default=0.01
        More digits are written if fewer would change f by more than this within the training ranges, where large
        summands may cancel. None writes no more than `digits`.
    label : object, optional
        Which class, by default the second of two; for the first, f has the opposite sign. Of several classes, the text
        has a line for each by default; other forms need one.

    Returns
    -------
    str or sympy.Expr
        For instance ``f = 2.5*radius - 31*area^2``. A notebook shows the text typeset, with the units that it is in.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = RFSCClassifier(basis="step", size=4, n_restarts=2, random_state=0).fit(X[:, 2:], y == 1)
    >>> print(equation(clf, digits=2, tolerance=None))
    f = - 4.1 - 3.7*(x1>1.65) + 3.5*(x0>2) + 3.5*(x1>0.8) - 3.2*(x0>4.95)
    """
    if units is not None:
        check_choice("units", units, UNITS)
    check_choice("form", form, FORMS)
    check_count("digits", DIGITS if digits is None else digits, most=MAX_DIGITS)
    models = models_of(source)
    if label is not None or len(models) == 1 or form != "text":
        models = [one_model(source, label, or_else=", or call equations(clf) for all of them")]
    units = units or units_that_fit(models)
    if form == "sympy":
        return _as_sympy(models[0], units, digits)
    if form != "text":
        return _typeset(models[0], form, units, digits, tolerance)
    return _rendered(models, units, digits, tolerance)


def _rendered(models: Sequence[SparseModel], units: str, digits: int | None, tolerance: float | None) -> Rendered:
    """One line for each model, with its class if there are several; a notebook shows them typeset."""
    lines = [_typeset(model, "text", units, digits, tolerance) for model in models]
    if len(models) > 1:
        lines = [f"class {model.label}: {line}" for model, line in zip(models, lines, strict=True)]
    text = Rendered("\n".join(lines))
    text.html = _html(models, units, digits, tolerance)
    return text


def units_that_fit(models: Iterable[SparseModel]) -> str:
    """The user's own units, unless the numbers of a model do not fit into double precision."""
    try:
        for model in models:
            coefficients(model, "original")
    except ValueError:
        return "scaled"
    return "original"


def _typeset(
    model: SparseModel, form: str, units: str, digits: int | None = None, tolerance: float | None = TOLERANCE
) -> str:
    notation = NOTATIONS[form](model.feature_names)
    return notation.equation(_summands(model, notation, units, digits, tolerance))


def _html(
    models: Iterable[SparseModel], units: str, digits: int | None = None, tolerance: float | None = TOLERANCE
) -> str:
    """The equations of some outputs, with the units that they are in."""
    words = {"original": "in the units of the table", "scaled": "features scaled to [0, 1]"}[units]
    return "".join(
        f"<p>Class {escape(str(model.label))}, {words}:<br>{_typeset(model, 'html', units, digits, tolerance)}</p>"
        for model in models
    )


def equations(
    source: Any,
    *,
    units: str | None = None,
    digits: int | None = None,
    form: str = "text",
    tolerance: float | None = TOLERANCE,
) -> dict[object, Any]:
    """The equations of all outputs: one for two classes, else one for each class.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        Whose outputs.
    units, digits, form, tolerance
        As in `equation`.

    Returns
    -------
    dict
        From class to equation. With two classes f > 0 predicts the one that is the key; else the largest f decides.
    """
    return {
        model.label: equation(source, units=units, digits=digits, form=form, tolerance=tolerance, label=model.label)
        for model in models_of(source)
    }


def original_equation(source: Any, form: str = "text", *, label: object = None) -> str | None:
    """The equation in the user's own units; None if its numbers do not fit into double precision."""
    try:
        return str(equation(source, units="original", form=form, label=label))
    except ValueError:
        return None


def formulas_html(models: Iterable[SparseModel]) -> str:
    """The equations of all outputs, with the units that they are in."""
    return "".join(_html([model], units_that_fit([model])) for model in models)


def definitions(source: Any, *, form: str = "text", error: float = 1e-6, label: object = None) -> dict[str, str]:
    """The whole formulas, in the user's own units, of the terms that an equation only names.

    Together with ``equation(source, units="original")`` they are all that it takes to compute f by hand.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    form : {"text", "latex", "html"}, default="text"
        As in `equation`.
    error : float, default=1e-6
        The numbers are rounded so far that the value of a term changes by no more than this within the training
        ranges; 0 writes all digits.
    label : object, optional
        Which class, by default the second of two; for the first, f has the opposite sign.

    Returns
    -------
    dict of str to str
        From the term as the equation writes it to its formula: clusters with all centres and widths, ramps, and waves.
        Empty for products, deviations, hinges and steps, which an equation shows in full.
    """
    model = one_model(source, label)
    check_choice("form", form, tuple(NOTATIONS))
    if not error >= 0.0:
        msg = f"error must be at least 0, got {error!r}."
        raise ValueError(msg)
    short = NOTATIONS[form](model.feature_names)
    full = NOTATIONS[form](model.feature_names, spell_out=True)
    ranges = training_ranges(model)
    found: dict[str, str] = {}
    for raw in (raw for term in model.terms for raw in term.unscaled(model.scaling)):
        # with rounded numbers, or by a label alone
        if raw.label is not None or any(isinstance(node, Exp | Ramp | Wave) for node in nodes_of(raw.expression)):
            name, formula = _written(model, raw, short), full.visit(rounded_expression(raw.expression, error, ranges))
            if formula != name:
                found[name] = formula
    return found


def legend(source: Any, *, units: str = "scaled", ranges: bool = True, label: object = None) -> tuple[str, ...]:
    """How to read the equation of a model, in words.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    units : {"scaled", "original"}, default="scaled"
        Units of the equation that the words belong to.
    ranges : bool, default=True
        Whether to list the training ranges of the features that are scaled.
    label : object, optional
        Which class, by default the second of two; for the first, f has the opposite sign.

    Returns
    -------
    tuple of str
        Sentences; none if the equation needs no words.
    """
    model = one_model(source, label)
    check_choice("units", units, UNITS)
    kinds = {type(node) for term in model.terms for node in nodes_of(term.expression)}
    lines = _explain_scales(model, ranges) if units == "scaled" else []
    return (*lines, *(words for group, words in LEGEND if kinds & set(group)))


def _scaled_features(model: SparseModel, units: str) -> frozenset[int]:
    """Features that the equation writes as ``scaled(age)``: on [0, 1], beside terms that are in the user's own units.

    A feature that runs from 0 to 1, as yes-or-no columns do, is on its own scale already.
    """
    if units != "scaled" or all(term.factors is not None for term in model.terms):
        return frozenset()
    return frozenset(p for p, ends in training_ranges(model).items() if ends != (0.0, 1.0))


def _summands(
    model: SparseModel, notation: Text, units: str, digits: int | None = None, tolerance: float | None = TOLERANCE
) -> list[tuple[bool, str]]:
    """The summands of an equation, each with whether it is negative."""
    shown, parts = DIGITS if digits is None else int(digits), coefficients(model, units)
    share = MINIMA_SHARE if units == "original" and any(map(has_minima, parts)) else 0.0
    if tolerance is not None:
        shown = digits_needed(model, units, shown, (1.0 - share) * tolerance)
    if share:  # the more digits are asked for, the more the minima have
        finer = 10.0 ** min(0, DIGITS - (digits or DIGITS))
        parts = with_short_minima(model, parts, share * finer * (TOLERANCE if tolerance is None else tolerance))
    scaled, found = _scaled_features(model, units), []
    for term, coef in parts.items():
        number = notation.digits(f"{abs(coef):.{shown}g}")
        if term.factors is not None:
            body = notation.features_product(term.factors, scaled)  # empty for the constant
        elif units == "original":
            body = _written(model, term, notation)
        else:
            body = _divided(model, term, notation, shown)
        if coef != 0.0:
            found.append((coef < 0, notation.multiplied([number, body] if body else [number])))
    return found


def equation_lines(model: SparseModel, width: int, units: str) -> list[str]:
    """The equation as plain text, broken before a sign and never inside a term."""
    lines = ["f ="]
    for i, (negative, part) in enumerate(_summands(model, Text(model.feature_names), units)):
        word = f"- {part}" if negative else f"+ {part}" if i else part
        if i and len(lines[-1]) + len(word) + 1 > width:
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}"
    return lines if model.coef.any() else ["f = 0"]


def _divided(model: SparseModel, term: Term, notation: Text, digits: int) -> str:
    """A term in the user's own units, divided by what makes its coefficient the one on [0, 1]."""
    parts = term.unscaled(model.scaling)
    if len(parts) > 1:  # features and other factors, which are multiplied out in the user's own units
        return type(notation)(model.feature_names, scaled=True).factor(term.expression)
    ((raw, weight),) = parts.items()
    body, by = _written(model, raw, notation), 1.0 / weight if weight else math.inf
    if not 0.0 < by < math.inf:  # ranges so extreme that their product is no number
        return notation.call("scaled", body)
    # of more than fifteen digits the last are what subtracting the ends of a range has left
    shown = min(max(digits, DIVISOR_DIGITS), 15)
    return body if by == 1.0 else notation.fraction(body, notation.number(float(f"{by:.{shown}g}")))


def _written(model: SparseModel, raw: Term, notation: Text) -> str:
    """A term in the user's own units as the equation shows it: its name in plain text, else a short formula."""
    expression, name = raw.expression, raw.name(model.feature_names)
    if raw.label is not None:
        return notation.words(name)
    if type(notation) is Text:
        if isinstance(expression, Sum) and as_difference(expression) is None:
            return f"({name})"
        return notation.true(name) if conditions_of(expression) else name
    error = RAMP_ERROR if isinstance(expression, Ramp) else WAVE_ERROR if isinstance(expression, Wave) else 0.0
    return notation.factor(rounded_expression(expression, error, training_ranges(model)))


def _as_sympy(model: SparseModel, units: str, digits: int | None) -> Any:
    """The sum of coefficients times terms, with one symbol for each feature."""
    require("a sympy expression", ["sympy"], "symbolic")
    import sympy

    parts = coefficients(model, units)
    names = {p: model.feature_names[p] for p in sorted({p for term in parts for p in term.features})}
    if len(set(names.values())) < len(names):
        msg = "two features of the model have the same name, so their symbols would be one. Rename the columns first."
        raise ValueError(msg)
    printer = Sympy({p: sympy.Symbol(name, real=True) for p, name in names.items()})
    coef = {term: value if digits is None else float(f"{value:.{digits}g}") for term, value in parts.items()}
    return sympy.Add(*(sympy.Float(coef[term]) * printer.visit(term.expression) for term in parts))


def _explain_scales(model: SparseModel, ranges: bool) -> list[str]:
    """What the [0, 1] scale means for the terms of this model."""
    lines, ends = [], training_ranges(model)
    others = [term for term in model.terms if term.factors is None]
    used = sorted({p for term in model.terms if term.factors is not None for p in term.features})
    used = [p for p in used if not others or p in _scaled_features(model, "scaled")]
    names = {p: quoted(model.feature_names[p]) for p in used}
    listed = ", ".join(f"{names[p]} from {six_digits(ends[p][0])} to {six_digits(ends[p][1])}" for p in used)
    listed = f": {listed}." if ranges else "."
    if used and others:
        lines.append(f"scaled({names[used[0]]}) is {names[used[0]]} scaled to [0, 1] by its training range{listed}")
    elif used:
        lines.append(f"Features are scaled to [0, 1] by their training ranges{listed}")
    unscaled = [term.unscaled(model.scaling) for term in others]
    if any(weight != 1.0 for parts in unscaled if len(parts) == 1 for weight in parts.values()):
        lines.append(
            "Hinges and deviations are in your own units, divided by the training range of the feature, "
            "or by the product of the ranges."
        )
    return lines
