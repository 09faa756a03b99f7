"""Some terms of a space as a space of their own: what searches a space searches a part of it unchanged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .base import Term, TermSpace, checked_ids


class SubSpace:
    """Some terms of a space, numbered anew from 0, in the order of the space.

    Parameters
    ----------
    whole : TermSpace
        The space.
    members : ndarray of int
        Ids of the terms to keep, ascending, each once.
    """

    def __init__(self, whole: TermSpace, members: IntArray) -> None:
        self.whole = whole
        self.members = checked_ids(members, whole.n_terms)
        if np.any(np.diff(self.members) <= 0):
            msg = "members must be ascending, each id once. Pass np.unique(members)."
            raise ValueError(msg)
        self.n_terms = int(self.members.size)

    def outside(self, ids: IntArray) -> IntArray:
        """What the terms `ids` are called in the whole space; ascending ids stay ascending."""
        return np.asarray(self.members[checked_ids(ids, self.n_terms)])

    def inside(self, ids: IntArray) -> IntArray:
        """What those of the terms `ids` of the whole space that are members are called here, in their order."""
        ids = checked_ids(ids, self.whole.n_terms)
        at = np.searchsorted(self.members, ids)
        known = at < self.n_terms
        known[known] = self.members[at[known]] == ids[known]
        return np.asarray(at[known], dtype=np.int64)

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each."""
        return self.whole.columns(table, self.outside(ids))

    def terms(self, ids: IntArray) -> tuple[Term, ...]:
        """The terms behind `ids`."""
        return self.whole.terms(self.outside(ids))

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the term that is written so, None where it is no member."""
        found = self.whole.find(name, feature_names)
        own = self.inside(np.array([] if found is None else [found], dtype=np.int64))
        return int(own[0]) if own.size else None

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        """For every id those of its parents that are members."""
        above = self.whole.parents(self.outside(ids))
        return [tuple(self.inside(np.array(own, dtype=np.int64)).tolist()) for own in above]

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """What is left of the groups of the whole space."""
        own = (tuple(self.inside(np.array(group, dtype=np.int64)).tolist()) for group in self.whole.groups)
        return tuple(group for group in own if group)
