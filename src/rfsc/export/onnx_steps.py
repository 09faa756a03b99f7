"""Steps of a pipeline that skl2onnx does in single precision only: scalers of several inputs, and SimpleImputer.

onnxruntime joins several inputs with an operator that gives floats, and has no imputer for doubles. Here, inputs are
joined first by a plain Concat, and doubles are filled by comparing. What else there is stays with skl2onnx.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from .onnx_graph import Graph

SCALERS = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)
IMPUTER = "SklearnSimpleImputer"  # the name under which skl2onnx knows its own converter


def register_steps() -> None:
    """Replace what skl2onnx does for these steps; it stays as it was for single precision and for texts."""
    from skl2onnx import update_registered_converter, update_registered_parser

    for scaler in SCALERS:
        update_registered_parser(scaler, _parse_joined)
    update_registered_converter(
        SimpleImputer, "RfscSimpleImputer", _set_imputed, _convert_imputer, parser=_parse_joined
    )


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


def _kept(imputer: Any) -> tuple[Any, Any]:
    """Columns that are put out, and those of which an indicator follows."""
    empty = np.isnan(imputer.statistics_.astype(np.float64)) & (imputer.strategy != "constant")
    kept = np.flatnonzero(~empty | imputer.keep_empty_features)
    return kept, np.asarray(imputer.indicator_.features_ if imputer.add_indicator else [], dtype=np.int64)


def _set_imputed(operator: Any) -> None:
    """How many columns there are after filling."""
    from skl2onnx.common._registration import get_shape_calculator

    get_shape_calculator(IMPUTER)(operator)
    if _is_double(operator):
        operator.outputs[0].type.shape = [None, sum(columns.size for columns in _kept(operator.raw_operator))]


def _convert_imputer(scope: Any, operator: Any, container: Any) -> None:
    """Fill doubles and append the indicators; leave the rest to skl2onnx."""
    from skl2onnx.common._registration import get_converter

    if not _is_double(operator):
        get_converter(IMPUTER)(scope, operator, container)
        return
    imputer, graph = operator.raw_operator, Graph(scope, container)
    (cells,) = (variable.full_name for variable in operator.inputs)
    marker = float(imputer.missing_values)
    missing = graph.node("IsNaN", cells) if np.isnan(marker) else graph.node("Equal", cells, graph.constant(marker))
    filled = graph.node("Where", missing, graph.constant(imputer.statistics_.astype(np.float64)), cells)
    kept, indicated = _kept(imputer)
    result = graph.node("Gather", filled, graph.constant(kept), axis=1)
    if indicated.size:
        indicator = graph.cast(graph.node("Gather", missing, graph.constant(indicated), axis=1), np.float64)
        result = graph.node("Concat", result, indicator, axis=1)
    graph.put_out(result, operator.outputs[0].full_name)
