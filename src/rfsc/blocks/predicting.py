"""Predictions for dask tables: nothing is computed until it is asked for, and then block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from .parts import is_dask


def predict_in_blocks(predictor: Any, method: str, X: Any, width: int | None, dtype: Any) -> Any:
    """What a method of a predictor gives for a dask table.

    Parameters
    ----------
    predictor : Predictor
        Holds models and nothing else, for it travels to the blocks.
    method : str
        Which method.
    X : dask array or dask data frame of shape (n_samples, n_features)
        Samples.
    width : int or None
        Columns of the result; None for one value per sample.
    dtype : dtype
        Of the result.

    Returns
    -------
    dask array of shape (n_samples,) or (n_samples, width)
        Not computed.
    """
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
    """Mean accuracy.

    Parameters
    ----------
    classifier : RFSCClassifier
        Fitted.
    X : array-like, data frame, or dask array or data frame of shape (n_samples, n_features)
        Samples.
    y : array-like, or dask array or series of shape (n_samples,)
        Their classes.
    sample_weight : array-like, or dask array or series of shape (n_samples,), default=None
        Weights of the samples.

    Returns
    -------
    float
        Share of the samples whose class is predicted.
    """
    if not any(is_dask(one) for one in (X, y, sample_weight)):
        return float(ClassifierMixin.score(classifier, X, y, sample_weight))
    truth, told, weight = (one.compute() if is_dask(one) else one for one in (y, classifier.predict(X), sample_weight))
    return float(accuracy_score(truth, told, sample_weight=weight))
