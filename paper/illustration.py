"""The paper's illustration: two runs on WDBC, watched from inside, and what their models say of unseen samples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rfsc._model import SparseModel
from rfsc._utils.arrays import BoolArray, FloatArray, IntArray
from rfsc.classifier import RFSCClassifier
from rfsc.explain import ForAgainst, for_and_against

from .datasets import LOADERS
from .methods import OURS
from .protocols import Fold, read_fold

N_SHOWN = 20  # validation samples of Figure 3


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run of the search, as Figures 1 and 2 show it."""

    rips: FloatArray  # inclusion probabilities of the terms that ever left zero
    final: BoolArray  # which of them the final model holds: the one that the probabilities settled on, as in the paper
    mean_loss: FloatArray  # 1 - J, mean over the population
    size_drawn: FloatArray  # mean model size before and after the test
    size_kept: FloatArray  # mean model size before and after the test
    names: list[str]  # of the final terms, in the order of the columns of `rips`
    model: SparseModel  # the final model
    n_errors: int  # on the validation rows
    sides: ForAgainst  # y+ and y- of the first validation samples of Figure 3


@dataclass(frozen=True, slots=True, eq=False)
class Illustration:
    """Two runs on the same nine tenths of WDBC."""

    runs: tuple[Run, Run]  # the two of ten with the fewest validation errors, as the paper shows two without any
    n_validation: int  # rows of the left-out tenth
    truth: BoolArray  # whether the samples of Figure 3 belong to the model's class
    label: str  # that class


def illustrate(seed: int = 0) -> Illustration:
    """Fit the paper's settings on nine tenths of WDBC and look at two restarts."""
    fold = read_fold("WDBC", "stratified", seed, 0)
    clf = OURS[1].estimator("WDBC", "stratified", seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf.fit(fold.X_train, fold.y_train)
    shown = np.sort(np.random.default_rng(seed).choice(len(fold.y_test), N_SHOWN, replace=False))
    names = tuple(LOADERS["WDBC"]().feature_names)
    runs = [_run(clf, restart, fold, shown, names) for restart in range(len(clf.searches_[0]))]
    first, second = sorted(runs, key=lambda run: run.n_errors)[:2]
    return Illustration((first, second), len(fold.y_test), fold.y_test[shown] == 1, "benign")


def _run(clf: RFSCClassifier, restart: int, fold: Fold, shown: IntArray, names: tuple[str, ...]) -> Run:
    search = clf.searches_[0][restart]
    model = replace(clf.restart_model(restart, limit=True), feature_names=names)
    found = search.model if search.limit is None else search.limit
    ids = np.unique(np.concatenate([record.rips.ids for record in search.history] + [found.ids]))
    n_errors = int(np.count_nonzero((model.decision(fold.X_test) > 0) != (fold.y_test == 1)))
    return Run(
        rips=np.stack([record.rips[ids] for record in search.history]),
        final=np.isin(ids, found.ids),
        mean_loss=np.array([1.0 - record.mean_score for record in search.history]),
        size_drawn=np.array([record.mean_size_drawn for record in search.history]),
        size_kept=np.array([record.mean_size_kept for record in search.history]),
        names=[model.names[j] for j in np.argsort(found.ids)],
        model=model,
        n_errors=n_errors,
        sides=for_and_against(model, fold.X_test[shown]),
    )
