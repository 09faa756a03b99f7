"""The model as one line that a person can read and type into a calculator."""

from __future__ import annotations

from collections.abc import Mapping

from ..model import SparseModel


def equation(model: SparseModel, *, units: str = "scaled", digits: int = 4) -> str:
    """Write f as a sum of terms.

    Parameters
    ----------
    model : SparseModel
        The model.
    units : {"scaled", "original"}
        Features on [0, 1] with one summand per term, or in the user's own units with products multiplied out.
    digits : int
        Significant digits of the coefficients.

    Returns
    -------
    str
        For instance ``f = 2.5*radius - 31*area^2``.
    """
    if units not in ("scaled", "original"):
        msg = f"units must be 'scaled' or 'original', got {units!r}."
        raise ValueError(msg)
    parts: Mapping[str, float]
    parts = model.unscaled() if units == "original" else dict(zip(model.names, model.coef.tolist(), strict=True))
    text = ""
    for name, coef in parts.items():
        if coef == 0.0:
            continue
        number = f"{abs(coef):.{digits}g}"
        sign = "- " if coef < 0 else "+ " if text else ""
        text += f"{' ' if text else ''}{sign}{number if name == '1' else f'{number}*{name}'}"
    return "f = " + (text or "0")
