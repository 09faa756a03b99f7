"""One output from the training rows to a model: candidate terms, searches, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._engines import BlockProblem, Criterion, Engine, FitOptions, Memo, Problem, Restricted, make_engine
from .._model import SparseModel, WaldFit, refit, refit_blocks
from .._search import (
    Brake,
    Candidate,
    Checkpoint,
    RankSubsamples,
    RestartsResult,
    RIPs,
    Screening,
    SearchResult,
    SearchSpec,
    Subsamples,
    pool,
    run_restarts,
    run_search,
)
from .._search.restarts import search_key
from .._search.stopping import NEVER
from .._terms import Basis, TermSpace, Training
from .._terms.rules import Rules
from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray, IntArray
from .._utils.seeds import Seed, stream
from ..bases import CONSTANT, build_space
from ..blocks import Blocks
from ..restrictions import Restrictions, rules_for
from .targets import Targets

POOL_TERMS = 15  # largest model of one output that combine="pool" returns
POOL_TOTAL = 20  # and of all outputs together, as long as that leaves each at least
POOL_LEAST = 5
SCREENING = 0.2  # of the time that an output has
SEARCHING = 0.85  # of the time that an output has; the rest is for making one model of what was found
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

    def close(self) -> None:
        """Let go of rows that are held elsewhere."""
        if self.blocks is not None:
            self.blocks.close()

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
    n_jobs : int or None
        Searches at a time, on the backend of joblib that a user has chosen.
    initial_rip : {"uniform", "screened", "as far as possible", "by terms"}
        Whether score tests of all terms set the RIPs with which the searches begin; see `start_by_size`.
    pool_terms : int
        Largest model of one output that combine="pool" returns; see `pool_terms`.
    price : float, default=0.0
        What each of its terms must improve the left-out log-loss by.
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
    n_jobs: int | None
    initial_rip: str
    pool_terms: int
    price: float = 0.0


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


@dataclass(frozen=True, slots=True)
class Job:
    """All searches of one output with one mix of families.

    Parameters
    ----------
    output : int
        Which output.
    features : ndarray of int
        Features that it may use.
    spec : OutputSpec
        Settings.
    seeds : tuple of numpy.random.SeedSequence
        One for each restart.
    mix : int, default=0
        Which of several mixes; observers are told of its restarts after those of the mixes before it.
    before : int, default=0
        Searches of the output that observers were told of already.
    """

    output: int
    features: IntArray
    spec: OutputSpec
    seeds: tuple[Seed, ...]
    mix: int = 0
    before: int = 0

    @property
    def first(self) -> int:
        """Number of the first restart."""
        return self.before + self.mix * len(self.seeds)

    def shortened(self) -> Job:
        """A single iteration of a single search."""
        spec = replace(self.spec, search=replace(self.spec.search, max_iter=1))
        return replace(self, spec=spec, seeds=self.seeds[:1])


class Workbench:
    """One output with all that its searches need, in one process.

    Parameters
    ----------
    table, target, weight, code : ndarray
        Features, -1 or +1, weight and class of every row.
    space : TermSpace
        The candidate terms.
    rules : Rules or None
        What models obey.
    job : Job
        What to do.
    brake : Brake
        How long all of it may take.
    blocks : Blocks or None, default=None
        All rows, where the above are those in hand.
    """

    def __init__(
        self,
        table: FloatArray,
        target: FloatArray,
        weight: FloatArray,
        code: IntArray,
        space: TermSpace,
        rules: Rules | None,
        job: Job,
        brake: Brake = NEVER,
        blocks: Blocks | None = None,
    ) -> None:
        spec = job.spec
        self.space, self.rules, self.job, self.spec, self._code = space, rules, job, spec, code
        self.in_hand = Problem(space, table, target, weight, spec.options, spec.search.max_terms)
        self.problem = self.in_hand if blocks is None else BlockProblem(self.in_hand, blocks, job.output)
        # each subsample remembers as well: late populations hold the same few supports many times
        over = lambda some: Memo(_engine(spec, self.problem.take(some), rules))  # noqa: E731
        if blocks is None:
            self._subsamples = Subsamples.of_size(spec.max_samples, code, over)
        else:
            self._subsamples = RankSubsamples.of_counts(spec.max_samples, blocks.counts.sum(axis=0), over)
        rng = stream(job.seeds[0], 0)
        screened, self._some = (None if self._subsamples is None else self._subsamples.rows(rng) for _ in range(2))
        tested = self.in_hand if screened is None else self.problem.take(screened)
        self._brake = brake
        self._screening = Screening(tested, spec.search, rules, spec.n_threads, SCREENING * brake.seconds_left)

    @classmethod
    def over(cls, rows: Rows, job: Job, brake: Brake = NEVER) -> Workbench:
        """A workbench for a job on these rows."""
        space = candidate_terms(rows, job.features, job.spec)
        target = rows.targets.outputs[job.output]
        rules = output_rules(rows, space, job.spec)
        return cls(rows.table, target, rows.weight, rows.targets.code, space, rules, job, brake, rows.blocks)

    @property
    def parcel(self) -> tuple[Any, ...]:
        """All that another process makes the same workbench of, the large arrays first."""
        problem, job = self.in_hand, replace(self.job, spec=replace(self.spec, n_threads=1))
        return problem.table, problem.target, problem.weight, self._code, self.space, self.rules, job

    def key(self, restart: int) -> str:
        """What a checkpoint calls a search."""
        return search_key(self.job.output, self.job.first + restart)

    @cached_property
    def engine(self) -> Engine:
        """Fits on all rows."""
        problem = self._all_rows(self.spec.options, few_supports=self._subsamples is not None)
        return Memo(_engine(self.spec, problem, self.rules))

    def _all_rows(self, options: FitOptions, *, few_supports: bool) -> Problem | BlockProblem:
        """All rows, to be fitted, tested or scored in some way."""
        problem = self.problem.with_options(options)
        return replace(problem, few_supports=few_supports) if isinstance(problem, Problem) else problem

    @cached_property
    def start(self) -> RIPs | None:
        """RIPs with which the searches begin; None where all terms begin alike."""
        return _first_rips(
            self._screening, self.engine, self.space, self.spec, is_short_of_time=self._brake.deadline < np.inf
        )

    @property
    def began(self) -> str:
        """How they begin."""
        if self.start is None:
            return "uniform"
        return "screened" if self._screening.is_complete else "partly screened"

    def search(self, restart: int, start: RIPs | None, observers: Sequence[Any], brake: Brake) -> SearchResult:
        """One of the searches."""
        result, _ = run_search(
            self.engine,
            self.space.n_terms,
            self.spec.search,
            self.job.seeds[restart],
            output=self.job.output,
            restart=self.job.first + restart,
            start=start,
            observers=observers,
            brake=brake,
            **self._course,
        )
        return result

    @property
    def _course(self) -> dict[str, Any]:
        """What every search is given besides."""
        return {"rules": self.rules, "rescreen": self._screening.again, "subsamples": self._subsamples}

    def fit(self, observers: Sequence[Any] = (), checkpoint: Checkpoint | None = None) -> OutputFit:
        """Run all searches, and make one model of what they find."""
        restarts = run_restarts(
            self.engine,
            self.space.n_terms,
            self.spec.search,
            self.job.seeds,
            output=self.job.output,
            first=self.job.first,
            start=self.start,
            observers=observers,
            brake=self._brake.within(SEARCHING),
            checkpoint=checkpoint,
            **self._course,
        )
        return self.combined(restarts, self._brake)

    def combined(self, restarts: RestartsResult, brake: Brake = NEVER) -> OutputFit:
        """One model out of all searches."""
        spec = self.spec
        if spec.combine == "average":
            return OutputFit(self.space, restarts, *restarts.average(), None, None, self.began)
        best = restarts.best
        if spec.combine == "pool" and not brake.reason:
            best = self._pooled(restarts, brake) or best
        final = _refitted(self.problem, best)
        return OutputFit(self.space, restarts, best.ids, final.coef, final.standard_error, best.score, self.began)

    def _pooled(self, restarts: RestartsResult, brake: Brake) -> Candidate | None:
        """The small model among the terms of all restarts, by left-out log-loss whatever the search maximised.

        With subsamples terms are taken out by one of them, else by the rows in hand; where these are part of the rows,
        only the best models on the way see all.
        """
        spec, some = self.spec, self._some
        options = replace(spec.options, criterion=Criterion.LOO_LOG_LOSS, significance=NO_TEST)
        problem = self._all_rows(options, few_supports=True)
        few = problem.in_hand if isinstance(problem, BlockProblem) else problem
        few = replace(few, few_supports=True) if some is None else problem.take(some)
        engine = _engine(spec, few, self.rules)
        all_rows = None if few.n_rows == problem.n_rows else _engine(spec, problem, self.rules)
        most, largest = few.max_terms, spec.pool_terms
        return pool(
            restarts.searches,
            engine,
            most=most,
            largest=largest,
            rules=self.rules,
            all_rows=all_rows,
            brake=brake,
            price=spec.price,
        )


def pool_terms(n_outputs: int) -> int:
    """Largest model of each output that combine="pool" returns."""
    return min(POOL_TERMS, max(POOL_LEAST, POOL_TOTAL // n_outputs))


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


def _first_rips(
    screening: Screening, engine: Engine, space: TermSpace, spec: OutputSpec, *, is_short_of_time: bool
) -> RIPs | None:
    """RIPs that follow the score tests where these were asked for or pay; None where all terms begin alike."""
    if spec.initial_rip == "uniform" or (spec.initial_rip == "by terms" and space.n_terms <= FEW_TERMS):
        return None
    if spec.initial_rip == "screened" and not screening.is_complete and not is_short_of_time:
        msg = (
            f'initial_rip="screened" tests every term, but of {space.n_terms:,} only {screening.n_tested:,} can be '
            "tested in reasonable time. Lower degree, keep fewer features with filter_significance, or use "
            'initial_rip="auto", which tests as many as it can.'
        )
        raise ValueError(msg)
    return screening.first_rips(CONSTANT, engine) if screening.n_tested else None


def _refitted(problem: Problem | BlockProblem, best: Candidate) -> WaldFit:
    """The chosen model, fitted to all rows in full precision."""
    if isinstance(problem, BlockProblem):
        return refit_blocks(problem, best.ids, best.coef)
    store = problem.store()
    store.slots_of(best.ids)  # an empty store fills up from its first slot
    n_terms = best.ids.size
    penalty = problem.options.ridge * store.variance[:n_terms]
    return refit(store.columns[:n_terms], problem.target, problem.weight, penalty, best.coef)


def _engine(spec: OutputSpec, problem: Problem | BlockProblem, rules: Rules | None) -> Engine:
    """The engine that was asked for, made to obey the rules."""
    engine = make_engine(spec.engine, problem, spec.n_threads, spec.precision)
    return engine if rules is None else Restricted(engine, rules)
