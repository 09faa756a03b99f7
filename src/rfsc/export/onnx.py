"""ONNX, by a converter for skl2onnx: a model alone, with its recipe, or at the end of a pipeline.

Three outputs: the label, the probabilities as a plain tensor, and the decision values. All is computed in double
precision. A row that lacks a number which the model needs has NaN for decision and probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from .._optional import require
from ..model.access import as_predictor
from ..model.predictor import Predictor
from .onnx_converter import ALIAS, convert, parse, set_types
from .onnx_steps import register_steps

OPSET = {"": 18, "ai.onnx.ml": 3}  # onnxruntime reads these from 1.14 on
# what the classifiers of skl2onnx take; with "raw_scores" decision values stand in the place of the probabilities
OPTIONS = {"zipmap": [True, False, "columns"], "raw_scores": [True, False]}

E = TypeVar("E", bound=type)
_converted: list[type] = [Predictor]


def converts(estimator: E) -> E:
    """Make `register` tell skl2onnx of a class of estimators, too.

    Parameters
    ----------
    estimator : type
        A class whose fitted objects `Program.of` can read.

    Returns
    -------
    type
        The same class, so that this can decorate it.
    """
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


def to_onnx(source: Any, *, target_opset: int | dict[str, int] | None = None) -> Any:
    """A model as an ONNX graph.

    Parameters
    ----------
    source : RFSCClassifier, Predictor, Pipeline or SparseModel
        What to convert. A table without a recipe is one input ``X`` of shape (n_samples, n_features). With a recipe, or
        for a pipeline that can be written as one, every raw column is an input of its own, of shape (n_samples, 1):
        numbers as doubles with NaN for missing ones, texts with "" for missing ones.
    target_opset : int, dict or None, default=None
        Version of the operators, at least 15; None for version 18, and 3 of ai.onnx.ml.

    Returns
    -------
    onnx.ModelProto
        With the outputs ``label``, ``probabilities`` and ``decision``. Where a number that the model needs is missing,
        the last two are NaN, and the label is "" for labels of text, NaN for floats and otherwise the first class.
    """
    register()
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

    predictor = as_predictor(source)
    if predictor.recipe_ is None:
        names, inputs = ["X"], [("X", DoubleTensorType([None, predictor.n_features_in_]))]
    else:
        columns = predictor.recipe_.columns
        names = [raw.name for raw in columns]
        kinds = {"number": DoubleTensorType, "text": StringTensorType}
        inputs = [(f"column{c}", kinds[raw.kind]([None, 1])) for c, raw in enumerate(columns)]
    model = convert_sklearn(predictor, "rfsc", inputs, target_opset=target_opset or OPSET)
    _rename_inputs(model.graph, names)
    return model


def _rename_inputs(graph: Any, names: Sequence[str]) -> None:
    """Give the inputs the very names of the columns, which skl2onnx would turn into identifiers."""
    taken = {name for node in graph.node for name in (*node.input, *node.output)}
    taken |= {constant.name for constant in graph.initializer}
    new: dict[str, str] = {}
    for given, name in zip(graph.input, names, strict=True):
        taken.discard(given.name)
        while not name or name in taken:
            name += "_"
        new[given.name] = given.name = name
        taken.add(name)
    for node in graph.node:
        node.input[:] = [new.get(name, name) for name in node.input]
