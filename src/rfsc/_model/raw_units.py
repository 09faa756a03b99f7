"""A model in the units of the raw table, if a pipeline has shifted and scaled the features before it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._terms import Mention, Term
from .._terms.naming import rounded
from .._terms.scaling import Scaling
from .._terms.user_units import shown_in
from .._utils import FloatArray
from .sparse_model import SparseModel

EXACT, NEAR = 1e-9, 1 / 50  # of half a range: by how much a number in a formula, or in a label, may be off


def in_units_before(model: SparseModel, minus: FloatArray, over: FloatArray) -> SparseModel:
    """The same function of other features: those from which the model's own came as (x - minus) / over.

    On the [0, 1] scale nothing changes; ranges, and what names show, are in the units of x.
    """
    if not minus.any() and np.all(over == 1.0):
        return model
    scaling = Scaling(model.scaling.half_minimum * over + minus / 2, model.scaling.half_span * over)

    def number(feature: int, value: float, error: float = EXACT) -> float:
        """A value of a feature as it was before, without digits that nobody needs."""
        before = value * float(over[feature]) + float(minus[feature])
        return rounded(before, float(scaling.half_span[feature]) * error)

    def part(one: str | Mention) -> str | Mention:
        if isinstance(one, str) or one.value is None:
            return one
        return Mention(one.feature, number(one.feature, one.value, NEAR))

    def moved(term: Term) -> Term:
        """The term with all that it shows in the units of the raw table."""
        label = None if term.label is None else tuple(map(part, term.label))
        return Term(shown_in(term.expression, scaling, number), label)

    evidence = model.evidence
    if evidence is not None:
        evidence = replace(evidence, terms=tuple(map(moved, evidence.terms)))
    return replace(model, terms=tuple(map(moved, model.terms)), scaling=scaling, evidence=evidence)
