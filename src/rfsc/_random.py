"""Independent generators out of a scikit-learn style random_state."""

from __future__ import annotations

from typing import Any

import numpy as np


def spawn_with_seed(random_state: Any, n_outputs: int, n_restarts: int) -> tuple[list[list[np.random.Generator]], int]:
    """What `spawn_generators` gives, and a seed that is independent of them.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        An int gives the same each time; None takes fresh entropy.
    n_outputs, n_restarts : int
        How many generators.
    """
    outputs = _root(random_state).spawn(n_outputs)
    generators = [output.spawn(n_restarts) for output in outputs]
    # a number of a stream that nothing else reads; one more spawn would move a Generator that is used for several fits
    return generators, int(outputs[0].integers(2**63))


def spawn_generators(random_state: Any, n_outputs: int, n_restarts: int) -> list[list[np.random.Generator]]:
    """One independent generator for every restart of every output.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        An int gives the same generators each time; None takes fresh entropy.
    n_outputs, n_restarts : int
        How many.
    """
    return spawn_with_seed(random_state, n_outputs, n_restarts)[0]


def _root(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)
