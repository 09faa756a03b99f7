"""Terms as formulas: how each family is written, in the user's own units unless a feature is marked as scaled."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from .._terms import Monomial, Term
from .._terms.base import quoted
from .._terms.centred import CentredTerm
from .._terms.fourier import FourierTerm
from .._terms.hinges import HingeTerm
from .._terms.knots import label, rounded
from .._terms.radial import RadialTerm
from .._terms.sigmoid import SigmoidTerm
from .._terms.steps import LevelTerm, StepTerm
from .notation import Text

WAVE_ERROR = 1e-6  # what the numbers of a wave in an equation may change its value by; text has the rounder name


def write(term: Term, names: Sequence[str], to: Text, *, mark: Collection[int] = ()) -> str:
    """A term as it stands in an equation."""
    if isinstance(term, Monomial):
        return _monomial(term, names, to, mark)
    if type(to) is Text:
        name = term.name(names)
        return to.true(name) if isinstance(term, StepTerm | LevelTerm) else name
    family = FAMILIES.get(type(term))
    return to.words(term.name(names)) if family is None else family(term, names, to)


def define(
    term: Term, names: Sequence[str], to: Text, error: float, ranges: Mapping[int, tuple[float, float]]
) -> str | None:
    """The whole formula of a term in the user's own units, None where the equation already shows it."""
    if isinstance(term, RadialTerm):
        return _bump(term, names, to, error)
    if isinstance(term, SigmoidTerm):
        return _ramp(term, names, to, error, ranges)
    if isinstance(term, FourierTerm):
        return _wave(term, names, to, error)
    if type(term) is Monomial or type(term) in FAMILIES:
        return None
    return to.words("a column of the transformer that the model holds; it has no formula")


def _monomial(term: Monomial, names: Sequence[str], to: Text, mark: Collection[int]) -> str:
    factors = []
    for p, power in Counter(term.factors).items():
        name = to.name(quoted(names[p]))
        factors.append(to.power(to.call("scaled", name) if p in mark else name, power))
    return to.product(factors) if factors else ""


def _centred(term: CentredTerm, names: Sequence[str], to: Text) -> str:
    factors = []
    for f, power in Counter(term.factors).items():
        # a deviation from zero keeps its zero: without it the feature would be the scaled one
        zero = to.infix(to.name(label(names[f.feature])), "-", "0")
        factors.append(to.power(to.brackets(_minus(names[f.feature], f.shown, to) if f.shown else zero), power))
    return to.product(factors)


def _hinge(term: HingeTerm, names: Sequence[str], to: Text) -> str:
    parts = []
    for f in term.factors:
        name = to.name(label(names[f.feature]))
        falling = to.infix(to.number(f.shown), "-", name) if f.shown else f"{to.minus}{name}"
        parts.append(to.call("max", "0, " + (_minus(names[f.feature], f.shown, to) if f.sign > 0 else falling)))
    return to.product(parts)


def _step(term: StepTerm, names: Sequence[str], to: Text) -> str:
    return to.true(to.infix(to.name(label(names[term.feature])), ">", to.number(term.shown)))


def _level(term: LevelTerm, names: Sequence[str], to: Text) -> str:
    return to.true(to.infix(to.name(label(names[term.feature])), "=", to.number(term.shown)))


def _wave(term: FourierTerm, names: Sequence[str], to: Text, error: float = WAVE_ERROR) -> str:
    """Where the wave begins and how long it is may each cost half of the error."""
    minimum, span = 2.0 * term.half_minimum, 2.0 * term.half_span
    shift = error * span / (2.0 * math.pi * term.frequency)
    origin = rounded(minimum, shift)
    inside = _minus(names[term.feature], origin, to)
    angle = to.product([to.pi(term.frequency), to.brackets(inside) if origin else inside])
    return to.call(term.wave, to.quotient(angle, to.number(rounded(span, shift))))


def _short_ramp(term: SigmoidTerm, names: Sequence[str], to: Text) -> str:
    return to.call("ramp", _line(term.shown, term.features, names, to))


def _ramp(
    term: SigmoidTerm, names: Sequence[str], to: Text, error: float, ranges: Mapping[int, tuple[float, float]]
) -> str:
    """A ramp is nowhere steeper than a quarter, so four times the error may go into its argument."""
    share = 4.0 * error / (len(term.features) + 1)
    reach = [max(map(abs, ranges[p])) for p in term.features]
    slopes = [rounded(slope, share / far) for slope, far in zip(term.slopes, reach, strict=True)]
    line = _line((*slopes, rounded(term.offset, share)), term.features, names, to)
    return to.one_over(f"1 + {to.call('exp', f'{to.minus}{to.brackets(line)}')}")


def _line(numbers: Sequence[float], features: Sequence[int], names: Sequence[str], to: Text) -> str:
    """Slopes times features, and the offset."""
    parts = [
        (slope < 0, to.product([to.number(abs(slope)), to.name(label(names[p]))]))
        for slope, p in zip(numbers, features, strict=False)
    ]
    return to.sum([*parts, (numbers[-1] < 0, to.number(abs(numbers[-1])))])


def _bump(term: RadialTerm, names: Sequence[str], to: Text, error: float) -> str:
    """Squares of the distances from the centre; each number may cost half of a feature's share of the error."""
    share = error / len(term.features)
    parts = []
    for p, centre, width in zip(term.features, term.centre, term.width, strict=True):
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


FAMILIES: dict[type, Callable[[Any, Sequence[str], Text], str]] = {
    CentredTerm: _centred,
    HingeTerm: _hinge,
    StepTerm: _step,
    LevelTerm: _level,
    FourierTerm: _wave,
    SigmoidTerm: _short_ramp,
}
