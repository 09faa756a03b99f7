"""Tables beyond memory: what a fit must know of all rows, the sample of them that the search sees, and the fit
of its best model to all rows: the steps of `refit` in memory, one pass over the rows each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._model.inference import AT_A_TIME, WaldFit, joined_roots, predictor_and_gradient, refit_by, root_of_hessian
from .._search.loop import shares
from .._terms import TermSpace
from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray, IntArray
from .._utils.chunks import Chunk, aligned_chunks, reduced
from .._utils.compat import check_feature_names, safe_indexing
from .._utils.manifest import hash_of, numbers_of, texts_of
from .._utils.optional import require
from .._utils.validation import check_table, is_lazy
from .encoding import checked_weights, class_factors, encode, sortable

MAX_SAMPLE_ROWS = 100_000
MAX_SAMPLE_CELLS = 2**24  # 128 MiB, for tables of many features
MAX_LABELS = 10_000  # more are not class labels, and a list of them is too much to send for each chunk
MAPPED_CHUNK_CELLS = 2**22  # 32 MiB
Sums = tuple[FloatArray, FloatArray]  # negative gradient, and R with R'R = Hessian; without the penalty


def max_sample_rows(n_features: int) -> int:
    """How many rows of a large table are held in memory; a table without more is fitted like any other."""
    return min(MAX_SAMPLE_ROWS, max(MAX_SAMPLE_CELLS // max(n_features, 1), 1))


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """How the labels of a chunk become codes, and its weights those of the fit."""

    classes: np.ndarray[Any, Any]
    class_weight: FloatArray  # (n_classes,), positive

    def codes(self, y: Any, weight: Any) -> tuple[IntArray, FloatArray]:
        """Class and weight of every row; -1 for rows that do not count."""
        y = np.asarray(y)
        weight = np.ones(y.size) if weight is None else np.asarray(weight, dtype=np.float64)
        code = np.searchsorted(self.classes, y).clip(max=self.classes.size - 1)
        return np.where((self.classes[code] == y) & (weight > 0), code, -1), weight * self.class_weight[code]


@dataclass(frozen=True, slots=True, eq=False)
class LargeTable:
    """Training rows that stay where they are; rows of weight zero do not count."""

    chunks: list[Chunk]
    head: Any  # the columns of X without rows, for scikit-learn's check of feature names
    encoding: Encoding
    counts: IntArray  # (n_chunks, n_classes), rows
    n_observations: float
    scaling: Scaling
    fingerprint: dict[str, Any]  # for the manifest; the hashes depend on where the table is cut
    scheduler: str | None  # of dask; None for the user's choice

    @classmethod
    def read(cls, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None) -> LargeTable:
        """One pass over all rows: checks, ranges of the features, classes and their weights."""
        require("a table beyond memory", ["dask"], "dask")
        import dask
        import dask.array as da

        if y is None:
            msg = "RFSCClassifier requires y to be passed, but the target y is None."
            raise ValueError(msg)
        scheduler = None
        if not is_lazy(X):  # a mapped array, to be read in this process: sent to workers, it would be copied
            n_rows = max(MAPPED_CHUNK_CELLS // max(X.shape[1], 1), 1)
            X, scheduler = da.from_array(X, chunks=(n_rows, -1), name=False), "threads"
        chunks = aligned_chunks(X, y, sample_weight, scheduler)
        by_class = class_weight if isinstance(class_weight, dict) else {}
        excluded = [label for label, value in by_class.items() if value == 0]
        look = dask.delayed(_facts_or_error, pure=False)
        facts = dask.compute(*(look(*chunk, excluded) for chunk in chunks), scheduler=scheduler)
        for error in (fact for fact in facts if isinstance(fact, Exception)):
            raise error
        encoding = _encoding(facts, class_weight)
        counts = _by_class(facts, "counts", encoding.classes)
        weights = _by_class(facts, "weights", encoding.classes) * encoding.class_weight
        ranges = [row for fact in facts for row in (fact.minimum, fact.maximum) if row.size]
        head = X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]))
        return cls(
            chunks=chunks,
            head=head,
            encoding=encoding,
            counts=counts,
            n_observations=float(weights.sum()),
            scaling=Scaling.from_rows(np.stack(ranges)),
            fingerprint=_fingerprint(facts, encoding, head, int(counts.sum())),
            scheduler=scheduler,
        )

    @property
    def n_rows(self) -> int:
        """Rows that count."""
        return int(self.counts.sum())

    @property
    def classes(self) -> np.ndarray[Any, Any]:
        """Labels, sorted."""
        return self.encoding.classes

    def sample(self, max_rows: int) -> tuple[FloatArray, np.ndarray[Any, Any], FloatArray]:
        """X, y and weight of about `max_rows` rows, every class with its share and with at least 20, in their order.

        The sample depends on the rows of each class alone, never on `random_state` or on where the table is cut.
        """
        import dask

        rng = np.random.default_rng(0)
        n_rows = self.counts.sum(axis=0)
        sizes = shares(max_rows, n_rows)
        ranks = [np.sort(rng.choice(n, k, replace=False, shuffle=False)) for n, k in zip(n_rows, sizes, strict=True)]
        ends = np.cumsum(self.counts, axis=0)
        take = dask.delayed(_rows_of_ranks, pure=False)
        tasks = []
        for chunk, first, last in zip(self.chunks, ends - self.counts, ends, strict=True):
            own = [r[slice(*np.searchsorted(r, (a, b)))] - a for r, a, b in zip(ranks, first, last, strict=True)]
            if any(r.size for r in own):
                tasks.append(take(*chunk, self.encoding, own))
        X, code, weight = zip(*dask.compute(*tasks, scheduler=self.scheduler), strict=True)
        return np.concatenate(X), self.classes[np.concatenate(code)], np.concatenate(weight)

    def total(self, work: Callable[..., Any], combine: Callable[[Sequence[Any]], Any], job: Any) -> Any:
        """What `work(X, y, weight, job)` finds in all chunks."""
        import dask

        task, shared = dask.delayed(work, pure=False), dask.delayed(job, traverse=False)
        return reduced([task(*chunk, shared) for chunk in self.chunks], combine, self.scheduler)


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    """What one pass finds in a chunk; rows of weight zero are ignored."""

    minimum: FloatArray  # (n_features,), empty if no row counts
    maximum: FloatArray
    labels: np.ndarray[Any, Any]  # distinct
    counts: IntArray  # (n_labels,)
    weights: FloatArray  # (n_labels,)
    content: str  # hash of cells and labels
    weight_content: str | None  # hash of the weights; None if all are 1


def _facts_or_error(X: Any, y: Any, weight: Any, excluded: Sequence[Any]) -> _Facts | Exception:
    """An error is returned, not raised: a worker would log it together with the rows."""
    try:
        return _facts(X, y, weight, excluded)
    except (TypeError, ValueError) as error:
        return error.with_traceback(None)


def _facts(X: Any, y: Any, weight: Any, excluded: Sequence[Any]) -> _Facts:
    """Look at one chunk, which is checked like a table in memory."""
    X, y = check_table(BaseEstimator(), X, y, reset=True, min_samples=0)
    if weight is None:
        weight = np.ones(len(X))
    else:  # all zero is refused for a table, but fair for a part of one
        weight = checked_weights(weight, X) if np.any(weight) else np.zeros(len(X))
        used = weight > 0
        X, y, weight = (X, y, weight) if used.all() else (X[used], y[used], weight[used])
    with sortable():
        labels, code, counts = np.unique(y, return_inverse=True, return_counts=True)
    if labels.size > MAX_LABELS:
        msg = f"y holds more than {MAX_LABELS:,} different labels; a classifier needs classes. Check which column y is."
        raise ValueError(msg)
    weights = np.asarray(np.bincount(code, weights=weight, minlength=labels.size), dtype=np.float64)
    seen = X[~np.isin(y, excluded)] if excluded else X
    low, high = (seen.min(axis=0), seen.max(axis=0)) if len(seen) else (np.empty(0), np.empty(0))
    content = hash_of(numbers_of(X), numbers_of(code), texts_of(map(repr, labels.tolist())))
    weight_content = None if (weight == 1.0).all() else hash_of(numbers_of(weight))
    return _Facts(low, high, labels, counts, weights, content, weight_content)


def _encoding(facts: Sequence[_Facts], class_weight: Any) -> Encoding:
    """Classes that count, and their weights."""
    labels = np.concatenate([fact.labels for fact in facts if fact.labels.size] or [np.empty(0)])
    if not labels.size:
        msg = "no row has a positive weight, or there is none; at least two rows of different classes are needed."
        raise ValueError(msg)
    with sortable():
        present, code = np.unique(labels, return_inverse=True)
    n_rows = np.bincount(code, weights=np.concatenate([fact.counts for fact in facts]))
    factors = class_factors(class_weight, present, n_rows.astype(np.float64))
    return Encoding(encode(present[factors > 0]).classes, factors[factors > 0])


def _by_class(facts: Sequence[_Facts], name: str, classes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The counts or weights of all chunks, shape (n_chunks, n_classes)."""
    found = [dict(zip(fact.labels.tolist(), getattr(fact, name).tolist(), strict=True)) for fact in facts]
    return np.array([[own.get(label, 0) for label in classes.tolist()] for own in found])


def _fingerprint(facts: Sequence[_Facts], encoding: Encoding, head: Any, n_rows: int) -> dict[str, Any]:
    """As `manifest.fingerprint`, from the hashes of the chunks."""
    named = BaseEstimator()
    check_feature_names(named, head, reset=True)
    names = getattr(named, "feature_names_in_", [f"{head.shape[1]} without names"])
    kinds = sorted({type(label).__name__ for label in encoding.classes.tolist()})
    weights = [*(fact.weight_content for fact in facts), *encoding.class_weight.tolist()]
    unit = set(weights) == {None, 1.0}
    return {
        "rows": n_rows,
        "features": int(head.shape[1]),
        "classes": int(encoding.classes.size),
        "content": hash_of(texts_of(fact.content for fact in facts)),
        "schema": hash_of(texts_of(kinds), texts_of(names)),
        "weights": None if unit else hash_of(texts_of(map(str, weights))),
        "groups": None,
    }


def _rows_of_ranks(X: Any, y: Any, weight: Any, encoding: Encoding, ranks: Sequence[IntArray]) -> tuple[Any, ...]:
    """The rows with these ranks among the rows of each class."""
    code, weight = encoding.codes(y, weight)
    which = np.sort(np.concatenate([np.flatnonzero(code == c)[own] for c, own in enumerate(ranks)]))
    return np.asarray(safe_indexing(X, which), dtype=np.float64), code[which], weight[which]


def streamed_refit(
    table: LargeTable, space: TermSpace, ids: IntArray, coef: FloatArray, output: int, ridge: float
) -> WaldFit:
    """Fit a model of one output to all rows, starting from its coefficients; every step is one pass over the rows."""
    job = _Job(table.encoding, table.scaling, space, ids, 1 if table.classes.size == 2 else output)
    penalty = ridge * _variances(table, job)

    def derive(coef: FloatArray) -> tuple[FloatArray, Callable[[], FloatArray]]:
        gradient, root = table.total(_sums_of_chunk, _added, replace(job, coef=coef))
        return gradient, lambda: joined_roots([np.diag(np.sqrt(penalty)), root])

    return refit_by(derive, penalty, coef)


def _variances(table: LargeTable, job: _Job) -> FloatArray:
    """Weighted variances of the terms over all rows."""
    root = table.total(_root_of_chunk, joined_roots, job)
    # of columns beside a constant one: what is left without the first row and column belongs to the centred columns
    return np.asarray(np.square(root[1:, 1:]).sum(axis=0) / table.n_observations)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """What every chunk must know."""

    encoding: Encoding
    scaling: Scaling
    space: TermSpace
    ids: IntArray
    positive: int  # code of the class whose target is +1
    coef: FloatArray | None = None

    def blocks(self, X: Any, y: Any, weight: Any) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Columns of the terms, target and weight, some rows at a time: a chunk is never copied as a whole."""
        code, weight = self.encoding.codes(y, weight)
        for first in range(0, code.size, AT_A_TIME):
            part = slice(first, first + AT_A_TIME)
            used = code[part] >= 0
            if used.any():
                rows = np.asarray(safe_indexing(X, part), dtype=np.float64)[used]
                target = np.where(code[part][used] == self.positive, 1.0, -1.0)
                yield self.space.columns(self.scaling.table(rows), self.ids), target, weight[part][used]


def _root_of_chunk(X: Any, y: Any, weight: Any, job: _Job) -> FloatArray:
    """R with R'R = Z'Z, where the rows of Z are those of (1, terms) times the root of their weight."""
    root = np.empty((0, job.ids.size + 1))
    for columns, _, own in job.blocks(X, y, weight):
        root = joined_roots([root, (np.vstack([np.ones(own.size), columns]) * np.sqrt(own)).T])
    return root


def _sums_of_chunk(X: Any, y: Any, weight: Any, job: _Job) -> Sums:
    coef = np.zeros(job.ids.size) if job.coef is None else job.coef
    total, root = np.zeros(coef.size), np.empty((0, coef.size))
    for columns, target, own in job.blocks(X, y, weight):
        f, gradient = predictor_and_gradient(columns, target, own, coef)
        total, root = total + gradient, root_of_hessian(f, columns, own, root)
    return total, root


def _added(found: Sequence[Sums]) -> Sums:
    return np.sum([gradient for gradient, _ in found], axis=0), joined_roots([root for _, root in found])
