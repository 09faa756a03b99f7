"""A recipe that was read off a fitted preprocessing gives what the preprocessing gives, on rows it has never seen."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from rfsc import RFSCClassifier, RFSCSelector
from rfsc._model.recipe import LevelOf, MissingIn, NumberOf, Recipe
from rfsc._model.recipe_reader import read_recipe
from rfsc._utils.files import decode, encode

NUMBERS, CODES, TEXTS = ["age", "dose"], ["grade", "ward"], ["sex", "job"]


def recipe_of(transformer, columns):
    return read_recipe(transformer, columns).recipe


def frame(rng, n, *, strange=False):
    """Numbers, whole numbers that are codes, a truth value and texts, with blanks; strange rows have unknown levels."""
    jobs = ["nurse", "cook", "pilot", "poet", "clown"] + (["unheard of", ""] if strange else [])
    weight = np.r_[[0.5, 0.3, 0.1, 0.05, 0.05], [0.2, 0.2] if strange else []]
    table = pd.DataFrame(
        {
            "age": rng.normal(50, 12, n),
            "dose": rng.exponential(3, n) * (-1) ** rng.integers(0, 2, n),
            "grade": rng.choice([1, 2, 3, 7] + ([99] if strange else []), n),
            "ward": rng.choice([0.5, 2.0, 2.5], n),
            "sex": rng.choice(["male", "female"], n),
            "job": rng.choice(jobs, n, p=weight / weight.sum()),
            "smokes": rng.random(n) < 0.4,
        }
    )
    for name in ["age", "dose", "ward", "sex", "job"]:
        table.loc[rng.random(n) < rng.choice([0.0, 0.3]), name] = np.nan
    table.loc[0, ["age", "dose"]] = 1.5  # a column of blanks alone is tested apart
    return table


imputers = st.builds(
    SimpleImputer,
    strategy=st.sampled_from(["mean", "median", "most_frequent", "constant"]),
    add_indicator=st.booleans(),
)
plain_imputers = st.builds(SimpleImputer, strategy=st.sampled_from(["mean", "median"]))
scalers = st.one_of(
    st.builds(StandardScaler, with_mean=st.booleans(), with_std=st.booleans()),
    st.builds(MinMaxScaler, feature_range=st.sampled_from([(0, 1), (-2, 3)])),
    st.builds(RobustScaler, with_centering=st.booleans(), with_scaling=st.booleans()),
    st.just(MaxAbsScaler()),
)
numbers = st.one_of(
    imputers,
    scalers,
    st.builds(make_pipeline, scalers, imputers),
    st.builds(make_pipeline, plain_imputers, scalers, scalers),
    st.just("passthrough"),
    st.just("drop"),
)
encoders = st.builds(
    OneHotEncoder,
    drop=st.sampled_from([None, "first", "if_binary"]),
    min_frequency=st.sampled_from([None, 4, 0.2]),
    max_categories=st.sampled_from([None, 2, 3]),
    handle_unknown=st.sampled_from(["ignore", "infrequent_if_exist"]),
    sparse_output=st.booleans(),
)
texts = st.one_of(
    encoders,
    st.builds(make_pipeline, st.just(SimpleImputer(strategy="most_frequent")), encoders),
    st.builds(make_pipeline, st.just(SimpleImputer(strategy="constant", fill_value="cook")), encoders),
    st.builds(make_pipeline, st.just(SimpleImputer(strategy="constant", fill_value="blank")), encoders),
)
codes = st.one_of(encoders, st.builds(make_pipeline, st.just(SimpleImputer(strategy="most_frequent")), encoders))


def check_same(transformer, train, test):
    columns = list(train.columns)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Found unknown categories")
        warnings.filterwarnings("ignore", message="Skipping features without any observed values")
        out = transformer.fit_transform(train)
        wanted = transformer.transform(test)
    recipe, minus, over = read_recipe(transformer, columns)
    for table, expected in [(train, out), (test, wanted)]:
        expected = expected.toarray() if hasattr(expected, "toarray") else expected
        np.testing.assert_allclose((recipe.table(table) - minus) / over, expected.astype(float), rtol=1e-11, atol=1e-11)
    assert recipe.names == tuple(transformer.get_feature_names_out())
    assert decode(Recipe, encode(recipe)) == recipe
    return recipe


@settings(max_examples=12)
@given(numbers, codes, texts, st.integers(0, 2**32 - 1))
def test_recipe_is_the_transformer(number, code, text, seed):
    rng = np.random.default_rng(seed)
    train, test = frame(rng, 60), frame(rng, 40, strange=True)
    transformer = ColumnTransformer(
        [
            ("number", number, NUMBERS),
            ("code", code, CODES),
            ("text", text, TEXTS),
            ("truth", "passthrough", ["smokes"]),
        ]
    )
    check_same(transformer, train, test)


@pytest.mark.parametrize(
    "columns",
    [["age", "ward"], [0, 3], [-7, 3], slice(0, 2), slice("age", "grade"), "age", [True, True] + [False] * 5],
    ids=str,
)
def test_columns_in_every_spelling(columns):
    rng = np.random.default_rng(0)
    train = frame(rng, 50)
    if isinstance(columns, str):
        columns = [columns]
    transformer = ColumnTransformer([("numbers", StandardScaler(), columns)])
    check_same(transformer, train, train)


def test_callable_columns_and_the_remainder():
    train = frame(np.random.default_rng(1), 50)
    transformer = ColumnTransformer(
        [("texts", OneHotEncoder(handle_unknown="ignore"), lambda X: ["sex", "job"])], remainder=SimpleImputer()
    )
    check_same(transformer, train, train)
    transformer = ColumnTransformer(
        [
            ("none", StandardScaler(), []),
            ("texts", OneHotEncoder(handle_unknown="ignore"), ["sex"]),
            ("j", "drop", ["job"]),
        ],
        remainder="passthrough",
    )
    recipe = check_same(transformer, train, train)
    assert len(recipe.columns) == 7
    # nothing is known of a column that is dropped, and nothing is asked of its cells
    assert [c.name for c in recipe.columns if c.kind == "text"] == ["sex", "job"]


def test_nested_containers_and_plain_arrays():
    X = load_iris().data.copy()
    X[::7, 1] = np.nan
    inner = ColumnTransformer([("a", MinMaxScaler(), [0, 2])], remainder=SimpleImputer(add_indicator=True))
    outer = Pipeline([("skip", "passthrough"), ("inner", inner), ("none", None), ("drop", VarianceThreshold(0.06))])
    expected = outer.fit_transform(X)
    recipe, minus, over = read_recipe(outer, ["a", "b", "c", "d"])
    np.testing.assert_allclose((recipe.table(X) - minus) / over, expected, rtol=1e-12)
    assert MissingIn(1) in recipe.features


def test_selectors_choose_columns():
    X, y = load_iris(return_X_y=True, as_frame=True)
    best = SelectKBest(k=2).fit(X, y)
    assert recipe_of(best, list(X.columns)).features == (NumberOf(2), NumberOf(3))
    search = RFSCClassifier(n_restarts=1, basis="polynomial", random_state=0)
    ours = RFSCSelector(search).fit(X, y)
    np.testing.assert_array_equal(recipe_of(ours, list(X.columns)).table(X), ours.transform(X))
    with pytest.raises(TypeError, match=r"RFSCSelector with columns of its own"):
        recipe_of(RFSCSelector(search, output="terms").fit(X, y), list(X.columns))


def test_columns_of_blanks_alone():
    X = pd.DataFrame({"empty": [np.nan] * 4, "full": [1.0, 2.0, np.nan, 4.0]})
    for keep in (False, True):
        check_same(SimpleImputer(add_indicator=True, keep_empty_features=keep), X, X)


def test_no_preprocessing():
    assert recipe_of("passthrough", ["a", "b"]) == recipe_of(None, ["a", "b"]) == Recipe.identity(["a", "b"])


def test_levels_as_they_are_read():
    X = pd.DataFrame({"job": ["cook"] * 6 + ["nurse"] * 5 + ["poet", "clown", None]})
    encoder = OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist").fit(X)
    recipe = recipe_of(encoder, ["job"])
    assert recipe.features == (LevelOf(0, ("cook",)), LevelOf(0, ("nurse",)), LevelOf(0, ("cook", "nurse"), other=True))


def test_unknown_level_where_the_encoder_stops():
    encoder = OneHotEncoder(sparse_output=False).fit([["a"], ["b"]])
    recipe = recipe_of(encoder, ["x"])
    np.testing.assert_array_equal(recipe.table([["b"], ["a"]]), [[0, 1], [1, 0]])
    for strange in ("c", None):
        with pytest.raises(ValueError, match="holds levels that the model has not seen in 1 row"):
            recipe.table([["b"], [strange]])
    assert decode(Recipe, encode(recipe)) == recipe
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False))
    filled.fit(np.array([["a"], ["a"], ["b"]], dtype=object))
    np.testing.assert_array_equal(recipe_of(filled, ["x"]).table([[None], ["b"]]), [[1, 0], [0, 1]])


def test_scaling_comes_after_everything():
    train = frame(np.random.default_rng(3), 80)
    numbers = make_pipeline(MinMaxScaler(), SimpleImputer(add_indicator=True), StandardScaler())
    texts = make_pipeline(OneHotEncoder(handle_unknown="ignore", sparse_output=False), RobustScaler())
    transformer = ColumnTransformer([("numbers", numbers, NUMBERS), ("texts", texts, TEXTS)])
    check_same(make_pipeline(transformer, MaxAbsScaler()), train, train)


# ---- what cannot be read


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            OrdinalEncoder(),
            "OrdinalEncoder cannot be turned into plain data. Supported are TableEncoder",
        ),
        (PolynomialFeatures(), "PolynomialFeatures cannot"),
        (FunctionTransformer(np.abs), "FunctionTransformer with a custom function cannot"),
        (MinMaxScaler(clip=True), "MinMaxScaler with clip=True cannot"),
        (SimpleImputer(missing_values=0.0), "SimpleImputer with missing_values other than NaN or None cannot"),
        (make_pipeline(StandardScaler(), OneHotEncoder()), "scaled or encoded before"),
        (
            ColumnTransformer([("a", StandardScaler(), [0])], transformer_weights={"a": 2.0}),
            "ColumnTransformer with transformer_weights cannot",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused_steps(step, words):
    X = np.array([[1.0], [3.0], [0.0], [2.0]])
    with pytest.raises(TypeError, match=words):
        recipe_of(step.fit(X), ["x"])


def test_none_and_nan_are_one_thing():
    encoder = OneHotEncoder().fit(np.array([["a"], [None], [np.nan]], dtype=object))
    with pytest.raises(TypeError, match="distinguishes None and NaN"):
        recipe_of(encoder, ["x"])


def test_text_that_nobody_encoded():
    filler = SimpleImputer(strategy="most_frequent").fit(np.array([["a"], ["b"]], dtype=object))
    with pytest.raises(TypeError, match="the classifier reads text"):
        recipe_of(filler, ["x"])


def test_unfitted():
    with pytest.raises(NotFittedError):
        recipe_of(StandardScaler(), ["x"])


def test_a_text_column_of_which_no_text_is_frequent_stays_a_text_column():
    frame = pd.DataFrame({"side": ["left"] * 3 + ["right"] * 3 + [None] * 60}, dtype=object)
    encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=50, sparse_output=False).fit(frame)
    recipe = recipe_of(encoder, ["side"])
    assert recipe.columns[0].kind == "text"
    np.testing.assert_array_equal(recipe.table(frame), encoder.transform(frame))
