"""Bumps around typical observations: exp(-g |x - c|^2) with centres c from k-means of the training rows.

A centre is the mean of a cluster, never a row, so that a saved model holds no patient: clusters of fewer than three
observations or three distinct rows are dropped, and so are those whose mean happens to fall onto a row.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import FloatArray, IntArray, distinct_rows
from .._utils.determinism import one_blas_thread
from .._utils.validation import check_count
from .expression import Divided, Exp, Expression, Number, Product, Scaled, Sum, minus
from .naming import rounded
from .scaling import Scaling
from .space import TermSpace, Training, checked_ids
from .term import Label, Mention, Term

MIN_CLUSTER_SIZE = 3  # observations, and distinct rows, behind a centre
DECIMALS = 6  # training ranges closer than this are the same value to the clustering
MAX_POINTS = 20_000  # distinct rows that are clustered; those of a longer table are drawn
MAX_SHOWN = 3  # features of a centre that its name mentions
WIDTH_NAMES = ("narrow", "medium", "wide")


def bump(features: Sequence[int], centre: Sequence[float], width: float) -> Expression:
    """exp(-sum_p ((x_p - centre_p) / width)^2); inverse squares of widths would overflow if a range is extreme."""
    distances = [Divided(minus(Scaled(p), at), width) for p, at in zip(features, centre, strict=True)]
    total = Sum(tuple(Product((distance, distance)) for distance in distances))
    return Exp(Product((Number(-1.0), total)))


def near(cluster: int, size: str, mentions: Sequence[Mention], is_more: bool) -> Label:
    """``near cluster 7, wide (age≈61, bmi≈31, …)``."""
    parts: list[str | Mention] = [f"near cluster {cluster}{size and ', '}{size} ("]
    for mention in mentions:
        parts += [mention, ", "]
    return (*parts, "…)") if is_more else (*parts[:-1], ")")


class RadialSpace(TermSpace):
    """Every centre with every width; id = centre * number of widths + width. `shown` is what the names mention."""

    def __init__(
        self,
        features: IntArray,
        centres: FloatArray,
        widths: Mapping[str, float],
        shown: Sequence[Sequence[Mention]],
    ) -> None:
        self._features = features.tolist()
        self._centres, self._widths, self._shown = centres, tuple(widths.items()), shown
        self.n_terms = len(centres) * len(widths)

    def term(self, j: int) -> Term:
        k, i = divmod(j, len(self._widths))
        size, width = self._widths[i]
        label = near(k + 1, size, self._shown[k], len(self._features) > len(self._shown[k]))
        return Term(bump(self._features, self._centres[k].tolist(), width), label)

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        out = np.empty((len(ids), table.shape[1]))
        with np.errstate(over="ignore"):  # infinitely far away is 0
            for row, j in zip(out, checked_ids(ids, self.n_terms).tolist(), strict=True):
                k, i = divmod(j, len(self._widths))
                row[:] = 0.0
                # in place, which takes half the time; the operations are those of `bump`
                for p, centre in zip(self._features, self._centres[k].tolist(), strict=True):
                    distance = table[p] - centre
                    distance /= self._widths[i][1]
                    distance *= distance
                    row += distance
                np.exp(-row, out=row)
        return out


@dataclass(frozen=True, slots=True)
class Radial:
    """Bumps exp(-|x - c|^2 / (2 (width s)^2)) of the scaled features around the centres of clusters.

    The centres come from k-means of the training rows and are means of at least three observations and three distinct
    rows; other clusters are dropped. A raw row as a centre would put one patient's data into every saved model. So
    there may be fewer centres than asked for, and none if fewer than three rows differ. s is the distance that half
    of the observations lie within of their nearest centre. Clusters are numbered from 1 by falling size.

    Parameters
    ----------
    n_centres : int, default=60
        Clusters to look for.
    widths : tuple of float, default=(0.5, 1.0, 2.0)
        Widths of the bumps in units of s; each centre has a bump of every width.
    """

    n_centres: int = 60
    widths: tuple[float, ...] = (0.5, 1.0, 2.0)

    def __post_init__(self) -> None:
        check_count("n_centres", self.n_centres)
        if not isinstance(self.widths, tuple | list) or not self.widths or len(set(self.widths)) < len(self.widths):
            msg = f"widths must be a tuple of one or more numbers, each different, got {self.widths!r}."
            raise ValueError(msg)
        if not all(0.0 < width < math.inf for width in self.widths):
            msg = f"widths must be positive and finite, got {self.widths!r}."
            raise ValueError(msg)

    def space(self, training: Training, rng: np.random.Generator) -> RadialSpace:
        """Find the clusters; the seed of k-means is drawn from `rng`."""
        seed = int(rng.integers(2**31))
        features = training.features[~training.scaling.constant[training.features]]
        if not features.size:
            return RadialSpace(features, np.empty((0, 0)), dict.fromkeys(self._sizes(), 1.0), [])
        # every row once: its copies weigh as much as a weight does, and the order of the rows cannot matter
        table = training.table
        distinct, which = distinct_rows((np.round(table[p], DECIMALS) for p in features), table.shape[1])
        weight = np.bincount(which, weights=training.weight).astype(np.float64)
        if distinct.size > MAX_POINTS:
            some = np.sort(rng.choice(distinct.size, MAX_POINTS, replace=False, shuffle=False))
            distinct, weight = distinct[some], weight[some]
        points = np.ascontiguousarray(np.round(table[np.ix_(features, distinct)], DECIMALS).T)
        centres = _cluster_means(points, weight, self.n_centres, seed)
        # a mean may be a row by chance
        centres = centres[np.array([not _is_a_row(centre, features, table) for centre in centres], dtype=np.bool_)]
        typical = _typical_distance(points, weight, centres)
        widths = {size: math.sqrt(2.0) * width * typical for size, width in self._sizes().items()}
        mean = np.average(points, axis=0, weights=weight)
        variance = np.average((points - mean) ** 2, axis=0, weights=weight)
        deviation = np.sqrt(np.where(variance > 0.0, variance, 1.0))
        shown = [_shown(training.scaling, features, centre, (centre - mean) / deviation) for centre in centres]
        return RadialSpace(features, centres, widths, shown)

    def _sizes(self) -> dict[str, float]:
        """Widths by the word for them."""
        if len(self.widths) == 1:
            return {"": self.widths[0]}
        if len(self.widths) == len(WIDTH_NAMES):
            return dict(zip(WIDTH_NAMES, sorted(self.widths), strict=True))
        return {f"width {width:.15g}": width for width in sorted(self.widths)}


def _cluster_means(points: FloatArray, weight: FloatArray, n_centres: int, seed: int) -> FloatArray:
    """Centres of clusters that are large enough, shape (n_kept, n_used), by falling weight."""
    from sklearn.cluster import KMeans  # slow to import, and few models need it
    from sklearn.exceptions import ConvergenceWarning

    n_clusters = min(n_centres, len(points) // MIN_CLUSTER_SIZE)
    if not n_clusters:
        return np.empty((0, points.shape[1]))
    model = KMeans(n_clusters, n_init=1, random_state=seed)
    with one_blas_thread(openmp=True), warnings.catch_warnings():  # sums must not depend on how many threads there are
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer clusters than asked for are expected here
        label = model.fit(points, sample_weight=weight).labels_
    found: list[tuple[float, FloatArray]] = []
    for k in range(n_clusters):
        inside = label == k
        size = float(weight[inside].sum())
        if np.count_nonzero(inside) >= MIN_CLUSTER_SIZE and size >= MIN_CLUSTER_SIZE:
            found.append((size, np.average(points[inside], axis=0, weights=weight[inside])))
    found.sort(key=lambda cluster: -cluster[0])
    return np.stack([centre for _, centre in found]) if found else np.empty((0, points.shape[1]))


def _is_a_row(centre: FloatArray, features: IntArray, table: FloatArray) -> bool:
    """Whether a centre shows a row of the table; looks at a feature only if all before it agree."""
    rows = np.arange(table.shape[1])
    for p, value in zip(features.tolist(), centre.tolist(), strict=True):
        rows = rows[np.abs(np.round(table[p, rows], DECIMALS) - value) <= 10.0**-DECIMALS]
    return rows.size > 0


def _typical_distance(points: FloatArray, weight: FloatArray, centres: FloatArray) -> float:
    """Weighted median of the distances to the nearest centre; never 0, because no centre is a row."""
    if not len(centres):
        return 1.0
    squares = np.full(len(points), np.inf)
    for centre in centres:
        np.minimum(squares, ((points - centre) ** 2).sum(axis=1), out=squares)
    order = np.argsort(squares, kind="stable")
    reached = np.cumsum(weight[order])
    return math.sqrt(squares[order[np.searchsorted(reached, reached[-1] / 2)]])


def _shown(scaling: Scaling, features: IntArray, centre: FloatArray, unusual: FloatArray) -> list[Mention]:
    """What distinguishes this centre from the average observation: the features in which it is least usual."""
    most = np.argsort(-np.abs(unusual), kind="stable")[:MAX_SHOWN].tolist()
    values = scaling.to_user(features[most], centre[most]).tolist()
    pairs = zip(features[most].tolist(), values, strict=True)
    return [Mention(p, rounded(value, float(scaling.half_span[p]) / 50)) for p, value in pairs]
