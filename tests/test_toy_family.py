"""A family of terms that only this test knows goes all the way: fit, file, SQL, ONNX, equation, plot, report."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from rfsc import RFSCClassifier
from rfsc._terms import Mention, Term, TermSpace
from rfsc._terms.expression import Divided, Number, Positive, Product, Scaled, Sum, bound, falling, minus
from rfsc.explain import definitions, equation, explain, legend, rounded, summary
from rfsc.export import load, save, to_onnx, to_sql

NAMES = ["age", "bmi"]


# the whole family


class TentSpace(TermSpace):
    """max(0, 1 - |x - c| / width) for every feature and centre."""

    def __init__(self, features, centres, width, is_named):
        self.features, self.centres, self.width, self.is_named = features, centres, width, is_named
        self.n_terms = len(features) * len(centres)

    def term(self, j):
        i, k = divmod(j, len(self.centres))
        p, centre = int(self.features[i]), self.centres[k]
        x = Scaled(p)
        sides = [Positive(minus(x, centre)), Positive(falling(x, centre))]
        parts = [Product((Number(-1.0), Divided(side, self.width))) for side in sides]
        tent = Positive(Sum((Number(1.0), *parts)))
        return Term(tent, (f"tent {k + 1} of ", Mention(p)) if self.is_named else None)


@dataclass(frozen=True)
class Tents:
    """Tents at evenly spaced centres."""

    n_centres: int = 5
    width: float = 0.25
    is_named: bool = True

    def space(self, training, rng):
        return TentSpace(training.features, np.linspace(0, 1, self.n_centres), self.width, self.is_named)


# where it goes


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal([50, 27], [10, 4], size=(200, 2)), columns=NAMES)
    y = np.where(np.abs(X["age"] - 50) + rng.normal(0, 3, 200) < 7, "inside", "outside")
    return X, y


@pytest.fixture(scope="module", params=[True, False], ids=["with a label", "named by its expression"])
def fitted(request):
    X, y = table()
    clf = RFSCClassifier(basis=Tents(is_named=request.param), n_restarts=2, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.8
    return clf


def test_names(fitted):
    (model,) = fitted.models_
    names = [name for name in model.names if name != "1"]
    assert names
    expected = "tent 3 of age" if fitted.basis.is_named else "max(0, 1 - max(0, age-0.5)/0.25 - max(0, 0.5-age)/0.25)"
    assert any(name.startswith(expected) for name in names)
    space = fitted.basis.space(type("Training", (), {"features": np.arange(2)}), None)
    assert [space.find(space.term(j).name(NAMES), NAMES) for j in range(10)] == list(range(10))


def test_saved_and_loaded(fitted, tmp_path):
    X, _ = table()
    save(fitted, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert again.models_[0].names == fitted.models_[0].names


def test_sql(fitted):
    X, _ = table()
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        X.to_sql("data", database, index=False)
        found = database.execute(to_sql(fitted, output="decision")).fetchall()
    np.testing.assert_allclose([row[0] for row in found], fitted.decision_function(X), rtol=1e-9, atol=1e-9)


def test_onnx(fitted):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, _ = table()
    content = to_onnx(fitted).SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (decision,) = session.run(["decision"], {"X": X.to_numpy()})
    np.testing.assert_allclose(decision.ravel(), fitted.decision_function(X), rtol=1e-9, atol=1e-9)


def test_explanations(fitted):
    X, _ = table()
    (model,) = fitted.models_
    for form in ("text", "latex", "html"):
        for units in ("scaled", "original"):
            assert equation(fitted, form=form, units=units)
    raw = model.unscaled()
    by_hand = sum(coef * term.column(X.to_numpy().T, len(X)) for term, coef in raw.items())
    np.testing.assert_allclose(by_hand, fitted.decision_function(X), rtol=1e-9, atol=1e-9)
    assert all(bound(term.expression, {0: (-1e3, 1e3), 1: (-1e3, 1e3)}) <= 1.0 for term in model.terms)
    assert 0.0 < rounded(fitted, 2).largest_change < np.inf
    assert all(name in summary(fitted) for name in model.names if name != "1")
    assert bool(definitions(fitted)) == fitted.basis.is_named  # what a label does not say is written out
    assert explain(fitted, X.iloc[0])
    legend(fitted)


def test_sympy(fitted):
    sympy = pytest.importorskip("sympy")
    X, _ = table()
    f = equation(fitted, form="sympy", units="original")
    by_hand = sympy.lambdify([sympy.Symbol(name, real=True) for name in NAMES], f)(*X.to_numpy().T)
    np.testing.assert_allclose(by_hand, fitted.decision_function(X), rtol=1e-9, atol=1e-9)


def test_plot_and_report(fitted):
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("jinja2")
    from matplotlib import pyplot as plt

    from rfsc.plots import CoefficientsDisplay
    from rfsc.report import Report

    X, y = table()
    assert CoefficientsDisplay.from_estimator(fitted).ax_.get_title(loc="left")
    plt.close("all")
    page = Report.from_estimator(fitted, X, y, cv=None, baselines={}).html()
    assert "tent" in page if fitted.basis.is_named else "max(0" in page


class FoldSpace(TermSpace):
    """|x - c| at the middle of every feature: a sum, which a formula must put in brackets."""

    def __init__(self, features):
        self.features, self.n_terms = features, len(features)

    def term(self, j):
        x = Scaled(int(self.features[j]))
        return Term(Sum((Positive(minus(x, 0.5)), Positive(falling(x, 0.5)))))


@dataclass(frozen=True)
class Folds:
    """One fold per feature."""

    def space(self, training, rng):
        return FoldSpace(training.features)


def test_sums_are_in_brackets():
    X, y = table()
    clf = RFSCClassifier(basis=Folds(), n_restarts=1, random_state=0).fit(X, y)
    names = {"max": np.maximum, **{name: X[name].to_numpy() for name in NAMES}}
    text = equation(clf, units="original", digits=12, tolerance=None)
    np.testing.assert_allclose(eval(text.removeprefix("f = "), names), clf.decision_function(X), rtol=1e-6)


def test_families_that_are_not_complete_are_refused():
    X, y = table()

    class Wrong:
        def __init__(self, space):
            self.made = space

        def space(self, training, rng):
            return self.made

    bare = FoldSpace(np.arange(2))
    bare.term = lambda j: Scaled(0)
    for space, words in ((None, "must return a TermSpace"), (bare, r"must give Term\(expression\)")):
        with pytest.raises(TypeError, match=words):
            RFSCClassifier(basis=Wrong(space)).fit(X, y)
    with pytest.raises(ValueError, match="frozen dataclass"):
        RFSCClassifier(basis=dataclass(Wrong)(None)).fit(X, y)
