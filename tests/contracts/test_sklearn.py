"""scikit-learn's own checks, on every public estimator, with no expected failure."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rfsc import DistanceCorrelationFilter, PartitionedRFSC, Restrictions, RFSCSelector
from tests.making import make

# many checks fit pure noise: a search that settles on nothing, or a filter that keeps nothing, rightly warns
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:No features were selected:UserWarning"),
]
quick = make(basis="polynomial", n_restarts=2, max_iter=40, random_state=0)

SMALL = {"n_models": 30, "max_iter": 30, "n_restarts": 2, "random_state": 0}


@parametrize_with_checks(
    [
        make(**SMALL),  # the defaults, but for the size of the searches
        make(paper=True, n_restarts=2, n_models=50, max_iter=60, random_state=0),
        make(
            basis="polynomial",
            n_models=20,
            max_iter=20,
            n_restarts=2,
            random_state=0,
            engine="numpy",
            combine="average",
            filter_significance=0.2,
        ),
        make(**SMALL, basis=["polynomial", "hinge"]),
        make(**SMALL, basis="radial"),
        make(**SMALL, basis=["centred", "step"]),
        make(**SMALL, basis=["fourier", "sigmoid"]),
        make(n_models=10, max_iter=5, n_restarts=1, random_state=0, combine="average"),
        make(**SMALL, basis="polynomial", restrictions=Restrictions(force=["x0"], forbid=["x0^2"], hierarchy=True)),
        PartitionedRFSC(degree=2, n_bins=3, n_rounds=2, n_models=20, max_iter=10, n_restarts=1, random_state=0),
        DistanceCorrelationFilter(),
        RFSCSelector(quick),
        RFSCSelector(quick, output="terms"),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
