"""The family of polynomials: its settings, and the space of several polynomials."""

from __future__ import annotations

import numpy as np
import pytest

from rfsc._terms import MonomialSpace, Training
from rfsc._terms.scaling import Scaling
from rfsc.bases import Polynomial, build_space
from tests.terms.layout import all_terms, training_of


def factors_of(space):
    return [term.factors for term in all_terms(space)]


def test_too_many_terms_are_refused_with_advice():
    with pytest.raises(ValueError, match=r"the basis gives .* terms.*Lower degree"):
        MonomialSpace(np.arange(1_000_000), 4)


@pytest.mark.parametrize("ids", [[-1], [15], [0, 15]])
def test_ids_out_of_range_raise(ids):
    space = MonomialSpace(np.arange(4), 2)
    for ask in (space.terms, lambda ids: space.columns(np.ones((4, 3)), ids)):
        with pytest.raises(IndexError, match=r"must lie in \[0, 15\)"):
            ask(np.array(ids))


@pytest.mark.parametrize("degrees", [[3], [3, 1], [0, 3, 2]])
def test_several_polynomials_are_the_one_of_the_largest_degree(degrees, rng):
    training = training_of(rng.normal(size=(9, 4)))
    space = build_space([Polynomial(degree=degree) for degree in degrees], training, 0)
    assert factors_of(space) == factors_of(MonomialSpace(np.arange(4), 3))


def test_the_family_uses_only_the_allowed_features(rng):
    X = rng.normal(size=(9, 4))
    scaling = Scaling.from_rows(X)
    training = Training(scaling.table(X), np.ones(9), np.array([1, 3]), scaling)
    found = factors_of(Polynomial(degree=2).space(training, rng))
    assert found == [(), (1,), (3,), (1, 1), (1, 3), (3, 3)]


@pytest.mark.parametrize(
    ("degree", "message"),
    [
        (-1, "degree must be an integer of at least 0"),
        (6, "degree must be at most 5"),
        (2.0, "degree must be an integer"),
        (True, "degree must be an integer"),
    ],
)
def test_bad_degrees_are_refused(degree, message):
    with pytest.raises(ValueError, match=message):
        Polynomial(degree=degree)
