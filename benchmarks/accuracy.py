"""The accuracy study: settings of RFSC and today's peers on the paper's six data sets and on synthetic families.

Everything that a method chooses it chooses inside its training rows. Every finished fold is kept, so an interrupted run
goes on where it stopped. Bupa, Ionosphere and Sonar come from the folder named by RFSC_DATA, or from OpenML where it is
not set.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from paper.accuracy_study import Study, run_study
from paper.printed import SETS
from paper.study_methods import SLOW, study_methods
from paper.synthetic import FAMILIES

from markdown import replace_section
from rfsc.cli.bar import Bar
from rfsc.cli.options import chosen, jobs, seed


def read_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """What the user wants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="page whose sections are replaced")
    parser.add_argument(
        "--output", type=Path, default=Path("accuracy"), help="folder for cells and pictures (default: %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="a first look: one seed, two folds, two draws")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="only these sets or families, in any mix")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help=f"only these (default: all but {SLOW[0]})")
    parser.add_argument("--seeds", nargs="+", type=seed, default=[0, 1, 2], help="of the folds (default: 0 1 2)")
    parser.add_argument("--jobs", type=jobs, default=2, help="processes (default: %(default)s; -1 takes all cores)")
    return parser.parse_args(arguments)


def plan(options: argparse.Namespace) -> Study:
    """The study that these options ask for."""
    known = list(study_methods())
    sets = chosen("--sets", options.sets, [*SETS, *FAMILIES])
    study = Study(
        methods=chosen("--methods", options.methods or [name for name in known if name not in SLOW], known),
        sets=tuple(name for name in sets if name in SETS),
        families=tuple(name for name in sets if name in FAMILIES),
        seeds=tuple(dict.fromkeys(options.seeds)),
    )
    return study.quick() if options.quick else study


def main() -> None:
    """Run what is missing, then print or write every section."""
    options = read_options()
    page = options.write
    link = os.path.relpath(options.output, page.parent) if page else str(options.output)
    sections = run_study(plan(options), options.output, n_jobs=options.jobs, progress=Bar(), link=link)
    print("\n\n".join(sections.values()))
    for name, text in sections.items() if page else ():
        replace_section(page, name, text)


if __name__ == "__main__":
    main()
