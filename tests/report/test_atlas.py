"""A report with an atlas: other models that are as good."""

from __future__ import annotations

import json

import pytest
from sklearn.datasets import load_iris

from rfsc import RFSCClassifier
from rfsc.atlas import atlas
from rfsc.report import Report

from .conftest import QUICK
from .test_report import Page

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TITLE = "Models that are as good"


@pytest.fixture(scope="module")
def with_atlas():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = RFSCClassifier(**QUICK).fit(X, y)
    made = atlas(clf, X, y, max_models=40)
    return made, Report.from_estimator(clf, X, y, cv=None, atlas=made)


def test_section_with_features_replacements_and_picture(with_atlas):
    made, report = with_atlas
    page = Page(report.html())
    shown = "".join(page.texts).replace("\N{NO-BREAK SPACE}", " ")
    assert TITLE in shown
    assert made.lines()[0] in shown
    assert made.swaps.replacement[0] in shown
    assert all(name in shown for name in made.features.feature)
    assert sum(figure.section == "atlas" for figure in report.figures) == 3
    assert "#atlas" in report.html()
    assert '<section id="atlas"' in report.html()


def test_content_is_that_of_the_tables(with_atlas, report_two):
    made, report = with_atlas
    found = json.loads(report.json())["atlas"]
    assert found["features"] == made.features.rows()
    assert found["settings"]["sizes"] == [list(sizes) for sizes in made.settings.sizes]
    assert report_two.content["atlas"] is None
    assert TITLE not in report_two.html()
