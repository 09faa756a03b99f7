"""What a term computes, as a tree of a dozen kinds of nodes: the one thing that every code generator prints.

In a model all features are on [0, 1]. The nodes are the very operations of `Term.column`, in the same order, so that
what is generated from them agrees with the model to the last bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add, mul

import numpy as np
from scipy.special import expit

from .._utils.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Scaled:
    """The feature of this index as the term reads it: in a model, scaled to [0, 1] by its training range."""

    feature: int


@dataclass(frozen=True, slots=True)
class Sum:
    """The parts added from left to right; at least one."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The parts multiplied from left to right; at least one."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Divided:
    """A part over a positive number."""

    part: Expression
    by: float


@dataclass(frozen=True, slots=True)
class Positive:
    """max(0, part)."""

    part: Expression


@dataclass(frozen=True, slots=True)
class Exp:
    """The exponential of a part that is never above zero."""

    part: Expression


@dataclass(frozen=True, slots=True)
class Ramp:
    """1 / (1 + exp(-part))."""

    part: Expression


@dataclass(frozen=True, slots=True)
class Wave:
    """The sine or cosine of a part; `kind` is "sin" or "cos"."""

    kind: str
    part: Expression


@dataclass(frozen=True, slots=True)
class Above:
    """1 where a part exceeds the knot, else 0."""

    part: Expression
    knot: float


@dataclass(frozen=True, slots=True)
class Equals:
    """1 where a part is exactly the level, else 0."""

    part: Expression
    level: float


Expression = Number | Scaled | Sum | Product | Divided | Positive | Exp | Ramp | Wave | Above | Equals


def minus(part: Expression, number: float) -> Expression:
    """The part less a number."""
    return Sum((part, Number(-number)))


def evaluate(expression: Expression, rows: Mapping[int, FloatArray]) -> FloatArray:
    """Values of an expression."""
    return np.asarray(_value(expression, rows), dtype=np.float64)


def _value(node: Expression, rows: Mapping[int, FloatArray]) -> FloatArray | float:
    with np.errstate(over="ignore"):  # infinitely far from a bump is exp(-inf) = 0
        match node:
            case Number(value):
                return value
            case Scaled(feature):
                return rows[feature]
            case Sum(parts):
                return reduce(add, (_value(part, rows) for part in parts))
            case Product(parts):
                return reduce(mul, (_value(part, rows) for part in parts))
            case Divided(part, by):
                return _value(part, rows) / by
            case Positive(part):
                return np.maximum(_value(part, rows), 0.0)
            case Exp(part):
                return np.asarray(np.exp(_value(part, rows)))
            case Ramp(part):
                return np.asarray(expit(_value(part, rows)))
            case Wave(kind, part):
                return np.asarray((np.sin if kind == "sin" else np.cos)(_value(part, rows)))
            case Above(part, knot):
                return np.asarray(_value(part, rows) > knot, dtype=np.float64)
            case Equals(part, level):
                return np.asarray(_value(part, rows) == level, dtype=np.float64)
