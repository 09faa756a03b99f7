"""Arguments that several commands share, and the classifier that the options of `rfsc fit` describe."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import CHECKPOINTS, CommandError, check_writable

if TYPE_CHECKING:
    from .. import Checkpoint, Restrictions
    from .._input.training_data import ColumnChoice
    from ..classifier import RFSCClassifier

NOT_ON_COMMAND_LINE = ("callbacks", "restrictions", "search", "verbose")  # parameters without a text form
BASIS_NAMES = ("auto", "polynomial", "centred", "hinge", "rule", "step", "fourier", "radial", "sigmoid")


def file_option(help_text: str, *names: str) -> Any:
    return typer.Option(*names, metavar="FILE", help=help_text, show_default=False)


def column_option(help_text: str, *names: str) -> Any:
    return typer.Option(*names, metavar="COLUMN", help=help_text, show_default=False)


Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file written by `rfsc fit`.", show_default=False)]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table: CSV, TSV, Excel or Parquet (a file or a folder of files); - reads stdin.",
        show_default=False,
    ),
]
Target = Annotated[str, column_option("Column with the class.", "--target", "-t")]
ModelTarget = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="Column with the class.", show_default="that of the model file"
    ),
]
Output = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="File to write.", show_default="stdout")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Show errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Random seed; the same gives the same result.")]
Jobs = Annotated[
    int, typer.Option("--jobs", metavar="N", min=-1, help="Threads; -1 uses all cores. The result is the same.")
]
TimeLimit = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Finish within this time.", show_default="none")
]
CheckpointFile = Annotated[str | None, file_option("Save finished fits here.", "--checkpoint")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint if it exists.")]

# of `rfsc fit`
Columns = list[str] | None
ModelFile = Annotated[str | None, file_option("Model file to write; - is stdout.", "-o", "--output")]
ReportFile = Annotated[str | None, file_option("Report to write (.html or .json).", "--report")]
Basis = Annotated[
    str, typer.Option(metavar="NAMES", help=f"Families of terms, separated by commas: {', '.join(BASIS_NAMES)}.")
]
Degree = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=5, help="Degree of polynomial terms.", show_default="2")
]
Restarts = Annotated[int, typer.Option(metavar="N", min=1, help="Number of independent searches.")]
Size = Annotated[str, typer.Option(metavar="N", help="Number of terms of the model: best, 1se or a number.")]
Decimal = Annotated[
    str | None, typer.Option("--decimal", metavar="SIGN", help="Decimal sign of the table, if in doubt: . or ,")
]
MaxTerms = Annotated[int, typer.Option(metavar="N", min=1, help="Largest size that best and 1se may choose.")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of RFSCClassifier.", show_default=False),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--cv", metavar="N", help="Folds of the cross-validation; 0 for no score.", show_default="5 up to 5000 rows"
    ),
]
TestSize = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Score on this share of the rows instead.", show_default="0.2 above 5000 rows"),
]
Certify = Annotated[bool, typer.Option("--certify", help="Test which features can be believed; takes many fits.")]
Fallback = Annotated[bool, typer.Option("--fallback", help="Also find models without what is most often blank.")]
FittedClass = Annotated[
    str | None,
    typer.Option(
        "--class", metavar="CLASS", help="Which of two classes the model is about.", show_default="the second"
    ),
]


# ---- checkpoints


def checkpoint_at(path: str | None, *, resume: bool, force: bool, inputs: dict[str, str | None]) -> list[Checkpoint]:
    """The callback that saves finished searches."""
    if path is None and resume:
        msg = "--resume needs the file to continue from; pass --checkpoint too."
        raise CommandError(msg, 2)
    if path is None:
        return []
    file = Path(path)
    if path == "-" or (file.exists() and not file.is_file()):
        msg = f"--checkpoint expects a file, got {path}."
        raise CommandError(msg, 2)
    if file.exists() and not (resume or force):
        msg = f"{path} already exists; pass --resume to continue from it, or --force to start again."
        raise CommandError(msg)
    check_writable(path, force=True, inputs=inputs)
    from .. import Checkpoint

    CHECKPOINTS.append(path)
    return [Checkpoint(file, overwrite=not resume)]


# ---- the classifier


def configured_search(basis: str, degree: int | None, pairs: Iterable[str], **chosen: Any) -> RFSCClassifier:
    """The classifier of a command line; wrong settings are reported before a table is read."""
    from .. import RFSCClassifier, SearchSettings

    search = RFSCClassifier(basis=_basis(basis, degree), **chosen)
    known = [name for name in search.get_params() if name not in NOT_ON_COMMAND_LINE]
    of_search = [field.name for field in fields(SearchSettings)]
    given = _given_settings(pairs, [*known, *of_search])
    try:
        if expert := {name: value for name, value in given.items() if name in of_search}:
            search.set_params(search=SearchSettings(**expert))
        search.set_params(**{name: value for name, value in given.items() if name in known})
        check_settings(search)
    except (ValueError, TypeError) as error:
        raise CommandError(str(error), 2) from None
    return search


def sign_restrictions(increasing: Sequence[str], decreasing: Sequence[str]) -> Restrictions | None:
    """What --increasing and --decreasing require."""
    from .. import Restrictions

    try:
        return Restrictions(increasing=increasing, decreasing=decreasing) if increasing or decreasing else None
    except ValueError:
        both = next(name for name in increasing if name in decreasing)
        msg = f"--increasing and --decreasing both name {both!r}. Leave out one of the two."
        raise CommandError(msg, 2) from None


def column_choice(
    signs: Restrictions | None, roles: dict[str, str], decimal: str | None, **named: Sequence[str] | None
) -> ColumnChoice:
    """The columns that options name, and those whose effect has a sign."""
    from .._input.training_data import ColumnChoice

    if decimal not in (None, ".", ","):
        msg = f"--decimal expects . or , but got {decimal!r}."
        raise CommandError(msg, 2)
    signed = () if signs is None else tuple(signs.signs)
    return ColumnChoice(
        **{option: names or () for option, names in named.items()}, signed=signed, roles=roles, decimal=decimal
    )


def check_settings(search: RFSCClassifier) -> None:
    """Raise ValueError or TypeError if the classifier would refuse its settings."""
    from ..bases import resolve

    search._validate_params()
    if search.basis != "auto":
        resolve(search.basis)


def _basis(text: str, degree: int | None) -> Any:
    """The families of terms named by --basis and --degree."""
    from ..bases import Centred, Polynomial

    names: list[Any] = [part.strip() for part in text.split(",")]
    if degree is not None:
        families: dict[str, Any] = {"auto": Polynomial, "polynomial": Polynomial, "centred": Centred}
        if not set(names) & set(families):
            msg = "--degree goes with --basis polynomial or --basis centred."
            raise CommandError(msg, 2)
        names = [families[name](degree=degree) if name in families else name for name in names]
    return names[0] if len(names) == 1 else names


def _given_settings(pairs: Iterable[str], known: list[str]) -> dict[str, Any]:
    """Values of `--set name=value`: numbers, true, false, none, lists, else text."""
    words = {"true": True, "false": False, "none": None}
    found = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or name not in known:
            msg = (
                "--set expects NAME=VALUE with a parameter of RFSCClassifier or SearchSettings, "
                f"got {pair}. Choose from: {', '.join(sorted(known))}."
            )
            raise CommandError(msg, 2)
        try:
            found[name] = words[text.lower()] if text.lower() in words else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[name] = text
    return found
