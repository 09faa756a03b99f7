"""The models of whatever can be explained, drawn or exported: a model, a classifier, a pipeline, a file's content."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .predictor import FormulaPredictions, Predictor
from .raw_units import in_units_before, simplified, yes_or_no_features
from .recipe_reader import read_recipe
from .sparse_model import SparseModel

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
    if isinstance(source, FormulaPredictions):
        check_is_fitted(source)
        clf: Any = source
        named, manifest = hasattr(clf, "feature_names_in_"), getattr(clf, "manifest_", None)
        return Predictor(clf.models_, clf.classes_, None, clf.get_params(), named=named, manifest=manifest)
    inside = " Pass its best_estimator_." if hasattr(source, "best_estimator_") else ""
    msg = f"expected {EXPECTED}, got a {type(source).__name__}.{inside}"
    raise TypeError(msg)


def models_of(source: Any) -> list[SparseModel]:
    """The models of all outputs."""
    if isinstance(source, SparseModel):
        return [source]
    if not isinstance(source, Pipeline):
        return as_predictor(source).models_
    last = as_predictor(source[-1]).models_  # an error that says so, if it is not ours
    try:
        return as_predictor(source).models_
    except TypeError:
        return [model.renamed(_names_after(source, model)) for model in last]


def one_model(source: Any, label: object = None) -> SparseModel:
    """The one model of a source, or the one for a class."""
    models = models_of(source)
    if label is None and len(models) == 1:
        return models[0]
    found = [model for model in models if label is not None and model.label == label]
    if len(found) != 1:
        labels = ", ".join(map(repr, np.array([model.label for model in models]).tolist()))  # never np.int64(0)
        outputs = f"{len(models)} outputs: pass label, one of" if len(models) > 1 else "one output, for label"
        msg = f"there {'are' if len(models) > 1 else 'is'} {outputs} {labels}; got {label!r}."
        raise ValueError(msg)
    return found[0]


def _from_pipeline(pipeline: Pipeline) -> Predictor:
    """The last step's models, with a recipe in the place of all steps before it."""
    inner = as_predictor(pipeline[-1])
    steps = _steps_before(pipeline)
    if not steps:
        return inner
    before = Pipeline(steps)
    named = hasattr(before, "feature_names_in_")
    columns = before.feature_names_in_ if named else [f"x{j}" for j in range(before.n_features_in_)]
    recipe, minus, over = read_recipe(before, [str(name) for name in columns])
    raw = [in_units_before(model.renamed(recipe.names), minus, over) for model in inner.models_]
    models = [simplified(model, yes_or_no_features(recipe)) for model in raw]
    return Predictor(models, inner.classes_, recipe, inner.settings_, named=named, manifest=inner.manifest_)


def _steps_before(pipeline: Pipeline) -> list[tuple[str, Any]]:
    """The steps before the last one that do anything."""
    return [(name, step) for name, step in pipeline.steps[:-1] if step is not None and not isinstance(step, str)]


def _names_after(pipeline: Pipeline, model: SparseModel) -> list[str]:
    """Names of the features of a model that follows other steps."""
    steps = _steps_before(pipeline)
    before = Pipeline(steps)
    try:
        names = [str(name) for name in before.get_feature_names_out()]
    except AttributeError:  # a step that names nothing
        names = list(model.feature_names)
    raw = {str(name) for name in getattr(before, "feature_names_in_", [f"x{j}" for j in range(before.n_features_in_)])}
    last = type(steps[-1][1]).__name__
    return [f"{last}({name})" if name in raw else name for name in names]
