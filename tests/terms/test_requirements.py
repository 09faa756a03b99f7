"""Requirements: like plain sets over all terms, but lazy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import MonomialSpace
from rfsc._terms.requirements import Requirements
from rfsc.bases import Hinge, Polynomial, Step, build_space
from tests.reference.naive_requirements import NaiveRequirements
from tests.terms.layout import training_of

SPACES = [
    MonomialSpace(np.arange(3), 3),
    build_space([Hinge(1, products=True)], training_of(np.random.default_rng(0).normal(size=(20, 3))), 0),
    build_space(
        [Polynomial(degree=2), Step(levels=True)],
        training_of(np.random.default_rng(0).integers(0, 4, size=(40, 2)).astype(float)),
        0,
    ),
]


@st.composite
def requirements(draw):
    """The same random restrictions, fast and naive; forced terms are such that they can be."""
    space = draw(st.sampled_from(SPACES))
    term = st.integers(0, space.n_terms - 1)
    forbidden = draw(st.frozensets(term, max_size=2))
    apart = tuple(draw(st.lists(st.frozensets(st.integers(0, 2), min_size=1, max_size=2), max_size=1)))
    groups = draw(st.lists(st.frozensets(term, min_size=1, max_size=3), max_size=2))
    hierarchy = draw(st.booleans())
    naive = NaiveRequirements(space, (), forbidden, apart, groups, hierarchy)
    wanted = draw(st.lists(term, max_size=2))
    wanted = [j for j in wanted if not naive.closure([j]) & naive.forbidden]
    naive = NaiveRequirements(space, wanted, forbidden, apart, groups, hierarchy)
    by_term = {j: frozenset(k for k in naive.closure([j])) for group in groups for j in group}
    fast = Requirements(space, frozenset(naive.forced), forbidden, apart, by_term, hierarchy)
    return fast, naive


@given(pair=requirements())
def test_needs_are_the_closure_unless_something_in_it_is_forbidden(pair):
    fast, naive = pair
    for j in range(fast.space.n_terms):
        closure = naive.closure([j])
        assert fast.needs(j) == (None if closure & naive.forbidden else closure)
        if fast.needs(j) is None:
            assert fast.obstacle(j) in closure & naive.forbidden
    out = [j for j in range(fast.space.n_terms) if naive.closure([j]) & naive.forbidden]
    assert fast.ruled_out().tolist() == out


@given(pair=requirements(), data=st.data())
def test_what_is_gathered_obeys(pair, data):
    fast, naive = pair
    order = data.draw(st.lists(st.integers(0, fast.space.n_terms - 1), max_size=8, unique=True))
    most = data.draw(st.integers(len(naive.forced), 12))
    found = fast.gather(order, most)
    assert sorted(found) == naive.admit(order, most)
    assert naive.obeys(found)
    assert len(found) <= most


@given(pair=requirements(), data=st.data())
def test_what_may_go_leaves_a_model_that_obeys(pair, data):
    fast, naive = pair
    order = data.draw(st.lists(st.integers(0, fast.space.n_terms - 1), max_size=6, unique=True))
    support = fast.gather(order, 30)
    rests = [support - unit for unit in fast.removable(sorted(support)) if support - unit]
    assert {frozenset(rest) for rest in rests} == {frozenset(rest) for rest in naive.shorter(support)}
    assert all(naive.obeys(rest) for rest in rests)
    assert bool(fast.removable(sorted(support))) == (support != naive.forced)


def test_nothing_is_looked_at_before_it_is_met():
    class Watched(MonomialSpace):
        seen = 0

        def terms(self, ids):
            self.seen += len(ids)
            return super().terms(ids)

    space = Watched(np.arange(20_000), 2)
    requirements = Requirements(space, apart=(frozenset({3}),), hierarchy=True)
    assert requirements.needs(space.rank([5, 9])) == {space.rank([5, 9]), space.rank([5]), space.rank([9])}
    assert requirements.needs(space.rank([3, 9])) is None
    assert requirements.needs(space.rank([7])) == {space.rank([7])}
    assert requirements.ruled_out().size == 0  # too many to count
    assert space.seen == 5  # the three asked for, and the parents of the product that may come in
