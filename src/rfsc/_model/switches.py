"""Features that are 0 or 1, such as ``sex=male``, need no powers, hinges and steps: all of them are the feature itself.

Families offer such terms nevertheless, because they do not know that no other value can come. A recipe knows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from .._terms import Term, monomial
from .._terms.expression import Above, Number, Positive, Scaled, Sum
from .recipe import LevelOf, MissingIn, Recipe
from .sparse_model import Evidence, SparseModel


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
