"""Classes to outputs in {-1, +1} (Eq. 1 of the paper), and the weight of every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from .._compat import check_sample_weight
from .._typing import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Targets:
    """The outputs of a problem: one for two classes, one against the rest for each of more.

    Parameters
    ----------
    classes : ndarray
        Labels, sorted; with two classes +1 stands for the second.
    outputs : tuple of ndarray
        One vector of -1 and +1 for each output.
    """

    classes: np.ndarray[Any, Any]
    outputs: tuple[FloatArray, ...]


def encode(y: np.ndarray[Any, Any]) -> Targets:
    """Turn labels into outputs."""
    check_classification_targets(y)
    classes, code = np.unique(y, return_inverse=True)
    if classes.size < 2:
        msg = (
            f"y holds {classes.size} class; RFSC needs samples of at least two classes. "
            "Check how y was made, or that sample_weight does not exclude a class."
        )
        raise ValueError(msg)
    upper = [1] if classes.size == 2 else range(classes.size)
    return Targets(classes, tuple(np.where(code == c, 1.0, -1.0) for c in upper))


def row_weights(sample_weight: Any, class_weight: Any, X: FloatArray, y: np.ndarray[Any, Any]) -> FloatArray:
    """Weight of every row; a row of weight 2 counts as two observations, a row of weight 0 as none."""
    weight = check_sample_weight(sample_weight, X, dtype=np.float64)
    if weight.min() < 0:
        msg = f"sample_weight must not be negative, {int((weight < 0).sum())} of {weight.size} weights are."
        raise ValueError(msg)
    if not weight.any():
        msg = "sample_weight is zero for every row; at least two rows of different classes need a positive weight."
        raise ValueError(msg)
    if class_weight is not None:
        used: BoolArray = weight > 0
        weight[used] *= compute_sample_weight(class_weight, y[used])
    return np.asarray(weight, dtype=np.float64)
