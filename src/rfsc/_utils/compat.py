"""The one door to names that scikit-learn does not promise to keep."""

from __future__ import annotations

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = ["Interval", "RealNotInt", "StrOptions", "check_feature_names", "check_sample_weight", "safe_indexing"]
