"""Several models of one output as one: the weighted mean of their formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._terms import Term
from .sparse_model import SparseModel


def weighted_mean(models: Sequence[SparseModel], shares: Sequence[float]) -> SparseModel:
    """The model whose output is the weighted mean of the models' outputs; a term that several hold comes once."""
    if len(models) == 1:
        return models[0]
    total: dict[Term, float] = {}
    for model, share in zip(models, shares, strict=True):
        for term, coef in zip(model.terms, model.coef.tolist(), strict=True):
            total[term] = total.get(term, 0.0) + share * coef
    order = sorted(total, key=lambda term: -abs(total[term]))
    coef = np.array([total[term] for term in order])
    return replace(models[0], terms=tuple(order), coef=coef, standard_error=None, score=None)
