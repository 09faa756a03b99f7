"""A batch of supports in parts, so that a fit can be stopped between two of them, however long the table is.

Engines give the same bits whatever stands beside a support, so where a batch is cut changes nothing.
"""

from __future__ import annotations

import time

import numpy as np

from .._engines.base import Engine, Evaluation, Supports
from .stopping import Brake, StoppedEarly

FIRST = 8  # supports of the first part, when nobody knows yet how long one takes
LEAST = 4  # and of every other: threads share them
LAST = 2  # and of those right before a deadline
SECONDS = 0.25  # that a part should take


def evaluate_in_parts(engine: Engine, supports: Supports, brake: Brake) -> Evaluation:
    """What `engine.evaluate` gives."""
    if getattr(engine, "prefers_whole", False) and brake.deadline == np.inf:
        return engine.evaluate(supports)  # a pass over all machines costs the same messages for one support and for all
    parts: list[Evaluation] = []
    first, n = 0, len(supports)
    while first < n or not parts:
        last = min(first + _size(brake), n)
        whole = first == 0 and last == n
        began = time.perf_counter()
        parts.append(engine.evaluate(supports if whole else supports.take(np.arange(first, last))))
        fitted = np.count_nonzero(parts[-1].n_newton)
        if fitted:  # supports that a memo knows tell nothing
            brake.pace.per_second = fitted / max(time.perf_counter() - began, 1e-6)
        first = last
        if first < n and brake.reason:
            raise StoppedEarly(joined(parts))
    return parts[0] if len(parts) == 1 else joined(parts)


def _size(brake: Brake) -> int:
    pace = brake.pace.per_second
    if not pace:
        return FIRST
    least = LAST if pace * brake.seconds_left < 2 * LEAST else LEAST
    return max(least, int(pace * SECONDS))


def joined(parts: list[Evaluation]) -> Evaluation:
    """One evaluation out of those of consecutive parts of a batch."""
    sizes = np.concatenate([part.supports.sizes for part in parts])
    supports = Supports(
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        np.concatenate([part.supports.ids for part in parts]),
    )
    return Evaluation(
        supports,
        np.concatenate([part.coef for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.log_loss for part in parts]),
        np.concatenate([part.status for part in parts]),
        np.concatenate([part.n_newton for part in parts]),
    )
