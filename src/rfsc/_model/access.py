"""One door for all that can be explained, drawn or exported: a model, a classifier, a pipeline, a file's content.

The classifier stands above this layer, so it is known by what it has, not by its name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .predictor import Predictor
from .raw_units import in_units_before
from .recipe_reader import read_recipe
from .sparse_model import SparseModel
from .switches import plainer, switches

EXPECTED = (
    "a fitted RFSCClassifier, a pipeline that ends in one, a Predictor read from a file, or a SparseModel such as "
    "clf.models_[0]"
)


def as_predictor(source: Any) -> Predictor:
    """What predicts like the source, and holds nothing but its models."""
    if isinstance(source, Predictor):
        return source
    if isinstance(source, SparseModel):
        classes = np.array([f"not {source.label}", str(source.label)], dtype=object)
        numbered = [f"x{j}" for j in range(len(source.feature_names))]  # what features without names are called
        return Predictor([source], classes, named=list(source.feature_names) != numbered)
    if isinstance(source, Pipeline):
        return _from_pipeline(source)
    if hasattr(source, "paper") or hasattr(source, "models_"):
        check_is_fitted(source)
        named = hasattr(source, "feature_names_in_")
        manifest = getattr(source, "manifest_", None)
        return Predictor(source.models_, source.classes_, None, source.get_params(), named=named, manifest=manifest)
    inside = " Pass its best_estimator_." if hasattr(source, "best_estimator_") else ""
    msg = f"expected {EXPECTED}, got a {type(source).__name__}.{inside}"
    raise TypeError(msg)


def models_of(source: Any) -> list[SparseModel]:
    """The models of all outputs."""
    if isinstance(source, SparseModel):
        return [source]
    if not isinstance(source, Pipeline):
        return as_predictor(source).models_
    last = as_predictor(source[-1]).models_  # refuses what is not ours, in words that say so
    try:
        return as_predictor(source).models_
    except TypeError:
        return [model.renamed(_names_after(source, model)) for model in last]


def _from_pipeline(pipeline: Pipeline) -> Predictor:
    """The last step's models behind a recipe that stands for all steps before it."""
    inner = as_predictor(pipeline[-1])
    steps = _steps_before(pipeline)
    if not steps:
        return inner
    before = Pipeline(steps)
    named = hasattr(before, "feature_names_in_")
    columns = before.feature_names_in_ if named else [f"x{j}" for j in range(before.n_features_in_)]
    recipe, minus, over = read_recipe(before, [str(name) for name in columns])
    raw = [in_units_before(model.renamed(recipe.names), minus, over) for model in inner.models_]
    models = [plainer(model, switches(recipe)) for model in raw]
    return Predictor(models, inner.classes_, recipe, inner.settings_, named=named, manifest=inner.manifest_)


def _steps_before(pipeline: Pipeline) -> list[tuple[str, Any]]:
    """The steps before the last one that do anything."""
    return [(name, step) for name, step in pipeline.steps[:-1] if step is not None and not isinstance(step, str)]


def _names_after(pipeline: Pipeline, model: SparseModel) -> list[str]:
    """What the features of a model are called that stands behind other steps."""
    steps = _steps_before(pipeline)
    before = Pipeline(steps)
    try:
        names = [str(name) for name in before.get_feature_names_out()]
    except AttributeError:  # a step that names nothing
        names = list(model.feature_names)
    raw = {str(name) for name in getattr(before, "feature_names_in_", [f"x{j}" for j in range(before.n_features_in_)])}
    last = type(steps[-1][1]).__name__
    return [f"{last}({name})" if name in raw else name for name in names]
