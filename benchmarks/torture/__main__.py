"""All long trials, one table: python -m benchmarks.torture --raw FILE --write docs/reliability.md

The file keeps what every part has counted, so that one of them can be run again without the others (`--only`). The
status is 1 unless nothing was lost and nothing was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from paper.tables import markdown_table, replace_section

from rfsc import __version__

from . import budgets, checkpoints, guided, hostile, kills, memory, model_files, numerics, resources, same_answer

Row = tuple[str, int, int, int]
HEAD = ("what was done", "how often", "lost", "wrong", "seconds")
PARTS: dict[str, tuple[Callable[[], list[Row]], Callable[[], list[Row]]]] = {
    "catalogue": (hostile.catalogue, lambda: hostile.catalogue(slow=False)),
    "fuzzing": (lambda: hostile.fuzzing(45.0), lambda: hostile.fuzzing(1.0)),
    "guided": (lambda: guided.guided_fuzzing(45), lambda: guided.guided_fuzzing(3)),
    "models": (lambda: model_files.rows(60.0), lambda: model_files.rows(3.0)),
    "numerics": (numerics.numerical_torture, lambda: numerics.numerical_torture(range(1))),
    "kills": (kills.kill_torture, lambda: kills.kill_torture(4, 2)),
    "checkpoints": (checkpoints.checkpoint_torture, checkpoints.checkpoint_torture),
    "same": (same_answer.grid_torture, lambda: same_answer.grid_torture(tuple(same_answer.CASES)[:2])),
    "engines": (same_answer.engine_torture, lambda: same_answer.engine_torture(range(1))),
    "seeds": (same_answer.random_state_torture, lambda: same_answer.random_state_torture(range(1))),
    "budgets": (budgets.time_limits, lambda: budgets.time_limits(large=False)),
    "memory": (memory.memory_torture, memory.memory_torture),
    "leaks": (resources.leak_torture, lambda: resources.leak_torture(100)),
    "processes": (resources.process_torture, lambda: resources.process_torture(3)),
    "notebook": (resources.notebook_torture, resources.notebook_torture),
}
"""Each with its stated size, and with a small one."""


def run(name: str, *, quick: bool) -> dict[str, Any]:
    """The rows of one part, and how long it took; a part that fails counts as one that was lost."""
    began = time.perf_counter()
    try:
        rows = PARTS[name][quick]()
    except Exception:
        traceback.print_exc()
        rows = [(f"{name} (failed)", 1, 1, 0)]
    seconds = round(time.perf_counter() - began)
    print(f"{name}: {seconds} s", file=sys.stderr, flush=True)
    versions = f"rfsc {__version__}, Python {platform.python_version()}, {datetime.now(UTC):%Y-%m-%d}"
    return {"rows": rows, "seconds": seconds, "versions": versions}


def page_table(found: dict[str, Any]) -> str:
    """All rows in the order of the parts; the time is beside the first row of each."""
    cells = [
        [what, *(f"{count:,}" for count in counts), str(found[name]["seconds"]) if place == 0 else ""]
        for name in PARTS
        if name in found
        for place, (what, *counts) in enumerate(found[name]["rows"])
    ]
    minutes = sum(part["seconds"] for part in found.values()) / 60
    versions = sorted({part["versions"] for part in found.values()})
    return f"{markdown_table(HEAD, cells)}\n\n{'; '.join(versions)}; {os.cpu_count()} cores; {minutes:.0f} minutes."


def main() -> int:
    """Run the requested parts and print the table; status 1 if anything was lost or wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torture", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--raw", type=Path, metavar="FILE", help="keep what was counted here, beside what is there")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into this page")
    arguments = parser.parse_args()
    found: dict[str, Any] = {}
    if arguments.raw and arguments.raw.exists():
        found = json.loads(arguments.raw.read_text())
    for name in arguments.only:
        found[name] = run(name, quick=arguments.quick)
        if arguments.raw:
            arguments.raw.write_text(json.dumps(found, indent=1) + "\n")
    print(page_table(found))
    if arguments.write:
        replace_section(arguments.write, "torture", page_table(found))
    return int(any(lost or wrong for part in found.values() for _, _, lost, wrong in part["rows"]))


if __name__ == "__main__":
    raise SystemExit(main())
