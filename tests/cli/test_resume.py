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
from rfsc.cli.fit_score import FitTimeLimit
from rfsc.export import load
from rfsc.export.compare import compared_text

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


@pytest.mark.slow
def test_killed_and_resumed_is_the_same_model(hospital, tmp_path):
    kept = tmp_path / "fit.checkpoint"
    assert run(*line(hospital, "-o", tmp_path / "whole.json", "--quiet")) == 0
    process = start(*line(hospital, "-o", tmp_path / "m.json", "--checkpoint", kept))
    until(kept.exists)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if not (tmp_path / "m.json").exists():
        assert process.returncode == -signal.SIGKILL
    assert run(*line(hospital, "-o", tmp_path / "n.json", "--checkpoint", kept, "--resume", "--quiet")) == 0
    assert compared_text(load(tmp_path / "n.json")) == compared_text(load(tmp_path / "whole.json"))


def test_resume(hospital, tmp_path, refused):
    kept = tmp_path / "fit.checkpoint"
    quick = line(hospital, "--restarts", "2", "--checkpoint", kept, "--quiet")
    assert run(*quick, "-o", tmp_path / "m.json") == 0
    assert "pass --resume to continue from it, or --force to start again" in refused(*quick)
    assert run(*quick, "-o", tmp_path / "n.json", "--resume") == 0
    assert compared_text(load(tmp_path / "n.json")) == compared_text(load(tmp_path / "m.json"))
    assert "belongs to other work" in refused(*quick, "--degree", "1", "--resume")


def test_wrong_checkpoints(hospital, tmp_path, refused):
    assert "--resume needs the file" in refused(*line(hospital, "--resume"), status=2)
    assert "expects a file" in refused(*line(hospital, "--checkpoint", tmp_path), status=2)
    assert "expects a file" in refused(*line(hospital, "--checkpoint", "-"), status=2)
    table = hospital / "patients.csv"
    assert "also the name of the table" in refused(*line(hospital, "--checkpoint", table, "--resume"), status=2)
    assert "no folder" in refused(*line(hospital, "--checkpoint", tmp_path / "a" / "b"))


@pytest.mark.slow
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
            tmp_path / "r.html",
        )
    )
    until(kept.exists)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted: ending with what was found so far" in said
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


def test_time_limit(hospital, tmp_path, capsys, refused):
    arguments = ["fit", hospital / "patients.csv", "-t", "diagnosis", "--drop", "patient", "--restarts", "2000"]
    assert run(*arguments, "--time-limit", "1", "-o", tmp_path / "m.json", "--json") == 0
    captured = capsys.readouterr()
    assert "the time limit ended the search" in captured.err
    assert json.loads(captured.out)["score"] is not None
    assert "ended early (time_limit)" in refused("verify", tmp_path / "m.json", hospital / "patients.csv")


def test_fits_share_what_is_left_of_a_time_limit(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("rfsc.cli.fit_score.time.monotonic", lambda: now[0])
    limit = FitTimeLimit(100)
    assert limit.callbacks(5)[0].seconds == pytest.approx(97 / 5)
    now[0] = 150
    assert limit.callbacks(4)[0].seconds == pytest.approx(47 / 4)
    now[0] = 300
    assert limit.callbacks(1)[0].seconds > 0
    assert limit.callbacks(0) == FitTimeLimit(None).callbacks(3) == []


def test_wrong_time_limits(hospital, refused):
    assert "a positive number of seconds" in refused(*line(hospital, "--time-limit", "0"), status=2)
