"""The command `rfsc`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .._utils.optional import require

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    try:
        require("the command rfsc", ["typer", "rich"], "cli")
    except ImportError as error:
        sys.stderr.write(f"rfsc: {error}\n")
        return 1
    from .app import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
