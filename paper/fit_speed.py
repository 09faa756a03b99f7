"""How many small models an engine fits in a second, beside a loop over scikit-learn; `benchmarks/` measures more.

All take turns on one core, on the same random supports, and each is judged by its best turn.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from rfsc._engines import Criterion, Engine, FitOptions, Problem, Supports, make_engine
from rfsc._terms import MonomialSpace
from rfsc._terms.scaling import Scaling
from rfsc._utils.arrays import FloatArray, IntArray

SIZES = (5, 10, 20)
N_SUPPORTS = 50
ROUNDS = 3
TURN = 0.1  # processor seconds, at least
RIDGE = 1.0
MAX_TERMS = 60


@dataclass(frozen=True, slots=True)
class Speed:
    """Fits per second at one size of models."""

    size: int  # terms of every model
    one_fit: float  # ours: a fit with its t-values
    full: float  # ours: fit, test, prune, refit and left-out score
    sklearn: float  # A loop over LogisticRegression, with the same penalty and without t-values
    # largest difference between our predicted probabilities and scikit-learn's, when that iterates to the end
    difference: float


def fit_speeds(engine: str = "numba") -> Iterator[Speed]:
    """Measure on the breast-cancer data, products of two features, one core."""
    X, label = load_breast_cancer(return_X_y=True)
    space, table = MonomialSpace(np.arange(X.shape[1]), 2), Scaling.from_rows(X).table(X)
    target, weight = np.where(label == 1, 1.0, -1.0), np.ones(label.size)
    # a level of one half tests against zero: nothing is dropped, so that everyone fits the same models
    options = {
        "one fit": FitOptions(Criterion.ACCURACY, RIDGE, 0.5),
        "full": FitOptions(Criterion.LOO_LOG_LOSS, RIDGE, 0.05),
    }
    engines = {
        what: make_engine(engine, Problem(space, table, target, weight, option, MAX_TERMS), n_threads=1)
        for what, option in options.items()
    }
    for size in SIZES:
        rng = np.random.default_rng(size)
        # the constant, term 0, is not drawn: it has no penalty, which scikit-learn could not be told
        lists = [rng.choice(np.arange(1, space.n_terms), size, replace=False) for _ in range(N_SUPPORTS)]
        yield _measured(Supports.from_lists(lists), engines, lambda ids: space.columns(table, ids).T, label)


def _measured(
    supports: Supports,
    engines: Mapping[str, Engine],
    columns_of: Callable[[IntArray], FloatArray],
    label: IntArray,
) -> Speed:
    """Everyone on the same supports."""
    raw = [columns_of(supports[m]) for m in range(len(supports))]  # gathered before the clock starts
    scales = [X.std(axis=0) for X in raw]
    scaled = [np.ascontiguousarray(X / scale) for X, scale in zip(raw, scales, strict=True)]
    work: dict[str, Callable[[], object]] = {
        "one fit": lambda: engines["one fit"].evaluate(supports),
        "full": lambda: engines["full"].evaluate(supports),
        "sklearn": lambda: _fit_all(scaled, label),
    }
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        rate = {name: len(supports) / seconds for name, seconds in _best_of_rounds(work).items()}
        ours, theirs = engines["one fit"].evaluate(supports).coef, _fit_all(scaled, label, tol=1e-10)
    own = np.split(ours, len(supports))
    difference = max(
        float(np.abs(expit(X @ coef) - expit(Z @ peer)).max())
        for X, Z, coef, peer in zip(raw, scaled, own, theirs, strict=True)
    )
    return Speed(len(own[0]), rate["one fit"], rate["full"], rate["sklearn"], difference)


def _fit_all(columns: list[FloatArray], label: IntArray, tol: float = 1e-4) -> list[FloatArray]:
    # at variance one our penalty is C = 1 / ridge
    model = LogisticRegression(solver="newton-cholesky", fit_intercept=False, C=1.0 / RIDGE, tol=tol)
    return [model.fit(X, label).coef_[0] for X in columns]


def _best_of_rounds(work: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Processor seconds of each in its best turn; the first turn, which compiles, does not count."""
    best = dict.fromkeys(work, np.inf)
    for turn in range(ROUNDS + 1):
        for name, do in work.items():
            start, passes = time.process_time(), 0
            while time.process_time() - start < TURN:
                do()
                passes += 1
            if turn:
                best[name] = min(best[name], (time.process_time() - start) / passes)
    return best
