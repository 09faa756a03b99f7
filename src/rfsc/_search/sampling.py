"""Draw a population of supports. All randomness of a search is here, and happens before anything is fitted."""

from __future__ import annotations

import numpy as np

from .._engines.base import Supports
from .._terms.rules import Rules
from .._utils.arrays import IntArray
from .rips import RIPs

MAX_TRIALS = 2**61  # numbered in one row; their positions stay within int64


def sample_population(rips: RIPs, n_models: int, max_terms: int, rng: np.random.Generator) -> Supports:
    """Include each term in each model with the probability of its RIP, independently.

    The time is proportional to the terms drawn and to the listed terms that may be drawn, never to the space.
    """
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


def admit(drawn: Supports, rules: Rules | None, max_terms: int) -> Supports:
    """Remove forbidden terms from every support, and add forced ones and what the others require.

    Terms that do not fit within `max_terms`, with what they require, are left out.
    """
    if rules is None:
        return drawn
    rules.look_at(drawn.ids)
    return Supports.from_lists(rules.gather(drawn[m].tolist(), max_terms) for m in range(len(drawn)))
