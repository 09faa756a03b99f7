"""Spaces of candidate terms: integer ids, and what turns an id into a term, a column, a name.

The search knows ids only. A family of terms is a `Basis`, which lays out a `TermSpace` for given training rows; a new
family needs to say how many terms there are and what each of them is, everything else has a default.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .expression import evaluate
from .scaling import Scaling
from .score_tests import Part, column_part
from .term import Term

MAX_IDS = 2**60  # leaves room for the sums and products made on the way, all in int64


class TermSpace(ABC):
    """All candidate terms of one search; an id is an integer in [0, n_terms)."""

    n_terms: int

    @abstractmethod
    def term(self, j: int) -> Term:
        """The term behind an id, which lies in [0, n_terms)."""

    def terms(self, ids: IntArray) -> tuple[Term, ...]:
        """The terms behind `ids`."""
        return tuple(self.term(j) for j in checked_ids(ids, self.n_terms).tolist())

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each; `table` holds one row per feature.

        Whoever computes them faster than by the expressions must compute the same, to the last bit.
        """
        out = np.empty((len(ids), table.shape[1]))
        for row, term in zip(out, self.terms(ids), strict=True):
            row[:] = evaluate(term.expression, table)
        return out

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the term with this name, None if there is none."""
        ids, features = self.singles
        if ids.size < self.n_terms:
            ids = np.arange(self.n_terms)
        else:  # no others have it
            ids = ids[np.isin(features, mentioned(name, np.unique(features), feature_names))]
        pairs = zip(ids.tolist(), self.terms(ids), strict=True)
        return next((j for j, term in pairs if term.name(feature_names) == name), None)

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        """For every id the simpler terms that a hierarchical model holds with it; the constant is never among them."""
        return [()] * len(ids)

    @property
    def lines(self) -> Mapping[int, int]:
        """Ids of the terms that are a feature as it is, by feature."""
        return {}

    @property
    def singles(self) -> tuple[IntArray, IntArray]:
        """Ids of the terms that read a single feature, ascending for each, and that feature."""
        return np.array([*self.lines.values()], dtype=np.int64), np.array([*self.lines], dtype=np.int64)

    def simplest(self, ids: IntArray) -> IntArray:
        """The ids, each that stands for the same column as a simpler term replaced by that one."""
        return ids

    def parts(self, table: FloatArray, weight: FloatArray) -> list[Part]:  # noqa: ARG002  the defaults need no weights
        """All terms but the constant, in the parts in which score tests go through them."""
        return [column_part(self.columns, table, 0, self.n_terms)]


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """What a basis may look at when it lays out its terms for one output; never the classes."""

    table: FloatArray  # the scaled features, shape (n_features, n_rows)
    weight: FloatArray  # observations that each row stands for
    features: IntArray  # those that may be used, in the order in which terms are numbered
    scaling: Scaling

    @property
    def binary(self) -> IntArray:
        """Features of two values, which are 0 and 1 once scaled."""
        table = self.table
        return np.array([p for p in self.features.tolist() if np.all((table[p] == 0) | (table[p] == 1))], np.int64)


class Basis(Protocol):
    """A family of terms and its settings; knows how to lay out a space for given training rows."""

    def space(self, training: Training, rng: np.random.Generator) -> TermSpace:
        """The candidate terms, without the constant unless the family itself holds it."""


class UnionSpace(TermSpace):
    """The terms of several spaces in one search; the ids of each space begin where the space before ends."""

    def __init__(self, spaces: Sequence[TermSpace], again: Mapping[int, int] | None = None) -> None:
        self._spaces = tuple(spaces)
        self._again = {} if again is None else again  # terms that an earlier space offers too, and these
        first = list(accumulate((space.n_terms for space in self._spaces), initial=0))
        self.n_terms = checked_size(first[-1])
        self._first = np.array(first, dtype=np.int64)

    def term(self, j: int) -> Term:
        return self.terms(np.array([j]))[0]

    def terms(self, ids: IntArray) -> tuple[Term, ...]:
        found: dict[int, Term] = {}
        for which, space, local in self._shares(ids):
            found.update(zip(which.tolist(), space.terms(local), strict=True))
        return tuple(found[i] for i in range(len(ids)))

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        out = np.empty((len(ids), table.shape[1]))
        for which, space, local in self._shares(ids):
            out[which] = space.columns(table, local)
        return out

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        for first, space in self._numbered():
            local = space.find(name, feature_names)
            if local is not None:
                return self._again.get(first + local, first + local)
        return None

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = [()] * len(ids)
        for which, space, local in self._shares(ids):
            first = int(ids[which[0]] - local[0])
            for i, parents in zip(which.tolist(), space.parents(local), strict=True):
                found[i] = tuple(self._again.get(first + j, first + j) for j in parents)
        return found

    def simplest(self, ids: IntArray) -> IntArray:
        out = ids.copy()
        for which, space, local in self._shares(ids):
            out[which] += space.simplest(local) - local
        if not self._again:
            return out
        return np.array([self._again.get(j, j) for j in out.tolist()], dtype=np.int64)

    def parts(self, table: FloatArray, weight: FloatArray) -> list[Part]:
        return [part.shifted(first) for first, space in self._numbered() for part in space.parts(table, weight)]

    def _numbered(self) -> Iterator[tuple[int, TermSpace]]:
        return zip(self._first[:-1].tolist(), self._spaces, strict=True)

    def _shares(self, ids: IntArray) -> list[tuple[IntArray, TermSpace, IntArray]]:
        """(positions, space, ids within it) of every space that some id falls into."""
        ids = checked_ids(ids, self.n_terms)
        block = np.searchsorted(self._first, ids, side="right") - 1
        shares = []
        for s in np.unique(block).tolist():
            which = np.flatnonzero(block == s)
            shares.append((which, self._spaces[s], ids[which] - self._first[s]))
        return shares


def checked_size(n_terms: int) -> int:
    """The size of a space, or a ValueError if its terms cannot be numbered."""
    if n_terms > MAX_IDS:
        msg = (
            f"the basis gives {n_terms:.1e} terms, more than the {MAX_IDS:.1e} that can be numbered. Lower degree, or "
            "keep fewer features with filter_significance."
        )
        raise ValueError(msg)
    return n_terms


def mentioned(name: str, features: IntArray, feature_names: Sequence[str]) -> IntArray:
    """Those of the features whose names occur in the name of a term; some may occur only within longer names."""
    return np.array([p for p in features.tolist() if feature_names[p] in name], dtype=np.int64)


def checked_ids(ids: IntArray, n_terms: int) -> IntArray:
    """The ids as an array, or an IndexError if one is outside of the space."""
    ids = np.asarray(ids, dtype=np.int64)
    if ids.size and (ids.min() < 0 or ids.max() >= n_terms):
        msg = f"term ids must lie in [0, {n_terms:,}), got some outside."
        raise IndexError(msg)
    return ids
