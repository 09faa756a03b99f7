"""Whether an expression only rises or only falls with a feature, read off its structure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import reduce

from .expression import (
    Condition,
    Divided,
    Exp,
    Expression,
    Interval,
    Number,
    Positive,
    Product,
    Ramp,
    Scaled,
    Sum,
    Wave,
    interval,
)

Ranges = Mapping[int, Interval]


def direction(node: Expression, feature: int) -> int | None:
    """1 if an expression never falls with a feature while all features are on [0, 1], -1 if it never rises.

    0 if it does not depend on the feature, None if none of this is known. Rounding is monotone, so what holds for
    exact numbers holds for what `evaluate` computes, too, but for the last digit of an exponential.
    """
    return _direction(node, feature, defaultdict(lambda: (0.0, 1.0)))


def _direction(node: Expression, feature: int, ranges: Ranges) -> int | None:
    match node:
        case Number():
            return 0
        case Scaled(own):
            return int(own == feature)
        case Sum(parts):
            return _common(_direction(part, feature, ranges) for part in parts)
        case Product(parts):
            return _of_product(parts, feature, ranges)
        case Divided(part) | Exp(part) | Ramp(part):
            return _direction(part, feature, ranges)
        case Wave(_, part):
            return 0 if _direction(part, feature, ranges) == 0 else None
        case Positive(part) | Condition(part):
            return _times(_direction(part, feature, ranges), _of_threshold(node, ranges))


def _of_product(parts: tuple[Expression, ...], feature: int, ranges: Ranges) -> int | None:
    """From one end of a change to the other one factor changes at a time, while the others keep their signs."""
    ways = [_direction(part, feature, ranges) for part in parts]
    moving = [k for k, way in enumerate(ways) if way != 0]
    if not moving:
        return 0
    # the factors that do not change together: a square among them is never negative
    rest = Product((Number(1.0), *(part for part, way in zip(parts, ways, strict=True) if way == 0)))
    signs = {k: _sign(parts[k], ranges) for k in moving} if len(moving) > 1 else {}
    return _common(
        reduce(_times, [ways[k], _sign(rest, ranges), *(sign for other, sign in signs.items() if other != k)])
        for k in moving
    )


def _of_threshold(node: Positive | Condition, ranges: Ranges) -> int | None:
    """How max(0, part) or a condition changes when its part rises; a level may be the highest or the lowest value."""
    low, high = interval(node.part, ranges)
    match node:
        case Positive():
            return 1 if high > 0.0 else 0
        case Condition(_, "=", at):
            return 1 if at >= high else -1 if at <= low else None
        case Condition(_, relation, at):
            return 0 if at < low or at >= high else 1 if relation == ">" else -1


def _sign(node: Expression, ranges: Ranges) -> int | None:
    """1 if an expression is never negative, -1 if it is never positive, None if it may be both."""
    low, high = interval(node, ranges)
    return 1 if low >= 0.0 else -1 if high <= 0.0 else None


def _times(one: int | None, other: int | None) -> int | None:
    """Zero times an unknown sign is zero."""
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None else one * other


def _common(ways: Iterable[int | None]) -> int | None:
    """What all parts that change have in common."""
    distinct = {way for way in ways if way != 0}
    return 0 if not distinct else distinct.pop() if len(distinct) == 1 else None
