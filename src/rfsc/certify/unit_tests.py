"""Does the unseen half of the rows need a unit of a model: a cluster of features, a feature, or a term?

A term that reads a unit may be useful without it: on [0, 1], the product of x1 and x6 stands in for x1, a bend of x1
for a straight effect, and a feature for one that it is correlated with. So a unit has to beat what can be had without
it: the *reducts* of its terms, which lack their factors, or their part of a distance, that read the unit, and straight
effects of the features if the unit is a term; the *substitutes*, which read other members of the cluster in place of a
feature of the unit; and its *neighbours*, the other features that are most correlated with its terms. All are in the
model with the unit and in the model without it, and Rao's score test compares the two; it fits only the smaller one, so
a unit that separates the classes has a p-value too. If there are too few rows for all of them, nothing can be said of
the unit: it has no p-value.

Of rows in groups, such as visits of a patient, the groups are the observations: the scores of a group are summed, and
their variance is estimated from these sums, whatever the rows of a group have in common.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.special import expit
from scipy.stats import beta, chi2, rankdata

from .._model.inference import refit
from .._terms import Term
from .._terms.expression import (
    Condition,
    Expression,
    Number,
    Product,
    Scaled,
    Sum,
    Wave,
    evaluate,
    features_of,
    parts_of,
    product,
)
from .._terms.naming import rebuilt
from .._utils.arrays import BoolArray, FloatArray, IntArray

N_NEIGHBOURS = 3  # features outside of its cluster that are most correlated with the terms of a unit
CORRELATED = 0.5  # least absolute rank correlation of such a feature
EVENTS_PER_COLUMN = 3.0  # rows (or groups) of the smaller class that each column of a test takes at least
SEPARABLE = 1e-4  # ridge of the smaller model, as a multiple of the variance of a column
DEPENDENT = 1e-6  # share of a column that others leave over, from which it counts as their combination
MOST_FACTORS = 6  # of a term whose sub-products are all tried


@dataclass(frozen=True, eq=False)
class UnseenRows:
    """One output on rows that its model has not seen."""

    table: FloatArray  # (n_features, n_rows), scaled as for the model
    target: FloatArray  # -1 or +1
    weight: FloatArray
    cluster_of: Sequence[Hashable]  # for each feature
    groups: IntArray | None = None  # from 0 on; None: every row is an observation of its own

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return 0 if self.groups is None else int(self.groups.max()) + 1

    def of_groups(self, values: FloatArray) -> FloatArray:
        """The sums over each group of some values, (value, row) to (value, group)."""
        assert self.groups is not None
        return np.array([np.bincount(self.groups, own, self.n_groups) for own in values])

    @cached_property
    def events(self) -> float:
        """Observations, or groups with observations, of the smaller class."""
        is_class = self.target > 0

        def count(own: BoolArray) -> float:
            return float(self.weight[own].sum()) if self.groups is None else float(np.unique(self.groups[own]).size)

        return min(count(is_class), count(~is_class))

    def columns(self, expressions: Iterable[Expression]) -> FloatArray:
        """Values of expressions, one row for each."""
        n_rows = self.table.shape[1]
        values = [np.broadcast_to(evaluate(one, self.table), n_rows) for one in expressions]
        return np.array(values).reshape(len(values), n_rows)

    def cluster(self, feature: int) -> frozenset[int]:
        """The features that may stand in for one, with itself."""
        return frozenset(j for j, own in enumerate(self.cluster_of) if own == self.cluster_of[feature])

    @cached_property
    def _ranks(self) -> FloatArray:
        """Of all features: every unit is compared with them."""
        return unit_ranks(self.table)

    def neighbours(self, columns: FloatArray, known: frozenset[int]) -> list[int]:
        """The features that are most correlated with some columns, except those that are known."""
        rho = np.abs(self._ranks @ unit_ranks(columns).T).max(axis=1)
        rho[list(known)] = 0.0
        best = np.argsort(-rho, kind="stable")[:N_NEIGHBOURS]
        return [int(j) for j in best if rho[j] >= CORRELATED]


def feature_p_value(features: frozenset[int], terms: Sequence[Term], rows: UnseenRows) -> float | None:
    """P-value of a feature or a cluster in the model with these terms, 1 if it reads none; None for too few rows."""
    touched = [term for term in terms if features & set(term.features)]
    reducts = [_without_features(term.expression, features) for term in touched]
    return _p_value(touched, terms, [one for one in reducts if one is not None], features, rows)


def term_p_value(touched: Sequence[Term], terms: Sequence[Term], rows: UnseenRows) -> float | None:
    """P-value of some of the terms of a model together, or None; they have to beat their plainer forms.

    A product has to beat its parts, and a bend, step or wave straight effects of its features.
    """
    parts = [one for term in touched for one in _sub_products(term.expression)]
    bent = sorted({feature for term in touched for feature in _bent(term.expression)})
    # of a feature with two values every function is straight
    parts += [Scaled(j) for j in bent if np.unique(rows.table[j]).size > 2]
    return _p_value(touched, terms, parts, frozenset().union(*(term.features for term in touched)), rows)


def _p_value(
    touched: Sequence[Term],
    terms: Sequence[Term],
    reducts: Sequence[Expression],
    features: frozenset[int],
    rows: UnseenRows,
) -> float | None:
    if not touched:
        return 1.0
    tested = [term.expression for term in touched]
    others = [term.expression for term in terms if term.features and term not in touched]
    every = dict.fromkeys([Number(1.0), *others, *reducts, *_substitutes(tested, features, rows)])
    beside = [one for one in every if one not in tested]
    if len(tested) + len(beside) > int(rows.events / EVENTS_PER_COLUMN):
        return None
    return score_test(rows.columns(beside), rows.columns(tested), rows)


def score_test(beside: FloatArray, tested: FloatArray, rows: UnseenRows) -> float | None:
    """Rao's score test of columns beside others, which are fitted without them, corrected for few rows.

    1 if nothing is left to test because all columns are combinations of the others; None if too few rows are open.
    """
    weight, target = rows.weight, rows.target
    share = weight / weight.sum()
    kept = _independent(beside * np.sqrt(weight))
    beside = beside[kept]
    spread = (share * np.square(beside - (beside * share).sum(axis=1)[:, None])).sum(axis=1)
    fit = refit(beside, target, weight, SEPARABLE * spread, np.zeros(len(beside)))
    f = np.einsum("j,jk->k", fit.coef, beside)
    root = np.sqrt(weight * expit(f) * expit(-f))
    if not np.all(root > 0.0):
        return None
    residual = weight * target * expit(-target * f) / root
    q, _ = np.linalg.qr((beside * root).T)
    scaled = (tested * root).T
    left = scaled - q @ (q.T @ scaled)
    left -= q @ (q.T @ left)  # once more: what the first pass leaves over of the others is rounding
    lengths = np.linalg.norm(scaled, axis=0)
    left = left[:, np.linalg.norm(left, axis=0) > DEPENDENT * lengths]
    if left.shape[1] == 0:
        return 1.0
    u, size, _ = np.linalg.svd(left / np.linalg.norm(left, axis=0), full_matrices=False)
    rank = int(np.count_nonzero(size > DEPENDENT * size[0]))
    # fitted probabilities are too extreme and the statistic is too large, by about the share of columns in what the
    # rows are worth: an observation of probability 1/2 counts as one, one that is certain as none (simulated)
    overfit = (len(beside) + rank) / (4.0 * np.square(root).sum())
    if rows.groups is None:
        statistic = np.square(u[:, :rank].T @ residual).sum()
        return float(chi2.sf((1.0 - overfit) * statistic, rank)) if overfit < 1.0 else None
    n_groups = rows.n_groups
    overfit *= rows.weight.sum() / n_groups
    if overfit >= 1.0 or rank >= n_groups:
        return None
    sums = rows.of_groups(u[:, :rank].T * residual)
    total = sums.sum(axis=1)
    statistic = total @ np.linalg.lstsq(sums @ sums.T, total)[0]  # at most n_groups; of normal sums, a beta variable
    return float(beta.sf((1.0 - overfit) * statistic / n_groups, rank / 2.0, (n_groups - rank) / 2.0))


def unit_ranks(columns: FloatArray) -> FloatArray:
    """Ranks around zero, of length one; zeros for a column that does not vary."""
    ranks = rankdata(columns, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    return np.asarray(ranks / np.maximum(np.linalg.norm(ranks, axis=1, keepdims=True), 1e-300))


def _independent(columns: FloatArray) -> list[int]:
    """Columns, one after the other, that are no combination of those before."""
    kept: list[int] = []
    basis = np.empty((0, columns.shape[1]))
    for j, column in enumerate(columns):
        left = column - basis.T @ (basis @ column)
        left -= basis.T @ (basis @ left)
        length = np.linalg.norm(left)
        if length > DEPENDENT * np.linalg.norm(column):
            kept.append(j)
            basis = np.vstack([basis, left / length])
    return kept


def _without_features(node: Expression, features: frozenset[int]) -> Expression | None:
    """What is left of a term without some features, of a product or of a distance; None if nothing is."""
    if not features & features_of(node):
        return node
    match node:
        case Product(parts) | Sum(parts):
            left = [_without_features(part, features) for part in parts]
            kept = tuple(part for part in left if part is not None)
            rest = replace(node, parts=kept) if len(kept) > 1 else kept[0] if kept else None
        case Number() | Scaled():
            return None
        case _:
            part = _without_features(node.part, features)
            rest = None if part is None else replace(node, part=part)
    return rest if rest is not None and features_of(rest) else None


def _sub_products(node: Expression) -> list[Expression]:
    """The products of some, but not all, factors of a term."""
    factors = node.parts[:MOST_FACTORS] if isinstance(node, Product) else ()
    return [product(*some) for n in range(1, len(factors)) for some in combinations(factors, n)]


def _bent(node: Expression) -> frozenset[int]:
    """The features that a term reads otherwise than in sums and products."""
    if isinstance(node, Product | Sum):
        return frozenset().union(*map(_bent, node.parts))
    return frozenset() if isinstance(node, Number | Scaled) else frozenset(features_of(node))


def _substitutes(tested: Sequence[Expression], features: frozenset[int], rows: UnseenRows) -> list[Expression]:
    """The tested terms with other members of its cluster in the place of a feature, and lines in the neighbours."""
    known = frozenset().union(features, *(rows.cluster(feature) for feature in features))
    members = [
        _exchanged(node, {feature: other})
        for node in tested
        for feature in sorted(features & features_of(node))
        for other in sorted(rows.cluster(feature) - features)
    ]
    return [*members, *map(Scaled, rows.neighbours(rows.columns(tested), known))]


def _exchanged(node: Expression, features: Mapping[int, int]) -> Expression:
    """An expression of other features, on the same scale."""
    if isinstance(node, Scaled):
        return Scaled(features.get(node.feature, node.feature))
    return rebuilt(node, lambda part: _exchanged(part, features))


def shape(node: Expression) -> Hashable:
    """What terms of different halves have in common: all but their numbers, which depend on the rows."""
    match node:
        case Number():
            return "number"
        case Scaled(feature):
            return feature
        case Condition(part, "=" as relation, at):
            return relation, at, shape(part)
        case Condition(part, relation):
            return relation, shape(part)
        case Wave(kind, part):
            return kind, shape(part)
    return type(node).__name__, *(shape(part) for part in parts_of(node))
