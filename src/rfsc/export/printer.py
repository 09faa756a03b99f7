"""Expressions as text, and what else the languages have in common: labels, comments, gaps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from .._model.recipe import LevelOf, MissingIn, NumberOf
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
from .program import Program

LONGEST = 80  # characters of a name that a comment shows


class Printer(ABC):
    """Writes expressions as most languages do; a subclass says what is different in its own.

    Parameters
    ----------
    scaled : mapping of int to str
        What stands for the scaled value of each feature: a variable, a column, a cell.
    """

    def __init__(self, scaled: Mapping[int, str]) -> None:
        self.scaled = scaled

    def number(self, value: float) -> str:
        """A constant with all its digits."""
        return repr(float(value))

    @abstractmethod
    def positive(self, part: str) -> str:
        """max(0, part)."""

    def exp(self, part: str) -> str:
        """The exponential of what is never above zero."""
        return f"exp({part})"

    @abstractmethod
    def ramp(self, part: Expression) -> str:
        """1 / (1 + exp(-part))."""

    def wave(self, kind: str, part: str) -> str:
        """Sine or cosine."""
        return f"{kind}({part})"

    @abstractmethod
    def choose(self, condition: str) -> str:
        """1 where a condition holds, else 0."""

    def same(self, left: str, right: str) -> str:
        """The condition that two numbers are equal."""
        return f"{left} == {right}"

    def product(self, parts: tuple[Expression, ...]) -> str:
        """The parts multiplied from left to right; a first -1 becomes a sign."""
        first, rest = parts[0], parts[1:]
        if first == Number(-1.0):
            return "-" + (self.operand(rest[0]) if len(rest) == 1 else f"({self.product(rest)})")
        # a sign in front of the whole product needs no brackets
        head = self.number(first.value) if isinstance(first, Number) else self.operand(first)
        return " * ".join([head, *map(self.operand, rest)])

    def text(self, node: Expression) -> str:
        """The expression, to stand alone or within brackets."""
        match bare(node):
            case Number(value):
                return self.number(value)
            case Scaled(feature):
                return self.scaled[feature]
            case Sum(parts):
                return " ".join(self.summands(parts))
            case Product(parts):
                return self.product(parts)
            case Divided(part, by):
                return f"{self.operand(part)} / {self.number(by)}"
            case Positive(part):
                return self.positive(self.text(part))
            case Exp(part):
                return self.exp(self.text(part))
            case Ramp(part):
                return self.ramp(part)
            case Wave(kind, part):
                return self.wave(kind, self.text(part))
            case Above(part, knot):
                return self.choose(f"{self.operand(part)} > {self.number(knot)}")
            case Equals(part, level):
                return self.choose(self.same(self.operand(part), self.number(level)))

    def operand(self, node: Expression) -> str:
        """The expression, to be multiplied, divided or compared: in brackets where it could be torn apart."""
        node, text = bare(node), self.text(node)
        return f"({text})" if isinstance(node, Sum | Product | Divided) or text.startswith("-") else text

    def summands(self, parts: Iterable[Expression]) -> list[str]:
        """The parts of a sum, each but the first with its sign in front."""
        out: list[str] = []
        for part in map(bare, parts):
            sign, size = _split_sign(part) if out else ("", part)
            text = f"({self.text(size)})" if isinstance(size, Sum) and out else self.text(size)
            out.append(f"{sign} {text}" if out else text)
        return out

    def output(self, program: Program, output: int) -> list[str]:
        """The summands of one output, one for each of its terms."""
        return self.summands(weighted_terms(program, output)) or [self.number(0.0)]


def weighted_terms(program: Program, output: int) -> list[Expression]:
    """The terms of one output, each times its coefficient."""
    pairs = program.outputs[output]
    return [Number(coef) if part == Number(1.0) else Product((Number(coef), bare(part))) for coef, part in pairs]


def bare(node: Expression) -> Expression:
    """The expression without sums and products of one part; adding zero is left out too, for it changes nothing."""
    match node:
        case Sum(parts):
            kept = tuple(part for part in parts if part != Number(0.0)) or parts[:1]
            return bare(kept[0]) if len(kept) == 1 else Sum(kept)
        case Product((part,)):
            return bare(part)
        case _:
            return node


def _split_sign(part: Expression) -> tuple[str, Expression]:
    """Sign and size of a summand: a minus where a negative number stands alone or leads a product."""
    match part:
        case Number(value) if value < 0:
            return "-", Number(-value)
        case Product((Number(value), *rest)) if value < 0:
            return "-", bare(Product(tuple(rest))) if value == -1.0 else Product((Number(-value), *rest))
        case _:
            return "+", part


def features_used(program: Program) -> list[int]:
    """Features that some output reads, ascending."""
    return sorted({p for used in program.used for p in used})


def is_indicator(program: Program, feature: int) -> bool:
    """Whether a feature is 0 or 1 and so already what scaling would make of it."""
    low, span = program.scaling.half_minimum[feature], program.scaling.half_span[feature]
    return isinstance(program.features[feature], MissingIn | LevelOf) and low == 0.0 and span == 0.5


def may_be_missing(program: Program, feature: int) -> bool:
    """Whether a missing cell leaves the feature missing."""
    made = program.features[feature]
    return isinstance(made, NumberOf) and made.fill is None


def possible_levels(program: Program, made: LevelOf) -> list[str | float]:
    """Those of the levels that a cell of the column can be: texts of a text column, else numbers."""
    kind = str if program.columns[made.column].kind == "text" else float
    return [level for level in made.levels if isinstance(level, kind)]


def output_labels(program: Program) -> tuple[Any, ...]:
    """The class that every output speaks for."""
    return program.classes[1:] if len(program.outputs) == 1 else program.classes


def plain_label(label: Any) -> str | int | float | bool:
    """A label as languages know it; what is neither a number nor a text is written as text."""
    return label if isinstance(label, str | int | float) and label == label else str(label)


def one_line(text: str) -> str:
    """A text for a comment: on one line, not too long, and without what could end a comment, open one or go on."""
    shown = text if len(text) <= LONGEST else text[:LONGEST] + "..."
    shown = "".join(letter if letter.isprintable() else " " for letter in shown)
    for bad, good in (("\\", "/"), ("*/", "* /"), ("/*", "/ *"), ("--", "- -"), ("??", "? ?")):
        while bad in shown:
            shown = shown.replace(bad, good)
    return shown
