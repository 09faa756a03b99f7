"""The report as a whole: one content in two formats, no row of the table, and hostile names as plain text."""

from __future__ import annotations

import html
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import rfsc._utils.optional
from rfsc import Restrictions, RFSCClassifier
from rfsc.export.json_file import load, save
from rfsc.report import Report, cross_validated
from rfsc.report.document import unbroken

from .conftest import HOSTILE, LABELS, QUICK


class Page(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(params=["report_two", "report_three", "report_hostile"])
def report(request):
    return request.getfixturevalue(request.param)


def refuse(name):
    raise AssertionError(name)


def test_first_screen_has_the_question_the_formula_and_three_figures(two_classes, report_two):
    page, content = report_two.html(), report_two.content
    top = page[: page.index('<section id="cautions"')]
    texts = [text.strip() for text in Page(top).texts if text.strip()]
    assert content["question"].replace("\N{NO-BREAK SPACE}", " ") in " ".join(texts).replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(r"The model predicts whether state is well \(\d+ of 300 rows, \d+ %\) from", content["question"])
    assert [one["name"] for one in content["key_figures"]] == ["AUC", "log-loss", "accuracy"]
    assert all(one["value"].replace(" ", "\N{NO-BREAK SPACE}") in texts for one in content["key_figures"])
    assert 'class="equation"' in top
    size = two_classes[0].models_[0].size
    assert f"Models found in the same way as this one of {size} term" in content["headline"]


def test_the_first_figures_are_those_of_the_table_of_scores(two_classes):
    clf, X, y = two_classes
    report = Report.from_estimator(clf, X[:120], y[:120], baselines={"majority class": DummyClassifier()})
    score = report.content["score"]
    assert score["n_repeats"] == 3
    means = [{key: one["mean"] for key, one in method["scores"].items()} for method in score["methods"]]
    assert [score["figures"], score["class_shares"]] == means
    auc, loss, accuracy = report.content["key_figures"]
    assert auc["value"] == f"{means[0]['auc']:.3f}"
    assert (loss["value"], loss["aside"][:5]) == (f"{means[0]['log_loss']:.3f}", f"{means[1]['log_loss']:.3f}")
    assert accuracy["value"] == f"{100 * means[0]['accuracy']:.1f} %"
    one = report.content["performance"][0]
    assert one["auc_low"] < means[0]["auc"] == one["auc"] < one["auc_high"]
    assert any(f"AUC {means[0]['auc']:.3f}" in figure.svg for figure in report.figures)
    confusion = np.array(score["confusion"])
    assert confusion.sum() == pytest.approx(120)
    assert np.trace(confusion) / 120 == pytest.approx(means[0]["accuracy"], abs=0.01)


def test_calibration_is_shown_first_if_a_class_is_rare(two_classes):
    clf, X, y = two_classes
    keep = (y == "ill") | (np.arange(len(y)) % 8 == 0)
    report = Report.from_estimator(clf, X[keep], y[keep], cv=None)
    assert min(c["share"] for c in report.content["task"]["classes"]) < 0.2
    slope, intercept = (report.content["performance"][0][name] for name in ("slope", "intercept"))
    one = report.content["key_figures"][2]
    assert one["name"] == "calibration slope / intercept"
    assert one["value"] == f"{slope:.2f} / {intercept:.2f}".replace("-", "\N{MINUS SIGN}")


def test_warnings_of_the_fit_and_the_source_are_repeated(two_classes):
    report = Report.from_estimator(*two_classes, cv=None, warnings=["'age' is odd"], source="people.csv")
    for text in (report.html(), report.json()):
        assert "Warning" in text
        assert "is odd." in text
        assert "people.csv" in text


def test_methods_are_in_the_order_of_tripod_with_the_numbers(report_two):
    heads = [part["head"] for part in report_two.content["methods"]]
    expected = ["Source of data", "Outcome", "Predictors", "Sample size", "Missing data", "Model", "Validation"]
    assert heads == [*expected, "Performance"]
    text = " ".join(part["text"] for part in report_two.content["methods"])
    one = report_two.content["performance"][0]
    for number in ("300 rows", "5 fits", f"{one['auc_low']:.3f} to {one['auc_high']:.3f}", f"{one['slope']:.2f}"):
        assert number in text
    assert all(f"<strong>{head}.</strong>" in report_two.html() for head in heads)


def test_json_is_strict_and_has_a_version(report):
    content = json.loads(report.json(), parse_constant=refuse)
    assert (content["kind"], content["version"]) == ("rfsc report", 1)
    assert content == report.content
    assert len(report.json()) < 100_000


def test_page_holds_no_address_and_no_script(report):
    page = report.html()
    assert "://" not in page
    found = Page(page)
    for tag, attributes in found.tags:
        assert tag not in ("script", "iframe", "object", "embed", "base", "form")
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert len(page) < 900_000


def test_page_is_accessible(report):
    tags = Page(report.html()).tags
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for tag, a in tags if tag == "a"} <= set(ids)
    kinds = [tag for tag, _ in tags]
    assert kinds.count("caption") == kinds.count("table") > 3
    assert kinds.count("figcaption") == kinds.count("figure") == len(report.figures)
    assert all(a.get("aria-label") for tag, a in tags if tag == "svg")
    assert all("scope" in a for tag, a in tags if tag == "th")
    assert dict(tags)["html"] == {"lang": "en"}


def test_the_rule_is_stated(report_two, report_three):
    assert "f above zero predicts" in report_two.html()
    assert "The class with the largest f is predicted;" in report_three.html()
    assert "f above zero" not in report_three.html()


def test_hostile_names_are_text_everywhere(report_hostile):
    text = "".join(Page(report_hostile.html()).texts)
    for name in (*HOSTILE, *LABELS, "<i>target</i>", "<h1>{{ 6*6 }}</h1>"):
        assert name in text
    assert len({name for model in report_hostile.models for name in model.names}) > 3


def test_html_and_json_agree(report_two):
    content, page = report_two.content, report_two.html()
    assert content["headline"] in html.unescape(page).replace("\N{NO-BREAK SPACE}", " ")
    shown = "".join(Page(page).texts).replace("\N{NO-BREAK SPACE}", " ")
    for caution in content["cautions"]:
        assert caution["text"] in shown
    for method in content["score"]["methods"]:
        figure = f"{method['scores']['log_loss']['mean']:.3f}"
        assert figure in shown
    for term in content["models"][0]["terms"]:
        assert term["term"] in shown
    assert content["models"][0]["effects"]["rows"]
    for effect in content["models"][0]["effects"]["rows"]:
        words = effect["effect"].replace("-", "\N{MINUS SIGN}")
        assert words in shown
    assert content["settings"]["code"] in shown


def test_content_is_right(report_two, two_classes):
    clf, X, y = two_classes
    content = report_two.content
    counts = y.value_counts()
    assert {c["label"]: c["n_rows"] for c in content["task"]["classes"]} == counts.to_dict()
    assert content["task"]["target"] == "state"
    assert np.sum(content["score"]["confusion"]) == 300
    assert np.sum(content["score"]["confusion"], axis=1).tolist() == [counts["ill"], counts["well"]]
    terms = content["models"][0]["terms"]
    np.testing.assert_allclose([t["coef"] for t in terms], clf.models_[0].coef)
    spread = [(c * clf.models_[0].columns(X.to_numpy())[k]).std() for k, c in enumerate(clf.models_[0].coef)]
    np.testing.assert_allclose([t["influence"] for t in terms], np.abs(spread) / max(np.abs(spread)), atol=1e-12)
    used = {c["name"] for c in content["data"] if c["used"]}
    assert used == {X.columns[p] for p in clf.models_[0].features}


@pytest.mark.slow
def test_pyplot_keeps_no_figures_and_its_style_is_not_used(two_classes):
    import matplotlib.pyplot as plt

    plain = Report.from_estimator(*two_classes, cv=None).figures
    with plt.style.context("dark_background"):
        dark = Report.from_estimator(*two_classes, cv=None).figures
    assert [figure.svg for figure in dark] == [figure.svg for figure in plain]
    assert plt.get_fignums() == []


def test_figures_of_every_section(report_two, report_three):
    for report in (report_two, report_three):
        sections = {"score", "model", "effects", "sizes", "search"}
        assert {figure.section for figure in report.figures} == sections


def table_of_patients(n=120):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "name": [f"patient-{k:04d}-{rng.integers(1e9)}" for k in range(n)],
            "age": rng.normal(50, 10, size=n),
            "sex": rng.choice(["f", "m"], size=n),
        }
    )
    y = np.where(X["age"] / 10 + 2 * (X["sex"] == "m") + rng.logistic(size=n) > 6, "ill", "well")
    X.loc[::6, "age"] = np.nan
    return X, y


def patients_pipeline(X, y):
    columns = ColumnTransformer(
        [
            ("n", SimpleImputer(add_indicator=True), ["age"]),
            ("t", OneHotEncoder(drop="if_binary", sparse_output=False), ["sex"]),
        ],
        verbose_feature_names_out=False,
    )
    return make_pipeline(columns, RFSCClassifier(**QUICK)).fit(X, y)


def test_no_row_of_the_table_is_in_the_report():
    X, y = table_of_patients()
    report = Report.from_estimator(patients_pipeline(X, y), X, y, cv=2, baselines={})
    everything = report.html() + report.json()
    assert "patient-" not in everything
    assert not any(repr(value) in everything for value in X["age"].dropna().tolist())
    made = {f["name"]: (f["column"], f["definition"]) for f in report.content["features"]}
    assert made["sex_m"] == ("sex", "1 if “m”, else 0")
    assert "missing values become" in made["age"][1]
    data = {c["name"]: c for c in report.content["data"]}
    assert data["name"]["levels"] == []
    assert data["age"]["missing"] == pytest.approx(20 / 120)
    assert not data["name"]["used"]


def test_a_model_from_a_file_is_scored_on_the_rows_given(tmp_path):
    X, y = table_of_patients()
    pipeline = patients_pipeline(X, y)
    save(pipeline, tmp_path / "model.json")
    report = Report.from_estimator(load(tmp_path / "model.json"), X, y)
    assert report.content["cautions"][0]["key"] == "not_held_out"
    assert "Not held out" in report.html()
    assert report.content["score"]["methods"][0]["scores"]["accuracy"]["mean"] == pytest.approx(pipeline.score(X, y))
    fresh = Report.from_estimator(pipeline, X, y, cv=None)
    for row in fresh.content["models"][0]["sizes"]:
        assert row["equation"].startswith("f = ")
        row["equation"] = None  # a file holds one size only
    for key in ("models", "data", "features", "task"):
        assert report.content[key] == fresh.content[key]
    assert not report.content["settings"]["can_be_fitted_again"]
    assert fresh.content["settings"]["can_be_fitted_again"]


@pytest.mark.slow
def test_single_models_and_pipelines_with_pca():
    X, y = load_iris(return_X_y=True)
    clf = RFSCClassifier(**QUICK).fit(X, y)
    one = Report.from_estimator(clf.models_[1], X, y)
    X, y = X[50:], y[50:]
    assert [c["label"] for c in one.content["task"]["classes"]] == ["not 1", "1"]
    pipeline = make_pipeline(PCA(2), RFSCClassifier(**QUICK)).fit(X, y)
    rotated = Report.from_estimator(pipeline, X, y, cv=2, baselines={})
    assert {row["feature"] for row in rotated.content["models"][0]["effects"]["rows"]} <= {"pca0", "pca1"}
    assert rotated.content["task"]["n_features"] == 2
    assert [c["used"] for c in rotated.content["data"]] == [None] * 4
    assert rotated.html()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_without_terms():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, size=80)
    clf = RFSCClassifier(**QUICK | {"n_restarts": 1, "significance": 1e-6}).fit(X, y)
    assert clf.models_[0].size == 0
    report = Report.from_estimator(clf, X, y, cv=2, baselines={})
    assert "The formula has no terms" in report.html()
    assert {figure.section for figure in report.figures} == {"score"}
    assert "empty" in {caution["key"] for caution in report.content["cautions"]}


def test_a_score_can_be_passed(two_classes):
    clf, X, y = two_classes
    score = cross_validated(clf, X, y.to_numpy(), clf.classes_, cv=2)
    report = Report.from_estimator(clf, X, y, cv=score, target="mood", title="T")
    assert report.content["score"]["n_folds"] == 2
    assert report.content["task"]["target"] == "mood"
    assert [m["name"] for m in report.content["score"]["methods"]] == ["RFSC"]


def test_error_messages_show_no_label(two_classes):
    clf, X, y = two_classes
    with pytest.raises(
        ValueError, match=r"y holds labels that are not among the 2 classes of the model \(1\)"
    ) as caught:
        Report.from_estimator(clf, X, y.replace("ill", "secret"))
    assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="one label for each of the 300 rows"):
        Report.from_estimator(clf, X, y[:5])
    with pytest.raises(TypeError, match="expected a fitted RFSCClassifier"):
        Report.from_estimator(3, X, y)


def test_missing_packages_are_named_before_anything_is_fitted(two_classes, monkeypatch):
    there = rfsc._utils.optional.find_spec
    monkeypatch.setattr(rfsc._utils.optional, "find_spec", lambda name: None if name == "jinja2" else there(name))
    with pytest.raises(ImportError, match=r"A report needs jinja2: pip install 'rfsc\[report\]'"):
        Report.from_estimator(*two_classes, cv="never looked at")


@pytest.mark.slow
def test_progress_goes_to_stderr(two_classes, capsys):
    Report.from_estimator(*two_classes, cv=2, baselines={}, verbose=1)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[0] == "cross-validation: RFSC, fold 1 of 2"


def test_write_html(report_two, tmp_path):
    path = report_two.write_html(tmp_path / "r.html")
    assert path.read_text(encoding="utf-8") == report_two.html()
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_a_page_that_is_being_written_is_private(report_two, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(Path, "chmod", lambda part, _: seen.append(part.stat().st_mode & 0o777))
    report_two.write_html(tmp_path / "r.html")
    assert seen == [0o600]


def test_notebooks_show_the_page_in_a_sandboxed_frame(report_hostile):
    (tag, attributes), *others = Page(report_hostile._repr_html_()).tags
    assert tag == "iframe"
    assert not others
    assert attributes["sandbox"] is None  # as strict as can be
    assert attributes["srcdoc"] == report_hostile.html()


def test_formulas_break_between_summands_only():
    formula = "<var>f</var> = − 2·max(0, <var>a + b</var> − 3) + <var>c(</var><sup>2</sup> − 1"
    broken = unbroken(formula)
    assert broken.replace('<span class="summand">', "").replace("</span>", "") == formula
    assert broken.count("summand") == 3
    assert unbroken("<var>f</var> = 0").count("summand") == 1


def test_equations_beyond_double_precision_are_shown_on_the_unit_scale():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"tiny": rng.normal(size=80) * 1e-200, "huge": rng.normal(size=80) * 1e300})
    y = np.where(X["tiny"] / 1e-200 > 0, "yes", "no")
    # a square of a feature of range 1e-200 would need a coefficient of 1e400
    clf = RFSCClassifier(**QUICK | {"restrictions": Restrictions(force=["tiny^2"]), "n_restarts": 2}).fit(X, y)
    report = Report.from_estimator(clf, X, y, cv=None)
    assert json.loads(report.json())["models"][0]["equation"]["original"] is None
    assert "too large or too small to be written" in report.html()
    assert "With every feature on the scale from 0 to 1:" in report.html()
