"""The models of whatever can be explained, drawn or exported: a model, a classifier, a pipeline, a file's content.

The models of a pipeline become functions of the raw table: in its units, and with plain terms for features that are 0
or 1, such as ``sex=male``. Families do not know that no other value can come; a recipe does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._terms import Mention, Term, monomial
from .._terms.expression import Condition, Number, Positive, Scaled, Sum
from .._terms.naming import rounded, shown_in
from .._utils.arrays import FloatArray
from .predictor import FormulaPredictions, Predictor
from .recipe import NumberOf, Recipe
from .recipe_reader import continued, read_recipe
from .sparse_model import Evidence, SparseModel

EXACT, NEAR = 1e-9, 1 / 50  # of half a range: by how much a number in a formula, or in a label, may be off
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
        recipe = getattr(clf, "recipe_", None)
        models = clf.models_ if recipe is None else [simplified(m, yes_or_no_features(recipe)) for m in clf.models_]
        return Predictor(models, clf.classes_, recipe, clf.get_params(), named=named, manifest=manifest)
    inside = " Pass its best_estimator_." if hasattr(source, "best_estimator_") else ""
    msg = f"expected {EXPECTED}, got an object of type {type(source).__name__}.{inside}"
    raise TypeError(msg)


def predictor_if_readable(source: Any) -> Predictor | None:
    """The same, or None for a pipeline with steps that no recipe can express."""
    if not isinstance(source, Pipeline):
        return as_predictor(source)
    as_predictor(source[-1])  # an error that says so, if it is not ours
    try:
        return as_predictor(source)
    except TypeError:
        return None


WEIGHTED = (
    "class_weight changed the weights of the classes, so probabilities do not say how often a class occurs. Use them "
    "to rank rows, or fit without class_weight and choose a threshold."
)


def weights_classes(source: Any) -> bool:
    """Whether a model was fitted with class_weight, as far as it is known."""
    last = source[-1] if isinstance(source, Pipeline) else source
    settings = getattr(last, "settings_", None) or {}
    return (getattr(last, "class_weight", None) or settings.get("class_weight")) is not None


def models_of(source: Any) -> list[SparseModel]:
    predictor = predictor_if_readable(source)
    if predictor is not None:
        return predictor.models_
    last = as_predictor(source[-1])
    names = _names_after(source, last.column_names)
    names = names if last.recipe_ is None else last.recipe_.renamed(names).names
    return [model.renamed(names) for model in last.models_]


def model_of(source: Any, output: int) -> SparseModel:
    """The model of an output, by its index."""
    models = models_of(source)
    if not 0 <= output < len(models):
        msg = f"output must be between 0 and {len(models) - 1}, the last output of this classifier, got {output}."
        raise ValueError(msg)
    return models[output]


def one_model(source: Any, label: object = None, *, or_else: str = "") -> SparseModel:
    """The one model of a source, or the one for a class; `or_else` ends the advice if no class was given.

    For the first of two classes this is the model of the second with the opposite sign.
    """
    models = models_of(source)
    if label is None and len(models) == 1:
        return models[0]
    found = [model for model in models if label is not None and model.label == label]
    classes = as_predictor(source[-1] if isinstance(source, Pipeline) else source).classes_.tolist()
    if len(models) == 1 and not found and label in classes:
        found = [models[0].opposite(label)]
    if len(found) != 1:
        labels = ", ".join(map(repr, classes))
        msg = f"label must be one of {labels}, got {label!r}."
        if label is None:
            msg = f"the model has {len(models)} outputs, one for each class. Pass label, one of {labels}{or_else}."
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
    reading = read_recipe(before, _columns_of(before))
    recipe, minus, over = reading if inner.recipe_ is None else continued(reading, inner.recipe_)
    raw = [_in_units_before(model.renamed(recipe.names), minus, over) for model in inner.models_]
    models = [simplified(model, yes_or_no_features(recipe)) for model in raw]
    return Predictor(models, inner.classes_, recipe, inner.settings_, named=named, manifest=inner.manifest_)


def _steps_before(pipeline: Pipeline) -> list[tuple[str, Any]]:
    """The steps before the last one that do anything."""
    return [(name, step) for name, step in pipeline.steps[:-1] if step is not None and not isinstance(step, str)]


def _columns_of(before: Pipeline) -> list[str]:
    """Names of the columns that the steps read."""
    return [str(name) for name in getattr(before, "feature_names_in_", [f"x{j}" for j in range(before.n_features_in_)])]


def _names_after(pipeline: Pipeline, seen: list[str]) -> Sequence[str]:
    """Names of the columns that come out of the steps before the last one, which sees them under other names."""
    steps = _steps_before(pipeline)
    before = Pipeline(steps)
    try:
        names = [str(name) for name in before.get_feature_names_out()]
    except AttributeError:  # a step that names nothing
        names = seen
    raw, last = _columns_of(before), type(steps[-1][1]).__name__
    return [f"{last}({name})" if name in raw else name for name in names]


def _in_units_before(model: SparseModel, minus: FloatArray, over: FloatArray) -> SparseModel:
    """The same function of other features: those from which the model's own came as (x - minus) / over.

    On the [0, 1] scale nothing changes; ranges, and what names show, are in the units of x.
    """
    if not minus.any() and np.all(over == 1.0):
        return model
    own = model.scaling
    scaling = replace(own, half_minimum=own.half_minimum * over + minus / 2, half_span=own.half_span * over)

    def number(feature: int, value: float, error: float = EXACT) -> float:
        """A value of a feature as it was before, without digits that nobody needs."""
        before = value * float(over[feature]) + float(minus[feature])
        return rounded(before, float(scaling.half_span[feature]) * error)

    def part(one: str | Mention) -> str | Mention:
        if isinstance(one, str) or one.value is None:
            return one
        return Mention(one.feature, number(one.feature, one.value, NEAR))

    def moved(term: Term) -> Term:
        """The term with all that it shows in the units of the raw table."""
        label = None if term.label is None else tuple(map(part, term.label))
        return Term(shown_in(term.expression, scaling, number), label)

    evidence = model.evidence
    if evidence is not None:
        evidence = replace(evidence, terms=tuple(map(moved, evidence.terms)))
    return replace(model, terms=tuple(map(moved, model.terms)), scaling=scaling, evidence=evidence)


def yes_or_no_features(recipe: Recipe | None) -> frozenset[int]:
    """Features that are 0 or 1 whatever the table holds; nothing is known of them without a recipe."""
    if recipe is None:
        return frozenset()
    return frozenset(p for p, made in enumerate(recipe.features) if not isinstance(made, NumberOf))


def simplified(model: SparseModel, of: Collection[int]) -> SparseModel:
    """The same function with simpler terms: ``sex=male`` for its square, its hinge or its step."""
    terms = tuple(_simplified(term, of) for term in model.terms)
    if len(set(terms)) < len(terms):
        return model
    evidence = None if model.evidence is None else _merged(model.evidence, of)
    return replace(model, terms=terms, evidence=evidence)


def _simplified(term: Term, of: Collection[int]) -> Term:
    if term.factors is not None:
        return monomial(p for i, p in enumerate(term.factors) if p not in of or p not in term.factors[:i])
    match term.expression:
        case Positive(Sum((Scaled(p), Number(0.0)))) if p in of:
            return monomial([p])
        case Condition(Scaled(p), ">", knot) if p in of and 0.0 <= knot < 1.0:
            return monomial([p])
        case Condition(Scaled(p), "=", 1.0) if p in of:
            return monomial([p])
    return term


def _merged(evidence: Evidence, of: Collection[int]) -> Evidence:
    """What was seen of a term in all its forms: a restart chose it when it chose one of them."""
    place: dict[Term, int] = {}
    at = np.array([place.setdefault(_simplified(term, of), len(place)) for term in evidence.terms], dtype=np.int64)
    selected = np.zeros((evidence.n_restarts, len(place)), dtype=np.bool_)
    rip = np.zeros(selected.shape)
    for old, new in enumerate(at):
        selected[:, new] |= evidence.selected[:, old]
        rip[:, new] = np.maximum(rip[:, new], evidence.rip[:, old])
    traced = list(dict.fromkeys(at[list(evidence.traced)].tolist()))
    columns = [np.flatnonzero(at[list(evidence.traced)] == new) for new in traced]
    traces = tuple(
        replace(trace, rips=np.stack([trace.rips[:, some].max(axis=1) for some in columns], axis=1))
        if columns
        else trace
        for trace in evidence.traces
    )
    return replace(evidence, terms=tuple(place), selected=selected, rip=rip, traced=tuple(traced), traces=traces)
