"""How fast is it, beside its peers? Prints tables in Markdown; `--write PAGE` replaces the section `speed` of a page.

Every ratio is measured side by side in one run: the competitors take turns in rounds on one core, and each is judged by
its best turn. Ratios are of processor time, which is wall time on an idle machine and does not count what other
programs took; if several cores are the point, wall time is taken.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import time
from pathlib import Path

from paper.tables import replace_section
from threadpoolctl import threadpool_limits

from rfsc import __version__

from .report import Section, machine_and_date
from .speed_fits import filter_section, fits_section, peak_section, scaling_section
from .speed_searches import experiment_section, search_section, startup_section


def machine() -> str:
    """Processor, versions and load; no names, no paths."""
    packages = ("numpy", "scipy", "scikit-learn", "numba", "statsmodels", "dcor")
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in packages)
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return (
        f"{machine_and_date()}, {os.cpu_count()} cores{load}; {platform.system()}, "
        f"Python {platform.python_version()}, rfsc {__version__}, {versions}."
    )


def page(machine_line: str, sections: list[Section], seconds: float) -> str:
    """All tables, and how many bars they meet."""
    judged = [row for s in sections for row in s.rows if row.bar is not None and row.judged]
    missed = [row.name for row in judged if row.verdict == "MISSED"]
    summary = f"**{len(judged) - len(missed)} of {len(judged)} bars met.**"
    if missed:
        summary += " MISSED: " + "; ".join(missed) + "."
    head = (
        "Every ratio is measured side by side in one run (`benchmarks/speed.py`), each competitor by its best turn, in "
        f"processor time unless wall time is named. The run took {seconds:.0f} s on {machine_line}\n\n{summary}"
    )
    return "\n\n".join([head, *(s.markdown() for s in sections)])


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="page whose section 'speed' is replaced")
    arguments = parser.parse_args()
    start, machine_line = time.perf_counter(), machine()
    with threadpool_limits(1):
        sections = [
            fits_section(),
            peak_section(),
            scaling_section(),
            experiment_section(),
            search_section(),
            filter_section(),
            startup_section(),
        ]
    text = page(machine_line, sections, time.perf_counter() - start)
    print(text)
    if arguments.write:
        replace_section(arguments.write, "speed", text)


if __name__ == "__main__":
    main()
