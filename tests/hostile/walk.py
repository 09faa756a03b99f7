"""Take a hostile input through the package, and complain where the outcome is not the one of the catalogue."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rfsc.cli import main
from rfsc.export import from_json, to_json
from rfsc.report import Report
from tests.making import make

from .commands import Command
from .files import File, csv_of, frame
from .rows import Rows
from .tables import LABEL, WORKS, Case, good

SHOWN = re.compile(r"SECRET|8675309|8\.6753", re.IGNORECASE)  # as numpy and Python may write the secrets
SEARCH = ["--basis=polynomial", "--restarts=1", "--set=max_iter=10", "--set=n_models=20", "--set=engine=numpy"]
QUICK = [*SEARCH, "--cv=0", "--quiet"]


def classifier(**parameters: Any) -> Any:
    """A classifier that is fitted in no time."""
    quick = make(basis="polynomial", n_restarts=1, n_models=20, max_iter=15, random_state=0, engine="numpy")
    return quick.set_params(**parameters)


@cache
def good_model() -> Any:
    return classifier().fit(good(), LABEL)


def outcome(call: Callable[[], Any], expected: str) -> Any:
    """The value of a call that works; the text of its error, if it is the expected one, short, and shows no data.

    Advice in the form of a UserWarning is fine; a RuntimeWarning says that numbers went wrong on the way.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        if expected == WORKS:
            return call()
        try:
            call()
        except (ValueError, TypeError) as error:
            return _checked(error, expected)
    msg = "nothing was refused"
    raise AssertionError(msg)


def _checked(error: Exception, expected: str) -> str:
    text = str(error)
    assert re.search(expected, text), text
    assert len(text) > 20
    assert "\n" not in text
    assert len(re.split(r"(?<=[.!?])\s+", text.strip())) <= 3, text
    assert not SHOWN.search(text)
    assert not SHOWN.search("".join(traceback.format_exception(error)))
    return text


def table_through_estimator(case: Case) -> None:
    """Fit, predict, save; what was given stays as it was, and so does an estimator that cannot be fitted."""
    X, y, weight = case.make()
    before = X.tobytes() if isinstance(X, np.ndarray) else None
    estimator = classifier()
    state = dict(vars(estimator))
    outcome(lambda: estimator.fit(X, y, sample_weight=weight), case.fit)
    assert before is None or X.tobytes() == before
    if case.fit != WORKS:
        assert list(vars(estimator).items()) == list(state.items())
        return
    proba = outcome(lambda: estimator.predict_proba(X), WORKS)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.isin(outcome(lambda: estimator.predict(X), WORKS), estimator.classes_).all()
    text = outcome(lambda: to_json(estimator), case.save)
    if case.save == WORKS:
        np.testing.assert_array_equal(outcome(lambda: from_json(text).predict_proba(X), WORKS), proba)


def table_through_report(case: Case) -> None:
    """A report of the model of this table, or, where there is none, of another model on it."""
    X, y, weight = case.make()
    model = outcome(lambda: classifier().fit(X, y, sample_weight=weight), WORKS) if case.fit == WORKS else good_model()
    expected = str(case.expected_report)
    report = outcome(lambda: Report.from_estimator(model, X, y, cv=None, baselines={}), expected)
    if expected == WORKS:
        outcome(lambda: json.loads(report.json(), parse_constant=_refuse), WORKS)
        assert outcome(report.html, WORKS).startswith("<!doctype html>")


def _refuse(constant: str) -> None:
    raise AssertionError(constant)


def rows_through_predictions(rows: Rows) -> None:
    """All ways to predict, of the estimator and of what comes back from its file."""
    X = rows.make()
    for model in (good_model(), from_json(to_json(good_model()))):
        for method in ("predict", "predict_proba", "decision_function"):
            found = outcome(lambda model=model, method=method: getattr(model, method)(X), rows.outcome)
            assert rows.outcome != WORKS or np.isfinite(found).all()


# ---- the command line


class Screen(io.TextIOWrapper):
    """Stands in for stdout, with a buffer for bytes."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")

    def shown(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


def said_by(*arguments: str) -> tuple[int, str, str]:
    """Status, stdout and stderr of the command line."""
    out, err = Screen(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("default")  # as in a shell, not errors as in tests
        status = main(list(arguments))
    return status, out.shown(), err.getvalue()


def good_files(folder: Path) -> None:
    """good.csv; good.json with a model of it, and step.json with one that a score card can be made of."""
    with chdir(folder):
        Path("good.csv").write_bytes(csv_of(frame()))
        fit = ["fit", "good.csv", "-t", "class", *QUICK]
        assert said_by(*fit, "-o", "good.json", "--size=4")[0] == 0
        assert said_by(*fit, "-o", "step.json", "--basis=step")[0] == 0


def file_through(command: str, file: File, folder: Path) -> None:
    """`rfsc fit`, `rfsc predict` or `rfsc report` on a file, in a folder with the good ones."""
    table, result = f"table{file.suffix}", f"result.{ {'fit': 'json', 'predict': 'csv', 'report': 'html'}[command] }"
    line = {
        "fit": ["fit", table, "-t", "class", "-o", result, *QUICK],
        "predict": ["predict", "good.json", table, "-o", result, "--proba"],
        "report": ["report", "good.json", table, "-t", "class", "-o", result],
    }[command]
    with chdir(folder):
        before = sorted(os.listdir())
        Path(table).write_bytes(file.make())
        try:
            _check_said(*said_by(*line), file.expected(command))
            if file.expected(command) == WORKS:
                _check_result(command, Path(result), table)
        finally:
            Path(table).unlink()
            Path(result).unlink(missing_ok=True)
        assert sorted(os.listdir()) == before  # nothing half-written is left


def command_through(command: Command, folder: Path) -> None:
    """A command line, in a folder with the good files, which stay as they are."""
    quick = QUICK if command.arguments[0] == "fit" else []
    with kept_files(folder):
        status, _, err = said_by(*command.arguments[:4], *quick, *command.arguments[4:])
        made = set(os.listdir())
    _check_words(err)
    assert status == (0 if command.outcome == WORKS else command.status), err
    if command.outcome != WORKS:
        assert re.search(command.outcome, err.partition("rfsc: ")[2]), err
        assert err.count("rfsc: ") == 1
        assert len(err) < 5000
        assert made == GOOD


GOOD = {"good.csv", "good.json", "step.json"}


@contextmanager
def kept_files(folder: Path) -> Iterator[None]:
    """In a folder, whose good files must not change and whose other files are removed at the end."""
    with chdir(folder):
        before = {name: Path(name).read_bytes() for name in GOOD}
        try:
            yield
            assert {name: Path(name).read_bytes() for name in GOOD} == before
        finally:
            for name in set(os.listdir()) - GOOD:
                Path(name).unlink()


def full_disk_through(line: tuple[str, ...], folder: Path) -> None:
    """A command that writes a file, when none can grow: an older file stays, a new one does not appear."""
    result = next(word for word in line if word.startswith("result"))
    quick = QUICK if line[0] == "fit" else []
    with kept_files(folder):
        for before in ((), (result,)):
            for name in before:
                Path(name).write_text("precious")
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
            try:
                status, _, err = said_by(*line, *quick, *(["--force"] if before else []))
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            _check_words(err)
            assert status == 1, err
            # openpyxl writes elsewhere first
            assert err.partition("rfsc: ")[2] in (f"{result}: File too large\n", "File too large\n"), err
            assert set(os.listdir()) == {*GOOD, *before}
            assert all(Path(name).read_text() == "precious" for name in before)


def _check_words(err: str) -> None:
    """Messages are sentences, show no data, and do not steer a terminal."""
    assert "Traceback" not in err
    assert "internal error" not in err
    assert not re.search("encountered in|Error:|Warning: .*Warning", err), err
    assert not SHOWN.search(err), err
    assert "\x1b" not in err


def _check_said(status: int, out: str, err: str, expected: str) -> None:
    _check_words(err)
    assert status == (0 if expected == WORKS else 1), err
    if expected == WORKS:
        return
    assert out == ""
    said = err.partition("rfsc: ")[2]
    assert re.search(expected, said), said
    assert said.count("\n") == 1 or said.startswith("nothing was fitted"), said


def _check_result(command: str, result: Path, table: str) -> None:
    text = result.read_text(encoding="utf-8")
    if command == "fit":
        assert said_by("predict", str(result), table, "--quiet")[0] == 0
    if command == "predict":
        shares = [float(line.split(",")[-1]) for line in text.splitlines()[1:]]
        assert shares
        assert np.isfinite(shares).all()
    if command == "report":
        assert text.startswith("<!doctype html>")
