"""A fit from its parameters and rows to models: the jobs, their searches through one executor, and what they give."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import tee
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._engines import Criterion, FitOptions
from .._model.sparse_model import Evidence, FilterEvidence, SparseModel, Trace
from .._search.checkpoint import Checkpoint
from .._search.context import EARLY, INTERRUPTED, TIME_LIMIT, Context, Verdict
from .._search.history import IterationRecord, SearchResult
from .._search.loop import CUTOFF, LEAST_OF_A_CLASS, SearchSettings
from .._terms import Basis, Term
from .._utils.arrays import IntArray
from .._utils.determinism import seeds_of_searches, thread_count
from .._utils.files import encode
from .._utils.manifest import content_digest
from .._utils.words import plural
from .._version import __version__
from ..restrictions import check_number_of_classes
from .choice import Choice, choose
from .encoding import feature_names, shared_columns
from .executor import Executor
from .output import SEARCH_TIME_SHARE, Job, OutputFit, OutputSearch, OutputSpec
from .rows import FeatureRules, Rows, column_order

CHOICE_TIME_SHARE = 0.6  # of a time limit; the rest is for the searches with the basis that was chosen
MOST_ROWS_AT_ONCE = 10_000  # up to which max_samples="auto" takes all rows
AUTO_SAMPLES = 5_000  # rows that it takes at a time of longer tables
SEARCH_KEY = re.compile("search/([0-9]{1,18})/([0-9]{1,18})")  # of a checkpoint: output and restart
NO_EFFECT_ON_RESULT = {"callbacks", "verbose", "n_jobs"}  # parameters that may change when a checkpoint is continued
MOST_OTHERS = 30  # terms that are in no model but whose inclusion probability rose: the picture of a search shows them
NOTABLE = 0.1  # inclusion probability that such a term has reached
DIGITS = 5  # decimals of what the traces hold
FEW_OBSERVATIONS = 20  # below, hardly any term passes the t-test

Place = tuple[int, int]  # restart, position of its job


@dataclass(frozen=True, slots=True, eq=False)
class FitResult:
    """What a fit has found."""

    outputs: list[OutputFit]
    tests: list[FilterEvidence | None]  # of the features, per output
    bases: tuple[Basis, ...]
    choice: Choice

    @property
    def stop_reasons(self) -> list[list[str]]:
        """Per output why its searches ended or were not begun, and first if the choice was cut short."""
        hurried = [] if self.choice.is_complete else [TIME_LIMIT]
        return [
            [*hurried, *(search.stop_reason for search in fit.searches), *([fit.not_begun] if fit.not_begun else [])]
            for fit in self.outputs
        ]


def settings_of(estimator: Any) -> SearchSettings:
    """The settings of the search, the default ones if none were given."""
    return SearchSettings() if estimator.search is None else estimator.search


def open_checkpoint(estimator: Any, data: dict[str, Any], context: Context) -> None:
    """Continue an interrupted fit if data and parameters are the same."""
    if context.checkpoint is None:
        return
    if not isinstance(estimator.random_state, Integral):
        msg = (
            "a checkpoint needs an integer random_state, because only then is the continued fit the same; "
            f"got {type(estimator.random_state).__name__}."
        )
        raise ValueError(msg)
    context.checkpoint.open({"data": data, "rfsc": __version__, **settings_digests(estimator)})


def settings_digests(estimator: Any) -> dict[str, str]:
    """A digest of each parameter that has an effect on the result, by its content: another value may look the same."""
    given = estimator.get_params(deep=False)
    return {name: content_digest(name, value) for name, value in given.items() if name not in NO_EFFECT_ON_RESULT}


def fit_rows(estimator: Any, rows: Rows, context: Context) -> FitResult:
    """Choose basis and sizes, run all searches, and make models of every size out of them."""
    order = column_order(rows)
    level, restrictions = settings_of(estimator).filter_significance, estimator.restrictions
    check_number_of_classes(restrictions, rows.targets.classes.size)
    features = FeatureRules(level, restrictions, feature_names(estimator), order)
    tests = features.tests(rows)
    n_outputs = len(rows.targets.outputs)
    seeds = seeds_of_searches(estimator.random_state, n_outputs, estimator.n_restarts)
    spec, choice = _chosen(estimator, rows, _spec(estimator, rows), features, context)
    if context.progress:
        context.progress.expect(n_outputs, estimator.n_restarts, spec.search.max_iter)
    # with more time another basis might be chosen, whose searches are others
    own = context if choice.is_complete else replace(context, checkpoint=None)
    jobs = [
        Job(output, allowed, spec, restarts)
        for output, (allowed, restarts) in enumerate(zip(features.allowed(rows, tests), seeds, strict=True))
    ]
    if isinstance(estimator.size, Integral):
        jobs = [replace(job, size=int(estimator.size)) for job in jobs]
    if choice.outputs:
        pairs = zip(jobs, choice.outputs, strict=True)
        jobs = [replace(job, size=one.size, slopes=one.slopes, known=one.known, began=one.began) for job, one in pairs]
    return FitResult(fit_jobs(rows, jobs, estimator.n_jobs, own), tests, spec.bases, choice)


def revisited(estimator: Any, rows: Rows) -> list[OutputSearch]:
    """The outputs of a fitted classifier with its candidate terms and settings, to fit further models to its rows."""
    spec = replace(_spec(estimator, rows), bases=estimator.basis_)
    no_features: IntArray = np.empty(0, dtype=np.int64)  # the spaces are known
    return [
        OutputSearch(rows, Job(output, no_features, spec, (), slopes=fit.slopes), space=fit.space)
        for output, fit in enumerate(estimator._fits)
    ]


def _spec(estimator: Any, rows: Rows) -> OutputSpec:
    """How every output is fitted; without bases if these are to be chosen."""
    from ..bases import resolve

    n_rows, search = rows.n_rows, settings_of(estimator)
    max_samples = sample_size(estimator.max_samples, n_rows, rows.targets.classes.size)
    observations = rows.n_observations * min(1.0, (max_samples or n_rows) / n_rows)
    return OutputSpec(
        bases=() if chooses_basis(estimator) else resolve(estimator.basis),
        restrictions=estimator.restrictions,
        feature_names=feature_names(estimator),
        columns=shared_columns(estimator),
        options=FitOptions(Criterion[estimator.criterion.upper()], search.ridge, estimator.significance),
        search=search,
        # fewer terms than observations: the t-test needs degrees of freedom
        max_terms=min(search.max_drawn, max(int(observations) - 1, 1)),
        max_samples=max_samples,
        max_size=_max_size(estimator, n_rows),
        wanted_size=int(estimator.size) if isinstance(estimator.size, Integral) else 0,
        engine=estimator.engine,
        n_threads=thread_count(estimator.n_jobs),
        n_observations=rows.n_observations,
    )


def sample_size(max_samples: float | str | None, n_rows: int, n_classes: int) -> int | None:
    """Rows that `max_samples` stands for; None for all. Never fewer than `LEAST_OF_A_CLASS` of every class."""
    if max_samples == "auto":
        max_samples = AUTO_SAMPLES if n_rows > MOST_ROWS_AT_ONCE else None
    if max_samples is None:
        return None
    size = int(max_samples) if isinstance(max_samples, Integral) else round(float(max_samples) * n_rows)
    return max(size, LEAST_OF_A_CLASS * n_classes)


def chooses_basis(estimator: Any) -> bool:
    """Whether the data choose the families of terms."""
    return isinstance(estimator.basis, str) and estimator.basis == "auto"


def _max_size(estimator: Any, n_rows: int) -> int | None:
    """Largest model on the path of sizes, which has no more terms than rows; None without a path."""
    if estimator.size is None:
        return None
    if isinstance(estimator.size, bool):
        msg = "The 'size' parameter of RFSCClassifier must be 'best', '1se', an integer of at least 0 or None. Got"
        raise ValueError(f"{msg} {estimator.size!r} instead.")
    return min(int(estimator.max_terms if isinstance(estimator.size, str) else max(estimator.size, 0)), n_rows)


def _chosen(
    estimator: Any, rows: Rows, spec: OutputSpec, features: FeatureRules, context: Context
) -> tuple[OutputSpec, Choice]:
    """The spec with the families that were asked for or chosen; and the choice, also of the sizes."""
    from ..bases import auto_mixes, name_of

    if chooses_basis(estimator):
        mixes = auto_mixes(rows.table.shape[0], rows.n_rows)
    else:
        mixes = {name_of(spec.bases): spec.bases}
    if estimator.size is None:
        if len(mixes) > 1:
            msg = 'size=None takes the model of a restart as it is, and basis="auto" compares models of several sizes.'
            raise ValueError(f"{msg} Name a basis, or leave size at its default.")
        return spec, Choice(next(iter(mixes)))
    limited = context.within(CHOICE_TIME_SHARE)
    size = estimator.size if isinstance(estimator.size, str) else spec.max_size or 0
    choice = choose(mixes, rows, features.allowed, spec, size, estimator.n_jobs, limited)
    if context.progress:
        context.progress.say(f"basis: {choice.mix}")
    return replace(spec, bases=mixes[choice.mix]), choice


def fit_jobs(rows: Rows, jobs: Sequence[Job], n_jobs: int | None, context: Context) -> list[OutputFit]:
    """Fit every job; each gets its share of the time.

    On a backend all searches are handed over together. Here, one job follows the other, because an engine holds many
    columns; after an observer's "stop_all", what is left gets a single iteration.
    """
    executor = Executor(n_jobs)
    together = len(jobs) if executor.is_elsewhere else 1
    fits: list[OutputFit] = []
    for first in range(0, len(jobs), together):
        group, share = jobs[first : first + together], context.within(together / (len(jobs) - first))
        if context.signals.stop_all:
            fits += [_shortest_fit(rows, job, share) for job in group]
        else:
            fits += _fit_group(rows, group, executor, share)
    return fits


def _fit_group(rows: Rows, jobs: Sequence[Job], executor: Executor, context: Context) -> list[OutputFit]:
    works = [OutputSearch(rows, job, context.within(1.0 / len(jobs))) for job in jobs]
    searching = context.within(SEARCH_TIME_SHARE)
    found = _searched(works, executor, searching)
    reason = "" if context.signals.stop_all else searching.stop_reason
    fits = []
    for k, (work, job) in enumerate(zip(works, jobs, strict=True)):
        own = [found[place] for place in sorted(found) if place[1] == k]
        is_short = len(own) < len(job.seeds) and not any(search.stop_reason in EARLY for search in own)
        not_begun = reason if is_short else ""
        if own:
            fits.append(work.combined(own, context.within(1.0 / (len(jobs) - k)), not_begun))
        else:
            fits.append(replace(_shortest_fit(rows, job, context), not_begun=not_begun))
    return fits


def _shortest_fit(rows: Rows, job: Job, context: Context) -> OutputFit:
    """A single iteration of a single search: some model for an output that had no time."""
    work = OutputSearch(rows, job.shortened(), context)
    return work.combined([work.run(0, context)], context)


def _searched(works: Sequence[OutputSearch], executor: Executor, context: Context) -> dict[Place, SearchResult]:
    """Results of all searches, by restart and job; those that a checkpoint knows are not run again."""
    # the first restart of every output, then the second: if the fit is stopped, each has had its share
    n_restarts, checkpoint = max(len(work.job.seeds) for work in works), context.checkpoint
    places: Iterator[Place] = ((restart, k) for restart in range(n_restarts) for k in range(len(works)))
    found: dict[Place, SearchResult] = {}
    if checkpoint is not None:
        kept = ((place, checkpoint.get(_key(works, place), works[place[1]].read)) for place in _kept(works, checkpoint))
        found = {place: result for place, result in kept if result is not None}
    # one by one, as the executor takes them: a fit of many restarts may end after the first
    todo, taken = tee(place for place in places if place not in found)
    tasks = ((works[k], restart, context) for restart, k in taken)
    with closing(executor.run(tasks, context, n_large=len(works))) as results:
        for result, place in zip(results, todo, strict=False):
            if executor.is_elsewhere:
                result = _as_watched(result, works[place[1]], place[0], context)
            found[place] = result
            if checkpoint is not None and result.stop_reason not in ("observer", *EARLY):
                checkpoint.put(_key(works, place), encode(result))
            if context.signals.stop_all or context.stop_reason:
                break
    return found


def _key(works: Sequence[OutputSearch], place: Place) -> str:
    """Name of a search in a checkpoint."""
    return f"search/{works[place[1]].job.output}/{place[0]}"


def _kept(works: Sequence[OutputSearch], checkpoint: Checkpoint) -> list[Place]:
    """The searches that a checkpoint knows; there may be too many restarts to ask for each."""
    outputs = {str(work.job.output): k for k, work in enumerate(works)}
    keys = [found.groups() for key in checkpoint.keys if (found := SEARCH_KEY.fullmatch(key))]
    places = [(int(restart), outputs[output]) for output, restart in keys if output in outputs]
    return [(restart, k) for restart, k in places if restart < len(works[k].job.seeds)]


def _as_watched(result: SearchResult, work: OutputSearch, restart: int, context: Context) -> SearchResult:
    """Show a search that ran elsewhere to the observers; if one stops it, run it again here up to that iteration."""
    for record in result.history:
        verdict = context.ask(record)
        if verdict is not Verdict.CONTINUE:

            def stop(seen: IterationRecord, last: int = record.iteration, verdict: Verdict = verdict) -> Verdict | None:
                return verdict if seen.iteration == last else None

            return work.run(restart, replace(context, observers=(stop,)))
    return result


def gather(model: SparseModel, fit: OutputFit, criterion: str, filtered: FilterEvidence | None = None) -> Evidence:
    """Lay the restarts side by side, by term."""
    place: dict[Term, int] = {term: i for i, term in enumerate(model.terms)}
    # terms of the answer and of every restart's model, then other terms that rose
    answer = fit.models[fit.chosen].ids
    known = np.unique(np.concatenate([answer, *(search.model.ids for search in fit.searches)]))
    others = notable_ids(fit, known)
    for term in (*fit.space.terms(known), *fit.space.terms(others)):
        place.setdefault(term, len(place))
    terms, ids = tuple(place), np.union1d(known, others)
    at = np.array([place[term] for term in fit.space.terms(ids)], dtype=np.int64)
    selected = np.zeros((len(fit.searches), len(terms)), dtype=np.bool_)
    for held, search in zip(selected, fit.searches, strict=True):
        held[at] = np.isin(ids, search.model.ids)
    traces = [_trace(search, ids, at, len(terms)) for search in fit.searches]
    traced = _worth_tracing(len(model.terms), traces)
    return Evidence(
        n_candidates=fit.space.n_terms,
        score=criterion,
        terms=terms,
        feature_names=model.feature_names,
        selected=selected,
        rip=np.stack([trace.rips[-1] for trace in traces]),
        stop_reasons=tuple(search.stop_reason for search in fit.searches),
        traced=traced,
        traces=tuple(replace(trace, rips=trace.rips[:, traced]) for trace in traces),
        filter=filtered,
    )


def notable_ids(fit: OutputFit, known: IntArray) -> IntArray:
    """Other terms whose RIP rose: the highest ones, ascending."""
    records = [record.rips for search in fit.searches for record in search.history]
    ids, at = np.unique(np.concatenate([rips.ids for rips in records]), return_inverse=True)
    peak = np.zeros(ids.size)
    np.maximum.at(peak, at, np.concatenate([rips.values for rips in records]))
    peak[np.isin(ids, known)] = 0.0
    best = np.argsort(-peak, kind="stable")[:MOST_OTHERS]
    return np.sort(ids[best[peak[best] >= NOTABLE]])


def _trace(search: SearchResult, ids: IntArray, at: IntArray, n_terms: int) -> Trace:
    """The course of one restart with the RIPs of all terms, zero for those that its space does not offer."""
    history = search.history
    rips = np.zeros((len(history), n_terms))
    rips[:, at] = [record.rips[ids] for record in history]
    return Trace(
        mean_score=np.round([record.mean_score for record in history], DIGITS),
        best_score=np.round([record.best_score for record in history], DIGITS),
        size_drawn=np.round([record.mean_size_drawn for record in history], DIGITS),
        size_kept=np.round([record.mean_size_kept for record in history], DIGITS),
        rips=np.round(rips, DIGITS),
    )


def _worth_tracing(n_model: int, traces: Sequence[Trace]) -> tuple[int, ...]:
    """The model's terms, then the others that rose highest."""
    peak = np.max([trace.rips.max(axis=0) for trace in traces], axis=0)
    rest = n_model + np.argsort(-peak[n_model:], kind="stable")
    return (*range(n_model), *sorted(int(j) for j in rest[:MOST_OTHERS] if peak[j] >= NOTABLE))


def undecided(estimator: Any) -> list[int]:
    """Outputs for which no restart came to a decision, although the searches were not cut short."""
    if estimator.stop_reason_ != "finished":
        return []
    return [
        k
        for k, (own, model) in enumerate(zip(estimator.searches_, estimator.models_, strict=True))
        if all(one.limit is None for one in own)
        or (model.size == 0 and (estimator.n_terms_[k] == 1 or model.n_observations < FEW_OBSERVATIONS))
    ]


def warn_unless_settled(estimator: Any) -> None:
    """Warn of an interrupted fit, of searches without a decision, and of fewer terms than were asked for."""
    if estimator.stop_reason_ == INTERRUPTED:
        msg = "The fit was interrupted; this is the best model so far."
        warnings.warn(msg, ConvergenceWarning, stacklevel=3)
    outputs = undecided(estimator)
    for output in outputs:
        msg = (
            f"No term of output {output} reached an inclusion probability of {CUTOFF} within "
            f"max_iter={settings_of(estimator).max_iter} iterations; the best model visited is returned. "
            f"{_advice_on(estimator, output)}"
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=3)
    size, found = estimator.size, min(model.size for model in estimator.models_)
    if isinstance(size, Integral) and found < size and estimator.stop_reason_ == "finished" and not outputs:
        msg = (
            f"The answer has {plural(found, 'term')}, fewer than size={size}: no model with more was found. Use a "
            "smaller size, or a basis with more terms."
        )
        warnings.warn(msg, UserWarning, stacklevel=3)


def _advice_on(estimator: Any, output: int) -> str:
    n = estimator.models_[output].n_observations
    if estimator.n_terms_[output] == 1:
        if estimator.constant_features_.size == estimator.n_features_in_:
            return "All features are constant: check X."
        if settings_of(estimator).filter_significance is None:
            return "The basis offers no term but the constant for these rows: add rows, or 'polynomial' to basis."
        return "No feature passes the filter: raise filter_significance or check X."
    if n < FEW_OBSERVATIONS:
        return (
            f"The number of rows, or the sum of sample_weight, is only {n:.3g}, too small for the t-test: add "
            "rows, raise significance, or pass a sample_weight with a larger sum."
        )
    more = "max_iter" if estimator.max_samples in (None, "auto") else "max_samples, max_iter"
    return f"Raise {more} or n_models, or check that the features carry information about y."
