"""Files with a header of @attribute lines: ARFF, and KEEL's .dat, which is written alike."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .text_files import cells_of, number_of, problem

ATTRIBUTE = re.compile(
    r"""(?P<name>'[^']*'|"[^"]*"|[^\s{\[]+)\s*
        (?: \{(?P<labels>[^}]*)\} | (?:real|integer|numeric)\s*(?:\[(?P<low>[^,\]]+),(?P<high>[^,\]]+)\])?
            | (?P<text>string|date\b.*) )\s*$""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(slots=True)
class Header:
    """What the lines before @data said; owned by `read_header`. Strict: no attributes of text or dates."""

    strict: bool = True
    relation: str = ""
    order: list[str] = field(default_factory=list)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def take(self, word: str, rest: str) -> str | None:
        """Note a line; what was expected instead, where it cannot be read."""
        if word == "relation":
            self.relation = "".join(cells_of(rest))
        elif word in ("input", "inputs"):
            self.inputs = cells_of(rest)
        elif word in ("output", "outputs"):
            self.outputs = cells_of(rest)
        elif word == "attribute":
            return self._take_attribute(rest)
        else:
            return "@relation, @attribute, @inputs, @outputs or @data"
        return None

    def _take_attribute(self, rest: str) -> str | None:
        match = ATTRIBUTE.match(rest)
        if match is None or (self.strict and match["text"]):
            return "@attribute NAME real [MIN, MAX], or integer, or {CLASS, CLASS}"
        name = match["name"].strip("'\"")
        if name in self.order:
            return "an attribute name that was not used before"
        self.order.append(name)
        if match["labels"] is not None:
            self.labels[name] = tuple(cells_of(match["labels"]))
        if match["labels"] is not None or match["text"]:
            return None
        low, high = (number_of(match[end] or "") for end in ("low", "high"))
        if match["low"] and (low is None or high is None or low > high):
            return "a range [MIN, MAX] of two numbers in this order"
        self.ranges[name] = (math.nan if low is None else low, math.nan if high is None else high)
        return None


def read_header(path: Path, lines: Iterator[tuple[int, str]], *, strict: bool = True) -> Header:
    """What a KEEL or ARFF file says before its rows; uses up the lines to @data."""
    header = Header(strict)
    for number, line in lines:
        match = re.match(r"@(\w+)\s*(.*)$", line)
        if match is None:
            raise problem(path, number, "a line that starts with @", "another one", "Check that @data is there")
        word = match[1].lower()
        if word == "data":
            return header
        expected = header.take(word, match[2])
        if expected:
            raise problem(path, number, expected, "something else", "Correct this line")
    msg = f"{path.name}: expected a line @data, got none. Add it between header and rows."
    raise ValueError(msg)


def read_rows(
    path: Path, lines: Iterator[tuple[int, str]], header: Header, used: Sequence[str], *, strict: bool = True
) -> dict[str, list[str]]:
    """The columns that are used; where strict, every cell is a finite number or a label, as the header says."""
    columns: dict[str, list[str]] = {name: [] for name in used}
    number = 0
    for number, line in lines:
        cells = cells_of(line) if "," in line else line.split()
        if len(cells) != len(header.order):
            expected = f"{len(header.order)} cells, one per attribute"
            raise problem(path, number, expected, str(len(cells)), "Correct this line")
        row = dict(zip(header.order, cells, strict=True))
        for name in used:
            if strict and name in header.labels and row[name] not in header.labels[name]:
                expected = f"one of the labels of attribute {name!r}"
                raise problem(path, number, expected, "another", "Correct the cell, or drop the row if it is missing")
            if strict and name in header.ranges and number_of(row[name]) is None:
                expected = f"a finite number for attribute {name!r}"
                raise problem(path, number, expected, "something else", "Fill the cell or drop the row")
            columns[name].append(row[name])
    if number == 0:
        msg = f"{path.name}: expected rows after @data, got none. Is the file complete?"
        raise ValueError(msg)
    return columns
