"""Screening: every term is tested once, the strongest are kept, whatever the blocks and threads."""

from __future__ import annotations

import numpy as np
import pytest

from rfsc._terms import MonomialSpace, Training, score_tests
from rfsc._terms.expression import Product, Sum
from rfsc._terms.scaling import Scaling
from rfsc._terms.score_tests import ScoreTest, strongest
from rfsc.bases import Centred, Hinge, Polynomial, Step, build_space
from tests.reference import naive_screening as naive

WEIGHT = np.random.default_rng(7).random(90) + 0.5
FAMILIES = {
    "degree 1": [Polynomial(degree=1)],
    "degree 2": [Polynomial(degree=2)],
    "degree 3": [Polynomial(degree=3)],
    "constant": [Polynomial(degree=0)],
    "centred": [Centred(degree=3)],
    "centred 1": [Centred(degree=1)],
    "hinges": [Hinge(n_knots=2, products=True)],
    "several": [Polynomial(degree=2), Hinge(n_knots=2), Step()],
}


def parts_of(space, table, weight):
    return [part for part in space.parts(table, weight) if part.n_terms]


@pytest.fixture
def layout(rng):
    """Lay out families over seven of eight features; and a test against the classes."""
    X = rng.normal(size=(90, 8))
    scaling = Scaling.from_rows(X)
    table, weight = scaling.table(X), WEIGHT
    target = np.where(X[:, 0] + X[:, 1] * X[:, 3] + 0.3 * rng.logistic(size=90) > 0, 1.0, -1.0)

    def build(families):
        training = Training(table, weight, np.delete(np.arange(8), 4), scaling)
        return build_space(families, training, 0), table, ScoreTest.of_model(target, weight)

    return build


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(score_tests, "PAIR_FEATURES", 3)
    monkeypatch.setattr(score_tests, "COLUMN_BYTES", 8 * 90 * 5)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_term_is_tested_once_as_by_least_squares(name, layout, small_blocks):
    space, table, test = layout(FAMILIES[name])
    parts = parts_of(space, table, WEIGHT)
    found = [strongest(part, test, space.n_terms + 1) for part in parts]
    assert [f.ids.size for f in found] == [part.n_terms for part in parts]
    ids = np.concatenate([np.empty(0, np.int64), *(f.ids for f in found)])
    assert sorted(ids) == list(range(1, space.n_terms))  # all but the constant

    def is_product(term):  # squares go with the products where a space has them, else with the powers
        node = term.expression
        plain = term.factors is not None or (
            isinstance(node, Product) and all(isinstance(part, Sum) for part in node.parts)
        )
        return plain and isinstance(node, Product) and len(node.parts) == 2 and name not in ("powers", "hinges")

    def deviations(term):
        if term.factors is None or len(term.factors) < (2 if name == "powers" else 3):
            return None
        return np.prod([table[p] - np.average(table[p], weights=WEIGHT) for p in term.factors], axis=0)

    expected = naive.statistics(space, table, test.residual, test.curvature, is_product, deviations)
    got = np.concatenate([np.empty(0), *(f.statistic for f in found)])
    np.testing.assert_allclose(got, expected[ids], atol=1e-6)


@pytest.mark.parametrize("keep", [1, 4, 11])
@pytest.mark.parametrize("name", ["degree 3", "centred", "several"])
def test_the_strongest_are_kept_whatever_the_blocks_and_threads(name, keep, layout, small_blocks, monkeypatch):
    space, table, test = layout(FAMILIES[name])
    cut = [strongest(part, test, keep) for part in parts_of(space, table, WEIGHT)]
    for part, some in zip(parts_of(space, table, WEIGHT), cut, strict=True):
        every = strongest(part, test, space.n_terms)
        threads = strongest(part, test, keep, n_threads=3)
        assert np.array_equal(some.ids, every.ids[:keep])
        assert np.array_equal(some.ids, threads.ids)
        assert np.array_equal(some.statistic, threads.statistic)
        assert np.all(np.diff(some.statistic) <= 0)
    monkeypatch.undo()
    for part, some in zip(parts_of(space, table, WEIGHT), cut, strict=True):
        assert np.array_equal(strongest(part, test, keep).ids, some.ids)


def test_equal_terms_stand_in_the_order_of_their_ids(layout):
    space, table, test = layout([Polynomial(degree=2)])
    table = np.repeat(table[:1], 8, axis=0)
    single, pairs = parts_of(space, table, WEIGHT)
    assert strongest(single, test, 3).ids.tolist() == [1, 2, 3]
    assert strongest(pairs, test, 3).ids.tolist() == [8, 9, 10]


def test_a_space_of_too_many_terms_for_a_list_of_its_blocks_costs_nothing():
    space = MonomialSpace(np.arange(20_000), 4)
    parts = parts_of(space, np.zeros((1, 10)), np.ones(10))
    assert sum(part.n_terms for part in parts) == space.n_terms - 1
    assert [part.leans for part in parts] == [False, True, True, True]
