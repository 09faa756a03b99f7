"""Every input of the catalogue has the outcome that stands there."""

from __future__ import annotations

import pytest

from rfsc import DistanceCorrelationFilter

from .files import FILES
from .rows import ROWS
from .tables import TABLES, WORKS
from .walk import (
    classifier,
    file_through,
    good_files,
    good_model,
    outcome,
    rows_through_predictions,
    table_through_estimator,
    table_through_report,
)

REPORTED = {  # reports take half a second each; `make torture` makes all of them
    "the whole range of doubles",
    "names that are markup",
    "names in two levels",
    "nothing but constants",
    "formula-like cells",
}


def named(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def test_the_catalogue_is_long_and_no_name_repeats():
    for catalogue in (TABLES, ROWS, FILES):
        assert len({case.name for case in catalogue}) == len(catalogue)
    assert len(TABLES) + len(ROWS) + len(FILES) >= 80


@named(TABLES)
def test_tables_through_the_estimator(case):
    table_through_estimator(case)


@named([case for case in TABLES if case.fit != WORKS])
def test_tables_that_are_refused_leave_a_fitted_estimator_as_it_was(case):
    X, y, weight = case.make()
    fitted = classifier()
    vars(fitted).update(vars(good_model()))
    before = dict(vars(fitted))
    outcome(lambda: fitted.fit(X, y, sample_weight=weight), case.fit)
    assert all(vars(fitted)[name] is value for name, value in before.items())


@named([case for case in TABLES if case.fit != WORKS])
def test_tables_that_are_refused_are_refused_by_the_filter_too(case):
    X, y, weight = case.make()
    estimator = DistanceCorrelationFilter()
    # the filter takes numbers only, so text is refused earlier
    said = "must hold numbers" if "both text and numbers" in case.fit else case.fit
    outcome(lambda: estimator.fit(X, y, sample_weight=weight), said)
    assert vars(estimator) == vars(DistanceCorrelationFilter())


@pytest.mark.slow
@named([case for case in TABLES if case.expected_report not in (None, WORKS) or case.name in REPORTED])
def test_tables_through_the_report(case):
    table_through_report(case)


@named(ROWS)
def test_rows_through_predictions(case):
    rows_through_predictions(case)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    good_files(path)
    return path


@pytest.mark.parametrize("command", ["fit", "predict"])
@named(FILES)
def test_files_through_the_command_line(case, command, folder):
    file_through(command, case, folder)


@pytest.mark.slow
@named([case for case in FILES if case.expected("report") != WORKS or case.name in REPORTED])
def test_files_through_reports_of_the_command_line(case, folder):
    file_through("report", case, folder)
