"""What a term computes, as a tree of a dozen kinds of nodes: what is evaluated, bounded, saved and printed.

In a model all features are on [0, 1]. Numbers may carry what stands in their place in the user's own units, for names
and for formulas over unscaled features; these annotations change nothing of what is computed, so two expressions that
differ only in them are equal.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add, eq, gt, le, mul
from typing import Generic, TypeVar

import numpy as np
from scipy.special import expit

from .._utils.arrays import FloatArray

T = TypeVar("T")
Interval = tuple[float, float]
RELATIONS = {">": gt, "<=": le, "=": eq}
ROUNDING = 1e-9  # relative, of exponentials and logistic functions, by which their bounds are widened


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float
    shown: float | None = field(default=None, compare=False)  # the same number over features in the user's units


@dataclass(frozen=True, slots=True)
class Scaled:
    """The feature of this index as the term reads it: in a model, scaled to [0, 1] by its training range."""

    feature: int
    # half the minimum and half the range in the user's units, as `Scaling` holds them, if the name needs them
    half_range: tuple[float, float] | None = field(default=None, compare=False)


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
class Condition:
    """1 if a part is above a number, at most the number, or exactly the number, else 0."""

    part: Expression
    relation: str  # one of RELATIONS
    at: float
    shown: float | None = field(default=None, compare=False)  # the number in the user's units


Expression = Number | Scaled | Sum | Product | Divided | Positive | Exp | Ramp | Wave | Condition


def product(*parts: Expression) -> Expression:
    """The parts multiplied; a single one stands alone, and none are the constant 1."""
    return Product(parts) if len(parts) > 1 else parts[0] if parts else Number(1.0)


def minus(part: Expression, number: float, shown: float | None = None) -> Expression:
    """The part less a number; `shown` is the number in the user's units."""
    return Sum((part, Number(-number, None if shown is None else -shown)))


def falling(part: Expression, number: float, shown: float | None = None) -> Expression:
    """A number less the part; `shown` is the number in the user's units."""
    return Sum((Product((Number(-1.0), part)), Number(number, shown)))


def as_difference(node: Expression) -> tuple[Scaled, int, Number] | None:
    """Feature, sign and number of an expression that `minus` or `falling` made of a feature; None for others."""
    match node:
        case Sum((Scaled() as x, Number() as number)):
            return x, 1, number
        case Sum((Product((Number(-1.0), Scaled() as x)), Number() as number)):
            return x, -1, number
    return None


def as_line(node: Expression) -> tuple[Number, list[tuple[Number, Scaled]]] | None:
    """Offset and slopes of a sum of a number and multiples of features, in this order; None for others."""
    match node:
        case Sum((Number() as offset, *rest)):
            pairs = [part.parts for part in rest if isinstance(part, Product)]
            slopes = [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]
            found = [(a, x) for a, x in slopes if isinstance(a, Number) and isinstance(x, Scaled)]
            return (offset, found) if found and len(found) == len(rest) else None
    return None


def conditions_of(node: Expression) -> tuple[Condition, ...]:
    """The conditions that all hold where an expression is 1; empty if it is no product of conditions."""
    parts = node.parts if isinstance(node, Product) else (node,)
    found = tuple(part for part in parts if isinstance(part, Condition))
    return found if len(found) == len(parts) else ()


def with_intervals(conditions: Sequence[Condition]) -> list[tuple[Condition, ...]]:
    """The conditions one by one, but x > a together with a next one x <= b."""
    found: list[tuple[Condition, ...]] = []
    for one in conditions:
        match found[-1:], one:
            case [(Condition(x, ">") as low,)], Condition(y, "<=") if x == y:
                found[-1] = (low, one)
            case _:
                found.append((one,))
    return found


def parts_of(node: Expression) -> tuple[Expression, ...]:
    """The expressions directly below a node."""
    match node:
        case Sum(parts) | Product(parts):
            return parts
        case Number() | Scaled():
            return ()
    return (node.part,)


def nodes_of(node: Expression) -> list[Expression]:
    """An expression and all that it is made of."""
    return [node, *(inner for part in parts_of(node) for inner in nodes_of(part))]


def features_of(node: Expression) -> set[int]:
    """Features that an expression reads."""
    if isinstance(node, Scaled):
        return {node.feature}
    return set().union(*(features_of(part) for part in parts_of(node)))


Rows = Mapping[int, FloatArray] | FloatArray  # values of every feature that is read, by its index


def evaluate(expression: Expression, rows: Rows) -> FloatArray:
    """Values of an expression."""
    with np.errstate(over="ignore"):  # infinitely far from a centre is exp(-inf) = 0
        return np.asarray(_value(expression, rows), dtype=np.float64)


def _value(node: Expression, rows: Rows) -> FloatArray | float:
    match node:
        case Number(value):
            return value
        case Scaled(feature):
            return rows[feature]
        case Sum(parts):
            return reduce(add, (_value(part, rows) for part in parts))
        case Product((part, same)) if part is same:  # squares of distances, computed once
            root = _value(part, rows)
            return root * root
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
        case Condition(part, relation, at):
            return np.asarray(RELATIONS[relation](_value(part, rows), at), dtype=np.float64)


def bound(node: Expression, ranges: Mapping[int, Interval]) -> float:
    """A number that the absolute value of an expression does not exceed if every feature is within its range.

    Rounding is monotone, so bounds that are computed by the operations of `evaluate`, in their order, hold for what
    it computes and not only for exact numbers.
    """
    if isinstance(node, Product):
        return math.prod(bound(part, ranges) for part in node.parts)
    return max(map(abs, interval(node, ranges)))


def interval(node: Expression, ranges: Mapping[int, Interval]) -> Interval:
    """Lowest and highest value of an expression if every feature is within its range, by interval arithmetic."""
    match node:
        case Number(value):
            return value, value
        case Scaled(feature):
            return ranges[feature]
        case Sum(parts):
            ends = [interval(part, ranges) for part in parts]
            return reduce(add, (low for low, _ in ends)), reduce(add, (high for _, high in ends))
        case Product(parts):
            powers = [_power(interval(part, ranges), times) for part, times in Counter(parts).items()]
            return reduce(_times, powers)
        case Wave():
            return -1.0, 1.0
    low, high = interval(node.part, ranges)
    match node:
        case Divided(_, by):
            return low / by, high / by
        case Positive():
            return max(low, 0.0), max(high, 0.0)
        case Exp():
            return _widened(float(np.exp(min(low, 0.0))), float(np.exp(min(high, 0.0))))
        case Ramp():
            return _widened(float(expit(low)), float(expit(high)))
        case Condition(_, "=", at):
            return float(low == at == high), float(low <= at <= high)
        case Condition(_, relation, at):
            first, last = (float(RELATIONS[relation](end, at)) for end in (low, high))
            return min(first, last), max(first, last)


def _power(ends: Interval, times: int) -> Interval:
    """Of the same value multiplied several times: a square is never negative."""
    low, high = ends
    if times % 2 == 0:
        low, high = (0.0 if low <= 0.0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    return math.prod([low] * times), math.prod([high] * times)


def _times(one: Interval, other: Interval) -> Interval:
    ends = [a * b if a and b else 0.0 for a in one for b in other]  # zero times infinity is no number
    return min(ends), max(ends)


def _widened(low: float, high: float) -> Interval:
    """Bounds of a value between 0 and 1, for functions that libraries do not round in one and the same way."""
    return low * (1.0 - ROUNDING), min(1.0, high * (1.0 + ROUNDING) + sys.float_info.min)


class Visitor(ABC, Generic[T]):
    """Turns an expression into text, or into nodes of another library: whatever prints expressions is a subclass."""

    def visit(self, node: Expression) -> T:
        """What the expression becomes."""
        match bare(node):
            case Number(value):
                return self.number(value)
            case Scaled(feature):
                return self.feature(feature)
            case Sum(parts):
                return self.total(parts)
            case Product(parts):
                return self.product(parts)
            case Divided(part, by):
                return self.quotient(part, by)
            case Positive(part):
                return self.positive(part)
            case Exp(part):
                return self.exp(part)
            case Ramp(part):
                return self.ramp(part)
            case Wave(kind, part):
                return self.wave(kind, part)
            case Condition(part, relation, at):
                return self.condition(part, relation, at)

    @abstractmethod
    def number(self, value: float) -> T:
        """A constant."""

    @abstractmethod
    def feature(self, feature: int) -> T:
        """The value of a feature."""

    @abstractmethod
    def total(self, parts: tuple[Expression, ...]) -> T:
        """The parts added from left to right; at least two."""

    @abstractmethod
    def product(self, parts: tuple[Expression, ...]) -> T:
        """The parts multiplied from left to right; at least two."""

    @abstractmethod
    def quotient(self, part: Expression, by: float) -> T:
        """A part over a positive number."""

    @abstractmethod
    def positive(self, part: Expression) -> T:
        """max(0, part)."""

    @abstractmethod
    def exp(self, part: Expression) -> T:
        """The exponential of a part that is never above zero."""

    @abstractmethod
    def ramp(self, part: Expression) -> T:
        """1 / (1 + exp(-part))."""

    @abstractmethod
    def wave(self, kind: str, part: Expression) -> T:
        """The sine ("sin") or cosine ("cos") of a part."""

    @abstractmethod
    def condition(self, part: Expression, relation: str, at: float) -> T:
        """1 if a part stands in this relation to a number, else 0."""


def bare(node: Expression) -> Expression:
    """The expression without sums and products of one part, and without adding zero, which changes nothing."""
    match node:
        case Sum(parts):
            kept = tuple(part for part in parts if part != Number(0.0)) or parts[:1]
            return bare(kept[0]) if len(kept) == 1 else Sum(kept)
        case Product((part,)):
            return bare(part)
        case _:
            return node


def without_sign(node: Expression) -> tuple[bool, Expression]:
    """Whether a number or a leading factor is negative, and the expression without that sign."""
    match node:
        case Number(value) if value < 0:
            return True, Number(-value)
        case Product((Number(value), *rest)) if value < 0:
            return True, bare(Product(tuple(rest) if value == -1.0 else (Number(-value), *rest)))
    return False, node
