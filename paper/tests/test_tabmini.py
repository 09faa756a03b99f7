"""TabMini's sets from a folder and from pmlb, and the section about them."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from paper import small_sets as module
from paper import tabmini
from paper.comparators.modern import expansion
from paper.methods import DEFAULT, Method
from paper.protocols import auc_of, read_fold
from paper.small_sets import BARS, run_task, small_methods, small_section, small_tasks
from paper.tables import verdict
from paper.tabmini import PUBLISHED_MEANS, SMALL_SETS, load_small, published_auc, small_folds

from .conftest import DATA

TWO = ("lupus", "labor")


@pytest.fixture(autouse=True)
def nothing_kept():
    load_small.cache_clear()
    yield
    load_small.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    """A data folder with two sets of thirty rows, labelled 3 and 7, and published figures."""
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    (tmp_path / "tabmini").mkdir()
    for name in TWO:
        X = rng.random((30, 3))
        table = np.column_stack([X, np.where(X[:, 0] + 0.3 * rng.random(30) > 0.6, 7, 3)])
        np.savetxt(tmp_path / "tabmini" / f"{name}.csv", table, delimiter=",", header="a,b,c,class", comments="")
    (tmp_path / "tabmini" / "published_auc.csv").write_text("PMLB dataset,TabPFN\nlupus,0.8\nlabor,0.9\n")
    return tmp_path


def test_set_from_the_folder_and_its_folds(folder):
    X, y = load_small("lupus")
    assert X.shape == (30, 3)
    assert set(y) == {0, 1}
    assert published_auc() == {"TabPFN": {"lupus": 0.8, "labor": 0.9}}
    first = read_fold("lupus", "tabmini", 0, 0)
    rows, left_out = small_folds(X, y)[0]
    np.testing.assert_array_equal(first.X_test, X[left_out])
    assert len(rows) == 20
    assert (np.diff(left_out) > 0).all()  # not shuffled


def test_set_from_pmlb(monkeypatch, tmp_path):
    monkeypatch.delenv("RFSC_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "target": [5, 2, 5], "b": [0.0, 1.0, 0.0]})
    monkeypatch.setitem(sys.modules, "pmlb", SimpleNamespace(fetch_data=lambda name, local_cache_dir: frame))
    monkeypatch.setattr(tabmini, "find_spec", lambda name: object())
    X, y = load_small("lupus")
    np.testing.assert_array_equal(X, frame[["a", "b"]])
    assert y.tolist() == [1, 0, 1]
    assert published_auc() == {}


def test_sentence_if_neither_is_there(monkeypatch, tmp_path):
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr(tabmini, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match=r"lupus of TabMini is not available.*pmlb is not installed"):
        load_small("lupus")

    def offline(name, local_cache_dir):
        raise ConnectionError

    monkeypatch.setattr(tabmini, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "pmlb", SimpleNamespace(fetch_data=offline))
    with pytest.raises(OSError, match=r"pmlb could not fetch it \(ConnectionError\)"):
        load_small("lupus")


def test_other_table_is_refused(folder):
    (folder / "tabmini" / "lupus.csv").write_text("a,class\n1,0\n2,1\n3,2\n")
    with pytest.raises(ValueError, match="two classes"):
        load_small("lupus")


def test_the_real_sets(monkeypatch):
    if not (DATA / "tabmini").is_dir():
        pytest.skip("set RFSC_DATA to a folder with tabmini, the sets of TabMini")
    monkeypatch.setenv("RFSC_DATA", str(DATA))
    assert len(set(SMALL_SETS)) == 44
    assert all(len(load_small(name)[1]) <= 500 for name in SMALL_SETS)
    means = {method: np.mean([auc[name] for name in SMALL_SETS]) for method, auc in published_auc().items()}
    assert {method: means[method] for method in PUBLISHED_MEANS} == pytest.approx(PUBLISHED_MEANS, abs=0.0005)


def test_auc_of_two_and_three_classes():
    assert auc_of(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), np.array([0, 1, 0])) == 1.0
    truth = np.array([0, 1, 2])
    assert auc_of(np.eye(3), truth) == 1.0
    assert auc_of(np.full((3, 3), 1 / 3), truth) == 0.5


def test_rows_of_the_table():
    assert list(small_methods()) == [DEFAULT, "L1 logistic, degree 2", "random forest", "logistic regression"]


def cheap_methods():
    makers = {
        DEFAULT: lambda _: make_pipeline(*expansion(1), LogisticRegression()),
        "bayes": lambda _: GaussianNB(),
    }
    return {name: Method(name=name, make=make, kind="today") for name, make in makers.items()}


def test_section_and_resumption(folder, counted, monkeypatch):
    monkeypatch.setattr(module, "small_methods", cheap_methods)
    text = small_section(folder, n_jobs=1, sets=TWO)
    assert "a quick look at 2 of them" in text
    assert "| TabPFN (published) | 0.850 |" in text
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {DEFAULT} |")]
    assert "| 3.0 | 3.0 |" in row
    assert sum(line.startswith("- AUC >= 0.846: ") for line in text.splitlines()) == 1
    assert len([line for line in text.splitlines() if "met (" in line or "**MISSED** (" in line]) == len(BARS)
    head, first, second = (folder / "tabmini.csv").read_text().splitlines()
    assert head == f"set,{DEFAULT},bayes,TabPFN (published)"
    assert first.startswith("lupus,")
    assert second.endswith(",0.90")
    assert small_section(folder, n_jobs=1, sets=TWO) == text
    assert sorted(counted) == sorted(small_tasks(TWO))
    assert len(counted) == 2 * 2 * 3


def test_terms_of_rfsc_without_the_constant(folder):
    task = next(task for task in small_tasks(("lupus",)) if task.method == DEFAULT)
    (cell,) = run_task(task)
    assert cell.terms_per_output in (cell.n_terms, cell.n_terms - 1)
    assert cell.terms_per_output >= cell.n_features > 0 or cell.terms_per_output == cell.n_features == 0


def test_verdict():
    assert verdict("a >= 1", True, "2") == "- a >= 1: met (2)"
    assert verdict("a >= 1", False, "0") == "- a >= 1: **MISSED** (0)"
