"""From whatever a user passes to the model, the evidence or the features that a display shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Evidence, SparseModel
from ..model.access import models_of


def model_of(source: Any, output: int) -> SparseModel:
    """The model of one output.

    Parameters
    ----------
    source : object
        A fitted RFSCClassifier or pipeline, a loaded predictor, or a SparseModel.
    output : int
        Which of its models.

    Returns
    -------
    SparseModel
        The model.
    """
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


def best_restart(evidence: Evidence, restart: int | None) -> int:
    """The restart that was asked for, or the one that saw the best score."""
    n = len(evidence.traces)
    if restart is None:
        return max(range(n), key=lambda r: float(evidence.traces[r].best_score.max()))
    if not 0 <= restart < n:
        msg = f"restart must be between 0 and {n - 1}, the last restart of this search, got {restart}."
        raise ValueError(msg)
    return restart


def position(feature: int | str, names: Sequence[str]) -> int:
    """Index of a feature by its name or index.

    Parameters
    ----------
    feature : int or str
        What the user calls it.
    names : sequence of str
        All features.

    Returns
    -------
    int
        Where it is.
    """
    if isinstance(feature, str):
        if feature not in names:
            msg = f"there is no feature named {feature!r} among the {len(names)} features of this model."
            raise ValueError(msg)
        return list(names).index(feature)
    if not 0 <= feature < len(names):
        msg = f"features must be names or between 0 and {len(names) - 1}, got {feature}."
        raise ValueError(msg)
    return int(feature)
