"""Verdicts: met, missed, too large, not run."""

from __future__ import annotations

import pytest

from paper.accuracy_bars import BARS, FLOORS, MEAN, Bar, verdict_lines
from paper.accuracy_tables import Outcome
from paper.printed import SETS
from paper.results import Results
from paper.study_methods import AVERAGE, DEFAULT


@pytest.fixture
def outcome(make_cell):
    """From (accuracy, terms) of the two rows to an outcome on all six sets, with exceptions by set."""

    def build(default=(0.9, 12.0), average=(0.91, 80.0), sets=SETS, **default_on):
        cells = []
        for data in sets:
            for row, (accuracy, terms) in ((DEFAULT, default_on.get(data, default)), (AVERAGE, average)):
                cells.append(make_cell(data, row, accuracy=accuracy, terms_per_output=terms))
        return Outcome(Results(cells), {DEFAULT: DEFAULT, AVERAGE: AVERAGE}, SETS, ())

    return build


def lines_of(outcome, bar):
    (line,) = verdict_lines(outcome, (bar,))
    return line


def test_mean_bars(outcome):
    lines = verdict_lines(outcome())
    assert lines[0] == (
        "mean of the six sets >= 0.895 with at most 15 terms per output on average: "
        "met by RFSC (RFSC 0.9000, 12.0 terms)"
    )
    assert lines[1] == f"mean of the six sets >= 0.907: met by {AVERAGE} ({AVERAGE} 0.9100, 80.0 terms)"


def test_missed_bar(outcome):
    assert lines_of(outcome((0.8949, 12.0)), BARS[0]).split(": ")[1] == "**MISSED** (RFSC 0.8949, 12.0 terms)"


def test_accurate_but_too_large(outcome):
    assert "**MISSED** (RFSC 0.9900, 15.1 terms)" in lines_of(outcome((0.99, 15.1)), BARS[0])
    assert "met by RFSC" in lines_of(outcome((0.895, 15.0)), BARS[0])  # the bars themselves count as reached
    assert "met by" in lines_of(outcome(average=(0.99, 99.0)), BARS[1])  # no limit there


def test_line_says_which_row_reaches_it(outcome):
    bar = Bar("Sonar", 0.8, (DEFAULT, AVERAGE))
    one = lines_of(outcome((0.75, 9.0), (0.82, 90.0)), bar)
    assert one == f"Sonar >= 0.8: met by {AVERAGE} (RFSC 0.7500, 9.0 terms; {AVERAGE} 0.8200, 90.0 terms)"
    assert f"met by RFSC and {AVERAGE} (" in lines_of(outcome((0.8, 9.0), (0.82, 90.0)), bar)
    assert "**MISSED** (" in lines_of(outcome((0.75, 9.0), (0.79, 90.0)), bar)


def test_floor_of_one_set(outcome):
    found = outcome(Wine=(0.9699, 6.0), Iris=(0.95, 16.0))
    lines = {line.split(" >=")[0]: line for line in verdict_lines(found)[-len(FLOORS) :]}
    assert list(lines) == list(FLOORS)
    assert "met by RFSC" in lines["Bupa"]
    assert "**MISSED** (RFSC 0.9699, 6.0 terms)" in lines["Wine"]
    assert "**MISSED** (RFSC 0.9500, 16.0 terms)" in lines["Iris"]


def test_what_was_not_run_is_not_judged(outcome):
    part = outcome((0.98, 12.0), sets=("Iris", "Wine"))
    lines = verdict_lines(part)
    assert lines[0].endswith("not judged (RFSC not run)")  # a mean of two sets is not that of six
    assert "met by" in next(line for line in lines if line.startswith("Iris"))
    assert next(line for line in lines if line.startswith("Sonar")).endswith(f"(RFSC not run; {AVERAGE} not run)")


def test_bars_as_asked_for():
    assert (BARS[0].where, BARS[0].at_least, BARS[0].rows, BARS[0].most_terms) == (MEAN, 0.895, (DEFAULT,), 15)
    assert (BARS[1].where, BARS[1].at_least, BARS[1].rows, BARS[1].most_terms) == (MEAN, 0.907, (AVERAGE,), None)
    single = {bar.where: bar.at_least for bar in BARS[2:5]}
    assert single == {"Ionosphere": 0.93, "WDBC": 0.97, "Sonar": 0.80}
    assert {bar.rows for bar in BARS[2:5]} == {(DEFAULT, AVERAGE)}
    assert {bar.where for bar in BARS[5:]} == set(SETS)
