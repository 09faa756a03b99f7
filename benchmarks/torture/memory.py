"""Peak memory of fits whose possible columns are far larger than the budget for columns.

Each fit runs in a process of its own, which prints what its memory has grown by, in MiB. It may be
the scaled table, one budget for every search that runs at a time, and a slack: columns are computed a few at a time,
and the NumPy engine works on stacks of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from contextlib import ExitStack
from typing import Any

import joblib
import numpy as np

from benchmarks.measuring import ROOT, make_classifier, memory
from rfsc._engines.problem import BUDGET, ColumnStore

N_ROWS, N_FEATURES = 40_000, 20
COLUMNS = 1771 * N_ROWS * 8 / 2**20  # MiB: all products of up to three features
SLACK = {"numba": 64.0, "numpy": 192.0}  # MiB
FIRST: dict[str, Any] = {
    "degree": 3,
    "max_samples": None,
    "n_restarts": 2,
    "n_models": 1000,
    "max_iter": 1,
}
FITS: dict[str, dict[str, Any]] = {
    "two classes": {"initial_rip": "uniform"},
    "three classes": {"initial_rip": "uniform", "classes": 3},
    "screened": {"initial_rip": "screened"},
    "subsamples": {"max_samples": 20_000},
    "engine numpy": {"initial_rip": "uniform", "engine": "numpy", "n_models": 500},
    "two searches at a time": {"initial_rip": "uniform", "classes": 3, "jobs": 2},
}


def rows(n_rows: int, n_classes: int) -> tuple[Any, Any]:
    """A table with a product in it."""
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, N_FEATURES))
    y = (rng.random(n_rows) < 1 / (1 + np.exp(4 - 4 * X[:, 0] - 6 * X[:, 1] * X[:, 2]))).astype(np.int64)
    return X, y + (rng.random(n_rows) < 0.3) if n_classes > 2 else y


def grown(settings: dict[str, Any], budget: int) -> float:
    """What the memory of this process grows by in a fit, MiB."""
    settings = FIRST | settings
    n_classes, jobs = settings.pop("classes", 2), settings.pop("jobs", 1)
    defaults = ColumnStore.__init__.__kwdefaults__
    assert defaults is not None
    defaults["budget"] = budget
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # one iteration settles nothing
        if jobs > 1:
            stack.enter_context(joblib.parallel_config(backend="threading", n_jobs=jobs))
        small = settings | {"n_models": 10} | ({"max_samples": 100} if "max_samples" in settings else {})
        make_classifier(**small, random_state=0).fit(*rows(300, n_classes))  # libraries and kernels are loaded
        X, y = rows(N_ROWS, n_classes)
        before = memory("VmRSS")
        make_classifier(**settings, random_state=0).fit(X, y)
        # not that of getrusage, which begins at the peak of the parent
        return (memory("VmHWM") - before) / 2**20


def growth(name: str, budget: int = BUDGET) -> float:
    """The same, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.torture.memory", json.dumps([FITS[name], budget])]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def allowed(name: str) -> float:
    """Most that it may be, MiB."""
    table = N_ROWS * N_FEATURES * 8 / 2**20
    at_a_time = FITS[name].get("jobs", 1)
    return table + at_a_time * (BUDGET / 2**20 + SLACK[FITS[name].get("engine", "numba")])


def memory_torture() -> list[tuple[str, int, int, int]]:
    """Rows (name, fits, lost, wrong); wrong are those that took more than they may."""
    wrong = 0
    for name in FITS:
        found = growth(name)
        print(f"memory, {name}: {found:.0f} MiB of {allowed(name):.0f}; all columns would take {COLUMNS:.0f}")
        wrong += found > allowed(name)
    return [("peak memory within the budget", len(FITS), 0, wrong)]


if __name__ == "__main__":
    sys.stdout.write(f"{grown(*json.loads(sys.argv[1]))}\n")
