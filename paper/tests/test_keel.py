"""KEEL's files: what is written comes back, what is wrong is refused without a cell, the published folds are whole."""

from __future__ import annotations

import numpy as np
import pytest

from paper.keel import read_keel, read_keel_folds

KEEL = """@Relation  small
@ATTRIBUTE width real[0.0,10.0]
@attribute height integer [2, 6]
@attribute flat real [1, 1]
@attribute Class{yes, no}
@inputs width, height, flat
@outputs Class
@data
0.0, 2, 1, no
5.0,6 ,1,yes

10, 4, 1, no
"""
HEAD = KEEL.partition("@data")[0] + "@data\n"


@pytest.fixture
def write(tmp_path):
    def build(text, name="table.dat"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return build


def test_keel_file(write):
    table = read_keel(write(KEEL))
    assert table.feature_names == ("width", "height", "flat")
    assert table.labels == ("yes", "no")
    assert list(table.target) == ["no", "yes", "no"]
    np.testing.assert_array_equal(table.data, [[0, 2, 1], [5, 6, 1], [10, 4, 1]])
    np.testing.assert_array_equal(table.ranges, [[0, 10], [2, 6], [1, 1]])
    np.testing.assert_array_equal(table.scaled(), [[0, 0, 0], [0.5, 1, 0], [1, 0.5, 0]])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("5.0,6 ,1,yes", "5.0,SECRET,1,yes"),
        ("5.0,6 ,1,yes", "5.0,?,1,yes"),
        ("5.0,6 ,1,yes", "5.0,nan,1,yes"),
        ("5.0,6 ,1,yes", "5.0,6,1,SECRET"),
        ("5.0,6 ,1,yes", "777,yes"),
        ("@data\n", ""),
        ("@attribute flat real [1, 1]", "@attribute flat real [x, 1]"),
        ("@attribute flat real [1, 1]", "@attribute flat date"),
        ("@attribute flat real [1, 1]\n", ""),
        ("{yes, no}", " real [0, 1]"),
        (KEEL, ""),
        (KEEL, HEAD),
    ],
)
def test_other_formats_are_refused_without_showing_a_cell(write, old, new):
    with pytest.raises(ValueError, match=r"table\.dat: expected @attribute lines") as caught:
        read_keel(write(KEEL.replace(old, new)))
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_folds_must_be_complete_and_test_every_row_once(write, tmp_path):
    rows = [f"{i % 11}, {2 + i % 5}, 1, {'yes' if i % 2 else 'no'}\n" for i in range(20)]

    def write_fold(i, test):
        write(HEAD + "".join(row for k, row in enumerate(rows) if k not in test), f"small-10-{i + 1}tra.dat")
        write(HEAD + "".join(rows[k] for k in test), f"small-10-{i + 1}tst.dat")

    for i in range(10):
        write_fold(i, [2 * i, 2 * i + 1])
    folds = read_keel_folds(tmp_path, "small")
    assert [(len(train.data), len(test.data)) for train, test in folds] == [(18, 2)] * 10
    write_fold(3, [0, 1])  # the rows of the first fold are tested twice, others never
    with pytest.raises(ValueError, match="Download the partitions again"):
        read_keel_folds(tmp_path, "small")
    (tmp_path / "small-10-4tst.dat").unlink()
    with pytest.raises(FileNotFoundError, match=r"Expected 20 files .* small-10-4tst\.dat is missing"):
        read_keel_folds(tmp_path, "small")


@pytest.mark.parametrize(("name", "shape"), [("bupa", (345, 6)), ("iris", (150, 4)), ("wine", (178, 13))])
def test_published_partitions(keel_folds, name, shape):
    for train, test in keel_folds(name):
        both = np.vstack([train.scaled(), test.scaled()])
        assert both.shape == shape
        assert both.min() == 0
        assert both.max() == 1
