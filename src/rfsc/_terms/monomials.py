"""Monomials of the features up to a degree, numbered as scikit-learn's PolynomialFeatures orders its columns.

An id is the rank of a monomial: first by degree, then by its factors in lexicographic order. A monomial of degree d
in n features is a multiset p_1 <= ... <= p_d; adding 0, 1, ..., d - 1 makes it a combination c_1 < ... < c_d out of
m = n + d - 1 numbers, whose lexicographic rank is C(m, d) - 1 - sum_i C(m - 1 - c_i, d - i + 1). All of it is exact
integer arithmetic, so 20,000 features at degree 2 (200 million terms) cost nothing until a column is asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .base import DamagedTermError, Term, checked_ids, mentioned, quoted
from .expression import Expression, Number, Product, Scaled
from .scaling import Scaling
from .screening import Part, centred, column_part, pair_part

AFTER_A_FACTOR = re.compile(r"(?:\^([1-9]))?(?:\*(?=.)|\Z)", re.DOTALL)
MAX_IDS = 2**60  # leaves room for the sums and products made on the way, all in int64
LONG = 1024  # rows, from which products are quicker one by one than all together


@dataclass(frozen=True, slots=True)
class Monomial:
    """A product of features; `factors` are feature indices, ascending, repeated for powers. () is the constant 1."""

    factors: tuple[int, ...]

    @property
    def features(self) -> tuple[int, ...]:
        """Indices of the features in the product, each once."""
        return tuple(sorted(set(self.factors)))

    def name(self, feature_names: Sequence[str]) -> str:
        """The product in words, such as ``radius*texture`` or ``area^2``; the constant is ``1``.

        A feature whose own name could be misread is put in brackets: ``[a*b]``.
        """
        powers = Counter(self.factors)
        return "*".join(quoted(feature_names[p]) + (f"^{k}" if k > 1 else "") for p, k in powers.items()) or "1"

    def column(self, rows: Mapping[int, FloatArray], n_samples: int) -> FloatArray:
        """Values of the product; `rows` holds the scaled features."""
        out = np.ones(n_samples)
        for p in self.factors:
            out *= rows[p]
        return out

    def expression(self) -> Expression:
        """The scaled features multiplied."""
        return Product(tuple(Scaled(p) for p in self.factors)) if self.factors else Number(1.0)

    def unscaled(self, scaling: Scaling) -> dict[Term, float]:
        """Multiply out prod (x_p - minimum_p) / span_p into monomials of x itself."""
        product: dict[tuple[int, ...], float] = {(): 1.0}
        for p in self.factors:
            slope, offset = scaling.slope(p), scaling.offset(p)
            grown: defaultdict[tuple[int, ...], float] = defaultdict(float)
            for factors, weight in product.items():
                grown[(*factors, p)] += weight * slope
                grown[factors] += weight * offset
            product = grown
        return {Monomial(factors): weight for factors, weight in product.items()}

    def bound(self, ranges: Mapping[int, tuple[float, float]]) -> float:
        """Product of the largest absolute values of its factors."""
        return math.prod(max(map(abs, ranges[p])) for p in self.factors)

    def as_dict(self) -> dict[str, Any]:
        """The feature indices, repeated for powers."""
        return {"kind": "monomial", "factors": list(self.factors)}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> Self:
        """The term that `as_dict` described."""
        if list(d["factors"]) != sorted(d["factors"]):
            msg = "factors must be ascending"
            raise DamagedTermError(msg)
        return cls(tuple(int(p) for p in d["factors"]))


class MonomialSpace:
    """All monomials of some features up to a degree, the constant included.

    Parameters
    ----------
    features : array of int
        Indices of the features to combine, ascending; others never appear.
    degree : int
        Largest total degree.
    """

    def __init__(self, features: IntArray, degree: int) -> None:
        self.features = np.asarray(features, dtype=np.int64)
        self.degree = degree
        n = self.features.size
        count = math.comb(n + degree, degree)
        if count > MAX_IDS:
            msg = (
                f"{n:,} features at degree {degree} give {count:.1e} terms, more than the {MAX_IDS:.1e} that can be "
                "numbered. Lower degree, or keep fewer features with filter_significance."
            )
            raise ValueError(msg)
        self.n_terms = count
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
                local = _unrank(ids[rows] - self._first[d], self.features.size, d)
                out[rows, self.degree - d :] = self.features[local]
        out.flags.writeable = False
        self._last = ids.copy(), out
        return out

    def rank(self, factors: Sequence[int]) -> int:
        """Id of the product of the given feature indices."""
        local = positions(self.features, sorted(factors))
        if not local:
            return 0
        d = len(local)
        return int(self._first[d]) + rank_subset([p + i for i, p in enumerate(local)], self.features.size + d - 1)

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the product that is written so, its factors in any order; None where there is none."""
        factors = read_factors(name, self.features, feature_names)
        return None if factors is None or len(factors) > self.degree else self.rank(factors)

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        """For every id the monomials of one degree less that divide it."""
        products = ([p for p in row if p >= 0] for row in self.factors(ids).tolist())
        return [tuple(self.rank(shorter) for shorter in quotients(factors)) for factors in products]

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """None: every monomial may come in alone."""
        return ()

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each."""
        factors = self.factors(ids)
        if table.shape[1] >= LONG:
            return _products(table, factors)
        out = np.ones((len(ids), table.shape[1]))
        for p in factors.T:
            present = np.flatnonzero(p >= 0)
            out[present] *= table[p[present]]
        return out

    def parts(self, table: FloatArray, weight: FloatArray) -> list[Part]:
        """The monomials but for the constant, degree by degree, as `screening` tests them.

        Of degree three and more they are tested as products of deviations from the means: on [0, 1] they would mostly
        show what their factors do.
        """
        deviations = centred(table, weight) if self.degree > 2 else table
        parts = [column_part(self, deviations, a, b, leans=True) for a, b in self.by_degree]
        if self.degree > 0:
            parts[0] = column_part(self, table, *self.by_degree[0])
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

    def terms(self, ids: IntArray) -> tuple[Monomial, ...]:
        """The monomials behind `ids`."""
        return tuple(Monomial(tuple(int(p) for p in row if p >= 0)) for row in self.factors(ids))


def quotients(factors: Sequence[int]) -> list[tuple[int, ...]]:
    """A product with each of its distinct factors taken out once; nothing for a single feature."""
    if len(factors) < 2:
        return []
    places = [i for i, p in enumerate(factors) if p not in factors[:i]]
    return [(*factors[:i], *factors[i + 1 :]) for i in places]


def read_factors(name: str, features: IntArray, feature_names: Sequence[str]) -> tuple[int, ...] | None:
    """Feature indices of the product that `Monomial.name` writes so, in the order written; None if it is none."""
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


def positions(features: IntArray, wanted: Sequence[int]) -> list[int]:
    """Where in the ascending `features` the wanted ones stand; a KeyError where one is missing."""
    at = np.searchsorted(features, wanted)
    if not len(wanted):
        return []
    if at.max() >= features.size or not np.array_equal(features[at], wanted):
        msg = "a factor is not among the features of the space."
        raise KeyError(msg)
    return [int(i) for i in at]


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


def _unrank(rank: IntArray, n: int, d: int) -> IntArray:
    """Multisets of size d out of range(n) with the given lexicographic ranks, shape (n_ranks, d)."""
    return unrank_subsets(rank, n + d - 1, d) - np.arange(d)


def unrank_subsets(rank: IntArray, n: int, k: int) -> IntArray:
    """Subsets of k numbers out of range(n) with the given lexicographic ranks, shape (n_ranks, k), ascending."""
    rest = math.comb(n, k) - 1 - rank  # what the sum of binomials must come to
    out = np.empty((rank.size, k), dtype=np.int64)
    for i in range(k):
        top = _largest_with_binomial_at_most(rest, n, k - i)
        rest = rest - _binomial(top, k - i)
        out[:, i] = n - 1 - top
    return out


def _largest_with_binomial_at_most(value: IntArray, m: int, k: int) -> IntArray:
    """Largest t < m with C(t, k) <= value, for every value, by bisection."""
    low, high = np.zeros_like(value), np.full_like(value, m)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        fits = _binomial(middle, k) <= value
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return low


def _binomial(n: IntArray, k: int) -> IntArray:
    """C(n, k), exact while it fits in int64: every partial product is itself a binomial coefficient."""
    out = np.ones_like(n)
    for i in range(k):
        out = out * np.maximum(n - i, 0) // (i + 1)
    return out
