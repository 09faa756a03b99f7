"""The command `rfsc`; no science here."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .._optional import require

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        What follows the command's name; None takes it from the shell.

    Returns
    -------
    int
        Exit status: 0 when all went well, 1 after an error, 2 for options that do not exist, 130 after Ctrl-C.
    """
    try:
        require("the command rfsc", ["typer", "rich"], "cli")
    except ImportError as error:
        sys.stderr.write(f"rfsc: {error}\n")
        return 1
    from .commands import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
