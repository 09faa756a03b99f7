"""The answer of a search: a sparse model, and what can be inferred about its coefficients."""

from .average import weighted_mean
from .inference import WaldFit, refit
from .sparse_model import SparseModel

__all__ = ["SparseModel", "WaldFit", "refit", "weighted_mean"]
