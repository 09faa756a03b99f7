"""A whole run: files, resumption, independence of the number of processes, order of work."""

from __future__ import annotations

import json

import pytest

from paper import reproduce as module
from paper.datasets import LOADERS, load_iris
from paper.methods import all_methods
from paper.protocols import run_task
from paper.reproduce import Plan, cost, quick_plan, reproduce

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
def one_illustration(illustration, monkeypatch):
    """The figures' search takes seconds and is the same for every run."""
    monkeypatch.setattr(module, "illustrate", lambda: illustration)
    monkeypatch.delenv("RFSC_DATA", raising=False)


class Recorder:
    """Stands for the progress bar."""

    def __init__(self):
        self.total, self.known, self.done, self.closed = 0.0, 0, 0.0, 0

    def start(self, total, n_known):
        self.total, self.known = total, n_known

    def advance(self, by, what):
        assert " on " in what
        self.done += by

    def close(self):
        self.closed += 1


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


def test_result_does_not_depend_on_the_number_of_processes(finished, tmp_path):
    page = reproduce(PLAN, tmp_path, n_jobs=2)
    for name in TABLES:
        if name != "table5":  # times
            one, two = ((folder / f"{name}.csv").read_text() for folder in (finished.parent, page.parent))
            assert one == two, name
    text = [path.read_text(encoding="utf-8").partition("**Table 5") for path in (finished, page)]
    assert text[0][0] == text[1][0]
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


def test_interrupted_run_goes_on(counted, tmp_path, monkeypatch):
    n_before = 5

    def interrupt(task):
        if len(counted) == n_before:
            raise KeyboardInterrupt
        counted.append(task)
        return run_task(task)

    with monkeypatch.context() as patch:
        patch.setattr(module, "run_task", interrupt)
        progress = Recorder()
        with pytest.raises(KeyboardInterrupt):
            reproduce(CHEAP, tmp_path, n_jobs=1, progress=progress)
    assert progress.closed == 1
    assert not (tmp_path / "REPRODUCTION.md").exists()
    before = list(counted)
    n_kept = len((tmp_path / "cells.jsonl").read_text().splitlines())
    assert n_kept == n_before
    progress = Recorder()
    reproduce(CHEAP, tmp_path, n_jobs=1, progress=progress)
    assert sorted(counted) == sorted(CHEAP.tasks())  # all of them, none twice
    assert progress.known == len(before)
    assert progress.done == pytest.approx(progress.total)
    assert progress.total == pytest.approx(sum(cost(task) for task in counted[n_before:]))


def test_finished_run_runs_nothing_again(counted, tmp_path):
    first = reproduce(CHEAP, tmp_path, n_jobs=1)
    text = first.read_text(encoding="utf-8")
    assert len(counted) == len(CHEAP.tasks())
    progress = Recorder()
    assert reproduce(CHEAP, tmp_path, n_jobs=1, progress=progress).read_text(encoding="utf-8") == text
    assert len(counted) == len(CHEAP.tasks())
    assert (progress.total, progress.known) == (0, len(CHEAP.tasks()))


def test_cells_of_an_older_version_give_the_same_files(finished, counted, tmp_path):
    lines = [json.loads(line) for line in (finished.parent / "cells.jsonl").read_text().splitlines()]
    for cell in (cell for line in lines for cell in line["cells"]):
        del cell["log_loss"], cell["terms_per_output"]
    (tmp_path / "cells.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    reproduce(PLAN, tmp_path, n_jobs=1)
    assert not counted
    for path in finished.parent.iterdir():
        if path.name != "cells.jsonl":
            assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_more_folds_run_only_what_is_new(counted, tmp_path):
    reproduce(Plan(sets=("Iris",), methods=("KNN",), protocols=("honest",), seeds=(0,), n_folds=2), tmp_path, n_jobs=1)
    wider = Plan(sets=("Iris",), methods=("KNN", "CNN"), protocols=("honest",), seeds=(0,), n_folds=3)
    reproduce(wider, tmp_path, n_jobs=1)
    assert sorted(counted) == sorted(wider.tasks())


def test_missing_set_is_found_before_the_first_fit(counted, tmp_path, monkeypatch):
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    plan = Plan(sets=("Iris", "Bupa"), methods=("KNN",), protocols=("honest",), seeds=(0,))
    progress = Recorder()
    with pytest.raises(FileNotFoundError, match=r"bupa\.csv"):
        reproduce(plan, tmp_path / "out", n_jobs=1, progress=progress)
    assert not counted
    assert progress.total == 0


def test_other_settings_are_run_anew(counted, tmp_path, monkeypatch):
    plan = Plan(sets=("Iris",), methods=("KNN",), protocols=("honest",), seeds=(0,), n_folds=1)
    reproduce(plan, tmp_path, n_jobs=1)
    monkeypatch.setattr("paper.methods.Method.fingerprint", lambda *_: "other")
    reproduce(plan, tmp_path, n_jobs=1)
    assert [task.fingerprint.startswith("other-") for task in counted] == [False, True]


def test_other_data_are_run_anew(counted, tmp_path, monkeypatch):
    plan = Plan(sets=("Iris",), methods=("KNN",), protocols=("honest",), seeds=(0,), n_folds=1)
    reproduce(plan, tmp_path, n_jobs=1)
    monkeypatch.setitem(LOADERS, "Iris", lambda return_X_y=False: _reversed(load_iris(), return_X_y))
    reproduce(plan, tmp_path, n_jobs=1)
    assert len({task.fingerprint for task in counted}) == 2


def _reversed(bunch, return_X_y):
    bunch.data, bunch.target = bunch.data[::-1].copy(), bunch.target[::-1].copy()
    return (bunch.data, bunch.target) if return_X_y else bunch


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


def test_dearest_first_and_each_once():
    tasks = PLAN.tasks()
    costs = [cost(task) for task in tasks]
    assert costs == sorted(costs, reverse=True)
    assert len(set(tasks)) == len(tasks) == 2 * 4 * 2


def test_quick_plan():
    plan = quick_plan(Plan(methods=tuple(all_methods()), seeds=(3, 4)))
    assert (plan.seeds, plan.n_folds) == ((3,), 2)
    assert {"RFSC", "RFSC, paper settings", "KNN", "DGC"} <= set(plan.methods)
    assert not {"DGC+", "SSMA+SFLSDE"} & set(plan.methods)


def test_quick_plan_with_nothing_left():
    with pytest.raises(ValueError, match=r"DGC\+: too slow"):
        quick_plan(Plan(methods=("DGC+",)))


@pytest.mark.parametrize("name", all_methods())
def test_fingerprint_tells_settings_apart_and_is_always_the_same(name):
    first, again = (all_methods()[name].fingerprint("Iris", "stratified") for _ in range(2))
    assert first == again
    estimator = all_methods()[name].estimator("Iris", "stratified", 0)
    # an address in the settings would make every process start from nothing
    assert " at 0x" not in str(estimator.get_params())


def test_fingerprint_depends_on_the_filter_and_the_folds():
    known = all_methods()
    paper, knn = known["RFSC, paper settings"], known["KNN"]
    assert paper.fingerprint("Iris", "stratified") != paper.fingerprint("WDBC", "stratified")
    assert knn.fingerprint("Iris", "stratified") != knn.fingerprint("Iris", "keel")
    assert known["KNN"].fingerprint("Iris", "keel") != known["KNN-A"].fingerprint("Iris", "keel")
