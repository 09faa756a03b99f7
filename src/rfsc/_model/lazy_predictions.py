"""Predictions and accuracy for tables of dask, chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.arrays import FloatArray
from .._utils.chunks import aligned_chunks, reduced


def lazy_predictions(predictor: Any, method: str, X: Any, empty: np.ndarray[Any, Any]) -> Any:
    """What a method of a predictor gives, as a dask array not computed yet; `empty` is its result for no rows."""
    import dask.array as da

    options = {"predictor": predictor, "method": method, "empty": empty, "meta": empty}
    if not isinstance(X, da.Array):
        return X.map_partitions(_predictions, **options)
    X = X.rechunk({1: -1})
    if empty.ndim == 1:
        return X.map_blocks(_predictions, **options, drop_axis=1, dtype=empty.dtype)
    return X.map_blocks(_predictions, **options, chunks=(X.chunks[0], empty.shape[1:]), dtype=empty.dtype)


def lazy_accuracy(predictor: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """The share of the rows of a dask table whose class is predicted correctly."""
    import dask

    shared = dask.delayed(predictor, traverse=False)
    count = dask.delayed(_correct_and_all, pure=False)
    correct, total = reduced([count(shared, *chunk) for chunk in aligned_chunks(X, y, sample_weight)], sum)
    return float(correct / total)


def _predictions(X: Any, predictor: Any, method: str, empty: np.ndarray[Any, Any]) -> Any:
    return getattr(predictor, method)(X) if len(X) else empty


def _correct_and_all(predictor: Any, X: Any, y: Any, weight: Any) -> FloatArray:
    """Weight of the rows that are predicted correctly, and of all rows."""
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    correct = np.asarray(y) == predictor.predict(X) if len(X) else np.empty(0, dtype=np.bool_)
    return np.array([weight[correct].sum(), weight.sum()])
