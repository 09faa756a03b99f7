"""The randomised search: draw, evaluate, update, until the inclusion probabilities stand still (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._engines.base import Engine, Supports
from .._terms.requirements import Requirements
from .._utils.arrays import IntArray
from .._utils.compat import Interval, StrOptions, validate_parameter_constraints
from .._utils.determinism import Seed, stream
from .context import EARLY, Context, Verdict
from .history import Candidate, IterationRecord, SearchResult
from .rips import RIPs, admit, sample_population, update

FIRST_SIZE = 1.0  # expected number of terms of the first models: the paper starts every RIP at 1 / n_terms
N_LEADERS = 20  # best models of a search whose terms compete for the answer
HIGHEST_START = 0.9  # of a term that all earlier models hold: models without it are drawn too
CUTOFF = 0.5  # RIP from which a term belongs to the limit model
N_FINALISTS = 3  # models of a search that are worth a fit on all rows
LEAST_OF_A_CLASS = 20  # rows, if a class has as many: a rare class must be seen in every sample

CONSTRAINTS: dict[str, Any] = {
    "n_models": [Interval(Integral, 2, 10**6, closed="both")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "max_drawn": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "unseen": [StrOptions({"keep", "zero"})],
    "least_rip": [Interval(Real, 0, None, closed="left")],
    "patience": [Interval(Integral, 1, None, closed="left"), None],
    "intercept": ["boolean"],
    "ridge": [Interval(Real, 0, None, closed="left")],
    "n_folds": [Interval(Integral, 2, None, closed="left")],
    "initial_rip": [StrOptions({"auto", "uniform", "screened"})],
    "filter_significance": [Interval(Real, 0, 1, closed="neither"), None],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Settings of the randomised search that few users need to change.

    Parameters
    ----------
    n_models : int, default=50
        Models drawn in each iteration.
    max_drawn : int, default=20
        Largest number of terms of a model that is drawn.
    max_iter : int, default=300
        Largest number of iterations of one search.
    tol : float, default=2e-3
        Without `patience`, a search has converged when no inclusion probability moves by more than this.
    unseen : {"keep", "zero"}, default="keep"
        What happens to the inclusion probability of a term that no model of an iteration drew: it stays, or it falls
        as in the paper's relatives.
    least_rip : float, default=0.5
        No inclusion probability falls below this number over the number of terms, so that a term that was pruned by
        bad luck may come back. 0 as in the paper.
    patience : int or None, default=10
        A search ends after so many iterations without a better model. None: it ends by `tol` or `max_iter`.
    intercept : bool, default=True
        Whether every model holds the constant; False makes it one of the candidate terms, as in the paper.
    ridge : float, default=1.0
        Penalty of the fits, as a multiple of the variance of each term; keeps separable classes finite.
    n_folds : int, default=5
        Folds of the cross-validation inside the training rows that chooses basis and size. Tables of more than 600
        rows have at most three, of which only one is left out above 10,000 rows.
    initial_rip : {"auto", "uniform", "screened"}, default="auto"
        Inclusion probabilities with which a search begins. "uniform": the same for all terms, as in the paper.
        "screened": a score test of every term against the class gives those that stand out a higher one. "auto"
        screens if there are more than 2,000 terms, which random draws cannot explore, or if the terms of all
        observations are more than 2,000,000 numbers, as far as testing is affordable.
    filter_significance : float or None, default=None
        Level of a distance-correlation test of each feature against each output; features that do not pass are not
        used. None keeps all.
    """

    n_models: int = 50
    max_drawn: int = 20
    max_iter: int = 300
    tol: float = 2e-3
    unseen: str = "keep"
    least_rip: float = 0.5
    patience: int | None = 10
    intercept: bool = True
    ridge: float = 1.0
    n_folds: int = 5
    initial_rip: str = "auto"
    filter_significance: float | None = None

    def __post_init__(self) -> None:
        validate_parameter_constraints(CONSTRAINTS, asdict(self), caller_name="SearchSettings")


@dataclass(frozen=True, slots=True, eq=False)
class SearchSetup:
    """What all searches of one job share."""

    engine: Engine  # fits and scores supports on all rows, and obeys the requirements
    n_terms: int
    settings: SearchSettings
    max_terms: int  # largest support that is drawn
    requirements: Requirements | None = None
    start: RIPs | None = None  # RIPs of the first iteration; None: the same for all terms
    subsamples: Subsamples | None = None  # rows that each population is scored on; None: those of the engine


@dataclass(slots=True)
class _State:
    """What moves during a search."""

    rips: RIPs
    has_moved: bool  # whether some RIP has moved by evidence of this search
    last_gain: int = 0  # iteration that found the best model so far
    leaders: list[Candidate] = field(default_factory=list)  # best model of every iteration
    history: list[IterationRecord] = field(default_factory=list)

    @property
    def best(self) -> Candidate:
        """The best model so far; the first of equals."""
        return min(self.leaders, key=lambda candidate: candidate.rank)

    def distinct_leaders(self) -> tuple[IntArray, ...]:
        """Terms of the best leaders, best first."""
        best_first = sorted(self.leaders, key=lambda candidate: candidate.rank)
        return tuple({tuple(leader.ids): leader.ids for leader in best_first}.values())[:N_LEADERS]


def first_rips(
    n_terms: int, requirements: Requirements | None, least: float, expected_size: float = FIRST_SIZE
) -> RIPs:
    """The same RIP for all terms except those that are known to be ruled out, which are never drawn."""
    out = np.empty(0, np.int64) if requirements is None else requirements.ruled_out()
    n_open = max(n_terms - out.size, 1)
    value = float(np.clip(expected_size / n_open, 0.0, 1.0))
    return RIPs(n_terms, value, out, np.zeros(out.size), min(least / n_open, value))


def rips_of(supports: Sequence[IntArray], n_terms: int, least: float) -> RIPs:
    """RIPs of the terms that earlier searches came upon, by how many of their models hold each; no others are drawn."""
    ids, count = np.unique(np.concatenate(supports), return_counts=True)
    least = min(least / max(ids.size, 1), HIGHEST_START)
    return RIPs(n_terms, 0.0, ids, np.clip(count / len(supports), least, HIGHEST_START), least)


def run_search(
    setup: SearchSetup, seed: Seed, context: Context | None = None, *, output: int = 0, restart: int = 0
) -> SearchResult:
    """Run one search; iteration i draws from the stream at place i below the seed."""
    context = Context() if context is None else context
    start = setup.start
    state = _State(
        first_rips(setup.n_terms, setup.requirements, setup.settings.least_rip) if start is None else start,
        has_moved=start is None,
    )
    stop_reason = ""
    while not stop_reason:
        record, is_complete = _iterate(setup, state, seed, context, (output, restart))
        verdict = context.ask(record)
        if not is_complete:
            stop_reason = context.stop_reason
        elif verdict is not Verdict.CONTINUE:
            stop_reason = "observer"
        else:
            stop_reason = _convergence(state, setup) or context.stop_reason
    if stop_reason in EARLY:  # no time for the limit model
        best = state.best
        if setup.subsamples is not None:
            best = Candidate.best_of(setup.engine.evaluate(Supports.from_lists([best.ids])))
        return SearchResult(best, None, tuple(state.history), stop_reason, state.distinct_leaders())
    limit, best = _limit_model(setup, state.rips), state.best
    if setup.subsamples is not None:
        few_rows = setup.subsamples.draw(stream(seed, len(state.history) + 1))
        best = best_on_all_rows(state.leaders, few_rows, setup.engine)
    model = best if limit is None else min(best, limit, key=lambda candidate: candidate.rank)
    return SearchResult(model, limit, tuple(state.history), stop_reason, state.distinct_leaders())


def _iterate(
    setup: SearchSetup, state: _State, seed: Seed, context: Context, place: tuple[int, int]
) -> tuple[IterationRecord, bool]:
    """One iteration: its record, and whether the whole population was evaluated before the fit had to end."""
    iteration = len(state.history) + 1
    rng = stream(seed, iteration)
    settings, most = setup.settings, setup.max_terms
    drawn = admit(sample_population(state.rips, settings.n_models, most, rng), setup.requirements, most)
    result = context.evaluate(setup.engine if setup.subsamples is None else setup.subsamples.draw(rng), drawn)
    is_complete = len(result.supports) == len(drawn)
    drawn = drawn if is_complete else drawn.take(np.arange(len(result.supports)))
    state.rips, max_change = update(state.rips, drawn, result, unseen=settings.unseen)
    leader = Candidate.best_of(result)
    if not state.leaders or leader.score > state.best.score:
        state.last_gain = iteration
    state.leaders.append(leader)
    record = IterationRecord(
        output=place[0],
        restart=place[1],
        iteration=iteration,
        mean_score=float(result.score.mean()),
        best_score=state.leaders[-1].score,
        best_so_far=state.best.score,
        mean_log_loss=float(result.log_loss.mean()),
        mean_size_drawn=float(drawn.sizes.mean()),
        mean_size_kept=float(result.supports.sizes.mean()),
        max_change=max_change,
        n_fitted=int(np.count_nonzero(result.n_newton)),
        rips=state.rips.above_least(),
    )
    state.history.append(record)
    return record, is_complete


def _convergence(state: _State, setup: SearchSetup) -> str:
    """Why the search ends by itself after this iteration; empty if it goes on."""
    last, settings = state.history[-1], setup.settings
    state.has_moved = state.has_moved or last.max_change > settings.tol
    if settings.patience is not None:
        # models begin with one term: before, not even every term has been drawn
        has_seen_all = setup.start is not None or last.iteration * settings.n_models >= setup.n_terms
        if has_seen_all and last.iteration - state.last_gain >= settings.patience:
            return "patience"
    elif last.max_change <= settings.tol and state.has_moved and state.rips.has_opinion:
        return "converged"
    return "max_iter" if last.iteration >= settings.max_iter else ""


def _limit_model(setup: SearchSetup, rips: RIPs) -> Candidate | None:
    """The model that the RIPs have settled on, tested and refitted once more."""
    chosen = rips.at_least(CUTOFF)[: setup.max_terms]
    if not chosen.size:
        return None
    supports = admit(Supports.from_lists([chosen]), setup.requirements, setup.max_terms)
    return Candidate.best_of(setup.engine.evaluate(supports))


@dataclass(frozen=True, slots=True, eq=False)
class Subsamples:
    """Random subsets of the rows in which every class has its share, each as an engine.

    All models of an iteration see the same rows, so a lucky draw raises all their scores and leaves the importances
    alone. Scores of different iterations do not compare; what a search returns is therefore decided on all rows.
    """

    strata: tuple[IntArray, ...]  # the rows of each class
    sizes: tuple[int, ...]  # how many of them to draw
    engine_over: Callable[[IntArray], Engine]

    @classmethod
    def of_size(cls, size: int | None, code: IntArray, engine_over: Callable[[IntArray], Engine]) -> Subsamples | None:
        """Subsamples of about `size` rows of the classes `code`; None if that is all rows."""
        if size is None or size >= code.size:
            return None
        strata = tuple(np.flatnonzero(code == c) for c in range(int(code.max()) + 1))
        sizes = tuple(shares(size, np.array([own.size for own in strata])))
        return cls(strata, sizes, engine_over) if sum(sizes) < code.size else None

    def rows(self, rng: np.random.Generator) -> IntArray:
        """Rows of one subsample, ascending."""
        drawn = [
            rng.choice(own, n, replace=False, shuffle=False) for own, n in zip(self.strata, self.sizes, strict=True)
        ]
        return np.sort(np.concatenate(drawn))

    def draw(self, rng: np.random.Generator) -> Engine:
        """An engine over a fresh subsample."""
        return self.engine_over(self.rows(rng))


def shares(size: int, counts: IntArray) -> list[int]:
    """Rows of each class in a sample of about `size` rows: its share, but at least `LEAST_OF_A_CLASS`."""
    total = int(counts.sum())
    return [min(int(n), max(round(size * int(n) / total), LEAST_OF_A_CLASS)) for n in counts]


def best_on_all_rows(models: Sequence[Candidate], few_rows: Engine, all_rows: Engine) -> Candidate:
    """The best of models that were scored on different rows: the leaders on the same few rows, compared on all."""
    distinct = list({tuple(model.ids.tolist()): model.ids for model in models}.values())
    supports = Supports.from_lists(distinct)
    if len(distinct) > N_FINALISTS:
        result = few_rows.evaluate(supports)
        order = np.lexsort((result.supports.sizes, result.log_loss, -result.score))
        supports = supports.take(order[:N_FINALISTS])
    return Candidate.best_of(all_rows.evaluate(supports))
