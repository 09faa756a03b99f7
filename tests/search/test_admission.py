"""The search under restrictions: supports and pools like those of plain sets, and every model obeys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._engines import Criterion, Memo, Restricted, Supports, make_engine
from rfsc._search.rips import admit
from rfsc._terms import MonomialSpace
from rfsc._terms.requirements import Requirements
from tests.reference import naive
from tests.reference.naive_requirements import NaiveRequirements
from tests.search.runs import restarts
from tests.search.test_elimination import path_of

# of x0, ..., x3 at degree 2: 1, x0, x1, x2, x3, x0^2, x0*x1, ...
SETTINGS = [
    {"hierarchy": True},
    {"forced": {2, 9}},
    {"forced": {12}, "hierarchy": True},
    {"forbidden": {1, 0}, "hierarchy": True},
    {"apart": [{1, 2}, {3}]},
    {"groups": [{1, 2, 3}, {4, 14}]},
    {"forced": {4}, "forbidden": {5}, "apart": [{0, 1}], "groups": [{2, 3}, {3, 13}], "hierarchy": True},
]


def both(space, forced=(), forbidden=(), apart=(), groups=(), hierarchy=False):
    plain = NaiveRequirements(space, forced, forbidden, apart, groups, hierarchy)
    by_term = {j: frozenset(plain.closure([j])) for group in groups for j in group}
    some = tuple(frozenset(features) for features in apart)
    return Requirements(space, frozenset(plain.forced), frozenset(forbidden), some, by_term, hierarchy), plain


@given(setting=st.sampled_from(SETTINGS), data=st.data())
def test_admits_what_plain_sets_admit(setting, data):
    fast, plain = both(MonomialSpace(np.arange(4), 2), **setting)
    drawn = data.draw(st.lists(st.lists(st.integers(0, 14), max_size=8), min_size=1, max_size=5))
    most = data.draw(st.integers(len(plain.forced) or 1, 10))
    admitted = admit(Supports.from_lists(drawn), fast, most)
    assert [admitted[m].tolist() for m in range(len(drawn))] == [plain.admit(sorted(ids), most) for ids in drawn]


def test_no_requirements_hand_back_the_very_same_supports():
    drawn = Supports.from_lists([[1, 2], []])
    assert admit(drawn, None, 1) is drawn


@pytest.fixture(params=SETTINGS, ids=str)
def restricted(request, make_problem):
    """Restarts under restrictions, the naive twin of these, and the problem without test that pools are made on."""
    problem, untested = (
        make_problem(
            np.random.default_rng(0), n_rows=150, n_features=4, ridge=0.5, criterion=Criterion.LOO_LOG_LOSS, **options
        )
        for options in ({}, {"significance": 0.5})
    )
    fast, plain = both(problem.space, **request.param)
    engine = Memo(Restricted(make_engine("numba", problem), fast))
    searches = restarts(engine, 15, 1, 4, requirements=fast, max_terms=12, n_models=30, max_iter=20)
    return searches, fast, plain, untested


def test_every_model_obeys(restricted):
    searches, _, plain, _ = restricted
    for search in searches:
        assert plain.obeys(search.model.ids.tolist())
        assert search.limit is None or plain.obeys(search.limit.ids.tolist())


def test_path_equals_naive_backward_elimination(restricted):
    searches, fast, plain, problem = restricted
    engine = Restricted(make_engine("numba", problem), fast)
    path = path_of(searches, engine, requirements=fast)

    def value(ids):
        return naive.evaluate(problem, sorted(ids), naive.one_step_left_out_predictor, plain.hold)[2]

    support = {int(j) for search in searches for j in search.model.ids}
    seen = [(value(support), support)]
    while shorter := plain.shorter(support):
        seen.append(max(((value(rest), rest) for rest in shorter), key=lambda pair: pair[0]))
        support = seen[-1][1]
    assert [set(model.ids.tolist()) for model in path] == [ids for _, ids in seen[::-1]]
    assert [model.score for model in path] == pytest.approx([score for score, _ in seen[::-1]], abs=1e-5)
    assert all(plain.obeys(model.ids.tolist()) for model in path)


def test_path_of_few_terms_obeys(restricted):
    searches, fast, plain, problem = restricted
    engine = Restricted(make_engine("numba", problem), fast)
    for most in (1, 4, 7):
        path = path_of(searches, engine, most=most, requirements=fast)
        assert all(plain.obeys(model.ids.tolist()) for model in path)
        assert all(model.ids.size <= max(most, len(plain.forced)) for model in path)


def test_forced_terms_are_the_smallest_model(make_problem):
    problem = make_problem(np.random.default_rng(0), n_features=4, significance=0.5)
    requirements, _ = both(problem.space, forced=range(7))
    engine = Restricted(make_engine("numba", problem), requirements)
    searches = restarts(engine, 15, 0, 2, requirements=requirements, n_models=10, max_iter=5)
    assert path_of(searches, engine, requirements=requirements)[0].ids.tolist() == list(range(7))
