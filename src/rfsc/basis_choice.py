"""Which families of terms suit the data: `basis="auto"` asks a small cross-validation inside the training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ._typing import IntArray
from .output import (
    OutputSpec,
    Rows,
    candidate_terms,
    class_probabilities,
    decision_table,
    fit_output,
    output_rules,
)
from .restrictions import TermNotOfferedError
from .terms import Basis

N_FOLDS = 5
N_RESTARTS = 3  # of every fit that is only there to compare
SMALLEST = 1e-15  # probability that a wrong certainty counts as


@dataclass(frozen=True, slots=True)
class Choice:
    """What was compared and what came out.

    Parameters
    ----------
    name : str
        The mix of families with the least loss.
    losses : dict of str to float
        Left-out log-loss of every mix; empty where the rows were too few to compare, or only one mix offers all terms
        that restrictions name.
    """

    name: str
    losses: dict[str, float]


def choose_bases(
    mixes: Mapping[str, tuple[Basis, ...]], rows: Rows, features: Sequence[IntArray], spec: OutputSpec
) -> Choice:
    """The mix of families whose models predict left-out training rows best.

    Parameters
    ----------
    mixes : mapping of str to tuple of Basis
        What to choose from; the first is taken where there are too few rows to compare.
    rows : Rows
        All training rows.
    features : sequence of ndarray of int
        Features that each output may use.
    spec : OutputSpec
        How outputs are fitted; its `bases` are replaced.
    """
    mixes = _able(mixes, rows, features, spec)
    fold = _fold_of_rows(rows, np.random.default_rng(spec.layout_seed))
    if fold is None or len(mixes) == 1:
        return Choice(next(iter(mixes)), {})
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(fold.max()) + 1)]
    losses = {name: _left_out_loss(rows, features, replace(spec, bases=bases), folds) for name, bases in mixes.items()}
    return Choice(min(losses, key=lambda name: losses[name]), losses)


def _able(
    mixes: Mapping[str, tuple[Basis, ...]], rows: Rows, features: Sequence[IntArray], spec: OutputSpec
) -> Mapping[str, tuple[Basis, ...]]:
    """The mixes that offer every term that restrictions force or group."""
    if spec.restrictions is None or not (spec.restrictions.force or spec.restrictions.groups):
        return mixes
    able: dict[str, tuple[Basis, ...]] = {}
    reasons: list[str] = []
    for name, bases in mixes.items():
        own = replace(spec, bases=bases)
        try:
            for allowed in features:
                output_rules(rows, candidate_terms(rows, allowed, own), own)
        except TermNotOfferedError as error:
            reasons.append(str(error))
        else:
            able[name] = bases
    if not able:
        msg = f'basis="auto" has no mix that offers every term of restrictions. With {next(iter(mixes))}: {reasons[0]}'
        raise ValueError(msg)
    return able


def _fold_of_rows(rows: Rows, rng: np.random.Generator) -> IntArray | None:
    """Stratified folds in which equal rows stay together: a row of weight 2 is the same as the row twice."""
    labelled = np.column_stack([rows.table.T, rows.targets.code])
    distinct, which = np.unique(labelled, axis=0, return_inverse=True)
    members = [np.flatnonzero(distinct[:, -1] == c) for c in range(len(rows.targets.classes))]
    n_folds = min(N_FOLDS, *(len(own) for own in members))
    if n_folds < 2:
        return None
    fold = np.empty(len(distinct), dtype=np.int64)
    for own in members:
        fold[rng.permutation(own)] = np.arange(len(own)) % n_folds
    return fold[which.ravel()]


def _left_out_loss(
    rows: Rows, features: Sequence[IntArray], spec: OutputSpec, folds: Sequence[tuple[IntArray, IntArray]]
) -> float:
    """Weighted mean log-loss over all rows, each predicted by models that have not seen it."""
    total = 0.0
    for number, (train, held_out) in enumerate(folds):
        part = rows.take(train)
        most = min(spec.search.max_terms, max(int(part.weight.sum()) - 1, 1))
        own = replace(spec, search=replace(spec.search, max_terms=most))
        values = []
        for output, allowed in enumerate(features):
            generators = np.random.default_rng([spec.layout_seed, number, output]).spawn(N_RESTARTS)
            fit = fit_output(part, output, allowed, own, generators, ())
            columns = fit.space.columns(np.ascontiguousarray(rows.table[:, held_out]), fit.ids)
            values.append(np.einsum("j,jk->k", fit.coef, columns))
        right = class_probabilities(decision_table(values))[np.arange(len(held_out)), rows.targets.code[held_out]]
        total -= float(rows.weight[held_out] @ np.log(np.maximum(right, SMALLEST)))
    return total / float(rows.weight.sum())
