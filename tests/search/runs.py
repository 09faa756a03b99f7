"""Searches without a classifier around them."""

from __future__ import annotations

import numpy as np

from rfsc._search.context import Context
from rfsc._search.loop import SearchSettings, SearchSetup, run_search


def search(
    engine, n_terms, seed, *, max_terms=60, requirements=None, start=None, subsamples=None, context=None, **settings
):
    """One search; `seed` is an integer or a SeedSequence, `settings` are those of SearchSettings."""
    seed = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    setup = SearchSetup(engine, n_terms, SearchSettings(**settings), max_terms, requirements, start, subsamples)
    return run_search(setup, seed, context)


def restarts(engine, n_terms, seed, n, **options):
    """Several searches on the same engine."""
    return [search(engine, n_terms, own, **options) for own in np.random.SeedSequence(seed).spawn(n)]


def watched(*observers):
    """A context with observers."""
    return Context(observers=observers)


def dense(rips):
    """All RIPs as one vector."""
    return rips[np.arange(rips.n_terms)]
