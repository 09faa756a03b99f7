"""Tables of dask as chunks of consecutive rows, and reductions over them that dask runs where the chunks are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .validation import REPEATED_NAMES, is_lazy

Chunk = tuple[Any, Any, Any]  # delayed features, labels and weights (None: all 1) of the same rows
FAN_IN = 8  # results of chunks that one task combines


def aligned_chunks(X: Any, y: Any, sample_weight: Any, scheduler: str | None = None) -> list[Chunk]:
    """The chunks of a dask table, with labels and weights of dask or in memory cut in the same places."""
    import dask
    import dask.array as da

    if X.ndim != 2:
        msg = f"Expected 2D array, a table with one row per sample, got {X.ndim}D instead."
        raise ValueError(msg)
    lengths = None
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1})
        lengths = None if np.isnan(X.chunks[0]).any() else [int(n) for n in X.chunks[0]]
    elif not X.columns.is_unique:
        raise ValueError(REPEATED_NAMES)
    # not optimised one by one: what features and labels share would be read twice, and cut in other places
    features = list(np.ravel(X.to_delayed(optimize_graph=False)))
    if lengths is None and any(one is not None and not is_lazy(one) for one in (y, sample_weight)):
        lengths = list(dask.compute(*(dask.delayed(len)(part) for part in features)))
    labels = _cut(y, "y", len(features), lengths, scheduler)
    weights = _cut(sample_weight, "sample_weight", len(features), lengths, scheduler)
    return list(zip(features, labels, weights, strict=True))


def reduced(parts: Sequence[Any], combine: Callable[[Sequence[Any]], Any], scheduler: str | None = None) -> Any:
    """Combine delayed results in a tree that follows their order: no bit depends on the number of workers."""
    import dask

    join = dask.delayed(combine, pure=False)
    while len(parts) > 1:
        parts = [join(list(parts[i : i + FAN_IN])) for i in range(0, len(parts), FAN_IN)]
    return parts[0].compute(scheduler=scheduler)


def _cut(values: Any, name: str, n_chunks: int, lengths: Sequence[int] | None, scheduler: str | None) -> list[Any]:
    """Labels or weights in chunks of the same rows as those of X; `lengths` is known if the values are in memory."""
    import dask
    import dask.array as da

    if values is None:
        return [None] * n_chunks
    if not is_lazy(values):
        values, ends = np.asarray(values), np.cumsum(lengths or [0])
        if values.shape != (ends[-1],):
            msg = f"{name} must hold one entry for each of the {ends[-1]} rows of X, got the shape {values.shape}."
            raise ValueError(msg)
        # persisted: a cluster gets them once, not with every pass over the rows
        parts = [dask.delayed(part, traverse=False) for part in np.split(values, ends[:-1])]
        return list(dask.persist(*parts, scheduler=scheduler))
    if values.ndim != 1:
        msg = f"{name} must hold one entry for each row, got {values.ndim} dimensions. Pass a single column."
        raise ValueError(msg)
    if isinstance(values, da.Array) and lengths is not None and values.shape == (sum(lengths),):
        values = values.rechunk((tuple(lengths),))
    parts = list(values.to_delayed(optimize_graph=False))
    if len(parts) != n_chunks:
        msg = (
            f"{name} must have the same partitions as X: X has {n_chunks}, {name} has {len(parts)}. "
            "Repartition one of them."
        )
        raise ValueError(msg)
    return parts
