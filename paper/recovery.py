"""How often the search finds a planted polynomial: terms known, several noise levels and sample sizes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from rfsc import RFSCClassifier

from .arrays import FloatArray, IntArray
from .tables import markdown_table, verdict

PLANTED = {"x0": 6.0, "x1*x2": 12.0, "x3^2": -9.0}  # of features on [0, 1], plus a constant that balances the classes
N_FEATURES = 10
SETTINGS: dict[str, dict[str, Any]] = {"default": {}, "strict": {"size": None, "significance": 0.01}}
SIZES = (200, 500, 1000, 3000)
NOISE = (0.25, 0.5, 1.0)  # scale of logistic noise; 1 is the noise that the model assumes
SEEDS = range(10)
MOST_OTHERS, FROM_ROWS = 1.0, 500  # the bar: terms that were not planted, on average from so many rows on


def planted_data(n: int, noise: float, seed: int) -> tuple[FloatArray, IntArray]:
    """Samples whose class is the sign of the planted polynomial plus logistic noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, N_FEATURES))
    f = 6.0 * X[:, 0] + 12.0 * X[:, 1] * X[:, 2] - 9.0 * X[:, 3] ** 2
    return X, (f - np.median(f) + noise * rng.logistic(size=n) > 0).astype(np.int64)


def recovery(n: int, noise: float, seed: int, setting: str = "default") -> tuple[float, float, bool]:
    """(share of planted terms found, number of terms that were not planted, whether the set is exact)."""
    X, y = planted_data(n, noise, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf = RFSCClassifier(basis="polynomial", random_state=seed, n_restarts=5, **SETTINGS[setting]).fit(X, y)
    found = set(clf.models_[0].names) - {"1"}
    return len(found & set(PLANTED)) / len(PLANTED), len(found - set(PLANTED)), found == set(PLANTED)


def recovery_section(n_jobs: int) -> str:
    """The table over sizes, noise levels and settings, and the bar."""
    cells = [(n, noise) for n in SIZES for noise in NOISE]
    tasks = [(*cell, seed, setting) for cell in cells for setting in SETTINGS for seed in SEEDS]
    results = np.array(Parallel(n_jobs, verbose=1)(delayed(recovery)(*task) for task in tasks))
    means = results.reshape(len(cells), len(SETTINGS), len(SEEDS), 3).mean(axis=2)
    head, rows = ["samples", "noise"], [[f"{n:,}", f"{noise}"] for n, noise in cells]
    for k, setting in enumerate(SETTINGS):
        head += [f"{setting}: planted terms found", "other terms", "exactly the planted set"]
        for row, (share, extra, exact) in zip(rows, means[:, k], strict=True):
            row += [f"{share:.2f}", f"{extra:.1f}", f"{exact:.1f}"]
    enough = [k for k, (n, _) in enumerate(cells) if n >= FROM_ROWS]
    others = float(means[enough, list(SETTINGS).index("default"), 1].mean())
    bar = f"default: at most {MOST_OTHERS:g} other term on average from {FROM_ROWS} samples on"
    return markdown_table(head, rows) + "\n\n" + verdict(bar, others <= MOST_OTHERS, f"{others:.2f}")
