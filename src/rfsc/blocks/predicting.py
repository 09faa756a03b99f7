"""Predictions for dask tables: nothing is computed until it is asked for, and then block by block."""

from __future__ import annotations

from typing import Any

import numpy as np


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
