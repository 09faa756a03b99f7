"""Expressions over features on [0, 1] as functions of the features in the user's own units."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

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
    minus,
    product,
)
from .naming import rounded
from .scaling import LARGEST, Scaling

LINE_ERROR = 0.5  # by which rounding the numbers of a ramp's name may change its argument; it rises from -3 to 3


def unscaled(node: Expression, scaling: Scaling) -> dict[Expression, float]:
    """The same function as a weighted sum of expressions over the features themselves.

    Factors that are plain features are multiplied out; all others keep their shape, with the numbers that names show.
    """
    parts = node.parts if isinstance(node, Product) else (node,)
    numbers = [part.value for part in parts if isinstance(part, Number)]
    others = [_converted(part, scaling) for part in parts if not isinstance(part, Number | Scaled)]
    weight = math.prod([*numbers, *(size for size, _ in others)])
    rest = [other for _, other in others]
    powers = _multiplied_out([part.feature for part in parts if isinstance(part, Scaled)], scaling)
    return {product(*rest, *map(Scaled, factors)): weight * size for factors, size in powers.items()}


def _multiplied_out(factors: Sequence[int], scaling: Scaling) -> dict[tuple[int, ...], float]:
    """prod (x_p - minimum_p) / range_p as weights of products of x itself."""
    total: dict[tuple[int, ...], float] = {(): 1.0}
    for p in factors:
        slope, offset = scaling.slope(p), scaling.offset(p)
        grown: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for some, weight in total.items():
            grown[(*some, p)] += weight * slope
            grown[some] += weight * offset
        total = grown
    return total


def _converted(node: Expression, scaling: Scaling) -> tuple[float, Expression]:
    """A positive weight and an expression over the features themselves whose product is the same function."""
    match node:
        case Number():
            return 1.0, node
        case Scaled(p):  # by the operations of `Scaling`, hence exactly the same numbers
            half = minus(Divided(Scaled(p), 2.0), float(scaling.half_minimum[p]))
            return 1.0, Divided(half, float(scaling.half_span[p]))
        case Sum():
            return _sum(node, scaling)
        case Divided(part, by):
            difference = as_difference(part)
            if difference is not None:  # widths become ranges, without a slope, which may overflow
                width = min(2.0 * float(scaling.half_span[difference[0].feature]) * by, LARGEST)
                return 1.0, Divided(_converted(part, scaling)[1], width)
            weight, raw = _converted(part, scaling)
            return weight, Divided(raw, by)
        case Product(parts):
            inner = {id(part): _converted(part, scaling) for part in parts}  # squares stay squares of one object
            pairs = [inner[id(part)] for part in parts]
            return math.prod(weight for weight, _ in pairs), Product(tuple(part for _, part in pairs))
        case Positive(part):
            weight, raw = _converted(part, scaling)
            return weight, Positive(raw)
        case Above(Scaled(p), _, float(shown)) | Equals(Scaled(p), _, float(shown)):
            return 1.0, type(node)(Scaled(p), shown, shown)
        case Exp() | Ramp() | Wave() | Above() | Equals():
            return 1.0, rebuilt(node, lambda part: _whole(part, scaling))


def _whole(node: Expression, scaling: Scaling) -> Expression:
    """The same function over the features themselves, its weight included."""
    weight, inner = _converted(node, scaling)
    return inner if weight == 1.0 else Product((Number(weight), inner))


def _sum(node: Sum, scaling: Scaling) -> tuple[float, Expression]:
    difference, line = as_difference(node), as_line(node)
    if difference is not None:
        x, sign, number = difference
        raw = number.shown
        if raw is None:
            raw = -sign * float(scaling.to_user(x.feature, -sign * number.value))
        return scaling.slope(x.feature), Sum((node.parts[0], Number(raw, number.shown)))
    if line is not None:
        offset, slopes = line
        pairs = [(slope.value, x.feature) for slope, x in slopes]
        total = offset.value + math.fsum(slope * scaling.offset(p) for slope, p in pairs)
        parts = [
            Product((Number(slope.value * scaling.slope(x.feature), slope.shown), Scaled(x.feature)))
            for slope, x in slopes
        ]
        return 1.0, Sum((Number(total, offset.shown), *parts))
    return 1.0, rebuilt(node, lambda part: _whole(part, scaling))


def rebuilt(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The node over changed parts; a part that occurs twice as one object stays one object."""
    match node:
        case Sum(parts) | Product(parts):
            done = {id(part): change(part) for part in parts}
            return replace(node, parts=tuple(done[id(part)] for part in parts))
        case Number() | Scaled():
            return node
    return replace(node, part=change(node.part))


def line(scaling: Scaling, slopes: Sequence[tuple[int, float]], offset: float) -> Expression:
    """offset + sum of slope * feature, with short numbers to show in the user's units.

    The short numbers have enough digits to be true, up to LINE_ERROR, within the training ranges.
    """
    raw_offset = offset + math.fsum(slope * scaling.offset(p) for p, slope in slopes)
    error = LINE_ERROR / (len(slopes) + 1)
    parts = []
    for p, slope in slopes:
        half_minimum = float(scaling.half_minimum[p])
        reach = max(abs(half_minimum), abs(half_minimum + float(scaling.half_span[p])))
        shown = rounded(slope * scaling.slope(p), error / reach / 2)
        parts.append(Product((Number(slope, shown), Scaled(p))))
    return Sum((Number(offset, rounded(raw_offset, error)), *parts))


def shown_in(node: Expression, scaling: Scaling, convert: Callable[[int, float], float]) -> Expression:
    """The same expression with what names show in other units.

    `scaling` brings features in these units to [0, 1]; `convert` turns a value of a feature that was shown before into
    these units.
    """
    match node:
        case Scaled(p, (_, _)):
            return Scaled(p, (float(scaling.half_minimum[p]), float(scaling.half_span[p])))
        case Above(Scaled(p), _, float(shown)) | Equals(Scaled(p), _, float(shown)):
            return replace(node, shown=convert(p, shown))
        case Sum():
            difference, found = as_difference(node), as_line(node)
            if difference is not None and difference[2].shown is not None:
                x, sign, number = difference
                shown = -sign * convert(x.feature, -sign * difference[2].shown)
                return Sum((node.parts[0], replace(number, shown=shown)))
            if found is not None and found[0].shown is not None:
                offset, slopes = found
                return line(scaling, [(x.feature, slope.value) for slope, x in slopes], offset.value)
    return rebuilt(node, lambda part: shown_in(part, scaling, convert))
