"""One BLAS thread at a time, so that matrix products round the same on every machine load."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

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
    with _one_user, threadpool_limits(1, user_api=None if openmp else "blas"):
        yield
