"""How a method is judged on a data set.

honest    stratified 10-fold; whatever is chosen is chosen inside the training folds
paper     the same folds, but the best of RFSC's ten restarts is picked on the test fold: optimistic, and labelled so
keel      KEEL's published folds, features scaled by KEEL's header ranges; chosen as in honest
"""

from __future__ import annotations

import time
import warnings
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix
from sklearn.model_selection import StratifiedKFold

from .._typing import FloatArray, IntArray
from ..classifier import RFSCClassifier
from ..model import SparseModel
from ..output import class_codes, decision_table
from .cells import Cell, Task
from .datasets import LOADERS, data_folder
from .keel import read_keel_folds
from .methods import all_methods
from .peers.modern import model_size

PROTOCOLS = ("honest", "paper", "keel")
N_FOLDS = 10


class Fold(NamedTuple):
    """Training and test rows; classes are numbered from 0."""

    X_train: FloatArray
    y_train: IntArray
    X_test: FloatArray
    y_test: IntArray


def has_keel_folds(data: str) -> bool:
    """Whether KEEL's folds of a set lie in the folder that RFSC_DATA names."""
    folder = data_folder()
    return folder is not None and (folder / "keel" / data.lower()).is_dir()


# twenty files, parsed and checked: not once more for every fold of every method
_keel_folds = lru_cache(maxsize=4)(read_keel_folds)


def read_fold(data: str, folds: str, seed: int, fold: int) -> Fold:
    """One fold of a set.

    Parameters
    ----------
    data : str
        Name of the set.
    folds : {"stratified", "keel"}
        Whose folds.
    seed : int
        Shuffles the stratified folds.
    fold : int
        From 0.
    """
    if folds == "keel":
        folder = data_folder()
        assert folder is not None  # `has_keel_folds` was asked first
        train, test = _keel_folds(folder / "keel" / data.lower(), data.lower())[fold]
        code = {label: k for k, label in enumerate(train.target_names)}
        y_train, y_test = (np.array([code[label] for label in table.target]) for table in (train, test))
        return Fold(train.scaled(), y_train, test.scaled(), y_test)
    X, y = LOADERS[data](return_X_y=True)
    rows, held_out = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y))[fold]
    return Fold(X[rows], y[rows], X[held_out], y[held_out])


def run_task(task: Task) -> list[Cell]:
    """Fit one fold and read off what each protocol wants to know.

    Parameters
    ----------
    task : Task
        Which fold of what.

    Returns
    -------
    list of Cell
        One for each protocol that the task serves.
    """
    fold = read_fold(task.data, task.folds, task.seed, task.fold)
    estimator = all_methods()[task.method].estimator(task.data, task.folds, task.seed)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ours would tell of searches that did not settle: no news over many folds
        estimator.fit(fold.X_train, fold.y_train)
    seconds = time.perf_counter() - started
    honest = "keel" if task.folds == "keel" else "honest"
    ours = isinstance(estimator, RFSCClassifier)
    size = size_of(estimator.models_) if ours else model_size(estimator)
    cells = [_cell(task, honest, fold, estimator.predict(fold.X_test), size, seconds)]
    if ours and task.folds == "stratified":
        predicted, models = best_restart(estimator, fold.X_test, fold.y_test)
        cells.append(_cell(task, "paper", fold, predicted, size_of(models), seconds))
    return cells


def best_restart(clf: RFSCClassifier, X: FloatArray, y: IntArray) -> tuple[IntArray, list[SparseModel]]:
    """The restart that does best on the test fold, as the paper seems to have picked it; ties go to fewer terms.

    Parameters
    ----------
    clf : RFSCClassifier
        Fitted.
    X, y : ndarray
        The test fold, with classes numbered from 0.

    Returns
    -------
    ndarray of int
        Its predictions.
    list of SparseModel
        Its models, one for each output.
    """
    n_restarts = min(len(searches) for searches in clf.searches_)
    runs = []
    for restart in range(n_restarts):
        models = [clf.restart_model(restart, output) for output in range(len(clf.models_))]
        runs.append((class_codes(decision_table([model.decision(X) for model in models])), models))
    return min(runs, key=lambda run: (np.count_nonzero(run[0] != y), size_of(run[1])[1]))


def size_of(models: list[SparseModel]) -> tuple[float, float]:
    """(features, terms) of the union over the outputs, as the paper counts."""
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
