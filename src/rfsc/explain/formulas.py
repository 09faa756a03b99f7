"""Terms as formulas, in the user's own units unless a feature is marked as scaled."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

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
    as_difference,
    as_line,
)
from .._terms.naming import as_wave, label, name_of, quoted, rounded
from .notation import Text

WAVE_ERROR = 1e-6  # what the numbers of a wave in an equation may change its value by; text has the rounder name


def write(term: Term, names: Sequence[str], to: Text, *, mark: Collection[int] = ()) -> str:
    """A term as it stands in an equation."""
    if term.factors is not None:
        return _monomial(term.factors, names, to, mark)
    if type(to) is Text:
        name = term.name(names)
        return to.true(name) if isinstance(term.expression, Above | Equals) else name
    return to.words(term.name(names)) if term.label is not None else _formula(term.expression, names, to)


def define(
    term: Term, names: Sequence[str], to: Text, error: float, ranges: Mapping[int, tuple[float, float]]
) -> str | None:
    """The whole formula of a term in the user's own units, None if the equation already shows it."""
    node = term.expression
    if as_wave(node) is not None:
        return _wave(node, names, to, error)
    if isinstance(node, Ramp) and as_line(node.part) is not None:
        return _ramp(node.part, names, to, error, ranges)
    match node:
        case Exp(Product((Number(-1.0), Sum(squares)))) if all(map(_distance, squares)):
            return _bump(squares, names, to, error)
    return None if term.label is None else _formula(node, names, to)


def _monomial(factors: Sequence[int], names: Sequence[str], to: Text, mark: Collection[int]) -> str:
    parts = []
    for p, power in Counter(factors).items():
        name = to.name(quoted(names[p]))
        parts.append(to.power(to.call("scaled", name) if p in mark else name, power))
    return to.product(parts) if parts else ""


def _formula(node: Expression, names: Sequence[str], to: Text) -> str:
    """An expression with the numbers that names show; what no notation is known for is written as its name."""
    difference, line = as_difference(node), as_line(node.part) if isinstance(node, Ramp) else None
    if difference is not None:
        x, sign, number = difference
        shown = number.value if number.shown is None else number.shown
        name = to.name(label(names[x.feature]))
        if sign > 0:
            return _minus(names[x.feature], -shown, to)
        return to.infix(to.number(shown), "-", name) if shown else f"{to.minus}{name}"
    if line is not None:
        numbers = [n.value if n.shown is None else n.shown for n in (*(slope for slope, _ in line[1]), line[0])]
        return to.call("ramp", _line(numbers, [x.feature for _, x in line[1]], names, to))
    if as_wave(node) is not None:
        return _wave(node, names, to)
    match node:
        case Product(parts):
            return to.product([to.power(_factor(part, names, to), k) for part, k in Counter(parts).items()])
        case Positive(part):
            return to.call("max", "0, " + _formula(part, names, to))
        case Above(Scaled(p), knot, user):
            return to.true(to.infix(to.name(label(names[p])), ">", to.number(knot if user is None else user)))
        case Equals(Scaled(p), level, user):
            return to.true(to.infix(to.name(label(names[p])), "=", to.number(level if user is None else user)))
    return to.words(name_of(node, names))


def _factor(node: Expression, names: Sequence[str], to: Text) -> str:
    difference = as_difference(node)
    if difference is None:
        return _formula(node, names, to)
    if difference[1] > 0 and difference[2].shown == 0:  # a deviation from zero keeps its zero
        return to.brackets(to.infix(to.name(label(names[difference[0].feature])), "-", "0"))
    return to.brackets(_formula(node, names, to))


def _wave(node: Expression, names: Sequence[str], to: Text, error: float = WAVE_ERROR) -> str:
    """Where the wave begins and how long it is may each cost half of the error."""
    wave = as_wave(node)
    assert wave is not None
    kind, frequency, p, half_minimum, half_span = wave
    span = 2.0 * half_span
    shift = error * span / (2.0 * math.pi * frequency)
    origin = rounded(2.0 * half_minimum, shift)
    inside = _minus(names[p], origin, to)
    angle = to.product([to.pi(frequency), to.brackets(inside) if origin else inside])
    return to.call(kind, to.quotient(angle, to.number(rounded(span, shift))))


def _ramp(
    argument: Expression, names: Sequence[str], to: Text, error: float, ranges: Mapping[int, tuple[float, float]]
) -> str:
    """A ramp is nowhere steeper than a quarter, so four times the error may go into its argument."""
    found = as_line(argument)
    assert found is not None
    offset, slopes = found
    share = 4.0 * error / (len(slopes) + 1)
    numbers = [rounded(slope.value, share / max(map(abs, ranges[x.feature]))) for slope, x in slopes]
    line = _line([*numbers, rounded(offset.value, share)], [x.feature for _, x in slopes], names, to)
    return to.one_over(f"1 + {to.call('exp', f'{to.minus}{to.brackets(line)}')}")


def _distance(node: Expression) -> tuple[int, float, float] | None:
    """Feature, centre and width of the square of a distance; None for others."""
    match node:
        case Product((Divided(Sum((Scaled(p), Number(minus))), width), other)) if other == node.parts[0]:
            return p, -minus, width
    return None


def _line(numbers: Sequence[float], features: Sequence[int], names: Sequence[str], to: Text) -> str:
    """Slopes times features, and the offset."""
    parts = [
        (slope < 0, to.product([to.number(abs(slope)), to.name(label(names[p]))]))
        for slope, p in zip(numbers, features, strict=False)
    ]
    return to.sum([*parts, (numbers[-1] < 0, to.number(abs(numbers[-1])))])


def _bump(squares: Sequence[Expression], names: Sequence[str], to: Text, error: float) -> str:
    """Squares of the distances from the centre; each number may cost half of a feature's share of the error."""
    share = error / len(squares)
    parts = []
    for p, centre, width in filter(None, map(_distance, squares)):
        away = _minus(names[p], rounded(centre, share * width / 2), to)
        distance = to.sum_over(away, to.number(rounded(width, share * width / 2)))
        parts.append((True, to.power(to.brackets(distance), 2)))
    return to.call("exp", to.long_sum(parts))


def _minus(name: str, value: float, to: Text) -> str:
    """``age-52``; a negative number is added, zero is left out."""
    left = to.name(label(name))
    if value == 0:
        return left
    return to.infix(left, "+", to.number(-value)) if value < 0 else to.infix(left, "-", to.number(value))
