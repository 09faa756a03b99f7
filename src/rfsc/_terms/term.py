"""A term of a model: an expression over the scaled features, with a label if the expression does not name it.

A term is saved as nested lists of plain numbers and texts, one list for each node of its expression, so a model file
can be read without knowing from which family a term came. Nothing that is read is ever run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.arrays import FloatArray
from .expression import (
    Condition,
    Divided,
    Exp,
    Expression,
    Number,
    Positive,
    Product,
    Ramp,
    Rows,
    Scaled,
    Sum,
    Wave,
    evaluate,
    features_of,
)
from .naming import name_of, quoted, unscaled
from .scaling import Scaling

LABEL_MARKS = "≈,"  # what could be misread in the name of a feature within a label
MAX_DEPTH = 20  # of an expression that is read
MAX_NODES = 1_000_000  # a square counts what is in it twice, as it is printed
MAX_FACTORS = 12  # plain features of a product: in the user's units each doubles the number of summands


class DamagedTermError(ValueError):
    """What is wrong with the description of a term, in words that show none of its values."""


@dataclass(frozen=True, slots=True)
class Mention:
    """The name of a feature in a label; with a value of it in the user's units, ``age≈61``."""

    feature: int
    value: float | None = None

    def text(self, feature_names: Sequence[str]) -> str:
        """As it stands in the name of a term."""
        name = quoted(feature_names[self.feature], LABEL_MARKS)
        return name if self.value is None else f"{name}≈{self.value:.15g}"


Label = tuple[str | Mention, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a fitted model; independent of the space that it came from."""

    expression: Expression
    label: Label | None = None  # None: the expression says it best

    @property
    def features(self) -> tuple[int, ...]:
        """Indices of the features that the term reads, ascending, each once."""
        return tuple(sorted(features_of(self.expression)))

    @property
    def factors(self) -> tuple[int, ...] | None:
        """Features whose plain product the term is, repeated for powers; () for the constant, None for other terms."""
        if self.expression == Number(1.0):
            return ()
        parts = self.expression.parts if isinstance(self.expression, Product) else (self.expression,)
        found = tuple(part.feature for part in parts if isinstance(part, Scaled))
        return found if len(found) == len(parts) else None

    def name(self, feature_names: Sequence[str]) -> str:
        """How a person writes the term."""
        if self.label is None:
            return name_of(self.expression, feature_names)
        return "".join(part if isinstance(part, str) else part.text(feature_names) for part in self.label)

    def column(self, rows: Rows, n_samples: int) -> FloatArray:
        """Values of the term; `rows` holds the scaled values of every feature that it reads."""
        out = np.empty(n_samples)
        out[:] = evaluate(self.expression, rows)
        return out

    def unscaled(self, scaling: Scaling, *, expand: bool = True) -> dict[Term, float]:
        """The same function of the features in the user's own units, as weights of terms."""
        parts = unscaled(self.expression, scaling, expand=expand)
        return {Term(part, self.label): weight for part, weight in parts.items()}

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists that `from_dict` turns back into an equal term."""
        found: dict[str, Any] = {"expression": _as_list(self.expression)}
        if self.label is not None:
            found["label"] = [part if isinstance(part, str) else [part.feature, part.value] for part in self.label]
        return found

    @classmethod
    def from_dict(cls, d: Any) -> Term:
        """The term that `as_dict` described; a DamagedTermError if there is none."""
        _require(isinstance(d, Mapping) and "expression" in d, "it must be an object with an expression")
        _require(set(d) <= {"expression", "label"}, "it has fields besides expression and label")
        label = d.get("label")
        return cls(_Reader().expression(d["expression"]), None if label is None else _label(label))


def _as_list(node: Expression) -> Any:
    """The expression as nested lists; a plain number stands for itself."""
    match node:
        case Number(value, shown):
            return value if shown is None else ["number", value, shown]
        case Scaled(feature, half_range):
            return ["x", feature, *(half_range or ())]
        case Product((part, other)) if part == other:
            return ["square", _as_list(part)]
        case Sum(parts):
            return ["sum", *map(_as_list, parts)]
        case Product(parts):
            return ["product", *map(_as_list, parts)]
        case Divided(part, by):
            return ["over", _as_list(part), by]
        case Positive(part):
            return ["max0", _as_list(part)]
        case Exp(part):
            return ["exp", _as_list(part)]
        case Ramp(part):
            return ["logistic", _as_list(part)]
        case Wave(kind, part):
            return [kind, _as_list(part)]
        case Condition(part, relation, at, shown):
            return [relation, _as_list(part), at, *([] if shown is None else [shown])]


class _Reader:
    """Reads nested lists as an expression, up to a depth and a number of nodes."""

    FUNCTIONS: Mapping[str, Callable[[Expression], Expression]] = {
        "square": lambda part: Product((part, part)),
        "max0": Positive,
        "exp": Exp,
        "logistic": Ramp,
        "sin": lambda part: Wave("sin", part),
        "cos": lambda part: Wave("cos", part),
    }

    def __init__(self) -> None:
        self._n_nodes = 0

    def expression(self, d: Any, depth: int = 0, times: int = 1) -> Expression:
        """The expression that `_as_list` wrote, which stands `times` times in the formula."""
        self._n_nodes += times
        _require(depth <= MAX_DEPTH and self._n_nodes <= MAX_NODES, "its expression is too deep or too long")
        if not isinstance(d, list):
            return Number(_number(d))
        _require(len(d) >= 2 and isinstance(d[0], str), "a node must be a list of its kind and its parts")
        kind, *rest = d
        match kind, rest:
            case "number", [value, shown]:
                return Number(_number(value), _number(shown))
            case "x", [feature]:
                return Scaled(_feature(feature))
            case "x", [feature, low, span]:
                return Scaled(_feature(feature), (_number(low), _positive(span)))
            case "sum", parts:
                return Sum(tuple(self.expression(part, depth + 1, times) for part in parts))
            case "product", parts if len(parts) > 1:  # a product of one part has no name
                n_plain = sum(isinstance(part, list) and part[:1] == ["x"] for part in parts)
                _require(n_plain <= MAX_FACTORS, f"a product has more than {MAX_FACTORS} features")
                return Product(tuple(self.expression(part, depth + 1, times) for part in parts))
            case "over", [part, by]:
                return Divided(self.expression(part, depth + 1, times), _positive(by))
            case ((">" | "<=" | "="), [part, at, *shown]) if len(shown) <= 1:
                return Condition(self.expression(part, depth + 1, times), kind, _number(at), *map(_number, shown))
        _require(kind in self.FUNCTIONS and len(rest) == 1, "a node is of an unknown kind or has too many parts")
        return self.FUNCTIONS[kind](self.expression(rest[0], depth + 1, 2 * times if kind == "square" else times))


def _label(d: Any) -> Label:
    """The label that `as_dict` wrote."""
    _require(isinstance(d, list), "its label must be a list")
    parts: list[str | Mention] = []
    for part in d:
        is_mention = isinstance(part, list) and len(part) == 2
        _require(isinstance(part, str) or is_mention, "a part of its label must be a text, or a feature and a value")
        parts.append(Mention(_feature(part[0]), None if part[1] is None else _number(part[1])) if is_mention else part)
    return tuple(parts)


def _number(d: Any) -> float:
    _require(type(d) in (int, float), "a number is missing")
    try:
        value = float(d)
    except OverflowError:
        value = math.inf
    _require(math.isfinite(value), "every number must be finite")
    return value


def _positive(d: Any) -> float:
    _require(_number(d) > 0.0, "a divisor or a range must be positive")
    return _number(d)


def _feature(d: Any) -> int:
    _require(type(d) is int and d >= 0, "a feature must be a whole number from 0 on")
    return int(d)


def _require(condition: bool, why: str) -> None:
    if not condition:
        msg = f"in the description of a term, {why}"
        raise DamagedTermError(msg)
