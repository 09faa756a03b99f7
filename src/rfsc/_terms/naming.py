"""How terms are written for people: numbers, names of features, and the expression in the user's own units."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

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
    as_difference,
    as_line,
    product,
)

FORMULA_MARKS = "*^+-/<>=[]"  # what could be misread in the name of a feature within a product
NUMBER_MARKS = "*^+-/()[]<>=,"  # the same next to numbers and brackets
SUM_MARKS = "*^+-"  # the same within a sum
FEWEST_DIGITS, MAX_DIGITS = 3, 17  # of a rounded number in a name; 17 digits distinguish any two doubles


def quoted(name: str, marks: str = FORMULA_MARKS) -> str:
    """The name of a feature, in brackets if a formula could be misread: ``[a*b]``, ``[a-b]``, ``[52]``, ``[]``."""
    is_number = name.replace(".", "", 1).isdigit()
    return f"[{name}]" if not name.strip() or is_number or any(mark in name for mark in marks) else name


def label(name: str) -> str:
    """The name of a feature beside numbers and brackets."""
    return quoted(name, NUMBER_MARKS)


def written(value: float) -> str:
    """The shortest text that reads back as the same number, without a trailing ``.0``."""
    return repr(float(value)).removesuffix(".0")


def rounded(value: float, error: float) -> float:
    """`value` with three digits, or as many more as it takes to come within `error`; next to nothing becomes 0."""
    if abs(value) <= error * 1e-4:  # what rounding has left of a zero
        return 0.0
    for digits in range(FEWEST_DIGITS, MAX_DIGITS):
        short = float(f"{value:.{digits}g}")
        if abs(short - value) <= error:
            return short
    return value


def as_wave(node: Expression) -> tuple[str, int, int, float, float] | None:
    """Kind, frequency, feature, half minimum and half range of a wave over the range of a feature; None for others.

    The feature is on [0, 1] and knows its range, or is brought there within the wave.
    """
    match node:
        case Wave(kind, Product((Number(angle), Scaled(p, (low, span))))):
            pass
        case Wave(kind, Product((Number(angle), Divided(Sum((Divided(Scaled(p), 2.0), Number(minus))), span)))):
            low = -minus
        case _:
            return None
    frequency = round(angle / math.pi)
    return (kind, frequency, p, low, span) if frequency >= 1 and angle == math.pi * frequency else None


def name_of(node: Expression, names: Sequence[str]) -> str:
    """The name of a term, such as ``age*bmi^2``, ``(age-52)*(bmi-27)`` or ``max(0, age-52)``."""
    parts = node.parts if isinstance(node, Product) else (node,)
    if len(parts) == 1 and not isinstance(node, Scaled) and as_difference(node) is None:
        return _text(node, names)
    return "*".join(_factor(part, names) + (f"^{k}" if k > 1 else "") for part, k in Counter(parts).items())


def _factor(node: Expression, names: Sequence[str]) -> str:
    """An expression that is multiplied, divided or compared."""
    match node:
        case Scaled(p):
            return quoted(names[p])
        case Sum() | Product() | Divided() | Above() | Equals():
            difference = as_difference(node)
            # a deviation from zero keeps its zero: without it, the feature would be the one on [0, 1]
            if difference is not None and difference[1] > 0 and not _shown(difference[2]):
                return f"({label(names[difference[0].feature])}-0)"
            return f"({_text(node, names)})"
    return _text(node, names)


def _text(node: Expression, names: Sequence[str]) -> str:
    """An expression that stands alone."""
    match node:
        case Number():
            return written(_shown(node))
        case Scaled(p):
            return label(names[p])
        case Sum(parts):
            return _difference(node, names) or _sum([_summand(part, names) for part in parts])
        case Product():
            return name_of(node, names)
        case Divided(part, by):
            return f"{_factor(part, names)}/{written(by)}"
        case Positive(part):
            return f"max(0, {_text(part, names)})"
        case Exp(part):
            return f"exp({_text(part, names)})"
        case Ramp(part):
            return f"ramp({_line(part, names) or _text(part, names)})"
        case Wave(kind, part):
            return f"{kind}({_angle(node, names) or _text(part, names)})"
        case Above(part, knot, shown):
            return f"{_compared(part, names)}>{written(knot if shown is None else shown)}"
        case Equals(part, level, shown):
            return f"{_compared(part, names)}={written(level if shown is None else shown)}"


def _summand(node: Expression, names: Sequence[str]) -> str:
    """An expression that is added; a factor -1 becomes a sign."""
    match node:
        case Sum():
            return f"({_text(node, names)})"
        case Product((Number(-1.0), *rest)) if rest:
            return f"-{_summand(product(*rest), names)}"
    return _text(node, names)


def _compared(part: Expression, names: Sequence[str]) -> str:
    return _text(part, names) if isinstance(part, Scaled) else _factor(part, names)


def _shown(number: Number) -> float:
    return number.value if number.shown is None else number.shown


def _difference(node: Expression, names: Sequence[str]) -> str:
    """``age-52`` or ``52-age``; a negative number is added: ``x+3``; zero is left out."""
    difference = as_difference(node)
    if difference is None:
        return ""
    x, sign, number = difference
    name, shown = label(names[x.feature]), _shown(number)
    return shifted(name, -shown) if sign > 0 else f"{written(shown) if shown else ''}-{name}"


def shifted(name: str, origin: float) -> str:
    """``age-52``; a negative origin is added: ``x+3``; zero is left out."""
    if origin == 0:
        return name
    return f"{name}-{written(origin)}" if origin > 0 else f"{name}+{written(-origin)}"


def _line(node: Expression, names: Sequence[str]) -> str:
    """``0.4*age - 1.2*bmi + 3``: the offset comes last."""
    line = as_line(node)
    if line is None:
        return ""
    offset, slopes = line
    factors = [(_shown(slope), f"*{quoted(names[x.feature], SUM_MARKS)}") for slope, x in slopes]
    return _sum([f"{value + 0.0:.15g}{factor}" for value, factor in (*factors, (_shown(offset), ""))])


def _sum(parts: Sequence[str]) -> str:
    """Summands with their signs between them."""
    text = parts[0]
    for part in parts[1:]:
        text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return text


def _angle(node: Expression, names: Sequence[str]) -> str:
    """``pi*2*(age-20)/60``: four digits, or as many as place the wave within a thousandth of the range."""
    wave = as_wave(node)
    if wave is None:
        return ""
    _, frequency, p, half_minimum, half_span = wave
    minimum, span = 2 * half_minimum, 2 * half_span
    digits = (float(f"{minimum:.{digits}g}") for digits in range(4, MAX_DIGITS))
    origin = next((number for number in digits if abs(number - minimum) <= span / 1000), minimum)
    inside = shifted(label(names[p]), origin)
    inside = f"({inside})" if origin else inside
    times = "pi*" if frequency == 1 else f"pi*{frequency}*"
    width = written(float(f"{span:.4g}"))
    return f"{times}{inside}" if width == "1" else f"{times}{inside}/{width}"
