"""A model as a function of the raw table: in its units, and with plain terms for yes-or-no features.

Features that are 0 or 1, such as ``sex=male``, need no powers, hinges and steps: all of them are the feature itself.
Families offer such terms nevertheless, because they do not know that no other value can come. A recipe knows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from .._terms import Mention, Term, monomial
from .._terms.expression import Above, Number, Positive, Scaled, Sum
from .._terms.naming import rounded
from .._terms.scaling import Scaling
from .._terms.user_units import shown_in
from .._utils.arrays import FloatArray
from .recipe import LevelOf, MissingIn, Recipe
from .sparse_model import Evidence, SparseModel

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


def yes_or_no_features(recipe: Recipe) -> frozenset[int]:
    """Features that are 0 or 1 whatever the table holds."""
    return frozenset(p for p, made in enumerate(recipe.features) if isinstance(made, LevelOf | MissingIn))


def simplified(model: SparseModel, of: Collection[int]) -> SparseModel:
    """The same function with simpler terms: ``sex=male`` for its square, its hinge or its step."""
    terms = tuple(_simplified(term, of) for term in model.terms)
    if len(set(terms)) < len(terms):
        return model
    evidence = None if model.evidence is None else _merged(model.evidence, of)
    return replace(model, terms=terms, evidence=evidence)


def _simplified(term: Term, of: Collection[int]) -> Term:
    if term.factors is not None:
        return monomial(p for i, p in enumerate(term.factors) if p not in of or p not in term.factors[:i])
    match term.expression:
        case Positive(Sum((Scaled(p), Number(0.0)))) if p in of:
            return monomial([p])
        case Above(Scaled(p), knot) if p in of and 0.0 <= knot < 1.0:
            return monomial([p])
    return term


def _merged(evidence: Evidence, of: Collection[int]) -> Evidence:
    """What was seen of a term in all its forms: a restart chose it when it chose one of them."""
    place: dict[Term, int] = {}
    at = np.array([place.setdefault(_simplified(term, of), len(place)) for term in evidence.terms], dtype=np.int64)
    selected = np.zeros((evidence.n_restarts, len(place)), dtype=np.bool_)
    rip = np.zeros(selected.shape)
    for old, new in enumerate(at):
        selected[:, new] |= evidence.selected[:, old]
        rip[:, new] = np.maximum(rip[:, new], evidence.rip[:, old])
    traced = list(dict.fromkeys(at[list(evidence.traced)].tolist()))
    columns = [np.flatnonzero(at[list(evidence.traced)] == new) for new in traced]
    traces = tuple(
        replace(trace, rips=np.stack([trace.rips[:, some].max(axis=1) for some in columns], axis=1))
        if columns
        else trace
        for trace in evidence.traces
    )
    return replace(evidence, terms=tuple(place), selected=selected, rip=rip, traced=tuple(traced), traces=traces)
