"""Terms of several families that are one: lines, and what different terms make of a feature of few values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .fourier import FourierSpace
from .knots import sorted_blocks
from .space import TermSpace, Training

MOST_VALUES = 10  # of a feature whose terms are compared: with more, terms of two families are hardly ever the same
DIGITS = 6  # to which columns are compared
FLAT = 1e-9


def repeated(spaces: Sequence[TermSpace], training: Training) -> dict[int, int]:
    """Terms of a union that are a term of an earlier space but for slope and offset, and that term; by id."""
    begins = accumulate((space.n_terms for space in spaces), initial=0)
    offered = [(begin, space, *space.singles) for begin, space in zip(begins, spaces, strict=False)]
    # waves last: whether they rise or fall with a feature is not known, so that signs rule them out
    offered = sorted((one for one in offered if one[2].size), key=lambda one: isinstance(one[1], FourierSpace))
    kept: dict[object, int] = {}
    again: dict[int, int] = {}

    def compare(j: int, key: object) -> None:
        if kept.setdefault(key, j) != j:
            again[j] = kept[key]

    if len(offered) < 2:
        return again
    for begin, space, *_ in offered:
        for p, j in space.lines.items():
            compare(begin + j, p)
    for features, values in _features_of_few_values(training):
        table = np.zeros((len(training.table), values.shape[1]))
        table[features] = values
        for begin, space, ids, of in offered:
            some = np.isin(of, features) & ~np.isin(ids, [j for group in space.groups for j in group])
            for j, p, shape in zip(
                ids[some].tolist(), of[some].tolist(), _shapes(space, table, ids[some]), strict=True
            ):
                if shape:
                    compare(begin + j, (p, shape))
    return again


def _features_of_few_values(training: Training) -> Iterator[tuple[IntArray, FloatArray]]:
    """Features with equally many distinct values, and these values, shape (n_features, n_values)."""
    for features, values, _ in sorted_blocks(training):
        is_new = np.append(np.ones((features.size, 1), dtype=np.bool_), values[:, 1:] > values[:, :-1], axis=1)
        n_values = is_new.sum(axis=1)
        for n in range(2, MOST_VALUES + 1):
            own = np.flatnonzero(n_values == n)
            if own.size:
                yield features[own], values[own][is_new[own]].reshape(-1, n)


def _shapes(space: TermSpace, table: FloatArray, ids: IntArray) -> list[bytes]:
    """Columns as bytes, the same for all that differ by slope and offset only; empty for those that do not vary."""
    columns = space.columns(table, ids)
    columns = columns - columns.mean(axis=1, keepdims=True)
    size = np.sqrt(np.square(columns).sum(axis=1, keepdims=True))
    columns /= np.where(size > FLAT, size, 1.0)
    first = np.argmax(np.abs(columns) > FLAT, axis=1)
    columns *= np.sign(columns[np.arange(ids.size), first])[:, None]
    rounded = np.round(columns, DIGITS) + 0.0  # no negative zero
    return [row.tobytes() if varies else b"" for row, varies in zip(rounded, (size > FLAT).ravel(), strict=True)]
