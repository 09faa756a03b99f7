"""Packages that only some parts need: asked for where they are used, with a message that says how to get them."""

from __future__ import annotations

from importlib.util import find_spec


def require(what: str, packages: list[str], extra: str) -> None:
    """Raise an ImportError that names the extra, unless all packages are there."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        msg = f"{what} needs {', '.join(missing)}: pip install 'rfsc[{extra}]'."
        raise ImportError(msg)
