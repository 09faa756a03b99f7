"""Every input of the catalogue has the outcome that stands there."""

from __future__ import annotations

import os

import numpy as np
import pytest

from rfsc import DistanceCorrelationFilter

from .commands import COMMANDS, WRITERS
from .documents import DOCUMENTS, WAYS, document_through
from .files import FILES, ODD
from .rows import ROWS
from .signals import SIGNAL_COMMANDS, command_through_signals
from .tables import GROUPS, LABEL, TABLES, WORKS, good
from .walk import (
    classifier,
    command_through,
    file_through,
    full_disk_through,
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
    catalogues = (TABLES, ROWS, FILES, ODD, COMMANDS)
    for catalogue in catalogues:
        assert len({case.name for case in catalogue}) == len(catalogue)
    assert sum(map(len, (*catalogues, GROUPS, WRITERS))) > 700  # as docs/reliability.md says


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
    # the filter takes numbers only, so text and blanks are refused earlier
    said = f"{case.fit}|must hold numbers|Input X contains NaN"
    outcome(lambda: estimator.fit(X, y, sample_weight=weight), said)
    assert vars(estimator) == vars(DistanceCorrelationFilter())


@pytest.mark.parametrize("name", GROUPS)
def test_groups(name):
    make, expected = GROUPS[name]
    outcome(lambda: classifier().fit(good(), LABEL, groups=make()), expected)


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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(name, way):
    assert document_through(name, way, step=7 if name == "model" else 1) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_place_of_a_model_file(way):
    assert document_through("model", way) >= 20


@pytest.mark.slow
@named(ODD)
def test_odd_cells_and_names(case, folder):
    file_through("fit", case, folder)
    if "name" in case.name:
        file_through("predict", case, folder)


@named(COMMANDS)
def test_commands(case, folder):
    command_through(case, folder)


@pytest.mark.parametrize(
    "line",
    [pytest.param(line, marks=[pytest.mark.slow] * ("report" in " ".join(line))) for line in WRITERS],
    ids=" ".join,
)
def test_commands_on_a_full_disk(line, folder):
    full_disk_through(line, folder)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is forked")
@pytest.mark.parametrize("name", SIGNAL_COMMANDS)
def test_ctrl_c_at_every_stage(name, folder):
    command_through_signals(name, folder, np.linspace(0, 1, 12).tolist())
