"""All outputs of a fit: their searches through one executor, and one model for each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from .._search.checkpoint import result_as_dict, result_from_dict
from .._search.context import EARLY, Context, Verdict
from .._search.history import IterationRecord, SearchResult
from .executor import Executor
from .output import SEARCH_TIME_SHARE, Job, OutputFit, OutputSearch
from .rows import Rows

Place = tuple[int, int]  # restart, position of its job


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
        own = [found[restart, k] for restart in range(len(job.seeds)) if (restart, k) in found]
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
    places = sorted((restart, k) for k, work in enumerate(works) for restart in range(len(work.job.seeds)))
    keys = {(restart, k): _key(works[k].job, restart) for restart, k in places}
    found: dict[Place, SearchResult] = {}
    if context.checkpoint is not None:
        known = {place: context.checkpoint.get(key) for place, key in keys.items()}
        found = {place: result_from_dict(kept) for place, kept in known.items() if kept is not None}
    todo = [place for place in places if place not in found]
    tasks = ((works[k], restart, context) for restart, k in todo)
    with closing(executor.run(tasks, context, n_large=len(works))) as results:
        for place, result in zip(todo, results, strict=False):
            if executor.is_elsewhere:
                result = _as_watched(result, works[place[1]], place[0], context)
            found[place] = result
            if context.checkpoint is not None and result.stop_reason not in ("observer", *EARLY):
                context.checkpoint.put(keys[place], result_as_dict(result))
            if context.signals.stop_all or context.stop_reason:
                break
    return found


def _key(job: Job, restart: int) -> str:
    """Name of a search in a checkpoint."""
    return f"search/{job.output}/{job.first + restart}"


def _as_watched(result: SearchResult, work: OutputSearch, restart: int, context: Context) -> SearchResult:
    """Show a search that ran elsewhere to the observers; if one stops it, run it again here up to that iteration."""
    for record in result.history:
        verdict = context.ask(record)
        if verdict is not Verdict.CONTINUE:

            def stop(seen: IterationRecord, last: int = record.iteration, verdict: Verdict = verdict) -> Verdict | None:
                return verdict if seen.iteration == last else None

            return work.run(restart, replace(context, observers=(stop,)))
    return result
