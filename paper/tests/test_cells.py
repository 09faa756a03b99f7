"""The store of finished folds: nothing is lost, nothing is taken for something else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper.cells import SLOW_PEERS, Cell, CellStore, Task

figures = st.floats(0, 1)
cells = st.builds(
    Cell,
    task=st.builds(
        Task,
        data=st.sampled_from(["Iris", "Wine"]),
        method=st.text(max_size=8),  # any name, line ends and quotes included
        folds=st.sampled_from(["stratified", "keel"]),
        seed=st.integers(0, 5),
        fold=st.integers(0, 9),
        fingerprint=st.text("0123456789abcdef", min_size=2, max_size=2),
    ),
    protocol=st.sampled_from(["honest", "paper", "keel"]),
    accuracy=figures,
    kappa=st.floats(-1, 1),
    confusion=st.lists(st.lists(st.integers(0, 99), min_size=2, max_size=2), min_size=2, max_size=2),
    n_features=st.floats(0, 60),
    n_terms=st.none() | figures,
    seconds=figures,
    log_loss=st.none() | st.floats(0, 35),
    terms_per_output=st.none() | st.floats(0, 60),
    auc=st.none() | figures,
    notes=st.none() | st.dictionaries(st.text(max_size=3), st.lists(st.text(max_size=3), max_size=2), max_size=2),
)


@given(st.lists(cells, max_size=6, unique_by=lambda cell: cell.task))
def test_what_was_added_comes_back_exactly(tmp_path_factory, found):
    path = tmp_path_factory.mktemp("store") / "deep" / "cells.jsonl"
    store = CellStore(path)
    for cell in found:
        store.add(cell.task, [cell, replace(cell, protocol="paper")])
    expected = [c for cell in found for c in (cell, replace(cell, protocol="paper"))]
    for each in (store, CellStore(path)):
        assert each.cells(cell.task for cell in found) == expected
        assert all(cell.task in each for cell in found)


def test_no_file_until_something_is_added(tmp_path, make_cell):
    cell = make_cell()
    store = CellStore(tmp_path / "cells.jsonl")
    assert cell.task not in store
    assert store.cells([cell.task]) == []
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change", [{"fingerprint": "g"}, {"seed": 1}, {"fold": 1}, {"method": "CNN"}, {"data": "Wine"}]
)
def test_other_task_is_not_found(tmp_path, make_cell, change):
    cell = make_cell()
    CellStore(tmp_path / "c").add(cell.task, [cell])
    store = CellStore(tmp_path / "c")
    assert cell.task in store
    assert replace(cell.task, **change) not in store


@pytest.mark.parametrize("n_lost", [1, 2, 20, 100])
def test_cut_off_last_line(tmp_path, make_cell, n_lost):
    first, second, third = (make_cell(fold=fold) for fold in range(3))
    path = tmp_path / "cells.jsonl"
    for cell in (first, second):
        CellStore(path).add(cell.task, [cell])
    whole = path.read_bytes()
    path.write_bytes(whole[:-n_lost])
    store = CellStore(path)
    assert first.task in store
    assert (second.task in store) == (n_lost == 1)  # only the line's end is lost: the line itself is whole
    store.add(third.task, [third])
    store.add(second.task, [second])
    again = CellStore(path)
    assert again.cells([first.task, second.task, third.task]) == [first, second, third]


@pytest.mark.parametrize("line", ["", "[]", "3", "{}", '{"task": 1, "cells": []}', '{"task": {}, "cells": []}', "null"])
def test_foreign_lines_are_passed_over(tmp_path, make_cell, line):
    cell = make_cell()
    path = tmp_path / "cells.jsonl"
    path.write_text(line + "\n")
    CellStore(path).add(cell.task, [cell])
    assert CellStore(path).cells([cell.task]) == [cell]


def test_later_outcome_of_a_task_counts(tmp_path, make_cell):
    for accuracy in (0.5, 0.7):
        cell = make_cell(accuracy=accuracy)
        CellStore(tmp_path / "c").add(cell.task, [cell])
    assert [c.accuracy for c in CellStore(tmp_path / "c").cells([cell.task])] == [0.7]


def test_outcomes_of_slow_peers_beside_it_are_known_and_stay_as_they_are(tmp_path, make_cell):
    cell = make_cell()
    CellStore(tmp_path / SLOW_PEERS).add(cell.task, [cell])
    before = (tmp_path / SLOW_PEERS).read_bytes()
    store = CellStore(tmp_path / "cells.jsonl")
    assert store.cells([cell.task]) == [cell]
    other = make_cell(accuracy=0.25)
    store.add(cell.task, [other])
    assert CellStore(tmp_path / "cells.jsonl").cells([cell.task]) == [other]
    assert (tmp_path / SLOW_PEERS).read_bytes() == before
