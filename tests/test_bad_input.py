"""Bad input: a short error that says what was expected, never shows the data, and changes nothing."""

from __future__ import annotations

import re
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rfsc import DistanceCorrelationFilter, RFSCClassifier

NUMBER = 8675309.25
SHOWN = re.compile(r"SECRET|8675309|8\.6753", re.IGNORECASE)  # as numpy and Python may write the secrets
N = 40
LABEL = np.arange(N) % 2
MIXED_LABELS = np.array(["SECRET", NUMBER] * (N // 2), dtype=object)


def good(n_features=3):
    X = np.random.default_rng(0).random((N, n_features))
    X[:, 0] += LABEL
    X[0, 1] = NUMBER
    return X


def with_cell(value, dtype=float):
    X = good().astype(dtype)
    X[5, 1] = value
    return X


def text_column():
    return {"a": good()[:, 0].tolist(), "b": ["SECRET"] * N}


def weights(third=NUMBER):
    weight = np.full(N, NUMBER)
    weight[2] = third
    return weight


# name: (X, y, sample_weight, what the message must say)
BAD_DATA = {
    "NaN": (with_cell(np.nan), LABEL, None, "NaN"),
    "infinity": (with_cell(np.inf), LABEL, None, "infinity"),
    "one row": (good()[:1], LABEL[:1], None, "minimum of 2"),
    "no row": (good()[:0], LABEL[:0], None, "minimum of 2"),
    "no feature": (good()[:, :0], LABEL, None, "minimum of 1"),
    "one dimension": (good()[:, 1], LABEL, None, "2D"),
    "three dimensions": (good()[:, :, None], LABEL, None, "dim <= 2"),
    "complex": (good() + 1j, LABEL, None, "(?i)complex"),
    "text in objects": (with_cell("SECRET", object), LABEL, None, "must hold numbers, but column 1 holds text"),
    "text in lists": (with_cell("SECRET", object).tolist(), LABEL, None, "must hold numbers, but column 1"),
    "text array": (with_cell("SECRET", object).astype(str), LABEL, None, "must hold numbers, but column 1"),
    "text in pandas": (pd.DataFrame(text_column()), LABEL, None, "must hold numbers, but column b holds text"),
    "category in pandas": (
        pd.DataFrame(text_column()).astype({"b": "category"}),
        LABEL,
        None,
        "must hold numbers, but column b holds text",
    ),
    "text in unnamed pandas": (pd.DataFrame(with_cell("SECRET", object)), LABEL, None, "must hold numbers"),
    "text in polars": (pl.DataFrame(text_column()), LABEL, None, "must hold numbers, but column b holds text"),
    "one class": (good(), np.full(N, "SECRET"), None, "at least two classes"),
    "continuous y": (good(), good()[:, 1], None, "expects discrete classes"),
    "mixed y": (good(), MIXED_LABELS, None, r"(?i)label|class|\by\b"),
    "missing y": (good(), np.where(LABEL, np.nan, NUMBER), None, "y contains NaN"),
    "no y": (good(), None, None, "requires y"),
    "short y": (good(), LABEL[1:], None, r"inconsistent.*\[40, 39\]"),
    "wide y": (good(), good(), None, "1d array"),
    "negative weight": (good(), LABEL, weights(third=-NUMBER), "must not be negative, 1 of 40"),
    "zero weights": (good(), LABEL, np.zeros(N), "(?i)sample.weight.*zero"),
    "one class weighted": (good(), LABEL, weights() * LABEL, "at least two classes"),
    "NaN weight": (good(), LABEL, weights(third=np.nan), "sample_weight contains NaN"),
    "text weight": (good(), LABEL, np.full(N, "SECRET"), "sample_weight"),
    "short weight": (good(), LABEL, weights()[1:], r"expected \(40,\)"),
}

BAD_PARAMETERS = {
    "degree": [0, 6, 1.5],
    "n_models": [1, 10.0],
    "max_iter": [0, None],
    "n_restarts": [0, "many"],
    "score": ["f1", None],
    "significance": [0.0, 1.0, "0.05"],
    "unseen": ["forget", None],
    "ridge": [-1e-9, np.inf, np.nan],
    "filter_significance": [0.0, 1.0],
    "max_terms": [0, None],
    "tol": [-1e-9, np.nan],
    "combine": ["mean", None],
    "class_weight": ["heavy", 2.0],
    "engine": ["abacus", None],
    "n_jobs": [1.5, "all"],
    "random_state": [-1, "seed"],
    "verbose": [-1, "loud"],
}

BAD_CLASS_WEIGHTS = {
    "label left out": ({"other": 1.0}, "class_weight"),
    "all zero": ({"SECRET a": 0.0, "SECRET b": 0.0}, "(?i)class"),
    "not a number": ({"SECRET a": "much", "SECRET b": 1.0}, "class_weight"),
}

BAD_ROWS = {
    "too few features": (good(2), "X has 2 features.*expecting 4"),
    "too many features": (good(5), "X has 5 features.*expecting 4"),
    "NaN": (np.full((2, 4), np.nan), "NaN"),
    "text": (np.full((2, 4), "SECRET", dtype=object), "must hold numbers"),
    "one dimension": (np.full(4, NUMBER), "2D"),
    "scalar": (NUMBER, "2D"),
    "no row": (good(4)[:0], "minimum of 1"),
}


def classifier(**parameters):
    return RFSCClassifier(
        basis="polynomial", n_restarts=1, n_models=20, max_iter=100, random_state=0, engine="numpy"
    ).set_params(**parameters)


def refusal(call, *arguments, **options):
    """The error of a call, after checking that it is short and shows no data."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    sentences = re.split(r"(?<=[.!?])\s+", message.strip())
    assert len(message) > 20
    assert not SHOWN.search(message)
    assert not SHOWN.search("".join(traceback.format_exception(caught.value)))
    assert len(sentences) <= 2, message
    return message


def assert_same_state(estimator, before):
    assert list(vars(estimator)) == list(before)
    assert all(vars(estimator)[name] is value for name, value in before.items())


@pytest.mark.parametrize("make", [classifier, DistanceCorrelationFilter])
@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_refused_and_leaves_an_unfitted_estimator_as_it_was(case, make):
    X, y, weight, hint = BAD_DATA[case]
    estimator = make()
    before = dict(vars(estimator))
    assert re.search(hint, refusal(estimator.fit, X, y, sample_weight=weight))
    assert_same_state(estimator, before)


@pytest.mark.parametrize("make", [classifier, DistanceCorrelationFilter])
@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_leaves_a_fitted_estimator_as_it_was(case, make):
    X, y, weight, _ = BAD_DATA[case]
    estimator = make().fit(good(4), LABEL)  # four features, so that a trace of the bad table shows
    apply = getattr(estimator, "predict_proba", None) or estimator.transform
    before, expected = dict(vars(estimator)), apply(good(4))
    with pytest.raises((ValueError, TypeError)):
        estimator.fit(X, y, sample_weight=weight)
    assert_same_state(estimator, before)
    np.testing.assert_array_equal(apply(good(4)), expected)


@pytest.mark.parametrize(("name", "value"), [(name, v) for name, values in BAD_PARAMETERS.items() for v in values])
def test_parameters_out_of_range_are_refused(name, value):
    fitted = classifier().fit(good(4), LABEL)
    expected = fitted.predict_proba(good(4))
    for estimator in (classifier(), fitted):
        estimator.set_params(**{name: value})
        before = dict(vars(estimator))
        assert f"'{name}' parameter of RFSCClassifier must be" in refusal(estimator.fit, good(), LABEL)
        assert_same_state(estimator, before)
    np.testing.assert_array_equal(fitted.predict_proba(good(4)), expected)


@pytest.mark.parametrize("value", [0.0, 1.0, None, "0.05"])
def test_filter_levels_out_of_range_are_refused(value):
    message = refusal(DistanceCorrelationFilter(significance=value).fit, good(), LABEL)
    assert "'significance' parameter of DistanceCorrelationFilter must be" in message


@pytest.mark.parametrize("case", BAD_CLASS_WEIGHTS)
def test_class_weights_that_do_not_fit_the_labels_are_refused(case):
    class_weight, hint = BAD_CLASS_WEIGHTS[case]
    labels = np.array(["SECRET a", "SECRET b"])[LABEL]
    estimator = classifier(class_weight=class_weight)
    before = dict(vars(estimator))
    assert re.search(hint, refusal(estimator.fit, good(), labels))
    assert_same_state(estimator, before)


def test_more_terms_than_can_be_numbered_are_refused():
    X = np.random.default_rng(0).random((4, 12_000))
    X[0] = NUMBER
    estimator = classifier(degree=5)
    before = dict(vars(estimator))
    assert "Lower degree, or keep fewer features" in refusal(estimator.fit, X, LABEL[:4])
    assert_same_state(estimator, before)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_are_refused_at_prediction(case, method):
    X, hint = BAD_ROWS[case]
    fitted = classifier().fit(good(4), LABEL)
    assert re.search(hint, refusal(getattr(fitted, method), X))


def test_other_feature_names_are_refused_at_prediction():
    table = pd.DataFrame(good(4), columns=list("abcd"))
    fitted = classifier().fit(table, LABEL)
    assert "feature names should match" in refusal(fitted.predict, table.rename(columns={"a": "z"}))


def test_prediction_before_fit_is_refused():
    assert "not fitted" in refusal(classifier().predict, good())


def test_columns_of_one_name_are_refused():
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2), columns=["a", "a"])
    with pytest.raises(ValueError, match="'a' come more than once"):
        RFSCClassifier().fit(frame, [0, 1] * 3)


@pytest.mark.parametrize("dtype", [object, "string"])
def test_missing_labels_are_counted(dtype):
    y = pd.Series(["yes", "no", None, "yes", "no", None], dtype=dtype)
    with pytest.raises(ValueError, match="lacks the label of 2 of 6 rows"):
        RFSCClassifier().fit(np.arange(12.0).reshape(6, 2), y)
