"""The commands of `rfsc`; their errors become one line and an exit status."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Any

import typer

from .._version import __version__
from . import demo, explain, export, fit, info, predict, report, verify
from .console import Failure, harmless

UsageError: Any = typer.BadParameter.__base__  # Typer brings its own copy of click, or uses the one that is installed

app = typer.Typer(
    name="rfsc",
    help="Small, readable, accurate classifiers found by a randomised search.",
    epilog="Start with: rfsc fit data.csv --target COLUMN -o model.json --report report.html",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (fit, predict, explain, report, export, info, verify, demo):
    app.command(module.NAME)(module.command)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"rfsc {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback answers
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", envvar="RFSC_DEBUG", help="Show where errors come from, for developers.")
    ] = False,
) -> None:
    context.obj = traceback


def run(arguments: list[str]) -> int:
    """Run the command line."""
    show_traceback = arguments[:1] == ["--traceback"] or os.environ.get("RFSC_DEBUG", "0") not in ("", "0")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _one_line
            status = typer.main.get_command(app).main(arguments, prog_name="rfsc", standalone_mode=False)
        return _told(int(status or 0) if arguments else 2)  # older versions of Typer do not mind
    except UsageError as error:
        words = error.format_message().rstrip(".")
        if words:  # none where help was shown because nothing was asked for
            where = f" Try '{error.ctx.command_path} --help'." if error.ctx else ""
            sys.stderr.write(f"rfsc: {words}.{where}\n")
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return _told(130)
    except BrokenPipeError:
        # whoever read our output has seen enough; nothing is left to say, and Python must not try again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if show_traceback:
            raise
        sys.stderr.write(f"rfsc: {harmless(_sentence(error))}\n")
        return error.status if isinstance(error, Failure) else 1


def _told(status: int) -> int:
    if status == 130:
        sys.stderr.write("\nrfsc: interrupted; no file was changed\n")
    return status


def _sentence(error: Exception) -> str:
    """What went wrong, for a user."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, Failure | OSError | ValueError | ImportError | TypeError):
        return str(error)
    if isinstance(error, MemoryError):
        return "the memory is full; take fewer rows or columns, or set max_samples with --set."
    return f"this should not have happened ({type(error).__name__}). Please report it, with what RFSC_DEBUG=1 shows."


def _one_line(message: Warning | str, *_: Any, **__: Any) -> None:
    """Warnings of libraries, without the line of code that they come from."""
    sys.stderr.write(f"Warning: {message}\n")
