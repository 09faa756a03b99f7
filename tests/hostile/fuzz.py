"""Laws for input that nobody has thought of: a result, or one clean error.

Tests, `make torture` and atheris share them. A clean error of a reader is a ValueError of one line that starts with the
name of the file.
"""

from __future__ import annotations

import gzip
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rfsc import SearchSettings
from rfsc._input.table_files import read_table
from rfsc._input.training_data import LeakError, training_table
from rfsc._model import Predictor
from rfsc.export import from_json, load, to_c, to_json, to_python, to_sql
from rfsc.export.spreadsheet import sheet_cells

from ..export.random_models import random_models
from .files import csv_of, frame, parquet_of
from .walk import classifier, good_model

SMALL = frame()[:12]


# ---- readers


def _tables(path: Path) -> None:
    """The reader of tables, and what the command line makes of the columns."""
    table = read_table(str(path))
    with suppress(LeakError):
        training_table(table, str(table.frame.columns[-1]))


def _model(path: Path) -> None:
    loaded = load(path)
    features = np.full((2, len(loaded.models_[0].feature_names)), 0.5)
    assert np.isfinite([model.decision(features) for model in loaded.models_]).all()


READERS: dict[str, tuple[str, bytes, Callable[[Path], Any]]] = {
    "csv": (".csv", csv_of(SMALL), _tables),
    "gzip": (".gz", gzip.compress(csv_of(SMALL), mtime=0), _tables),
    "parquet": (".parquet", parquet_of(SMALL), _tables),
    "model": (".json", to_json(good_model(), history=False).encode(), _model),
}
"""Suffix, a good file, and how it is read, by name."""


def read_anything(reader: str, content: bytes, folder: Path) -> bool:
    """Read bytes; whether they were taken for what they should be."""
    suffix, _, read = READERS[reader]
    path = folder / f"fuzzed{suffix}"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            read(path)
        except ValueError as error:
            check_clean(error, path.name)
            return False
    return True


def check_clean(error: ValueError, name: str) -> None:
    """One line about that file, or about its columns where it could be read."""
    text = str(error)
    assert type(error).__module__.startswith("rfsc") or type(error) is ValueError, type(error)
    assert "\n" not in text.replace("\\n", ""), text
    assert text.startswith((name, "the target", "every class")), text


TOKENS = [
    *(bytes([mark]) for mark in b",;\t\n\r\"'\\@{}[]%:-.0 \x00\xff\x80"),
    *b"nan -inf 1e999 ? null true \xef\xbb\xbf".split(),
    *(b'""', b"[[[[", b"\xff\xfe", b"\x1f\x8b", b"PAR1", b"PK", b"9" * 400, b"1_0", b"\xd9\xa1", b"a" * 140_000),
]


@st.composite
def bytes_near(draw: Any, reader: str) -> bytes:
    """Bytes of any kind, or, more often, a good file with a few edits."""
    if draw(st.integers(0, 3)) == 0:
        return draw(st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
    content = READERS[reader][1]
    edit = st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(TOKENS) | st.binary(max_size=3) | st.none())
    for share, length, token in draw(st.lists(edit, min_size=1, max_size=6)):
        at = int(share * len(content))
        part = content[at : at + length] * 2 if token is None else token
        content = content[:at] + part + content[at + (0 if token is None else length) :]
    return content


# ---- estimator


def fit_anything(draw: Callable[[Any], Any]) -> bool:
    """Fit an array of any numbers to labels of any kind; whether it was taken."""
    shape = draw(st.tuples(st.integers(0, 12), st.integers(0, 3)))
    numbers = st.floats(width=64) | st.sampled_from([0.0, 1.0, 5e-324, 1e300, -1.7e308, 1.7e308])
    X = draw(hnp.arrays(np.float64, shape, elements=numbers))
    if draw(st.booleans()):
        X = np.nan_to_num(X, nan=0.0, posinf=1.7e308, neginf=-1.7e308)  # else hardly any table is taken
    kinds = [
        st.integers(0, 2),
        st.sampled_from(["a", "b", ""]),
        st.booleans(),
        st.floats(),
        st.none() | st.text(max_size=2),
    ]
    y = draw(st.sampled_from(kinds).flatmap(lambda kind: st.lists(kind, min_size=shape[0], max_size=shape[0])))
    weights = st.floats(0, 10) | st.floats() | st.sampled_from([5e-324, 1e99])
    weight = draw(st.none() | st.lists(weights, min_size=shape[0], max_size=shape[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            fitted = classifier(search=SearchSettings(max_iter=3, n_models=5)).fit(X, y, sample_weight=weight)
        except (ValueError, TypeError) as error:
            _check_length(error)
            return False
        assert np.isfinite(fitted.predict_proba(X)).all()
    return True


# ---- exporters

STRANGE = st.text(max_size=8) | st.sampled_from(
    ["", '"', "'", "`; DROP TABLE t; --", "*/", "\\", "\n", "=1+1", "class"]
)


def export_strangely_named(draw: Callable[[Any], Any]) -> None:
    """Features and classes of any name: every export is written, and those that can be run here are run."""
    names = tuple(draw(st.lists(STRANGE, min_size=3, max_size=3, unique=True)))
    # numpy drops NULs at the end of texts
    classes = draw(st.lists(STRANGE.filter(lambda text: not text.endswith("\0")), min_size=2, max_size=4, unique=True))
    seed = draw(st.integers(0, 2**32 - 1))
    labels = classes[1:] if len(classes) == 2 else classes
    models = random_models(seed, labels, ranges=[(0.0, 1.0)] * 3, names=names)
    predictor = Predictor(models, classes)
    rows = np.random.default_rng(seed).random((4, 3))
    expected = [model.decision(rows) for model in predictor.models_]
    loaded = from_json(to_json(predictor))
    np.testing.assert_array_equal([model.decision(rows) for model in loaded.models_], expected)
    assert loaded.classes_.tolist() == classes
    compile(to_python(predictor), "exported", "exec")
    _taken(lambda: to_c(predictor))
    _taken(lambda: sheet_cells(predictor))
    for dialect in ("duckdb", "postgresql"):
        _taken(lambda dialect=dialect: to_sql(predictor, dialect=dialect, table="rows"))
    _run_in_sqlite(predictor, names, rows)


def _run_in_sqlite(predictor: Predictor, names: tuple[str, ...], rows: Any) -> None:
    query = _taken(lambda: to_sql(predictor, dialect="sqlite", table="rows"))
    # SQLite knows no case, and no names with NULs
    if query is None or len({name.upper() for name in names}) < len(names) or "\0" in "".join(names):
        return
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE rows ({', '.join(quoted)})")
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows.tolist())
        assert len(connection.execute(query).fetchall()) == len(rows)
    connection.close()


def _taken(call: Callable[[], Any]) -> Any:
    """The value of a call; None where it was refused in one sentence."""
    try:
        return call()
    except ValueError as error:
        _check_length(error)
        return None


def _check_length(error: Exception) -> None:
    assert 20 < len(str(error)) < 400, error
