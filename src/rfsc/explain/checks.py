"""Input checks that the explanations share."""

from __future__ import annotations

from typing import Any

from ..model import SparseModel
from ..model.access import models_of


def check_model(model: object) -> None:
    """Say what to pass where something else than a model came."""
    if not isinstance(model, SparseModel):
        msg = (
            f"expected a SparseModel, such as clf.models_[0] of a fitted RFSCClassifier, got a {type(model).__name__}."
        )
        raise TypeError(msg)


def check_units(units: object) -> None:
    """Refuse other units than the two that there are."""
    check_word("units", units, ("scaled", "original"))


def check_word(name: str, value: object, words: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of its words."""
    if value not in words:
        *first, last = (repr(word) for word in words)
        msg = f"{name} must be {', '.join(first)} or {last}, got {value!r}."
        raise ValueError(msg)


def one_model(source: Any, label: object = None) -> SparseModel:
    """The one model of a source, or the one for a class.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        What holds it.
    label : object, optional
        The class that f > 0 speaks for; not needed where there is one output.
    """
    models = models_of(source)
    if label is None and len(models) == 1:
        return models[0]
    found = [model for model in models if label is not None and model.label == label]
    if len(found) != 1:
        labels = ", ".join(repr(model.label) for model in models)
        msg = f"there are {len(models)} outputs: pass label, one of {labels}; got {label!r}."
        raise ValueError(msg)
    return found[0]
