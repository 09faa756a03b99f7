"""One cross-validation inside the training rows chooses the families of terms, the size and the shrinkage together.

What is compared is what is delivered: every model of the comparison is searched like the answer and walks the same path
of sizes, so the left-out loss of all sizes comes with it. Everything is a function of the rows alone: folds and seeds
do not depend on `random_state`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import log_expit

from .._model.inference import calibration_slopes, intercepts
from .._model.predictor import class_probabilities, decision_table
from .._model.sparse_model import SizeCurve, SparseModel
from .._search.context import Context
from .._terms import Basis, TermSpace
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.determinism import Seed
from ..restrictions import TermNotOfferedError
from .executor import Executor
from .output import Job, OutputSearch, OutputSpec
from .rows import Rows, folds_of

Mixes = Mapping[str, tuple[Basis, ...]]
FeaturesOf = Callable[[Rows], Sequence[IntArray]]

RICHER = 0.5  # paired standard errors by which a richer mix must be better than a simpler one
EVIDENCE = 1.75  # times what the best of the features has by chance; without it no term is chosen
EVIDENCE_ROWS = 300  # with fewer rows less is enough, as the square root of their number: few tables would have a model
USUAL_SIZE = 6  # number of terms, unless another one is better by a paired standard error
KEPT_GAIN = 0.98  # of what such a size gains over the smallest; a smaller one that surely keeps as much is preferred
DOUBT = 0.9  # share of the coefficients that is taken away where there is just enough evidence
WORSE = 2.0  # paired standard errors by which a mix may be worse than the best one, to be searched on more folds
RACE_ROWS = 100  # left-out rows that tell so
EVENTS_PER_TERM = 3.0  # rows of the smaller class that a term of the answer takes at least
CHOICE_SEED = 20160728  # the folds and the searches of the comparison do not depend on random_state
SMALLEST_PROBABILITY = 1e-15
SMALLEST_SHARE = 1e-15  # weights may sum to next to nothing


@dataclass(frozen=True, slots=True, eq=False)
class OutputChoice:
    """What was chosen for one output, and its left-out loss by size; sizes that no model has are NaN."""

    size: int
    loss: FloatArray  # (max_size + 1,), mean log-loss of left-out rows
    above_best: FloatArray  # by how much it is above that of the best size
    error: FloatArray  # paired standard error of this difference
    slopes: FloatArray  # by which the coefficients of each size are multiplied
    known: tuple[IntArray, ...] = ()  # supports that the searches came upon, if their ids are those of the answer
    began: str = ""  # how these searches began

    def curve(self, models: Sequence[SparseModel]) -> SizeCurve:
        """The sizes that the models of the answer have."""
        sizes = np.array([model.size for model in models])
        at = np.minimum(sizes, self.loss.size - 1)
        n_features = np.array([len(model.features) for model in models])
        return SizeCurve(sizes, n_features, self.loss[at], self.above_best[at], self.error[at])


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What was compared and what was chosen."""

    mix: str
    outputs: tuple[OutputChoice, ...] = ()  # empty if nothing could be compared
    losses: Mapping[str, float] | None = None  # left-out log-loss of every mix at its size
    is_complete: bool = True  # whether there was time for the whole comparison


@dataclass(frozen=True, slots=True)
class Cell:
    """One path of models of the comparison."""

    mix: str
    fold: int  # left out
    output: int
    features: IntArray  # that it may use

    @property
    def key(self) -> str:
        """Name in a checkpoint."""
        return f"compared/{self.mix}/{self.fold}/{self.output}"


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """What a cell gives."""

    values: FloatArray  # (max_size + 1, n_left_out), of the model of each size; NaN for sizes below the smallest
    known: tuple[IntArray, ...]
    began: str


class Comparison:
    """The rows that are compared on, and how; runs one cell at a time."""

    def __init__(self, rows: Rows, fold: IntArray, specs: Mapping[str, OutputSpec]) -> None:
        self.rows, self.fold, self.specs = rows, fold, specs
        self._spaces: dict[tuple[str, bytes], TermSpace] = {}

    def __sizeof__(self) -> int:
        return self.rows.table.nbytes

    def alone(self) -> Comparison:
        """A copy that uses one thread."""
        return Comparison(self.rows, self.fold, {name: replace(spec, n_threads=1) for name, spec in self.specs.items()})

    def space(self, cell: Cell) -> TermSpace:
        """The candidate terms, the same for all folds: they are laid out without a look at the classes."""
        key = cell.mix, cell.features.tobytes()
        if key not in self._spaces:
            self._spaces[key] = self.specs[cell.mix].space(self.rows, cell.features)
        return self._spaces[key]

    def read(self, cell: Cell, kept: Mapping[str, Any]) -> Path:
        """What `_written` has written of a cell; ValueError if it is of another one."""
        n_rows = int(np.count_nonzero(self.fold == cell.fold))
        values = np.array([[np.nan] * n_rows if row is None else row for row in kept["values"]], dtype=np.float64)
        known = tuple(np.array(ids, dtype=np.int64) for ids in kept["known"])
        most = (self.specs[cell.mix].max_size or 0) + 1
        is_term = all(((ids >= 0) & (ids < self.space(cell).n_terms)).all() for ids in known)
        if values.shape != (most, n_rows) or not is_term:
            raise ValueError
        return Path(values, known, str(kept["began"]))

    def run(self, item: Cell, context: Context) -> Path:
        """The path of models that one search finds on the other folds, on the rows of a fold."""
        spec, space = self.specs[item.mix], self.space(item)
        part = self.rows.take(np.flatnonzero(self.fold != item.fold))
        spec = replace(spec, max_terms=min(spec.max_terms, max(int(part.weight.sum()) - 1, 1)))
        job = Job(item.output, item.features, spec, (Seed([CHOICE_SEED, item.fold, item.output]),))
        work = OutputSearch(part, job, context, space)
        search = work.run(0, replace(context, observers=()))
        unseen = np.ascontiguousarray(self.rows.table[:, self.fold == item.fold])
        most, path = spec.max_size or 0, work.path([search], context)
        values = np.full((most + 1, unseen.shape[1]), np.nan if path else 0.0)
        for model in path:  # restrictions may force more terms than that
            values[min(work.size(model.ids), most) :] = np.einsum(
                "j,jk->k", model.coef, space.columns(unseen, model.ids)
            )
        known = (search.model.ids, *search.leaders, *(model.ids for model in path))
        return Path(values, known, work.initial_rip)


def choose(
    mixes: Mixes,
    rows: Rows,
    features_of: FeaturesOf,
    spec: OutputSpec,
    size: int | str,
    n_jobs: int | None,
    context: Context,
) -> Choice:
    """The mix of families, the size of each output and the slopes, by left-out log-loss."""
    mixes = _possible(mixes, rows, features_of, spec)
    first = next(iter(mixes))
    some, fold, n_left_out = folds_of(rows, spec.search.n_folds, np.random.default_rng(CHOICE_SEED))
    if n_left_out == 0:
        return Choice(first)
    has_all_rows = some is rows
    specs = {name: replace(spec, bases=bases) for name, bases in mixes.items()}
    race = _Race(Comparison(some, fold, specs), n_left_out, features_of, Executor(n_jobs), context)
    ahead, n_folds = list(mixes), 0
    last: dict[str, tuple[int, FloatArray]] = {}  # of every mix on how many folds it was judged, and its losses

    def judged_on(n: int) -> tuple[_Judge, dict[str, _Judged]]:
        judge = _Judge(some.take(np.flatnonzero(fold < n)), spec.max_size or 0, size)
        found = {name: judge.judged(race.values(name, n)) for name in ahead}
        last.update({name: (n, one.losses) for name, one in found.items()})
        return judge, found

    for number in range(n_left_out):
        if not race.run(ahead, number):
            break
        n_folds = number + 1
        if n_folds < n_left_out and np.count_nonzero(fold < n_folds) >= RACE_ROWS:
            judge, judged = judged_on(n_folds)
            ahead = judge.not_worse({name: one.losses for name, one in judged.items()})
    if not n_folds:
        return Choice(first, is_complete=False)
    judge, judged = judged_on(n_folds)
    chosen = judge.simplest({name: one.losses for name, one in judged.items()})
    features, best = features_of(rows), judged[chosen]
    outputs = []
    for output, (path, k) in enumerate(zip(best.paths, best.sizes, strict=True)):
        own = [race.cells[chosen, number][output] for number in range(n_folds)]
        is_same = has_all_rows and all(np.array_equal(cell.features, features[output]) for cell in own)
        known = tuple(ids for cell in own for ids in race.found[cell.key].known) if is_same else ()
        outputs.append(replace(judge.output(output, path, k), known=known, began=race.found[own[0].key].began))
    means = {name: judge.mean_like(best.losses, loss, fold[fold < n_folds] < n) for name, (n, loss) in last.items()}
    return Choice(chosen, tuple(outputs), means, n_folds == n_left_out)


class _Race:
    """The comparison fold by fold: mixes that fall behind are not searched on the other folds."""

    def __init__(
        self, comparison: Comparison, n_left_out: int, features_of: FeaturesOf, executor: Executor, context: Context
    ) -> None:
        self.comparison, self.n_left_out, self.features_of = comparison, n_left_out, features_of
        self.executor, self.context = executor, context
        self.cells: dict[tuple[str, int], list[Cell]] = {}  # of a mix and a fold, one for each output
        self.found: dict[str, Path] = {}

    def run(self, mixes: Sequence[str], number: int) -> bool:
        """Search the models of some mixes with one fold left out; False if there was no time for all of them."""
        fold, rows, context = self.comparison.fold, self.comparison.rows, self.context
        # once for all mixes: a filter tests every feature
        features = self.features_of(rows.take(np.flatnonzero(fold != number)))
        for name in mixes:
            self.cells[name, number] = [Cell(name, number, output, own) for output, own in enumerate(features)]
        cells = [cell for name in mixes for cell in self.cells[name, number]]
        if context.checkpoint is not None:
            for cell in cells:
                path = context.checkpoint.get(cell.key, partial(self.comparison.read, cell))
                self.found |= {} if path is None else {cell.key: path}
        todo = [cell for cell in cells if cell.key not in self.found]
        if context.progress and number == 0:
            context.progress.expect_choice(len(todo) + (self.n_left_out - 1) * len(cells))
        with closing(self.executor.run(((self.comparison, cell, context) for cell in todo), context)) as results:
            for place, (cell, path) in enumerate(zip(todo, results, strict=False), 1):
                if context.stop_reason:  # this model may not have been searched to its end
                    break
                self.found[cell.key] = path
                if context.checkpoint is not None:
                    context.checkpoint.put(cell.key, _written(path))
                if context.progress:
                    n_left = len(todo) - place + (self.n_left_out - number - 1) * len(cells)
                    context.progress.on_choice(number, self.n_left_out, cell.mix, n_left)
        return all(cell.key in self.found for cell in cells)

    def values(self, mix: str, n_folds: int) -> list[FloatArray]:
        """What the models of a mix predict for the rows of the first folds: one table (size, row) for each output."""
        fold = self.comparison.fold[self.comparison.fold < n_folds]
        paths = [[self.found[cell.key] for cell in self.cells[mix, number]] for number in range(n_folds)]
        tables = [np.empty((len(path.values), fold.size)) for path in paths[0]]
        for number, own in enumerate(paths):
            for table, path in zip(tables, own, strict=True):
                table[:, fold == number] = path.values
        return tables


@dataclass(frozen=True, slots=True, eq=False)
class _Calibrated:
    """What models of all sizes predict for the left-out rows of one output, with the slopes that they will have."""

    values: FloatArray  # (size, row), calibrated: what is delivered
    slopes: FloatArray  # by size

    @property
    def smallest(self) -> int:
        """The smallest size that models of all folds have."""
        return int(np.argmax(~np.isnan(self.values).any(axis=1)))


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """A mix on the left-out rows."""

    paths: list[_Calibrated]  # of each output
    sizes: list[int]  # that were chosen for them
    losses: FloatArray  # of every row, with these sizes


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """Compares what was predicted for the left-out rows."""

    rows: Rows  # those that were left out
    max_size: int
    rule: int | str  # "best", "1se" or the number of terms

    def mean(self, losses: FloatArray) -> Any:
        """Weighted mean over the rows."""
        return (losses * self.rows.weight).sum(axis=-1) / self.rows.weight.sum()

    def mean_like(self, known: FloatArray, losses: FloatArray, seen: BoolArray) -> float:
        """The mean over all rows that a mix would have which was judged on some: its difference from one on all."""
        difference = np.average(losses - known[seen], weights=self.rows.weight[seen])
        return float(self.mean(known) + difference)

    def error(self, differences: FloatArray) -> Any:
        """Standard error of such a mean."""
        spread = np.square(differences - np.expand_dims(self.mean(differences), -1))
        with np.errstate(over="ignore"):  # of weights that sum to next to nothing
            return np.sqrt(self.mean(spread) / self.rows.weight.sum())

    def judged(self, values: Sequence[FloatArray]) -> _Judged:
        """A mix, by what its models of all sizes predict: one table (size, row) for each output."""
        paths = self.calibrated(values)
        sizes = [self.size(output, path) for output, path in enumerate(paths)]
        return _Judged(paths, sizes, self.row_losses(paths, sizes))

    def calibrated(self, values: Sequence[FloatArray]) -> list[_Calibrated]:
        """Tables (size, row), one for each output, multiplied by their slopes."""
        found = []
        for target, table in zip(self.rows.targets.outputs, values, strict=True):
            slopes = np.ones(len(table))
            has_model = ~np.isnan(table).any(axis=1)
            slopes[has_model] = calibration_slopes(table[has_model], target, self.rows.weight)
            table, low = table * slopes[:, None], slopes < 1.0
            table[low] += intercepts(table[low], target, self.rows.weight)[:, None]
            found.append(_Calibrated(table, slopes))
        return found

    def size(self, output: int, path: _Calibrated) -> int:
        """The size of an output."""
        smallest = path.smallest
        if not isinstance(self.rule, str):
            return max(self.rule, smallest)
        losses = self._output_losses(output, path)[smallest : max(self.most_terms(output), smallest) + 1]
        if self.rule == "best":
            usual = losses[np.clip(USUAL_SIZE - smallest, 0, len(losses) - 1)]
            best = losses[np.argmin(self.mean(losses - usual) + self.error(losses - usual))]
            allowed = (1.0 - KEPT_GAIN) * self.mean(losses[0] - best)
            is_as_good = self.mean(losses - best) + self.error(losses - best) <= np.maximum(allowed, 0.0)
        else:
            best = losses[np.argmin(self.mean(losses))]
            is_as_good = self.mean(losses - best) <= self.error(losses - best)
        return smallest + int(np.argmax(is_as_good))

    def most_terms(self, output: int) -> int:
        """The largest size that the rows of the smaller class allow."""
        is_class = self.rows.targets.outputs[output] > 0
        events = min(self.rows.weight[is_class].sum(), self.rows.weight[~is_class].sum())
        return int(max(1, min(self.max_size, events / EVENTS_PER_TERM)))

    def _output_losses(self, output: int, path: _Calibrated) -> FloatArray:
        """Log-loss of every row by size."""
        return np.asarray(-log_expit(self.rows.targets.outputs[output] * path.values))

    def row_losses(self, paths: Sequence[_Calibrated], sizes: Sequence[int]) -> FloatArray:
        """Log-loss of every row, with models of the given sizes."""
        code = self.rows.targets.code
        proba = class_probabilities(decision_table([path.values[k] for path, k in zip(paths, sizes, strict=True)]))
        return np.asarray(-np.log(np.maximum(proba[np.arange(code.size), code], SMALLEST_PROBABILITY)))

    def simplest(self, losses: Mapping[str, FloatArray]) -> str:
        """The first mix, unless a later one is clearly better than the best so far."""
        names = list(losses)
        chosen = names[0]
        for name in names[1:]:
            gain = losses[chosen] - losses[name]
            if self.mean(gain) > RICHER * self.error(gain):
                chosen = name
        return chosen

    def not_worse(self, losses: Mapping[str, FloatArray]) -> list[str]:
        """The mixes that are not clearly worse than the best one."""
        best = min(losses.values(), key=self.mean)
        return [name for name, loss in losses.items() if self.mean(loss - best) <= WORSE * self.error(loss - best)]

    def evidence(self, output: int, values: FloatArray) -> float:
        """How well predictions tell the classes of an output apart, in multiples of what is needed.

        Of many features without a signal the best one is associated with the class by chance, in all folds alike.
        """
        few_rows = np.clip(self.rows.weight.sum() / EVIDENCE_ROWS, SMALLEST_SHARE, 1.0)
        needed = EVIDENCE * np.sqrt(2.0 * np.log1p(len(self.rows.table)) * few_rows)
        return float(standardised_auc(values, self.rows.targets.outputs[output] > 0, self.rows.weight) / needed)

    def output(self, output: int, path: _Calibrated, size: int) -> OutputChoice:
        """All that is known of the sizes of an output; without enough evidence, its size is the smallest one."""
        losses = self._output_losses(output, path)
        mean = self.mean(losses)
        best = int(np.nanargmin(mean))
        error = self.error(losses - losses[best])
        evidence = self.evidence(output, path.values[size])
        if isinstance(self.rule, str) and evidence < 1.0:
            size = path.smallest
        # weak evidence is mostly too good, as James and Stein found of uncertain means
        slopes = path.slopes * (1.0 - DOUBT / max(evidence, 1.0) ** 2)
        return OutputChoice(min(size, self.max_size), mean, mean - mean[best], error, slopes)


def standardised_auc(values: FloatArray, is_class: BoolArray, weight: FloatArray) -> float:
    """By how many standard errors the AUC of predictions is above one half (Brunner and Munzel's rank test)."""
    _, place = np.unique(values, return_inverse=True)
    n_values = int(place.max()) + 1
    ahead, behind = (np.bincount(place[own], weight[own], n_values) for own in (is_class, ~is_class))
    ahead, behind = ahead / ahead.sum(), behind / behind.sum()
    beats, loses = np.cumsum(behind) - behind / 2, np.cumsum(ahead) - ahead / 2  # equal values count half
    auc = float(ahead @ beats)
    with np.errstate(over="ignore"):  # a class of next to no weight says nothing
        variance = ahead @ (beats - auc) ** 2 / weight[is_class].sum()
        variance += behind @ (loses - (1.0 - auc)) ** 2 / weight[~is_class].sum()
    if variance > 0.0:
        return float((auc - 0.5) / np.sqrt(variance))
    return np.inf if auc > 0.5 else 0.0


def _possible(mixes: Mixes, rows: Rows, features_of: FeaturesOf, spec: OutputSpec) -> Mixes:
    """The mixes that offer every term that restrictions force or group, and some term for every sign."""
    wanted = spec.restrictions
    if len(mixes) == 1 or wanted is None or not (wanted.force or wanted.groups or wanted.signs):
        return mixes
    features = features_of(rows)
    possible: dict[str, tuple[Basis, ...]] = {}
    reasons: list[str] = []
    for name, bases in mixes.items():
        own = replace(spec, bases=bases)
        try:
            for allowed in features:
                own.requirements(rows, own.space(rows, allowed))
        except TermNotOfferedError as error:
            reasons.append(str(error))
        else:
            possible[name] = bases
    if not possible:
        msg = f'basis="auto" has no mix that offers every term of restrictions. With {next(iter(mixes))}: {reasons[0]}'
        raise ValueError(msg)
    return possible


def _written(path: Path) -> dict[str, Any]:
    """A path as JSON knows it; NaN is None."""
    rows = [None if np.isnan(row).any() else row.tolist() for row in path.values]
    known = [ids.tolist() for ids in path.known]
    return {"values": rows, "known": known, "began": path.began}
