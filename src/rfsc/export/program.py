"""What every code generator prints: raw columns, how features are made of them, and the formulas over these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._model import as_predictor
from .._model.recipe import Ingredient, NumberOf, RawColumn, Recipe
from .._terms.expression import Expression
from .._terms.scaling import Scaling


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A classifier as a list of things to compute.

    Parameters
    ----------
    columns : tuple of RawColumn
        The columns of the table, in their order.
    features : tuple of NumberOf, MissingIn or LevelOf
        How every feature is made of them.
    feature_names : tuple of str
        Names of the features.
    scaling : Scaling
        How the features are brought to [0, 1].
    outputs : tuple of tuple of (float, Expression)
        For every output its summands: coefficient and term.
    term_names : tuple of tuple of str
        How a person writes the terms.
    used : tuple of tuple of int
        Features that every output reads, ascending.
    classes : tuple
        Labels. With two of them there is one output, which speaks for the second where it is positive.
    """

    columns: tuple[RawColumn, ...]
    features: tuple[Ingredient, ...]
    feature_names: tuple[str, ...]
    scaling: Scaling
    outputs: tuple[tuple[tuple[float, Expression], ...], ...]
    term_names: tuple[tuple[str, ...], ...]
    used: tuple[tuple[int, ...], ...]
    classes: tuple[Any, ...]

    @classmethod
    def of(cls, source: Any) -> Program:
        """What a classifier, a pipeline, a predictor or a model computes."""
        predictor = as_predictor(source)
        models = predictor.models_
        recipe = predictor.recipe_ or Recipe.identity(models[0].feature_names)
        return cls(
            columns=recipe.columns,
            features=recipe.features,
            feature_names=models[0].feature_names,
            scaling=models[0].scaling,
            outputs=tuple(
                tuple((float(coef), term.expression) for coef, term in zip(model.coef, model.terms, strict=True))
                for model in models
            ),
            term_names=tuple(model.names for model in models),
            used=tuple(model.features for model in models),
            classes=tuple(predictor.classes_.tolist()),
        )

    @property
    def read(self) -> tuple[int, ...]:
        """Columns that some output reads, ascending."""
        return tuple(sorted({self.features[p].column for used in self.used for p in used}))

    @property
    def required(self) -> tuple[int, ...]:
        """Those of them without which there is no answer: nothing stands in for a missing cell."""
        return tuple(sorted({column for output in range(len(self.used)) for column in self.required_by(output)}))

    def required_by(self, output: int) -> tuple[int, ...]:
        """Columns without which one output has no value."""
        made = [self.features[p] for p in self.used[output]]
        return tuple(sorted({f.column for f in made if isinstance(f, NumberOf) and f.fill is None}))
