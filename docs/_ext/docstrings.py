"""Docstrings on the site: markup is escaped, and methods inherited from scikit-learn are left to its own pages."""

from __future__ import annotations

import re
from typing import Any

# n_features_in_ would be read as a link, |x - centre| as a name for something else
MARKUP = re.compile(r"(?<=[a-zA-Z0-9])_(?!\w)|(?<!\\)\|")


def escape_markup(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Escape trailing underscores and bars outside code and examples."""
    for position, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", "..")):
            continue
        pieces = line.split("`")
        pieces[::2] = [MARKUP.sub(r"\\\g<0>", piece) for piece in pieces[::2]]
        lines[position] = "`".join(pieces)


def skip_foreign(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:  # noqa: ARG001
    """Skip methods that are inherited from scikit-learn."""
    module = getattr(thing, "__module__", None) or "rfsc"
    return None if module.startswith("rfsc") else True


def setup(app: Any) -> dict[str, bool]:
    """Connect to autodoc, after numpydoc, which formats the names of parameters."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", escape_markup, priority=900)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
