"""Rules: which rows they hold on, which are offered, how they are numbered, named and tested."""

from __future__ import annotations

import operator
import tracemalloc
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from rfsc import RFSCClassifier
from rfsc._terms import score_tests
from rfsc._terms.expression import conditions_of
from rfsc._terms.rules import Rule
from rfsc._terms.score_tests import ScoreTest, strongest
from tests.reference import naive_screening as naive

from .layout import all_names, all_terms, lay_out, rows, training_of

COMPARE = {">": operator.gt, "<=": operator.le, "=": operator.eq}
NAMES = ["age", "lactate", "sex", "stage"]


def naive_rows(term, X):
    """Whether a rule holds, row by row, from what its name shows."""
    held = [(one.part.feature, COMPARE[one.relation], one.shown) for one in conditions_of(term.expression)]
    return [float(all(compare(x[p], shown) for p, compare, shown in held)) for x in X]


@given(X=rows(), n_knots=st.integers(1, 4), most=st.integers(1, 3), seed=st.integers(0, 99))
def test_columns_are_what_the_names_say_of_the_raw_rows(X, n_knots, most, seed):
    space, training = lay_out(Rule(n_knots=n_knots, max_conditions=most), X)
    ids = np.random.default_rng(seed).permutation(space.n_terms)[:50]
    for term, column in zip(space.terms(ids), space.columns(training.table, ids), strict=True):
        assert column.tolist() == naive_rows(term, X)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("features", [[0, 1, 2, 3], [2, 0, 3]])
def test_every_rule_is_offered_once(most, features):
    """Against all conjunctions of thresholds and levels, on a table that holds every combination of its values."""
    values = [0.5, 1.5, 2.5, 3.5], [1, 2, 3], [0, 1], [0, 1, 2, 7]
    X = np.array(list(product(*values)), dtype=float)
    space, training = lay_out(Rule(n_knots=2, max_conditions=most), X, features=features)
    above = space.conditions.high == np.inf
    cuts = {p: space.conditions.shown_low[above & (space.conditions.feature == p)] for p in features} | {2: [0.5]}
    expected, one = set(), {}
    for p in features:
        above = [X[:, p] > k for k in cuts[p]]
        levels = [X[:, p] == v for v in values[p]] if p else []
        one[p] = [*above, *(~a for a in above), *levels, *(a & ~b for a, b in combinations(above, 2))]
    for size in range(1, most + 1):
        for some in combinations(features, size):
            boxes = (np.all(own, axis=0) for own in product(*(one[p] for p in some)))
            expected |= {frozenset([tuple(box), tuple(~box)]) for box in boxes}
    columns = space.columns(training.table, np.arange(space.n_terms)) > 0
    got = [frozenset([tuple(column), tuple(~column)]) for column in columns]
    assert len(set(got)) == len(got) == space.n_terms
    assert set(got) == expected


def test_names_intervals_and_levels():
    X = np.column_stack([[30, 50, 60, 70, 80, 90], [1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 1, 0], [1, 2, 3, 3, 2, 1]])
    space, _ = lay_out(Rule(n_knots=2), X)
    names = all_names(space, NAMES)
    assert {"age>55", "sex=1", "stage=2", "55<age<=75", "age>75 and sex=0", "age<=55 and stage>1.5"} <= set(names)
    assert "sex=0" not in names  # the opposite of sex=1
    assert "1.5<stage<=2.5" not in names  # stage=2
    assert len(set(names)) == space.n_terms


@pytest.mark.parametrize("most", [2, 3])
def test_rules_are_found_by_their_names_with_conditions_in_any_order(most):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 2)), rng.integers(0, 2, 60), rng.integers(1, 6, 60)])
    space = Rule(n_knots=2, max_conditions=most).space(training_of(X), rng)
    names = ["fish and chips", "age", "a and", "and b"]
    for j, term in enumerate(all_terms(space)):
        assert space.find(term.name(names), names) == j
        parts = term.name(names).split(" and ")
        if len(parts) == 2 and "fish" not in term.name(names) and "<age<" not in term.name(names):
            assert space.find(" and ".join(parts[::-1]), names) == j
    for name in ("age<=0.3", "age>1 and age>1", "age>99", " and ", "age and age", ""):
        assert space.find(name, names) is None


def test_parents_are_the_rules_with_one_condition_less():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 2)), rng.integers(0, 2, 60), rng.integers(1, 6, 60)])
    space, training = lay_out(Rule(n_knots=2, max_conditions=3), X)
    ids = np.arange(space.n_terms)
    columns = space.columns(training.table, ids)
    for j, parents in zip(ids.tolist(), space.parents(ids), strict=True):
        held = conditions_of(space.term(j).expression)
        n_features = len({one.part.feature for one in held})
        assert len(parents) == (n_features if n_features > 1 else 0)
        for parent in parents:
            own = conditions_of(space.term(parent).expression)
            if len(own) > 1:
                assert set(own) < set(held)
            else:  # the opposite stands for it too
                column = columns[parent]
                assert any(
                    np.array_equal(column, np.abs(one_column(one, training) - flip)) for one in held for flip in (0, 1)
                )


def one_column(condition, training):
    return COMPARE[condition.relation](training.table[condition.part.feature], condition.at).astype(float)


@given(X=rows(), shift=st.floats(-50, 50), most=st.integers(1, 2))
def test_moving_and_stretching_a_feature_changes_no_column(X, shift, most):
    space, training = lay_out(Rule(n_knots=3, max_conditions=most), X)
    other, moved = lay_out(Rule(n_knots=3, max_conditions=most), X[:, :2] * 4.0 + np.round(shift))
    same, _ = lay_out(Rule(n_knots=3, max_conditions=most), X[:, :2])
    assert other.n_terms == same.n_terms
    assert space.n_terms >= same.n_terms
    ids = np.arange(same.n_terms)
    np.testing.assert_array_equal(other.columns(moved.table, ids), same.columns(training.table[:2], ids))


def test_a_weight_counts_as_that_many_rows_and_zero_as_none(rng):
    X, weight = np.column_stack([rng.normal(size=(80, 2)), rng.integers(0, 4, 80)]), rng.integers(0, 4, 80)
    weighted, _ = lay_out(Rule(), X, weight)
    repeated, _ = lay_out(Rule(), np.repeat(X, weight, axis=0))
    assert all_names(weighted, NAMES) == all_names(repeated, NAMES)


def test_constant_features_have_no_rules():
    X = np.column_stack([np.full(20, 3.0), np.arange(20) % 2])
    assert all_names(lay_out(Rule(), X)[0], NAMES) == ["lactate=1"]
    space, training = lay_out(Rule(), X[:, :1])
    assert space.n_terms == 0
    assert space.columns(training.table, np.empty(0, np.int64)).shape == (0, 20)
    assert all(part.n_terms == 0 for part in space.parts(training.table, training.weight))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_knots": 0}, "n_knots must be an integer from 1 to 50, got 0"),
        ({"n_knots": 10**6}, "n_knots must be an integer from 1 to 50"),
        ({"max_conditions": 0}, "max_conditions must be an integer from 1 to 3"),
        ({"max_conditions": 4}, "max_conditions must be an integer from 1 to 3"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        Rule(**settings)


# ---- score tests


@pytest.fixture
def problem(rng):
    X = np.column_stack([rng.normal(size=(150, 3)), rng.integers(0, 2, 150), rng.integers(0, 4, 150)])
    target = np.where((X[:, 0] > 0) & (X[:, 1] > 0) ^ (rng.random(150) < 0.2), 1.0, -1.0)
    return X, target, rng.integers(1, 4, 150).astype(float)


@pytest.mark.parametrize("with_model", [False, True])
def test_pairs_are_tested_once_as_by_least_squares_on_their_columns(problem, with_model, monkeypatch):
    monkeypatch.setattr("rfsc._terms.rules.PAIR_FEATURES", 7)
    monkeypatch.setattr(score_tests, "AT_ONCE", 64)
    X, target, weight = problem
    space, training = lay_out(Rule(n_knots=3, max_conditions=3), X, weight)
    predictor = X[:, 0] - 0.5 * X[:, 2] if with_model else None
    test = ScoreTest.of_model(target, weight, predictor)
    residual, curvature = naive.residual_and_curvature(target, weight, predictor)
    found = [strongest(part, test, space.n_terms) for part in space.parts(training.table, weight)]
    assert np.array_equal(np.sort(np.concatenate([f.ids for f in found])), np.arange(space.n_terms))
    for pairs in found[1:3]:
        columns = space.columns(training.table, pairs.ids)
        for term, column, ours in zip(space.terms(pairs.ids), columns, pairs.statistic, strict=True):
            of = {one.part.feature for one in conditions_of(term.expression)}
            beside = [
                np.prod(
                    [one_column(c, training) for c in conditions_of(term.expression) if c.part.feature == p], axis=0
                )
                for p in of
            ]
            alone = naive.statistic(column, [], residual, curvature)
            assert ours == pytest.approx(min(alone, naive.statistic(column, beside, residual, curvature)), abs=1e-6)


def test_conditions_added_to_one_that_tells_all_do_not_stand_out(rng):
    X = rng.random((1_000, 12))
    target = np.where((X[:, 0] > 0.5) ^ (rng.random(1_000) < 0.1), 1.0, -1.0)
    space, training = lay_out(Rule(), X)
    single, pairs, *_ = (
        strongest(part, ScoreTest.of_model(target, np.ones(1_000)), 5)
        for part in space.parts(training.table, training.weight)
    )
    assert single.statistic[0] > 20
    assert pairs.statistic[0] < 5  # the best of 16,896 by chance has about 4


def test_wide_tables_are_numbered_and_screened_in_little_memory(rng):
    X = rng.normal(size=(1_000, 100))
    space, training = lay_out(Rule(), X)
    part = space.parts(training.table, training.weight)[1]
    assert part.n_terms == 100 * 99 // 2 * 16 * 16
    assert space.parts(training.table, training.weight)[2].n_terms == 100 * 99 // 2 * (44 * 44 - 16 * 16)
    tracemalloc.start()
    strongest(part, ScoreTest.of_model(np.where(X[:, 0] > 0, 1.0, -1.0), training.weight), 200)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def test_twenty_thousand_features_are_numbered():
    X = np.random.default_rng(0).normal(size=(20, 20_000))
    space, training = lay_out(Rule(max_conditions=3), X)
    assert space.n_terms > 10**15
    ids = np.array([0, space.n_terms // 2, space.n_terms - 1])
    names = [f"x{j}" for j in range(20_000)]
    assert [space.find(term.name(names), names) for term in space.terms(ids)] == ids.tolist()
    assert space.columns(training.table, ids).shape == (3, 20)


# ---- fits


@pytest.mark.parametrize("table", ["constant columns", "two values", "one class in every box", "weights of zero"])
def test_awkward_tables_give_a_sensible_model(table, rng):
    X, weight = rng.normal(size=(200, 8)), None
    if table == "constant columns":
        X[:, 1:] = 3.0
    if table == "two values":
        X = (X > 0.5).astype(float)
    y = (X[:, 0] > 0.2).astype(int)
    if table != "one class in every box":
        y ^= rng.random(200) < 0.1
    if table == "weights of zero":
        weight = (np.arange(200) % 2).astype(float)
    clf = RFSCClassifier(basis="rule", size=1, random_state=0).fit(X, y, sample_weight=weight)
    used = slice(None) if weight is None else weight > 0
    assert clf.score(X[used], y[used]) > 0.85
    assert np.isfinite(clf.predict_proba(X)).all()


def test_a_table_without_any_rule_gives_the_constant():
    X, y = np.ones((40, 2)), np.arange(40) % 2
    with pytest.warns(ConvergenceWarning, match="All features are constant"):
        assert RFSCClassifier(basis="rule", random_state=0).fit(X, y).models_[0].size == 0


def test_levels_of_a_text_column_are_named_as_statements():
    space, _ = lay_out(Rule(), np.column_stack([np.arange(20) % 2, np.arange(20) / 3]))
    names = all_names(space, ["sex=male", "age"])
    assert names[0] == "sex=male"
    assert any(name.startswith("not sex=male and age>") for name in names)
