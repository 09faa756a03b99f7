"""One fit of drfsc, run by the Python of its own environment: drfsc_fit.py ROWS.npz SEED, JSON on standard output.

Two ways of giving it the rows. "defaults": its own preprocessing, which scales the training, validation and test rows
each by their own range. "scaled": all three scaled by the range of the training rows, then handed over as they are.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
import time
import warnings

import numpy as np
from drfsc.drfsc import DRFSC
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

DEGREE = 2


def fit_once(rows: dict[str, np.ndarray], seed: int, *, preprocess: bool) -> dict[str, float]:
    """Seconds of `fit` alone, on the clock and of the processor, and accuracy on the test rows."""
    parts = [rows["X_train"], rows["X_val"], rows["X_test"]]
    if not preprocess:
        scaler = MinMaxScaler().fit(parts[0])
        parts = [PolynomialFeatures(DEGREE).fit_transform(scaler.transform(X)) for X in parts]
    np.random.seed(seed)  # noqa: NPY002 - drfsc draws from the global generators
    random.seed(seed)
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
    clock, processor = time.perf_counter(), time.process_time()
    model.fit(X_train, X_val, y_train, y_val)
    return {
        "clock": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
        "accuracy": float(np.mean(model.predict(X_test) == y_test)),
    }


def main(path: str, seed: int) -> None:
    """Fit both ways and print the results."""
    warnings.simplefilter("ignore")
    with np.load(path) as file:
        rows = {name: file[name] for name in file.files}
    with contextlib.redirect_stdout(io.StringIO()):  # it reports the shapes of what it loads
        results = {
            "defaults": fit_once(rows, seed, preprocess=True),
            "scaled": fit_once(rows, seed, preprocess=False),
        }
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
