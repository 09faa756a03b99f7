"""scikit-learn's own checks, on every public estimator, with no expected failure."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rfsc import DistanceCorrelationFilter, PartitionedRFSC, Restrictions, RFSCClassifier, RFSCSelector

# many checks fit pure noise: a search that settles on nothing, or a filter that keeps nothing, rightly warns
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:No features were selected:UserWarning"),
]
quick = RFSCClassifier(basis="polynomial", n_restarts=2, max_iter=40, random_state=0)

SMALL = {"n_models": 30, "max_iter": 30, "n_restarts": 2, "random_state": 0}


@parametrize_with_checks(
    [
        RFSCClassifier(**SMALL),  # the defaults, but for the size of the searches
        RFSCClassifier.paper(n_restarts=2, n_models=50, max_iter=60, random_state=0),
        RFSCClassifier(
            basis="polynomial",
            n_models=20,
            max_iter=20,
            n_restarts=2,
            random_state=0,
            engine="numpy",
            combine="average",
            filter_significance=0.2,
        ),
        RFSCClassifier(**SMALL, basis=["polynomial", "hinge"]),
        RFSCClassifier(**SMALL, basis="radial"),
        RFSCClassifier(**SMALL, basis=["centred", "step"]),
        RFSCClassifier(**SMALL, basis=["fourier", "sigmoid"]),
        RFSCClassifier(n_models=10, max_iter=5, n_restarts=1, random_state=0, combine="average"),
        RFSCClassifier(
            **SMALL, basis="polynomial", restrictions=Restrictions(force=["x0"], forbid=["x0^2"], hierarchy=True)
        ),
        PartitionedRFSC(degree=2, n_bins=3, n_rounds=2, n_models=20, max_iter=10, n_restarts=1, random_state=0),
        DistanceCorrelationFilter(),
        RFSCSelector(quick),
        RFSCSelector(quick, output="terms"),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
