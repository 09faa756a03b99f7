"""From the values of the formulas to classes and probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, log_expit, softmax

from .._utils.arrays import FloatArray, IntArray


def decision_table(values: Sequence[FloatArray]) -> FloatArray:
    """The outputs side by side, shape (n_samples, n_classes); with two classes the one output, shape (n_samples,)."""
    return values[0] if len(values) == 1 else np.stack(values, axis=1)


def class_codes(values: FloatArray) -> IntArray:
    """Position of the most likely class of every sample, from what `decision_table` gives."""
    return (values > 0).astype(np.int64) if values.ndim == 1 else np.asarray(values.argmax(axis=1), dtype=np.int64)


def class_probabilities(values: FloatArray) -> FloatArray:
    """Sigmoid of each output, normalised over the classes."""
    if values.ndim == 1:
        return np.stack([expit(-values), expit(values)], axis=1)
    # in logarithms, so that outputs that are all far below zero do not become 0 / 0
    proba: FloatArray = softmax(log_expit(values), axis=1)
    # outputs far above zero all have sigmoid one: the largest output still gets the largest probability
    best = values.argmax(axis=1)
    tied = np.flatnonzero(proba.argmax(axis=1) != best)
    proba[tied, best[tied]] = np.nextafter(proba[tied].max(axis=1), 2.0)
    return proba
