"""scikit-learn's own checks, on every public estimator, with no expected failure."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rfsc import DistanceCorrelationFilter, Restrictions, RFSCClassifier, RFSCSelector
from tests.making import make

# many checks fit pure noise: a search that settles on nothing, or a filter that keeps nothing, rightly warns
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:No features were selected:UserWarning"),
]
SMALL = {"n_models": 20, "max_iter": 20, "n_restarts": 2, "random_state": 0}
RULES = Restrictions(force=["x0"], forbid=["x0^2"], hierarchy=True)


@parametrize_with_checks(
    [
        make("polynomial", **SMALL),
        DistanceCorrelationFilter(),
        RFSCSelector(make("polynomial", **SMALL), output="terms"),
    ]
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        RFSCClassifier(),  # as it comes
        make(paper=True, **SMALL),
        make("polynomial", **SMALL, engine="numpy", size="1se", filter_significance=0.2),
        make(["polynomial", "hinge", "step"], **SMALL),
        make(["radial", "fourier", "sigmoid"], **SMALL),
        make("polynomial", **SMALL, restrictions=RULES),
        RFSCSelector(),
    ]
)
def test_estimator_with_other_settings(estimator, check):
    check(estimator)
