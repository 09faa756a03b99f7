"""The preprocessing of tables with text columns and blanks; its features have names that can be read in a formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from .._model.recipe import MissingIn, NumberOf, Recipe
from .column_checks import LEAST_ROWS_OF_LEVEL, LEAST_SHARE_OF_LEVEL
from .column_types import Column

if TYPE_CHECKING:
    from pandas import DataFrame

MAX_LEVELS = 20  # features that one text column may become
AS_IT_IS = "used as it is"


class BlankFiller(SimpleImputer):  # type: ignore[misc]
    """A SimpleImputer whose indicator of the column `age` is called `age missing`."""

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that come out."""
        names = super().get_feature_names_out(input_features)
        gone = self.feature_names_in_[self.indicator_.features_]
        kept = names[: len(names) - len(gone)]
        return np.array([*kept, *(f"{name} missing" for name in gone)], dtype=object)


def level_name(column: str, level: Any) -> str:
    """Name of the indicator of a level."""
    if level == "infrequent_sklearn":
        return f"{column}: other"
    return f"{column} missing" if level is None or level != level else f"{column}={level}"


def encoder_of(columns: Sequence[Column]) -> ColumnTransformer:
    """The preprocessing for a table, not fitted yet."""
    numbers = [column.name for column in columns if column.kind == "number"]
    texts = [column.name for column in columns if column.kind == "text"]
    is_long = len(columns[0].values) * LEAST_SHARE_OF_LEVEL > LEAST_ROWS_OF_LEVEL
    levels = OneHotEncoder(
        drop="if_binary",
        min_frequency=LEAST_SHARE_OF_LEVEL if is_long else LEAST_ROWS_OF_LEVEL,
        max_categories=MAX_LEVELS,
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
        feature_name_combiner=level_name,
    )
    return ColumnTransformer(
        [("numbers", BlankFiller(strategy="median", add_indicator=True), numbers), ("texts", levels, texts)],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")


def fitted_encoder(encoder: ColumnTransformer, X: DataFrame) -> ColumnTransformer:
    """A fitted copy of a preprocessing."""
    copy = clone(encoder)
    try:
        copy.fit(X)
    except ValueError as error:
        if "Output feature names" not in str(error):
            raise
    else:
        return copy
    msg = "two features would have the same name, such as a column 'sex=male' beside a column sex. Rename one of them."
    raise ValueError(msg)


def description(recipe: Recipe, column: int) -> str:
    """How a column is used, for the user."""
    made = [(name, f) for name, f in zip(recipe.names, recipe.features, strict=True) if f.column == column]
    numbers = [feature for _, feature in made if isinstance(feature, NumberOf)]
    if not numbers:
        return f"indicator{'s' if len(made) > 1 else ''} {', '.join(name for name, _ in made)}"
    flags = [name for name, feature in made if isinstance(feature, MissingIn)]
    return f"blanks become {numbers[0].fill:.6g}, with indicator {flags[0]}" if flags else AS_IT_IS
