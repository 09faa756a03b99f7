"""From a raw table to what a classifier may learn from: features, labels, and what was left out and why."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Column, read_as, understand
from .encode import frame_of, useless
from .leaks import Suspect, suspects
from .reading import RawTable
from .text_files import number_of

if TYPE_CHECKING:
    from pandas import DataFrame

MANY_NUMBERS = 20  # different numbers in a target, from which it is no class
FEWEST_ROWS = 5  # of a class; fewer cannot be learned, let alone checked


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
    """

    columns: tuple[Column, ...]
    labels: np.ndarray[Any, Any]
    left_out: dict[str, str]
    n_unlabelled: int

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
) -> Training:
    """Look at every column of a table, and take what can be learned from.

    Parameters
    ----------
    table : RawTable
        The table.
    target : str
        Column with the class.
    drop : collection of str, default=()
        Columns to leave out.
    keep : collection of str, default=()
        Columns to take although they look like identifiers or like the target.
    only : collection of str, default=()
        The only columns to take; empty for all.

    Returns
    -------
    Training
        Features, labels, and what was left out. A LeakError names the columns that need a decision.
    """
    names = [str(name) for name in table.frame.columns]
    check_names(names, [target, *drop, *keep, *only], table.name)
    labels = read_as(table.frame[target], "text")
    rows = ~labels.blank
    check_target(understand(table.frame[target]), labels.take(rows))
    left_out = {name: "as you asked" for name in names if name in drop or (only and name not in only)}
    left_out.pop(target, None)
    columns = [understand(table.frame[name]).take(rows) for name in names if name != target and name not in left_out]
    code = np.unique(labels.values[rows].astype(str), return_inverse=True)[1]
    found = suspects((column for column in columns if column.name not in keep), code)
    if found:
        raise LeakError(found)
    reasons = [useless(column) for column in columns]
    left_out |= {column.name: why for column, why in zip(columns, reasons, strict=True) if why}
    used = [column for column, why in zip(columns, reasons, strict=True) if not why]
    return Training(_usable(used, table.name), labels.values[rows].astype(str), left_out, int((~rows).sum()))


def _usable(columns: Sequence[Column], source: str) -> tuple[Column, ...]:
    """The features; dates that the user insists on can still not be computed with."""
    dates = [column.name for column in columns if column.kind == "date"]
    if dates:
        msg = f"{source}: {_quoted(dates)} cannot be kept: dates are not numbers. Turn them into days or years first."
        raise ValueError(msg)
    if not columns:
        msg = f"{source}: no column is left to learn from. Check the table, --only and --drop."
        raise ValueError(msg)
    return tuple(columns)


def check_names(there: Sequence[str], wanted: Collection[str], source: str) -> None:
    """Complain about columns that a table does not have.

    Parameters
    ----------
    there : sequence of str
        Names of its columns.
    wanted : collection of str
        Names that were asked for.
    source : str
        What the table is called.
    """
    missing = [name for name in wanted if name not in there]
    if not missing:
        return
    if any(number_of(name) is not None and not name.isdecimal() for name in there):  # then the others may be cells
        msg = f"{source} has no column {missing[0]!r}. Some of its names are numbers: does it lack a header row?"
        raise ValueError(msg)
    near = get_close_matches(missing[0], there, n=1, cutoff=0.6)
    advice = f"Did you mean {near[0]!r}?" if near else f"There are: {_quoted(list(there)[:12])}"
    more = "" if near or len(there) <= 12 else f" and {len(there) - 12} more"
    msg = f"{source} has no column {missing[0]!r}. {advice}{more}{'' if near else '.'}"
    raise ValueError(msg)


def check_target(column: Column, labels: Column) -> None:
    """Complain about a target that no classifier can learn.

    Parameters
    ----------
    column : Column
        The target, as it was understood.
    labels : Column
        The same as text, without blanks.
    """
    where = f"the target {column.name!r}"
    sizes = np.unique(labels.values.astype(str), return_counts=True)[1]
    if len(sizes) < 2:
        what = "nothing but blanks" if not len(sizes) else "a single class"
        msg = f"{where} must hold at least two classes, but it has {what}. Choose another column."
        raise ValueError(msg)
    if column.kind == "number" and len(sizes) > MANY_NUMBERS:
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
