"""From what a user passes to aligned parts of features, labels and weights, none of which is computed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.compat import safe_indexing
from .._utils.optional import require
from .._utils.validation import REPEATED_NAMES
from .errands import on_workers

PART_NUMBERS = 2**22  # of an array that is cut here: 32 MiB


def is_dask(X: Any) -> bool:
    """Whether a table is a dask array or data frame; dask itself is not imported for the question."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "npartitions")


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Features, labels and weights in parts of the same rows.

    Parameters
    ----------
    parts : list of tuple
        Delayed features, labels and weights (None: all 1) of consecutive rows.
    head : object
        A table with the columns of X and no rows.
    on_workers : bool
        Whether workers of a cluster hold the features already.
    """

    parts: list[tuple[Any, Any, Any]]
    head: Any
    on_workers: bool

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None) -> Parts:
        """Cut y and the weights like X."""
        require("a fit of dask tables", ["dask"], "dask")
        import dask
        import dask.array as da

        if y is None:
            msg = "RFSCClassifier requires y to be passed, but the target y is None."
            raise ValueError(msg)
        if not hasattr(X, "ndim"):
            X = np.asarray(X)
        if X.ndim != 2:
            msg = f"Expected 2D array, a table with one row per sample, got {X.ndim}D instead."
            raise ValueError(msg)
        lengths: list[int] | None = None
        is_held = is_dask(X) and on_workers(X)
        if not is_dask(X):
            ranges = _ranges(*X.shape)
            features = [dask.delayed(safe_indexing(X, slice(a, b)), traverse=False) for a, b in ranges]
            head, lengths = safe_indexing(X, slice(0, 0)), [b - a for a, b in ranges]
        elif isinstance(X, da.Array):
            X = X.rechunk({1: -1})
            features, head = list(X.to_delayed()[:, 0]), np.empty((0, X.shape[1]))
            lengths = None if np.isnan(X.chunks[0]).any() else [int(n) for n in X.chunks[0]]
        else:
            if not X.columns.is_unique:
                raise ValueError(REPEATED_NAMES)
            features, head = list(X.to_delayed()), X._meta
        beside = [y, sample_weight]
        if lengths is None and any(one is not None and not is_dask(one) for one in beside):
            lengths = list(dask.compute(*(dask.delayed(len)(part) for part in features)))
        names = ("y", "sample_weight")
        labels, weights = (
            _cut_like(one, len(features), lengths, name) for one, name in zip(beside, names, strict=True)
        )
        return cls(list(zip(features, labels, weights, strict=True)), head, is_held)


def _ranges(n_rows: int, n_features: int) -> list[tuple[int, int]]:
    """Where a table in memory, or mapped from a file, is cut."""
    step = max(PART_NUMBERS // max(n_features, 1), 1)
    return [(a, min(a + step, n_rows)) for a in range(0, max(n_rows, 1), step)]


def _cut_like(one: Any, n_parts: int, lengths: Sequence[int] | None, name: str) -> list[Any]:
    """Labels or weights in parts as long as those of the features."""
    import dask
    import dask.array as da

    if one is None:
        return [None] * n_parts
    if isinstance(one, da.Array) and one.ndim == 1:
        known = lengths is not None and not np.isnan(one.chunks[0]).any()
        if known and one.shape[0] == sum(lengths or ()):
            one = one.rechunk((tuple(lengths or ()),))
        parts = list(one.to_delayed())
    elif is_dask(one) and one.ndim == 1:
        parts = list(one.to_delayed())
    elif is_dask(one):
        msg = f"{name} must hold one entry for each row, got {one.ndim} dimensions. Pass a single column."
        raise ValueError(msg)
    else:
        values = np.asarray(one)
        ends = np.cumsum(lengths or [0])
        if values.ndim != 1 or values.size != ends[-1]:
            msg = f"{name} must hold one entry for each of the {ends[-1]} rows of X, got the shape {values.shape}."
            raise ValueError(msg)
        parts = [dask.delayed(part, traverse=False) for part in np.split(values, ends[:-1])]
    if len(parts) != n_parts:
        msg = (
            f"{name} must be cut as X is: X has {n_parts} partitions, {name} has {len(parts)}. Repartition one of them."
        )
        raise ValueError(msg)
    return parts
