"""The training rows, scaled and encoded, and the features that each output may use."""

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
from .._utils.validation import check_table, is_large
from ..restrictions import Restrictions, barred_features, named_features
from .targets import Targets, encode, row_weights

if TYPE_CHECKING:
    from .large_tables import LargeTable


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
    X, y = check_table(estimator, X, y, reset=True, min_samples=2)
    weight, groups = row_weights(sample_weight, estimator.class_weight, X, y), group_codes(groups, len(X))
    used = weight > 0
    if not used.all():  # the table may be long: no copy without need
        X, y, weight = X[used], y[used], weight[used]
        groups = None if groups is None else groups[used]
    return _scaled(estimator, X, y, weight, groups)


def _read_large(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, dict[str, Any]]:
    """A sample of the rows, beside all of them; a table that fits into memory becomes an ordinary one."""
    from .large_tables import LargeTable, max_sample_rows  # only such tables need it

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
    """The groups of the rows, numbered."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        msg = f"groups must hold one value for each of the {n_rows} rows, got an array of shape {groups.shape}."
        raise ValueError(msg)
    return np.asarray(np.unique(groups, return_inverse=True)[1], dtype=np.int64)


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
    data = fingerprint(X, targets.classes, targets.code, weight, names)
    return _ordered(Rows(targets, scaling, scaling.table(X), weight, groups)), data


def _ordered(rows: Rows) -> Rows:
    """The rows in their own order."""
    return rows.take(row_order(rows, column_order(rows)))


def feature_names(estimator: Any) -> tuple[str, ...]:
    """Names of the features: those of the columns of X, else x0, x1, ..."""
    given = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)])
    return tuple(str(name) for name in given)


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
