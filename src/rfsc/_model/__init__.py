"""The result of a search: a sparse model, what can be inferred about its coefficients, and what predicts with it."""

from .access import as_predictor, models_of, one_model
from .inference import WaldFit, refit
from .predictor import FormulaPredictions, Predictor, class_codes, class_probabilities, decision_table
from .raw_units import yes_or_no_features
from .sparse_model import Evidence, FilterEvidence, SparseModel, Trace, weighted_mean

__all__ = [
    "Evidence",
    "FilterEvidence",
    "FormulaPredictions",
    "Predictor",
    "SparseModel",
    "Trace",
    "WaldFit",
    "as_predictor",
    "class_codes",
    "class_probabilities",
    "decision_table",
    "models_of",
    "one_model",
    "refit",
    "weighted_mean",
    "yes_or_no_features",
]
