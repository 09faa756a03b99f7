"""The model as one line that a person can read and type into a calculator."""

from __future__ import annotations

import math

from ..model import SparseModel
from ..terms import Term

MAX_DIGITS = 17  # enough for any double
ROUNDING = 0.01  # largest error of f that the written coefficients may cause within the training ranges


def equation(model: SparseModel, *, units: str = "scaled", digits: int = 4) -> str:
    """Write f as a sum of terms.

    Parameters
    ----------
    model : SparseModel
        The model.
    units : {"scaled", "original"}
        Features on [0, 1] with one summand per term, or in the user's own units with products multiplied out.
    digits : int
        Significant digits of the coefficients. More are written where fewer would change f by more than 0.01 somewhere
        within the training ranges: in original units large summands may cancel.

    Returns
    -------
    str
        For instance ``f = 2.5*radius - 31*area^2``.
    """
    check_model(model)
    if units not in ("scaled", "original"):
        msg = f"units must be 'scaled' or 'original', got {units!r}."
        raise ValueError(msg)
    if units == "original":
        parts = model.unscaled()
        needed = _digits_needed(model, parts, digits)
    else:
        parts, needed = dict(zip(model.terms, model.coef.tolist(), strict=True)), digits
    text = ""
    for term, coef in parts.items():
        if coef == 0.0:
            continue
        number = f"{abs(coef):.{needed}g}"
        sign = "- " if coef < 0 else "+ " if text else ""
        name = term.name(model.feature_names) if term.features else ""
        # a comparison binds less than a product
        name = f"*({name})" if ">" in name or "=" in name else f"*{name}" if name else ""
        text += f"{' ' if text else ''}{sign}{number}{name}"
    return "f = " + (text or "0")


def check_model(model: object) -> None:
    """Say what to pass where something else than a model came."""
    if not isinstance(model, SparseModel):
        msg = (
            f"expected a SparseModel, such as clf.models_[0] of a fitted RFSCClassifier, got a {type(model).__name__}."
        )
        raise TypeError(msg)


def _digits_needed(model: SparseModel, parts: dict[Term, float], digits: int) -> int:
    """Fewest digits, at least `digits`, with which rounding the coefficients cannot matter."""
    low, span = 2 * model.scaling.half_minimum, 2 * model.scaling.half_span
    ranges = {p: (float(low[p]), float(low[p] + span[p])) for p in model.features}
    largest = {term: term.bound(ranges) for term in parts}
    if not all(map(math.isfinite, largest.values())):
        return digits  # nothing is known of how far such a term reaches
    for needed in range(digits, MAX_DIGITS):
        error = sum(abs(float(f"{coef:.{needed}g}") - coef) * largest[term] for term, coef in parts.items())
        if error <= ROUNDING:
            return needed
    return MAX_DIGITS
