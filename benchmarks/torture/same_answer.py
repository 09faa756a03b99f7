"""One fit in many ways: jobs, backends of joblib, threads, sizes of chunks, interruptions; all give the same bits.

Numbers of threads are set before a process starts, so each has a process of its own (`python same_answer.py`), which
prints the hash of every model file.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris

from benchmarks.measuring import ROOT, make_classifier
from rfsc import Checkpoint, RFSCClassifier
from rfsc.export.compare import compared_text, largest_difference

QUICK: dict[str, Any] = {"n_restarts": 3, "max_iter": 12, "random_state": 3}
CLOSE = 1e-8  # between engines
THREADS = (1, 2)
ENGINES = ("numba", "numpy", "torch")
Fit = Callable[..., RFSCClassifier]


@cache
def _tables() -> dict[str, tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(200, 80))
    return {
        "iris": load_iris(return_X_y=True),
        "wdbc": load_breast_cancer(return_X_y=True),
        "long": _long_table(rng),
        "wide": (wide, wide[:, 0] + wide[:, 1] * wide[:, 2] + 0.3 * rng.logistic(size=200) > 0),
    }


def _long_table(rng: np.random.Generator) -> tuple[Any, Any]:
    """So long that libraries begin to use threads for it."""
    X = rng.random((20_000, 4))
    return X, rng.random(20_000) < 1 / (1 + np.exp(4 - 4 * X[:, 0] - 6 * X[:, 1] * X[:, 2]))


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "two classes, polynomial": ("wdbc", {"basis": "polynomial"}),
    "three classes, polynomial": ("iris", {"basis": "polynomial"}),
    "three classes, auto": ("iris", {}),
    "two classes, subsamples": ("wdbc", {"basis": "polynomial", "max_samples": 200}),
    "three classes, subsamples, best": ("iris", {"basis": "hinge", "max_samples": 0.6, "size": None}),
    "3,321 terms, screened": ("wide", {"basis": "polynomial", "initial_rip": "screened"}),
    "several families, screened": ("wide", {"basis": ["polynomial", "hinge", "radial"], "initial_rip": "screened"}),
    "20,000 rows": (
        "long",
        {"basis": ["polynomial", "radial"], "max_samples": None, "n_restarts": 2, "max_iter": 3, "n_models": 20},
    ),
    "20,000 rows, subsamples, average": (
        "long",
        {"max_samples": 1000, "n_restarts": 2, "max_iter": 4, "n_models": 20},
    ),
    "engine numpy": ("iris", {"basis": "polynomial", "engine": "numpy", "n_models": 30}),
}


def fit(case: str, **more: Any) -> RFSCClassifier:
    """One of the cases."""
    table, settings = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_classifier(**(QUICK | settings | more)).fit(*_tables()[table])


# ---- ways to the same model

# (module, constant, values): how much is worked on at a time
CHUNKS: list[tuple[str, str, tuple[int, ...]]] = [
    ("rfsc._engines.problem", "AT_A_TIME", (1, 50_000)),
    ("rfsc._terms.score_tests", "COLUMN_BYTES", (1, 100_000)),
    ("rfsc._terms.score_tests", "PAIR_FEATURES", (1, 7, 33)),
    ("rfsc._engines.array_engine", "STACK_BYTES", (1, 1_000_000)),
]
BUDGETS = (1, 2_000_000)  # bytes of the store of columns


@contextmanager
def set_to(module: str, name: str, value: int) -> Iterator[None]:
    """A constant of a module has another value."""
    home = importlib.import_module(module)
    before = getattr(home, name)
    setattr(home, name, value)
    try:
        yield
    finally:
        setattr(home, name, before)


@contextmanager
def column_budget(budget: int) -> Iterator[None]:
    """The store of columns has another budget: it drops columns, and cuts batches so that theirs fit."""
    from rfsc._engines.problem import ColumnStore

    defaults: dict[str, Any] = ColumnStore.__init__.__kwdefaults__ or {}
    before = defaults["budget"]
    defaults["budget"] = budget
    try:
        yield
    finally:
        defaults["budget"] = before


class _Stop(Exception):
    """An interruption."""


def interrupted(case: str, moments: tuple[int, ...] = (1, 4, 11), **more: Any) -> RFSCClassifier:
    """A fit that fails after some iterations, several times, and continues from its checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fit.checkpoint")
        for moment in moments:
            seen: list[Any] = []

            def look(record: Any, seen: list[Any] = seen, moment: int = moment) -> None:
                seen.append(record)
                if len(seen) == moment:
                    raise _Stop

            with suppress(_Stop):
                fit(case, callbacks=[Checkpoint(path), look], **more)
        return fit(case, callbacks=Checkpoint(path), **more)


def in_parallel(backend: str, n_jobs: int) -> Fit:
    """A fit whose searches run on a backend of joblib."""

    def run(case: str) -> RFSCClassifier:
        with joblib.parallel_config(backend=backend, n_jobs=n_jobs):
            return fit(case)

    return run


def ways(backends: tuple[str, ...], jobs: tuple[int, ...], case: str) -> dict[str, Fit]:
    """Every way to fit a case, by name."""
    found: dict[str, Fit] = {f"n_jobs={n}": lambda case, n=n: fit(case, n_jobs=n) for n in jobs}
    found |= {f"{backend}, n_jobs={n}": in_parallel(backend, n) for backend in backends for n in jobs}
    settings: list[tuple[str, Any]] = [
        (f"{name}={value}", lambda m=module, n=name, v=value: set_to(m, n, v))
        for module, name, values in CHUNKS
        for value in values
    ]
    if CASES[case][0] == "wide":  # small spaces are held whole, and fits begin where their sums are known
        settings += [(f"budget of columns={value}", lambda value=value: column_budget(value)) for value in BUDGETS]
    for name, setting in settings:

        def run(case: str, setting: Any = setting) -> RFSCClassifier:
            with setting():
                return fit(case)

        found[name] = run
    found["interrupted"] = interrupted
    found["interrupted, n_jobs=2"] = lambda case: interrupted(case, (3, 7), n_jobs=2)
    return found


@contextmanager
def dask_cluster(n_workers: int = 2) -> Iterator[None]:
    """Two processes of Dask on this machine."""
    from distributed import Client, LocalCluster

    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options, silence_logs=50) as cluster, Client(cluster):
        yield


def hashes(cases: tuple[str, ...], backends: tuple[str, ...], jobs: tuple[int, ...]) -> dict[str, dict[str, str]]:
    """By case and way the hash of the model file; of a way that failed, the error."""
    found: dict[str, dict[str, str]] = {}
    with ExitStack() as stack:
        stack.enter_context(dask_cluster() if "dask" in backends else nullcontext())
        for case in cases:
            found[case] = {}
            for name, way in ways(backends, jobs, case).items():
                try:
                    found[case][name] = joblib.hash(compared_text(way(case)))
                except Exception as error:
                    found[case][name] = f"failed: {error!r}"[:300]
    return found


def backends_here() -> tuple[str, ...]:
    """Backends that can be had; Dask is an extra."""
    return ("loky", "threading", *(("dask",) if find_spec("distributed") else ()))


def _with_threads(n_threads: int, cases: tuple[str, ...], backends: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """The hashes of a process that was started with so many threads."""
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(n_threads))
    command = [sys.executable, "-m", "benchmarks.torture.same_answer", json.dumps([cases, backends])]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def grid_torture(cases: tuple[str, ...] = tuple(CASES)) -> list[tuple[str, int, int, int]]:
    """Rows (name, fits, lost, wrong): lost are fits that failed, wrong those whose file differs from the first."""
    found = {n: _with_threads(n, cases, backends_here()) for n in THREADS}
    lost = wrong = tried = 0
    for case in cases:
        (first, *_) = found[THREADS[0]][case].values()
        for n, by_case in found.items():
            for way, value in by_case[case].items():
                tried += 1
                lost += value.startswith("failed")
                if value != first:
                    wrong += not value.startswith("failed")
                    print(f"same answer, {case}, {way}, {n} threads: {value}")
    return [("same bits: jobs, backends, threads, chunks, resumed", tried, lost, wrong)]


# ---- engines


def engines_here() -> tuple[str, ...]:
    """Engines that can be had, the first being the one that others are compared with."""
    found = []
    for name in ENGINES:
        with suppress(Exception):  # not installed, or no device
            fit("three classes, polynomial", engine=name, n_restarts=1, max_iter=1, n_models=5)
            found.append(name)
    return tuple(found)


def engine_torture(seeds: range = range(3), cases: tuple[str, ...] = tuple(CASES)) -> list[tuple[str, int, int, int]]:
    """Rows (name, fits, lost, wrong): wrong are models of other terms, or coefficients further apart than 1e-8."""
    first, *others = engines_here()
    rows = {name: [0, 0, 0] for name in others}
    for case in cases:
        for seed in seeds:
            own = fit(case, engine=first, random_state=seed)  # whatever engine the case itself asks for
            for name in others:
                rows[name][0] += 1
                try:
                    apart = largest_difference(own, fit(case, engine=name, random_state=seed))
                except Exception as error:
                    rows[name][1] += 1
                    print(f"engine {name}, {case}, seed {seed}: {error!r}")
                    continue
                if apart > CLOSE:
                    rows[name][2] += 1
                    print(f"engine {name}, {case}, seed {seed}: {apart:.1e} apart")
    return [(f"same model: engine {name} beside {first}", *counts) for name, counts in rows.items()]


# ---- random states of others


def states(own: Any) -> str:
    """All random states that a fit could move."""
    legacy = np.random.get_state()  # noqa: NPY002
    parts: list[Any] = [random.getstate(), (*legacy[:1], legacy[1].tolist(), *legacy[2:])]
    if isinstance(own, np.random.RandomState):
        one = own.get_state()
        parts += [(*one[:1], one[1].tolist(), *one[2:])]
    elif isinstance(own, np.random.Generator):
        parts += [own.bit_generator.state, own.bit_generator.seed_seq.n_children_spawned]
    return repr(parts)


def random_state_torture(seeds: range = range(5)) -> list[tuple[str, int, int, int]]:
    """Rows (name, fits, lost, wrong): wrong moved a random state, or gave another model the second time."""
    tried = wrong = 0
    for seed in seeds:
        for make in (int, np.random.default_rng, np.random.RandomState):
            own = make(seed)
            before = states(own)
            pair = [fit("several families, screened", random_state=own) for _ in range(2)]
            tried += 2
            bad = states(own) != before or largest_difference(*pair) != 0.0
            wrong += bad
            if bad:
                print(f"random states, {make.__name__}: moved, or another model the second time")
    return [("random states left alone", tried, 0, wrong)]


if __name__ == "__main__":
    which, where = json.loads(sys.argv[1])
    print(json.dumps(hashes(tuple(which), tuple(where), (1, 2, 3))))
