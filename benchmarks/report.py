"""Lines, tables and sections of the pages that benchmarks write."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: a ratio that must reach its bar or, without a peer, a time that must not exceed it."""

    name: str
    ours: float
    theirs: float | None = None
    ratio: float | None = None
    bar: float | None = None
    unit: str = "s"
    judged: bool = True

    @classmethod
    def versus(cls, name: str, ours: float, theirs: float, bar: float | None, *, judged: bool = True) -> Row:
        """How many times faster than a peer."""
        return cls(name, ours, theirs, theirs / ours, bar, judged=judged)

    @property
    def verdict(self) -> str:
        """Met or MISSED; in brackets if the bar is not judged on this row."""
        if self.bar is None:
            return ""
        met = self.ours <= self.bar if self.ratio is None else self.ratio >= self.bar
        word = "met" if met else "MISSED"
        return word if self.judged else f"({word.lower()})"

    def markdown(self) -> str:
        """The line."""
        limit = "" if self.bar is None else f"{'≤' if self.ratio is None else '≥'} {self.bar:g}"
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}"
        theirs = "" if self.theirs is None else quantity(self.theirs, self.unit)
        cells = (self.name, quantity(self.ours, self.unit), theirs, ratio, limit, self.verdict)
        return f"| {' | '.join(cells)} |"


@dataclass(frozen=True, slots=True)
class Section:
    """A table and what one must know to read it."""

    title: str
    rows: list[Row]
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """Heading, table, notes."""
        head = ["| | ours | theirs | ratio | bar | |", "|---|---:|---:|---:|---:|---|"]
        table = [*head, *(row.markdown() for row in self.rows)] if self.rows else []
        notes = [f"- {note}" for note in self.notes]
        return "\n\n".join(part for part in (f"## {self.title}", "\n".join(table), "\n".join(notes)) if part)


def quantity(value: float, unit: str) -> str:
    """A number with its unit; seconds take the prefix that suits them."""
    if unit != "s":
        return f"{value:.3g} {unit}"
    for factor, name in ((1.0, "s"), (1e3, "ms")):
        if value * factor >= 1.0:
            return f"{value * factor:.3g} {name}"
    return f"{value * 1e6:.3g} µs"


def machine_and_date() -> str:
    """What the processor calls itself, and when the page was made."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    named = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return f"{next(named, platform.processor() or platform.machine())}, {datetime.now(UTC):%Y-%m-%d}"
