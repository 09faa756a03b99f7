"""Classes to outputs in {-1, +1} (Eq. 1 of the paper), and the weight of every row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from .._utils.arrays import FloatArray, IntArray
from .._utils.compat import check_sample_weight

MOST_OBSERVATIONS = 1e100  # squares and products of such weights are still finite


@dataclass(frozen=True, slots=True)
class Targets:
    """The outputs of a problem: one for two classes, one against the rest for each of more."""

    classes: np.ndarray[Any, Any]  # labels, sorted; with two classes +1 stands for the second
    code: IntArray  # position of each row's label among the classes
    outputs: tuple[FloatArray, ...]  # one vector of -1 and +1 for each output


def encode(y: np.ndarray[Any, Any]) -> Targets:
    """Turn labels into outputs."""
    classes, code = _distinct(y)
    if classes.size < 2:
        msg = (
            f"y holds {classes.size} class; RFSC needs samples of at least two classes. "
            "Check how y was made, and that sample_weight and class_weight do not exclude a class."
        )
        raise ValueError(msg)
    upper = [1] if classes.size == 2 else range(classes.size)
    return Targets(classes, code, tuple(np.where(code == c, 1.0, -1.0) for c in upper))


def _distinct(y: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], IntArray]:
    """Sorted labels, and the position of each row's label among them."""
    with sortable(), np.errstate(invalid="ignore"):  # the check casts to integers, to see whether labels are whole
        check_classification_targets(y)
        return np.unique(y, return_inverse=True)


@contextmanager
def sortable(what: str = "y mixes labels") -> Iterator[None]:
    """A message for labels that cannot be sorted, where the original names types of single labels."""
    is_mixed = False
    try:
        yield
    except TypeError as error:
        if "not supported between" not in str(error):
            raise
        is_mixed = True
    if is_mixed:
        msg = f"{what} that cannot be sorted, such as text and numbers. Make all of one type."
        raise ValueError(msg)


def row_weights(sample_weight: Any, class_weight: Any, X: FloatArray, y: np.ndarray[Any, Any]) -> FloatArray:
    """Weight of every row; a row of weight 2 counts as two observations, a row of weight 0 as none."""
    weight = checked_weights(sample_weight, X)
    if not weight.any():
        msg = "sample_weight is zero for every row; at least two rows of different classes need a positive weight."
        raise ValueError(msg)
    if class_weight is not None:
        used = weight > 0
        weight[used] *= _class_weights(class_weight, y[used])
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not total <= MOST_OBSERVATIONS:
        msg = (
            f"the weights must not sum to more than {MOST_OBSERVATIONS:g} observations. Divide them by a common factor."
        )
        raise ValueError(msg)
    return weight


def checked_weights(sample_weight: Any, X: FloatArray) -> FloatArray:
    """Weights of some rows, as numbers that are not negative; they may all be zero."""
    if getattr(sample_weight, "dtype", np.dtype(float)).kind in "mM":  # would become nanoseconds
        msg = f"sample_weight must hold {X.shape[0]} real numbers, one per row, got dates. Convert it to float."
        raise ValueError(msg)
    try:
        with np.errstate(over="ignore"):
            weight = np.array(check_sample_weight(sample_weight, X, dtype=np.float64))  # a copy: the user's stays
    except (TypeError, OverflowError):
        weight = None
    except ValueError as error:
        if "could not convert" not in str(error) and "Complex data" not in str(error):
            raise
        weight = None
    if weight is None:
        msg = f"sample_weight must hold {X.shape[0]} real numbers, one per row. Convert it to float."
        raise ValueError(msg)
    if weight.min() < 0:
        msg = (
            f"sample_weight must not be negative, {int((weight < 0).sum())} of {weight.size} weights are. "
            "Use 0 to leave a row out."
        )
        raise ValueError(msg)
    return weight


def class_factors(class_weight: Any, labels: np.ndarray[Any, Any], counts: FloatArray) -> FloatArray:
    """Weight of each class, where only the labels and the number of their rows are known."""
    if isinstance(class_weight, str):  # "balanced"
        return np.asarray(counts.sum() / (labels.size * counts), dtype=np.float64)
    return np.ones(labels.size) if class_weight is None else _class_weights(class_weight, labels)


def _class_weights(class_weight: Any, y: np.ndarray[Any, Any]) -> FloatArray:
    """Weight of every row by its class."""
    if isinstance(class_weight, dict):
        values = list(class_weight.values())
        if not all(isinstance(v, Real) and 0 <= float(v) < np.inf for v in values):
            msg = "class_weight must map labels to finite numbers that are not negative. Use 0 to leave a class out."
            raise ValueError(msg)
        present = set(_distinct(y)[0].tolist())
        unknown = sum(label not in present for label in class_weight)
        if unknown:
            msg = f"class_weight has keys that are not labels of y ({unknown}). Use the labels of y as keys."
            raise ValueError(msg)
    return np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
