"""A model in the units of the raw table, where a pipeline has shifted and scaled the features before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._terms import Monomial, Term
from .._terms.centred import CentredTerm
from .._terms.fourier import FourierTerm
from .._terms.hinges import HingeTerm
from .._terms.knots import rounded
from .._terms.radial import RadialTerm
from .._terms.scaling import Scaling
from .._terms.sigmoid import SigmoidTerm, shown_numbers
from .._terms.steps import LevelTerm, StepTerm
from .._utils.arrays import FloatArray
from .sparse_model import SparseModel

ERROR = 1e-9  # of a range: what a number in a name may be off


def in_units_before(model: SparseModel, minus: FloatArray, over: FloatArray) -> SparseModel:
    """The same function of other features: those from which the model's own came as (x - minus) / over.

    On the [0, 1] scale nothing changes; ranges, and what names show, are in the units of x.
    """
    if not minus.any() and np.all(over == 1.0):
        return model
    strange = [type(term).__name__ for term in model.terms if type(term) not in MOVERS]
    if strange:
        msg = f"a {strange[0]} reads scaled features, and nobody knows it in other units. Leave the scaler out."
        raise TypeError(msg)
    units = _Units(minus, over, model.scaling)
    evidence = model.evidence
    if evidence is not None:
        evidence = replace(evidence, terms=tuple(units.moved(term) for term in evidence.terms))
    return replace(model, terms=tuple(map(units.moved, model.terms)), scaling=units.scaling, evidence=evidence)


class _Units:
    """From the units of the features to those of the cells."""

    def __init__(self, minus: FloatArray, over: FloatArray, scaling: Scaling) -> None:
        self.minus, self.over = minus, over
        self.scaling = Scaling(scaling.half_minimum * over + minus / 2, scaling.half_span * over)

    def number(self, feature: int, value: float) -> float:
        """A value of a feature as it was before, without digits that nobody needs."""
        cell = value * float(self.over[feature]) + float(self.minus[feature])
        return rounded(cell, float(self.scaling.half_span[feature]) * ERROR)

    def moved(self, term: Term) -> Term:
        """The term with all that it shows in the units of the raw table."""
        return MOVERS[type(term)](term, self)


def _centred(term: CentredTerm, units: _Units) -> Term:
    return CentredTerm(tuple(replace(f, shown=units.number(f.feature, f.shown)) for f in term.factors))


def _hinge(term: HingeTerm, units: _Units) -> Term:
    return HingeTerm(tuple(replace(f, shown=units.number(f.feature, f.shown)) for f in term.factors))


def _step(term: StepTerm | LevelTerm, units: _Units) -> Term:
    return replace(term, shown=units.number(term.feature, term.shown))


def _wave(term: FourierTerm, units: _Units) -> Term:
    low, span = units.scaling.half_minimum[term.feature], units.scaling.half_span[term.feature]
    return replace(term, half_minimum=float(low), half_span=float(span))


def _bump(term: RadialTerm, units: _Units) -> Term:
    shown = [(p, value * float(units.over[p]) + float(units.minus[p])) for p, value in term.shown]
    short = tuple((p, rounded(value, float(units.scaling.half_span[p]) / 50)) for p, value in shown)
    return replace(term, shown=short)


def _ramp(term: SigmoidTerm, units: _Units) -> Term:
    return replace(term, shown=shown_numbers(units.scaling, term.features, term.slopes, term.offset))


MOVERS: dict[type, Callable[[Any, _Units], Term]] = {
    Monomial: lambda term, units: term,  # noqa: ARG005  its features are on [0, 1]
    CentredTerm: _centred,
    HingeTerm: _hinge,
    StepTerm: _step,
    LevelTerm: _step,
    FourierTerm: _wave,
    RadialTerm: _bump,
    SigmoidTerm: _ramp,
}
