"""The study from end to end with quick methods: sections, pictures, resumption, the command around it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from paper import accuracy as module
from paper.__main__ import main, parser, plan_of, study_of
from paper.accuracy import (
    BARS,
    BOX_FAMILIES,
    BOXES,
    FASTER_RISK,
    FLOORS,
    MEAN,
    SYNTHETIC,
    Bar,
    Study,
    run_study,
    run_task,
    verdict_lines,
)
from paper.accuracy_tables import Outcome
from paper.methods import DEFAULT, LARGER, TIME_REFERENCE, VARIANTS, Method, all_methods, study_methods
from paper.plan import Plan
from paper.printed import SETS
from paper.results import Results
from paper.synthetic import FAMILIES

SECTIONS = ["accuracy", "log-loss", "synthetic", "ranks", "times", "verdicts"]


def cheap_methods():
    """Stand for the rows; the second has the settings of the first, the last has no probabilities."""
    makers = {
        "RFSC": lambda _: make_pipeline(StandardScaler(), LogisticRegression()),
        TIME_REFERENCE: lambda _: make_pipeline(StandardScaler(), LogisticRegression()),
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
    assert f"{TIME_REFERENCE} has the settings of RFSC." in sections["accuracy"]
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
    assert sum("not judged" in line for line in verdicts) == len(verdicts) - 3  # all but Iris, Wine and rules
    # no stand-in has terms of an output, so the size that the floors ask for is not shown to be kept
    assert sum("**MISSED**" in line for line in verdicts) == 3


def test_finished_study_runs_nothing_again_and_reports_the_same(counted, tmp_path):
    first = run_study(STUDY, tmp_path, n_jobs=1)
    assert run_study(STUDY, tmp_path, n_jobs=1) == first
    assert len(counted) == N_TASKS


def test_interrupted_study_continues(counted, tmp_path, monkeypatch):
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


def test_other_settings_and_other_data_are_run_again(counted, tmp_path, monkeypatch):
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


def test_faster_risk_on_the_six_sets_is_that_by_size(monkeypatch, tmp_path):
    cheap = Method(
        name=FASTER_RISK, make=lambda _: DecisionTreeClassifier(max_leaf_nodes=9, random_state=0), kind="today"
    )
    monkeypatch.setattr(module, "study_methods", lambda: cheap_methods() | {FASTER_RISK: cheap})
    monkeypatch.setattr(
        module.by_size, "sized_methods", lambda k=15: {"FasterRisk": DecisionTreeClassifier(max_depth=3)}
    )
    monkeypatch.setattr(module.by_size, "models_of", by_depth)
    study = replace(STUDY, methods=("bayes", FASTER_RISK), families=("linear",), n_draws=1)
    assert {task.data for task in study.tasks() if task.method == FASTER_RISK} == {"linear"}
    sections = run_study(study, tmp_path, n_jobs=1)
    (row,) = [line for line in sections["accuracy"].splitlines() if line.startswith(f"| {FASTER_RISK}")]
    assert "±" not in row  # one seed
    assert row.count("0.") == 3
    assert "FasterRisk, 8 terms: seed 0 alone on the six sets" in sections["accuracy"]
    (times,) = [line for line in sections["times"].splitlines() if line.startswith(f"| {FASTER_RISK}")]
    assert times.startswith(f"| {FASTER_RISK} |  |  |")  # those of one fit for all sizes say nothing
    assert replace(study, seeds=(1,)).tasks_by_size() == []


def by_depth(method, fold, seed):
    return lambda k: DecisionTreeClassifier(max_depth=k, random_state=seed).fit(fold.X_train, fold.y_train)


def test_missing_set_is_reported_before_the_first_fit(counted, tmp_path, monkeypatch):
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"bupa\.csv"):
        run_study(replace(STUDY, sets=("Iris", "Bupa")), tmp_path, n_jobs=1)
    assert not counted


def test_tasks_most_expensive_first():
    tasks = STUDY.tasks()
    costs = [cheap_methods()[task.method].cost_on(task.data) for task in tasks]
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


# ---- the commands


def options_of(*arguments):
    return parser().parse_args(arguments)


def test_study_by_default_is_everything_but_the_slow():
    study = study_of(options_of("accuracy"))
    assert study == Study(methods=tuple(name for name in study_methods() if name != "EBM"))
    assert set(VARIANTS) <= set(study.methods)
    assert study.sets == SETS


def test_study_and_plan_as_requested():
    chosen = ["--sets", "Wine", "linear", "--methods", LARGER, "RFSC", "--seeds", "3", "3", "--quick"]
    study = study_of(options_of("accuracy", *chosen))
    assert study == Study(methods=("RFSC", LARGER), sets=("Wine",), families=("linear",), seeds=(3,)).quick()
    plan = plan_of(options_of("reproduce", "--sets", "Wine", "Iris", "--methods", "KNN", "--protocols", "keel"))
    assert plan == Plan(sets=("Iris", "Wine"), methods=("KNN",), protocols=("keel",))
    whole = plan_of(options_of("reproduce"))
    assert whole == Plan(methods=tuple(name for name in all_methods() if name != "EBM"))


def test_unknown_name_is_answered_with_the_known_ones(capsys):
    with pytest.raises(SystemExit):
        options_of("accuracy", "--sets", "moon")
    assert "'Iris'" in capsys.readouterr().err


def test_missing_data_end_the_command_with_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    assert main(["reproduce", "--sets", "Bupa", "--methods", "KNN", "--output", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith("Bupa is not available")


def test_command_writes_the_page_and_keeps_the_rest(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    marks = "\n".join(f"<!-- {name} -->\nas before\n<!-- /{name} -->" for name in [*SECTIONS, "recovery"])
    page.write_text(f"by hand\n{marks}\n")
    monkeypatch.setattr("paper.__main__.study_methods", cheap_methods)
    arguments = ["--quick", "--parts", "study", "--sets", "Iris", "linear", "--jobs", "1"]
    arguments += ["--methods", *cheap_methods()]
    assert main(["accuracy", *arguments, "--output", str(tmp_path / "out"), "--write", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("by hand\n")
    assert text.count("as before") == 1  # recovery was not requested
    assert "](out/ranks.png)" in text
    assert "The paper's six sets: accuracy" in capsys.readouterr().out


# ---- the accuracy that is required


@pytest.fixture
def outcome(make_cell):
    """From (accuracy, terms) of the two rows to an outcome on all six sets, with exceptions by set."""

    def build(default=(0.9, 8.0), larger=(0.91, 13.0), sets=SETS, **default_on):
        cells = []
        for data in sets:
            for row, (accuracy, terms) in ((DEFAULT, default_on.get(data, default)), (LARGER, larger)):
                cells.append(make_cell(data, row, accuracy=accuracy, log_loss=0.3, terms_per_output=terms))
        return Outcome(Results(cells), {DEFAULT: DEFAULT, LARGER: LARGER}, SETS, ())

    return build


def lines_of(outcome, bar):
    (line,) = verdict_lines(outcome, (bar,))
    return line


def test_mean_bars(outcome):
    lines = verdict_lines(outcome())
    assert lines[0] == (
        "mean of the six sets >= 0.894 with at most 8 terms per output on average: met by RFSC (RFSC 0.9000, 8.0 terms)"
    )
    larger = next(line for line in lines if "0.907" in line)
    assert larger == f"mean of the six sets >= 0.907: met by {LARGER} ({LARGER} 0.9100, 13.0 terms)"


def test_missed_bar(outcome):
    assert lines_of(outcome((0.8939, 8.0)), BARS[0]).split(": ")[1] == "**MISSED** (RFSC 0.8939, 8.0 terms)"


def test_accurate_but_too_large(outcome):
    assert "**MISSED** (RFSC 0.9900, 8.1 terms)" in lines_of(outcome((0.99, 8.1)), BARS[0])
    assert "met by RFSC" in lines_of(outcome((0.894, 8.0)), BARS[0])  # the bars themselves count as reached
    assert "met by" in lines_of(outcome(larger=(0.99, 99.0)), Bar(MEAN, 0.907, (LARGER,)))  # no limit there


def test_line_says_which_row_reaches_it(outcome):
    bar = Bar("Sonar", 0.8, (DEFAULT, LARGER))
    one = lines_of(outcome((0.75, 9.0), (0.82, 90.0)), bar)
    assert one == f"Sonar >= 0.8: met by {LARGER} (RFSC 0.7500, 9.0 terms; {LARGER} 0.8200, 90.0 terms)"
    assert f"met by RFSC and {LARGER} (" in lines_of(outcome((0.8, 9.0), (0.82, 90.0)), bar)
    assert "**MISSED** (" in lines_of(outcome((0.75, 9.0), (0.79, 90.0)), bar)


def test_floor_of_one_set(outcome):
    found = outcome(Wine=(0.9699, 6.0), Iris=(0.95, 16.0))
    lines = {line.split(" >=")[0]: line for line in verdict_lines(found)[-len(FLOORS) :]}
    assert list(lines) == list(FLOORS)
    assert "met by RFSC" in lines["Bupa"]
    assert "**MISSED** (RFSC 0.9699, 6.0 terms)" in lines["Wine"]
    assert "**MISSED** (RFSC 0.9500, 16.0 terms)" in lines["Iris"]


def test_what_was_not_run_is_not_judged(outcome):
    part = outcome((0.98, 8.0), sets=("Iris", "Wine"))
    lines = verdict_lines(part)
    assert lines[0].endswith("not judged (RFSC not run)")  # a mean of two sets is not that of six
    assert "met by" in next(line for line in lines if line.startswith("Iris"))
    assert next(line for line in lines if line.startswith("Sonar")).endswith(f"(RFSC not run; {LARGER} not run)")


def test_bars_of_log_loss_and_of_the_synthetic_families(make_cell):
    cells = [make_cell(data, DEFAULT, accuracy=0.81, log_loss=0.41, terms_per_output=5.0) for data in FAMILIES]
    found = Outcome(Results(cells), {DEFAULT: DEFAULT}, (), tuple(FAMILIES))
    bar = Bar(SYNTHETIC, 0.415, by="log_loss")
    assert lines_of(found, bar) == f"{SYNTHETIC}, log-loss <= 0.415: met by RFSC (RFSC 0.4100, 5.0 terms)"
    assert "**MISSED**" in lines_of(found, Bar(SYNTHETIC, 0.409, by="log_loss"))
    assert "met by RFSC" in lines_of(found, Bar(SYNTHETIC, 0.81))


def test_bar_of_the_terms_on_boxes(make_cell):
    def line(*terms):
        cells = [make_cell(d, DEFAULT, terms_per_output=n) for d, n in zip(BOX_FAMILIES, terms, strict=True)]
        found = Outcome(Results(cells), {DEFAULT: DEFAULT}, (), tuple(FAMILIES))
        return lines_of(found, Bar(BOXES, 8.0, by="terms_per_output"))

    assert line(9.0, 8.0, 7.0, 8.0) == f"{BOXES}, terms per output <= 8: met by RFSC (RFSC 8.0000)"
    assert line(9.0, 8.0, 8.0, 8.0).endswith("**MISSED** (RFSC 8.2500)")
    assert line(9.0, 8.0, 8.0, None).endswith("not judged (RFSC not run)")


def test_bars_as_asked_for():
    asked = {(bar.where, bar.by, bar.number, bar.rows, bar.most_terms) for bar in BARS}
    assert {
        (MEAN, "accuracy", 0.894, (DEFAULT,), 8),
        (SYNTHETIC, "accuracy", 0.82, (DEFAULT,), None),
        ("rules", "accuracy", 0.90, (DEFAULT,), 8),
        ("checkerboard", "accuracy", 0.84, (DEFAULT,), 8),
        ("islands", "accuracy", 0.71, (DEFAULT,), 8),
        (BOXES, "terms_per_output", 8, (DEFAULT,), None),
        (MEAN, "log_loss", 0.240, (DEFAULT,), None),
        (SYNTHETIC, "accuracy", 0.802, (DEFAULT,), None),
        (SYNTHETIC, "log_loss", 0.415, (DEFAULT,), None),
        (MEAN, "accuracy", 0.907, (LARGER,), None),
    } <= asked
    single = {bar.where: bar.number for bar in BARS if bar.rows == (DEFAULT, LARGER)}
    assert single == {"Ionosphere": 0.93, "WDBC": 0.97, "Sonar": 0.80}
    assert {bar.where for bar in BARS[-len(FLOORS) :]} == set(SETS)
