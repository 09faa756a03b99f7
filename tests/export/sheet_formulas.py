"""What the formulas of a workbook give, by the rules of spreadsheets; only what `rfsc.export` writes is known."""

from __future__ import annotations

import math
import re

TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"(?:[^"]|"")*")
    |(?P<place>(?:(?P<sheet>\w+)!)?\$?(?P<first>[A-Z]{1,3})\$?(?P<row>\d+)
      (?::\$?(?P<last>[A-Z]{1,3})\$?(?P<end>\d+))?(?![\w(]))
    |\$(?P<from>\d+):\$(?P<to>\d+)
    |(?P<number>\d+\.?\d*(?:E[+-]?\d+)?)
    |(?P<name>[A-Z]+)
    |(?P<sign><=|>=|<>|[-+*/&=<>(),])
    )""",
    re.VERBOSE,
)


class Book:
    """The cells of an openpyxl workbook, computed where they are asked for."""

    def __init__(self, book):
        self.book, self.found = book, {}

    def value(self, sheet, place):
        key = (sheet, place)
        if key not in self.found:
            content = self.book[sheet][place].value
            content = content.replace("_xlfn.", "") if isinstance(content, str) else content
            is_formula = self.book[sheet][place].data_type == "f"
            self.found[key] = Formula(self, sheet, content[1:]).result() if is_formula else content
        return self.found[key]

    def values(self, sheet, first, row, last, end):
        cells = self.book[sheet][f"{first}{row}:{last}{end}"]
        return [self.value(sheet, cell.coordinate) for line in cells for cell in line]


class Formula:
    """One formula, read from left to right."""

    def __init__(self, book, sheet, text):
        self.book, self.sheet, self.tokens, self.at = book, sheet, [], 0
        place = 0
        while text[place:].strip():
            found = TOKEN.match(text, place)
            assert found, f"no spreadsheet reads {text[place:][:40]!r}"
            kind = "rows" if found["from"] else "place" if found["place"] else found.lastgroup
            self.tokens.append((kind, found))
            place = found.end()

    def result(self):
        value = self.comparison()()
        assert self.at == len(self.tokens)
        return 0.0 if value is None else value

    def peek(self):
        return self.tokens[self.at][1].group().strip() if self.at < len(self.tokens) else ""

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def comparison(self):
        left = self.joined()
        while self.peek() in ("=", "<", ">", "<>", ">="):
            left = self.binary(self.next()[1].group().strip(), left, self.joined())
        return left

    def joined(self):
        left = self.sum()
        while self.peek() == "&":
            self.next()
            left = self.binary("&", left, self.sum())
        return left

    def sum(self):
        left = self.product()
        while self.peek() in ("+", "-"):
            left = self.binary(self.next()[1].group().strip(), left, self.product())
        return left

    def product(self):
        left = self.signed()
        while self.peek() in ("*", "/"):
            left = self.binary(self.next()[1].group().strip(), left, self.signed())
        return left

    def signed(self):
        if self.peek() == "-":
            self.next()
            part = self.signed()
            return lambda: spread(lambda x: -number(x), part())
        return self.atom()

    def atom(self):
        kind, found = self.next()
        if kind == "text":
            return lambda: found["text"][1:-1].replace('""', '"')
        if kind == "number":
            return lambda: float(found["number"])
        if kind == "place":
            sheet = found["sheet"] or self.sheet
            if found["last"]:
                return lambda: self.book.values(sheet, *found.group("first", "row", "last", "end"))
            return lambda: self.book.value(sheet, found["first"] + found["row"])
        if kind == "rows":
            return lambda: list(range(int(found["from"]), int(found["to"]) + 1))
        if kind == "name":
            name = found["name"]
            return self.call(name) if self.peek() == "(" else lambda: {"TRUE": True, "FALSE": False}[name]
        assert found["sign"] == "("
        inside = self.comparison()
        assert self.next()[1]["sign"] == ")"
        return inside

    def call(self, name):
        self.next()
        parts = []
        while self.peek() != ")":
            parts.append(self.comparison())
            if self.peek() == ",":
                self.next()
        self.next()
        assert len(parts) < 255
        if name == "IF":
            condition, yes, no = parts
            return lambda: yes() if condition() else no()
        if name == "CHOOSE":
            return lambda: parts[int(parts[0]())]()
        if name in ("IFERROR", "ISERROR", "ISNUMBER"):  # they take errors
            return lambda: spread(TAKE_ERRORS[name], *map(attempt, parts))
        if name in TEXTS:
            return lambda: spread(TEXTS[name], *(part() for part in parts))
        return lambda: FUNCTIONS[name](*(part() for part in parts))

    @staticmethod
    def binary(sign, left, right):
        return lambda: spread(OPERATORS[sign], left(), right())


ERROR = "#error"  # in an array, where some cells may be errors


def attempt(part):
    try:
        return part()
    except AssertionError:
        return ERROR


def spread(function, *values):
    """A function of single values, of arrays or of both; an error within an array is one of its cells."""
    if not any(isinstance(value, list) for value in values):
        return function(*values)
    n = max(len(value) for value in values if isinstance(value, list))
    rows = zip(*(value if isinstance(value, list) else [value] * n for value in values), strict=True)
    takes_errors = function in TAKE_ERRORS.values()
    return [attempt(lambda row=row: ERROR if ERROR in row and not takes_errors else function(*row)) for row in rows]


def find(text, within, start=1):
    place = as_text(within).find(as_text(text), int(start) - 1)
    assert place >= 0, "#VALUE!"
    return place + 1


def number_value(text, point, group):
    digits = as_text(text).replace(" ", "")
    assert point == "."
    assert group not in digits
    assert re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", digits), "#VALUE!"
    return number(float(digits))


def number(value):
    """A value within a calculation: an empty cell is 0, a text is an error."""
    assert value is None or isinstance(value, bool | int | float), f"#VALUE! from {value!r}"
    result = float(value or 0.0)
    assert math.isfinite(result), "#NUM!"
    return result


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(a, b):
    """Texts without regard to case; an empty cell equals an empty text and 0."""
    if a is None or b is None:
        return (a or b or "") in ("", 0)
    if isinstance(a, str) != isinstance(b, str):
        return False
    return a.lower() == b.lower() if isinstance(a, str) else a == b


def rank(value):
    """Numbers stand before texts."""
    return (1, value.lower()) if isinstance(value, str) else (0, number(value))


def flat(values):
    return [x for value in values for x in (value if isinstance(value, list) else [value])]


def exact(a, b):
    return [exact(a, x) for x in b] if isinstance(b, list) else as_text(a) == as_text(b)


def as_text(value):
    return "" if value is None else f"{value:.15g}" if is_number(value) else str(value)


OPERATORS = {
    "+": lambda a, b: number(a) + number(b),
    "-": lambda a, b: number(a) - number(b),
    "*": lambda a, b: number(a) * number(b),
    "/": lambda a, b: number(a) / number(b),
    "&": lambda a, b: as_text(a) + as_text(b),
    "=": equal,
    "<": lambda a, b: rank(a) < rank(b),
    ">": lambda a, b: rank(a) > rank(b),
    "<>": lambda a, b: not equal(a, b),
    ">=": lambda a, b: rank(a) >= rank(b),
}
TAKE_ERRORS = {
    "IFERROR": lambda x, other: other if x == ERROR else x,
    "ISERROR": lambda x: x == ERROR,
    "ISNUMBER": lambda x: is_number(x),
}
TEXTS = {
    "CLEAN": lambda x: "".join(letter for letter in as_text(x) if ord(letter) > 31),
    "FIND": find,
    "LEFT": lambda x, n: as_text(x)[: int(n)],
    "LEN": lambda x: len(as_text(x)),
    "LOWER": lambda x: as_text(x).lower(),
    "MID": lambda x, start, n: as_text(x)[int(start) - 1 : int(start) - 1 + int(n)],
    "MOD": lambda x, by: x % by,
    "NUMBERVALUE": number_value,
    "REPT": lambda x, n: as_text(x) * int(n),
    "RIGHT": lambda x, n: as_text(x)[-int(n) :],
    "SUBSTITUTE": lambda x, old, new: as_text(x).replace(old, new),
    "TRIM": lambda x: re.sub(" +", " ", as_text(x).strip(" ")),
    "UNICHAR": lambda x: chr(int(x)),
}
FUNCTIONS = {
    "ABS": lambda x: abs(number(x)),
    "AND": lambda *xs: all(xs),
    "CHAR": lambda x: chr(int(x)),
    "COS": lambda x: math.cos(number(x)),
    "COUNT": lambda *xs: sum(map(is_number, flat(xs))),
    "EXACT": exact,
    "EXP": lambda x: math.exp(number(x)),
    "LN": lambda x: math.log(number(x)),
    "MATCH": lambda x, xs, _: xs.index(x) + 1,
    "MAX": lambda *xs: max(number(x) for x in flat(xs)),
    "MIN": lambda *xs: min(number(x) for x in flat(xs)),
    "NOT": lambda x: not x,
    "OR": lambda *xs: any(xs),
    "ROW": lambda xs: xs,
    "SIN": lambda x: math.sin(number(x)),
    "SUM": lambda *xs: sum(x for x in flat(xs) if is_number(x)),
    "SUMPRODUCT": lambda xs: sum(map(number, xs)),
}
