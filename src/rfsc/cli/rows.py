"""A raw table in the shape that a saved model reads."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .console import Failure, Voice, counted, verb

if TYPE_CHECKING:
    from pandas import DataFrame

    from .._model.predictor import Predictor
    from .._tables.reading import RawTable


def load_model(path: str) -> Predictor:
    """Read a model file, or stdin."""
    from ..export import from_json, load
    from ..export.json_file import ModelFileError
    from ..export.json_limits import read_limited

    try:
        return from_json(read_limited(sys.stdin), name="stdin") if path == "-" else load(path)
    except ModelFileError as error:
        raise Failure(_in_our_words(str(error))) from None


def _in_our_words(text: str) -> str:
    """What is wrong with a model file, for who does not write Python."""
    name, damaged, _ = text.partition(" is damaged: ")
    if damaged:
        return f"{name} is damaged: it is not as rfsc fit writes it. Restore it from a copy, or fit the model again."
    return text.replace("rfsc.export.save wrote", "rfsc fit -o wrote")


def read_for(voice: Voice, model: str, data: str) -> tuple[Predictor, RawTable]:
    """Read a model and a table, at most one of them from stdin."""
    if model == data == "-":
        msg = "model and table cannot both come from stdin; give one of them as a file."
        raise Failure(msg)
    from .._tables.reading import read_raw

    predictor, table = load_model(model), read_raw(data)
    for note in table.notes:
        voice.say(f"{table.name}: {note}")
    return (predictor, table) if hasattr(predictor, "feature_names_in_") else _by_place(predictor, table)


def rows_for(voice: Voice, predictor: Predictor, table: RawTable) -> DataFrame:
    """The columns that a model reads, each of the kind that it expects."""
    from pandas import DataFrame

    from .._tables.columns import read_as
    from .._tables.training import ONE_COLUMN
    from ..export.program import Program

    program = Program.of(predictor)
    frame = table.frame
    missing = [program.columns[c].name for c in program.read if program.columns[c].name not in frame.columns]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        shown = ", ".join(map(repr, missing[:5]))
        hint = f" {ONE_COLUMN}" if frame.shape[1] == 1 < len(program.read) else ""
        msg = (
            f"{table.name} lacks {len(missing)} of the {counted(len(program.read), 'column')} that the model reads: "
            f"{shown}{more}.{hint}"
        )
        raise Failure(msg)
    cells: dict[str, Any] = {}
    for raw in program.columns:
        if raw.name not in frame.columns:
            # never read, so anything will do that is not missing
            cells[raw.name] = [0.0 if raw.kind == "number" else ""] * len(frame)
            continue
        column = read_as(frame[raw.name], raw.kind, table.comma)
        cells[raw.name] = column.values
        n = column.n_odd
        if n:
            words = verb(n, "is no number and counts as blank", "are no numbers and count as blank")
            voice.warn(f"{counted(n, 'cell')} of {raw.name!r} {words}")
    return DataFrame(cells)


def _by_place(predictor: Predictor, table: RawTable) -> tuple[Predictor, RawTable]:
    """A model that knows no names of columns takes those of the table in their order, under its own names."""
    from dataclasses import replace

    from .._model.predictor import Predictor as Named

    named = Named(
        predictor.models_, predictor.classes_, predictor.recipe_, predictor.settings_, manifest=predictor.manifest_
    )
    n_columns = table.frame.shape[1]
    if n_columns != named.n_features_in_:
        msg = (
            f"the model was fitted to {named.n_features_in_} columns without names, but {table.name} has {n_columns}. "
            "Leave only those columns in it, in their order."
        )
        raise Failure(msg)
    return named, replace(table, frame=table.frame.set_axis(list(named.feature_names_in_), axis=1))


def labels_for(predictor: Predictor, table: RawTable, target: str) -> tuple[Any, Any]:
    """The true classes of a table."""
    import numpy as np

    from .._tables.columns import read_as
    from .._tables.training import check_names

    check_names(list(table.frame.columns), [target], table.name)
    column = read_as(table.frame[target], "text")
    rows = ~column.blank
    spelled = {str(label): label for label in predictor.classes_.tolist()}
    found = column.values[rows]
    strange = sum(label not in spelled for label in found)
    if strange or not len(found):
        msg = (
            f"{strange or 'all'} rows of {target!r} hold none of the classes that the model knows: "
            f"{', '.join(map(repr, spelled))}. Choose the column that it was fitted to, or drop those rows."
        )
        raise Failure(msg)
    return rows, np.array([spelled[label] for label in found])
