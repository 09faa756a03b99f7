"""What an engine is: it fits, prunes and scores a batch of supports; and engines around engines.

An engine is a deterministic function of its input: the same support gives the same bits whatever stands beside it in
the batch, however many threads work, and in whatever order. It never draws a random number.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .._terms.requirements import Requirements
from .._utils.arrays import BoolArray, FloatArray, IntArray

# Newton's method, the same for every engine
MAX_NEWTON = 50  # a separable support with a tiny ridge needs about 20
NEWTON_TOL = 1e-8  # squared Newton decrement: coefficients within 1e-5 standard errors before the last step
MAX_HALVINGS = 30
MAX_OVERSHOOT = 0.5  # a step may end this much of its initial slope beyond the minimum along its line
PIVOT_TOL = 1e-12  # a pivot this small beside its diagonal: the term depends on earlier ones
MIN_LEFT_OUT = 1e-6  # least 1 - leverage; a row that alone decides a coefficient has none
Model = tuple[IntArray, FloatArray, float, float, int]  # ids, coef, score, log-loss, status


class Criterion(enum.IntEnum):
    """What a search maximises: how a fitted model is scored. Every score lies in [0, 1] and higher is better."""

    ACCURACY = 0
    BALANCED_ACCURACY = 1
    KAPPA = 2
    LOG_LOSS = 3
    LOO_ACCURACY = 4
    LOO_LOG_LOSS = 5

    @property
    def leaves_one_out(self) -> bool:
        """Whether the score is computed from left-out predictions."""
        return self >= Criterion.LOO_ACCURACY


class Status(enum.IntEnum):
    """How a fit ended."""

    CONVERGED = 0
    STOPPED = 1  # the cap on Newton steps was reached: a separable support without enough ridge
    EMPTY = 2  # no term was drawn, or none survived the test


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How every support of a search is fitted, tested and scored."""

    criterion: Criterion = Criterion.LOO_LOG_LOSS
    ridge: float = 1.0  # the penalty on a coefficient is 0.5 * ridge * var_j * coef_j**2, var_j being that of its term
    significance: float = 0.05  # level of the t-test: a term stays if abs(t) > t.ppf(1 - significance, n - n_terms)


@dataclass(frozen=True, slots=True, eq=False)
class Supports:
    """A batch of supports in compressed rows: support m is ids[indptr[m] : indptr[m + 1]], ascending."""

    indptr: IntArray
    ids: IntArray

    def __len__(self) -> int:
        return self.indptr.size - 1

    def __getitem__(self, m: int) -> IntArray:
        return self.ids[self.indptr[m] : self.indptr[m + 1]]

    @property
    def sizes(self) -> IntArray:
        """Number of terms of each support."""
        return self.indptr[1:] - self.indptr[:-1]  # np.diff takes several times as long

    @classmethod
    def from_lists(cls, supports: Iterable[Iterable[int]]) -> Supports:
        """Pack any iterables of term ids; each is sorted and freed of repeats."""
        # sets of a dozen numbers: NumPy takes several times as long
        rows = [sorted(set(s.tolist() if isinstance(s, np.ndarray) else map(int, s))) for s in supports]
        indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(indptr, np.fromiter(chain.from_iterable(rows), np.int64, int(indptr[-1])))

    def take(self, which: IntArray) -> Supports:
        """The supports at positions `which`, in that order."""
        sizes = self.sizes[which]
        indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        entries = np.repeat(self.indptr[:-1][which] - indptr[:-1], sizes) + np.arange(indptr[-1])
        return Supports(indptr, self.ids[entries])


class Ties(NamedTuple):
    """What the test must not take out of a batch, and what it must, aligned with its entries (`Supports.ids`).

    An entry stays when it passes the test, is exempt, or is held by an entry that passes or is exempt. What entry e
    holds is entries[indptr[e] : indptr[e + 1]], with all that those hold. A coefficient of the wrong sign neither
    passes nor is exempt, and nothing holds it. A NamedTuple, because kernels read it.
    """

    exempt: BoolArray  # (n_entries,)
    indptr: IntArray  # (n_entries + 1,)
    entries: IntArray
    sign: FloatArray  # (n_entries,): 1.0 or -1.0 if the coefficient must not have the other sign, else 0.0; or (0,)

    @classmethod
    def none(cls) -> Ties:
        """No ties: the test decides alone."""
        return cls(np.zeros(0, dtype=np.bool_), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Outcome of a batch: the pruned models, aligned with the supports that were handed in."""

    supports: Supports
    coef: FloatArray  # aligned with supports.ids
    score: FloatArray
    log_loss: FloatArray  # mean loss of the predictions that were scored (left-out ones if the criterion asks)
    status: npt.NDArray[np.int8]
    n_newton: IntArray  # Newton steps spent on all rows, over all refits

    @classmethod
    def from_kept(
        cls,
        drawn: Supports,
        kept: BoolArray,
        coef: FloatArray,
        score: FloatArray,
        log_loss: FloatArray,
        status: npt.NDArray[np.int8],
        n_newton: IntArray,
    ) -> Evaluation:
        """Build from arrays aligned with the drawn supports and a mask of the entries that survived."""
        before = np.concatenate(([0], np.cumsum(kept)))
        supports = Supports(before[drawn.indptr].astype(np.int64), drawn.ids[kept])
        return cls(supports, coef[kept], score, log_loss, status, n_newton)

    @classmethod
    def concatenated(cls, parts: Sequence[Evaluation]) -> Evaluation:
        """One evaluation out of those of consecutive parts of a batch."""
        if len(parts) == 1:
            return parts[0]
        sizes = np.concatenate([part.supports.sizes for part in parts])
        indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        names = ("coef", "score", "log_loss", "status", "n_newton")
        arrays = [np.concatenate([getattr(part, name) for part in parts]) for name in names]
        return cls(Supports(indptr, np.concatenate([part.supports.ids for part in parts])), *arrays)


class Engine(Protocol):
    """Fits, prunes and scores supports."""

    def evaluate(self, supports: Supports) -> Evaluation:
        """Fit every support, drop insignificant terms until all that stay are significant, and score."""


class TyingEngine(Engine, Protocol):
    """An engine that can also keep terms in spite of the test."""

    def evaluate(self, supports: Supports, ties: Ties | None = None) -> Evaluation:
        """As `Engine.evaluate`, but drop only what no tie holds."""


def empty_model_score(criterion: Criterion) -> float:
    """Score of the model without terms: its output 0 is an error on every row, and says p = 1/2."""
    return 0.5 if criterion in (Criterion.LOG_LOSS, Criterion.LOO_LOG_LOSS) else 0.0


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
