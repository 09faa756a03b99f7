"""A model as a workbook: a sheet to fill in, and a sheet with the formulas that it reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .._model.access import as_predictor
from .._utils.files import whole_file
from .._utils.optional import require
from ..explain import equation
from .calculator import Field, about, class_names, fields_of, title_of
from .program import Program
from .spreadsheet import ROW, Sheet, SheetCell, sheet_cells

FIRST = 4  # row of the first field
LEVELS = 4  # row of the first level of each field
LATER_FUNCTION = re.compile(r"\b(NUMBERVALUE|UNICHAR)\(")
MAX_PROMPT = 255  # characters of a message of Excel
TINT, LINE, SOFT, CAUTION = "FFF5DD", "8A96A6", "505C6D", "8A5A00"


def to_xlsx(source: Any, path: str | Path) -> Path:
    """Write a model as a workbook with a calculator, for Excel, LibreOffice or Google Sheets in any language.

    The sheet "Calculator" has a cell for each raw column that the model reads, with its training range, a list of the
    levels and a warning of values that the model has not seen, and shows the probability of every class and the class.
    The sheet "Model" holds the formulas in double precision, and the equation.

    Parameters
    ----------
    source : SparseModel, RFSCClassifier, Pipeline or Predictor
        What to write. If it carries its preprocessing, the workbook asks for the raw columns.
    path : str or Path
        Where to write; an existing file is replaced as a whole or not at all.

    Returns
    -------
    Path
        The file.
    """
    path, book = Path(path), workbook(source)
    with whole_file(path) as part:
        book.save(part)
    return path


def _in_file(formula: str) -> str:
    """A formula as files hold it: functions of later versions have a prefix, but not within a text."""
    parts = formula.split('"')
    parts[::2] = [LATER_FUNCTION.sub(r"_xlfn.\1(", part) for part in parts[::2]]
    return '"'.join(parts)


def workbook(source: Any) -> Any:
    """The workbook, not written yet."""
    require("A workbook", ["openpyxl"], "xlsx")
    from openpyxl import Workbook

    predictor, program = as_predictor(source), Program.of(source)
    fields = fields_of(predictor)
    cells = sheet_cells(predictor)
    book = Workbook()
    form, model = book.active, book.create_sheet("Model")
    form.title = "Calculator"
    for i, cell in enumerate(cells):
        write(model, f"{cell.column}1", cell.heading, bold=True)
        # an empty cell would arrive as 0
        model[f"{cell.column}{ROW}"] = (
            _in_file(cell.formula) or f'=IF(Calculator!B{FIRST + i}="","",Calculator!B{FIRST + i})'
        )
    write(form, "A1", title_of(predictor), bold=True, size=16)
    write(form, "A2", "Enter values in the tinted cells.", color=SOFT)
    for row, (field, cell) in enumerate(zip(fields, cells, strict=False), start=FIRST):
        _put_field(form, row, field, _put_levels(model, cell.column, field))
    _put_answer(form, FIRST + len(fields) + 1, class_names(predictor), cells)
    equations = [f"{m.label}: {equation(predictor, label=m.label)}" for m in program.models]
    for text in ("", *equations, *about(predictor, program)):
        write(model, f"A{model.max_row + 1}", text)
    for letter, width in (("A", 30), ("B", 18), ("C", 62), ("D", 48)):
        form.column_dimensions[letter].width = width
    form.sheet_view.showGridLines = False
    form.protection.sheet = True  # without a password: only against slips of the hand
    return book


def write(sheet: Any, place: str, text: str, *, bold: bool = False, size: int = 11, color: str | None = None) -> None:
    """Write a text that is no formula, whatever it begins with."""
    from openpyxl.styles import Font

    sheet[place].value = "".join(letter if letter.isprintable() else " " for letter in text)
    sheet[place].data_type = "s"
    sheet[place].font = Font(bold=bold, size=size, color=color)


def _listed(field: Field) -> list[str | float]:
    """Levels that can be chosen from a list: an empty text is a missing one, and nobody can type a line end."""
    return [x for x in field.levels or () if not isinstance(x, str) or (x != "" and x.isprintable())]


def _put_levels(model: Any, letters: str, field: Field) -> str:
    """List the levels of a field below its cell; gives the range of the list, empty without levels."""
    levels = _listed(field)
    for row, level in enumerate(levels, start=LEVELS):
        if isinstance(level, str):
            write(model, f"{letters}{row}", level)
        else:
            model[f"{letters}{row}"] = level
    return f"Model!${letters}${LEVELS}:${letters}${LEVELS + len(levels) - 1}" if levels else ""


def _put_field(form: Any, row: int, field: Field, levels: str) -> None:
    """A name, a cell to fill in, what to know about it, and a warning."""
    from openpyxl.styles import Alignment, Border, Font, PatternFill, Protection, Side

    cell, hint = form[f"B{row}"], (f"Training range: {field.range}. " if field.range else "") + field.missing
    write(form, f"A{row}", field.name, bold=True)
    write(form, f"C{row}", hint, color=SOFT)
    form[f"C{row}"].alignment = Alignment(wrap_text=True, vertical="top")
    cell.fill, cell.protection = PatternFill("solid", TINT), Protection(locked=False)
    cell.border = Border(*[Side(style="thin", color=LINE)] * 4)
    if field.levels and isinstance(field.levels[0], str):
        cell.number_format = "@"  # else a level such as 007 would become a number
    doubt = "Outside of the training range: the result is extrapolated."
    doubt = doubt if field.levels is None else "Not one of the levels of the training table."
    _limit(form, cell, field, levels, hint, doubt)
    lacking = "Enter a value." if field.needed else ""
    form[f"D{row}"] = f'=IF(B{row}="","{lacking}",{_check(f"B{row}", field, levels, doubt)})'
    form[f"D{row}"].font = Font(color=CAUTION)


def _limit(form: Any, cell: Any, field: Field, levels: str, hint: str, doubt: str) -> None:
    """The values that a cell takes without a question: a list of levels, or the training range."""
    from openpyxl.worksheet.datavalidation import DataValidation

    if field.low is not None:
        rule = DataValidation("decimal", operator="between", formula1=repr(field.low), formula2=repr(field.high))
    elif levels:
        rule = DataValidation("list", formula1=levels)
    else:
        return
    rule.errorStyle = "stop" if field.levels and field.another is None else "warning"
    rule.allow_blank, rule.error, rule.prompt = True, doubt, hint[:MAX_PROMPT]
    rule.showErrorMessage = rule.showInputMessage = True
    rule.add(cell)
    form.add_data_validation(rule)


def _check(place: str, field: Field, levels: str, doubt: str) -> str:
    """The formula of a warning about a cell that is not empty."""
    if field.levels is not None:
        return f'IF(SUMPRODUCT(--EXACT({place},{levels}))>0,"","{doubt}")' if levels else '""'
    inside, number = '""', Sheet({}).number
    if isinstance(field.low, float) and isinstance(field.high, float):
        inside = f'IF(OR({place}<{number(field.low)},{place}>{number(field.high)}),"{doubt}","")'
    return f'IF(ISNUMBER({place}),{inside},"Text: counts as missing unless it is a number.")'


def _put_answer(form: Any, row: int, names: list[str], cells: list[SheetCell]) -> None:
    """Probabilities and class, read from the other sheet."""
    from openpyxl.styles import Font

    headings = [*(f"Probability of “{name}”" for name in names), "Predicted class"]
    for i, (heading, cell) in enumerate(zip(headings, cells[-len(headings) :], strict=True), start=row):
        write(form, f"A{i}", heading, bold=True, size=13)
        form[f"B{i}"] = f"=Model!{cell.column}{ROW}"
        form[f"B{i}"].number_format, form[f"B{i}"].font = "0.0%", Font(bold=True, size=13)
