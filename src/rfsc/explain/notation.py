"""Formulas for people: the same expression as plain text, LaTeX, HTML, or a sympy expression."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from .._terms.expression import (
    Condition,
    Divided,
    Expression,
    Number,
    Product,
    Scaled,
    Sum,
    Visitor,
    bare,
    conditions_of,
    with_intervals,
    without_sign,
)
from .._terms.naming import label, quoted, statement, written

MOST_HALF_PERIODS = 1000  # a constant is written as a multiple of pi up to here
EXPONENT = re.compile(r"(.*)e([+-])0*(\d+)")
LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedblright{}",
    "≈": r"$\approx$",
    "…": r"\ldots{}",
    **{sign: "\\" + sign for sign in "{}_%&#$"},
}
LATEX_SIGNS = {"<=": r"\le"}
HTML_SIGNS = {"-": "−", ">": "&gt;", "<": "&lt;", "<=": "≤"}


class Text(Visitor[str]):
    """Plain text that a person can type into a calculator; names of terms are written in the same way."""

    minus, times, both = "-", "*", " and "

    def __init__(self, names: Sequence[str], *, spell_out: bool = False, scaled: bool = False) -> None:
        self.names = names
        self.spell_out = spell_out  # 1/(1 + exp(-z)) instead of ramp(z)
        self.scaled = scaled  # whether expressions read features on [0, 1], written scaled(age)

    # ---- nodes

    def number(self, value: float) -> str:
        half_periods = round(value / math.pi) if abs(value) < MOST_HALF_PERIODS * math.pi else 0
        is_multiple_of_pi = half_periods >= 1 and value == math.pi * half_periods
        return self.pi(half_periods) if is_multiple_of_pi else self.digits(written(value))

    def feature(self, feature: int) -> str:
        name = self.name(label(self.names[feature]))
        return self.call("scaled", name) if self.scaled else name

    def total(self, parts: tuple[Expression, ...]) -> str:
        match parts:
            case (Number(value), Scaled() | Product((Number(-1.0), _)) as other):
                return self._with_number(other, value)
            case (Scaled() | Product((Number(-1.0), _)) as other, Number(value)):
                return self._with_number(other, value)
        numbers = [part for part in parts if isinstance(part, Number)]
        others = [part for part in parts if not isinstance(part, Number)]
        pairs = [without_sign(bare(part)) for part in (*others, *numbers)]
        return self.signed([(negative, self.visit(rest)) for negative, rest in pairs])

    def _with_number(self, part: Expression, value: float) -> str:
        """``age-52``, ``age+52`` or ``52-age``."""
        negative, rest = without_sign(part)
        if negative:
            return self.infix(self.number(value), "-", self.factor(rest))
        return self.infix(self.visit(part), "-" if value < 0 else "+", self.number(abs(value)))

    def product(self, parts: tuple[Expression, ...]) -> str:
        if conditions := conditions_of(Product(parts)):
            return self.conjunction(conditions)
        negative, rest = without_sign(Product(parts))
        if negative:
            return self.minus + self.factor(rest)
        counts = Counter(map(bare, parts))
        return self.multiplied([self.power(self.factor(part, times), times) for part, times in counts.items()])

    def factor(self, node: Expression, times: int = 1) -> str:
        """An expression that is multiplied, divided or raised to a power: in brackets if it could be misread."""
        node = bare(node)
        torn = isinstance(node, Sum) or without_sign(node)[0] or (times > 1 and isinstance(node, Product | Divided))
        return self.brackets(self.visit(node)) if torn else self.visit(node)

    def quotient(self, part: Expression, by: float) -> str:
        return self.factor(part) if by == 1.0 else self.fraction(self.factor(part), self.number(by))

    def positive(self, part: Expression) -> str:
        return self.call("max", "0, " + self.visit(part))

    def exp(self, part: Expression) -> str:
        match part:
            case Product((Number(-1.0), Sum(parts))):
                return self.call("exp", self.long_sum([(True, self.visit(one)) for one in parts]))
        return self.call("exp", self.visit(part))

    def ramp(self, part: Expression) -> str:
        inside = self.visit(part)
        if self.spell_out:
            return self.one_over(f"1 + {self.call('exp', self.minus + self.brackets(inside))}")
        return self.call("ramp", inside)

    def wave(self, kind: str, part: Expression) -> str:
        return self.call(kind, self.visit(part))

    def condition(self, part: Expression, relation: str, at: float) -> str:
        return self.conjunction([Condition(part, relation, at)])

    def conjunction(self, conditions: Sequence[Condition]) -> str:
        """1 if all conditions hold, else 0."""
        return self.true(self.both.join(self._said(*group) for group in with_intervals(conditions)))

    def _said(self, low: Condition, high: Condition | None = None) -> str:
        """One condition, or an interval."""
        if high is not None:
            above = self.infix(self.number(low.at), "<", self.visit(low.part))
            return self.infix(above, "<=", self.number(high.at))
        words = statement(low, self.names)
        return self.name(words) if words else self.infix(self.visit(low.part), low.relation, self.number(low.at))

    def features_product(self, factors: Sequence[int], scaled: Collection[int] = ()) -> str:
        """A product of features, such as ``age*bmi^2``; those on [0, 1] among others that are not: ``scaled(age)``."""
        parts = []
        for p, exponent in Counter(factors).items():
            name = self.name(quoted(self.names[p]))
            parts.append(self.power(self.call("scaled", name) if p in scaled else name, exponent))
        return self.multiplied(parts) if parts else ""

    # ---- signs of the notation

    def name(self, name: str) -> str:
        return name

    def words(self, text: str) -> str:
        """Words that are no formula."""
        return text

    def digits(self, text: str) -> str:
        """A number that is already written."""
        return text

    def pi(self, times: int) -> str:
        return "pi" if times == 1 else f"pi*{times}"

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{exponent}" if exponent != 1 else base

    def multiplied(self, parts: Sequence[str]) -> str:
        return self.times.join(parts)

    def fraction(self, part: str, by: str) -> str:
        """A quotient of what needs no brackets."""
        return f"{part}/{by}"

    def one_over(self, inside: str) -> str:
        return f"1/({inside})"

    def brackets(self, inside: str) -> str:
        return f"({inside})"

    def call(self, function: str, inside: str) -> str:
        """A named function: max, exp, sin, cos, ramp, scaled."""
        return f"{function}({inside})"

    def true(self, statement: str) -> str:
        """1 if the statement holds, else 0."""
        return f"({statement})"

    def infix(self, left: str, sign: str, right: str) -> str:
        """Two things with one of the signs + - > < <= = between them."""
        return f"{left}{sign}{right}"

    def equation(self, parts: Sequence[tuple[bool, str]]) -> str:
        """f as a sum; every summand with whether it is negative."""
        return "f = " + self.signed(parts)

    def long_sum(self, parts: Sequence[tuple[bool, str]]) -> str:
        return self.signed(parts)

    def signed(self, parts: Sequence[tuple[bool, str]]) -> str:
        """Summands with their signs."""
        out = "".join(f" {self.minus if negative else '+'} {part}" for negative, part in parts)
        return (out[3:] if out.startswith(" + ") else out[1:]) or "0"


class Latex(Text):
    """LaTeX for math mode, with the amsmath package."""

    both = r" \text{ and } "

    def name(self, name: str) -> str:
        return self.words(name)

    def words(self, text: str) -> str:
        """Upright letters; LaTeX's own signs are escaped, control characters become spaces."""
        plain = "".join(" " if unicodedata.category(sign) in ("Cc", "Zl", "Zp") else sign for sign in text)
        return r"\text{" + "".join(LATEX_ESCAPES.get(sign, sign) for sign in plain) + "}"

    def digits(self, text: str) -> str:
        found = EXPONENT.fullmatch(text)
        if found is None:
            return text
        mantissa, sign, exponent = found.groups()
        return rf"{mantissa} \cdot 10^{{{sign.replace('+', '')}{exponent}}}"

    def pi(self, times: int) -> str:
        return r"\pi" if times == 1 else rf"{times}\pi"

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{{{exponent}}}" if exponent != 1 else base

    def multiplied(self, parts: Sequence[str]) -> str:
        r"""A thin space between the factors, a dot between two names or before a number."""
        out = parts[0]
        for before, part in pairwise(parts):
            both = before.startswith(r"\text") and part.startswith(r"\text")
            out += (r" \cdot " if both or part[:1].isdigit() else r"\,") + part
        return out

    def quotient(self, part: Expression, by: float) -> str:
        return self.factor(part) if by == 1.0 else self.fraction(self.visit(part), self.number(by))

    def fraction(self, part: str, by: str) -> str:
        return rf"\frac{{{part}}}{{{by}}}"

    def one_over(self, inside: str) -> str:
        return self.fraction("1", inside)

    def brackets(self, inside: str) -> str:
        return rf"\left({inside}\right)"

    def call(self, function: str, inside: str) -> str:
        known = function in ("max", "exp", "sin", "cos")
        return (f"\\{function}" if known else rf"\operatorname{{{function}}}") + self.brackets(inside)

    def true(self, statement: str) -> str:
        return f"[{statement}]"

    def infix(self, left: str, sign: str, right: str) -> str:
        return f"{left} {LATEX_SIGNS.get(sign, sign)} {right}"

    def equation(self, parts: Sequence[tuple[bool, str]]) -> str:
        return "f = " + self.long_sum(parts).replace(r"\begin{aligned}", r"\begin{aligned}[t]", 1)

    def long_sum(self, parts: Sequence[tuple[bool, str]]) -> str:
        """A line for every summand from four on: LaTeX does not break formulas by itself."""
        if len(parts) <= 3:
            return self.signed(parts)
        lines = [f"{'-' if negative else '+'} {part}" for negative, part in parts]
        return r"\begin{aligned} & " + r" \\ & ".join([lines[0].removeprefix("+ "), *lines[1:]]) + r" \end{aligned}"


class Html(Text):
    """HTML; every name is escaped, so that none can become a tag."""

    minus, times = "−", "·"

    def name(self, name: str) -> str:
        return f"<var>{html.escape(name)}</var>"

    def words(self, text: str) -> str:
        return html.escape(text)

    def digits(self, text: str) -> str:
        found = EXPONENT.fullmatch(text)
        if found is None:
            return text.replace("-", self.minus)
        mantissa, sign, exponent = found.groups()
        sign = self.minus if sign == "-" else ""
        return f"{mantissa.replace('-', self.minus)}·10<sup>{sign}{exponent}</sup>"

    def pi(self, times: int) -> str:
        return "π" if times == 1 else f"{times}π"

    def power(self, base: str, exponent: int) -> str:
        return f"{base}<sup>{exponent}</sup>" if exponent != 1 else base

    def true(self, statement: str) -> str:
        return f"[{statement}]"

    def infix(self, left: str, sign: str, right: str) -> str:
        return f"{left} {HTML_SIGNS.get(sign, sign)} {right}"

    def equation(self, parts: Sequence[tuple[bool, str]]) -> str:
        return "<var>f</var> = " + self.signed(parts)


NOTATIONS: dict[str, type[Text]] = {"text": Text, "latex": Latex, "html": Html}


class Sympy(Visitor[Any]):
    """The same tree out of sympy's nodes, with one symbol for each feature."""

    def __init__(self, symbols: Mapping[int, Any]) -> None:
        import sympy

        self.sympy, self.symbols = sympy, symbols

    def number(self, value: float) -> Any:
        return self.sympy.Integer(int(value)) if value in (1.0, -1.0) else self.sympy.Float(value)

    def feature(self, feature: int) -> Any:
        return self.symbols[feature]

    def total(self, parts: tuple[Expression, ...]) -> Any:
        return self.sympy.Add(*map(self.visit, parts))

    def product(self, parts: tuple[Expression, ...]) -> Any:
        return self.sympy.Mul(*map(self.visit, parts))

    def quotient(self, part: Expression, by: float) -> Any:
        return self.visit(part) / self.sympy.Float(by)

    def positive(self, part: Expression) -> Any:
        return self.sympy.Max(0, self.visit(part))

    def exp(self, part: Expression) -> Any:
        return self.sympy.exp(self.visit(part), evaluate=False)

    def ramp(self, part: Expression) -> Any:
        # sympy would take the offset of a steep ramp out of the exponential, and lose it in a float that overflows
        return 1 / (1 + self.sympy.exp(-self.visit(part), evaluate=False))

    def wave(self, kind: str, part: Expression) -> Any:
        return getattr(self.sympy, kind)(self.visit(part))

    def condition(self, part: Expression, relation: str, at: float) -> Any:
        compare = {">": self.sympy.Gt, "<=": self.sympy.Le, "=": self.sympy.Eq}[relation]
        return self.sympy.Piecewise((1, compare(self.visit(part), self.sympy.Float(at, 17))), (0, True))
