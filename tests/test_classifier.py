"""The estimator as a user meets it."""

from __future__ import annotations

import io
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rfsc import RFSCClassifier, SearchSettings
from rfsc._search.progress import ConsoleProgress, progress_of
from rfsc._utils.determinism import MOST_THREADS
from rfsc.explain import equation, summary
from tests.making import make

QUICK = {"basis": "polynomial", "n_restarts": 2, "max_iter": 60, "random_state": 0}


@pytest.fixture(scope="module")
def wdbc():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(wdbc):
    return make(**QUICK).fit(*wdbc)


def test_fitted_attributes(fitted, wdbc):
    X, _ = wdbc
    (model,) = fitted.models_
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.n_terms_.tolist() == [496]
    assert fitted.feature_names_in_.tolist() == X.columns.tolist()
    assert fitted.support_.sum() == len(model.features)
    assert set(X.columns[fitted.support_]) == {
        f for name in model.names for f in name.replace("^2", "").split("*") if f != "1"
    }
    assert len(fitted.searches_) == 1
    assert len(fitted.searches_[0]) == 2
    assert fitted.n_iter_[0] == max(len(s.history) for s in fitted.searches_[0])
    assert all(s.stop_reason in ("patience", "max_iter") for s in fitted.searches_[0])
    assert fitted.score(*wdbc) > 0.95


def test_no_training_data_stays_on_the_object(fitted, wdbc):
    X, _ = wdbc
    (model,) = fitted.models_
    assert len(pickle.dumps(replace(model, evidence=None))) < 5000
    kept = [model.evidence.selected, model.evidence.rip, *(trace.rips for trace in model.evidence.traces)]
    rows = {len(X)}
    assert not rows & {n for a in kept for n in a.shape}
    arrays = [v for v in vars(fitted).values() if isinstance(v, np.ndarray)]
    assert not rows & {n for a in arrays for n in a.shape}


def test_terms_are_products_of_scaled_features(fitted, wdbc):
    X, _ = wdbc
    scaled = (X - X.min()) / (X.max() - X.min())
    f = np.zeros(len(X))
    for name, coef in zip(fitted.models_[0].names, fitted.models_[0].coef, strict=True):
        product = np.ones(len(X))
        for factor in [] if name == "1" else name.split("*"):
            base, _, power = factor.partition("^")
            product *= scaled[base].to_numpy() ** int(power or 1)
        f += coef * product
    np.testing.assert_allclose(fitted.decision_function(X), f, atol=1e-9)


def test_equation_in_original_units_can_be_typed_into_a_calculator(fitted, wdbc):
    X, _ = wdbc
    text = equation(fitted.models_[0], units="original", digits=17).removeprefix("f = ")
    columns = {name: f"c{j}" for j, name in enumerate(X.columns)}
    for name in sorted(columns, key=len, reverse=True):
        text = text.replace(name, columns[name])
    values = {columns[name]: X[name].to_numpy() for name in X.columns}
    f = eval(text.replace("^", "**"), values)
    np.testing.assert_allclose(f, fitted.decision_function(X), atol=1e-6)


def test_summary_shows_terms_errors_and_features(fitted):
    text = summary(fitted.models_[0])
    for name in fitted.models_[0].names:
        assert name in text
    assert "worth" in text
    assert "p-value" not in text
    assert max(len(line) for line in text.splitlines()[:3]) <= 120


def test_every_term_of_the_best_restart_is_significant(wdbc):
    clf = make(**QUICK, size=None).fit(*wdbc)
    assert (clf.models_[0].p_value < 2 * clf.significance).all()


def test_every_class_has_its_own_size():
    clf = make(**QUICK).fit(*load_wine(return_X_y=True))
    sizes = [model.size for model in clf.models_]
    assert max(sizes) <= clf.max_terms
    assert [model.size for model in clf.at_size(1).models_] == [1, 1, 1]
    assert clf.at_size(1).size == clone(clf.at_size(1)).size == 1
    assert clf.size != 1
    assert len(clf.front_.n_terms) == sum(len(path) for path in clf._paths)


def test_restart_model_is_what_the_restart_found(fitted, wdbc):
    X, _ = wdbc
    for restart, search in enumerate(fitted.searches_[0]):
        model = fitted.restart_model(restart)
        assert set(model.names) == set(fitted.term_names(search.model.ids))
        assert model.score == search.model.score
        assert model.standard_error is None
        np.testing.assert_array_equal(model.coef, search.model.coef)
        assert model.decision(X.to_numpy()).shape == (len(X),)
        settled = fitted.restart_model(restart, limit=True)
        assert set(settled.names) == set(fitted.term_names((search.limit or search.model).ids))


def test_multiclass_probabilities_agree_with_decisions():
    X, y = load_iris(return_X_y=True)
    clf = make(**QUICK).fit(X, np.array(["a", "b", "c"])[y])
    assert len(clf.models_) == 3
    assert clf.n_terms_.tolist() == [15] * 3
    far = np.vstack([X, 30 * X, -30 * X, X**3])
    proba, decision = clf.predict_proba(far), clf.decision_function(far)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.array_equal(proba.argmax(axis=1), decision.argmax(axis=1))
    assert np.array_equal(clf.predict(far), clf.classes_[decision.argmax(axis=1)])
    assert clf.score(X, np.array(["a", "b", "c"])[y]) > 0.93


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_flow_from_frames(frame, wdbc):
    X, y = wdbc
    small = X.iloc[:, :4]
    clf = make(**QUICK).fit(frame({c: small[c].to_numpy() for c in small}), y)
    plain = make(**QUICK).fit(small.to_numpy(), y)
    assert clf.feature_names_in_.tolist() == small.columns.tolist()
    assert np.array_equal(clf.models_[0].coef, plain.models_[0].coef)
    renamed = [n.replace("x0", small.columns[0]).replace("x1", small.columns[1]) for n in plain.models_[0].names]
    renamed = [n.replace("x2", small.columns[2]).replace("x3", small.columns[3]) for n in renamed]
    assert list(clf.models_[0].names) == renamed


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_same_bits_for_any_number_of_jobs(n_jobs, wdbc, fitted):
    other = make(**QUICK, n_jobs=n_jobs).fit(*wdbc)
    assert np.array_equal(fitted.models_[0].coef, other.models_[0].coef)
    assert fitted.models_[0].names == other.models_[0].names


def test_engines_give_the_same_answer(wdbc):
    X, y = wdbc
    quick = QUICK | {"n_restarts": 1, "max_iter": 15}
    fast, slow = (make(**quick, engine=engine).fit(X.iloc[:, :5], y) for engine in ("numba", "numpy"))
    assert fast.models_[0].names == slow.models_[0].names
    np.testing.assert_allclose(fast.models_[0].coef, slow.models_[0].coef, rtol=1e-6)


def test_the_order_of_the_rows_does_not_matter(wdbc, fitted):
    X, y = wdbc
    order = np.random.default_rng(0).permutation(len(X))
    other = make(**QUICK).fit(X.iloc[order], y.iloc[order])
    assert fitted.models_[0].names == other.models_[0].names
    np.testing.assert_allclose(fitted.models_[0].coef, other.models_[0].coef, rtol=1e-6)


@pytest.mark.parametrize(
    "criterion", ["accuracy", "balanced_accuracy", "kappa", "log_loss", "loo_accuracy", "loo_log_loss"]
)
def test_every_criterion_finds_a_model(criterion, wdbc):
    X, y = wdbc
    clf = make(**QUICK | {"n_restarts": 1}, criterion=criterion).fit(X, y)
    assert clf.score(X, y) > 0.93


def test_scikit_learn_tools_set_and_copy_parameters(wdbc, fitted):
    X, y = wdbc
    pipeline = make_pipeline(StandardScaler(), make(**QUICK))
    assert cross_val_score(pipeline, X.iloc[:, :5], y, cv=2).min() > 0.8
    grid = GridSearchCV(make(**QUICK), {"criterion": ["accuracy", "kappa"]}, cv=2).fit(X.iloc[:, :5], y)
    assert grid.best_params_["criterion"] in ("accuracy", "kappa")
    assert make(paper=True, n_restarts=3).search.unseen == "zero"
    grid = GridSearchCV(make(**QUICK), {"search__ridge": [0.1, 1.0]}, cv=2).fit(X.iloc[:, :5], y)
    assert grid.best_estimator_.search == replace(make(**QUICK).search, ridge=grid.best_params_["search__ridge"])
    assert RFSCClassifier().set_params(search__tol=0.1, n_restarts=3).search == SearchSettings(tol=0.1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'rigde'"):
        RFSCClassifier().set_params(search__rigde=0.1)
    assert "criterion='kappa'" in repr(make(criterion="kappa"))
    assert pickle.loads(pickle.dumps(fitted)).score(X, y) == fitted.score(X, y)


def test_weights_count_observations(wdbc):
    X, y = wdbc
    X, y = X.iloc[:, :5], y.to_numpy()
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    weighted = make(**QUICK, filter_significance=0.05).fit(X, y, sample_weight=weight)
    repeated = make(**QUICK, filter_significance=0.05).fit(X.loc[X.index.repeat(weight)], y.repeat(weight))
    assert weighted.models_[0].names == repeated.models_[0].names
    np.testing.assert_allclose(weighted.models_[0].coef, repeated.models_[0].coef, rtol=1e-6)
    np.testing.assert_allclose(weighted.models_[0].standard_error, repeated.models_[0].standard_error, rtol=1e-6)


def test_balanced_weights_favour_the_rare_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + rng.logistic(size=400) > 3).astype(int)
    plain, balanced = (make(**QUICK, class_weight=w).fit(X, y) for w in (None, "balanced"))
    assert balanced.predict(X).mean() > 2 * plain.predict(X).mean()


def test_constant_features_are_dropped_and_reported(wdbc):
    X, y = wdbc
    X = X.iloc[:, :4].assign(constant=3.0)
    clf = make(**QUICK).fit(X, y)
    assert clf.constant_features_.tolist() == [4]
    assert clf.n_terms_.tolist() == [15]
    assert not clf.support_[4]


def test_filter_shrinks_the_space(wdbc):
    X, y = wdbc
    noise = np.random.default_rng(0).normal(size=(len(y), 3))
    X = np.column_stack([X.iloc[:, :4], noise])
    clf = make(**QUICK, filter_significance=1e-4).fit(X, y)
    assert clf.n_terms_.tolist() == [15]


def test_separable_classes_give_a_sensible_model():
    X = np.linspace(-1, 1, 60)[:, None] + np.array([[0.0, 100.0]])
    y = (X[:, 0] > 0).astype(int)
    clf = make(**QUICK).fit(X, y)
    assert len(clf.models_[0].terms) > 0
    assert clf.score(X, y) > 0.95
    assert np.isfinite(clf.models_[0].coef).all()


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1.0])
def test_huge_tiny_and_collinear_columns(scale, wdbc):
    X, y = wdbc
    x = X.iloc[:, :2].to_numpy()
    X = np.column_stack([x, x[:, 0] * scale, 2 * x[:, 1] - x[:, 0], np.full(len(x), scale)])
    clf = make(**QUICK).fit(X, y)
    assert clf.score(X, y) > 0.85
    assert np.isfinite(clf.decision_function(X)).all()


def test_pure_noise_warns_and_still_predicts():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or n_models") as caught:
        clf = make(
            basis="polynomial",
            n_models=2,
            max_iter=1,
            n_restarts=1,
            random_state=0,
            significance=1e-6,
            intercept=False,
            size=None,
        ).fit(X, y)
    assert clf.predict(X).shape == (60,)
    assert caught[0].filename == __file__


def test_callbacks_watch_and_stop(wdbc):
    X, y = load_iris(return_X_y=True)
    records = []

    class Stopper:
        def on_iteration(self, record):
            records.append(record)
            return "stop_all" if record.output == 1 and record.iteration == 3 else None

    clf = make(**QUICK, callbacks=[Stopper()]).fit(X, y)
    assert [len(s) for s in clf.searches_] == [2, 1, 1]
    assert clf.searches_[2][0].n_iter == 1
    assert records[-1].output == 2
    assert len(records) == sum(s.n_iter for output in clf.searches_ for s in output)
    one = make(**QUICK, callbacks=lambda record: "stop_all").fit(X, y)
    assert one.n_iter_.tolist() == [1, 1, 1]


def test_an_error_in_a_callback_leaves_the_estimator_untouched(wdbc, fitted):
    X, y = wdbc
    clf = clone(fitted).fit(X, y)
    before = clf.predict(X)
    clf.set_params(callbacks=lambda record: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        clf.fit(X.iloc[:, :3], y)
    assert np.array_equal(clf.predict(X), before)


def test_callbacks_that_cannot_be_called_are_refused(wdbc):
    with pytest.raises(TypeError, match="got an object of type int"):
        make(callbacks=3).fit(*wdbc)


def test_samples_far_from_the_training_data_get_finite_answers(fitted, wdbc):
    X, _ = wdbc
    for factor in (1e200, -1e300):
        assert np.isfinite(fitted.decision_function(X * factor)).all()
        assert np.isfinite(fitted.predict_proba(X * factor)).all()


def test_term_names_of_recorded_ids(fitted):
    record = fitted.searches_[0][0].history[-1]
    names = fitted.term_names(record.rips.ids)
    assert len(names) == record.rips.ids.size
    assert all(isinstance(name, str) for name in names)


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_progress_bar_is_one_line_that_fits(fitted, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    screen, log = Screen(), io.StringIO()
    for bar in (ConsoleProgress(screen, seconds_between=0.0), ConsoleProgress(log)):
        bar.expect(1, 2, 60)
        for search in fitted.searches_[0]:
            for record in search.history:
                bar.on_iteration(record)
        bar.close()
    frames = screen.getvalue().rstrip("\n").split("\r")[1:]
    assert len(frames) == sum(len(s.history) for s in fitted.searches_[0]) + 1
    assert all(len(frame) == 99 for frame in frames)
    assert "restart 2/2" in frames[-1]
    assert "best 0." in frames[-1]
    assert "open" in frames[-1]
    assert len(log.getvalue().splitlines()) == 2


class Clock:
    """A clock that is moved by hand."""

    seconds = 0.0

    def __call__(self):
        return self.seconds


class Timer:
    """A timer that a clock moved by hand sets off."""

    def __init__(self, seconds, function):
        self.seconds, self.function, self.is_on = seconds, function, False

    def start(self):
        assert self.daemon  # a program that is over does not wait for it
        self.is_on = True

    def cancel(self):
        self.is_on = False


def silent_until_long(stream, clock, timers=None, **limit):
    def timer(*given):
        made.append(Timer(*given))
        return made[-1]

    made = [] if timers is None else timers
    return ConsoleProgress(stream, seconds_between=0.0, least_seconds=10.0, now=clock, timer=timer, **limit)


def let_pass(clock, timers, seconds):
    """Move the clock, and set off the timers that it passes."""
    for timer in timers:
        if timer.is_on and clock.seconds < timer.seconds <= clock.seconds + seconds:
            now, clock.seconds = clock.seconds, timer.seconds
            timer.function()
            clock.seconds = now
    clock.seconds += seconds


def compare(bar, clock, n_searches, seconds):
    """So many searches of a cross-validation of two folds, of which the first also compiles."""
    for k in range(n_searches):
        clock.seconds += seconds + 5.0 * (k == 0)
        bar.on_choice(2 * k // n_searches, 2, "linear", n_searches - k - 1)


@pytest.mark.parametrize(("seconds", "said"), [(0.5, ""), (1.0, "about 15 s"), (60.0, "about 10 min")])
def test_a_long_fit_says_so_after_its_second_search(seconds, said):
    clock, log = Clock(), io.StringIO()
    bar = silent_until_long(log, clock)
    compare(bar, clock, 10, seconds)
    bar.say("basis: linear")
    bar.close()
    if not said:
        assert log.getvalue() == ""
        return
    first, *others = log.getvalue().splitlines()
    assert first == f"This will take {said}; set verbose=0 to hide this."
    assert others == [f"cross-validation: fold {k} of 2 {others[k - 1].split()[-1]}" for k in (1, 2)] + [
        "basis: linear"
    ]


def test_a_time_limit_bounds_what_is_said():
    clock, log = Clock(), io.StringIO()
    bar = silent_until_long(log, clock, most_seconds=30.0)
    compare(bar, clock, 10, 60.0)
    assert "take about 30 s" in log.getvalue()


@pytest.mark.parametrize(
    ("before", "n_searches", "n_over", "at_once"),
    [
        (0.0, None, 0, True),  # not even the table is read
        (0.5, 30, 0, True),
        (0.5, 30, 1, True),
        (0.5, 2, 0, False),  # two searches of 2.5 seconds may be all
        (2.9, 30, 0, False),  # the first one has just begun
        (0.0, 30, 2, False),  # an estimate was made, and it was short
    ],
)
def test_a_long_first_search_is_not_silent(before, n_searches, n_over, at_once):
    clock, log, timers = Clock(), io.StringIO(), []
    bar = silent_until_long(log, clock, timers)
    let_pass(clock, timers, before)
    if n_searches is not None:
        bar.expect_choice(n_searches)
    for k in range(n_over):
        bar.on_choice(0, 1, "linear", n_searches - k - 1)
    clock.seconds = 2.999
    assert log.getvalue() == ""
    let_pass(clock, timers, 0.001)
    said = "This will probably take more than 10 s; set verbose=0 to hide this.\n"
    assert log.getvalue() == (said if at_once else "")
    let_pass(clock, timers, 7.0)
    assert log.getvalue() == (said if at_once else said.replace("probably ", ""))
    bar.close()


def test_an_estimate_follows_once_it_can_be_made():
    clock, log, timers = Clock(), io.StringIO(), []
    bar = silent_until_long(log, clock, timers)
    bar.expect_choice(10)
    for k in range(10):
        let_pass(clock, timers, 6.0)
        bar.on_choice(k // 5, 2, "linear", 9 - k)
    bar.close()
    assert [line for line in log.getvalue().splitlines() if "This will" in line] == [
        "This will probably take more than 10 s; set verbose=0 to hide this.",
        "This will take about 60 s.",
    ]


def test_a_fit_that_is_over_says_nothing_more():
    clock, log, timers = Clock(), io.StringIO(), []
    bar = silent_until_long(log, clock, timers)
    bar.close()
    assert not any(timer.is_on for timer in timers)
    bar.on_timer()  # one that was just going off
    assert log.getvalue() == ""
    silent_until_long(log, clock, timers := [], most_seconds=10.0)
    assert timers == []  # a time limit ends it before


def test_long_restarts_are_counted(fitted):
    record = fitted.searches_[0][0].history[0]
    clock, screen = Clock(), Screen()
    bar = silent_until_long(screen, clock)
    bar.expect(1, 20, 60)
    for restart in range(3):
        bar.on_iteration(replace(record, restart=restart))
        clock.seconds += 4.0
    assert "This will take about 80 s" in screen.getvalue()


def test_fits_in_threads_and_without_stderr_say_nothing(monkeypatch):
    assert progress_of(None, np.inf) is not None
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(progress_of, None, np.inf).result() is None
    monkeypatch.setattr("sys.stderr", None)
    assert progress_of(None, np.inf) is None


@pytest.mark.parametrize(("verbose", "is_shown"), [(None, False), (0, False), (1, True)])
@pytest.mark.usefixtures("fitted")  # kernels are compiled
def test_default_is_silent_for_short_fits(wdbc, monkeypatch, verbose, is_shown):
    X, y = wdbc
    for stream in (Screen(), io.StringIO()):
        monkeypatch.setattr("sys.stderr", stream)
        make(**QUICK, verbose=verbose).fit(X.iloc[:100, :2], y[:100])
        assert bool(stream.getvalue()) == is_shown


@pytest.mark.parametrize("kind", [Screen, io.StringIO])
def test_default_shows_long_fits_on_a_terminal_and_in_a_log(wdbc, monkeypatch, kind):
    X, y = wdbc
    stream = kind()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("rfsc._search.progress.LONG_FIT", 1e-9)
    make(**QUICK).fit(X.iloc[:100, :2], y[:100])
    assert "This will take" in stream.getvalue()
    assert "restart 2/2" in stream.getvalue()


@pytest.mark.parametrize("max_samples", [None, 300])
def test_the_answer_is_the_same_for_every_seed(wdbc, max_samples):
    X, y = wdbc
    settings = QUICK | {"basis": ["polynomial", "hinge"], "max_samples": max_samples, "n_restarts": 1}
    one, other = (make(**settings | {"random_state": seed}).fit(X.iloc[:, :8], y) for seed in (1, 2))
    assert one.models_[0].terms == other.models_[0].terms
    np.testing.assert_array_equal(one.predict_proba(X.iloc[:, :8]), other.predict_proba(X.iloc[:, :8]))


def test_verbose_writes_to_stderr_only(wdbc, capsys):
    X, y = wdbc
    make(basis="polynomial", n_restarts=1, random_state=0, verbose=1).fit(X.iloc[:, :3], y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "restart 1/1" in captured.err


def test_features_whose_names_look_like_terms_are_bracketed():
    rng = np.random.default_rng(0)
    b, c, z = rng.normal(size=(3, 400))
    y = (b * c + z + 0.3 * rng.normal(size=400) > 0).astype(int)
    clf = make(basis="polynomial", n_restarts=3, random_state=0).fit(
        pd.DataFrame({"b": b, "c": c, "b*c": z, "1": z * b}), y
    )
    (model,) = clf.models_
    assert len(set(model.names)) == len(model.terms)
    assert {"b*c", "[b*c]"} <= set(model.names)
    text = equation(model, units="scaled")
    assert all(f"*{name}" in text for name in model.names if name != "1")


def test_equation_in_original_units_keeps_enough_digits():
    """Far from zero the summands nearly cancel; four digits would turn the formula into nonsense."""
    rng = np.random.default_rng(0)
    year, t = rng.integers(1990, 2021, 500).astype(float), 1.6e9 + rng.uniform(0, 3e7, 500)
    y = ((year - 2005) ** 2 / 100 + (t - 1.615e9) / 1e7 + 0.3 * rng.normal(size=500) > 0.7).astype(int)
    X = pd.DataFrame({"year": year, "t": t})
    clf = make(basis="polynomial", n_restarts=2, random_state=0).fit(X, y)
    text = equation(clf.models_[0], units="original").removeprefix("f = ").replace("^", "**")
    f = eval(text, {"year": year, "t": t})
    assert np.abs(f - clf.decision_function(X)).max() <= 0.011


def test_standard_errors_of_skewed_features():
    rng = np.random.default_rng(1)
    X = np.exp(3 * rng.standard_normal((500, 4)))
    y = (np.log(X[:, 0]) + np.log(X[:, 1]) + rng.normal(size=500) > 0).astype(int)
    clf = make(basis="polynomial", n_restarts=1, random_state=0, ridge=1e-6, size=None).fit(X, y)
    (model,) = clf.models_
    assert (np.abs(model.t_value) < 100).all()
    assert (model.p_value > 1e-100).all()


def test_warning_names_the_cause(wdbc):
    X, y = wdbc
    with pytest.warns(ConvergenceWarning, match="sum of sample_weight, is only 1, too small for the t-test"):
        make(**QUICK).fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    with pytest.warns(ConvergenceWarning, match="All features are constant"):
        constant = make(**QUICK).fit(np.ones((200, 3)), np.arange(200) < 20)
    assert constant.models_[0].names == ("1",)


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("container", [pd.Series, pd.DataFrame])
def test_large_integers_of_pandas_stay_two_classes(container):
    """As floats they would be one number."""
    X = np.random.default_rng(0).normal(size=(80, 2))
    labels = np.where(X[:, 0] > 0, 2**53, 2**53 + 1)
    clf = make("polynomial", n_restarts=1, max_iter=10).fit(X, container(labels, dtype="Int64"))
    assert clf.classes_.tolist() == [2**53, 2**53 + 1]
    assert np.array_equal(clf.predict(X) > 2**53, labels > 2**53)


def test_a_million_threads_are_not_started(wdbc):
    before = threading.active_count()
    make(**QUICK, n_jobs=10**6).fit(*wdbc)
    assert threading.active_count() <= before + max(MOST_THREADS, os.cpu_count() or 1)


def test_notebooks_show_the_formulas_below_the_diagram():
    X, y = load_iris(return_X_y=True)
    clf = RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0)
    assert "Class " not in clf._repr_mimebundle_()["text/html"]
    clf.fit(X, np.array(["<b>", "versicolor", "virginica"])[y])
    for page in (clf._repr_mimebundle_()["text/html"], clf._repr_html_()):
        assert "sk-top-container" in page
        assert page.count("in the units of the table:") == 3
        assert "Class &lt;b&gt;," in page
        assert all(equation(model, units="original", form="html") in page for model in clf.models_)


def test_missing_labels_of_pandas():
    labels = pd.Series([1, 2, pd.NA, 1] * 10, dtype="Int64")
    with pytest.raises(ValueError, match=r"y contains (NaN|missing labels)"):
        make("polynomial").fit(np.zeros((40, 1)), labels)
