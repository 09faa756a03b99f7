"""What every code generator prints: raw columns, features made of them, and formulas over these features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._model import SparseModel
from .._model.access import as_predictor
from .._model.recipe import Ingredient, LevelOf, LimitIn, MissingIn, NumberOf, RawColumn, Recipe
from .._terms.expression import Divided, Expression, Number, Product, Sum, Visitor, bare, without_sign

LONGEST_COMMENT = 80  # characters of a name that a comment shows


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A classifier as a list of things to compute."""

    columns: tuple[RawColumn, ...]  # of the table, in their order
    features: tuple[Ingredient, ...]  # how every feature is made of the columns
    models: tuple[SparseModel, ...]  # one for each output, all with the same features and scaling
    classes: tuple[Any, ...]  # with two of them there is one output, which predicts the second if it is positive

    @classmethod
    def of(cls, source: Any) -> Program:
        """What a classifier, a pipeline, a predictor or a model computes."""
        predictor = as_predictor(source)
        recipe = predictor.recipe_ or Recipe.identity(predictor.models_[0].feature_names)
        classes = tuple(predictor.classes_.tolist())
        return cls(recipe.columns, recipe.features, tuple(predictor.formulas), classes)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.models[0].feature_names

    @property
    def features_used(self) -> list[int]:
        """Features that some output reads, ascending."""
        return sorted({p for model in self.models for p in model.features})

    @property
    def read(self) -> tuple[int, ...]:
        """Columns that some output reads, ascending."""
        return tuple(sorted({self.features[p].column for p in self.features_used}))

    @property
    def required(self) -> tuple[int, ...]:
        """Columns without which there is no answer: nothing fills a missing cell."""
        return tuple(sorted({column for output in range(len(self.models)) for column in self.required_by(output)}))

    def required_by(self, output: int) -> tuple[int, ...]:
        """Columns without which one output has no value."""
        return tuple(sorted({self.features[p].column for p in self.models[output].features if self.may_be_missing(p)}))

    def may_be_missing(self, feature: int) -> bool:
        """Whether a missing cell leaves the feature missing."""
        made = self.features[feature]
        return isinstance(made, NumberOf) and made.fill is None

    def is_indicator(self, feature: int) -> bool:
        """Whether a feature is 0 or 1 and so already what scaling would make of it."""
        low, span = self.half_range(feature)
        return not isinstance(self.features[feature], NumberOf) and low == 0.0 and span == 0.5

    def made_of(self, column: int) -> list[Ingredient]:
        """How the features that are used are made of a column."""
        return [made for made in (self.features[p] for p in self.features_used) if made.column == column]

    def reads_limits(self, column: int) -> bool:
        """Whether it matters if a cell of a column is a limit."""
        return any(isinstance(made, LimitIn) for made in self.made_of(column))

    def reads_blanks(self, column: int) -> bool:
        """Whether a missing level differs from one that is not known."""
        made = self.made_of(column)
        return any(isinstance(one, MissingIn) or (isinstance(one, LevelOf) and None in one.levels) for one in made)

    def levels_of(self, column: int) -> list[str]:
        """The levels of a text column that make a difference."""
        made = [one for one in self.made_of(column) if isinstance(one, LevelOf)]
        return sorted({level for one in made for level in one.levels if isinstance(level, str)})

    def half_range(self, feature: int) -> tuple[float, float]:
        """Half the minimum and half the training range of a feature."""
        scaling = self.models[0].scaling
        return float(scaling.half_minimum[feature]), float(scaling.half_span[feature])

    @property
    def output_labels(self) -> tuple[Any, ...]:
        """The class that every output predicts if it is positive."""
        return self.classes[1:] if len(self.models) == 1 else self.classes

    def weighted_terms(self, output: int) -> list[Expression]:
        """The terms of one output, each times its coefficient."""
        model = self.models[output]
        pairs = zip(model.coef.tolist(), (term.expression for term in model.terms), strict=True)
        return [Number(coef) if part == Number(1.0) else Product((Number(coef), bare(part))) for coef, part in pairs]


class CodePrinter(Visitor[str]):
    """Writes expressions as most languages do; a subclass says what is different in its own."""

    equals_sign = "=="
    either, never = "||", "0"  # between conditions, and a condition that never holds
    missing = "== NULL"  # behind a cell: the condition that it is missing
    greatest = "max"  # a function of two numbers
    library = ""  # what stands before the names of exp, sin and cos ...
    helper = "_"  # ... and before those of functions that are written with the model

    def __init__(self, scaled: Mapping[int, str]) -> None:
        self.scaled = scaled  # what stands for the scaled value of each feature: a variable, a column, a cell

    def number(self, value: float) -> str:
        """A constant with all its digits."""
        return repr(float(value))

    def feature(self, feature: int) -> str:
        return self.scaled[feature]

    def choose(self, condition: str, *, flipped: bool = False) -> str:
        """1 if a condition holds, else 0; the other way round if flipped."""
        return f"({condition} ? {'0.0 : 1.0' if flipped else '1.0 : 0.0'})"

    def is_missing(self, cell: str, kind: str) -> str:  # noqa: ARG002  in most languages all are alike
        """The condition that a cell, of a number or a text, is missing."""
        return f"{cell} {self.missing}"

    @abstractmethod
    def filled(self, cell: str, fill: float) -> str:
        """A cell of numbers with another number if it is missing."""

    def is_limit(self, cell: str, *, above: bool) -> str:
        """The condition that a cell of a column with a cell format is a limit, such as >5 or <5."""
        return f"limit_{cell} {self.equals_sign} {'>' if above else '<'!r}"

    @abstractmethod
    def is_one_of(self, cell: str, levels: list[str | float]) -> str:
        """The condition that a cell is one of the levels, of which there is at least one."""

    def any_of(self, conditions: list[str]) -> str:
        """The condition that one of some conditions holds."""
        return f" {self.either} ".join(conditions) or self.never

    def made_feature(self, program: Program, p: int, cell: str) -> str:
        """A feature from the cell of its column."""
        made = program.features[p]
        kind = program.columns[made.column].kind
        missing = self.is_missing(cell, kind)
        match made:
            case NumberOf(_, fill):
                return cell if fill is None else self.filled(cell, fill)
            case MissingIn():
                return self.choose(missing)
            case LimitIn(_, above):
                return self.choose(self.is_limit(cell, above=above))
            case LevelOf(_, levels, other):
                # those that a cell can be: texts of a text column, else numbers
                known = [level for level in levels if isinstance(level, str if kind == "text" else float)]
                conditions = [self.is_one_of(cell, known)] if known else []
                conditions += [missing] if None in levels else []
                return self.choose(self.any_of(conditions), flipped=other)

    def clipped(self, x: str, half_minimum: float, half_span: float) -> str:
        """(x / 2 - half_minimum) / half_span within FAR."""
        return f"{self.helper}scaled({x}, {half_minimum!r}, {half_span!r})"

    def scaled_feature(self, program: Program, p: int, cell: str) -> str:
        """A feature on [0, 1] from the cell of its column."""
        text = self.made_feature(program, p, cell)
        return text if program.is_indicator(p) else self.clipped(text, *program.half_range(p))

    def less(self, x: str, number: float) -> str:
        return x if number == 0.0 else f"{x} {'-' if number > 0 else '+'} {self.number(abs(number))}"

    def total(self, parts: tuple[Expression, ...]) -> str:
        return " ".join(self.summands(parts))

    def product(self, parts: tuple[Expression, ...]) -> str:
        """The parts multiplied from left to right; a first -1 becomes a sign."""
        first, rest = parts[0], parts[1:]
        if first == Number(-1.0):
            return "-" + (self.operand(rest[0]) if len(rest) == 1 else f"({self.product(rest)})")
        # a sign in front of the whole product needs no brackets
        head = self.number(first.value) if isinstance(first, Number) else self.operand(first)
        return " * ".join([head, *map(self.operand, rest)])

    def quotient(self, part: Expression, by: float) -> str:
        return f"{self.operand(part)} / {self.number(by)}"

    def positive(self, part: Expression) -> str:
        return f"{self.greatest}({self.visit(part)}, 0.0)"

    def exp(self, part: Expression) -> str:
        return f"{self.library}exp({self.visit(part)})"

    def ramp(self, part: Expression) -> str:
        return f"{self.helper}sigmoid({self.visit(part)})"

    def wave(self, kind: str, part: Expression) -> str:
        return f"{self.library}{kind}({self.visit(part)})"

    def condition(self, part: Expression, relation: str, at: float) -> str:
        sign = self.equals_sign if relation == "=" else relation
        return self.choose(f"{self.operand(part)} {sign} {self.number(at)}")

    def operand(self, node: Expression) -> str:
        """The expression, to be multiplied, divided or compared: in brackets if it could be misread."""
        node, text = bare(node), self.visit(node)
        return f"({text})" if isinstance(node, Sum | Product | Divided) or text.startswith("-") else text

    def summands(self, parts: Iterable[Expression]) -> list[str]:
        """The parts of a sum, each but the first with its sign in front."""
        out: list[str] = []
        for part in map(bare, parts):
            if not out:
                out.append(self.visit(part))
                continue
            negative, size = without_sign(part)
            text = f"({self.visit(size)})" if isinstance(size, Sum) else self.visit(size)
            out.append(f"{'-' if negative else '+'} {text}")
        return out

    def output(self, program: Program, output: int) -> list[str]:
        """The summands of one output, one for each of its terms."""
        return self.summands(program.weighted_terms(output)) or [self.number(0.0)]


def refuse_dates(program: Program, reader: str) -> None:
    """Raise ValueError if a column that is read holds dates."""
    for column in (program.columns[j] for j in program.read):
        if column.cells is not None and column.cells.since:
            msg = f"{column.name!r} holds dates, which {reader} does not read. Export it as SQL, Python or JavaScript."
            raise ValueError(msg)


def plain_label(label: Any) -> str | int | float | bool:
    """A label as languages know it; what is neither a number nor a text is written as text."""
    return label if isinstance(label, str | int | float) and label == label else str(label)


def writable(text: str, language: str) -> str:
    """The text, or an error if no literal of a language can hold it."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        msg = f"a name, level or label holds a NUL or half a surrogate pair, which {language} cannot write. Rename it."
        raise ValueError(msg)
    return text


def one_line(text: str) -> str:
    """A text for a comment: on one line, not too long, and without what could end, open or continue a comment."""
    shown = text if len(text) <= LONGEST_COMMENT else text[:LONGEST_COMMENT] + "..."
    shown = "".join(letter if letter.isprintable() else " " for letter in shown)
    for bad, good in (("\\", "/"), ("*/", "* /"), ("/*", "/ *"), ("--", "- -"), ("??", "? ?")):
        while bad in shown:
            shown = shown.replace(bad, good)
    return shown
