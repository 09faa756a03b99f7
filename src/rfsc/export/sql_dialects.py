"""How three databases write the same formulas: names, literals, NULL, and what they refuse.

SQLite and DuckDB compute as Python does. PostgreSQL stops the whole query if a product, a quotient or an exponential of
doubles overflows or vanishes, so it is given formulas that never do: see `PostgreSQL`.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase

from .._model.cells import (
    ABOVE,
    BELOW,
    DATE,
    LIMIT,
    SAME_SIGNS,
    TRUTH,
    CellFormat,
    capitals_of,
    trimmed,
)
from .._terms.expression import Condition, Divided, Expression, Number, Positive, Scaled, Sum, Wave, bare
from .._terms.scaling import FAR
from .program import CodePrinter, Program, writable

LARGEST = math.nextafter(math.inf, 0.0)
SMALLEST = math.nextafter(0.0, 1.0)
QUOTE = "''''"  # an apostrophe as a text
RELATIVE = 2.0**-54  # two doubles that differ do so by at least this share of either


class SQLite(CodePrinter):
    """SQLite, and what all dialects share. Column j of the table is ``c<j>``, feature p ``x<p>``, scaled ``s<p>``."""

    double, text, equals_sign = "REAL", "TEXT", "="
    either, never, missing = "OR", "1 = 0", "IS NULL"
    character = "char"  # the function that gives a character by its number
    greatest, least = "max", "min"
    one, zero = "1.0", "0.0"
    longest_name: int | None = None  # bytes
    most_capitals = 10  # that one step replaces: the parser allows only so many brackets within each other
    fence = "\nLIMIT -1 OFFSET 0"  # keeps the planner from repeating a step wherever a later one mentions it

    def __init__(self, program: Program) -> None:
        super().__init__({p: f"s{p}" for p in program.features_used})
        self.program = program

    def identifier(self, name: str) -> str:
        """A name in double quotes."""
        if not name:
            msg = "a column or table has an empty name, which SQL cannot write. Rename it."
            raise ValueError(msg)
        return '"' + writable(name, "SQL").replace('"', '""') + '"'

    def literal(self, value: str | float) -> str:
        """A text, a number or a truth value."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return "'" + writable(value, "SQL").replace("'", "''") + "'"
        return str(value) if isinstance(value, int) else self.number(value)

    def read_number(self, column: str, *, needed: bool) -> str:
        """A column of plain numbers as doubles, NULL if a cell is missing."""
        # an imported file holds texts: of those that are no numbers the beginning would be read, or 0
        text = f"trim({column})"
        no_number = f"{text} GLOB '*[^-+.0-9eE]*' OR CAST({text} AS NUMERIC) <> {text}"
        # where NULL would be filled in, only an overflow stops a query that cannot be right
        then = "NULL" if needed else f"CASE WHEN {text} <> '' THEN abs(-9223372036854775807 - 1) END"
        return f"CASE WHEN typeof({column}) = 'text' AND ({no_number}) THEN {then} ELSE CAST({column} AS REAL) END"

    def read_text(self, column: str) -> str:
        """A column as texts."""
        return f"CAST({column} AS {self.text})"

    def reading(self, j: int, column: str) -> list[dict[str, str]]:
        """Steps, each by the names of its results, that read a column: ``c<j>``, and ``l<j>`` for signs of limits."""
        raw = self.program.columns[j]
        if raw.cells is None and raw.kind == "text":
            return [{f"c{j}": self.read_text(column)}]
        if raw.cells is None:
            return [{f"c{j}": self.read_number(column, needed=j in self.program.required)}]
        if raw.cells.since:
            return self.days(j, column, raw.cells)
        if raw.kind == "number":
            steps = self.measured(j, column, raw.cells)
            if self.program.reads_limits(j):
                first = f"substr(t{j}, 1, 1)"
                signs = [f"WHEN {first} IN ('{both[0]}', '{both[1]}') THEN '{both[0]}'" for both in (BELOW, ABOVE)]
                steps[1][f"l{j}"] = f"CASE {' '.join(signs)} END"
                for step in steps[2:]:
                    step[f"l{j}"] = f"l{j}"
            return steps
        levels = self.program.levels_of(j)
        capitals, t = list(capitals_of("".join(levels)).items()), f"t{j}"
        steps = [{t: self.trimmed(self.level_text(column, levels), dict(capitals[: self.most_capitals]))}]
        for k in range(self.most_capitals, len(capitals), self.most_capitals):
            steps.append({t: self.small(t, dict(capitals[k : k + self.most_capitals]))})
        if any(" " in level for level in levels):
            steps[-1][t] = self.single_spaced(steps[-1][t])
        if not self.program.reads_blanks(j):
            steps[-1][f"c{j}"] = steps[-1].pop(t)
            return steps
        blanks = ", ".join(map(self.literal, raw.cells.blanks))
        return [*steps, {f"c{j}": f"CASE WHEN {t} NOT IN ({blanks}) THEN {t} END"}]

    def level_text(self, column: str, levels: Sequence[str]) -> str:
        """A column as texts, whole numbers without a point; truth values are stored as 1 and 0."""
        whole = f"typeof({column}) = 'real' AND {column} = CAST({column} AS INTEGER)"
        text = f"CASE WHEN {whole} THEN CAST({column} AS INTEGER) ELSE {self.read_text(column)} END"
        if {"true", "false"} & {*levels} and not {"0", "1"} & {*levels}:
            truth = f"typeof({column}) IN ('integer', 'real') AND {column} IN (0, 1)"
            return f"CASE WHEN {truth} THEN CASE {column} WHEN 1 THEN 'true' ELSE 'false' END ELSE {text} END"
        return text

    def trimmed(self, text: str, capitals: dict[str, str]) -> str:
        """A text in small letters without spaces around it."""
        char = self.character
        inside = f"replace({text}, {char}(160), ' ')"
        return self.small(f"trim({inside}, ' ' || {char}(9) || {char}(10) || {char}(13))", capitals)

    def small(self, text: str, capitals: dict[str, str]) -> str:
        """A text in small letters; those that are not ASCII are given."""
        out = f"lower({text})"
        for letter, low in capitals.items():
            out = f"replace({out}, {self.literal(letter)}, {self.literal(low)})"
        return out

    def single_spaced(self, text: str) -> str:
        """A text with single spaces between its words."""
        mark = f"{self.character}(1)"
        return f"replace(replace(replace({text}, ' ', ' ' || {mark}), {mark} || ' ', ''), {mark}, '')"

    def measured(self, j: int, column: str, form: CellFormat) -> list[dict[str, str]]:
        """Steps that read numbers as laboratories write them; the first gives the trimmed text ``t<j>``."""
        unit, t, n, u = trimmed(form.unit), f"t{j}", f"n{j}", f"u{j}"
        text = self.trimmed(column, capitals_of(unit) | SAME_SIGNS)
        is_number = f"typeof({column}) IN ('integer', 'real')"  # as text they would have fifteen digits
        truth = " ".join(f"WHEN {t} = '{word}' THEN {value}" for word, value in TRUTH.items())
        rest = [f"WHEN substr({t}, 1, {k}) IN ({{}}) THEN ltrim(substr({t}, {k + 1}), ' ')" for k in (2, 1)]
        signs = [", ".join(f"'{sign}'" for sign in signs) for signs in (("<=", ">="), BELOW + ABOVE)]
        without = " ".join(part.format(some) for part, some in zip(rest, signs, strict=True))
        before, behind = (
            f"{len(unit)} * (substr({n}, {place}) = {self.literal(unit)})" for place in (f"1, {len(unit)}", -len(unit))
        )
        digits = f"trim(substr({n}, 1 + {before}, max(0, length({n}) - {before} - {behind})), ' ')" if unit else n
        digits = self.single_spaced(digits)
        for sign in form.separators.replace("'", ""):
            digits = f"replace({digits}, '{sign}', {QUOTE})"
        digits = f"replace({digits}, ',', '.')" if form.has_decimal_comma else digits
        whole = f"ltrim(substr({u}, 1, instr({u} || '.', '.') - 1), '+-')"
        thousands = f"printf('%,d', CAST(replace({whole}, {QUOTE}, '') AS INTEGER)) = replace({whole}, {QUOTE}, ',')"
        grouped = f"WHEN {thousands} AND {u} NOT GLOB '*[e.]*[''e]*' THEN replace({u}, {QUOTE}, '')"
        # a text equals the number made of it only if it is written as one, but for spaces of all kinds around it
        is_one = f"CAST({n} AS NUMERIC) = {n} AND {n} NOT GLOB '*[^-+.0-9e]*'"
        return [
            {t: f"CASE WHEN {is_number} THEN {column} ELSE {text} END"},
            {n: f"CASE {truth} {without} ELSE {t} END"},
            {u: f"CASE WHEN typeof({n}) = 'text' THEN {digits} ELSE {n} END"},
            {n: f"CASE WHEN typeof({u}) <> 'text' OR instr({u}, {QUOTE}) = 0 THEN {u} {grouped} END"},
            {f"c{j}": f"CASE WHEN {is_one} AND abs({n}) <= {LARGEST!r} THEN CAST({n} AS REAL) END"},
        ]

    def days(self, j: int, column: str, form: CellFormat) -> list[dict[str, str]]:
        """Steps that read dates as days since the first of them."""
        t, a, b, c, rest = (f"{letter}{j}" for letter in "tabgr")
        day, month = a, b
        if form.month_first:  # where there are points the day is first
            is_pointed = f"substr(ltrim({t}, '0123456789'), 1, 1) = '.'"
            day, month = (f"CASE WHEN {is_pointed} THEN {x} ELSE {y} END" for x, y in ((a, b), (b, a)))
        short = [f"length({part}) BETWEEN 1 AND 2" for part in (a, b, c)]
        first = f"length({a}) = 4 AND {short[2]} THEN printf('%04d-%02d-%02d', {a}, {b}, {c})"
        last = f"length({c}) = 4 AND {short[0]} THEN printf('%04d-%02d-%02d', {c}, {month}, {day})"
        are_digits = f"{a} || {b} || {c} NOT GLOB '*[^0-9]*' AND {short[1]}"
        before_time = f"substr({t}, 1, instr(replace({t}, 't', ' ') || ' ', ' ') - 1)"
        head, tail = f"substr({rest}, 1, instr({rest}, '-') - 1)", f"substr({rest}, instr({rest}, '-') + 1)"
        is_date = f"date({a}, '+0 days') = {a} AND {a} > '0001'"
        return [
            {t: self.trimmed(self.read_text(column), {})},
            {t: t, rest: f"replace(replace({before_time}, '/', '-'), '.', '-')"},
            {t: t, a: head, rest: tail},
            {t: t, a: a, b: head, c: tail},
            {a: f"CASE WHEN {are_digits} THEN CASE WHEN {first} WHEN {last} END END"},
            {f"c{j}": f"CASE WHEN {is_date} THEN julianday({a}) - julianday('{form.since}') END"},
        ]

    def is_limit(self, cell: str, *, above: bool) -> str:
        return f"{cell} IS NOT NULL AND l{cell[1:]} = '{'>' if above else '<'}'"

    def is_one_of(self, cell: str, levels: list[str | float]) -> str:
        # whatever the collation of the column
        return f"{cell} COLLATE BINARY IN ({', '.join(map(self.literal, levels))})"

    def filled(self, cell: str, fill: float) -> str:
        return f"COALESCE({cell}, {self.number(fill)})"

    def scaled_column(self, p: int, x: str) -> str:
        """A feature, already made, on [0, 1]; NULL if it is missing."""
        if self.program.is_indicator(p):
            return x
        half_minimum, half_span = self.program.half_range(p)
        return self.clipped(x, half_minimum, half_span, gaps=self.program.may_be_missing(p))

    def clipped(self, x: str, half_minimum: float, half_span: float, *, gaps: bool = False) -> str:  # noqa: ARG002
        """(x / 2 - half_minimum) / half_span within FAR, clipped before it is divided; with gaps, NULL if x is."""
        far = min(FAR * half_span, LARGEST)
        inside = f"{self.least}({self.less(f'{x} / 2.0', half_minimum)}, {self.number(far)})"
        return f"{self.greatest}({inside}, {self.number(-far)}) / {self.number(half_span)}"

    def exp(self, part: Expression) -> str:
        return self.exponential(self.visit(part))

    def exponential(self, text: str) -> str:
        """The exponential of what is never above zero."""
        return f"exp({text})"

    def ramp(self, part: Expression) -> str:
        return self.sigmoid(f"-{self.operand(part)}")

    def sigmoid(self, minus: str) -> str:
        """1 / (1 + exp(minus)), in brackets."""
        return f"(1.0 / (1.0 + exp({minus})))"

    def unless_null(self, value: str, text: str) -> str:  # noqa: ARG002  see PostgreSQL
        """A text that is NULL if a value is, as most are by themselves."""
        return text

    def choose(self, condition: str, *, flipped: bool = False) -> str:
        yes, no = (self.zero, self.one) if flipped else (self.one, self.zero)
        return f"CASE WHEN {condition} THEN {yes} ELSE {no} END"


class DuckDB(SQLite):
    """DuckDB: numbers without an exponent would be decimals; the greatest of NULL and 1 is 1."""

    double, text, character = "DOUBLE", "VARCHAR", "chr"
    greatest, least = "greatest", "least"
    most_capitals = sys.maxsize
    fence = ""

    def number(self, value: float) -> str:
        text = repr(float(value))
        return text if "e" in text else f"{text}e0"

    def read_number(self, column: str, *, needed: bool) -> str:  # noqa: ARG002  a text that is no number is an error
        return f"NULLIF(CAST({column} AS {self.double}), CAST('NaN' AS {self.double}))"

    def level_text(self, column: str, levels: Sequence[str]) -> str:  # noqa: ARG002  there are truth values
        text = self.read_text(column)
        is_number = f"typeof({column}) IN ('DOUBLE', 'FLOAT')"
        return f"CASE WHEN {is_number} THEN regexp_replace({text}, '[.]0$', '') ELSE {text} END"

    def small(self, text: str, capitals: dict[str, str]) -> str:
        # no lower(): what it makes of other letters than these depends on the database and its settings
        pairs = dict(zip(ascii_uppercase, ascii_lowercase, strict=True)) | capitals
        return f"translate({text}, {self.literal(''.join(pairs))}, {self.literal(''.join(pairs.values()))})"

    def measured(self, j: int, column: str, form: CellFormat) -> list[dict[str, str]]:
        t = f"t{j}"
        text = self.trimmed(self.read_text(column), capitals_of(trimmed(form.unit)) | SAME_SIGNS)
        return [{t: text}, *self.as_number(j, self.number_in(t, form))]

    def number_in(self, t: str, form: CellFormat) -> str:
        """The digits of a number as laboratories write it; no number if there is none."""
        unit = re.escape(trimmed(form.unit))
        before, behind = (f"(?:{unit} *)?", f"(?: *{unit})?") if unit else ("", "")
        found = self.group(t, f"^(?:(?:{LIMIT}) *)?{before}({form.pattern}){behind}$", 1)
        digits = f"translate({found}, {self.literal(form.separators)}, '')"
        digits = f"replace({digits}, ',', '.')" if form.has_decimal_comma else digits
        truth = " ".join(f"WHEN '{word}' THEN '{value:g}'" for word, value in TRUTH.items())
        return f"CASE {t} {truth} ELSE {digits} END"

    def group(self, text: str, pattern: str, k: int) -> str:
        """What brackets of a regular expression have found; nothing, which is no number, without a match."""
        return f"regexp_extract({text}, {self.literal(pattern)}, {k})"

    def days(self, j: int, column: str, form: CellFormat) -> list[dict[str, str]]:
        t, y, m, d = (f"{letter}{j}" for letter in "tymd")

        def part(*places: int) -> str:
            found = ", ".join(f"NULLIF({self.group(t, f'^{DATE.pattern}', k)}, '')" for k in places)
            return f"CAST(COALESCE({found}) AS INTEGER)"

        month, day = part(2, 6), part(3, 4)
        if form.month_first:
            swaps = f"{self.group(t, f'^{DATE.pattern}', 5)} IN ('/', '-')"
            swapped = ((part(4), month), (part(6), day))
            month, day = (f"CASE WHEN {swaps} THEN {one} ELSE {two} END" for one, two in swapped)
        leap = f"{y} % 4 = 0 AND ({y} % 100 <> 0 OR {y} % 400 = 0)"
        last = f"CASE WHEN {m} IN (4, 6, 9, 11) THEN 30 WHEN {m} <> 2 THEN 31 WHEN {leap} THEN 29 ELSE 28 END"
        is_date = f"{y} > 0 AND {m} BETWEEN 1 AND 12 AND {d} BETWEEN 1 AND {last}"
        since = f"CAST('{form.since}' AS DATE)"
        return [
            {t: self.trimmed(self.read_text(column), {})},
            {y: part(1, 7), m: month, d: day},
            {f"c{j}": f"CASE WHEN {is_date} THEN CAST(make_date({y}, {m}, {d}) - {since} AS {self.double}) END"},
        ]

    def as_number(self, j: int, text: str) -> list[dict[str, str]]:
        """Steps that turn a text into a finite double, NULL if it is none."""
        number = f"TRY_CAST({text} AS DOUBLE)"
        return [{f"n{j}": number}, {f"c{j}": f"CASE WHEN isfinite(n{j}) THEN n{j} END"}]

    def is_one_of(self, cell: str, levels: list[str | float]) -> str:
        return f"{cell} IN ({', '.join(map(self.literal, levels))})"

    def clipped(self, x: str, half_minimum: float, half_span: float, *, gaps: bool = False) -> str:
        text = super().clipped(x, half_minimum, half_span, gaps=gaps)
        return f"CASE WHEN {x} IS NOT NULL THEN {text} END" if gaps else text


class PostgreSQL(DuckDB):
    """PostgreSQL, where arithmetic that overflows or vanishes is an error.

    Here a scaled feature is zero or at least NEAR away from it (its sign is kept, because a step may stand at zero),
    exponentials end at exp(SMALL), and a product that could become too small is set to zero before it is multiplied
    out. All of that is many orders of magnitude below what an output shows.
    """

    double, text = "double precision", "text"
    one, zero = "1::float8", "0::float8"
    longest_name = 63
    fence = "\nOFFSET 0"

    NEAR = 1e-250  # times four more factors of FAR it is still nothing
    SMALL = -300.0  # logarithm of what counts as zero; a product of five that is larger vanishes nowhere on the way
    TINY = 1e-50  # five factors that are larger cannot vanish
    SMALLEST_READ, LARGEST_READ = "1e-307", "1.797693134862315807e308"  # from which numbers become infinite doubles

    def number(self, value: float) -> str:
        """A constant with all its digits: a numeric, which becomes a double when it meets one."""
        return repr(float(value))

    def literal(self, value: str | float) -> str:
        """A text, a number or a truth value; a backslash means itself whatever the settings of the server."""
        text = super().literal(value)
        return "E" + text.replace("\\", "\\\\") if isinstance(value, str) and "\\" in value else text

    def level_text(self, column: str, levels: Sequence[str]) -> str:  # noqa: ARG002  there are truth values
        return self.read_text(column)

    def group(self, text: str, pattern: str, k: int) -> str:
        return f"(regexp_match({text}, {self.literal(pattern)}))[{k}]"

    def as_number(self, j: int, text: str) -> list[dict[str, str]]:
        n = f"n{j}"  # what is too large or too small for a double is an error
        small, large = f"abs({n}) < {self.SMALLEST_READ}", f"abs({n}) < {self.LARGEST_READ}"
        return [
            {n: f"CAST({text} AS numeric)"},
            {f"c{j}": f"CASE WHEN {small} THEN 0 WHEN {large} THEN CAST({n} AS double precision) END"},
        ]

    def clipped(self, x: str, half_minimum: float, half_span: float, *, gaps: bool = False) -> str:
        """(x / 2 - half_minimum) / half_span within FAR and not nearer to zero than NEAR; NULL if x is."""
        # an x that is too small to make a difference is not even halved
        at_zero, small = (0.0 - half_minimum) / half_span, max(abs(half_minimum) * RELATIVE, SMALLEST)
        branches = f"WHEN {x} IS NULL THEN NULL " if gaps else ""
        branches += f"WHEN abs({x}) <= {small!r} THEN {max(min(at_zero, FAR), -FAR)!r} "
        if _least_scaled(half_minimum, half_span) < self.NEAR:
            half = self.less(f"{x} / 2.0", half_minimum)
            branches += f"WHEN abs({half}) < {self.NEAR * half_span!r} THEN sign({half}) * {self.NEAR!r} "
        return f"CASE {branches}ELSE {super().clipped(x, half_minimum, half_span, gaps=False)} END"

    def exponential(self, text: str) -> str:
        """The exponential of what is never above zero; exactly zero from exp(SMALL) on."""
        return f"(exp(greatest({text}, {self.SMALL!r})) - exp({self.SMALL!r}::float8))"

    def ramp(self, part: Expression) -> str:
        """1 / (1 + exp(-part)); exactly zero from exp(SMALL) on."""
        return f"({super().ramp(part)} - 1.0 / (1.0 + exp({-self.SMALL!r}::float8)))"

    def sigmoid(self, minus: str) -> str:
        return f"(1.0 / (1.0 + exp(least(greatest({minus}, {self.SMALL!r}), {-self.SMALL!r}))))"

    def unless_null(self, value: str, text: str) -> str:
        """A text that is NULL if a value is; the bounds of exponentials would turn NULL into a number."""
        return f"CASE WHEN {value} IS NOT NULL THEN {text} END"

    def product(self, parts: tuple[Expression, ...]) -> str:
        """The parts multiplied from left to right, or zero if they would come near to it."""
        text = super().product(parts)
        factors = [part for part in parts if not isinstance(part, Number)]
        if len(factors) < 2 or not any(map(self._may_be_tiny, factors)):
            return text
        logs = [
            repr(math.log(abs(part.value) or 1.0))
            if isinstance(part, Number)
            else f"{f'{times} * ' if times > 1 else ''}ln(greatest(abs({self.visit(part)}), 1e-300))"
            for part, times in Counter(parts).items()
        ]
        return f"CASE WHEN {' + '.join(logs)} < {self.SMALL!r} THEN 0.0 ELSE {text} END"

    def _may_be_tiny(self, node: Expression) -> bool:
        """Whether a factor that is not zero may be so near to it that a product of several vanishes."""
        match bare(node):
            case Scaled(p):
                return _least_scaled(*self.program.half_range(p)) < self.TINY
            case Sum((_, Number(value))) | Sum((Number(value), _)):
                return abs(value) * RELATIVE < self.TINY
            case Divided(part) | Positive(part) | Wave("sin", part):
                return self._may_be_tiny(part)
            case Condition() | Wave():  # no double is nearer to a root of the cosine than 1e-25
                return False
        return True


def _least_scaled(half_minimum: float, half_span: float) -> float:
    """What a scaled feature is at least if it is not zero."""
    return max(SMALLEST, abs(half_minimum) * RELATIVE) / half_span


DIALECTS: dict[str, type[SQLite]] = {"sqlite": SQLite, "duckdb": DuckDB, "postgresql": PostgreSQL}
