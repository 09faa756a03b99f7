"""Tables that memory cannot hold: Parquet files and memory-mapped arrays as dask data frames, read part by part."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.arrays import IntArray
from .._utils.optional import require
from .columns import Column, read_as, understand
from .leaks import suspects
from .reading import mapped_array, numbered_names
from .training import LeakError, check_names, check_target

if TYPE_CHECKING:
    from pandas import DataFrame, Series

PARTS = 128  # that a file is cut into, ...
LEAST_BYTES, MOST_BYTES = 2**22, 2**26  # ... but not into crumbs, nor into parts that are large themselves
LOOKED_AT = 8  # parts, from each of which some rows are looked at ...
ROWS = 2000  # ... so many
MOST_LABELS = 1000  # of one part; what has more is no class, and a list of all is no small thing
SHOWN = 5  # columns in a message


@dataclass(frozen=True, slots=True, eq=False)
class LargeTraining:
    """What is learned from.

    Parameters
    ----------
    X : dask data frame
        The features, numbers all of them; rows without a label are left out.
    y : dask series
        The labels, as text.
    head : DataFrame
        A few of the rows of X, in memory.
    name : str
        What the table is called.
    n_columns : int
        Of the file.
    n_rows : int
        That have a label.
    n_unlabelled : int
        Rows without one.
    """

    X: Any
    y: Any
    head: DataFrame
    name: str
    n_columns: int
    n_rows: int
    n_unlabelled: int


@dataclass(frozen=True, slots=True, eq=False)
class _Survey:
    """What a part of a table holds, or all of it."""

    sizes: dict[str, int]  # rows of every class
    n_rows: int
    n_unlabelled: int
    n_odd: IntArray  # of every feature, cells that are blank or infinite

    def __add__(self, other: _Survey) -> _Survey:
        sizes = {label: self.sizes.get(label, 0) + other.sizes.get(label, 0) for label in self.sizes | other.sizes}
        n_rows, n_unlabelled = self.n_rows + other.n_rows, self.n_unlabelled + other.n_unlabelled
        return _Survey(sizes, n_rows, n_unlabelled, self.n_odd + other.n_odd)


def is_large(path: str) -> bool:
    """Whether a path is of a kind that is read part by part."""
    where = Path(path)
    return where.is_dir() or where.suffix.lower() in (".npy", ".parquet", ".pq")


def open_large(path: str) -> Any:
    """A file, or a folder of Parquet files, as a dask data frame."""
    require("fitting a table that memory cannot hold", ["dask", "pandas", "pyarrow"], "dask,cli")
    if path == "-":
        msg = "--engine dask cannot read stdin, for it reads a table several times. Name a file or a folder."
        raise ValueError(msg)
    where = Path(path)
    if where.suffix.lower() == ".npy" and where.is_file():
        return _from_array(where)
    if not where.exists():
        msg = f"{where.name}: there is no such file or folder."
        raise FileNotFoundError(msg)
    if not is_large(path):
        msg = (
            f"{where.name}: with --engine dask the table must be a Parquet file, a folder of these, or a .npy file of "
            "numbers. Convert it first, for instance with DuckDB or pyarrow, or fit it in memory, without that option."
        )
        raise ValueError(msg)
    return _from_parquet(where)


def _from_parquet(path: Path) -> Any:
    import dask.dataframe as dd
    from pyarrow import ArrowException

    try:
        frame = dd.read_parquet(path, split_row_groups="adaptive", blocksize=_part_bytes(path))
    except (ArrowException, OSError, ValueError):
        frame = None
    if frame is None or not frame.npartitions:
        name = path.resolve().name
        msg = f"{name}: expected complete Parquet files, got none, or a damaged one. Is it the right place?"
        raise ValueError(msg)
    return frame


def _from_array(path: Path) -> Any:
    import dask.dataframe as dd

    values = mapped_array(path)
    rows = max(_part_bytes(path) // (values.itemsize * values.shape[1]), 1)
    return dd.from_map(_rows_of_array, range(0, len(values), rows), path=path, n_rows=rows)


def _rows_of_array(first: int, path: Path, n_rows: int) -> DataFrame:
    """Some rows; the file is mapped for as long as that takes, so that nothing else of it stays in memory."""
    from pandas import DataFrame

    values = mapped_array(path)[first : first + n_rows]
    return DataFrame(np.array(values), columns=numbered_names(values.shape[1]))


def _part_bytes(path: Path) -> int:
    """How much of a file, or of a folder of files, is read at once by each thread."""
    files = path.rglob("*") if path.is_dir() else [path]
    total = sum(file.stat().st_size for file in files if file.is_file())
    return min(max(total // PARTS, LEAST_BYTES), MOST_BYTES)


def large_training(
    path: str, target: str, *, drop: Collection[str] = (), keep: Collection[str] = (), only: Collection[str] = ()
) -> LargeTraining:
    """Take what can be learned from, and look at some rows for columns that give the class away."""
    frame, name = open_large(path), Path(path).resolve().name
    names = [str(column) for column in frame.columns]
    check_names(names, [target, *drop, *keep, *only], name, are_cells=False)
    wanted = [c for c in names if c != target and c not in drop and (not only or c in only)]
    kinds = {c: frame._meta[c].dtype for c in wanted}
    other = [f"{c!r} ({kind})" for c, kind in kinds.items() if kind.kind not in "biuf"]
    if other:
        msg = (
            f"{name}: --engine dask reads columns of numbers only, but there is something else in {_some(other)}. "
            "Leave such columns out with --drop, or turn them into numbers first."
        )
        raise ValueError(msg)
    if not wanted:
        msg = f"{name}: no column is left to learn from. Check the table, --only and --drop."
        raise ValueError(msg)
    frame = frame[[*wanted, target]]
    found = _surveyed(frame, target, wanted, name)
    meta = frame._meta.assign(**{target: frame._meta[target].astype(object)})
    frame = frame.map_partitions(_labelled, target, meta=meta)
    head = _some_rows(frame)
    is_number = understand(head[target]).kind == "number"
    check_target(target, np.array(list(found.sizes.values()), dtype=np.int64), is_number=is_number)
    odd = [f"{c!r} ({n} {'row' if n == 1 else 'rows'})" for c, n in zip(wanted, found.n_odd.tolist(), strict=True) if n]
    if odd:
        msg = (
            f"{name}: --engine dask needs a number in every cell, but there are blanks or infinities in "
            f"{_some(odd)}. Fill them or drop those rows first, for instance with DuckDB, or leave such columns out "
            "with --drop."
        )
        raise ValueError(msg)
    _check_leaks([understand(head[c]) for c in wanted if c not in keep], head[target])
    return LargeTraining(frame[wanted], frame[target], head[wanted], name, len(names), found.n_rows, found.n_unlabelled)


def _some(names: list[str]) -> str:
    """A few of many."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _surveyed(frame: Any, target: str, features: list[str], name: str) -> _Survey:
    """One pass over the table: whether it can be read to its end, and what it holds."""
    import dask
    from pyarrow import ArrowException

    parts = [dask.delayed(_survey)(part, target, features) for part in frame.to_delayed()]
    try:
        found: list[_Survey] = list(dask.compute(*parts))
    except (ArrowException, OSError) as error:
        where = getattr(error, "filename", None)
        msg = (
            f"{name}: {'a part of it' if where is None else Path(str(where)).name} cannot be read to its end; it is "
            "damaged, or was changed meanwhile. Copy it again."
        )
        raise ValueError(msg) from None
    return sum(found[1:], found[0])


def _survey(part: DataFrame, target: str, features: list[str]) -> _Survey:
    labelled = _labelled(part, target)
    sizes = labelled[target].value_counts().to_dict()
    if len(sizes) > MOST_LABELS:
        msg = (
            f"the target {target!r} holds more than {MOST_LABELS} different labels, but this is a classifier. Choose a "
            "column of classes, or make classes first, for instance above and below a limit that matters to you."
        )
        raise ValueError(msg)
    columns = (labelled[c].to_numpy(dtype=np.float64, na_value=np.nan) for c in features)
    n_odd = np.array([np.count_nonzero(~np.isfinite(column)) for column in columns], dtype=np.int64)
    return _Survey(sizes, len(labelled), len(part) - len(labelled), n_odd)


def _labelled(part: DataFrame, target: str) -> DataFrame:
    """The rows that have a label, with the label as text."""
    from pandas import factorize

    code, distinct = factorize(part[target])
    texts = np.array([*read_as(_series(distinct, target), "text").values, None], dtype=object)  # the last for code -1
    known = np.array([text is not None for text in texts])
    return part.assign(**{target: texts[code]})[known[code]]


def _series(values: Any, name: str) -> Series:
    from pandas import Series

    return Series(values, name=name)


def _some_rows(frame: Any) -> DataFrame:
    """The first rows of some parts, spread over the table."""
    which = np.unique(np.linspace(0, frame.npartitions - 1, LOOKED_AT).astype(int)).tolist()
    return frame.partitions[which].map_partitions(lambda part: part.iloc[:ROWS]).compute().reset_index(drop=True)


def _check_leaks(columns: list[Column], labels: Series) -> None:
    code = np.unique(np.asarray(labels, dtype=str), return_inverse=True)[1]
    found = suspects(columns, code)
    if found:
        raise LeakError(found)
