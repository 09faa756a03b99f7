"""Several families of terms in one search: their ids stand one block after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .base import Term, TermSpace, checked_ids
from .monomials import MAX_IDS
from .screening import Part, parts_of


class UnionSpace:
    """The terms of several spaces, which then compete in one search.

    Parameters
    ----------
    spaces : sequence of TermSpace
        Their ids keep their order; those of each space begin where the space before ends.
    """

    def __init__(self, spaces: Sequence[TermSpace]) -> None:
        self._spaces = tuple(spaces)
        first = list(accumulate((space.n_terms for space in self._spaces), initial=0))
        if first[-1] > MAX_IDS:
            msg = (
                f"the families give {first[-1]:.1e} terms together, more than the {MAX_IDS:.1e} that can be numbered. "
                "Lower degree, or keep fewer features with filter_significance."
            )
            raise ValueError(msg)
        self._first = np.array(first, dtype=np.int64)
        self.n_terms = first[-1]

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each."""
        out = np.empty((len(ids), table.shape[1]))
        for which, space, local in self._parts(ids):
            out[which] = space.columns(table, local)
        return out

    def terms(self, ids: IntArray) -> tuple[Term, ...]:
        """The terms behind `ids`."""
        found: dict[int, Term] = {}
        for which, space, local in self._parts(ids):
            found.update(zip(which.tolist(), space.terms(local), strict=True))
        return tuple(found[i] for i in range(len(ids)))

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the term that is written so, in the first space that has it; None where none has."""
        for first, space in zip(self._first.tolist(), self._spaces, strict=False):
            local = space.find(name, feature_names)
            if local is not None:
                return int(first) + local
        return None

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        """For every id what its own family asks for."""
        found: list[tuple[int, ...]] = [()] * len(ids)
        for which, space, local in self._parts(ids):
            first = int(ids[which[0]] - local[0])
            for i, parents in zip(which.tolist(), space.parents(local), strict=True):
                found[i] = tuple(first + j for j in parents)
        return found

    def parts(self, table: FloatArray, weight: FloatArray) -> list[Part]:
        """What every family suggests."""
        pairs = zip(self._first.tolist(), self._spaces, strict=False)
        return [part.shifted(first) for first, space in pairs for part in parts_of(space, table, weight)]

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The groups of all families."""
        pairs = zip(self._first.tolist(), self._spaces, strict=False)
        return tuple(tuple(first + j for j in group) for first, space in pairs for group in space.groups)

    def _parts(self, ids: IntArray) -> list[tuple[IntArray, TermSpace, IntArray]]:
        """(positions, space, ids within it) of every space that some id falls into."""
        ids = checked_ids(ids, self.n_terms)
        block = np.searchsorted(self._first, ids, side="right") - 1
        parts = []
        for s in np.unique(block).tolist():
            which = np.flatnonzero(block == s)
            parts.append((which, self._spaces[s], ids[which] - self._first[s]))
        return parts
