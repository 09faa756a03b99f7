"""Everything that a report says, as plain numbers, texts and lists: what `Report.json()` writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .._model import SparseModel
from .._model.predictor import Predictor
from .._utils.arrays import FloatArray
from .._utils.manifest import versions
from .._utils.words import fixed, listed, plural
from ..explain.contributions import contributions
from ..explain.definitions import definitions, legend
from ..explain.equation import equation
from ..explain.filter_table import filter_table
from ..explain.rounding import has_own_units
from ..explain.stability import stability
from ..explain.term_table import AVERAGE, NAIVE, term_table
from .cautions import find_cautions
from .columns import ColumnSummary, summarize_columns
from .features import describe_features
from .honest_score import HonestScore
from .metrics import METRICS, measure
from .settings import code_for
from .subject import Subject

VERSION = 1
UNEVEN = 0.75  # share of the largest class beyond which accuracy flatters


def collect(subject: Subject, X: Any, score: HonestScore, *, target: str, title: str) -> dict[str, Any]:
    """All that a report says, without a single row of the table."""
    columns = summarize_columns(X, _names_of_columns(subject, X))
    models = [_model(model, subject) for model in subject.models]
    cautions = find_cautions(subject, columns, score, [model["stability"]["terms"]["index"] for model in models])
    content = {
        "kind": "rfsc report",
        "version": VERSION,
        "created": datetime.now(UTC).date().isoformat(),
        "title": title,
        "asked": _asked(subject, columns, target),
        "score": _score(score, subject),
        "cautions": [asdict(caution) for caution in cautions],
        "models": models,
        "note": NAIVE if any(model["has_errors"] for model in models) else AVERAGE,
        "features": describe_features(subject),
        "data": _data(subject, columns),
        "filter": _filter(subject),
        "settings": _settings(subject, len(columns)),
    }
    content["headline"] = headline(content)
    plain_content: dict[str, Any] = plain(content)
    return plain_content


def plain(value: Any) -> Any:
    """Numbers of NumPy as Python's, tuples as lists, and None for what strict JSON cannot write."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def headline(content: Mapping[str, Any]) -> str:
    """The two sentences that matter most."""
    score, models = content["score"], content["models"]
    key, ours = score["main_metric"], score["methods"][0]["scores"][score["main_metric"]]
    n_terms = sum(len(model["terms"]) for model in models)
    size = f"{plural(n_terms, 'term')}" + (f" in {len(models)} formulas" if len(models) > 1 else "")
    rows = "rows left out of the fit" if score["honest"] else "the rows given, which it may have seen"
    if key == "accuracy":
        what = f"is right for {_share(ours['mean'])} of {rows}"
    else:
        what = f"reaches a balanced accuracy of {_share(ours['mean'])} on {rows}"
    first = f"A model of {size} {what} (± {fixed(100 * ours['sd'], 1)} points)."
    others = [f"{m['name']} {_share(m['scores'][key]['mean'])}" for m in score["methods"][1:]]
    return f"{first} Beside it: {listed(others)}." if others else first


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _asked(subject: Subject, columns: list[ColumnSummary], target: str) -> dict[str, Any]:
    counts = np.bincount(subject.code, minlength=len(subject.class_names))
    classes = [
        {"label": label, "n_rows": int(n), "share": n / max(len(subject.code), 1)}
        for label, n in zip(subject.class_names, counts, strict=True)
    ]
    return {
        "target": target,
        "n_rows": len(subject.code),
        "n_columns": len(columns),
        "n_features": subject.features.shape[1],
        "classes": classes,
    }


def _score(score: HonestScore, subject: Subject) -> dict[str, Any]:
    shares = np.bincount(subject.code, minlength=len(subject.class_names)) / len(subject.code)
    predicted = score.proba.argmax(axis=1)
    n_classes = len(subject.class_names)
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(confusion, (score.code, predicted), 1)
    return {
        "how": score.how,
        "honest": score.is_honest,
        "n_folds": score.n_folds,
        "n_repeats": score.n_repeats,
        "n_predicted": len(score.code),
        "main_metric": "accuracy" if shares.max() <= UNEVEN else "balanced_accuracy",
        "metrics": [asdict(metric) for metric in METRICS],
        "methods": [_method(score, place) for place in range(len(score.methods))],
        "on_given_rows": measure(subject.code, subject.proba),
        "confusion": confusion,
        "n_terms_per_fold": score.sizes,
    }


def _method(score: HonestScore, place: int) -> dict[str, Any]:
    method = score.methods[place]
    gap, half_width = score.difference(method)
    scores = {}
    for k, metric in enumerate(METRICS):
        one: dict[str, Any] = {"mean": method.mean[k], "sd": method.spread[k]}
        if place:
            clear = abs(gap[k]) > half_width[k]
            one |= {"gain": gap[k], "gain_half_width": half_width[k]}
            one["verdict"] = "no clear difference" if not clear else "better" if gap[k] > 0 else "worse"
        scores[metric.key] = one
    return {"name": method.name, "scores": scores, "seconds": method.seconds, "n_not_converged": method.n_warned}


def _model(model: SparseModel, subject: Subject) -> dict[str, Any]:
    evidence = model.evidence
    spread = np.abs(model.coef) * model.columns(subject.features).std(axis=1) if model.terms else np.empty(0)
    share = spread / spread.max() if spread.size and spread.max() > 0 else np.zeros(len(spread))
    table = term_table(subject.predictor, label=model.label)  # which knows the features that are yes or no
    terms = [
        row | {"influence": influence, "constant": not term.features}
        for row, influence, term in zip(table.rows(), share, model.terms, strict=True)
    ]
    return {
        "label": str(model.label),
        "equation": {
            "original": equation(model, units="original") if has_own_units(model) else None,
            "scaled": equation(model, units="scaled"),
            "definitions": definitions(model),
            "how_to_read": _legend(model, "original"),
            "how_to_read_scaled": _legend(model, "scaled"),
        },
        "has_errors": model.standard_error is not None,
        "terms": terms,
        "features": _features_by_influence(model, subject.features),
        "n_candidates": None if evidence is None else evidence.n_candidates,
        "n_restarts": None if evidence is None else evidence.n_restarts,
        "n_converged": None if evidence is None else evidence.stop_reasons.count("converged"),
        "search_score": None if evidence is None else evidence.score,
        "stability": {of: _stability(model, of) for of in ("terms", "features")},
    }


def _data(subject: Subject, columns: list[ColumnSummary]) -> list[dict[str, Any]]:
    used = _columns_used(subject)
    return [asdict(column) | {"used": None if used is None else column.name in used} for column in columns]


def _columns_used(subject: Subject) -> set[str] | None:
    """Names of the raw columns that some model reads; None where the preprocessing does not tell."""
    read = {p for model in subject.models for p in model.features}
    recipe = subject.predictor.recipe_
    if recipe is not None:
        return {recipe.columns[recipe.features[p].column].name for p in read}
    names = subject.models[0].feature_names
    return {names[p] for p in read} if subject.reads_table else None


def _names_of_columns(subject: Subject, X: Any) -> list[str] | None:
    if hasattr(X, "columns") or not subject.reads_table:
        return None
    recipe = subject.predictor.recipe_
    return [column.name for column in recipe.columns] if recipe else list(subject.models[0].feature_names)


def _features_by_influence(model: SparseModel, features: FloatArray) -> list[dict[str, Any]]:
    """How much each feature moves f over the rows, beside the one that moves it most."""
    if not model.features:
        return []
    parts = contributions(Predictor([model], ["other", "this"], named=False), features, by="feature")
    spread = parts.values.std(axis=0)[:-1]  # without the constant
    share = spread / spread.max() if spread.max() > 0 else spread
    return [{"name": parts.names[j], "influence": share[j]} for j in np.argsort(-share, kind="stable")]


def _legend(model: SparseModel, units: str) -> list[str]:
    """How to read the equation; a reader of the page finds the definitions beside it, not in a function."""
    return [line.replace("`definitions` has", "the definitions have") for line in legend(model, units=units)]


def _stability(model: SparseModel, of: str) -> dict[str, Any]:
    found = stability(model, of=of)
    return {"index": found.index, "low": found.low, "high": found.high, "word": found.word, "reason": found.reason}


def _filter(subject: Subject) -> list[dict[str, Any]]:
    """Per output what the filter dropped; empty where there was none."""
    tables = [(model, filter_table(model)) for model in subject.models]
    return [
        {
            "label": str(model.label),
            "threshold": table.threshold,
            "significance": table.significance,
            "n_tested": len(table.feature),
            "dropped": [row for row in table.rows() if not row["kept"]],
        }
        for model, table in tables
        if table is not None
    ]


def _settings(subject: Subject, n_columns: int) -> dict[str, Any]:
    fitted = subject.estimator
    settings = subject.predictor.settings_
    return {
        "code": code_for(fitted if fitted is not None else settings, _table_in_words(subject, n_columns)),
        "can_be_fitted_again": fitted is not None,
        "parameters": {name: repr(value) for name, value in sorted(settings.items())},
        "versions": versions(),
    }


def _table_in_words(subject: Subject, n_columns: int) -> str:
    n_rows = plural(len(subject.code), "row")
    if subject.estimator is None and subject.predictor.recipe_ is not None:
        return f"X: the {plural(subject.features.shape[1], 'feature')} that the model makes of a table; {n_rows}"
    return f"{n_rows}, {plural(n_columns, 'column')}"
