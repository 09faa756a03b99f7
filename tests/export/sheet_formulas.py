"""What the formulas of a workbook give, by the rules of spreadsheets; only what `rfsc.export` writes is known."""

from __future__ import annotations

import math
import re

TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"(?:[^"]|"")*")
    |(?P<place>(?:(?P<sheet>\w+)!)?\$?(?P<first>[A-Z]{1,3})\$?(?P<row>\d+)
      (?::\$?(?P<last>[A-Z]{1,3})\$?(?P<end>\d+))?(?![\w(]))
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
            self.tokens.append((found.lastgroup if found["place"] is None else "place", found))
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
        while self.peek() in ("=", "<", ">"):
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
            return lambda: [-number(x) for x in value] if isinstance(value := part(), list) else -number(value)
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
        return lambda: FUNCTIONS[name](*(part() for part in parts))

    @staticmethod
    def binary(sign, left, right):
        return lambda: OPERATORS[sign](left(), right())


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
}
FUNCTIONS = {
    "ABS": lambda x: abs(number(x)),
    "AND": lambda *xs: all(xs),
    "CHAR": lambda x: chr(int(x)),
    "COS": lambda x: math.cos(number(x)),
    "COUNT": lambda *xs: sum(map(is_number, flat(xs))),
    "EXACT": exact,
    "EXP": lambda x: math.exp(number(x)),
    "ISNUMBER": is_number,
    "LN": lambda x: math.log(number(x)),
    "MATCH": lambda x, xs, _: xs.index(x) + 1,
    "MAX": lambda *xs: max(number(x) for x in flat(xs)),
    "MIN": lambda *xs: min(number(x) for x in flat(xs)),
    "NOT": lambda x: not x,
    "OR": lambda *xs: any(xs),
    "SIN": lambda x: math.sin(number(x)),
    "SUM": lambda *xs: sum(x for x in flat(xs) if is_number(x)),
    "SUMPRODUCT": lambda xs: sum(map(number, xs)),
}
