"""Several spaces in one: ids in blocks, columns and terms in the order asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import MonomialSpace, Training, UnionSpace
from rfsc._terms.scaling import Scaling
from rfsc.bases import Fourier, Hinge, Radial, Rule, Sigmoid, Step


def spaces_of(X, rng):
    scaling = Scaling.from_rows(X)
    training = Training(scaling.table(X), np.ones(len(X)), np.arange(X.shape[1]), scaling)
    families = [Hinge(3, products=True), Rule(n_knots=2), Radial(3), Fourier(2), Sigmoid(5), Step(3)]
    nothing = MonomialSpace(np.arange(0), 0)
    return training, [nothing, *(family.space(training, rng) for family in families), MonomialSpace(np.arange(3), 2)]


@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(2, 40))
def test_a_union_is_its_parts_one_after_the_other(seed, n_rows):
    rng = np.random.default_rng(seed)
    training, spaces = spaces_of(rng.normal(size=(n_rows, 3)).round(1), rng)
    union = UnionSpace(spaces)
    assert union.n_terms == sum(space.n_terms for space in spaces)
    everything = [term for space in spaces for term in space.terms(np.arange(space.n_terms))]
    columns = np.concatenate([space.columns(training.table, np.arange(space.n_terms)) for space in spaces])
    ids = rng.integers(0, union.n_terms, 50)  # with repeats, in any order
    found = union.columns(training.table, ids)
    np.testing.assert_array_equal(found, columns[ids])
    assert found.flags.c_contiguous
    terms = union.terms(ids)
    assert list(terms) == [everything[j] for j in ids]
    for term, column in zip(terms, found, strict=True):
        np.testing.assert_array_equal(term.column(dict(enumerate(training.table)), n_rows), column)


def test_no_ids():
    union = UnionSpace([MonomialSpace(np.arange(2), 1), MonomialSpace(np.arange(2), 1)])
    assert union.terms(np.arange(0)) == ()
    assert union.columns(np.ones((2, 4)), np.arange(0)).shape == (0, 4)


@pytest.mark.parametrize("ids", [[-1], [9], [0, 9], [2**40]])
def test_ids_out_of_range_raise(ids):
    union = UnionSpace([MonomialSpace(np.arange(2), 1), MonomialSpace(np.arange(2), 2)])
    for ask in (union.terms, lambda ids: union.columns(np.ones((2, 3)), ids)):
        with pytest.raises(IndexError, match=r"must lie in \[0, 9\)"):
            ask(np.array(ids))


def test_a_union_inside_a_union():
    space = MonomialSpace(np.arange(3), 2)
    union = UnionSpace([space, UnionSpace([MonomialSpace(np.arange(3), 1), space])])
    assert union.terms(np.arange(14, 24)) == space.terms(np.arange(10))


def test_huge_unions_cost_nothing_and_too_huge_ones_are_refused():
    huge = MonomialSpace(np.arange(20_000), 4)
    union = UnionSpace([huge, MonomialSpace(np.arange(2), 2)])
    assert [term.factors for term in union.terms(np.array([union.n_terms - 1, huge.n_terms - 1]))] == [
        (1, 1),
        (19_999,) * 4,
    ]
    with pytest.raises(ValueError, match=r"terms, more than the .* that can be numbered"):
        UnionSpace([huge] * 200)
