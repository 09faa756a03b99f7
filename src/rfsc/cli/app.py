"""The commands of `rfsc`; an error becomes one line on stderr and an exit status."""

from __future__ import annotations

import os
import sys
import warnings
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Annotated, Any

import typer

from .._utils.words import listed, shortened
from .._version import __version__
from .console import CHECKPOINTS, LIBRARY_WARNINGS, WRITTEN, CommandError, printable
from .export_command import export
from .fit_command import demo, fit
from .model_commands import explain, info, monitor, predict, report
from .refit_commands import atlas, card, certify, verify

LONGEST = 4000  # characters of an error, which may hold very long names
UsageError: Any = typer.BadParameter.__base__  # Typer has its own copy of click, or uses the installed one

app = typer.Typer(
    name="rfsc",
    help="Small, readable, accurate classifiers found by a randomised search.",
    epilog="Start with: rfsc fit data.csv --target COLUMN -o model.json --report report.html",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (fit, predict, explain, report, export, info, certify, atlas, card, monitor, verify, demo):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"rfsc {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit status."""
    WRITTEN.clear()
    CHECKPOINTS.clear()
    LIBRARY_WARNINGS.clear()
    try:
        with warnings.catch_warnings(), _heard_interrupts():
            warnings.showwarning = _one_line
            warnings.filterwarnings("ignore", "No term of output")  # names parameters of Python; fit warns itself
            warnings.filterwarnings("ignore", "(overflow|invalid value) encountered", RuntimeWarning)  # of huge numbers
            status = typer.main.get_command(app).main(arguments, prog_name="rfsc", standalone_mode=False)
        return _finished(int(status or 0) if arguments else 2)  # older versions of Typer return 0
    except UsageError as error:
        text = shortened(printable(error.format_message().rstrip(".")), LONGEST)
        if text:  # empty if help was shown because no command was given
            hint = f" Try '{error.ctx.command_path} --help'." if error.ctx else ""
            sys.stderr.write(f"rfsc: {text}{'' if text.endswith('?') else '.'}{hint}\n")
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return _finished(130)
    except BrokenPipeError:
        # the reader of our output has closed it; Python must not try to flush it again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("RFSC_DEBUG", "0") not in ("", "0"):
            raise
        sys.stderr.write(f"rfsc: {shortened(printable(_error_text(error)), LONGEST)}\n")
        return error.status if isinstance(error, CommandError) else 1


@contextmanager
def _heard_interrupts() -> Iterator[None]:
    """Ctrl-C at a moment when Python would drop it, such as in the end of a generator, comes again."""
    usual, timers = sys.unraisablehook, []

    def hook(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            again = Timer(0.01, interrupt_main)  # not now: what is raised in a hook is dropped, too
            again.daemon = True
            timers.append(again)
            again.start()
        else:
            usual(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual
        for again in timers:  # none may come when the command is over
            again.cancel()
            again.join()


def _finished(status: int) -> int:
    if status == 130:
        kept = [path for path in CHECKPOINTS if os.path.exists(path)]
        what = f"{listed(kept)} keeps the finished searches" if kept else "no file was changed"
        if WRITTEN:
            what = f"{listed(WRITTEN)} {'is' if len(WRITTEN) == 1 else 'are'} complete"
        sys.stderr.write(f"\nrfsc: interrupted; {printable(what)}\n")
    return status


def _error_text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, OSError | ValueError | ImportError | TypeError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory; use fewer rows or columns, or set max_samples with --set."
    return f"internal error ({type(error).__name__}). Please report it with what RFSC_DEBUG=1 shows."


def _one_line(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning of a library, without the line of code that raised it."""
    LIBRARY_WARNINGS.append(printable(str(message)))
    sys.stderr.write(f"Warning: {LIBRARY_WARNINGS[-1]}\n")
