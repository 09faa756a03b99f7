"""A table of text as Markdown, CSV and LaTeX, and pages with sections that are replaced."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

_LATEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"±": r"$\pm$", "–": "--", "≤": r"$\leq$"}
)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under a head, without a title."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def made_by(command: str) -> str:
    """By which command figures are made, when, with which versions, and at which load."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("rfsc", "numpy", "scikit-learn", "numba"))
    date, load = f"{datetime.now(UTC):%Y-%m-%d}", os.getloadavg()[0]
    return f"Made by `{command}` on {date} with {versions}, load {load:.1f} at the end."


def replace_section(page: Path, name: str, text: str) -> None:
    """Replace what is between `<!-- name -->` and `<!-- /name -->`; the text around it stays hand-written."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        msg = f"{page.name} has no section {name}; add the lines {begin} and {end}."
        raise SystemExit(msg)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of text with some cells marked as the best of their column."""

    name: str  # of its files, without ending
    title: str  # one line
    head: Sequence[str]  # column titles
    rows: Sequence[Sequence[str]]  # an empty text if there is no figure
    best: frozenset[tuple[int, int]] = frozenset()  # (row, column) of the cells to mark
    notes: Sequence[str] = ()  # lines under the table

    def markdown(self) -> str:
        """For the page; the best cells are bold."""
        rows = [[f"**{c}**" if (i, j) in self.best else c for j, c in enumerate(r)] for i, r in enumerate(self.rows)]
        notes = "".join(f"\n- {note}" for note in self.notes)
        return f"**{self.title}**\n\n{markdown_table(self.head, rows)}\n" + (f"{notes}\n" if notes else "")

    def csv(self) -> str:
        """For machines: bare cells, no marks."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.head, *self.rows])
        return text.getvalue()

    def latex(self) -> str:
        """For a paper: a `table*` with a caption and a label; needs no package."""

        def cell(i: int, j: int) -> str:
            text = self.rows[i][j].translate(_LATEX)
            return rf"\textbf{{{text}}}" if (i, j) in self.best else text

        body = [" & ".join(cell(i, j) for j in range(len(row))) + r" \\" for i, row in enumerate(self.rows)]
        caption = " ".join([self.title + ".", *self.notes]).translate(_LATEX)
        lines = [
            r"\begin{table*}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{self.name}}}",
            rf"\begin{{tabular}}{{l{'c' * (len(self.head) - 1)}}}",
            r"\hline",
            " & ".join(str(text).translate(_LATEX) for text in self.head) + r" \\",
            r"\hline",
            *body,
            r"\hline",
            r"\end{tabular}",
            r"\end{table*}",
        ]
        return "\n".join(lines) + "\n"


def best_cells(
    values: Sequence[Sequence[float | None]], groups: Sequence[object], *, first_column: int, digits: int = 4
) -> frozenset[tuple[int, int]]:
    """(row, column) of the largest value of each column, among rows with an equal entry in `groups`, if not None.

    Values that print alike are best together; the first value is in column `first_column` of the table.
    """
    best: set[tuple[int, int]] = set()
    for group in {g for g in groups if g is not None}:
        rows = [i for i, g in enumerate(groups) if g == group]
        for j in range(len(values[0])):
            column = {i: round(v, digits) for i in rows if (v := values[i][j]) is not None}
            if len(column) > 1:
                best |= {(i, first_column + j) for i, v in column.items() if v == max(column.values())}
    return frozenset(best)


def verdict(bar: str, is_met: bool, figures: str) -> str:
    """One line of a list: a bar, whether it is met, and the figures that show it."""
    return f"- {bar}: {'met' if is_met else '**MISSED**'} ({figures})"
