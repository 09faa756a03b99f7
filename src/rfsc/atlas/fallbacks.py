"""The best models without the measurements that are most often missing, from the searches of a fit."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from .._model import Predictor
from .._model.access import as_predictor
from .._model.fallback import Fallback
from .._model.recipe import MissingIn, NumberOf, Recipe
from .collection import OutputMap, best_under
from .making import begun
from .source import Source
from .wishes import Wish, price_of

MOST_COLUMNS = 2
LEAST_BLANKS = 5  # rows


def with_fallbacks(source: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Predictor:
    """A model with others for rows in which a measurement is missing.

    Of the columns of numbers that the answer reads, the one or two that are most often blank are looked at. For rows in
    which one of them, the other, or both are blank, the best model is found that does not read their numbers, among the
    candidate terms of the fit; it may read whether they are blank. Such rows are then predicted by that model, unless
    the answer, with medians in the place of the blanks, predicts them better (left-out log-loss).

    Parameters
    ----------
    source : Pipeline
        Fitted; it ends in an RFSCClassifier, and the steps before it fill blanks and add an indicator of them, as
        ``SimpleImputer(add_indicator=True)`` does.
    X : data frame of shape (n_samples, n_columns)
        The rows that it was fitted to.
    y : array-like of shape (n_samples,)
        Their classes.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the fit, if it had any.

    Returns
    -------
    Predictor
        Predicts rows without blanks as the source. Its `fallbacks_` hold the models and what each costs in left-out
        log-loss beside the answer; none if no such column is blank in at least five rows, or if none helps.
    """
    predictor = as_predictor(source)
    recipe = predictor.recipe_ or Recipe.identity(predictor.column_names)
    columns = _often_blank(predictor, recipe, X)
    if not columns:
        return predictor
    fit = Source(source, X, y, sample_weight)
    maps = []
    for output in range(len(fit.searches)):
        base, pool = begun(fit, output, None)
        maps.append(OutputMap(base, pool, [fit.answers[output]], []))
    chosen = [some for n in range(1, len(columns) + 1) for some in combinations(columns, n)]
    found = [_fallback(fit, maps, recipe, some) for some in chosen]
    return predictor.replaced(fallbacks=[one for one in found if one is not None])


def _often_blank(predictor: Predictor, recipe: Recipe, X: Any) -> list[int]:
    """The columns of numbers that the models read and that are most often blank, in the order of the table."""
    read = {recipe.features[p] for model in predictor.models_ for p in model.features}
    columns = sorted(
        {one.column for one in read if isinstance(one, NumberOf) and MissingIn(one.column) in recipe.features}
    )
    blank = {c: int(found.missing.sum()) for c, found in recipe.cells(X, columns).items()}
    often = sorted((c for c in columns if blank[c] >= LEAST_BLANKS), key=lambda c: -blank[c])
    return sorted(often[:MOST_COLUMNS])


def _fallback(fit: Source, maps: list[OutputMap], recipe: Recipe, columns: tuple[int, ...]) -> Fallback | None:
    """The best model without the numbers in some columns; None if the answer is better for rows with these blanks."""
    made = enumerate(recipe.features)
    without = tuple(p for p, one in made if one.column in columns and not isinstance(one, MissingIn))
    names = tuple(recipe.columns[c].name for c in columns)
    fits, pairs = best_under(Wish(without=without), f"Without {' and '.join(names)}", fit, maps)
    flags = [recipe.features.index(MissingIn(c)) for c in columns]
    blank = (fit.rows.table[flags] == 1.0).all(axis=0)
    own = others = None
    if np.count_nonzero(blank) >= LEAST_BLANKS:
        weight = fit.rows.weight[blank]
        own, others = (
            float(np.average(np.sum([pair[side][0] for pair in pairs], axis=0)[blank], weights=weight))
            for side in (0, 1)
        )
        if own >= others:
            return None
    models = as_predictor(fit.view(fits)).models_
    return Fallback(names, tuple(models), *price_of(pairs, maps[0].exploration), own, others)
