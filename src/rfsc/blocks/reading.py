"""From parts of a table to blocks that are ready for an engine: one pass to look at the rows, one to hold them.

What needs rows in hand (knots, clusters, screening, the choice of the basis, taking terms out of a pool) gets a sample
of at most `MOST_ROWS` rows in which every class has its share; all rows, where there are no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._fit.shares import shares
from .._fit.targets import Targets, checked_weights, class_factors, encode, sortable
from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray, IntArray
from .._utils.manifest import hash_of, numbers_of, texts_of
from .._utils.validation import check_table, odd_labels
from .blocks import Blocks
from .errands import has_cluster, held
from .parts import Parts
from .row_block import Block, RowBlock, StoredBlock

MOST_ROWS = 100_000  # in hand
MOST_NUMBERS = 2**24  # in hand: 128 MiB, for tables of many features
MOST_LABELS = 10_000  # beyond, y is no class label, and a list of all labels is no small thing to send
IN_MEMORY = 2**26  # bytes of blocks that are kept in memory where there is no cluster; others are written to files


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What one pass over a part of the table finds; rows of weight zero are not looked at.

    Parameters
    ----------
    minimum, maximum : ndarray of shape (n_features,)
        Of every feature; empty where the part has no rows.
    labels, counts, weights : ndarray of shape (n_labels,)
        Distinct labels, the rows that have them, and the sums of their weights.
    content, own_weights : str
        Hashes of the cells and labels, and of the weights.
    unit_weights : bool
        Whether all weights are 1.
    """

    minimum: FloatArray
    maximum: FloatArray
    labels: np.ndarray[Any, Any]
    counts: IntArray
    weights: FloatArray
    content: str
    own_weights: str
    unit_weights: bool


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What is known of a table after one pass.

    Parameters
    ----------
    parts : Parts
        Where the rows come from.
    classes : ndarray
        Labels, sorted.
    factors : ndarray of shape (n_classes,)
        Weight of each class.
    counts : ndarray of int of shape (n_parts, n_classes)
        Rows of each class in each part.
    class_weights : ndarray of shape (n_classes,)
        Observations of each class.
    scaling : Scaling
        Ranges of the features.
    fingerprint : dict
        As in the manifest, but the hashes are those of the hashes of the parts: they depend on where the
        table is cut.
    """

    parts: Parts
    classes: np.ndarray[Any, Any]
    factors: FloatArray
    counts: IntArray
    class_weights: FloatArray
    scaling: Scaling
    fingerprint: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.counts.sum())


def look(parts: Parts, class_weight: Any, names: Sequence[str] | None, n_threads: int) -> Reading:
    """One pass over the table: ranges of the features, classes and their counts, and whether all is finite."""
    import dask

    zero = [label for label, value in class_weight.items() if value == 0] if isinstance(class_weight, dict) else []
    work = dask.delayed(_facts, pure=False)
    own = {} if has_cluster() else {"num_workers": n_threads}
    facts: list[Facts] = list(dask.compute(*(work(*part, zero) for part in parts.parts), **own))
    labels = np.concatenate([fact.labels for fact in facts if fact.labels.size] or [np.empty(0)])
    if not labels.size:
        msg = "no row has a positive weight, or there is none; at least two rows of different classes are needed."
        raise ValueError(msg)
    with sortable():
        present, at = np.unique(labels, return_inverse=True)
    rows = np.zeros(present.size)
    np.add.at(rows, at, np.concatenate([fact.counts for fact in facts]))
    factors = class_factors(class_weight, present, rows)
    classes = encode(present[factors > 0]).classes
    counts = np.stack([_by_class(fact.labels, fact.counts, classes) for fact in facts]).astype(np.int64)
    weights = np.stack([_by_class(fact.labels, fact.weights, classes) for fact in facts]).sum(axis=0)
    used = [fact for fact in facts if fact.minimum.size]
    scaling = Scaling.from_rows(np.stack([f.minimum for f in used] + [f.maximum for f in used]))
    kinds = sorted({type(label).__name__ for label in classes.tolist()})
    n_features = used[0].minimum.size
    unit = all(fact.unit_weights for fact in facts) and bool((factors[factors > 0] == 1.0).all())
    fingerprint = {
        "rows": int(counts.sum()),
        "features": n_features,
        "classes": len(classes),
        "content": hash_of(texts_of(fact.content for fact in facts)),
        "schema": hash_of(texts_of(kinds), texts_of([f"{n_features} without names"] if names is None else names)),
        "weights": None if unit else hash_of(texts_of([*(f.own_weights for f in facts), *map(repr, factors.tolist())])),
    }
    factors = factors[factors > 0]
    return Reading(parts, classes, factors, counts, weights * factors, scaling, fingerprint)


def read_blocks(reading: Reading, n_threads: int) -> Blocks:
    """The blocks, scaled and encoded, held by the workers of a cluster; without one, in memory or in files."""
    import dask

    n_bytes = 8 * reading.n_rows * (reading.scaling.half_span.size + 2)
    scratch = None if has_cluster() or n_bytes <= IN_MEMORY else TemporaryDirectory(prefix="rfsc-")
    work = dask.delayed(_block, pure=False)
    shared = dask.delayed((reading.classes, reading.factors, reading.scaling), traverse=False)
    folder = None if scratch is None else scratch.name
    filled = [i for i, own in enumerate(reading.counts) if own.any()]
    tasks = [work(*reading.parts.parts[i], shared, folder, i) for i in filled]
    try:
        blocks = held(tasks, n_threads, placed=reading.parts.on_workers)
    except BaseException:
        if scratch is not None:
            scratch.cleanup()
        raise
    return Blocks(blocks, reading.counts[filled], reading.class_weights, n_threads, scratch)


def fetch_all(reading: Reading) -> tuple[Any, np.ndarray[Any, Any], FloatArray | None]:
    """All rows as they are, for tables that are small enough."""
    import dask

    Xs, ys, ws = zip(*dask.compute(*reading.parts.parts), strict=True)
    X: Any = np.concatenate([np.asarray(part, dtype=np.float64) for part in Xs])
    head = reading.parts.head
    if hasattr(head, "columns"):
        from pandas import DataFrame

        X = DataFrame(X, columns=list(head.columns))
    y = np.concatenate([np.asarray(part) for part in ys if len(part)])
    return X, y, None if ws[0] is None else np.concatenate([np.asarray(part, dtype=np.float64) for part in ws])


def most_in_hand(n_features: int) -> int:
    """How many rows of a table this process may hold."""
    return min(MOST_ROWS, max(MOST_NUMBERS // max(n_features, 1), 1))


def rows_in_hand(blocks: Blocks, most: int, classes: np.ndarray[Any, Any]) -> tuple[Targets, FloatArray, FloatArray]:
    """Classes, scaled features and weights of a sample in which every class has its share.

    The sample depends on the number of rows of each class alone, never on `random_state`: what is laid out over it is
    the same for every seed.
    """
    rng = np.random.default_rng(0)
    there = blocks.counts.sum(axis=0)
    ranks = [
        rng.choice(n, size, replace=False, shuffle=False) for n, size in zip(there, shares(most, there), strict=True)
    ]
    found = blocks.fetch(ranks)
    n_outputs = 1 if classes.size == 2 else classes.size
    outputs = tuple(found.target(output, classes.size) for output in range(n_outputs))
    return Targets(classes, found.code, outputs), found.table, found.weight


def _facts(X: Any, y: Any, sample_weight: Any, zero: Sequence[Any]) -> Facts:
    """Look at one part."""
    X, y, weight = _checked(X, y, sample_weight)
    used = weight > 0
    if not used.all():
        X, y, weight = X[used], y[used], weight[used]
    with sortable():
        labels, code, counts = np.unique(y, return_inverse=True, return_counts=True)
    if labels.size > MOST_LABELS:
        msg = (
            f"y holds more than {MOST_LABELS:,} different labels; a classifier needs classes. Check which column y is."
        )
        raise ValueError(msg)
    weights = np.array([weight[code == c].sum() for c in range(labels.size)])
    seen = X[~np.isin(y, list(zero))] if zero else X
    low, high = (seen.min(axis=0), seen.max(axis=0)) if len(seen) else (np.empty(0), np.empty(0))
    content = hash_of(numbers_of(X), numbers_of(code), texts_of(map(repr, labels.tolist())))
    unit = bool((weight == 1.0).all())
    return Facts(low, high, labels, counts, weights, content, hash_of(numbers_of(weight)), unit)


def _block(
    X: Any,
    y: Any,
    sample_weight: Any,
    shared: tuple[np.ndarray[Any, Any], FloatArray, Scaling],
    folder: str | None,
    number: int,
) -> Block:
    """One part, scaled and encoded."""
    classes, factors, scaling = shared
    X, y, weight = _checked(X, y, sample_weight)
    used = (weight > 0) & np.isin(y, classes)
    if not used.all():
        X, y, weight = X[used], y[used], weight[used]
    code = np.searchsorted(classes, y)
    block = RowBlock(scaling.table(X), code, weight * factors[code])
    return block if folder is None else StoredBlock.write(folder, number, block)


def _checked(X: Any, y: Any, sample_weight: Any) -> tuple[FloatArray, np.ndarray[Any, Any], FloatArray]:
    """Numbers, labels and weights of one part, in the words of the classifier where something is wrong."""
    X = np.asarray(check_table(BaseEstimator(), X, reset=True, min_samples=0), dtype=np.float64)
    msg = odd_labels(y)
    y = np.asarray(y)
    if msg is None and y.dtype.kind == "f" and np.isnan(y).any():
        msg = "y contains missing labels (NaN). Drop those rows, or give them a class of their own."
    if msg is None and y.shape != X.shape[:1]:
        msg = "X and y must have the same rows in every partition, but their lengths differ. Repartition one of them."
    if msg is None and sample_weight is not None and len(sample_weight) != len(X):
        msg = "X and sample_weight must have the same rows in every partition, but their lengths differ."
    if msg is not None:
        raise ValueError(msg)
    if sample_weight is not None and not np.any(
        np.asarray(sample_weight)
    ):  # refused for a table, fair for a part of one
        return X, y, np.zeros(len(X))
    weight = checked_weights(sample_weight, X) if len(X) else np.empty(0)
    return X, y, weight


def _by_class(labels: np.ndarray[Any, Any], values: Any, classes: np.ndarray[Any, Any]) -> FloatArray:
    """Values of labels at the places of the classes; zero for those that do not occur."""
    out = np.zeros(classes.size)
    if labels.size:
        known = np.isin(labels, classes)
        out[np.searchsorted(classes, labels[known])] = np.asarray(values)[known]
    return out
