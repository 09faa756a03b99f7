"""Hinges max(0, x - k) and max(0, k - x) at quantile knots, and products of two of them, as in MARS.

A feature with knots k_0 < ... < k_m has the term x itself, then max(0, x - k_1), ..., max(0, x - k_m), then
max(0, k_1 - x), ..., max(0, k_m - x): k_0 lies at or just below the smallest training value, where a hinge is a
straight line, and stands in products as x - k_0. Single terms come first, feature by feature. Then come pairs of hinges
of two features: by the first hinge, then by the second, which belongs to a later feature. Only the knots are stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .._utils.validation import check_count
from .expression import Expression, Positive, Scaled, Sum, falling, minus, product
from .naming import name_of
from .scaling import Scaling
from .space import TermSpace, Training, checked_ids, mentioned
from .steps import quantile_positions, readable, sorted_blocks
from .term import Term


def hinge(feature: int, sign: int, knot: float, shown: float) -> Expression:
    """max(0, x - knot) for sign 1, max(0, knot - x) for sign -1; `shown` is the knot in the user's units."""
    return Positive((minus if sign > 0 else falling)(Scaled(feature), knot, shown))


class HingeSpace(TermSpace):
    """All features and hinges at given knots and, if asked for, all products of two of them of different features.

    `n_knots` says how many knots each feature has, the first of which stands for the feature itself. `knots` and
    `shown` are the knots, feature by feature and ascending, in scaled and in the user's own units.
    """

    def __init__(
        self, features: IntArray, n_knots: IntArray, knots: FloatArray, shown: FloatArray, *, products: bool = False
    ) -> None:
        self.features, self.n_knots, self.knots, self.shown = features, n_knots, knots, shown
        n_hinges = 2 * n_knots - 1
        self._first_knot = np.cumsum(n_knots) - n_knots
        self._is_line = np.isin(np.arange(knots.size), self._first_knot)
        self._end = np.cumsum(n_hinges)
        self._first = self._end - n_hinges
        self.n_singles = int(n_hinges.sum())
        self._partners = self.n_singles - self._end  # hinges of later features
        n_pairs = n_hinges * self._partners
        self._first_pair = self.n_singles + np.cumsum(n_pairs) - n_pairs
        self.n_terms = self.n_singles + (int(n_pairs.sum()) if products else 0)

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        out = np.ones((len(ids), table.shape[1]))
        for hinges in self._hinges(ids).T:
            present = np.flatnonzero(hinges >= 0)
            feature, sign, at = self._parts(hinges[present])
            bent = sign[:, None] * table[feature] - sign[:, None] * self.knots[at][:, None]
            bends = ~self._is_line[at]
            bent[bends] = np.maximum(bent[bends], 0.0)
            alone = ~bends & (ids[present] < self.n_singles)
            bent[alone] = table[feature[alone]]
            out[present] *= bent
        return out

    def term(self, j: int) -> Term:
        hinges = self._hinges(np.array([j]))[0]
        parts = zip(*(part.tolist() for part in self._parts(hinges[hinges >= 0])), strict=True)
        factors = [self._factor(*part) for part in sorted(parts)]
        match factors:
            case [Sum((Scaled() as line, *_))]:
                return Term(line)
        return Term(product(*factors))

    @property
    def lines(self) -> Mapping[int, int]:
        return dict(zip(self.features.tolist(), self._first.tolist(), strict=True))

    @property
    def singles(self) -> tuple[IntArray, IntArray]:
        return np.arange(self.n_singles), np.repeat(self.features, self._end - self._first)

    def _factor(self, feature: int, sign: int, at: int) -> Expression:
        knot, shown = float(self.knots[at]), float(self.shown[at])
        return minus(Scaled(feature), knot, shown) if self._is_line[at] else hinge(feature, sign, knot, shown)

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the hinge or product with this name, its hinges in any order; None if there is none."""
        group = np.flatnonzero(np.isin(self.features, mentioned(name, self.features, feature_names)))
        ids = np.concatenate([np.empty(0, np.int64), *(np.arange(self._first[g], self._end[g]) for g in group)])
        terms = zip(ids.tolist(), self.terms(ids), strict=True)
        single = {term.name(feature_names): j for j, term in terms}
        if name in single or self.n_terms == self.n_singles:
            return single.get(name)
        parts = zip(*(part.tolist() for part in self._parts(ids)), strict=True)
        factor = {name_of(self._factor(*part), feature_names): j for part, j in zip(parts, ids.tolist(), strict=True)}
        cuts = [i for i, mark in enumerate(name) if mark == "*"]  # one of them stands between the two factors
        pairs = [(factor[name[:i]], factor[name[i + 1 :]]) for i in cuts if {name[:i], name[i + 1 :]} <= factor.keys()]
        return next((j for j in (self._pair(*sorted(pair)) for pair in pairs) if j is not None), None)

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        return [(a, b) if b >= 0 else () for a, b in self._hinges(ids).tolist()]

    def _pair(self, first: int, second: int) -> int | None:
        """Id of the product of two hinges, given in the order of their ids; None for two of one feature."""
        group = int(np.searchsorted(self._end, first, side="right"))
        if second < self._end[group]:
            return None
        row = (first - self._first[group]) * self._partners[group]
        return int(self._first_pair[group] + row + second - self._end[group])

    def _hinges(self, ids: IntArray) -> IntArray:
        """Ids of the one or two hinges of every term, shape (n_ids, 2); -1 stands for no second one."""
        ids = checked_ids(ids, self.n_terms)
        out = np.stack([ids, np.full_like(ids, -1)], axis=1)
        pairs = np.flatnonzero(ids >= self.n_singles)
        group = np.searchsorted(self._first_pair, ids[pairs], side="right") - 1
        first, second = np.divmod(ids[pairs] - self._first_pair[group], self._partners[group])
        out[pairs, 0] = self._first[group] + first
        out[pairs, 1] = self._end[group] + second
        return out

    def _parts(self, hinges: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Feature and sign of each single hinge, and where its knot is stored."""
        group = np.searchsorted(self._end, hinges, side="right")
        local, n_knots = hinges - self._first[group], self.n_knots[group]
        falls = local >= n_knots
        at = self._first_knot[group] + np.where(falls, local - n_knots + 1, local)
        return self.features[group], np.where(falls, -1, 1), at


@dataclass(frozen=True, slots=True)
class Hinge:
    """Hinges at weighted quantiles of the training rows.

    Parameters
    ----------
    n_knots : int, default=8
        Quantiles at which a feature may bend; fewer if several of them coincide.
    products : bool, default=False
        Whether products of two hinges of different features are candidates too.
    """

    n_knots: int = 8
    products: bool = False

    def __post_init__(self) -> None:
        check_count("n_knots", self.n_knots)
        if not isinstance(self.products, bool | np.bool_):
            msg = f"products must be True or False, got {self.products!r}."
            raise ValueError(msg)

    def space(self, training: Training, rng: np.random.Generator) -> HingeSpace:  # noqa: ARG002  no randomness needed
        """Place the knots."""
        parts = [
            _place(block, values, quantile_positions(cumulative, int(self.n_knots)), training.scaling)
            for block, values, cumulative in sorted_blocks(training)
        ]
        features, n_knots, knots, shown = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return HingeSpace(features, n_knots, knots, shown, products=bool(self.products))


def _place(
    features: IntArray, values: FloatArray, positions: IntArray, scaling: Scaling
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Features, their numbers of knots, and the knots in scaled and in the user's own units."""
    edges = np.concatenate([values[:, :1], np.take_along_axis(values, positions, axis=1), values[:, -1:]], axis=1)
    raw = scaling.to_user(features[:, None], edges)
    # strictly inside the range, since a knot on its edge repeats the straight line or gives a constant
    keep = (edges > edges[:, :1]) & (edges < edges[:, -1:]) & (raw < raw[:, -1:])
    keep[:, 1:] &= (edges[:, 1:] > edges[:, :-1]) & (raw[:, 1:] > raw[:, :-1])
    keep[:, 0] = keep[:, -1] = True
    group, which = np.nonzero(keep)
    at = raw[keep]
    gap = np.append(at[1:] / 10 - at[:-1] / 10, 0.0)  # divided first: a range may overflow
    lowest, highest = which == 0, which == edges.shape[1] - 1
    reach = np.where(lowest, gap, np.minimum(gap, np.roll(gap, 1)))
    inner, base = np.flatnonzero(~lowest & ~highest), np.flatnonzero(lowest)
    shown = at.copy()
    shown[inner] = readable(at[inner], at[inner] - reach[inner], at[inner] + reach[inner])
    shown[base] = readable(at[base], at[base] - reach[base], at[base])
    knots = scaling.to_scaled(features[group], shown)
    use = ~highest & (lowest | ((knots > edges[group, 0]) & (knots < edges[group, -1])))
    return features, np.bincount(group[use], minlength=features.size), knots[use], shown[use]
