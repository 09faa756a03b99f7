"""The command `rfsc`."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Sequence

from .._utils.optional import require

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as services may have them
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    try:
        require("the command rfsc", ["typer", "rich"], "cli")
        from .app import run

        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # a late Ctrl-C does not undo what is done
        return run(list(sys.argv[1:] if arguments is None else arguments))
    except ImportError as error:
        sys.stderr.write(f"rfsc: {error}\n")
        return 1
    except KeyboardInterrupt:  # before the command has begun, or when it was over
        sys.stderr.write("\nrfsc: interrupted\n")
        return 130
