"""From what a user passes to the model, the evidence or the labels that a display shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._model import Evidence, SparseModel
from .._model.access import as_predictor, models_of
from .._utils.arrays import IntArray
from .._utils.validation import codes_of, labels_of


def model_of(source: Any, output: int) -> SparseModel:
    """The model of one output."""
    models = models_of(source)
    if not 0 <= output < len(models):
        msg = f"output must be between 0 and {len(models) - 1}, the last output of this classifier, got {output}."
        raise ValueError(msg)
    return models[output]


def evidence_of(model: SparseModel, *, traced: bool = False) -> Evidence:
    """The record of the search behind a model; `traced` requires every iteration, which files may lack."""
    if model.evidence is None:
        msg = "this model has no record of its search. Pass a fitted RFSCClassifier, or a file saved from one."
        raise ValueError(msg)
    if traced and not model.evidence.traces:
        msg = "the iterations of the search were not saved with this model. Pass the fitted RFSCClassifier itself."
        raise ValueError(msg)
    return model.evidence


def restart_to_show(evidence: Evidence, n_model_terms: int, restart: int | None) -> int:
    """The restart that was asked for, else the one whose own model is most similar to the final one."""
    n = len(evidence.traces)
    if restart is None:
        final = np.arange(evidence.selected.shape[1]) < n_model_terms
        common = (evidence.selected & final).sum(axis=1) / np.maximum((evidence.selected | final).sum(axis=1), 1)
        return max(range(n), key=lambda r: (common[r], evidence.traces[r].best_score.max()))
    if not 0 <= restart < n:
        msg = f"restart must be between 0 and {n - 1}, the last restart of this search, got {restart}."
        raise ValueError(msg)
    return restart


def codes_for(source: Any, y: Any, n_samples: int) -> IntArray:
    """Positions of labels among the classes of `as_predictor(source)`."""
    labels = labels_of(y, n_samples)
    if isinstance(source, SparseModel):  # all other labels are "not this class"
        return np.asarray(labels == source.label, dtype=np.int64)
    return codes_of(labels, as_predictor(source).classes_)


def position(feature: int | str, names: Sequence[str]) -> int:
    """Index of a feature given by name or index."""
    if isinstance(feature, str):
        if feature not in names:
            msg = f"there is no feature named {feature!r} among the {len(names)} features of this model."
            raise ValueError(msg)
        return list(names).index(feature)
    if not 0 <= feature < len(names):
        msg = f"features must be names or between 0 and {len(names) - 1}, got {feature}."
        raise ValueError(msg)
    return int(feature)
