"""The typical value of every column, from the model alone: medians, and most frequent levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._model import Predictor
from .._model.recipe import Ingredient, LevelOf, MissingIn, NumberOf, Recipe
from .._utils.arrays import FloatArray
from .rounding import six_digits

MISSING = "missing"


@dataclass(frozen=True, slots=True, eq=False)
class Typical:
    """A row of medians and most frequent levels, which need not be a row of any table."""

    recipe: Recipe
    features: FloatArray  # (n_features,), in the user's own units
    is_known: bool  # else they are the middles of the training ranges

    @classmethod
    def of(cls, predictor: Predictor) -> Typical:
        """What the models of a predictor know of their training rows."""
        recipe = predictor.recipe_ or Recipe.identity(predictor.column_names)
        scaling = predictor.models_[0].scaling
        every, is_known = np.arange(len(recipe.features)), scaling.median is not None
        middle = np.where(scaling.constant, 0.0, 0.5) if scaling.median is None else scaling.median
        features = scaling.to_user(every, middle)
        for members in levels_by_column(recipe).values():
            shares = np.full(len(members), 0.5) if scaling.upper is None else scaling.upper[members]
            features[members] = 0.0
            if shares.max() > 1.0 - shares.sum():  # else the level that no feature stands for is more frequent
                features[members[int(shares.argmax())]] = 1.0
        return cls(recipe, features, is_known)

    def column(self, place: int) -> list[int]:
        """Features that are made from a column."""
        return [p for p, made in enumerate(self.recipe.features) if made.column == place]

    def cell(self, place: int) -> str | None:
        """The typical cell of a column as a person writes it; None if it is a level that the model does not know."""
        named: list[str] = []
        for p in self.column(place):
            made, value = self.recipe.features[p], float(self.features[p])
            if isinstance(made, NumberOf):
                form = self.recipe.columns[place].cells
                named.append(form.day(value) if form is not None and form.since else six_digits(value))
            elif value == 1.0:
                named.insert(0, _level(made))
        if not named and (rest := self._unnamed(place)):
            return rest
        return named[0] if named else None

    def _unnamed(self, place: int) -> str | None:
        """The one level that no feature stands for, if the recipe knows it."""
        known = self.recipe.columns[place].levels or ()
        made = [f for f in self.recipe.features if f.column == place and isinstance(f, LevelOf)]
        rest = [level for level in known if all(level not in f.levels for f in made)]
        return str(rest[0]) if len(rest) == 1 and rest[0] is not None else None


def levels_by_column(recipe: Recipe) -> dict[int, list[int]]:
    """Features that stand for the levels of each column, of which at most one is 1."""
    found: dict[int, list[int]] = {}
    for p, made in enumerate(recipe.features):
        if isinstance(made, LevelOf):
            found.setdefault(made.column, []).append(p)
    return found


def _level(made: Ingredient) -> str:
    """What a feature of the value 1 says of its column."""
    if isinstance(made, MissingIn):
        return MISSING
    levels: tuple[Any, ...] = getattr(made, "levels", ())
    if getattr(made, "other", False) or len(levels) != 1:
        return "other"
    return MISSING if levels[0] is None else str(levels[0])
