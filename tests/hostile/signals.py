"""Ctrl-C at every stage of a command: after so many calls of functions of rfsc, in a child process."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

from rfsc.cli import main

from .walk import GOOD, QUICK, kept_files

SECONDS = 300  # after which a child that hangs is ended
SIGNAL_COMMANDS = {
    "fit": ("fit", "good.csv", "-t", "class", "-o", "result.json", "--report", "result.html", *QUICK),
    "predict": ("predict", "good.json", "good.csv", "-o", "result.csv"),
    "export": ("export", "good.json", "--to", "html", "-o", "result.html"),
    "card": ("card", "step.json", "good.csv", "--cv", "2", "--jobs", "1", "-o", "result.html"),
}
INSIDE = f"{os.sep}rfsc{os.sep}"


def interrupted_after(n_calls: int | None, line: tuple[str, ...]) -> tuple[int, int, str]:
    """Status, number of calls and stderr of a command that gets a Ctrl-C after so many calls; None: it gets none."""
    count = Path("count.txt")
    child = os.fork()
    if child == 0:
        try:
            _as_child(n_calls, line, count)
        finally:  # whatever escapes must not go on with the work of the parent
            os._exit(99)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), int(count.read_text() or 0), Path("err.txt").read_text()


def _as_child(n_calls: int | None, line: tuple[str, ...], count: Path) -> None:
    warnings.simplefilter("default")  # as in a shell, not errors as in tests
    signal.alarm(SECONDS)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    seen = 0

    def watch(frame: Any, event: str, _: Any) -> None:
        nonlocal seen
        if event == "call" and INSIDE in frame.f_code.co_filename:
            seen += 1
            if seen == n_calls:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)

    with Path("err.txt").open("w") as err, Path(os.devnull).open("w") as out:
        sys.stderr, sys.stdout = err, out
        try:
            sys.setprofile(watch)
            status = main(line)
        except BaseException as error:  # what a shell would show as a traceback
            status = 99
            err.write(f"Traceback {error!r}")
        finally:
            sys.setprofile(None)
        err.flush()
        count.write_text(str(seen))
        os._exit(status)


def command_through_signals(name: str, folder: Path, shares: list[float]) -> None:
    """Interrupt a command at these shares of its calls: it ends in words, and its files are complete or not there."""
    line = SIGNAL_COMMANDS[name]
    with kept_files(folder):
        status, n_calls, err = interrupted_after(None, line)
        assert status == 0, err
        for share in shares:
            for result in set(os.listdir()) - GOOD:
                Path(result).unlink()
            status, _, err = interrupted_after(2 + int(share * (n_calls - 2)), line)
            assert status in (0, 130), (share, status, err)
            assert "Traceback" not in err, (share, err)
            assert "internal error" not in err, (share, err)
            left = {result for result in os.listdir() if result.startswith((".", "result"))}
            assert all(map(is_whole, left)), (share, left)
            if "no file was changed" in err:
                assert not left, share


def is_whole(result: str) -> bool:
    """Whether a result has an end; unfinished parts have another name."""
    text = Path(result).read_text(encoding="utf-8")
    ends = {".json": "}\n", ".csv": "\n", ".html": ("</html>", "</html>\n")}
    return result.startswith("result") and text.endswith(ends[Path(result).suffix])
