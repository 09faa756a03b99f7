"""Tables from files: every format gives the same table; other files are refused in one sentence without data."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._input.column_types import infer_column
from rfsc._input.table_files import read_table
from rfsc.tables import COMMAS

ROWS = [["age", "job", "sick"], ["52", "cook", "yes"], ["", "day, night", "no"], ["7.5", "?", "no"]]


@pytest.fixture
def write(tmp_path):
    def build(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return build


def as_text(delimiter=","):
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows(ROWS)
    return stream.getvalue()


def cells(table):
    return [list(table.frame.columns), *table.frame.to_numpy().tolist()]


@pytest.mark.parametrize(
    "content",
    [
        as_text(),
        as_text(";"),
        as_text("\t"),
        as_text().replace("\r\n", "\n"),
        as_text().replace("\r\n", "\r"),
        "\n\n" + as_text(),
        as_text().encode("utf-8-sig"),
        as_text().encode("utf-16"),
        gzip.compress(as_text().encode()),
    ],
    ids=["csv", "semicolon", "tab", "unix", "old mac", "blank lines", "bom", "utf-16", "gzip"],
)
def test_formats_give_the_same_table(write, content):
    assert cells(read_table(write(content))) == ROWS


def test_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(as_text().encode())))
    table = read_table("-")
    assert (cells(table), table.name) == (ROWS, "stdin")


def test_parquet_keeps_its_types(write):
    frame = pd.DataFrame(
        {"age": [1.0, None], "job": ["cook", None], "on": pd.to_datetime(["2020-01-01", "2021-01-01"])}
    )
    frame.index = [5, 6]
    stream = io.BytesIO()
    frame.to_parquet(stream)
    table = read_table(write(stream.getvalue(), "t.parquet")).frame
    pd.testing.assert_frame_equal(table, frame.reset_index(drop=True), check_dtype=False)
    assert table["on"].dtype.kind == "M"


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=2, max_size=2),
        min_size=1,
        max_size=5,
    )
)
def test_any_text_survives(tmp_path_factory, rows):
    """Whatever the csv module writes comes back, but for blanks around cells and rows of blanks."""
    wanted = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not wanted:
        return
    path = tmp_path_factory.mktemp("any") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["first", "second"], *rows])
    assert read_table(str(path)).frame.to_numpy().tolist() == wanted


# ---- what is guessed, and reported


def test_other_encoding_is_reported(write):
    table = read_table(write("name,x\nMüller,1\n".encode("latin-1")))
    assert table.frame["name"].tolist() == ["Müller"]
    assert "Windows-1252" in table.notes[0]


def test_row_names_are_dropped(write):
    table = read_table(write(",a\n1,5\n2,6\n"))
    assert cells(table) == [["a"], ["5"], ["6"]]
    assert "row names" in table.notes[0]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x;y\n1,5;a,b\n-0,25;1,5\n;c\n7;d\n", [1.5, -0.25, None, 7.0]),
        ("x;y\n1,5;a\n1,234;b\n", [1.5, 1.234]),
        ("x;y\n1,234;a\n2,345;b\n", ["1,234", "2,345"]),  # thousands or thousandths: nobody knows
        ('x,y\n"1,234",a\n"2,345.5",b\n12,c\n', [1234.0, 2345.5, 12.0]),
        ("x;y\n1,5;a\nnight;b\n1,2;c\n", ["1,5", "night", "1,2"]),  # not a column of numbers
        ("x;y\n1,5;\n?;0,3\n", [1.5, None]),
        ("x;y\n1,5;a\nn/a;b\nNULL;c\n-;d\nNA;e\n0,8;f\n", [1.5, None, None, None, None, 0.8]),
        ("x\ty\n1,5\ta\n0,234\tb\nunknown\tc\n", [1.5, 0.234, None]),
        ("x;y\n0,234;a\n1,234;b\n", [0.234, 1.234]),  # the leading zero decides
    ],
)
def test_commas_in_numbers(write, text, wanted):
    table = read_table(write(text))
    assert values(table) == wanted
    assert ("read with decimal commas" in table.notes) == ("1,5" in text or "0,2" in text)


def values(table):
    """The cells of x as a fit would read them, None for blanks."""
    found = infer_column("x", table.frame["x"], COMMAS[table.decimal])
    return [None if blank else value for value, blank in zip(found.values.tolist(), found.blank, strict=True)]


@given(
    st.lists(st.one_of(st.decimals(-999, 999, places=2), st.sampled_from(["?", "n/a", "NA", "NULL", "-"])), min_size=1),
    st.sampled_from(";\t"),
)
def test_decimal_commas_are_points(tmp_path_factory, column, delimiter):
    path = tmp_path_factory.mktemp("commas") / "t.csv"
    lines = [f"{str(cell).replace('.', ',')}{delimiter}text" for cell in column]
    path.write_text("\n".join([f"x{delimiter}y", *lines]))
    wanted = [None if isinstance(cell, str) else float(cell) for cell in column]
    if any(cell is not None for cell in wanted):
        assert values(read_table(str(path))) == wanted


# ---- files that are not tables


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "got an empty file"),
        (b"\n \n", "got an empty file"),
        (b"a,b\n", "a header row and rows of data, got 1 row. "),
        (
            b"a,b,a\n1,2,3\n",
            "line 1: expected a different name for every column, got an empty or repeated one in column 3 ('a')",
        ),
        (
            b"a,\n1,2\n",
            "line 1: expected a different name for every column, got an empty or repeated one in column 2. R",
        ),
        (b"5.1,SECRET,SECRET\n1,2,3\n", "got an empty or repeated one in column 3. Rename it, or put a line"),
        (b"a,b\n1,2\n1\n", "line 3: expected 2 cells as in the header, got 1"),
        (b'a,b\n1,2\n"1,2\n', "line 3: expected whole cells in quotes"),
        (b'a,b\n1,"5 inch\n2,3\n4,"6 inch\n', "line 4: expected whole cells in quotes"),
        (b"1,2\n3,4\n", "expected a header row with the names of the columns, got numbers"),
        (b"\n1\n2\n", "expected a header row"),
        (b"PK\x03\x04\0\0SECRET", "got a spreadsheet or another zip file. Save the table as CSV"),
        (b"\x89PNG\r\n\0\0SECRET", "got a binary file. Save the table as CSV"),
        (b"a,b\n1,SECRET\0\n", "got a binary file"),
        (b"PAR1SECRET", "expected a complete Parquet file"),
        (b"\x1f\x8bSECRET", "expected a complete gzip file"),
    ],
)
def test_files_that_are_not_tables(write, content, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        read_table(write(content))
    text = str(caught.value)
    assert words in text
    assert text.startswith("table.csv")
    assert "SECRET" not in text
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_empty_parquet(write):
    stream = io.BytesIO()
    pd.DataFrame({"a": np.array([], dtype=float)}).to_parquet(stream)
    with pytest.raises(ValueError, match="expected rows, got none"):
        read_table(write(stream.getvalue()))


def test_no_file_or_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(str(tmp_path / "none.csv"))
    with pytest.raises(ValueError, match="expected Parquet files"):
        read_table(str(tmp_path))


def test_folders_of_parquet(tmp_path):
    values = np.arange(12.0).reshape(6, 2)
    frame = pd.DataFrame(values, columns=["x0", "x1"])
    (tmp_path / "parts").mkdir()
    for k in range(3):
        frame.iloc[2 * k : 2 * k + 2].to_parquet(tmp_path / "parts" / f"{k}.parquet")
    table = read_table(str(tmp_path / "parts"))
    assert table.name == "parts"
    pd.testing.assert_frame_equal(table.frame, frame)


def test_very_wide(write):
    names = [f"x{j}" for j in range(5000)]
    table = read_table(write(",".join(names) + "\n" + ",".join("1" * 5000) + "\n"))
    assert table.frame.shape == (1, 5000)


@pytest.mark.parametrize("text", ['{"a": 1, "y": "secret"}\n{"a": 2, "y": "b"}\n', '[\n {"a": 1}\n]\n', '[{"a": 1}]\n'])
def test_json_is_no_table(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=r"t.csv: expected CSV, .* got JSON\. Save the table as CSV\.$"):
        read_table(str(tmp_path / "t.csv"))


def test_brackets_in_a_header_are_no_json(tmp_path):
    (tmp_path / "t.csv").write_text("[age],{sex}\n1,f\n2,m\n")
    assert list(read_table(str(tmp_path / "t.csv")).frame.columns) == ["[age]", "{sex}"]


def test_integers_beside_blanks_stay_exact_and_an_index_is_a_column(tmp_path):
    frame = pd.DataFrame({"key": [None, *range(2**53 + 1, 2**53 + 4)], "x": 1.5}, dtype=object)
    frame["key"] = frame["key"].astype("Int64")
    frame.set_index("key").to_parquet(tmp_path / "named.parquet")
    frame.set_index(np.array(list("abcd"))).to_parquet(tmp_path / "unnamed.parquet")
    for name, notes in (("named", ()), ("unnamed", ("row names were dropped",))):
        table = read_table(str(tmp_path / f"{name}.parquet"))
        assert set(table.frame.columns) == {"key", "x"}
        assert table.frame["key"].tolist() == [None, 2**53 + 1, 2**53 + 2, 2**53 + 3]
        assert table.notes == notes


def test_a_column_may_have_any_name(tmp_path):
    (tmp_path / "t.csv").write_text("(row names),b\n1,2\n3,4\n")
    assert list(read_table(str(tmp_path / "t.csv")).frame.columns) == ["(row names)", "b"]


def test_repeated_names_of_a_parquet_file(tmp_path):
    from pyarrow import array, parquet, table

    parquet.write_table(table([array([1.0]), array([2.0])], names=["x", "x"]), tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", tmp_path):
        with pytest.raises(ValueError, match="expected a different name for every column, got a repeated one"):
            read_table(str(source))


def workbook(path, *sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for k, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {k}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return str(path)


def test_excel(tmp_path):
    """Cells keep their types; empty rows and columns at the edge, and empty sheets, do not count."""
    day = datetime.datetime(2024, 1, 31)
    rows = [[], ["age", " job ", "seen", None], [52, " cook ", day], [], [7.5, "", None], [None, "<0.5", day, " "]]
    path = workbook(tmp_path / "t.xlsx", [], rows, [["other"], [1]])
    found = read_table(path)
    assert found.frame.to_dict("list") == {
        "age": [52, 7.5, None],
        "job": ["cook", None, "<0.5"],
        "seen": [day, None, day],
    }
    assert found.notes == ("read from the sheet 'sheet 1', the first of 2 with cells",)


@pytest.mark.parametrize(
    ("sheets", "words"),
    [
        ([[]], "got empty sheets"),
        ([[["a", "b"]]], "got one row"),
        ([[["a", "a"], [1, 2]]], "a different name for every column"),
        ([[[1, 2], [3, 4]]], "a header row with the names"),
    ],
)
def test_excel_files_without_a_table(tmp_path, sheets, words):
    with pytest.raises(ValueError, match=words):
        read_table(workbook(tmp_path / "t.xlsx", *sheets))


def test_damaged_excel_file(tmp_path):
    path = tmp_path / "t.xlsx"
    workbook(path, [["a"], [1]])
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ValueError, match="expected a complete Excel file, got a damaged one"):
        read_table(str(path))


def test_a_cell_far_from_the_others_takes_no_memory(tmp_path):
    """The last cell of a sheet is the 17,179,869,184th."""
    book = openpyxl.Workbook()
    for row in [["age", "sex"], [1, "f"], [2, "m"]]:
        book.active.append(row)
    book.active["XFD1048576"] = "SECRET"
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(
        ValueError, match=r"line 1: expected a different name for every column, got an empty .* column 3"
    ):
        read_table(str(tmp_path / "t.xlsx"))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no file without an end")
def test_a_file_without_an_end_is_refused():
    with pytest.raises(ValueError, match="got a binary file"):
        read_table("/dev/zero")
