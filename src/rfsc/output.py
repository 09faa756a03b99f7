"""One output from the training rows to a model: candidate terms, restarts, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._typing import FloatArray, IntArray
from .bases import CONSTANT, build_space
from .engines import Engine, FitOptions, Memo, Problem, Restricted, Score, make_engine
from .model import SparseModel, refit
from .prepare.scaling import Scaling
from .prepare.targets import Targets
from .restrictions import Restrictions, rules_for
from .search import Candidate, Checkpoint, RestartsResult, RIPs, Screening, SearchSpec, Subsamples, pool, run_restarts
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
    """

    targets: Targets
    scaling: Scaling
    table: FloatArray
    weight: FloatArray

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
    price : float, default=0.0
        What a term of the pooled model must improve the left-out log-loss by.
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
            n_observations=float(rows.weight.sum()),
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
    space: TermSpace | None = None,
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
    space : TermSpace or None, default=None
        The candidate terms; None for all that the families offer.
    """
    space = candidate_terms(rows, features, spec) if space is None else space
    rules = output_rules(rows, space, spec)
    target = rows.targets.outputs[output]
    problem = Problem(space, rows.table, target, rows.weight, spec.options, spec.search.max_terms)
    # each subsample remembers as well: late populations hold the same few supports many times
    subsamples = Subsamples.of_size(
        spec.max_samples, rows.targets.code, lambda some: Memo(_engine(spec, problem.take(some), rules))
    )
    problem = replace(problem, few_supports=subsamples is not None)
    engine = Memo(_engine(spec, problem, rules))
    tested = problem if subsamples is None else problem.take(subsamples.rows(generators[0]))
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
    largest = largest_pooled(rows)
    best = restarts.best
    if spec.combine == "pool":
        some = None if subsamples is None else subsamples.rows(generators[0])
        best = _pooled(problem, restarts, spec, largest, rules, some)
    store = problem.store()
    store.slots_of(best.ids)  # an empty store fills up from its first slot
    n_terms = best.ids.size
    penalty = spec.options.ridge * store.variance[:n_terms]
    final = refit(store.columns[:n_terms], target, rows.weight, penalty, best.coef)
    return OutputFit(space, restarts, best.ids, final.coef, final.standard_error, best.score, began)


def largest_pooled(rows: Rows) -> int:
    """Most terms of the model of one output that is made of the terms of several searches."""
    return min(POOL_TERMS, max(POOL_LEAST, POOL_TOTAL // len(rows.targets.outputs)))


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


def _engine(spec: OutputSpec, problem: Problem, rules: Rules | None) -> Engine:
    """The engine that was asked for, made to obey the rules."""
    engine = make_engine(spec.engine, problem, spec.n_threads, spec.precision)
    return engine if rules is None else Restricted(engine, rules)


def _pooled(
    problem: Problem,
    restarts: RestartsResult,
    spec: OutputSpec,
    largest: int,
    rules: Rules | None,
    some: IntArray | None,
) -> Candidate:
    """The small model among the terms of all restarts, by left-out log-loss whatever the search maximised.

    Where `some` rows are given, terms are taken out by these, and only the best models on the way see all.
    """
    options = replace(problem.options, score=Score.LOO_LOG_LOSS, significance=NO_TEST)
    problem = replace(problem, options=options)
    engine = _engine(spec, problem if some is None else problem.take(some), rules)
    all_rows = None if some is None else _engine(spec, problem, rules)
    most = problem.max_terms
    pooled = pool(restarts.searches, engine, most=most, largest=largest, rules=rules, all_rows=all_rows, price=spec.price)
    return restarts.best if pooled is None else pooled
