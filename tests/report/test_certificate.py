"""A report with a certificate: its verdicts in place of naive intervals."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from rfsc import RFSCClassifier
from rfsc.certify import certify
from rfsc.report import Report

from .conftest import HOSTILE, QUICK
from .test_report import Page, refuse

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TITLE = "Which features to believe"


@pytest.fixture(scope="module")
def twins():
    """A table with a feature and its twin, its certificate, and a report."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=["age", "dose", "weight", "noise"])
    X["age in months"] = 12 * X["age"] + 0.5 * rng.normal(size=200)
    y = pd.Series(np.where(2 * X["age"] - X["dose"] + rng.logistic(size=200) > 0, "ill", "well"), name="state")
    clf = RFSCClassifier(**QUICK).fit(X, y)
    certificate = certify(clf, X, y, n_pairs=3, random_state=0, n_jobs=1)
    return certificate, Report.from_estimator(clf, X, y, cv=None, certificate=certificate)


def test_a_certificate_of_another_table_is_a_caution_or_refused(twins):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["age", "dose"])
    y = np.where(X["age"] + 0.3 * rng.normal(size=80) > 0, "ill", "well")
    clf = RFSCClassifier(**QUICK).fit(X, y)
    other = certify(clf, X[1:], y[1:], n_pairs=1, random_state=0, n_jobs=1)
    keys = [one["key"] for one in Report.from_estimator(clf, X, y, cv=None, certificate=other).content["cautions"]]
    assert "other_table" in keys
    assert "other_table" not in [one["key"] for one in twins[1].content["cautions"]]
    own = certify(clf, X, np.where(y == "ill", 1, 0), n_pairs=1, random_state=0, n_jobs=1)
    with pytest.raises(ValueError, match="about other classes than the model"):
        Report.from_estimator(clf, X, y, cv=None, certificate=own)


@pytest.fixture(scope="module")
def shown(twins):
    """The text of the page."""
    return "".join(Page(twins[1].html()).texts).replace("\N{NO-BREAK SPACE}", " ")


def test_all_of_the_certificate_is_shown(twins, shown):
    certificate = twins[0]
    assert any(" | " in unit for unit in certificate.clusters.unit)
    for table in (certificate.clusters, certificate.features, certificate.terms):
        assert len(table.unit) <= 30
        for text in (*table.unit, *table.verdict, *table.notes, *(table.stand_ins or ())):
            assert text in shown
    for line in certificate.lines():
        assert line in shown
    assert shown.index(TITLE) < shown.index("coefficient")


def test_what_is_naive_is_left_out(twins, shown, report_two, report_hostile):
    assert not re.search("naive|tability of|Agreement of the restarts|share of the repeated searches", shown)
    for plain in (report_two, report_hostile):
        text = "".join(Page(plain.html()).texts)
        assert TITLE not in text
        assert text.count("rfsc.certify.certify") == text.count("rfsc certify") == 1
        assert not re.search("naive|p-value.*<|tability of the", text)
    assert report_two.content["certificate"] is None
    assert {figure.section for figure in twins[1].figures} >= {"certificate", "model", "search"}
    assert not any("naive" in figure.svg + figure.caption for figure in twins[1].figures)


def test_json(twins):
    certificate, report = twins
    found = json.loads(report.json(), parse_constant=refuse)
    assert found == report.content
    assert found["certificate"]["features"] == certificate.features.rows()
    assert found["certificate"]["lines"][1:] == certificate.lines()
    assert found["certificate"]["lines"][0].startswith(
        "Features of this model: supported: dose; its cluster is supported:"
    )
    assert certificate.features.named()
    assert not any("p_value" in term for term in found["models"][0]["terms"])


def test_the_page_is_accessible(twins):
    tags = Page(twins[1].html()).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for tag, a in tags if tag == "a"} <= set(ids)
    assert ids.index("certificate") < ids.index("model")
    kinds = [tag for tag, _ in tags]
    assert kinds.count("caption") == kinds.count("table")
    assert kinds.count("figcaption") == kinds.count("figure") == len(twins[1].figures)
    assert "script" not in kinds


def test_hostile_names_are_text(hostile):
    clf, X, y = hostile
    certificate = certify(clf, X, y, n_pairs=1, random_state=0, n_jobs=1)
    named = set(certificate.features.unit) & set(HOSTILE)
    assert any("<" in name for name in named)
    page = Report.from_estimator(clf, X, y, cv=None, certificate=certificate).html()
    start = page.index('<section id="certificate"')
    section = page[start : page.index('<section id="model"')]
    found = Page(section)
    assert {tag for tag, _ in found.tags} & {"script", "img", "b"} == set()
    assert all(name in "".join(found.texts) for name in named)
    assert not any(name in section for name in named if "<" in name)


def test_long_tables_are_cut_and_say_so(twins):
    found = twins[1].content["certificate"]
    long = found | {"terms": found["terms"][:1] * 31}
    report = Report(twins[1].content | {"certificate": long}, twins[1].models, twins[1].figures)
    assert "the smallest P first, the first 30 of 31" in report.html()
