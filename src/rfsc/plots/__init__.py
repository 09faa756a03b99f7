"""Pictures of a model and of the search behind it: scikit-learn's displays, matplotlib loaded when they are drawn."""

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
