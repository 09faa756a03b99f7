"""Input checks that the explanations share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._model import SparseModel
from .._model.access import models_of


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
    """The one model of a source, or the one for a class, as it reads features."""
    models = models_of(source)
    if label is None and len(models) == 1:
        return models[0]
    found = [model for model in models if label is not None and model.label == label]
    if len(found) != 1:
        labels = ", ".join(map(repr, np.array([model.label for model in models]).tolist()))  # never np.int64(0)
        outputs = f"{len(models)} outputs: pass label, one of" if len(models) > 1 else "one output, for label"
        msg = f"there {'are' if len(models) > 1 else 'is'} {outputs} {labels}; got {label!r}."
        raise ValueError(msg)
    return found[0]
