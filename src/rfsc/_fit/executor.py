"""One way to run the searches of a fit: here, one after the other, or as tasks of a joblib backend.

Here, the threads of the engine share every population and nothing is copied. With a backend that the user has chosen
(`joblib.parallel_config`: loky, threading, dask, ...) every task runs alone, with one thread. Both give the same bits.
"""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Generator, Iterable
from concurrent.futures import BrokenExecutor, CancelledError
from typing import Any, Protocol, Self

import joblib
from joblib.parallel import SequentialBackend, get_active_backend

from .._search.context import Context, interruptible
from .._utils.determinism import thread_count

ANSWER_SECONDS = 0.3  # that a task may take to notice that its time is over, and to answer


class Work(Protocol):
    """Something large that many tasks share; dask sends it once to each worker because `__sizeof__` is large."""

    def run(self, item: Any, context: Context) -> Any:
        """Carry out one task."""

    def alone(self) -> Self:
        """A copy that shares no state with other tasks and uses one thread."""


Task = tuple[Work, Any, Context]


class Executor:
    """Runs tasks and gives their results in order."""

    def __init__(self, n_jobs: int | None, *, or_processes: bool = False) -> None:
        self._backend = _chosen_backend(n_jobs, or_processes=or_processes)

    @property
    def is_elsewhere(self) -> bool:
        """Whether tasks run on a backend, where observers cannot watch them."""
        return self._backend is not None

    def run(self, tasks: Iterable[Task], context: Context, n_large: int = 1) -> Generator[Any, None, None]:
        """Results in order; fewer than tasks after a time limit, or if Ctrl-C has ended the other processes.

        On a backend, a task may take the time that is left divided by the rounds that `n_large` long tasks need.
        """
        if self._backend is None:
            yield from (work.run(item, own) for work, item, own in tasks)
            return
        if context.stop_reason:
            return
        if context.seconds_left < float("inf"):  # processes may take longer to start than there is time
            self._backend.timeout = context.seconds_left + ANSWER_SECONDS
        seconds = context.seconds_left / max(1, -(-n_large // self._backend._effective_n_jobs()))
        results = self._backend(
            joblib.delayed(_run_alone)(work, item, own.deadline, seconds) for work, item, own in tasks
        )
        try:
            for result in results:  # noqa: UP028 - `yield from` would close the results before the handler below
                yield result
        except (BrokenExecutor, CancelledError, TimeoutError, multiprocessing.TimeoutError):
            if not context.stop_reason:
                raise
        finally:
            if hasattr(results, "close"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # joblib would warn of results that nobody takes
                    results.close()


def _run_alone(work: Work, item: Any, deadline: float, seconds: float) -> Any:
    with interruptible(min(deadline, time.time() + seconds)) as context:
        return work.alone().run(item, context)


def _chosen_backend(n_jobs: int | None, *, or_processes: bool = False) -> Any:
    """The backend that the user has chosen, or processes; None if there is none, for one job and in nested loops."""
    # batch_size: loky waits forever for the rest of a long message if the process that writes it is killed
    # a hint gives way to a backend that was chosen, and decides if none was
    chosen, configured = get_active_backend(prefer="processes")
    other, _ = get_active_backend(prefer="threads")
    if isinstance(chosen, SequentialBackend):
        return None
    if type(chosen) is not type(other):
        # each has a memory of its own, so there are no more than cores
        jobs = min(thread_count(n_jobs), joblib.cpu_count()) if or_processes else 1
        return joblib.Parallel(jobs, "loky", return_as="generator", batch_size=1) if jobs > 1 else None
    jobs = next(n for n in (n_jobs, configured, chosen.default_n_jobs) if n is not None)
    if chosen.effective_n_jobs(jobs) < 2:
        return None
    one_by_one = getattr(chosen, "supports_return_generator", False)
    return joblib.Parallel(n_jobs=jobs, return_as="generator" if one_by_one else "list", batch_size=1)
