"""What skl2onnx calls for one of our estimators: a parser, a function for types, and the converter itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from .onnx_graph import (
    NO_TEXT,
    Graph,
    column,
    feature_of,
    many_probabilities,
    scaled_feature,
    two_probabilities,
)
from .program import Program

ALIAS = "Rfsc"
LEAST_OPSET = 15  # before, some operators took attributes where they take inputs now


def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:  # noqa: ARG001
    """Declare the three outputs; skl2onnx's own parser would append a ZipMap."""
    from skl2onnx.common.data_types import DoubleTensorType

    operator = scope.declare_local_operator(ALIAS + type(model).__name__, model)
    operator.inputs = inputs
    kinds = {"label": _label_type(model.classes_), "probabilities": DoubleTensorType, "decision": DoubleTensorType}
    for name, kind in kinds.items():
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


def set_types(operator: Any) -> None:
    """Say what the outputs hold; an estimator around this one may have declared only the first two."""
    from skl2onnx.common.data_types import DoubleTensorType

    model = operator.raw_operator
    n_samples, n_classes = operator.inputs[0].type.shape[0], len(model.classes_)
    shapes = [[n_samples, n_classes], [n_samples] if len(model.models_) == 1 else [n_samples, n_classes]]
    operator.outputs[0].type = _label_type(model.classes_)([n_samples])
    for output, shape in zip(operator.outputs[1:], shapes, strict=False):
        output.type = DoubleTensorType(shape)


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of one estimator."""
    if container.target_opset < LEAST_OPSET:
        msg = f"expected a target_opset of at least {LEAST_OPSET}, got {container.target_opset}. Raise it."
        raise ValueError(msg)
    model = operator.raw_operator
    program = Program.of(model)
    graph = Graph(scope, container)
    wants_scores = container.get_options(model, {"raw_scores": False})["raw_scores"]
    cells = _cells(graph, operator.inputs, program)
    results = _answers(graph, program, cells, operator.inputs[0].full_name, wants_scores=wants_scores)
    for output, result in zip(operator.outputs, results, strict=False):
        graph.put_out(result, output.full_name)


def _label_type(classes: Any) -> Any:
    from skl2onnx.common import data_types

    kind = _labels(classes).dtype.kind
    return getattr(data_types, {"b": "Boolean", "i": "Int64", "f": "Double", "O": "String"}[kind] + "TensorType")


def _labels(classes: Any) -> np.ndarray[Any, Any]:
    """The labels in one of the four types that they can have in a graph."""
    labels = np.asarray(classes)
    if all(isinstance(label, str) for label in labels.tolist()):
        return labels.astype(object)
    if labels.dtype.kind in "biuf":
        return labels.astype({"b": np.bool_, "f": np.float64}.get(labels.dtype.kind, np.int64))
    msg = f"labels in ONNX are texts, integers, floats or bools, got an array of {labels.dtype}. Fit with such labels."
    raise TypeError(msg)


def _cells(graph: Graph, inputs: Any, program: Program) -> Callable[[int], str]:
    """From the index of a raw column to the name of its cells, shape (n_samples, 1)."""
    from skl2onnx.common.data_types import StringTensorType

    places = _places(inputs, program)

    def cells(c: int) -> str:
        variable, position = places[c]
        is_text = isinstance(variable.type, StringTensorType)
        if is_text != (program.columns[c].kind == "text"):
            kind = program.columns[c].kind
            msg = f"input {variable.raw_name!r} must hold {kind}s, got {type(variable.type).__name__}. Declare it so."
            raise TypeError(msg)
        cell = graph.node("Gather", variable.full_name, graph.constant(np.array([position])), axis=1)
        return cell if is_text else graph.cast(cell, np.float64)

    return cells


def _places(inputs: Any, program: Program) -> dict[int, tuple[Any, int]]:
    """Which column of which input a raw column is: by name as in a data frame, else by its place."""
    n_columns, read = len(program.columns), input_columns(program)
    widths = [variable.type.shape[1] if len(variable.type.shape) == 2 else None for variable in inputs]
    if len(inputs) == 1 and widths[0] in (None, n_columns):  # steps of a pipeline do not always tell their width
        return {c: (inputs[0], c) for c in range(n_columns)}
    named = {variable.raw_name: (variable, 0) for variable in inputs}
    names = [program.columns[c].name for c in read]
    if len(set(names)) == len(names) and all(name in named for name in names):
        return {c: named[name] for c, name in zip(read, names, strict=True)}
    found = [(variable, k) for variable, width in zip(inputs, widths, strict=True) for k in range(width or 1)]
    for columns in (range(n_columns), read):
        if len(found) == len(columns):
            return dict(zip(columns, found, strict=True))
    msg = f"the model was fitted to {n_columns} columns and reads {len(read)} of them, got {len(found)}. Declare these."
    raise ValueError(msg)


def input_columns(program: Program) -> tuple[int, ...]:
    """The raw columns that a graph needs: those that are read, and at least one, to count the rows."""
    return program.read or (0,)


def _answers(
    graph: Graph, program: Program, cells: Callable[[int], str], table: str, *, wants_scores: bool
) -> tuple[str, str, str]:
    """Label, probabilities (or decision values for every class) and decision values."""
    columns = _values(graph, program, cells, table)
    flat = graph.constant(np.array([1]))
    if len(columns) == 1:
        (values,) = columns
        decision = graph.node("Squeeze", values, flat)
        best = graph.cast(graph.node("Greater", decision, graph.constant(0.0)), np.int64)
        scores = graph.node("Concat", graph.node("Neg", values), values, axis=1)
        probabilities = two_probabilities(graph, values)
    else:
        scores = decision = graph.node("Concat", *columns, axis=1)
        best = graph.node("ArgMax", decision, axis=1, keepdims=0)
        probabilities = many_probabilities(graph, decision, best, len(columns))
    missing = _missing(graph, program.required, cells, table)
    label = _label(graph, _labels(program.classes), best, graph.node("Squeeze", missing, flat))
    return label, scores if wants_scores else probabilities, decision


def _values(graph: Graph, program: Program, cells: Callable[[int], str], table: str) -> list[str]:
    """The value of every output, shape (n_samples, 1); NaN where it lacks a number."""

    def scaled(p: int) -> str:
        made = program.features[p]
        is_text = program.columns[made.column].kind == "text"
        return scaled_feature(graph, feature_of(graph, made, cells(made.column), is_text=is_text), program.scaling, p)

    values = []
    for k, output in enumerate(program.outputs):
        parts = [graph.multiply(graph.constant(coef), column(graph, term, scaled)) for coef, term in output]
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
    """The labels at the best positions; where there is no answer, and the type allows it, a label that says so."""
    no_label = 0
    if labels.dtype.kind in "Of":
        no_label = len(labels)
        labels = np.append(labels, np.array([np.nan if labels.dtype.kind == "f" else NO_TEXT], dtype=labels.dtype))
    position = graph.node("Where", missing, graph.constant(np.array([no_label])), best)
    return graph.node("Gather", graph.constant(labels), position, axis=0)
