"""One way through an expression, with a method for each kind of node: whatever prints an expression is a subclass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from .expression import (
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

T = TypeVar("T")


class Visitor(ABC, Generic[T]):
    """Turns an expression into text, or into nodes of another library."""

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
            case Above(part, knot):
                return self.above(part, knot)
            case Equals(part, level):
                return self.equals(part, level)

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
    def above(self, part: Expression, knot: float) -> T:
        """1 if a part exceeds the knot, else 0."""

    @abstractmethod
    def equals(self, part: Expression, level: float) -> T:
        """1 if a part is exactly the level, else 0."""


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
