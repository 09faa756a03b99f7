"""Independent generators out of a scikit-learn style random_state."""

from __future__ import annotations

from typing import Any

import numpy as np


def spawn_generators(random_state: Any, n_outputs: int, n_restarts: int) -> list[list[np.random.Generator]]:
    """One independent generator for every restart of every output.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        An int gives the same generators each time; None takes fresh entropy.
    n_outputs, n_restarts : int
        How many.
    """
    if isinstance(random_state, np.random.RandomState):
        root = np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    else:
        root = np.random.default_rng(random_state)
    return [output.spawn(n_restarts) for output in root.spawn(n_outputs)]
