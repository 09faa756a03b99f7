"""`rfsc reproduce`: the paper's tables and figures, from the data to the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiments and write its tables and figures beside ours",
        description=(
            "Run RFSC and all comparators on the paper's six data sets and write Tables 1 to 5 (Markdown, CSV, LaTeX), "
            "Figures 1 to 3 and REPRODUCTION.md. Every finished fold is kept: an interrupted run goes on where it "
            "stopped. Bupa, Ionosphere and Sonar are read from the folder named by the environment variable RFSC_DATA, "
            "or fetched from OpenML where it is not set."
        ),
        epilog="An unknown name after --sets, --methods or --protocol is answered with the names that there are.",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("reproduction"), help="folder to write to (default: %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="a first look: one seed, two folds, no slow comparator")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="only these data sets (default: all six)")
    parser.add_argument(
        "--methods", nargs="+", metavar="METHOD", help="only these methods (default: all; 'rfsc' for ours alone)"
    )
    parser.add_argument(
        "--protocol", nargs="+", metavar="PROTOCOL", help="honest, paper, keel, or several (default: all three)"
    )
    parser.add_argument(
        "--seeds", nargs="+", type=_seed, default=[0, 1, 2], metavar="SEED", help="of the folds (default: 0 1 2)"
    )
    parser.add_argument("--jobs", type=_jobs, default=-1, help="processes (default: -1, which takes all cores)")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    # imported here: the command's help needs none of it
    from ..experiments.methods import all_methods
    from ..experiments.printed import SETS
    from ..experiments.protocols import PROTOCOLS
    from ..experiments.reproduce import Plan, quick_plan, reproduce, require_packages

    require_packages()
    known = all_methods()
    ours = [name for name, method in known.items() if method.kind == "rfsc"]
    asked = options.methods
    if asked and [name.lower() for name in asked] == ["rfsc"]:
        asked = ours
    plan = Plan(
        sets=_chosen("--sets", options.sets, SETS),
        methods=_chosen("--methods", asked, known),
        protocols=_chosen("--protocol", options.protocol, PROTOCOLS),
        seeds=tuple(dict.fromkeys(options.seeds)),
    )
    if options.quick:
        full, plan = plan, quick_plan(plan)
        slow = [name for name in full.methods if name not in plan.methods]
        if slow:
            sys.stderr.write(f"left out, too slow for a quick look: {'; '.join(slow)}\n")
    page = reproduce(plan, options.output, n_jobs=options.jobs, progress=_Bar())
    sys.stdout.write(f"written: {page}\n")


def _seed(text: str) -> int:
    """An argument that scikit-learn takes as a seed."""
    if not text.isdecimal() or int(text) >= 2**32:
        msg = f"a seed is a whole number from 0 to {2**32 - 1}, got {text}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _jobs(text: str) -> int:
    """A number of processes; -1 stands for all cores."""
    if text != "-1" and (not text.isdecimal() or text == "0"):
        msg = f"expected a number of processes, or -1 for all cores, got {text}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _chosen(option: str, asked: Iterable[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    """The names that were asked for, in our spelling and order; all of them where none was."""
    by_lower = {name.lower(): name for name in known}
    wanted = {name.lower() for name in asked} if asked else set(by_lower)
    strange = sorted(wanted - set(by_lower))
    if strange:
        quoted = ", ".join(f"'{name}'" for name in by_lower.values())
        msg = f"{option} does not know {', '.join(strange)}. Choose from: {quoted}."
        raise ValueError(msg)
    return tuple(name for lower, name in by_lower.items() if lower in wanted)


class _Bar:
    """A progress bar with the remaining time, by the expected cost of what is left rather than by counting folds."""

    _QUIET = 30.0  # seconds between lines where stderr is no terminal
    _STEPS = 1_000_000  # the bar counts whole steps: a sum of costs misses their total by a rounding error

    def __init__(self) -> None:
        self._bar: Any = None
        self._done = self._total = 0.0

    def start(self, total: float, n_known: int) -> None:
        from tqdm import tqdm

        if n_known:
            sys.stderr.write(f"{n_known} folds are there already\n")
        self._done, self._total = 0.0, total
        self._bar = tqdm(
            total=self._STEPS,
            disable=total <= 0,
            mininterval=0.2 if sys.stderr.isatty() else self._QUIET,
            bar_format="{percentage:3.0f}% {bar} {elapsed} gone, {remaining} left  {desc}",
        )

    def advance(self, by: float, what: str) -> None:
        self._bar.set_description_str(what, refresh=False)
        self._done += by
        share = min(self._done / self._total, 1.0)
        self._bar.update(round(share * self._STEPS) - self._bar.n)

    def close(self) -> None:
        self._bar.close()
