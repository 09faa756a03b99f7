"""Which families of terms suit the data: `basis="auto"` asks a small cross-validation inside the training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import joblib
import numpy as np
from scipy.optimize import minimize

from .._model import class_probabilities, decision_table
from .._search import Brake, Checkpoint
from .._search.stopping import NEVER, brake_on_ctrl_c
from .._terms import Basis
from .._terms.distinct import distinct_rows
from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray, IntArray
from .._utils.blas import one_blas_thread
from .._utils.seeds import Seed
from ..restrictions import TermNotOfferedError
from .dispatch import abandon, chosen_backend, results_of
from .targets import Targets
from .workbench import Job, OutputSpec, Rows, Workbench, candidate_terms, output_rules

N_FOLDS = 5
# distinct rows that are compared on: enough to see which family suits, and long tables stay affordable
MOST_ROWS = 5000
SMALLEST = 1e-15  # probability that a wrong certainty counts as
SHARE_TOL = 1e-14  # of the log-loss, flat near its least value: else engines agree on half of the digits of shares
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
    is_whole : bool, default=True
        Whether nothing was left out of the comparison for lack of time.
    """

    shares: dict[str, float]
    losses: dict[str, float]
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """One model of the comparison.

    Parameters
    ----------
    mix : str
        Families of terms.
    fold, output : int
        Which fold is left out, and which output is fitted.
    features : ndarray of int
        Features that it may use.
    """

    mix: str
    fold: int
    output: int
    features: IntArray

    @property
    def key(self) -> str:
        """What a checkpoint calls it."""
        return f"compared/{self.mix}/{self.fold}/{self.output}"


def choose_bases(
    mixes: Mapping[str, tuple[Basis, ...]],
    rows: Rows,
    features_of: Callable[[Rows], Sequence[IntArray]],
    spec: OutputSpec,
    progress: Callable[[str, float], None] | None = None,
    brake: Brake = NEVER,
    checkpoint: Checkpoint | None = None,
) -> Choice:
    """The mix of families whose models predict left-out training rows best; for an average, the share of each."""
    mixes = _able(mixes, rows, features_of, spec)
    fold = _fold_of_rows(rows, np.random.default_rng(spec.layout_seed))
    if fold is None or len(mixes) == 1:
        return Choice({next(iter(mixes)): 1.0}, {})
    rows, fold = rows.take(np.flatnonzero(fold >= 0)), fold[fold >= 0]
    # once for all mixes: a filter tests every feature
    features = [features_of(rows.take(np.flatnonzero(fold != number))) for number in range(int(fold.max()) + 1)]
    cells = [
        Cell(name, number, output, allowed)
        for name in mixes
        for number, own in enumerate(features)
        for output, allowed in enumerate(own)
    ]
    if progress is not None:
        progress(cells[0].mix, 0.0)
    told: dict[str, FloatArray] = {}
    for cell, value in _left_out_values(cells, mixes, rows, fold, spec, brake, checkpoint):
        told[cell.key] = value
        if progress is not None:
            progress(cell.mix, len(told) / len(cells))
    values = {name: _assembled(name, cells, told, fold) for name in mixes}
    complete = {name: value for name, value in values.items() if value is not None}
    is_whole = len(complete) == len(mixes)
    if not complete:
        return Choice({next(iter(mixes)): 1.0}, {}, is_whole)
    losses = {name: _log_loss(value, rows) for name, value in complete.items()}
    if spec.combine != "average":
        return Choice({min(losses, key=lambda name: losses[name]): 1.0}, losses, is_whole)
    shares = _best_shares(list(complete.values()), rows)
    taken = {name: share for name, share in zip(complete, shares.tolist(), strict=True) if share >= LEAST_SHARE}
    total = sum(taken.values())
    return Choice({name: share / total for name, share in taken.items()}, losses, is_whole)


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
    cells: Sequence[Cell],
    mixes: Mapping[str, tuple[Basis, ...]],
    rows: Rows,
    fold: IntArray,
    spec: OutputSpec,
    brake: Brake,
    checkpoint: Checkpoint | None,
) -> Iterator[tuple[Cell, FloatArray]]:
    """What a model of each cell says of the rows that it has not seen, as far as the brake lets it."""
    known = {} if checkpoint is None else {cell.key: checkpoint.find(cell.key) for cell in cells}
    todo = [cell for cell in cells if known.get(cell.key) is None]
    yield from ((cell, np.array(known[cell.key])) for cell in cells if known.get(cell.key) is not None)
    backend = chosen_backend(spec.n_jobs)
    specs = {name: replace(spec, bases=bases, combine="best") for name, bases in mixes.items()}
    if backend is None:
        found: Iterator[FloatArray] = (value_left_out(rows, fold, cell, specs[cell.mix], brake) for cell in todo)
    else:
        parts = rows.table, rows.weight, rows.targets, rows.scaling, fold
        here = {name: replace(own, n_threads=1) for name, own in specs.items()}
        tasks = (joblib.delayed(_value_elsewhere)(*parts, cell, here[cell.mix], brake.deadline) for cell in todo)
        found = results_of(backend, tasks, brake)
    for cell, value in zip(todo, found, strict=False):
        if brake.reason:  # this model may not have been searched to its end
            abandon(found)
            return
        if checkpoint is not None:
            checkpoint.put(cell.key, value.tolist, is_finished=True)
        yield cell, value


def _value_elsewhere(
    table: FloatArray,
    weight: FloatArray,
    targets: Targets,
    scaling: Scaling,
    fold: IntArray,
    cell: Cell,
    spec: OutputSpec,
    deadline: float,
) -> FloatArray:
    """`value_left_out` in another process; the table comes as an argument of its own, so that it is sent once."""
    with brake_on_ctrl_c(deadline) as brake:
        return value_left_out(Rows(targets, scaling, table, weight), fold, cell, spec, brake)


def value_left_out(rows: Rows, fold: IntArray, cell: Cell, spec: OutputSpec, brake: Brake = NEVER) -> FloatArray:
    """What a model, found by one search on the other folds, says of the rows of a fold."""
    part = rows.take(np.flatnonzero(fold != cell.fold))
    most = min(spec.search.max_terms, max(int(part.weight.sum()) - 1, 1))
    own = replace(spec, search=replace(spec.search, max_terms=most))
    seed = Seed([spec.layout_seed, cell.fold, cell.output])
    fit = Workbench.over(part, Job(cell.output, cell.features, own, (seed,)), brake).fit()
    unseen = np.ascontiguousarray(rows.table[:, fold == cell.fold])
    return np.asarray(np.einsum("j,jk->k", fit.coef, fit.space.columns(unseen, fit.ids)))


def _assembled(name: str, cells: Sequence[Cell], told: Mapping[str, FloatArray], fold: IntArray) -> FloatArray | None:
    """The values of all outputs of one mix on all rows; None where a fold was not compared."""
    own = [cell for cell in cells if cell.mix == name]
    if any(cell.key not in told for cell in own):
        return None
    values = np.empty((max(cell.output for cell in own) + 1, fold.size))
    for cell in own:
        values[cell.output, fold == cell.fold] = told[cell.key]
    return decision_table(list(values))


def _log_loss(values: FloatArray, rows: Rows) -> float:
    """Weighted mean over all rows."""
    code = rows.targets.code
    right = class_probabilities(values)[np.arange(code.size), code]
    return float((rows.weight * -np.log(np.maximum(right, SMALLEST))).sum()) / float(rows.weight.sum())


def _best_shares(values: Sequence[FloatArray], rows: Rows) -> FloatArray:
    """Shares, none negative, sum one, with which the mean of the values has the least log-loss."""
    stacked = np.stack(values)

    def loss(shares: FloatArray) -> float:
        return _log_loss(np.tensordot(shares, stacked, axes=1), rows)

    n = len(values)
    whole = {"type": "eq", "fun": lambda shares: shares.sum() - 1.0}
    options = {"method": "SLSQP", "jac": "3-point", "options": {"ftol": SHARE_TOL}}
    with one_blas_thread():  # more would only change the rounding
        found = minimize(loss, np.full(n, 1.0 / n), bounds=[(0.0, 1.0)] * n, constraints=[whole], **options)
    shares = np.clip(found.x, 0.0, 1.0)
    return np.asarray(shares / shares.sum())
