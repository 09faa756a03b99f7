"""Tables of the study against figures of our choice."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from paper.accuracy_tables import Outcome, all_tables, family_table, rank_table, set_table, time_table
from paper.methods import TIME_REFERENCE
from paper.results import Results
from paper.synthetic import best_possible

SETS, FAMILIES = ("Iris", "Wine"), ("linear", "rules")
#             Iris  Wine  linear rules
ACCURACY = {
    "RFSC": (0.90, 0.80, 0.70, 0.60),
    "SVM": (0.95, 0.70, 0.65, 0.60),
    "forest": (0.85, 0.75, 0.60, 0.90),
}
LOSS = {"RFSC": (0.3, 0.4, 0.5, 0.6), "SVM": (0.2, 0.5, 0.4, 0.7), "forest": (0.9, 0.8, 0.7, 0.1)}
SECONDS = {"RFSC": 2.0, "SVM": 1.0, "forest": 5.0}


@pytest.fixture
def outcome(make_cell):
    cells = [
        make_cell(
            data,
            row,
            seed=seed,
            accuracy=ACCURACY[row][k] + 0.01 * (2 * seed - 1),  # 0.01 either way: the spread
            log_loss=LOSS[row][k],
            terms_per_output=5.0 + k if row == "RFSC" else None,
            seconds=SECONDS[row] * (k + 1),
        )
        for row in ACCURACY
        for k, data in enumerate((*SETS, *FAMILIES))
        for seed in (0, 1)
    ]
    same_as = {"RFSC": "RFSC", TIME_REFERENCE: "RFSC", "SVM": "SVM", "forest": "forest"}
    return Outcome(Results(cells), same_as, SETS, FAMILIES)


def test_accuracy_of_the_sets(outcome):
    table = set_table(outcome, "accuracy")
    assert table.head == ["method", "Iris", "Wine", "mean"]
    assert table.rows == [
        ["RFSC", "0.900 ± 0.010 (5.0)", "0.800 ± 0.010 (6.0)", "0.8500 (5.5)"],
        ["SVM", "0.950 ± 0.010", "0.700 ± 0.010", "0.8250"],
        ["forest", "0.850 ± 0.010", "0.750 ± 0.010", "0.8000"],
    ]
    assert table.best == {(1, 1), (0, 2), (0, 3)}


def test_lowest_log_loss_is_best(outcome):
    table = set_table(outcome, "log_loss")
    assert table.rows[0] == ["RFSC", "0.300 ± 0.000", "0.400 ± 0.000", "0.3500"]
    assert table.best == {(1, 1), (0, 2), (0, 3), (1, 3)}  # .35 twice
    assert "34.5" in " ".join(table.notes)


def test_synthetic_families_beside_what_is_possible(outcome):
    table = family_table(outcome, "accuracy")
    assert table.head == ["family", "best possible", "RFSC", "SVM", "forest"]
    ceiling = [best_possible(name)[0] for name in FAMILIES]
    assert table.rows[0] == ["linear", f"{ceiling[0]:.3f}", "0.700 (7.0)", "0.650", "0.600"]
    assert table.rows[-1] == ["mean", f"{np.mean(ceiling):.4f}", "0.6500", "0.6250", "0.7500"]
    assert table.best == {(0, 2), (1, 4)}
    assert "median 0.010" in table.notes[0]
    losses = family_table(outcome, "log_loss")
    assert losses.rows[1][1:] == [f"{best_possible('rules')[1]:.3f}", "0.600", "0.700", "0.100"]
    assert losses.best == {(0, 3), (1, 4)}


def test_ranks_on_the_sets_the_families_and_all(outcome):
    table = rank_table(outcome)
    assert table.head[1:4] == ["accuracy, six sets", "accuracy, synthetic", "accuracy, all"]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["RFSC"][:3] == ["1.50", "1.75", "1.62"]  # 2, 1; 1, 2.5
    assert rows["SVM"][:3] == ["2.00", "2.25", "2.12"]  # 1, 3; 2, 2.5
    assert rows["forest"][:3] == ["2.50", "2.00", "2.25"]
    assert rows["SVM"][3:] == ["1.50", "2.00", "1.75"]  # log-loss: 1, 2; 1, 3
    assert [row[0] for row in table.rows] == ["RFSC", "SVM", "forest"]
    p_value = friedmanchisquare(*ACCURACY.values()).pvalue
    assert f"accuracy, all (4): Friedman's test p = {p_value:.2g}" in table.notes[2]
    assert len(table.notes) == 6


def test_times_are_ratios_to_the_reference_under_whatever_name(outcome):
    table = time_table(outcome)
    assert [row[1:] for row in table.rows] == [["1"] * 3, ["0.5"] * 3, ["2.5"] * 3]


def test_equal_settings_are_shown_once(outcome):
    assert outcome.rows == ["RFSC", "SVM", "forest"]
    assert outcome.get("Iris", TIME_REFERENCE) == outcome.get("Iris", "RFSC")


def test_what_was_not_run_is_left_empty(make_cell):
    rows = {"RFSC": "RFSC", "SVM": "SVM"}
    part = Outcome(Results([make_cell("Iris", "RFSC", accuracy=0.5)]), rows, SETS, FAMILIES)
    tables = all_tables(part)
    assert tables["accuracy"].rows[0] == ["RFSC", "0.500", "", ""]  # one seed has no spread
    assert tables["accuracy"].rows[1] == ["SVM", "", "", ""]
    assert tables["log-loss"].rows[0] == ["RFSC", "", "", ""]
    assert tables["ranks"].notes == ["Ranks need two methods on two sets."]
    assert tables["times"].rows[0] == ["RFSC", "", "", ""]  # without the reference there is no ratio


def test_method_without_probabilities_takes_no_part_in_ranks_by_log_loss(make_cell):
    cells = [make_cell(data, row, log_loss=None if row == "C" else 0.1) for data in SETS for row in "ABC"]
    found = Outcome(Results(cells), {row: row for row in "ABC"}, SETS, ())
    assert set(found.ranks(SETS, "accuracy").names) == {"A", "B", "C"}
    assert set(found.ranks(SETS, "log_loss").names) == {"A", "B"}
    assert {row[0]: row[4] for row in rank_table(found).rows} == {"A": "1.50", "B": "1.50", "C": ""}
