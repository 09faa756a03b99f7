"""From the supports that were drawn to those that restrictions admit. Nothing here is random."""

from __future__ import annotations

from .._engines.base import Supports
from .._terms.rules import Rules


def admit(drawn: Supports, rules: Rules | None, max_terms: int) -> Supports:
    """Take forbidden terms out of every support, and put in the forced ones and what the others require."""
    if rules is None:
        return drawn
    rules.look_at(drawn.ids)
    return Supports.from_lists(rules.gather(drawn[m].tolist(), max_terms) for m in range(len(drawn)))
