"""The obvious preprocessing of a table with texts and blanks, with names that a person can read in a formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from .._model.recipe import MissingIn, NumberOf, Recipe
from .columns import Column

if TYPE_CHECKING:
    from pandas import DataFrame

MAX_LEVELS = 20  # columns that one text column may become
RARE = 5  # rows; levels with fewer are grouped
RARE_SHARE = 0.01  # the same for long tables


class BlankFiller(SimpleImputer):  # type: ignore[misc]
    """A SimpleImputer whose indicator of the column `age` is called `age missing`.

    It keeps quiet about the sum with which scikit-learn looks for NaN, which overflows where numbers are huge.
    """

    def fit(self, X: Any, y: Any = None) -> BlankFiller:
        """Find what stands in for blanks."""
        with np.errstate(over="ignore", invalid="ignore"):
            super().fit(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """Fill blanks."""
        with np.errstate(over="ignore", invalid="ignore"):
            return super().transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that come out."""
        names = super().get_feature_names_out(input_features)
        if not self.add_indicator:
            return names
        gone = self.feature_names_in_[self.indicator_.features_]
        kept = names[: len(names) - len(gone)]
        return np.array([*kept, *(f"{name} missing" for name in gone)], dtype=object)


def level_name(column: str, level: Any) -> str:
    """What the yes-or-no column of a level is called."""
    if level == "infrequent_sklearn":
        return f"{column}: other"
    return f"{column} missing" if level is None or level != level else f"{column}={level}"


def encoder_of(columns: Sequence[Column]) -> ColumnTransformer:
    """The preprocessing for a table, not fitted yet."""
    numbers = [column.name for column in columns if column.kind == "number"]
    texts = [column.name for column in columns if column.kind == "text"]
    n_rows = len(columns[0].values)
    levels = OneHotEncoder(
        drop="if_binary",
        min_frequency=RARE_SHARE if n_rows * RARE_SHARE > RARE else RARE,
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


def useless(column: Column) -> str | None:
    """Why nothing can be learned from a column; None where something may be."""
    if column.kind == "other":
        return "neither numbers nor text"
    n_rows, n_blank = len(column.values), int(column.blank.sum())
    if n_blank == n_rows:
        return "all blank"
    if column.n_distinct == 1 and not n_blank:
        return "the same everywhere"
    least = max(RARE, RARE_SHARE * n_rows)
    if column.kind == "text" and max(*Counter(column.values).values(), 0) < least:
        return f"{column.n_distinct} levels, each in fewer than {np.ceil(least):.0f} rows"
    return None


def treatment(recipe: Recipe, column: int) -> str:
    """What becomes of a column, in words."""
    made = [(name, f) for name, f in zip(recipe.names, recipe.features, strict=True) if f.column == column]
    numbers = [feature for _, feature in made if isinstance(feature, NumberOf)]
    if not numbers:
        return "yes or no: " + ", ".join(name for name, _ in made)
    flags = [name for name, feature in made if isinstance(feature, MissingIn)]
    return f"blanks become {numbers[0].fill:.6g}, and yes or no: {flags[0]}" if flags else "as it is"


def frame_of(columns: Sequence[Column]) -> DataFrame:
    """The columns as a data frame."""
    from pandas import DataFrame

    return DataFrame({column.name: column.values for column in columns})
