"""The command line as a whole: help, usage errors, exit status, internal errors."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

import rfsc
from rfsc._utils import optional
from rfsc.cli import main, model_commands
from rfsc.cli.console import CommandError, Messages, print_result

# ---- help


def test_version_and_help(capsys):
    for arguments, words in [
        (["--version"], f"rfsc {rfsc.__version__}"),
        (["--help"], "verify"),
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
        (["fti"], "No such command 'fti'"),
        (["fit", "t.csv"], "Missing option '--target' / '-t'. Try 'rfsc fit --help'."),
        (["fit", "t.csv", "-t", "x", "--seed", "-1"], "Invalid value for '--seed': "),
        (["fit", "t.csv", "-t", "x", "--jobs", "0"], "'n_jobs' parameter of RFSCClassifier must be"),
        (["explain", "m.json", "t.csv", "--row", "0"], "--row"),
    ],
)
def test_usage(capsys, arguments, words):
    assert main(arguments) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.count("\n") == 1
    assert found.err.startswith("rfsc: ")
    assert "?." not in found.err
    assert words in found.err


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom rfsc.cli import main\n"
        "main(['--help']), main(['fit', '--help'])\n"
        "heavy = ('matplotlib', 'numba', 'sklearn', 'pandas')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_without_typer(monkeypatch, capsys):
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    assert main(["--help"]) == 1
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", "rfsc: the command rfsc needs typer, rich: pip install 'rfsc[cli]'.\n")


def test_shell_completion():
    environment = {**os.environ, "_RFSC_COMPLETE": "complete_bash", "COMP_WORDS": "rfsc re", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-m", "rfsc"], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["report"]


# ---- internal errors


@pytest.fixture
def broken(monkeypatch):
    def fail(*_):
        msg = "a secret detail"
        raise KeyError(msg)

    monkeypatch.setattr("rfsc.export.load", fail)


def test_internal_error(broken, capsys):
    assert main(["info", "model.json"]) == 1
    line = capsys.readouterr().err
    assert line.startswith("rfsc: internal error (KeyError). Please report it")
    assert "secret" not in line


def test_traceback_for_developers(broken, monkeypatch):
    monkeypatch.setenv("RFSC_DEBUG", "1")
    with pytest.raises(KeyError):
        main(["info", "model.json"])


def test_main_is_a_function():
    """No module of the package may take its name when it is imported."""
    assert main(["--version"]) == 0
    assert rfsc.cli.main is main


def test_long_paths_are_not_broken(capsys):
    Messages().info("Wrote " + "very/long/" * 30 + "model.json")
    assert capsys.readouterr().err.count("\n") == 1


def test_control_characters_are_replaced(capsys):
    Messages().info("the column \x1b[31mred\x1b[0m")
    Messages().table(["column"], [["\x1b[2Jgone"]])
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_late_ctrl_c_does_not_undo_what_is_done():
    """While the interpreter ends, which may take half a second; functions run at exit in reversed order."""
    code = (
        "import atexit, signal, sys\nfrom rfsc.cli import main\n"
        "atexit.register(signal.raise_signal, signal.SIGINT)\nsys.exit(main(['--version']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def unfinished():
    """A generator whose end is interrupted."""
    try:
        yield 1
    finally:
        raise KeyboardInterrupt


def test_a_ctrl_c_that_python_would_drop_comes_again(monkeypatch, capsys):
    """One that arrives while an unfinished generator is closed is printed and forgotten by Python."""

    def load_model(_):
        next(unfinished())  # closed at once
        for _ in range(10**7):
            pass

    monkeypatch.setattr(model_commands, "load_model", load_model)
    usual = sys.unraisablehook
    assert main(["info", "model.json"]) == 130
    assert sys.unraisablehook is usual
    err = capsys.readouterr().err
    assert "interrupted" in err
    assert "Traceback" not in err


def test_a_dropped_ctrl_c_does_not_come_after_the_command(monkeypatch):
    def load_model(_):
        next(unfinished())
        raise CommandError("the command ends before the Ctrl-C comes again")

    monkeypatch.setattr(model_commands, "load_model", load_model)
    assert main(["info", "model.json"]) in (1, 130)
    for _ in range(10**7):
        pass


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_full_disk_behind_stdout_is_an_error():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rfsc", "--version"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "rfsc: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize(("line", "status"), [("info - <&-", 1), ("predict x.json - <&-", 1), ("--version >&-", 0)])
def test_closed_streams_are_empty(line, status):
    done = subprocess.run(["sh", "-c", f"{sys.executable} -m rfsc {line}"], capture_output=True, text=True)
    assert done.returncode == status
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr


def test_letters_that_a_terminal_does_not_know(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    print_result("5 × 3 \udcff")
    stream.flush()
    assert stream.buffer.getvalue() == b"5 \\xd7 3 \\udcff\n"


def test_very_long_names_in_errors_lose_their_middle(tmp_path, refused):
    (tmp_path / "t.csv").write_text(f"{'n' * 9000},{'n' * 9000}\n1,2\n")
    said = refused("fit", tmp_path / "t.csv", "-t", "x")
    assert len(said) < 4100
    assert said.startswith("t.csv, line 1: expected a different name")
    assert said.endswith("Rename it, or put a line with the names first.\n")
