"""Bumps around typical observations: exp(-g |x - c|^2) with centres c from k-means of the training rows.

A centre is the mean of a cluster, never a row, so that a saved model holds no patient: clusters of fewer than three
observations or three distinct rows are dropped, and so are those whose mean happens to fall onto a row.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .._utils.blas import one_blas_thread
from .base import DamagedTermError, Term, Training, Unrelated, check_count, checked_ids, quoted
from .distinct import distinct_rows
from .expression import Divided, Exp, Expression, Number, Product, Scaled, Sum, minus
from .knots import rounded
from .scaling import Scaling

LEAST = 3  # observations, and distinct rows, behind a centre
DECIMALS = 6  # training ranges closer than this are the same value to the clustering
MOST_POINTS = 20_000  # distinct rows that are clustered; those of a longer table are drawn
MAX_SHOWN = 3  # features of a centre that its name tells
MARKS = "≈,"  # what a list of values is read by
WORDS = ("narrow", "medium", "wide")


@dataclass(frozen=True, slots=True)
class RadialTerm:
    """One bump: exp(-sum_p ((x_p - centre_p) / width_p)^2), in the units of the rows that it is evaluated on.

    Parameters
    ----------
    features : tuple of int
        Indices of the features that it reads, ascending.
    centre, width : tuple of float
        Where the bump stands and how far it reaches, one number for each feature. Widths and not their inverse squares,
        which overflow where the range of a feature is extreme.
    cluster : int
        Number of the cluster, for the name.
    size : str
        Word for the width, for the name; empty where there is only one.
    shown : tuple of (int, float)
        Features that the name tells, and the centre there in the user's own units.
    """

    features: tuple[int, ...]
    centre: tuple[float, ...]
    width: tuple[float, ...]
    cluster: int
    size: str
    shown: tuple[tuple[int, float], ...]

    def name(self, feature_names: Sequence[str]) -> str:
        """Where the bump stands, in the user's own units: ``near cluster 7, wide (age≈61, bmi≈31)``."""
        near = [f"{quoted(feature_names[p], MARKS)}≈{value:.15g}" for p, value in self.shown]
        near += ["…"] if len(self.features) > len(near) else []
        return f"near cluster {self.cluster}{self.size and ', '}{self.size} ({', '.join(near)})"

    def column(self, rows: Mapping[int, FloatArray], n_samples: int) -> FloatArray:
        """Values of the bump, 1 at its centre; feature by feature, so that no rounding depends on a BLAS library."""
        total = np.zeros(n_samples)
        with np.errstate(over="ignore"):  # infinitely far away is 0, as it should be
            for p, centre, width in zip(self.features, self.centre, self.width, strict=True):
                distance = rows[p] - centre
                distance /= width
                distance *= distance
                total += distance
        return np.asarray(np.exp(-total), dtype=np.float64)

    def expression(self) -> Expression:
        """The squared distances added, and the exponential of what they come to."""
        triples = zip(self.features, self.centre, self.width, strict=True)
        distances = [Divided(minus(Scaled(p), centre), width) for p, centre, width in triples]
        total = Sum(tuple(Product((distance, distance)) for distance in distances))
        return Exp(Product((Number(-1.0), total)))

    def unscaled(self, scaling: Scaling) -> dict[Term, float]:
        """The same bump over the features themselves: the centre moves, the widths become ranges."""
        centre, width = [], []
        for p, scaled_centre, scaled_width in zip(self.features, self.centre, self.width, strict=True):
            centre.append(_raw(scaling, p, scaled_centre))
            width.append(min(2.0 * float(scaling.half_span[p]) * scaled_width, sys.float_info.max))
        return {replace(self, centre=tuple(centre), width=tuple(width)): 1.0}

    def bound(self, ranges: Mapping[int, tuple[float, float]]) -> float:
        """Value at the point of the box that is nearest to the centre, a little more for rounding."""
        pairs = zip(self.features, self.centre, strict=True)
        nearest = {p: np.array([min(max(centre, ranges[p][0]), ranges[p][1])]) for p, centre in pairs}
        return min(1.0, float(self.column(nearest, 1)[0]) * (1.0 + 1e-9) + sys.float_info.min)

    def as_dict(self) -> dict[str, Any]:
        """All fields."""
        return {
            "kind": "radial",
            "features": list(self.features),
            "centre": list(self.centre),
            "width": list(self.width),
            "cluster": self.cluster,
            "size": self.size,
            "shown": [list(pair) for pair in self.shown],
        }

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> RadialTerm:
        """The term that `as_dict` has described."""
        if not len(d["features"]) == len(d["centre"]) == len(d["width"]) or not all(w > 0 for w in d["width"]):
            msg = "centre and width must hold one number for each feature, the widths positive"
            raise DamagedTermError(msg)
        return cls(
            features=tuple(int(p) for p in d["features"]),
            centre=tuple(float(value) for value in d["centre"]),
            width=tuple(float(value) for value in d["width"]),
            cluster=int(d["cluster"]),
            size=str(d["size"]),
            shown=tuple((int(p), float(value)) for p, value in d["shown"]),
        )


class RadialSpace(Unrelated):
    """Every centre with every width; id = centre * number of widths + width.

    Parameters
    ----------
    features : ndarray of shape (n_used,)
        Indices of the features that distances are measured in, ascending.
    centres : ndarray of shape (n_centres, n_used)
        The centres, scaled.
    widths : dict of str to float
        Width of the bumps, scaled, by the word for it.
    shown : list of tuple of (int, float)
        What the names tell of each centre.
    """

    def __init__(
        self,
        features: IntArray,
        centres: FloatArray,
        widths: Mapping[str, float],
        shown: Sequence[tuple[tuple[int, float], ...]],
    ) -> None:
        self._features = tuple(features.tolist())
        self._centres, self._widths, self._shown = centres, tuple(widths.items()), shown
        self.n_terms = len(centres) * len(widths)

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each."""
        out = np.empty((len(ids), table.shape[1]))
        rows = {p: table[p] for p in self._features}
        for row, term in zip(out, self.terms(ids), strict=True):
            row[:] = term.column(rows, row.size)
        return out

    def terms(self, ids: IntArray) -> tuple[RadialTerm, ...]:
        """The bumps behind `ids`."""
        ids = checked_ids(ids, self.n_terms)
        return tuple(self._term(j) for j in ids.tolist())

    def _term(self, j: int) -> RadialTerm:
        k, i = divmod(j, len(self._widths))
        size, width = self._widths[i]
        centre = tuple(self._centres[k].tolist())
        return RadialTerm(self._features, centre, (width,) * len(centre), k + 1, size, self._shown[k])


@dataclass(frozen=True, slots=True)
class Radial:
    """Bumps exp(-|x - c|^2 / (2 (width s)^2)) of the scaled features around the centres of clusters.

    The centres come from k-means of the training rows and are means of at least three observations and three distinct
    rows; other clusters are dropped. A raw row as a centre would put one patient's data into every saved model. So
    there may be fewer centres than asked for, and none where fewer than three rows differ. s is the distance that half
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
        if distinct.size > MOST_POINTS:
            some = np.sort(rng.choice(distinct.size, MOST_POINTS, replace=False, shuffle=False))
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
        if len(self.widths) == len(WORDS):
            return dict(zip(WORDS, sorted(self.widths), strict=True))
        return {f"width {width:.15g}": width for width in sorted(self.widths)}


def _cluster_means(points: FloatArray, weight: FloatArray, n_centres: int, seed: int) -> FloatArray:
    """Centres of clusters that are large enough, shape (n_kept, n_used), by falling weight."""
    from sklearn.cluster import KMeans  # slow to import, and few models need it
    from sklearn.exceptions import ConvergenceWarning

    n_clusters = min(n_centres, len(points) // LEAST)
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
        if np.count_nonzero(inside) >= LEAST and size >= LEAST:
            found.append((size, np.average(points[inside], axis=0, weights=weight[inside])))
    found.sort(key=lambda cluster: -cluster[0])
    return np.stack([centre for _, centre in found]) if found else np.empty((0, points.shape[1]))


def _is_a_row(centre: FloatArray, features: IntArray, table: FloatArray) -> bool:
    """Whether a centre shows a row of the table; looks at a feature only where all before it agree."""
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


def _shown(
    scaling: Scaling, features: IntArray, centre: FloatArray, unusual: FloatArray
) -> tuple[tuple[int, float], ...]:
    """What tells this centre from the average observation: the features in which it is least usual."""
    most = np.argsort(-np.abs(unusual), kind="stable")[:MAX_SHOWN].tolist()
    pairs = [(int(features[i]), float(centre[i])) for i in most]
    return tuple((p, rounded(_raw(scaling, p, value), float(scaling.half_span[p]) / 50)) for p, value in pairs)


def _raw(scaling: Scaling, p: int, value: float) -> float:
    """A scaled value of feature p in the user's own units; halves first, for the range itself may overflow."""
    return 2.0 * float(scaling.half_minimum[p] + scaling.half_span[p] * value)
