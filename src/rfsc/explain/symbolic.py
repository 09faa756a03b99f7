"""A model as a sympy expression, to differentiate, simplify or typeset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._model import SparseModel
from .._terms import Term
from .._terms.expression import (
    Above,
    Divided,
    Equals,
    Exp,
    Expression,
    Number,
    Positive,
    Product,
    Ramp,
    Scaled,
    Sum,
    Wave,
)
from .._utils.optional import require


def symbolic(model: SparseModel, parts: Mapping[Term, float], digits: int | None = None) -> Any:
    """The sum of coefficients times terms, with one symbol for each feature."""
    require("a sympy expression", ["sympy"], "symbolic")
    import sympy

    names = {p: model.feature_names[p] for p in sorted({p for term in parts for p in term.features})}
    if len(set(names.values())) < len(names):
        msg = "two features of the model have the same name, so their symbols would be one. Rename the columns first."
        raise ValueError(msg)
    symbols = {p: sympy.Symbol(name, real=True) for p, name in names.items()}
    coef = {term: value if digits is None else float(f"{value:.{digits}g}") for term, value in parts.items()}
    return sympy.Add(*(sympy.Float(coef[term]) * _tree(term.expression, symbols) for term in parts))


def _tree(node: Expression, symbols: Mapping[int, Any]) -> Any:
    """The same tree out of sympy's nodes."""
    import sympy

    match node:
        case Number(value):
            return sympy.Integer(int(value)) if value in (1.0, -1.0) else sympy.Float(value)
        case Scaled(feature):
            return symbols[feature]
        case Sum(parts):
            return sympy.Add(*(_tree(part, symbols) for part in parts))
        case Product(parts):
            return sympy.Mul(*(_tree(part, symbols) for part in parts))
        case Divided(part, by):
            return _tree(part, symbols) / sympy.Float(by)
        case Positive(part):
            return sympy.Max(0, _tree(part, symbols))
        case Exp(part):
            return sympy.exp(_tree(part, symbols), evaluate=False)
        case Ramp(part):
            # sympy would take the offset of a steep ramp out of the exponential, and lose it in a float that overflows
            return 1 / (1 + sympy.exp(-_tree(part, symbols), evaluate=False))
        case Wave(kind, part):
            return (sympy.sin if kind == "sin" else sympy.cos)(_tree(part, symbols))
        case Above(part, knot):
            return sympy.Piecewise((1, _tree(part, symbols) > sympy.Float(knot)), (0, True))
        case Equals(part, level):
            return sympy.Piecewise((1, sympy.Eq(_tree(part, symbols), sympy.Float(level))), (0, True))
