"""Reads a recipe off a fitted scikit-learn preprocessing by following its steps: what each does to every column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from .._utils.arrays import FloatArray
from .._utils.validation import is_missing
from .recipe import Ingredient, Level, LevelOf, MissingIn, NumberOf, RawColumn, Recipe

SUPPORTED = (
    "TableEncoder, ColumnTransformer, Pipeline, SimpleImputer, OneHotEncoder, StandardScaler, MinMaxScaler, "
    "RobustScaler, MaxAbsScaler, feature selectors, 'passthrough' and 'drop'"
)


@dataclass(frozen=True, slots=True)
class _Cell:
    """A raw column as it is, or with its missing cells filled."""

    column: int
    fill: Level = None


@dataclass(frozen=True, slots=True)
class _Column:
    """A column between two steps: what it is made of, less a number, over a number."""

    made: _Cell | Ingredient
    minus: float = 0.0
    over: float = 1.0
    known: tuple[Level, ...] | None = None  # the only levels that its encoder accepts
    raw: RawColumn | None = None  # how the cells are read, if a TableEncoder said it


_State = list[_Column]


class Reading(NamedTuple):
    """What a preprocessing does: (feature of the recipe - minus) / over.

    The shifts and scales stand apart because a model need not know them: it scales its features itself.
    """

    recipe: Recipe
    minus: FloatArray
    over: FloatArray


def read_recipe(transformer: Any, columns: Sequence[str]) -> Reading:
    """Read off a fitted preprocessing how every feature is made from the raw columns."""
    start = [_Column(_Cell(c)) for c in range(len(columns))]
    made = [_scaled(column, 0.0, 1.0, "the classifier") for column in _after(transformer, start)]
    features = tuple(column.made for column in made if not isinstance(column.made, _Cell))  # none is a mere cell now
    known = {column.made.column: column.known for column in made if column.known is not None}
    named = hasattr(transformer, "get_feature_names_out")
    names = transformer.get_feature_names_out() if named else columns
    numbers = {feature.column for feature in features if _reads_numbers(feature)}
    raw = {
        c: RawColumn(str(name), "number" if c in numbers else "text", known.get(c)) for c, name in enumerate(columns)
    }
    raw |= {one.made.column: replace(one.raw, name=raw[one.made.column].name) for one in made if one.raw is not None}
    recipe = Recipe(tuple(raw.values()), features, tuple(str(name) for name in names))
    return Reading(recipe, np.array([column.minus for column in made]), np.array([column.over for column in made]))


def continued(reading: Reading, then: Recipe) -> Reading:
    """A preprocessing, and after it what a classifier makes of its columns itself."""
    columns, made = list(reading.recipe.columns), []
    for feature in then.features:
        p = feature.column
        start = _Column(reading.recipe.features[p], float(reading.minus[p]), float(reading.over[p]))
        c = start.made.column
        match feature, start.made:
            case NumberOf(_, fill), _:
                made.append(_filled(start, fill))
            case MissingIn(), NumberOf(_, None):
                made.append(_Column(MissingIn(c)))
            case LevelOf(), NumberOf(_, None) if (start.minus, start.over) == (0.0, 1.0):
                made.append(_Column(replace(feature, column=c)))
                columns[c] = replace(columns[c], kind=then.columns[p].kind)
            case _:
                msg = "the classifier reads missing values or levels of columns that the steps before it have encoded."
                raise TypeError(f"{msg} Leave them to one of the two.")
    names = then.renamed(reading.recipe.names).names
    recipe = Recipe(tuple(columns), tuple(one.made for one in made if not isinstance(one.made, _Cell)), names)
    return Reading(recipe, np.array([one.minus for one in made]), np.array([one.over for one in made]))


def _reads_numbers(feature: Ingredient) -> bool:
    """Whether the cells of a column must be numbers; of others it only matters whether they are missing."""
    if isinstance(feature, LevelOf):
        return any(isinstance(level, float) for level in feature.levels)
    return isinstance(feature, NumberOf)


def _scaled(column: _Column, minus: float, over: float, reader: str) -> _Column:
    """(x - minus) / over of a column that is about to be computed with."""
    made = column.made
    if isinstance(made, _Cell):
        if isinstance(made.fill, str):
            msg = f"{reader} reads text, which a recipe cannot say. Encode it first, for instance with OneHotEncoder."
            raise TypeError(msg)
        made = NumberOf(made.column, made.fill)
    return replace(column, made=made, minus=float(column.minus + minus * column.over), over=float(column.over * over))


def _after(step: Any, state: _State) -> _State:
    """What the columns are after a step."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return state
    if isinstance(getattr(step, "recipe_", None), Recipe):
        return _after_table_encoder(step, state)
    for kind, follow in _STEPS.items():
        if isinstance(step, kind):
            check_is_fitted(step)
            return follow(step, state)
    raise _unsupported(step)


def _unsupported(step: Any, setting: str = "") -> TypeError:
    name = step if isinstance(step, str) else type(step).__name__
    return TypeError(
        f"{name}{f' with {setting}' if setting else ''} cannot be turned into plain data. Supported are {SUPPORTED}. "
        "Or pass the last step, pipeline[-1], with rows transformed by the steps before it, pipeline[:-1].transform(X)."
    )


# ---- containers


def _after_pipeline(pipeline: Pipeline, state: _State) -> _State:
    for _, step in pipeline.steps:
        state = _after(step, state)
    return state


def _after_column_transformer(transformer: ColumnTransformer, state: _State) -> _State:
    if transformer.transformer_weights:
        raise _unsupported(transformer, "transformer_weights")
    names = list(getattr(transformer, "feature_names_in_", []))
    out: _State = []
    for _, step, columns in transformer.transformers_:
        chosen = [state[c] for c in _places(columns, names, len(state))]
        if chosen and not (isinstance(step, str) and step == "drop"):
            out += _after(step, chosen)
    return out


def _places(columns: Any, names: list[str], n_columns: int) -> Iterable[int]:
    """Where the columns are that a ColumnTransformer names by text, place, slice or mask."""
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            first = 0 if columns.start is None else names.index(columns.start)
            last = n_columns if columns.stop is None else names.index(columns.stop) + 1  # names include the last
            return range(first, last, columns.step or 1)
        return range(n_columns)[columns]
    chosen = np.atleast_1d(np.asarray(columns, dtype=object)).tolist()
    if chosen and all(isinstance(c, bool) for c in chosen):
        return np.flatnonzero(chosen).tolist()
    return [names.index(c) if isinstance(c, str) else range(n_columns)[c] for c in chosen]


def _after_function(step: FunctionTransformer, state: _State) -> _State:
    """ColumnTransformer puts one without a function in the place of 'passthrough'."""
    if step.func is not None:
        raise _unsupported(step, "a custom function")
    return state


def _after_selector(step: Any, state: _State) -> _State:
    names = np.asarray(getattr(step, "feature_names_in_", [f"x{j}" for j in range(len(state))]), dtype=object)
    if list(step.get_feature_names_out()) != list(names[step.get_support()]):
        raise _unsupported(step, "columns of its own")  # such as RFSCSelector(output="terms")
    return [one for one, keep in zip(state, step.get_support(), strict=True) if keep]


def _after_table_encoder(step: Any, state: _State) -> _State:
    """What has a recipe of its own, as `rfsc.tables.TableEncoder`."""
    recipe: Recipe = step.recipe_
    places = [one.made.column for one in state if one.made == _Cell(one.made.column)]
    if len(places) < len(state):
        raise _unsupported(step, "columns that were filled, scaled or encoded before")
    return [
        _Column(replace(made, column=places[made.column]), raw=recipe.columns[made.column]) for made in recipe.features
    ]


# ---- missing cells


def _after_imputer(step: SimpleImputer, state: _State) -> _State:
    if not is_missing(step.missing_values):
        raise _unsupported(step, "missing_values other than NaN or None")
    keep = [step.keep_empty_features or not is_missing(value) for value in step.statistics_]
    out = [_filled(one, value) for one, value, k in zip(state, step.statistics_, keep, strict=True) if k]
    if step.add_indicator:
        out += [_Column(MissingIn(state[j].made.column)) for j in step.indicator_.features_]
    return out


def _filled(column: _Column, value: Any) -> _Column:
    """A column whose missing cells become `value`; one that has none left stays as it is."""
    match column.made:
        case _Cell(place, None):
            return replace(column, made=_Cell(place, _level(value)))
        case NumberOf(place, None):
            return replace(column, made=NumberOf(place, float(value) * column.over + column.minus))
    return column


def _level(value: Any) -> Level:
    return None if is_missing(value) else str(value) if isinstance(value, str) else float(value)


# ---- numbers


def _after_scaler(step: Any, state: _State) -> _State:
    n = len(state)
    match step:
        case StandardScaler():
            centre, scale = step.mean_ if step.with_mean else None, step.scale_
        case RobustScaler():
            centre, scale = step.center_, step.scale_
        case MaxAbsScaler():
            centre, scale = None, step.scale_
        case MinMaxScaler():
            centre, scale = step.data_min_ - step.feature_range[0] / step.scale_, 1.0 / step.scale_
    if getattr(step, "clip", False):
        raise _unsupported(step, "clip=True")
    centre = np.zeros(n) if centre is None else centre
    scale = np.ones(n) if scale is None else scale
    reader = type(step).__name__
    return [_scaled(one, m, o, reader) for one, m, o in zip(state, centre, scale, strict=True)]


# ---- levels


def _after_encoder(step: OneHotEncoder, state: _State) -> _State:
    drops = [None] * len(state) if step.drop_idx_ is None else step.drop_idx_
    grouping = step.min_frequency is not None or step.max_categories is not None
    rare = [[] if few is None else few for few in step.infrequent_categories_] if grouping else [[]] * len(state)
    keeps_unknown = step.handle_unknown in ("infrequent_if_exist", "warn")
    out: _State = []
    for one, categories, dropped, few in zip(state, step.categories_, drops, rare, strict=True):
        levels = [_level(v) for v in categories]
        made = _encoded(one, levels, dropped, [_level(v) for v in few], keeps_unknown)
        known = None
        if step.handle_unknown == "error":
            filled = getattr(one.made, "fill", None) is not None  # a missing cell then has a level
            known = (*levels, None) if filled and None not in levels else tuple(levels)
        out += [_Column(feature, known=known) for feature in made]
    return out


def _encoded(
    encoded: _Column, levels: list[Level], dropped: int | None, few: list[Level], keeps_unknown: bool
) -> list[LevelOf]:
    """One yes-or-no column for each frequent level, then one for the rare ones."""
    match encoded:
        case _Column(_Cell(column, fill)) | _Column(NumberOf(column, fill), 0.0, 1.0):
            pass
        case _:
            msg = "OneHotEncoder reads columns that were scaled or encoded before, which a recipe cannot say."
            raise TypeError(msg)
    if len(set(levels)) < len(levels):
        msg = "OneHotEncoder distinguishes None and NaN, which a recipe cannot. Use one of them only, and fit again."
        raise TypeError(msg)

    def cells(level: Level) -> tuple[Level, ...]:
        # a missing cell was filled with this level before the encoder saw it
        return (level, None) if fill is not None and level == fill else (level,)

    frequent = [level for level in levels if level not in few]
    gone = None if dropped is None else levels[dropped]
    out = [LevelOf(column, cells(level)) for level in frequent if dropped is None or level != gone]
    if few and (dropped is None or gone not in few):
        known = frequent if keeps_unknown else few
        out.append(LevelOf(column, tuple(cell for level in known for cell in cells(level)), other=keeps_unknown))
    return out


_STEPS: dict[type, Callable[[Any, _State], _State]] = {
    Pipeline: _after_pipeline,
    ColumnTransformer: _after_column_transformer,
    FunctionTransformer: _after_function,
    SimpleImputer: _after_imputer,
    OneHotEncoder: _after_encoder,
    StandardScaler: _after_scaler,
    MinMaxScaler: _after_scaler,
    RobustScaler: _after_scaler,
    MaxAbsScaler: _after_scaler,
    SelectorMixin: _after_selector,
}
