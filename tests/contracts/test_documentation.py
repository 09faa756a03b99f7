"""What the documents show is true: examples of docstrings and pages run, and print what stands below them."""

from __future__ import annotations

import doctest
import importlib
import io
import pkgutil
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import rfsc

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# a block of Python, and the output that a block of text right below it promises
BLOCK = re.compile(
    r"^(<!-- not run[^\n]*-->\n)?```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE
)
BUILT = {"_build", "generated", "gallery"}


def docstring_examples():
    """The examples of every docstring of the package that has some."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for info in pkgutil.walk_packages(rfsc.__path__, "rfsc."):
        if not info.name.endswith("__main__"):
            yield from (test for test in finder.find(importlib.import_module(info.name)) if test.examples)


def pages():
    """Every page with Python in it."""
    found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    written = [page for page in found if not BUILT & set(page.parts)]
    return sorted(page for page in written if BLOCK.search(page.read_text(encoding="utf-8")))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("example", list(docstring_examples()), ids=lambda example: example.name)
def test_examples_of_docstrings(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = io.StringIO()
    outcome = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=said.write)
    assert not outcome.failed, said.getvalue()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_pages_run(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)  # pages write files
    checker, scope = doctest.OutputChecker(), {"__name__": page.stem}
    for skipped, code, promised in BLOCK.findall(page.read_text(encoding="utf-8")):
        if skipped:
            continue
        said = io.StringIO()
        with redirect_stdout(said):
            exec(compile(code, page.name, "exec"), scope)
        if promised:
            assert checker.check_output(promised, said.getvalue(), FLAGS), f"{code}\nprints\n{said.getvalue()}"


def test_the_reference_lists_every_public_module():
    page = (ROOT / "docs" / "api" / "index.md").read_text()
    listed = set(re.findall(r"^   (rfsc[\w.]*)$", page, re.MULTILINE))
    for info in pkgutil.iter_modules(rfsc.__path__, "rfsc."):
        public = getattr(importlib.import_module(info.name), "__all__", []) if "._" not in info.name else []
        assert not public or info.name in listed or info.name == "rfsc.cli", info.name
