"""The guide says what really happens: its code runs, and prints what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


def without_digits(text):
    """Numbers may differ in their digits from one machine to another."""
    return re.sub(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?", "#", text).split()


def test_the_page_shows_what_its_code_prints():
    space, printed = {}, ""
    blocks = re.findall(r"```(python|text)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) > 10
    for kind, text in blocks:
        if kind == "text":
            assert without_digits(text) == without_digits(printed)
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(text, space)
        printed = out.getvalue()
    space["connection"].close()
