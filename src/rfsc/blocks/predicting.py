"""Predictions for dask tables: nothing is computed until it is asked for, and then block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from .parts import is_dask


def predict_in_blocks(predictor: Any, method: str, X: Any, width: int | None, dtype: Any) -> Any:
    """What a method of a predictor gives for a dask table."""
    import dask
    import dask.array as da

    empty = np.empty((0,) if width is None else (0, width), dtype=dtype)
    sender = dask.delayed(predictor, traverse=False)
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        parts, lengths = list(X.to_delayed()[:, 0]), X.chunks[0]
    else:
        parts = list(X.to_delayed())
        lengths = (np.nan,) * len(parts)
    work = dask.delayed(_predict, pure=False)
    pieces = [
        da.from_delayed(work(sender, method, part, empty), (n, *empty.shape[1:]), meta=empty)
        for part, n in zip(parts, lengths, strict=True)
    ]
    return da.concatenate(pieces, allow_unknown_chunksizes=True)


def _predict(predictor: Any, method: str, part: Any, empty: np.ndarray[Any, Any]) -> Any:
    return getattr(predictor, method)(part) if len(part) else empty


def accuracy_of(classifier: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Mean accuracy."""
    if not any(is_dask(one) for one in (X, y, sample_weight)):
        return float(ClassifierMixin.score(classifier, X, y, sample_weight))
    truth, told, weight = (one.compute() if is_dask(one) else one for one in (y, classifier.predict(X), sample_weight))
    return float(accuracy_score(truth, told, sample_weight=weight))
