"""Arguments that several commands take: seeds, processes, and names out of a list."""

from __future__ import annotations

import argparse
from collections.abc import Iterable


def seed(text: str) -> int:
    """An argument that scikit-learn takes as a seed."""
    if not text.isdecimal() or int(text) >= 2**32:
        msg = f"a seed is a whole number from 0 to {2**32 - 1}, got {text}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def jobs(text: str) -> int:
    """A number of processes; -1 stands for all cores."""
    if text != "-1" and (not text.isdecimal() or text == "0"):
        msg = f"expected a number of processes, or -1 for all cores, got {text}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def chosen(option: str, asked: Iterable[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    """The names that were asked for, in our spelling and order; all of them where none was."""
    by_lower = {name.lower(): name for name in known}
    wanted = {name.lower() for name in asked} if asked else set(by_lower)
    strange = sorted(wanted - set(by_lower))
    if strange:
        quoted = ", ".join(f"'{name}'" for name in by_lower.values())
        msg = f"{option} does not know {', '.join(strange)}. Choose from: {quoted}."
        raise ValueError(msg)
    return tuple(name for lower, name in by_lower.items() if lower in wanted)
