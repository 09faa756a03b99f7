"""Searches that run elsewhere: on the backend that a user has chosen with `joblib.parallel_config`.

Without one, searches run one after the other and the engine's threads share the work, which needs no copy of anything.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from typing import Any, Protocol

import joblib
from joblib.parallel import SequentialBackend, get_active_backend

GRACE = 0.3  # seconds that a task may take to see that its time is over, and to answer


class Brake(Protocol):
    """Whether work is to end, and when."""

    @property
    def reason(self) -> str:
        """Why; empty while it goes on."""

    @property
    def seconds_left(self) -> float:
        """Until it must end."""


def chosen_backend(n_jobs: int | None) -> Any:
    """A `joblib.Parallel` that gives results in order, each as soon as it is there; None where there is no backend.

    Large arrays must be arguments of their own: then joblib maps them into the memory of its processes, and Dask sends
    them once to each worker.
    """
    # a hint gives way to a backend that was chosen, and decides where none was
    chosen, configured = get_active_backend(prefer="processes")
    other, _ = get_active_backend(prefer="threads")
    if type(chosen) is not type(other) or isinstance(chosen, SequentialBackend):
        return None
    jobs = next(n for n in (n_jobs, configured, chosen.default_n_jobs) if n is not None)
    if chosen.effective_n_jobs(jobs) < 2:
        return None
    return _in_order(chosen, jobs)


def any_backend(n_jobs: int | None) -> Any:
    """A `joblib.Parallel` that gives results in order, on the chosen backend or, without one, on joblib's own."""
    return _in_order(get_active_backend()[0], n_jobs)


def _in_order(backend: Any, n_jobs: int | None) -> Any:
    one_by_one = getattr(backend, "supports_return_generator", False)
    return joblib.Parallel(n_jobs=n_jobs, return_as="generator" if one_by_one else "list")


def results_of(backend: Any, tasks: Iterable[Any], brake: Brake) -> Iterator[Any]:
    """Results in order; fewer than tasks after a time limit, or if Ctrl-C has ended the other processes."""
    if brake.reason:
        return
    if brake.seconds_left < float("inf"):
        backend.timeout = brake.seconds_left + GRACE  # processes may take longer to start than there is time
    try:
        yield from backend(tasks)
    except (BrokenExecutor, CancelledError, TimeoutError, multiprocessing.TimeoutError):
        if not brake.reason:
            raise


def abandon(results: Any) -> None:
    """Give up the results of a `joblib.Parallel` that nobody has asked for yet."""
    if hasattr(results, "close"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # joblib would say that work was done for nothing
            results.close()
