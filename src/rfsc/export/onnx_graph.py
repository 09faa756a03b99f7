"""A model as nodes of an ONNX graph, all in double precision: expressions, recipes, probabilities.

Products are chains of Mul, never Pow, and the logistic function is written out: the Sigmoid of onnxruntime is zero
below about -37, where double precision still holds many digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import reduce
from typing import Any

import numpy as np

from .._model.recipe import Ingredient, LevelOf, LimitIn, MissingIn, NumberOf
from .._terms.expression import Expression, Visitor
from .._terms.scaling import FAR
from .program import Program

NO_TEXT = ""  # a missing text: tensors of texts have no missing values
NEAR_ZERO, NEAR_ONE = 1e-40, 1e-6  # single precision may take a number for 0, or for 1


class Graph:
    """Nodes and constants. What has been computed once is not computed again."""

    def __init__(self, taken: Set[str]) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._taken = taken  # names of inputs and outputs
        self._known: dict[Any, str] = {}
        self._numbers: dict[str, float] = {}
        self._unused: dict[str, Any] = {}  # constants; onnxruntime warns of unused ones

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator; the name of its result."""
        from onnx import helper

        if len(inputs) == 2 and inputs[1] in self._numbers and (kept := self._kept(kind, *inputs)):
            return kept
        key = (kind, inputs, repr(sorted(attributes.items())))
        if key not in self._known:
            name = self._known[key] = self._new(kind)
            self.constants += [
                self._unused.pop(constant) for constant in dict.fromkeys(inputs) if constant in self._unused
            ]
            self.nodes.append(helper.make_node(kind, inputs, [name], name=name, domain=domain, **attributes))
        return self._known[key]

    def _new(self, kind: str) -> str:
        """A name that no other value has."""
        name = f"{kind.lower()}_{len(self._known)}"
        while name in self._taken:
            name += "_"
        return name

    def add(self, a: str, b: str) -> str:
        return self.node("Add", *self._number_last(a, b))

    def multiply(self, a: str, b: str) -> str:
        return self.node("Mul", *self._number_last(a, b))

    def _number_last(self, a: str, b: str) -> tuple[str, str]:
        return (b, a) if a in self._numbers else (a, b)

    def _kept(self, kind: str, value: str, constant: str) -> str | None:
        """The same by operators that onnxruntime keeps if it would drop this one, else None.

        It drops operators with a constant that is 0 or 1 in single precision only.
        """
        number = self._numbers[constant]
        if kind in ("Add", "Sub") and 0 < abs(number) < NEAR_ZERO:
            return self.node("Sum", value, self.constant(number if kind == "Add" else -number))
        if kind in ("Mul", "Div") and 0 < abs(number - 1.0) < NEAR_ONE:
            return self.node(kind, self.node(kind, value, self.constant(number / 2)), self.constant(2.0))
        return None

    def constant(self, values: Any) -> str:
        """Name of an array of doubles, integers, truth values or texts."""
        from onnx import helper

        array = np.atleast_1d(np.asarray(values))
        key = (array.dtype.kind, repr(array.tolist()))
        if key not in self._known:
            name = self._known[key] = self._new("constant")
            is_text = array.dtype.kind in "UO"
            content = [text.encode() for text in array.tolist()] if is_text else array.ravel().tolist()
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(object) if is_text else array.dtype)
            self._unused[name] = helper.make_tensor(name, kind, array.shape, content)
            if array.dtype.kind == "f" and array.size == 1:
                self._numbers[name] = float(array[0])
        return self._known[key]

    def cast(self, value: str, dtype: type[np.generic]) -> str:
        from onnx import helper

        return self.node("Cast", value, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def put_out(self, value: str, name: str) -> None:
        """Give a value the name of an output."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))


class Terms(Visitor[str]):
    """Adds the nodes of expressions to a graph."""

    def __init__(self, graph: Graph, program: Program, cells: Callable[[int], str]) -> None:
        self.graph, self.program, self.cells = graph, program, cells

    def number(self, value: float) -> str:
        return self.graph.constant(float(value))

    def feature(self, feature: int) -> str:
        """On its training range, by the operations of `Scaling.rows`."""
        made, (half_minimum, half_span) = self.program.features[feature], self.program.half_range(feature)
        is_text = self.program.columns[made.column].kind == "text"
        value = feature_of(self.graph, made, self.cells(made.column), is_text=is_text)
        half = self.graph.node("Div", value, self.number(2.0))
        scaled = self.graph.node("Div", self.graph.node("Sub", half, self.number(half_minimum)), self.number(half_span))
        return self.graph.node("Min", self.graph.node("Max", scaled, self.number(-FAR)), self.number(FAR))

    def total(self, parts: tuple[Expression, ...]) -> str:
        return reduce(self.graph.add, map(self.visit, parts))

    def product(self, parts: tuple[Expression, ...]) -> str:
        return reduce(self.graph.multiply, map(self.visit, parts))

    def quotient(self, part: Expression, by: float) -> str:
        return self.graph.node("Div", self.visit(part), self.number(by))

    def positive(self, part: Expression) -> str:
        return self.graph.node("Max", self.visit(part), self.number(0.0))

    def exp(self, part: Expression) -> str:
        return self.graph.node("Exp", self.visit(part))

    def ramp(self, part: Expression) -> str:
        return logistic(self.graph, self.visit(part))

    def wave(self, kind: str, part: Expression) -> str:
        value = self.visit(part)
        if kind == "sin":
            return self.graph.node("Sin", value)
        # 1 - 2 sin(value / 2)^2, because onnxruntime before 1.29 has no Cos for doubles; halving is exact
        sine = self.graph.node("Sin", self.graph.node("Div", value, self.number(2.0)))
        square = self.graph.node("Mul", self.graph.node("Mul", sine, sine), self.number(2.0))
        return self.graph.node("Sub", self.number(1.0), square)

    def condition(self, part: Expression, relation: str, at: float) -> str:
        node = {">": "Greater", "<=": "LessOrEqual", "=": "Equal"}[relation]
        return self.graph.cast(self.graph.node(node, self.visit(part), self.number(at)), np.float64)


def logistic(graph: Graph, value: str) -> str:
    """1 / (1 + exp(-value)); an exponential beyond all numbers gives zero, as it should."""
    one = graph.constant(1.0)
    return graph.node("Div", one, graph.node("Add", one, graph.node("Exp", graph.node("Neg", value))))


def feature_of(graph: Graph, ingredient: Ingredient, cells: str, *, is_text: bool) -> str:
    """A feature from the cells of its raw column."""
    match ingredient:
        case NumberOf(_, fill):
            if fill is None:
                return cells
            return graph.node("Where", graph.node("IsNaN", cells), graph.constant(float(fill)), cells)
        case MissingIn():
            return _is_level(graph, cells, (None,), is_text)
        case LevelOf(_, levels, other):
            inside = _is_level(graph, cells, levels, is_text)
            return graph.node("Sub", graph.constant(1.0), inside) if other else inside
        case LimitIn():  # refused before
            raise TypeError


def _is_level(graph: Graph, cells: str, levels: Sequence[str | float | None], is_text: bool) -> str:
    """1 if the cell is one of the levels, else 0."""
    if not levels:
        return graph.constant(0.0)
    if is_text:
        keys = list(dict.fromkeys(NO_TEXT if level is None else str(level) for level in levels))
        attributes = {"keys_strings": keys, "values_int64s": [1] * len(keys), "default_int64": 0}
        found = graph.node("LabelEncoder", cells, domain="ai.onnx.ml", **attributes)
        return graph.cast(found, np.float64)
    tests = [
        graph.node("IsNaN", cells) if level is None else graph.node("Equal", cells, graph.constant(float(level)))
        for level in levels
    ]
    return graph.cast(reduce(lambda a, b: graph.node("Or", a, b), tests), np.float64)


def many_probabilities(graph: Graph, values: str) -> str:
    """Probabilities of several classes: sigmoids over their sum, in logarithms."""
    size = graph.node("Exp", graph.node("Neg", graph.node("Abs", values)))
    log_size = graph.node("Log", graph.node("Add", graph.constant(1.0), size))
    log_logistic = graph.node("Sub", graph.node("Min", values, graph.constant(0.0)), log_size)
    return graph.node("Softmax", log_logistic, axis=1)
