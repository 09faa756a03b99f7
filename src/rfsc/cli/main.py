"""Entry point: find the command, run it, turn its errors into one line and an exit status."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .. import __version__
from . import reproduce


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        What follows the command's name; None takes it from the shell.

    Returns
    -------
    int
        Exit status: 0 when all went well, 1 after an error, 130 after Ctrl-C.
    """
    parser = argparse.ArgumentParser(
        prog="rfsc", description="Small, readable, accurate classifiers found by a randomised search."
    )
    parser.add_argument("--version", action="version", version=f"rfsc {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    reproduce.add_to(commands)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except KeyboardInterrupt:
        sys.stderr.write("\nrfsc: interrupted; what was finished is kept, and the same command goes on from there\n")
        return 130
    except OSError as error:
        known = error.strerror and error.filename
        sys.stderr.write(f"rfsc: {f'{error.filename}: {error.strerror}' if known else error}\n")
        return 1
    except (ValueError, ImportError) as error:
        sys.stderr.write(f"rfsc: {error}\n")
        return 1
    return 0
