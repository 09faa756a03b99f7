"""How a method is judged on a data set.

honest    stratified 10-fold; whatever is chosen is chosen inside the training folds
paper     the same folds, but the best of RFSC's ten restarts is picked on the test fold: optimistic, and labelled so
keel      KEEL's published folds, features scaled by KEEL's header ranges; chosen as in honest

Synthetic data are judged as in honest, on newly drawn rows instead of a left-out fold.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from rfsc import RFSCClassifier, SparseModel

from .arrays import FloatArray, IntArray
from .cells import Cell, Task
from .comparators.modern import model_size, terms_per_output
from .datasets import data_folder, load
from .keel import N_FOLDS, read_keel_folds
from .methods import Method, all_methods
from .synthetic import draw
from .tabmini import load_small, small_folds

PROTOCOLS = ("honest", "paper", "keel")
SMALLEST_PROBABILITY = 1e-15  # for the log-loss: a row with probability zero would cost without limit


class Fold(NamedTuple):
    """Training and test rows; classes are numbered from 0."""

    X_train: FloatArray
    y_train: IntArray
    X_test: FloatArray
    y_test: IntArray


def has_keel_folds(data: str) -> bool:
    """Whether KEEL's folds of a set are in the folder that RFSC_DATA names."""
    folder = data_folder()
    return folder is not None and (folder / "keel" / data.lower()).is_dir()


# twenty files: they are parsed and checked once, not for every fold of every method
_keel_folds = lru_cache(maxsize=4)(read_keel_folds)


def read_fold(data: str, folds: str, seed: int, fold: int) -> Fold:
    """One fold of a set."""
    if folds == "synthetic":
        return Fold(*draw(data, seed))
    if folds == "keel":
        folder = data_folder()
        assert folder is not None  # `has_keel_folds` was asked first
        train, test = _keel_folds(folder / "keel" / data.lower(), data.lower())[fold]
        code = {label: k for k, label in enumerate(train.labels)}
        y_train, y_test = (np.array([code[label] for label in table.target]) for table in (train, test))
        return Fold(train.scaled(), y_train, test.scaled(), y_test)
    if folds == "tabmini":
        X, y = load_small(data)
        rows, held_out = small_folds(X, y)[fold]
    else:
        X, y = load(data)[:2]
        rows, held_out = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y))[fold]
    return Fold(X[rows], y[rows], X[held_out], y[held_out])


def run_task(task: Task) -> list[Cell]:
    """Fit one fold; one cell for each protocol that the task serves."""
    return cells_of(task, all_methods()[task.method])


def cells_of(task: Task, method: Method) -> list[Cell]:
    """Fit a method; on stratified folds RFSC has a cell under the protocol "paper" too."""
    fold, estimator, seconds = fit_task(task, method)
    cells = [honest_cell(task, fold, estimator, seconds)]
    if isinstance(estimator, RFSCClassifier) and task.folds == "stratified":
        predicted, models = best_restart(estimator, fold.X_test, fold.y_test)
        cells.append(_cell(task, "paper", fold, predicted, size_of(models), seconds))
    return cells


def fit_task(task: Task, method: Method) -> tuple[Fold, Any, float]:
    """Fit a method on the training rows of a task; the rows, the fitted estimator and the seconds of the fit."""
    fold = read_fold(task.data, task.folds, task.seed, task.fold)
    estimator = method.estimator(task.data, task.folds, task.seed)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # RFSC reports searches that did not converge
        estimator.fit(fold.X_train, fold.y_train)
    return fold, estimator, time.perf_counter() - started


def honest_cell(task: Task, fold: Fold, estimator: Any, seconds: float) -> Cell:
    """How a fitted method does on the test rows: under "keel" on KEEL's folds, else under "honest"."""
    if isinstance(estimator, RFSCClassifier):
        size, per_output = size_of(estimator.models_), float(np.mean([m.size for m in estimator.models_]))
    else:
        size, per_output = model_size(estimator), terms_per_output(estimator)
    protocol = "keel" if task.folds == "keel" else "honest"
    cell = _cell(task, protocol, fold, estimator.predict(fold.X_test), size, seconds)
    cell = replace(cell, terms_per_output=None if np.isnan(per_output) else per_output)
    if not hasattr(estimator, "predict_proba"):
        return cell
    probability = estimator.predict_proba(fold.X_test)
    return replace(cell, log_loss=log_loss_of(probability, fold.y_test), auc=auc_of(probability, fold.y_test))


def log_loss_of(probability: FloatArray, y: IntArray) -> float:
    """Mean of -log(probability of the true class), with classes numbered from 0; a column for each class."""
    of_truth = probability[np.arange(len(y)), y]
    return float(-np.mean(np.log(np.clip(of_truth, SMALLEST_PROBABILITY, 1.0))))


def auc_of(probability: FloatArray, y: IntArray) -> float:
    """Area under the ROC curve; of more than two classes the mean over each class against the rest."""
    classes = [1] if probability.shape[1] == 2 else np.unique(y)
    return float(np.mean([roc_auc_score(y == c, probability[:, c]) for c in classes]))


def probability_cell(
    task: Task,
    protocol: str,
    fold: Fold,
    probability: FloatArray,
    n_terms: float,
    *,
    seconds: float = 0.0,
    notes: dict[str, Any] | None = None,
) -> Cell:
    """How these probabilities do on the test rows; the number of features is not known."""
    cell = _cell(task, protocol, fold, probability.argmax(axis=1), (fold.X_train.shape[1], n_terms), seconds)
    loss, auc = log_loss_of(probability, fold.y_test), auc_of(probability, fold.y_test)
    return replace(cell, log_loss=loss, auc=auc, notes=notes)


def shares(fold: Fold) -> FloatArray:
    """What a model without terms predicts for the test rows: the shares of the classes among the training rows."""
    return np.tile(np.bincount(fold.y_train) / len(fold.y_train), (len(fold.y_test), 1))


def best_restart(clf: RFSCClassifier, X: FloatArray, y: IntArray) -> tuple[IntArray, list[SparseModel]]:
    """The restart that does best on the test fold, as the paper seems to have picked it; ties go to fewer terms."""
    n_restarts = min(len(searches) for searches in clf.searches_)
    runs = []
    for restart in range(n_restarts):
        models = [clf.restart_model(restart, output) for output in range(len(clf.models_))]
        values = np.stack([model.decision(X) for model in models], axis=1)
        predicted = values.argmax(axis=1) if len(models) > 1 else (values[:, 0] > 0).astype(np.int64)
        runs.append((predicted, models))
    return min(runs, key=lambda run: (np.count_nonzero(run[0] != y), size_of(run[1])[1]))


def size_of(models: list[SparseModel]) -> tuple[float, float]:
    """(features, terms) of the union over the outputs, as the paper counts: the constant is a term."""
    features = {p for model in models for p in model.features}
    terms = {term for model in models for term in model.terms}
    return float(len(features)), float(len(terms))


def _cell(task: Task, protocol: str, fold: Fold, predicted: Any, size: tuple[float, float], seconds: float) -> Cell:
    classes = np.unique(fold.y_train)
    n_features, n_terms = size
    return Cell(
        task=task,
        protocol=protocol,
        accuracy=float(accuracy_score(fold.y_test, predicted)),
        kappa=float(cohen_kappa_score(fold.y_test, predicted, labels=classes)),
        confusion=confusion_matrix(fold.y_test, predicted, labels=classes).tolist(),
        n_features=n_features,
        n_terms=None if np.isnan(n_terms) else n_terms,
        seconds=seconds,
    )
