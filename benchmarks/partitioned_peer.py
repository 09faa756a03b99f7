"""Fit a public relative of `PartitionedRFSC` once, inside an environment of its own, and print what came out as JSON.

`python partitioned_peer.py drfsc|distfeatselect rows.npz n_bins seed`. Features come scaled to [0, 1]. Both packages
get as many bins as ours, five rounds, and features dealt anew in every round; all else is their default. The one asks
for a validation part and gets a fifth of the rows; the other only selects, so a logistic regression on what it selects
predicts.
"""

from __future__ import annotations

import contextlib
import json
import random
import resource
import sys
import time
import warnings

import numpy as np

N_ROUNDS = 5


def fit_drfsc(rows: dict[str, np.ndarray], n_bins: int) -> tuple[list[int], np.ndarray]:
    """Features chosen, and classes of the test rows."""
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


def fit_distfeatselect(rows: dict[str, np.ndarray], n_bins: int) -> tuple[list[int], np.ndarray]:
    """Features chosen, and classes of the test rows."""
    from distfeatselect.dfs import DFS
    from distfeatselect.rfs import RFS
    from sklearn.linear_model import LogisticRegression

    model = DFS(local_fs_method=RFS(), n_vbins=n_bins, n_runs=N_ROUNDS, redistribute_features=True)
    model.fit(rows["X"], rows["y"])
    chosen = [int(j) for j in model.get_support(indices=True)]
    predictor = LogisticRegression(max_iter=1000).fit(rows["X"][:, chosen], rows["y"])
    return chosen, predictor.predict(rows["X_test"][:, chosen])


def processor_seconds() -> float:
    """Of this process and of those that it has started and that have ended."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in spent)


def main(package: str, path: str, n_bins: int, seed: int) -> None:
    """Fit and print."""
    warnings.simplefilter("ignore")
    with np.load(path) as file:
        rows = {name: file[name] for name in file.files}
    np.random.seed(seed)  # noqa: NPY002 - both draw from the global generators
    random.seed(seed)
    fit = {"drfsc": fit_drfsc, "distfeatselect": fit_distfeatselect}[package]
    with contextlib.redirect_stdout(sys.stderr):
        clock, spent = time.perf_counter(), processor_seconds()
        chosen, predicted = fit(rows, n_bins)
        clock, spent = time.perf_counter() - clock, processor_seconds() - spent
    accuracy = float(np.mean(predicted == rows["y_test"]))
    print(json.dumps({"features": chosen, "accuracy": accuracy, "wall": clock, "cpu": spent}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
