"""One output from the training rows to a model: candidate terms, restarts, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._typing import FloatArray, IntArray
from .bases import CONSTANT, build_space
from .blocks import Blocks
from .engines import BlockProblem, Engine, FitOptions, Memo, Problem, Restricted, Score, make_engine
from .model import SparseModel, WaldFit, refit, refit_blocks
from .prepare.scaling import Scaling
from .prepare.targets import Targets
from .restrictions import Restrictions, rules_for
from .search import (
    Candidate,
    Checkpoint,
    RankSubsamples,
    RestartsResult,
    RIPs,
    Screening,
    SearchSpec,
    Subsamples,
    pool,
    run_restarts,
)
from .terms import Basis, TermSpace, Training
from .terms.rules import Rules

POOL_TERMS = 15  # largest model of one output that combine="pool" returns
POOL_TOTAL = 20  # and of all outputs together, as long as that leaves each at least
POOL_LEAST = 5
FEW_TERMS = 2_000  # beyond, random draws find less than half of what screening finds, in ten times the time
FEW_OBSERVATIONS = 5_000  # beyond, the tests tell well what matters, and draws soon give up what they tried too early
NO_TEST = 0.5  # the level at which the threshold on abs(t) is zero


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The training rows as every output sees them.

    Parameters
    ----------
    targets : Targets
        Classes and outputs.
    scaling : Scaling
        Ranges of the features.
    table : ndarray of shape (n_features, n_rows)
        The scaled features.
    weight : ndarray of shape (n_rows,)
        Observations that each row stands for, positive.
    blocks : Blocks or None
        All rows, where the above are a sample of them, or where all are to be fitted by `DaskEngine`.
    """

    targets: Targets
    scaling: Scaling
    table: FloatArray
    weight: FloatArray
    blocks: Blocks | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are, in hand or not."""
        return self.weight.size if self.blocks is None else self.blocks.n_rows

    @property
    def n_observations(self) -> float:
        """What they stand for together."""
        return float(self.weight.sum()) if self.blocks is None else self.blocks.n_observations

    def problem(self, output: int, space: TermSpace, options: FitOptions, max_terms: int) -> Problem | BlockProblem:
        """One output over all rows."""
        in_hand = Problem(space, self.table, self.targets.outputs[output], self.weight, options, max_terms)
        return in_hand if self.blocks is None else BlockProblem(in_hand, self.blocks, output)

    def subsamples(self, size: int | None, engine_over: Callable[[Any], Engine]) -> Subsamples | None:
        """Samples of about `size` rows, None for all rows."""
        if self.blocks is None:
            return Subsamples.of_size(size, self.targets.code, engine_over)
        return RankSubsamples.of_counts(size, self.blocks.counts.sum(axis=0), engine_over)

    def take(self, which: IntArray) -> Rows:
        """Some of the rows; classes and scaling stay those of all."""
        targets = self.targets
        some = Targets(targets.classes, targets.code[which], tuple(output[which] for output in targets.outputs))
        return Rows(some, self.scaling, np.take(self.table, which, axis=1), self.weight[which])


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSpec:
    """How every output is fitted.

    Parameters
    ----------
    bases : tuple of Basis
        Families of terms.
    restrictions : Restrictions or None
        Which models are searched.
    feature_names : tuple of str
        Names that the restrictions are read by.
    layout_seed : int
        Seed of the families that need randomness; the same for every output, so that they share their terms.
    options : FitOptions
        How a support is fitted, tested and scored.
    search : SearchSpec
        How supports are searched.
    max_samples : int or None
        Rows that each iteration is scored on; None for all.
    combine : {"pool", "best", "average"}
        How the restarts become one model.
    engine : str
        Name of the engine.
    precision : str
        In which precision a device begins to fit.
    n_threads : int
        Threads that it may use.
    initial_rip : {"uniform", "screened", "as far as possible", "by terms"}
        Whether score tests of all terms set the RIPs with which the searches begin; see `start_by_size`.
    """

    bases: tuple[Basis, ...]
    restrictions: Restrictions | None
    feature_names: tuple[str, ...]
    layout_seed: int
    options: FitOptions
    search: SearchSpec
    max_samples: int | None
    combine: str
    engine: str
    precision: str
    n_threads: int
    initial_rip: str


@dataclass(frozen=True, slots=True, eq=False)
class OutputFit:
    """What the search of one output has found.

    Parameters
    ----------
    space : TermSpace
        The candidate terms.
    restarts : RestartsResult
        Every restart.
    ids, coef : ndarray of shape (n_terms,)
        The answer.
    standard_error : ndarray of shape (n_terms,) or None
        None for an average.
    score : float or None
        Score of the answer; None for an average.
    initial_rip : {"uniform", "screened", "partly screened"}
        How the searches began.
    """

    space: TermSpace
    restarts: RestartsResult
    ids: IntArray
    coef: FloatArray
    standard_error: FloatArray | None
    score: float | None
    initial_rip: str

    def model(self, rows: Rows, feature_names: tuple[str, ...], label: object) -> SparseModel:
        """The frozen model, terms by falling coefficient."""
        order = np.argsort(-np.abs(self.coef), kind="stable")
        return SparseModel(
            terms=self.space.terms(self.ids[order]),
            coef=self.coef[order],
            standard_error=None if self.standard_error is None else self.standard_error[order],
            scaling=rows.scaling,
            feature_names=feature_names,
            label=label,
            n_observations=rows.n_observations,
            score=self.score,
        )


def fit_outputs(
    rows: Rows,
    features: Sequence[IntArray],
    specs: Sequence[OutputSpec],
    generators: Sequence[Sequence[np.random.Generator]],
    observers: Sequence[Any],
    checkpoint: Checkpoint | None = None,
) -> list[list[OutputFit]]:
    """Fit every output with every spec. After an observer's "stop_all" what is left gets a single iteration.

    Parameters
    ----------
    rows : Rows
        The training rows.
    features : sequence of ndarray of int
        Features that each output may use.
    specs : sequence of OutputSpec
        Settings; with more than one, the restarts of an output are numbered on from one to the next.
    generators : sequence of sequence of numpy.random.Generator
        Per output one for each restart.
    observers : sequence
        Shown every finished iteration.
    checkpoint : Checkpoint or None, default=None
        Where searches are kept, and taken up from.
    """
    fits: list[list[OutputFit]] = []
    stopped = False
    for output, allowed in enumerate(features):
        own = [[generator] if len(specs) == 1 else generator.spawn(len(specs)) for generator in generators[output]]
        found: list[OutputFit] = []
        for spec, seeds in zip(specs, zip(*own, strict=True), strict=True):
            first = sum(len(fit.restarts.searches) for fit in found)
            if stopped:
                seeds, spec = seeds[:1], replace(spec, search=replace(spec.search, max_iter=1))
            found.append(fit_output(rows, output, allowed, spec, seeds, observers, first, checkpoint))
            stopped = stopped or found[-1].restarts.stopped
        fits.append(found)
    return fits


def fit_output(
    rows: Rows,
    output: int,
    features: IntArray,
    spec: OutputSpec,
    generators: Sequence[np.random.Generator],
    observers: Sequence[Any] = (),
    first: int = 0,
    checkpoint: Checkpoint | None = None,
) -> OutputFit:
    """Search one output with every generator and combine what was found.

    Parameters
    ----------
    rows : Rows
        The training rows.
    output : int
        Which output.
    features : ndarray of int
        Features that it may use.
    spec : OutputSpec
        Settings.
    generators : sequence of numpy.random.Generator
        One for each restart.
    observers : sequence
        Shown every finished iteration.
    first : int, default=0
        Number of the first restart, as the observers are told.
    checkpoint : Checkpoint or None, default=None
        Where the searches are kept, and taken up from.
    """
    space = candidate_terms(rows, features, spec)
    rules = output_rules(rows, space, spec)
    problem = rows.problem(output, space, spec.options, spec.search.max_terms)
    # each subsample remembers as well: late populations hold the same few supports many times
    subsamples = rows.subsamples(spec.max_samples, lambda some: Memo(_engine(spec, problem.take(some), rules)))
    if isinstance(problem, Problem):
        problem = replace(problem, few_supports=subsamples is not None)
    engine = Memo(_engine(spec, problem, rules))
    tested = problem.in_hand if isinstance(problem, BlockProblem) else problem
    if subsamples is not None:
        tested = problem.take(subsamples.rows(generators[0]))
    screening = Screening(tested, spec.search, rules, spec.n_threads)
    start = _first_rips(screening, engine, space, spec)
    began = "uniform" if start is None else "screened" if screening.is_complete else "partly screened"
    restarts = run_restarts(
        engine,
        space.n_terms,
        spec.search,
        generators,
        rules=rules,
        start=start,
        rescreen=screening.again,
        subsamples=subsamples,
        observers=observers,
        output=output,
        first=first,
        checkpoint=checkpoint,
    )
    if spec.combine == "average":
        return OutputFit(space, restarts, *restarts.average(), None, None, began)
    largest = min(POOL_TERMS, max(POOL_LEAST, POOL_TOTAL // len(rows.targets.outputs)))
    best = restarts.best
    if spec.combine == "pool":
        some = None if subsamples is None else subsamples.rows(generators[0])
        best = _pooled(problem, restarts, spec, largest, rules, some)
    final = _refitted(problem, best)
    return OutputFit(space, restarts, best.ids, final.coef, final.standard_error, best.score, began)


def start_by_size(n_observations: float) -> str:
    """What initial_rip="auto" means for a table: screened where it is long, else where a space has many terms.

    Decided once for a fit, so that the parts of the rows on which bases are compared are searched like the whole.
    """
    return "as far as possible" if n_observations > FEW_OBSERVATIONS else "by terms"


def candidate_terms(rows: Rows, features: IntArray, spec: OutputSpec) -> TermSpace:
    """All terms of the families over the features that an output may use."""
    return build_space(spec.bases, Training(rows.table, rows.weight, features, rows.scaling), spec.layout_seed)


def output_rules(rows: Rows, space: TermSpace, spec: OutputSpec) -> Rules | None:
    """What the models of an output obey."""
    constant, most = rows.scaling.constant, spec.search.max_terms
    return rules_for(spec.restrictions, space, spec.feature_names, constant=constant, max_terms=most)


def _first_rips(screening: Screening, engine: Engine, space: TermSpace, spec: OutputSpec) -> RIPs | None:
    """RIPs that follow the score tests where these were asked for or pay; None where all terms begin alike."""
    if spec.initial_rip == "uniform" or (spec.initial_rip == "by terms" and space.n_terms <= FEW_TERMS):
        return None
    if spec.initial_rip == "screened" and not screening.is_complete:
        msg = (
            f'initial_rip="screened" tests every term, but of {space.n_terms:,} only {screening.n_tested:,} can be '
            "tested in reasonable time. Lower degree, keep fewer features with filter_significance, or use "
            'initial_rip="auto", which tests as many as it can.'
        )
        raise ValueError(msg)
    return screening.first_rips(CONSTANT, engine) if screening.n_tested else None


def _engine(spec: OutputSpec, problem: Problem | BlockProblem, rules: Rules | None) -> Engine:
    """The engine that was asked for, made to obey the rules."""
    engine = make_engine(spec.engine, problem, spec.n_threads, spec.precision)
    return engine if rules is None else Restricted(engine, rules)


def _refitted(problem: Problem | BlockProblem, best: Candidate) -> WaldFit:
    """The chosen model, fitted to all rows in full precision."""
    if isinstance(problem, BlockProblem):
        return refit_blocks(problem, best.ids, best.coef)
    store = problem.store()
    store.slots_of(best.ids)  # an empty store fills up from its first slot
    n_terms = best.ids.size
    penalty = problem.options.ridge * store.variance[:n_terms]
    return refit(store.columns[:n_terms], problem.target, problem.weight, penalty, best.coef)


def _pooled(
    problem: Problem | BlockProblem,
    restarts: RestartsResult,
    spec: OutputSpec,
    largest: int,
    rules: Rules | None,
    some: Any,
) -> Candidate:
    """The small model among the terms of all restarts, by left-out log-loss whatever the search maximised.

    Where `some` rows are given, or rows in hand are part of all, terms are taken out by these, and only the best models
    on the way see all.
    """
    problem = problem.with_options(replace(problem.options, score=Score.LOO_LOG_LOSS, significance=NO_TEST))
    few = problem.in_hand if isinstance(problem, BlockProblem) else problem
    few = few if some is None else problem.take(some)
    engine = _engine(spec, few, rules)
    sees_all = some is None and (isinstance(problem, Problem) or problem.has_all_in_hand)
    all_rows = None if sees_all else _engine(spec, problem, rules)
    most = few.max_terms
    pooled = pool(restarts.searches, engine, most=most, largest=largest, rules=rules, all_rows=all_rows)
    return restarts.best if pooled is None else pooled
