"""No two candidate terms that are one: powers of 0/1 features, and lines that two families offer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._engines.base import Supports
from rfsc._search.rips import admit
from rfsc._terms.requirements import Requirements
from rfsc.bases import Centred, Hinge, Polynomial, build_space
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
