"""The training rows, scaled and encoded, their folds, and the features that each output may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._model.sparse_model import FilterEvidence
from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray, IntArray
from .._utils.compat import check_feature_names
from .._utils.manifest import fingerprint
from .._utils.validation import check_unmasked, is_large, is_missing
from ..restrictions import Restrictions, barred_features, named_features
from .encoding import Targets, encode, feature_names, read_features, sortable

if TYPE_CHECKING:
    from .large_tables import LargeTable


# of every fold two thirds to four fifths of the rows are searched: about the same work however long the table is
FEW_ROWS = 600
FEW_DISTINCT = 50  # rows, as of a table of levels: of fewer, the observations of each are divided among the folds
MANY_ROWS, N_FOLDS_OF_MANY = 10_000, 3
MOST_ROWS = 30_000  # of a longer table, of which a single fold is left out
SMALL_HASH = np.uint64(44)  # bits that a hash loses: sums of what is left are exact for a billion observations


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Scaled features, outputs and weights of the training rows."""

    targets: Targets
    scaling: Scaling
    table: FloatArray  # (n_features, n_rows), scaled
    weight: FloatArray  # (n_rows,), observations that each row stands for, positive
    groups: IntArray | None = None  # rows of one group are never on both sides of a split
    large: LargeTable | None = None  # all rows, if the above are a sample of them

    @property
    def n_rows(self) -> int:
        """How many rows there are in all."""
        return self.weight.size if self.large is None else self.large.n_rows

    @property
    def n_observations(self) -> float:
        """What they stand for together."""
        return float(self.weight.sum()) if self.large is None else self.large.n_observations

    def take(self, which: IntArray) -> Rows:
        """Some of the rows; classes and scaling stay those of all."""
        targets = self.targets
        some = Targets(targets.classes, targets.code[which], tuple(output[which] for output in targets.outputs))
        groups = None if self.groups is None else self.groups[which]
        return Rows(some, self.scaling, np.take(self.table, which, axis=1), self.weight[which], groups)


def read_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Rows, dict[str, Any]]:
    """Validate the input, drop rows of weight zero, encode the classes and scale the features; and a fingerprint.

    The rows are put into an order of their own, so that the answer does not depend on the order in which they came.
    """
    if is_large(X):
        if groups is not None:
            msg = "groups need a table in memory; this one is read in chunks. Fit a sample of whole groups instead."
            raise ValueError(msg)
        return _read_large(estimator, X, y, sample_weight)
    X, y, weight, used = read_features(estimator, X, y, sample_weight)
    codes = group_codes(groups, used.size)
    return _scaled(estimator, X, y, weight, None if codes is None else codes[used])


def _read_large(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, dict[str, Any]]:
    """A sample of the rows, beside all of them; a table that fits into memory becomes an ordinary one."""
    from .large_tables import LargeTable, max_sample_rows  # only such tables need it

    estimator.recipe_ = None
    large = LargeTable.read(X, y, sample_weight, estimator.class_weight)
    check_feature_names(estimator, large.head, reset=True)
    estimator.n_features_in_ = large.head.shape[1]
    most = max_sample_rows(estimator.n_features_in_)
    X, y, weight = large.sample(min(most, large.n_rows))
    if large.n_rows <= most:
        return _scaled(estimator, X, y, weight)
    rows = _ordered(Rows(encode(y), large.scaling, large.scaling.table(X), weight))
    return replace(rows, large=large), large.fingerprint


def group_codes(groups: Any, n_rows: int) -> IntArray | None:
    """The groups of the rows, numbered as they appear."""
    if groups is None:
        return None
    check_unmasked("groups", groups)
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        msg = f"groups must hold one value for each of the {n_rows} rows, got an array of shape {groups.shape}."
        raise ValueError(msg)
    if any(map(is_missing, groups.tolist())):
        msg = "groups holds missing values (NaN). Give these rows a group of their own, or leave them out."
        raise ValueError(msg)
    with sortable("groups mixes values"):
        distinct, first, code = np.unique(groups, return_index=True, return_inverse=True)
    if distinct.size == 1:
        msg = "groups must hold at least two groups, but all rows are in one. Leave it out if the rows are independent."
        raise ValueError(msg)
    return np.argsort(np.argsort(first))[code]


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Numbers that differ in any bit become numbers that differ in about half of them."""
    bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)


def column_order(rows: Rows) -> IntArray:
    """The features in an order that depends on their values, classes and weights, not on the order of rows or columns.

    Sums of small integers, weighted: a row of weight 2 is the same as the row twice.
    """
    code = _mixed(rows.targets.code.astype(np.uint64) + np.uint64(1))
    hashes = (_mixed(_mixed(values.view(np.uint64)) ^ code) >> SMALL_HASH for values in rows.table)
    return np.argsort([float((small.astype(np.float64) * rows.weight).sum()) for small in hashes], kind="stable")


def row_order(rows: Rows, columns: IntArray) -> IntArray:
    """The rows in an order that depends on their values and classes; `columns` is that of the features."""
    total = _mixed(rows.targets.code.astype(np.uint64) + np.uint64(1))
    for place, p in enumerate(columns.tolist()):
        own = _mixed(np.array([place + 1], dtype=np.uint64))
        total += _mixed(_mixed(rows.table[p].view(np.uint64)) ^ own)
    return np.argsort(total, kind="stable")


def _scaled(
    estimator: Any, X: FloatArray, y: np.ndarray[Any, Any], weight: FloatArray, groups: IntArray | None = None
) -> tuple[Rows, dict[str, Any]]:
    targets, scaling = encode(y), Scaling.from_rows(X)
    names = feature_names(estimator) if hasattr(estimator, "feature_names_in_") else None
    data = fingerprint(X, targets.classes, targets.code, weight, names, groups)
    return _ordered(Rows(targets, scaling, scaling.table(X), weight, groups)), data


def _ordered(rows: Rows) -> Rows:
    """The rows in their own order, which constant features do not change, and their typical values."""
    columns = column_order(rows)
    rows = rows.take(row_order(rows, columns[~rows.scaling.constant[columns]]))
    return replace(rows, scaling=rows.scaling.with_typical(rows.table, rows.weight))


@dataclass(frozen=True, slots=True)
class FeatureRules:
    """Which features an output may use: level of the filter, restrictions, and the names these are read by."""

    filter_significance: float | None
    restrictions: Restrictions | None
    names: tuple[str, ...]
    order: IntArray  # of the features: one of their own, so that the answer does not depend on that of the columns

    def tests(self, rows: Rows) -> list[FilterEvidence | None]:
        """Result of the distance-correlation test for each output, if it was asked for."""
        level = self.filter_significance
        if level is None:
            return [None] * len(rows.targets.outputs)
        from .distance_correlation import independence_test, threshold

        test = independence_test(rows.table.T, rows.targets.code, rows.weight, one_vs_rest=True)
        spared = tuple(named_features(self.restrictions, self.names))
        return [FilterEvidence(statistic, threshold(level), float(level), spared) for statistic in test.statistic]

    def allowed(self, rows: Rows, tests: Sequence[FilterEvidence | None] | None = None) -> list[IntArray]:
        """Features of each output: not constant, not forbidden and, if tested, dependent on the output."""
        order = self.order
        varies = ~rows.scaling.constant
        if self.restrictions is not None:
            varies[barred_features(self.restrictions, self.names)] = False
        tests = self.tests(rows) if tests is None else tests
        return [order[(varies if test is None else varies & test.kept)[order]] for test in tests]


def folds_of(rows: Rows, n_folds: int, rng: np.random.Generator) -> tuple[Rows, IntArray, int]:
    """The rows to compare on, their stratified folds, and how many of these are left out in turn; 0 if none can be.

    Rows of one group stay together, and so do equal rows, unless there are few distinct ones: a row of weight 2 is the
    same as the row twice.
    """
    code, n_classes = rows.targets.code, len(rows.targets.classes)
    if rows.groups is not None:
        _, first, unit = np.unique(rows.groups, return_index=True, return_inverse=True)
        unit = np.argsort(np.argsort(first))[unit]  # whatever the groups are called
    else:  # in their own order, equal rows are neighbours
        is_new = (rows.table[:, 1:] != rows.table[:, :-1]).any(axis=0) | (code[1:] != code[:-1])
        unit = np.concatenate(([0], np.cumsum(is_new)))
        n_distinct, smallest_class = unit[-1] + 1, np.bincount(code, rows.weight).min()
        if n_distinct < FEW_DISTINCT and rows.weight.sum() >= n_folds * n_distinct and smallest_class >= n_folds:
            return *_divided(rows, unit, n_folds, rng), n_folds
    n_units = int(unit.max()) + 1
    count = np.bincount(unit * n_classes + code, minlength=n_units * n_classes).reshape(n_units, n_classes)
    class_of_unit = count.argmax(axis=1)
    members = [np.flatnonzero(class_of_unit == c) for c in range(n_classes)]
    wanted = n_folds if n_units <= FEW_ROWS else min(n_folds, N_FOLDS_OF_MANY)
    n_folds = min(wanted, *(own.size for own in members))
    if n_folds < 2:
        return rows, np.empty(0, np.int64), 0
    fold = np.full(n_units, -1)
    share = min(1.0, MOST_ROWS / n_units)
    for own in members:
        taken = rng.permutation(own)[: max(n_folds, round(share * own.size))]
        fold[taken] = np.arange(taken.size) % n_folds
    fold = fold[unit]
    n_left_out = n_folds if n_units <= MANY_ROWS else 1
    if (fold >= 0).all():
        return rows, fold, n_left_out
    return rows.take(np.flatnonzero(fold >= 0)), fold[fold >= 0], n_left_out


def _divided(rows: Rows, unit: IntArray, n_folds: int, rng: np.random.Generator) -> tuple[Rows, IntArray]:
    """Every distinct row in several folds, with the weight of those of its observations that fall into each."""
    _, first = np.unique(unit, return_index=True)
    weight, code = np.bincount(unit, rows.weight), rows.targets.code[first]
    count = np.maximum(np.rint(weight * min(1.0, MOST_ROWS / weight.sum())), 1.0).astype(np.int64)
    parts = np.zeros((first.size, n_folds))
    for c in range(len(rows.targets.classes)):
        observations = rng.permutation(np.repeat(np.flatnonzero(code == c), count[code == c]))
        np.add.at(parts, (observations, np.arange(observations.size) % n_folds), 1.0)
    own, fold = np.nonzero(parts)
    divided = rows.take(first[own])
    return replace(divided, weight=weight[own] * parts[own, fold] / count[own]), fold
