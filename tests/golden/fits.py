"""The pinned fits: data, settings, and the way from a case to the numbers that are compared."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from rfsc import Restrictions
from rfsc.bases import Hinge, Polynomial

FOLDER = os.environ.get("RFSC_DATA") or str(Path(__file__).parents[3] / "shared" / "data")
FROM_FOLDER = ("bupa", "ionosphere", "sonar")
N_SHOWN = 12  # rows whose decision values are stored

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Case:
    """One pinned fit: `search` holds the fields of SearchSettings, `how` is one of the ways to run a fit."""

    data: str
    basis: Any = "polynomial"
    params: dict[str, Any] = field(default_factory=dict)
    search: dict[str, Any] = field(default_factory=dict)
    weighted: bool = False
    how: str = "plain"  # or "paper", "loky", "threading", "resumed"


def load(name: str) -> Rows:
    """Rows and labels of one data set."""
    if name in FROM_FOLDER:
        table = pd.read_csv(Path(FOLDER, f"{name}.csv"))
        return table.iloc[:, :-1].to_numpy(dtype=float), table.iloc[:, -1].to_numpy()
    loader = {"iris": load_iris, "wine": load_wine, "wdbc": load_breast_cancer}.get(name)
    return loader(return_X_y=True) if loader else SYNTHETIC[name](np.random.default_rng(2026))


def weights(y: np.ndarray) -> np.ndarray:
    """Whole-numbered weights, some of them zero."""
    return (np.arange(len(y)) % 4).astype(float)


def _labels(rng: np.random.Generator, logit: np.ndarray) -> np.ndarray:
    return (rng.random(logit.size) < 1 / (1 + np.exp(-logit))).astype(int)


def _pairs(rng: np.random.Generator) -> Rows:
    X = rng.normal(size=(300, 6))
    return X, _labels(rng, 2 * X[:, 0] * X[:, 1] - 1.5 * X[:, 2])


def _curves(rng: np.random.Generator) -> Rows:
    X = rng.uniform(-2, 2, size=(400, 5)) * [1, 10, 100, 1, 0.01]
    return X, _labels(rng, 3 * np.maximum(0, X[:, 0] - 0.5) - np.sin(X[:, 1] / 5) * 2 + X[:, 3])


def _levels(rng: np.random.Generator) -> Rows:
    X = rng.integers(0, 5, size=(350, 4)).astype(float)
    return X, _labels(rng, 2.0 * (X[:, 0] > 2) - 1.5 * (X[:, 1] == 3) + 0.3 * X[:, 2] - 1)


def _three(rng: np.random.Generator) -> Rows:
    X = rng.normal(size=(360, 5))
    score = np.stack([X[:, 0], X[:, 1] * X[:, 2], -X[:, 3]], axis=1) * 2 + rng.gumbel(size=(360, 3))
    return X, score.argmax(axis=1)


def _long(rng: np.random.Generator) -> Rows:
    X = rng.normal(size=(3000, 8))
    return X, _labels(rng, X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 1)


def _wide(rng: np.random.Generator) -> Rows:
    X = rng.normal(size=(200, 90))
    return X, _labels(rng, 3 * X[:, 4] - 3 * X[:, 17] * X[:, 40])


def _rare(rng: np.random.Generator) -> Rows:
    X = rng.normal(size=(500, 6))
    return X, _labels(rng, 1.5 * X[:, 0] - X[:, 1] - 3)


SYNTHETIC: dict[str, Callable[[np.random.Generator], Rows]] = {
    "pairs": _pairs,
    "curves": _curves,
    "levels": _levels,
    "three": _three,
    "long": _long,
    "wide": _wide,
    "rare": _rare,
}

NAMED = Restrictions(force=["x0"], forbid=["x1*x2"], hierarchy=True)

CASES: dict[str, Case] = {
    **{f"{name} polynomial": Case(name) for name in ("bupa", "ionosphere", "iris", "sonar", "wdbc", "wine")},
    **{f"{name} hinge": Case(name, "hinge") for name in ("bupa", "iris", "wdbc", "curves")},
    **{f"{name} centred": Case(name, "centred") for name in ("wine", "wdbc", "pairs")},
    **{f"{name} step": Case(name, "step") for name in ("bupa", "wine", "levels")},
    **{f"{name} radial": Case(name, ["polynomial", "radial"]) for name in ("ionosphere", "iris")},
    **{f"{name} fourier": Case(name, "fourier") for name in ("bupa", "curves")},
    **{f"{name} sigmoid": Case(name, "sigmoid") for name in ("wdbc", "three")},
    **{f"{name} auto": Case(name, "auto") for name in ("wdbc", "iris", "pairs", "curves")},
    "three polynomial": Case("three"),
    "three auto one s.e.": Case("three", "auto", {"size": "1se"}),
    "bupa weighted": Case("bupa", weighted=True),
    "three weighted hinge": Case("three", "hinge", weighted=True),
    "rare balanced": Case("rare", params={"class_weight": "balanced"}),
    "pairs restricted": Case("pairs", params={"restrictions": NAMED}),
    "curves hinge products": Case("curves", [Polynomial(degree=1), Hinge(products=True)]),
    "pairs cubic": Case("pairs", Polynomial(degree=3)),
    "wdbc paper": Case("wdbc", how="paper"),
    "iris paper": Case("iris", how="paper"),
    "sonar filtered": Case("sonar", search={"filter_significance": 0.05}),
    "long subsamples": Case("long", params={"max_samples": 800}),
    "wide screened": Case("wide", search={"initial_rip": "auto"}),
    "long screened": Case("long", search={"initial_rip": "screened"}),
    "pairs best accuracy": Case("pairs", params={"size": None, "criterion": "loo_accuracy"}),
    "rare size kappa": Case("rare", params={"size": 3, "criterion": "kappa"}),
    "curves array engine": Case("curves", "hinge", {"engine": "numpy"}),
    "three processes": Case("three", "hinge", how="loky"),
    "three threads": Case("three", "hinge", how="threading"),
    "pairs resumed": Case("pairs", "auto", how="resumed"),
}


def outcome(estimator: Any, X: np.ndarray) -> dict[str, Any]:
    """What is stored of a fit."""
    return {
        "sizes": [len(model.coef) for model in estimator.models_],
        "candidates": [int(n) for n in estimator.n_terms_],
        "values": np.atleast_2d(estimator.decision_function(X[:N_SHOWN]).T).tolist(),
    }
