"""Rules such as age>60 and 2<lactate<=4: conditions on one feature each that hold together.

A feature with cuts k_1 < ... < k_m has the conditions x>k_1, ..., x>k_m, then x<=k_1, ..., x<=k_m, then x=v for its
levels v, then k_i<x<=k_j but for those that hold a single level. A feature of two integers has x=high and x=low alone.
Conditions are numbered feature by feature. Terms come in this order: single conditions, without those that are the
opposite of another one; pairs of conditions of two features, by the first condition, then by the second, which belongs
to a later feature; and triples, by the first condition, then by the pair of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.validation import check_count
from .expression import Condition, Scaled, product
from .naming import name_of
from .score_tests import PAIR_FEATURES, Block, Part, ScoreTest, column_part
from .space import TermSpace, Training, checked_ids, checked_size, mentioned
from .steps import choose_cuts, list_levels, place_cuts, sorted_blocks
from .term import Term

MOST_KNOTS = 50
MOST_CONDITIONS = 3
PAIR_EFFORT = 0.4  # time for a pair and a row, relative to that for a product of two features
NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """Conditions low < x <= high, where one end may be infinite, or x = low if both ends are equal."""

    feature: IntArray
    low: FloatArray  # of the scaled feature
    high: FloatArray
    shown_low: FloatArray  # in the user's own units
    shown_high: FloatArray
    same: IntArray  # the condition that stands alone for this one: it tells the same, or the opposite
    plus: IntArray  # a condition and, below, one that is taken away from it, the difference of which this one is;
    minus: IntArray  # NONE stands for the condition that always holds, then for that which never does

    @property
    def is_interval(self) -> BoolArray:
        """Whether both ends are cuts."""
        return np.asarray((self.plus != NONE) & (self.minus != NONE))

    def columns(self, table: FloatArray, which: IntArray) -> FloatArray:
        """1.0 where a condition holds, one row for each."""
        x, low, high = table[self.feature[which]], self.low[which][:, None], self.high[which][:, None]
        return np.where(low == high, x == low, (x > low) & (x <= high)).astype(np.float64)

    def expressions(self, which: int) -> list[Condition]:
        """As parts of a term: one, or two for an interval."""
        x, low, high = Scaled(int(self.feature[which])), float(self.low[which]), float(self.high[which])
        if low == high:
            return [Condition(x, "=", low, float(self.shown_low[which]))]
        above = [Condition(x, ">", low, float(self.shown_low[which]))] if low > -np.inf else []
        return above + ([Condition(x, "<=", high, float(self.shown_high[which]))] if high < np.inf else [])


class RuleSpace(TermSpace):
    """All rules of at most `max_conditions` conditions."""

    def __init__(self, conditions: Conditions, max_conditions: int) -> None:
        self.conditions = conditions
        n = conditions.feature.size
        self._first = np.flatnonzero(np.diff(conditions.feature, prepend=-1))  # condition of every feature
        self._end = np.append(self._first[1:], n)[: self._first.size]
        self._later = n - self._end  # conditions of later features
        self.alone = np.flatnonzero(conditions.same == np.arange(n))
        n_own = self._end - self._first
        n_pairs = n_own * self._later * (max_conditions > 1)
        self._pairs = self.alone.size + np.append(0, np.cumsum(n_pairs))  # first of every feature
        self._later_pairs = self._pairs[-1] - self._pairs[1:]
        more = zip(n_own.tolist(), self._later_pairs.tolist(), strict=True)  # may be more than 64 bits hold
        n_triples = [own * later * (max_conditions > 2) for own, later in more]
        self.n_terms = checked_size(int(self._pairs[-1]) + sum(n_triples))
        self._triples = self._pairs[-1] + np.append(0, np.cumsum(np.array(n_triples, dtype=np.int64)))

    def held(self, ids: IntArray) -> IntArray:
        """Conditions of every term, shape (n_ids, 3), ascending; NONE fills up shorter rules."""
        ids = checked_ids(ids, self.n_terms)
        out = np.full((ids.size, MOST_CONDITIONS), NONE)
        kind = np.searchsorted([self._pairs[0], self._triples[0]], ids, side="right")
        single, pair, triple = (np.flatnonzero(kind == k) for k in range(MOST_CONDITIONS))
        out[single, 0] = self.alone[ids[single]]
        out[pair, :2] = self._pair(ids[pair])
        group = np.searchsorted(self._triples, ids[triple], side="right") - 1
        first, rest = np.divmod(ids[triple] - self._triples[group], self._later_pairs[group])
        out[triple, 0] = self._first[group] + first
        out[triple, 1:] = self._pair(self._pairs[group + 1] + rest)
        return out

    def _pair(self, ids: IntArray) -> IntArray:
        group = np.searchsorted(self._pairs, ids, side="right") - 1
        first, second = np.divmod(ids - self._pairs[group], self._later[group])
        return np.stack([self._first[group] + first, self._end[group] + second], axis=1)

    def pair_ids(self, one: IntArray, other: IntArray) -> IntArray:
        """Ids of the rules of two conditions, the second of a later feature."""
        group = np.searchsorted(self._end, one, side="right")
        row = (one - self._first[group]) * self._later[group]
        return np.asarray(self._pairs[group] + row + other - self._end[group])

    def rank(self, held: Sequence[int]) -> int:
        """Id of the rule of one condition, or of two or three of different features."""
        one, *rest = sorted(held)
        if not rest:
            return int(np.searchsorted(self.alone, self.conditions.same[one]))
        if len(rest) == 1:
            return int(self.pair_ids(np.array([one]), np.array(rest))[0])
        group = int(np.searchsorted(self._end, one, side="right"))
        row = (one - self._first[group]) * self._later_pairs[group]
        return int(self._triples[group] + row + self.rank(rest) - self._pairs[group + 1])

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        held = self.held(ids)
        out = self.conditions.columns(table, held[:, 0])
        for which in held.T[1:]:
            present = np.flatnonzero(which != NONE)
            out[present] *= self.conditions.columns(table, which[present])
        return out

    def term(self, j: int) -> Term:
        held = self.held(np.array([j]))[0]
        by_feature = sorted(held[held != NONE].tolist(), key=lambda which: int(self.conditions.feature[which]))
        return Term(product(*(part for which in by_feature for part in self.conditions.expressions(which))))

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the rule with this name, its conditions in any order; None if there is none."""
        of, held_alone = self.conditions.feature, set(self.alone.tolist())
        some = np.flatnonzero(np.isin(of, mentioned(name, np.unique(of), feature_names))).tolist()
        by_name = {name_of(product(*self.conditions.expressions(which)), feature_names): which for which in some}
        cuts = [i for i in range(len(name)) if name.startswith(" and ", i)]
        for chosen in (chosen for n in range(MOST_CONDITIONS) for chosen in combinations(cuts, n)):
            ends = zip([0, *(i + len(" and ") for i in chosen)], [*chosen, len(name)], strict=True)
            held = [by_name[name[a:b]] for a, b in ends if name[a:b] in by_name]
            is_rule = len(held) == np.unique(of[held]).size == len(chosen) + 1 and (chosen or held[0] in held_alone)
            if is_rule and (j := self.rank(held)) < self.n_terms:
                return j
        return None

    @property
    def singles(self) -> tuple[IntArray, IntArray]:
        return np.arange(self.alone.size), self.conditions.feature[self.alone]

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        held = [[which for which in row if which != NONE] for row in self.held(ids).tolist()]
        return [tuple(self.rank(rest) for rest in combinations(own, len(own) - 1) if rest) for own in held]

    def parts(self, table: FloatArray, weight: FloatArray) -> list[Part]:  # noqa: ARG002  tests weigh the rows
        pairs, triples = int(self._pairs[0]), int(self._triples[0])
        simple = np.flatnonzero(~self.conditions.is_interval)
        _, n_own = np.unique(self.conditions.feature[simple], return_counts=True)
        n_simple = int(simple.size**2 - np.square(n_own).sum()) // 2 if triples > pairs else 0
        every = np.arange(self.conditions.feature.size)
        return [
            column_part(self.columns, table, 0, pairs),
            # many more rules hold an interval, so that the best of them is better by chance
            Part(lambda: self._blocks(table, simple, intervals=False), n_simple, PAIR_EFFORT),
            Part(lambda: self._blocks(table, every, intervals=True), triples - pairs - n_simple, PAIR_EFFORT),
            column_part(self.columns, table, triples, self.n_terms),
        ]

    def _blocks(self, table: FloatArray, which: IntArray, *, intervals: bool) -> Iterable[Block]:
        """All pairs of some conditions, by ranges of features with some hundred of them."""
        starts = np.searchsorted(which, self._first)
        ranges = np.split(which, starts[1:][np.diff(starts // PAIR_FEATURES) > 0])
        return (RuleBlock(self, table, *pair, intervals) for pair in combinations_with_replacement(ranges, 2))


@dataclass(frozen=True, slots=True, eq=False)
class RuleBlock:
    """Rules of two conditions, one from each of two ranges, the same or one behind the other."""

    space: RuleSpace
    table: FloatArray
    left: IntArray
    right: IntArray
    intervals: bool  # whether only rules with an interval count

    def statistics(self, test: ScoreTest, least: float) -> FloatArray:
        """Of every pair, but any below `least` may be 0; those that are no rule or do not count are negative."""
        conditions = self.space.conditions
        (left, a), (right, b) = (_differences(conditions, side) for side in (self.left, self.right))

        def sums(some: slice) -> tuple[FloatArray, ...]:
            table = self.table[:, some]
            always = np.ones((1, table.shape[1]))
            one, other = (np.concatenate([conditions.columns(table, side), always]) for side in (left, right))
            return test.sums_of_pairs(one, other, some)

        rab, cab, ra, ca, rb, cb = test.over_rows(sums)
        found = test.of_conjunctions((a @ rab @ b.T, a @ cab @ b.T, a @ ra, a @ ca, b @ rb, b @ cb), least)
        counts = conditions.feature[self.left][:, None] != conditions.feature[self.right]
        if self.left[0] == self.right[0]:
            counts &= self.left[:, None] < self.right
        if self.intervals:
            one, other = (conditions.is_interval[side] for side in (self.left, self.right))
            counts &= one[:, None] | other
        return np.where(counts.ravel(), found, -1.0)

    def ids(self, entries: IntArray) -> IntArray:
        """Ids of the rules at these entries of the statistics."""
        i, j = np.divmod(entries, self.right.size)
        return self.space.pair_ids(self.left[i], self.right[j])


def _differences(conditions: Conditions, which: IntArray) -> tuple[IntArray, FloatArray]:
    """A few conditions and a matrix that makes the columns of others out of theirs and, last, that of ones."""
    plus, minus = conditions.plus[which], conditions.minus[which]
    few = np.setdiff1d(np.concatenate([plus, minus]), [NONE])
    place = np.arange(which.size)
    matrix = np.zeros((which.size, few.size + 1))
    matrix[place, np.where(plus == NONE, few.size, np.searchsorted(few, plus))] = 1.0
    taken = minus != NONE
    matrix[place[taken], np.searchsorted(few, minus[taken])] = -1.0
    return few, matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Rules: conditions on one, two or three features that hold together.

    Parameters
    ----------
    n_knots : int, default=8
        Weighted quantiles at which a feature may be cut, from 1 to 50 (pairs of intervals grow with its fourth power);
        a feature with at most one more distinct values is cut everywhere. A condition is ``x>4``, ``x<=4`` or
        ``2<x<=4``. Features with at most 10 distinct values, all of them integers, also offer ``x=3``.
    max_conditions : int, default=2
        Most features in one rule, from 1 to 3.
    """

    n_knots: int = 8
    max_conditions: int = 2

    def __post_init__(self) -> None:
        check_count("n_knots", self.n_knots, most=MOST_KNOTS)
        check_count("max_conditions", self.max_conditions, most=MOST_CONDITIONS)

    def space(self, training: Training, rng: np.random.Generator) -> RuleSpace:  # noqa: ARG002  no randomness needed
        """Place the cuts and list the levels."""
        parts: list[Conditions] = []
        n_before = 0
        for features, values, cumulative in sorted_blocks(training):
            cut = choose_cuts(values, cumulative, int(self.n_knots))
            of_two = (values[:, 1:] > values[:, :-1]).sum(axis=1) == 1
            levels = list_levels(features, values, cut & ~of_two[:, None], training.scaling)
            cut[of_two & np.isin(features, levels[0])] = False
            cuts = place_cuts(features, values, cut, training.scaling)
            of_cuts, of_levels = _runs(cuts[0]), _runs(levels[0])
            for feature in features.tolist():
                own_cuts = [part[of_cuts.get(feature, slice(0))] for part in cuts[1:]]
                own_levels = [part[of_levels.get(feature, slice(0))] for part in levels[1:]]
                parts.append(_conditions(feature, own_cuts, own_levels, n_before))
                n_before += parts[-1].feature.size
        empty = Conditions(*(np.empty(0, kind) for kind in (np.int64, *[np.float64] * 4, *[np.int64] * 3)))
        joined = (np.concatenate([getattr(part, one.name) for part in (empty, *parts)]) for one in fields(Conditions))
        return RuleSpace(Conditions(*joined), int(self.max_conditions))


def _runs(of: IntArray) -> dict[int, slice]:
    """Where the entries of every feature are, which stand together."""
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    return {int(of[a]): slice(a, b) for a, b in pairwise([*starts.tolist(), of.size])}


def _conditions(feature: int, cuts: Sequence[FloatArray], levels: Sequence[FloatArray], first: int) -> Conditions:
    """All conditions of a feature; its cuts and levels are given in scaled and in the user's own units."""
    m, n_levels = cuts[0].size, levels[0].size
    i, j = np.triu_indices(m, 1)
    up_to = np.searchsorted(levels[0], cuts[0], side="right")  # so many levels are not above each cut
    i, j = i[up_to[j] - up_to[i] != 1], j[up_to[j] - up_to[i] != 1]
    above, at_most, equal, between = np.split(first + np.arange(2 * m + n_levels + i.size), np.cumsum([m, m, n_levels]))

    def ends(k: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        far = np.full(m, np.inf)
        return np.concatenate([k, -far, v, k[i]]), np.concatenate([far, k, v, k[j]])

    (low, high), (shown_low, shown_high) = map(ends, cuts, levels)
    alone = equal if m else np.full(n_levels, equal[-1])  # without cuts there are two levels
    same = np.concatenate([above, above, alone, between])
    plus = np.concatenate([np.full(m, NONE), at_most, equal, at_most[j]])
    minus = np.concatenate([at_most, np.full(m + n_levels, NONE), at_most[i]])
    return Conditions(np.full(low.size, feature), low, high, shown_low, shown_high, same, plus, minus)
