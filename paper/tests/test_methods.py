"""The rows of the comparisons: which there are, which are the same, and what identifies their settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from paper import methods as module
from paper.accuracy import Study
from paper.by_size import size_tasks
from paper.cells import CellStore
from paper.comparators.modern import CalibratedSearch, modern_classifiers, rule_classifiers
from paper.methods import (
    DECIDING,
    DEFAULT,
    FILTER_LEVEL,
    FILTERED,
    LARGER,
    TIME_REFERENCE,
    VARIANTS,
    all_methods,
    code_of_answers,
    same_settings,
    study_methods,
)
from rfsc import RFSCClassifier

ROOT = Path(__file__).parents[2]


def test_rows_of_the_study():
    rows = study_methods()
    assert list(rows) == [*VARIANTS, "RFSC, paper settings", *modern_classifiers(), *rule_classifiers()]
    assert {DEFAULT, LARGER, TIME_REFERENCE} <= set(VARIANTS)
    assert [name for name, row in rows.items() if row.kind == "rfsc"] == [*VARIANTS, "RFSC, paper settings"]
    assert all(hasattr(row.make("Iris"), "predict_proba") for row in rows.values())


@pytest.mark.parametrize("name", VARIANTS)
def test_variant_has_its_settings_and_its_seed(name):
    made = study_methods()[name].estimator("Iris", "stratified", 7)
    assert made.get_params() == RFSCClassifier(**VARIANTS[name], random_state=7).get_params()


def test_paper_settings_filter_where_the_paper_does():
    method = all_methods()["RFSC, paper settings"]
    level = {data: method.make(data).search.filter_significance for data in ("Iris", *FILTERED)}
    assert level == {"Iris": None, **dict.fromkeys(FILTERED, FILTER_LEVEL)}
    ours = study_methods()["RFSC, paper settings"]
    assert ours.fingerprint("WDBC", "stratified") == method.fingerprint("WDBC", "stratified")


def test_only_support_vectors_are_wrapped():
    svm = study_methods()["RBF SVM"].estimator("Iris", "stratified", 3)
    assert isinstance(svm, CalibratedSearch)
    assert svm.search.estimator[-1].random_state == 3
    for name in modern_classifiers():
        if name != "RBF SVM":
            known = all_methods()[name]
            assert study_methods()[name].fingerprint("Iris", "stratified") == known.fingerprint("Iris", "stratified")


def test_equal_settings_have_one_row(monkeypatch):
    monkeypatch.setitem(VARIANTS, "same", {"basis": RFSCClassifier().basis})
    monkeypatch.setitem(VARIANTS, "other", {"max_terms": 7})
    same = same_settings(list(study_methods().values()))
    assert same["RFSC"] == same["same"] == "RFSC"
    assert same["other"] == "other"
    assert same["random forest"] == "random forest"


def test_code_of_the_package_counts_for_rfsc_alone(monkeypatch):
    def prints():
        return {name: row.fingerprint("Iris", "stratified") for name, row in study_methods().items()}

    before = prints()
    monkeypatch.setattr(module, "code_of_answers", lambda: "changed")
    changed = {name for name, found in prints().items() if found != before[name]}
    assert changed == {*VARIANTS, "RFSC, paper settings"}


def test_code_that_decides_answers(monkeypatch, tmp_path):
    package = tmp_path / "rfsc"
    for name in DECIDING:
        path = package / name if name.endswith(".py") else package / name / "part.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1\n")
    monkeypatch.setattr(module.rfsc, "__file__", str(package / "__init__.py"))
    of = code_of_answers.__wrapped__
    before = of()
    (package / "report").mkdir()
    (package / "report" / "page.py").write_text("2\n")
    assert of() == before
    (package / "_search" / "part.py").write_text("2\n")
    assert of() != before


def test_all_folds_of_faster_risk_are_kept(with_data):
    kept = CellStore(ROOT / "docs" / "accuracy" / "cells.jsonl")
    study = Study(methods=("FasterRisk, 8 terms",))
    tasks = [*study.tasks(), *study.tasks_by_size()]
    tasks += [task for task in size_tasks() if task.method == "FasterRisk"]
    assert [task for task in tasks if task not in kept] == []


@pytest.mark.parametrize("name", all_methods())
def test_fingerprint_is_always_the_same(name):
    first, again = (all_methods()[name].fingerprint("Iris", "stratified") for _ in range(2))
    assert first == again
    estimator = all_methods()[name].estimator("Iris", "stratified", 0)
    # with an address in the settings no process would recognise the cells of another
    assert " at 0x" not in str(estimator.get_params())


def test_fingerprint_depends_on_the_filter_and_the_folds():
    known = all_methods()
    paper, knn = known["RFSC, paper settings"], known["KNN"]
    assert paper.fingerprint("Iris", "stratified") != paper.fingerprint("WDBC", "stratified")
    assert knn.fingerprint("Iris", "stratified") != knn.fingerprint("Iris", "keel")
    assert known["KNN"].fingerprint("Iris", "keel") != known["KNN-A"].fingerprint("Iris", "keel")
