"""Draw a population of supports. All randomness of a search is here, and happens before anything is fitted."""

from __future__ import annotations

import numpy as np

from .._typing import IntArray
from ..engines.base import Supports
from .rips import RIPs


def sample_population(rips: RIPs, n_models: int, max_terms: int, rng: np.random.Generator) -> Supports:
    """Include each term in each model with the probability of its RIP, independently.

    The time is proportional to the terms drawn and to the listed terms that may be drawn, never to the space.

    Parameters
    ----------
    rips : RIPs
        Inclusion probabilities.
    n_models : int
        Size of the population.
    max_terms : int
        Largest support; from a larger draw, terms are dropped at random.
    rng : numpy.random.Generator
        Source of randomness.
    """
    possible = np.flatnonzero(rips.values > 0.0)
    hit_model, hit = np.nonzero(rng.random((n_models, possible.size)) < rips.values[possible])
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
    """(model, term) of every success among the terms at the default RIP.

    The trials of all models stand in one long row; the gaps between its successes are geometric.
    """
    n_rest = rips.n_terms - rips.ids.size
    n_trials = n_models * n_rest
    nothing = np.empty(0, np.int64)
    if n_trials == 0 or rips.default <= 0.0:
        return nothing, nothing
    expected = n_trials * rips.default
    batch = int(expected + 4.0 * np.sqrt(expected) + 16.0)
    parts, reached = [], -1
    while reached < n_trials:
        position = reached + np.cumsum(rng.geometric(rips.default, size=batch))
        parts.append(position)
        reached = int(position[-1])
    position = np.concatenate(parts)
    position = position[position < n_trials]
    rank = position % n_rest
    # the rank-th unlisted term: step over the listed terms at or before it
    skipped = np.searchsorted(rips.ids - np.arange(rips.ids.size), rank, side="right")
    return position // n_rest, rank + skipped


def _keep_at_most(model: IntArray, limit: int, rng: np.random.Generator) -> IntArray:
    """Positions of at most `limit` entries of each model, chosen at random."""
    shuffled = rng.permutation(model.size)
    shuffled = shuffled[np.argsort(model[shuffled], kind="stable")]
    of = model[shuffled]
    start = np.searchsorted(of, of, side="left")
    return shuffled[np.arange(of.size) - start < limit]
