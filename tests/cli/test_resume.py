"""`rfsc fit` that is killed, interrupted or limited in time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from rfsc.cli import main
from rfsc.export import load
from rfsc.export.compare import compared_text

SLACK = 1.0  # seconds for the other tests that run beside this one; the bar itself is measured by `make torture`
SLOW = ["--basis", "polynomial", "--restarts", "20", "--cv", "0", "--drop", "patient", "--seed", "3"]


def line(folder, *more):
    return ["fit", folder / "patients.csv", "-t", "diagnosis", *SLOW, *more]


def run(*arguments):
    return main([str(argument) for argument in arguments])


def start(*arguments):
    code = "import sys; from rfsc.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stderr=subprocess.PIPE, text=True)


def until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it never happened")


def test_killed_and_resumed_is_the_same_model(hospital, tmp_path, refused):
    kept = tmp_path / "fit.checkpoint"
    assert run(*line(hospital, "-o", tmp_path / "whole.json", "--quiet")) == 0
    process = start(*line(hospital, "-o", tmp_path / "m.json", "--checkpoint", kept))
    until(kept.exists)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if not (tmp_path / "m.json").exists():
        assert process.returncode == -signal.SIGKILL
    said = refused(*line(hospital, "-o", tmp_path / "n.json", "--checkpoint", kept))
    assert "pass --resume to continue from it, or --force to start again" in said
    assert run(*line(hospital, "-o", tmp_path / "n.json", "--checkpoint", kept, "--resume", "--quiet")) == 0
    assert compared_text(load(tmp_path / "n.json")) == compared_text(load(tmp_path / "whole.json"))
    said = refused(*line(hospital, "--degree", "1", "--checkpoint", kept, "--resume", "--quiet"))
    assert "belongs to another fit" in said


def test_wrong_checkpoints(hospital, tmp_path, refused):
    assert "--resume needs the file" in refused(*line(hospital, "--resume"), status=2)
    assert "expects a file" in refused(*line(hospital, "--checkpoint", tmp_path), status=2)
    assert "expects a file" in refused(*line(hospital, "--checkpoint", "-"), status=2)
    table = hospital / "patients.csv"
    assert "also the name of the table" in refused(*line(hospital, "--checkpoint", table, "--resume"), status=2)
    assert "no folder" in refused(*line(hospital, "--checkpoint", tmp_path / "a" / "b"))


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to whole consoles")
def test_ctrl_c_saves_the_best_model(hospital, tmp_path):
    kept = tmp_path / "fit.checkpoint"
    process = start(
        *line(
            hospital,
            "--restarts",
            "2000",
            "-o",
            tmp_path / "m.json",
            "--checkpoint",
            kept,
            "--report",
            tmp_path / "r",
        )
    )
    until(kept.exists)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted: ending with the best model so far" in said
    assert "the model has no score and no report" in said
    assert "no file was changed" not in said
    assert {"interrupted"} <= {reason for own in load(tmp_path / "m.json").manifest_["stop_reasons"] for reason in own}
    assert not (tmp_path / "r").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to whole consoles")
def test_ctrl_c_while_scoring_saves_the_model_without_a_score(hospital, tmp_path, monkeypatch, capsys):
    def press(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("rfsc.report.honest_score._size", press)  # the first fold is fitted
    quick = ["--basis", "polynomial", "--restarts", "1", "--cv", "2", "--drop", "patient"]
    status = run("fit", hospital / "patients.csv", "-t", "diagnosis", *quick, "-o", tmp_path / "m.json")
    assert status == 130
    said = capsys.readouterr().err
    assert "the model has no score" in said
    assert "no file was changed" not in said
    assert load(tmp_path / "m.json").manifest_["stop_reasons"] != [["interrupted"]]


@pytest.mark.parametrize("more", [[], ["--cv", "2"]])
def test_the_time_limit_holds_for_the_whole_command(hospital, tmp_path, capsys, refused, more):
    arguments = ["fit", hospital / "patients.csv", "-t", "diagnosis", "--drop", "patient", "--restarts", "2000"]
    began = time.perf_counter()
    status = run(*arguments, *more, "--time-limit", "4", "-o", tmp_path / "m.json", "--json")
    took = time.perf_counter() - began
    assert status == 0
    assert took < 4.0 * 1.05 + 1.0 + SLACK
    captured = capsys.readouterr()
    assert "the time limit ended the search" in captured.err
    assert json.loads(captured.out)["score"] is not None
    assert "ended early (time_limit)" in refused("verify", tmp_path / "m.json", hospital / "patients.csv")


def test_wrong_time_limits(hospital, refused):
    assert "a positive number of seconds" in refused(*line(hospital, "--time-limit", "0"), status=2)
