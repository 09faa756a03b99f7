"""One output from the training rows to its models: candidate terms, searches, and a model of every size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._engines import Criterion, Engine, FitOptions, Memo, Problem, Restricted, make_engine
from .._engines.base import Evaluation, Supports
from .._model.inference import WaldFit, refit, shrunken
from .._model.sparse_model import SparseModel
from .._search.context import Context
from .._search.elimination import eliminated, exchanged, gathered, most_frequent, removable_units, without
from .._search.history import Candidate, SearchResult
from .._search.loop import SearchSettings, SearchSetup, Subsamples, rips_of, run_search
from .._search.rips import RIPs
from .._search.screening import Screening
from .._terms import Basis, TermSpace, Training
from .._terms.requirements import CONSTANT, Requirements
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.determinism import RestartSeeds, Seed, stream
from .._utils.files import decode
from ..restrictions import Restrictions, requirements_of
from .rows import Rows

LAYOUT_SEED = 0  # of families and samples that need randomness: the same candidate terms whatever random_state
N_EXCHANGED = 5  # best models of the chosen size whose terms are exchanged for others
LARGEST_EXCHANGED = 20  # size beyond which that would take too long
LEAST_POOL = 40  # terms with which the elimination begins: those that most of the best models hold
SPARE_TERMS = 20  # at least so many of them are more than the largest size
SCREENING_TIME_SHARE = 0.2  # of the time that an output has
MANY_ROWS = 100_000  # rows from which a single fit takes a share of a second
SEARCH_TIME_SHARE = 0.85  # of the time that an output has; the rest is for combining the restarts
FEW_TERMS = 2_000  # beyond, random draws find less than half of what screening finds, in ten times the time
FEW_VALUES = 2_000_000  # observations times terms; beyond, screening finds as much in half the time
NO_TEST = 0.5  # the level at which the threshold on abs(t) is zero


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSpec:
    """How every output is fitted."""

    bases: tuple[Basis, ...]
    restrictions: Restrictions | None
    feature_names: tuple[str, ...]
    columns: tuple[int, ...]  # of the table, from which each feature is made; empty if each is a column itself
    options: FitOptions
    search: SearchSettings
    max_terms: int
    max_samples: int | None  # rows that each iteration is scored on; None for all
    max_size: int | None  # largest answer, the intercept not counted; None: the best restart as it is
    wanted_size: int  # number of terms that the user has asked for; 0 if the rows decide
    engine: str
    n_threads: int
    n_observations: float  # of the whole table: its parts are searched like the whole

    def space(self, rows: Rows, features: IntArray) -> TermSpace:
        """All terms of the families over some features."""
        from ..bases import build_space  # with all families, which the import of the classifier need not load

        return build_space(self.bases, Training(rows.table, rows.weight, features, rows.scaling), LAYOUT_SEED)

    def requirements(self, rows: Rows, space: TermSpace) -> Requirements | None:
        """What the models must obey."""
        constant, most = rows.scaling.constant, self.max_terms
        found = requirements_of(self.restrictions, space, self.feature_names, constant=constant, max_terms=most)
        if not (self.search.intercept or self.columns):
            return found
        found = replace(found or Requirements(space), columns=self.columns)
        needs = found.needs(CONSTANT) if self.search.intercept else None  # None, too, if restrictions forbid it
        return found if needs is None else replace(found, forced=found.forced | needs)

    def engine_over(self, problem: Problem, requirements: Requirements | None) -> Engine:
        """The engine that was asked for, made to obey the requirements."""
        engine = make_engine(self.engine, problem, self.n_threads)
        return engine if requirements is None else Restricted(engine, requirements)


@dataclass(frozen=True, slots=True)
class Job:
    """All searches of one output with one set of families."""

    output: int
    features: IntArray  # that it may use
    spec: OutputSpec
    seeds: RestartSeeds | tuple[Seed, ...]  # one for each restart
    size: int | None = None  # number of terms of the answer; None: the size with the least leave-one-out loss
    slopes: FloatArray | None = None  # by which the coefficients of each size are multiplied; None: they stay
    known: tuple[IntArray, ...] = ()  # supports that searches on parts of the rows came upon, whose terms are used
    began: str = ""  # how those searches began

    def shortened(self) -> Job:
        """A single iteration of a single search."""
        spec = replace(self.spec, search=replace(self.spec.search, max_iter=1))
        return replace(self, spec=spec, seeds=(self.seeds[0],))


@dataclass(frozen=True, slots=True, eq=False)
class FittedTerms:
    """A model by the ids of its terms, fitted to all rows."""

    ids: IntArray
    coef: FloatArray
    standard_error: FloatArray
    score: float
    log_loss: float  # left out one by one
    worth: FloatArray | None = None  # by how much the left-out log-loss rises without each term; NaN for what must stay

    @property
    def size(self) -> int:
        """Number of terms, the constant not counted."""
        return int(np.count_nonzero(self.ids != CONSTANT))


@dataclass(frozen=True, slots=True, eq=False)
class OutputFit:
    """The models of one output by size, and the searches that led to them."""

    space: TermSpace
    searches: tuple[SearchResult, ...]
    models: tuple[FittedTerms, ...]  # smallest first
    chosen: int  # place of the answer among them
    initial_rip: str  # "uniform", "screened" or "partly screened"
    not_begun: str = ""  # why searches were not begun: "time_limit" or "interrupted"
    slopes: FloatArray | None = None  # by which the coefficients of each size were multiplied

    def sparse_models(self, rows: Rows, feature_names: tuple[str, ...], label: object) -> list[SparseModel]:
        """The frozen models, terms by falling coefficient."""
        orders = [np.argsort(-np.abs(model.coef), kind="stable") for model in self.models]
        return [
            SparseModel(
                terms=self.space.terms(model.ids[order]),
                coef=model.coef[order],
                standard_error=model.standard_error[order],
                scaling=rows.scaling,
                feature_names=feature_names,
                label=label,
                n_observations=rows.n_observations,
                score=model.score,
                worth=None if model.worth is None else model.worth[order],
            )
            for model, order in zip(self.models, orders, strict=True)
        ]


class OutputSearch:
    """The searches of one job; they share the candidate terms, the screening and, here, the engine with its memo."""

    def __init__(self, rows: Rows, job: Job, context: Context | None = None, space: TermSpace | None = None) -> None:
        self.rows, self.job = rows, job
        self.space = job.spec.space(rows, job.features) if space is None else space
        self.requirements = job.spec.requirements(rows, self.space)
        self._context = Context() if context is None else context

    def __sizeof__(self) -> int:
        return self.rows.table.nbytes

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made again: an engine, and its context."""
        kept = {name: getattr(self, name) for name in ("job", "space", "requirements", "start", "initial_rip")}
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
        return Memo(self.job.spec.engine_over(problem, self.requirements))

    @cached_property
    def _subsamples(self) -> Subsamples | None:
        if self.job.spec.max_samples is None:
            return None

        def engine_over(some: IntArray) -> Engine:
            # each subsample has a memo: late populations hold the same few supports many times
            return Memo(self.job.spec.engine_over(self.problem.take(some), self.requirements))

        return Subsamples.of_size(self.job.spec.max_samples, self.rows.targets.code, engine_over)

    @cached_property
    def _fixed_samples(self) -> tuple[IntArray | None, IntArray | None]:
        """Rows of the screening, and rows on which pooled terms are removed; None for all."""
        if self._subsamples is None:
            return None, None
        rng = stream(Seed([LAYOUT_SEED, self.job.output]), 0)
        return self._subsamples.rows(rng), self._subsamples.rows(rng)

    @cached_property
    def _screening(self) -> Screening:
        some, spec = self._fixed_samples[0], self.job.spec
        tested = self.problem if some is None else self.problem.take(some)
        seconds = SCREENING_TIME_SHARE * self._context.seconds_left
        return Screening(tested, spec.max_terms, self.requirements, spec.n_threads, seconds)

    @cached_property
    def start(self) -> RIPs | None:
        """RIPs with which the searches begin; None if all terms begin alike."""
        spec, n_terms = self.job.spec, self.space.n_terms
        if self.job.known:
            drawn = [ids[ids != CONSTANT] if spec.search.intercept else ids for ids in self.job.known]
            return rips_of(drawn, n_terms, spec.search.least_rip)
        is_small = n_terms <= min(FEW_TERMS, FEW_VALUES / spec.n_observations)
        how = spec.search.initial_rip
        if how == "uniform" or (how == "auto" and is_small):
            return None
        screening = self._screening
        has_no_deadline = self._context.deadline == np.inf
        if how == "screened" and not screening.is_complete and has_no_deadline:
            msg = (
                f'initial_rip="screened" tests every term, but of {n_terms:,} only {screening.n_tested:,} can be '
                "tested in reasonable time. Use a basis with fewer terms, keep fewer features with "
                'filter_significance, or use initial_rip="auto", which tests as many as it can.'
            )
            raise ValueError(msg)
        return screening.first_rips(CONSTANT, self.engine) if screening.n_tested else None

    @cached_property
    def initial_rip(self) -> str:
        """How terms are drawn first, here or in the searches that came before."""
        if self.job.known:
            return self.job.began
        if self.start is None:
            return "uniform"
        return "screened" if self._screening.is_complete else "partly screened"

    def run(self, item: int, context: Context) -> SearchResult:
        """One of the searches, by its number."""
        job, settings, most = self.job, self.job.spec.search, self.job.spec.max_terms
        if job.known and job.size is not None and job.spec.restrictions is None:
            most = min(most, job.size + 1)  # with the intercept
        setup = SearchSetup(
            self.engine,
            self.space.n_terms,
            settings,
            most,
            requirements=self.requirements,
            start=self.start,
            subsamples=self._subsamples,
        )
        return run_search(setup, job.seeds[item], context, output=job.output, restart=item)

    def read(self, kept: Any) -> SearchResult:
        """A search that a checkpoint has kept; ValueError if it has terms that this output does not have."""
        found: SearchResult = decode(SearchResult, kept)
        models = [found.model.ids, *found.leaders, *([] if found.limit is None else [found.limit.ids])]
        ids = np.concatenate([*models, *(record.rips.ids for record in found.history)])
        if not found.history or ids.min(initial=0) < 0 or ids.max(initial=0) >= self.space.n_terms:
            raise ValueError
        return found

    def combined(self, searches: Sequence[SearchResult], context: Context, not_begun: str = "") -> OutputFit:
        """The models of all sizes out of all searches, or of one size: what the best restart has found."""
        path = [] if self.job.spec.max_size is None or context.stop_reason else self.path(searches, context)
        if path:
            sizes = [self.size(model.ids) for model in path]
            chosen = self._chosen(path, sizes)
        else:
            path, chosen = [min((s.model for s in searches), key=lambda c: c.rank)], 0
        if self.rows.large is not None:  # a pass over all rows for each step: the answer only
            path, chosen = [path[chosen]], 0
        models = self.fitted(path)
        answer = models[chosen]
        by_size = {model.size: model for model in (*models, answer)}  # the last fit may have dropped a term
        sizes = sorted(by_size)
        place = sizes.index(answer.size)
        # if there is no time, only the answer has it, and on a long table none
        is_over, is_long = bool(context.stop_reason), self.problem.target.size > MANY_ROWS
        found = [
            model if is_over and (is_long or model is not answer) else replace(model, worth=self.worth(model))
            for model in (by_size[size] for size in sizes)
        ]
        return OutputFit(self.space, tuple(searches), tuple(found), place, self.initial_rip, not_begun, self.job.slopes)

    def size(self, ids: IntArray) -> int:
        """Number of terms, the constant not counted."""
        return int(np.count_nonzero(ids != CONSTANT))

    def _chosen(self, path: Sequence[Candidate], sizes: Sequence[int]) -> int:
        """Place of the answer: the size that was chosen or the next smaller one, else the least left-out loss."""
        if self.job.size is None:
            return min(range(len(path)), key=lambda k: path[k].log_loss)
        return max((k for k, size in enumerate(sizes) if size <= self.job.size), default=0)

    def path(self, searches: Sequence[SearchResult], context: Context) -> list[Candidate]:
        """The best models of at most `max_size` terms that the elimination meets, smallest first."""
        spec, some, most_terms = self.job.spec, self._fixed_samples[1], self.job.spec.max_size or 0
        few = self.unpruned if some is None else self.unpruned.take(some)
        # with models of the folds at hand the answer is made of them: it is the same for every seed
        supports = self.job.known or [ids for search in searches for ids in (search.model.ids, *search.leaders)]
        pooled = most_frequent(supports, few.max_terms, self.requirements)
        engine = Memo(spec.engine_over(few, self.requirements))  # exchanges from several models meet the same ones
        if pooled.size and self.size(pooled) < spec.wanted_size and not context.stop_reason:
            pooled = self._filled_up(pooled, Candidate.best_of(engine.evaluate(Supports.from_lists([pooled]))))
        one_by_one = min(2 * most_terms, most_terms + SPARE_TERMS)
        found = eliminated(pooled, engine, self.requirements, context, one_by_one)
        # small models that a search visited may be better than what is left of a large one
        visited = {tuple(ids): ids for ids in supports if self.size(ids) <= most_terms}
        if visited and not context.stop_reason:
            result = engine.evaluate(Supports.from_lists(visited.values()))
            found += [Candidate.at(result, m) for m in range(len(visited))]
        found = sorted({tuple(model.ids): model for model in found}.values(), key=lambda model: model.log_loss)
        if self.job.size and self.job.size <= LARGEST_EXCHANGED and self._terms_are_free:
            kept = frozenset({CONSTANT} if spec.search.intercept else ())
            begun = [model for model in found if self.size(model.ids) == self.job.size][:N_EXCHANGED]
            better = [exchanged(model, pooled, engine, context, kept) for model in begun]
            found = [*better, *found]
        every = self._best_by_size(found)
        small = [model for model in every if self.size(model.ids) <= most_terms] or every[:1]
        if some is None or self.rows.large is not None:
            return small
        # a coefficient may have another sign on all rows: two models may now be of one size
        return self._best_by_size([Candidate.best_of(self.evaluated([model.ids])) for model in small])

    def _filled_up(self, pooled: IntArray, model: Candidate) -> IntArray:
        """The pool with the terms that explain most of what its model leaves unexplained."""
        more = self.space.simplest(self._screening.strongest(model))
        order = list(dict.fromkeys([*pooled.tolist(), *more.tolist()]))
        return gathered(order, self.unpruned.max_terms, self.requirements)

    @property
    def _terms_are_free(self) -> bool:
        """Whether any term may be exchanged for any other of the pool."""
        own = self.requirements
        return own is None or not (own.ties_terms or own.forced - {CONSTANT})

    def _best_by_size(self, models: Sequence[Candidate]) -> list[Candidate]:
        """The model with the least left-out loss of each size, smallest first; the first of equals."""
        best: dict[int, Candidate] = {}
        for model in sorted(models, key=lambda model: model.log_loss):
            best.setdefault(self.size(model.ids), model)
        return [best[size] for size in sorted(best)]

    @cached_property
    def unpruned(self) -> Problem:
        """All rows, for models whose terms all stay, by left-out log-loss whatever the search maximised."""
        options = replace(self.job.spec.options, criterion=Criterion.LOO_LOG_LOSS, significance=NO_TEST)
        observations = max(int(self.problem.weight.sum()) - 1, 1)  # the most that a fit determines
        pool = max(LEAST_POOL, (self.job.spec.max_size or 0) + SPARE_TERMS)
        most = max(min(pool, observations), self.job.spec.max_terms)
        return replace(self.problem, options=options, max_terms=most, few_supports=True)

    @cached_property
    def _unpruned_engine(self) -> Engine:
        return self.job.spec.engine_over(self.unpruned, self.requirements)

    def evaluated(self, supports: Sequence[IntArray]) -> Evaluation:
        """Supports on all rows, not pruned."""
        return self._unpruned_engine.evaluate(Supports.from_lists(supports))

    def worth(self, model: FittedTerms) -> FloatArray | None:
        """By how much the left-out log-loss of a model rises without each of its terms; NaN if they must stay."""
        if self.rows.large is not None or model.size == 0:
            return None
        worth = np.full(model.ids.size, np.nan)
        units = [unit for unit in removable_units(model.ids, self.requirements) if len(unit) < model.ids.size]
        if units:
            losses = self.evaluated([without(model.ids, unit) for unit in units]).log_loss
            for unit, loss in zip(units, losses.tolist(), strict=True):
                worth[np.isin(model.ids, list(unit))] = loss - model.log_loss
        return worth

    def fitted(self, path: Sequence[Candidate]) -> list[FittedTerms]:
        """Models fitted to all rows in full precision, their coefficients multiplied by the slopes."""
        found = []
        for model in path:
            ids, coef = model.ids, model.coef
            fit = self._refitted(ids, coef)
            # a coefficient next to zero, or that of a model of some rows, may have the wrong sign here
            while (stays := self._have_their_signs(ids, fit.coef)).sum() < ids.size:
                ids, coef = ids[stays], fit.coef[stays]
                fit = self._refitted(ids, coef)
            found.append(FittedTerms(ids, fit.coef, fit.standard_error, model.score, model.log_loss))
        return found

    def _refitted(self, ids: IntArray, coef: FloatArray) -> WaldFit:
        problem, large, slopes = self.problem, self.rows.large, self.job.slopes
        if large is not None:
            from .large_tables import streamed_refit  # only tables beyond memory need it

            return streamed_refit(large, self.space, ids, coef, self.job.output, problem.options.ridge)
        # when the time is over, the answer may hold more terms than a model of the search
        store = replace(problem, max_terms=max(problem.max_terms, ids.size)).store()
        store.slots_of(ids)  # an empty store fills up from its first slot
        columns, penalty = store.columns[: ids.size], problem.options.ridge * store.variance[: ids.size]
        fit, size = refit(columns, problem.target, problem.weight, penalty, coef), self.size(ids)
        if slopes is not None and size < slopes.size and slopes[size] < 1.0:
            fit = shrunken(fit, float(slopes[size]), ids == CONSTANT, columns, problem.target, problem.weight)
        return fit

    def _have_their_signs(self, ids: IntArray, coef: FloatArray) -> BoolArray:
        """Which coefficients do not have the wrong sign."""
        signs = np.empty(0) if self.requirements is None else self.requirements.signs_of(ids)
        return ~(signs * coef < 0.0) if signs.size else np.ones(ids.size, dtype=np.bool_)
