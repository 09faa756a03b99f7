"""What the documentation shows is true: examples in docstrings and pages run and print the output shown below them.

After a change, ``python -m tests.contracts.test_documentation docs/guide/stable.md`` rewrites the output shown on a
page, and the figures that the page saves and shows.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import os
import pkgutil
import re
import shutil
import sqlite3
import sys
import tempfile
import tomllib
from pathlib import Path

import matplotlib
import pytest
from benchmarks.house import PUBLIC
from matplotlib import pyplot

import rfsc

ROOT = Path(__file__).parents[2]
# a block of Python, and the output shown by a block of text right below it
BLOCK = re.compile(
    r"^(?P<skip><!-- not run[^\n]*-->\n)?```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
BUILD_FOLDERS = {"_build", "generated", "gallery"}
# what a new user runs first is checked by `make test`; all other pages by `make test-all`
FAST_PAGES = {ROOT / "README.md", ROOT / "docs" / "quick_start.md"}


def markdown_files():
    """All pages of the repository and of the documentation, without what Sphinx builds."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(page for page in found if not BUILD_FOLDERS & set(page.parts))


def pages_with_code():
    for page in markdown_files():
        if BLOCK.search(page.read_text(encoding="utf-8")):
            marks = [] if page in FAST_PAGES else [pytest.mark.slow]
            yield pytest.param(page, id=str(page.relative_to(ROOT).with_suffix("")), marks=marks)


def docstring_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for info in pkgutil.walk_packages(rfsc.__path__, "rfsc."):
        if not info.name.endswith("__main__"):
            yield from (test for test in finder.find(importlib.import_module(info.name)) if test.examples)


def run_blocks(text):
    """Run the blocks of a page in order; yield the match of each and what it prints, None for blocks not to be run."""
    scope: dict[str, object] = {"__name__": "page"}
    for block in BLOCK.finditer(text):
        printed = io.StringIO()
        if not block["skip"]:
            with contextlib.redirect_stdout(printed):
                exec(block["code"], scope)
        lines = printed.getvalue().rstrip().splitlines()
        yield block, None if block["skip"] else "".join(f"{line.rstrip()}\n" for line in lines)
    for value in scope.values():
        if isinstance(value, sqlite3.Connection):  # Python warns if a connection is left open
            value.close()


@pytest.fixture(autouse=True)
def close_figures():
    matplotlib.use("agg")
    yield
    pyplot.close("all")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.slow
@pytest.mark.parametrize("example", list(docstring_examples()), ids=lambda example: example.name)
def test_docstring_examples(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = io.StringIO()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.DocTestRunner(optionflags=flags).run(example, out=report.write)
    assert not outcome.failed, report.getvalue()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("page", list(pages_with_code()))
def test_pages_print_what_they_show(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages write files
    for block, printed in run_blocks(page.read_text(encoding="utf-8")):
        if block["shown"] is None or printed is None:
            continue
        assert NUMBER.split(printed) == NUMBER.split(block["shown"])
        # the last digits may depend on the processor and on the versions of libraries
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (printed, block["shown"])]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=1e-6)


def test_links_between_files_exist():
    """Sphinx checks links on the site; here they are checked as in plain files, without a build."""
    for page in markdown_files():
        if page == ROOT / "docs" / "index.md":  # it links to the gallery, which Sphinx builds
            continue
        prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"


def test_named_extras_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [page.read_text(encoding="utf-8") for page in markdown_files()]
    groups = [group for text in texts for group in re.findall(r"pip install '\S*\[(.+?)\]'", text)]
    named = {extra for group in groups for extra in group.split(",")}
    assert named <= set(project["optional-dependencies"])
    assert len(named) > 3


def test_reference_lists_the_public_modules():
    page = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^   (rfsc[\w.]*)$", page, re.MULTILINE)) == set(PUBLIC)


def test_quick_start_sorts_all_parameters():
    page = (ROOT / "docs" / "quick_start.md").read_text(encoding="utf-8")
    start, experts = re.search(r"### Start here\n(.*?)### For experts\n(.*)", page, re.DOTALL).groups()
    for name in inspect.signature(rfsc.RFSCClassifier).parameters:
        assert (f"`{name}=" in start) != (f"| `{name}` |" in experts), name


def rewrite(page):
    """Write what the blocks of a page print into the page, and the figures that it shows beside it."""
    text = page.read_text(encoding="utf-8")
    fresh, end = [], 0
    for block, printed in run_blocks(text):
        if block["shown"] is not None and printed is not None:
            fresh += [text[end : block.start("shown")], printed]
            end = block.end("shown")
    page.write_text("".join([*fresh, text[end:]]), encoding="utf-8")
    for figure in Path().glob("*.png"):
        if f"]({figure.name})" in text:
            shutil.copy(figure, page.parent)


if __name__ == "__main__":
    given = [Path(name).resolve() for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path in given:
            rewrite(path)
        os.chdir(ROOT)
