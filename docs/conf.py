"""How `make docs` builds the site. Neither the build nor the pages need a network."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import rfsc  # noqa: E402

# examples draw into files, also on a machine with a screen
os.environ.setdefault("MPLBACKEND", "agg")

project = "rfsc"
author = "the authors of rfsc"
copyright = author
version = release = rfsc.__version__

extensions = [
    "docstrings",
    "mathml",
    "offline",
    "wrapping",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
exclude_patterns = [
    "_build",
    "reproduction/main.md",  # the tables by themselves, which REPRODUCTION.md shows as well
    "reproduction/ranks.md",
    "reproduction/table*.md",
    "**/*.ipynb",
]

# Markdown as GitHub reads it, plus math between dollars and links to headings
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

smartquotes = False  # "auto" is code, in docstrings too
default_role = "py:obj"  # names between backticks in docstrings are links if they are documented

# one page for every public name; the docstring of a class describes its attributes
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_context = {"shared": rfsc.__all__}  # names that a submodule lists again
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Stability and stability need two files also if file names are not case-sensitive
documented = re.findall(r"^   (rfsc[\w.]*)$", (HERE / "api" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
names = [f"{module}.{name}" for module in documented for name in getattr(import_module(module), "__all__", [])]
twice = {name for name, count in Counter(map(str.lower, names)).items() if count > 1}
autosummary_filename_map = {name: f"{name}.class" for name in names if name != name.lower() and name.lower() in twice}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "backreferences_dir": "api/generated/used",  # which examples use a name, for the page of that name
    "doc_module": ("rfsc",),
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # a page that loads scripts from a network
    "show_signature": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = f"rfsc {release}"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["rfsc.css"]
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would be fetched, which browsers refuse for pages opened as files
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}  # dark or light, following the reader's system
html_sidebars = {"index": [], "quick_start": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "rfsc"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["sphinx-version"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "navigation_with_keys": False,
}
