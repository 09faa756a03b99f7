"""Seeds out of a scikit-learn style random_state: one stream for every iteration of every search.

A stream is named by its place (output, restart, iteration), not by what was drawn before: a search that is taken up
again, or that runs on another machine, draws the same numbers.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

Seed = np.random.SeedSequence


def seeds_of_searches(random_state: Any, n_outputs: int, n_restarts: int) -> tuple[list[list[Seed]], int]:
    """One seed for every restart of every output, and a number that is independent of them."""
    root = _root(random_state)
    outputs = [child(root, output) for output in range(n_outputs)]
    seeds = [[child(output, restart) for restart in range(n_restarts)] for output in outputs]
    return seeds, int(np.random.default_rng(outputs[0]).integers(2**63))


def child(seed: Seed, *key: int) -> Seed:
    """The seed at a place below another; `SeedSequence.spawn` counts, this does not."""
    return Seed(seed.entropy, spawn_key=(*seed.spawn_key, *key), pool_size=seed.pool_size)


def stream(seed: Seed, *key: int) -> np.random.Generator:
    """The random numbers at a place below a seed."""
    return np.random.default_rng(child(seed, *key))


def _root(random_state: Any) -> Seed:
    if isinstance(random_state, np.random.RandomState):
        return Seed(deepcopy(random_state).randint(0, 2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, np.random.Generator):
        return Seed(deepcopy(random_state).integers(0, 2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    return Seed(random_state)
