"""Tables with missing cells, text and categories, given to the classifier as they are."""

from __future__ import annotations

import contextlib
import pickle
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rfsc import Restrictions, RFSCSelector
from rfsc._fit.encoding import weighted_median
from rfsc._model.recipe import LevelOf, MissingIn, NumberOf
from rfsc.atlas import atlas
from rfsc.certify import certify
from rfsc.explain import contributions, equation, explain, summary
from rfsc.export import from_json, to_json, to_python, to_sql
from rfsc.plots import FeatureEffectsDisplay
from rfsc.report import Report, cross_validated

from .making import make

QUICK = {"n_models": 30, "max_iter": 15, "n_restarts": 1, "n_folds": 2, "random_state": 0}
NAMES = ("age", "bmi", "bmi missing", "sex=male", "city=a", "city=b", "city: other", "city missing", "flag")


def patients(n=400, seed=0, *, strange=False):
    """Patients whose body mass was not measured if they were too ill; the class depends on nothing else of it."""
    rng = np.random.default_rng(seed)
    gone = rng.random(n) < 0.3
    table = pd.DataFrame(
        {
            "age": rng.normal(60, 10, n),
            "bmi": np.where(gone, np.nan, rng.normal(27, 4, n)),
            "sex": pd.Categorical(rng.choice(["male", "female"], n)),
            "city": rng.choice(["a", "b", None], n, p=[0.5, 0.4, 0.1]).astype(object),
            "flag": rng.random(n) < 0.5,
        }
    )
    table.loc[:2, "city"] = "hamlet"  # in three rows
    if strange:
        table.loc[3:6, "city"] = "elsewhere"
    f = (table["age"] - 60) / 10 + 3.0 * gone + 1.5 * (table["sex"] == "male") - 1.5
    return table, np.where(rng.random(n) < 1 / (1 + np.exp(-f)), "ill", "well")


def by_hand(table):
    """The features of such a table."""
    return pd.DataFrame(
        {
            "age": table["age"],
            "bmi": table["bmi"].fillna(table["bmi"].median()),
            "bmi missing": table["bmi"].isna() * 1.0,
            "sex=male": (table["sex"] == "male") * 1.0,
            "city=a": (table["city"] == "a") * 1.0,
            "city=b": (table["city"] == "b") * 1.0,
            "city: other": (table["city"].notna() & ~table["city"].isin(["a", "b"])) * 1.0,
            "city missing": table["city"].isna() * 1.0,
            "flag": table["flag"] * 1.0,
        }
    )


@pytest.fixture(scope="module")
def fitted():
    X, y = patients()
    return make("hinge", **QUICK).fit(X, y)


def test_a_term_is_there_when_the_value_is_not(fitted):
    X, y = patients()
    assert fitted.recipe_.names == NAMES
    assert {"bmi missing", "[sex=male]"} <= set(_shown(fitted))
    assert fitted.support_.tolist() == [True, True, True, False, False]
    assert fitted.n_features_in_ == 5
    assert list(fitted.feature_names_in_) == list(X.columns)
    without = make("hinge", **QUICK).fit(X.drop(columns="bmi"), y)
    new, truth = patients(2000, 1)
    assert fitted.score(new, truth) > without.score(new.drop(columns="bmi"), truth) + 0.05


def _shown(fitted):
    return from_json(to_json(fitted)).models_[0].names


@pytest.mark.parametrize("basis", ["polynomial", "hinge"])
def test_the_same_bits_as_a_table_made_by_hand(basis):
    X, y = patients()
    clf = make(basis, **QUICK).fit(X, y)
    features = by_hand(X)
    # terms that read several features of one column, and nothing else, are not offered
    bmi, city = ["bmi", "bmi missing"], [name for name in NAMES if name.startswith("city")]
    pairs = [(a, b) for own in (bmi, city) for a in own for b in own if a < b]
    other = make(basis, **QUICK, restrictions=Restrictions(forbid=pairs)).fit(features, y)
    assert clf.models_[0].terms == other.models_[0].terms
    np.testing.assert_array_equal(clf.models_[0].coef, other.models_[0].coef)
    new, _ = patients(100, 5, strange=True)
    filled = by_hand(new.fillna({"bmi": X["bmi"].median()}))
    filled["bmi missing"] = new["bmi"].isna() * 1.0
    np.testing.assert_array_equal(clf.decision_function(new), other.decision_function(filled))


def test_features_of_one_column_do_not_make_a_product():
    X, y = patients()
    clf = make("polynomial", **QUICK).fit(X, y)
    column = [made.column for made in clf.recipe_.features]
    for search in clf.searches_[0]:
        for record in search.history:
            for term in clf._fits[0].space.terms(record.rips.ids[record.rips.values > 0.0]):
                assert len(term.features) < 2 or len({column[p] for p in term.features}) > 1


def test_numbers_without_missing_cells_have_no_recipe():
    X, y = patients()
    clf = make("polynomial", **QUICK).fit(X[["age", "flag"]], y)
    assert clf.recipe_ is None
    other = clone(clf).fit(X[["age", "flag"]].to_numpy(dtype=float), y)
    np.testing.assert_array_equal(clf.models_[0].coef, other.models_[0].coef)
    with pytest.raises(ValueError, match="contains NaN"):
        other.predict([[np.nan, 1.0]])


def test_fitting_again_forgets_the_recipe():
    X, y = patients()
    clf = make("polynomial", **QUICK).fit(X, y)
    clf.fit(X[["age", "flag"]], y)
    assert clf.recipe_ is None
    assert clf.predict(X[["age", "flag"]]).shape == (400,)


# ---- where tables come from


def test_polars_pandas_arrays_and_lists_give_the_same_bits(fitted):
    polars = pytest.importorskip("polars")
    X, y = patients()
    new, _ = patients(50, 3, strange=True)
    expected = fitted.decision_function(new)

    def as_polars(table):
        columns = {name: table[name].to_numpy() for name in ("age", "bmi", "flag")}
        columns["bmi"] = [None if value != value else value for value in columns["bmi"].tolist()]
        columns["city"] = polars.Series([city if isinstance(city, str) else None for city in table["city"]])
        columns["sex"] = polars.Series(table["sex"].astype(str).tolist(), dtype=polars.Categorical)
        return polars.DataFrame(columns).select(list(table.columns))

    found = clone(fitted).fit(as_polars(X), y)
    assert found.recipe_ == fitted.recipe_
    np.testing.assert_array_equal(found.decision_function(as_polars(new)), expected)
    np.testing.assert_array_equal(found.decision_function(new), expected)  # the columns have the same names
    nullable = X.astype({"bmi": "Float64", "flag": "boolean", "city": "string"})
    np.testing.assert_array_equal(clone(fitted).fit(nullable, y).decision_function(new), expected)
    cells = X.astype(object).to_numpy()
    for table in (cells, cells.tolist()):
        found = clone(fitted).fit(table, y)
        assert found.recipe_.names[:4] == ("x0", "x1", "x1 missing", "x2=male")
        np.testing.assert_array_equal(found.decision_function(new.astype(object).to_numpy()), expected)
    with pytest.warns(UserWarning, match="has feature names"):  # scikit-learn's own words
        np.testing.assert_array_equal(found.decision_function(new), expected)
    unnamed = clone(fitted).fit(X.set_axis(range(5), axis=1), y)
    np.testing.assert_array_equal(unnamed.decision_function(new.set_axis(range(5), axis=1)), expected)


def test_an_array_of_numbers_with_nan():
    X, y = patients()
    X = X[["age", "bmi"]].to_numpy()
    clf = make("polynomial", **QUICK).fit(X, y)
    assert clf.recipe_.names == ("x0", "x1", "x1 missing")
    assert clf.predict_proba([[60.0, None], [60.0, 30.0]]).shape == (2, 2)
    with pytest.raises(ValueError, match=r"infinite values in 1 column: 'x0'. Replace them"):
        clf.predict([[np.inf, 27.0]])
    with pytest.raises(ValueError, match="X has 1 features, but RFSCClassifier is expecting 2"):
        clf.predict([[60.0]])


def test_text_that_is_all_numbers_is_read_as_numbers():
    X, y = patients()
    text = X[["age", "flag"]].astype({"age": str})
    clf = make("polynomial", **QUICK).fit(text, y)
    assert clf.recipe_ is None
    np.testing.assert_array_equal(clf.decision_function(text), clf.decision_function(X[["age", "flag"]]))
    mixed = X[["age", "sex"]].astype({"age": str})
    assert make("polynomial", **QUICK).fit(mixed, y).recipe_.names == ("age", "sex=male")


def test_categories_that_are_numbers_are_levels():
    X, y = patients()
    table = X.assign(ward=pd.Categorical(np.arange(400) % 3 * 10, ordered=True))[["age", "ward"]]
    clf = make("polynomial", **QUICK).fit(table, y)
    assert clf.recipe_.names == ("age", "ward=0", "ward=10", "ward=20")
    assert clf.recipe_.columns[1].kind == "number"


def test_dask_predicts_in_chunks(fitted):
    dd = pytest.importorskip("dask.dataframe")
    new, _ = patients(60, 3)
    new["sex"] = new["sex"].astype(str)
    found = fitted.decision_function(dd.from_pandas(new, npartitions=3)).compute(scheduler="synchronous")
    np.testing.assert_array_equal(found, fitted.decision_function(new))


def test_chunks_must_be_numbers():
    da = pytest.importorskip("dask.array")
    X, y = patients()
    with pytest.raises(ValueError, match="Fill missing values first"):
        make("polynomial", **QUICK).fit(da.from_array(X[["age", "bmi"]].to_numpy(), chunks=(100, 2)), y)


# ---- weights, groups and order


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_a_row_of_weight_two_counts_twice_in_the_median(n):
    rng = np.random.default_rng(n)
    values, weight = rng.normal(size=n).round(1), rng.integers(1, 4, n)
    assert weighted_median(values, weight.astype(float)) == np.median(np.repeat(values, weight))
    assert weighted_median(values, np.full(n, 0.3)) == np.median(values)


def test_weights_are_rows_and_rows_of_weight_zero_are_not_there():
    X, y = patients(120)
    weight = np.random.default_rng(0).integers(0, 4, 120)
    clf = make("polynomial", **QUICK).fit(X, y, sample_weight=weight)
    which = np.repeat(np.arange(120), weight)
    other = clone(clf).fit(X.iloc[which], y[which])
    assert clf.recipe_ == other.recipe_
    np.testing.assert_allclose(clf.decision_function(X), other.decision_function(X), rtol=1e-9, atol=1e-9)


def test_groups_and_cross_validation():
    X, y = patients(200)
    groups = np.arange(200) // 4
    assert make("polynomial", **QUICK).fit(X, y, groups=groups).predict(X).shape == (200,)
    scores = cross_val_score(make("polynomial", **QUICK), X, y, cv=3)
    assert scores.mean() > 0.7


@pytest.mark.parametrize("seed", [0, 1])
def test_order_of_rows_and_columns_does_not_matter(fitted, seed):
    X, y = patients()
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.columns)
    other = clone(fitted).fit(X.iloc[rows][columns], y[rows])
    assert sorted(other.models_[0].names) == sorted(fitted.models_[0].names)
    np.testing.assert_allclose(other.decision_function(X[columns]), fitted.decision_function(X), rtol=1e-9, atol=1e-9)


# ---- levels


def test_rare_and_many_levels_count_as_one():
    rng = np.random.default_rng(0)
    site = np.concatenate([np.repeat([f"s{k:02}" for k in range(25)], 12), ["few"] * 4, ["rare"]])
    X = pd.DataFrame({"dose": rng.normal(size=site.size), "site": site})
    y = np.where(np.isin(site, ["s00", "s01", "s02"]) ^ (rng.random(site.size) < 0.1), "a", "b")
    clf = make("polynomial", **QUICK).fit(X, y)
    assert clf.recipe_.names == ("dose", *(f"site={name}" for name in sorted(set(site))[2:21]), "site: other")
    other = clf.recipe_.features[-1]
    assert other == LevelOf(1, tuple(f"s{k:02}" for k in range(19)), other=True)
    two = make("polynomial", **QUICK).fit(X.assign(site=np.where(site == "s00", "s00", site + "?")), y)
    assert two.recipe_.names[:2] == ("dose", "site=s00")


def test_columns_without_information_are_dropped_and_reported():
    X, y = patients()
    X = X.assign(empty=np.nan, nothing=None, name=[f"n{i}" for i in range(400)], same="same")
    clf = make("polynomial", **QUICK).fit(X, y)
    assert clf.recipe_.names == NAMES
    assert clf.constant_features_.tolist() == [5, 6, 7, 8]
    assert not clf.support_[5:].any()
    with pytest.raises(ValueError, match="no column to learn from"):
        clone(clf).fit(X[["empty", "name"]], y)


def test_restrictions_name_columns_of_numbers_and_features():
    X, y = patients()
    wanted = Restrictions(increasing=["age"], forbid=[("city=a",)], force=["[sex=male]"])
    clf = make("hinge", **QUICK, restrictions=wanted).fit(X, y == "ill")
    older = X.assign(age=X["age"] + 0.5)
    inside = older["age"] < X["age"].max()
    assert (clf.decision_function(older) >= clf.decision_function(X))[inside].all()
    assert "[sex=male]" in clf.models_[0].names
    with pytest.raises(ValueError, match="names the feature 'city'"):
        clone(clf).set_params(restrictions=Restrictions(forbid=[("city",)])).fit(X, y)


# ---- what is made of a fitted classifier


def test_copies_predict_alike(fitted):
    new, _ = patients(50, 3, strange=True)
    expected = fitted.decision_function(new)
    for other in (pickle.loads(pickle.dumps(fitted)), from_json(to_json(fitted))):
        assert other.recipe_ == fitted.recipe_
        np.testing.assert_allclose(other.decision_function(new), expected, rtol=1e-12, atol=1e-12)
    assert not hasattr(clone(fitted), "recipe_")
    smaller = fitted.at_size(2)
    assert smaller.predict(new).shape == (50,)


def test_exports_agree_with_predict_on_raw_rows(fitted):
    new, _ = patients(80, 4, strange=True)
    rows = new.astype(object).where(new.notna(), None)
    expected, labels = fitted.predict_proba(new), fitted.predict(new)
    made: dict = {}
    exec(to_python(fitted, name="diagnose"), made)
    found = [made["diagnose"](row) for row in rows.to_dict("records")]
    assert [one["label"] for one in found] == labels.tolist()
    np.testing.assert_allclose([one["decision"]["well"] for one in found], fitted.decision_function(new), atol=1e-9)
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        rows.assign(row=range(80)).to_sql("patients", connection, index=False)
        asked = connection.execute(to_sql(fitted, table="patients", dialect="sqlite", keep=["row"])).fetchall()
    asked.sort(key=lambda row: row[0])
    np.testing.assert_allclose([row[2:4] for row in asked], expected, atol=1e-9)
    assert [row[4] for row in asked] == labels.tolist()


def test_explanations_read_raw_rows(fitted):
    X, _ = patients()
    row = X.iloc[[3]].assign(bmi=np.nan)
    parts = contributions(fitted, row, by="feature")
    assert "bmi missing" in parts.names
    np.testing.assert_allclose(parts.values.sum(axis=1), fitted.decision_function(row))
    assert "bmi missing" in str(equation(fitted))
    assert "bmi missing" in str(summary(fitted))
    assert "Bmi missing" in explain(fitted, row)
    assert FeatureEffectsDisplay.from_estimator(fitted).names


def test_selectors_take_the_same_tables(fitted):
    X, y = patients()
    selector = RFSCSelector(clone(fitted)).fit(X, y)
    assert selector.transform(X).shape == (400, 3)
    assert list(selector.get_feature_names_out()) == ["age", "bmi", "sex"]
    terms = RFSCSelector(clone(fitted), output="terms").fit(X, y)
    assert terms.transform(X).shape == (400, fitted.models_[0].size)
    assert "bmi missing" in " ".join(terms.get_feature_names_out())
    assert "weight missing" in " ".join(terms.get_feature_names_out(["age", "weight", "sex", "city", "flag"]))


def test_steps_that_leave_cells_missing_are_part_of_the_recipe():
    X, y = patients()
    before = ColumnTransformer(
        [("numbers", StandardScaler(), ["age", "bmi"]), ("rest", "passthrough", ["sex", "city"])],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(before, make("hinge", **QUICK)).fit(X, y)
    loaded = from_json(to_json(pipeline))
    new, _ = patients(60, 4, strange=True)
    np.testing.assert_allclose(loaded.predict_proba(new), pipeline.predict_proba(new), atol=1e-9)
    kinds = [type(feature) for feature in loaded.recipe_.features]
    assert kinds[:3] == [NumberOf, NumberOf, MissingIn]
    assert loaded.recipe_.features[1].fill == pytest.approx(X["bmi"].median())
    assert [column.kind for column in loaded.recipe_.columns[:4]] == ["number", "number", "text", "text"]


def test_a_pipeline_with_an_imputer_of_its_own_has_no_second_recipe():
    X, y = patients()
    before = ColumnTransformer(
        [("n", SimpleImputer(add_indicator=True), ["age", "bmi"]), ("t", OneHotEncoder(drop="if_binary"), ["sex"])]
    )
    pipeline = make_pipeline(before, make("polynomial", **QUICK)).fit(X, y)
    assert pipeline[-1].recipe_ is None


def test_atlas(fitted):
    X, y = patients()
    found = atlas(fitted, X, y, max_models=20)
    assert "bmi missing" in str(found)
    new, _ = patients(40, 4)
    assert found.model(0).predict(new).shape == (40,)
    without = found.find(without=["bmi"])  # the number and its indicator
    assert not any("bmi" in name for name in without.terms)
    with pytest.raises(ValueError, match="not the rows"):
        atlas(fitted, X.assign(bmi=1.0), y)


def test_certificate():
    X, y = patients()
    found = certify(make("polynomial", **QUICK), X, y, n_pairs=3, random_state=0, n_jobs=1)
    verdicts = dict(zip(found.features.unit, found.features.verdict, strict=True))
    assert verdicts["bmi missing"] == "supported"
    assert verdicts["sex=male"] == "supported"


def test_a_single_missing_cell_is_no_obstacle_to_splits():
    X, y = patients()
    X = X[["age", "flag"]].assign(age=np.where(X.index == 5, np.nan, X["age"]))
    clf = make("polynomial", **QUICK).fit(X, y)
    assert clf.recipe_.names == ("age", "age missing", "flag")
    score = cross_validated(clf, X, y, clf.classes_, cv=2, baselines={"constant": DummyClassifier()})
    assert [method.name for method in score.methods][1:] == ["constant"]
    assert "age" in certify(clf, X, y, n_pairs=2, random_state=0, n_jobs=1).features.unit


@pytest.mark.slow
def test_report(fitted, tmp_path):
    X, y = patients()
    text = Report.from_estimator(fitted, X, y, cv=2).write_html(tmp_path / "report.html").read_text()
    assert "bmi missing" in text
    assert "1 if missing, else 0" in text


# ---- what is refused


def test_messages_say_what_to_do_and_show_no_cells():
    X, y = patients()
    clf = make("polynomial", **QUICK)
    refused = {
        "both text and numbers": X.assign(city=[1 if i % 2 else "a" for i in range(400)]),
        "Turn them into text first": X.assign(age=pd.cut(X["age"], 3)),
        "must hold numbers, got dates. Turn them into": X.assign(day=pd.Timestamp("2024-05-17")),
        "^infinite values in 1 column: 'age'. Replace them": X.assign(age=np.where(X.index == 7, np.inf, X["age"])),
        "two features would have the same name": X.assign(**{"bmi missing": 1.0}),
        "some repeat": X.set_axis(["age", "bmi", "sex", "city", "age"], axis=1),
        "y contains missing labels": X,
    }
    for match, table in refused.items():
        labels = np.where(np.arange(400) == 3, None, y) if "labels" in match else y
        with pytest.raises(ValueError, match=match) as error:
            clf.fit(table, labels)
        assert "2024" not in str(error.value)
    assert not hasattr(clf, "recipe_")
    clf.fit(X, y)
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(X.drop(columns="age"))
    with pytest.raises(ValueError, match="infinite values in 1 column: 'age'"):
        clf.predict(X.assign(age=-np.inf))
    with pytest.raises(ValueError, match="'age' must hold numbers"):
        clf.predict(X.assign(age="old"))
    with pytest.raises(ValueError, match="expected a table with 5 columns"):
        from_json(to_json(clf)).predict(X.to_numpy(dtype=object)[:, :3])
