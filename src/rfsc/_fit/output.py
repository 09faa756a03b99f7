"""One output from the training rows to a model: candidate terms, searches, and one model out of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._engines import Criterion, Engine, FitOptions, Memo, Problem, Restricted, make_engine
from .._model.inference import WaldFit, refit
from .._model.sparse_model import SparseModel
from .._search.context import Context
from .._search.history import Candidate, SearchResult
from .._search.loop import SearchSettings, SearchSetup, run_search
from .._search.pool import Elimination, pool
from .._search.rips import RIPs
from .._search.screening import Screening
from .._search.subsamples import N_FINALISTS, Subsamples
from .._terms import Basis, TermSpace, Training
from .._terms.rules import Rules
from .._utils.arrays import FloatArray, IntArray
from .._utils.determinism import Seed, stream
from ..restrictions import Restrictions, rules_for
from .rows import Rows

POOL_TERMS = 15  # largest model of one output that combine="pool" returns
POOL_TERMS_IN_ALL = 20  # of all outputs together ...
POOL_TERMS_AT_LEAST = 5  # ... unless that leaves fewer than this for each
SCREENING_TIME_SHARE = 0.2  # of the time that an output has
SEARCH_TIME_SHARE = 0.85  # of the time that an output has; the rest is for combining the restarts
CONSTANT = 0  # id of the constant in every space
FEW_TERMS = 2_000  # beyond, random draws find less than half of what screening finds, in ten times the time
SCREENED_OBSERVATIONS = 5_000  # beyond, the tests show well what matters
WIDE = 10.0  # terms for each observation beyond which every term of the answer has a price, if they are many
PRICE_FACTOR = 0.5  # of the price among independent terms: terms that move together amount to fewer
NO_TEST = 0.5  # the level at which the threshold on abs(t) is zero


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSpec:
    """How every output is fitted."""

    bases: tuple[Basis, ...]
    restrictions: Restrictions | None
    feature_names: tuple[str, ...]
    layout_seed: int  # of the families that need randomness; the same for every output, so that they share terms
    options: FitOptions
    search: SearchSettings
    max_terms: int
    max_samples: int | None  # rows that each iteration is scored on; None for all
    combine: str
    engine: str
    n_threads: int
    initial_rip: str  # "uniform", "screened", "as far as possible" or "by terms", see `start_by_size`
    pool_terms: int  # largest model that combine="pool" returns

    def space(self, rows: Rows, features: IntArray) -> TermSpace:
        """All terms of the families over some features."""
        from ..bases import build_space  # with all families, which the import of the classifier need not load

        return build_space(self.bases, Training(rows.table, rows.weight, features, rows.scaling), self.layout_seed)

    def rules(self, rows: Rows, space: TermSpace) -> Rules | None:
        """What the models must obey."""
        if self.restrictions is None and not space.groups:
            return None
        constant, most = rows.scaling.constant, self.max_terms
        return rules_for(self.restrictions, space, self.feature_names, constant=constant, max_terms=most)

    def engine_over(self, problem: Problem, rules: Rules | None) -> Engine:
        """The engine that was asked for, made to obey the rules."""
        engine = make_engine(self.engine, problem, self.n_threads)
        return engine if rules is None else Restricted(engine, rules)


def pool_terms(n_outputs: int) -> int:
    """Largest model of each output that combine="pool" returns."""
    return min(POOL_TERMS, max(POOL_TERMS_AT_LEAST, POOL_TERMS_IN_ALL // n_outputs))


def start_by_size(n_observations: float) -> str:
    """What initial_rip="auto" means for a table: screened if it is long, else if a space has many terms.

    Decided once for a fit, so that the parts of the rows on which bases are compared are searched like the whole.
    """
    return "as far as possible" if n_observations > SCREENED_OBSERVATIONS else "by terms"


def price_of_term(n_terms: int, n_observations: float) -> float:
    """What a term must improve the mean log-loss by; nothing unless there are far more terms than observations.

    Twice the gain in log-likelihood of an irrelevant term is about the square of a standard normal number, and the
    largest of n such squares is about 2 log n.
    """
    if n_terms <= max(FEW_TERMS, WIDE * n_observations):
        return 0.0
    return PRICE_FACTOR * float(np.log(n_terms)) / n_observations


@dataclass(frozen=True, slots=True)
class Job:
    """All searches of one output with one set of families."""

    output: int
    features: IntArray  # that it may use
    spec: OutputSpec
    seeds: tuple[Seed, ...]  # one for each restart
    first: int = 0  # number of the first restart, as observers and checkpoints see it

    def shortened(self) -> Job:
        """A single iteration of a single search."""
        spec = replace(self.spec, search=replace(self.spec.search, max_iter=1))
        return replace(self, spec=spec, seeds=self.seeds[:1])


@dataclass(frozen=True, slots=True, eq=False)
class OutputFit:
    """The model of one output, and the searches that led to it."""

    space: TermSpace
    searches: tuple[SearchResult, ...]
    ids: IntArray
    coef: FloatArray
    standard_error: FloatArray | None  # None for an average, as is the score
    score: float | None
    initial_rip: str  # "uniform", "screened" or "partly screened"
    not_begun: str = ""  # why searches were not begun: "time_limit" or "interrupted"

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


class OutputSearch:
    """The searches of one job; they share the candidate terms, the screening and, here, the engine with its memo."""

    def __init__(self, rows: Rows, job: Job, context: Context | None = None) -> None:
        self.rows, self.job = rows, job
        self.space = job.spec.space(rows, job.features)
        self.rules = job.spec.rules(rows, self.space)
        self._context = Context() if context is None else context

    def __sizeof__(self) -> int:
        return self.rows.table.nbytes

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made again: an engine, and its context."""
        kept = {name: getattr(self, name) for name in ("job", "space", "rules", "start", "initial_rip")}
        return {**kept, "rows": replace(self.rows, large=None), "_context": Context()}

    def alone(self) -> OutputSearch:
        """A copy with an engine of its own that uses one thread."""
        other = OutputSearch.__new__(OutputSearch)
        other.__dict__.update(self.__getstate__())
        other.job = replace(self.job, spec=replace(self.job.spec, n_threads=1))
        return other

    @cached_property
    def problem(self) -> Problem:
        """All rows."""
        spec, rows = self.job.spec, self.rows
        target = rows.targets.outputs[self.job.output]
        return Problem(self.space, rows.table, target, rows.weight, spec.options, spec.max_terms)

    @cached_property
    def engine(self) -> Engine:
        """Fits supports on all rows, each once."""
        problem = replace(self.problem, few_supports=self._subsamples is not None)
        return Memo(self.job.spec.engine_over(problem, self.rules))

    @cached_property
    def _subsamples(self) -> Subsamples | None:
        if self.job.spec.max_samples is None:
            return None

        def engine_over(some: IntArray) -> Engine:
            # each subsample has a memo: late populations hold the same few supports many times
            return Memo(self.job.spec.engine_over(self.problem.take(some), self.rules))

        return Subsamples.of_size(self.job.spec.max_samples, self.rows.targets.code, engine_over)

    @cached_property
    def _fixed_samples(self) -> tuple[IntArray | None, IntArray | None]:
        """Rows of the screening, and rows on which pooled terms are removed; None for all."""
        if self._subsamples is None:
            return None, None
        rng = stream(self.job.seeds[0], 0)
        return self._subsamples.rows(rng), self._subsamples.rows(rng)

    @cached_property
    def _screening(self) -> Screening:
        some, spec = self._fixed_samples[0], self.job.spec
        tested = self.problem if some is None else self.problem.take(some)
        seconds = SCREENING_TIME_SHARE * self._context.seconds_left
        return Screening(tested, spec.max_terms, self.rules, spec.n_threads, seconds)

    @cached_property
    def start(self) -> RIPs | None:
        """RIPs with which the searches begin; None if all terms begin alike."""
        spec, n_terms = self.job.spec, self.space.n_terms
        if spec.initial_rip == "uniform" or (spec.initial_rip == "by terms" and n_terms <= FEW_TERMS):
            return None
        screening = self._screening
        has_no_deadline = self._context.deadline == np.inf
        if spec.initial_rip == "screened" and not screening.is_complete and has_no_deadline:
            msg = (
                f'initial_rip="screened" tests every term, but of {n_terms:,} only {screening.n_tested:,} can be '
                "tested in reasonable time. Use a basis with fewer terms, keep fewer features with "
                'filter_significance, or use initial_rip="auto", which tests as many as it can.'
            )
            raise ValueError(msg)
        return screening.first_rips(CONSTANT, self.engine) if screening.n_tested else None

    @cached_property
    def initial_rip(self) -> str:
        """How the searches begin."""
        if self.start is None:
            return "uniform"
        return "screened" if self._screening.is_complete else "partly screened"

    def run(self, item: int, context: Context) -> SearchResult:
        """One of the searches, by its number."""
        job = self.job
        setup = SearchSetup(
            self.engine,
            self.space.n_terms,
            job.spec.search,
            job.spec.max_terms,
            rules=self.rules,
            start=self.start,
            subsamples=self._subsamples,
        )
        return run_search(setup, job.seeds[item], context, output=job.output, restart=job.first + item)

    def combined(self, searches: Sequence[SearchResult], context: Context, not_begun: str = "") -> OutputFit:
        """One model out of all searches."""
        combine, models = self.job.spec.combine, sorted((s.model for s in searches), key=lambda c: c.rank)
        if combine == "average":
            ids, coef = _average(searches)
            return OutputFit(self.space, tuple(searches), ids, coef, None, None, self.initial_rip, not_begun)
        if combine == "pool" and not context.stop_reason:
            models = self._pooled(searches, context) or models
        best, final = self._refitted(models)
        answer = best.ids, final.coef, final.standard_error, best.score
        return OutputFit(self.space, tuple(searches), *answer, self.initial_rip, not_begun)

    def _pooled(self, searches: Sequence[SearchResult], context: Context) -> list[Candidate]:
        """Small models among the terms of all restarts, by left-out log-loss whatever the search maximised.

        With subsamples, terms are removed on one of them, and only the best models on the way see all rows.
        """
        spec, some = self.job.spec, self._fixed_samples[1]
        options = replace(spec.options, criterion=Criterion.LOO_LOG_LOSS, significance=NO_TEST)
        problem = replace(self.problem, options=options, few_supports=True)
        few = problem if some is None else problem.take(some)
        elimination = Elimination(
            spec.engine_over(few, self.rules),
            most_pooled=few.max_terms,
            max_terms=spec.pool_terms,
            rules=self.rules,
            price=price_of_term(self.space.n_terms, float(few.weight.sum())),
            # those of a table beyond memory are compared on all its rows by the final fit
            all_rows=None if some is None or self.rows.large else spec.engine_over(problem, self.rules),
        )
        return pool(searches, elimination, context)

    def _refitted(self, models: Sequence[Candidate]) -> tuple[Candidate, WaldFit]:
        """The best model, fitted to all rows in full precision; beyond memory, all rows decide between the first."""
        problem, large = self.problem, self.rows.large
        if large is not None:
            from .streamed_refit import streamed_refit  # only tables beyond memory need it

            finalists = models[:N_FINALISTS]
            pairs = [(model.ids, model.coef) for model in finalists]
            fits = streamed_refit(large, self.space, pairs, self.job.output, problem.options.ridge)
            k = min(range(len(fits)), key=lambda k: fits[k].log_loss)
            return finalists[k], fits[k].fit
        best, store = models[0], problem.store()
        store.slots_of(best.ids)  # an empty store fills up from its first slot
        n_terms = best.ids.size
        penalty = problem.options.ridge * store.variance[:n_terms]
        return best, refit(store.columns[:n_terms], problem.target, problem.weight, penalty, best.coef)


def _average(searches: Sequence[SearchResult]) -> tuple[IntArray, FloatArray]:
    """Terms and coefficients of the mean of the restarts' models."""
    models = [search.model for search in searches]
    ids, at = np.unique(np.concatenate([model.ids for model in models]), return_inverse=True)
    total = np.bincount(at, weights=np.concatenate([model.coef for model in models]), minlength=ids.size)
    return ids, total / len(models)
