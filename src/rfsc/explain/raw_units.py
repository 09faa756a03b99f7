"""A model in the units of the raw table, where a pipeline has shifted and scaled the numbers before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..model import SparseModel
from ..prepare.recipe import NumberOf, Recipe
from ..prepare.scaling import Scaling
from ..terms import Monomial, Term
from ..terms.centred import CentredTerm
from ..terms.fourier import FourierTerm
from ..terms.hinges import HingeTerm
from ..terms.knots import rounded
from ..terms.radial import RadialTerm
from ..terms.sigmoid import SigmoidTerm, shown_numbers
from ..terms.steps import LevelTerm, StepTerm

ERROR = 1e-9  # of a range: what a number in a name may be off


def in_raw_units(model: SparseModel, recipe: Recipe | None) -> SparseModel:
    """The same function of the cells of the raw table, where features are cells less a number over a number.

    On the [0, 1] scale nothing changes; names, ranges and the equation in original units tell the user's own numbers.

    Parameters
    ----------
    model : SparseModel
        A model of the features that the recipe makes.
    recipe : Recipe or None
        How they are made.

    Returns
    -------
    SparseModel
        For words, not for prediction: it reads cells, not features. The model itself where there is nothing to undo,
        or where it holds a column of a transformer, which reads features and nothing else.
    """
    if recipe is None:
        return model
    numbers = [made if isinstance(made, NumberOf) else NumberOf(0) for made in recipe.features]
    minus, over = np.array([made.minus for made in numbers]), np.array([made.over for made in numbers])
    if (not minus.any() and np.all(over == 1.0)) or any(type(term) not in MOVERS for term in model.terms):
        return model
    units = _Units(minus, over, model.scaling)
    evidence = model.evidence
    if evidence is not None and all(type(term) in MOVERS for term in evidence.terms):
        evidence = replace(evidence, terms=tuple(units.moved(term) for term in evidence.terms))
    return replace(model, terms=tuple(map(units.moved, model.terms)), scaling=units.scaling, evidence=evidence)


class _Units:
    """From the units of the features to those of the cells."""

    def __init__(self, minus: FloatArray, over: FloatArray, scaling: Scaling) -> None:
        self.minus, self.over = minus, over
        self.scaling = Scaling(scaling.half_minimum * over + minus / 2, scaling.half_span * over)

    def number(self, feature: int, value: float) -> float:
        """A value of a feature as the cell that it came from, without digits that nobody needs."""
        cell = value * float(self.over[feature]) + float(self.minus[feature])
        return rounded(cell, float(self.scaling.half_span[feature]) * ERROR)

    def moved(self, term: Term) -> Term:
        """The term with all that it shows in the units of the cells."""
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
