"""All outputs of a fit: here, one search after the other, or as tasks of a joblib backend."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import joblib

from .._search import Brake, Checkpoint, RestartsResult, RIPs, SearchResult, Verdict
from .._search.observers import ask
from .._search.restarts import Kept
from .._search.stopping import NEVER, brake_on_ctrl_c
from .._terms import TermSpace
from .._terms.rules import Rules
from .._utils.arrays import FloatArray, IntArray
from .._utils.seeds import Seed, child
from .dispatch import abandon, chosen_backend, results_of
from .workbench import SEARCHING, Job, OutputFit, OutputSpec, Rows, Workbench


def fit_outputs(
    rows: Rows,
    features: Sequence[IntArray],
    specs: Sequence[OutputSpec],
    seeds: Sequence[Sequence[Seed]],
    observers: Sequence[Any],
    brake: Brake = NEVER,
    checkpoint: Checkpoint | None = None,
) -> list[list[OutputFit]]:
    """Fit every output with every spec. After an observer's "stop_all" what is left gets a single iteration."""
    jobs = [
        [
            Job(output, allowed, spec, tuple(child(seed, k) for seed in own) if len(specs) > 1 else tuple(own), k)
            for k, spec in enumerate(specs)
        ]
        for output, (allowed, own) in enumerate(zip(features, seeds, strict=True))
    ]
    # rows in blocks are worked on where they are, and searches stay here
    backend = None if rows.blocks is not None else chosen_backend(specs[0].n_jobs)
    if backend is not None:
        return fit_elsewhere(backend, rows, jobs, observers, brake, checkpoint)
    fits: list[list[OutputFit]] = []
    stopped, left = False, sum(map(len, jobs))
    for own in jobs:
        fits.append([])
        for job in own:
            share = brake.within(1.0 / left)
            if stopped:  # and not kept: there is more to find
                fit = Workbench.over(rows, job.shortened(), share).fit(observers)
            else:
                fit = Workbench.over(rows, job, share).fit(observers, checkpoint)
            fits[-1].append(fit)
            stopped = stopped or fits[-1][-1].restarts.stopped
            left -= 1
    return fits


def fit_elsewhere(
    backend: Any,
    rows: Rows,
    jobs: Sequence[Sequence[Job]],
    observers: Sequence[Any],
    brake: Brake,
    checkpoint: Checkpoint | None,
) -> list[list[OutputFit]]:
    """As `fit_outputs`, with every search as a task of a joblib backend.

    Observers are shown the iterations of a search when it has ended, in the same order as otherwise. Where one of them
    stops it, the search is run once more, here, up to that iteration: so the outcome is the same.
    """
    n_jobs = sum(map(len, jobs))
    benches = [Workbench.over(rows, job, brake.within(1.0 / n_jobs)) for own in jobs for job in own]
    # the first restart of every output, then the second: whenever the fit is stopped, each has its share
    places = sorted(((restart, k) for k, bench in enumerate(benches) for restart in range(len(bench.job.seeds))))
    kept = {place: Kept(checkpoint, benches[place[1]].key(place[0])) for place in places}
    found = {place: one.result for place, one in kept.items() if one.result is not None}
    todo = [place for place in places if place not in found]
    searching = brake.within(SEARCHING)
    share = searching.seconds_left / max(1, -(-len(benches) // backend._effective_n_jobs()))  # each output has its turn
    tasks = (
        joblib.delayed(search_elsewhere)(*benches[k].parcel, restart, benches[k].start, searching.deadline, share)
        for restart, k in todo
    )
    results = results_of(backend, tasks, searching)
    stopped = False
    for (restart, k), result in zip(todo, results, strict=False):
        found[restart, k], verdict = _as_watched(result, benches[k], restart, observers, brake)
        kept[restart, k].finish(found[restart, k])
        stopped = verdict is Verdict.STOP_ALL
        if stopped or searching.reason:
            break
    abandon(results)
    reason = "" if stopped else searching.reason
    fits: list[list[OutputFit]] = []
    for k, bench in enumerate(benches):
        own = [found[restart, k] for restart in range(len(bench.job.seeds)) if (restart, k) in found]
        left_out = reason if len(own) < len(bench.job.seeds) else ""
        if own:
            fit = bench.combined(RestartsResult(tuple(own), stopped, left_out), brake.within(1.0 / (n_jobs - k)))
        else:
            fit = Workbench.over(rows, bench.job.shortened(), brake).fit(observers)
            fit = replace(fit, restarts=replace(fit.restarts, left_out=left_out))
        if bench.job.mix == 0:
            fits.append([])
        fits[-1].append(fit)
    return fits


def search_elsewhere(
    table: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    code: IntArray,
    space: TermSpace,
    rules: Rules | None,
    job: Job,
    restart: int,
    start: RIPs | None,
    deadline: float,
    share: float,
) -> SearchResult:
    """One search, in another process or on another machine; a single thread."""
    with brake_on_ctrl_c(min(deadline, time.time() + share)) as brake:
        bench = Workbench(table, target, weight, code, space, rules, job)
        return bench.search(restart, start, (), brake)


def _as_watched(
    result: SearchResult, bench: Workbench, restart: int, observers: Sequence[Any], brake: Brake
) -> tuple[SearchResult, Verdict]:
    """What becomes of a search under the eyes of the observers, and their last word."""
    for record in result.history:
        verdict = ask(observers, record)
        if verdict is not Verdict.CONTINUE:
            stop = lambda seen, last=record, verdict=verdict: verdict if seen.iteration == last.iteration else None  # noqa: E731
            return bench.search(restart, bench.start, [stop], brake), verdict
    return result, Verdict.CONTINUE
