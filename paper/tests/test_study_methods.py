"""The rows of the study: which there are, and which are the same."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from paper.methods import all_methods
from paper.comparators.calibrated import CalibratedSearch
from paper.comparators.modern import modern_peers
from paper.study_methods import AVERAGE, DEFAULT, REFERENCE, VARIANTS, same_settings, study_methods
from rfsc import RFSCClassifier


def test_rows():
    rows = study_methods()
    assert list(rows) == [*VARIANTS, "RFSC, paper settings", *modern_peers()]
    assert {DEFAULT, AVERAGE, REFERENCE} <= set(VARIANTS)
    assert [name for name, row in rows.items() if row.kind == "rfsc"] == [*VARIANTS, "RFSC, paper settings"]


@pytest.mark.parametrize("name", VARIANTS)
def test_variant_has_its_settings_and_its_seed(name):
    made = study_methods()[name].estimator("Iris", "stratified", 7)
    assert made.get_params() == RFSCClassifier(**VARIANTS[name], random_state=7).get_params()


def test_paper_settings_are_those_of_the_reproduction():
    ours, theirs = (known["RFSC, paper settings"] for known in (study_methods(), all_methods()))
    assert ours.fingerprint("WDBC", "stratified") == theirs.fingerprint("WDBC", "stratified")


def test_support_vectors_alone_are_wrapped():
    svm = study_methods()["RBF SVM"].estimator("Iris", "stratified", 3)
    assert isinstance(svm, CalibratedSearch)
    assert svm.search.estimator[-1].random_state == 3
    others = [name for name in modern_peers() if name != "RBF SVM"]
    for name in others:
        known = all_methods()[name]
        assert study_methods()[name].fingerprint("Iris", "stratified") == known.fingerprint("Iris", "stratified")


@pytest.mark.parametrize("name", study_methods())
def test_every_row_gives_probabilities(name):
    estimator = study_methods()[name].make("Iris")
    assert hasattr(estimator, "predict_proba")


def test_equal_settings_have_one_row(monkeypatch):
    basis = RFSCClassifier().basis
    monkeypatch.setitem(VARIANTS, "twin", {"basis": basis})
    monkeypatch.setitem(VARIANTS, "other", {"n_models": 7})
    same = same_settings(list(study_methods().values()))
    assert same["RFSC"] == same["twin"] == "RFSC"
    assert same["other"] == "other"
    assert same["random forest"] == "random forest"


@pytest.mark.skipif(find_spec("fastcan") is None, reason="fastcan is not installed")
def test_fastcan_is_a_row():
    assert "fastcan, degree 2" in study_methods()
