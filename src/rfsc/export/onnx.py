"""ONNX graphs: a model with its recipe, in double precision.

Three outputs: the label, the probabilities as a plain tensor, and the decision values. A row that lacks a number which
the model needs has NaN for decision and probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from .._model import Predictor
from .._model.access import as_predictor
from .._utils.optional import require
from .onnx_graph import NO_TEXT, Graph, Terms, logistic, many_probabilities
from .program import Program

OPSETS = {"": 15, "ai.onnx.ml": 3}  # versions of the operators; onnxruntime reads these from 1.10 on
IR_VERSION = 8  # of the file, as old as these operators
OUTPUTS = ("label", "probabilities", "decision")


def to_onnx(source: Any) -> Any:
    """A model as an ONNX graph.

    Parameters
    ----------
    source : RFSCClassifier, Predictor, Pipeline or SparseModel
        What to convert. What reads a table of features, or an array of numbers, becomes a graph with one input ``X``
        of shape (n_samples, n_columns). With a recipe for named or text columns, every raw column that the model reads
        is an input of its own, of shape (n_samples, 1), under its name: numbers are doubles with NaN for missing ones,
        texts have "" for missing ones. Of a pipeline, the steps must be those that a model file can hold. A graph
        reads no texts as numbers, and the levels that a `TableEncoder` found are in small letters, without spaces
        around them; a model that asks whether a number is a limit, such as <5, is refused.

    Returns
    -------
    onnx.ModelProto
        With the outputs ``label``, ``probabilities`` and ``decision``, all but the first in double precision. If a
        number that the model needs is missing, these are NaN, and the label is "" for labels of text, NaN for floats
        and otherwise the first class.
    """
    require("ONNX", ["onnx"], "onnx")
    from onnx import TensorProto, helper

    predictor = as_predictor(source)
    program = Program.of(predictor)
    inputs, cells = _inputs(predictor, program)
    graph = Graph({*OUTPUTS, *(given.name for given in inputs)})
    label, probabilities, decision = _answers(graph, program, lambda c: cells(graph, c), inputs[0].name)
    for output, value in zip(OUTPUTS, (label, probabilities, decision), strict=True):
        graph.put_out(value, output)
    n_classes, kind = len(program.classes), _labels(program.classes).dtype
    outputs = [
        helper.make_tensor_value_info("label", helper.np_dtype_to_tensor_dtype(kind), [None]),
        helper.make_tensor_value_info("probabilities", TensorProto.DOUBLE, [None, n_classes]),
        helper.make_tensor_value_info("decision", TensorProto.DOUBLE, [None] if n_classes == 2 else [None, n_classes]),
    ]
    opsets = [helper.make_opsetid(*one) for one in OPSETS.items()]
    content = helper.make_graph(graph.nodes, "rfsc", inputs, outputs, graph.constants)
    return helper.make_model(content, producer_name="rfsc", opset_imports=opsets, ir_version=IR_VERSION)


def _inputs(predictor: Predictor, program: Program) -> tuple[list[Any], Callable[[Graph, int], str]]:
    """The inputs, and what gives the cells of a raw column, shape (n_samples, 1)."""
    from onnx import TensorProto, helper

    limits = [program.columns[c].name for c in program.read if program.reads_limits(c)]
    if limits:
        msg = f"the model asks whether {limits[0]!r} is a limit such as <5, which a number in ONNX cannot say."
        raise ValueError(f"{msg} Export it as Python or SQL.")
    n_columns = len(program.columns)
    is_array = not predictor.named and all(raw.kind == "number" for raw in program.columns)
    if predictor.recipe_ is None or is_array:
        table = helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, n_columns])
        return [table], lambda graph, c: graph.node("Gather", "X", graph.constant(np.array([c])), axis=1)
    names: dict[int, str] = {}
    for c in program.read or (0,):  # at least one, to count the rows
        name = program.columns[c].name or "_"
        while name in (*OUTPUTS, *names.values()):
            name += "_"
        names[c] = name
    kinds = {"number": TensorProto.DOUBLE, "text": TensorProto.STRING}
    inputs = [
        helper.make_tensor_value_info(name, kinds[program.columns[c].kind], [None, 1]) for c, name in names.items()
    ]
    return inputs, lambda _, c: names[c]


def _labels(classes: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """The labels in one of the four types that they can have in a graph."""
    if all(isinstance(label, str) for label in classes):
        return np.array(classes, dtype=object)
    labels = np.array(classes)
    if labels.dtype.kind in "biuf":
        return labels.astype({"b": np.bool_, "f": np.float64}.get(labels.dtype.kind, np.int64))
    kinds = " and ".join(sorted({type(label).__name__ for label in classes}))
    msg = f"labels in ONNX are texts, integers, floats or bools, got {kinds}. Fit with such labels."
    raise TypeError(msg)


def _answers(graph: Graph, program: Program, cells: Callable[[int], str], table: str) -> tuple[str, str, str]:
    columns = _values(graph, program, cells, table)
    flat = graph.constant(np.array([1]))
    if len(columns) == 1:
        (values,) = columns
        decision = graph.node("Squeeze", values, flat)
        best = graph.cast(graph.node("Greater", decision, graph.constant(0.0)), np.int64)
        sides = (logistic(graph, graph.node("Neg", values)), logistic(graph, values))
        probabilities = graph.node("Concat", *sides, axis=1)
    else:
        decision = graph.node("Concat", *columns, axis=1)
        best = graph.node("ArgMax", decision, axis=1, keepdims=0)
        probabilities = many_probabilities(graph, decision)
    missing = _missing(graph, program.required, cells, table)
    label = _label(graph, _labels(program.classes), best, graph.node("Squeeze", missing, flat))
    return label, probabilities, decision


def _values(graph: Graph, program: Program, cells: Callable[[int], str], table: str) -> list[str]:
    """The value of every output, shape (n_samples, 1); NaN if it lacks a number."""
    terms, values = Terms(graph, program, cells), []
    for k, model in enumerate(program.models):
        pairs = zip(model.coef.tolist(), model.terms, strict=True)
        parts = [graph.multiply(graph.constant(coef), terms.visit(term.expression)) for coef, term in pairs]
        total = reduce(graph.add, parts, graph.constant(0.0))
        missing = _missing(graph, program.required_by(k), cells, table)
        values.append(graph.node("Where", missing, graph.constant(np.nan), total))
    return values


def _missing(graph: Graph, required: Sequence[int], cells: Callable[[int], str], table: str) -> str:
    """Whether a cell of a required column is missing, shape (n_samples, 1)."""
    n_samples = graph.node("Shape", table, start=0, end=1)
    shape = graph.node("Concat", n_samples, graph.constant(np.array([1])), axis=0)
    nowhere = graph.node("Expand", graph.constant(np.array([False])), shape)  # for models that need no number
    return reduce(lambda a, b: graph.node("Or", a, b), (graph.node("IsNaN", cells(c)) for c in required), nowhere)


def _label(graph: Graph, labels: np.ndarray[Any, Any], best: str, missing: str) -> str:
    """The labels at the best positions; without an answer, and if the type allows it, a label that says so."""
    no_label = 0
    if labels.dtype.kind in "Of":
        no_label = len(labels)
        labels = np.append(labels, np.array([np.nan if labels.dtype.kind == "f" else NO_TEXT], dtype=labels.dtype))
    position = graph.node("Where", missing, graph.constant(np.array([no_label])), best)
    return graph.node("Gather", graph.constant(labels), position, axis=0)
