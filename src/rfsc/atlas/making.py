"""`atlas`: the models near the best of every size, their features and their exchanges."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np

from .._fit.fitting import notable_ids
from .._utils.arrays import FloatArray, IntArray
from .._utils.validation import check_count
from ..certify.certifying import correlation_clusters
from ..explain.equation import equation
from ..explain.front import DIGITS
from .collection import Atlas, AtlasSettings, OutputMap
from .exploring import MOST_WORK, Exploration, Support, pool_of
from .model_tables import IN_ALL, IN_SOME, FeatureUseTable, ModelTable, SwapTable
from .source import Source
from .wishes import Wish, explored_under

THOUSANDTHS = 1000.0
LEAST_EXPLORED = 500  # models, also if fewer are kept: what is in all of them depends on those that are not
CHECK_WORK = 0.05  # of the work of an exploration, for the question whether a feature can be done without
WITHOUT_TERMS = math.log(2.0)  # loss of a model without any term


def atlas(
    clf: Any, X: Any, y: Any, tolerance: float | str = "1se", max_models: int = 500, *, sample_weight: Any = None
) -> Atlas:
    """Collect the models that are as good as the best of their size.

    The models that the searches of a fit came upon are improved and completed by exchanges of one term, until nothing
    new within the tolerance is found or a budget of fits is spent. Sizes go from the smallest one whose best model is
    within the tolerance of the answer up to that of the answer.

    Parameters
    ----------
    clf : RFSCClassifier or Pipeline
        Fitted; a pipeline must end in an RFSCClassifier. Its restrictions hold for all models.
    X : array-like or data frame of shape (n_samples, n_features)
        The rows that it was fitted to.
    y : array-like of shape (n_samples,)
        Their classes.
    tolerance : "1se" or float, default="1se"
        By how much the mean log-loss of left-out rows (approximate leave-one-out) may be above that of the best model
        of the same size. "1se" is one paired standard error of this difference.
    max_models : int, default=500
        Largest number of models to keep, shared by the outputs and the sizes: the best of each set of features first.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the fit, if it had any.

    Returns
    -------
    Atlas
        Models, features, exchanges, and answers to wishes.
    """
    allowed = _tolerance(tolerance)
    check_count("max_models", max_models)
    source = Source(clf, X, y, sample_weight)
    n_outputs = len(source.searches)
    share = max(1, int(max_models) // n_outputs)
    clusters = correlation_clusters(source.rows.table.T)
    maps = [_explored(source, output, allowed, share, clusters) for output in range(n_outputs)]
    importance = np.concatenate([_importance(one, len(source.names.features)) for one in maps])
    settings = _settings(source, maps, tolerance if allowed is None else allowed, int(max_models))
    features, swaps = _features(source, maps, importance), _swaps(source, maps)
    models = _models(source, maps)
    return Atlas(models, features, swaps, importance, source.names.features, clusters, settings, source, maps)


def _settings(source: Source, maps: Sequence[OutputMap], tolerance: float | str, max_models: int) -> AtlasSettings:
    known = ("sizes", "n_fitted", "is_closed", "is_cut")
    return AtlasSettings(
        tolerance=tolerance,
        max_models=max_models,
        n_rows=source.rows.n_rows,
        classes=tuple(str(label) for label in source.clf.classes_),
        n_tried=tuple(own.pool.size for own in maps),
        n_terms=tuple(search.space.n_terms for search in source.searches),
        **{name: tuple(getattr(own, name) for own in maps) for name in known},
    )


def _tolerance(given: Any) -> float | None:
    """The tolerance in log-loss; None for one standard error."""
    if isinstance(given, str) and given == "1se":
        return None
    if isinstance(given, bool) or not isinstance(given, Real) or not 0.0 <= float(given) < np.inf:
        msg = f'tolerance must be "1se" or a number of at least 0, got {given!r}.'
        raise ValueError(msg)
    return float(given)


# ---- exploration


def begun(source: Source, output: int, tolerance: float | None) -> tuple[Exploration, IntArray]:
    """The models of one output that the searches of the fit came upon, and the terms to try."""
    search, answer, fit = source.searches[output], source.answers[output], source.clf._fits[output]
    if not answer:
        msg = "the answer has no term, not even the intercept, so there is nothing to compare other models with."
        raise ValueError(msg)
    visited = [ids for one in fit.searches for ids in (one.model.ids, *one.leaders)]
    ids = np.array(answer, dtype=np.int64)
    pool = pool_of(search, [*visited, notable_ids(fit, ids)], ids)
    found = Exploration(search, pool, int(np.count_nonzero(ids)), tolerance)
    found.ask([answer, *(tuple(one.tolist()) for one in (*visited, *(model.ids for model in fit.models)))])
    return found, pool


def _explored(source: Source, output: int, tolerance: float | None, most: int, clusters: IntArray) -> OutputMap:
    """The models of one output."""
    search, answer = source.searches[output], source.answers[output]
    found, pool = begun(source, output, tolerance)
    found.climb()
    sizes, n_looked = _sizes(found, answer), max(most, LEAST_EXPLORED)
    is_closed = found.complete(sizes, n_looked)
    forced = frozenset() if search.requirements is None else search.requirements.forced
    needed = [frozenset(np.flatnonzero(clusters == c).tolist()) for c in np.unique(clusters)]
    needed += [frozenset({p}) for some in needed if len(some) > 1 for p in some]
    needed = _read_by_all(needed, found, sizes, n_looked)
    for some in needed:  # a model without these features may be several exchanges away
        if some & found.features(forced):
            continue
        begin = map(found.best, found.sizes)
        wish = Wish(without=tuple(sorted(some)))
        other = explored_under(wish, source, found, found.pool, begin, most_work=CHECK_WORK * MOST_WORK)
        found.ask(map(other.best, other.sizes))
    is_closed = found.complete(sizes, n_looked) and is_closed
    good = {size: found.good(size, n_looked) for size in sizes}
    supports = _shared(good, found, most)
    if answer not in supports:
        supports = [answer, *supports[: most - 1]]
    is_cut = len(supports) < sum(map(len, good.values()))
    needed = [some for some in _read_by_all(needed, found, sizes, n_looked) if some & found.features(answer)]
    in_all = frozenset().union(*(some for some in needed if len(some) == 1))
    in_each = tuple(some for some in needed if len(some) > 1 and not some & in_all)
    fits = source.fitted(search, supports)
    return OutputMap(found, pool, supports, fits, in_all, in_each, sizes, found.n_fitted, is_closed, is_cut)


def _read_by_all(
    some: Sequence[frozenset[int]], found: Exploration, sizes: Sequence[int], most: int
) -> list[frozenset[int]]:
    """Sets of features of which every good model reads a member, also those models that are not kept."""
    read = {found.features(one) for size in sizes for one in found.good(size, most)}
    return [features for features in some if all(features & own for own in read)]


def _sizes(found: Exploration, answer: Support) -> tuple[int, ...]:
    """From the smallest size whose best model is within the tolerance of the answer up to that of the answer."""
    last = found.size(answer)
    best = [found.best(size) for size in found.sizes]
    above = found.differences(answer, best)
    limits = [above[one][1] if found.tolerance is None else found.tolerance for one in best]
    near = [size for size, one, most in zip(found.sizes, best, limits, strict=True) if above[one][0] <= most]
    return tuple(size for size in found.sizes if min(near, default=last) <= size <= last)


def _shared(good: dict[int, list[Support]], found: Exploration, most: int) -> list[Support]:
    """At most so many models, shared by the sizes; largest size first, then the best of each set of features."""
    share: dict[int, int] = {}
    for k, size in enumerate(sorted(good, key=lambda size: len(good[size]))):  # what small ones leave goes to others
        share[size] = min(len(good[size]), (most - sum(share.values())) // (len(good) - k))
    ordered = []
    for size in sorted(good, reverse=True):
        kept = sorted(good[size][: share[size]], key=found.loss)
        first = {found.features(one): one for one in reversed(kept)}
        ordered += sorted(kept, key=lambda one: first[found.features(one)] != one)
    return ordered


# ---- tables


def _models(source: Source, maps: Sequence[OutputMap]) -> ModelTable:
    labels, features, figures = [], [], []
    for own, label, answer in zip(maps, source.labels, source.answers, strict=True):
        found = own.exploration
        beside = found.differences(answer, own.supports)
        for support, fit in zip(own.supports, own.fits, strict=True):
            size = found.size(support)
            above = found.differences(found.best(size), [support])[support]
            figures.append((size, fit.log_loss, *above, beside[support][0], support == answer))
            labels.append(label)
            features.append(tuple(source.names.features[p] for p in sorted(found.features(support))))
    models = [model for output, own in enumerate(maps) for model in source.sparse(output, own.fits)]
    names = ("n_terms", "log_loss", "above_best", "standard_error", "above_answer", "is_answer")
    return ModelTable(
        number=np.arange(len(models)),
        label=None if len(maps) == 1 else tuple(labels),
        features=tuple(features),
        equation=tuple(str(equation(model, digits=DIGITS)) for model in source.as_shown(models)),
        **dict(zip(names, map(np.array, zip(*figures, strict=True)), strict=True)),
    )


def _importance(own: OutputMap, n_features: int) -> FloatArray:
    """By how much the loss of each model (down) rises without each feature (across), in thousandths."""
    found = own.exploration
    places = [(m, p) for m, support in enumerate(own.supports) for p in sorted(found.features(support))]
    rests = [tuple(j for j in own.supports[m] if p not in found.features([j])) for m, p in places]
    asked = sorted({rest for rest in rests if rest})
    loss = dict(zip(asked, found.fit(asked).log_loss.tolist(), strict=True)) if asked else {}
    importance = np.full((len(own.supports), n_features), np.nan)
    for (m, p), rest in zip(places, rests, strict=True):
        importance[m, p] = THOUSANDTHS * (loss.get(rest, WITHOUT_TERMS) - own.fits[m].log_loss)
    return importance


def _features(source: Source, maps: Sequence[OutputMap], importance: FloatArray) -> FeatureUseTable:
    names, labels, uses, figures, first = [], [], [], [], 0
    for label, own in zip(source.labels, maps, strict=True):
        part = importance[first : first + len(own.supports)]
        first += len(own.supports)
        share = (~np.isnan(part)).mean(axis=0)
        used = np.flatnonzero(share)
        least, greatest = np.nanmin(part[:, used], axis=0), np.nanmax(part[:, used], axis=0)
        order = np.lexsort((used, -greatest, -share[used]))
        names += [source.names.features[p] for p in used[order].tolist()]
        labels += [label] * order.size
        uses += [IN_ALL if p in own.in_all else IN_SOME for p in used[order].tolist()]
        figures.append(np.array([share[used], least, greatest])[:, order])
    shares, least, greatest = np.concatenate(figures, axis=1)
    return FeatureUseTable(
        feature=tuple(names),
        label=None if len(maps) == 1 else tuple(labels),
        use=tuple(uses),
        share=shares,
        least=least,
        greatest=greatest,
        unused=tuple(name for name in source.names.features if name not in set(names)),
    )


def _swaps(source: Source, maps: Sequence[OutputMap]) -> SwapTable:
    rows: list[tuple[str, bool, str, str, int, float, float]] = []
    for output, (label, own) in enumerate(zip(source.labels, maps, strict=True)):
        beside: dict[Support, list[tuple[float, int]]] = defaultdict(list)  # what completes a rest, by loss
        for support, fit in zip(own.supports, own.fits, strict=True):
            for j in support:
                beside[tuple(k for k in support if k != j)].append((fit.log_loss, j))
        prices: dict[tuple[int, int], list[float]] = defaultdict(list)
        for ends in beside.values():
            for (loss, j), (other, k) in combinations(sorted(ends), 2):
                if own.exploration.features([j]) and own.exploration.features([k]):
                    pair, price = ((j, k), other - loss) if j < k else ((k, j), loss - other)
                    prices[pair].append(THOUSANDTHS * price)
        name = _names(source, output, {j for pair in prices for j in pair})
        for (j, k), own_prices in prices.items():
            if np.median(own_prices) < 0.0:
                j, k, own_prices = k, j, [-price for price in own_prices]
            is_same = own.exploration.features([j]) == own.exploration.features([k])  # only the form differs
            figures = len(own_prices), min(own_prices), float(np.median(own_prices))
            rows.append((label, is_same, name[j], name[k], *figures))
    rows.sort(key=lambda row: (row[0], row[1], -row[4], row[6], row[2], row[3]))
    return SwapTable(
        term=tuple(row[2] for row in rows),
        replacement=tuple(row[3] for row in rows),
        label=None if len(maps) == 1 else tuple(row[0] for row in rows),
        times=np.array([row[4] for row in rows], dtype=np.int64),
        least=np.array([row[5] for row in rows]),
        median=np.array([row[6] for row in rows]),
    )


def _names(source: Source, output: int, ids: set[int]) -> dict[int, str]:
    """Names of terms, as explanations show them."""
    order = sorted(ids)
    terms = source.searches[output].space.terms(np.array(order, dtype=np.int64))
    model = source.clf.models_[output]
    return dict(zip(order, source.shown_names(model, terms), strict=True))
