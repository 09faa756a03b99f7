"""What the documents show is true: examples of docstrings and pages run, and print what stands below them.

After a change, ``python -m tests.contracts.test_documentation docs/guide/stable.md`` writes the outputs of a page, and
the pictures that it draws and shows, anew.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
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
from matplotlib import pyplot

import rfsc

ROOT = Path(__file__).parents[2]
# a block of Python, and the output that a block of text right below it promises
BLOCK = re.compile(
    r"^(?P<skip><!-- not run[^\n]*-->\n)?```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
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


def run_blocks(text):
    """Run the blocks of a page one after another; for each its match and what it prints, None where it is not run."""
    scope: dict[str, object] = {"__name__": "page"}
    for block in BLOCK.finditer(text):
        printed = io.StringIO()
        if not block["skip"]:
            with contextlib.redirect_stdout(printed):
                exec(block["code"], scope)
        lines = printed.getvalue().rstrip().splitlines()
        yield block, None if block["skip"] else "".join(f"{line.rstrip()}\n" for line in lines)
    for thing in scope.values():
        if isinstance(thing, sqlite3.Connection):  # Python warns of those that are left open
            thing.close()


@pytest.fixture(autouse=True)
def pictures():
    """Pictures go to no screen, and do not stay open."""
    matplotlib.use("agg")
    yield
    pyplot.close("all")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("example", list(docstring_examples()), ids=lambda example: example.name)
def test_examples_of_docstrings(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = io.StringIO()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.DocTestRunner(optionflags=flags).run(example, out=said.write)
    assert not outcome.failed, said.getvalue()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT).with_suffix("")))
def test_pages_run_and_print_what_they_show(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages write files
    for block, printed in run_blocks(page.read_text(encoding="utf-8")):
        if block["shown"] is None or printed is None:
            continue
        assert NUMBER.split(printed) == NUMBER.split(block["shown"])
        # the last digits may depend on the processor and on the versions of libraries
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (printed, block["shown"])]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=1e-6)


def test_links_between_files_lead_somewhere():
    """Sphinx checks links on the site; these are read as plain files, too, where nothing has been built."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        if BUILT & set(page.parts) or page == ROOT / "docs" / "index.md":  # the front page leads to what is built
            continue
        prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"


def test_extras_that_are_named_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [page.read_text(encoding="utf-8") for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]]
    named = {
        extra for text in texts for some in re.findall(r"pip install '\S*\[(.+?)\]'", text) for extra in some.split(",")
    }
    assert named <= set(project["optional-dependencies"])
    assert len(named) > 3


def test_the_reference_lists_every_module_with_public_names():
    page = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (rfsc[\w.]*)$", page, re.MULTILINE))
    top = [info.name for info in pkgutil.iter_modules(rfsc.__path__, "rfsc.") if "._" not in info.name]
    public = {name for name in top if hasattr(importlib.import_module(name), "__all__")}
    assert public - {"rfsc.cli"} <= listed  # the command has a page of its own


def rewrite(page):
    """Write what the blocks of a page print into the page, and the pictures that it shows beside it."""
    text = page.read_text(encoding="utf-8")
    fresh, end = [], 0
    for block, printed in run_blocks(text):
        if block["shown"] is not None and printed is not None:
            fresh += [text[end : block.start("shown")], printed]
            end = block.end("shown")
    page.write_text("".join([*fresh, text[end:]]), encoding="utf-8")
    for picture in Path().glob("*.png"):
        if f"]({picture.name})" in text:
            shutil.copy(picture, page.parent)


if __name__ == "__main__":
    given = [Path(name).resolve() for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path in given:
            rewrite(path)
        os.chdir(ROOT)
