"""`rfsc reproduce`: the paper's tables and figures, from the data to the page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .bar import Bar
from .console import Failure
from .options import chosen, jobs, listed, seed

NAME = "reproduce"


def command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")] = Path("reproduction"),
    quick: Annotated[bool, typer.Option("--quick", help="A first look: one seed, two folds, no slow peer.")] = False,
    sets: Annotated[
        list[str] | None, typer.Option("--sets", metavar="SET", help="Only this data set.", show_default="all six")
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option("--methods", metavar="METHOD", help="Only this method; 'rfsc' for ours.", show_default="all"),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", metavar="PROTOCOL", help="honest, paper or keel.", show_default="all three"),
    ] = None,
    seeds: Annotated[
        list[str] | None, typer.Option("--seeds", metavar="SEED", help="Of the folds.", show_default="0,1,2")
    ] = None,
    n_jobs: Annotated[
        int, typer.Option("--jobs", parser=jobs, metavar="N", help="Processes; -1 takes all cores.")
    ] = -1,
) -> None:
    """Run the paper's experiments and write its tables and figures beside ours.

    RFSC and all comparators run on the paper's six data sets; written are Tables 1 to 5 (Markdown, CSV, LaTeX), Figures
    1 to 3 and REPRODUCTION.md. Every finished fold is kept: an interrupted run goes on where it stopped. Bupa,
    Ionosphere and Sonar are read from the folder named by the environment variable RFSC_DATA, or fetched from OpenML
    where it is not set.

    Sets, methods, protocols and seeds may be repeated or given between commas, such as --sets iris,wine. An unknown
    name is answered with the names that there are.
    """
    # imported here: the command's help needs none of it
    from ..experiments.methods import all_methods
    from ..experiments.printed import SETS
    from ..experiments.protocols import PROTOCOLS
    from ..experiments.reproduce import Plan, quick_plan, reproduce, require_packages

    require_packages()
    known = all_methods()
    asked = listed(methods, known)
    if [name.lower() for name in asked] == ["rfsc"]:
        asked = [name for name, method in known.items() if method.kind == "rfsc"]
    plan = Plan(
        sets=chosen("--sets", listed(sets), SETS),
        methods=chosen("--methods", asked, known),
        protocols=chosen("--protocol", listed(protocol), PROTOCOLS),
        seeds=tuple(dict.fromkeys(map(seed, listed(seeds) or ["0", "1", "2"]))),
    )
    if quick:
        full, plan = plan, quick_plan(plan)
        slow = [name for name in full.methods if name not in plan.methods]
        if slow:
            sys.stderr.write(f"left out, too slow for a quick look: {'; '.join(slow)}\n")
    try:
        page = reproduce(plan, output, n_jobs=n_jobs, progress=Bar())
    except KeyboardInterrupt:
        msg = "interrupted; what was finished is kept, and the same command goes on from there"
        raise Failure(msg, 130) from None
    sys.stdout.write(f"written: {page}\n")
