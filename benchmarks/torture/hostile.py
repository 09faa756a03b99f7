"""Bad input for `make torture`: all of the catalogue, and fuzzing for a stated time.

Run alone with `python -m benchmarks.torture.hostile --seconds 60`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.hostile import fuzz, walk
from tests.hostile.commands import COMMANDS, WRITERS
from tests.hostile.documents import DOCUMENTS, WAYS, document_through
from tests.hostile.files import FILES, ODD
from tests.hostile.rows import ROWS
from tests.hostile.signals import SIGNAL_COMMANDS, command_through_signals
from tests.hostile.tables import SLOW, TABLES

Row = tuple[str, int, int, int]
"""What was tried, how often, how often work was lost, how often the outcome was wrong."""


def catalogue(*, slow: bool = True) -> list[Row]:
    """Every hostile input through every door."""
    tables = [*TABLES, *(SLOW if slow else [])]
    reported = [case for case in tables if case.report is not None]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        walk.good_files(folder)
        return [
            _counted("hostile tables, estimator", tables, walk.table_through_estimator),
            _counted("hostile tables, report", reported, walk.table_through_report),
            _counted("hostile rows, predictions", ROWS, walk.rows_through_predictions),
            *(
                _counted(f"hostile files, rfsc {command}", FILES, lambda f, c=command: walk.file_through(c, f, folder))
                for command in ("fit", "predict", "report")
            ),
            _counted("hostile cells and names, rfsc fit", ODD, lambda f: walk.file_through("fit", f, folder)),
            _counted("hostile command lines", COMMANDS, lambda command: walk.command_through(command, folder)),
            _counted("commands on a full disk", WRITERS, lambda line: walk.full_disk_through(line, folder)),
            *map(_documents, DOCUMENTS),
            *(_interrupted(name, folder, 100 if slow else 3) for name in SIGNAL_COMMANDS),
        ]


def _documents(name: str) -> Row:
    """Every place of a file, changed in every way."""
    tried = wrong = 0
    for way in WAYS:
        try:
            tried += document_through(name, way)
        except Exception:
            wrong += 1
            print(f"{name}, {way}\n{traceback.format_exc()}")
    return f"hostile {name}s as files", tried, 0, wrong


def _interrupted(name: str, folder: Path, n: int) -> Row:
    """Ctrl-C at stages of a command that are equally far apart."""
    shares = [[(k + 0.5) / n] for k in range(n)]
    through = partial(command_through_signals, name, folder)
    return _counted(f"Ctrl-C during rfsc {name}", shares, through)


def _counted(name: str, cases: Iterable[Any], check: Callable[[Any], None]) -> Row:
    tried = wrong = 0
    for case in cases:
        tried += 1
        try:
            check(case)
        except Exception:
            wrong += 1
            print(f"{name}: {getattr(case, 'name', case)}\n{traceback.format_exc()}")
    return name, tried, 0, wrong


def fuzzing(seconds: float = 60.0) -> list[Row]:
    """Readers, estimator and exporters with input that hypothesis makes up."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        laws: dict[str, tuple[Any, Callable[[Any], Any]]] = {
            f"fuzzed {reader} reader": (
                fuzz.bytes_near(reader),
                lambda content, reader=reader: fuzz.read_anything(reader, content, folder),
            )
            for reader in fuzz.READERS
        }
        laws["fuzzed estimator"] = st.data(), lambda data: fuzz.fit_anything(data.draw)
        laws["fuzzed exporters"] = st.data(), lambda data: fuzz.export_strangely_named(data.draw)
        return [_fuzzed(name, inputs, law, seconds) for name, (inputs, law) in laws.items()]


def _fuzzed(name: str, inputs: Any, law: Callable[[Any], Any], seconds: float) -> Row:
    """Rounds of a hundred inputs, each from another seed, until the time is over."""
    tried = wrong = 0
    end = time.monotonic() + seconds

    @settings(
        max_examples=100,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def one_round(value: Any) -> None:
        nonlocal tried
        tried += 1
        law(value)

    while time.monotonic() < end:
        try:
            one_round()
        except Exception:
            wrong += 1
            print(f"{name}\n{traceback.format_exc()[-4000:]}")
    return name, tried, 0, wrong


def main() -> None:
    """Print both as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="fuzzing time for each reader")
    parser.add_argument("--quick", action="store_true", help="without the inputs that take a minute")
    arguments = parser.parse_args()
    print("| what | tried | lost | wrong |\n|---|---:|---:|---:|")
    for row in [*catalogue(slow=not arguments.quick), *fuzzing(arguments.seconds)]:
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
