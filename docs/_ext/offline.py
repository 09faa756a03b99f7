"""The build fails if a page would load anything from a network when it is opened."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

# what a browser loads automatically; ordinary links may lead anywhere
LOADED = re.compile(
    r"""<(?:script|link|img|iframe|source|video)\b[^>]*?\b(?:src|href)=["'](?:https?:)?//"""
    r"""|@import\s+(?:url\()?["']?(?:https?:)?//|url\(["']?(?:https?:)?//"""
)


def check(app: Any, error: Exception | None) -> None:
    """Fail if a page or a style sheet has an address that would be loaded."""
    if error is not None:
        return
    pages = [path for path in Path(app.outdir).rglob("*") if path.suffix in (".html", ".css")]
    loading = sorted(str(path.relative_to(app.outdir)) for path in pages if LOADED.search(path.read_text("utf-8")))
    if loading:
        msg = f"pages must not load anything from a network, but these do: {', '.join(loading)}"
        raise ExtensionError(msg)


def setup(app: Any) -> dict[str, bool]:
    """Check at the end of the build."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
