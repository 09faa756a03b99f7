"""Columns that must not be learned from without a second thought: identifiers, dates, the class in disguise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .columns import Column

NAMES = frozenset({"id", "uuid", "guid", "index", "idx", "key", "nr", "no", "number", "row", "record", "serial"})
SURE_NAMES = frozenset({"id", "uuid", "guid"})
FEW = 5  # rows; fewer agree by chance
ENOUGH = 20  # rows from which different values mean something


@dataclass(frozen=True, slots=True)
class Suspect:
    """A column that the user has to decide on.

    Parameters
    ----------
    column : str
        Its name.
    why : str
        What speaks against it.
    """

    column: str
    why: str


def suspects(columns: Iterable[Column], code: IntArray) -> list[Suspect]:
    """Columns that look like an identifier or like the class itself."""
    found = [(column.name, like_identifier(column) or like_class(column, code)) for column in columns]
    return [Suspect(name, why) for name, why in found if why]


def like_identifier(column: Column) -> str | None:
    """Why a column looks like an identifier; None where it does not."""
    if column.kind == "date":
        return "dates, which new rows will not share"
    if column.kind == "other":  # lists and the like, which cannot be told apart and are never used
        return None
    present = column.values[~column.blank]
    if len(present) < ENOUGH:
        return None
    different = column.n_distinct / len(present)
    if column.kind == "text":
        return "nearly every cell is different, as in a name, a number or free text" if different > 0.9 else None
    if column.kind != "number" or different < 0.98:
        return None
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", column.name)}
    named = words & NAMES or any(word.endswith("id") for word in words)
    if words & SURE_NAMES or (named and _whole(present)):
        return "nearly every cell is different, and its name is that of an identifier"
    if _whole(present) and _like_serial_numbers(present):
        return "whole numbers that are nearly all different, as in a list of identifiers"
    return None


def _whole(values: FloatArray) -> bool:
    """Whether all are whole numbers, of a size where that says something: beyond 2**53 all doubles are."""
    return bool((np.abs(values) < 2.0**53).all() and (values == np.round(values)).all())


def _like_serial_numbers(values: FloatArray) -> bool:
    """Counting up without large gaps, in order, or all of the same many digits."""
    dense = values.max() - values.min() < 1.1 * len(values)
    sorted_rows = bool((np.diff(values) > 0).all() or (np.diff(values) < 0).all())
    lengths = {len(str(int(abs(value)))) for value in (values.min(), values.max())}
    return bool(dense or sorted_rows or (len(lengths) == 1 and min(lengths) >= 6))


def like_class(column: Column, code: IntArray) -> str | None:
    """Why a column may be the class in disguise; None where it is not."""
    blank = column.blank
    if _decides(blank, code):
        return "its blanks alone tell the class"
    values, present = column.values[~blank], code[~blank]
    if column.kind not in ("number", "text") or (np.bincount(present, minlength=2) >= FEW).sum() < 2:
        return None
    classes_of: dict[object, set[int]] = {}
    for value, label in zip(values.tolist(), present.tolist(), strict=True):
        classes_of.setdefault(value, set()).add(label)
    if any(len(labels) > 1 for labels in classes_of.values()):
        return None
    if len(classes_of) <= len(values) / FEW:
        return "each of its values goes with one class only"
    if column.kind == "number":
        in_order = present[np.argsort(values, kind="stable")]
        if (np.diff(in_order) != 0).sum() == len(set(present.tolist())) - 1:
            return "it alone tells the classes apart without an error"
    return None


def _decides(blank: BoolArray, code: IntArray) -> bool:
    """Whether some classes have all the blanks, and nothing but blanks."""
    if min(blank.sum(), (~blank).sum()) < FEW:
        return False
    return not set(code[blank].tolist()) & set(code[~blank].tolist())
