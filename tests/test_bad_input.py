"""Bad parameters: a short error that says what was expected, never shows the data, and changes nothing.

Bad tables, rows and files are in `hostile/`.
"""

from __future__ import annotations

import re
import traceback

import numpy as np
import pandas as pd
import pytest

from rfsc import DistanceCorrelationFilter, SearchSettings
from rfsc.bases import Polynomial

from .hostile.tables import LABEL, NUMBER, good
from .hostile.walk import SHOWN, classifier

BAD_PARAMETERS = {
    "n_restarts": [0, "many"],
    "criterion": ["f1", None],
    "max_samples": [0, 1.5, "all"],
    "search": ["quick", {"ridge": 1.0}],
    "significance": [0.0, 1.0, "0.05"],
    "max_terms": [0, None],
    "size": ["mean", -1, 1.5, True],
    "class_weight": ["heavy", 2.0],
    "engine": ["abacus", None],
    "n_jobs": [1.5, "all"],
    "random_state": [-1, "seed"],
    "verbose": [-1, "loud"],
}

BAD_SEARCH_SETTINGS = {
    "n_models": [1, 10.0],
    "max_iter": [0, None],
    "unseen": ["forget", None],
    "ridge": [-1e-9, np.inf, np.nan],
    "filter_significance": [0.0, 1.0],
    "tol": [-1e-9, np.nan],
    "initial_rip": ["random", None],
}

BAD_CLASS_WEIGHTS = {
    "label left out": ({"other": 1.0}, r"class_weight has keys that are not labels of y \(1\)"),
    "all zero": ({"SECRET a": 0.0, "SECRET b": 0.0}, "(?i)class"),
    "not a number": ({"SECRET a": "much", "SECRET b": 1.0}, "class_weight"),
}


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


@pytest.mark.parametrize(("name", "value"), [(name, v) for name, values in BAD_SEARCH_SETTINGS.items() for v in values])
def test_search_settings_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of SearchSettings must be"):
        SearchSettings(**{name: value})


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
    estimator = classifier().set_params(basis=Polynomial(degree=5))
    before = dict(vars(estimator))
    assert "Lower degree" in refusal(estimator.fit, X, LABEL[:4])
    assert_same_state(estimator, before)


def test_other_feature_names_are_refused_at_prediction():
    table = pd.DataFrame(good(4), columns=list("abcd"))
    fitted = classifier().fit(table, LABEL)
    assert "feature names should match" in refusal(fitted.predict, table.rename(columns={"a": "z"}))


def test_prediction_before_fit_is_refused():
    assert "not fitted" in refusal(classifier().predict, good())
