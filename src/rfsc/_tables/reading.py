"""Any table file as a data frame of what is written there; nothing is guessed about blanks and numbers yet."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.format import open_memmap

from .._utils.optional import require
from .commas import comma_of, pointed_column
from .csv_file import delimiter_of, read_csv
from .headed_file import read_header, read_rows
from .text_files import number_of, numbered_lines

if TYPE_CHECKING:
    from pandas import DataFrame

ROW_NAMES = "(row names)"


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table as its file has it.

    Parameters
    ----------
    frame : DataFrame
        Texts as they are written, without surrounding blanks; other types where the file has types.
    name : str
        Where it came from, for messages.
    notes : tuple of str
        What had to be guessed or left out, in words.
    comma : str or None
        What a comma inside a number stands for: "." in place of a point, "" for nothing; None where nobody knows.
    """

    frame: DataFrame
    name: str
    notes: tuple[str, ...] = ()
    comma: str | None = None


def read_raw(source: str) -> RawTable:
    """Read CSV, TSV, Parquet, ARFF, KEEL or .npy, told apart by their content, from a file or from stdin."""
    require("reading tables", ["pandas"], "cli")
    path = Path("stdin" if source == "-" else source)
    if source != "-" and path.is_dir():
        if not any(path.rglob("*.parquet")):
            msg = f"{path.resolve().name}: expected Parquet files in this folder, got none. Is it the right one?"
            raise ValueError(msg)
        return _from_parquet(path.resolve(), path)
    if source != "-" and path.suffix.lower() == ".npy":
        return _from_array(path)
    content = sys.stdin.buffer.read() if source == "-" else path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = _unzipped(path, content)
    if content[:4] == b"PAR1":
        return _from_parquet(path, io.BytesIO(content))
    text, notes = _decoded(path, content)
    if not text.strip():
        msg = f"{path.name}: expected a header row and rows of data, got an empty file. Is it the right one?"
        raise ValueError(msg)
    if next((line for _, line in numbered_lines(text)), "").lower().startswith("@"):
        return _from_headed(path, text, notes)
    return _from_csv(path, text, notes)


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
            notes.append("it is not UTF-8 and was read as Windows-1252: check letters with accents")
    if "\0" in text:
        kind = "a spreadsheet or another zip file" if content[:2] == b"PK" else "a binary file"
        msg = f"{path.name}: expected CSV, TSV, Parquet, ARFF, KEEL or .npy, got {kind}. Save the table as CSV."
        raise ValueError(msg)
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def _from_csv(path: Path, text: str, notes: list[str]) -> RawTable:
    header, lines = read_csv(path, text, unnamed=ROW_NAMES)
    if all(number_of(name) is not None for name in header):
        msg = f"{path.name}: expected a header row with the names of the columns, got numbers. Add one."
        raise ValueError(msg)
    columns = dict(zip(header, map(list, zip(*(cells for _, cells in lines), strict=True)), strict=True))
    if ROW_NAMES in columns:
        del columns[ROW_NAMES]
        notes.append("its first column has no name and was left out as row names")
    if not columns:
        msg = f"{path.name}: expected several columns, got one without a name. Check the delimiter."
        raise ValueError(msg)
    comma = comma_of(delimiter_of(text), columns.values())
    if comma == ".":
        notes.append("it has decimal commas")
    columns = {name: pointed_column(cells, comma) for name, cells in columns.items()}
    return replace(_framed(path, columns, notes), comma=comma)


def _from_headed(path: Path, text: str, notes: list[str]) -> RawTable:
    lines = numbered_lines(text)
    header = read_header(path, lines, strict=False)
    return _framed(path, read_rows(path, lines, header, header.order, strict=False), notes)


def _framed(path: Path, columns: dict[str, list[str]], notes: list[str]) -> RawTable:
    from pandas import DataFrame

    return RawTable(DataFrame(columns, dtype=object), path.name, tuple(notes))


def mapped_array(path: Path) -> np.ndarray[Any, Any]:
    """A table of numbers in a .npy file, not read yet."""
    try:
        values = open_memmap(path, mode="r")
    except FileNotFoundError:
        raise
    except (ValueError, OSError):
        values = None
    if values is None or values.ndim != 2 or values.dtype.kind not in "biuf" or not values.size:
        msg = f"{path.name}: expected an array of numbers with two dimensions, got something else."
        raise ValueError(msg)
    return values


def numbered_names(n: int) -> list[str]:
    """What columns without names are called."""
    return [f"x{j}" for j in range(n)]


def _from_array(path: Path) -> RawTable:
    from pandas import DataFrame

    values = np.array(mapped_array(path))
    return RawTable(DataFrame(values, columns=numbered_names(values.shape[1])), path.name)


def _from_parquet(path: Path, source: Any) -> RawTable:
    require("reading Parquet", ["pyarrow"], "cli")
    from pandas import read_parquet
    from pyarrow import ArrowException

    try:
        frame: Any = read_parquet(source)
    except (ArrowException, OSError, ValueError):
        frame = None
    if frame is None:
        what = "complete Parquet files, got none, or a" if path.is_dir() else "a complete Parquet file, got a"
        msg = f"{path.name}: expected {what} damaged one. Copy it again."
        raise ValueError(msg)
    frame.columns = [str(name) for name in frame.columns]
    if not frame.columns.is_unique or not len(frame):
        msg = f"{path.name}: expected rows, and a different name for every column, got none or a repeated one."
        raise ValueError(msg)
    return RawTable(frame.reset_index(drop=True), path.name)
