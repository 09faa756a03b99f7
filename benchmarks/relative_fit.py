"""One fit of a public relative, run by the Python of its own environment; the last line printed is JSON.

    relative_fit.py search ROWS.npz SEED                   drfsc as it searches one table, given the rows in two ways
    relative_fit.py drfsc|distfeatselect ROWS.npz SEED N   selection from very many features, in N bins

Every way of giving drfsc the rows of `search` is fair to it: "defaults" is its own preprocessing, which scales the
training, validation and test rows each by their own range; "scaled" scales all three by the range of the training rows.
In the selections features come scaled to [0, 1]. Both packages get five rounds with features dealt again in every
round; all else is their default. drfsc needs a validation part and gets a fifth of the rows; distfeatselect only
selects, so a logistic regression on what it selects predicts.
"""

from __future__ import annotations

import contextlib
import json
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

DEGREE = 2
N_ROUNDS = 5
Rows = dict[str, np.ndarray]


def search(rows: Rows) -> dict[str, dict[str, float]]:
    """Both ways of one search."""
    return {"defaults": _search_once(rows, preprocess=True), "scaled": _search_once(rows, preprocess=False)}


def _search_once(rows: Rows, *, preprocess: bool) -> dict[str, float]:
    """Seconds of `fit` alone, and accuracy on the test rows."""
    from drfsc.drfsc import DRFSC
    from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

    parts = [rows["X_train"], rows["X_val"], rows["X_test"]]
    if not preprocess:
        scaler = MinMaxScaler().fit(parts[0])
        parts = [PolynomialFeatures(DEGREE).fit_transform(scaler.transform(X)) for X in parts]
    model = DRFSC(polynomial=DEGREE, preprocess=preprocess)  # one bin of rows and terms: one process, no pool
    X_train, X_val, y_train, y_val, X_test, y_test = model.load_data(
        X_train=parts[0],
        X_val=parts[1],
        Y_train=rows["y_train"],
        Y_val=rows["y_val"],
        X_test=parts[2],
        Y_test=rows["y_test"],
        polynomial=DEGREE,
        preprocess=preprocess,
    )
    seconds = _seconds(lambda: model.fit(X_train, X_val, y_train, y_val))
    return {**seconds, "accuracy": float(np.mean(model.predict(X_test) == y_test))}


def select(package: str, rows: Rows, n_bins: int) -> dict[str, object]:
    """Features chosen, accuracy and seconds."""
    fit = {"drfsc": _select_by_drfsc, "distfeatselect": _select_by_distfeatselect}[package]
    found: list[tuple[list[int], np.ndarray]] = []
    seconds = _seconds(lambda: found.append(fit(rows, n_bins)))
    chosen, predicted = found[0]
    return {**seconds, "features": chosen, "accuracy": float(np.mean(predicted == rows["y_test"]))}


def _select_by_drfsc(rows: Rows, n_bins: int) -> tuple[list[int], np.ndarray]:
    from drfsc.drfsc import DRFSC

    n, order = len(rows["y"]), np.random.default_rng(0).permutation(len(rows["y"]))
    fit, val = order[n // 5 :], order[: n // 5]
    model = DRFSC(n_vbins=n_bins, n_runs=N_ROUNDS, redistribute_features=True, preprocess=False)
    parts = model.load_data(
        X_train=rows["X"][fit],
        X_val=rows["X"][val],
        Y_train=rows["y"][fit],
        Y_val=rows["y"][val],
        X_test=rows["X_test"],
        Y_test=rows["y_test"],
        polynomial=1,
        preprocess=False,
    )
    model.fit(*parts[:4])
    return [int(j) for j in model.features_num], np.asarray(model.predict(rows["X_test"]))


def _select_by_distfeatselect(rows: Rows, n_bins: int) -> tuple[list[int], np.ndarray]:
    from distfeatselect.dfs import DFS
    from distfeatselect.rfs import RFS
    from sklearn.linear_model import LogisticRegression

    model = DFS(local_fs_method=RFS(), n_vbins=n_bins, n_runs=N_ROUNDS, redistribute_features=True)
    model.fit(rows["X"], rows["y"])
    chosen = [int(j) for j in model.get_support(indices=True)]
    predictor = LogisticRegression(max_iter=1000).fit(rows["X"][:, chosen], rows["y"])
    return chosen, predictor.predict(rows["X_test"][:, chosen])


def _seconds(work: Callable[[], object]) -> dict[str, float]:
    """Wall and processor seconds, the latter also of processes that have ended."""

    def processor() -> float:
        used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(one.ru_utime + one.ru_stime for one in used)

    wall, cpu = time.perf_counter(), processor()
    work()
    return {"wall": time.perf_counter() - wall, "cpu": processor() - cpu}


def main(what: str, path: str, seed: str, n_bins: str = "1") -> None:
    """Fit and print."""
    warnings.simplefilter("ignore")
    with np.load(path) as file:
        rows = {name: file[name] for name in file.files}
    np.random.seed(int(seed))  # noqa: NPY002 - both packages draw from the global generators
    random.seed(int(seed))
    with contextlib.redirect_stdout(sys.stderr):  # they report the shapes of what they load
        outcome = search(rows) if what == "search" else select(what, rows, int(n_bins))
    print(json.dumps(outcome))


if __name__ == "__main__":
    main(*sys.argv[1:])
