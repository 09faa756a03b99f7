"""Hostile files: what `rfsc fit`, and `rfsc predict` and `rfsc report` with a good model, must make of each."""

from __future__ import annotations

import datetime
import gzip
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
from pyarrow import parquet as pq

from .tables import LABEL, NUMBER, SAME, WORKS, N, good

LARGE = [None, *(2**53 + int(k) for k in LABEL[1:])]  # integers that no float can hold


@dataclass(frozen=True)
class File:
    """A hostile file; a good one has the columns a, b, c and class.

    Parameters
    ----------
    name : str
        What is odd about it.
    make : callable
        Gives its content as bytes.
    fit : str
        WORKS, or a pattern that the error of `rfsc fit` matches.
    predict, report : str
        The same for `rfsc predict` and `rfsc report` with a model of the good file; by default the same as before.
    suffix : str
        How its name ends.
    """

    name: str
    make: Callable[[], bytes]
    fit: str
    predict: str = SAME
    report: str = SAME
    suffix: str = ".csv"

    def expected(self, command: str) -> str:
        """The outcome of a command."""
        predict = self.fit if self.predict == SAME else self.predict
        return {"fit": self.fit, "predict": predict, "report": predict if self.report == SAME else self.report}[command]


def frame() -> Any:
    table = pd.DataFrame(good(), columns=list("abc"))
    table["a"] -= 0.7 * LABEL  # else it would tell the classes apart alone
    return table.assign(**{"class": np.where(LABEL, "yes", "no")})


def csv_of(table: Any, **how: Any) -> bytes:
    return table.to_csv(index=False, **how).encode()


def cell(value: str, column: str = "b", row: int = 7) -> bytes:
    """The good file with another cell."""
    table = frame().astype(object)
    table.loc[row, column] = value
    return csv_of(table)


def column(values: Any, name: str = "b") -> bytes:
    """The good file with another column."""
    return csv_of(frame().assign(**{name: values}))


def renamed(**names: str) -> bytes:
    return csv_of(frame().rename(columns=names))


def lines() -> list[str]:
    return csv_of(frame()).decode().splitlines()


def joined(rows: list[str]) -> bytes:
    return ("\n".join(rows) + "\n").encode()


def line(number: int, text: str) -> bytes:
    """The good file with another line."""
    rows = lines()
    rows[number] = text
    return joined(rows)


def parquet_of(table: Any) -> bytes:
    stream = io.BytesIO()
    table.to_parquet(stream)
    return stream.getvalue()


def arrow_of(table: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def far_row(book: bytes) -> bytes:
    """A workbook whose last row says that a million millions are before it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                content = content.replace(f'<row r="{N + 1}"'.encode(), b'<row r="1000000000000"')
            new.writestr(name, content)
    return out.getvalue()


def workbook_of(table: Any, **cells: Any) -> bytes:
    """An Excel file, with further cells by their places."""
    book = openpyxl.Workbook()
    for row in [list(table), *table.values.tolist()]:
        book.active.append(row)
    for place, value in cells.items():
        book.active[place] = value
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def alike() -> bytes:
    """Columns whose names are those that the levels of another one get."""
    numbers = {f"c={level}": 1.0 * (np.arange(N) % 7) for level in "uv"}
    return csv_of(frame().assign(c=np.where(np.arange(N) % 3, "u", "v"), **numbers))


FORMULA = "=cmd|' /C calc'!A0"

CONTENT = [
    File("empty file", lambda: b"", "got an empty file"),
    File("blank lines only", lambda: b"\n \n\r\n", "got an empty file"),
    File("header only", lambda: joined(lines()[:1]), "got 1 row\\."),
    File("header and one row", lambda: joined(lines()[:2]), "two classes", WORKS),
    File(
        "rows without a header",
        lambda: joined(lines()[1:]),
        "is there a header row",
        r"lacks (\d) of the \1 column",
        "is there a header row",
    ),
    File("numbers only", lambda: b"1,2\n3,4\n", "expected a header row"),
    File("a short line", lambda: line(5, "1,2"), "line 6: expected 4 cells"),
    File("a long line", lambda: line(5, "1,2,3,no,SECRET"), "line 6: expected 4 cells"),
    File("a quote that is not closed", lambda: line(5, '"1,2,3,no'), "line 41: expected whole cells in quotes"),
    File(
        "two quotes that are not closed",
        lambda: line(5, '"1,2,3,no\n4,"5,6,no'),
        "line 7: expected whole cells in quotes",
    ),
    File("a cell of 100,000 digits and a letter", lambda: cell("9" * 10**5 + "x"), WORKS),
    File("a cell of 100,000 spaces in a limit", lambda: cell("<" + " " * 10**5 + "x"), WORKS),
    File("a cell of a million letters", lambda: cell("x" * 10**6), "very long"),
    File("a line of a million cells", lambda: line(5, "1," * 10**6), "line 6"),
    File("a header of 100,000 names", lambda: joined([",".join(f"x{i}" for i in range(10**5)), "1,2"]), "line 2"),
    File("no line ends", lambda: csv_of(frame()).replace(b"\n", b" "), "got 1 row\\."),
    File("old Mac line ends", lambda: csv_of(frame(), lineterminator="\r"), WORKS),
    File("line ends of all kinds", lambda: csv_of(frame()).replace(b"\n", b"\r\n", 9), WORKS),
    File("null bytes", lambda: cell("SECRET\0"), "binary"),
    File("random bytes", lambda: np.random.default_rng(0).bytes(4000), "binary"),
    File(
        "random printable bytes",
        lambda: bytes(np.random.default_rng(0).integers(32, 127, 4000).tolist()),
        "got 1 row\\.",
    ),
    File("picture", lambda: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
    File("spreadsheet", lambda: b"PK\x03\x04\x14\0\x06\0" + b"\0" * 99, "a spreadsheet or another zip file"),
    File("pickle", lambda: b"\x80\x04\x95\0\0\0\0.", "binary"),
    File("HTML page", lambda: b"<!doctype html><html><body>404, not found</body></html>\n", "got 1 row\\."),
    File("JSON", lambda: b'[{"a": 1, "b": "SECRET"}, {"a": 2}]\n', "got JSON"),
    File("prose", lambda: b"Dear colleague,\n\nplease find attached SECRET.\n", "got an empty or repeated one"),
    File("byte-order mark", lambda: csv_of(frame()).decode().encode("utf-8-sig"), WORKS),
    File("UTF-16", lambda: csv_of(frame()).decode().encode("utf-16"), WORKS),
    File("UTF-16 without its mark", lambda: csv_of(frame()).decode().encode("utf-16-le"), "binary"),
    File(
        "UTF-16, cut within a letter",
        lambda: csv_of(frame()).decode().encode("utf-16")[:-1],
        "1 of the 3 classes",
        WORKS,
        "1 row of 'class'",
    ),
    File("UTF-32", lambda: csv_of(frame()).decode().encode("utf-32"), "binary"),
    File("Latin-1", lambda: renamed(b="größe").decode().encode("latin-1"), WORKS, "lacks 1 of the 2 columns"),
    File("EBCDIC", lambda: csv_of(frame()).decode().encode("cp500"), "got 1 row\\."),
    File("gzip", lambda: gzip.compress(csv_of(frame())), WORKS),
    File("gzip, cut off", lambda: gzip.compress(csv_of(frame()))[:-20], "expected a complete gzip file"),
    File("gzip of nothing", lambda: gzip.compress(b""), "got an empty file"),
    File("gzip in gzip", lambda: gzip.compress(gzip.compress(csv_of(frame()))), "binary"),
]

NAMES = [
    File("names that repeat", lambda: renamed(b="a"), "different name for every column"),
    File("an empty name", lambda: renamed(b=""), "different name for every column"),
    File(
        "no column of that name",
        lambda: renamed(**{"class": "klass"}),
        "has no column 'class'",
        WORKS,
        "has no column 'class'",
    ),
    File("names in other scripts", lambda: renamed(a="größe", b="年齢", c="🙂"), WORKS, "lacks"),
    File("names that are formulas", lambda: renamed(a=FORMULA, b="+1", c="@x"), WORKS, "lacks"),
    File(
        "names that are markup",
        lambda: renamed(a="<script>alert(1)</script>", b="[red]x[/red]", c="$x$"),
        WORKS,
        "lacks",
    ),
    File("names that move the cursor", lambda: renamed(a="\x1b[2J\x1b]0;x\x07", b="b\tb"), WORKS, "lacks"),
    File("names with line ends", lambda: renamed(a="a\nb"), WORKS, "lacks"),
    File("a very long name", lambda: renamed(a="n" * 10**5), WORKS, "lacks"),
    File("features that would be called alike", alike, "two features would have the name", WORKS),
]

CELLS = [
    File("formula-like cells", lambda: column(np.where(np.arange(N) % 3, FORMULA, "=1+1")), WORKS),
    File(
        "formula-like classes",
        lambda: csv_of(frame().assign(**{"class": np.where(LABEL, FORMULA, "@SUM(A1)")})),
        WORKS,
        WORKS,
        "the model knows the classes",
    ),
    File("a formula in a column of numbers", lambda: cell(FORMULA), WORKS),
    File("infinity in a cell", lambda: cell("-inf"), WORKS),
    File("a number beyond doubles", lambda: cell("1e999"), WORKS),
    File("numbers of 5,000 digits", lambda: cell("9" * 5000), WORKS),
    File("subnormal numbers", lambda: column((np.arange(N) % 5 + 1) * 5e-324), WORKS),
    File("the range of 1e300", lambda: column(np.linspace(-1e300, 1e300, N)), WORKS),
    File("the whole range of doubles", lambda: column(np.linspace(-1, 1, N) * 1.79e308), WORKS),
    File("blank column", lambda: column(""), WORKS),
    File("constant column", lambda: column(NUMBER), WORKS),
    File("nothing but constants", lambda: csv_of(frame().assign(a=1, b=2, c="SECRET")), "no column is left", WORKS),
    File("the same column twice", lambda: csv_of(frame().assign(c=frame()["a"])), WORKS),
    File(
        "text in every cell", lambda: column([f"SECRET{i}" for i in range(N)]), "nearly every cell is different", WORKS
    ),
    File("dates", lambda: column([f"2020-01-{i % 28 + 1:02}" for i in range(N)]), "dates, which", WORKS),
    File("numbers with other spaces", lambda: cell("\u20035\t%"), WORKS),
    File("numbers in other scripts", lambda: column([chr(0x0661 + i % 5) for i in range(N)]), WORKS),
    File(
        "numbers with underscores",
        lambda: column([f"1_{i}" for i in range(N)]),
        "nearly every cell is different",
        WORKS,
    ),
    File("decimal commas", lambda: csv_of(frame(), sep=";", decimal=","), WORKS, "has decimal commas in"),
    File("blanks everywhere", lambda: csv_of(frame().mask(np.arange(N * 4).reshape(N, 4) % 3 == 0)), WORKS),
    File(
        "class with blanks",
        lambda: csv_of(frame().assign(**{"class": frame()["class"].where(np.arange(N) % 3 > 0)})),
        WORKS,
    ),
    File("class all blank", lambda: column("", "class"), "only blanks", WORKS, "the model knows the classes"),
    File("one class", lambda: column("SECRET", "class"), "a single class", WORKS, "the model knows the classes"),
    File(
        "one row per class",
        lambda: column([f"SECRET{i}" for i in range(N)], "class"),
        "every class needs at least 5 rows",
        WORKS,
        "the model knows the classes",
    ),
    File(
        "a number as class",
        lambda: column(np.arange(N) + NUMBER, "class"),
        "different numbers",
        WORKS,
        "the model knows the classes",
    ),
    File(
        "class that differs in case",
        lambda: column(np.where(LABEL, "yes", "Yes"), "class"),
        WORKS,
        WORKS,
        "the model knows the classes",
    ),
    File("the class in disguise", lambda: column(np.where(LABEL, 3.0, 4.0)), "occurs with one class only", WORKS),
    File("an identifier", lambda: column(np.arange(N) + 10**6), "as in a list of identifiers", WORKS),
]

ODD_TEXTS = {
    "a hexadecimal number": "0x10",
    "an octal number": "0o17",
    "a number with an underscore": "1_000",
    "full-width digits": "\uff11\uff12",
    "a superscript": "5\u00b2",
    "a fraction": "\u00bd",
    "a Roman numeral": "\u2167",
    "infinity in words": "Infinity",
    "the sign of infinity": "\u221e",
    "NaN with a payload": "nan(0x1)",
    "a number below all doubles": "1e-400",
    "a number beyond doubles, negative": "-1e400",
    "an exponent of Fortran": "1d5",
    "an exponent of 5,000 zeros": "1e" + "0" * 5000 + "1",
    "an exponent of 5,000 digits": "1e" + "9" * 5000,
    "5,000 decimals": "0." + "1" * 5000,
    "commas between digits": "1,2,3",
    "two signs": "+-5",
    "a sign behind": "5-",
    "parentheses": "(5)",
    "an exponent without digits": "1e",
    "two points": "1.2.3",
    "a no-break space in a number": "1\u00a0000",
    "a thin space in a number": "1\u2009000",
    "an apostrophe in a number": "1'000",
    "a typographic minus sign": "\u22125",
    "a character of no width": "5\u200b",
    "a joiner before a digit": "\u20605",
    "text that turns direction": "\u202e5",
    "a byte-order mark in a cell": "\ufeff5",
    "a combining accent": "5\u0301",
    "a limit": "<5",
    "a limit with another sign": "\u22645",
    "two signs of limits": "<<5",
    "a limit beyond doubles": "<-1e400",
    "the sign of a limit alone": "<",
    "a limit of no number": "<nan",
    "a unit": "5 mg/dL",
    "a unit of 400 letters": "5 " + "u" * 400,
    "a unit that is an exponent": "5e",
    "a unit that is a command": "5 x'--",
    "a share": "5%",
    "a price": "$5",
    "an error of a spreadsheet": "#REF!",
    "a vertical tab": "5\v",
    "a line end in a cell": "5\n6",
    "a line end of Unicode": "5\u2028",
    "an escape sequence": "\x1b[31m5",
    "JSON": '{"a": 1}',
    "a range": "1-5",
    "a time": "12:30",
    "a duration": "5h",
}
ODD_NAMES = {
    "SQL": 'a"; DROP TABLE x; --',
    "an image": "<img src=x onerror=alert(1)>",
    "the end of a script": "</script><script>alert(1)</script>",
    "C": "*/ int main(){} /*",
    "a format": "%s{0}",
    "LaTeX": "\\input{/etc/passwd}",
    "quotes": "'\"`",
    "no width": "\u200b",
    "another direction": "\u202eabc",
    "a link of a terminal": "\x1b]8;;http://x\x07",
    "a path": "../../etc",
    "a product": "a * c",
    "a power": "a^2",
    "an indicator of blanks": "a missing",
    "a level": "a=1",
    "a number": "1",
    "a word for a blank": "nan",
    "an attribute of Python": "__class__",
    "a family": "\U0001f469\u200d\U0001f467",
    "the class in capitals": "Class",
    "a comment": "% comment",
    "a column of the result": "probability_yes",
    "the prediction": "predicted",
    "the constant": "intercept",
    "10,000 letters": "n" * 10_000,
}


def mixed_with(text: str) -> bytes:
    """The good file with a text in most cells of a column, beside numbers."""
    return column([text if k % 3 else str(k % 7) for k in range(N)])


def as_class(text: str) -> bytes:
    return column(np.where(LABEL, text, "no"), "class")


def twice(text: str) -> bytes:
    """The good file with a name that comes twice, but for a space."""
    return renamed(a=text, b=f"{text} ")


ODD = [
    *(File(f"cells: {name}", lambda text=text: mixed_with(text), WORKS) for name, text in ODD_TEXTS.items()),
    *(File(f"one cell: {name}", lambda text=text: cell(text), WORKS) for name, text in ODD_TEXTS.items()),
    *(
        File(f"class: {name}", lambda text=text: as_class(text), WORKS, WORKS, "classes")
        for name, text in ODD_TEXTS.items()
    ),
    *(File(f"name: {name}", lambda text=text: renamed(b=text), WORKS, "lacks") for name, text in ODD_NAMES.items()),
    *(
        File(f"two names: {name}", lambda text=text: twice(text), "a different name for every")
        for name, text in ODD_NAMES.items()
    ),
]

FORMATS = [
    File("Parquet", lambda: parquet_of(frame()), WORKS, suffix=".parquet"),
    File("Parquet, cut off", lambda: parquet_of(frame())[:-9], "expected a complete Parquet file", suffix=".parquet"),
    File("Parquet without rows", lambda: parquet_of(frame()[:0]), "expected rows", suffix=".parquet"),
    File("Parquet with lists", lambda: parquet_of(frame().assign(b=[[1.0, 2.0]] * N)), WORKS, suffix=".parquet"),
    File("Excel", lambda: workbook_of(frame()), WORKS, suffix=".xlsx"),
    File(
        "Excel with a cell far from the others",
        lambda: workbook_of(frame(), XFD1048576="SECRET"),
        "line 1: expected a different name",
        suffix=".xlsx",
    ),
    File(
        "Excel with dates, formulas and truth values in a column of numbers",
        lambda: workbook_of(frame(), B3=datetime.datetime(2020, 1, 1), B4="=1+1", B5=True, B6="#N/A"),
        WORKS,
        suffix=".xlsx",
    ),
    File("Excel, cut off", lambda: workbook_of(frame())[:-99], "expected a complete Excel file", suffix=".xlsx"),
    File(
        "Parquet with an index",
        lambda: parquet_of(frame().set_index("a")),
        WORKS,
        suffix=".parquet",
    ),
    File(
        "Parquet with odd words about pandas",
        lambda: arrow_of(
            pa.Table.from_pandas(frame()).replace_schema_metadata({b"pandas": b'{"index_columns": ["z"]}'})
        ),
        WORKS,
        suffix=".parquet",
    ),
    File(
        "Parquet with large classes and one blank",
        lambda: arrow_of(pa.Table.from_pandas(frame()).set_column(3, "class", pa.array(LARGE, pa.int64()))),
        WORKS,
        WORKS,
        "classes",
        suffix=".parquet",
    ),
    File("Excel with a row beyond all others", lambda: far_row(workbook_of(frame())), WORKS, suffix=".xlsx"),
    File("Parquet with bytes", lambda: parquet_of(frame().assign(b=[b"SECRET"] * N)), WORKS, suffix=".parquet"),
]

FILES = [*CONTENT, *NAMES, *CELLS, *FORMATS]
