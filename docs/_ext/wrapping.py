"""Printed sentences and formulas are wrapped at the edge of the page; printed tables keep their lines and scroll."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

ALIGNED = re.compile(r"-{5}|\S {3,}\S")  # a rule, or columns


def mark_prose(app: Any, tree: nodes.document) -> None:  # noqa: ARG001
    """Give output that is not a table a class for the style sheet."""
    for block in tree.findall(nodes.literal_block):
        if block.get("language") in ("text", "none", "console") and not ALIGNED.search(block.astext()):
            block["classes"].append("prose")


def setup(app: Any) -> dict[str, bool]:
    """Process every page when it has been read."""
    app.connect("doctree-read", mark_prose)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
