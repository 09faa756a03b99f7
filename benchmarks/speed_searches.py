"""Speed of whole searches: the experiment of the paper, one search beside drfsc, and start-up."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from paper.datasets import DataSet, load
from paper.printed import SETS
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split

from rfsc import RFSCClassifier

from .measuring import run_python
from .relatives import SCRIPT, relative_python
from .report import Row, Section

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
SEEDS = (0, 1, 2, 3)
DRFSC_BAR = 100
IMPORT_RUNS, IMPORT_BAR, FIRST_FIT_BAR = 5, 1.5, 15
EXPERIMENT_BAR = 60.0  # seconds on two cores
CORES = 2


def fit_fold(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """Accuracy of one fold with the paper's settings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RFSCClassifier.paper(random_state=0, n_jobs=1).fit(X[train], y[train])
    return float(np.mean(model.predict(X[test]) == y[test]))


def experiment_section() -> Section:
    """Sixty fits, two at a time. The paper's Matlab took about six hours by its own table."""
    title = "The whole experiment of the paper: 6 data sets x 10 folds x 10 restarts"
    try:
        tables = {name: load(name) for name in SETS}
    except OSError as error:
        return Section(title, [], [f"NOT MEASURED: {error}"])
    with Parallel(n_jobs=min(CORES, os.cpu_count() or 1)) as pool:
        first = folds(tables["Iris"])[0]
        pool(delayed(fit_fold)(*first) for _ in range(CORES))  # loads the kernels
        start = time.perf_counter()
        accuracies = pool(delayed(fit_fold)(*fold) for table in tables.values() for fold in folds(table))
        seconds = time.perf_counter() - start
    return Section(
        title,
        [Row("the paper's settings", seconds, bar=EXPERIMENT_BAR)],
        [
            f"Wall time on {CORES} cores, one fold on each at a time. 100 models, at most 300 iterations, folds of "
            'seed 0; the kernels are compiled before. With default settings: see "Default fits".',
            f"Mean accuracy over the sixty folds: {np.mean(accuracies):.3f}.",
        ],
    )


def folds(table: DataSet) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Rows, classes, training and test part of each fold."""
    parts = StratifiedKFold(10, shuffle=True, random_state=0).split(table.X, table.y)
    return [(table.X, table.y, train, test) for train, test in parts]


# ---- drfsc


def search_section() -> Section:
    """One search of ours against one fit of drfsc."""
    title = "One search on WDBC against one fit of drfsc 0.0.7"
    python = relative_python("drfsc")
    if python is None:
        reason = "drfsc 0.0.7 could not be installed from PyPI (pip's message is on stderr when this page is made)"
        return Section(title, [], [f"NOT MEASURED: {reason}. Bar: at least {DRFSC_BAR} times faster."])
    X, y = load_breast_cancer(return_X_y=True)
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.1, stratify=y, random_state=0)
    split = train_test_split(X_fit, y_fit, test_size=0.2, stratify=y_fit, random_state=0)
    rows = dict(zip(("X_train", "X_val", "y_train", "y_val"), split, strict=True))
    ways = {
        "one": {"n_restarts": 1, "size": None, "n_jobs": 1},
        "one, two threads": {"n_restarts": 1, "size": None, "n_jobs": 2},
        "whole": {"n_jobs": 1},
    }
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in (*ways, "defaults", "scaled")}
    RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0, n_jobs=1).fit(X_fit, y_fit)  # compiles
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.npz")
        np.savez(path, **rows, X_test=X_test, y_test=y_test)
        for seed in SEEDS:
            for way, settings in ways.items():
                runs[way].append(fit_ours(X_fit, y_fit, X_test, y_test, random_state=seed, **settings))
            theirs = json.loads(run_python(python, SCRIPT, "search", str(path), str(seed), **ONE_THREAD))
            for way, result in theirs.items():
                runs[way].append(result)
    return compare_searches(title, runs, y_fit.size, y_test.size)


def fit_ours(
    X_fit: np.ndarray, y_fit: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, **settings: int | None
) -> dict[str, float]:
    """A fit among polynomials, as drfsc searches: seconds of `fit` and accuracy on the test rows."""
    wall, cpu = time.perf_counter(), time.process_time()
    model = RFSCClassifier(basis="polynomial", **settings).fit(X_fit, y_fit)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall": wall, "cpu": cpu, "accuracy": model.score(X_test, y_test)}


def compare_searches(title: str, runs: dict[str, list[dict[str, float]]], n_fit: int, n_test: int) -> Section:
    """Means over the seeds; the bar is on the time to a model at least as accurate."""
    mean = {
        way: {name: float(np.mean([r[name] for r in results])) for name in results[0]} for way, results in runs.items()
    }
    rows = []
    for theirs, label in (("defaults", "drfsc, its defaults"), ("scaled", "drfsc, given scaled terms")):
        for ours, kind, what in (
            ("one", "cpu", "one search, processor time"),
            ("one, two threads", "wall", "one search on two threads, wall time"),
            ("whole", "cpu", "a whole fit with its cross-validation, processor time"),
        ):
            judged = ours == "one, two threads" and theirs == "defaults"
            less_accurate = mean[ours]["accuracy"] < mean[theirs]["accuracy"]
            name = f"{label}; ours: {what}{', LESS ACCURATE' if less_accurate else ''}"
            rows.append(Row.versus(name, mean[ours][kind], mean[theirs][kind], DRFSC_BAR, judged=judged))
    spread = {way: ", ".join(f"{r['wall']:.2f}" for r in results) for way, results in runs.items()}
    right = {way: f"{m['accuracy']:.3f}" for way, m in mean.items()}
    return Section(
        title,
        rows,
        [
            f'Means over the seeds {", ".join(map(str, SEEDS))}, taken in turns: `RFSCClassifier(basis="polynomial", '
            "random_state=seed).fit`, compiled before and for one search with `size=None, n_restarts=1`, against one "
            "`DRFSC(polynomial=2).fit`, which is one search too and uses one core. Wall seconds by seed: one search "
            f"{spread['one']}; on two threads {spread['one, two threads']}; a whole fit {spread['whole']}; drfsc "
            f"{spread['defaults']}; drfsc with scaled terms {spread['scaled']}.",
            f"Both get the same {n_fit} rows; drfsc asks for a validation part and gets a fifth of them.",
            f"Accuracy on the same {n_test} held-out rows, mean over the seeds: one search {right['one']}, a "
            f"whole fit {right['whole']}; drfsc {right['defaults']}, because its defaults scale training, validation "
            f"and test rows each by their own range; {right['scaled']} when it is given terms scaled by the range of "
            f"the training rows. One row is worth {1 / n_test:.3f}.",
            "The bar is judged on its defaults and wall time on two cores; the other verdicts stand in brackets.",
        ],
    )


# ---- start-up

IMPORT_CODE = """
import sys, time
start = time.perf_counter()
from rfsc import RFSCClassifier  # `import rfsc` alone loads nothing
print(time.perf_counter() - start, "numba" in sys.modules)
"""

FIRST_FIT_CODE = """
import sys, time
from sklearn.datasets import load_breast_cancer
from rfsc import RFSCClassifier
X, y = load_breast_cancer(return_X_y=True)
clock, processor = time.perf_counter(), time.process_time()
RFSCClassifier(basis=sys.argv[1], random_state=0, n_jobs=1).fit(X, y)
print(time.perf_counter() - clock, time.process_time() - processor)
"""


def startup_section() -> Section:
    """Import, and the first fit with and without compiled kernels."""
    imports = [run_python(sys.executable, "-c", IMPORT_CODE, **ONE_THREAD).split() for _ in range(IMPORT_RUNS)]
    loads_numba = any(numba == "True" for _, numba in imports)
    first, second = first_fits("auto")
    paper = first_fits("polynomial")
    return Section(
        "Start-up",
        [
            Row(
                f"`from rfsc import RFSCClassifier`, best of {IMPORT_RUNS} fresh processes",
                min(float(s) for s, _ in imports),
                bar=IMPORT_BAR,
            ),
            Row("first default fit of a fresh process, empty kernel cache", first[0], bar=FIRST_FIT_BAR),
            Row("first default fit of the next process, kernels cached", second[0]),
            Row('the same with basis="polynomial", empty kernel cache', paper[0][0], bar=FIRST_FIT_BAR),
            Row('with basis="polynomial", kernels cached', paper[1][0]),
        ],
        [
            f"Importing rfsc {'LOADS numba' if loads_numba else 'does not load numba'}"
            f"{'' if loads_numba else ', so it compiles nothing'}.",
            "Wall time on one core. The fits are on WDBC. Processor time of the default: "
            f"{first[1]:.1f} s and {second[1]:.1f} s, so compiling takes {first[1] - second[1]:.1f} s of it.",
        ],
    )


def first_fits(basis: str) -> list[list[float]]:
    """(wall, processor) seconds of the first fit of two fresh processes, the first with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [
            run_python(sys.executable, "-c", FIRST_FIT_CODE, basis, NUMBA_CACHE_DIR=folder, **ONE_THREAD)
            for _ in range(2)
        ]
    return [[float(seconds) for seconds in run.split()] for run in runs]
