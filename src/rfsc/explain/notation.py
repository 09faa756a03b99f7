"""How a formula is written: the same few signs as plain text, as LaTeX and as HTML."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from .._terms.naming import written

LATEX = {
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
SIGNS = {"-": "−", ">": "&gt;"}
EXPONENT = re.compile(r"(.*)e([+-])0*(\d+)")


class Text:
    """Plain text that a person can type into a calculator; `Term.name` writes terms in the same way."""

    minus, times = "-", "*"

    def name(self, name: str) -> str:
        """The name of a feature."""
        return name

    def words(self, text: str) -> str:
        """Words that are no formula."""
        return text

    def number(self, value: float) -> str:
        """A number, with all its digits."""
        return self.digits(written(value))

    def digits(self, text: str) -> str:
        """A number that is already written."""
        return text

    def pi(self, times: int) -> str:
        """A multiple of pi."""
        return "pi" if times == 1 else f"pi*{times}"

    def power(self, base: str, exponent: int) -> str:
        """A whole power."""
        return f"{base}^{exponent}" if exponent != 1 else base

    def product(self, parts: Sequence[str]) -> str:
        """Factors side by side."""
        return self.times.join(parts)

    def quotient(self, part: str, by: str) -> str:
        """A fraction."""
        return f"{part}/{by}"

    def sum_over(self, inside: str, by: str) -> str:
        """A sum divided by a number."""
        return f"({inside})/{by}"

    def one_over(self, inside: str) -> str:
        """One divided by a sum."""
        return f"1/({inside})"

    def brackets(self, inside: str) -> str:
        """Round brackets."""
        return f"({inside})"

    def call(self, function: str, inside: str) -> str:
        """A named function: max, exp, sin, cos, ramp, scaled."""
        return f"{function}({inside})"

    def true(self, statement: str) -> str:
        """1 where the statement holds, 0 elsewhere."""
        return f"({statement})"

    def infix(self, left: str, sign: str, right: str) -> str:
        """Two things with one of the signs + - > = between them."""
        return f"{left}{sign}{right}"

    def total(self, parts: Sequence[tuple[bool, str]]) -> str:
        """f as a sum; every summand with whether it is negative."""
        return "f = " + self.sum(parts)

    def long_sum(self, parts: Sequence[tuple[bool, str]]) -> str:
        """A sum that may need several lines."""
        return self.sum(parts)

    def sum(self, parts: Sequence[tuple[bool, str]]) -> str:
        """Summands with their signs."""
        out = ""
        for negative, part in parts:
            sign = self.minus if negative else "+"
            out += f" {sign} {part}" if out else f"{sign} {part}" if negative else part
        return out or "0"


class Latex(Text):
    """LaTeX for math mode, with the amsmath package."""

    def name(self, name: str) -> str:
        """Upright letters, every sign of the name as it is."""
        return self.words(name)

    def words(self, text: str) -> str:
        """Upright letters; what LaTeX would take for a command is written out, what cannot be printed is left out."""
        plain = "".join(" " if unicodedata.category(sign) in ("Cc", "Zl", "Zp") else sign for sign in text)
        return r"\text{" + "".join(LATEX.get(sign, sign) for sign in plain) + "}"

    def digits(self, text: str) -> str:
        """Powers of ten as such."""
        found = EXPONENT.fullmatch(text)
        if found is None:
            return text
        mantissa, sign, exponent = found.groups()
        return rf"{mantissa} \cdot 10^{{{sign.replace('+', '')}{exponent}}}"

    def pi(self, times: int) -> str:
        """A multiple of pi."""
        return r"\pi" if times == 1 else rf"{times}\pi"

    def power(self, base: str, exponent: int) -> str:
        """A whole power."""
        return f"{base}^{{{exponent}}}" if exponent != 1 else base

    def product(self, parts: Sequence[str]) -> str:
        r"""A thin space between the factors, a dot where two names would read as one."""
        out = parts[0]
        for before, part in pairwise(parts):
            both = before.startswith(r"\text") and part.startswith(r"\text")
            out += (r" \cdot " if both or part[:1].isdigit() else r"\,") + part
        return out

    def quotient(self, part: str, by: str) -> str:
        """A fraction."""
        return rf"\frac{{{part}}}{{{by}}}"

    def sum_over(self, inside: str, by: str) -> str:
        """A fraction needs no brackets."""
        return self.quotient(inside, by)

    def one_over(self, inside: str) -> str:
        """A fraction needs no brackets."""
        return self.quotient("1", inside)

    def brackets(self, inside: str) -> str:
        """Brackets as high as what they hold."""
        return rf"\left({inside}\right)"

    def call(self, function: str, inside: str) -> str:
        """LaTeX knows max, exp, sin and cos."""
        known = function in ("max", "exp", "sin", "cos")
        return (f"\\{function}" if known else rf"\operatorname{{{function}}}") + self.brackets(inside)

    def true(self, statement: str) -> str:
        """Iverson's brackets."""
        return f"[{statement}]"

    def infix(self, left: str, sign: str, right: str) -> str:
        """Two things with a sign between them."""
        return f"{left} {sign} {right}"

    def total(self, parts: Sequence[tuple[bool, str]]) -> str:
        """f as a sum, beside its first line."""
        return "f = " + self.long_sum(parts).replace(r"\begin{aligned}", r"\begin{aligned}[t]", 1)

    def long_sum(self, parts: Sequence[tuple[bool, str]]) -> str:
        """A line for every summand where there are more than three: LaTeX does not break formulas by itself."""
        if len(parts) <= 3:
            return self.sum(parts)
        lines = [f"{'-' if negative else '+'} {part}" for negative, part in parts]
        return r"\begin{aligned} & " + r" \\ & ".join([lines[0].removeprefix("+ "), *lines[1:]]) + r" \end{aligned}"


class Html(Text):
    """HTML; every name is escaped, so that none can become a tag."""

    minus, times = "−", "·"

    def name(self, name: str) -> str:
        """A variable."""
        return f"<var>{html.escape(name)}</var>"

    def words(self, text: str) -> str:
        """Escaped text."""
        return html.escape(text)

    def digits(self, text: str) -> str:
        """Powers of ten as such."""
        found = EXPONENT.fullmatch(text)
        if found is None:
            return text.replace("-", self.minus)
        mantissa, sign, exponent = found.groups()
        sign = self.minus if sign == "-" else ""
        return f"{mantissa.replace('-', self.minus)}·10<sup>{sign}{exponent}</sup>"

    def pi(self, times: int) -> str:
        """A multiple of pi."""
        return "π" if times == 1 else f"{times}π"

    def power(self, base: str, exponent: int) -> str:
        """A whole power."""
        return f"{base}<sup>{exponent}</sup>" if exponent != 1 else base

    def true(self, statement: str) -> str:
        """Iverson's brackets."""
        return f"[{statement}]"

    def infix(self, left: str, sign: str, right: str) -> str:
        """Two things with a sign between them."""
        return f"{left} {SIGNS.get(sign, sign)} {right}"

    def total(self, parts: Sequence[tuple[bool, str]]) -> str:
        """f as a variable of its own."""
        return "<var>f</var> = " + self.sum(parts)


NOTATIONS = {"text": Text(), "latex": Latex(), "html": Html()}
