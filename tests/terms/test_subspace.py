"""A part of a space agrees with the whole: ids, columns, terms, names, parents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import MonomialSpace, UnionSpace
from rfsc._terms.subspace import SubSpace
from rfsc.bases import Hinge, Step

from .layout import all_terms, training_of

NAMES = ["a", "b", "c"]


@st.composite
def parts(draw):
    """A space, some of its terms, and rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    training = training_of(rng.normal(size=(12, 3)))
    whole = draw(
        st.sampled_from(
            [
                MonomialSpace(np.arange(3), 3),
                UnionSpace(
                    [MonomialSpace(np.arange(3), 2), Hinge(3).space(training, rng), Step(3).space(training, rng)]
                ),
            ]
        )
    )
    members = np.flatnonzero(rng.random(whole.n_terms) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    return SubSpace(whole, members), training.table


@given(parts())
def test_a_part_is_the_whole_at_its_members(drawn):
    part, table = drawn
    everything, members = np.arange(part.whole.n_terms), part.members
    assert part.n_terms == members.size
    np.testing.assert_array_equal(part.inside(part.outside(np.arange(part.n_terms))), np.arange(part.n_terms))
    np.testing.assert_array_equal(part.outside(part.inside(everything)), members)
    np.testing.assert_array_equal(
        part.columns(table, np.arange(part.n_terms)), part.whole.columns(table, everything)[members]
    )
    terms = all_terms(part.whole)
    assert all_terms(part) == tuple(terms[j] for j in members)
    for j, term in enumerate(terms):
        own = part.find(term.name(NAMES), NAMES)
        assert own == (part.inside(np.array([j]))[0] if j in members else None)


@given(parts())
def test_parents_and_groups_are_those_that_are_members(drawn):
    part, _ = drawn
    known = set(part.members.tolist())
    ids = np.arange(part.n_terms)
    for own, above in zip(part.parents(ids), part.whole.parents(part.members), strict=True):
        assert {int(part.members[k]) for k in own} == set(above) & known
    groups = [set(group) & known for group in part.whole.groups]
    assert [{int(part.members[k]) for k in group} for group in part.groups] == [group for group in groups if group]


def test_what_is_no_part_is_refused():
    space = MonomialSpace(np.arange(2), 1)
    with pytest.raises(ValueError, match="ascending, each id once"):
        SubSpace(space, np.array([1, 0]))
    with pytest.raises(ValueError, match="ascending, each id once"):
        SubSpace(space, np.array([1, 1]))
    with pytest.raises(IndexError, match=r"must lie in \[0, 3\)"):
        SubSpace(space, np.array([3]))
    with pytest.raises(IndexError, match=r"must lie in \[0, 1\)"):
        SubSpace(space, np.array([2])).terms(np.array([1]))
