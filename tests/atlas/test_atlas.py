"""What users see of an atlas: its tables, models that predict, explain and export, wishes, and clear errors."""

from __future__ import annotations

import json
import pickle
import re
from itertools import combinations

import dask.array as dask_array
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rfsc import RFSCClassifier
from rfsc.atlas import atlas
from rfsc.explain import explain, summary
from rfsc.export import load, save, to_sql

FAST = {"basis": "polynomial", "n_jobs": 1, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    """The class depends on age and on a, of which b is a near copy; c and d are noise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((200, 5)), columns=["age", "a", "b", "c", "d"])
    X["b"] = X["a"] + 0.02 * rng.normal(size=200)
    f = 6.0 * X["age"] - 5.0 * X["a"]
    return X, np.where(f + rng.logistic(size=200) > 0.0, "ill", "well")


@pytest.fixture(scope="module")
def clf(table):
    return RFSCClassifier(size=3, **FAST).fit(*table)


@pytest.fixture(scope="module")
def made(clf, table):
    return atlas(clf, *table)


def test_features_in_all_in_some_and_in_none(made):
    uses = dict(zip(made.features.feature, made.features.use, strict=True))
    assert uses["age"] == "in all"
    assert uses["a"] == uses["b"] == "in some"
    assert made.features.unused == tuple(name for name in ("age", "a", "b", "c", "d") if name not in uses)
    assert made.features.named("in none") == made.features.unused
    assert made.features.first(1).notes == made.features.notes
    assert (made.features.least <= made.features.greatest).all()
    frame = made.features.to_frame()
    assert frame.loc["age", "share"] == 1.0
    assert frame.loc["age", "least"] > frame.loc["a", "least"]


def test_models_are_sorted_and_within_the_tolerance(made):
    table = made.models
    assert table.is_answer.sum() == 1
    good = ~table.is_answer
    assert (table.above_best[good] <= table.standard_error[good] + 1e-12).all()
    for size in made.settings.sizes[0]:
        loss = table.log_loss[table.n_terms == size]
        features = [own for own, n in zip(table.features, table.n_terms, strict=True) if n == size]
        firsts = [k for k, own in enumerate(features) if own not in features[:k]]
        assert firsts == list(range(len(firsts)))  # the best of each set of features
        assert (np.diff(loss[: len(firsts)]) >= 0.0).all()
        assert (np.diff(loss[len(firsts) :]) >= 0.0).all()
        assert table.above_best[table.n_terms == size][0] == 0.0
    assert (np.diff(table.n_terms) <= 0).all()
    assert table.above_answer[table.is_answer] == 0.0
    assert "equation" not in str(table).splitlines()[0]
    assert table.to_frame()["equation"].str.startswith("f = ").all()


def test_every_model_predicts_explains_and_exports(made, table, tmp_path):
    X, _ = table
    for number in (0, len(made) // 2, len(made) - 1):
        model = made.model(number)
        assert model.models_[0].size == made.models.n_terms[number]
        names = [X.columns[p] for p in model.models_[0].features]
        assert tuple(names) == made.models.features[number]
        assert "worth" in summary(model)
        assert explain(model, X[:1])
        assert model.front_.n_terms.tolist() == [model.models_[0].size]
        assert model.at_size(model.models_[0].size).predict(X[:5]).tolist() == model.predict(X[:5]).tolist()
        path = tmp_path / f"model{number}.json"
        save(model, path)
        assert load(path).predict_proba(X) == pytest.approx(model.predict_proba(X))
        assert "SELECT" in to_sql(model).upper()
        assert len(atlas(model, *table)) > 0


def test_the_answer_is_the_model_of_the_classifier(made, clf, table):
    X, _ = table
    number = int(np.flatnonzero(made.models.is_answer)[0])
    assert made.model(number).predict_proba(X) == pytest.approx(clf.predict_proba(X), rel=1e-9)


def test_swaps_are_pairs_of_models_that_differ_by_a_term(made):
    terms = [frozenset(made.model(k).models_[0].names) for k in range(len(made))]
    prices = {}
    for one, other in combinations(range(len(made)), 2):
        if len(terms[one]) == len(terms[other]) and len(terms[one] - terms[other]) == 1:
            ((left,), (right,)) = terms[one] - terms[other], terms[other] - terms[one]
            price = 1000.0 * (made.models.log_loss[other] - made.models.log_loss[one])
            prices.setdefault((left, right), []).append(price)
            prices.setdefault((right, left), []).append(-price)
    assert 2 * len(made.swaps.term) == len(prices)
    for row in made.swaps.rows():
        own = prices[row["term"], row["replacement"]]
        assert row["times"] == len(own)
        assert row["least"] == pytest.approx(min(own))
        assert row["median"] >= 0.0
        assert row["median"] == pytest.approx(np.median(own))


def test_importance_is_the_rise_without_the_feature(made):
    found, (own,) = made._maps[0].exploration, made._maps
    for number in (0, len(made) - 1):
        for p, value in enumerate(made.importance[number]):
            rest = tuple(j for j in own.supports[number] if p not in found.features([j]))
            if rest == own.supports[number]:
                assert np.isnan(value)
            else:
                assert value == pytest.approx(1000 * (found.fit([rest]).log_loss[0] - made.models.log_loss[number]))


def test_disagreement(made, table):
    X, _ = table
    found = made.disagreement(X)
    proba = np.stack([made.model(k).predict_proba(X)[:, 1] for k in range(len(made))])
    order = found.row
    assert sorted(order.tolist()) == list(range(len(X)))
    assert found.least == pytest.approx(proba.min(axis=0)[order])
    assert found.mean == pytest.approx(proba.mean(axis=0)[order])
    assert found.greatest == pytest.approx(proba.max(axis=0)[order])
    classes = proba > 0.5
    assert (found.is_disputed == (classes.any(axis=0) & ~classes.all(axis=0))[order]).all()
    assert (np.diff(found.is_disputed.astype(int)) <= 0).all()
    assert found.to_frame().index.name == "row"
    assert "class well" in str(found.first(3))


def test_text_and_json_hold_no_row(made, table):
    X, _ = table
    text = made.text()
    assert "each within one paired standard error of the best of its size" in text
    assert "In all models: age and a or b." in text  # b is a near copy of a
    assert str(made) == text
    assert "What replaces what" in made._repr_html_()
    content = json.loads(made.to_json())
    assert len(content["models"]) == len(made)
    assert content["settings"]["tolerance"] == "1se"
    assert max(map(len, text.splitlines())) <= 160
    numbers = set(re.findall(r"0\.\d{8,}", made.to_json()))
    assert not numbers & {repr(value) for value in X.to_numpy().ravel().tolist()}


def test_max_models_are_shared_by_the_sizes(clf, table, made):
    few = atlas(clf, *table, max_models=5)
    assert len(few) == 5
    assert few.settings.is_cut == (True,)
    assert few.models.is_answer.any()
    assert "max_models=5" in few.text()
    assert set(few.models.n_terms.tolist()) == set(made.models.n_terms.tolist())


def test_same_for_any_number_of_threads(table, made):
    X, y = table
    other = atlas(RFSCClassifier(size=3, **(FAST | {"n_jobs": 2})).fit(X, y), X, y)
    assert other.to_json() == made.to_json()


def test_pipeline_in_the_units_of_the_table(table, made):
    X, y = table
    pipeline = make_pipeline(StandardScaler(), RFSCClassifier(size=3, **FAST)).fit(X, y)
    other = atlas(pipeline, X, y)
    assert other.models.features == made.models.features
    assert other.models.log_loss == pytest.approx(made.models.log_loss, abs=1e-6)
    assert other.swaps.term == made.swaps.term
    answer = other.model(int(np.flatnonzero(other.models.is_answer)[0]))
    assert answer.predict_proba(X) == pytest.approx(pipeline.predict_proba(X))
    assert [type(step).__name__ for step in answer] == ["StandardScaler", "RFSCClassifier"]
    proba = [other.model(k).predict_proba(X)[:, 1] for k in range(len(other))]
    assert np.sort(other.disagreement(X).spread) == pytest.approx(np.sort(np.ptp(proba, axis=0)))
    assert "without age" in str(other.find(without=["age"])).lower()


def test_three_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = RFSCClassifier(size=2, **FAST).fit(X, y)
    made = atlas(clf, X, y, max_models=60)
    assert len(made) <= 60
    assert set(made.models.label) == {"0", "1", "2"}
    assert made.models.is_answer.sum() == 3
    last = len(made) - 1
    view = made.model(last)
    assert view.models_[0] is clf.models_[0]
    assert view.models_[2].size == made.models.n_terms[last]
    found = made.disagreement(X)
    assert found.of == "the predicted class"
    assert (found.least <= found.greatest).all()
    wish = made.find(without=["petal width (cm)"])
    assert not any("petal width" in name for name in wish.terms)
    assert len(wish.model.models_) == 3
    with pytest.raises(ValueError, match="3 classes"):
        made.find(increasing=["petal width (cm)"])


def test_weights_of_the_fit_are_needed(table):
    X, y = table
    weight = np.where(np.arange(200) % 3, 1.0, 2.0)
    clf = RFSCClassifier(size=2, **FAST).fit(X, y, sample_weight=weight)
    twice = np.repeat(np.arange(200), weight.astype(int))
    same = RFSCClassifier(size=2, **FAST).fit(X.iloc[twice], y[twice])
    one, other = atlas(clf, X, y, sample_weight=weight), atlas(same, X.iloc[twice], y[twice])
    assert one.models.features == other.models.features
    assert one.models.standard_error == pytest.approx(other.models.standard_error, abs=1e-6)
    with pytest.raises(ValueError, match="weights of the rows are not those of the fit"):
        atlas(clf, X, y)


def test_the_constant_as_the_answer(table):
    X, y = table
    clf = RFSCClassifier(size=0, **FAST).fit(X, y)
    made = atlas(clf, X, y)
    assert len(made) == 1
    assert made.features.feature == ()
    assert "1 model of 0 terms" in made.text()
    assert not made.disagreement(X).is_disputed.any()
    assert made.model(0).predict_proba(X) == pytest.approx(clf.predict_proba(X))
    assert "constant" in str(made.find(without=["age"]))
    assert made.find(max_terms=1).price < 0.0


def test_another_tolerance(clf, table, made):
    exact = atlas(clf, *table, tolerance=0.0)
    assert (exact.models.above_best[~exact.models.is_answer] == 0.0).all()
    wide = atlas(clf, *table, tolerance=0.02)
    assert len(wide) > len(exact)
    assert "each within 0.02 of the best" in wide.text()
    assert (wide.models.above_best <= 0.02 + 1e-6).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": "2se"}, 'tolerance must be "1se"'),
        ({"tolerance": -0.1}, "number of at least 0"),
        ({"tolerance": True}, "number of at least 0"),
        ({"max_models": 0}, "max_models must be an integer of at least 1"),
    ],
)
def test_wrong_options(clf, table, options, message):
    with pytest.raises(ValueError, match=message):
        atlas(clf, *table, **options)


def test_wrong_classifiers_and_rows(clf, table):
    X, y = table
    with pytest.raises(TypeError, match="RFSCClassifier or a pipeline"):
        atlas(LogisticRegression(), X, y)
    with pytest.raises(ValueError, match="not fitted"):
        atlas(RFSCClassifier(), X, y)
    with pytest.raises(ValueError, match="not the rows that clf was fitted to"):
        atlas(clf, X[1:], y[1:])
    with pytest.raises(ValueError, match="table in memory"):
        atlas(clf, dask_array.from_array(X.to_numpy()), y)


def test_wrong_wishes_and_numbers(made):
    with pytest.raises(ValueError, match="from 0 to"):
        made.model(len(made))
    with pytest.raises(ValueError, match="'weight', but the fit has no column of this name"):
        made.find(without=["weight"])
    with pytest.raises(TypeError, match=re.escape("got a single name. Write without=['...']")):
        made.find(without="age")
    with pytest.raises(ValueError, match="max_terms must be an integer"):
        made.find(max_terms=-1)
    with pytest.raises(ValueError, match="no model fulfils this wish: with age, c and d, with at most 1 term"):
        made.find(require=["age", "c", "d"], max_terms=1)
    with pytest.raises(ValueError, match="both in without and in require"):
        made.find(without=["age"], require=["age"])
    assert made.find(require=["age", "c"], max_terms=1).terms == ("age*c",)


def test_what_is_in_all_does_not_depend_on_how_many_are_kept(clf, table, made):
    few = atlas(clf, *table, max_models=1)
    assert len(few) == 1
    assert few.features.named() == made.features.named()


def test_square_of_a_yes_or_no_feature_is_no_other_term(rng):
    X = rng.random((150, 3))
    X[:, 0] = X[:, 0] > 0.5
    y = 2.0 * X[:, 0] + 2.0 * X[:, 1] + rng.logistic(size=150) > 2.0
    clf = RFSCClassifier(basis="polynomial", size=2, n_restarts=1, random_state=0).fit(X, y)
    found = atlas(clf, X, y)
    names = {name for number in range(len(found)) for name in found.model(number).models_[0].names}
    assert "x0" in names
    assert "x0^2" not in names


def test_copies_know_as_much(made, table):
    again = pickle.loads(pickle.dumps(made))
    assert repr(again) == f"Atlas({len(made)} models)"
    wish = {"without": [made.features.feature[0]]}
    assert str(again.find(**wish)) == str(made.find(**wish))


def test_a_model_of_an_atlas_has_no_record_of_a_fit(made, table, tmp_path):
    save(made.model(1), tmp_path / "m.json")
    assert load(tmp_path / "m.json").manifest_ is None
