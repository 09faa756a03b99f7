"""CSV: a header and rows as long as it, between commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

from .text_files import number_of, problem


def delimiter_of(text: str) -> str:
    """The one that cuts the header into most names; quotes are respected."""
    first = text.lstrip("\n ").split("\n", 1)[0]
    return max(",;\t", key=lambda mark: _n_cells(first, mark))


def _n_cells(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:  # one cell of more letters than csv takes
        return 1


def read_csv(path: Path, text: str, *, unnamed: str | None = None) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header, and numbered rows as long as it; a first column without a name may be given one."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter_of(text))
    try:
        rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(map(str.strip, cells))]
    except csv.Error:
        advice = "Look for a quote that is not closed"
        raise problem(path, reader.line_num, "cells of ordinary length", "a very long one", advice) from None
    if len(rows) < 2:
        msg = f"{path.name}: expected a header row and rows of data, got {len(rows)} rows. Is the file complete?"
        raise ValueError(msg)
    (line, header), *lines = rows
    if header[0] == "" and unnamed is not None:
        header[0] = unnamed
    if "" in header or len(set(header)) < len(header):
        raise problem(path, line, "a different name for every column", *_repeated(header))
    for number, cells in lines:
        if len(cells) != len(header):
            expected = f"{len(header)} cells as in the header"
            raise problem(path, number, expected, f"{len(cells)}", "Correct the line, or quote cells with delimiters")
    return header, lines


def _repeated(header: list[str]) -> tuple[str, str]:
    """What is wrong with a header, and what to do; a first line with numbers may be a row, which nobody may see."""
    if any(number_of(name) is not None for name in header):
        return "numbers among them, and an empty or repeated one", "Put a line with the names of the columns first"
    if "" in header:
        return "an empty one", "Name it"
    twice = [name for name, n in Counter(header).items() if n > 1]
    more = f" and {len(twice) - 3} others" if len(twice) > 3 else ""
    return f"{', '.join(map(repr, twice[:3]))}{more} more than once", "Rename all but one"
