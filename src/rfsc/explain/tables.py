"""A table of words and numbers as plain text, Markdown and HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

WIDEST = 48  # of a name in a text table; longer ones keep both ends


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, width: int = WIDEST) -> str:
    """Columns below their heads, the first one to the left, the others to the right."""
    cells = [[shortened(first, width), *rest] for first, *rest in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in (head, *cells)
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of GitHub's Markdown; signs that it would read as its own are escaped."""
    lines = ["| " + " | ".join(map(_markdown, row)) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "|".join([" --- ", *[" ---: "] * (len(head) - 1)]) + "|", *lines[1:]])


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "") -> str:
    """A table element, without style; everything is escaped."""
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    heads = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{html.escape(first)}</th>'
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return f"<table>{above}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def cells(rows: Sequence[Mapping[str, Any]], formats: Mapping[str, str]) -> list[list[str]]:
    """Numbers as text, by the format of their column; nothing where a value is not known."""
    return [[_cell(row[column], spec) for column, spec in formats.items()] for row in rows]


def shortened(name: str, width: int) -> str:
    """A name of at most `width` signs; a long one loses its middle."""
    if len(name) <= width:
        return name
    left = (width - 1) // 2
    return f"{name[:left]}…{name[len(name) - (width - 1 - left) :]}"


def _cell(value: Any, spec: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format(value, spec)


def _markdown(cell: str) -> str:
    out = "".join("\\" + sign if sign in "\\`*_[]<>|#~$" else sign for sign in " ".join(cell.split()))
    return out.replace("&", "&amp;")
