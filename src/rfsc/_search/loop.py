"""The randomised search: draw, evaluate, update, until the inclusion probabilities stand still (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._engines.base import Engine, Supports
from .._terms.rules import Rules
from .._utils.arrays import FloatArray, IntArray
from .._utils.seeds import Seed, stream
from .admission import admit
from .history import Candidate, IterationRecord, SearchResult
from .observers import Verdict, ask
from .parts import evaluate_in_parts
from .rips import RIPs, update
from .sampling import sample_population
from .state import SearchState
from .stopping import EARLY, NEVER, Brake, StoppedEarly
from .subsample import Subsamples, best_on_all_rows

Rescreen = Callable[[Candidate], tuple[IntArray, FloatArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpec:
    """What stays fixed during a search.

    Parameters
    ----------
    n_models : int
        Size of each population.
    max_iter : int
        Largest number of iterations.
    tol : float
        The search has converged when no RIP moves by more.
    unseen : {"keep", "zero"}
        Whether a term that no model drew keeps its RIP.
    max_terms : int
        Largest support that is drawn.
    initial_size : float
        Expected number of terms of the first models; the paper starts every RIP at 1 / n_terms, an expected size of 1.
    rip_bounds : (float, float)
        Least and largest RIP.
    cutoff : float
        RIP from which a term belongs to the limit model.
    rescreen_every : int or None
        Iterations after which terms that stand out from what the best model leaves unexplained get a higher RIP.
    """

    n_models: int = 100
    max_iter: int = 300
    tol: float = 2e-3
    unseen: str = "keep"
    max_terms: int = 60
    initial_size: float = 1.0
    rip_bounds: tuple[float, float] = (0.0, 1.0)
    cutoff: float = 0.5
    rescreen_every: int | None = None

    def first_rips(self, n_terms: int, rules: Rules | None) -> RIPs:
        """The same RIP for all terms but for those that are known to be ruled out: they are not even drawn."""
        out = np.empty(0, np.int64) if rules is None else rules.ruled_out()
        value = float(np.clip(self.initial_size / max(n_terms - out.size, 1), *self.rip_bounds))
        return RIPs(n_terms, value, out, np.zeros(out.size))


def run_search(
    engine: Engine,
    n_terms: int,
    spec: SearchSpec,
    seed: Seed,
    *,
    rules: Rules | None = None,
    start: RIPs | None = None,
    rescreen: Rescreen | None = None,
    subsamples: Subsamples | None = None,
    observers: Sequence[Any] = (),
    output: int = 0,
    restart: int = 0,
    brake: Brake = NEVER,
    state: SearchState | None = None,
    keep: Callable[[SearchState], None] | None = None,
) -> tuple[SearchResult, Verdict]:
    """Run one search."""
    if state is None:
        # RIPs that begin unequal are no opinion of this search
        state = SearchState(spec.first_rips(n_terms, rules) if start is None else start, has_moved=start is None)
    verdict = Verdict.CONTINUE
    while not state.stop_reason:
        iteration = len(state.history) + 1
        rng = stream(seed, iteration)
        drawn = admit(sample_population(state.rips, spec.n_models, spec.max_terms, rng), rules, spec.max_terms)
        try:
            result = evaluate_in_parts(engine if subsamples is None else subsamples.draw(rng), drawn, brake)
        except StoppedEarly as stopped:
            result = stopped.found
        is_whole = len(result.supports) == len(drawn)
        drawn = drawn if is_whole else drawn.take(np.arange(len(result.supports)))
        state.rips, max_change = update(state.rips, drawn, result, unseen=spec.unseen, bounds=spec.rip_bounds)
        leader = Candidate.best_of(result)
        best = state.consider(leader)
        record = IterationRecord(
            output=output,
            restart=restart,
            iteration=iteration,
            mean_score=float(result.score.mean()),
            best_score=leader.score,
            best_so_far=best.score,
            mean_log_loss=float(result.log_loss.mean()),
            mean_size_drawn=float(drawn.sizes.mean()),
            mean_size_kept=float(result.supports.sizes.mean()),
            max_change=max_change,
            n_fitted=int(np.count_nonzero(result.n_newton)),
            rips=_snapshot(state.rips),
        )
        state.history.append(record)
        verdict = ask(observers, record)
        state.stop_reason = "observer" if verdict is not Verdict.CONTINUE else _stop_reason(state, spec, rescreen)
        if keep is not None and is_whole:
            keep(state)
        state.stop_reason = state.stop_reason if is_whole and state.stop_reason else brake.reason
    assert state.best is not None  # max_iter is at least 1
    if state.stop_reason in EARLY:  # no time to look at what the RIPs have come to
        best = state.best
        if subsamples is not None:
            best = Candidate.best_of(engine.evaluate(Supports.from_lists([best.ids])))
        return SearchResult(best, None, tuple(state.history), state.stop_reason), verdict
    limit, best = _limit_model(engine, state.rips, spec, rules), state.best
    if subsamples is not None:
        best = best_on_all_rows(state.leaders, subsamples.draw(stream(seed, len(state.history) + 1)), engine)
    model = best if limit is None else min(best, limit, key=lambda c: c.rank)
    return SearchResult(model, limit, tuple(state.history), state.stop_reason), verdict


def _stop_reason(state: SearchState, spec: SearchSpec, rescreen: Rescreen | None) -> str:
    """Why the search ends after this iteration, empty if it goes on; terms may be brought in before it does."""
    assert state.best is not None
    last = state.history[-1]
    state.has_moved = state.has_moved or last.max_change > spec.tol
    converged = last.max_change <= spec.tol and state.has_moved and state.rips.has_opinion
    if rescreen is not None and spec.rescreen_every and (converged or last.iteration % spec.rescreen_every == 0):
        lifted = state.rips.raised(*rescreen(state.best))
        converged = converged and np.array_equal(state.rips[lifted.ids], lifted.values)
        state.rips = lifted
    return "converged" if converged else "max_iter" if last.iteration >= spec.max_iter else ""


def _limit_model(engine: Engine, rips: RIPs, spec: SearchSpec, rules: Rules | None) -> Candidate | None:
    """The model that the RIPs have settled on, tested and refitted once more."""
    chosen = rips.at_least(spec.cutoff)[: spec.max_terms]
    if not chosen.size:
        return None
    return Candidate.best_of(engine.evaluate(admit(Supports.from_lists([chosen]), rules, spec.max_terms)))


def _snapshot(rips: RIPs) -> RIPs:
    """The RIPs as the history keeps them: only terms that the search has an opinion of and has not given up."""
    alive = rips.values > 0.0
    return RIPs(rips.n_terms, 0.0, rips.ids[alive], rips.values[alive])
