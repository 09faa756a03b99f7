"""Restrictions by plain sets, over spaces small enough to list every term: the twin of `Requirements`."""

from __future__ import annotations

from collections import Counter

import numpy as np

from rfsc._terms.expression import Positive, Product, Scaled, Sum


def factors_of(term):
    """What a product is made of; a deviation of a feature counts as the feature, since products start from features."""
    if term.factors is not None:
        return term.factors
    node = term.expression
    found = [_factor(part) for part in (node.parts if isinstance(node, Product) else (node,))]
    return () if None in found else tuple(found)


def _factor(part):
    if isinstance(part, Scaled):
        return part.feature
    if isinstance(part, Sum):
        return part.parts[0].feature
    return part if isinstance(part, Positive) else None


class NaiveRequirements:
    """`groups` are sets of ids, `apart` sets of features; everything is worked out again whenever it is asked for."""

    def __init__(self, space, forced=(), forbidden=(), apart=(), groups=(), hierarchy=False):
        self.space = space
        self.terms = space.terms(np.arange(space.n_terms))
        self.forbidden = set(forbidden) | {
            j for j, term in enumerate(self.terms) if any(set(some) <= set(term.features) for some in apart)
        }
        self.groups, self.hierarchy = [set(group) for group in groups], hierarchy
        self.forced = self.closure(forced)

    def parents(self, j):
        """Terms whose factors are those of term j but for one."""
        own = factors_of(self.terms[j])
        others = ((k, factors_of(term)) for k, term in enumerate(self.terms))
        found = [k for k, some in others if some and len(some) == len(own) - 1 and Counter(some) <= Counter(own)]
        is_power = self.terms[j].factors is not None  # products of deviations from other numbers are no parents of it
        found = [k for k in found if len(own) == 2 or (self.terms[k].factors is not None) == is_power]
        return set(self.space.simplest(np.array(found, dtype=np.int64)).tolist())

    def closure(self, ids):
        """All that a model with these terms must hold."""
        found = set(ids)
        while True:
            more = set(found)
            for group in self.groups:
                more |= group if group & found else set()
            if self.hierarchy:
                more |= {k for j in found for k in self.parents(j)}
            if more == found:
                return found
            found = more

    def obeys(self, ids):
        """Whether a model may be one of the search."""
        ids = set(ids)
        return self.forced <= ids and not self.forbidden & ids and self.closure(ids) == ids

    def admit(self, drawn, max_terms):
        """The forced terms, then what was drawn, with what it requires, while it fits."""
        held = set(self.forced)
        for j in drawn:
            wanted = held | self.closure([j])
            if not self.closure([j]) & self.forbidden and len(wanted) <= max_terms:
                held = wanted
        return sorted(held)

    def hold(self, passed, wrong=()):
        """What stays when these terms have passed the test, and those have the wrong sign."""
        return self.closure(set(passed) | self.forced - set(wrong)) - set(wrong)

    def shorter(self, ids):
        """Every model that obeys, less one term or group: no larger one that obeys lies between."""
        ids = set(ids)
        rests = []
        for j in ids - self.forced:
            gone = {k for k in ids if j in self.closure([k])}
            rests.append(ids - gone)
        return [rest for rest in rests if rest and not any(rest < other for other in rests)]
