"""The answer of a search: a sparse model, what can be inferred about its coefficients, and what was seen on the way."""

from .access import as_predictor, models_of
from .average import weighted_mean
from .decision import class_codes, class_probabilities, decision_table
from .evidence import Evidence, FilterEvidence, Trace
from .inference import WaldFit, refit
from .predictor import FormulaPredictions, Predictor
from .sparse_model import SparseModel

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
    "refit",
    "weighted_mean",
]
