"""Readers: what is written comes back, what is wrong is named by file, line and column, and no cell is shown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from paper.readers import folds_to_splits, read_fold_file, read_keel, read_keel_folds, read_table

KEEL = """% a comment
@Relation  small

@ATTRIBUTE width real[0.0,10.0]
@attribute 'the height' integer [2, 6]
@attribute flat real [1, 1]
@attribute free real
@attribute Class{yes, no}
@inputs width, the height, flat, free
@outputs Class
@data
0.0, 2, 1, 5, no
% another
5.0,6 ,1, 7,yes

10 4 1 9 no
"""


@pytest.fixture
def write(tmp_path):
    def build(text, name="table.dat", encoding="utf-8"):
        path = tmp_path / name
        path.write_text(text, encoding=encoding)
        return path

    return build


def complaint(read, *arguments):
    """The words of the error; nothing that was raised with it may show more."""
    with pytest.raises(ValueError, match=r"\w") as caught:
        read(*arguments)
    assert "SECRET" not in str(caught.getrepr(chain=True, style="short").reprcrash)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    text = str(caught.value)
    assert "SECRET" not in text
    assert "777" not in text
    return text


# ---- KEEL


def test_keel_file(write):
    table = read_keel(write(KEEL))
    assert table.relation == "small"
    assert table.feature_names == ("width", "the height", "flat", "free")
    assert (table.target_name, table.target_names) == ("Class", ("yes", "no"))
    assert list(table.target) == ["no", "yes", "no"]
    np.testing.assert_array_equal(table.data, [[0, 2, 1, 5], [5, 6, 1, 7], [10, 4, 1, 9]])
    np.testing.assert_array_equal(table.ranges, [[0, 10], [2, 6], [1, 1], [5, 9]])
    np.testing.assert_array_equal(table.scaled(), [[0, 0, 0, 0], [0.5, 1, 0, 0.5], [1, 0.5, 0, 1]])


def test_keel_roles_may_be_left_out_or_name_some_of_the_columns(write):
    bare = "".join(line for line in KEEL.splitlines(keepends=True) if not line.startswith(("@in", "@out")))
    assert read_keel(write(bare)).feature_names == ("width", "the height", "flat", "free")
    some = KEEL.replace("@inputs width, the height, flat, free", "@inputs free, width")
    assert read_keel(write(some)).feature_names == ("width", "free")


def test_keel_class_need_not_be_last(write):
    text = "@relation r\n@attribute kind {b, a}\n@attribute x real\n@outputs kind\n@data\na, 1\nb, 2\n"
    table = read_keel(write(text, encoding="utf-8-sig"))
    assert list(table.target) == ["a", "b"]
    np.testing.assert_array_equal(table.data, [[1], [2]])
    assert list(read_table(write(text)).target) == ["a", "b"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("5.0,6 ,1, 7,yes", "5.0,SECRET,1,7,yes", ["table.dat", "line 14", "'the height'", "number"]),
        ("5.0,6 ,1, 7,yes", "5.0,?,1,7,yes", ["line 14", "'the height'", "number"]),
        ("5.0,6 ,1, 7,yes", "5.0,nan,1,7,yes", ["line 14", "'the height'", "number"]),
        ("5.0,6 ,1, 7,yes", "5.0,6,1,7,SECRET", ["line 14", "'Class'", "labels"]),
        ("5.0,6 ,1, 7,yes", "777,777,yes", ["line 14", "5 cells", "got 3"]),
        ("@data\n", "", ["line 11", "starts with @", "@data"]),
        ("@attribute flat real [1, 1]", "@attribute flat real [2, 1]", ["line 6", "range"]),
        ("@attribute flat real [1, 1]", "@attribute flat real [x, 1]", ["line 6", "range"]),
        ("@attribute flat real [1, 1]", "@attribute flat date", ["line 6", "@attribute NAME real"]),
        ("@attribute flat real [1, 1]", "@attribute width real [1, 1]", ["line 6", "not used before"]),
        ("@attribute flat real [1, 1]", "@attribute flat {1, 2}", ["'flat' is nominal", "Encode"]),
        ("@attribute flat real [1, 1]", "@atribute flat real [1, 1]", ["line 6", "@attribute"]),
        ("@outputs Class", "@outputs Klass", ["'Klass'", "no @attribute"]),
        ("@outputs Class", "@outputs width", ["one nominal output"]),
        ("@outputs Class", "@outputs Class, width", ["one nominal output"]),
    ],
)
def test_keel_errors(write, old, new, words):
    text = complaint(read_keel, write(KEEL.replace(old, new)))
    assert all(word in text for word in words), text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a line @data"),
        (KEEL.partition("@data")[0] + "@data\n", "expected rows"),
        ("@relation r\n@attribute c {a, b}\n@data\na\n", "at least one numeric attribute"),
        ("@relation r\n@data\n1\n", "one nominal output"),
    ],
)
def test_keel_files_with_nothing_in_them(write, text, words):
    assert words in complaint(read_keel, write(text))


def test_other_encodings_are_refused_without_showing_the_file(write):
    path = write(KEEL.replace("no", "SECRETé"), encoding="latin-1")
    assert "UTF-8" in complaint(read_keel, path)


def test_keel_folds(write, tmp_path):
    head, mark, _ = KEEL.rpartition("@data\n")
    other = head + mark + "4, 4, 1, 25, yes\n"
    for name, text in {"1tra": KEEL, "1tst": other, "2tra": other, "2tst": KEEL}.items():
        write(text, f"small-2-{name}.dat")
    folds = read_keel_folds(tmp_path, "small")
    assert [(len(train.data), len(test.data)) for train, test in folds] == [(3, 1), (1, 3)]
    # a range that the header leaves out spans both parts, so that both are scaled alike
    assert [list(table.ranges[3]) for table in folds[0]] == [[5, 25], [5, 25]]

    write(other, "small-2-2tst.dat")  # the rows of the first fold are tested twice, the others never
    assert "fold 1 has others. Download" in complaint(read_keel_folds, tmp_path, "small")

    (tmp_path / "small-2-2tst.dat").unlink()
    with pytest.raises(FileNotFoundError, match=r"Expected 4 files .* small-2-2tst\.dat is not there"):
        read_keel_folds(tmp_path, "small")
    write(KEEL.replace("{yes, no}", "{no, yes}"), "small-2-2tst.dat")
    assert "headers differ" in complaint(read_keel_folds, tmp_path, "small")
    write(KEEL, "small-5-1tra.dat")
    assert "[2, 5] folds" in complaint(read_keel_folds, tmp_path, "small")


@pytest.mark.parametrize("folder", [".", "nowhere"])
def test_keel_folds_that_are_not_there(tmp_path, folder):
    with pytest.raises(FileNotFoundError, match=r"files like small-10-1tra\.dat .* Download"):
        read_keel_folds(tmp_path / folder, "small")


# ---- folds


@given(st.permutations(range(12)), st.integers(2, 5))
def test_fold_file_in_any_order(tmp_path_factory, order, n_folds):
    path = tmp_path_factory.mktemp("folds") / "folds.csv"
    path.write_text("row,fold\n" + "".join(f"{row},{row % n_folds + 1}\n" for row in order))
    fold = read_fold_file(path)
    np.testing.assert_array_equal(fold, np.arange(12) % n_folds)
    splits = folds_to_splits(fold)
    assert len(splits) == n_folds
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(12))
    assert all(sorted([*train, *test]) == list(range(12)) for train, test in splits)


def test_splits_are_what_scikit_learn_takes():
    X, y = np.arange(12.0)[:, None], np.arange(12) // 6
    splits = folds_to_splits(np.arange(12) % 3)
    assert len(cross_val_score(DecisionTreeClassifier(), X, y, cv=splits)) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fold,row\n0,1\n1,2\n", "line 1: expected the header row,fold"),
        ("row,fold\n0,1\n1,two\n", "line 3: expected two whole numbers"),
        ("row,fold\n0,1\n1,2,3\n", "line 3: expected 2 cells"),
        ("row,fold\n0,1\n0,2\n", "each row number from 0 to 1 once"),
        ("row,fold\n1,1\n2,2\n", "each row number from 0 to 1 once"),
        ("row,fold\n0,1\n1,3\n", "without a gap"),
        ("row,fold\n0,0\n1,1\n", "without a gap"),
        ("row,fold\n0,1\n1,1\n", "at least two"),
        ("row,fold\n", "rows of data"),
    ],
)
def test_fold_file_errors(write, text, words):
    assert words in complaint(read_fold_file, write(text, "folds.csv"))


# ---- tables


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_csv_round_trip(write, mark, encoding):
    X = np.random.default_rng(0).normal(size=(7, 3))
    y = np.array(["é", "a", "none", "a", "1.0", "a", "é"])
    lines = [mark.join([*map(repr, row.tolist()), f" {label} "]) for row, label in zip(X, y, strict=True)]
    path = write("\n".join([mark.join(["x", '"a, b; c"', "z", "kind"]), *lines, "", ""]), "table.csv", encoding)
    table = read_table(path)
    np.testing.assert_array_equal(table.data, X)
    assert list(table.target) == list(y)
    assert table.feature_names == ["x", "a, b; c", "z"]
    assert list(table.target_names) == ["1.0", "a", "none", "é"]
    assert table.source == "table.csv"


def test_target_may_be_named(write):
    table = read_table(write("kind,x\n1,2\n01,4\n", "t.CSV"), target="kind")
    assert list(table.target) == ["1", "01"]
    assert table.feature_names == ["x"]
    assert "no column 'sort'" in complaint(read_table, write("kind,x\n1,2\n", "t.csv"), "sort")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,z,kind\n1,2,a\n1,SECRET,b\n", ["t.csv", "column 'z'", "text", "Encode"]),
        ("x,z,kind\n1,2,a\n1,inf,b\n", ["column 'z'", "finite"]),
        ("x,z,kind\n1,2,a\n1,1_0,b\n", ["column 'z'", "text"]),
        ("x;z;kind\n1;777,1;a\n1;2;b\n", ["column 'z'", "decimal point"]),
        ("x,z,kind\n1,2,a\n1,,b\n", ["column 'z'", "missing", "Fill"]),
        ("x,z,kind\n1,2,a\n1,NaN,b\n", ["column 'z'", "missing"]),
        ("x,z,kind\n1,2,a\n1,2,\n", ["'kind'", "missing", "Drop"]),
        ("x,z,kind\n1,2,a\n\n1,b\n", ["line 4", "3 cells", "got 2"]),
        ("777,2,1\n3,4,2\n", ["line 1", "header row"]),
        ("777.5,2,R\n3,4,M\n", ["line 1", "header row"]),
        ("x,x,kind\n1,2,a\n", ["line 1", "different name"]),
        ("x,,kind\n1,2,a\n", ["line 1", "different name"]),
        ("x,z,kind\n", ["1 rows", "complete"]),
        ("", ["0 rows", "complete"]),
        ("kind\na\nb\n", ["at least one feature", "delimiter"]),
        ('x,kind\n1,"' + "SECRET" * 30_000, ["quote"]),
    ],
)
def test_csv_errors(write, text, words):
    found = complaint(read_table, write(text, "t.csv"))
    assert all(word in found for word in words), found


ARFF = """% comment
@relation small
@attribute 'a b' numeric
@attribute level {1, 2}
@attribute kind {yes, 'no way'}
@data
0.1, 2, yes
-3e5, 1,'no way'
"""


def test_arff(write):
    table = read_table(write(ARFF, "t.arff"))
    np.testing.assert_array_equal(table.data, [[0.1, 2], [-3e5, 1]])
    assert list(table.target) == ["yes", "no way"]
    assert table.feature_names == ["a b", "level"]
    assert list(table.target_names) == ["no way", "yes"]
    numeric = ARFF.replace("{yes, 'no way'}", "real").replace("'no way'", "0").replace("yes", "1.5")
    assert list(read_table(write(numeric, "t.arff")).target) == ["1.5", "0"]
    assert "no, way" in read_table(write(ARFF.replace("'no way'", '"no, way"'), "t.arff")).target
    assert "it's" in read_table(write(ARFF.replace("no way", "it\\'s"), "t.arff")).target


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.1, 2, yes", "SECRET, 2, yes", "t.arff, line 7: expected a finite number for attribute 'a b'"),
        ("0.1, 2, yes", "?, 2, yes", "line 7: expected a finite number for attribute 'a b'"),
        ("0.1, 2, yes", "0.1, 2, SECRET", "line 7: expected one of the labels of attribute 'kind'"),
        ("0.1, 2, yes", "0.1, 2, ?", "line 7: expected one of the labels of attribute 'kind'"),
        ("0.1, 2, yes", "777", "line 7: expected 3 cells"),
        ("0.1, 2, yes", "{0 777, 2 yes}", "line 7: expected 3 cells"),
        ("'a b' numeric", "'a b' string", "line 3: expected @attribute NAME real"),
        ("'a b' numeric", "'a b' date 'yyyy'", "line 3: expected @attribute NAME real"),
        ("\n0.1, 2, yes\n-3e5, 1,'no way'", "", "expected rows"),
        ("@data\n0.1, 2, yes\n-3e5, 1,'no way'", "", "expected a line @data"),
    ],
)
def test_arff_errors(write, old, new, words):
    assert words in complaint(read_table, write(ARFF.replace(old, new), "t.arff"))


def test_nominal_feature_of_an_arff_file(write):
    text = ARFF.replace("{1, 2}", "{low, SECRET}").replace(" 2,", " low,").replace(" 1,", " SECRET,")
    assert "column 'level'" in complaint(read_table, write(text, "t.arff"))


def test_table_from_keel_keeps_every_digit(write):
    table, keel = read_table(write(KEEL)), read_keel(write(KEEL))
    np.testing.assert_array_equal(table.data, keel.data)
    assert list(table.target_names) == ["no", "yes"]
    assert list(read_table(write(KEEL), target="Class").target) == list(keel.target)


def test_unknown_extension(write):
    assert "ends with .csv, .arff or .dat" in complaint(read_table, write("x", "t.xlsx"))


def test_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "t.csv")


# ---- the real files


@pytest.mark.parametrize(("name", "shape"), [("bupa", (345, 6)), ("iris", (150, 4)), ("wine", (178, 13))])
def test_keel_partitions(keel_folds, name, shape):
    for train, test in keel_folds(name):
        both = np.vstack([train.scaled(), test.scaled()])
        assert both.shape == shape
        assert both.min() == 0
        assert both.max() == 1


def test_fold_file_names_the_rows_of_keels_partition(data_root, keel_folds):
    bupa = read_table(data_root / "bupa.csv")
    fold = read_fold_file(data_root / "keel" / "folds_bupa.csv")
    for (_, rows), (_, test) in zip(folds_to_splits(fold), keel_folds("bupa"), strict=True):
        ours = np.column_stack([bupa.data[rows], bupa.target[rows].astype(float)])
        theirs = np.column_stack([test.data, test.target.astype(float)])
        np.testing.assert_array_equal(np.sort(ours, axis=0), np.sort(theirs, axis=0))
