"""The result of a search: a sparse model, what can be inferred about its coefficients, and what predicts with it."""

from .inference import refit
from .predictor import Predictor, class_codes, class_probabilities, decision_table
from .sparse_model import Evidence, FilterEvidence, SizeCurve, SparseModel, Trace

__all__ = [
    "Evidence",
    "FilterEvidence",
    "Predictor",
    "SizeCurve",
    "SparseModel",
    "Trace",
    "class_codes",
    "class_probabilities",
    "decision_table",
    "refit",
]
