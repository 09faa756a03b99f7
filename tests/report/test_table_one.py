"""Table 1, odds ratios and the worked example against pandas, statsmodels and the formula itself."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit
from sklearn.pipeline import make_pipeline

from rfsc import RFSCClassifier
from rfsc._model import Predictor
from rfsc.bases import Polynomial
from rfsc.report import Report
from rfsc.report.odds import nice
from rfsc.tables import TableEncoder

from .conftest import QUICK


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame({"age": rng.normal(60, 12, n).round(), "smokes": rng.integers(0, 2, n).astype(float)})
    y = pd.Series(np.where(rng.random(n) < expit((X.age - 60) / 10 + X.smokes - 0.5), "ill", "fit"), name="state")
    clf = RFSCClassifier(**QUICK | {"basis": Polynomial(degree=1), "size": 2}).fit(X, y)
    return clf, X, y


def lines_of(report):
    return {(line["column"], line["what"]): line["cells"] for line in report.content["table_one"]["lines"]}


def test_table_one(people):
    clf, X, y = people
    report = Report.from_estimator(clf, X, y, cv=None)
    assert report.content["table_one"]["heads"] == [
        f"all ({len(y)})",
        *(f"{k} ({(y == k).sum()})" for k in ("fit", "ill")),
    ]
    found = lines_of(report)
    for cell, rows in zip(found["age", "median [quartiles]"], (X, X[y == "fit"], X[y == "ill"]), strict=True):
        low, middle, high = (f"{rows.age.quantile(q):.4g}" for q in (0.25, 0.5, 0.75))
        assert cell == f"{middle} [{low}, {high}]"
    for cell, rows in zip(found["smokes", "yes, n (%)"], (X, X[y == "fit"], X[y == "ill"]), strict=True):
        assert cell == f"{int(rows.smokes.sum())} ({100 * rows.smokes.mean():.0f} %)"


def test_numbers_and_levels_written_as_text_are_described_as_the_model_reads_them(people):
    _, X, y = people
    raw = pd.DataFrame({"age": X.age.map("{:.0f} y".format), "smokes": np.where(X.smokes == 1, "Yes ", "no")})
    encoder = TableEncoder()
    model = make_pipeline(encoder, RFSCClassifier(**QUICK | {"basis": Polynomial(degree=1), "size": 2})).fit(raw, y)
    found = lines_of(Report.from_estimator(model, raw, y, cv=None))
    assert found["age", "median [quartiles]"][0] == "{1:.4g} [{0:.4g}, {2:.4g}]".format(
        *X.age.quantile([0.25, 0.5, 0.75])
    )
    counts = [cells[0] for (column, _), cells in found.items() if column == "smokes"]
    assert f"{int(X.smokes.sum())} ({100 * X.smokes.mean():.0f} %)" in counts


def test_small_groups_are_not_counted(people):
    clf, X, y = people
    odd = X.copy()
    odd["smokes"] = 0.0
    odd.loc[odd.index[(y == "fit")][:3], "smokes"] = 1.0
    odd.loc[odd.index[(y == "ill")][:9], "smokes"] = 1.0
    cells = lines_of(Report.from_estimator(clf, odd, y, cv=None))["smokes", "yes, n (%)"]
    assert cells[1] == "<5"
    assert cells[2].startswith("9 (")
    assert "12" not in cells[0]  # which would give 3 away


def test_weights_count_in_table_one(people):
    clf, X, y = people
    weight = np.where(X.smokes == 1, 3.0, 1.0)
    cells = lines_of(Report.from_estimator(clf, X, y, cv=None, sample_weight=weight))["smokes", "yes, n (%)"]
    assert cells[0].endswith(f"({100 * weight[X.smokes == 1].sum() / weight.sum():.0f} %)")


def test_odds_ratios_are_those_of_statsmodels(people):
    clf, X, y = people
    event = (y == "ill").astype(float)
    scaled = sm.Logit(event, clf.models_[0].columns(X.to_numpy()).T).fit(disp=0)
    model = replace(clf.models_[0], coef=scaled.params.to_numpy(), standard_error=scaled.bse.to_numpy())
    report = Report.from_estimator(Predictor([model], clf.classes_), X, y)
    found = {row["feature"]: row for row in report.content["models"][0]["odds_ratios"]}
    assert found["age"]["change"] == "per 20"
    assert found["smokes"]["change"] == "yes vs no"
    fit = sm.Logit(event, sm.add_constant(X)).fit(disp=0)
    for name, unit in (("age", 20.0), ("smokes", 1.0)):
        expected = np.exp(unit * np.array([fit.params[name], *fit.conf_int().loc[name]]))
        np.testing.assert_allclose([found[name][key] for key in ("odds_ratio", "low", "high")], expected, rtol=1e-5)


def test_a_bent_line_is_compared_at_two_values(people):
    _, X, y = people
    clf = RFSCClassifier(**QUICK | {"basis": "hinge", "size": 2}).fit(X[["age"]], y)
    (row,) = Report.from_estimator(clf, X[["age"]], y, cv=None).content["models"][0]["odds_ratios"]
    high, low = (float(end) for end in row["change"].split(" vs "))
    assert abs(low - X.age.quantile(0.25)) <= 1
    assert abs(high - X.age.quantile(0.75)) <= 1
    change = np.diff(clf.decision_function(pd.DataFrame({"age": [low, high]})))[0]
    assert row["odds_ratio"] == pytest.approx(np.exp(change))


def test_the_worked_example_adds_up(people, report_two):
    clf, X, _ = people
    report = Report.from_estimator(*people, cv=None)
    example = report.content["models"][0]["example"]
    typical = pd.DataFrame({"age": [np.sort(X.age)[(len(X) - 1) // 2]], "smokes": [float(X.smokes.mean() > 0.5)]})
    assert example["row"] == {"age": f"{typical.age[0]:g}", "smokes": f"{typical.smokes[0]:g}"}
    assert example["f"] == pytest.approx(clf.decision_function(typical)[0])
    assert f"= {expit(example['f']):.3f}" in report.html()
    for one in (example, report_two.content["models"][0]["example"]):
        assert sum(s["product"] for s in one["summands"]) == pytest.approx(one["f"], abs=1e-9)
        assert all(s["product"] == pytest.approx(s["coef"] * s["value"]) for s in one["summands"])
    assert json.loads(report.json())["models"][0]["example"] == example


@pytest.mark.parametrize(
    ("value", "unit"), [(17.0, 20.0), (9.0, 10.0), (0.23, 0.2), (400.0, 500.0), (1.2, 1.0), (5e-324, 5e-324)]
)
def test_units_are_round(value, unit):
    assert nice(value) == pytest.approx(unit)
    assert nice(5e-324) == 5e-324
