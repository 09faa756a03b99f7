"""Pictures of a model and of the search behind it: scikit-learn's displays, matplotlib loaded when they are drawn.

Each takes a fitted RFSCClassifier or pipeline, a predictor read from a file, or a single model, and keeps its data.

>>> from sklearn.datasets import load_iris
>>> from rfsc import RFSCClassifier
>>> from rfsc.plots import CoefficientsDisplay
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> clf = RFSCClassifier(basis="polynomial", n_restarts=1, max_iter=30, random_state=0).fit(X, y)
>>> display = CoefficientsDisplay.from_estimator(clf, output=2)
>>> display.ax_.get_title(loc="left")
'The 4 terms for class 2'
>>> display.figure_.savefig("terms.svg")  # doctest: +SKIP
"""

from .calibration import CalibrationDisplay
from .coefficients import CoefficientsDisplay
from .contributions import ContributionsDisplay
from .decision_map import DecisionMapDisplay
from .drawing import to_svg
from .filter_statistics import FilterDisplay
from .rip_evolution import RIPEvolutionDisplay
from .row_contributions import RowContributionsDisplay
from .search_history import SearchHistoryDisplay
from .stability import StabilityDisplay

__all__ = [
    "CalibrationDisplay",
    "CoefficientsDisplay",
    "ContributionsDisplay",
    "DecisionMapDisplay",
    "FilterDisplay",
    "RIPEvolutionDisplay",
    "RowContributionsDisplay",
    "SearchHistoryDisplay",
    "StabilityDisplay",
    "to_svg",
]
