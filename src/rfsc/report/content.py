"""Everything that a report says, as plain numbers, texts and lists: what `Report.json()` writes."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import Pipeline

from .. import __all__ as rfsc_names
from .. import bases
from .._model import SparseModel
from .._model.access import one_model
from .._model.fallback import Fallback
from .._search.loop import SearchSettings
from .._utils.arrays import FloatArray
from .._utils.manifest import versions
from .._utils.validation import fit_params
from .._utils.words import plural
from ..atlas import Atlas
from ..certify import Certificate
from ..classifier import RFSCClassifier
from ..explain import definitions, equation, feature_effects, legend, term_table
from ..explain.equation import original_equation
from ..explain.front import DIGITS
from ..restrictions import Restrictions
from .cautions import certificate_cautions, find_cautions
from .first_screen import first_figures, headline, methods, question
from .honest_score import MAJORITY, HonestScore
from .metrics import METRICS, measure
from .odds import odds_ratios, worked_example
from .performance import Outcomes, performance
from .subject import MIN_ROWS, ColumnSummary, Subject, raw_columns, summarize_columns
from .table_one import table_one

VERSION = 1
SETTINGS_CLASSES = {"Restrictions": Restrictions} | {name: getattr(bases, name) for name in bases.__all__}
TERM_COLUMNS = ("term", "worth", "coef", "odds_ratio", "change")
MAX_CODE_WIDTH = 88  # a longer call is broken into one argument per line


@dataclass(frozen=True, slots=True)
class PageWords:
    """What the caller says of the table and the fit."""

    target: str
    title: str
    source: str | None = None  # where the rows come from
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()  # on how the table was read
    n_groups: int | None = None
    fallbacks: Sequence[Fallback] = ()


def collect(
    subject: Subject,
    X: Any,
    score: HonestScore,
    words: PageWords,
    *,
    certificate: Certificate | None = None,
    atlas: Atlas | None = None,
) -> dict[str, Any]:
    """All that a report says, without a single row of the table; a certificate replaces what is naive."""
    table = subject.as_read(X)
    columns = summarize_columns(table, subject.column_names())
    used = subject.columns_used()
    models = [_model(subject, k) for k in range(len(subject.models))]
    cautions = find_cautions(subject, columns, score, words.warnings, words.notes)
    if certificate is not None:
        cautions += certificate_cautions(certificate, subject)
    is_separable = any(caution.key in ("separation", "partial_separation") for caution in cautions)
    for found, model in zip(models, subject.models, strict=True):
        found["odds_ratios"] = odds_ratios(subject, model, intervals=certificate is None and not is_separable)
        found["example"] = worked_example(subject, model)
    content: dict[str, Any] = {
        "kind": "rfsc report",
        "version": VERSION,
        "created": datetime.now(UTC).date().isoformat(),
        "title": words.title,
        "task": _task(subject, len(columns), words.target) | {"source": words.source},
        "score": _score(score, subject) | {"n_groups": words.n_groups},
        "sites": _sites(score),
        "performance": _performance(score, subject),
        "optimism": _optimism(score, subject),
        "cautions": [asdict(caution) for caution in cautions],
        "certificate": None if certificate is None else _certificate(certificate, subject),
        "atlas": None if atlas is None else _atlas(atlas),
        "models": models,
        "features": subject.feature_definitions(),
        "table_one": table_one(raw_columns(table), columns, subject.code, subject.class_names, subject.weight),
        "data": [asdict(column) | {"used": None if used is None else column.name in used} for column in columns],
        "read": _read(subject),
        "fallbacks": [_fallback(one) for one in words.fallbacks],
        "settings": _settings(subject, columns),
    }
    content = dict(plain(content))
    content |= {"question": question(content), "key_figures": first_figures(content), "methods": methods(content)}
    return content | {"headline": headline(content)}


def plain(value: Any) -> Any:
    """NumPy's numbers as Python's, tuples as lists, and None for what strict JSON cannot write."""
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


def _task(subject: Subject, n_columns: int, target: str) -> dict[str, Any]:
    counts = np.bincount(subject.code, minlength=len(subject.class_names))
    return {
        "target": target,
        "n_rows": len(subject.code),
        "n_columns": n_columns,
        "n_features": subject.features.shape[1],
        "classes": [
            {"label": label, "n_rows": n, "share": n / len(subject.code)}
            for label, n in zip(subject.class_names, counts, strict=True)
        ],
    }


def _score(score: HonestScore, subject: Subject) -> dict[str, Any]:
    labels = range(len(subject.class_names))
    share = None if score.n_repeats == 1 else np.full(len(score.code), 1.0 / score.n_repeats)
    return {
        "how": score.how,
        "honest": score.is_honest,
        "n_folds": score.n_folds,
        "folds_of": score.folds_of,
        "n_repeats": score.n_repeats,
        "n_predicted": score.n_rows,
        "metrics": [asdict(metric) for metric in METRICS],
        "methods": [_method(score, place) for place in range(len(score.methods))],
        "figures": score.figures(),
        "class_shares": score.figures(MAJORITY),
        "confusion": confusion_matrix(score.code, score.proba.argmax(axis=1), labels=labels, sample_weight=share),
        "n_terms_per_fold": score.sizes,
    }


def _performance(score: HonestScore, subject: Subject) -> list[dict[str, Any]]:
    """For the second of two classes; of more, each against the others."""
    classes = list(enumerate(subject.class_names))
    return [
        performance(Outcomes.of_class(score, k), label, score.figures()["auc"] if len(classes) == 2 else None)
        for k, label in (classes[1:] if len(classes) == 2 else classes)
    ]


def _optimism(score: HonestScore, subject: Subject) -> dict[str, float] | None:
    """How much better the scores of the rows of the fit are than those of held-out rows; None if none were held out."""
    if not score.is_honest:
        return None
    apparent = measure(subject.code, subject.proba, subject.weight)
    honest = score.figures()
    return {m.key: (apparent[m.key] - honest[m.key]) * (1 if m.higher_is_better else -1) for m in METRICS}


def _method(score: HonestScore, place: int) -> dict[str, Any]:
    method = score.methods[place]
    gain, half_width = score.difference(method)
    scores = {}
    for k, metric in enumerate(METRICS):
        one: dict[str, Any] = {"mean": method.mean[k], "sd": method.spread[k]}
        if place:
            verdict = "better" if gain[k] > half_width[k] else "worse" if -gain[k] > half_width[k] else "unclear"
            one |= {"gain": gain[k], "gain_half_width": half_width[k], "verdict": verdict}
        scores[metric.key] = one
    return {"name": method.name, "scores": scores, "seconds": method.seconds, "n_not_converged": method.n_warned}


def _model(subject: Subject, output: int) -> dict[str, Any]:
    model = subject.models[output]
    evidence = model.evidence
    effect = np.abs(model.coef) * model.columns(subject.features).std(axis=1) if model.terms else np.empty(0)
    table = term_table(subject.predictor, label=model.label)  # by the predictor, which knows the yes/no features
    return {
        "label": str(model.label),
        "equation": {
            "original": original_equation(model),
            "scaled": equation(model, units="scaled"),
            "definitions": definitions(model),
            "how_to_read": _legend(model, "original"),
            "how_to_read_scaled": _legend(model, "scaled"),
        },
        "terms": [
            {name: row[name] for name in TERM_COLUMNS} | {"influence": influence, "constant": not term.features}
            for row, influence, term in zip(table.rows(), _relative(effect), model.terms, strict=True)
        ],
        "sizes": _sizes(subject, output),
        "n_candidates": None if evidence is None else evidence.n_candidates,
        "n_restarts": None if evidence is None else evidence.n_restarts,
        "n_converged": None if evidence is None else evidence.n_converged,
        "effects": _effects(subject, output),
    }


def _certificate(certificate: Certificate, subject: Subject) -> dict[str, Any]:
    names = dict.fromkeys(model.feature_names[p] for model in subject.models for p in model.features)
    kinds = {name: getattr(certificate, name) for name in ("clusters", "features", "terms")}
    return {
        "lines": [certificate.of_features(list(names)), *certificate.lines()],
        **{name: table.rows() for name, table in kinds.items()},
        "notes": list(certificate.notes),
        "p_signal": certificate.p_signal,
        "score": asdict(certificate.score),
        "settings": asdict(certificate.settings),
    }


def _atlas(atlas: Atlas) -> dict[str, Any]:
    return {
        "lines": atlas.lines(),
        "features": atlas.features.rows(),
        "swaps": atlas.swaps.rows(),
        "notes": [*atlas.features.notes, *atlas.swaps.notes],
        "settings": asdict(atlas.settings),
    }


def _relative(effect: FloatArray) -> FloatArray:
    """Effects as shares of the largest."""
    return effect / effect.max() if effect.size and effect.max() > 0 else effect


def _effects(subject: Subject, output: int) -> dict[str, Any]:
    """What each feature does, in words; without the ends of the ranges, which are values of single rows."""
    table = feature_effects(subject.predictor, output=output)
    shown = ("feature", "effect", "change", "terms")
    return {"rows": [{name: row[name] for name in shown} for row in table.rows()], "not_shown": table.not_shown}


def _legend(model: SparseModel, units: str) -> list[str]:
    """How to read the equation; the page shows the definitions beside it."""
    return [line.replace("`definitions` has", "the definitions have") for line in legend(model, units=units)]


def _sizes(subject: Subject, output: int) -> list[dict[str, Any]]:
    """Left-out log-loss by the number of terms; empty if it is not known."""
    model = subject.models[output]
    curve = model.sizes
    if curve is None:
        return []
    names = ("n_terms", "n_features", "log_loss", "above_best", "standard_error")
    rows = zip(*(getattr(curve, name).tolist() for name in names), strict=True)
    found = [dict(zip(names, row, strict=True)) for row in rows]
    return [
        row
        | {
            "within_1se": row["above_best"] <= row["standard_error"],
            "chosen": row["n_terms"] == model.size,
            "equation": _equation_at(subject, output, row["n_terms"]),
        }
        for row in found
    ]


def _equation_at(subject: Subject, output: int, n_terms: int) -> str | None:
    """The equation of the same fit at another size; None for a model from a file, which holds no others."""
    estimator: Any = subject.estimator
    steps = estimator.steps if isinstance(estimator, Pipeline) else [("model", estimator)]
    try:
        other = steps[-1][1].at_size(n_terms)
    except (AttributeError, ValueError):  # ValueError: another output has no model as small as this
        return None
    source = Pipeline([*steps[:-1], ("model", other)]) if len(steps) > 1 else other
    return str(equation(one_model(source, subject.models[output].label), digits=DIGITS))


def _sites(score: HonestScore) -> list[dict[str, Any]]:
    """The scores of every site, after fits to the others; those of few rows are not shown."""
    rows = []
    for (name, n_rows), values in zip(score.folds, score.methods[0].values.tolist(), strict=False):
        figures = dict(zip((metric.key for metric in METRICS), values, strict=True))
        known = figures if n_rows >= MIN_ROWS else dict.fromkeys(figures)
        rows.append({"site": name, "n_rows": n_rows, **known})
    return rows


def _read(subject: Subject) -> list[dict[str, str]]:
    """What was read, changed and doubted, one row for each column of the raw table; empty if that is not known."""
    found = (subject.predictor.manifest_ or {}).get("columns") or []
    steps = subject.estimator.steps[:1] if isinstance(subject.estimator, Pipeline) else []
    return list(found) or [row for _, step in steps if hasattr(step, "columns_") for row in step.columns_.rows()]


def _fallback(one: Fallback) -> dict[str, Any]:
    return {"when_missing": list(one.when_missing), "terms": one.terms, **one.figures}


def _settings(subject: Subject, columns: list[ColumnSummary]) -> dict[str, Any]:
    settings, fitted_to = subject.predictor.settings_, subject.models[0].n_observations
    n_rows = plural(len(subject.code) if fitted_to is None else int(fitted_to), "row")
    estimator, table = subject.estimator, f"{n_rows}, {plural(len(columns), 'column')}"
    record = (subject.predictor.manifest_ or {}).get("data", {})
    if estimator is None:
        estimator = restored_classifier(settings)
        if subject.predictor.recipe_ is not None:
            table = f"X: the {plural(subject.features.shape[1], 'feature')} that the model makes from a table; {n_rows}"
    code = fit_code(estimator, table, [name for name in ("weights", "groups") if record.get(name)])
    if subject.is_turned:
        code += f"\n# its formula is that of {subject.class_names[0]}, which has the opposite signs"
    return {
        "code": code,
        "can_be_fitted_again": subject.estimator is not None,
        "parameters": {name: _as_code(value, set(), indent=0) for name, value in sorted(settings.items())},
        "versions": dict(versions()),
    }


def restored_classifier(settings: Mapping[str, Any]) -> RFSCClassifier:
    """The classifier with the settings of a model file; what was not written by rfsc stays as it is."""
    known = RFSCClassifier().get_params()
    given = {name: _restored(value) for name, value in settings.items() if name in known}
    if isinstance(given.get("search"), Mapping):
        with suppress(TypeError, ValueError):
            given["search"] = SearchSettings(**given["search"])
    return RFSCClassifier(**given)


def _restored(value: Any) -> Any:
    """A setting from a file, where an object such as Polynomial(degree=3) is stored as its repr."""
    if isinstance(value, list):
        return [_restored(part) for part in value]
    try:
        call = ast.parse(value, mode="eval").body if isinstance(value, str) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SETTINGS_CLASSES:
            fields = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
            return SETTINGS_CLASSES[call.func.id](**fields)
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        return value  # ordinary text, or not written by rfsc
    return value


def fit_code(estimator: Any, table: str, given: Sequence[str] = ()) -> str:
    """Lines of Python that make an estimator with the same settings and fit it, to rows with weights or groups."""
    used: set[tuple[str, str]] = set()
    made = _as_code(estimator, used, indent=0)
    imports = [f"from {module} import {name}" for module, name in sorted(used)]
    named = fit_params(estimator, **{{"weights": "sample_weight"}.get(name, name): name for name in given})
    more = "".join(f", {parameter}={name}" for parameter, name in named.items())
    return "\n".join([*imports, "", f"model = {made}", f"model.fit(X, y{more})  # {table}"])


def _as_code(value: Any, used: set[tuple[str, str]], indent: int) -> str:
    """An expression that makes the value; what must be imported for it is added to `used`."""
    deeper = indent + 4
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, BaseEstimator) or (is_dataclass(value) and type(value).__module__.startswith("rfsc.")):
        used.add((_public_module(type(value)), type(value).__name__))
        parts = [f"{name}={_as_code(part, used, deeper)}" for name, part in _changed(value).items()]
        return _call(type(value).__name__ + "(", parts, ")", indent)
    if type(value) in (list, tuple):
        parts = [_as_code(part, used, deeper) for part in value]
        if type(value) is tuple:
            return _call("(", parts if len(parts) != 1 else [parts[0] + ","], ")", indent)
        return _call("[", parts, "]", indent)
    if type(value) is dict:
        parts = [f"{_as_code(k, used, deeper)}: {_as_code(v, used, deeper)}" for k, v in value.items()]
        return _call("{", parts, "}", indent)
    if inspect.isfunction(value):
        if value.__qualname__ != value.__name__ or value.__name__ == "<lambda>":
            return "..."  # defined inside a function: it cannot be imported
        used.add((value.__module__, value.__name__))
        return value.__name__
    return repr(value)


def _changed(value: Any) -> dict[str, Any]:
    """The parameters of an estimator, or the fields of a settings object, that differ from their defaults."""
    defaults = {name: p.default for name, p in inspect.signature(type(value)).parameters.items()}
    given = value.get_params(deep=False) if hasattr(value, "get_params") else {n: getattr(value, n) for n in defaults}
    # compared by their repr, because arrays and NaN have no plain equality
    return {name: part for name, part in given.items() if repr(part) != repr(defaults.get(name, inspect.Parameter))}


def _call(opening: str, parts: list[str], closing: str, indent: int) -> str:
    line = opening + ", ".join(parts) + closing
    if len(line) + indent <= MAX_CODE_WIDTH and "\n" not in line:
        return line
    pad = " " * (indent + 4)
    return opening + "\n" + "".join(f"{pad}{part.rstrip(',')},\n" for part in parts) + " " * indent + closing


def _public_module(cls: type) -> str:
    """Where a user imports a class from: the public beginning of the name of its module, if it is public."""
    module = cls.__module__
    if module.startswith("rfsc."):
        return "rfsc" if cls.__name__ in rfsc_names else "rfsc.bases" if cls.__name__ in bases.__all__ else module
    return ".".join(takewhile(lambda part: not part.startswith("_"), module.split(".")))
