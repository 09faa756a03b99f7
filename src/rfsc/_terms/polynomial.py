"""The polynomial basis with its restrictions, and monomials of few features numbered without a table.

The shape of a monomial is its degree d and its number k of distinct features. Restricted monomials come in one block
for each shape: every choice of k features out of n, times every way to share out the degree among them (compositions
of d into k parts). A restriction is a set of shapes, so several of them together are the union of their sets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .base import TermSpace, Training, check_count, checked_ids
from .monomials import (
    MAX_IDS,
    Monomial,
    MonomialSpace,
    positions,
    quotients,
    rank_subset,
    read_factors,
    unrank_subsets,
)
from .screening import Part, centred, column_part, pair_part

LARGEST_DEGREE = 5


def check_degree(degree: int) -> None:
    """Refuse a degree beyond what terms are numbered for."""
    if degree > LARGEST_DEGREE:
        msg = f"degree must be at most {LARGEST_DEGREE}, got {degree}."
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Polynomial:
    """Monomials of the features, the constant included.

    Parameters
    ----------
    degree : int, default=2
        Largest total degree of a term, from 0 (the constant alone) to 5.
    interaction_only : bool, default=False
        Leave out powers: no feature twice in one term.
    max_features : int or None, default=None
        Most distinct features in one term; 1 leaves powers of single features.
    """

    degree: int = 2
    interaction_only: bool = False
    max_features: int | None = None

    def __post_init__(self) -> None:
        check_count("degree", self.degree, 0)
        check_degree(self.degree)
        if not isinstance(self.interaction_only, bool | np.bool_):
            msg = f"interaction_only must be True or False, got {self.interaction_only!r}."
            raise ValueError(msg)
        if self.max_features is not None:
            check_count("max_features", self.max_features)

    @property
    def shapes(self) -> frozenset[tuple[int, int]]:
        """(degree, number of distinct features) of the monomials, but for the constant."""
        most = self.degree if self.max_features is None else self.max_features
        every = ((d, k) for d in range(1, self.degree + 1) for k in range(1, min(d, most) + 1))
        return frozenset((d, k) for d, k in every if d == k or not self.interaction_only)

    def space(self, training: Training, rng: np.random.Generator) -> TermSpace:  # noqa: ARG002  no randomness needed
        """The monomials of the allowed features."""
        return monomials_of([self], training.features)


def monomials_of(families: Sequence[Polynomial], features: IntArray) -> TermSpace:
    """The monomials that belong to any of the families, each once, and the constant."""
    shapes = frozenset().union(*(family.shapes for family in families))
    degree = max((d for d, _ in shapes), default=0)
    if shapes == Polynomial(degree=degree).shapes:
        return MonomialSpace(features, degree)  # the order that the world knows, and faster
    return RestrictedMonomialSpace(features, shapes)


class RestrictedMonomialSpace:
    """The constant and all monomials of certain shapes, by degree, then by number of distinct features.

    Parameters
    ----------
    features : array of int
        Indices of the features to combine, ascending.
    shapes : iterable of (int, int)
        Degree and number of distinct features, both at least 1.
    """

    def __init__(self, features: IntArray, shapes: Iterable[tuple[int, int]]) -> None:
        self.features = np.asarray(features, dtype=np.int64)
        self._blocks: list[tuple[int, list[tuple[int, ...]]]] = [(0, [()])]  # the constant
        self._blocks += [(k, _compositions(d, k)) for d, k in sorted(set(shapes))]
        n = self.features.size
        sizes = [math.comb(n, k) * len(shares) for k, shares in self._blocks]
        if sum(sizes) > MAX_IDS:
            msg = (
                f"{n:,} features give {sum(sizes):.1e} terms, more than the {MAX_IDS:.1e} that can be numbered. Lower "
                "degree or max_features, or keep fewer features with filter_significance."
            )
            raise ValueError(msg)
        self.n_terms = sum(sizes)
        self._first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each."""
        out = np.ones((len(ids), table.shape[1]))
        for row, term in zip(out, self.terms(ids), strict=True):
            for p in term.factors:
                row *= table[p]
        return out

    def terms(self, ids: IntArray) -> tuple[Monomial, ...]:
        """The monomials behind `ids`."""
        ids = checked_ids(ids, self.n_terms)
        block = np.searchsorted(self._first, ids, side="right") - 1
        return tuple(self._term(int(b), int(j - self._first[b])) for b, j in zip(block, ids, strict=True))

    def rank(self, factors: Sequence[int]) -> int | None:
        """Id of the product of the given feature indices, None where its shape is left out."""
        powers = sorted(Counter(factors).items())
        shape = tuple(times for _, times in powers)
        for first, (k, shares) in zip(self._first.tolist(), self._blocks, strict=False):
            if k == len(powers) and shape in shares:
                chosen = positions(self.features, [p for p, _ in powers])
                return int(first + rank_subset(chosen, self.features.size) * len(shares) + shares.index(shape))
        return None

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the product that is written so, its factors in any order; None where there is none."""
        factors = read_factors(name, self.features, feature_names)
        return None if factors is None else self.rank(factors)

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        """For every id the monomials of one degree less that divide it; all of them where families give the shapes."""
        ranks = ([self.rank(shorter) for shorter in quotients(term.factors)] for term in self.terms(ids))
        return [tuple(j for j in row if j is not None) for row in ranks]

    def parts(self, table: FloatArray, weight: FloatArray) -> list[Part]:
        """The monomials but for the constant, shape by shape, tested as those of `MonomialSpace`."""
        deviations = centred(table, weight)
        parts = []
        for (k, shares), (first, last) in zip(self._blocks, pairwise(self._first.tolist()), strict=True):
            if shares == [(1,)]:
                parts.append(column_part(self, table, first, last))
            elif shares == [(1, 1)]:
                pairs = pair_part(table, self.features, self._pair_rank, squares=False, leans=True)
                parts.append(pairs.shifted(first))
            elif k:
                parts.append(column_part(self, deviations, first, last, leans=True))
        return parts

    def _pair_rank(self, i: IntArray, j: IntArray) -> IntArray:
        """Lexicographic rank of the pairs i < j."""
        return np.asarray(i * (self.features.size - 1) - i * (i + 1) // 2 + j - 1)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """None: every monomial may come in alone."""
        return ()

    def _term(self, block: int, rank: int) -> Monomial:
        k, shares = self._blocks[block]
        which, powers = divmod(rank, len(shares))
        chosen = self.features[unrank_subsets(np.array([which]), self.features.size, k)[0]]
        return Monomial(tuple(int(p) for p, times in zip(chosen, shares[powers], strict=True) for _ in range(times)))


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """Ways to write a total as a sum of so many positive numbers, in order."""
    cuts = [(0, *cut, total) for cut in combinations(range(1, total), parts - 1)]
    return [tuple(b - a for a, b in pairwise(cut)) for cut in cuts]
