"""Formulas as MathML, which browsers render natively: MathJax would be loaded from a network."""

from __future__ import annotations

from functools import partial
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def write_formula(page: Any, node: nodes.Element, *, block: bool) -> None:
    """Add a formula to a page; one that cannot be parsed gives a warning and is shown as written."""
    try:
        formula = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        logger.warning("formula cannot be written as MathML: %s", error, location=node)
        formula = f"<code>{page.encode(node.astext())}</code>"
    page.body.append(f'<div class="math">{formula}</div>' if block else formula)
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name "mathml"."""
    inline, block = (partial(write_formula, block=block) for block in (False, True))
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
