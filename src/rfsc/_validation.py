"""Checks of a table that scikit-learn's own validation words badly for us: its message may quote a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data


def check_table(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool, min_samples: int = 1) -> Any:
    """`validate_data` to float64; text in X is reported by column, never by value."""
    try:
        return validate_data(
            estimator,
            X,
            y,
            reset=reset,
            dtype=np.float64,
            ensure_min_samples=min_samples,
            skip_check_array=False,
        )
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
    msg = f"X must hold numbers, but {_text_columns(X)} text. Encode it first, for instance with OneHotEncoder."
    raise ValueError(msg)


def _text_columns(X: Any) -> str:
    """Which columns hold text, in words."""
    names = [str(name) for name in getattr(X, "columns", [])]
    columns = [np.asarray(X[name]) for name in names] if names else list(np.asarray(X, dtype=object).T)
    labels = names or [str(j) for j in range(len(columns))]
    bad = [label for label, column in zip(labels, columns, strict=True) if not _is_numeric(column)]
    shown = ", ".join(bad[:5]) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
    return f"column {shown} holds" if len(bad) == 1 else f"columns {shown} hold"


def _is_numeric(column: Any) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True
