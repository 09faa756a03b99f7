"""How the features that a model reads are made from the columns of a raw table, in words."""

from __future__ import annotations

from .._model.recipe import Ingredient, LevelOf, MissingIn, NumberOf
from .._utils.words import listed, number
from .subject import Subject

MAX_LEVELS = 5


def describe_features(subject: Subject) -> list[dict[str, str]]:
    """One entry for each feature that some model reads; none where the models read the columns as they are."""
    recipe = subject.predictor.recipe_
    if recipe is None:
        return []
    read = sorted({p for model in subject.models for p in model.features})
    return [
        {
            "name": recipe.names[p],
            "column": recipe.columns[recipe.features[p].column].name,
            "how": _in_words(recipe.features[p]),
        }
        for p in read
    ]


def _in_words(feature: Ingredient) -> str:
    match feature:
        case NumberOf(_, fill):
            return "as it is" if fill is None else f"as it is; blanks count as {number(fill)}"
        case MissingIn():
            return "1 where it is blank, else 0"
        case LevelOf(_, levels, other):
            named = listed([_level(level) for level in levels], MAX_LEVELS)
            return f"1 where it is none of {named}, else 0" if other else f"1 where it is {named}, else 0"


def _level(level: str | float | None) -> str:
    return "blank" if level is None else f"“{level}”" if isinstance(level, str) else number(level)
