"""ONNX, by a converter for skl2onnx: a model alone, with its recipe, or at the end of a pipeline.

Three outputs: the label, the probabilities as a plain tensor, and the decision values. All is computed in double
precision. A row that lacks a number which the model needs has NaN for decision and probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from .._model.access import as_predictor
from .._model.predictor import Predictor
from .._model.recipe import RawColumn
from .._utils.optional import require
from .onnx_converter import ALIAS, convert, input_columns, parse, set_types
from .onnx_steps import register_steps
from .program import Program

OPSET = {"": 18, "ai.onnx.ml": 3}  # onnxruntime reads these from 1.14 on
# what the classifiers of skl2onnx take; with "raw_scores" decision values stand in the place of the probabilities
OPTIONS = {"zipmap": [True, False, "columns"], "raw_scores": [True, False]}

E = TypeVar("E", bound=type)
_converted: list[type] = [Predictor]


def converts(estimator: E) -> E:
    """Make `register` tell skl2onnx of a class of estimators, too."""
    _converted.append(estimator)
    return estimator


def register() -> None:
    """Tell skl2onnx how `RFSCClassifier` and `Predictor` are converted.

    After that ``skl2onnx.to_onnx(pipeline, X)`` works for any pipeline whose other steps skl2onnx knows. Double
    precision needs inputs in double precision: give it rows of float64, not of float32. The option "zipmap" is accepted
    and has no effect: probabilities are always a tensor.
    """
    require("ONNX", ["onnx", "skl2onnx"], "onnx")
    from skl2onnx import update_registered_converter

    register_steps()
    for estimator in _converted:
        update_registered_converter(
            estimator, ALIAS + estimator.__name__, set_types, convert, parser=parse, options=OPTIONS
        )


def to_onnx(source: Any, X: Any = None, *, target_opset: int | dict[str, int] | None = None) -> Any:
    """A model as an ONNX graph.

    Parameters
    ----------
    source : RFSCClassifier, Predictor, Pipeline or SparseModel
        What to convert. What reads a table of features, or an array of numbers, becomes a graph with one input ``X``
        of shape (n_samples, n_columns). With a recipe for named or text columns, every raw column that the model reads
        is an input of its own, of shape (n_samples, 1), under its name: numbers are doubles with NaN for missing ones,
        texts have "" for missing ones. A pipeline is read as a recipe where that is possible.
    X : array-like or data frame, default=None
        Some rows, of which only the types are read. Needed only for a pipeline that picks columns by name and has steps
        that no recipe can say, such as PCA: there, every column of X is an input.
    target_opset : int, dict or None, default=None
        Version of the operators, at least 15; None for at most 18, and 3 of ai.onnx.ml.

    Returns
    -------
    onnx.ModelProto
        With the outputs ``label``, ``probabilities`` and ``decision``, all but the first in double precision. Where a
        number that the model needs is missing, these are NaN, and the label is "" for labels of text, NaN for floats
        and otherwise the first class.
    """
    register()
    opset = OPSET if target_opset is None else target_opset
    predictor = _as_one(source)
    if predictor is None:
        return _converted_by_skl2onnx(source, _inputs_like(source, X), opset)
    return _converted_by_skl2onnx(predictor, _inputs_of(predictor), opset)


def _as_one(source: Any) -> Predictor | None:
    """The source without a pipeline; None for a pipeline with steps that no recipe can say."""
    if not isinstance(source, Pipeline):
        return as_predictor(source)
    as_predictor(source[-1])  # refuses what is not ours, in words that say so
    try:
        return as_predictor(source)
    except TypeError:
        return None


def _converted_by_skl2onnx(estimator: Any, inputs: list[tuple[str, Any]], opset: Any) -> Any:
    from onnx import shape_inference
    from skl2onnx import convert_sklearn

    try:
        model = convert_sklearn(estimator, "rfsc", inputs, target_opset=opset)
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True)  # some steps mix their precisions
    except (RuntimeError, NotImplementedError, shape_inference.InferenceError) as error:
        steps = ", ".join(type(step).__name__ for step in estimator[:-1]) if isinstance(estimator, Pipeline) else ""
        if not steps:
            raise
        msg = (
            f"skl2onnx has no graph in double precision for a pipeline with {steps}. Leave out what it cannot convert, "
            "or export pipeline[-1] and compute its features elsewhere."
        )
        raise ValueError(msg) from error
    _rename_inputs(model.graph, [name for name, _ in inputs])
    return model


def _inputs_of(predictor: Predictor) -> list[tuple[str, Any]]:
    """Names and types of the inputs: one for all columns of an array, else one for each column that is read."""
    program = Program.of(predictor)
    is_array = not predictor.named and all(raw.kind == "number" for raw in program.columns)
    if predictor.recipe_ is None or is_array:
        return _one_input(len(program.columns))
    return _one_each([program.columns[c] for c in input_columns(program)])


def _inputs_like(pipeline: Any, X: Any) -> list[tuple[str, Any]]:
    """The inputs for a pipeline that reads such rows: one for each column only where its first step picks columns."""
    if not isinstance(pipeline[0], ColumnTransformer) or not hasattr(pipeline, "feature_names_in_"):
        return _one_input(pipeline.n_features_in_)
    if not hasattr(X, "columns"):
        msg = (
            "the pipeline has steps that no recipe can say, and a graph must know which of its columns are texts. Pass "
            "some rows as a data frame: to_onnx(pipeline, X)."
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
    return [(raw.name or "_", kinds[raw.kind]([None, 1])) for raw in columns]  # skl2onnx wants a name


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
