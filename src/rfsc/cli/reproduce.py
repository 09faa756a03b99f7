"""`rfsc reproduce`: the paper's tables and figures, from the data to the page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .bar import Bar
from .options import chosen, jobs, seed


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
        "--seeds", nargs="+", type=seed, default=[0, 1, 2], metavar="SEED", help="of the folds (default: 0 1 2)"
    )
    parser.add_argument("--jobs", type=jobs, default=-1, help="processes (default: -1, which takes all cores)")
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
        sets=chosen("--sets", options.sets, SETS),
        methods=chosen("--methods", asked, known),
        protocols=chosen("--protocol", options.protocol, PROTOCOLS),
        seeds=tuple(dict.fromkeys(options.seeds)),
    )
    if options.quick:
        full, plan = plan, quick_plan(plan)
        slow = [name for name in full.methods if name not in plan.methods]
        if slow:
            sys.stderr.write(f"left out, too slow for a quick look: {'; '.join(slow)}\n")
    page = reproduce(plan, options.output, n_jobs=options.jobs, progress=Bar())
    sys.stdout.write(f"written: {page}\n")
