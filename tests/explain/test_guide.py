"""The guide and the docstrings show what their code prints.

After a change, ``python -m tests.explain.test_guide`` writes the guide anew.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "explain.md"
BLOCK = re.compile(r"```python\n(.*?)```\n(\n```text\n(.*?)```\n)?", re.DOTALL)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]\d+)?")


def outputs(page):
    """For every output that the page shows, what its code prints and what stands there."""
    names: dict[str, object] = {}
    for block in BLOCK.finditer(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(block[1], names)
        if block[2] is not None:
            yield printed.getvalue(), block[3]


def test_outputs_are_what_is_printed():
    pairs = list(outputs(GUIDE.read_text(encoding="utf-8")))
    assert len(pairs) >= 10
    for printed, shown in pairs:
        assert NUMBER.split(printed) == NUMBER.split(shown)
        # the last digits may depend on the versions of libraries
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (printed, shown)]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=0.02)


@pytest.mark.parametrize("module", ["equation", "rounding", "contributions", "sentence", "stability"])
def test_examples_of_the_docstrings(module):
    result = doctest.testmod(importlib.import_module(f"rfsc.explain.{module}"))
    assert result.attempted > 5
    assert result.failed == 0


if __name__ == "__main__":
    text = GUIDE.read_text(encoding="utf-8")
    printed = iter([new for new, _ in outputs(text)])
    fresh = BLOCK.sub(
        lambda b: b[0] if b[2] is None else f"```python\n{b[1]}```\n\n```text\n{next(printed)}```\n", text
    )
    GUIDE.write_text(fresh, encoding="utf-8")
