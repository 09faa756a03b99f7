"""Polynomials: monomials of the features, numbered without a table.

`MonomialSpace` holds all monomials up to a degree, in the order of scikit-learn's PolynomialFeatures: an id is the rank
of a monomial, first by degree, then by its factors in lexicographic order. A monomial of degree d in n features is a
multiset p_1 <= ... <= p_d; adding 0, 1, ..., d - 1 makes it a combination c_1 < ... < c_d out of m = n + d - 1 numbers,
whose lexicographic rank is C(m, d) - 1 - sum_i C(m - 1 - c_i, d - i + 1). All of it is exact integer arithmetic, so
20,000 features at degree 2 (200 million terms) cost nothing until a column is asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .._utils.validation import check_count
from .expression import Scaled, product
from .naming import quoted
from .score_tests import Part, centred, column_part, pair_part
from .space import TermSpace, Training, checked_ids, checked_size, mentioned
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
    """

    degree: int = 2

    def __post_init__(self) -> None:
        check_degree(self.degree, 0)

    def space(self, training: Training, rng: np.random.Generator) -> MonomialSpace:  # noqa: ARG002  nothing is random
        """The monomials of the allowed features."""
        return MonomialSpace(training.features, self.degree, training.binary)


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
        powers = [(self.rank([p] * d), p) for d in range(1, self.degree + 1) for p in self.features.tolist()]
        ids, features = np.array(powers, dtype=np.int64).reshape(-1, 2).T
        return ids, features

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
            parts[1] = pair_part(table, self.features, self.pair_ids, leans=True)
        return parts

    @property
    def by_degree(self) -> list[tuple[int, int]]:
        """Range of the ids of every degree from 1 on."""
        return list(pairwise([*self._first[1:].tolist(), self.n_terms]))

    def pair_ids(self, i: IntArray, j: IntArray) -> IntArray:
        """Ids of the products of the features at positions i <= j within `features`."""
        return np.asarray(self._first[2] + i * self.features.size - i * (i + 1) // 2 + j)


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
