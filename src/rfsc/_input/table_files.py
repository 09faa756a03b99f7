"""Read a table file as a data frame of what is written there; blanks and numbers are interpreted later.

CSV is read by the csv module: pandas fills rows that are too short with blanks and reports nothing.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._model.cells import PLAIN, trimmed
from .._utils.optional import require
from .._utils.words import listed, plural
from .column_types import DECIMAL_SIGNS, comma_meaning

if TYPE_CHECKING:
    from pandas import DataFrame

FORMATS = "CSV, TSV, Excel (.xlsx) or Parquet"
ROW_NAMES = "\0"  # stands for the name of a first column that has none; no text of a table holds it
ROW_NAME = re.compile(r"__index_level_\d+__")  # as pandas calls them in Parquet
MOST_ROWS = 2**20  # of a sheet
FIRST = 2**16  # bytes by which a table is told from other files


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table as it is in its file."""

    frame: DataFrame  # texts without surrounding spaces; other types if the file has types
    name: str  # of the file, for messages
    notes: tuple[str, ...] = ()  # what was guessed or dropped, for the user
    decimal: str | None = None  # the sign in its numbers, if that is known; with "." commas may separate thousands


def read_table(source: str) -> RawTable:
    """Read a table from a file, a folder of Parquet files or stdin (-); the content decides on the format."""
    require("reading tables", ["pandas"], "cli")
    path = Path("stdin" if source == "-" else source)
    if source != "-" and path.is_dir():
        return _from_parquet(path.resolve(), path)
    content = _content(path, source)
    if content[:2] == b"\x1f\x8b":
        content = _unzipped(path, content)
    if content[:4] == b"PAR1":
        return _from_parquet(path, io.BytesIO(content))
    if content[:4] == b"PK\x03\x04" and path.suffix.lower() in (".xlsx", ".xlsm"):
        return _from_workbook(path, content)
    text, notes = _decoded(path, content)
    if not text.strip():
        msg = f"{path.name}: expected a header row and rows of data, got an empty file. Is it the right one?"
        raise ValueError(msg)
    return _from_csv(path, text, notes)


def line_error(path: Path, line: int, expected: str, got: str, advice: str) -> ValueError:
    """An error about one line of a file; no argument may hold a cell."""
    return ValueError(f"{path.name}, line {line}: expected {expected}, got {got}. {advice}.")


# ---- bytes to text


def _content(path: Path, source: str) -> bytes:
    """The bytes of a file or of stdin; of what is no table only the beginning, for a device may have no end."""
    with nullcontext(sys.stdin.buffer) if source == "-" else path.open("rb") as file:
        start = file.read(FIRST)
        is_table = b"\0" not in start or start.startswith((b"\x1f\x8b", b"PAR1", b"PK", b"\xff\xfe", b"\xfe\xff"))
        return start + file.read() if is_table else start


def _unzipped(path: Path, content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        msg = f"{path.name}: expected a complete gzip file, got a damaged one. Copy it again."
    raise ValueError(msg)


def _decoded(path: Path, content: bytes) -> tuple[str, list[str]]:
    """The text, with plain line ends, and what had to be guessed."""
    notes = []
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = content.decode("utf-16", errors="replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", errors="replace")
            notes.append("not UTF-8, read as Windows-1252: check letters with accents")
    if "\0" in text:
        kind = "a spreadsheet or another zip file" if content[:2] == b"PK" else "a binary file"
        msg = f"{path.name}: expected {FORMATS}, got {kind}. Save the table as CSV."
        raise ValueError(msg)
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


# ---- CSV


def _from_csv(path: Path, text: str, notes: list[str]) -> RawTable:
    from pandas import DataFrame

    if _is_json(text):
        msg = f"{path.name}: expected {FORMATS}, got JSON. Save the table as CSV."
        raise ValueError(msg)
    delimiter = _delimiter(text)
    header, *rows = _csv_rows(path, text, delimiter)
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    if columns.pop(ROW_NAMES, None) is not None:
        notes.append("the first column has no name and was dropped as row names")
    if not columns:
        msg = f"{path.name}: expected several columns, got one without a name. Check the delimiter."
        raise ValueError(msg)
    decimal = "." if delimiter == "," else DECIMAL_SIGNS[comma_meaning(columns.values())]
    if decimal == ",":
        notes.append("read with decimal commas")
    return RawTable(DataFrame(columns, dtype=object), path.name, tuple(notes), decimal)


def _is_json(text: str) -> bool:
    """Whether the first line is, or begins, a JSON object or list."""
    first = text.lstrip().split("\n", 1)[0].strip()
    try:
        return first in ("{", "[", "[{") or isinstance(json.loads(first), dict | list)
    except (ValueError, RecursionError):
        return False


def _delimiter(text: str) -> str:
    """The one that cuts the header into most names; quotes are respected."""
    first = text.lstrip("\n ").split("\n", 1)[0]

    def n_names(delimiter: str) -> int:
        try:
            return len(next(csv.reader([first], delimiter=delimiter), []))
        except csv.Error:  # a cell longer than the csv module accepts
            return 1

    return max(",;\t", key=n_names)


def _csv_rows(path: Path, text: str, delimiter: str) -> list[list[str]]:
    """Header and rows, all of the same length; rows of blanks are skipped."""
    # strict: else a quote that is not closed takes in all rows up to the next one
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(map(str.strip, cells))]
    except csv.Error as error:
        is_long = "field limit" in str(error)
        expected, got = (
            ("cells of ordinary length", "a very long one") if is_long else ("whole cells in quotes", "a part")
        )
        advice = "Look for a quote that is not closed; a quote within a cell is written twice"
        raise line_error(path, reader.line_num, expected, got, advice) from None
    if len(rows) < 2:
        msg = f"{path.name}: expected a header row and rows of data, got {plural(len(rows), 'row')}. Is it complete?"
        raise ValueError(msg)
    header_line, header = rows[0]
    header[0] = header[0] or ROW_NAMES
    _check_header(path, header_line, header)
    for line, cells in rows:
        if len(cells) != len(header):
            expected, advice = f"{len(header)} cells as in the header", "Correct it, or quote cells with delimiters"
            raise line_error(path, line, expected, str(len(cells)), advice)
    return [cells for _, cells in rows]


def _check_header(path: Path, line: int, header: list[str]) -> None:
    """Every column needs a name of its own; if some are numbers, the line may be a row, which is not shown."""
    numbers = [PLAIN.fullmatch(trimmed(name)) is not None for name in header]
    repeated = [repr(name) for name, n in Counter(header).items() if n > 1 and name]
    seen: dict[str, int] = {}
    first = next((k for k, name in enumerate(header, start=1) if not name or seen.setdefault(name, k) < k), 0)
    if all(numbers):
        raise line_error(path, line, "a header row with the names of the columns", "numbers", "Add one")
    if first:
        shown = f" ({listed(repeated, 3)})" if repeated and not any(numbers) else ""
        got = f"an empty or repeated one in column {first}{shown}"
        advice = "Rename it, or put a line with the names first"
        raise line_error(path, line, "a different name for every column", got, advice)


# ---- Excel


def _from_workbook(path: Path, content: bytes) -> RawTable:
    """The first sheet that is not empty: numbers and dates as they are, formulas by the value that was saved."""
    require("reading Excel files", ["openpyxl"], "xlsx")
    from openpyxl import load_workbook
    from pandas import DataFrame

    try:
        # read-only: else a single cell in the last row and column makes all the cells before it
        book = load_workbook(io.BytesIO(content), data_only=True, read_only=True)
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what the file says of them may be wrong
        # a damaged file may number a row as it likes, and all before it would be made
        sheets = [(sheet.title, _filled_rows(islice(sheet.values, MOST_ROWS))) for sheet in book.worksheets]
    except Exception:  # of zipfile, of XML, or of openpyxl itself, whose texts may hold cells
        sheets = None
    if sheets is None:
        msg = f"{path.name}: expected a complete Excel file, got a damaged one. Save it again, or as CSV."
        raise ValueError(msg)
    filled = [(title, rows) for title, rows in sheets if rows]
    if not filled or len(filled[0][1]) < 2:
        msg = f"{path.name}: expected a header row and rows of data, got {'one row' if filled else 'empty sheets'}."
        raise ValueError(f"{msg} Is it complete?")
    title, ((line, first), *others) = filled[0]
    width = max(len(row) for _, row in filled[0][1])
    header = ["" if cell is None else str(cell) for cell in (*first, *[None] * (width - len(first)))]
    header[0] = header[0] or ROW_NAMES
    _check_header(path, line, header)
    columns = {
        name: [row[k] if k < len(row) else None for _, row in others]
        for k, name in enumerate(header)
        if name != ROW_NAMES
    }
    notes = [f"read from the sheet {title!r}, the first of {len(filled)} with cells"] if len(filled) > 1 else []
    return RawTable(DataFrame(columns, dtype=object), path.name, tuple(notes))


def _filled_rows(rows: Iterable[Sequence[Any]]) -> list[tuple[int, list[Any]]]:
    """Rows that are not empty, with their numbers, each up to its last cell; empty texts are None."""
    filled = []
    for i, row in enumerate(rows, 1):
        cells = [(cell.strip() or None) if isinstance(cell, str) else cell for cell in row]
        while cells and cells[-1] is None:
            cells.pop()
        if cells:
            filled.append((i, cells))
    return filled


# ---- Parquet


def _from_parquet(path: Path, source: Any) -> RawTable:
    require("reading Parquet", ["pyarrow"], "parquet")
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile
    from pyarrow.parquet import read_table as read_folder

    if path.is_dir() and not any(path.rglob("*.parquet")):
        msg = f"{path.name}: expected Parquet files in this folder, got none. Is it the right one?"
        raise ValueError(msg)
    frame, names = None, []
    with suppress(ArrowException, OSError, ValueError, KeyError):
        file = ParquetFile(next(path.rglob("*.parquet")) if path.is_dir() else source)
        names = file.schema_arrow.names
        table = read_folder(source) if path.is_dir() else file.read()
        own = [name for name in table.column_names if not ROW_NAME.fullmatch(name)]
        # what pandas has written of itself is not needed: an index is a column; blanks make no floats of integers
        frame = table.replace_schema_metadata(None).select(own).to_pandas(integer_object_nulls=True)
    if len(set(names)) < len(names):
        msg = f"{path.name}: expected a different name for every column, got a repeated one. Rename it."
        raise ValueError(msg)
    if frame is None:
        what = "complete Parquet files" if path.is_dir() else "a complete Parquet file"
        msg = f"{path.name}: expected {what}, got a damaged one. Copy it again."
        raise ValueError(msg)
    if not len(frame):
        msg = f"{path.name}: expected rows, got none. Is it complete?"
        raise ValueError(msg)
    notes = ("row names were dropped",) if any(map(ROW_NAME.fullmatch, names)) else ()
    return RawTable(frame, path.name, notes)
