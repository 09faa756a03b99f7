"""ONNX graphs, built by skl2onnx with converters of our own: a model alone, with its recipe, or after a pipeline.

The converters are passed with each call, so that skl2onnx's registry stays as it is. Three outputs: the label, the
probabilities as a plain tensor, and the decision values, computed in double precision. A row that lacks a number which
the model needs has NaN for decision and probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from .._model import Predictor
from .._model.access import predictor_if_readable
from .._model.recipe import Ingredient, RawColumn
from .._model.recipe_reader import read_recipe
from .._utils.optional import require
from .onnx_graph import NO_TEXT, Graph, Terms, feature_of, logistic, many_probabilities
from .program import Program

OPSET = {"": 18, "ai.onnx.ml": 3}  # onnxruntime reads these from 1.14 on
LEAST_OPSET = 15  # before, some operators took attributes where they take inputs now
SCALERS = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)
IMPUTER = "SklearnSimpleImputer"  # skl2onnx's name for its own converter


def to_onnx(source: Any, X: Any = None, *, target_opset: int | dict[str, int] | None = None) -> Any:
    """A model as an ONNX graph.

    Parameters
    ----------
    source : RFSCClassifier, Predictor, Pipeline or SparseModel
        What to convert. What reads a table of features, or an array of numbers, becomes a graph with one input ``X``
        of shape (n_samples, n_columns). With a recipe for named or text columns, every raw column that the model reads
        is an input of its own, of shape (n_samples, 1), under its name: numbers are doubles with NaN for missing ones,
        texts have "" for missing ones. A pipeline is read as a recipe if that is possible. A graph reads no texts as
        numbers, and the levels that a `TableEncoder` found are in small letters, without spaces around them; a model
        that asks whether a number is a limit, such as <5, is refused.
    X : array-like or data frame, default=None
        Some rows, of which only the types are read. Needed only for a pipeline that picks columns by name and has steps
        that no recipe can express, such as PCA: there, every column of X is an input.
    target_opset : int, dict or None, default=None
        Version of the operators, at least 15; None for at most 18, and 3 of ai.onnx.ml.

    Returns
    -------
    onnx.ModelProto
        With the outputs ``label``, ``probabilities`` and ``decision``, all but the first in double precision. If a
        number that the model needs is missing, these are NaN, and the label is "" for labels of text, NaN for floats
        and otherwise the first class.
    """
    require("ONNX", ["onnx", "skl2onnx"], "onnx")
    opset = OPSET if target_opset is None else target_opset
    predictor = predictor_if_readable(source)
    if predictor is None:
        return _converted(source, _inputs_like(source, X), opset)
    return _converted(predictor, _inputs_of(predictor), opset)


def _converted(estimator: Any, inputs: list[tuple[str, Any]], opset: Any) -> Any:
    from onnx import shape_inference
    from skl2onnx import convert_sklearn

    last = type(estimator[-1] if isinstance(estimator, Pipeline) else estimator)
    try:
        model = convert_sklearn(
            estimator,
            "rfsc",
            inputs,
            target_opset=opset,
            custom_parsers={last: _parse, SimpleImputer: _parse_joined, **dict.fromkeys(SCALERS, _parse_joined)},
            custom_shape_calculators={last: lambda operator: None, SimpleImputer: _set_imputed},  # noqa: ARG005
            custom_conversion_functions={last: _convert, SimpleImputer: _convert_imputer},
        )
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True)  # some steps mix their precisions
    except (RuntimeError, NotImplementedError, shape_inference.InferenceError) as error:
        steps = ", ".join(type(step).__name__ for step in estimator[:-1]) if isinstance(estimator, Pipeline) else ""
        if not steps:
            raise
        msg = (
            f"skl2onnx has no graph in double precision for a pipeline with {steps}. Remove the steps that it cannot "
            "convert, or export pipeline[-1] and compute its features elsewhere."
        )
        raise ValueError(msg) from error
    _rename_inputs(model.graph, [name for name, _ in inputs])
    return model


# ---- inputs


def _inputs_of(predictor: Predictor) -> list[tuple[str, Any]]:
    """Names and types of the inputs: one for all columns of an array, else one for each column that is read."""
    program = Program.of(predictor)
    limits = [program.columns[c].name for c in program.read if program.reads_limits(c)]
    if limits:
        msg = f"the model asks whether {limits[0]!r} is a limit such as <5, which a number in ONNX cannot say."
        raise ValueError(f"{msg} Export it as Python or SQL.")
    is_array = not predictor.named and all(raw.kind == "number" for raw in program.columns)
    if predictor.recipe_ is None or is_array:
        return _one_input(len(program.columns))
    return _one_each([program.columns[c] for c in _input_columns(program)])


def _inputs_like(pipeline: Any, X: Any) -> list[tuple[str, Any]]:
    """The inputs for a pipeline that reads such rows: one for each column only if its first step picks columns."""
    if not isinstance(pipeline[0], ColumnTransformer) or not hasattr(pipeline, "feature_names_in_"):
        return _one_input(pipeline.n_features_in_)
    if not hasattr(X, "columns"):
        msg = (
            "the pipeline has steps that no recipe can express, and a graph must know which of its columns are texts. "
            "Pass some rows as a data frame: to_onnx(pipeline, X)."
        )
        raise ValueError(msg)
    kinds = ["number" if np.asarray(X[name]).dtype.kind in "biuf" else "text" for name in X.columns]
    return _one_each([RawColumn(str(name), kind) for name, kind in zip(X.columns, kinds, strict=True)])


def _one_input(n_columns: int) -> list[tuple[str, Any]]:
    from skl2onnx.common.data_types import DoubleTensorType

    return [("X", DoubleTensorType([None, n_columns]))]


def _one_each(columns: Sequence[RawColumn]) -> list[tuple[str, Any]]:
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

    kinds = {"number": DoubleTensorType, "text": StringTensorType}
    return [(raw.name or "_", kinds[raw.kind]([None, 1])) for raw in columns]  # skl2onnx refuses an empty name


def _input_columns(program: Program) -> tuple[int, ...]:
    """The raw columns that a graph needs: those that are read, and at least one, to count the rows."""
    return program.read or (0,)


def _rename_inputs(graph: Any, names: Sequence[str]) -> None:
    """Give the inputs the very names of the columns, which skl2onnx would turn into identifiers."""
    taken = {name for node in graph.node for name in (*node.input, *node.output)}
    taken |= {constant.name for constant in graph.initializer}
    taken -= {given.name for given in graph.input}
    new: dict[str, str] = {}
    for given, name in zip(graph.input, names, strict=True):
        while name in taken:
            name += "_"
        new[given.name] = given.name = name
        taken.add(name)
    for node in graph.node:
        node.input[:] = [new.get(name, name) for name in node.input]


# ---- what skl2onnx calls for the classifier


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:  # noqa: ARG001
    """Declare the three outputs; skl2onnx's own parser would append a ZipMap."""
    from skl2onnx.common.data_types import DoubleTensorType

    operator = scope.declare_local_operator("RfscFormulas", model)
    operator.inputs = inputs
    n_classes = len(model.classes_)
    types = {
        "label": _label_type(model.classes_)([None]),
        "probabilities": DoubleTensorType([None, n_classes]),
        "decision": DoubleTensorType([None] if n_classes == 2 else [None, n_classes]),
    }
    for name, kind in types.items():
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _convert(scope: Any, operator: Any, container: Any) -> None:
    if container.target_opset < LEAST_OPSET:
        msg = f"expected a target_opset of at least {LEAST_OPSET}, got {container.target_opset}. Raise it."
        raise ValueError(msg)
    program = Program.of(operator.raw_operator)
    graph = Graph(scope, container)
    cells = _cells(graph, operator.inputs, program)
    results = _answers(graph, program, cells, operator.inputs[0].full_name)
    for output, result in zip(operator.outputs, results, strict=True):
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
    n_columns = len(program.columns)
    width = inputs[0].type.shape[1] if len(inputs[0].type.shape) == 2 else None  # not every step declares its width
    if len(inputs) == 1 and width in (None, n_columns):
        places = {c: (inputs[0], c) for c in range(n_columns)}
    else:
        places = {c: (variable, 0) for c, variable in zip(_input_columns(program), inputs, strict=True)}

    def cells(c: int) -> str:
        variable, position = places[c]
        cell = graph.node("Gather", variable.full_name, graph.constant(np.array([position])), axis=1)
        return cell if program.columns[c].kind == "text" else graph.cast(cell, np.float64)

    return cells


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


# ---- steps that skl2onnx does in single precision only
# onnxruntime joins several inputs with an operator that gives floats, and has no imputer for doubles. Here, inputs are
# joined first by a plain Concat, and doubles are filled by comparing. Everything else stays with skl2onnx.


def _parse_joined(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Join several inputs into one, then go on as usual."""
    from skl2onnx._parse import _parse_sklearn_simple_model
    from skl2onnx.common.data_types import StringTensorType

    if len(inputs) > 1 and not any(isinstance(variable.type, StringTensorType) for variable in inputs):
        joined = scope.declare_local_operator("SklearnConcat")
        joined.inputs = inputs
        joined.outputs.append(scope.declare_local_variable("joined", type(inputs[0].type)([None, None])))
        inputs = joined.outputs
    return _parse_sklearn_simple_model(scope, model, inputs, custom_parsers=custom_parsers)


def _is_double(operator: Any) -> bool:
    from skl2onnx.common.data_types import DoubleTensorType

    return all(isinstance(variable.type, DoubleTensorType) for variable in operator.inputs)


def _imputed(operator: Any) -> Sequence[Ingredient]:
    """What the columns are after filling."""
    imputer = operator.raw_operator
    return read_recipe(imputer, [f"x{j}" for j in range(imputer.n_features_in_)]).recipe.features


def _set_imputed(operator: Any) -> None:
    """How many columns there are after filling."""
    from skl2onnx.common._registration import get_shape_calculator

    get_shape_calculator(IMPUTER)(operator)
    if _is_double(operator):
        operator.outputs[0].type.shape = [None, len(_imputed(operator))]


def _convert_imputer(scope: Any, operator: Any, container: Any) -> None:
    """Fill doubles and append the indicators; texts and floats are left to skl2onnx."""
    from skl2onnx.common._registration import get_converter

    if not _is_double(operator):
        get_converter(IMPUTER)(scope, operator, container)
        return
    graph = Graph(scope, container)
    (table,) = (variable.full_name for variable in operator.inputs)
    columns = []
    for made in _imputed(operator):
        cells = graph.node("Gather", table, graph.constant(np.array([made.column])), axis=1)
        columns.append(feature_of(graph, made, cells, is_text=False))
    graph.put_out(graph.node("Concat", *columns, axis=1), operator.outputs[0].full_name)
