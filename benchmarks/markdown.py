"""Put measured tables into a page, between markers, so that the text around them stays hand-written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def replace_section(page: Path, name: str, text: str) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- /name -->`."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, _, rest = page.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        msg = f"{page.name} has no section {name}; add the lines {begin} and {end}."
        raise SystemExit(msg)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")


if __name__ == "__main__":
    page, section, text = sys.argv[1:]
    replace_section(Path(page), section, Path(text).read_text().rstrip("\n"))
