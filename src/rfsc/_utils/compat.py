"""Private names of scikit-learn, imported in one place because they may change."""

from __future__ import annotations

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_feature_names",
    "check_sample_weight",
    "safe_indexing",
    "validate_parameter_constraints",
]
