"""The paper's experiments, the accuracy study and the calibration of certificates: `python -m paper COMMAND`.

Every finished fold is kept in the output folder, so an interrupted run continues where it stopped. Bupa, Ionosphere and
Sonar come from the folder named by the environment variable RFSC_DATA, or from OpenML if it is not set; TabMini's sets
from its folder tabmini, or from the package pmlb.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from . import calibration, certified_sets, selection_peers
from .accuracy import Study, run_study
from .agreement import REAL_SETS, agreement_section
from .by_size import size_section
from .methods import ONLY_ON_REQUEST, all_methods, study_methods
from .noise import noise_section
from .optimistic import optimistic_section
from .plan import Plan
from .printed import SETS
from .protocols import PROTOCOLS
from .recovery import recovery_section
from .reproduce import reproduce
from .small_sets import small_section
from .synthetic import FAMILIES
from .tables import made_by, replace_section
from .tabmini import SMALL_SETS, load_small

STUDY_SECTIONS = {"accuracy", "log-loss", "synthetic", "ranks", "times", "verdicts"}
ACCURACY_PARTS = ("study", "tabmini", "by-size", "noise", "agreement", "recovery", "settings")


def parser() -> argparse.ArgumentParser:
    """Options of both commands."""
    root = argparse.ArgumentParser(prog="python -m paper", description=__doc__)
    commands = root.add_subparsers(dest="command", required=True)
    paper = commands.add_parser("reproduce", help="the paper's tables and figures beside ours")
    _add_common(paper, sets=SETS, methods=list(all_methods()))
    paper.add_argument("--protocols", nargs="+", choices=PROTOCOLS, default=PROTOCOLS)
    paper.add_argument("--output", type=Path, default=Path("reproduction"), help="folder (default: %(default)s)")
    paper.add_argument("--write", type=Path, metavar="PAGE", help="page whose section 'main' is replaced")
    study = commands.add_parser("accuracy", help="RFSC beside what a user would choose today")
    _add_common(study, sets=(*SETS, *FAMILIES), methods=list(study_methods()))
    text = "what to run (default: all); --sets, --methods and --seeds are for the part study"
    study.add_argument("--parts", nargs="+", choices=ACCURACY_PARTS, default=ACCURACY_PARTS, help=text)
    study.add_argument("--output", type=Path, default=Path("accuracy"), help="folder (default: %(default)s)")
    study.add_argument("--write", type=Path, metavar="PAGE", help="page whose sections are replaced")
    tables = commands.add_parser("calibrate", help="how often certificates are wrong on simulated tables")
    tables.add_argument("--most", type=int, help="tables of each cell in this run (default: all)")
    tables.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    tables.add_argument("--output", type=Path, default=Path("certificate"), help="folder (default: %(default)s)")
    tables.add_argument("--write", type=Path, metavar="PAGE", help="page whose sections are replaced")
    return root


def _add_common(command: argparse.ArgumentParser, sets: Sequence[str], methods: Sequence[str]) -> None:
    command.add_argument("--quick", action="store_true", help="a first look: one seed and two folds")
    command.add_argument("--sets", nargs="+", choices=sets, metavar="SET", default=sets, help=", ".join(sets))
    usual = [name for name in methods if name not in ONLY_ON_REQUEST]
    text = f"default: all but {', '.join(ONLY_ON_REQUEST)}"
    command.add_argument("--methods", nargs="+", choices=methods, metavar="METHOD", default=usual, help=text)
    command.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], help="of the folds (default: 0 1 2)")
    command.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")


def plan_of(options: argparse.Namespace) -> Plan:
    """What `reproduce` runs."""
    plan = Plan(
        sets=tuple(name for name in SETS if name in options.sets),
        methods=tuple(name for name in all_methods() if name in options.methods),
        protocols=tuple(options.protocols),
        seeds=tuple(dict.fromkeys(options.seeds)),
    )
    return plan.quick() if options.quick else plan


def study_of(options: argparse.Namespace) -> Study:
    """What `accuracy` runs."""
    study = Study(
        methods=tuple(name for name in study_methods() if name in options.methods),
        sets=tuple(name for name in SETS if name in options.sets),
        families=tuple(name for name in FAMILIES if name in options.sets),
        seeds=tuple(dict.fromkeys(options.seeds)),
    )
    return study.quick() if options.quick else study


def accuracy_sections(options: argparse.Namespace) -> dict[str, str]:
    """Markdown by section of the page."""
    folder, jobs, parts, quick = options.output, options.jobs, options.parts, options.quick
    link = _link(options)
    small = SMALL_SETS[:4] if quick else SMALL_SETS
    for name in small if {"tabmini", "by-size"} & set(parts) else ():
        load_small(name)  # a missing one is reported before hours of work
    folder.mkdir(parents=True, exist_ok=True)
    sections: dict[str, str] = {}
    if "study" in parts:
        sections |= run_study(study_of(options), folder, n_jobs=jobs, link=link)
    if "tabmini" in parts:
        sections["tabmini"] = small_section(folder, n_jobs=jobs, sets=small)
    if "by-size" in parts:
        sets = SETS[:1] if quick else SETS
        sections["by size"] = size_section(folder, n_jobs=jobs, link=link, small=small, sets=sets)
    if "noise" in parts:
        sections["noise"] = noise_section(folder, n_jobs=jobs, **({"n_tables": 4} if quick else {}))
    if "agreement" in parts:
        fewer = {"sets": REAL_SETS[-1:], "n_seeds": 3, "n_folds": 2} if quick else {}
        sections["agreement"] = agreement_section(folder, n_jobs=jobs, **fewer)
    if "recovery" in parts:
        sections["recovery"] = recovery_section(folder, n_jobs=jobs, **({"seeds": (0,)} if quick else {}))
    if "settings" in parts:
        sections["paper protocol"] = optimistic_section(folder, n_jobs=jobs, **({"n_folds": 1} if quick else {}))
    for name in set(sections) - STUDY_SECTIONS if quick else ():
        sections[name] = f"**This was a quick look** at a small part.\n\n{sections[name]}"
    return sections


def _link(options: argparse.Namespace) -> str:
    """How the page that is written refers to the output folder."""
    return os.path.relpath(options.output, options.write.parent) if options.write else str(options.output)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, and print or write the results."""
    options = parser().parse_args(arguments)
    try:
        if options.command == "reproduce":
            page = reproduce(plan_of(options), options.output, n_jobs=options.jobs)
            sections = {"main": page.with_name("main.md").read_text(encoding="utf-8").rstrip("\n")}
            sys.stdout.write(f"{page}\n")
        elif options.command == "calibrate":
            outcomes = calibration.run_study(options.output, n_jobs=options.jobs, most=options.most)
            usual = calibration.run_usual(options.output, n_jobs=options.jobs, most=options.most)
            peers = selection_peers.run_peers(options.output, n_jobs=options.jobs, most=options.most)
            sections = {"calibration": calibration.section(outcomes, options.output, _link(options), usual)}
            sections["other methods"] = selection_peers.section(peers, outcomes)
            sections["six sets"] = certified_sets.section(options.output, n_jobs=options.jobs)
            sys.stdout.write("\n\n".join(sections.values()) + "\n")
        else:
            sections = accuracy_sections(options)
            sys.stdout.write("\n\n".join(sections.values()) + "\n")
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for name, text in sections.items() if options.write else ():
        replace_section(options.write, name, f"{text}\n\n{made_by(f'make {options.command}')}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
