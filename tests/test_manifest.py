"""The manifest: a fingerprint that depends on the data alone, and a file that tells how it was made."""

from __future__ import annotations

import json
import platform
import re
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rfsc
import rfsc.export
from rfsc._utils.manifest import CHUNK, fingerprint, versions
from rfsc.export import from_json, to_json
from tests.making import make

QUICK = {"basis": "polynomial", "n_restarts": 1, "max_iter": 3, "n_models": 10, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def data_of(X, y, **more):
    return make(**QUICK).fit(X, y, **more).manifest_["data"]


def test_versions_name_what_took_part():
    found = versions()
    assert found["rfsc"] == rfsc.__version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__


def test_the_fingerprint_does_not_depend_on_how_the_table_is_held(iris):
    X, y = iris
    wanted = data_of(X, y)
    values = X.to_numpy()
    frame = pd.DataFrame(np.asfortranarray(values), columns=X.columns)
    assert data_of(frame, y.to_numpy()) == wanted
    assert data_of(frame.set_index(np.arange(150)[::-1]), list(y)) == wanted
    assert data_of(pl.DataFrame({name: X[name].to_numpy() for name in X}), pl.Series(y.to_numpy())) == wanted
    assert data_of(pd.DataFrame(np.repeat(values, 2, axis=0)[::2], columns=X.columns), y) == wanted
    assert data_of(X, y, sample_weight=np.ones(150)) == wanted
    assert data_of(pd.concat([X, X]), pd.concat([y, y]), sample_weight=np.repeat([1.0, 0.0], 150)) == wanted


def test_the_fingerprint_tells_apart_what_differs(iris):
    X, y = iris
    known = data_of(X, y)

    def changed(X, y, **more):
        found = data_of(X, y, **more)
        return {key for key in known if found[key] != known[key]}

    other = X.copy()
    other.iloc[77, 2] = np.nextafter(other.iloc[77, 2], 9.0)
    assert changed(other, y) == {"content"}
    assert changed(X.iloc[::-1], y[::-1]) == {"content"}
    assert changed(X, np.roll(y, 1)) == {"content"}
    assert changed(X[X.columns[::-1]], y) == {"content", "schema"}
    assert changed(X.rename(columns=str.upper), y) == {"schema"}
    assert changed(X.to_numpy(), y) == {"schema"}
    assert changed(X, y.astype(str)) == {"content", "schema"}
    assert changed(X, y, sample_weight=np.arange(1, 151)) == {"weights"}
    visits = np.repeat(np.arange(50), 3)
    assert changed(X, y, groups=visits) == {"groups"}
    assert data_of(X, y, groups=visits) == data_of(X, y, groups=[f"p{-k}" for k in visits])
    assert changed(X.iloc[:, :3], y) == {"features", "content", "schema"}
    assert changed(X[y < 2], y[y < 2]) == {"rows", "classes", "class_sizes", "content"}


tables = arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.floats(-1e300, 1e300))


@given(tables, st.data())
def test_every_cell_counts_and_layouts_do_not(X, data):
    code, weight = np.zeros(len(X), dtype=np.int64), np.ones(len(X))

    def content(table):
        return fingerprint(table, np.array(["a", "b"]), code, weight, None)["content"]

    assert content(np.asfortranarray(X)) == content(X) == content(X.astype(">f8")) == content(X + 0.0)
    i, j = data.draw(st.integers(0, X.shape[0] - 1)), data.draw(st.integers(0, X.shape[1] - 1))
    other = X.copy()
    other[i, j] = np.nextafter(other[i, j], np.inf)
    assert (content(other) == content(X)) == (other[i, j] == X[i, j])


def test_long_tables_are_hashed_in_parts():
    X = np.arange(2.5 * CHUNK).reshape(-1, 2)
    code, weight = np.zeros(len(X), dtype=np.int64), np.ones(len(X))
    whole = fingerprint(X, np.arange(2), code, weight, None)
    assert fingerprint(np.asfortranarray(X), np.arange(2), code, weight, None) == whole
    X[-1, -1] += 1
    assert fingerprint(X, np.arange(2), code, weight, None)["content"] != whole["content"]


def test_names_do_not_run_into_each_other():
    X, code, weight = np.zeros((2, 2)), np.array([0, 1]), np.ones(2)
    hashes = {
        fingerprint(X, np.array(["a", "b"]), code, weight, names)["schema"] for names in [("ab", "c"), ("a", "bc")]
    }
    assert len(hashes) == 2


def test_the_file_carries_the_manifest(iris):
    X, y = iris
    clf = make(**QUICK | {"n_restarts": 2}).fit(X, y)
    document = json.loads(to_json(clf))
    schema = json.loads((Path(rfsc.export.__file__).parent / "model.schema.json").read_text())
    jsonschema.validate(document, schema)
    manifest = document["manifest"]
    assert manifest == clf.manifest_ == from_json(to_json(clf)).manifest_
    assert manifest["seed"] == 0
    assert manifest["target"] == "target"
    assert manifest["engine"] == clf.engine_
    assert manifest["stop_reasons"] == [["max_iter"] * 2] * 3
    assert manifest["timings"]["seconds"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", manifest["timings"]["finished"])
    assert document["settings"]["n_restarts"] == 2
    pipeline = make_pipeline(StandardScaler(), make(**QUICK)).fit(X, y)
    assert from_json(to_json(pipeline)).manifest_ == pipeline[-1].manifest_


def test_the_same_fit_gives_the_same_text_but_for_timings(iris):
    texts = [to_json(make(**QUICK).fit(*iris), timings=False) for _ in range(2)]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["manifest"]["timings"] is None
    assert from_json(texts[0]).manifest_["timings"] is None


def test_no_value_of_the_table_is_in_the_manifest(iris):
    """Numbers and labels that stand out would be seen."""
    X, y = iris[0] + 987654.25, np.where(iris[1] > 0, "secret-one", "secret-two")
    text = json.dumps(make(**QUICK).fit(X, y).manifest_)
    assert "98765" not in text
    assert "secret" not in text


@pytest.mark.parametrize("seed", [None, np.random.default_rng(0)])
def test_a_seed_that_cannot_be_written_is_none(iris, seed):
    assert make(**QUICK | {"random_state": seed}).fit(*iris).manifest_["seed"] is None


def test_a_fit_that_fails_leaves_the_manifest_of_the_last_one(iris):
    clf = make(**QUICK).fit(*iris)
    before = clf.manifest_
    with pytest.raises(ValueError, match="class"):
        clf.fit(iris[0], np.zeros(150))
    assert clf.manifest_ is before
