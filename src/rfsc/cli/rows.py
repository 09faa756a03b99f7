"""A raw table in the shape that a saved model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .console import Failure, Voice

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..model.predictor import Predictor
    from ..tables.reading import RawTable


def load_model(path: str) -> Predictor:
    """Read a model file, or stdin.

    Parameters
    ----------
    path : str
        The file; "-" stands for stdin.

    Returns
    -------
    Predictor
        The model.
    """
    import sys

    from ..export import from_json, load
    from ..export.json_limits import read_limited

    return from_json(read_limited(sys.stdin), name="stdin") if path == "-" else load(path)


def read_for(voice: Voice, model: str, data: str) -> tuple[Predictor, RawTable]:
    """Read a model and a table, at most one of them from stdin.

    Parameters
    ----------
    voice : Voice
        Who says what was guessed about the table.
    model, data : str
        The files.

    Returns
    -------
    tuple of Predictor and RawTable
        Both.
    """
    if model == data == "-":
        msg = "model and table cannot both come from stdin; give one of them as a file."
        raise Failure(msg)
    from ..tables.reading import read_raw

    predictor, table = load_model(model), read_raw(data)
    for note in table.notes:
        voice.say(f"{table.name}: {note}")
    return (predictor, table) if hasattr(predictor, "feature_names_in_") else _by_place(predictor, table)


def rows_for(voice: Voice, predictor: Predictor, table: RawTable) -> DataFrame:
    """The columns that a model reads, each of the kind that it expects.

    Parameters
    ----------
    voice : Voice
        Who warns of cells that are no numbers.
    predictor : Predictor
        The model.
    table : RawTable
        The table. Columns that the model knows but does not read may be missing.

    Returns
    -------
    DataFrame
        All columns of the model, in its order.
    """
    from pandas import DataFrame

    from ..export.program import Program
    from ..tables.columns import read_as

    program = Program.of(predictor)
    frame = table.frame
    missing = [program.columns[c].name for c in program.read if program.columns[c].name not in frame.columns]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        shown = ", ".join(map(repr, missing[:5]))
        msg = (
            f"{table.name} lacks {len(missing)} of the {len(program.read)} columns that the model reads: {shown}{more}."
        )
        raise Failure(msg)
    cells: dict[str, Any] = {}
    for raw in program.columns:
        if raw.name not in frame.columns:
            # never read, so anything will do that is not missing
            cells[raw.name] = [0.0 if raw.kind == "number" else ""] * len(frame)
            continue
        column = read_as(frame[raw.name], raw.kind)
        cells[raw.name] = column.values
        if column.n_odd:
            voice.warn(f"{column.n_odd} cells of {raw.name!r} are no numbers and count as blank")
    return DataFrame(cells)


def _by_place(predictor: Predictor, table: RawTable) -> tuple[Predictor, RawTable]:
    """A model that knows no names of columns takes those of the table in their order, under its own names."""
    from dataclasses import replace

    from ..model.predictor import Predictor as Named

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
    """The true classes of a table.

    Parameters
    ----------
    predictor : Predictor
        The model.
    table : RawTable
        The table.
    target : str
        Column with the class.

    Returns
    -------
    tuple of ndarray and ndarray
        Which rows have a class, and the classes of these as the model spells them.
    """
    import numpy as np

    from ..tables.columns import read_as
    from ..tables.training import check_names

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
