"""How many threads a fit may use."""

from __future__ import annotations

from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend


def thread_count(n_jobs: int | None) -> int:
    """What `n_jobs` means for threads of this process, inside and outside of joblib's parallel loops.

    joblib's own `effective_n_jobs` answers for the backend at hand: it would warn in a child process, where processes
    cannot be started but threads can, and count the machines of a cluster.
    """
    backend, configured = get_active_backend()
    if isinstance(backend, SequentialBackend):
        return 1
    return int(ThreadingBackend().effective_n_jobs(configured if n_jobs is None else n_jobs))
