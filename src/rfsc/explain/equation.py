"""The model as a formula that a person can read, typeset, or type into a calculator."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, Literal, overload

from .._model import SparseModel
from .._model.access import models_of
from .._terms import Term
from .checks import check_units, check_word, one_model
from .definitions import marked
from .formulas import write
from .notation import NOTATIONS, Text
from .rounding import check_digits, coefficients, digits_needed
from .symbolic import symbolic

DIGITS = 4
DIVISOR_DIGITS = 6  # more than coefficients have, so that they do not add to the error of these
FORMS = ("text", "latex", "html", "sympy")


@overload
def equation(
    source: Any,
    *,
    units: str = ...,
    digits: int | None = ...,
    form: Literal["text", "latex", "html"] = ...,
    tolerance: float | None = ...,
    label: object = ...,
) -> str: ...
@overload
def equation(
    source: Any,
    *,
    units: str = ...,
    digits: int | None = ...,
    form: str,
    tolerance: float | None = ...,
    label: object = ...,
) -> Any: ...
def equation(
    source: Any,
    *,
    units: str = "scaled",
    digits: int | None = None,
    form: str = "text",
    tolerance: float | None = 0.01,
    label: object = None,
) -> Any:
    """Write f as a sum of terms.

    In scaled units a feature in a product stands for its value on [0, 1], by its training range. Where the model holds
    other terms too, such features are written ``scaled(age)``, for everything else is in the user's own units: the
    coefficient of a hinge or a product of deviations is still the one on [0, 1], and what the term must be divided
    by for it to be true is written behind it, ``3.2*max(0, age-52)/60``. What is not spelled out (ramps, bumps, the
    digits of waves) is in `definitions`.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it. A pipeline that shifts and scales its numbers is told in the units of the raw
        table.
    units : {"scaled", "original"}, default="scaled"
        Features on [0, 1] with one summand per term, or in the user's own units with products multiplied out.
    digits : int, optional
        Significant digits of the coefficients; by default 4, and all of them for sympy.
    form : {"text", "latex", "html", "sympy"}, default="text"
        LaTeX is for math mode with the amsmath package, without dollars around it, and one line for each summand from
        four on. In HTML and LaTeX the names of features are escaped. sympy gives an expression with one symbol for
        each feature, named as the feature is; in scaled units the symbols, and so the knots, are on [0, 1].
    tolerance : float or None, default=0.01
        More digits are written where fewer would change f by more than this somewhere within the training ranges: in
        original units large summands may cancel. None writes no more than `digits`; `rounded` tells what that costs.
    label : object, optional
        Which class, where the source has an output for each of several.

    Returns
    -------
    str or sympy.Expr
        For instance ``f = 2.5*radius - 31*area^2``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(y == 1, "versicolor", "other")
    >>> clf = RFSCClassifier(basis="step", n_restarts=2, max_iter=60, random_state=0).fit(X[:, 2:], y)
    >>> print(equation(clf, digits=2, tolerance=None))
    f = - 4.1 - 3.7*(x1>1.65) + 3.5*(x0>2) + 3.5*(x1>0.8) - 3.2*(x0>4.95)
    """
    model = one_model(source, label)
    check_units(units)
    check_word("form", form, FORMS)
    if digits is not None:
        check_digits(digits)
    if form == "sympy":
        return symbolic(model, coefficients(model, units), digits)
    to = NOTATIONS[form]
    return to.total(summands(model, to, units=units, digits=digits, tolerance=tolerance))


def summands(
    model: SparseModel,
    to: Text,
    *,
    units: str = "scaled",
    digits: int | None = None,
    tolerance: float | None = 0.01,
) -> list[tuple[bool, str]]:
    """The summands of an equation, each with whether it is negative."""
    shown = DIGITS if digits is None else int(digits)
    if tolerance is not None:
        shown = digits_needed(model, units, shown, tolerance)
    mark = marked(model, units)
    return [
        (coef < 0, _summand(model, term, abs(coef), shown, to, units=units, mark=mark))
        for term, coef in coefficients(model, units).items()
        if coef != 0.0
    ]


def equations(
    source: Any,
    *,
    units: str = "scaled",
    digits: int | None = None,
    form: str = "text",
    tolerance: float | None = 0.01,
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
        From the class that f > 0 speaks for to the equation.
    """
    return {
        model.label: equation(source, units=units, digits=digits, form=form, tolerance=tolerance, label=model.label)
        for model in models_of(source)
    }


def _summand(
    model: SparseModel, term: Term, coef: float, digits: int, to: Text, *, units: str, mark: Collection[int]
) -> str:
    """A coefficient times a term, divided by what makes it true in scaled units."""
    number, body = to.digits(f"{coef:.{digits}g}"), write(term, model.feature_names, to, mark=mark)
    if not body:
        return number
    if units == "scaled" and term.factors is None:
        by = _divisor(model, term)
        if not 0.0 < by < math.inf:  # ranges so extreme that it is no number
            body = to.call("scaled", body)
        elif by != 1.0:
            # of more than fifteen digits the last are what subtracting the ends of a range has left
            body = to.quotient(body, to.number(float(f"{by:.{min(max(digits, DIVISOR_DIGITS), 15)}g}")))
    return to.product([number, body])


def _divisor(model: SparseModel, term: Term) -> float:
    """What a term in the user's own units is divided by on [0, 1]."""
    (weight,) = term.unscaled(model.scaling).values()
    return 1.0 / weight if weight else math.inf
