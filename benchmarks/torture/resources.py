"""What fits leave behind in a process (threads, processes, files, memory), and where they can run."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.measuring import make_classifier, memory
from rfsc import RFSCClassifier

QUICK: dict[str, Any] = {"basis": "polynomial", "n_restarts": 1, "n_models": 10, "max_iter": 3, "random_state": 0}
N_FITS = 1000
WARM_UP = 20  # fits until caches are filled
MOST_MEMORY = 8.0  # MiB that the fits after these may leave behind: pages that the allocator has not given back
PATIENCE = 5.0  # seconds for threads to end

# Run with sockets that fail: whatever would look for a network is seen, in Python and in compiled modules alike.
OFFLINE = """
import sys
def refuse(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.", "ftplib.", "smtplib.")):
        raise OSError(f"no network here: {event}")
sys.addaudithook(refuse)
import warnings; warnings.simplefilter("ignore")
from sklearn.datasets import load_iris
from rfsc import RFSCClassifier, SearchSettings
from rfsc.report import Report
X, y = load_iris(return_X_y=True, as_frame=True)
few = SearchSettings(n_models=10, max_iter=3)
clf = RFSCClassifier(basis="polynomial", n_restarts=1, search=few, random_state=0, n_jobs=2).fit(X, y)
clf.predict(X), clf.predict_proba(X), clf._repr_html_()
page = Report.from_estimator(clf, X, y, cv=2, baselines={}).html()
try:
    import socket; socket.create_connection(("127.0.0.1", 9), timeout=1)
except OSError as error:
    print(str(error).startswith("no network here"), len(page) > 10_000)
"""

NOTEBOOK = """
from sklearn.datasets import load_iris
from rfsc import RFSCClassifier
X, y = load_iris(return_X_y=True, as_frame=True)
clf = RFSCClassifier(basis="polynomial", n_restarts=2, random_state=0, n_jobs=2, verbose=1).fit(X, y)
print(clf.score(X, y) > 0.9)
clf
"""


def _threads_of_pools() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "ThreadPoolExecutor" in thread.name]


class Held(NamedTuple):
    """What a process holds."""

    threads: int
    processes: int
    files: int
    memory: float  # MiB

    @classmethod
    def now(cls) -> Held:
        """Of this process, once what ends by itself has ended."""
        gc.collect()
        deadline = time.monotonic() + PATIENCE
        while _threads_of_pools() and time.monotonic() < deadline:  # they end a moment after their pool
            time.sleep(0.01)
        tasks = list(Path("/proc/self/task").iterdir())
        children = sum(len((task / "children").read_text().split()) for task in tasks)
        return cls(len(tasks), children, len(os.listdir("/proc/self/fd")), memory("VmRSS") / 2**20)


def small_fit(seed: int, **settings: Any) -> RFSCClassifier:
    """A fit of three classes by both kinds of thread users, the engine's pool and BLAS."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # three iterations settle nothing
        return make_classifier(**(QUICK | settings)).fit(X, rng.integers(0, 3, 60))


def numbers(clf: RFSCClassifier) -> list[tuple[object, ...]]:
    """The bits of all models of a classifier."""
    return [(model.names, model.coef.tobytes(), model.standard_error.tobytes()) for model in clf.models_]


def quick_numbers(seed: int) -> list[tuple[object, ...]]:
    """The same for a small fit, here or in another process."""
    return numbers(small_fit(seed, n_jobs=2))


def process_torture(n_fits: int = 20) -> list[tuple[str, int, int, int]]:
    """Rows (name, tried, lost, wrong) of fits in child processes, beside the same fits here."""
    expected = [quick_numbers(seed) for seed in range(n_fits)]
    rows = []
    for method in ("fork", "spawn", "forkserver"):
        lost = wrong = 0
        with multiprocessing.get_context(method).Pool(2) as pool:
            jobs = [pool.apply_async(quick_numbers, (seed,)) for seed in range(n_fits)]
            for job, own in zip(jobs, expected, strict=True):
                try:
                    wrong += job.get(timeout=120) != own
                except Exception as error:  # counted, and named
                    lost += 1
                    print(f"fits under {method}: {error!r}")
        rows.append((f"fits under {method}", n_fits, lost, wrong))
    return rows


def left_behind(n_fits: int, warm_up: int = WARM_UP) -> Held:
    """What `n_fits` fits hold more than the first few, of which every tenth ends in an error half-way."""

    def fail(_: object) -> None:
        raise RuntimeError

    def run(seed: int) -> None:
        settings: dict[str, Any] = {"n_jobs": 1 + seed % 3, "engine": "numpy" if seed % 5 == 0 else "numba"}
        with contextlib.suppress(RuntimeError):
            small_fit(seed, callbacks=fail if seed % 10 == 0 else None, **settings)

    for seed in range(warm_up):
        run(seed)
    before = Held.now()
    for seed in range(n_fits - warm_up):
        run(seed)
    after = Held.now()
    return Held(*(a - b for a, b in zip(after, before, strict=True)))


def leak_torture(n_fits: int = N_FITS) -> list[tuple[str, int, int, int]]:
    """Rows (name, tried, lost, wrong); wrong counts the kinds of things left behind."""
    left = left_behind(n_fits)
    wrong = sum(number > 0 for number in left[:3]) + (left.memory > MOST_MEMORY)
    print(f"after {n_fits} fits: {left}")
    return [("fits that leave nothing behind", n_fits, 0, int(wrong))]


def cpu_by_thread() -> dict[str, float]:
    """Seconds of processor time that each thread of this process has used."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has just ended
            found[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return found


def _once_others_sleep() -> dict[str, float]:
    """Processor times once nothing but this thread runs: those of BLAS spin for a moment after they were started."""
    own, seen = str(threading.get_native_id()), cpu_by_thread()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        time.sleep(0.1)
        last, seen = seen, cpu_by_thread()
        if all(seen[thread] == last.get(thread) for thread in seen if thread != own):
            break
    return seen


def busy_threads(**settings: Any) -> int:
    """How many threads do a twentieth or more of the work of a fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.logistic(size=2000) > 0
    before, after = _once_others_sleep(), {}
    small: dict[str, Any] = {"n_restarts": 1, "n_models": 30, "max_iter": 5, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        make_classifier(**small, callbacks=lambda _: after.update(cpu_by_thread()), **settings).fit(X, y)
    after.update(cpu_by_thread())
    spent = np.array([seconds - before.get(thread, 0.0) for thread, seconds in after.items()])
    return int((spent > 0.05 * spent.sum()).sum())


def offline() -> str:
    """What a fit, a prediction and a report print in a process whose sockets fail."""
    done = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, timeout=300)
    return done.stdout + done.stderr


def notebook_outputs(code: str = NOTEBOOK, timeout: float = 120.0) -> list[dict[str, Any]]:
    """What a Jupyter kernel sends back for a cell (needs ipykernel)."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(startup_timeout=timeout)
    sent: list[dict[str, Any]] = []
    try:
        client.execute_interactive(code, timeout=timeout, output_hook=sent.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return [{"kind": message["msg_type"], **message["content"]} for message in sent]


def notebook_torture() -> list[tuple[str, int, int, int]]:
    """Rows (name, tried, lost, wrong) of a fit in a notebook."""
    sent = notebook_outputs()
    shown = [one["data"].get("text/html", "") for one in sent if one["kind"] == "execute_result"]
    lost = sum(one["kind"] == "error" for one in sent)
    wrong = not any("RFSCClassifier" in page for page in shown)
    return [("fits in a Jupyter kernel", 1, lost, int(wrong))]


if __name__ == "__main__":
    for row in [*leak_torture(), *process_torture(), *notebook_torture()]:
        print(row)
