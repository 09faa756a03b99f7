"""Terms in the user's own units: their names, and the same functions over features that are not scaled."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from .expression import (
    Condition,
    Divided,
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
    conditions_of,
    minus,
    product,
    with_intervals,
)
from .scaling import LARGEST, Scaling

FORMULA_MARKS = "*^+-/<>=[]"  # what could be misread in the name of a feature within a product
NUMBER_MARKS = "*^+-/()[]<>=,"  # the same next to numbers and brackets
SUM_MARKS = "*^+-"  # the same within a sum
LINE_ERROR = 0.5  # by which rounding the numbers of a ramp's name may change its argument; it rises from -3 to 3
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
        case Wave(kind, Product((Number(angle), Divided(Sum((Divided(Scaled(p), 2.0), Number(below))), span)))):
            low = -below
        case _:
            return None
    frequency = round(angle / math.pi)
    return (kind, frequency, p, low, span) if frequency >= 1 and angle == math.pi * frequency else None


def name_of(node: Expression, names: Sequence[str]) -> str:
    """The name of a term, such as ``age*bmi^2``, ``max(0, age-52)`` or ``age>60 and bmi<=27``."""
    parts = node.parts if isinstance(node, Product) else (node,)
    if conditions := conditions_of(node):
        return _conjunction(conditions, names)
    if len(parts) == 1 and not isinstance(node, Scaled) and as_difference(node) is None:
        return _text(node, names)
    return "*".join(_factor(part, names) + (f"^{k}" if k > 1 else "") for part, k in Counter(parts).items())


def _factor(node: Expression, names: Sequence[str]) -> str:
    """An expression that is multiplied, divided or compared."""
    match node:
        case Scaled(p):
            return quoted(names[p])
        case Sum() | Product() | Divided() | Condition():
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
            return f"ramp({_line_text(part, names) or _text(part, names)})"
        case Wave(kind, part):
            return f"{kind}({_angle(node, names) or _text(part, names)})"
        case Condition(part, relation):
            return statement(node, names) or f"{_compared(part, names)}{relation}{_threshold(node)}"


def _summand(node: Expression, names: Sequence[str]) -> str:
    """An expression that is added; a factor -1 becomes a sign."""
    match node:
        case Sum():
            return f"({_text(node, names)})"
        case Product((Number(-1.0), *rest)) if rest:
            return f"-{_summand(product(*rest), names)}"
    return _text(node, names)


def _conjunction(conditions: Sequence[Condition], names: Sequence[str]) -> str:
    """``age>60 and 2<lactate<=4``."""
    return " and ".join(_said(*group, names=names) for group in with_intervals(conditions))


def _said(low: Condition, high: Condition | None = None, *, names: Sequence[str]) -> str:
    if high is None:
        return _text(low, names)
    return f"{_threshold(low)}<{_compared(low.part, names)}<={_threshold(high)}"


def statement(node: Condition, names: Sequence[str]) -> str:
    """``sex=male`` or ``not sex=male``, of a feature that is 1 or 0 and is called like this; else nothing."""
    match node:
        case Condition(Scaled(p), "=", at, shown) if "=" in names[p] and at == shown and at in (0.0, 1.0):
            return names[p] if at else f"not {names[p]}"
    return ""


def _threshold(condition: Condition) -> str:
    return written(condition.at if condition.shown is None else condition.shown)


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


def _line_text(node: Expression, names: Sequence[str]) -> str:
    """``0.4*age - 1.2*bmi + 3``: the offset comes last."""
    line = as_line(node)
    if line is None:
        return ""
    offset, slopes = line
    factors = [(_shown(slope), f"*{quoted(names[x.feature], SUM_MARKS)}") for slope, x in slopes]
    return _sum([f"{value + 0.0:.15g}{factor}" for value, factor in (*factors, (_shown(offset), ""))])


def _sum(parts: Sequence[str]) -> str:
    """Summands with their signs between them."""
    rest = (f" - {part[1:]}" if part.startswith("-") else f" + {part}" for part in parts[1:])
    return parts[0] + "".join(rest)


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


def unscaled(node: Expression, scaling: Scaling, *, expand: bool) -> dict[Expression, float]:
    """The same function as a weighted sum of expressions over the features themselves.

    Factors that are plain features are multiplied out, or become differences from their minima if they are several; all
    others keep their shape, with the numbers that names show.
    """
    parts = node.parts if isinstance(node, Product) else (node,)
    numbers = [part.value for part in parts if isinstance(part, Number)]
    others = [_converted(part, scaling) for part in parts if not isinstance(part, Number | Scaled)]
    weight = math.prod([*numbers, *(size for size, _ in others)])
    rest = [other for _, other in others]
    plain = [part.feature for part in parts if isinstance(part, Scaled)]
    if not expand and len(plain) + len(rest) > 1:
        weight *= math.prod(scaling.slope(p) for p in plain)
        return {product(*rest, *(_above_minimum(p, scaling) for p in plain)): weight}
    powers = _multiplied_out(plain, scaling)
    return {product(*rest, *map(Scaled, factors)): weight * size for factors, size in powers.items()}


def _above_minimum(feature: int, scaling: Scaling) -> Expression:
    minimum = 2.0 * float(scaling.half_minimum[feature])
    return minus(Scaled(feature), minimum) if minimum else Scaled(feature)


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
            return _converted_sum(node, scaling)
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
        case Condition(Scaled(p), relation, _, float(shown)):
            return 1.0, Condition(Scaled(p), relation, shown, shown)
        case Exp() | Ramp() | Wave() | Condition():
            return 1.0, rebuilt(node, lambda part: _whole(part, scaling))


def _whole(node: Expression, scaling: Scaling) -> Expression:
    """The same function over the features themselves, its weight included."""
    weight, inner = _converted(node, scaling)
    return inner if weight == 1.0 else Product((Number(weight), inner))


def _converted_sum(node: Sum, scaling: Scaling) -> tuple[float, Expression]:
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
        case Condition(Scaled(p), _, _, float(shown)):
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
