"""Score cards: points by brute force, totals and risks by their definition, the cost of rounding, files and errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.explain.models import NAMES, model_of, table

from rfsc import RFSCClassifier, SearchSettings
from rfsc.card import ScoreCard, card
from rfsc.card.pieces import pieces_of
from rfsc.export import load, save

QUICK = {"n_restarts": 1, "size": 4, "random_state": 0, "search": SearchSettings(max_iter=15, n_models=40)}


def rows(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(20, 90, n).astype(float), "dose": rng.gamma(2.0, 3.0, n).round(1)})
    X["children"] = rng.integers(0, 4, n).astype(float)
    f = 0.07 * (X["age"] - 60) + 0.8 * np.maximum(0, X["dose"] - 5) - 1.5 * (X["children"] == 2)
    return X, np.where(rng.random(n) < expit(f), "ill", "well")


def rows_of(pieces, scale):
    """The rows of a card on which f = 1 is worth `scale` points."""
    return [row for piece in pieces.pieces for row in piece.rows(scale)]


@pytest.fixture(scope="module", params=["hinge", "step", "rule"])
def fitted(request):
    X, y = rows()
    return RFSCClassifier(basis=request.param, **QUICK).fit(X, y), X, y


@pytest.fixture(scope="module")
def hinges():
    X, y = rows()
    clf = RFSCClassifier(basis="hinge", **QUICK).fit(X, y)
    return clf, X, y, card(clf, X, y, cv=3)


def by_hand(points, X):
    """Totals as a person adds them up, from the words of the table alone."""
    total = np.zeros(len(X), dtype=int)
    for name, words, own in zip(points.feature, points.condition, points.points, strict=True):
        if words == "yes":
            total += own * X.eval(name.replace("=", "==").replace("<==", "<=")).to_numpy()
            continue
        x = X[name].to_numpy()
        if words.startswith("up to "):
            holds = x <= float(words[6:])
        elif words.startswith("above "):
            holds = x > float(words[6:])
        elif words.startswith("below "):
            holds = x < float(words[6:])
        elif " to " in words:
            low, high = words.split(" to ")
            holds = (x > float(low)) & (x < float(high[6:]) if high.startswith("below ") else x <= float(high))
        else:
            holds = x == float(words)
        total += own * holds
    return total


def test_totals_follow_from_the_words_of_the_table(fitted):
    clf, X, y = fitted
    found = card(clf, X, y, cv=None)
    assert np.array_equal(found.total(X), by_hand(found.points, X))
    assert found.points.points.max() <= 10
    counts = dict(zip(*np.unique(found.total(X), return_counts=True), strict=True))
    if "hinge" in clf.basis_:
        assert min(counts.values()) < 5
    low, high = found.risks.total[[0, -1]]
    assert low <= min(counts)
    assert max(counts) <= high
    shown = {total: n if (n := counts.get(total, 0)) >= 5 else 0 for total in range(low, high + 1)}
    assert shown == dict(zip(found.risks.total, found.risks.n_rows, strict=True))
    risks = found.to_html().partition("training rows")[2]
    assert ("<td>&lt;5</td>" in risks) == (" <5\n" in found.text()) == (0 in found.risks.middle()[0].n_rows)
    assert not any(f"<td>{n}</td></tr>" in risks for n in range(5))


def test_points_are_the_rounded_pieces_of_the_formula(fitted):
    """By brute force: every row's pieces, without tables; cuts were moved by at most a tenth of a range."""
    clf, X, y = fitted
    found, model = card(clf, X, y, cv=None), clf.models_[0]
    exact = model.decision(X.to_numpy())
    slope, intercept = np.polyfit(found.total(X), exact, 1)
    largest = pieces_of(clf, None, X.to_numpy()).largest
    unit = largest / found.points.points.max()
    n_pieces = len(set(found.points.feature))
    assert np.abs(found.total(X) * slope + intercept - exact).max() < 1.5 * unit * n_pieces
    assert slope == pytest.approx(found.slope, rel=0.35)


def test_each_piece_is_the_formula_along_its_feature():
    X = table()
    model = model_of("step", "hinge", seed=3, X=X)
    single = replace(model, terms=tuple(t for t in model.terms if len(t.features) < 2))
    single = replace(single, coef=model.coef[[t in single.terms for t in model.terms]], standard_error=None)
    found = pieces_of(single)
    scale = 1000 / found.largest  # so fine that rounding is next to nothing
    made = card(single, max_points=100)
    total = np.zeros(len(X))
    for row in rows_of(found, scale):
        holds = np.logical_and.reduce([bound.holds(X[:, bound.feature]) for bound in row.bounds])
        total += row.points * holds
    # cuts move by a tenth of a range of one point
    assert np.abs(found.lowest + total / scale - single.decision(X)).max() < 2 * len(found.pieces) / scale
    assert made.cost is None
    assert "without a table" in made.text()


def test_scale_and_line_are_the_best_by_brute_force(hinges):
    clf, X, _, found = hinges
    f = clf.models_[0].decision(X.to_numpy())
    p = expit(f)

    def loss(at, totals):
        value = at[0] + at[1] * totals
        return -np.mean(p * log_expit(value) + (1 - p) * log_expit(-value))

    own = minimize(loss, [0.0, 0.1], args=(found.total(X),), tol=1e-12)
    assert [found.intercept, found.slope] == pytest.approx(own.x, rel=1e-3)
    pieces = pieces_of(clf, None, X.to_numpy())
    best = np.inf
    for largest in np.arange(4, 42) / 4:
        totals = np.zeros(len(X))
        for row in rows_of(pieces, largest / pieces.largest):
            totals += row.points * row.bounds[0].holds(X.to_numpy()[:, row.bounds[0].feature])
        best = min(best, minimize(loss, [0.0, 0.1], args=(totals,), tol=1e-12).fun)
    assert own.fun <= best + 0.101 / len(X)


def test_risks_are_what_is_predicted(hinges):
    _, X, _, found = hinges
    total = found.total(X)
    proba = found.predict_proba(X)
    assert proba[:, 1] == pytest.approx(1 / (1 + np.exp(-(found.intercept + found.slope * total))))
    assert proba.sum(axis=1) == pytest.approx(1)
    assert found.risks.risk[np.searchsorted(found.risks.total, total)] == pytest.approx(proba[:, 1])


def test_order_of_the_rows_does_not_matter(hinges):
    clf, X, y, found = hinges
    order = np.random.default_rng(3).permutation(len(X))
    other = card(clf, X.iloc[order], y[order], cv=3)
    assert other.to_json() == found.to_json()


def test_a_row_of_weight_two_counts_as_two(hinges):
    clf, X, y, _ = hinges
    weight = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    weight[:5] = 0.0
    twice = np.repeat(np.arange(len(X)), weight.astype(int))
    one, other = card(clf, X, y, sample_weight=weight, cv=None), card(clf, X.iloc[twice], y[twice], cv=None)
    assert one.points.rows() == other.points.rows()
    assert (one.intercept, one.slope) == pytest.approx((other.intercept, other.slope), rel=1e-6)


def test_cost_is_that_of_cards_made_without_the_rows(hinges):
    """Each fold by hand with the public interface, on rows in the order that the card sorts them into."""
    clf, X, y, found = hinges
    order = np.lexsort((y == "well", *X.to_numpy().T))
    X, y = X.iloc[order], y[order]
    losses = np.empty((2, len(y)))
    for seen, left in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        own = clone(clf).fit(X.iloc[seen], y[seen])
        made = card(own, X.iloc[seen], y[seen], cv=None)
        for k, model in enumerate((made, own)):
            proba = model.predict_proba(X.iloc[left])
            losses[k, left] = -np.log(proba[np.arange(len(left)), (y[left] == "well").astype(int)])
    cost = found.cost
    assert [cost.log_loss, cost.formula_log_loss] == pytest.approx(losses.mean(axis=1))
    gap = losses[0] - losses[1]
    assert cost.difference == pytest.approx(gap.mean())
    assert cost.standard_error == pytest.approx(gap.std(ddof=1) / np.sqrt(len(gap)))
    assert f"left-out log-loss by {cost.difference:+.4f} ± {cost.standard_error:.4f}:" in found.text()


def test_rows_of_a_group_stay_together(monkeypatch):
    X, y = rows()
    groups = np.arange(len(y)) // 4
    clf = RFSCClassifier(basis="hinge", **QUICK).fit(X, y)
    seen = []
    fit = RFSCClassifier.fit

    def watched(self, X, y, sample_weight=None, groups=None):
        seen.append(np.unique(groups, return_counts=True)[1])
        return fit(self, X, y, sample_weight, groups)

    monkeypatch.setattr(RFSCClassifier, "fit", watched)
    assert card(clf, X, y, groups=groups, cv=2).cost.n_folds == 2
    assert all((counts == 4).all() for counts in seen)


def test_columns_of_text_in_a_pipeline(tmp_path):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"age": rng.normal(60, 12, 300).round(), "sex": rng.choice(["male", "female"], 300)})
    y = rng.random(300) < expit((X["age"] - 60) / 8 + 2.0 * (X["sex"] == "male") - 1)
    steps = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(drop="if_binary", sparse_output=False), ["sex"])
    )
    pipeline = make_pipeline(steps, RFSCClassifier(basis="hinge", **QUICK)).fit(X, y)
    found = card(pipeline, X, y, cv=2)
    assert found.cost is not None
    level = next(row for row in found.points.rows() if "sex" in row["feature"])
    assert level["condition"] == "yes"
    total = found.total(X)
    other = X.assign(sex=np.where(X["sex"] == "male", "female", "male"))
    assert set(np.abs(total - found.total(other))) == {abs(level["points"])}
    save(pipeline, tmp_path / "model.json")
    again = card(load(tmp_path / "model.json"), X, y)
    assert again.points.rows() == found.points.rows()
    assert "cannot be fitted again" in again.why_no_cost


def test_several_classes_have_a_card_each():
    X, y = rows()
    three = np.where(X["dose"] > 9, "high", y)
    clf = RFSCClassifier(basis="hinge", **QUICK).fit(X, three)
    with pytest.raises(ValueError, match="3 outputs, one for each class"):
        card(clf, X, three)
    found = card(clf, X, three, label="high", cv=2)
    assert found.label == "high"
    model = next(model for model in clf.models_ if model.label == "high")
    assert np.corrcoef(found.total(X), model.decision(X.to_numpy()))[0, 1] > 0.9
    assert np.isfinite(found.cost.difference)


def test_file_holds_the_card_and_no_row(hinges, tmp_path):
    _, X, _, found = hinges
    found.save(tmp_path / "card.json")
    again = ScoreCard.load(tmp_path / "card.json")
    assert again.text() == found.text()
    assert np.array_equal(again.predict_proba(X), found.predict_proba(X))
    assert again.to_json() == found.to_json()
    (tmp_path / "other.json").write_text(found.to_json().replace('"feature": 0', '"feature": 99'))
    with pytest.raises(ValueError, match="reads features that it does not name"):
        ScoreCard.load(tmp_path / "other.json")
    (tmp_path / "bad.json").write_text('{"format": "rfsc-card", "version": 1}')
    with pytest.raises(ValueError, match="cannot be read as a score card: a part is missing or unknown"):
        ScoreCard.load(tmp_path / "bad.json")


def test_frames_and_pages(hinges):
    *_, found = hinges
    assert list(found.points.to_frame().columns) == ["condition", "points"]
    assert list(found.risks.to_frame().columns) == ["risk", "n_rows"]
    page = found.to_html()
    assert page.startswith("<!doctype html>")
    assert "http" not in page
    hostile = replace(found, label="<script>")
    assert "<script>" not in hostile.to_html()


@pytest.mark.parametrize(
    ("family", "names"), [("polynomial", NAMES), ("radial", NAMES)], ids=["products", "functions of all features"]
)
def test_products_are_refused(family, names):
    model = model_of(family, seed=1, names=names, n_terms=12)
    with pytest.raises(ValueError, match="cannot be read off one feature at a time"):
        card(model)


def test_what_else_is_refused(hinges):
    clf, X, y, found = hinges
    with pytest.raises(ValueError, match="max_points"):
        card(clf, X, y, max_points=0)
    with pytest.raises(ValueError, match="one label for each of the 240 rows"):
        card(clf, X, y[:-1])
    with pytest.raises(TypeError, match="expected a fitted RFSCClassifier"):
        card(object())
    empty = replace(clf.models_[0], terms=clf.models_[0].terms[:0], coef=np.empty(0))
    with pytest.raises(ValueError, match="no term besides its intercept"):
        card(empty)
    gap = X.copy()
    gap.iloc[3, 0] = np.nan
    with pytest.raises(ValueError, match="missing values in 'age'"):
        found.total(gap)


def test_single_values_have_rows_of_their_own():
    X, _ = rows(400)
    y = np.random.default_rng(0).random(400) < np.where(X["children"] == 2, 0.1, 0.7)
    clf = RFSCClassifier(basis="rule", **QUICK).fit(X[["children"]], y)
    found = card(clf, X[["children"]], y, cv=None)
    assert np.array_equal(found.total(X[["children"]]), by_hand(found.points, X))
    values = {x: set(found.total(X[X["children"] == x][["children"]])) for x in range(4)}
    f = clf.models_[0].decision(np.arange(4.0)[:, None])
    assert all(len(one) == 1 for one in values.values())
    assert np.argmin([min(one) for one in values.values()]) == f.argmin() == 2


def test_of_few_values_each_gets_its_own_points():
    """A range ends at one of the values, so that each of them has exactly the points that its effect is worth."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"delays": rng.integers(0, 6, 500), "age": rng.normal(50, 10, 500)})
    y = rng.random(500) < expit(0.6 * X["delays"] + 0.05 * (X["age"] - 50) - 1.5)
    clf = RFSCClassifier(basis="hinge", **QUICK).fit(X, y)
    found = card(clf, X, y, cv=None)
    few = pd.DataFrame({"delays": np.arange(6), "age": 50.0})
    effect = clf.decision_function(few)
    (piece,) = (one for one in pieces_of(clf, None, X.to_numpy(float)).pieces if one.name == "delays")
    np.testing.assert_allclose(np.ptp(effect), piece.span, atol=1e-9)
    points = found.total(few) - found.total(few).min()
    assert np.abs(points - (effect - effect.min()) * points.max() / np.ptp(effect)).max() < 1.0
    ends = {found.points.condition[k] for k, name in enumerate(found.points.feature) if name == "delays"}
    assert ends <= {"up to 0", "0 to 1", "1 to 2", "2 to 3", "3 to 4", "above 4"}
