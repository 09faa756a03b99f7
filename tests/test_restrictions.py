"""Restrictions as a user meets them: every model obeys, and what cannot be obeyed is an error that helps."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from rfsc import Restrictions, RFSCClassifier, RFSCSelector, SearchSettings
from rfsc._terms.expression import Exp
from rfsc.bases import Fourier, Hinge, Polynomial, Step
from rfsc.restrictions import barred_features
from tests.reference.naive_requirements import NaiveRequirements

FAST = SearchSettings(n_models=30, max_iter=15)
QUICK = {"basis": "polynomial", "search": FAST, "n_restarts": 2, "random_state": 0}
MIXED = [Polynomial(degree=3), Hinge(2, products=True), Step(3, levels=True), "radial", Fourier(1)]


def data(n_rows=150, seed=0, n_classes=2):
    """Two quantities that matter, a stage from 0 to 4 of which stage 2 is different, sex, and a constant."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n_rows),
            "bmi": rng.normal(27, 4, n_rows),
            "stage": rng.integers(0, 5, n_rows).astype(float),
            "sex": rng.integers(0, 2, n_rows).astype(float),
            "site": 1.0,
        }
    )
    signal = (X["age"] - 50) / 10 + (X["age"] - 50) * (X["bmi"] - 27) / 40 + 2 * (X["stage"] == 2)
    signal += rng.logistic(size=n_rows) / 2
    return X, np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))


def fit(restrictions, X=None, y=None, **parameters):
    X, y = data() if X is None else (X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return RFSCClassifier(restrictions=restrictions, **{**QUICK, **parameters}).fit(X, y)


def naive_of(clf, restrictions, output=0):
    """The same restrictions as plain sets, and the ids of all terms by name."""
    names = clf.models_[output].feature_names
    space = clf._fits[output].space
    every = space.simplest(np.arange(space.n_terms))
    ids = {term.name(names): j for j, term in zip(every.tolist(), space.terms(every), strict=True)}
    forbidden = [ids[one] for one in restrictions.forbid if isinstance(one, str) and one in ids]
    apart = [{names.index(feature) for feature in one} for one in restrictions.forbid if not isinstance(one, str)]
    groups = [[ids[name] for name in group if name in ids] for group in restrictions.groups]
    forced = [ids[name] for name in restrictions.force]
    return NaiveRequirements(space, forced, forbidden, apart, groups, restrictions.hierarchy), ids


def assert_obeyed(clf, restrictions):
    """Every restart, its limit model and the answer, for every output."""
    for output, model in enumerate(clf.models_):
        plain, ids = naive_of(clf, restrictions, output)
        assert plain.obeys(ids[name] for name in model.names)
        for search in clf.searches_[output]:
            assert plain.obeys(search.model.ids.tolist())
            assert search.limit is None or plain.obeys(search.limit.ids.tolist())


# laws

CASES = [
    Restrictions(hierarchy=True),
    Restrictions(force=["sex", "1"]),
    Restrictions(force=["age*bmi*sex"], hierarchy=True),
    Restrictions(forbid=[("age",), ("bmi", "stage")]),
    Restrictions(forbid=["age", "1", "bmi^2"], hierarchy=True),
    Restrictions(groups=[["age", "bmi"], ["sex", "site"], ["age*sex", "bmi*sex"]]),
    Restrictions(force=["bmi"], forbid=["bmi^2", ("stage", "sex")], groups=[["sex", "stage"]], hierarchy=True),
]


@pytest.mark.parametrize("size", ["best", None])
@pytest.mark.parametrize("restrictions", CASES, ids=str)
def test_every_model_obeys(restrictions, size):
    assert_obeyed(fit(restrictions, basis=Polynomial(degree=3), size=size), restrictions)


@pytest.mark.parametrize("restrictions", CASES, ids=str)
def test_every_model_of_mixed_families_obeys(restrictions):
    assert_obeyed(fit(restrictions, basis=MIXED), restrictions)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_every_output_obeys_on_every_engine(engine):
    restrictions = Restrictions(force=["sex"], forbid=[("stage",)], hierarchy=True)
    assert_obeyed(fit(restrictions, *data(n_classes=3), engine=engine, n_restarts=1), restrictions)


PRODUCTS = ["age", "bmi", "sex", "age*bmi", "age*sex", "bmi*sex", "age^2", "bmi^2", "1"]


@settings(max_examples=15)
@given(
    forbid=st.lists(st.sampled_from([*PRODUCTS, ("age", "sex"), ("bmi",)]), max_size=2),
    groups=st.lists(st.lists(st.sampled_from(PRODUCTS), min_size=1, max_size=3), max_size=2),
    force=st.lists(st.sampled_from(PRODUCTS), max_size=2),
    hierarchy=st.booleans(),
    size=st.sampled_from(["best", None]),
    max_terms=st.integers(4, 10),
)
def test_models_obey_or_the_restrictions_contradict_themselves(forbid, groups, force, hierarchy, size, max_terms):
    restrictions = Restrictions(force=force, forbid=forbid, groups=groups, hierarchy=hierarchy)
    try:
        clf = fit(restrictions, size=size, max_terms=max_terms, search=replace(FAST, max_iter=6))
    except ValueError as error:
        complaint = str(error)
    else:
        complaint = ""
    if complaint:
        assert force
        assert "forbid" in complaint or "at most" in complaint
        return
    assert_obeyed(clf, restrictions)
    assert all(search.model.ids.size <= 20 for search in clf.searches_[0])


def test_no_restrictions_change_no_bit():
    plain, none = fit(None), fit(Restrictions())
    assert plain.models_[0].coef.tobytes() == none.models_[0].coef.tobytes()
    loose = fit(Restrictions(forbid=["age^5"]))  # there are requirements, but they rule out nothing
    assert plain.models_[0].coef.tobytes() == loose.models_[0].coef.tobytes()


def test_threads_change_nothing():
    one, two = (fit(CASES[-1], n_jobs=n) for n in (1, 2))
    assert one.models_[0].coef.tobytes() == two.models_[0].coef.tobytes()


# what restrictions are good for


def test_hierarchy_gives_a_product_its_parents():
    rng = np.random.default_rng(0)
    X = rng.random((400, 4))
    y = rng.random(400) < 1 / (1 + np.exp(2.5 - 10 * X[:, 0] * X[:, 1]))
    settings = {"basis": "polynomial", "random_state": 0, "n_restarts": 3, "size": None}
    free, strict = (RFSCClassifier(restrictions=r, **settings).fit(X, y) for r in (None, Restrictions(hierarchy=True)))
    assert "x0*x1" in free.models_[0].names
    assert not {"x0", "x1"} <= set(free.models_[0].names)
    assert {"x0", "x1", "x0*x1"} <= set(strict.models_[0].names)


def test_grouped_levels_come_together():
    X, y = data(300)
    levels = ["stage=1", "stage=2", "stage=3"]  # cuts separate the two ends
    settings = {"basis": ["polynomial", Step(levels=True)], "size": None, "search": replace(FAST, max_iter=60)}
    free, grouped = (
        set(fit(restrictions, X, y, **settings).models_[0].names)
        for restrictions in (None, Restrictions(groups=[levels]))
    )
    assert len(free & set(levels)) in (1, 2)
    assert set(levels) <= grouped


def test_exchanges_of_the_answer_do_not_split_groups(rng):
    X = rng.integers(0, 5, (200, 3)).astype(float)
    f = np.array([0.0, 2.0, -2.0, 1.0, 0.0])[X[:, 0].astype(int)] + 3.0 * (X[:, 1] == 2) + rng.logistic(size=200)
    groups = [[f"x{p}={level}" for level in (1, 2, 3)] for p in range(3)]
    clf = fit(Restrictions(groups=groups), X, f > 0.5, basis=Step(levels=True), search=replace(FAST, max_iter=30))
    names = set(clf.models_[0].names)
    assert any(set(group) <= names for group in groups)
    assert all(set(group) <= names or not names & set(group) for group in groups)


def test_one_hot_columns_come_together():
    X, y = data(300)
    X = pd.get_dummies(X, columns=["stage"], dtype=float)
    columns = [name for name in X if name.startswith("stage")]
    free = set(fit(None, X, y, basis=Polynomial(degree=1), search=replace(FAST, max_iter=60)).models_[0].names)
    held = set(
        fit(Restrictions(groups=[columns]), X, y, basis=Polynomial(degree=1), search=replace(FAST, max_iter=60))
        .models_[0]
        .names
    )
    assert 0 < len(free & set(columns)) < 5
    assert set(columns) <= held


def test_a_barred_feature_is_no_part_of_any_family():
    clf = fit(Restrictions(forbid=[("age",)]), basis=[*MIXED, "sigmoid"])
    terms = clf._fits[0].space.terms(np.arange(clf.n_terms_[0]))
    assert all(0 not in term.features for term in terms)
    assert any(isinstance(term.expression, Exp) for term in terms)  # bumps of the other features
    assert not clf.support_[0]


def test_features_that_must_not_meet_meet_in_no_family():
    for basis in (MIXED, ["polynomial", "radial"]):
        clf = fit(Restrictions(forbid=[("age", "sex")]), basis=basis, search=SearchSettings())
        assert all(not {0, 3} <= set(term.features) for term in clf.models_[0].terms)
        assert clf.at_size(8).models_[0].size > 0


def test_forced_terms_stay_in_even_if_useless():
    X, y = data()
    X = X.assign(noise=np.random.default_rng(9).normal(size=len(X)))
    clf = fit(Restrictions(force=["noise*sex", "near"]), X.rename(columns={"age": "near"}), y)
    assert {"sex*noise", "near"} <= set(clf.models_[0].names)
    position = clf.models_[0].names.index("sex*noise")
    assert np.isfinite(clf.models_[0].standard_error[position])


def test_a_forced_copy_of_a_feature_does_no_harm():
    X, y = data()
    X = X.assign(copy=X["age"])
    for ridge in (0.0, 1.0):
        clf = fit(Restrictions(force=["age", "copy"]), X, y, search=replace(FAST, ridge=ridge))
        assert {"age", "copy"} <= set(clf.models_[0].names)
        assert np.isfinite(clf.decision_function(X)).all()


def test_more_forced_terms_than_a_pool_may_hold():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 18)))
    X.columns = [f"f{j}" for j in range(18)]
    clf = fit(Restrictions(force=list(X.columns)), X, X["f0"] > 0, basis=Polynomial(degree=1))
    assert sorted(clf.models_[0].names) == sorted([*X.columns, "1"])


def test_the_filter_lets_named_features_pass():
    X, y = data()
    X = X.assign(noise=np.random.default_rng(5).normal(size=len(X)), other=np.random.default_rng(6).normal(size=len(X)))
    settings = {"search": replace(FAST, filter_significance=0.001), "basis": ["polynomial", Hinge(2)]}
    assert not {5, 6} & set(fit(None, X, y, **settings)._fits[0].space._spaces[0].features.tolist())
    knots = [name for name in fit(None, X, y, basis=Hinge(2)).term_names(range(1, 20)) if "noise" in name]
    for term in ("noise", "noise^2", knots[0]):
        clf = fit(Restrictions(force=[term]), X, y, **settings)
        assert term in clf.models_[0].names
        assert 6 not in clf._fits[0].space._spaces[0].features
    both = fit(Restrictions(groups=[["noise", "other"]]), X, y, **settings)
    assert {5, 6} <= set(both._fits[0].space._spaces[0].features.tolist())


def test_terms_that_are_ruled_out_do_not_slow_the_search_down():
    X, y = data()
    polynomial = fit(None, X, y)
    mixed = fit(Restrictions(forbid=[("age", "sex")]), X, y, basis=["polynomial", "radial"])
    assert mixed.n_terms_[0] > 5 * polynomial.n_terms_[0]  # all bumps look at both
    first, other = (clf.searches_[0][0].history[0].mean_size_drawn for clf in (polynomial, mixed))
    assert 0.5 < other / first < 2
    names = [set(clf.at_size(1).models_[0].names) for clf in (polynomial, mixed)]
    assert names[0] == names[1]


def test_everything_forbidden_leaves_nothing():
    clf = fit(Restrictions(forbid=["1", *((name,) for name in data()[0])]))
    assert clf.models_[0].names == ()
    assert clf.predict(data()[0]).shape == (150,)


# basis="auto"


def test_auto_leaves_out_mixes_that_lack_a_term():
    X, y = data(60)
    settings = {"basis": "auto", "search": replace(FAST, max_iter=2), "n_restarts": 1}
    every = {"linear", "polynomial", "centred", "rule", "hinge", "linear + radial"}
    assert set(fit(Restrictions(force=["1"]), X, y, **settings).basis_losses_) == every
    assert set(fit(Restrictions(force=["age"]), X, y, **settings).basis_losses_) == every - {"rule"}
    assert set(fit(Restrictions(force=["age*bmi"]), X, y, **settings).basis_losses_) == {"polynomial", "centred"}
    alone = fit(Restrictions(groups=[["1", "age^2"]]), X, y, **settings)
    assert set(alone.basis_losses_) == {"polynomial", "centred"}
    forbidding = fit(Restrictions(forbid=[("age", "bmi"), "age^2"]), X, y, **settings)
    assert set(forbidding.basis_losses_) == every
    assert not any(name.startswith(("age^2", "(age-")) for name in forbidding.models_[0].names)
    hinge = fit(None, X, y, basis="hinge").term_names([3])[0]
    assert fit(Restrictions(force=[hinge]), X, y, **settings).basis_ == (Hinge(),)
    with pytest.raises(ValueError, match=r'basis="auto" has no mix that offers every term.*With linear: .*max\(0'):
        fit(Restrictions(force=[hinge, "age*bmi"]), X, y, **settings)


# the object


def test_equal_by_value_hashable_and_safe_to_copy():
    one = Restrictions(
        force=["a"], forbid=["b", ["c", "d"]], groups=[pd.Index(["e", "f"])], hierarchy=np.True_, increasing=["g"]
    )
    other = Restrictions(
        force=("a",), forbid=("b", ("c", "d")), groups=(("e", "f"),), hierarchy=True, increasing=("g",)
    )
    assert one == other
    assert hash(one) == hash(other)
    terms = "force=('a',), forbid=('b', ('c', 'd')), groups=(('e', 'f'),), hierarchy=True"
    assert repr(one) == f"Restrictions({terms}, increasing=('g',), decreasing=())"
    for again in (
        copy.deepcopy(one),
        pickle.loads(pickle.dumps(one)),
        clone(RFSCClassifier(restrictions=one)).restrictions,
    ):
        assert again == one
    with pytest.raises(AttributeError):
        one.force = ()
    assert Restrictions() != one


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"force": "age"}, r"force must be a list or tuple, got 'age'\. Write brackets"),
        ({"force": {"age"}}, "force must be a list or tuple, got an object of type set"),
        ({"force": 3}, "force must be a list or tuple, got an object of type int"),
        ({"force": None}, "got an object of type NoneType"),
        ({"force": [3]}, "force must hold names of terms or features as texts, but one is of type int"),
        ({"force": [("age", "bmi")]}, "but one is of type tuple"),
        ({"forbid": "age"}, "forbid must be a list"),
        ({"forbid": {"age": 1}}, "got an object of type dict"),
        ({"forbid": [("age", 2)]}, "forbid must hold names"),
        ({"groups": ["age", "bmi"]}, r"each group must be a list or tuple, got 'age'.*groups=\[\["),
        ({"groups": [["age", None]]}, "but one is of type NoneType"),
        ({"hierarchy": 1}, "hierarchy must be True or False, got 1"),
        ({"hierarchy": "yes"}, "hierarchy must be True or False"),
    ],
)
def test_wrong_types_are_refused(fields, message):
    with pytest.raises(TypeError, match=message):
        Restrictions(**fields)


@pytest.mark.parametrize("fields", [{"forbid": [()]}, {"groups": [[]]}])
def test_empty_tuples_are_refused(fields):
    with pytest.raises(ValueError, match="holds an empty list; put at least one name"):
        Restrictions(**fields)


def test_a_dict_is_no_restrictions():
    with pytest.raises(ValueError, match="'restrictions' parameter of RFSCClassifier must be an instance of 'rfsc"):
        fit({"force": ["age"]})


def test_survives_pickling_and_search_over_restrictions():
    X, y = data()
    clf = fit(CASES[-1], X, y)
    again = pickle.loads(pickle.dumps(clf))
    assert again.predict(X).tolist() == clf.predict(X).tolist()
    assert again.restrictions == CASES[-1]
    choices = [None, Restrictions(hierarchy=True), Restrictions(forbid=[("age",)])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        grid = GridSearchCV(RFSCClassifier(**QUICK), {"restrictions": choices}, cv=2, error_score="raise").fit(X, y)
        assert cross_val_score(RFSCClassifier(restrictions=CASES[-1], **QUICK), X, y, cv=2).min() > 0.4
    assert grid.best_params_["restrictions"] in choices


def test_a_selector_passes_them_on():
    X, y = data()
    restrictions = Restrictions(force=["sex*bmi"], forbid=[("age",)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        selector = RFSCSelector(RFSCClassifier(restrictions=restrictions, **QUICK), output="terms").fit(X, y)
    names = selector.get_feature_names_out().tolist()
    assert "bmi*sex" in names
    assert not any("age" in name.replace("stage", "") for name in names)


def test_the_paper_settings_take_them():
    X, y = data()
    clf = RFSCClassifier.paper(restrictions=Restrictions(force=["sex"]), **QUICK).fit(X, y)
    assert "sex" in clf.models_[0].names


def test_names_without_columns_are_numbered():
    X, y = data()
    clf = fit(Restrictions(force=["x3*x0"], forbid=[("x2",)]), X.to_numpy(), y)
    assert "x0*x3" in clf.models_[0].names
    assert not clf.support_[2]


# errors


@pytest.mark.parametrize(
    ("restrictions", "message"),
    [
        (Restrictions(force=["agee"]), r"force names the term 'agee', which the basis does not offer.*mean 'age'"),
        (Restrictions(force=["age*bmj"]), r"its terms are written like .*Did you mean 'age\*bmi'"),
        (Restrictions(force=["age^3"]), r"'age\^3', which the basis does not offer"),
        (
            Restrictions(force=["max(0, age-52)"]),
            r"needs that family in basis, for instance basis=\['polynomial', 'hin",
        ),
        (Restrictions(groups=[["age", "xyz"]]), "groups names the term 'xyz', which the basis does not offer"),
        (Restrictions(force=["site"]), "the feature 'site' is constant over the training rows.*Leave the term out"),
        (Restrictions(force=["age*site"]), "the feature 'site' is constant"),
        (Restrictions(force=["age"], forbid=[("age",)]), "names the term 'age', but forbid bars the feature 'age'"),
        (Restrictions(force=["age"], forbid=["age"]), "force the term 'age' but forbid it. Leave it out of one"),
        (Restrictions(force=["bmi*age"], forbid=[("age", "bmi")]), r"force the term 'bmi\*age' but forbid it"),
        (
            Restrictions(force=["age*bmi"], forbid=["bmi"], hierarchy=True),
            r"force the term 'age\*bmi' but forbid 'bmi', which it requires",
        ),
        (
            Restrictions(force=["sex"], forbid=["bmi"], groups=[["sex", "age"], ["age", "bmi"]]),
            "force the term 'sex' but forbid 'bmi', which it requires",
        ),
        (
            Restrictions(forbid=[("agee",)]),
            "forbid names the feature 'agee', but X has no such column. Did you mean 'age'",
        ),
        (Restrictions(forbid=[("age", "x1")]), "feature 'x1', but X has no such column.*features are x0, x1"),
        (Restrictions(forbid=["agee"]), "forbid names the term 'agee', which the basis does not offer"),
        (Restrictions(forbid=["agee*bmi"]), "forbid names the term"),
        (Restrictions(forbid=["max(0, agee-52)"]), "forbid names the term"),
        (Restrictions(forbid=["52"]), "forbid names the term '52'"),
    ],
    ids=str,
)
def test_what_cannot_be_is_an_error(restrictions, message):
    with pytest.raises(ValueError, match=message):
        fit(restrictions)


def test_only_terms_that_there_are_are_suggested():
    with pytest.raises(ValueError, match=r"'max\(0, age-1\)', which .* written like .*'max\(0, ") as caught:
        fit(Restrictions(force=["max(0, age-1)"]), basis="hinge")
    assert "Did you mean" not in str(caught.value)  # knots come from the data
    wide = np.random.default_rng(0).normal(size=(20, 120))
    with pytest.raises(ValueError, match=r"'x119\^3', which .* Did you mean 'x119'"):
        fit(Restrictions(force=["x119^3"]), wide, wide[:, 0] > 0)


def test_too_many_forced_terms():
    with pytest.raises(
        ValueError, match=r"force 3 terms, counting those that they require, but .* at most 2: max_drawn"
    ):
        fit(Restrictions(force=["age*bmi"], hierarchy=True), search=replace(FAST, max_drawn=2))


def test_what_the_basis_lacks_may_be_forbidden():
    names = ["age^3", "max(0, age-52)", "sex>0.5", "sin(pi*2*(age-20)/60)", "ramp(0.4*age - 1.2*bmi + 3)", "bmi=1e-05"]
    assert_obeyed(fit(Restrictions(forbid=[*names, "site", "age"])), Restrictions(forbid=["age"]))


def test_a_group_with_a_barred_feature_stays_out():
    clf = fit(Restrictions(forbid=[("sex",)], groups=[["age", "sex"]]))
    for model in (clf.models_[0], clf.restart_model(0), clf.restart_model(1)):
        assert "age" not in model.names
        assert not any("sex" in name for name in model.names)


def test_two_columns_of_one_name_cannot_be_told_apart():
    with pytest.raises(ValueError, match=r"'age', but two columns of X have that name\. Rename one"):
        barred_features(Restrictions(forbid=[("age",)]), ["age", "bmi", "age"])


def test_errors_leave_the_estimator_as_it_was():
    clf = RFSCClassifier(restrictions=Restrictions(force=["nothing"]), **QUICK)
    with pytest.raises(ValueError, match="does not offer"):
        clf.fit(*data())
    assert not hasattr(clf, "n_features_in_")
