"""Files that commands write: never over an existing one without --force, never half, never replacing a device."""

from __future__ import annotations

import os
import pty
import stat
import subprocess
import sys
import threading

import pytest

from rfsc._utils import files
from rfsc.cli import console, fit_command, main


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_pipe_is_written_into(hospital, tmp_path, force):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    assert run("export", hospital / "model.json", "--to", "json", "-o", pipe, *force) == 0
    reader.join(10)
    assert found == [(hospital / "model.json").read_text()]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_need_no_force(hospital):
    assert run("predict", hospital / "model.json", hospital / "new.csv", "-o", os.devnull, "--quiet") == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.slow
def test_stdout_by_its_other_name(hospital, tmp_path):
    """Also if the shell redirects it to a file, which then exists."""
    line = [sys.executable, "-m", "rfsc", "export", str(hospital / "model.json"), "--to", "json", "-o", "/dev/stdout"]
    with (tmp_path / "out").open("w") as out:
        done = subprocess.run(line, stdout=out, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out").read_text() == (hospital / "model.json").read_text()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["fit", "none.csv", "-t", "x", "-o", "m", "--report", "./m"], "m is also the name of the report"),
        (["fit", "t.csv", "-t", "x", "-o", "t.csv"], "t.csv is also the name of the table"),
        (["fit", "t.csv", "-t", "x", "--report", "link.csv"], "link.csv is also the name of the table"),
        (["predict", "m.json", "t.csv", "-o", "t.csv"], "also the name of the table"),
        (["predict", "m.json", "t.csv", "-o", "m.json"], "also the name of the model file"),
        (["report", "m.json", "t.csv", "-t", "x", "-o", "t.csv"], "also the name of the table"),
        (["export", "m.json", "--to", "c", "-o", "m.json"], "also the name of the model file"),
    ],
)
def test_one_file_for_two_purposes(tmp_path, monkeypatch, refused, line, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("precious")
    (tmp_path / "link.csv").symlink_to("t.csv")
    assert words in refused(*line, "--force", status=2)
    assert (tmp_path / "t.csv").read_text() == "precious"


@pytest.mark.parametrize(
    "line", [["report", "m.json", "t.csv", "-t", "x", "-o"], ["fit", "t.csv", "-t", "x", "--report"]]
)
def test_the_name_of_a_report_says_its_format(tmp_path, monkeypatch, refused, line):
    monkeypatch.chdir(tmp_path)
    assert "ends with one of .html, .json, got new.txt" in refused(*line, "new.txt", status=2)


def test_both_results_may_go_to_the_null_device(hospital):
    line = ["fit", hospital / "none.csv", "-t", "x", "-o", os.devnull, "--report", os.devnull]
    assert run(*line) == 1  # because there is no such table


def test_force_deletes_no_checkpoint_before_there_is_another(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c").write_text("the work of a night")
    assert run("fit", "none.csv", "-t", "x", "--checkpoint", "c", "--force") == 1
    assert "none.csv" in capsys.readouterr().err
    assert (tmp_path / "c").read_text() == "the work of a night"


def test_folders_that_cannot_be_written_to_are_found_before_the_fit(hospital, tmp_path, monkeypatch, refused):
    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(console, "TemporaryFile", refuse)
    said = refused("fit", hospital / "patients.csv", "-t", "diagnosis", "-o", tmp_path / "m.json")
    assert (
        said
        == f"{tmp_path / 'm.json'} cannot be written to its folder: Read-only file system. Choose another folder.\n"
    )


def test_a_full_disk_is_reported_with_the_name_of_the_file(hospital, tmp_path, monkeypatch, refused):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", fail)
    said = refused("export", hospital / "model.json", "--to", "json", "-o", tmp_path / "m.json")
    assert said == f"{tmp_path / 'm.json'}: No space left on device\n"
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_itself(tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    assert refused("fit", "t.csv", "-t", "x", "-o", "loop").startswith("loop is a link that leads to itself")
    for line in (["fit", "loop", "-t", "x"], ["predict", "loop", "t.csv"], ["predict", "m.json", "loop"]):
        assert refused(*line, "-o", "new").startswith(
            ("loop: Too many levels of symbolic links", "m.json: No such file")
        )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_full_device_is_named(hospital, refused):
    said = refused("export", hospital / "model.json", "--to", "json", "-o", "/dev/full")
    assert said == "/dev/full: No space left on device\n"


def test_names_do_not_steer_the_terminal(hospital, monkeypatch, capsys):
    """Neither escape sequences nor marks that turn the direction of text."""
    text = "a\x1b[2Jb\u202ec\u2066d\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    console.print_result(text)
    assert capsys.readouterr().out == "a\ufffd[2Jb\ufffdc\ufffdd\n"


@pytest.mark.slow
def test_exports_and_predictions_in_a_terminal(hospital, tmp_path):
    """What `write_result` writes to a real terminal."""
    code = "from rfsc.cli.console import write_result\nwrite_result('a\\x1b[2Jb\\u202ec', '-')"
    parent, child = pty.openpty()
    done = subprocess.run([sys.executable, "-c", code], stdout=child, stderr=subprocess.PIPE)
    os.close(child)
    assert done.returncode == 0
    assert os.read(parent, 100).decode() == "a\ufffd[2Jb\ufffdc"
    os.close(parent)


def test_an_interrupted_report_says_what_was_saved(hospital, tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_command, "write_report", interrupt)
    line = ["fit", hospital / "patients.csv", "-t", "diagnosis", "--drop", "patient", "--cv", "0", "--seed", "1"]
    out = ["-o", tmp_path / "m.json", "--report", tmp_path / "r.html", "--set", "max_iter=5", "--quiet"]
    assert run(*line, *out) == 130
    said = capsys.readouterr().err
    assert f"rfsc: interrupted; {tmp_path / 'm.json'} is complete" in said
    assert "no file was changed" not in said
