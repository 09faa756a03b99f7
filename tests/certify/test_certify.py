"""Certificates of tables of which the truth is known; the same for any workers, after interruptions and from files."""

from __future__ import annotations

import json

import dask.array as dask_array
import joblib
import numpy as np
import pandas as pd
import pytest
from benchmarks.torture.same_answer import dask_cluster
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from rfsc import Checkpoint, RFSCClassifier, StopAfter
from rfsc._utils.manifest import content_digest
from rfsc.certify import Certificate, certify, certifying
from rfsc.certify.certifying import correlation_clusters
from rfsc.certify.halves import split_in_halves
from rfsc.tables import TableEncoder

FAST = RFSCClassifier(basis="polynomial", n_jobs=1)


@pytest.fixture(scope="module")
def table():
    """The class depends on age and, through a or its near copy b, on one of these; the rest is noise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((240, 5)), columns=["age", "a", "b", "c", "d"])
    X["b"] = X["a"] + 0.05 * rng.random(240)
    f = 8.0 * X["age"] - 8.0 * X["a"]
    return X, np.where(f + rng.logistic(size=240) > 0.0, "ill", "well")


@pytest.fixture(scope="module")
def found(table):
    return certify(FAST, *table, n_pairs=5, random_state=0, n_jobs=1)


def test_verdicts_on_what_is_true_interchangeable_and_noise(found):
    assert set(found.clusters.named()) == {"age", "a | b"}
    verdicts = dict(zip(found.features.unit, found.features.verdict, strict=True))
    assert verdicts["age"] == "supported"
    assert {verdicts.get("a", "supported"), verdicts.get("b", "supported")} <= {"supported", "its cluster is supported"}
    assert verdicts.get("b") != "supported"
    assert not {"c", "d"} & set(found.features.named())
    assert found.p_signal < 1e-6
    assert found.score.log_loss < found.score.constant_log_loss
    assert found.score.auc > 0.8
    assert found.cautions == ("there are only 10 half fits; other halves might give other verdicts.",)


def test_tables_and_text(found):
    frame = found.features.to_frame()
    assert list(frame.columns) == ["verdict", "p_value", "share", "sign", "stand_ins"]
    assert frame["p_value"].is_monotonic_increasing
    assert frame.loc["age", "share"] == 1.0
    assert frame.loc["age", "sign"] == 1.0
    text = found.text()
    assert "10 fits to halves of 240 rows" in text
    assert "Supported clusters: " in text
    assert "a | b" in found._repr_html_()
    assert str(found) == text


def test_saved_and_loaded(found, tmp_path):
    path = tmp_path / "certificate.json"
    found.save(path)
    again = Certificate.load(path)
    assert again.text() == found.text()
    assert again.settings == found.settings
    assert again.bound(0.9) == found.bound(0.9)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"version": 0}))
    with pytest.raises(ValueError, match="another version"):
        Certificate.load(path)
    path.write_text(json.dumps(content | {"p_signal": "small"}))
    with pytest.raises(ValueError, match="wrong type"):
        Certificate.load(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match="no certificate of rfsc"):
        Certificate.load(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="not JSON"):
        Certificate.load(path)


def test_noise_is_no_more_than_chance(rng):
    X, y = rng.random((120, 4)), rng.integers(2, size=120)
    found = certify(FAST, X, y, n_pairs=4, random_state=0, n_jobs=1)
    assert found.p_signal > 0.05
    assert not found.clusters.named()
    assert set(found.features.verdict) <= {"no more than chance"}
    assert "No more than chance" in found.text()


def test_three_classes_and_no_signs(rng):
    X = rng.random((240, 4))
    y = np.argmax(np.column_stack([6 * X[:, 0], 6 * X[:, 1], np.full(240, 3.0)]) + rng.gumbel(size=(240, 3)), axis=1)
    found = certify(FAST, X, y, n_pairs=3, random_state=0, n_jobs=1)
    assert set(found.features.named()) == {"x0", "x1"}
    assert found.features.sign is None
    assert "same sign" not in found.features.text().splitlines()[0]


def test_same_bits_for_any_number_of_workers(table, found):
    with joblib.parallel_config("threading", n_jobs=2):
        other = certify(FAST, *table, n_pairs=5, random_state=0)
    assert other.text() == found.text()
    assert np.array_equal(other.features.p_value, found.features.p_value)


@pytest.mark.slow
def test_same_bits_in_processes(table, found):
    other = certify(FAST, *table, n_pairs=5, random_state=0, n_jobs=2)
    assert other.text() == found.text()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # distributed asks for a port by opening one
def test_same_bits_on_a_dask_cluster(table, found):
    pytest.importorskip("distributed")
    with dask_cluster(), joblib.parallel_config("dask"):
        other = certify(FAST, *table, n_pairs=5, random_state=0)
    assert other.text() == found.text()


def test_pipeline_sees_its_own_features(table, found):
    pipeline = make_pipeline(StandardScaler(), FAST)
    other = certify(pipeline, *table, n_pairs=5, random_state=0, n_jobs=1)
    assert set(other.clusters.named()) == set(found.clusters.named())
    assert {"age", "a"} & set(other.features.unit)


def test_a_date_is_one_feature_in_all_halves():
    """Each half begins with a day of its own, from which it must not count."""
    rng = np.random.default_rng(0)
    day = rng.permutation(200)
    dates = (pd.Timestamp("2024-03-01") + pd.to_timedelta(day, unit="D")).strftime("%Y-%m-%d")
    X = pd.DataFrame({"seen": dates, "x": rng.random(200)})
    y = np.where(day / 20.0 - 5.0 + rng.logistic(size=200) > 0.0, "ill", "well")
    found = certify(make_pipeline(TableEncoder(), FAST), X, y, n_pairs=3, random_state=0, n_jobs=1)
    assert "seen (days since 2024-03-01)" in found.features.unit
    assert set(found.features.unit) <= {"seen (days since 2024-03-01)", "x"}
    assert found.features.share[found.features.unit.index("seen (days since 2024-03-01)")] == 1.0


def test_rows_of_weight_zero_count_for_nothing(table, found):
    X, y = table
    more = pd.concat([X, X.iloc[:20] + 0.5])
    weight = np.r_[np.ones(len(X)), np.zeros(20)]
    labels = np.r_[y, y[:20]]
    other = certify(FAST, more, labels, sample_weight=weight, n_pairs=5, random_state=0, n_jobs=1)
    assert other.text() == found.text()


def test_features_of_a_model_in_a_sentence(found):
    assert found.of_features(["age"]) == "Features of this model: supported: age."
    assert found.of_features(["weight", "b"]).endswith("its cluster is supported: b; not settled: weight.")
    assert found.of_features([]) == "This model reads no feature."


def test_groups_are_counted(table):
    X, y = table
    made = certify(FAST, X, y, groups=np.arange(240) // 4, n_pairs=1, random_state=0, n_jobs=1)
    assert made.settings.n_groups == 60
    assert "2 fits to halves of 240 rows of 60 groups, which stayed together" in made.text()


def test_clusters_of_the_user(table):
    X, y = table
    first = certify(FAST, X, y, clusters=[["c", "d"]], n_pairs=2, random_state=0, n_jobs=1)
    second = certify(FAST, X, y, clusters={"c": "both", "d": "both"}, n_pairs=2, random_state=0, n_jobs=1)
    assert not any("a | b" in unit for unit in first.clusters.unit)
    assert first.settings.cut is None
    assert np.array_equal(first.clusters.p_value, second.clusters.p_value)
    with pytest.raises(ValueError, match="more than once"):
        certify(FAST, X, y, clusters=[["a", "b"], ["b", "c"]])
    with pytest.raises(ValueError, match="1 feature that X does not have"):
        certify(FAST, X, y, clusters=[["a", "weight"]])
    with pytest.raises(ValueError, match='clusters must be "auto"'):
        certify(FAST, X, y, clusters="none")


def test_clusters_by_rank_correlation(rng):
    z = rng.normal(size=(200, 3))
    values = np.column_stack([z[:, 0], np.exp(z[:, 0]), -z[:, 0] + 0.1 * z[:, 1], z[:, 1], np.zeros(200)])
    label = correlation_clusters(values)
    assert len(set(label[:3])) == 1
    assert len(set(label)) == 3


def test_checkpoint_continues_with_the_same_result(table, found, tmp_path):
    path = tmp_path / "halves.json"
    first = certify(FAST, *table, n_pairs=5, random_state=0, n_jobs=1, callbacks=Checkpoint(path))
    assert first.text() == found.text()
    kept = json.loads(path.read_text().splitlines()[1])["finished"]
    assert len(kept) == 10
    calls = []
    RFSCClassifier.fit, real = lambda *a, **k: calls.append(1) or real(*a, **k), RFSCClassifier.fit
    try:
        again = certify(FAST, *table, n_pairs=5, random_state=0, n_jobs=1, callbacks=Checkpoint(path))
    finally:
        RFSCClassifier.fit = real
    assert not calls
    assert again.text() == found.text()
    with pytest.raises(ValueError, match="other work"):
        certify(FAST, *table, n_pairs=5, random_state=1, n_jobs=1, callbacks=Checkpoint(path))


def test_time_limit_gives_the_halves_so_far_or_says_so(table, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("rfsc._search.context.time.time", lambda: now[0])
    real = RFSCClassifier.fit

    def slow(*args, **kwargs):
        now[0] += 1.0
        return real(*args, **kwargs)

    monkeypatch.setattr(RFSCClassifier, "fit", slow)
    with pytest.warns(ConvergenceWarning, match="Only 4 of 10 half fits"):
        some = certify(FAST, *table, n_pairs=5, random_state=0, n_jobs=1, callbacks=StopAfter(4.5))
    assert some.settings.n_halves == 4
    with pytest.raises(TimeoutError, match="the time ended before the first pair of halves"):
        certify(FAST, *table, n_pairs=5, random_state=0, n_jobs=1, callbacks=StopAfter(0.5))


def test_halves_are_stratified_and_keep_groups_together(rng):
    code = rng.integers(3, size=101)
    halves = split_in_halves(code, None, 20, rng)
    for half in halves:
        assert np.all(np.abs(np.bincount(code[half]) - np.bincount(code[~half])) <= 1)
        assert abs(int(half.sum()) - int((~half).sum())) <= 3
    assert len({half.tobytes() for half in halves}) == 20
    groups = rng.integers(15, size=101)
    for half in split_in_halves(code, np.unique(groups, return_inverse=True)[1], 5, rng):
        assert not set(groups[half]) & set(groups[~half])


def test_files_whose_parts_do_not_fit_together(found, tmp_path):
    path = tmp_path / "certificate.json"
    content = json.loads(found.to_json())
    content["clusters"]["unit"][0] = "other"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="a feature is in a cluster that it does not hold"):
        Certificate.load(path)
    path.write_text(" " * (64 * 2**20 + 1))
    with pytest.raises(ValueError, match="it is larger than 64 MiB"):
        Certificate.load(path)


def test_errors_say_what_to_do(table):
    X, y = table
    with pytest.raises(TypeError, match="must be an RFSCClassifier or a pipeline"):
        certify(LogisticRegression(), X, y)
    with pytest.raises(ValueError, match="n_pairs"):
        certify(FAST, X, y, n_pairs=0)
    with pytest.raises(ValueError, match="level"):
        certify(FAST, X, y, level=1.0)
    with pytest.raises(ValueError, match="one label for each of the 240 rows"):
        certify(FAST, X, y[:-1])
    with pytest.raises(ValueError, match="infinity"):
        certify(FAST, X.mask(X["age"] > 0.9, np.inf), y)
    with pytest.raises(ValueError, match="table in memory"):
        certify(FAST, dask_array.from_array(X.to_numpy(), chunks=(100, 5)), y)
    with pytest.raises(ValueError, match="at least two classes"):
        certify(FAST, X, np.full(len(X), "ill"))
    rare = np.where(np.arange(len(X)) < 3, "ill", "well")
    with pytest.raises(ValueError, match="more rows of the smallest class"):
        certify(FAST, X, rare)
    with pytest.raises(ValueError, match="in more groups"):
        certify(FAST, X, y, groups=np.where(y == "ill", 0, np.arange(len(X)) % 5 + 1))
    for n_groups in (2, 3):
        with pytest.raises(ValueError, match=f"at least 4 groups, two in each half, got {n_groups}"):
            certify(FAST, X, y, groups=np.arange(len(X)) % n_groups)
    with pytest.raises(ValueError, match="random_state"):
        certify(FAST, X, y, random_state=np.random.RandomState(0))
    with pytest.raises(ValueError, match="n_pairs must be an integer of at least 1, got True"):
        certify(FAST, X, y, n_pairs=True)
    for clusters, what in ((5, "type int"), (["a", "b"], "a list of names"), ([5], "a list of names")):
        with pytest.raises(ValueError, match=f"clusters must be .* got .*{what}"):
            certify(FAST, X, y, clusters=clusters)
    with pytest.raises(ValueError, match="threshold"):
        certify(FAST, X, y, n_pairs=1, n_jobs=1).bound(0.5)


def test_what_could_not_be_tested_is_no_verdict_against_it(rng, tmp_path):
    X = rng.random((200, 3))
    y = X[:, 0] >= np.sort(X[:, 0])[-5]
    found = certify(FAST, X, y, n_pairs=3, random_state=0, n_jobs=1)
    assert set(found.clusters.verdict) == set(found.features.verdict) == set(found.terms.verdict) == {"too few rows"}
    assert set(found.features.too_few) == {1.0}
    assert any("too few rows for 100% of the tests of clusters" in caution for caution in found.cautions)
    for text in (found.text(), found._repr_html_()):
        assert "too few rows: share of those" in text
        assert "says nothing against it" in text
    found.save(tmp_path / "c.json")
    assert np.array_equal(Certificate.load(tmp_path / "c.json").features.too_few, found.features.too_few)


def test_members_of_a_cluster_without_rows_for_their_tests(rng):
    X = rng.random((80, 8))
    y = X[:, 0] + 0.3 * rng.normal(size=80) > 0.5
    found = certify(FAST, X, y, clusters=[[f"x{j}" for j in range(8)]], n_pairs=3, random_state=0, n_jobs=1)
    assert found.clusters.verdict == ("supported",)
    assert found.clusters.too_few is None
    assert "its cluster is supported" in found.features.verdict
    assert found.features.too_few.min() >= 0.5
    assert "too few rows" in found.terms.verdict


def test_limits_are_printed(found):
    for text in (found.text(), found._repr_html_()):
        assert "rows, or their groups, are independent" in " ".join(text.split())


def test_groups_that_differ_in_size_are_a_caution(table):
    X, y = table
    groups = np.where(np.arange(len(X)) < 192, 0, np.arange(len(X)))
    found = certify(FAST, X, y, groups=groups, n_pairs=1, random_state=0, n_jobs=1)
    assert found.settings.half_rows < 0.2 * len(X)
    assert any("because the groups differ in size" in caution for caution in found.cautions)
    even = certify(FAST, X, y, groups=np.arange(len(X)) // 4, n_pairs=1, random_state=0, n_jobs=1)
    assert not any("differ in size" in caution for caution in even.cautions)


def test_digest_is_that_of_the_fit(table, found):
    X, y = table
    assert found.settings.content == clone(FAST).fit(X, y).manifest_["data"]["content"]
    raw = X.assign(ward=np.where(X["c"] > 0.5, "north", "south")).mask(X["d"] > 0.9)
    for estimator, rows in ((FAST, raw), (make_pipeline(StandardScaler(), FAST), X)):
        fitted = clone(estimator).fit(rows, y)
        own = certify(estimator, rows, y, n_pairs=1, random_state=0, n_jobs=1)
        last = fitted[-1] if hasattr(fitted, "steps") else fitted
        assert own.settings.content == last.manifest_["data"]["content"]


def test_few_events_are_a_caution(table):
    X, y = table
    some = np.r_[np.flatnonzero(y == "ill")[:30], np.flatnonzero(y == "well")]
    found = certify(FAST, X.iloc[some], y[some], n_pairs=1, random_state=0, n_jobs=1)
    assert any("15 rows of the smallest class" in caution for caution in found.cautions)
    assert "Caution: " in found.text()


def test_checkpoint_of_a_pipeline_is_the_same_in_another_process(rng):
    """Functions of a step have another address there; what they make of the rows is what counts."""
    X, y = rng.random((40, 3)), np.arange(40) % 2
    pipeline = make_pipeline(FunctionTransformer(lambda X: 2.0 * X), RFSCClassifier(basis="polynomial"))
    study = certifying._Study(pipeline, certifying._read(X, y, None, None), "auto", 2, 0)
    text = repr(study._fingerprint())
    assert " at 0x" not in text
    assert study._fingerprint()["basis"] == content_digest("basis", "polynomial")


def test_weights_are_a_caution(rng):
    X, y = rng.random((60, 2)), np.arange(60) % 2
    options = {"n_pairs": 1, "random_state": 0, "n_jobs": 1}
    given = (None, np.ones(60), np.full(60, 5.0))
    said = [certify(RFSCClassifier(basis="polynomial"), X, y, sample_weight=one, **options).cautions for one in given]
    assert ["weights" in " ".join(own) for own in said] == [False, False, True]
