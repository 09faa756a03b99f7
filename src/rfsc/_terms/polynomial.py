"""Polynomials: monomials of the features, numbered without a table.

`MonomialSpace` holds all monomials up to a degree, in the order of scikit-learn's PolynomialFeatures: an id is the rank
of a monomial, first by degree, then by its factors in lexicographic order. A monomial of degree d in n features is a
multiset p_1 <= ... <= p_d; adding 0, 1, ..., d - 1 makes it a combination c_1 < ... < c_d out of m = n + d - 1 numbers,
whose lexicographic rank is C(m, d) - 1 - sum_i C(m - 1 - c_i, d - i + 1). All of it is exact integer arithmetic, so
20,000 features at degree 2 (200 million terms) cost nothing until a column is asked for.

The shape of a monomial is its degree d and its number k of distinct features. Restricted monomials come in one block
for each shape: every choice of k features out of n, times every way to share out the degree among them (compositions
of d into k parts). A restriction is a set of shapes, so several of them together are the union of their sets.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .expression import Scaled, product
from .naming import quoted
from .score_tests import Part, centred, column_part, pair_part
from .space import TermSpace, Training, check_count, checked_ids, checked_size, mentioned
from .term import Term

AFTER_A_FACTOR = re.compile(r"(?:\^([1-9]))?(?:\*(?=.)|\Z)", re.DOTALL)
LONG = 1024  # rows, from which products are quicker one by one than all together
LARGEST_DEGREE = 5


def monomial(factors: Iterable[int]) -> Term:
    """The product of features, repeated for powers; of none, the constant 1."""
    return Term(product(*map(Scaled, factors)))


def check_degree(degree: int, least: int) -> None:
    """Refuse a degree that is not an integer, or beyond what terms are numbered for."""
    check_count("degree", degree, least)
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
        check_degree(self.degree, 0)
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
        return monomials_of([self], training.features, training.binary)


def monomials_of(families: Sequence[Polynomial], features: IntArray, binary: IntArray | None = None) -> TermSpace:
    """The monomials that belong to any of the families, each once, and the constant."""
    shapes = frozenset().union(*(family.shapes for family in families))
    degree = max((d for d, _ in shapes), default=0)
    if shapes == Polynomial(degree=degree).shapes:
        return MonomialSpace(features, degree, binary)  # the order that the world knows, and faster
    return RestrictedMonomialSpace(features, shapes)


class MonomialSpace(TermSpace):
    """All monomials of some features up to a degree, in the order of the features; the constant is the first."""

    def __init__(self, features: IntArray, degree: int, binary: IntArray | None = None) -> None:
        self.features = np.asarray(features, dtype=np.int64)
        self.degree = degree
        self._binary = np.empty(0, np.int64) if binary is None else binary  # features whose powers are themselves
        self._place = {p: i for i, p in enumerate(self.features.tolist())}
        n = self.features.size
        self.n_terms = checked_size(math.comb(n + degree, degree))
        self._last = (np.empty(0, np.int64), np.empty((0, degree), np.int64))
        self._first = np.array([math.comb(n + d - 1, d - 1) if d else 0 for d in range(degree + 1)], dtype=np.int64)

    def factors(self, ids: IntArray) -> IntArray:
        """Feature indices of every id, shape (n_ids, degree), ascending; -1 fills up lower degrees in front."""
        ids = checked_ids(ids, self.n_terms)
        last = self._last
        if np.array_equal(ids, last[0]):  # a table is gone through chunk by chunk, with the same terms each time
            return last[1]
        out = np.full((ids.size, self.degree), -1, dtype=np.int64)
        degree_of = np.searchsorted(self._first, ids, side="right") - 1
        for d in range(1, self.degree + 1):
            rows = np.flatnonzero(degree_of == d)
            if rows.size:
                # multisets of size d out of n are subsets of n + d - 1, see above
                local = unrank_subsets(ids[rows] - self._first[d], self.features.size + d - 1, d) - np.arange(d)
                out[rows, self.degree - d :] = np.sort(self.features[local], axis=1)
        out.flags.writeable = False
        self._last = ids.copy(), out
        return out

    def term(self, j: int) -> Term:
        return self.terms(np.array([j]))[0]

    def terms(self, ids: IntArray) -> tuple[Term, ...]:
        return tuple(monomial(p for p in row if p >= 0) for row in self.factors(ids).tolist())

    def rank(self, factors: Sequence[int]) -> int:
        """Id of the product of the given features, all of them among those of the space."""
        if not factors:
            return 0
        d, local = len(factors), sorted(self._place[p] for p in factors)
        return int(self._first[d]) + rank_subset([p + i for i, p in enumerate(local)], self.features.size + d - 1)

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the product with this name, its factors in any order; None if there is none."""
        factors = read_factors(name, self.features, feature_names)
        return None if factors is None or len(factors) > self.degree else self.rank(factors)

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        products = ([p for p in row if p >= 0] for row in self.factors(ids).tolist())
        return [tuple(self.rank(shorter) for shorter in quotients(factors)) for factors in products]

    @property
    def lines(self) -> Mapping[int, int]:
        return {p: self.rank([p]) for p in self.features.tolist()} if self.degree else {}

    @property
    def singles(self) -> tuple[IntArray, IntArray]:
        return _powers(self.features, lambda power: self.rank(power) if len(power) <= self.degree else None)

    def simplest(self, ids: IntArray) -> IntArray:
        if self.degree < 2 or not self._binary.size:
            return ids
        factors = self.factors(ids)
        repeats = np.isin(factors[:, 1:], self._binary) & (factors[:, 1:] == factors[:, :-1])
        out = ids.copy()
        for k in np.flatnonzero(repeats.any(axis=1)).tolist():
            out[k] = self.rank(factors[k, np.append(True, ~repeats[k]) & (factors[k] >= 0)].tolist())
        return out

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        factors = self.factors(ids)
        if table.shape[1] >= LONG:
            return _products(table, factors)
        out = np.ones((len(ids), table.shape[1]))
        for p in factors.T:
            present = np.flatnonzero(p >= 0)
            out[present] *= table[p[present]]
        return out

    def parts(self, table: FloatArray, weight: FloatArray) -> list[Part]:
        # of degree three and more as products of deviations: on [0, 1] they would mostly show what their factors do
        deviations = centred(table, weight) if self.degree > 2 else table
        parts = [column_part(self.columns, deviations, a, b, leans=True) for a, b in self.by_degree]
        if self.degree > 0:
            parts[0] = column_part(self.columns, table, *self.by_degree[0])
        if self.degree > 1:
            parts[1] = pair_part(table, self.features, self.pair_ids, squares=True, leans=True)
        return parts

    @property
    def by_degree(self) -> list[tuple[int, int]]:
        """Range of the ids of every degree from 1 on."""
        return list(pairwise([*self._first[1:].tolist(), self.n_terms]))

    def pair_ids(self, i: IntArray, j: IntArray) -> IntArray:
        """Ids of the products of the features at positions i <= j within `features`."""
        return np.asarray(self._first[2] + i * self.features.size - i * (i + 1) // 2 + j)


class RestrictedMonomialSpace(TermSpace):
    """The constant and all monomials of certain shapes, by degree, then by number of distinct features."""

    def __init__(self, features: IntArray, shapes: Iterable[tuple[int, int]]) -> None:
        self.features = np.asarray(features, dtype=np.int64)
        self._place = {p: i for i, p in enumerate(self.features.tolist())}
        self._blocks: list[tuple[int, list[tuple[int, ...]]]] = [(0, [()])]  # the constant
        self._blocks += [(k, _compositions(d, k)) for d, k in sorted(set(shapes))]
        n = self.features.size
        sizes = [math.comb(n, k) * len(shares) for k, shares in self._blocks]
        self.n_terms = checked_size(sum(sizes))
        self._first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)

    def term(self, j: int) -> Term:
        return monomial(self._factors(j))

    def _factors(self, j: int) -> list[int]:
        block = int(np.searchsorted(self._first, j, side="right")) - 1
        k, shares = self._blocks[block]
        which, powers = divmod(j - int(self._first[block]), len(shares))
        chosen = self.features[unrank_subsets(np.array([which]), self.features.size, k)[0]].tolist()
        return sorted(p for p, times in zip(chosen, shares[powers], strict=True) for _ in range(times))

    def rank(self, factors: Sequence[int]) -> int | None:
        """Id of the product of the given feature indices, None if its shape is left out."""
        powers = sorted((self._place[p], times) for p, times in Counter(factors).items())
        shape = tuple(times for _, times in powers)
        for first, (k, shares) in zip(self._first.tolist(), self._blocks, strict=False):
            if k == len(powers) and shape in shares:
                chosen = [place for place, _ in powers]
                return int(first + rank_subset(chosen, self.features.size) * len(shares) + shares.index(shape))
        return None

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the product with this name, its factors in any order; None if there is none."""
        factors = read_factors(name, self.features, feature_names)
        return None if factors is None else self.rank(factors)

    @property
    def lines(self) -> Mapping[int, int]:
        return {p: j for p in self.features.tolist() if (j := self.rank([p])) is not None}

    @property
    def singles(self) -> tuple[IntArray, IntArray]:
        return _powers(self.features, self.rank)

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        ranks = ([self.rank(shorter) for shorter in quotients(self._factors(j))] for j in ids.tolist())
        return [tuple(j for j in row if j is not None) for row in ranks]

    def parts(self, table: FloatArray, weight: FloatArray) -> list[Part]:
        deviations = centred(table, weight)
        parts = []
        for (k, shares), (first, last) in zip(self._blocks, pairwise(self._first.tolist()), strict=True):
            if shares == [(1,)]:
                parts.append(column_part(self.columns, table, first, last))
            elif shares == [(1, 1)]:
                pairs = pair_part(table, self.features, self._pair_rank, squares=False, leans=True)
                parts.append(pairs.shifted(first))
            elif k:
                parts.append(column_part(self.columns, deviations, first, last, leans=True))
        return parts

    def _pair_rank(self, i: IntArray, j: IntArray) -> IntArray:
        """Lexicographic rank of the pairs i < j."""
        return np.asarray(i * (self.features.size - 1) - i * (i + 1) // 2 + j - 1)


def _powers(features: IntArray, rank: Callable[[list[int]], int | None]) -> tuple[IntArray, IntArray]:
    """Ids of the powers of single features that a space holds, by degree, and the features."""
    powers = [(rank([p] * d), p) for d in range(1, LARGEST_DEGREE + 1) for p in features.tolist()]
    held = np.array([(j, p) for j, p in powers if j is not None], dtype=np.int64).reshape(-1, 2)
    return held[:, 0], held[:, 1]


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """Ways to write a total as a sum of so many positive numbers, in order."""
    cuts = [(0, *cut, total) for cut in combinations(range(1, total), parts - 1)]
    return [tuple(b - a for a, b in pairwise(cut)) for cut in cuts]


def quotients(factors: Sequence[int]) -> list[tuple[int, ...]]:
    """A product with each of its distinct factors taken out once; nothing for a single feature."""
    if len(factors) < 2:
        return []
    places = [i for i, p in enumerate(factors) if p not in factors[:i]]
    return [(*factors[:i], *factors[i + 1 :]) for i in places]


def read_factors(name: str, features: IntArray, feature_names: Sequence[str]) -> tuple[int, ...] | None:
    """Feature indices of the product with this name, in the order written; None if it is none."""
    if name == "1":
        return ()
    return read_product(name, {quoted(feature_names[p]): p for p in mentioned(name, features, feature_names).tolist()})


def read_product(text: str, labels: Mapping[str, int]) -> tuple[int, ...] | None:
    """The factors of a text, each written as one of the labels; every label is tried, since some may begin alike."""
    for label, p in labels.items():
        follows = AFTER_A_FACTOR.match(text, len(label)) if text.startswith(label) else None
        if follows is None:
            continue
        rest = text[follows.end() :]
        others = read_product(rest, labels) if rest else ()
        if others is not None:
            return (p,) * int(follows[1] or 1) + others
    return None


def rank_subset(chosen: Sequence[int], n: int) -> int:
    """Lexicographic rank of an ascending subset of range(n) among those of its size."""
    k = len(chosen)
    return math.comb(n, k) - 1 - sum(math.comb(n - 1 - c, k - i) for i, c in enumerate(chosen))


def _products(table: FloatArray, factors: IntArray) -> FloatArray:
    """Products of rows of the table, one by one: no copies of the factors are made."""
    out = np.empty((len(factors), table.shape[1]))
    for row, padded in zip(out, factors.tolist(), strict=True):
        own = [p for p in padded if p >= 0]
        if len(own) < 2:
            row[:] = table[own[0]] if own else 1.0
            continue
        np.multiply(table[own[0]], table[own[1]], out=row)
        for p in own[2:]:
            row *= table[p]
    return out


def unrank_subsets(rank: IntArray, n: int, k: int) -> IntArray:
    """Subsets of k numbers out of range(n) with the given lexicographic ranks, shape (n_ranks, k), ascending."""
    rest = math.comb(n, k) - 1 - rank  # what the sum of binomials must come to
    out = np.empty((rank.size, k), dtype=np.int64)
    for i in range(k):
        binomials = _binomials(n, k - i)
        top = np.searchsorted(binomials, rest, side="right") - 1
        rest = rest - binomials[top]
        out[:, i] = n - 1 - top
    return out


@lru_cache(maxsize=16)
def _binomials(n: int, k: int) -> IntArray:
    """C(0, k), ..., C(n - 1, k), exact while they fit in int64: every partial product is itself a binomial."""
    numbers = np.arange(n)
    out = np.ones_like(numbers)
    for i in range(k):
        out = out * np.maximum(numbers - i, 0) // (i + 1)
    return out
