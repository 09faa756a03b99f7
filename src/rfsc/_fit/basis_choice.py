"""Which families of terms suit the data: `basis="auto"` compares them by cross-validation inside the training rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from .._model.predictor import class_probabilities, decision_table
from .._search.context import Context
from .._terms import Basis
from .._utils.arrays import FloatArray, IntArray, distinct_rows
from .._utils.determinism import Seed, one_blas_thread
from ..restrictions import TermNotOfferedError
from .executor import Executor
from .output import Job, OutputSearch, OutputSpec
from .rows import Rows

Mixes = Mapping[str, tuple[Basis, ...]]
FeaturesOf = Callable[[Rows], Sequence[IntArray]]

N_FOLDS = 5
# distinct rows that are compared on: enough to see which family suits, and long tables stay affordable
MOST_ROWS = 5000
SMALLEST_PROBABILITY = 1e-15
SHARE_TOL = 1e-14  # of the log-loss, flat near its least value: else engines agree on half of the digits of shares
SMALLEST_SHARE = 0.02  # a mix that weighs less is left out of an average


@dataclass(frozen=True, slots=True)
class BasisChoice:
    """What was compared and what was chosen."""

    shares: dict[str, float]  # weight of every mix of families that is taken; they sum to one
    losses: dict[str, float]  # left-out log-loss of every mix; empty if nothing could be compared
    is_complete: bool = True  # whether there was time for the whole comparison


@dataclass(frozen=True, slots=True)
class Cell:
    """One model of the comparison."""

    mix: str
    fold: int  # left out
    output: int
    features: IntArray  # that it may use

    @property
    def key(self) -> str:
        """Name in a checkpoint."""
        return f"compared/{self.mix}/{self.fold}/{self.output}"


@dataclass(frozen=True, eq=False)
class BasisComparison:
    """The rows that are compared on, and how; runs one cell at a time."""

    rows: Rows
    fold: IntArray  # of every row
    specs: Mapping[str, OutputSpec]  # by mix

    def __sizeof__(self) -> int:
        return self.rows.table.nbytes

    def alone(self) -> BasisComparison:
        """A copy that uses one thread."""
        return replace(self, specs={name: replace(spec, n_threads=1) for name, spec in self.specs.items()})

    def run(self, item: Cell, context: Context) -> FloatArray:
        """Values, on the rows of a fold, of a model found by one search on the other folds."""
        spec = self.specs[item.mix]
        part = self.rows.take(np.flatnonzero(self.fold != item.fold))
        spec = replace(spec, max_terms=min(spec.max_terms, max(int(part.weight.sum()) - 1, 1)))
        seed = Seed([spec.layout_seed, item.fold, item.output])
        work = OutputSearch(part, Job(item.output, item.features, spec, (seed,)), context)
        fit = work.combined([work.run(0, replace(context, observers=()))], context)
        unseen = np.ascontiguousarray(self.rows.table[:, self.fold == item.fold])
        return np.asarray(np.einsum("j,jk->k", fit.coef, fit.space.columns(unseen, fit.ids)))


def choose_basis(
    mixes: Mixes, rows: Rows, features_of: FeaturesOf, spec: OutputSpec, n_jobs: int | None, context: Context
) -> BasisChoice:
    """The mix of families whose models predict left-out rows best; for an average, the share of each."""
    mixes = _possible(mixes, rows, features_of, spec)
    fold = _fold_of_rows(rows, np.random.default_rng(spec.layout_seed))
    if fold is None or len(mixes) == 1:
        return BasisChoice({next(iter(mixes)): 1.0}, {})
    rows, fold = rows.take(np.flatnonzero(fold >= 0)), fold[fold >= 0]
    specs = {name: replace(spec, bases=bases, combine="best") for name, bases in mixes.items()}
    cells = _cells(mixes, rows, fold, features_of)
    found = _left_out_values(cells, BasisComparison(rows, fold, specs), Executor(n_jobs), context)
    values = {name: _assembled([cell for cell in cells if cell.mix == name], found, fold) for name in mixes}
    complete = {name: value for name, value in values.items() if value is not None}
    is_complete = len(complete) == len(mixes)
    if not complete:
        return BasisChoice({next(iter(mixes)): 1.0}, {}, is_complete)
    losses = {name: _log_loss(value, rows) for name, value in complete.items()}
    if spec.combine != "average":
        return BasisChoice({min(losses, key=lambda name: losses[name]): 1.0}, losses, is_complete)
    shares = dict(zip(complete, _best_shares(list(complete.values()), rows).tolist(), strict=True))
    taken = {name: share for name, share in shares.items() if share >= SMALLEST_SHARE}
    total = sum(taken.values())
    return BasisChoice({name: share / total for name, share in taken.items()}, losses, is_complete)


def _cells(mixes: Mixes, rows: Rows, fold: IntArray, features_of: FeaturesOf) -> list[Cell]:
    """One cell for each mix, fold and output."""
    # once for all mixes: a filter tests every feature
    features = [features_of(rows.take(np.flatnonzero(fold != number))) for number in range(int(fold.max()) + 1)]
    return [
        Cell(name, number, output, allowed)
        for name in mixes
        for number, own in enumerate(features)
        for output, allowed in enumerate(own)
    ]


def _possible(mixes: Mixes, rows: Rows, features_of: FeaturesOf, spec: OutputSpec) -> Mixes:
    """The mixes that offer every term that restrictions force or group."""
    if spec.restrictions is None or not (spec.restrictions.force or spec.restrictions.groups):
        return mixes
    features = features_of(rows)
    possible: dict[str, tuple[Basis, ...]] = {}
    reasons: list[str] = []
    for name, bases in mixes.items():
        own = replace(spec, bases=bases)
        try:
            for allowed in features:
                own.rules(rows, own.space(rows, allowed))
        except TermNotOfferedError as error:
            reasons.append(str(error))
        else:
            possible[name] = bases
    if not possible:
        msg = f'basis="auto" has no mix that offers every term of restrictions. With {next(iter(mixes))}: {reasons[0]}'
        raise ValueError(msg)
    return possible


def _fold_of_rows(rows: Rows, rng: np.random.Generator) -> IntArray | None:
    """Stratified folds, -1 for rows of a long table that are not used; None if a class has too few rows.

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
    cells: Sequence[Cell], comparison: BasisComparison, executor: Executor, context: Context
) -> dict[str, FloatArray]:
    """Values of the cells' models on rows that they have not seen, by key, as far as there is time."""
    found: dict[str, FloatArray] = {}
    if context.checkpoint is not None:
        known = {cell.key: context.checkpoint.get(cell.key) for cell in cells}
        found = {key: np.array(values) for key, values in known.items() if values is not None}
    todo = [cell for cell in cells if cell.key not in found]
    if context.progress:
        context.progress.on_choice(cells[0].mix, 0.0)
    with closing(executor.run(((comparison, cell, context) for cell in todo), context)) as results:
        for cell, values in zip(todo, results, strict=False):
            if context.stop_reason:  # this model may not have been searched to its end
                break
            found[cell.key] = values
            if context.checkpoint is not None:
                context.checkpoint.put(cell.key, values.tolist())
            if context.progress:
                context.progress.on_choice(cell.mix, len(found) / len(cells))
    return found


def _assembled(cells: Sequence[Cell], found: Mapping[str, FloatArray], fold: IntArray) -> FloatArray | None:
    """The values of all outputs of one mix on all rows; None if a fold is missing."""
    if any(cell.key not in found for cell in cells):
        return None
    values = np.empty((max(cell.output for cell in cells) + 1, fold.size))
    for cell in cells:
        values[cell.output, fold == cell.fold] = found[cell.key]
    return decision_table(list(values))


def _log_loss(values: FloatArray, rows: Rows) -> float:
    """Weighted mean over all rows."""
    code = rows.targets.code
    right = class_probabilities(values)[np.arange(code.size), code]
    return float((rows.weight * -np.log(np.maximum(right, SMALLEST_PROBABILITY))).sum()) / float(rows.weight.sum())


def _best_shares(values: Sequence[FloatArray], rows: Rows) -> FloatArray:
    """Nonnegative shares that sum to one, with which the mean of the values has the least log-loss."""
    stacked = np.stack(values)

    def loss(shares: FloatArray) -> float:
        return _log_loss(np.tensordot(shares, stacked, axes=1), rows)

    n = len(values)
    sum_to_one = {"type": "eq", "fun": lambda shares: shares.sum() - 1.0}
    options = {"method": "SLSQP", "jac": "3-point", "options": {"ftol": SHARE_TOL}}
    with one_blas_thread():  # more would only change the rounding
        found = minimize(loss, np.full(n, 1.0 / n), bounds=[(0.0, 1.0)] * n, constraints=[sum_to_one], **options)
    shares = np.clip(found.x, 0.0, 1.0)
    return np.asarray(shares / shares.sum())
