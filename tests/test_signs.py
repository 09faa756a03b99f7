"""Increasing and decreasing features as a user meets them: every model obeys, and what cannot obey is an error."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from rfsc import Restrictions, RFSCClassifier, SearchSettings, bases
from rfsc._fit import large_tables, output
from rfsc._fit.output import OutputSearch
from rfsc._search.history import Candidate
from rfsc._terms import MonomialSpace
from rfsc.bases import FAMILIES, Fourier, Hinge, Polynomial, Radial, Rule, Sigmoid, Step
from rfsc.restrictions import MONOTONE_FAMILIES, requirements_of

FAST = SearchSettings(n_models=30, max_iter=10)
QUICK = {"basis": "polynomial", "search": FAST, "n_restarts": 2, "random_state": 0}
SIGNS = Restrictions(increasing=["age"], decreasing=["bmi"])


def data(n_rows=150, seed=0):
    """The odds rise with age, ever more slowly, fall with bmi, and first rise and then fall with dose."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(20, 80, n_rows),
            "bmi": rng.normal(27, 4, n_rows),
            "dose": rng.normal(size=n_rows),
            "sex": rng.integers(0, 2, n_rows).astype(float),
            "site": 1.0,
        }
    )
    f = 6 * np.sqrt((X["age"] - 20) / 60) - (X["bmi"] - 27) / 4 - X["dose"] ** 2 + X["sex"] - 3
    return X, (rng.random(n_rows) < expit(1.5 * f)).astype(int).to_numpy()


def fit(restrictions=SIGNS, X=None, y=None, sample_weight=None, **parameters):
    X, y = data() if X is None else (X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The answer has")  # of wrong signs only few terms are left
        return RFSCClassifier(restrictions=restrictions, **{**QUICK, **parameters}).fit(X, y, sample_weight)


def largest_violation(clf, X, restrictions, seed=0):
    """By how much the log-odds go the wrong way between neighbours of a grid, beside random values of the others."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(X)
    worst = 0.0
    for name, sign in restrictions.signs.items():
        values = np.unique(np.concatenate([X[name], np.linspace(X[name].min(), X[name].max(), 60)]))
        for _ in range(6):
            others = {other: rng.choice(X[other]) for other in X}  # every feature has a value of some row
            grid = pd.DataFrame({**others, name: values})[list(X)]
            f = clf.decision_function(grid if hasattr(clf, "feature_names_in_") else grid.to_numpy())
            worst = max(worst, float(np.max(-sign * np.diff(f), initial=0.0)))
    return worst


def assert_obeyed(clf, X, restrictions=SIGNS):
    """The answer and the models of all sizes are monotone, and so is every model that a search has ended with."""
    own = restrictions.signs
    sizes = [model.size for model in clf._paths[0]]
    assert sizes == sorted(set(sizes))
    for one in (clf, *(clf.at_size(size) for size in sizes)):
        assert largest_violation(one, X, restrictions) <= 1e-9
    space = clf._fits[0].space
    for search in clf.searches_[0]:
        for model in filter(None, (search.model, search.limit)):
            for term, coef in zip(space.terms(model.ids), model.coef, strict=True):
                alone = pd.DataFrame(np.random.default_rng(0).random((200, len(clf.feature_names_in_))))
                for p, sign in ((list(clf.feature_names_in_).index(name), sign) for name, sign in own.items()):
                    other = alone.copy()
                    other[p] = (alone[p] + 1.0) / 2.0
                    rises = coef * (term.column(other.to_numpy().T, 200) - term.column(alone.to_numpy().T, 200))
                    assert (sign * rises >= -1e-12).all()


# ---- every model obeys

FAMILIES_THAT_OBEY = {
    "polynomial": Polynomial(degree=3),
    "centred": "centred",
    "hinge": Hinge(4, products=True),
    "rule": Rule(n_knots=3),
    "step": Step(4, levels=True),
    "sigmoid": Sigmoid(60),
    "mixed": [Polynomial(degree=2), "radial", Hinge(3), Fourier(1)],
}


@pytest.mark.parametrize("basis", FAMILIES_THAT_OBEY.values(), ids=FAMILIES_THAT_OBEY)
def test_predictions_are_monotone_with_every_family(basis):
    clf = fit(basis=basis)
    assert_obeyed(clf, data()[0])
    assert largest_violation(fit(None, basis=basis), data()[0], Restrictions(increasing=["dose"])) > 0.01


@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**32 - 1),
    basis=st.sampled_from(["polynomial", "hinge", Rule(n_knots=2), "centred"]),
    size=st.sampled_from(["best", 3, None]),
    more=st.sampled_from([{}, {"hierarchy": True}, {"force": ["1"]}, {"forbid": ["1"]}, {"forbid": [("b", "c")]}]),
)
@example(seed=0, basis="auto", size="best", more={})
@example(seed=1, basis="auto", size=4, more={"hierarchy": True})
def test_predictions_are_monotone_on_random_tables(seed, basis, size, more):
    """Signs that are right, wrong, or those of features that do not matter."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    X["d"] = rng.integers(0, 4, 80)
    f = X.to_numpy() @ rng.normal(size=4) + X["a"] * X["b"] * rng.normal()
    signs = dict(zip(rng.permutation(list("abcd")).tolist(), rng.choice([-1, 1], 3).tolist(), strict=False))
    restrictions = Restrictions(
        increasing=[name for name, sign in signs.items() if sign > 0],
        decreasing=[name for name, sign in signs.items() if sign < 0],
        **more,
    )
    y = f + rng.logistic(size=80) > f.median()
    clf = fit(restrictions, X, y, basis=basis, size=size, n_restarts=1, search=replace(FAST, max_iter=5))
    assert_obeyed(clf, X, restrictions)


OTHERS = {
    "forced": {"force": ["age", "bmi", "1"]},
    "forced wrongly": {"force": ["age", "bmi"], "increasing": ["bmi"], "decreasing": ["age"]},
    "hierarchy": {"hierarchy": True},
    "groups": {"groups": [["age", "bmi"], ["sex", "dose"]]},
    "no intercept": {"forbid": ["1"]},
    "everything": {"force": ["sex"], "forbid": ["bmi^2", ("age", "dose")], "hierarchy": True},
}


@pytest.mark.parametrize("size", ["best", None, 3])
@pytest.mark.parametrize("fields", OTHERS.values(), ids=OTHERS)
def test_other_restrictions_beside_signs(fields, size):
    restrictions = Restrictions(**{"increasing": ["age"], "decreasing": ["bmi"], **fields})
    clf = fit(restrictions, size=size)
    assert_obeyed(clf, data()[0], restrictions)
    if "forbid" not in fields or fields["forbid"] != ["1"]:
        assert "1" in clf.models_[0].names


@pytest.mark.parametrize(
    "parameters",
    [
        {"engine": "numpy"},
        {"max_samples": 60},
        {"max_samples": 60, "size": None},
        {"search": replace(FAST, intercept=False)},
        {"search": replace(FAST, initial_rip="screened"), "basis": "hinge"},
        {"search": replace(FAST, filter_significance=0.05)},
        {"class_weight": "balanced", "n_restarts": 4},
        {"criterion": "accuracy", "significance": 0.01},
    ],
    ids=str,
)
def test_other_settings_obey(parameters):
    assert_obeyed(fit(**parameters), data()[0])


def test_weights_and_the_settings_of_the_paper_obey():
    X, y = data()
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    assert_obeyed(fit(SIGNS, X, y, weight), X[weight > 0])
    paper = RFSCClassifier.paper(restrictions=SIGNS, random_state=0, n_restarts=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert_obeyed(paper.fit(X, y), X)


def test_results_do_not_depend_on_the_number_of_jobs():
    X, y = data()
    one, two = (fit(SIGNS, X, y, n_jobs=n_jobs, basis="hinge") for n_jobs in (1, 2))
    assert one.models_[0].names == two.models_[0].names
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()


def test_terms_are_exchanged_under_signs_but_not_under_ties(monkeypatch):
    calls = []
    monkeypatch.setattr(output, "exchanged", lambda model, *_: (calls.append(1), model)[1])
    for restrictions, are_exchanged in [
        (None, True),
        (SIGNS, True),
        (replace(SIGNS, forbid=[("sex",)]), True),
        (replace(SIGNS, force=["age"]), False),
        (replace(SIGNS, groups=[["age", "sex"]]), False),
        (replace(SIGNS, hierarchy=True), False),
    ]:
        calls.clear()
        fit(restrictions, size=3)
        assert bool(calls) == are_exchanged


# ---- what signs are good for


def test_a_feature_with_the_other_sign_leaves_the_model():
    X, y = data(300)
    for wrong in (Restrictions(decreasing=["age"]), Restrictions(increasing=["bmi"])):
        free, clf = fit(None, X, y, size=5), fit(wrong, X, y, size=5)
        (feature,) = wrong.signs
        assert any(feature in name for name in free.models_[0].names)
        assert not any(name.startswith(feature) or name == feature for name in clf.models_[0].names)
        assert_obeyed(clf, X, wrong)


def test_right_signs_change_nothing_that_obeys_anyway():
    X, y = data(300)
    free = fit(None, X, y, basis=Polynomial(degree=1))
    signed = fit(Restrictions(increasing=["age", "sex"], decreasing=["bmi"]), X, y, basis=Polynomial(degree=1))
    assert set(free.models_[0].names) == set(signed.models_[0].names)
    np.testing.assert_allclose(free.decision_function(X), signed.decision_function(X), rtol=1e-9)


def test_hinges_follow_a_concave_rise():
    X, y = data(600, seed=1)
    clf = fit(Restrictions(increasing=["age"]), X, y, basis="hinge", size=6, search=SearchSettings(max_iter=30))
    assert any(name.startswith("max(0, ") and name.endswith("-age)") for name in clf.models_[0].names)
    assert_obeyed(clf, X, Restrictions(increasing=["age"]))
    grid = pd.DataFrame({name: np.full(3, X[name].median()) for name in X} | {"age": [20.0, 40.0, 80.0]})
    low, middle, high = clf.decision_function(grid)
    assert (middle - low) / 20 > 2 * (high - middle) / 40 >= 0.0


def test_constant_barred_and_filtered_features_have_no_effect():
    X, y = data()
    free = fit(None, X, y)
    flat = fit(Restrictions(increasing=["site"]), X, y)
    assert flat.models_[0].names == free.models_[0].names
    barred = Restrictions(increasing=["age"], forbid=[("age",)])
    assert not any("age" in name for name in fit(barred, X, y, basis="fourier").models_[0].names)


# ---- the final fit


@pytest.mark.parametrize("is_large", [False, True])
def test_the_final_fit_drops_what_has_the_wrong_sign_on_all_rows(is_large, monkeypatch):
    """As if a search had chosen the wrong sign, which happens by rounding or on a part of the rows."""
    seen, original = [], OutputSearch.fitted

    def fitted(self, path):
        lines = np.arange(5)  # the constant and the features in an order of their own
        start = Candidate(lines, np.zeros(5), 0.0, 0.0)
        (found,) = original(self, [start])
        names = [term.name(self.job.spec.feature_names) for term in self.space.terms(found.ids)]
        seen.append(dict(zip(names, found.coef.tolist(), strict=True)))
        return original(self, path)

    monkeypatch.setattr(OutputSearch, "fitted", fitted)
    X, y = data(400)
    X = X[["age", "bmi", "dose", "sex"]]
    wrong = Restrictions(increasing=["bmi", "sex"], decreasing=["age"])
    if is_large:
        import dask
        import dask.array as da

        monkeypatch.setattr(large_tables, "MAX_SAMPLE_ROWS", 200)
        rows = da.from_array(X.to_numpy(), chunks=(150, 4))
        renamed = Restrictions(increasing=["x1", "x3"], decreasing=["x0"])
        with dask.config.set(scheduler="synchronous"):
            clf = fit(renamed, rows, y)
        names = {"1", "x2", "x3"}
        plain = pd.DataFrame(X.to_numpy(), columns=["x0", "x1", "x2", "x3"])
        assert largest_violation(clf, plain, renamed) <= 1e-9
    else:
        clf = fit(wrong, X, y, size=4)
        names = {"1", "dose", "sex"}
    assert set(seen[-1]) == names
    assert seen[-1]["x3" if is_large else "sex"] > 0


# ---- what cannot be


def test_several_classes_are_refused():
    X, _ = data()
    y = np.arange(len(X)) % 3
    message = r"increasing is about .* two classes, but y holds 3 classes\. Fit one class against the rest"
    with pytest.raises(ValueError, match=message):
        fit(SIGNS, X, y)
    with pytest.raises(ValueError, match=r"decreasing is about"):
        fit(Restrictions(decreasing=["age"]), X, y)
    fit(Restrictions(forbid=["age"]), X, y)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"increasing": ["agee"]}, r"restrictions\.increasing names the feature 'agee', but X has no.* mean 'age'\?"),
        ({"decreasing": ["age*bmi"]}, r"restrictions\.decreasing names the feature 'age\*bmi', but X has no such"),
        ({"increasing": ["age"], "basis": "radial"}, r"increasing names the feature 'age', but every term of it"),
        ({"decreasing": ["sex"], "basis": Fourier(2)}, r"decreasing names the feature 'sex'.*'polynomial', 'centred'"),
        ({"decreasing": ["bmi"], "basis": ["fourier", "radial"]}, "may both rise and fall with it. Add a family"),
        (
            {"increasing": ["age"], "decreasing": ["bmi"], "force": ["age*bmi"]},
            r"force the term 'age\*bmi', but increasing or decreasing forbid it: whatever",
        ),
        (
            {"increasing": ["bmi"], "force": ["age^2*bmi"], "basis": bases.Centred(degree=3), "hierarchy": True},
            r"decreasing forbid '\(age-k\)\*\(bmi-k\)', which it requires: whatever its coefficient",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_is_an_error(fields, message):
    fields = dict(fields)
    parameters = {"basis": fields.pop("basis")} if "basis" in fields else {}
    with pytest.raises(ValueError, match=message):
        fit(Restrictions(**fields), **parameters)


def test_a_name_of_two_columns_is_refused():
    space, constant = MonomialSpace(np.arange(3), 1), np.zeros(3, dtype=bool)
    with pytest.raises(
        ValueError, match=r"restrictions\.increasing names the feature 'age', but two columns of X have"
    ):
        requirements_of(SIGNS, space, ["age", "bmi", "age"], constant=constant, max_terms=5)


def test_wrong_fields_are_refused():
    with pytest.raises(
        ValueError, match=r"increasing and decreasing both name the feature 'age'\. Leave it out of one"
    ):
        Restrictions(increasing=["bmi", "age"], decreasing=["age"])
    with pytest.raises(TypeError, match=r"increasing must be a list or tuple, got 'age'\. Write brackets"):
        Restrictions(increasing="age")
    with pytest.raises(TypeError, match="decreasing must hold names of terms or features as texts"):
        Restrictions(decreasing=[3])
    assert Restrictions(increasing=["age"]) != Restrictions(decreasing=["age"])


def test_the_message_names_the_families_that_obey():
    for name in FAMILIES:
        if name in MONOTONE_FAMILIES:
            fit(Restrictions(increasing=["age", "sex"]), basis=name, search=replace(FAST, max_iter=1), size=1)
        else:
            with pytest.raises(ValueError, match="may both rise and fall"):
                fit(Restrictions(increasing=["age", "sex"]), basis=name)


def test_mixes_of_auto_that_cannot_obey_are_left_out(monkeypatch):
    mixes = {"linear": (Polynomial(degree=1),), "radial": (Radial(),), "both": (Polynomial(degree=1), Radial())}
    monkeypatch.setattr(bases, "auto_mixes", lambda *_: mixes)
    clf = fit(basis="auto")
    assert set(clf.basis_losses_) == {"linear", "both"}
    only = {"radial": (Radial(),), "waves": (Fourier(),)}
    monkeypatch.setattr(bases, "auto_mixes", lambda *_: only)
    with pytest.raises(ValueError, match=r'basis="auto" has no mix that offers every term.*With radial: .*increasing'):
        fit(basis="auto")


def test_a_term_that_cannot_obey_leaves_out_its_mix_if_it_is_forced(monkeypatch):
    mixes = {"polynomial": (Polynomial(),), "centred": (bases.Centred(),)}
    monkeypatch.setattr(bases, "auto_mixes", lambda *_: mixes)
    clf = fit(Restrictions(force=["age*bmi"], increasing=["age"]), basis="auto")
    assert set(clf.basis_losses_) == {"polynomial"}
