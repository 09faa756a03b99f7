"""The six sets: what they hold, where they come from, and that nothing else is taken for them."""

from __future__ import annotations

from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.utils import Bunch

from paper.datasets import DOWNLOADED, SHIPPED, checksum, load

FACTS = {
    "Bupa": ((345, 6), [145, 200], ["1", "2"]),
    "Ionosphere": ((351, 34), [126, 225], ["b", "g"]),
    "Iris": ((150, 4), [50, 50, 50], ["setosa", "versicolor", "virginica"]),
    "Sonar": ((208, 60), [111, 97], ["M", "R"]),
    "WDBC": ((569, 30), [212, 357], ["malignant", "benign"]),
    "Wine": ((178, 13), [59, 71, 48], ["class_0", "class_1", "class_2"]),
}
FROM_FILES = ["Bupa", "Ionosphere", "Sonar"]


def test_there_are_six():
    assert sorted({**SHIPPED, **DOWNLOADED}) == sorted(FACTS)


@pytest.mark.parametrize("name", FACTS)
def test_content(name, request):
    if name in FROM_FILES:
        request.getfixturevalue("with_data")
    shape, counts, labels = FACTS[name]
    found = load(name)
    assert found.X.shape == shape
    assert found.X.dtype == np.float64
    assert np.bincount(found.y).tolist() == counts
    assert list(found.target_names) == labels
    assert len(set(found.feature_names)) == shape[1]
    assert found.source == f"file {name.lower()}.csv" if name in FROM_FILES else found.source.startswith("scikit-learn")


# ---- a file that is not the set


@pytest.fixture
def damaged(data_root, tmp_path, monkeypatch):
    """Load a set from a copy of its file in which the lines were changed; the words of the error."""

    def load_changed(name, change):
        lines = (data_root / f"{name.lower()}.csv").read_text().splitlines()
        (tmp_path / f"{name.lower()}.csv").write_text("\n".join(change(lines)) + "\n")
        monkeypatch.setenv("RFSC_DATA", str(tmp_path))
        with pytest.raises(ValueError, match=name) as caught:
            load(name)
        assert caught.value.__cause__ is None
        return str(caught.value)

    return load_changed


def cell_changed(lines):
    first, rest = lines[7].split(",", 1)
    assert float(first) != 98.7654
    return [*lines[:7], "98.7654," + rest, *lines[8:]]


def row_missing(lines):
    return [*lines[:40], *lines[41:]]


def class_changed(lines):
    *cells, label = lines[1].split(",")
    other = next(line.rsplit(",", 1)[1] for line in lines[2:] if not line.endswith(f",{label}"))
    return [lines[0], ",".join([*cells, other]), *lines[2:]]


def classes_swapped_in_two_rows(lines):
    """Counts stay, rows do not."""
    *cells, label = lines[1].split(",")
    k = next(k for k, line in enumerate(lines) if k > 1 and not line.endswith(f",{label}"))
    *others, other = lines[k].split(",")
    lines = list(lines)
    lines[1], lines[k] = ",".join([*cells, other]), ",".join([*others, label])
    return lines


@pytest.mark.parametrize("name", FROM_FILES)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (cell_changed, "some cells differ"),
        (row_missing, "rows and"),
        (class_changed, "the classes should count"),
        (classes_swapped_in_two_rows, "some cells differ"),
    ],
)
def test_damaged_file_is_refused(damaged, name, change, words):
    text = damaged(name, change)
    assert words in text
    assert f"{name.lower()}.csv" in text
    assert "Download it again" in text
    assert "98.7654" not in text
    shape = FACTS[name][0]
    if change is row_missing:
        assert f"{shape[0]} rows and {shape[1]} features were expected, got ({shape[0] - 1}, {shape[1]})" in text


def test_undamaged_copy_with_other_row_order_and_notation_passes(data_root, tmp_path, monkeypatch):
    header, *rows = (data_root / "bupa.csv").read_text().splitlines()
    spelled = [",".join([*(f"{float(c):.6e}" for c in row.split(",")[:-1]), row.split(",")[-1]]) for row in rows[::-1]]
    (tmp_path / "bupa.csv").write_text("\n".join([header, *spelled]))
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    assert load("Bupa").X.shape == (345, 6)


# ---- nothing there


def says_how_to_get_it(text, name):
    assert "https://www.openml.org/d/" in text
    assert f"{name.lower()}.csv" in text
    assert "RFSC_DATA" in text
    assert str(FACTS[name][0][0]) in text


@pytest.mark.parametrize("name", FROM_FILES)
def test_missing_file(name, tmp_path, monkeypatch):
    monkeypatch.setenv("RFSC_DATA", str(tmp_path))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: pytest.fail("the folder was named: no network"))
    with pytest.raises(FileNotFoundError) as caught:
        load(name)
    says_how_to_get_it(str(caught.value), name)


@pytest.mark.parametrize("name", FROM_FILES)
def test_no_network(name, monkeypatch):
    def fail(**_):
        raise URLError("no route")

    monkeypatch.delenv("RFSC_DATA", raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
    with pytest.raises(OSError, match="URLError") as caught:
        load(name)
    says_how_to_get_it(str(caught.value), name)


@pytest.mark.parametrize("name", ["Iris", "WDBC", "Wine"])
def test_shipped_sets_need_no_folder(name, monkeypatch):
    monkeypatch.setenv("RFSC_DATA", "/nowhere")
    assert load(name).X.shape == FACTS[name][0]


# ---- OpenML

OPENML_LABELS = {"Bupa": {"1": "1", "2": "2"}, "Ionosphere": {"b": "b", "g": "g"}, "Sonar": {"M": "Mine", "R": "Rock"}}


@pytest.fixture
def openml(with_data, monkeypatch):
    """fetch_openml answers with the true content in another order; `asked` collects what it was asked."""
    asked = []

    def prepare(name, spoil=lambda data: data):
        true = load(name)
        order = np.random.default_rng(0).permutation(len(true.y))
        labels = [OPENML_LABELS[name][true.target_names[k]] for k in true.y[order]]
        names = [f"attribute_{j}" for j in range(true.X.shape[1])]

        def fetch(**options):
            asked.append(options)
            return Bunch(data=spoil(true.X[order]), target=np.array(labels, dtype=object), feature_names=names)

        monkeypatch.delenv("RFSC_DATA")
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        return true, order, asked

    return prepare


@pytest.mark.parametrize("name", FROM_FILES)
def test_openml_content_is_recognised(openml, name):
    true, order, asked = openml(name)
    found = load(name)
    np.testing.assert_array_equal(found.X, true.X[order])
    np.testing.assert_array_equal(found.y, true.y[order])
    assert list(found.target_names) == FACTS[name][2]
    source = DOWNLOADED[name]
    assert found.source == f"OpenML, data set {source.openml}"
    assert asked[0]["data_id"] == source.openml
    assert asked[0]["target_column"] == source.target


def test_openml_content_is_checked_too(openml):
    def spoil(data):
        data[3, 2] += 0.25
        return data

    openml("Sonar", spoil)
    with pytest.raises(ValueError, match=r"Sonar from OpenML, data set 40 .* some cells differ"):
        load("Sonar")


# ---- the checksum

tables = arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-(10**9), 10**9))


@given(tables, st.data())
def test_checksum_ignores_the_order_of_rows_and_how_numbers_were_written(units, data):
    X, code = units / 1e5, np.arange(len(units)) % 2
    order = np.array(data.draw(st.permutations(range(len(units)))))
    jitter = data.draw(arrays(float, units.shape, elements=st.floats(-4e-6, 4e-6)))
    assert checksum(X[order] + jitter, code[order]) == checksum(X, code)


@given(tables, st.data())
def test_checksum_sees_every_changed_cell(units, data):
    code = np.arange(len(units)) % 2
    i, j = (data.draw(st.integers(0, n - 1)) for n in units.shape)
    step = data.draw(st.integers(-5, 5).filter(bool))
    changed, other = units.copy(), code.copy()
    changed[i, j] += step
    other[i] ^= 1
    assert checksum(changed / 1e5, code) != checksum(units / 1e5, code)
    assert checksum(units / 1e5, other) != checksum(units / 1e5, code)
