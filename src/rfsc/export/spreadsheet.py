"""A model as formulas of a spreadsheet (Excel, LibreOffice, Google Sheets): one row of cells.

A formula may have 8,192 characters. If one would be longer, scaled features and terms get cells of their own. Columns
that hold texts such as <0.5 or 12 mg/L are read in cells of their own, with NUMBERVALUE, whatever the language of the
program. An empty text looks like an empty cell, so it counts as missing. Spreadsheets refuse sines of huge numbers: if
a model has waves, rows beyond some ten million training ranges show an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._model.cells import ABOVE, BELOW, SAME_SIGNS, SMALL_LETTERS, CellFormat, trimmed
from .._model.recipe import LimitIn
from .._terms.expression import Expression
from .._terms.scaling import FAR
from .program import CodePrinter, Program, plain_label, refuse_dates

MAX_FORMULA = 8_192  # characters
MAX_TEXT = 255  # characters of a text within a formula
MAX_COLUMNS = 16_384
ROW = 2  # of all cells
LARGEST = 1e307  # number that a formula may hold
STEEP = 700.0  # exponentials overflow a little later
CONTROL = r"[\x00-\x1f\x7f]"
MAX_ARGUMENTS = 200  # of a function; Excel takes 254
LONGEST_NUMBER = 99  # characters of a text that is read as a number
NO_SEPARATOR = "¤"  # of groups of digits: no number has it


@dataclass(frozen=True, slots=True)
class SheetCell:
    """One cell of the row."""

    column: str  # letters
    heading: str
    formula: str  # begins with "="; empty if the user fills in a value


class Sheet(CodePrinter):
    """Expressions as formulas of a spreadsheet."""

    equals_sign = "="

    def number(self, value: float) -> str:
        """A constant with all its digits, of which Excel keeps fifteen."""
        return repr(float(value)).removesuffix(".0").replace("e", "E")

    def positive(self, part: Expression) -> str:
        return f"MAX({self.visit(part)},0)"

    def exp(self, part: Expression) -> str:
        return f"EXP(MAX({self.visit(part)},{-STEEP:g}))"

    def ramp(self, part: Expression) -> str:
        return f"(1/(1+EXP(MIN(-{self.operand(part)},{STEEP:g}))))"

    def wave(self, kind: str, part: Expression) -> str:
        return f"{kind.upper()}({self.visit(part)})"

    def choose(self, condition: str, *, flipped: bool = False) -> str:
        return f"IF({condition},{'0,1' if flipped else '1,0'})"

    def is_missing(self, cell: str, kind: str) -> str:  # noqa: ARG002
        return f'{cell}=""'

    def filled(self, cell: str, fill: float) -> str:
        return f'IF({cell}="",{self.number(fill)},{cell})'

    def clipped(self, x: str, half_minimum: float, half_span: float) -> str:
        """(x / 2 - half_minimum) / half_span within FAR, clipped before it is divided."""
        text, far = self.less(f"{x}/2", half_minimum), FAR * half_span
        # nothing is that far away if the range itself is huge
        inside = f"MAX(MIN({text},{self.number(far)}),{self.number(-far)})" if far < LARGEST else f"({text})"
        return f"({inside}/{self.number(half_span)})"

    def is_limit(self, cell: str, *, above: bool) -> str:
        """`cell` holds the trimmed text, and the number in it stands two cells further right."""
        from openpyxl.utils import column_index_from_string

        number = _address(column_index_from_string(cell.removesuffix(str(ROW))) + 2)
        signs = ",".join(f'LEFT({cell},1)="{sign}"' for sign in (ABOVE if above else BELOW))
        return f"AND(ISNUMBER({number}),OR({signs}))"

    def trimmed(self, cell: str, letters: str) -> str:
        """A text in small letters, as far as these letters matter, with single spaces."""
        text = f'SUBSTITUTE({cell},UNICHAR(160)," ")'
        for letter, low in SMALL_LETTERS.items():
            if low in letters and not low.isascii():
                text = f"SUBSTITUTE({text},UNICHAR({ord(letter)}),UNICHAR({ord(low)}))"
        return f"LOWER(TRIM(CLEAN({text})))"

    def bare(self, text: str, unit: str, form: CellFormat) -> str:
        """A trimmed text without the sign of a limit and the unit, with points, and apostrophes between thousands."""
        one = ",".join(f'LEFT({text},1)="{sign}"' for sign in BELOW + ABOVE)
        sign = f'IF(OR(LEFT({text},2)="<=",LEFT({text},2)=">="),2,IF(OR({one}),1,0))'
        end = f"-IF(RIGHT({text},{len(unit)})={_text(unit)},{len(unit)},0)" if unit else ""
        out = f"TRIM(MID({text},1+{sign},MAX(0,LEN({text})-{sign}{end})))"
        if unit:
            out = f"TRIM(MID({out},1+IF(LEFT({out},{len(unit)})={_text(unit)},{len(unit)},0),LEN({text})))"
        for sign in form.separators.replace("'", ""):
            out = f'SUBSTITUTE({out},"{sign}","\'")'
        return f'SUBSTITUTE({out},",",".")' if form.has_decimal_comma else out

    def measured(self, cell: str, text: str, digits: str) -> str:
        """The number in a cell, its trimmed text, or what `bare` left of that; empty if there is none."""
        first, places = f"LEFT({digits},1)", f"ROW($2:${LONGEST_NUMBER})"
        rest = f'SUBSTITUTE(SUBSTITUTE({digits},"e-","e"),"e+","e")'
        letters = f'MID({rest}&REPT("0",{LONGEST_NUMBER}),{places},1)'
        conditions = [
            f'{digits}<>""',
            f'ISNUMBER(FIND({first},"0123456789.+-"))',
            f"LEN({digits})<{LONGEST_NUMBER}",
            _grouped(digits),
            f'SUMPRODUCT(--ISERROR(FIND({letters},"0123456789.\'e")))=0',
        ]
        value = f'NUMBERVALUE(SUBSTITUTE({digits},"\'",""),".","{NO_SEPARATOR}")'
        number = f'IF(AND({",".join(conditions)}),IFERROR({value},""),"")'
        truth = f'IF(EXACT({text},"true"),1,IF(EXACT({text},"false"),0,{number}))'
        return f"IF(ISNUMBER({cell}),{cell},{truth})"

    def is_one_of(self, cell: str, levels: list[str | float]) -> str:
        tests = []
        for level in levels:
            if isinstance(level, float):
                tests.append(f"AND(ISNUMBER({cell}),{cell}={self.number(level)})")
            elif level:  # an empty cell is a missing one
                tests.append(f"EXACT({cell},{_text(level)})")  # = would not tell "a" from "A"
        return self.any_of(tests)

    def any_of(self, conditions: list[str]) -> str:
        if len(conditions) > MAX_ARGUMENTS:
            starts = range(0, len(conditions), MAX_ARGUMENTS)
            return self.any_of([self.any_of(conditions[i : i + MAX_ARGUMENTS]) for i in starts])
        return f"OR({','.join(conditions)})" if len(conditions) > 1 else "".join(conditions) or "FALSE"


def sheet_cells(source: Any) -> list[SheetCell]:
    """The cells from A on: columns to fill in, then helper cells, formulas, probabilities and the class."""
    program = Program.of(source)
    refuse_dates(program, "a spreadsheet")
    for helpers in (False, True):
        layout = _Layout(program)
        layout.fill(helpers=helpers)
        longest = max(layout.cells, key=lambda cell: len(cell.formula))
        if len(longest.formula) <= MAX_FORMULA:
            return layout.cells
    msg = (
        f"the formula for {longest.heading!r} has {len(longest.formula):,} characters, but a spreadsheet takes "
        f"{MAX_FORMULA:,}. Fit a smaller model (max_terms), or export it as SQL, Python or C."
    )
    raise ValueError(msg)


class _Layout:
    """Cells from left to right; each knows those before it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.cells: list[SheetCell] = []
        self.inputs = {j: self.put(program.columns[j].name, "") for j in program.read}
        self.signs: dict[int, str] = {}  # cells with the trimmed text of a column of numbers

    def put(self, heading: str, formula: str) -> str:
        """Add a formula, or a cell to fill in; gives its address."""
        address = _address(len(self.cells) + 1)
        self.cells.append(SheetCell(address.removesuffix(str(ROW)), heading, formula and f"={formula}"))
        return address

    def fill(self, *, helpers: bool) -> None:
        """All formulas; with helpers, scaled features and terms in cells of their own."""
        program = self.program
        sheet, columns = Sheet({}), {p: program.features[p].column for p in program.features_used}
        self.read(sheet)
        made = {p: self.signs if isinstance(program.features[p], LimitIn) else self.inputs for p in columns}
        texts = {p: sheet.scaled_feature(program, p, made[p][column]) for p, column in columns.items()}
        if helpers:
            for p, column in columns.items():
                needed = [self.inputs[column]] if program.may_be_missing(p) else []
                texts[p] = self.put(f"scaled {program.feature_names[p]}", self.unless_missing(needed, texts[p]))
        printer = Sheet(texts)
        formulas = [self.formula(printer, k, helpers=helpers) for k in range(len(program.models))]
        labels = [plain_label(label) for label in program.classes]
        names = ["decision"] if len(formulas) == 1 else [f"decision {label}" for label in labels]
        decisions = [self.put(name, text) for name, text in zip(names, formulas, strict=True)]
        if len(decisions) == 1:
            f = decisions[0]
            for label, sign in zip(labels, ("", "-"), strict=True):
                self.put(f"probability {label}", f'IF({f}="","",1/(1+EXP(MIN({sign}{f},{STEEP:g}))))')
            self.put("predicted", f'IF({f}="","",IF({f}>0,{_label(labels[1])},{_label(labels[0])}))')
        else:
            self.several(decisions, labels)

    def read(self, sheet: Sheet) -> None:
        """Cells that read the columns whose cells are texts; these then stand for the columns."""
        for j, cell in self.inputs.items():
            raw = self.program.columns[j]
            if raw.cells is None:
                continue
            unit = trimmed(raw.cells.unit)
            if raw.kind == "text":
                self.inputs[j] = self.put(
                    f"{raw.name} (level)", sheet.trimmed(cell, "".join(self.program.levels_of(j)))
                )
                words = [word for word in raw.cells.blanks if word]
                if words and self.program.reads_blanks(j):
                    is_blank = ",".join(f"{self.inputs[j]}={_text(word)}" for word in words)
                    self.inputs[j] = self.put(f"{raw.name} (known)", f'IF(OR({is_blank}),"",{self.inputs[j]})')
                continue
            text = sheet.trimmed(cell, unit)
            for letter, typed in SAME_SIGNS.items():
                text = f'SUBSTITUTE({text},UNICHAR({ord(letter)}),"{typed}")'
            self.signs[j] = self.put(f"{raw.name} (text)", text)
            rest = self.put(f"{raw.name} (digits)", sheet.bare(self.signs[j], unit, raw.cells))
            self.inputs[j] = self.put(f"{raw.name} (number)", sheet.measured(cell, self.signs[j], rest))

    def formula(self, printer: Sheet, output: int, *, helpers: bool) -> str:
        """One output; empty if a number that it needs is missing."""
        program = self.program
        needed = [self.inputs[j] for j in program.required_by(output)]
        if not helpers:
            return self.unless_missing(needed, " ".join(printer.output(program, output)))
        label = plain_label(program.output_labels[output])
        addresses = [
            self.put(f"{label}: {name}", self.unless_missing(needed, printer.visit(part)))
            for name, part in zip(program.models[output].names, program.weighted_terms(output), strict=True)
        ]
        return self.unless_missing(needed, f"SUM({addresses[0]}:{addresses[-1]})" if addresses else "0")

    def unless_missing(self, needed: list[str], text: str) -> str:
        """A formula that stays empty unless all the cells that it needs hold numbers."""
        if not needed:
            return text
        blocks = [needed[i : i + MAX_ARGUMENTS] for i in range(0, len(needed), MAX_ARGUMENTS)]
        count = "+".join(f"COUNT({','.join(block)})" for block in blocks)
        return f'IF({count}<{len(needed)},"",{text})'

    def several(self, decisions: list[str], labels: list[str | float]) -> None:
        """Probabilities and class of three and more classes; in logarithms, as all formulas may be far below zero."""
        span, n = f"{decisions[0]}:{decisions[-1]}", len(decisions)
        logs = [
            self.put(f"log sigmoid {label}", f'IF({f}="","",MIN({f},0)-LN(1+EXP(-MIN(ABS({f}),{STEEP:g}))))')
            for f, label in zip(decisions, labels, strict=True)
        ]
        for log, label in zip(logs, labels, strict=True):
            total = "+".join(f"EXP(MIN({other}-{log},{STEEP:g}))" for other in logs)
            self.put(f"probability {label}", f'IF(COUNT({span})<{n},"",1/({total}))')
        names = ",".join(map(_label, labels))
        self.put("predicted", f'IF(COUNT({span})<{n},"",CHOOSE(MATCH(MAX({span}),{span},0),{names}))')


def _address(column: int) -> str:
    """The cell of the row in a column, of which A is 1."""
    from openpyxl.utils import get_column_letter

    if column > MAX_COLUMNS:
        msg = f"a spreadsheet has {MAX_COLUMNS:,} columns, and the model needs more. Export it as SQL, Python or C."
        raise ValueError(msg)
    return f"{get_column_letter(column)}{ROW}"


def _grouped(text: str) -> str:
    """The condition that every apostrophe of a text separates thousands."""
    end, places = f'FIND(".",{text}&".")', f"ROW($1:${LONGEST_NUMBER})"
    start = f'IF(OR(LEFT({text},1)="-",LEFT({text},1)="+"),2,1)'
    is_sign, is_due = f'MID({text},{places},1)="\'"', f"(MOD({end}-{places},4)=0)*({places}<{end})*({places}>{start})"
    in_place = f"SUMPRODUCT(--(({is_sign})*1<>{is_due}))=0"
    no_more = f'ISERROR(FIND("e",{text})),MID({text},{start},1)<>"0"'
    return f'OR(ISERROR(FIND("\'",{text})),AND({in_place},{no_more}))'


def _text(text: str) -> str:
    """A text in double quotes, in pieces if it is long; tabs and line ends by number."""
    pieces = re.findall(f"{CONTROL}|(?:(?!{CONTROL}).){{1,{MAX_TEXT}}}", text, re.DOTALL) or [""]
    return "&".join(
        f"CHAR({ord(piece)})" if re.fullmatch(CONTROL, piece) else '"' + piece.replace('"', '""') + '"'
        for piece in pieces
    )


def _label(label: str | float) -> str:
    """A class as a value of a cell."""
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    return _text(label) if isinstance(label, str) else Sheet({}).number(label)
