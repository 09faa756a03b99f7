"""No two candidate terms that are one: powers of 0/1 features, and lines that two families offer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._engines.base import Supports
from rfsc._search.rips import admit
from rfsc._terms.requirements import Requirements
from rfsc.bases import (
    Centred,
    Fourier,
    Hinge,
    Polynomial,
    Radial,
    Rule,
    Step,
    build_space,
    resolve,
)
from rfsc.restrictions import Restrictions, requirements_of
from tests.making import make

from .layout import training_of

FAMILIES = [
    [Polynomial()],
    [Polynomial(degree=3)],
    [Centred()],
    [Hinge(3)],
    [Polynomial(), Hinge(3)],
    [Centred(), Hinge(3)],
]


def space_of(bases, X):
    training = training_of(X)
    return build_space(bases, training, 0), training.table


def table_with_flags(seed):
    """Two 0/1 features and two others, all on [0, 1]."""
    rng = np.random.default_rng(seed)
    flags = rng.integers(0, 2, size=(40, 2))
    flags[:2] = [[0, 1], [1, 0]]
    others = rng.random((40, 2))
    others[:2] = [[0, 1], [1, 0]]
    return np.hstack([flags, others])


@pytest.mark.parametrize("bases", FAMILIES, ids=str)
@given(seed=st.integers(0, 1000))
def test_what_is_replaced_spans_the_same_with_the_constant(bases, seed):
    space, table = space_of(bases, table_with_flags(seed))
    ids = np.arange(space.n_terms)
    simpler = space.simplest(ids)
    np.testing.assert_array_equal(space.simplest(simpler), simpler)
    for j, k in zip(ids[simpler != ids], simpler[simpler != ids], strict=True):
        before, after = space.columns(table, np.array([j, k]))
        design = np.stack([np.ones_like(after), after], axis=1)
        rest = before - design @ np.linalg.lstsq(design, before, rcond=None)[0]
        np.testing.assert_allclose(rest, 0.0, atol=1e-12)


@pytest.mark.parametrize("bases", FAMILIES, ids=str)
def test_no_term_is_left_that_repeats_another(bases):
    space, table = space_of(bases, table_with_flags(0))
    ids = np.unique(space.simplest(np.arange(space.n_terms)))
    columns = space.columns(table, ids)
    columns = columns[columns.std(axis=1) > 0]
    columns = (columns - columns.mean(axis=1, keepdims=True)) / columns.std(axis=1, keepdims=True)
    alike = np.abs(columns @ columns.T / table.shape[1]) - np.eye(len(columns))
    names = [type(basis) for basis in bases]
    if Hinge not in names:  # hinges of one knot may be close, never equal
        assert alike.max() < 1 - 1e-9
    assert space.n_terms > ids.size or names == [Hinge]


UNIONS = [
    [Rule(), Hinge()],
    [Hinge(), Rule()],
    [Polynomial(), Rule(), Hinge()],
    [Polynomial(interaction_only=True), Hinge()],
    [Polynomial(max_features=1, degree=3), Step()],
    [Centred(), Rule()],
    [Fourier(), Step(levels=True)],
]


def table_of_few_values(seed):
    """Columns of two, two, three, four and many values, not all of them on [0, 1]."""
    rng = np.random.default_rng(seed)
    return np.column_stack([*(rng.integers(0, n, 60) for n in (2, 3, 4)), rng.choice([-1.5, 7], 60), rng.random(60)])


@pytest.mark.parametrize("bases", UNIONS, ids=str)
@given(seed=st.integers(0, 1000))
def test_families_do_not_offer_the_same_of_a_feature_of_few_values(bases, seed):
    space, table = space_of(bases, table_of_few_values(seed))
    single, features = union_singles(space)
    kept = space.simplest(single)
    np.testing.assert_array_equal(space.simplest(kept), kept)
    for p in range(4):
        before, after = (space.columns(table, np.unique(ids[features == p])) for ids in (single, kept))
        alike = np.abs(np.corrcoef(np.concatenate([after, before])))
        n = len(after)
        assert n == 1 or p in (1, 2)  # of a feature of two values one term is left
        assert (alike[:n, :n] - np.eye(n)).max() < 1 - 1e-9  # no two of those that are left are one
        assert alike[n:, :n].max(axis=1).min() > 1 - 1e-9  # and nothing else is lost


def union_singles(space):
    """Ids and features of all terms of a union that read one feature."""
    found = [(begin + j, p) for begin, own in space._numbered() for j, p in zip(*own.singles, strict=True)]
    listed = [j for j, term in enumerate(space.terms(np.arange(space.n_terms))) if len(term.features) == 1]
    assert sorted(j for j, _ in found) == listed
    return np.array(found).T


def test_a_feature_of_two_values_has_one_term_however_many_families_offer_it():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 50), rng.random(50)])
    for bases, kept in (("polynomial", "x0"), ("rule", "x0=1"), ("hinge", "x0"), ("step", "x0>0.5")):
        for other in ("polynomial", "rule", "hinge", "fourier"):
            if {bases, other} == {"rule", "step"} or (other == "polynomial" and bases != other):
                continue
            space, _ = space_of(resolve([bases, other]), X)
            single, features = union_singles(space) if hasattr(space, "_spaces") else space.singles
            names = {term.name(["x0", "x1"]) for term in space.terms(space.simplest(single[features == 0]))}
            assert names == {kept}


def test_names_of_terms_that_are_one_mean_the_one_that_is_offered():
    space, _ = space_of([Polynomial(), Rule()], table_of_few_values(0))
    names = list("abcde")
    assert space.find("a=1", names) == space.find("a", names)
    restrictions = Restrictions(forbid=["a=1"])
    found = requirements_of(restrictions, space, names, constant=np.zeros(5, bool), max_terms=5)
    assert found.forbidden == {space.find("a", names)}


def test_one_family_is_left_alone():
    for bases in ([Rule()], [Hinge()], [Centred()], [Polynomial(degree=1), Radial(3)]):
        space, _ = space_of(bases, table_of_few_values(0))
        assert not space._again


def test_drawn_models_hold_each_term_once():
    space, _ = space_of([Polynomial()], table_with_flags(0))
    square, line = space.find("a^2", list("abcd")), space.find("a", list("abcd"))
    drawn = Supports.from_lists([[square, line], [square], [line, 12]])
    found = admit(drawn, Requirements(space, forced=frozenset({0})), 5)
    assert [found[m].tolist() for m in range(3)] == [[0, line], [0, line], [0, line, 12]]


def test_answers_name_neither_squares_of_flags_nor_hinges_over_the_whole_range():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 300), rng.random(300) * 50, rng.random(300)])
    y = 2 * X[:, 0] + X[:, 1] / 10 + rng.logistic(size=300) > 3.5
    for basis in ("polynomial", "centred", "hinge"):
        clf = make(basis, random_state=0).fit(X, y)
        names = [name for size in clf.front_.n_terms for name in clf.at_size(int(size)).models_[0].names]
        assert "x0" in names
        assert not {"x0^2", "(x0-0)^2", "(x0-1)^2", "max(0, x0)", "max(0, x1)"} & set(names)
