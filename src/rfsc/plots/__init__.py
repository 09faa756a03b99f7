"""Figures of a model and of the search behind it, as displays in the style of scikit-learn.

Each is made from a fitted RFSCClassifier or pipeline, a predictor read from a file, or a single model, and keeps the
numbers that it shows. Matplotlib is imported when the first one is drawn.

>>> from sklearn.datasets import load_iris
>>> from rfsc import RFSCClassifier
>>> from rfsc.plots import CoefficientsDisplay
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> clf = RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0).fit(X, y)
>>> display = CoefficientsDisplay.from_estimator(clf, output=2)
>>> display.ax_.get_title(loc="left")
'3 terms for class 2'
>>> display.figure_.savefig("terms.svg")  # doctest: +SKIP
"""

from .calibration import CalibrationDisplay
from .certified_features import CertificateDisplay
from .drawing import to_svg
from .feature_effects import FeatureEffectsDisplay
from .good_models import AtlasDisplay
from .nomogram import NomogramDisplay
from .search_course import RIPEvolutionDisplay
from .sizes import FrontDisplay
from .term_effects import CoefficientsDisplay, RowContributionsDisplay

__all__ = [
    "AtlasDisplay",
    "CalibrationDisplay",
    "CertificateDisplay",
    "CoefficientsDisplay",
    "FeatureEffectsDisplay",
    "FrontDisplay",
    "NomogramDisplay",
    "RIPEvolutionDisplay",
    "RowContributionsDisplay",
    "to_svg",
]
