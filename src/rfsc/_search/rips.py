"""Inclusion probabilities (RIPs) of all terms: stored sparsely, drawn from, and moved by what the models show.

Almost all terms of a large space share one RIP, because no model has drawn them. So the RIPs are one default value
and a list of exceptions, and drawing and updating cost what the drawn terms cost, not what the space holds.
No postponed annotations: checkpoints read the class by its types.
"""

from dataclasses import dataclass, replace

import numpy as np

from .._engines.base import Evaluation, Supports
from .._terms.requirements import CONSTANT, Requirements
from .._utils.arrays import FloatArray, IntArray

MAX_TRIALS = 2**61  # numbered in one row; their positions stay within int64


@dataclass(frozen=True, slots=True, eq=False)
class RIPs:
    """Probability of each term to be drawn into a model."""

    n_terms: int  # of the space
    default: float  # RIP of every term that is not listed
    ids: IntArray  # terms whose RIP differs, ascending
    values: FloatArray  # their RIPs
    least: float = 0.0  # below which evidence lets no RIP fall: a term that was pruned once may come back

    def __getitem__(self, ids: IntArray) -> FloatArray:
        """RIPs of the terms `ids`."""
        out = np.full(len(ids), self.default)
        if self.ids.size:
            at = np.minimum(np.searchsorted(self.ids, ids), self.ids.size - 1)
            known = self.ids[at] == ids
            out[known] = self.values[at[known]]
        return out

    def raised(self, ids: IntArray, values: FloatArray) -> "RIPs":
        """With the RIPs of these terms, given in ascending order, lifted to `values` if they are lower."""
        higher = values > self[ids]
        ids, values = ids[higher], values[higher]
        others = ~np.isin(self.ids, ids)
        every = np.concatenate([self.ids[others], ids])
        order = np.argsort(every)
        return replace(self, ids=every[order], values=np.concatenate([self.values[others], values])[order])

    def at_least(self, cutoff: float) -> IntArray:
        """Terms whose RIP reaches the cutoff, by falling RIP."""
        ids = np.arange(self.n_terms) if self.default >= cutoff else self.ids  # a default that high: few terms in all
        values = self[ids]
        order = np.argsort(-values, kind="stable")
        return ids[order[values[order] >= cutoff]]

    @property
    def n_open(self) -> int:
        """How many listed terms are still undecided: RIP above the default and below one."""
        return int(np.count_nonzero((self.values > max(self.default, self.least)) & (self.values < 1.0)))

    @property
    def has_opinion(self) -> bool:
        """Whether some term has risen, or nothing is left to draw; before, that no RIP moves says nothing."""
        if np.any(self.values > self.default) or self.default >= 1.0:
            return True
        return (self.default <= 0.0 or self.ids.size == self.n_terms) and not np.any(self.values > 0.0)

    def above_least(self) -> "RIPs":
        """As the history keeps them: only terms that were drawn or screened and have not fallen to the least RIP."""
        alive = self.values > self.least
        return RIPs(self.n_terms, 0.0, self.ids[alive], self.values[alive])


def step_size(score: FloatArray) -> float:
    """Eq. (17): small steps while the models of a population differ much in score."""
    return float(1.0 / (10.0 * (score.max() - score.mean()) + 0.1))


def importance(terms: IntArray, kept: Supports, score: FloatArray) -> FloatArray:
    """Eq. (15): mean score of the models that hold a term after the test, minus that of the others.

    A mean over no model counts as zero: a term that was drawn and always pruned is punished, one that every model
    holds is rewarded.
    """
    at = np.searchsorted(terms, kept.ids)
    n_with = np.bincount(at, minlength=terms.size)
    sum_with = np.bincount(at, weights=np.repeat(score, kept.sizes), minlength=terms.size)
    n_without = score.size - n_with
    sum_without = np.where(n_without > 0, score.sum() - sum_with, 0.0)
    gap: FloatArray = sum_with / np.maximum(n_with, 1) - sum_without / np.maximum(n_without, 1)
    return gap


def update(rips: RIPs, drawn: Supports, result: Evaluation, *, unseen: str) -> tuple[RIPs, float]:
    """Eq. (16): move each RIP by step * importance, kept within its bounds. Returns the largest change too."""
    score = result.score
    step = step_size(score)
    terms = np.unique(drawn.ids)
    default, least = rips.default, rips.least
    if unseen == "zero":
        terms = np.union1d(terms, rips.ids)
        default = float(np.clip(default - step * score.mean(), least, 1.0))
    before = rips[terms]
    after = np.clip(before + step * importance(terms, result.supports, score), least, 1.0)
    change = float(np.abs(after - before).max(initial=0.0))
    if terms.size < rips.n_terms:
        change = max(change, abs(default - rips.default))
    ids = np.union1d(rips.ids, terms)
    values = rips[ids]
    values[np.searchsorted(ids, terms)] = after
    listed = values != default
    return replace(rips, default=default, ids=ids[listed], values=values[listed]), change


def sample_population(rips: RIPs, n_models: int, max_terms: int, rng: np.random.Generator) -> Supports:
    """Include each term in each model with the probability of its RIP, independently."""
    possible = np.flatnonzero(rips.values > 0.0)
    hits = np.flatnonzero(rng.random((n_models, possible.size)) < rips.values[possible])
    hit_model, hit = np.divmod(hits, max(possible.size, 1))
    rest_model, rest = _sample_default(rips, n_models, rng)
    model = np.concatenate([hit_model, rest_model])
    ids = np.concatenate([rips.ids[possible[hit]], rest])
    sizes = np.bincount(model, minlength=n_models)
    if sizes.max(initial=0) > max_terms:
        keep = _keep_at_most(model, max_terms, rng)
        model, ids = model[keep], ids[keep]
        sizes = np.minimum(sizes, max_terms)
    order = np.lexsort((ids, model))
    return Supports(np.concatenate(([0], np.cumsum(sizes))).astype(np.int64), ids[order])


def _sample_default(rips: RIPs, n_models: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """(model, term) of every success among the terms at the default RIP."""
    n_rest = rips.n_terms - rips.ids.size
    if n_rest == 0 or rips.default <= 0.0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    at_once = max(1, MAX_TRIALS // n_rest)
    groups = [(first, min(at_once, n_models - first)) for first in range(0, n_models, at_once)]
    drawn = [(first, _successes(rips.default, size * n_rest, rng)) for first, size in groups]
    model = np.concatenate([first + position // n_rest for first, position in drawn])
    rank = np.concatenate([position % n_rest for _, position in drawn])
    # the rank-th unlisted term: step over the listed terms at or before it
    return model, rank + np.searchsorted(rips.ids - np.arange(rips.ids.size), rank, side="right")


def _successes(probability: float, n_trials: int, rng: np.random.Generator) -> IntArray:
    """Which of many independent trials succeed, from the geometric gaps between the successes."""
    expected = n_trials * probability
    batch = int(expected + 4.0 * np.sqrt(expected) + 16.0)
    parts, reached = [np.empty(0, np.int64)], -1
    while reached < n_trials:
        gaps = rng.geometric(probability, size=batch)
        fits = reached + np.cumsum(gaps, dtype=np.float64) < 2.0 * MAX_TRIALS  # beyond, integers would overflow
        parts.append(reached + np.cumsum(gaps[fits]))
        reached = int(parts[-1][-1]) if fits.all() else n_trials
    position = np.concatenate(parts)
    return position[position < n_trials]


def _keep_at_most(model: IntArray, limit: int, rng: np.random.Generator) -> IntArray:
    """Positions of at most `limit` entries of each model, chosen at random."""
    shuffled = rng.permutation(model.size)
    shuffled = shuffled[np.argsort(model[shuffled], kind="stable")]
    of = model[shuffled]
    start = np.searchsorted(of, of, side="left")
    return shuffled[np.arange(of.size) - start < limit]


def admit(drawn: Supports, requirements: Requirements | None, max_terms: int) -> Supports:
    """Remove forbidden terms from every support, and add forced ones and what others require, up to `max_terms`."""
    if requirements is None:
        return drawn
    ids = requirements.space.simplest(drawn.ids)
    if not np.array_equal(ids, drawn.ids):
        drawn = Supports.from_lists(np.split(ids, drawn.indptr[1:-1]))
    if requirements.forced == {CONSTANT} and requirements.only_forces:
        return _with_constant(drawn, max_terms)
    requirements.look_at(drawn.ids)
    return Supports.from_lists(requirements.gather(drawn[m].tolist(), max_terms) for m in range(len(drawn)))


def _with_constant(drawn: Supports, max_terms: int) -> Supports:
    """Every support with the constant, without its last term if it grew too large."""
    others = drawn.ids != CONSTANT
    model = np.repeat(np.arange(len(drawn)), drawn.sizes)[others]
    start = np.searchsorted(model, model, side="left")
    fits = np.arange(model.size) - start < max_terms - 1
    model, ids = model[fits], drawn.ids[others][fits]
    sizes = np.bincount(model, minlength=len(drawn))
    indptr = np.concatenate(([0], np.cumsum(sizes + 1))).astype(np.int64)
    return Supports(indptr, np.insert(ids, indptr[:-1] - np.arange(len(drawn)), CONSTANT))
