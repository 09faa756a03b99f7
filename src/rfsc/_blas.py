"""One BLAS thread at a time, so that matrix products round the same on every machine load."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

ONE_BLAS_USER = Lock()  # the limit below holds for the whole process; two at once would not restore it


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """More BLAS threads would only change the rounding; threads over independent blocks do not."""
    with ONE_BLAS_USER, threadpool_limits(1, user_api="blas"):
        yield
