"""Three ways to write a table, read back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper.tables import Table, best_cells

TABLE = Table(
    "small_one",
    "A title & more",
    ["method", "J_1", "50%"],
    [["a_b, c", "0.9 ± 0.1", ""], ["{x} $1 #2", "≤ 3", "–"]],
    frozenset({(0, 1), (1, 2)}),
    ["A note_with 100%.", "Another."],
)


def test_markdown():
    assert TABLE.markdown() == (
        "**A title & more**\n\n"
        "| method | J_1 | 50% |\n"
        "| --- | --- | --- |\n"
        "| a_b, c | **0.9 ± 0.1** |  |\n"
        "| {x} $1 #2 | ≤ 3 | **–** |\n"
        "\n- A note_with 100%.\n- Another.\n"
    )
    assert Table("n", "t", ["a"], [["b"]]).markdown() == "**t**\n\n| a |\n| --- |\n| b |\n"


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=8)


@given(st.lists(st.lists(texts, min_size=2, max_size=2), max_size=4))
def test_csv_comes_back_bare(rows):
    marked = frozenset((i, j) for i in range(len(rows)) for j in range(2))
    text = Table("n", "t", ["a", "b"], rows, marked, ["note"]).csv()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [["a", "b"], *rows]


def test_latex():
    text = TABLE.latex()
    assert r"a\_b, c & \textbf{0.9 $\pm$ 0.1} &  \\" in text
    assert r"\{x\} \$1 \#2 & $\leq$ 3 & \textbf{--} \\" in text
    assert r"method & J\_1 & 50\% \\" in text
    assert r"\caption{A title \& more. A note\_with 100\%. Another.}" in text
    assert r"\label{tab:small_one}" in text
    assert r"\begin{tabular}{lcc}" in text
    assert text.count(r"\hline") == 3


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1, max_size=12))
def test_latex_leaves_no_special_character_bare(cell):
    body = Table("n", "t", ["a"], [[cell]]).latex().split("\\hline\n")[2]
    (line,) = body.splitlines()
    line = line.removesuffix(r" \\")
    escapes = {r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^"}
    back, rest = "", line
    while rest:
        word = next((w for w in escapes if rest.startswith(w)), None)
        if word:
            back, rest = back + escapes[word], rest[len(word) :]
        elif rest[0] == "\\":
            assert rest[1] in "&%$#_{}"
            back, rest = back + rest[1], rest[2:]
        else:
            assert rest[0] not in "&%$#_{}~^"
            back, rest = back + rest[0], rest[1:]
    assert back == cell


# ---- the best of each column


def test_best_is_marked_per_group_and_column():
    values = [[0.9, None], [0.8, 0.5], [0.7, 0.6], [0.99, 0.99], [0.1, 0.2]]
    groups = ["honest", "honest", "printed", None, "printed"]
    # in the second column only one honest figure stands: nothing to be better than
    assert best_cells(values, groups, first_column=2) == {(0, 2), (2, 2), (2, 3)}


def test_figures_that_print_alike_are_best_together():
    values = [[0.90004], [0.90001], [0.8999], [None]]
    assert best_cells(values, [0] * 4, first_column=1) == {(0, 1), (1, 1)}
    assert best_cells(values, [0] * 4, first_column=1, digits=5) == {(0, 1)}


@pytest.mark.parametrize("values", [[], [[None], [None]], [[0.5]]])
def test_nothing_to_compare(values):
    assert best_cells(values, [0] * len(values), first_column=0) == frozenset()


@given(st.lists(st.tuples(st.sampled_from([0.25, 0.5, 0.75, None]), st.sampled_from(["a", "b", None])), max_size=8))
def test_best_by_definition(rows):
    values, groups = [[v] for v, _ in rows], [g for _, g in rows]
    expected = set()
    for i, (value, group) in enumerate(rows):
        peers = [v for v, g in rows if g == group and v is not None]
        if group is not None and value is not None and len(peers) > 1 and value == max(peers):
            expected.add((i, 3))
    assert best_cells(values, groups, first_column=3) == expected
