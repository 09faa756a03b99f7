"""From whatever a user passes to the model, the evidence or the features that a display shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._model import Evidence, SparseModel
from .._model.access import as_predictor, models_of
from .._utils.arrays import IntArray
from .drawing import class_name


def model_of(source: Any, output: int) -> SparseModel:
    """The model of one output."""
    models = models_of(source)
    if not 0 <= output < len(models):
        msg = f"output must be between 0 and {len(models) - 1}, the last output of this classifier, got {output}."
        raise ValueError(msg)
    return models[output]


def evidence_of(model: SparseModel) -> Evidence:
    """What the search has seen of a model's terms; an error where it was not kept."""
    if model.evidence is None:
        msg = (
            "this model does not say how it was found. Pass one of a fitted RFSCClassifier or of a file saved from it."
        )
        raise ValueError(msg)
    return model.evidence


def traced_evidence(model: SparseModel) -> Evidence:
    """The same with the course of every restart; an error where a file was written without it."""
    evidence = evidence_of(model)
    if not evidence.traces:
        msg = "the course of the search was not kept with this model. Pass the fitted RFSCClassifier itself."
        raise ValueError(msg)
    return evidence


def nearest_restart(evidence: Evidence, n_model: int, restart: int | None) -> int:
    """The restart to show: the one that was asked for, or the one whose own model is most like the final one."""
    n = len(evidence.traces)
    if restart is None:
        final = np.arange(evidence.selected.shape[1]) < n_model
        common = (evidence.selected & final).sum(axis=1) / np.maximum((evidence.selected | final).sum(axis=1), 1)
        return max(range(n), key=lambda r: (common[r], evidence.traces[r].best_score.max()))
    if not 0 <= restart < n:
        msg = f"restart must be between 0 and {n - 1}, the last restart of this search, got {restart}."
        raise ValueError(msg)
    return restart


def search_title(label: object, restart: int, evidence: Evidence) -> str:
    """Which search a picture shows."""
    which = f"restart {restart + 1} of {evidence.n_restarts}" if evidence.n_restarts > 1 else "a single restart"
    return f"The search for class {class_name(label)}: {which}"


def labels_of(y: Any, n_samples: int) -> Any:
    """The labels of the samples; an error where they are not as many."""
    labels = np.asarray(y)
    if labels.shape != (n_samples,):
        msg = f"y must hold one label for each of the {n_samples} rows of X, got shape {labels.shape}."
        raise ValueError(msg)
    return labels


def codes_of(source: Any, y: Any, n_samples: int) -> IntArray:
    """Position of the label of every sample among the classes of `as_predictor(source)`."""
    labels = labels_of(y, n_samples)
    if isinstance(source, SparseModel):
        return np.asarray(labels == source.label, dtype=np.int64)
    match = labels[:, None] == np.asarray(as_predictor(source).classes_)[None, :]
    if not match.any(axis=1).all():
        msg = "y holds labels that are not among the classes of the classifier. Pass rows of its own classes only."
        raise ValueError(msg)
    return np.asarray(match.argmax(axis=1), dtype=np.int64)


def position(feature: int | str, names: Sequence[str]) -> int:
    """Index of a feature by its name or index."""
    if isinstance(feature, str):
        if feature not in names:
            msg = f"there is no feature named {feature!r} among the {len(names)} features of this model."
            raise ValueError(msg)
        return list(names).index(feature)
    if not 0 <= feature < len(names):
        msg = f"features must be names or between 0 and {len(names) - 1}, got {feature}."
        raise ValueError(msg)
    return int(feature)
