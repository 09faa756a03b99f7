"""Files that commands write: never over an existing one without --force, never half, never replacing a device."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading

import pytest

from rfsc.cli import main


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
    assert "ends with one of .html, .md, .json, got new.txt" in refused(*line, "new.txt", status=2)


def test_both_results_may_go_to_the_null_device(hospital):
    line = ["fit", hospital / "none.csv", "-t", "x", "-o", os.devnull, "--report", os.devnull]
    assert run(*line) == 1  # because there is no such table
