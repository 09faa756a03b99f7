"""What each feature does, in words, against the model itself."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rfsc import RFSCClassifier, SparseModel
from rfsc._terms import Term, monomial
from rfsc._terms.expression import Condition, Scaled
from rfsc._terms.hinges import hinge
from rfsc._terms.scaling import Scaling
from rfsc.explain import feature_effects
from rfsc.explain.effects import curves_of

from .models import FAMILIES, model_of, table

PIECE = re.compile(
    r"(?:jumps by (?P<jump>\S+) and )?"
    r"(?:(?P<way>rises|falls) by (?P<slope>\S+) per unit|(?:is )?flat)"
    r"(?: up to (?P<end>\S+))?"
)


def read_line(words, high):
    """Pieces of a bent line in words: end, slope and the jump before it."""
    for part in words.split(", then "):
        found = PIECE.fullmatch(part)
        slope = float(found["slope"] or 0) * (-1 if found["way"] == "falls" else 1)
        yield float(found["end"] or high), slope, float(found["jump"] or 0)


def read_steps(words, high):
    """The same of a staircase."""
    if " above " in words:
        by, at = words.split(" above ")
        return [(float(at), 0.0, 0.0), (high, 0.0, float(by))]
    parts = [part.removeprefix("then ").split(" up to ") for part in words.split(", ")]
    heights = [float(part[0]) for part in parts]
    ends = [*(float(part[1]) for part in parts[:-1]), high]
    return list(zip(ends, np.zeros(len(ends)), np.diff([0.0, *heights]), strict=True))


def read(words, high):
    return list(read_line(words, high) if "per unit" in words else read_steps(words, high))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)) * [1, 10, 0.01] + [0, 50, 0], columns=["dose", "age", "trace"])
    f = 2 * np.abs(X["dose"]) + 0.2 * np.maximum(0, X["age"] - 50) + (X["trace"] > 0)
    return X, np.where(f + rng.logistic(size=400) > 3.5, "ill", "well")


@pytest.mark.parametrize("basis", ["hinge", "step", ["hinge", "step"]])
@pytest.mark.parametrize("scaled", [False, True])
def test_words_are_what_the_model_does(rows, basis, scaled):
    """A slow twin: within each piece that is said, move one feature alone and compare the decision."""
    X, y = rows
    clf = RFSCClassifier(basis, size=7, n_restarts=1, random_state=0)
    clf = (make_pipeline(StandardScaler(), clf) if scaled else clf).fit(X, y)
    found = feature_effects(clf)
    assert found.rows()
    assert found.not_shown == ()
    for row in found.rows():
        name, (start, high) = row["feature"], (row["low"], row["high"])
        assert [start, high] == pytest.approx([X[name].min(), X[name].max()], abs=1e-12)
        before = None
        for end, slope, jump in read(row["effect"], high):
            near, far = start + (end - start) / 100, end - (end - start) / 100
            two = pd.DataFrame([X.median()] * 2).assign(**{name: [near, far]})
            f = clf.decision_function(two)
            assert f[1] - f[0] == pytest.approx(slope * (far - near), rel=6e-3, abs=1e-6)
            if before is not None:
                left, left_f, left_slope = before
                without = left_f + left_slope * (start - left) + slope * (near - start)
                assert f[0] - without == pytest.approx(jump, rel=0.02, abs=0.02)
            start, before = end, (far, f[1], slope)
        assert start == high


@given(st.sets(st.sampled_from(sorted(FAMILIES)), min_size=1), st.integers(0, 30))
def test_effects_and_the_other_terms_add_up_to_f(families, seed):
    model, X = model_of(*sorted(families), seed=seed), table(seed)
    curves = curves_of(model)
    alone = {j for curve in curves for j in curve.places}
    rest = [j for j in range(len(model.terms)) if j not in alone]
    assert not any(len(model.terms[j].features) == 1 for j in rest)
    total = model.coef[rest] @ model.columns(X)[rest]
    for curve in curves:
        total = total + curve.values(model.scaling.rows(X, [curve.feature])[curve.feature])
    np.testing.assert_allclose(total, model.decision(X), atol=1e-9)
    found = feature_effects(model)
    assert list(found.change) == sorted(found.change, reverse=True)
    assert set(found.not_shown) == {model.names[j] for j in rest if model.terms[j].features}
    for curve, change in zip(curves, found.change, strict=True):
        assert np.ptp(curve.values(model.scaling.rows(X, [curve.feature])[curve.feature])) <= change * (1 + 1e-3) + 1e-9


def made(*parts):
    """A model of two features from 0 to 100, of terms and coefficients."""
    scaling = Scaling.from_rows(np.array([[0.0, 0.0], [100.0, 100.0]]))
    terms, coef = tuple(term for term, _ in parts), np.array([coef for _, coef in parts])
    return SparseModel(terms, coef, None, scaling, ("age", "bmi"), "ill", 100.0, None)


X0 = Scaled(0)
AFTER_30, BEFORE_52 = Term(hinge(0, 1, 0.3, 30.0)), Term(hinge(0, -1, 0.52, 52.0))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([(Term(X0), 3.1)], "rises by 0.031 per unit"),
        ([(AFTER_30, 20.0)], "flat up to 30, then rises by 0.2 per unit"),
        ([(BEFORE_52, -20.0)], "rises by 0.2 per unit up to 52, then flat"),
        (
            [(BEFORE_52, -3.1), (Term(hinge(0, 1, 0.52, 52.0)), -1.0)],
            "rises by 0.031 per unit up to 52, then falls by 0.01 per unit",
        ),
        ([(Term(X0), 10.0), (AFTER_30, -10.0)], "rises by 0.1 per unit up to 30, then flat"),
        ([(Term(Condition(X0, ">", 0.5, 50.0)), 0.8)], "+0.8 above 50"),
        (
            [(Term(Condition(X0, ">", 0.5, 50.0)), 0.8), (Term(Condition(X0, ">", 0.7, 70.0)), -1.0)],
            "0 up to 50, +0.8 up to 70, then -0.2",
        ),
        (
            [(Term(X0), 10.0), (Term(Condition(X0, ">", 0.5, 50.0)), 0.8)],
            "rises by 0.1 per unit up to 50, then jumps by +0.8 and rises by 0.1 per unit",
        ),
        ([(Term(Condition(X0, "=", 0.3, 30.0)), -0.8)], "-0.8 at 30"),
        ([(Term(X0), 10.0), (Term(Condition(X0, "=", 0.0, 0.0)), 2.0)], "rises by 0.1 per unit, +2 at 0"),
        ([(monomial([0]), -4.0), (monomial([0, 0]), 4.0)], "lowest at 50, highest at 0"),
    ],
)
def test_words(parts, words):
    model = made(*parts, (monomial([0, 1]), 1.0), (monomial(()), 2.0))
    found = feature_effects(model)
    assert found.effect == (words,)
    assert (found.feature, found.not_shown) == (("age",), ("age*bmi",))
    assert found.terms == ("; ".join(term.name(("age", "bmi")) for term, _ in parts),)
    assert str(found).endswith("(not shown, because they read several features: age*bmi.)")
    assert found.to_frame().loc["age", "effect"] == words


def test_a_feature_made_of_a_level_goes_from_no_to_yes(rows):
    X, y = rows
    X = X[["dose"]].assign(sex=np.where(y == "ill", "male", np.where(X["age"] > 55, "male", "female")))
    made_of = ColumnTransformer([("sex", OneHotEncoder(drop="first"), ["sex"])], remainder="passthrough")
    pipe = make_pipeline(made_of, RFSCClassifier("hinge", n_restarts=1, random_state=0)).fit(X, y)
    found = feature_effects(pipe)
    (words,) = (row["effect"] for row in found.rows() if "sex" in row["feature"])
    f = pipe.decision_function(pd.DataFrame({"dose": [0.0, 0.0], "sex": ["female", "male"]}))
    assert words.endswith(" from no to yes")
    assert float(words.split()[0]) == pytest.approx(f[1] - f[0], rel=6e-3)


def test_no_terms_hostile_names_and_extreme_ranges():
    model = made((Term(X0), 3.1))
    nothing = feature_effects(replace(model, terms=(), coef=np.empty(0)))
    assert nothing.rows() == []
    assert "effect on f" in str(nothing)
    page = feature_effects(model.renamed(["<b>age</b>", "bmi"]))._repr_html_()
    assert "&lt;b&gt;age" in page
    assert "<b>" not in page
    for size in (1e-307, 1e308):
        scaling = Scaling.from_rows(np.array([[-size, 0.0], [size, 1.0]]))
        assert feature_effects(replace(model, scaling=scaling)).effect[0].split()[0] in ("rises", "lowest")
    with pytest.raises(ValueError, match="output must be between 0 and 0"):
        feature_effects(model, output=1)
