"""A saved model and a raw table: columns as the model expects them, true classes, and warnings about unusual rows."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._utils.words import listed, plural
from .console import CommandError, Messages

if TYPE_CHECKING:
    from pandas import DataFrame

    from .._model.predictor import Predictor
    from .._model.recipe import Cells, RawColumn
    from .._tables.table_files import RawTable
    from ..export.program import Program

MOST_NAMES = 5  # of columns in a message
UNKNOWN_SHARE = 0.5  # of levels and of rows, from which a text column was probably written in another way


def load_model(path: str) -> Predictor:
    """Read a model file, or stdin."""
    from ..export import from_json, load
    from ..export.json_file import ModelFileError, read_limited

    try:
        return from_json(read_limited(sys.stdin), name="stdin") if path == "-" else load(path)
    except ModelFileError as error:
        raise CommandError(str(error).replace("rfsc.export.save wrote", "rfsc fit -o wrote")) from None


def read_model_and_table(
    messages: Messages, model: str, data: str, target: str | None = None
) -> tuple[Predictor, RawTable]:
    """Read both, at most one of them from stdin; a model without column names reads columns by their position."""
    from .._tables.table_files import read_table

    check_stdin(model, data)
    predictor, table = load_model(model), read_table(data)
    for note in table.notes:
        messages.note(note, f"{table.name}: ")
    if hasattr(predictor, "feature_names_in_"):
        return predictor, table
    return predictor.replaced(named=True), numbered_columns(predictor, table, target)


def check_stdin(model: str, data: str) -> None:
    """Raise if model and table are both to be read from stdin."""
    if model == data == "-":
        msg = "model and table cannot both come from stdin; give one of them as a file."
        raise CommandError(msg)


def numbered_columns(predictor: Predictor, table: RawTable, target: str | None) -> RawTable:
    """A table whose columns, but for the target, have the names x0, x1, ... of a model without column names."""
    names = list(table.frame.columns)
    features = [name for name in names if name != target]
    if len(features) != predictor.n_features_in_:
        msg = (
            f"the model was fitted to {predictor.n_features_in_} columns without names, but {table.name} has "
            f"{len(features)}{' besides the class' if target else ''}. Keep only those columns, in their order."
        )
        raise CommandError(msg)
    numbered = {name: f"x{j}" for j, name in enumerate(features)}
    return replace(table, frame=table.frame.rename(columns=numbered))


def rows_for_model(messages: Messages, predictor: Predictor, table: RawTable) -> DataFrame:
    """The columns that a model reads, each of the kind that it expects."""
    from pandas import DataFrame

    from .._tables.column_checks import SINGLE_COLUMN
    from ..export.program import Program

    program, frame = Program.of(predictor), table.frame
    missing = [repr(program.columns[c].name) for c in program.read if program.columns[c].name not in frame.columns]
    if missing:
        hint = f" {SINGLE_COLUMN}" if frame.shape[1] == 1 < len(program.read) else ""
        msg = (
            f"{table.name} lacks {len(missing)} of the {plural(len(program.read), 'column')} that the model reads: "
            f"{listed(missing, MOST_NAMES)}.{hint}"
        )
        raise CommandError(msg)
    cells: dict[str, Any] = {}
    for raw in program.columns:
        if raw.name not in frame.columns:  # not read by the model: any value will do that is not missing
            cells[raw.name] = [0.0 if raw.kind == "number" else ""] * len(frame)
            continue
        column = frame[raw.name]
        cells[raw.name] = column if raw.kind == "text" else _numbers(messages, raw, column, table.decimal)
    return DataFrame(cells)


def _numbers(messages: Messages, raw: RawColumn, column: Any, decimal: str | None) -> Any:
    """A column of numbers as the model reads it, with a warning about cells that hold none."""
    import numpy as np

    from .._model.cells import CellFormat, read_numbers, trimmed
    from .._tables.column_types import BLANK_NUMBERS, objects_of

    form = raw.cells or CellFormat()
    cells = objects_of(column)
    if decimal == "," and form.comma != ".":  # the file says how it is written
        cells = np.array([c.replace(",", ".") if isinstance(c, str) else c for c in cells], dtype=object)
    if raw.cells is None:
        truth = {"true": 1.0, "false": 0.0}
        cells = np.array([truth.get(trimmed(c), c) if isinstance(c, str) else c for c in cells], dtype=object)
    values = read_numbers(cells, form)[0]
    blank = [cell is None or (isinstance(cell, str) and trimmed(cell) in BLANK_NUMBERS) for cell in cells]
    if n := int((np.isnan(values) & ~np.array(blank, dtype=bool)).sum()):
        what = "is not a number and counts" if n == 1 else "are not numbers and count"
        of_fit = f" in {form.unit}, the unit of the fit," if form.unit else ""
        messages.warn(f"{plural(n, 'cell')} of {raw.name!r} {what.replace(' and', f'{of_fit} and')} as blank")
    return cells if raw.cells is not None else values


def labels_for_model(predictor: Predictor, table: RawTable, target: str) -> tuple[Any, Any]:
    """Which rows have a class, and the classes of these, as the model writes them."""
    import numpy as np

    from .._tables.column_checks import check_names
    from .._tables.column_types import objects_of, text_column

    check_names(list(table.frame.columns), [target], table.name)
    column = text_column(target, objects_of(table.frame[target]))
    rows = ~column.blank
    known = {str(label): label for label in predictor.classes_.tolist()}
    found = column.values[rows]
    n_unknown = sum(label not in known for label in found)
    if n_unknown or not len(found):
        got = f"{plural(n_unknown, 'row')} of {target!r} hold another one" if n_unknown else f"{target!r} is all blank"
        msg = (
            f"the model knows the classes {listed([repr(label) for label in known])}, but {got}. Choose the column "
            "that it was fitted to, or drop those rows."
        )
        raise CommandError(msg)
    return rows, np.array([known[label] for label in found])


# ---- rows unlike those of the training table


def unusual(predictor: Predictor, X: DataFrame) -> list[str]:
    """Reasons to doubt predictions of these rows, as sentences for the user."""
    from .._model.recipe import read_cells
    from .._tables.column_types import objects_of
    from ..export.program import Program

    program = Program.of(predictor)
    read = {c: read_cells(objects_of(X[program.columns[c].name]), program.columns[c]) for c in program.read}
    blank = [repr(program.columns[c].name) for c, cells in read.items() if cells.missing.all()]
    texts = [c for c in read if program.columns[c].kind == "text"]
    foreign = [repr(program.columns[c].name) for c in texts if _has_foreign_levels(program, c, read[c])]
    found = [_out_of_range(program, predictor.features(X))]
    if blank:
        is_one = len(blank) == 1
        found.append(
            f"{listed(blank, MOST_NAMES)} {'is' if is_one else 'are'} blank in all rows, but the model reads "
            f"{'it' if is_one else 'them'}"
        )
    if foreign:
        found.append(
            f"most levels of {listed(foreign, MOST_NAMES)} are unknown to the model; are they spelled as in the "
            "training table?"
        )
    return [text for text in found if text]


def _out_of_range(program: Program, features: Any) -> str:
    import numpy as np

    from .._model.recipe import NumberOf
    from ..monitor.shift import outside_range

    read = [p for p in program.features_used if isinstance(program.features[p], NumberOf)]
    outside = outside_range(program.models[0].scaling, features, read)
    n_rows = int(outside.any(axis=1).sum())
    if not n_rows:
        return ""
    columns = [program.columns[program.features[p].column].name for p in read]
    names = [repr(name) for name, is_outside in zip(columns, np.any(outside, axis=0), strict=True) if is_outside]
    return (
        f"{n_rows} of {plural(len(features), 'row')} {'lies' if n_rows == 1 else 'lie'} outside the training range of "
        f"{listed(names, MOST_NAMES)}, where the model extrapolates"
    )


def _has_foreign_levels(program: Program, column: int, read: Cells) -> bool:
    """Whether a text column seems to use other words; a few unknown rare levels are normal."""
    from .._model.recipe import LevelOf

    made = [f for f in program.features if isinstance(f, LevelOf) and f.column == column]
    known = {level for feature in made for level in feature.levels}
    cells = Counter(read.values[~read.missing].tolist())
    unknown = {level: n for level, n in cells.items() if level not in known}
    n_unnamed = len(made) == 1  # of two levels a recipe names one
    is_most = len(unknown) - n_unnamed >= UNKNOWN_SHARE * len(cells) > 0
    return is_most and sum(unknown.values()) > UNKNOWN_SHARE * cells.total()
