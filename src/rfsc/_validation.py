"""Input checks. scikit-learn's own words may quote cells of the table or of y; ours never do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.exceptions import DTypePromotionError
from sklearn.utils.validation import validate_data


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was when the block raises: nothing is half-fitted."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def check_table(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool, min_samples: int = 1) -> Any:
    """`validate_data` to float64, with messages that say what to do and show no data."""
    _check_names(X)
    _check_labels(y)
    try:
        return validate_data(estimator, X, y, reset=reset, dtype=np.float64, ensure_min_samples=min_samples)
    except (TypeError, ValueError) as error:
        msg = _in_our_words(error, X)
        if msg is None:
            raise
    raise ValueError(msg)  # outside the handler, so that the traceback does not quote the original


def _check_names(X: Any) -> None:
    """Refuse a frame in which a name stands for several columns."""
    names = [str(name) for name in getattr(X, "columns", [])]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        shown = ", ".join(repr(name) for name in twice[:5]) + (", ..." if len(twice) > 5 else "")
        msg = f"the columns of X must have different names, but {shown} come more than once. Rename them."
        raise ValueError(msg)


def _check_labels(y: Any) -> None:
    """Refuse labels that are missing; those of numbers are scikit-learn's to find."""
    if isinstance(y, str) or getattr(getattr(y, "dtype", None), "kind", "O") != "O" or not hasattr(y, "__iter__"):
        return
    n_missing = sum(label is None or type(label).__name__ == "NAType" for label in y)
    if n_missing:
        msg = f"y lacks the label of {n_missing} of {len(y)} rows. Leave those rows out."
        raise ValueError(msg)


def _in_our_words(error: Exception, X: Any) -> str | None:
    """A message for errors whose original text shows data or is hard to act on; None to keep the original."""
    text = str(error)
    if "could not convert string to float" in text:
        where = f"{_odd_columns(X)} text" if np.ndim(X) == 2 else "it is text"
        return f"X must hold numbers, but {where}. Encode it first, for instance with OneHotEncoder."
    if isinstance(error, DTypePromotionError) or "setting an array element with a sequence" in text:
        return f"X must hold numbers, but {_odd_columns(X)} dates or other objects. Turn them into numbers first."
    if "Expected 2D array" in text:
        kind = "a scalar" if np.ndim(X) == 0 else f"{np.ndim(X)}D"
        return (
            f"Expected 2D array, a table with one row per sample, got {kind} instead. Reshape your data with "
            "X.reshape(-1, 1) for a single feature or X.reshape(1, -1) for a single sample."
        )
    if "Complex data not supported" in text:
        where = "X" if np.iscomplexobj(X) else "y"
        return f"Complex data not supported: {where} must hold real values. Pass real and imaginary parts separately."
    if "Input X contains NaN" in text:
        return "Input X contains NaN. Fill missing values first, for instance with SimpleImputer, or drop those rows."
    return None


def _odd_columns(X: Any) -> str:
    """Which columns do not hold numbers, in words."""
    names = list(getattr(X, "columns", []))
    columns = [np.asarray(X[name]) for name in names] if names else list(np.asarray(X, dtype=object).T)
    labels = [str(name) for name in names] or [str(j) for j in range(len(columns))]
    bad = [label for label, column in zip(labels, columns, strict=True) if not _is_numeric(column)]
    shown = ", ".join(bad[:5]) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
    return f"column {shown} holds" if len(bad) == 1 else f"columns {shown} hold"


def _is_numeric(column: Any) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return bool(np.asarray(column).dtype.kind not in "mM")
