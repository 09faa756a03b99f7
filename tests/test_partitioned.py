"""PartitionedRFSC as a user meets it: finds what is planted, the same on every backend, and works with all the rest."""

from __future__ import annotations

import json
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from rfsc import PartitionedRFSC, plots
from rfsc._search import Checkpoint, CheckpointError, StopAfter
from rfsc._search.bins import search_bin
from rfsc.cli import main
from rfsc.explain import summary
from rfsc.export import from_json, save, to_json
from rfsc.export.onnx import to_onnx
from rfsc.report import Report
from rfsc.report.settings import code_for

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_bins": 5, "n_rounds": 3, "n_models": 30, "max_iter": 30, "n_restarts": 2, "random_state": 0}


@cache
def planted(n_classes=2):
    """Three effects among 300 features in blocks that move together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 300)) + np.repeat(rng.normal(size=(160, 30)), 10, axis=1)
    f = 2 * X[:, 7] - 2 * X[:, 111] + 2 * X[:, 222] + rng.logistic(size=160)
    return X, np.digitize(f, [0] if n_classes == 2 else [-2, 2])


def text(classifier):
    """The model file without what differs from run to run."""
    document = json.loads(to_json(classifier))
    document["manifest"].pop("timings")
    document.pop("settings", None)
    return json.dumps(document)


@cache
def fitted():
    return PartitionedRFSC(**QUICK).fit(*planted())


def test_planted_terms_are_found():
    clf = fitted()
    assert {"x7", "x111", "x222"} <= set(clf.models_[0].names)
    assert clf.n_terms_.tolist() == [301]
    assert clf.n_bins_.tolist() == [5]
    assert clf.n_fits_[0] > sum(one.n_fitted for one in clf.rounds_[0]) > 0
    assert set(clf.term_names(clf.rounds_[0][-1].model)) >= {"x7", "x111", "x222"}
    assert len(clf.searches_[0]) == 2
    assert clf.models_[0].evidence.n_candidates == 301
    assert clf.stop_reason_ == "finished"


@pytest.mark.parametrize(
    "name", [name for name in plots.__all__ if name.endswith("Display") and name != "FilterDisplay"]
)
def test_the_pictures_of_every_other_model(name):
    X, y = planted()
    rows = {"RowContributionsDisplay": (X[:1],), "ContributionsDisplay": (X,)}
    rows |= {"CalibrationDisplay": (X, y), "DecisionMapDisplay": (X, y)}
    picture = getattr(plots, name).from_estimator(fitted(), *rows.get(name, ()))
    assert picture.figure_.axes
    plt.close(picture.figure_)


def test_onnx_says_the_same():
    onnxruntime = pytest.importorskip("onnxruntime")
    X = planted()[0]
    session = onnxruntime.InferenceSession(to_onnx(fitted()).SerializeToString(), providers=["CPUExecutionProvider"])
    label, probability, _ = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_array_equal(label, fitted().predict(X))
    np.testing.assert_allclose(probability, fitted().predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 2), ("threading", 2), ("sequential", 1)])
def test_no_bit_depends_on_the_backend(backend, n_jobs):
    with parallel_config(backend):
        other = PartitionedRFSC(**QUICK, n_jobs=n_jobs).fit(*planted())
    assert text(other) == text(fitted())
    assert [one.pool.tolist() for one in other.rounds_[0]] == [one.pool.tolist() for one in fitted().rounds_[0]]


def test_a_cluster_gives_the_same_bits():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
        parallel_config("dask"),
    ):
        other = PartitionedRFSC(**QUICK).fit(*planted())
    assert text(other) == text(fitted())


def test_observers_see_all_searches_in_order_and_change_nothing():
    seen = []
    watched = PartitionedRFSC(**QUICK, callbacks=lambda record: seen.append(record)).fit(*planted())
    assert text(watched) == text(fitted())
    places = [(record.restart, record.iteration) for record in seen]
    assert places == sorted(places)
    n_bins = 5 * len(watched.rounds_[0])
    assert {restart for restart, _ in places} == set(range(n_bins + 2))
    assert sum(record.n_fitted for record in seen) <= watched.n_fits_[0]


def test_an_observer_stops_all():
    clf = PartitionedRFSC(**QUICK, callbacks=lambda r: "stop_all" if r.restart == 2 else None).fit(*planted(3))
    assert clf.stop_reason_ == "observer"
    assert clf.round_stop_reasons_[0] == "observer"
    assert len(clf.models_) == 3
    assert [len(searches) for searches in clf.searches_] == [1, 1, 1]


def test_an_interrupted_fit_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    expected, calls = text(fitted()), []

    class Stop(Exception):
        """An error in the middle of a fit."""

    def fail_at(n):
        def search(*arguments):
            calls.append(arguments[5].number)
            if len(calls) == n:
                raise Stop
            return search_bin(*arguments)

        return search

    for n in (7, 12):  # in the second round, and in the third
        path = tmp_path / f"{n}.json"
        settings = {**QUICK, "callbacks": Checkpoint(path, every=0.0)}
        calls.clear()
        monkeypatch.setattr("rfsc._search.bins.search_bin", fail_at(n))
        with pytest.raises(Stop):
            PartitionedRFSC(**settings).fit(*planted())
        done = set(calls[:-1])
        calls.clear()
        monkeypatch.setattr("rfsc._search.bins.search_bin", fail_at(-1))
        resumed = PartitionedRFSC(**settings).fit(*planted())
        assert text(resumed) == expected
        assert len(set(calls) & done) < 4  # at most those of one batch are searched again
    with pytest.raises(CheckpointError, match="n_bins differ"):
        PartitionedRFSC(**{**settings, "n_bins": 4}).fit(*planted())


def test_a_time_limit_ends_the_rounds():
    settings = {**QUICK, "n_rounds": 1000, "patience": 1000, "callbacks": StopAfter(2.0)}
    clf = PartitionedRFSC(**settings).fit(*planted())
    assert clf.round_stop_reasons_ == ["time_limit"]
    assert clf.stop_reason_ == "time_limit"
    assert clf.manifest_["stop_reasons"][0][0] == "time_limit"
    assert clf.score(*planted()) > 0.7


@pytest.mark.parametrize("seconds", [0.3, 1.0])
def test_a_fit_that_ran_out_of_time_goes_on_to_the_same_bits(tmp_path, seconds):
    kept = Checkpoint(tmp_path / "fit.json")
    PartitionedRFSC(**QUICK, callbacks=[kept, StopAfter(seconds)]).fit(*planted())
    assert text(PartitionedRFSC(**QUICK, callbacks=kept).fit(*planted())) == text(fitted())


def test_the_model_is_explained_exported_and_read_back():
    X, _ = planted()
    clf = fitted()
    again = from_json(to_json(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.settings_["n_bins"] == 5
    assert "x111" in summary(clf)


def test_a_file_tells_what_class_was_fitted(tmp_path):
    X, y = planted()
    code = code_for(from_json(to_json(fitted())).settings_, "a table")
    assert "from rfsc import PartitionedRFSC" in code
    assert "n_bins=5" in code
    save(fitted(), tmp_path / "model.json")
    pd.DataFrame(X).assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    verified = main(["verify", str(tmp_path / "model.json"), str(tmp_path / "rows.csv"), "--target", "y"])
    assert verified == 0


def test_a_report_is_made():
    page = Report.from_estimator(fitted(), *planted(), cv=None, baselines={}).html()
    assert "x111" in page
    assert "PartitionedRFSC(" in page


def test_three_classes_and_products():
    X, y = planted(3)
    clf = PartitionedRFSC(degree=2, basis="centred", **{**QUICK, "n_rounds": 1}).fit(X[:, :60], y)
    assert clf.n_terms_.tolist() == [1 + 60 + 60 * 61 // 2] * 3
    assert clf.predict_proba(X[:, :60]).shape == (160, 3)
    assert clf.n_bins_.tolist() == [5, 5, 5]


def test_bins_by_size():
    X, y = planted()
    clf = PartitionedRFSC(n_rounds=1, max_iter=1, n_models=5, n_restarts=1, random_state=0)
    assert clf.fit(X, y).n_bins_.tolist() == [1]
    assert clf.set_params(degree=2).fit(X[:, :50], y).n_bins_.tolist() == [3]  # 1,326 terms
    assert clf.set_params(n_bins=10_000).fit(X[:, :2], y).n_bins_.tolist() == [6]  # no more than terms


@pytest.mark.parametrize("initial_rip", ["screened", "uniform"])
def test_bins_begin_as_asked(initial_rip):
    clf = PartitionedRFSC(**QUICK, initial_rip=initial_rip).fit(*planted())
    assert {"x7", "x111", "x222"} <= set(clf.models_[0].names)


def test_what_cannot_be_asked():
    with pytest.raises(ValueError, match=r'basis="auto" compares families by plain searches. Name a family'):
        PartitionedRFSC(basis="auto").fit(*planted())
    with pytest.raises(ValueError, match="The 'sharing' parameter"):
        PartitionedRFSC(sharing="all").fit(*planted())
    assert PartitionedRFSC.paper(n_bins=3).get_params()["unseen"] == "zero"
