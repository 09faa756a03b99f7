"""From a raw table to what a classifier may learn from: features, labels, and what was left out and why."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.arrays import IntArray
from .columns import Column, read_as, share_of_numbers, understand
from .encode import frame_of, useless
from .leaks import Suspect, suspects
from .reading import RawTable

if TYPE_CHECKING:
    from pandas import DataFrame

MANY_NUMBERS = 20  # different numbers in a target, from which it is no class
NEARLY = 0.7  # share of numbers in a text column from which somebody may have meant numbers
FEWEST_ROWS = 5  # of a class; fewer cannot be learned, let alone checked
ONE_COLUMN = "It has a single column: its cells must be separated by commas, semicolons or tabs."


class LeakError(ValueError):
    """Columns that the user has to decide on before anything is learned.

    Parameters
    ----------
    found : list of Suspect
        The columns.
    """

    def __init__(self, found: list[Suspect]) -> None:
        super().__init__(f"{len(found)} columns look like identifiers or like the target itself")
        self.found = found


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """What is learned from.

    Parameters
    ----------
    columns : tuple of Column
        The features, on the rows that have a label.
    labels : ndarray of shape (n_rows,)
        Their classes, as text.
    left_out : dict of str to str
        Other columns, and why.
    n_unlabelled : int
        Rows without a label, which were dropped.
    nearly_numbers : dict of str to float
        Text columns most of whose cells are numbers, used or not, and the share of these.
    """

    columns: tuple[Column, ...]
    labels: np.ndarray[Any, Any]
    left_out: dict[str, str]
    n_unlabelled: int
    nearly_numbers: dict[str, float]

    @property
    def frame(self) -> DataFrame:
        """The features as a data frame."""
        return frame_of(self.columns)


def training_of(
    table: RawTable,
    target: str,
    *,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    only: Collection[str] = (),
    number: Collection[str] = (),
) -> Training:
    """Look at every column of a table, and take what can be learned from."""
    names = [str(name) for name in table.frame.columns]
    check_names(names, [target, *drop, *keep, *only, *number], table.name)
    labels = read_as(table.frame[target], "text")
    rows = ~labels.blank
    sizes = np.unique(labels.values[rows].astype(str), return_counts=True)[1]
    check_target(target, sizes, is_number=understand(table.frame[target]).kind == "number")
    left_out = {name: "as you asked" for name in names if name in drop or (only and name not in only)}
    left_out.pop(target, None)
    wanted = [name for name in names if name != target and name not in left_out]
    columns = [_column(table, name, number).take(rows) for name in wanted]
    shares = {column.name: share_of_numbers(column) for column in columns}
    nearly = {name: share for name, share in shares.items() if share >= NEARLY}
    code = np.unique(labels.values[rows].astype(str), return_inverse=True)[1]
    found = suspects((column for column in columns if column.name not in keep), code)
    if found:
        raise LeakError([_hinted(suspect, nearly) for suspect in found])
    reasons = [useless(column) for column in columns]
    left_out |= {column.name: why for column, why in zip(columns, reasons, strict=True) if why}
    used = [column for column, why in zip(columns, reasons, strict=True) if not why]
    return Training(_usable(used, table.name), labels.values[rows].astype(str), left_out, int((~rows).sum()), nearly)


def _column(table: RawTable, name: str, number: Collection[str]) -> Column:
    """A column as it looks, or as numbers where the user says so."""
    if name not in number:
        return understand(table.frame[name])
    column = read_as(table.frame[name], "number", table.comma)
    if column.blank.all():
        msg = f"{table.name}: {name!r} holds no number, so it cannot be read as numbers. Take --number {name} out."
        raise ValueError(msg)
    return column


def _hinted(suspect: Suspect, nearly: dict[str, float]) -> Suspect:
    """Free text that is mostly numbers was rather meant to be numbers."""
    share = nearly.get(suspect.column)
    if share is None:
        return suspect
    return Suspect(suspect.column, f"{suspect.why}; {share:.0%} of its cells are numbers: --number reads it so")


def _usable(columns: Sequence[Column], source: str) -> tuple[Column, ...]:
    """The features; dates that the user insists on can still not be computed with."""
    dates = [column.name for column in columns if column.kind == "date"]
    if dates:
        msg = f"{source}: {_quoted(dates)} cannot be kept: dates are not numbers. Turn them into days or years first."
        raise ValueError(msg)
    if not columns:
        msg = f"{source}: no column is left to learn from. Check the table, its delimiter, --only and --drop."
        raise ValueError(msg)
    return tuple(columns)


def check_names(there: Sequence[str], wanted: Collection[str], source: str, *, are_cells: bool = True) -> None:
    """Complain about columns that a table does not have."""
    missing = [name for name in wanted if name not in there]
    if not missing:
        return
    # names of columns may be cells where the file has no header: only those that the user nearly wrote are shown
    lower = {name.lower(): name for name in there}
    near = get_close_matches(missing[0].lower(), lower, n=1, cutoff=0.6)
    where = "; their names must stand in its first line" if are_cells else f", from {there[0]!r} to {there[-1]!r}"
    advice = (
        f"Did you mean {lower[near[0]]!r}?" if near else f"It has {len(there)} columns, none of a similar name{where}."
    )
    if len(there) == 1 and are_cells:
        advice = ONE_COLUMN
    msg = f"{source} has no column {missing[0]!r}. {advice}"
    raise ValueError(msg)


def check_target(name: str, sizes: IntArray, *, is_number: bool) -> None:
    """Complain about a target that no classifier can learn."""
    where = f"the target {name!r}"
    if len(sizes) < 2:
        what = "nothing but blanks" if not len(sizes) else "a single class"
        msg = f"{where} must hold at least two classes, but it has {what}. Choose another column."
        raise ValueError(msg)
    if is_number and len(sizes) > MANY_NUMBERS:
        msg = (
            f"{where} holds {len(sizes)} different numbers, but this is a classifier. Choose a column of classes, or "
            "make classes first, for instance above and below a limit that matters to you."
        )
        raise ValueError(msg)
    few = int((sizes < FEWEST_ROWS).sum())
    if few:
        msg = (
            f"every class needs at least {FEWEST_ROWS} rows, but {few} of the {len(sizes)} classes in {where} "
            f"{'has' if few == 1 else 'have'} fewer (the smallest {sizes.min()}). Merge classes, or drop those rows."
        )
        raise ValueError(msg)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
