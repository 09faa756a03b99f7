"""The same bits on every machine: seeds by place, one BLAS thread at a time, and how many threads a fit may use.

A stream of random numbers is named by its place (output, restart, iteration), not by what was drawn before: a search
that is continued, or that runs on another machine, draws the same numbers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend
from threadpoolctl import ThreadpoolController

Seed = np.random.SeedSequence
MOST_THREADS = 64  # or the number of cores: each has memory of its own


@dataclass(frozen=True, slots=True)
class RestartSeeds:
    """The seeds of the restarts of an output, each made when it is asked for: a fit may end after the first."""

    root: Seed
    output: int
    n_restarts: int

    def __len__(self) -> int:
        return self.n_restarts

    def __getitem__(self, restart: int) -> Seed:
        return child(self.root, self.output, range(self.n_restarts)[restart])


def seeds_of_searches(random_state: Any, n_outputs: int, n_restarts: int) -> list[RestartSeeds]:
    """One seed for every restart of every output."""
    root = _root(random_state)
    return [RestartSeeds(root, output, n_restarts) for output in range(n_outputs)]


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


def thread_count(n_jobs: int | None) -> int:
    """What `n_jobs` means for threads of this process, inside and outside of joblib's parallel loops.

    joblib's own `effective_n_jobs` answers for the backend at hand: it would warn in a child process, where processes
    cannot be started but threads can, and count the machines of a cluster.
    """
    backend, configured = get_active_backend()
    if isinstance(backend, SequentialBackend):
        return 1
    alone = 1 if backend.nesting_level else -1  # inside of a parallel loop, the others have the other cores
    wanted = next(n for n in (n_jobs, configured, alone) if n is not None)
    return min(int(ThreadingBackend().effective_n_jobs(wanted)), max(MOST_THREADS, os.cpu_count() or 1))


_one_user = Lock()  # the limit below holds for the whole process; two at once would not restore it


def _forget_the_user() -> None:
    """In the child of a fork: the thread that may hold the lock does not exist there, and would never give it back."""
    global _one_user
    _one_user = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_user)


@contextmanager
def one_blas_thread(*, openmp: bool = False) -> Iterator[None]:
    """More BLAS threads would only change the rounding; threads over independent blocks do not."""
    with _one_user, _libraries(len(sys.modules)).limit(limits=1, user_api=None if openmp else "blas"):
        yield


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001  only an import loads another library
    """The libraries with threads of their own that are loaded; looking for them takes milliseconds."""
    return ThreadpoolController()
