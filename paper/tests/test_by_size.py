"""Models of a given number of terms, and the tables and the picture about them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from paper import by_size as module
from paper.by_size import SIZES, models_of, run_task, size_section, size_tasks, sized_methods
from paper.comparators import faster_risk
from paper.comparators.modern import LassoTerms
from paper.methods import DEFAULT
from paper.protocols import Fold, read_fold


@pytest.fixture(autouse=True)
def small_tables(monkeypatch, rng):
    """Stand for TabMini's sets."""
    X = rng.random((60, 4))
    monkeypatch.setattr(module, "load_small", lambda name: (X, (X[:, 1] > 0.5).astype(int)))
    monkeypatch.setattr("paper.protocols.load_small", module.load_small)


def test_lasso_keeps_the_terms_that_matter(rng):
    X = rng.standard_normal((300, 12))
    y = (2 * X[:, 3] - X[:, 7] + 0.3 * rng.standard_normal(300) > 0).astype(int)
    assert np.flatnonzero(LassoTerms(1).fit(X, y).support_).tolist() == [3]
    assert np.flatnonzero(LassoTerms(2).fit(X, y).support_).tolist() == [3, 7]
    assert LassoTerms(5).fit(X, y).support_.sum() == 5
    assert LassoTerms(20).fit(X, y).support_.sum() <= 12


RUNS_HERE = [name for name in sized_methods() if name != "FasterRisk" or faster_risk.PYTHON.exists()]


@pytest.mark.parametrize("method", RUNS_HERE)
def test_number_of_terms_is_kept_for_two_and_three_classes(method, monkeypatch):
    monkeypatch.setattr(module, "SIZES", (1, 3))  # the largest is what RFSC is fitted with
    for data, folds, n_classes in (("lupus", "tabmini", 2), ("Iris", "stratified", 3)):
        fold = read_fold(data, folds, 0, 0)
        model = models_of(method, fold, 0)(3)
        assert model.predict_proba(fold.X_test).shape == (len(fold.y_test), n_classes)
        if method == DEFAULT:
            assert max(m.size for m in model.models_) <= 3
        elif method == "tree":
            assert model.get_n_leaves() == (2 if n_classes == 2 else 4)  # one split tells the two classes apart
        elif method == "FIGS":
            assert model.model_.complexity_ <= 3
        elif method == "FasterRisk":
            assert max(np.count_nonzero(one.coef_) for one in model.estimators_) <= 3
        elif method.startswith("fastcan"):
            assert model[-2].support_.sum() == 3
        else:
            assert [one[0].support_.sum() for one in model[-1].estimators_] == [3] * (1 if n_classes == 2 else 3)


def test_the_next_smaller_model_stands_for_a_size_that_is_missing(rng):
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 2  # noise: few sizes
    model = models_of(DEFAULT, Fold(X, y, X, y), 0)
    assert [model(k).models_[0].size <= k for k in SIZES] == [True] * len(SIZES)
    assert model(15).models_[0].size < 15


class Refuses(DummyClassifier):
    def fit(self, X, y):
        raise ValueError


def cheap(k=15):
    return {
        "first": DecisionTreeClassifier(max_depth=k),
        "tree": DecisionTreeClassifier(max_leaf_nodes=k + 1),
        "none": Refuses(),
    }


def test_section_picture_failures_and_resumption(counted, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "sized_methods", cheap)
    text = size_section(tmp_path, n_jobs=1, link="there", small=("lupus", "labor"), sets=("Iris",))
    titles = [line for line in text.splitlines() if line.startswith("**") and "terms**" in line]
    assert [title.split(":")[0] for title in titles] == ["**TabMini"] * 2 + ["**The paper's six sets"] * 2
    for name in ("by_size.png", "by_size_six.png"):
        assert f"](there/{name})" in text
        assert (tmp_path / name).stat().st_size > 5_000
    n_failed = (2 * 3 + 10) * len(SIZES)
    assert f"count with the constant's prediction: none {n_failed} of {n_failed}." in text
    (row,) = [line for line in text.splitlines() if line.startswith("| none") and "0.500" in line][:1]
    assert row == "| none |" + " 0.500 |" * len(SIZES)
    assert size_section(tmp_path, n_jobs=1, link="there", small=("lupus", "labor"), sets=("Iris",)) == text
    assert len(counted) == 3 * (2 * 3 + 10)


def test_missing_environment_is_no_outcome(monkeypatch, tmp_path):
    monkeypatch.setattr(faster_risk, "PYTHON", tmp_path / "none")
    task = next(t for t in size_tasks((), ("Iris",)) if t.method == "FasterRisk")
    with pytest.raises(FileNotFoundError, match="make \\.venv-fasterrisk/created"):
        run_task(task)


def test_method_that_raises_counts_with_the_shares(monkeypatch):
    monkeypatch.setattr(module, "sized_methods", cheap)
    task = next(t for t in size_tasks((), ("Iris",)) if t.method == "none")
    cells = run_task(task)
    assert [cell.protocol for cell in cells] == [f"{k} terms" for k in SIZES]
    assert {cell.notes["failed"] for cell in cells} == {"ValueError"}
    assert all(cell.log_loss == pytest.approx(np.log(3)) and cell.auc == 0.5 for cell in cells)
