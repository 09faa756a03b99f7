"""From a table to raw columns and labels, in memory or by Dask in chunks; suspicious columns are refused."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._model.cells import level_key
from .._utils.arrays import IntArray
from .._utils.optional import require
from .._utils.words import listed, plural
from ..tables import TableEncoder
from .column_checks import check_names, check_target, far_from_others, repeated_subjects, suspicion, useless
from .column_types import (
    COMMAS,
    DECIMAL_SIGNS,
    Column,
    column_of_kind,
    comma_meaning,
    infer_column,
    objects_of,
    settled,
    share_of_numbers,
    text_column,
    times,
)
from .table_files import RawTable

if TYPE_CHECKING:
    from pandas import DataFrame

IN_MEMORY_SHARE = 0.25  # of the memory may be taken by a raw table: it is copied while it is read and fitted
NUMBER_BYTES, TEXT_BYTES = 8, 64  # of a cell in memory
ASSUMED_MEMORY = 8 * 2**30  # bytes, if the system does not say
CHUNK_BYTES = 2**25  # that are read at once
N_SAMPLED_CHUNKS, ROWS_PER_CHUNK = 8, 2000  # the sample that is examined for leaks
MOST_LABELS = 1000  # in the sample; more are no classes, and counting all of them would fill the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChoice:
    """Names of columns that the user decided on."""

    drop: Sequence[str] = ()
    keep: Sequence[str] = ()  # even if suspicious
    only: Sequence[str] = ()  # if any, all others are dropped
    number: Sequence[str] = ()  # read as numbers
    signed: Sequence[str] = ()  # with a known sign of their effect
    roles: Mapping[str, str] = field(default_factory=dict)  # the columns of "group", "site" or "time"
    decimal: str | None = None  # the decimal sign, if the user says

    @property
    def names(self) -> list[str]:
        """All names, in any role."""
        return [*self.drop, *self.keep, *self.only, *self.number, *self.signed, *self.roles.values()]

    def dropped(self, names: Sequence[str]) -> dict[str, str]:
        """Columns that the user does not want, and by which option."""
        not_only = {name: "--only" for name in names if self.only and name not in self.only}
        roles = {name: f"--{role}" for role, name in self.roles.items()}
        return not_only | {name: "--drop" for name in names if name in self.drop} | roles


class LeakError(ValueError):
    """Columns that look like identifiers or like the target, each with the reason; some name repeated subjects."""

    def __init__(self, reasons: dict[str, str], subjects: Sequence[str] = ()) -> None:
        super().__init__(f"{plural(len(reasons), 'column')} may be an identifier or the target itself")
        self.reasons, self.subjects = reasons, subjects


@dataclass(frozen=True, slots=True, eq=False)
class TrainingTable:
    """Raw columns and labels of the rows that have a label."""

    X: DataFrame
    encoder: TableEncoder  # that turns them into features, not fitted yet
    y: np.ndarray[Any, Any]  # labels, as texts
    dropped: dict[str, str]  # other columns, with the reason
    n_unlabelled: int  # rows without a label, which were dropped
    nearly_numbers: dict[str, float]  # text columns most of whose cells are numbers, with the share of these
    roles: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)  # codes of groups and sites, or times
    doubtful: dict[str, IntArray] = field(default_factory=dict)  # rows of the table with values far from the others
    doubts: tuple[str, ...] = ()  # about the target, dates and commas, as sentences
    sites: dict[int, str] = field(default_factory=dict)  # names of the sites, by their codes

    @property
    def sample(self) -> DataFrame:
        """Of a table in memory, all rows."""
        return self.X

    @property
    def n_rows(self) -> int:
        return len(self.y)


def training_table(table: RawTable, target: str, choice: ColumnChoice | None = None) -> TrainingTable:
    """Look at every column of a table, and take those that can be learned from."""
    choice = choice or ColumnChoice()
    if choice.decimal:
        table = replace(table, decimal=choice.decimal)
    else:
        known = comma_meaning(table.frame[name] for name in table.frame.columns)
        table = replace(table, decimal=table.decimal or DECIMAL_SIGNS[known])
    names = [str(name) for name in table.frame.columns]
    check_names(names, [target, *choice.names], table.name)
    for role, name in choice.roles.items():
        if name == target:
            msg = f"--{role} names the target {target!r}. Choose another column, or leave the option out."
            raise ValueError(msg)
    label_column = text_column(target, objects_of(table.frame[target]))
    rows = ~label_column.blank
    labels = label_column.values[rows].astype(str)
    _, code, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    doubts = _alike(target, np.unique(labels).tolist())
    is_number = infer_column(target, table.frame[target]).kind == "number"
    check_target(target, sizes, is_number=is_number, alike=doubts)
    features = [name for name in names if name != target]
    dropped = choice.dropped(features)
    roles = {role: _role(table, name, role, doubts)[rows] for role, name in choice.roles.items()}
    columns = [_read_column(table, name, choice) for name in features if name not in dropped]
    columns = settled(columns) if choice.decimal or known == "" else columns
    doubtful = {column.name: far for column in columns if (far := far_from_others(column)).size}
    columns = [column.take(rows) for column in columns]
    nearly = {column.name: share_of_numbers(column, COMMAS[table.decimal]) for column in columns}
    commas = {column.name for column in columns if column.doubtful_sign == ","}
    nearly = {name: share for name, share in nearly.items() if share and name not in commas}
    doubts += [
        f"the commas of {name!r} may be decimal or separate thousands. Pass --decimal , or --decimal . to say which"
        for name in sorted(commas)
    ]
    doubts += [
        f"the points of {column.name!r} are read as decimal. If they separate thousands, write numbers without them"
        for column in columns
        if column.doubtful_sign == "."
    ]
    _refuse_leaks([column for column in columns if column.name not in choice.keep], code, nearly)
    dropped |= {column.name: reason for column in columns if (reason := useless(column))}
    used = tuple(column for column in columns if column.name not in dropped)
    if not used:
        msg = f"{table.name}: no column is left to learn from. Check the table, its delimiter, --only and --drop."
        raise ValueError(msg)
    _check_signs(choice.signed, {column.name: column.kind for column in used}, dropped, sizes.size)
    X = table.frame.loc[rows, [column.name for column in used]].reset_index(drop=True)
    sites = {}
    if "site" in roles:
        texts = ["blank" if text is None else str(text) for text in _texts(table, choice.roles["site"])[rows]]
        sites = dict(zip(roles["site"].tolist(), texts, strict=True))
    encoder = TableEncoder(kinds={column.name: column.kind for column in used}, decimal=table.decimal)
    encoder.set_output(transform="pandas")  # the classifier needs the names
    return TrainingTable(X, encoder, labels, dropped, int((~rows).sum()), nearly, roles, doubtful, tuple(doubts), sites)


def _alike(target: str, labels: Sequence[str]) -> list[str]:
    """A doubt about classes that differ only in case or blanks, if there are any."""
    n_different = len(set(map(level_key, labels)))
    if n_different == len(labels):
        return []
    shown = listed(list(map(repr, labels)), 6)
    return [
        f"the {len(labels)} classes of {target!r} ({shown}) are {n_different} if capitals and spaces do not count. "
        "If they are the same, write them alike and fit again"
    ]


def _role(table: RawTable, name: str, role: str, doubts: list[str]) -> np.ndarray[Any, Any]:
    """Codes of groups or sites; or times, as numbers. A row without a group is a group of its own."""
    if role == "time":
        column = infer_column(name, table.frame[name], COMMAS[table.decimal])
        if column.kind not in ("number", "date") or column.blank.any():
            got = "has blanks" if column.blank.any() else f"holds {column.kind}"
            msg = f"{table.name}: --time expects a column of numbers or dates without blanks, but {name!r} {got}."
            raise ValueError(msg)
        if column.kind == "number":
            return np.asarray(column.values)
        found, n_bad, is_doubtful = times(column.values)
        if n_bad:
            msg = f"{table.name}: {plural(n_bad, 'date')} of {name!r} cannot be read. Write them as 2026-01-31."
            raise ValueError(msg)
        if is_doubtful:
            what = f"{name!r} may hold days or months first; 01/02/2026 is read as the first of February"
            doubts.append(f"{what}. If that is wrong, write dates as 2026-02-01")
        return found
    texts = _texts(table, name)
    keys = [(str(text),) if text is not None else (i if role == "group" else -1,) for i, text in enumerate(texts)]
    numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    if len(numbers) == 1:
        msg = f"{table.name}: --{role} {name} must tell rows apart, but all have the same value. Leave the option out."
        raise ValueError(msg)
    return np.array([numbers[key] for key in keys])


def _texts(table: RawTable, name: str) -> np.ndarray[Any, Any]:
    return text_column(name, objects_of(table.frame[name])).values


def _read_column(table: RawTable, name: str, choice: ColumnChoice) -> Column:
    comma = COMMAS[table.decimal]
    if name not in choice.number:
        return infer_column(name, table.frame[name], comma)
    column = column_of_kind(name, table.frame[name], "number", comma)
    if column.blank.all():
        msg = f"{table.name}: {name!r} holds no number, so it cannot be read as numbers. Remove --number {name}."
        if column.doubtful_sign == ",":
            msg = f"{table.name}: 1,234 in {name!r} may be 1.234 or 1234. Pass --decimal , or --decimal . to say which."
        raise ValueError(msg)
    return column


def _refuse_leaks(columns: Sequence[Column], code: np.ndarray[Any, Any], nearly: dict[str, float]) -> None:
    reasons = {column.name: reason for column in columns if (reason := suspicion(column, code))}
    subjects = [column.name for column in columns if reasons.get(column.name) and repeated_subjects(column)]
    for name in reasons:
        if name in nearly:
            reasons[name] += f"; {nearly[name]:.0%} of its cells are numbers: --number reads them as such"
    for column in columns:
        if column.name in reasons and column.doubtful_sign == ",":
            reasons[column.name] += "; --decimal , reads its commas as decimal, --decimal . as thousands"
    if reasons:
        raise LeakError(reasons, subjects)


def _check_signs(signed: Sequence[str], kinds: dict[str, str], dropped: dict[str, str], n_classes: int) -> None:
    """Raise ValueError if the effect of a column cannot have a sign."""
    start = "--increasing and --decreasing"
    if signed and n_classes > 2:
        msg = f"{start} are about the second of two classes, but the target holds {n_classes} classes."
        raise ValueError(f"{msg} Use a target that tells one class from the rest.")
    for name in signed:
        if kinds.get(name) == "number":
            continue
        if name in kinds:
            what = f"{name!r} is text, which becomes indicators. Turn it into numbers whose order means something"
        else:
            reason = f"dropped ({dropped[name]})" if name in dropped else "the target"
            what = f"{name!r} is {reason}. Choose another column"
        msg = f"{start} expect columns of numbers that are used, but {what}, or leave the option out."
        raise ValueError(msg)


# ---- tables larger than memory


@dataclass(frozen=True, slots=True, eq=False)
class ChunkedTable:
    """Features and labels of the rows that have a label, as Dask collections."""

    X: Any  # Dask data frame, numbers only
    y: Any  # Dask series of texts
    sample: DataFrame  # some rows of X, in memory
    name: str
    dropped: dict[str, str]  # other columns, with the reason
    n_rows: int
    n_unlabelled: int


def is_larger_than_memory(source: str, memory: int | None = None) -> bool:
    """Whether Parquet files would take too much of the memory (bytes) to be read at once."""
    path = Path(source)
    if not path.is_dir() and path.suffix.lower() not in (".parquet", ".pq"):
        return False
    try:
        n_bytes = _parquet_bytes(path)
    except (OSError, ValueError):
        return False  # the reader of small tables reports what is wrong
    if memory is None:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else ASSUMED_MEMORY
    return n_bytes > IN_MEMORY_SHARE * memory


def _parquet_bytes(path: Path) -> int:
    """What Parquet files would take in memory, by their schema and number of rows."""
    require("reading Parquet", ["pyarrow"], "parquet")
    from pyarrow import dataset, types

    files = dataset.dataset(path, format="parquet")
    sizes = [NUMBER_BYTES if types.is_primitive(field.type) else TEXT_BYTES for field in files.schema]
    return int(files.count_rows()) * sum(sizes)


def chunked_table(source: str, target: str, choice: ColumnChoice) -> ChunkedTable:
    """The same checks as for a table in memory, on a sample of rows and by one pass over all of them."""
    require("fitting a table larger than memory", ["dask", "pandas", "pyarrow"], "dask,cli")
    from pyarrow import ArrowException

    try:
        return _checked_chunks(Path(source), target, choice)
    except (ArrowException, OSError):  # their texts may hold cells
        name = Path(source).resolve().name
        msg = f"{name}: a part of it cannot be read; it is damaged, or was changed meanwhile. Copy it again."
        raise ValueError(msg) from None


def _checked_chunks(path: Path, target: str, choice: ColumnChoice) -> ChunkedTable:
    import dask
    import dask.dataframe as dd

    frame, name = dd.read_parquet(path, split_row_groups="adaptive", blocksize=CHUNK_BYTES), path.resolve().name
    names = [str(column) for column in frame.columns]
    check_names(names, [target, *choice.names], name)
    dropped = choice.dropped([column for column in names if column != target])
    wanted = [column for column in names if column != target and column not in dropped]
    _check_numeric(name, {column: frame._meta[column].dtype for column in wanted})
    frame = frame[[*wanted, target]]
    labelled = frame.map_partitions(_labelled_rows, target, meta=frame._meta.astype({target: object}))
    X, y = labelled[wanted].astype("float64"), labelled[target]
    sample = _sample_rows(labelled)
    if sample[target].nunique() > MOST_LABELS:
        msg = f"the target {target!r} holds more than {MOST_LABELS:,} labels, but this is a classifier. Choose another."
        raise ValueError(msg)
    n_rows, n_blank, sizes = dask.compute(frame.shape[0], (~np.isfinite(X)).sum(), y.value_counts())
    check_target(target, sizes.to_numpy(), is_number=infer_column(target, sample[target]).kind == "number")
    _check_no_blanks(name, n_blank[n_blank > 0].to_dict())
    columns = [infer_column(column, sample[column]) for column in wanted if column not in choice.keep]
    _refuse_leaks(columns, np.unique(sample[target].astype(str), return_inverse=True)[1], {})
    _check_signs(choice.signed, dict.fromkeys(wanted, "number"), dropped, len(sizes))
    n_labelled = int(sizes.sum())
    return ChunkedTable(X, y, sample[wanted], name, dropped, n_labelled, int(n_rows) - n_labelled)


def _check_numeric(name: str, kinds: dict[str, Any]) -> None:
    other = [f"{column!r} ({kind})" for column, kind in kinds.items() if kind.kind not in "biuf"]
    if other:
        msg = (
            f"{name}: a table larger than memory must hold numbers only, but {listed(other, 5)} "
            f"{'is' if len(other) == 1 else 'are'} of another type. Use --drop, or turn text into numbers first."
        )
        raise ValueError(msg)
    if not kinds:
        msg = f"{name}: no column is left to learn from. Check the table, --only and --drop."
        raise ValueError(msg)


def _check_no_blanks(name: str, n_blank: dict[str, int]) -> None:
    if n_blank:
        found = [f"{column!r} ({plural(int(n), 'row')})" for column, n in n_blank.items()]
        msg = (
            f"{name}: a table larger than memory must hold a finite number in every cell, but there are blanks or "
            f"infinities in {listed(found, 5)}. Fill them or drop those rows first, or use --drop."
        )
        raise ValueError(msg)


def _labelled_rows(part: DataFrame, target: str) -> DataFrame:
    """The rows that have a label, with the label as text."""
    from pandas import factorize

    code, distinct = factorize(part[target])
    texts = [*text_column(target, objects_of(distinct)).values, None]  # the last for code -1
    return part.assign(**{target: np.array(texts, dtype=object)[code]}).dropna(subset=[target])


def _sample_rows(frame: Any) -> DataFrame:
    """The first rows of some chunks, spread over the table."""
    which = np.unique(np.linspace(0, frame.npartitions - 1, N_SAMPLED_CHUNKS).astype(int)).tolist()
    parts = frame.partitions[which].map_partitions(lambda part: part.iloc[:ROWS_PER_CHUNK])
    return parts.compute().reset_index(drop=True)
