"""Which families of terms suit the data: `basis="auto"` asks a small cross-validation inside the training rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from ._typing import FloatArray, IntArray
from .model import class_probabilities, decision_table
from .output import OutputSpec, Rows, candidate_terms, fit_output, output_rules
from .prepare.distinct import distinct_rows
from .restrictions import TermNotOfferedError
from .search import Checkpoint
from .terms import Basis

N_FOLDS = 5
# distinct rows that are compared on: enough to see which family suits, and long tables stay affordable
MOST_ROWS = 5000
SMALLEST = 1e-15  # probability that a wrong certainty counts as
LEAST_SHARE = 0.02  # a mix that weighs less is left out of an average


@dataclass(frozen=True, slots=True)
class Choice:
    """What was compared and what came out.

    Parameters
    ----------
    shares : dict of str to float
        Weight of every mix of families that is taken; they sum to one.
    losses : dict of str to float
        Left-out log-loss of every mix; empty where the rows were too few to compare, or only one mix offers all terms
        that restrictions name.
    """

    shares: dict[str, float]
    losses: dict[str, float]


def choose_bases(
    mixes: Mapping[str, tuple[Basis, ...]],
    rows: Rows,
    features_of: Callable[[Rows], Sequence[IntArray]],
    spec: OutputSpec,
    progress: Callable[[str, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Choice:
    """The mix of families whose models predict left-out training rows best; for an average, the share of each.

    Parameters
    ----------
    mixes : mapping of str to tuple of Basis
        What to choose from; the first is taken where there are too few rows to compare.
    rows : Rows
        All training rows.
    features_of : callable
        Features that each output may use, given the rows that may be looked at: a filter must not see the others.
    spec : OutputSpec
        How outputs are fitted; its `bases` are replaced.
    progress : callable or None
        Told before every fit which mix it is for, and what part of the work is done.
    checkpoint : Checkpoint or None
        Where finished comparisons are kept, and taken from.
    """
    mixes = _able(mixes, rows, features_of, spec)
    fold = _fold_of_rows(rows, np.random.default_rng(spec.layout_seed))
    if fold is None or len(mixes) == 1:
        return Choice({next(iter(mixes)): 1.0}, {})
    rows, fold = rows.take(np.flatnonzero(fold >= 0)), fold[fold >= 0]
    # once for all mixes: a filter tests every feature
    features = [features_of(rows.take(np.flatnonzero(fold != number))) for number in range(int(fold.max()) + 1)]
    values: dict[str, FloatArray] = {}
    for place, (name, bases) in enumerate(mixes.items()):
        own = replace(spec, bases=bases, combine="best")
        tell = (lambda part, place=place, name=name: progress(name, (place + part) / len(mixes))) if progress else None
        values[name] = _left_out_values(rows, features, own, fold, tell, checkpoint, name)
    losses = {name: _log_loss(value, rows) for name, value in values.items()}
    if spec.combine != "average":
        return Choice({min(losses, key=lambda name: losses[name]): 1.0}, losses)
    shares = _best_shares(list(values.values()), rows)
    taken = {name: share for name, share in zip(values, shares.tolist(), strict=True) if share >= LEAST_SHARE}
    total = sum(taken.values())
    return Choice({name: share / total for name, share in taken.items()}, losses)


def _able(
    mixes: Mapping[str, tuple[Basis, ...]],
    rows: Rows,
    features_of: Callable[[Rows], Sequence[IntArray]],
    spec: OutputSpec,
) -> Mapping[str, tuple[Basis, ...]]:
    """The mixes that offer every term that restrictions force or group."""
    if spec.restrictions is None or not (spec.restrictions.force or spec.restrictions.groups):
        return mixes
    features = features_of(rows)
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
    """Stratified folds, -1 for rows of a long table that take no part; None where a class has too few rows.

    Equal rows stay together: a row of weight 2 is the same as the row twice.
    """
    code = rows.targets.code
    distinct, which = distinct_rows([*rows.table, code], code.size)
    members = [np.flatnonzero(code[distinct] == c) for c in range(len(rows.targets.classes))]
    n_folds = min(N_FOLDS, *(len(own) for own in members))
    if n_folds < 2:
        return None
    fold = np.full(len(distinct), -1)
    share = min(1.0, MOST_ROWS / len(distinct))
    for own in members:
        some = rng.permutation(own)[: max(n_folds, round(share * len(own)))]
        fold[some] = np.arange(len(some)) % n_folds
    return fold[which]


def _left_out_values(
    rows: Rows,
    features: Sequence[Sequence[IntArray]],
    spec: OutputSpec,
    fold: IntArray,
    tell: Callable[[float], None] | None,
    checkpoint: Checkpoint | None,
    name: str,
) -> FloatArray:
    """What models say of rows that they have not seen: one search for each fold and output, with its features."""
    n_folds, n_outputs = len(features), len(rows.targets.outputs)
    values = np.empty((n_outputs, fold.size))
    for number, own_features in enumerate(features):
        held_out = np.flatnonzero(fold == number)
        part = rows.take(np.flatnonzero(fold != number))
        most = min(spec.search.max_terms, max(int(part.weight.sum()) - 1, 1))
        own = replace(spec, search=replace(spec.search, max_terms=most))
        unseen = np.ascontiguousarray(rows.table[:, held_out])
        for output, allowed in enumerate(own_features):
            if tell is not None:
                tell((number + output / n_outputs) / n_folds)
            key = f"compared/{name}/{number}/{output}"
            known = None if checkpoint is None else checkpoint.find(key)
            if known is not None:
                values[output, held_out] = known
                continue
            generator = np.random.default_rng([spec.layout_seed, number, output])
            fit = fit_output(part, output, allowed, own, [generator])
            values[output, held_out] = np.einsum("j,jk->k", fit.coef, fit.space.columns(unseen, fit.ids))
            if checkpoint is not None:
                checkpoint.put(key, values[output, held_out].tolist(), is_finished=True)
    return decision_table(list(values))


def _log_loss(values: FloatArray, rows: Rows) -> float:
    """Weighted mean over all rows."""
    code = rows.targets.code
    right = class_probabilities(values)[np.arange(code.size), code]
    return float(rows.weight @ -np.log(np.maximum(right, SMALLEST))) / float(rows.weight.sum())


def _best_shares(values: Sequence[FloatArray], rows: Rows) -> FloatArray:
    """Shares, none negative, sum one, with which the mean of the values has the least log-loss."""
    stacked = np.stack(values)

    def loss(shares: FloatArray) -> float:
        return _log_loss(np.tensordot(shares, stacked, axes=1), rows)

    n = len(values)
    whole = {"type": "eq", "fun": lambda shares: shares.sum() - 1.0}
    found = minimize(loss, np.full(n, 1.0 / n), method="SLSQP", bounds=[(0.0, 1.0)] * n, constraints=[whole])
    shares = np.clip(found.x, 0.0, 1.0)
    return np.asarray(shares / shares.sum())
