"""The study from end to end with quick methods: sections, pictures, resumption, the command around it."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import accuracy as command
from paper import accuracy_study as module
from paper.accuracy_study import Study, run_study, run_task
from paper.methods import Method
from paper.printed import SETS
from paper.running import WEIGHT
from paper.study_methods import REFERENCE, VARIANTS, study_methods
from paper.synthetic import FAMILIES

SECTIONS = ["accuracy", "log-loss", "synthetic", "ranks", "times", "verdicts"]


def cheap_methods():
    """Stand for the rows; the second has the settings of the first, the last has no probabilities."""
    makers = {
        "RFSC": lambda _: make_pipeline(StandardScaler(), LogisticRegression()),
        REFERENCE: lambda _: make_pipeline(StandardScaler(), LogisticRegression()),
        "bayes": lambda _: GaussianNB(),
        "tree": lambda _: DecisionTreeClassifier(max_depth=4),
        "margin": lambda _: make_pipeline(StandardScaler(), LinearSVC()),
    }
    costs = {"tree": 9.0, "bayes": 2.0}
    return {n: Method(name=n, make=make, kind="today", cost=costs.get(n, 1.0)) for n, make in makers.items()}


STUDY = Study(
    methods=tuple(cheap_methods()),
    sets=("Iris", "Wine"),
    families=("linear", "rules", "three classes"),
    seeds=(0, 1),
    n_folds=2,
    n_draws=2,
)
N_TASKS = 4 * (2 * 2 * 2 + 3 * 2)


@pytest.fixture(autouse=True)
def quick_rows(monkeypatch):
    monkeypatch.setattr(module, "study_methods", cheap_methods)
    monkeypatch.delenv("RFSC_DATA", raising=False)


def test_sections_and_pictures(counted, tmp_path):
    sections = run_study(STUDY, tmp_path / "deep", n_jobs=1, link="accuracy")
    assert list(sections) == SECTIONS
    assert len(counted) == len(set(counted)) == N_TASKS
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"cells.jsonl", "ranks.png", "ranks_log_loss.png"}
    assert all((tmp_path / "deep" / name).stat().st_size > 5_000 for name in module.PICTURES.values())
    assert f"{REFERENCE} has the settings of RFSC." in sections["accuracy"]
    assert "**This was a quick look** at 2 of 10 folds of seed 0, 1 and 2 of 5 draws." in sections["accuracy"]
    assert "| RFSC | **0." in sections["accuracy"]
    assert "| margin |  |  |  |" in sections["log-loss"]
    assert "| three classes | 0." in sections["synthetic"]
    assert "accuracy, all (5): Friedman's test p = " in sections["ranks"]
    assert "](accuracy/ranks.png)" in sections["ranks"]
    assert "](accuracy/ranks_log_loss.png)" in sections["ranks"]
    assert "| RFSC | 1 | 1 | 1 |" in sections["times"]
    warning, _, *verdicts = sections["verdicts"].splitlines()
    assert warning.startswith("**This was a quick look**")
    assert sum("not judged" in line for line in verdicts) == len(verdicts) - 2  # all but the floors of Iris and Wine
    # no stand-in has terms of an output, so the size that the floors ask for is not shown to be kept
    assert sum("**MISSED**" in line for line in verdicts) == 2


def test_finished_study_runs_nothing_again_and_says_the_same(counted, tmp_path):
    first = run_study(STUDY, tmp_path, n_jobs=1)
    assert run_study(STUDY, tmp_path, n_jobs=1) == first
    assert len(counted) == N_TASKS


def test_interrupted_study_goes_on(counted, tmp_path, monkeypatch):
    def interrupt(task):
        if len(counted) == 7:
            raise KeyboardInterrupt
        counted.append(task)
        return run_task(task)

    with monkeypatch.context() as patch:
        patch.setattr(module, "run_task", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_study(STUDY, tmp_path, n_jobs=1)
    run_study(STUDY, tmp_path, n_jobs=1)
    assert sorted(counted) == sorted(STUDY.tasks())  # all of them, none twice


def test_other_settings_and_other_data_are_run_anew(counted, tmp_path, monkeypatch):
    small = replace(STUDY, methods=("bayes",), sets=(), families=("linear",), n_draws=1)
    run_study(small, tmp_path, n_jobs=1)
    other = Method(name="bayes", make=lambda _: GaussianNB(var_smoothing=0.1), kind="today")
    with monkeypatch.context() as patch:
        patch.setattr(module, "study_methods", lambda: {"bayes": other})
        run_study(small, tmp_path, n_jobs=1)
    monkeypatch.setitem(FAMILIES, "linear", FAMILIES["rules"])
    run_study(small, tmp_path, n_jobs=1)
    assert len(counted) == 3
    assert len({task.fingerprint for task in counted}) == 3


def test_missing_set_is_said_before_the_first_fit(counted, tmp_path, monkeypatch):
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"bupa\.csv"):
        run_study(replace(STUDY, sets=("Iris", "Bupa")), tmp_path, n_jobs=1)
    assert not counted


def test_tasks_dearest_first():
    tasks = STUDY.tasks()
    costs = [cheap_methods()[task.method].cost * WEIGHT.get(task.data, 1.0) for task in tasks]
    assert costs == sorted(costs, reverse=True)
    folds = {(t.seed, t.fold) for t in tasks if t.data == "Iris"}
    draws = {(t.seed, t.fold) for t in tasks if t.data == "linear"}
    assert folds == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert draws == {(0, 0), (1, 0)}
    assert {t.folds for t in tasks if t.data in FAMILIES} == {"synthetic"}


def test_quick():
    quick = Study(methods=("RFSC",), seeds=(4, 5)).quick()
    assert (quick.seeds, quick.n_folds, quick.n_draws, quick.is_whole) == ((4,), 2, 2, False)
    assert Study(methods=()).is_whole


# ---- the command


def test_plan_by_default_is_everything_but_the_slow():
    study = command.plan(command.read_options([]))
    assert study == Study(methods=tuple(name for name in study_methods() if name != "EBM"))
    assert set(VARIANTS) <= set(study.methods)
    assert study.sets == SETS


def test_plan_as_asked():
    arguments = ["--sets", "wine", "Linear", "--methods", "rfsc, AVERAGE", "rfsc", "--seeds", "3", "3", "--quick"]
    study = command.plan(command.read_options(arguments))
    assert study == Study(methods=("RFSC", "RFSC, average"), sets=("Wine",), families=("linear",), seeds=(3,)).quick()


def test_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match=r"--sets does not know moon\. Choose from: .*'Iris'.*'linear'"):
        command.plan(command.read_options(["--sets", "moon"]))


def test_command_writes_the_page_and_keeps_the_rest(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    marks = "\n".join(f"<!-- {name} -->\nas before\n<!-- /{name} -->" for name in [*SECTIONS, "recovery"])
    page.write_text(f"by hand\n{marks}\n")
    monkeypatch.setattr(command, "study_methods", cheap_methods)
    arguments = ["--quick", "--sets", "Iris", "linear", "--jobs", "1", "--output", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["accuracy.py", *arguments, "--write", str(page)])
    command.main()
    text = page.read_text()
    assert text.startswith("by hand\n")
    assert text.count("as before") == 1  # recovery is not ours
    assert "](out/ranks.png)" in text
    assert "The paper's six sets: accuracy" in capsys.readouterr().out
