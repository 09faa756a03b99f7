"""A model as a text table: terms, coefficients, standard errors, p-values."""

from __future__ import annotations

from ..model import SparseModel
from ..terms import Monomial
from .equation import check_model, equation

OTHER_UNITS = (
    "(numbers inside hinges, deviations, steps, ramps and clusters are in your own units; their values are scaled too)"
)


def summary(model: SparseModel) -> str:
    """Equation, table of terms and features of a model, as plain text.

    Parameters
    ----------
    model : SparseModel
        The model.

    Returns
    -------
    str
        Several lines.
    """
    check_model(model)
    used = [model.feature_names[p] for p in model.features]
    lines = [
        f"f > 0 speaks for class {model.label}; features are scaled to [0, 1] by their training range",
        *([] if all(isinstance(term, Monomial) for term in model.terms) else [OTHER_UNITS]),
        "",
        *_wrap(equation(model)),
        "",
        *_table(model),
        "",
        f"{len(model.terms)} terms of {len(used)} features: " + ", ".join(used),
    ]
    return "\n".join(lines)


def _table(model: SparseModel) -> list[str]:
    width = max([len(name) for name in model.names] + [4])
    head = f"{'term':<{width}}  {'coef':>10}"
    if model.standard_error is None or model.p_value is None:
        rows = [f"{name:<{width}}  {coef:>10.4g}" for name, coef in zip(model.names, model.coef, strict=True)]
        return [head, "-" * len(head), *rows, "(an average of several models: standard errors do not apply)"]
    head += f"  {'std. error':>10}  {'p-value':>9}"
    rows = [
        f"{name:<{width}}  {coef:>10.4g}  {se:>10.4g}  {p:>9.2g}"
        for name, coef, se, p in zip(model.names, model.coef, model.standard_error, model.p_value, strict=True)
    ]
    note = "(p-values take the terms as given; the search that found them makes them look smaller than they are)"
    return [head, "-" * len(head), *rows, note]


def _wrap(text: str, width: int = 100) -> list[str]:
    """Break before a sign, never inside a term."""
    lines = [""]
    for word in text.replace(" + ", "\n+ ").replace(" - ", "\n- ").split("\n"):
        if lines[-1] and len(lines[-1]) + len(word) + 1 > width:
            lines.append("    " + word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return lines
