"""The command line: what it says, with which exit status, and nothing imported that its help does not need."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from paper import reproduce as experiment

import rfsc
from rfsc import _optional
from rfsc.cli import main
from rfsc.cli.console import Voice


@pytest.fixture
def planned(monkeypatch, tmp_path):
    """The plans that the command makes; nothing is run."""
    plans = []

    def note(plan, folder, *, n_jobs, progress):
        plans.append((plan, folder, n_jobs))
        return folder / "REPRODUCTION.md"

    monkeypatch.setattr(experiment, "reproduce", note)
    return plans


def shell(*arguments, **options):
    environment = {name: value for name, value in os.environ.items() if name != "RFSC_DATA"}
    return subprocess.run(
        [sys.executable, "-m", "rfsc", *arguments], capture_output=True, text=True, env=environment, **options
    )


# ---- what it runs


def test_real_quick_run(tmp_path):
    done = shell(
        "reproduce", "--quick", "--sets", "iris", "--methods", "knn", "--methods", "CNN", "--jobs", "1", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    page = tmp_path / "reproduction" / "REPRODUCTION.md"
    assert done.stdout == f"written: {os.path.join('reproduction', 'REPRODUCTION.md')}\n"
    text = page.read_text(encoding="utf-8")
    assert "| KNN | printed | **0.9400** | **0.9100** |" in text
    assert "| CNN | honest | " in text
    assert "Warning" not in done.stderr
    assert "-00:00" not in done.stderr
    assert "100%" in done.stderr
    again = shell(
        "reproduce", "--quick", "--sets", "iris", "--methods", "knn", "--output", "reproduction", cwd=tmp_path
    )
    assert again.returncode == 0, again.stderr
    assert "2 folds are there already" in again.stderr
    assert "%" not in again.stderr


def test_defaults(planned):
    assert main(["reproduce"]) == 0
    ((plan, folder, n_jobs),) = planned
    assert plan.sets == ("Bupa", "Ionosphere", "Iris", "Sonar", "WDBC", "Wine")
    assert plan.protocols == ("honest", "paper", "keel")
    assert {"RFSC", "RFSC, paper settings", "DGC+", "PSO(4-2) + 5NN", "RBF SVM"} <= set(plan.methods)
    assert (plan.seeds, plan.n_folds, n_jobs, str(folder)) == ((0, 1, 2), 10, -1, "reproduction")


def test_choices_in_any_spelling_and_order(planned, tmp_path, capsys):
    line = ["reproduce", "--sets", "WINE,iris", "--methods", "knn, dgc+", "--protocol", "KEEL", "--protocol", "honest"]
    assert main([*line, "--seeds", "5,3", "--seeds", "5", "--jobs", "2", "--output", str(tmp_path)]) == 0
    ((plan, folder, n_jobs),) = planned
    assert plan.sets == ("Iris", "Wine")
    assert plan.methods == ("DGC+", "KNN")
    assert plan.protocols == ("honest", "keel")
    assert (plan.seeds, n_jobs, folder) == ((5, 3), 2, tmp_path)
    assert str(tmp_path) in capsys.readouterr().out


def test_ours_alone_means_all_our_settings(planned):
    main(["reproduce", "--methods", "rfsc"])
    main(["reproduce", "--methods", "rfsc,knn"])
    main(["reproduce", "--methods", "RFSC, paper settings"])  # a name that holds a comma
    wanted = [("RFSC", "RFSC, paper settings"), ("RFSC", "KNN"), ("RFSC, paper settings",)]
    assert [plan.methods for plan, *_ in planned] == wanted


def test_quick(planned):
    main(["reproduce", "--quick"])
    ((plan, *_),) = planned
    assert (plan.seeds, plan.n_folds) == ((0,), 2)
    assert "DGC+" not in plan.methods


# ---- what goes wrong


def complaint(capsys, *arguments):
    """The one line that an error gives."""
    assert main(["reproduce", *arguments]) == 1
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.count("\n") == 1
    assert found.err.startswith("rfsc: ")
    return found.err


@pytest.mark.parametrize(
    ("option", "choice"), [("--sets", "Ionosphere"), ("--methods", "PSO + LDA"), ("--protocol", "keel")]
)
def test_unknown_name(planned, capsys, option, choice):
    line = complaint(capsys, option, f"nonsense,{choice.lower()}")
    assert f"{option} does not know nonsense. Choose from: " in line
    assert choice in line
    assert not planned


@pytest.mark.parametrize("missing", ["cma", "matplotlib", "tqdm"])
@pytest.mark.parametrize("arguments", [[], ["--methods", "dgc+"]])
def test_missing_extra(monkeypatch, capsys, tmp_path, missing, arguments):
    real = _optional.find_spec
    monkeypatch.setattr(_optional, "find_spec", lambda name: None if name == missing else real(name))
    monkeypatch.setattr("paper.methods.find_spec", lambda name: None if name == missing else real(name))
    line = complaint(capsys, "--output", str(tmp_path / "out"), *arguments)
    assert line == f"rfsc: rfsc reproduce needs {missing}: pip install 'rfsc[experiments]'.\n"
    assert not (tmp_path / "out").exists()


def test_missing_data(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    line = complaint(capsys, "--sets", "sonar", "--methods", "cnn", "--jobs", "1", "--output", str(tmp_path / "out"))
    assert "sonar.csv" in line
    assert "RFSC_DATA" in line


def test_quick_run_of_slow_methods_only(planned, capsys):
    assert "too slow" in complaint(capsys, "--quick", "--methods", "DGC+")


def test_interruption(monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(experiment, "reproduce", interrupt)
    assert main(["reproduce"]) == 130
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.strip() == "rfsc: interrupted; what was finished is kept, and the same command goes on from there"


# ---- help


def test_version_and_help(capsys):
    for arguments, words in [
        (["--version"], f"rfsc {rfsc.__version__}"),
        (["--help"], "reproduce"),
        (["reproduce", "--help"], "RFSC_DATA"),
        (["fit", "-h"], "--target"),
    ]:
        assert main(arguments) == 0
        assert words in capsys.readouterr().out


def test_no_command(capsys):
    assert main([]) == 2
    found = capsys.readouterr()
    assert "Usage: rfsc" in found.out + found.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "No such command 'nonsense'. Try 'rfsc --help'."),
        (["fit", "t.csv"], "Missing option '--target' / '-t'. Try 'rfsc fit --help'."),
        (["fit", "t.csv", "-t", "x", "--seed", "-1"], "a seed is a whole number from 0 to 4294967295, got -1."),
        (["reproduce", "--seeds", "1,x"], "a seed is a whole number from 0 to 4294967295, got x."),
        (["reproduce", "--jobs", "0"], "expected a number, or -1 for all cores, got 0."),
        (["explain", "m.json", "t.csv", "--row", "0"], "--row"),
    ],
)
def test_usage(capsys, arguments, words):
    assert main(arguments) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.count("\n") == 1
    assert found.err.startswith("rfsc: ")
    assert words in found.err


def test_help_names_every_option(capsys):
    assert main(["reproduce", "--help"]) == 0
    text = capsys.readouterr().out
    for option in ("--output", "--quick", "--sets", "--methods", "--protocol", "--seeds", "--jobs"):
        assert option in text
    assert "(default: None)" not in text


def test_help_imports_no_experiment():
    code = (
        "import sys\nfrom rfsc.cli import main\n"
        "main(['reproduce', '--help']), main(['fit', '--help'])\n"
        "heavy = ('paper', 'cma', 'matplotlib', 'tqdm', 'numba', 'sklearn', 'numpy', 'pandas')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_without_typer(monkeypatch, capsys):
    monkeypatch.setattr(_optional, "find_spec", lambda name: None)
    assert main(["--help"]) == 1
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", "rfsc: the command rfsc needs typer, rich: pip install 'rfsc[cli]'.\n")


def test_shell_completion():
    environment = {**os.environ, "_RFSC_COMPLETE": "complete_bash", "COMP_WORDS": "rfsc re", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-m", "rfsc"], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["report", "reproduce"]


# ---- errors that nobody expected


@pytest.fixture
def broken(monkeypatch):
    def fail(*_):
        msg = "a secret detail"
        raise KeyError(msg)

    monkeypatch.setattr("rfsc.export.load", fail)


def test_surprise(broken, capsys):
    assert main(["info", "model.json"]) == 1
    line = capsys.readouterr().err
    assert line.startswith("rfsc: this should not have happened (KeyError). Please report it")
    assert "secret" not in line


@pytest.mark.parametrize("way", ["--traceback", "RFSC_DEBUG"])
def test_traceback_for_developers(broken, monkeypatch, way):
    if way == "RFSC_DEBUG":
        monkeypatch.setenv("RFSC_DEBUG", "1")
    with pytest.raises(KeyError):
        main([*(["--traceback"] if way == "--traceback" else []), "info", "model.json"])


def test_main_stays_a_function():
    """No module of the package may take its name when it is imported."""
    assert main(["--version"]) == 0
    assert rfsc.cli.main is main


def test_long_paths_are_not_broken(capsys):
    Voice().say("Written: " + "very/long/" * 30 + "model.json")
    assert capsys.readouterr().err.count("\n") == 1


def test_names_from_a_table_do_not_paint_the_screen(capsys):
    Voice().say("the column \x1b[31mred\x1b[0m")
    Voice().table(["column"], [["\x1b[2Jgone"]])
    assert "\x1b" not in capsys.readouterr().err
