"""The distance-correlation test over rows that are not in hand, from sketches that blocks send.

Every feature is cut into bins at quantiles of the rows in hand, and into others of equal width, so that none is heavy
and none is wide; the rows of a bin count as rows at its mean. Each block sends the weight of every class in every bin,
and the sum of the feature there; these add up exactly, and the test is the exact one of the binned feature. A feature
of few distinct values is not changed at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._fit.distance_correlation import DistanceTest, independence_test
from .._utils.arrays import FloatArray
from .blocks import Blocks
from .row_block import Block

BINS = 2048  # of either kind


def independence_test_of_blocks(blocks: Blocks, table: FloatArray) -> DistanceTest:
    """Test every feature for independence of each output."""
    edges = [_edges(row) for row in table]
    sketches = blocks.total(_sketch, blocks.share(edges), blocks.n_classes, _added)
    tests = []
    for weights, sums in sketches:
        total = weights.sum(axis=0)
        full = total > 0
        x = np.tile(sums[full] / total[full], len(weights))
        code = np.repeat(np.arange(len(weights)), int(full.sum()))
        tests.append(independence_test(x[:, None], code, weights[:, full].ravel(), one_vs_rest=True))
    return DistanceTest(*(np.concatenate([getattr(test, name) for test in tests], axis=1) for name in NAMES))


NAMES = ("statistic", "pvalue", "correlation")


def _edges(row: FloatArray) -> FloatArray:
    """Upper ends of the bins but for the last; distinct values, where there are few, have a bin each."""
    values = np.unique(row)
    places = np.arange(1, BINS) / BINS
    if values.size > BINS:
        values = np.quantile(row, places)
    return np.union1d(values, places)  # a scaled feature lies in [0, 1]


def _sketch(block: Block, edges: Sequence[FloatArray], n_classes: int) -> list[tuple[FloatArray, FloatArray]]:
    """Per feature the weight of each class in each bin, and the weighted sum of the feature in each bin."""
    rows = block.open()
    found = []
    for own, row in zip(edges, rows.table, strict=True):
        n_bins = own.size + 1
        at = np.searchsorted(own, row)
        weights: FloatArray = np.bincount(
            rows.code * n_bins + at, weights=rows.weight, minlength=n_classes * n_bins
        ).astype(np.float64)
        sums: FloatArray = np.bincount(at, weights=rows.weight * row, minlength=n_bins).astype(np.float64)
        found.append((weights.reshape(n_classes, n_bins), sums))
    return found


def _added(found: Sequence[list[tuple[FloatArray, FloatArray]]]) -> list[tuple[FloatArray, FloatArray]]:
    return [
        (np.sum([weights for weights, _ in own], axis=0), np.sum([sums for _, sums in own], axis=0))
        for own in zip(*found, strict=True)
    ]
