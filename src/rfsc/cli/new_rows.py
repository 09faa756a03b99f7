"""A saved model and a raw table: columns as the model expects them, true classes, and warnings about unusual rows."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._utils.words import listed, plural, rows_text
from .console import CommandError, Messages

if TYPE_CHECKING:
    from pandas import DataFrame

    from .._input.table_files import RawTable
    from .._model.predictor import Predictor
    from .._model.recipe import Cells, RawColumn
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


def asked_class(predictor: Predictor) -> Any:
    """The class that --class of `rfsc fit` named; None if there was none."""
    name = (predictor.manifest_ or {}).get("class")
    return next((label for label in predictor.classes_.tolist() if str(label) == name), None)


def shown(predictor: Predictor) -> Predictor:
    """A model with the formula of the class that --class of `rfsc fit` named."""
    label = asked_class(predictor)
    return predictor if label is None else predictor.about(label)


def read_model_and_table(messages: Messages, model: str, data: str) -> tuple[Predictor, RawTable]:
    """Read both, at most one of them from stdin; a model of an array reads columns x0, x1, ..."""
    from .._input.table_files import read_table

    check_stdin(model, data)
    predictor, table = load_model(model), read_table(data)
    for note in table.notes:
        messages.note(note, f"{table.name}: ")
    return predictor.replaced(named=True), table


def check_stdin(model: str, data: str) -> None:
    """Raise if model and table are both to be read from stdin."""
    if model == data == "-":
        msg = "model and table cannot both come from stdin; give one of them as a file."
        raise CommandError(msg)


def rows_for_model(messages: Messages, predictor: Predictor, table: RawTable) -> DataFrame:
    """The columns that a model reads, each of the kind that it expects."""
    from pandas import DataFrame

    from .._input.column_checks import SINGLE_COLUMN
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
        cells[raw.name] = frame[raw.name] if raw.kind == "text" else _numbers(messages, raw, table)
    return DataFrame(cells)


def _numbers(messages: Messages, raw: RawColumn, table: RawTable) -> Any:
    """The cells of a column of numbers as they are, for the model reads them; and a warning about what it cannot."""
    import numpy as np

    from .._input.column_types import DOUBTFUL, objects_of
    from .._model.cells import BLANK_NUMBERS, TRUTH, read_numbers, trimmed

    cells = objects_of(table.frame[raw.name])
    texts = {cell: trimmed(cell) for cell in cells if isinstance(cell, str)}
    comma = None if raw.cells is None else raw.cells.comma
    for sign, others, advice in (
        (",", (None, ""), "with points, or fit again with --decimal , which reads 1.5 and 1,5 alike"),
        (".", ("swap",), "as in the table of the fit, whose points stand between thousands"),
    ):
        if table.decimal == sign and comma in others and any(sign in text for text in texts.values()):
            known, found = ("points", "commas") if sign == "," else ("commas", "points")
            msg = f"{raw.name!r} has decimal {found} in {table.name}, but decimal {known} in the table of the fit."
            raise CommandError(f"{msg} Write its numbers {advice}.")
    if table.decimal == "." and comma == "." and any(DOUBTFUL[","].fullmatch(text) for text in texts.values()):
        messages.warn(
            f"{raw.name!r} has cells such as 1,234, which count as 1.234 as in the table of the fit, but {table.name} "
            "has decimal points. If the commas separate thousands, write numbers without them"
        )
    blanks = {text for text, small in texts.items() if small in BLANK_NUMBERS}
    if raw.cells is None:  # plain numbers, without units or separators
        plain = {text: None if text in blanks else TRUTH.get(small, text) for text, small in texts.items()}
        return np.array([plain[cell] if isinstance(cell, str) else cell for cell in cells], dtype=object)
    values = read_numbers(cells, raw.cells)[0]
    is_blank = np.array([cell is None or (isinstance(cell, str) and cell in blanks) for cell in cells], dtype=bool)
    rows = np.flatnonzero(np.isnan(values) & ~is_blank).tolist()
    if n := len(rows):
        what = "is not a number and counts" if n == 1 else "are not numbers and count"
        of_fit = f" in {raw.cells.unit}, the unit of the fit," if raw.cells.unit else ""
        what = what.replace("a number", "a date").replace("numbers", "dates") if raw.cells.since else what
        messages.warn(
            f"{plural(n, 'cell')} of {raw.name!r} {what.replace(' and', f'{of_fit} and')} as blank: {rows_text(rows)}"
        )
    return cells


def labels_for_model(predictor: Predictor, table: RawTable, target: str) -> tuple[Any, Any]:
    """Which rows have a class, and the classes of these, as the model writes them."""
    import numpy as np

    from .._input.column_checks import check_names
    from .._input.column_types import objects_of, text_column

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
    from .._input.column_types import objects_of
    from .._model.recipe import read_cells
    from ..export.program import Program

    program = Program.of(predictor)
    read = {c: read_cells(objects_of(X[program.columns[c].name]), program.columns[c]) for c in program.read}
    blank = [repr(program.columns[c].name) for c, cells in read.items() if cells.missing.all()]
    texts = [c for c in read if program.columns[c].kind == "text"]
    spreads = () if predictor.reference_ is None else predictor.reference_.columns
    levels = {spread.name: spread.levels for spread in spreads}  # also those that are no features of their own
    names = {c: program.columns[c].name for c in texts}
    foreign = [
        repr(name) for c, name in names.items() if _has_foreign_levels(program, c, read[c], levels.get(name, ()))
    ]
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


def _has_foreign_levels(program: Program, column: int, read: Cells, levels: Sequence[str]) -> bool:
    """Whether a text column seems to use other words; a few unknown rare levels are normal."""
    from .._model.recipe import LevelOf

    made = [f for f in program.features if isinstance(f, LevelOf) and f.column == column]
    known = {level for feature in made for level in feature.levels} | set(levels)
    cells = Counter(read.values[~read.missing].tolist())
    unknown = {level: n for level, n in cells.items() if level not in known}
    n_unnamed = len(made) == 1  # of two levels a recipe names one
    is_most = len(unknown) - n_unnamed >= UNKNOWN_SHARE * len(cells) > 0
    return is_most and sum(unknown.values()) > UNKNOWN_SHARE * cells.total()
