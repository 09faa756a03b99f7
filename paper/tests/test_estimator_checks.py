"""scikit-learn's checks of every comparator, small enough to be quick."""

from __future__ import annotations

import warnings

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from paper.comparators.ants import ACOPMC
from paper.comparators.discriminant import SequentialLDA
from paper.comparators.gravitation import DGC, DGCPlus
from paper.comparators.modern import FastCanTerms
from paper.comparators.neighbours import KNN, AdaptiveKNN, CamNN, CenterNN, DistanceWeightedKNN
from paper.comparators.prototypes import SSMASFLSDE
from paper.comparators.swarm import PSOKNN, PSOLDA

SMALL = [
    KNN(),
    AdaptiveKNN(),
    DistanceWeightedKNN(),
    CamNN(),
    CenterNN(),
    DGC(n_trials=10, random_state=0),
    DGCPlus(n_runs=1, max_generations=3, random_state=0),
    SequentialLDA(),
    SSMASFLSDE(200, 6, 6, 10, random_state=0),
    PSOLDA(n_particles=12, n_iterations=8, random_state=0),
    PSOKNN(n_particles=9, n_iterations=6, random_state=0),
    ACOPMC(n_ants=3, n_iterations=3, tolerance=0.1, random_state=0),
    FastCanTerms(3),
]


@pytest.mark.parametrize("estimator", SMALL, ids=lambda estimator: type(estimator).__name__)
def test_estimator_checks(estimator):
    if isinstance(estimator, FastCanTerms):
        pytest.importorskip("fastcan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(estimator)
