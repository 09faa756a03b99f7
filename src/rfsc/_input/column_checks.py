"""Columns that need a decision (identifiers, dates, leaks of the class), that hold nothing, or that do not exist."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from difflib import get_close_matches

import numpy as np

from .._model.recipe import LEAST_ROWS_OF_LEVEL, LEAST_SHARE_OF_LEVEL
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.words import plural
from .column_types import Column

IDENTIFIER_NAMES = frozenset({"id", "uuid", "guid"})
NUMBERING_NAMES = IDENTIFIER_NAMES | {"index", "idx", "key", "nr", "no", "number", "row", "record", "serial"}
SUBJECT_NAMES = IDENTIFIER_NAMES | {
    *("patient", "subject", "person", "participant", "customer", "client", "animal", "household", "mrn", "pid")
}
SUBJECT_CODE = re.compile(r"[A-Za-z]{0,4}[-_ ]?\d{2,}")
MOST_ROWS_OF_SUBJECT = 10  # on average; values that repeat more often are no subjects
LEAST_ROWS_OF_LEAK = 5  # fewer agree by chance
LEAST_ROWS_OF_IDENTIFIER = 20  # fewer may all differ by chance
LEAST_ROWS_OF_CLASS = 5
FAR = 5.0  # interquartile ranges from the median: 6.7 standard deviations of a normal distribution
MARKS = (0.05, 0.25, 0.5, 0.75, 0.95)  # quantiles
SKEWED = 1.25  # so much farther from the median is the highest of them than the lowest
MOST_FAR = 0.02  # share of values; more of them are no mistakes
MOST_NUMERIC_CLASSES = 20  # a target with more different numbers is no class
SHORTEST_WORD = 3  # of a suggested name that holds it
SINGLE_COLUMN = "It has a single column: cells must be separated by commas, semicolons or tabs."


# ---- values that may be mistakes


def far_from_others(column: Column) -> IntArray:
    """Rows of a column of numbers with an unlikely value: far from all others, or at most 0 and these well above."""
    rows = np.flatnonzero(~column.blank) if column.kind == "number" else np.empty(0, dtype=np.int64)
    values = np.asarray(column.values[rows], dtype=np.float64)
    if column.kind != "number" or column.n_distinct <= 10:
        return rows[:0]
    low, first, middle, third, high = np.quantile(values, MARKS)
    if third <= first:
        return rows[:0]
    bottom, top = middle - FAR * (third - first), middle + FAR * (third - first)
    is_far, positive = values < bottom, values > 0.0
    if 0.0 < 1.0 - positive.mean() <= MOST_FAR and 4.0 * values[positive].min() > middle:
        is_far |= ~positive
    if values[~is_far].min(initial=0.0) >= 0.0:
        for scale, back in ((lambda x: x**0.25, lambda x: x**4), (np.log, np.exp)):  # amounts may differ by factors
            if high - middle <= SKEWED * (middle - low):
                break
            low, first, middle, third, high = np.quantile(scale(values[positive]), MARKS)
            with np.errstate(over="ignore"):
                top = max(top, back(middle + FAR * (third - first)))
    is_far |= values > top
    return rows[is_far] if is_far.mean() <= MOST_FAR else rows[:0]


# ---- columns that must not be used without a decision


def suspicion(column: Column, code: IntArray) -> str | None:
    """Why a column looks like an identifier or like the class itself; None if it does not."""
    return _like_identifier(column) or repeated_subjects(column) or _like_class(column, code)


def repeated_subjects(column: Column) -> str | None:
    """Why a column seems to name subjects with several rows each; None if it does not."""
    if column.kind not in ("number", "text"):
        return None
    present, n = column.values[~column.blank], column.n_distinct
    if not LEAST_ROWS_OF_IDENTIFIER <= n < len(present) <= MOST_ROWS_OF_SUBJECT * n:
        return None
    words = _words(column.name)
    is_named = bool(words & SUBJECT_NAMES) and words <= SUBJECT_NAMES | NUMBERING_NAMES
    if column.kind == "number":
        is_subject = is_named and _are_whole(present)
    else:
        is_subject = is_named or sum(SUBJECT_CODE.fullmatch(text) is not None for text in present) > 0.9 * len(present)
    return f"{n:,} values in {len(present):,} rows, as of subjects with several rows each" if is_subject else None


def _words(name: str) -> set[str]:
    """The words of a name, in lower case: PatientID is patient and id."""
    found = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    ends = {word[:-2] for word in found if word.endswith("id") and word[:-2] in SUBJECT_NAMES}
    return {word for word in found if word[:-2] not in ends} | ends | ({"id"} if ends else set())


def _like_identifier(column: Column) -> str | None:
    if column.kind == "date":
        return "dates, which new rows may not share; --keep reads them as days"
    present = column.values[~column.blank]
    if column.kind == "other" or len(present) < LEAST_ROWS_OF_IDENTIFIER:  # lists and the like are never used
        return None
    distinct = column.n_distinct / len(present)
    if column.kind == "text":
        return "nearly every cell is different, as in a name, a number or free text" if distinct > 0.9 else None
    if distinct < 0.98:
        return None
    words = _words(column.name)
    named = words & NUMBERING_NAMES or any(word.endswith("id") for word in words)
    if words & IDENTIFIER_NAMES or (named and _are_whole(present)):
        return "nearly every cell is different, and its name is that of an identifier"
    if _are_whole(present) and _like_serial_numbers(present):
        return "whole numbers that are nearly all different, as in a list of identifiers"
    return None


def _are_whole(values: FloatArray) -> bool:
    """Whether all are whole numbers below 2**53; above, every double is whole."""
    return bool((np.abs(values) < 2.0**53).all() and (values == np.round(values)).all())


def _like_serial_numbers(values: FloatArray) -> bool:
    """Whether they count up without large gaps, are in order, or all have the same large number of digits."""
    dense = values.max() - values.min() < 1.1 * len(values)
    in_order = bool((np.diff(values) > 0).all() or (np.diff(values) < 0).all())
    lengths = {len(str(int(abs(value)))) for value in (values.min(), values.max())}
    return bool(dense or in_order or (len(lengths) == 1 and min(lengths) >= 6))


def _like_class(column: Column, code: IntArray) -> str | None:
    blank = column.blank
    if _separates_classes(blank, code):
        return "its blanks alone reveal the class"
    values, present = column.values[~blank], code[~blank]
    n_common = int((np.bincount(present, minlength=2) >= LEAST_ROWS_OF_LEAK).sum())
    if column.kind not in ("number", "text") or n_common < 2:
        return None
    classes_of: dict[object, set[int]] = {}
    for value, label in zip(values.tolist(), present.tolist(), strict=True):
        classes_of.setdefault(value, set()).add(label)
    if any(len(labels) > 1 for labels in classes_of.values()):
        return None
    if len(classes_of) <= len(values) / LEAST_ROWS_OF_LEAK:
        return "each of its values occurs with one class only"
    if column.kind == "number":
        in_order = present[np.argsort(values, kind="stable")]
        if (np.diff(in_order) != 0).sum() == len(set(present.tolist())) - 1:
            return "on its own it separates the classes perfectly"
    return None


def _separates_classes(blank: BoolArray, code: IntArray) -> bool:
    """Whether every class has either only blanks or none."""
    if min(blank.sum(), (~blank).sum()) < LEAST_ROWS_OF_LEAK:
        return False
    return not set(code[blank].tolist()) & set(code[~blank].tolist())


# ---- columns without information


def useless(column: Column, least: float | None = None) -> str | None:
    """Why nothing can be learned from a column; None if something may be. A level needs at least so many rows."""
    if column.kind == "other":
        return "neither numbers nor text"
    n_rows, n_blank = len(column.values), int(column.blank.sum())
    if n_blank == n_rows:
        return "all blank"
    if column.n_distinct == 1 and not n_blank:
        return "the same value everywhere"
    if least is None:
        least = max(LEAST_ROWS_OF_LEVEL, LEAST_SHARE_OF_LEVEL * n_rows)
    if column.kind == "text" and max(Counter(column.values).values()) < least:
        return f"{column.n_distinct} levels, each in fewer than {np.ceil(least):.0f} rows"
    return None


# ---- names and the target


def check_names(names: Sequence[str], wanted: Collection[str], source: str) -> None:
    """Raise ValueError if a table lacks a column."""
    missing = [name for name in wanted if name not in names]
    if not missing:
        return
    # without a header row the names are cells: only one that the user nearly wrote is shown
    by_lower = {name.lower(): name for name in names}
    word = missing[0].lower()
    near = get_close_matches(word, by_lower, n=1, cutoff=0.6)
    if not near and len(word) >= SHORTEST_WORD and word.isalpha():  # age for age (years)
        near = [name for name in by_lower if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", name)]
    if len(names) == 1:
        advice = SINGLE_COLUMN
    elif near:
        advice = f"Did you mean {by_lower[near[0]]!r}?"
    else:
        advice = f"None of its {plural(len(names), 'column')} has a similar name; is there a header row?"
    msg = f"{source} has no column {missing[0]!r}. {advice}"
    raise ValueError(msg)


def check_target(name: str, sizes: IntArray, *, is_number: bool, alike: Sequence[str] = ()) -> None:
    """Raise ValueError if a column with classes of these sizes cannot be the target."""
    if len(sizes) < 2:
        got = "a single class" if len(sizes) else "only blanks"
        msg = f"the target {name!r} must hold at least two classes, but it has {got}. Choose another column."
        raise ValueError(msg)
    if is_number and len(sizes) > MOST_NUMERIC_CLASSES:
        msg = (
            f"the target {name!r} holds {plural(len(sizes), 'different number')}, but this is a classifier. Choose a "
            "column of classes, or make classes first, for instance above and below a limit that matters to you."
        )
        raise ValueError(msg)
    n_small = int((sizes < LEAST_ROWS_OF_CLASS).sum())
    if n_small:
        msg = (
            f"every class needs at least {LEAST_ROWS_OF_CLASS} rows, but {n_small} of the {len(sizes):,} classes in "
            f"the target {name!r} {'has' if n_small == 1 else 'have'} fewer (the smallest {sizes.min()}). Merge "
            "classes, or drop those rows."
        )
        msg = " ".join([msg, *(f"{doubt[0].upper()}{doubt[1:]}." for doubt in alike)])
        raise ValueError(msg)
