"""The parameter `basis`: what may be written, and that every family goes all the way from fit to the formula."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from rfsc import RFSCClassifier, RFSCSelector, SearchSettings
from rfsc._terms import MonomialSpace, Term, Training, monomial
from rfsc._terms.expression import conditions_of
from rfsc._terms.scaling import Scaling
from rfsc._utils.determinism import seeds_of_searches, stream
from rfsc.bases import Centred, Fourier, Hinge, Polynomial, Radial, Rule, Sigmoid, Step, build_space, resolve
from rfsc.explain import equation, for_and_against, summary

ROOT = Path(__file__).parents[1]
QUICK = {"n_restarts": 2, "search": SearchSettings(max_iter=40), "random_state": 0}
NAMES = ["polynomial", "centred", "hinge", "rule", "radial", "fourier", "sigmoid", "step"]
MIXES = [
    *NAMES,
    ["polynomial", "hinge"],
    ["rule", "hinge"],
    ["centred", "step"],
    ["step", "fourier", "sigmoid"],
    ["radial", Polynomial(degree=3, interaction_only=True)],
    ["hinge", "step", "radial", "fourier", "sigmoid", "polynomial"],
    [Hinge(4, products=True), Step(3, levels=True)],
    (Polynomial(degree=4, max_features=1), Polynomial(degree=2, interaction_only=True)),
]


def data(n=150, seed=0):
    """Two smooth features, one that bends, one of few integers; 20 is a constant."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.uniform(100, 900, n), rng.integers(0, 4, n), np.full(n, 20.0)])
    signal = X[:, 0] + np.maximum(0, X[:, 1] - 500) / 100 - 2 * (X[:, 2] == 2) + rng.logistic(size=n) / 2
    frame = pd.DataFrame(X, columns=["age", "dose", "stage", "same"])
    return frame, (signal > np.median(signal)).astype(int)


def fit(basis="polynomial", X=None, y=None, **parameters):
    X, y = (*data(),) if X is None else (X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return RFSCClassifier(basis=basis, **{**QUICK, **parameters}).fit(X, y)


def same_models(one, other):
    for a, b in zip(one.models_, other.models_, strict=True):
        assert a.names == b.names
        assert a.coef.tobytes() == b.coef.tobytes()


def training_of(X, features=None):
    X = np.asarray(X, dtype=float)
    scaling = Scaling.from_rows(X)
    features = np.flatnonzero(~scaling.constant) if features is None else features
    return Training(scaling.table(X), np.ones(len(X)), features, scaling)


# what may be written


@pytest.mark.parametrize(
    ("basis", "families"),
    [
        ("polynomial", (Polynomial(degree=2),)),
        ("centred", (Centred(degree=2),)),
        ("hinge", (Hinge(),)),
        ("rule", (Rule(),)),
        (["rule", "hinge"], (Rule(), Hinge())),
        ("radial", (Radial(),)),
        ("fourier", (Fourier(),)),
        ("sigmoid", (Sigmoid(),)),
        ("step", (Step(),)),
        (Polynomial(degree=1), (Polynomial(degree=1),)),
        (Hinge(3), (Hinge(3),)),
        (["hinge"], (Hinge(),)),
        (("step", "hinge"), (Step(), Hinge())),
        (["hinge", ["step", ["polynomial"]], Fourier(1)], (Hinge(), Step(), Polynomial(), Fourier(1))),
        (["hinge", "hinge", Hinge(8), "step"], (Hinge(), Step())),
        (["polynomial", Polynomial(degree=2)], (Polynomial(),)),
        (["polynomial", Polynomial(degree=5)], (Polynomial(), Polynomial(degree=5))),
        ([Sigmoid(5), Sigmoid(5, steepness=2.0)], (Sigmoid(5), Sigmoid(5, steepness=2.0))),
    ],
)
def test_resolve(basis, families):
    assert resolve(basis) == families


def test_resolve_takes_families_of_the_user():
    class Mine:
        def space(self, training, rng):
            return MonomialSpace(training.features, 1)

    mine = Mine()
    assert resolve(["hinge", mine, mine]) == (Hinge(), mine)


BAD = [
    ("spline", r"basis must be one of 'polynomial', 'centred', 'hinge'.*got 'spline'"),
    ("", "got ''"),
    (None, "got an object of type NoneType"),
    (3, "got an object of type int"),
    ({"hinge"}, "got an object of type set"),
    (np.array(["hinge", "step"]), "got an object of type ndarray"),
    ([], "at least one family of terms, got an empty list"),
    (["hinge", []], "got an empty list"),
    (["hinge", None], "got an object of type NoneType"),
    (Hinge, r"got the class Hinge\. Write Hinge\(\)"),
    ([StandardScaler], r"got the class StandardScaler\. Write StandardScaler\(\)"),
    (RFSCClassifier(), "got an object of type RFSCClassifier"),
    (["polynomial", "centred"], "hold the features themselves"),
    ([Centred(3), Polynomial(degree=1)], "hold the features themselves"),
    (["hinge", Hinge(3)], r"Hinge with two different settings.*Put them into one Hinge"),
    (["rule", "step"], "every step is a rule of one condition"),
    (["rule", Rule(n_knots=3)], "Rule with two different settings"),
    ([Radial(), Radial(5)], "Radial with two different settings"),
    (StandardScaler().fit(np.eye(2)), "got an object of type StandardScaler"),
]


@pytest.mark.parametrize(("basis", "message"), BAD)
def test_a_bad_basis_is_refused_before_anything_is_fitted(basis, message):
    X, y = data(40)
    watched = []
    clf = fit("polynomial", X.iloc[:, :2], y).set_params(basis=basis, callbacks=watched.append)
    before, state = clf.decision_function(X.iloc[:, :2]), set(vars(clf))
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    assert not watched
    assert set(vars(clf)) == state
    assert clf.n_features_in_ == 2
    np.testing.assert_array_equal(clf.decision_function(X.iloc[:, :2]), before)


# one space


@pytest.mark.parametrize("basis", [*MIXES, ["polynomial", Polynomial(degree=4)], [Polynomial(degree=0), "hinge"]])
@pytest.mark.parametrize("features", [None, np.array([0]), np.arange(0)])
def test_the_constant_is_there_exactly_once_and_no_term_twice(basis, features):
    training = training_of(data()[0], features)
    space = build_space(resolve(basis), training, 0)
    ids = np.unique(space.simplest(np.arange(space.n_terms)))
    terms = space.terms(ids)
    assert [term for term in terms if not term.features] == [monomial([])]
    assert terms[0] == monomial([])
    assert len(set(terms)) == ids.size
    assert len({term.name(["age", "dose", "stage", "same"]) for term in terms}) == ids.size
    allowed = set(training.features.tolist())
    assert {p for term in terms for p in term.features} <= allowed
    columns = space.columns(training.table, np.arange(space.n_terms))
    assert (columns == 1).all(axis=1).sum() == 1
    others = space.terms(1 + np.flatnonzero(np.ptp(columns[1:], axis=1) == 0))
    assert all(len(conditions_of(term.expression)) > 1 for term in others)  # which never hold together


def test_the_seed_alone_decides_the_layout():
    training = training_of(data()[0])
    one, same, other = (build_space(resolve(["sigmoid", "radial"]), training, seed) for seed in (5, 5, 6))
    ids = np.arange(one.n_terms)
    assert one.terms(ids) == same.terms(ids)
    assert one.terms(ids[:150]) != other.terms(ids[:150])


# generators


@pytest.mark.parametrize("make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)])
def test_seeds_are_those_that_numpy_spawns_and_move_no_generator(make):
    state = make()
    seeds = seeds_of_searches(state, 3, 2)
    root = np.random.SeedSequence(seeds[0][0].entropy)
    for own, output in zip(seeds, root.spawn(3), strict=True):
        for seed, spawned in zip(own, output.spawn(2), strict=True):
            assert seed.generate_state(8).tolist() == spawned.generate_state(8).tolist()
            streams = [stream(seed, k).random(3).tolist() for k in range(3)]
            assert streams == [np.random.default_rng(one).random(3).tolist() for one in spawned.spawn(3)]
    again = seeds_of_searches(state, 3, 2)
    assert again[2][1].generate_state(4).tolist() == seeds[2][1].generate_state(4).tolist()
    if not isinstance(state, int):
        moved = make()
        moved.random()
        assert seeds_of_searches(moved, 3, 2)[0][0].entropy != seeds[0][0].entropy


# every family through the classifier


@pytest.fixture(scope="module", params=range(len(MIXES)), ids=lambda i: re.sub(r"\W+", "-", str(MIXES[i]))[:40])
def mix(request):
    return MIXES[request.param]


@pytest.fixture(scope="module")
def fitted(mix):
    return fit(mix)


def test_fits_and_predicts(mix, fitted):
    X, y = data()
    assert fitted.score(X, y) > 0.7
    assert fitted.predict_proba(X).shape == (150, 2)
    assert fitted.basis is mix
    assert fitted.n_terms_[0] > 1
    assert not fitted.support_[3]
    assert len(fitted.term_names(np.arange(fitted.n_terms_[0]))) == fitted.n_terms_[0]
    assert fitted.restart_model(0).decision(X.to_numpy()).shape == (150,)
    assert np.isfinite(fitted.decision_function(X * 1e200)).all()


def test_same_seed_same_model_whatever_the_threads(mix, fitted):
    same_models(fitted, fit(mix, n_jobs=2))


def test_copies_predict_and_fit_alike(mix, fitted):
    X, y = data()
    expected = fitted.decision_function(X)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        np.testing.assert_array_equal(other.decision_function(X), expected)
    again = clone(pickle.loads(pickle.dumps(fitted)))
    assert not hasattr(again, "models_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again.fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), expected)
    fresh = RFSCClassifier().set_params(**fitted.get_params())
    assert fresh.get_params()["basis"] is mix


def test_original_units_are_the_same_function(fitted):
    (model,) = fitted.models_
    new = data(60, seed=1)[0]
    raw = dict(enumerate(new.to_numpy().T))
    for expand in (True, False):
        by_hand = sum(coef * term.column(raw, 60) for term, coef in model.unscaled(expand=expand).items())
        np.testing.assert_allclose(by_hand, fitted.decision_function(new), rtol=1e-9, atol=1e-9)
    text = equation(model, digits=17)
    assert text.startswith("f = ")
    shown = [term for term, coef in model.unscaled(expand=False).items() if term.features and coef]
    assert all(term.name(model.feature_names) in text for term in shown)


def test_explanations(fitted):
    (model,) = fitted.models_
    X = data()[0]
    text = summary(model)
    assert all(name in text for name in model.names)
    split = for_and_against(model, X.to_numpy())
    np.testing.assert_allclose(split.for_class - split.against_class, fitted.decision_function(X), atol=1e-12)
    assert [Term.from_dict(term.as_dict()) for term in model.terms] == list(model.terms)


def test_selector_gives_terms(mix):
    X, y = data()
    selector = RFSCSelector(RFSCClassifier(basis=mix, **QUICK), output="terms")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        out = selector.fit_transform(X, y)
    (model,) = selector.estimator_.models_
    names = [name for name in model.names if name != "1"]
    assert selector.get_feature_names_out().tolist() == names
    expected = [column for name, column in zip(model.names, model.columns(X.to_numpy()), strict=True) if name != "1"]
    np.testing.assert_array_equal(out, np.stack(expected, axis=1))


@pytest.mark.parametrize("basis", ["radial", "sigmoid", ["polynomial", "hinge"]])
def test_three_classes_share_the_layout(basis):
    X, y = load_iris(return_X_y=True)
    clf = fit(basis, X, y)
    assert clf.score(X, y) > 0.9
    ids = np.arange(clf.n_terms_[0])
    assert clf.term_names(ids, 0) == clf.term_names(ids, 1) == clf.term_names(ids, 2)


@pytest.mark.parametrize("basis", ["hinge", "step", "fourier", "radial", "sigmoid"])
def test_weights_count_observations(basis):
    X, y = data(80)
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    weighted = RFSCClassifier(basis=basis, **QUICK).fit(X, y, sample_weight=weight)
    repeated = RFSCClassifier(basis=basis, **QUICK).fit(X.loc[X.index.repeat(weight)], y.repeat(weight))
    assert weighted.models_[0].names == repeated.models_[0].names
    np.testing.assert_allclose(weighted.models_[0].coef, repeated.models_[0].coef, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "choices",
    [["polynomial", "hinge"], ["step", Fourier(2)], [["step", "hinge"], "radial"], [["step", "hinge"], ["sigmoid"]]],
)
def test_grid_search_chooses_a_basis(choices):
    X, y = data()
    grid = GridSearchCV(RFSCClassifier(**QUICK), {"basis": choices}, cv=2, error_score="raise").fit(X, y)
    assert grid.best_params_["basis"] in choices
    assert grid.predict(X).shape == (150,)


# corners


@pytest.mark.parametrize("basis", [*NAMES, MIXES[-2]], ids=str)
@pytest.mark.parametrize(
    "rows",
    [
        lambda rng: rng.normal(size=(40, 1)),
        lambda rng: rng.normal(size=(5, 2)),
        lambda rng: rng.normal(size=(2, 2)),
        lambda rng: rng.integers(0, 2, size=(30, 2)).astype(float),
        lambda rng: np.full((12, 2), 3.0),
        lambda rng: np.column_stack([rng.normal(size=30) * 1e300, rng.normal(size=30) * 1e-300]),
    ],
    ids=["one feature", "five rows", "two rows", "binary", "constant", "extreme units"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_corners(basis, rows):
    X = rows(np.random.default_rng(0))
    y = np.arange(len(X)) % 2
    clf = RFSCClassifier(basis=basis, n_restarts=1, search=SearchSettings(max_iter=5), random_state=0).fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()
    summary(clf.models_[0])
    equation(clf.models_[0], units="original")


def test_a_basis_without_terms_leaves_the_constant_and_says_so():
    X, y = np.repeat([[0.0, 1.0], [2.0, 5.0]], 6, axis=0), np.arange(12) % 2  # two distinct rows make no cluster
    with pytest.warns(ConvergenceWarning, match=r"The basis offers no term but the constant.*'polynomial'"):
        clf = RFSCClassifier(basis="radial", **QUICK).fit(X, y)
    assert clf.n_terms_.tolist() == [1]
    assert clf.predict(X).shape == (12,)
    with pytest.warns(ConvergenceWarning, match=r"iterations; .* All features are constant: check X\.$"):
        RFSCClassifier(basis="radial", **QUICK).fit(np.ones((6, 2)), np.arange(6) % 2)


def test_the_filter_limits_every_family():
    X, y = data()
    X = np.column_stack([X, np.random.default_rng(5).normal(size=(150, 2))])
    clf = fit(
        ["hinge", "radial", "fourier", "sigmoid", "step"],
        X,
        y,
        search=SearchSettings(max_iter=40, filter_significance=0.01),
    )
    used = {p for term in clf._fits[0].space.terms(np.arange(clf.n_terms_[0])) for p in term.features}
    assert used <= {0, 1, 2}


# the page


def test_the_page_tells_of_every_family():
    page = (ROOT / "docs" / "bases.md").read_text()
    assert set(NAMES) <= set(re.findall(r'^\*\*`"(\w+)"`', page, re.MULTILINE))
