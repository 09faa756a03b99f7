"""Hostile tables: how to make each, and what the estimator, the report and the command line must make of it."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

WORKS = "works"
NUMBER = 8675309.25  # stands for data that no message may show; so does the word SECRET
N = 40
LABEL = np.arange(N) % 2
SAME = "the same"


@dataclass(frozen=True)
class Case:
    """A hostile table.

    Parameters
    ----------
    name : str
        What is odd about it.
    make : callable
        Gives X, y and sample_weight, new ones every time.
    fit : str
        WORKS, or a pattern that the error of `fit` matches.
    report : str or None
        The same for a report: of the model that was fitted to the table, or, where none could be, of one that was
        fitted to a good table of three columns. None where it does not apply. SAME as `fit` by default.
    save : str
        The same for writing the model to a file.
    """

    name: str
    make: Callable[[], tuple[Any, Any, Any]]
    fit: str
    report: str | None = SAME
    save: str = WORKS

    @property
    def expected_report(self) -> str | None:
        """The outcome of a report."""
        return self.fit if self.report == SAME else self.report


def good(n_features: int = 3) -> Any:
    """A table that a model can be fitted to, with a number that must not be shown."""
    X = np.random.default_rng(0).random((N, n_features))
    X[:, 0] += LABEL
    X[0, 1] = NUMBER
    return X


def with_cell(value: Any, dtype: Any = float) -> Any:
    X = good().astype(dtype)
    X[5, 1] = value
    return X


def first_column(values: Any, *, at: int = 0) -> Any:
    """A good table with other values in one column."""
    X = good()
    X[:, at] = values
    return X


def named(names: Any) -> Any:
    return pd.DataFrame(good(len(names)), columns=pd.Index(names) if isinstance(names, list) else names)


def text_column() -> dict[str, Any]:
    return {"a": good()[:, 0].tolist(), "b": ["SECRET"] * N}


def weights(third: Any = NUMBER) -> Any:
    weight = np.full(N, NUMBER)
    weight[2] = third
    return weight


def labels(no: Any, yes: Any, dtype: Any = None) -> Any:
    return np.array([no, yes] * (N // 2), dtype=dtype)


def mapped(mode: str) -> Any:
    """A table in a file that is mapped into memory; the file vanishes with the last reference."""
    path = Path(tempfile.mkdtemp()) / "table.bin"
    good().tofile(path)
    X = np.memmap(path, dtype=np.float64, mode=mode, shape=(N, 3))
    path.unlink()
    path.parent.rmdir()
    return X


def read_only() -> Any:
    X = good()
    X.flags.writeable = False
    return X


def misaligned() -> Any:
    raw = bytearray(N * 3 * 8 + 1)
    X = np.frombuffer(raw, dtype=np.float64, count=N * 3, offset=1).reshape(N, 3)
    X[:] = good()
    return X


def x(name: str, make: Callable[[], Any], fit: str, **more: Any) -> Case:
    """A hostile X with good labels."""
    return Case(name, lambda: (make(), LABEL, None), fit, **more)


def y(name: str, make: Callable[[], Any], fit: str, **more: Any) -> Case:
    """Hostile labels of a good table."""
    return Case(name, lambda: (good(), make(), None), fit, **more)


def w(name: str, make: Callable[[], Any], fit: str) -> Case:
    """Hostile weights of a good table; reports and the command line take none."""
    return Case(name, lambda: (good(), LABEL, make()), fit, report=None)


SHAPES = [
    Case("one row", lambda: (good()[:1], LABEL[:1], None), "minimum of 2", report=WORKS),
    Case("no row", lambda: (good()[:0], LABEL[:0], None), "minimum of [12]"),
    Case("two rows", lambda: (good()[:2], LABEL[:2], None), WORKS),
    x("no feature", lambda: good()[:, :0], "minimum of 1"),
    x("one dimension", lambda: good()[:, 1], "2D"),
    x("three dimensions", lambda: good()[:, :, None], "dim <= 2"),
    x("scalar", lambda: NUMBER, "2D"),
    x("text instead of a table", lambda: "SECRET", "it is text"),
    x("nothing", lambda: None, "2D"),
    x("empty list", list, "2D"),
    x("ragged lists", lambda: [*good().tolist()[:-1], [NUMBER]], "rows are not all of the same length"),
    x("dict", text_column, "must be a table of numbers.*got dict"),
    x("generator", lambda: iter(good().tolist()), "must be a table of numbers.*got list_iterator"),
    x("more columns than rows", lambda: np.random.default_rng(1).random((N, 300)) + LABEL[:, None], WORKS),
    x("one column", lambda: good()[:, :1], WORKS),
    x("dates among numbers", lambda: with_cell(np.datetime64("2020-01-01"), object), "it holds dates or durations"),
    x("durations among numbers", lambda: with_cell(np.timedelta64(3, "h"), object), "it holds dates or durations"),
    x("a number that must not be compared", lambda: with_cell(Decimal("sNaN"), object), "signaling NaN"),
]

DTYPES = [
    x("half precision", lambda: np.clip(good(), 0, 2).astype(np.float16), WORKS),
    x("single precision", lambda: good().astype(np.float32), WORKS),
    x("long double", lambda: good().astype(np.longdouble), WORKS),
    x("big endian", lambda: good().astype(">f8"), WORKS),
    x("small integers", lambda: (good() * 100 % 100).astype(np.int8), WORKS),
    x(
        "unsigned integers near their end",
        lambda: first_column(LABEL).astype(np.uint64) + np.uint64(2**64 - 2**20),
        WORKS,
    ),
    x("Python integers beyond 64 bits", lambda: with_cell(10**30, object), WORKS),
    x(
        "Python integers beyond doubles",
        lambda: with_cell(10**400, object),
        "fit into a double, but column 1 holds larger ones",
    ),
    x("truth values", lambda: good() > 0.5, WORKS),
    x("lists", lambda: good().tolist(), WORKS),
    x("numbers as objects", lambda: good().astype(object), WORKS),
    x("decimals", lambda: np.vectorize(Decimal, otypes=[object])(good()), WORKS),
    x("fractions", lambda: np.vectorize(Fraction, otypes=[object])(good()), WORKS),
    x("numbers as text", lambda: good().astype(str), WORKS),
    x("complex", lambda: good() + 1j, "(?i)complex"),
    x(
        "text in objects",
        lambda: with_cell("SECRET", object),
        "holds both text and numbers",
        report="must hold numbers",
    ),
    x(
        "text in lists",
        lambda: with_cell("SECRET", object).tolist(),
        "holds both text and numbers",
        report="must hold numbers",
    ),
    x("text array", lambda: with_cell("SECRET", object).astype(str), WORKS),
    x("bytes", lambda: with_cell("SECRET", object).astype("S"), "must hold numbers, but column 1 holds text"),
    x("None in objects", lambda: with_cell(None, object), WORKS),
    x("lists in objects", lambda: with_cell([NUMBER], object), "column 1 holds dates or other objects"),
    x("arrays in objects", lambda: with_cell(np.array([NUMBER, 1.0]), object), "column 1 holds dates or other objects"),
    x("dates", lambda: np.array(["2020-01-01"] * N * 3, dtype="datetime64[D]").reshape(N, 3), "dates or durations"),
    x("durations", lambda: np.ones((N, 3), dtype="timedelta64[D]"), "dates or durations"),
    x("records", lambda: np.ones(N, dtype=[("a", float), ("b", float)]), "must be a table of numbers"),
    x("unsigned bytes", lambda: (good() * 100 % 100).astype(np.uint8), WORKS),
    x("long doubles beyond doubles", lambda: good().astype(np.longdouble) * np.longdouble("1e400"), "infinity"),
    x("text that is a number beyond doubles", lambda: with_cell("1e400", object).astype(str), "infinity"),
    x("hexadecimal numbers as text", lambda: with_cell("0x10", object).astype(str), WORKS),
    x("full-width digits as text", lambda: with_cell("\uff11\uff12", object).astype(str), WORKS),
    x("underscores in numbers as text", lambda: with_cell("1_000", object).astype(str), WORKS),
    x("text that turns direction", lambda: np.where(good() > 0.5, "\u202ea", "b"), WORKS),
    x("levels that differ in what cannot be seen", lambda: np.where(good() > 0.5, "a\u200b", "a"), WORKS),
    x("levels with null bytes", lambda: np.where(good() > 0.5, "a\0b", "a").astype(object), WORKS),
    x(
        "levels with half characters",
        lambda: np.where(good() > 0.5, "a\ud800", "a").astype(object),
        WORKS,
        report=None,
        save="half a surrogate pair",
    ),
    x("levels of 100,000 letters", lambda: np.where(good() > 0.5, "a" * 10**5, "b").astype(object), WORKS),
    x("empty text everywhere", lambda: np.array([[""] * 3] * N), "no column to learn from", report="must hold numbers"),
    x("NumPy's new texts", lambda: good().astype(np.dtypes.StringDType()), WORKS),
    x("void", lambda: np.zeros((N, 3), dtype="V8"), "must hold numbers"),
    x("masked array", lambda: np.ma.masked_greater(good(), 1.5), "masked array"),
    x("matrix", lambda: good().view(np.matrix), "np.matrix is not supported"),
]

COLLIDING = {"a": [None, *[1.0, 2.0, 3.0] * 13], "a missing": LABEL}

FRAMES = [
    x("text in pandas", lambda: pd.DataFrame(text_column()), WORKS),
    x("category in pandas", lambda: pd.DataFrame(text_column()).astype({"b": "category"}), WORKS),
    x("dates in pandas", lambda: named(["a", "b"]).assign(on=pd.Timestamp("2020-01-01")), "column on holds dates"),
    x(
        "text in unnamed pandas",
        lambda: pd.DataFrame(with_cell("SECRET", object)),
        "holds both text and numbers",
        report="must hold numbers",
    ),
    x(
        "pandas integers with blanks",
        lambda: pd.DataFrame({"a": pd.array([None, *[1] * (N - 1)], dtype="Int64")}),
        WORKS,
    ),
    x(
        "pandas booleans without blanks",
        lambda: pd.DataFrame({"a": pd.array(LABEL == 1, dtype="boolean"), "b": LABEL}),
        WORKS,
    ),
    x("sparse pandas", lambda: named(["a", "b", "c"]).astype(pd.SparseDtype(float, 0.0)), "dense"),
    x("index that repeats", lambda: named(["a", "b", "c"]).set_axis([0] * N), WORKS),
    x("text in polars", lambda: pl.DataFrame(text_column()), WORKS),
    x("polars with blanks", lambda: pl.DataFrame({"a": [None, *[1.0] * (N - 1)]}), WORKS),
    x("polars", lambda: pl.DataFrame(good(), schema=["a", "b", "c"]), WORKS),
    x("arrow table", lambda: pa.table({"a": good()[:, 0], "b": good()[:, 1]}), WORKS),
    x(
        "intervals in pandas",
        lambda: named(["a", "c"]).assign(b=pd.cut(good()[:, 0], 3)),
        "cells of type Interval|must be a table of numbers",
    ),
    x(
        "durations in pandas",
        lambda: named(["a", "c"]).assign(b=pd.to_timedelta(np.arange(N), "h")),
        "column b holds dates or other",
    ),
    x("periods in pandas", lambda: named(["a", "c"]).assign(b=pd.period_range("2020", periods=N)), "table of numbers"),
    x("complex in pandas", lambda: pd.DataFrame({"a": good()[:, 0] + 1j}), "(?i)complex"),
    x("infinity in pandas", lambda: pd.DataFrame({"a": np.where(LABEL, np.inf, 1.0)}), "infinity"),
    x("nothing but blanks in pandas", lambda: pd.DataFrame({"a": [None] * N}), "no column to learn from|NaN"),
    x("lists in pandas", lambda: pd.DataFrame({"a": [[NUMBER]] * N, "b": LABEL}), "column a holds dates or other"),
    x("bytes in pandas", lambda: pd.DataFrame({"a": [b"SECRET", b"b"] * (N // 2)}), "column a holds text"),
    x(
        "categories that no row has",
        lambda: pd.DataFrame({"a": pd.Categorical(labels("x", "y"), ["z", "y", "x"])}),
        WORKS,
    ),
    x("lists in polars", lambda: pl.DataFrame({"a": [[NUMBER]] * N}), "column a holds dates or other"),
    x("infinity in polars", lambda: pl.DataFrame({"a": [np.inf, 1.0] * (N // 2)}), "infinity"),
    x("enum of polars", lambda: pl.DataFrame({"a": labels("x", "y")}, schema={"a": pl.Enum(["x", "y"])}), WORKS),
    x("text in Arrow", lambda: pa.table(text_column()), "column b holds text"),
    x("a feature called as that of blanks", lambda: pd.DataFrame(COLLIDING), "two features would", report="NaN"),
    x("names that differ in what cannot be seen", lambda: named(["a", "a\u200b", "a\u00ad"]), WORKS),
    x("names that look alike", lambda: named(["\u00e9", "e\u0301", "\uff41"]), WORKS),
    x("names with null bytes", lambda: named(["a\0", "b\0c", "\0"]), WORKS),
    x(
        "names with half characters",
        lambda: named(pd.Index(["a\ud800", "b", "c"], dtype=object)),
        WORKS,
        report=None,
        save="half a surrogate pair",
    ),
    x("names that are no numbers", lambda: named([float("nan"), float("nan"), 1.0]), WORKS),
    x("names that are blank", lambda: named([None, "b", "c"]), "names of one type"),
    x("names that repeat", lambda: named(["a", "a", "b"]), "different name for every column"),
    x("names in other scripts", lambda: named(["größe", "年齢", "🙂 \u202e rtl"]), WORKS),
    x("names that are markup", lambda: named(["<script>alert(1)</script>", "$x^2$", "a\nb\t\x1b[31m"]), WORKS),
    x("names that are formulas", lambda: named(["=cmd|' /C calc'!A0", "x * y", "1"]), WORKS),
    x("empty names", lambda: named(["", " ", "  "]), WORKS),
    x("very long name", lambda: named(["n" * 100_000, "b", "c"]), WORKS),
    x("names of several types", lambda: named(["a", 1, 2.5]), "names of one type"),
    x("names in two levels", lambda: named(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])), WORKS),
    x("names that are dates", lambda: named([datetime.date(2020, 1, day) for day in (1, 2, 3)]), WORKS),
]

SPARSE = [
    x(f"sparse {kind.__name__}", lambda kind=kind: kind(good()), "dense")
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.dok_array, sparse.lil_matrix)
]

MEMORY = [
    x("read-only", read_only, WORKS),
    x("Fortran order", lambda: np.asfortranarray(good()), WORKS),
    x("reversed", lambda: good()[::-1, ::-1], WORKS),
    x("every second row and column", lambda: np.repeat(np.repeat(good(), 2, 0), 2, 1)[::2, ::2], WORKS),
    x("one row for all", lambda: np.broadcast_to(good()[0], (N, 3)), WORKS),
    x("memory-mapped, read-only", lambda: mapped("r"), WORKS),
    x("memory-mapped, copy on write", lambda: mapped("c"), WORKS),
    x("misaligned", misaligned, WORKS),
    x("overlapping rows", lambda: np.lib.stride_tricks.as_strided(good(), (N, 3), (24, 0)), WORKS),
    x("a class of its own", lambda: good().view(type("Own", (np.ndarray,), {})), WORKS),
]

VALUES = [
    x("NaN", lambda: with_cell(np.nan), WORKS),
    x("infinity", lambda: with_cell(np.inf), "infinity"),
    x("minus infinity", lambda: with_cell(-np.inf), "infinity"),
    x("overflow to single precision's infinity", lambda: with_cell(np.float32(np.inf), np.float32), "infinity"),
    x("signalling NaN", lambda: with_cell(np.uint64(0x7FF0000000000001).view(np.float64)), WORKS),
    x("subnormals", lambda: first_column((LABEL + 1) * 5e-324), WORKS),
    x("all subnormal", lambda: np.random.default_rng(0).integers(0, 9, (N, 3)) * 5e-324, WORKS),
    x("range of 1e300", lambda: first_column((LABEL * 2 - 1) * 1e300 * good()[:, 2]), WORKS),
    x("the whole range of doubles", lambda: first_column(np.where(LABEL, 1, -1) * np.finfo(float).max), WORKS),
    x("1e300 beside 1e-300", lambda: good() * [1e300, 1e-300 / NUMBER, 1.0], WORKS),
    x("1e16 and a bit", lambda: first_column(1e16 + 2 * LABEL), WORKS),
    x("one outlier at 1e308", lambda: with_cell(1e308), WORKS),
    x("constant column", lambda: first_column(NUMBER, at=1), WORKS),
    x("nothing but constants", lambda: np.full((N, 3), NUMBER), WORKS),
    x("nothing but zeros", lambda: np.zeros((N, 3)), WORKS),
    x("zeros of both signs", lambda: np.where(LABEL, 0.0, -0.0)[:, None] * np.ones((1, 3)), WORKS),
    x("the same column three times", lambda: good()[:, [0, 0, 0]], WORKS),
    x("a column and its negative", lambda: good()[:, [0, 0]] * [1, -1], WORKS),
    x("a column and nearly the same", lambda: good()[:, [0, 0]] * [1, 1 + 1e-15], WORKS),
    x("the class itself", lambda: first_column(LABEL), WORKS),
    x("one row that differs", lambda: np.eye(N)[:, :3] * NUMBER, WORKS),
    x("all rows alike", lambda: np.tile(good()[0], (N, 1)), WORKS),
]

LABELS = [
    y("no y", lambda: None, "requires y", report="one label for each"),
    y("one class", lambda: np.full(N, "SECRET"), "at least two classes", report="not among the"),
    Case("one row per class", lambda: (good()[:12], np.arange(12), None), WORKS),
    y("continuous y", lambda: good()[:, 1], "expects discrete classes", report="not among the"),
    y("mixed y", lambda: labels("SECRET", NUMBER, object), "y mixes labels", report="not among the"),
    y("missing y", lambda: np.where(LABEL, np.nan, NUMBER), "y contains NaN", report="not among the"),
    y("infinite y", lambda: np.where(LABEL, np.inf, 0), "y contains infinity", report="not among the"),
    y("None in y", lambda: labels("SECRET", None, object), "y contains missing labels"),
    y(
        "pandas NA in y",
        lambda: pd.Series([pd.NA, "SECRET"] * (N // 2)),
        "y contains missing labels",
    ),
    y("short y", lambda: LABEL[1:], r"inconsistent.*\[40, 39\]", report="one label for each"),
    y("long y", lambda: np.arange(N + 1) % 2, r"inconsistent.*\[40, 41\]", report="one label for each"),
    y("wide y", good, "1d array", report="one label for each"),
    y("y as a column", lambda: LABEL[:, None], WORKS, report="one label for each"),
    y("scalar y", lambda: 1, "1d array", report="one label for each"),
    y("sparse y", lambda: sparse.csr_matrix(LABEL[:, None]), "passed for y.*dense", report="one label for each"),
    y("complex y", lambda: LABEL + 1j, "Complex.*y must hold real", report="not among the"),
    y(
        "dates as classes",
        lambda: labels("2020-01-01", "2020-01-02", "datetime64[D]"),
        WORKS,
        save="classes must be all texts",
    ),
    y("lists as classes", lambda: [["SECRET"], ["b", "c"]] * (N // 2), "some of its entries are lists"),
    y("objects as classes", lambda: labels(object(), object()), "Unknown label type", report="not among the"),
    y("bytes as classes", lambda: labels(b"SECRET", b"b"), "bytes", report="not among the"),
    y("masked classes", lambda: np.ma.masked_array(LABEL, np.arange(N) < 3), "y is a masked array"),
    y("a list of texts and numbers", lambda: [1, "1", "2", "2"] * (N // 4), "y mixes texts with other labels"),
    y("truth values as classes", lambda: LABEL == 1, WORKS),
    y("categories as classes", lambda: pd.Series(labels("a", "b")).astype("category"), WORKS),
    y("classes beyond 64 bits", lambda: labels(10**30, 10**31, object), "Unknown label type", report="not among the"),
    y("classes in other scripts", lambda: labels("größe\n", "🙂<b>", object), WORKS),
    y("NaN beside text in y", lambda: labels("SECRET", np.nan, object), "y contains missing labels"),
    y("dates and none in y", lambda: labels("2020-01-01", "NaT", "datetime64[D]"), "y contains missing labels"),
    y("classes with half characters", lambda: labels("a\ud800", "b"), WORKS, report=None, save="half a surrogate pair"),
    y("classes with null bytes", lambda: labels("a\0b", "ab"), WORKS),
    y("classes that differ in what cannot be seen", lambda: labels("a\u202e", "a"), WORKS),
    y("classes that are the same number", lambda: labels("1", "01"), WORKS),
    y("classes at the ends of 64 bits", lambda: labels(-(2**63), 2**63 - 1, np.int64), WORKS),
    y("classes beyond signed integers", lambda: labels(2**64 - 1, 2**64 - 2, np.uint64), WORKS),
    y("true and 1", lambda: labels(True, 1, object), "Unknown label type", report=None),
    y("classes of 100,000 letters", lambda: labels("a" * 10**5, "b", object), WORKS, report=None),
    y("dict as y", lambda: {"SECRET": 1}, "1d array", report="one label for each"),
    y("set as y", lambda: {"SECRET", "b"}, "1d array", report="one label for each"),
    y("generator as y", lambda: iter(LABEL.tolist()), "1d array", report="one label for each"),
    y("an empty class name", lambda: labels("", " "), WORKS),
    y("classes that are words for blanks", lambda: labels("nan", "None"), WORKS),
]

WEIGHTS = [
    w("negative weight", lambda: weights(-NUMBER), "must not be negative, 1 of 40"),
    w("zero weights", lambda: np.zeros(N), "(?i)sample.weight.*zero"),
    w("weights of one class", lambda: weights() * LABEL, "at least two classes"),
    w("NaN weight", lambda: weights(np.nan), "sample_weight contains NaN"),
    w("infinite weight", lambda: weights(np.inf), "sample_weight contains inf"),
    w("weights of both infinities", lambda: np.where(LABEL, np.inf, -np.inf), "sample_weight contains inf"),
    w("text as weights", lambda: np.full(N, "SECRET"), "sample_weight"),
    w("None as a weight", lambda: [None, *[1.0] * (N - 1)], "sample_weight"),
    w("complex weights", lambda: weights() + 1j, "sample_weight"),
    w("short weights", lambda: weights()[1:], r"expected \(40,\)"),
    w("long weights", lambda: np.ones(N + 1), r"expected \(40,\)"),
    w("wide weights", lambda: np.ones((N, 2)), "must be 1D array"),
    w("weights as a column", lambda: np.ones((N, 1)), "must be 1D array"),
    w("sparse weights", lambda: sparse.csr_matrix(np.ones((1, N))), "sample_weight"),
    w("dates as weights", lambda: np.array(["2020-01-01"] * N, dtype="datetime64[D]"), "sample_weight.*got dates"),
    w("weights of minus zero", lambda: np.full(N, -0.0), "(?i)sample.weight.*zero"),
    w("negative subnormal weights", lambda: np.full(N, -1e-320), "must not be negative, 40 of 40"),
    w("a negative weight for all", lambda: -1.0, "must not be negative"),
    w("no number as the weight of all", lambda: np.nan, "must not sum to more"),
    w("dict as weights", lambda: {"SECRET": 1}, "sample_weight must hold 40 real numbers"),
    w("integer weights beyond doubles", lambda: [10**400] * N, "sample_weight must hold 40 real numbers"),
    w("long double weights beyond doubles", lambda: np.full(N, np.longdouble("1e400")), "inf"),
    w("false as all weights", lambda: np.zeros(N, dtype=bool), "(?i)sample.weight.*zero"),
    w("blank weights of pandas", lambda: pd.Series([pd.NA, *[1] * (N - 1)], dtype="Int64"), "NaN"),
    w("weights with another index", lambda: pd.Series(np.ones(N), index=np.arange(N)[::-1]), WORKS),
    w("decimal weights", lambda: [Decimal("1.5")] * N, WORKS),
    w("fractions as weights", lambda: np.array([Fraction(1, 3)] * N, dtype=object), WORKS),
    w("weights of the largest integers", lambda: np.full(N, 2**63 - 1), WORKS),
    w("a weight for two rows", lambda: np.arange(N) < 2, WORKS),
    w("subnormal weights beside ordinary ones", lambda: np.where(LABEL, 1.0, 5e-324), WORKS),
    w("truth values as weights", lambda: np.arange(N) % 3 > 0, WORKS),
    w("one weight for all", lambda: 2.0, WORKS),
    w("subnormal weights", lambda: np.full(N, 5e-324), WORKS),
    w("weights of 1e300", lambda: np.full(N, 1e300), "must not sum to more than 1e\\+100"),
    w("weights whose sum overflows", lambda: np.full(N, 1e308), "must not sum to more than 1e\\+100"),
    w("masked weights", lambda: np.ma.masked_array(np.ones(N), np.arange(N) < 3), "sample_weight is a masked array"),
    w("weights of polars", lambda: pl.Series([1.0] * N), WORKS),
    w("weights 300 powers of ten apart", lambda: np.where(np.arange(N) % 4 < 2, 1e90, 1e-210), WORKS),
]

GROUPS: dict[str, tuple[Callable[[], Any], str]] = {
    "short": (lambda: np.arange(N - 1), r"got an array of shape \(39,\)"),
    "wide": (lambda: np.ones((N, 2)), "one value for each of the 40 rows"),
    "scalar": (lambda: 1, "one value for each of the 40 rows"),
    "text": (lambda: "SECRET", "one value for each of the 40 rows"),
    "dict": (dict, "one value for each of the 40 rows"),
    "generator": (lambda: iter(range(N)), "one value for each of the 40 rows"),
    "sparse": (lambda: sparse.csr_matrix(np.ones((1, N))), "one value for each of the 40 rows"),
    "lists": (lambda: [[NUMBER]] * N, "one value for each of the 40 rows"),
    "NaN": (lambda: np.where(LABEL, np.nan, NUMBER), "groups holds missing values"),
    "None": (lambda: labels("SECRET", None, object), "groups holds missing values"),
    "NA": (lambda: pd.Series([pd.NA, "SECRET"] * (N // 2)), "groups holds missing values"),
    "no dates": (lambda: labels("2020-01-01", "NaT", "datetime64[D]"), "groups holds missing values"),
    "mixed": (lambda: labels("SECRET", 1, object), "groups mixes values"),
    "objects": (lambda: np.array([object() for _ in range(N)]), "groups mixes values"),
    "one": (lambda: np.full(N, NUMBER), "at least two groups"),
    "infinite": (lambda: np.full(N, np.inf), "at least two groups"),
    "the classes": (lambda: LABEL, WORKS),
    "rows": (lambda: np.arange(N), WORKS),
    "texts": (lambda: labels("a", "b"), WORKS),
    "dates": (lambda: np.arange(N).astype("datetime64[D]"), WORKS),
    "complex": (lambda: np.arange(N) * 1j, WORKS),
}
"""Hostile groups of a good table, and the outcome of `fit`."""

SLOW = [Case("1,000 classes", lambda: (np.arange(2000.0)[:, None], np.arange(2000) // 2, None), WORKS)]
"""About a minute, so only `make torture` has them."""

TABLES = [*SHAPES, *DTYPES, *FRAMES, *SPARSE, *MEMORY, *VALUES, *LABELS, *WEIGHTS]
