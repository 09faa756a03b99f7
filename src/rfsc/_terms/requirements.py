"""Which terms a model must, may and must not hold together: restrictions, by id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .space import TermSpace
from .term import Term

CONSTANT = 0  # id of the constant in every space
MAX_TERMS_LISTED = 10_000  # a larger space is not gone through term by term before a search
AT_A_TIME = 32  # terms of a space that are listed together: the first ones are lines, if it has any


@dataclass(frozen=True, slots=True, eq=False)
class Requirements:
    """What every model of one output obeys. Terms are looked at when a search meets them, never all of them."""

    space: TermSpace
    forced: frozenset[int] = frozenset()  # terms of every model, with all that they require
    forbidden: frozenset[int] = frozenset()  # terms of no model
    apart: tuple[frozenset[int], ...] = ()  # features that no term may read all of
    groups: Mapping[int, frozenset[int]] = field(default_factory=dict)  # terms that come only together, by each of them
    hierarchy: bool = False  # whether a product comes only with its parents
    signs: Mapping[int, int] = field(default_factory=dict)  # 1 if the output must not fall with a feature, -1: not rise
    columns: tuple[int, ...] = ()  # of the table, from which each feature is made; empty if each is a column itself
    _next: dict[int, tuple[int, ...] | None] = field(default_factory=dict, init=False, repr=False)
    _needs: dict[int, frozenset[int] | None] = field(default_factory=dict, init=False, repr=False)
    _signs: dict[int, int | None] = field(default_factory=dict, init=False, repr=False)

    @property
    def only_forces(self) -> bool:
        """Whether any model is valid that holds the forced terms."""
        return not (self.groups or self.hierarchy or self._bars)

    @property
    def _bars(self) -> bool:
        """Whether there are terms that no model may hold."""
        return bool(self.forbidden or self.apart or self.signs or self.columns)

    @property
    def ties_terms(self) -> bool:
        """Whether some terms come only with others."""
        return bool(self.groups or self.hierarchy)

    def needs(self, j: int) -> frozenset[int] | None:
        """The term and everything that a model with it must hold; None if no model may hold it."""
        if j not in self._needs:
            found = self._reached(j)
            self._needs[j] = None if any(self._next[k] is None for k in found) else frozenset(found)
        return self._needs[j]

    def obstacle(self, j: int) -> int:
        """The forbidden term that keeps a term out of all models: the term itself, or one that it requires."""
        return next(k for k in self._reached(j) if self._next[k] is None)

    def sign(self, j: int) -> int | None:
        """Sign that the coefficient of a term must have: 1, -1, or 0 for any; None if no sign will do."""
        self.look_at(np.array([j], dtype=np.int64))
        return self._signs.get(j, 0)

    def signs_of(self, ids: IntArray) -> FloatArray:
        """The same for many terms that models may hold; empty if no signs are required of any."""
        if not self.signs:
            return np.empty(0)
        self.look_at(ids)
        return np.array([self._signs[j] or 0 for j in ids.tolist()], dtype=np.float64)

    def unmet_signs(self) -> list[int]:
        """Features with a sign that no term of them can obey, ascending; none if the space is too large to list."""
        unmet, read = set(self.signs), set[int]()
        for first in range(0, min(self.space.n_terms, MAX_TERMS_LISTED), AT_A_TIME):
            if not unmet:
                return []
            ids = np.arange(first, min(first + AT_A_TIME, self.space.n_terms))
            self.look_at(ids)
            for j, term in zip(ids.tolist(), self.space.terms(ids), strict=True):
                read.update(term.features)
                unmet.difference_update(() if self._signs[j] is None else term.features)
        return sorted(unmet & read) if self.space.n_terms <= MAX_TERMS_LISTED else []

    def ruled_out(self) -> IntArray:
        """Terms that no model may hold, ascending; none if the space is too large to list."""
        if self.space.n_terms > MAX_TERMS_LISTED or not self._bars:
            return np.empty(0, np.int64)
        self.look_at(np.arange(self.space.n_terms))
        return np.array([j for j in range(self.space.n_terms) if self.needs(j) is None], dtype=np.int64)

    def allowed(self, ids: IntArray) -> IntArray:
        """Those of some terms that a model may hold."""
        self.look_at(ids)
        return np.array([j for j in ids.tolist() if self.needs(j) is not None], dtype=np.int64)

    def look_at(self, ids: IntArray) -> None:
        """Look up terms that were not met before; many at once, which is faster than one by one."""
        new = [j for j in dict.fromkeys(ids.tolist()) if j not in self._next]
        while new:
            at = np.array(new, dtype=np.int64)
            parents = self.space.parents(at) if self.hierarchy else [()] * len(new)
            for j, above, barred in zip(new, parents, self._barred(at), strict=True):
                self._next[j] = None if barred else (*above, *self.groups.get(j, ()))
            required = dict.fromkeys(k for j in new for k in self._next[j] or ())
            new = [k for k in required if k not in self._next]

    def gather(self, ids: Iterable[int], most: int) -> frozenset[int]:
        """The forced terms, then each of `ids` that is allowed, with what it requires, up to `most` terms."""
        held = self.forced
        if self.only_forces:
            return held | frozenset(list(dict.fromkeys(j for j in ids if j not in held))[: max(most - len(held), 0)])
        for j in ids:
            needs = self.needs(j)
            if needs is None or needs <= held:
                continue
            grown = held | needs
            held = grown if len(grown) <= most else held
        return held

    def removable(self, support: Iterable[int]) -> list[frozenset[int]]:
        """What can be removed from a valid model so that the rest stays valid: single terms and whole groups."""
        present = list(support)
        if self.only_forces:
            return [frozenset({j}) for j in present if j not in self.forced]
        units: dict[frozenset[int], None] = {}
        for j in present:
            own = self.needs(j) or frozenset()
            dependent = frozenset(k for k in present if j in (self.needs(k) or ()))
            # a term that needs this one must itself be needed by it, or it would be left without it
            if j not in self.forced and dependent <= own:
                units[dependent] = None
        return list(units)

    def _barred(self, ids: IntArray) -> list[bool]:
        """Whether each term is forbidden by itself, whatever it requires."""
        listed = [j in self.forbidden for j in ids.tolist()]
        if not (self.apart or self.signs or self.columns):
            return listed
        terms = self.space.terms(ids)
        if self.signs:
            self._signs.update(zip(ids.tolist(), map(self._sign_of, terms), strict=True))
            listed = [no or self._signs[j] is None for no, j in zip(listed, ids.tolist(), strict=True)]
        features = (frozenset(term.features) for term in terms)
        return [no or self._meet(read) for no, read in zip(listed, features, strict=True)]

    def _meet(self, features: frozenset[int]) -> bool:
        """Whether features come together that must not.

        Nothing is gained by a product of features of one column alone: where a number is missing it is a constant, and
        no row has two levels.
        """
        if self.columns and len(features) > 1 and len({self.columns[p] for p in features}) == 1:
            return True
        return any(some <= features for some in self.apart)

    def _sign_of(self, term: Term) -> int | None:
        """Sign of the coefficient with which a term obeys for every feature that it reads."""
        from .direction import direction  # only signs need it

        found = 0
        for p in self.signs.keys() & term.features:
            way = direction(term.expression, p)
            if way is None or found * way * self.signs[p] < 0:
                return None
            found = found or way * self.signs[p]
        return found

    def _reached(self, j: int) -> list[int]:
        """The term and all that it requires, found by following requirements until nothing new turns up."""
        self.look_at(np.array([j], dtype=np.int64))
        found = {j: None}
        waiting = [j]
        while waiting:
            new = [k for k in self._next[waiting.pop()] or () if k not in found]
            found.update(dict.fromkeys(new))
            waiting += new
        return list(found)
