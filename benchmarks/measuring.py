"""What the benchmarks share: a classifier from plain settings, fits in processes of their own, memory, and time."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from rfsc import RFSCClassifier, SearchSettings
from rfsc.bases import Polynomial

ROOT = Path(__file__).resolve().parents[1]
SEARCH_SETTINGS = {field.name for field in fields(SearchSettings)}


def make_classifier(**settings: Any) -> RFSCClassifier:
    """A classifier from settings that JSON can hold: those of the search among the others, and a degree."""
    search = {name: settings.pop(name) for name in SEARCH_SETTINGS & set(settings)}
    if "degree" in settings:
        settings["basis"] = Polynomial(degree=settings.pop("degree"))
    return RFSCClassifier(**settings, search=SearchSettings(**search) if search else None)


def run_python(python: str | Path, *arguments: str, limit: float | None = None, **environment: str) -> str:
    """What a Python process prints; after `limit` seconds it is ended with all processes that it has started."""
    command = [str(python), *arguments]
    process = subprocess.Popen(
        command,
        env=os.environ | environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, error = process.communicate(timeout=limit)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode:
        sys.stderr.write(error)
        raise subprocess.CalledProcessError(process.returncode, command, out, error)
    return out


class Outcomes:
    """Outcomes of tasks by their settings, each measured in a process of its own and kept in a file, if one is named.

    A task is a dictionary for JSON; `python -m benchmarks.MODULE --one TASK` prints its outcome in its last line.
    """

    def __init__(self, module: str, path: Path | None) -> None:
        self._module, self._path = module, path
        self._known: dict[str, Any] = json.loads(path.read_text()) if path is not None and path.exists() else {}

    def __contains__(self, task: dict[str, Any]) -> bool:
        return _key(task) in self._known

    def get(self, task: dict[str, Any]) -> dict[str, Any]:
        """From the file, or measured now."""
        if task not in self:
            printed = run_python(sys.executable, "-m", f"benchmarks.{self._module}", "--one", _key(task))
            self.add(task, json.loads(printed.splitlines()[-1]))
        outcome: dict[str, Any] = self._known[_key(task)]
        return outcome

    def add(self, task: dict[str, Any], outcome: dict[str, Any]) -> None:
        """Keep an outcome, with the load of the machine after it."""
        self._known[_key(task)] = outcome | {"load": round(os.getloadavg()[0], 1)}
        print(_key(task), json.dumps(self._known[_key(task)]), file=sys.stderr, flush=True)
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._known, indent=1, sort_keys=True) + "\n")


def _key(task: dict[str, Any]) -> str:
    return json.dumps(task, sort_keys=True)


def memory(field: str) -> int:
    """Bytes of this process by the system's name: VmRSS now, VmHWM at the peak."""
    found = re.search(field + r":\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found.group(1)) * 1024


def processor_seconds() -> float:
    """Of this process and of those that it has started and that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def verdict(met: bool) -> str:
    """Whether a bar is met, as all tables write it."""
    return "met" if met else "MISSED"
