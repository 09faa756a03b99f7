"""Verdicts at their edges: exactly printed, exactly printed less the slack, a hair below."""

from __future__ import annotations

import pytest

from paper import printed
from paper.methods import OURS, PAPER_ROWS
from paper.page import write_page
from paper.paper_tables import table_1
from paper.plan import Plan
from paper.results import Results
from paper.verdicts import judge, keel_lines, rank_line, table_of_verdicts

RFSC = OURS[0]
METHODS = [*OURS, *PAPER_ROWS]


def accuracy_of(data):
    return printed.PERFORMANCE["RFSC"][printed.SETS.index(data)][0]


def marks(make_cell, data, accuracy, n_terms):
    results = Results([make_cell(data, "RFSC", "paper", accuracy=accuracy, n_terms=n_terms)])
    (row,) = table_of_verdicts(results, [RFSC], [data]).rows
    assert row[:3] == [data, f"{accuracy_of(data):.4f}", f"{printed.SIZES[data].terms_used:.1f}"]
    verdict = judge(results, RFSC, [data])
    return [text.split(" ", 1)[1] for text in row[3:5]], verdict


@pytest.mark.parametrize("data", printed.SETS)
@pytest.mark.parametrize(
    ("shift", "mark"),
    [
        (+0.0001, "(above)"),
        (+0.00004, "(reached)"),  # prints alike
        (0.0, "(reached)"),
        (-0.0099, "(reached)"),
        (-0.01, "(reached)"),
        (-0.0101, "(**missed**)"),
        (-0.4, "(**missed**)"),
    ],
)
def test_marks_of_the_accuracy(make_cell, data, shift, mark):
    (found, _), verdict = marks(make_cell, data, accuracy_of(data) + shift, 1.0)
    assert found == mark
    assert verdict.above == ((data,) if mark == "(above)" else ())
    assert verdict.reached == (() if mark == "(**missed**)" else (data,))


@pytest.mark.parametrize("data", printed.SETS)
@pytest.mark.parametrize(
    ("shift", "mark"), [(-1, "(reached)"), (0.0, "(reached)"), (0.04, "(reached)"), (0.1, "(**larger**)")]
)
@pytest.mark.parametrize("accuracy", [0.0, 1.0])
def test_marks_of_the_size(make_cell, data, shift, mark, accuracy):
    (_, found), verdict = marks(make_cell, data, accuracy, printed.SIZES[data].terms_used + shift)
    assert found == mark
    assert verdict.small == (() if mark == "(**larger**)" else (data,))


def test_honest_figures_stand_beside_but_are_not_judged(make_cell):
    honest = make_cell("Iris", "RFSC", accuracy=0.1234, n_terms=99.0)
    paper = make_cell("Iris", "RFSC", "paper", accuracy=1.0, n_terms=1.0)
    (row,) = table_of_verdicts(Results([honest, paper]), [RFSC], ["Iris"]).rows
    assert row[3:] == ["1.0000 (above)", "1.0 (reached)", "0.1234"]
    (row,) = table_of_verdicts(Results([honest]), [RFSC], ["Iris"]).rows
    assert row[3:] == ["", "", "0.1234"]
    (row,) = table_of_verdicts(Results([]), [RFSC], ["Iris"]).rows
    assert row[3:] == ["", "", ""]


def test_optimism_is_said_in_the_head():
    table = table_of_verdicts(Results([]), OURS, ["Iris"])
    assert all("optimistic" in head for head in table.head if "paper protocol" in head)
    assert sum("optimistic" in head for head in table.head) == 2 * len(OURS)
    assert len(table.head) == len(table.rows[0]) == 3 + 3 * len(OURS)


def test_keel_lines(make_cell):
    right = make_cell("Iris", "KNN", "keel", accuracy=0.94, kappa=0.91)
    wrong = make_cell("Iris", "CNN", "keel", accuracy=0.9268, kappa=0.89)
    near = make_cell("Iris", "DGC+", "keel", accuracy=0.95)
    lines = keel_lines(Results([right, wrong, near]), ["Iris", "Sonar"])
    assert "1 of 2 pairs" in lines[0]
    assert "Iris 0.9500 (printed 0.9533)" in lines[1]
    assert keel_lines(Results([]), ["Iris"]) == []


def test_line_counts(make_cell):
    cells = [
        make_cell("Iris", "RFSC", "paper", accuracy=0.97, n_terms=9.0),
        make_cell("Wine", "RFSC", "paper", accuracy=0.5, n_terms=2.0),
    ]
    line = judge(Results(cells), RFSC, ["Iris", "Wine"]).line
    assert "reached on 1 of 2 sets (Iris)" in line
    assert "exceeded on 1 (target: 4)" in line
    assert "no more terms than printed on 1 of 2 sets (Wine)" in line
    assert "reached on all sets" in judge(Results(cells), RFSC, ["Iris"]).line
    assert "reached on 0 of 1 sets, exceeded on 0" in judge(Results(cells), RFSC, ["Wine"]).line


# ---- the rank among the small


def small_results(make_cell, accuracy, **terms):
    return Results(
        make_cell(data, name, accuracy=a, n_terms=terms.get(name))
        for name, a in accuracy.items()
        for data in ("Iris", "Wine")
    )


def test_rank_line_names_the_winner(make_cell):
    won = small_results(make_cell, {"RFSC": 0.9, "KNN": 0.8}, RFSC=5.0)
    line = rank_line(won, METHODS, ["Iris", "Wine"])
    assert "among 2 classifiers with at most 20 terms or features: RFSC, 1.00." in line
    assert "Ours" not in line


def test_rank_line_owns_up(make_cell):
    lost = small_results(make_cell, {"RFSC": 0.8, "PSO + LDA": 0.9, "KNN": 0.7}, RFSC=5.0)
    line = rank_line(lost, METHODS, ["Iris", "Wine"])
    # the winner rests on guesses, which is said here too
    assert "PSO + LDA (our reading), 1.00. Ours: RFSC, 2.00." in line
    too_large = small_results(make_cell, {"RFSC": 0.99, "CNN": 0.9, "KNN": 0.7}, RFSC=21.0)
    assert "CNN, 1.00. Ours are not among them." in rank_line(too_large, METHODS, ["Iris", "Wine"])


def test_rank_line_without_enough_to_rank(make_cell):
    assert "need two of them" in rank_line(Results([]), METHODS, ["Iris", "Wine"])


# ---- the page


def test_page_names_every_missed_bar(make_cell, illustration, tmp_path):
    good = {data: (accuracy_of(data) + 0.001, printed.SIZES[data].terms_used) for data in printed.SETS}
    ours = {**good, "Sonar": (accuracy_of("Sonar") - 0.02, 18.7), "Wine": (0.9944, 7.6), "Bupa": (0.78, 7.4)}
    cells = [
        make_cell(data, "RFSC", protocol, accuracy=a, n_terms=t)
        for data, (a, t) in ours.items()
        for protocol in ("paper", "honest")
    ]
    cells += [make_cell(data, "DGC", accuracy=1.0) for data in printed.SETS]
    methods = [RFSC, next(m for m in PAPER_ROWS if m.name == "DGC")]
    plan = Plan(methods=("RFSC", "DGC"))
    text = write_page(tmp_path, plan, Results(cells), methods, [table_1(["Iris"])], illustration).read_text("utf-8")
    assert "reached on 5 of 6 sets (Bupa, Ionosphere, Iris, WDBC, Wine), exceeded on 3 (target: 4)" in text
    assert "no more terms than printed on 5 of 6 sets (Bupa, Ionosphere, Iris, Sonar, WDBC)" in text
    lines = {line.split(" | ")[0].strip("| "): line for line in text.split("**Printed and ours**")[1].splitlines()}
    assert "0.8606 (**missed**) | 18.7 (reached)" in lines["Sonar"]
    assert "0.9944 (reached) | 7.6 (**larger**)" in lines["Wine"]
    assert "0.7800 (reached)" in lines["Bupa"]
    assert text.count("(**missed**)") == text.count("(**larger**)") == 1
    assert "DGC (our reading), 1.00. Ours: RFSC, 2.00." in text
    assert "quick look" not in text
    assert "This run covers" not in text


@pytest.mark.parametrize(
    ("partly", "said"),
    [
        ({"n_folds": 2}, "**This was a quick look** at 2 of 10 folds"),
        ({"sets": ("Iris", "Wine")}, "This run covers 2 of the paper's 6 data sets."),
    ],
)
def test_page_says_when_a_run_was_partial(illustration, tmp_path, partly, said):
    plan = Plan(methods=("RFSC",), **partly)
    text = write_page(tmp_path, plan, Results([]), [RFSC], [], illustration).read_text("utf-8")
    assert said in text
