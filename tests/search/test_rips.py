"""RIPs stay probabilities, and move as the equations say, sparse or dense."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._engines import Evaluation, Supports
from rfsc._search.rips import RIPs, importance, step_size, update
from tests.reference import naive
from tests.search.runs import dense


def random_case(seed, n_terms=25, n_models=12):
    """RIPs, a population, and what a test has left of it."""
    rng = np.random.default_rng(seed)
    listed = np.flatnonzero(rng.random(n_terms) < 0.4)
    rips = RIPs(n_terms, 0.1, listed, rng.choice([0.0, 0.3, 0.8, 1.0], listed.size))
    drawn = rng.random((n_models, n_terms)) < rng.random(n_terms) * 0.4
    member = drawn & (rng.random(drawn.shape) < 0.7)
    score = rng.random(n_models)
    return rips, drawn, member, score


def as_supports(member):
    return Supports.from_lists([np.flatnonzero(row) for row in member])


def as_evaluation(member, score):
    n = len(score)
    supports = as_supports(member)
    return Evaluation(supports, np.ones(supports.ids.size), score, score, np.zeros(n, np.int8), np.zeros(n, np.int64))


@pytest.mark.parametrize("unseen", ["keep", "zero"])
@given(seed=st.integers(0, 2**32 - 1))
def test_sparse_update_equals_the_dense_twin(unseen, seed):
    rips, drawn, member, score = random_case(seed)
    new, change = update(rips, as_supports(drawn), as_evaluation(member, score), unseen=unseen)
    expected = naive.update(dense(rips), drawn, member, score, unseen)
    np.testing.assert_allclose(dense(new), expected, atol=1e-12)
    assert change == pytest.approx(np.abs(expected - dense(rips)).max(), abs=1e-12)
    assert ((dense(new) >= 0) & (dense(new) <= 1)).all()


@pytest.mark.parametrize("unseen", ["keep", "zero"])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_the_candidates_does_not_matter(unseen, seed):
    rips, drawn, member, score = random_case(seed)
    order = np.random.default_rng(seed).permutation(len(score))
    new, _ = update(rips, as_supports(drawn), as_evaluation(member, score), unseen=unseen)
    again, _ = update(rips, as_supports(drawn[order]), as_evaluation(member[order], score[order]), unseen=unseen)
    np.testing.assert_allclose(dense(new), dense(again), atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1))
def test_importance_equals_the_twin(seed):
    _, _, member, score = random_case(seed)
    fast = importance(np.arange(25), as_supports(member), score)
    np.testing.assert_allclose(fast, naive.importance(member, score), atol=1e-12)


def test_keep_leaves_undrawn_terms_and_punishes_pruned_ones():
    rips = RIPs(6, 0.2, np.array([4]), np.array([0.7]))
    drawn, member = np.zeros((4, 6), bool), np.zeros((4, 6), bool)
    drawn[:, :2] = True
    member[:2, 0] = True  # term 0 is kept by two models, term 1 by none
    score = np.array([0.9, 0.8, 0.5, 0.4])
    new = dense(update(rips, as_supports(drawn), as_evaluation(member, score), unseen="keep")[0])
    assert new[0] > 0.2
    assert new[1] < 0.2
    assert new[2:].tolist() == [0.2, 0.2, 0.7, 0.2]
    new = dense(update(rips, as_supports(drawn), as_evaluation(member, score), unseen="zero")[0])
    assert (new[2:] < [0.2, 0.2, 0.7, 0.2]).all()


def test_rips_stay_probabilities():
    rips, drawn, member, score = random_case(1)
    new, _ = update(rips, as_supports(drawn), as_evaluation(member, score), unseen="zero")
    assert new.values.min() >= 0.0
    assert new.values.max() <= 1.0
    assert 0.0 <= new.default <= 1.0


def test_step_size_falls_with_the_spread():
    assert step_size(np.array([0.5, 0.5])) == pytest.approx(10.0)
    assert step_size(np.array([0.4, 0.6])) == pytest.approx(1.0 / 1.1)


def test_lookup_of_listed_and_other_terms():
    rips = RIPs(10, 0.1, np.array([2, 7]), np.array([0.5, 1.0]))
    assert rips[np.array([2, 3, 7, 9])].tolist() == [0.5, 0.1, 1.0, 0.1]
    assert rips.at_least(0.4).tolist() == [7, 2]
    assert rips.n_open == 1
