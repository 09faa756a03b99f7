"""Readers under atheris, for a stated time each; see `fuzz_readers.py`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
READERS = ("csv", "gzip", "model")


def guided_fuzzing(seconds: int = 60) -> list[tuple[str, int, int, int]]:
    """Rows (name, inputs, lost, wrong); none if atheris is not installed."""
    if not find_spec("atheris"):
        print("atheris is not installed: readers are fuzzed by hypothesis alone")
        return []
    return [_fuzzed(reader, seconds) for reader in READERS]


def _fuzzed(reader: str, seconds: int) -> tuple[str, int, int, int]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.torture.fuzz_readers", reader]
        options = [f"-max_total_time={seconds}", f"-artifact_prefix={folder}/", "-print_final_stats=1"]
        done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
    found = re.search(r"number_of_executed_units:\s*(\d+)", done.stderr)
    if done.returncode or not found:
        print(f"atheris, {reader}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return (
        f"fuzzed {reader} reader, guided by coverage",
        int(found.group(1)) if found else 0,
        0,
        int(done.returncode != 0),
    )
