"""The table of terms against statsmodels, scipy and brute force."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_iris

from rfsc import RFSCClassifier, SearchSettings
from rfsc._model import Evidence, Predictor
from rfsc._model.recipe import LevelOf, MissingIn, NumberOf, RawColumn, Recipe
from rfsc._terms import Term
from rfsc._terms.expression import Positive, Scaled, as_difference
from rfsc._terms.hinges import hinge
from rfsc.explain import term_table

from .models import FAMILIES, NAMES, model_of, table


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [1, 10, 0.1, 1] + [0, 50, 0, 3]
    y = (X[:, 0] + (X[:, 1] - 50) / 10 + 0.8 * rng.normal(size=300) > 0).astype(int)
    # size=None: nothing is shrunken
    search = SearchSettings(ridge=1e-9)
    clf = RFSCClassifier(basis="polynomial", size=None, n_restarts=3, search=search, random_state=0).fit(X, y)
    return clf, X, y


def test_errors_and_intervals_are_those_of_statsmodels(fitted):
    clf, X, y = fitted
    model = clf.models_[0]
    found = term_table(clf, level=0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = sm.GLM(y, model.columns(X).T, family=sm.families.Binomial()).fit(use_t=True, tol=1e-12)
    np.testing.assert_allclose(found.coef, oracle.params, rtol=1e-5)
    np.testing.assert_allclose(found.standard_error, oracle.bse, rtol=1e-4)
    np.testing.assert_allclose(found.t, oracle.tvalues, rtol=1e-4)
    np.testing.assert_allclose(found.p_value, oracle.pvalues, rtol=1e-3, atol=1e-12)
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), oracle.conf_int(0.1), rtol=1e-4)


def test_evidence_is_that_of_the_restarts(fitted):
    clf, _, _ = fitted
    found = term_table(clf)
    ids = [set(search.model.ids.tolist()) for search in clf.searches_[0]]
    offered = np.arange(clf.n_terms_[0])
    place = {name: int(j) for j, name in zip(offered, clf.term_names(offered), strict=True)}
    for name, share, rip in zip(found.term, found.share, found.rip, strict=True):
        assert share == pytest.approx(np.mean([place[name] in chosen for chosen in ids]))
        last = [search.history[-1].rips[np.array([place[name]])][0] for search in clf.searches_[0]]
        assert rip == pytest.approx(np.mean(last), abs=1e-4)


def spread_of(term):
    """Highest less lowest value of a term on a grid of [0, 1], with numbers far in the tails of bumps and ramps."""
    axes = np.meshgrid(*[np.linspace(0.0, 1.0, 201 if len(term.features) < 3 else 31)] * len(term.features))
    rows = {p: axis.ravel() for p, axis in zip(term.features, axes, strict=True)}
    return np.ptp(term.column(rows, axes[0].size))


def is_line_or_hinge(term):
    node = term.expression
    return isinstance(node, Scaled) or (isinstance(node, Positive) and as_difference(node.part) is not None)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("change", [0.1, 0.25])
def test_odds_ratio_is_what_happens_to_the_odds(family, change):
    """Move the feature, or the term itself, by what the table says, and compare the odds."""
    model = model_of(family, n_terms=30, seed=1)
    found = term_table(model, change=change)
    for j, (term, words) in enumerate(zip(model.terms, found.change, strict=True)):
        if not term.features:
            assert words == ""
            assert found.rows()[j]["odds_ratio"] is None
            continue
        coef = model.coef[j]
        if words == "no to yes":
            assert set(np.unique(term.column(model.scaling.table(table(1)), 60))) <= {0.0, 1.0}
            gap = 1.0
        elif not is_line_or_hinge(term):  # in the units of the term, as the equation writes it
            (weight,) = term.unscaled(model.scaling, expand=False).values()
            gap = float(words) * weight
            assert gap >= 0.98 * change * spread_of(term)  # bounds of waves and bumps may be wider
        else:  # in the units of the feature, where the term is a straight line
            alone = replace(model, terms=(term,), coef=np.ones(1), standard_error=None)
            (p,) = term.features
            low, high = 2 * model.scaling.half_minimum[p], 2 * (model.scaling.half_minimum + model.scaling.half_span)[p]
            end = high if words.startswith("+") else low
            rows = np.tile(table(1)[0], (2, 1))
            rows[:, p] = [end - float(words), end]
            gap = float(np.diff(alone.decision(rows))[0])
            assert gap == pytest.approx(change * spread_of(term), rel=0.02)
        assert found.odds_ratio[j] == pytest.approx(np.exp(coef * gap), rel=0.02 * (1 + abs(coef)))


def test_hinges_rise_where_the_table_says():
    """max(0, a-k) grows when a does, max(0, k-a) when a falls."""
    model = model_of("hinge", constant=False)
    span = 2 * model.scaling.half_span[0]
    up, down = Term(hinge(0, 1, 0.5, 50.0)), Term(hinge(0, -1, 0.5, 50.0))
    found = term_table(replace(model, terms=(up, down), coef=np.array([1.0, 2.0]), standard_error=None))
    assert [float(words) for words in found.change] == pytest.approx([0.05 * span, -0.05 * span], rel=0.01)
    np.testing.assert_allclose(found.odds_ratio, np.exp([0.05, 0.1]))


def test_a_hinge_changes_the_odds_by_no_more_than_its_range_allows():
    """max(0, k-a) with a knot near the left end reaches only a small value."""
    model, near = model_of("hinge", constant=False), Term(hinge(0, -1, 0.01, 50.0))
    found = term_table(replace(model, terms=(near,), coef=np.array([100.0]), standard_error=None), change=1.0)
    np.testing.assert_allclose(found.odds_ratio, np.exp(100.0 * 0.01))


def test_features_made_of_levels_change_from_no_to_yes():
    model = model_of("polynomial", n_terms=30)
    recipe = Recipe(
        (RawColumn("a", "number"), RawColumn("city", "text")),
        (NumberOf(0), MissingIn(0), LevelOf(1, ("Rome",)), LevelOf(1, ("Oslo",))),
        NAMES,
    )
    found = term_table(Predictor([model], [0, 1], recipe))
    lines = {name: words for name, words in zip(found.term, found.change, strict=True) if name in NAMES}
    assert lines
    assert all((words == "no to yes") == (name != "a") for name, words in lines.items())
    assert "no to yes" not in term_table(model).change  # a model alone does not know what its features are made of


def test_unknown_columns_are_absent():
    model = replace(model_of("step", seed=0), standard_error=None, evidence=None, worth=None)
    found = term_table(model)
    assert found.columns == ("term", "coef", "odds_ratio", "change")
    assert all(row["p_value"] is None and row["rip"] is None for row in found.rows())
    assert "naive" not in found.text()
    assert list(found.to_frame().columns) == ["coef", "odds_ratio", "change"]


def test_no_p_value_in_the_text_and_what_a_term_is_worth_comes_first():
    model = model_of("hinge")
    found = term_table(replace(model, worth=np.arange(len(model.terms)) / 1000.0))
    assert found.worth.tolist() == list(range(len(model.terms)))
    assert found.text().split()[:3] == ["term", "worth", "coef"]
    assert "p (naive)" not in found.text()
    assert found.p_value is not None


def test_rows_are_plain_and_frames_the_same():
    model = model_of("hinge", "step")
    found = term_table(model)
    rows = found.rows()
    assert [row["term"] for row in rows] == list(model.names)
    assert all(type(value) in (str, float, type(None)) for row in rows for value in row.values())
    frame = found.to_frame()
    assert frame.index.tolist() == list(model.names)
    np.testing.assert_array_equal(frame["coef"], model.coef)


def test_text_is_aligned_and_long_names_are_shortened():
    model = model_of("polynomial", names=("x" * 200, "b", "c", "d"))
    lines = term_table(model).text().splitlines()
    wide = [len(line) for line in lines[: len(model.terms) + 2]]
    assert max(wide) == min(wide)
    assert any("…" in line for line in lines)


def test_label_picks_the_output():
    X, y = load_iris(return_X_y=True)
    clf = RFSCClassifier(basis="step", n_restarts=1, random_state=0).fit(X, y)
    assert term_table(clf, label=2).term == clf.models_[2].names
    with pytest.raises(ValueError, match=r"has 3 outputs, one for each class\. Pass label, one of 0, 1, 2\.$"):
        term_table(clf)
    with pytest.raises(ValueError, match="label must be one of 0, 1, 2, got 'setosa'"):
        term_table(clf, label="setosa")


def test_bad_arguments():
    with pytest.raises(ValueError, match="change must be a positive number"):
        term_table(model_of("step"), change=0.0)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        term_table(model_of("step"), level=1.0)
    with pytest.raises(TypeError, match="expected a fitted RFSCClassifier"):
        term_table(NAMES)


def test_huge_coefficients_do_not_overflow():
    model = replace(model_of("step"), coef=np.full(len(model_of("step").terms), 1e5))
    assert "inf" in term_table(model).text()


def test_extra_terms_of_the_evidence_do_not_shift_the_columns():
    model = model_of("step")
    n = len(model.terms)
    more = (*model.terms, *model_of("hinge", constant=False).terms)
    rip = np.linspace(0, 1, len(more))[None].repeat(2, axis=0)
    evidence = Evidence(99, "score", more, NAMES, rip > 0.5, rip, ("converged",) * 2)
    np.testing.assert_allclose(term_table(replace(model, evidence=evidence)).rip, rip[0, :n])
