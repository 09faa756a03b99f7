"""Engines around engines: `Restricted` prunes under restrictions, `Memo` fits no support twice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .._terms.requirements import Requirements
from .._utils.arrays import FloatArray, IntArray
from .base import Engine, Evaluation, Supports, Ties, TyingEngine

Model = tuple[IntArray, FloatArray, float, float, int]  # ids, coef, score, log-loss, status


class Restricted:
    """Wrap an engine so that what is left of a support meets the requirements, as the supports handed in must.

    In every round of the test a term stays when it passes, is forced, or is required by one that stays: a product
    keeps its parents, and one member that passes keeps its group. A term whose coefficient has the wrong sign goes,
    whatever requires it: of what its sign allows, zero is best. Whether a term goes depends on the fit of that round
    alone, so what is left of a support evaluates to itself, as `Memo` needs it.
    """

    def __init__(self, engine: TyingEngine, requirements: Requirements) -> None:
        self._engine, self._requirements = engine, requirements

    def evaluate(self, supports: Supports) -> Evaluation:
        return self._engine.evaluate(supports, ties_of(supports, self._requirements))


def ties_of(supports: Supports, requirements: Requirements) -> Ties:
    """What each entry of a batch holds under the requirements."""
    exempt = np.isin(supports.ids, sorted(requirements.forced), kind="sort")  # the quickest for few
    sign = requirements.signs_of(supports.ids)
    if not requirements.ties_terms:
        return Ties(exempt, np.zeros(supports.ids.size + 1, dtype=np.int64), np.empty(0, dtype=np.int64), sign)
    entries: list[int] = []
    counts = [0]
    for m in range(len(supports)):
        place = {j: int(supports.indptr[m]) + i for i, j in enumerate(supports[m].tolist())}
        for j in place:
            required = [place[k] for k in requirements.needs(j) or () if k != j and k in place]
            entries += sorted(required)
            counts.append(len(required))
    return Ties(exempt, np.cumsum(counts, dtype=np.int64), np.array(entries, dtype=np.int64), sign)


class Memo:
    """Wrap an engine so that no support is fitted twice, across iterations and restarts.

    Results are remembered under the support as it was drawn. What is left of a support is, to the last digits, what the
    engine would make of it if it were drawn itself. It is not remembered under that name all the same: the bits would
    then depend on what was asked before, and a search that runs beside others has asked for other things.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[bytes, Model] = {}
        self.n_asked = 0
        self.n_fitted = 0

    def evaluate(self, supports: Supports) -> Evaluation:
        keys = _keys(supports)
        new = {key: m for m, key in reversed(list(enumerate(keys))) if key not in self._known}
        steps = np.zeros(len(supports), dtype=np.int64)
        if new:
            which = np.array(sorted(new.values()), dtype=np.int64)
            fresh = self._engine.evaluate(supports.take(which))
            steps[which] = fresh.n_newton
            self._remember([keys[m] for m in which], fresh)
        self.n_asked += len(keys)
        self.n_fitted += len(new)
        return _pack([self._known[key] for key in keys], steps)

    def _remember(self, keys: list[bytes], fresh: Evaluation) -> None:
        ends = fresh.supports.indptr.tolist()
        numbers = zip(fresh.score.tolist(), fresh.log_loss.tolist(), fresh.status.tolist(), strict=True)
        for m, (key, outcome) in enumerate(zip(keys, numbers, strict=True)):
            kept = slice(ends[m], ends[m + 1])
            self._known[key] = (fresh.supports.ids[kept], fresh.coef[kept], *outcome)


def _keys(supports: Supports) -> list[bytes]:
    """Every support as bytes, cut out of those of the whole batch."""
    whole, ends = supports.ids.tobytes(), (supports.indptr * supports.ids.itemsize).tolist()
    return [whole[a:b] for a, b in pairwise(ends)]


def _pack(models: list[Model], steps: IntArray) -> Evaluation:
    """One Evaluation out of single models."""
    ids, coef, score, log_loss, status = zip(*models, strict=True)
    indptr = np.concatenate(([0], np.cumsum([row.size for row in ids]))).astype(np.int64)
    return Evaluation(
        Supports(indptr, np.concatenate(ids)),
        np.concatenate(coef),
        np.array(score),
        np.array(log_loss),
        np.array(status, dtype=np.int8),
        steps,
    )
