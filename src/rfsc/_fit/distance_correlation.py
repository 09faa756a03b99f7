"""Distance covariance of each feature with a class label, exactly, after one sort per feature.

The label enters through the 0/1 distance between classes, b_rs = 1 if the classes of r and s differ. With two
classes that is the paper's |y_r - y_s| up to a factor that cancels in the test; with more it is half the sum of the
one-vs-rest distances, so the same pass serves every output and the whole label.

For x sorted, gaps d_k = x_(k+1) - x_(k), shares w of the rows, W_k the share up to k and C_ck that of class c less
its expectation p_c W_k:

    cov2_c = 4 sum_k d_k C_ck^2          (one class against the rest, b = 0/1)
    abar   = 2 sum_k d_k W_k (1 - W_k)   (mean distance of the feature)

Ties have gap zero, a constant feature has statistic zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from .._utils.arrays import FloatArray, IntArray

CHUNK_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class DistanceTest:
    """Result of the independence test, one entry per feature (and per output if there are several)."""

    statistic: FloatArray  # n nu^2 / (abar bbar), to be compared with norm.ppf(1 - significance / 2)**2
    pvalue: FloatArray  # largest level at which independence would not be rejected
    correlation: FloatArray  # distance correlation, in [0, 1]


def threshold(significance: float) -> float:
    """Value that the statistic must exceed for independence to be rejected."""
    return float(stats.norm.isf(significance / 2.0) ** 2)


def independence_test(X: FloatArray, code: IntArray, weight: FloatArray, *, one_vs_rest: bool = False) -> DistanceTest:
    """Test every feature for independence of the class."""
    n = float(weight.sum())
    share = weight / n
    p: FloatArray = np.bincount(code, weights=share).astype(np.float64)
    member = np.zeros((p.size, code.size))
    member[code, np.arange(code.size)] = share
    if p.size == 2:
        member = member[:1]  # the second class says the same
    width = max(1, CHUNK_BYTES // (8 * code.size * (member.shape[0] + 4)))
    parts = [_moments(X[:, a : a + width], member, p[: len(member)], share) for a in range(0, X.shape[1], width)]
    cov2, abar, var2 = (np.concatenate(m, axis=-1) for m in zip(*parts, strict=True))
    if one_vs_rest:
        bbar, bvar2 = _label_moments(np.stack([p, 1.0 - p]))
        bbar, bvar2 = bbar[: len(cov2), None], bvar2[: len(cov2), None]
    else:
        cov2 = cov2.sum(axis=0) / (1 if p.size == 2 else 2)
        bbar, bvar2 = _label_moments(p[:, None])
    statistic = _ratio(n * cov2, abar * bbar)
    correlation = np.sqrt(np.clip(_ratio(cov2, np.sqrt(var2 * bvar2)), 0.0, 1.0))
    return DistanceTest(statistic, stats.chi2.sf(statistic, 1), correlation)


def _moments(
    X: FloatArray, member: FloatArray, p: FloatArray, share: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(distance covariance per class, mean distance, squared distance variance) of each feature of a chunk."""
    x = np.ascontiguousarray(X.T)
    order = np.argsort(x, axis=1)
    x = np.take_along_axis(x, order, axis=1)
    centre = x[:, :1] / 2 + x[:, -1:] / 2  # distances do not care, rounding does
    reach = np.maximum(x[:, -1:] - centre, centre - x[:, :1])
    x = (x - centre) / np.where(reach > 0, reach, 1.0)  # nor do ratios care about the unit
    w = share[order]
    W = np.cumsum(w, axis=1)
    gap = np.diff(x, axis=1)
    cov2 = np.stack(
        [
            4.0 * np.einsum("fk,fk->f", gap, np.square(np.cumsum(m[order], axis=1) - q * W)[:, :-1])
            for m, q in zip(member, p, strict=True)
        ]
    )
    abar = 2.0 * np.einsum("fk,fk->f", gap, (W * (1.0 - W))[:, :-1])
    # mean distance of each row from all: prefix sums of w x on either side
    S = np.cumsum(w * x, axis=1)
    row = x * (2.0 * W - 1.0) - 2.0 * S + S[:, -1:]
    mean2 = 2.0 * (np.einsum("fk,fk->f", w, np.square(x)) - np.square(S[:, -1]))
    var2 = mean2 - 2.0 * np.einsum("fk,fk->f", w, np.square(row)) + np.square(abar)
    return cov2, abar, np.maximum(var2, 0.0)


def _label_moments(p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean distance and squared distance variance of labels with class shares p (classes along axis 0)."""
    bbar = 1.0 - np.square(p).sum(axis=0)
    return bbar, bbar - 2.0 * (p * np.square(1.0 - p)).sum(axis=0) + np.square(bbar)


def _ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b > 0)
