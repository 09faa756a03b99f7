"""A whole run: files, resumption, independence of the number of processes, order of work."""

from __future__ import annotations

import json
import re

import pytest

from paper import plan as plan_module
from paper import reproduce as module
from paper.datasets import load
from paper.methods import all_methods
from paper.plan import Plan, cost
from paper.protocols import run_task
from paper.reproduce import reproduce
from paper.tables import replace_section

PLAN = Plan(
    sets=("Iris", "Wine"),
    methods=("RFSC", "KNN", "CNN", "DW-KNN"),
    protocols=("honest", "paper"),
    seeds=(0,),
    n_folds=2,
)
CHEAP = Plan(sets=("Iris", "Wine"), methods=("KNN", "CNN", "DW-KNN"), protocols=("honest",), seeds=(0,), n_folds=2)
TABLES = ["main", "table1", "table2", "table3", "table3_honest", "table4", "table5", "ranks"]
PICTURES = ["figure1.png", "figure2.png", "figure3.png", "ranks.png", "ranks_small.png"]


@pytest.fixture(autouse=True)
def no_figures(illustration, monkeypatch):
    """Figures take seconds; `finished` draws them once."""
    monkeypatch.setattr(module, "_draw_figures", lambda *_: illustration)
    monkeypatch.delenv("RFSC_DATA", raising=False)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, illustration):
    """One run with our own method in it, in this process."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "illustrate", lambda: illustration)
        patch.delenv("RFSC_DATA", raising=False)
        return reproduce(PLAN, folder, n_jobs=1)


def test_every_file_is_written(finished):
    folder = finished.parent
    assert finished.name == "REPRODUCTION.md"
    expected = {f"{name}.{end}" for name in TABLES for end in ("md", "csv", "tex")} | set(PICTURES)
    assert {path.name for path in folder.iterdir()} == expected | {"cells.jsonl", "REPRODUCTION.md"}
    for name in PICTURES:
        assert (folder / name).stat().st_size > 5_000


def test_page_holds_the_tables_and_links_the_pictures(finished):
    text = finished.read_text(encoding="utf-8")
    for name in TABLES:
        assert (finished.parent / f"{name}.md").read_text(encoding="utf-8") in text
    for name in PICTURES:
        assert f"]({name})" in text
    assert "**This was a quick look** at 2 of 10 folds" in text
    assert "This run covers 2 of the paper's 6 data sets." in text
    assert "KEEL's folds were not run" in text
    assert "DW-KNN (our reading)" in text
    assert "DW-KNN |" not in text


def timeless(page):
    """A page without the day and the load of its making."""
    return re.sub(r"on [-0-9]+ with|load [.0-9]+ at the end", "", page)


def test_result_does_not_depend_on_the_number_of_processes(finished, tmp_path):
    page = reproduce(PLAN, tmp_path, n_jobs=2)
    for name in TABLES:
        if name != "table5":  # times
            one, two = ((folder / f"{name}.csv").read_text() for folder in (finished.parent, page.parent))
            assert one == two, name
    text = [path.read_text(encoding="utf-8").partition("**Table 5")[0] for path in (finished, page)]
    assert timeless(text[0]) == timeless(text[1])
    figures = []
    for folder in (finished.parent, tmp_path):
        lines = map(json.loads, (folder / "cells.jsonl").read_text().splitlines())
        for_task = {json.dumps(line["task"]): line["cells"] for line in lines}
        for cells in for_task.values():
            for cell in cells:
                del cell["seconds"]
        figures.append(for_task)
    assert figures[0] == figures[1]


# ---- interruption


def test_interrupted_run_continues(counted, tmp_path, monkeypatch):
    n_before = 5

    def interrupt(task):
        if len(counted) == n_before:
            raise KeyboardInterrupt
        counted.append(task)
        return run_task(task)

    with monkeypatch.context() as patch:
        patch.setattr(module, "run_task", interrupt)
        with pytest.raises(KeyboardInterrupt):
            reproduce(CHEAP, tmp_path, n_jobs=1)
    assert not (tmp_path / "REPRODUCTION.md").exists()
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == n_before
    reproduce(CHEAP, tmp_path, n_jobs=1)
    assert sorted(counted) == sorted(CHEAP.tasks())  # all of them, none twice


def test_finished_run_runs_nothing_again(counted, tmp_path):
    text = timeless(reproduce(CHEAP, tmp_path, n_jobs=1).read_text(encoding="utf-8"))
    assert len(counted) == len(CHEAP.tasks())
    assert timeless(reproduce(CHEAP, tmp_path, n_jobs=1).read_text(encoding="utf-8")) == text
    assert len(counted) == len(CHEAP.tasks())


def test_more_folds_run_only_what_is_new(counted, tmp_path):
    reproduce(Plan(sets=("Iris",), methods=("KNN",), protocols=("honest",), seeds=(0,), n_folds=2), tmp_path, n_jobs=1)
    wider = Plan(sets=("Iris",), methods=("KNN", "CNN"), protocols=("honest",), seeds=(0,), n_folds=3)
    reproduce(wider, tmp_path, n_jobs=1)
    assert sorted(counted) == sorted(wider.tasks())


def test_missing_set_is_found_before_the_first_fit(counted, tmp_path, monkeypatch):
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    plan = Plan(sets=("Iris", "Bupa"), methods=("KNN",), protocols=("honest",), seeds=(0,))
    with pytest.raises(FileNotFoundError, match=r"bupa\.csv"):
        reproduce(plan, tmp_path / "out", n_jobs=1)
    assert not counted


def test_other_settings_and_other_data_are_run_again(counted, tmp_path, monkeypatch):
    plan = Plan(sets=("Iris",), methods=("KNN",), protocols=("honest",), seeds=(0,), n_folds=1)
    reproduce(plan, tmp_path, n_jobs=1)
    with monkeypatch.context() as patch:
        patch.setattr("paper.methods.Method.fingerprint", lambda *_: "other")
        reproduce(plan, tmp_path, n_jobs=1)
    assert [task.fingerprint.startswith("other-") for task in counted] == [False, True]
    iris = load("Iris")
    monkeypatch.setattr(plan_module, "load", lambda _: iris._replace(X=iris.X[::-1].copy()))
    reproduce(plan, tmp_path, n_jobs=1)
    assert len({task.fingerprint for task in counted}) == 3


def test_no_keel_folds_is_an_error(tmp_path, monkeypatch):
    monkeypatch.delenv("RFSC_DATA", raising=False)
    with pytest.raises(ValueError, match="nothing to run"):
        reproduce(Plan(sets=("Iris",), methods=("KNN",), protocols=("keel",)), tmp_path)


# ---- plans


def test_tasks_by_protocol(with_data):
    def folds(*protocols):
        plan = Plan(sets=("Iris", "Sonar"), methods=("RFSC", "KNN"), protocols=protocols, seeds=(4, 5), n_folds=3)
        return {(t.data, t.method, t.folds, t.seed) for t in plan.tasks()}

    both = {(data, method) for data in ("Iris", "Sonar") for method in ("RFSC", "KNN")}
    assert folds("honest") == {(*pair, "stratified", seed) for pair in both for seed in (4, 5)}
    # the optimistic protocol concerns ours alone
    assert folds("paper") == {(data, "RFSC", "stratified", seed) for data in ("Iris", "Sonar") for seed in (4, 5)}
    # KEEL has no folds of Sonar, and a method without randomness needs no second seed
    assert folds("keel") == {("Iris", "RFSC", "keel", 4), ("Iris", "RFSC", "keel", 5), ("Iris", "KNN", "keel", 4)}
    assert folds("honest", "paper", "keel") == folds("honest") | folds("keel")


def test_most_expensive_first_and_each_once():
    tasks = PLAN.tasks()
    costs = [cost(task) for task in tasks]
    assert costs == sorted(costs, reverse=True)
    assert len(set(tasks)) == len(tasks) == 2 * 4 * 2


def test_quick_plan():
    plan = Plan(methods=tuple(all_methods()), seeds=(3, 4)).quick()
    assert (plan.seeds, plan.n_folds) == ((3,), 2)
    assert {"RFSC", "RFSC, paper settings", "KNN", "DGC"} <= set(plan.methods)
    assert not {"DGC+", "SSMA+SFLSDE"} & set(plan.methods)


def test_quick_plan_with_nothing_left():
    with pytest.raises(ValueError, match=r"DGC\+: too slow"):
        Plan(methods=("DGC+",)).quick()


def test_section_of_a_page_is_replaced(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- main -->\nold\n<!-- /main -->\nafter\n")
    replace_section(page, "main", "new")
    assert page.read_text() == "before\n<!-- main -->\nnew\n<!-- /main -->\nafter\n"
    with pytest.raises(SystemExit, match=r"page\.md has no section other"):
        replace_section(page, "other", "new")
