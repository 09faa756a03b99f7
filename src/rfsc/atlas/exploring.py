"""Good models of one output: terms are added to what is left of other good ones, again and again.

Every model that differs from another by an exchange of one term is a rest of it, the model less one term, and a term
added to that rest. So rests are extended, each once, the best models first. What ends an exploration is a bound on its
work, never a clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import nsmallest
from itertools import chain, combinations, zip_longest
from math import comb
from typing import Any

import numpy as np
from scipy.special import log_expit

from .._engines.array_engine import derivatives, factorise, invert, leave_one_out
from .._engines.base import Engine, Evaluation, Supports
from .._engines.problem import load_in_parts, slots_of
from .._fit.output import OutputSearch
from .._search.elimination import removable_units
from .._search.history import Candidate
from .._search.screening import Screening
from .._terms.requirements import CONSTANT
from .._utils.arrays import FloatArray, IntArray
from .._utils.determinism import one_blas_thread

Support = tuple[int, ...]  # ids of terms, ascending, the constant among them
Difference = tuple[float, float]  # of the mean losses of two models, and its paired standard error

MOST_WORK = 2e9  # rows times squared terms of all fits; three to four seconds on one core
LEAST_FITS = 2_000  # whatever the number of rows
POOL_VALUES = 1_000_000  # rows times terms that are tried
LEAST_POOL = 50  # terms
N_TRIED = 60  # terms that are tried in more than the very best models: those that did best there
N_BEST = 2  # these very best models of each size
AT_ONCE = 10  # models of a size whose rests are extended before the best ones are chosen again
COMPARED_AT_ONCE = 200  # models
COMPARING = 4.0  # fits that the comparison of two models row by row is worth
MARGIN = 1.25  # by which a standard error may exceed those of the better models
STACK_BYTES = 16 * 2**20  # columns of the models whose losses are computed together
REACH = 1.25  # tolerances from the best of a size up to which models are extended
NEAR = 2.0  # standard errors of its loss from the best of a size, beyond which no model is compared with it
MOST_ENUMERATED = 30_000  # models; if there are no more, all are fitted
SCREENING_SECONDS = 1.0  # an estimate, by which parts of a large space are left out


class Exploration:
    """Models of one output of at most `max_size` terms, with their left-out log-loss.

    Models within `tolerance` of the best of their size count as good; None stands for one paired standard error of the
    difference. Supports that read no feature of some set in `required` are extended but not kept.
    """

    def __init__(
        self,
        search: OutputSearch,
        pool: IntArray,
        max_size: int,
        tolerance: float | None = None,
        required: Sequence[Collection[int]] = (),
        most_work: float | None = None,
    ) -> None:
        self.search, self.max_size, self.tolerance = search, max_size, tolerance
        pool = np.unique(search.space.simplest(pool))  # a square of a 0/1 feature is the feature
        self.pool = pool if search.requirements is None else search.requirements.allowed(pool)
        self.n_fitted, self._work = 0, 0.0
        self._required = [frozenset(some) for some in required]
        self._problem = replace(search.unpruned, few_supports=False)
        self._store = self._problem.store()
        self._most_work = max(MOST_WORK if most_work is None else most_work, LEAST_FITS * self._cost(max_size + 1))
        self._by_size: dict[int, dict[Support, float]] = {}
        self._best: dict[int, Support] = {}
        self._asked: set[Support] = set()
        self._extended: set[Support] = set()
        self._scales: dict[Support, float] = {}
        self._differences: dict[Support, dict[Support, Difference]] = {}
        self._features: dict[int, frozenset[int]] = {}

    @cached_property
    def _engine(self) -> Engine:
        return self.search.job.spec.engine_over(self._problem, self.search.requirements)

    def __getstate__(self) -> dict[str, Any]:
        """Without the engine, which is made again."""
        return {name: value for name, value in self.__dict__.items() if name != "_engine"}

    # ---- what is known

    @property
    def sizes(self) -> list[int]:
        """Sizes of which some model is known, ascending."""
        return sorted(self._by_size)

    def best(self, size: int) -> Support:
        """The best model of a size."""
        return self._best[size]

    def loss(self, support: Support) -> float:
        """The left-out log-loss of a known model."""
        return self._by_size[self.size(support)][support]

    def size(self, support: Support) -> int:
        """Number of terms, the constant not counted."""
        return len(support) - (CONSTANT in support)

    def features(self, support: Iterable[int]) -> frozenset[int]:
        """Features that a model reads."""
        ids = list(support)
        if new := [j for j in ids if j not in self._features]:
            terms = self.search.space.terms(np.array(new, dtype=np.int64))
            self._features.update((j, frozenset(term.features)) for j, term in zip(new, terms, strict=True))
        return frozenset().union(*(self._features[j] for j in ids))

    def good(self, size: int, most: int, times: float = 1.0) -> list[Support]:
        """Models of a size within some tolerances of the best, with other features first; at most twice `most`."""
        known, best = self._by_size[size], self.best(size)
        reach = NEAR * self._scale(best) if self.tolerance is None else times * self.tolerance
        near = sorted((loss, support) for support, loss in known.items() if loss - known[best] <= reach)
        if self.tolerance is None:
            near = self._within_error(near, best, times, 2 * most)
        return self._varied(near[: 2 * most])

    def _varied(self, near: Iterable[tuple[float, Support]]) -> list[Support]:
        """The best model of each set of features, then the second best, ..."""
        seen: Counter[frozenset[int]] = Counter()
        ranked = []
        for loss, support in near:
            features = self.features(support)
            ranked.append((seen[features], loss, support))
            seen[features] += 1
        return [support for *_, support in sorted(ranked)]

    def _within_error(
        self, near: Sequence[tuple[float, Support]], best: Support, times: float, most: int
    ) -> list[tuple[float, Support]]:
        """Those of some models, best first, that are within some paired standard errors of the best."""
        found: list[tuple[float, Support]] = []
        largest = np.inf
        for first in range(0, len(near), COMPARED_AT_ONCE):
            part = near[first : first + COMPARED_AT_ONCE]
            # no error so far was nearly as large as this difference
            if len(found) >= most or part[0][0] - near[0][0] > MARGIN * times * largest:
                break
            above = self.differences(best, [support for _, support in part])
            found += [pair for pair in part if above[pair[1]][0] <= times * above[pair[1]][1]]
            largest = max(0.0 if first == 0 else largest, *(above[support][1] for _, support in part))
        return found

    def differences(self, base: Support, supports: Sequence[Support]) -> dict[Support, Difference]:
        """By how much the mean left-out losses of models are above that of another one, with the standard errors."""
        known = self._differences.setdefault(base, {base: (0.0, 0.0)})
        new = [support for support in supports if support not in known]
        own = self.row_losses([base]) if new else np.empty(0)
        for first in range(0, len(new), COMPARED_AT_ONCE):
            part = new[first : first + COMPARED_AT_ONCE]
            above = self.row_losses(part) - own
            self._work += sum(COMPARING * self._cost(len(support)) for support in part)
            pairs = zip(self.mean(above).tolist(), self.error(above).tolist(), strict=True)
            known.update(zip(part, pairs, strict=True))
        return known

    def _scale(self, support: Support) -> float:
        """Standard error of the mean loss of a model: at least that of the difference from most models of its size."""
        if support not in self._scales:
            self._scales[support] = float(self.error(self.row_losses([support]))[0])
        return self._scales[support]

    # ---- fits

    def ask(self, supports: Iterable[Support]) -> None:
        """Fit those that are not known yet, and remember those that are not far from the best of their size."""
        new = [one for one in dict.fromkeys(supports) if one not in self._asked and self._may_be_kept(one)]
        self._asked.update(new)
        if not new:
            return
        result = self.fit(new)
        found: dict[int, dict[Support, float]] = {}
        for m, loss in enumerate(result.log_loss.tolist()):
            support = tuple(result.supports[m].tolist())
            if self._may_be_kept(support):
                found.setdefault(self.size(support), {})[support] = loss
        for size, own in found.items():
            known = self._by_size.setdefault(size, {})
            first = min(own, key=lambda support: (own[support], support))
            known[first] = own[first]
            best = self._best[size] = min(first, self._best.get(size, first), key=lambda one: (known[one], one))
            reach = max(NEAR * self._scale(best), REACH * (self.tolerance or 0.0))
            known.update((support, loss) for support, loss in own.items() if loss <= known[best] + reach)

    def _may_be_kept(self, support: Support) -> bool:
        is_small = len(support) > 0 and self.size(support) <= self.max_size
        return is_small and not self.unread(support)

    def unread(self, support: Support) -> int:
        """How many of the requirements on features a model does not meet."""
        return sum(some.isdisjoint(self.features(support)) for some in self._required) if self._required else 0

    def fit(self, supports: Sequence[Support]) -> Evaluation:
        """Supports as the engine fits them."""
        self.n_fitted += len(supports)
        self._work += sum(self._cost(len(support)) for support in supports)
        return self._engine.evaluate(packed(supports))

    def _cost(self, n_terms: int) -> float:
        return float(self._problem.target.size * (n_terms + 1) ** 2)

    def row_losses(self, supports: Sequence[Support]) -> FloatArray:
        """Approximate leave-one-out losses (model, row)."""
        losses = np.empty((len(supports), self._problem.target.size))
        result = self._engine.evaluate(packed(supports))
        sizes = result.supports.sizes
        for size in np.unique(sizes).tolist():
            own = np.flatnonzero(sizes == size)
            step = max(1, STACK_BYTES // (8 * losses.shape[1] * max(size, 1)))
            for first in range(0, own.size, step):
                part = own[first : first + step]
                chosen = result.supports.take(part)
                for a, b in load_in_parts(self._store.capacity, chosen):
                    coef = np.stack([result.coef[slice(*result.supports.indptr[m : m + 2])] for m in part[a:b]])
                    losses[part[a:b]] = self._stacked_losses(chosen.ids.reshape(-1, size)[a:b], coef)
        return losses

    def _stacked_losses(self, ids: IntArray, coef: FloatArray) -> FloatArray:
        """Of models with the same number of terms."""
        target, weight, store = self._problem.target, self._problem.weight, self._store
        slots = slots_of(store, ids.ravel()).reshape(ids.shape)
        terms, penalty = store.columns[slots], self._problem.options.ridge * store.variance[slots]
        with one_blas_thread(), np.errstate(over="ignore"):
            predictor, _, hessian = derivatives(terms, target, weight, penalty, coef)
            left_out = leave_one_out(terms, invert(factorise(hessian)), predictor, target, weight)
        return np.asarray(-log_expit(target * left_out))

    def mean(self, losses: FloatArray) -> FloatArray:
        """Weighted means over the rows."""
        return np.asarray((losses * self._problem.weight).sum(axis=-1) / self._problem.weight.sum())

    def error(self, losses: FloatArray) -> FloatArray:
        """Standard errors of these means."""
        spread = np.square(losses - self.mean(losses)[:, None])
        return np.asarray(np.sqrt(self.mean(spread) / self._problem.weight.sum()))

    # ---- exploration

    def climb(self) -> None:
        """Try all terms of the pool in the very best models of all sizes; keep the terms that did best there."""
        self.improve(N_BEST)
        if self.pool.size > N_TRIED:
            excess = dict.fromkeys(self.pool.tolist(), np.inf)
            for size, known in self._by_size.items():
                least = known[self.best(size)]
                for support, loss in known.items():
                    excess.update((j, min(loss - least, excess.get(j, np.inf))) for j in support)
            self.pool = np.sort(np.array(sorted(excess, key=lambda j: (excess[j], j))[:N_TRIED], dtype=np.int64))

    def improve(self, most: int) -> None:
        """Extend the rests of the best `most` models of every size until these stay the same."""

        def best(size: int) -> list[Support]:
            known = self._by_size[size]
            return self._varied((known[one], one) for one in nsmallest(AT_ONCE * most, known, key=known.__getitem__))

        while self._work < self._most_work and self._extend(one for size in self.sizes for one in best(size)[:most]):
            pass

    def _every(self, sizes: Collection[int]) -> Iterator[Support]:
        """All models of these sizes if they are few and no term requires another, else none."""
        requirements = self.search.requirements
        always = set() if requirements is None else requirements.forced
        free = [j for j in self.pool.tolist() if j not in always]
        lengths = range(self.max_size + 2 - len(always))  # with a constant that is free
        n_models = sum(comb(len(free), length) for length in lengths)
        is_free = requirements is None or requirements.only_forces
        if is_free and n_models <= MOST_ENUMERATED and n_models * self._cost(self.max_size) <= self._most_work / 2:
            for some in chain.from_iterable(combinations(free, length) for length in lengths):
                support = tuple(sorted({*always, *some}))
                if self.size(support) in sizes:
                    yield support

    def complete(self, sizes: Collection[int], most: int) -> bool:
        """Extend the rests of `most` good models of these sizes until nothing new is found; whether it came to that."""
        self.ask(self._every(sizes))
        while self._work < self._most_work:
            good = (self.good(size, most, REACH)[:most] for size in sizes)
            todo = ([one for one in own if not self._extended.issuperset(self.rests(one))][:AT_ONCE] for own in good)
            if not self._extend(chain.from_iterable(todo)):
                return True
        return False

    def _extend(self, supports: Iterable[Support]) -> bool:
        """Fit all models that differ from these by a term; whether there were any new."""
        rests = dict.fromkeys(rest for one in supports for rest in self.rests(one) if rest not in self._extended)
        self._extended.update(rests)
        self.ask(rests)
        self.ask(one for rest in rests for one in self.grown(rest))
        return bool(rests)

    def rests(self, support: Support) -> list[Support]:
        """The model less what can be removed at once, and the model itself if it may grow."""
        units = removable_units(np.array(support, dtype=np.int64), self.search.requirements)
        rests = [tuple(j for j in support if j not in unit) for unit in units]
        return [*rests, support] if self.size(support) < self.max_size else rests

    def grown(self, rest: Support) -> Iterator[Support]:
        """The rest with each term of the pool, and what this requires."""
        requirements, held = self.search.requirements, set(rest)
        for j in self.pool.tolist():
            needs = frozenset({j}) if requirements is None else requirements.needs(j)
            if j not in held and needs is not None:
                yield tuple(sorted(held | needs))


def packed(supports: Sequence[Support]) -> Supports:
    """A batch of supports that are in order already."""
    indptr = np.concatenate(([0], np.cumsum([len(support) for support in supports]))).astype(np.int64)
    return Supports(indptr, np.fromiter(chain.from_iterable(supports), dtype=np.int64, count=int(indptr[-1])))


def pool_of(search: OutputSearch, met: Sequence[IntArray], answer: IntArray) -> IntArray:
    """Terms to try: all if they are few, else those met and those that fit best beside what is left of the answer."""
    n_terms, n_rows = search.space.n_terms, search.problem.target.size
    most = max(POOL_VALUES // n_rows, LEAST_POOL)
    if n_terms <= most:
        return np.arange(n_terms)
    ids, count = np.unique(np.concatenate([answer, *met]), return_counts=True)
    spec = search.job.spec
    screening = Screening(search.problem, spec.max_terms, search.requirements, spec.n_threads, SCREENING_SECONDS)
    rests = [answer, *(answer[answer != j] for j in answer.tolist() if j != CONSTANT and answer.size > 1)]
    result = search.evaluated(rests)
    offered = [screening.strongest(Candidate.at(result, m)).tolist() for m in range(len(rests))]
    in_turn = chain.from_iterable(zip_longest(*offered, fillvalue=CONSTANT))
    ranked = dict.fromkeys([*answer.tolist(), *ids[np.argsort(-count, kind="stable")].tolist(), *in_turn])
    return np.sort(np.array(list(ranked)[:most], dtype=np.int64))
