"""The model file: JSON with a version, from which a model comes back without training data and without running code.

`model.schema.json` beside this file describes it for other programs. What is read is checked part by part; a file that
is not what `save` writes gives one error that says so and shows nothing of its content. How large and how deep a file
may be is said in `json_limits.py`.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._model import Evidence, FilterEvidence, Predictor, SparseModel, Trace, as_predictor
from .._model.recipe import DamagedRecipeError, Recipe
from .._terms import DamagedTermError, Term
from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray
from .._utils.files import whole_file
from .._utils.manifest import read_manifest
from .._version import __version__
from .json_limits import has_half_characters, read_limited, too_much

FORMAT = "rfsc-model"
VERSION = 1
KINDS = {"text": str, "integer": int, "number": float, "boolean": bool}


class ModelFileError(ValueError):
    """A file that is not a model, or not one that this version reads."""


def save(source: Any, path: str | os.PathLike[str], *, history: bool = True) -> None:
    """Write a model file; an older file of that name is replaced only when the new one is complete.

    Parameters
    ----------
    source : RFSCClassifier, Pipeline, Predictor or SparseModel
        What to save. The steps of a pipeline before the classifier are saved as a recipe for raw columns.
    path : str or path
        Where to.
    history : bool, default=True
        Whether to keep the course of every search, for plots.
    """
    path = Path(path)
    content = to_json(source, history=history).encode()
    if not path.parent.is_dir():
        msg = f"the folder {str(path.parent)!r} does not exist. Make it first, or save elsewhere."
        raise FileNotFoundError(msg)
    why = too_much(content)
    if why:
        msg = f"{path.name} was not written, because {why} and could not be read again. Pass history=False."
        raise ValueError(msg)
    with whole_file(path) as part:
        part.write_bytes(content)


def load(path: str | os.PathLike[str]) -> Predictor:
    """Read a model file.

    Parameters
    ----------
    path : str or path
        What `save` wrote.

    Returns
    -------
    Predictor
        Predicts as what was saved, and can be explained, drawn and exported like it.
    """
    with Path(path).open("rb") as file:
        content = read_limited(file)
    _refuse_large(content, Path(path).name)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        msg = f"{Path(path).name} is not a model file: it is not text. Pass a file that rfsc.export.save wrote."
        raise ModelFileError(msg) from None
    return from_json(text, name=Path(path).name)


def to_json(source: Any, *, history: bool = True, timings: bool = True) -> str:
    """The text of a model file.

    Parameters
    ----------
    source : RFSCClassifier, Pipeline, Predictor or SparseModel
        What to write.
    history : bool, default=True
        Whether to keep the course of every search, for plots.
    timings : bool, default=True
        Whether to say when the fit ended and how long it took.

    Returns
    -------
    str
        JSON; without timings the same for the same fit.
    """
    predictor = as_predictor(source)
    first, manifest = predictor.models_[0], predictor.manifest_
    kind, classes = _plain_classes(predictor.classes_)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"rfsc {__version__}",
        "classes": {"kind": kind, "labels": classes},
        "features": {
            "names": list(first.feature_names),
            "named": predictor.named,
            "half_minimum": first.scaling.half_minimum.tolist(),
            "half_span": first.scaling.half_span.tolist(),
        },
        "recipe": predictor.recipe_.as_dict() if predictor.recipe_ else None,
        "outputs": [_output(model, history=history) for model in predictor.models_],
        "settings": {key: _plain(value) for key, value in sorted(predictor.settings_.items()) if key != "callbacks"},
        "manifest": manifest if manifest is None or timings else manifest | {"timings": None},
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def from_json(text: str, *, name: str = "this text") -> Predictor:
    """What `to_json` has written.

    Parameters
    ----------
    text : str
        The content of a model file.
    name : str, default="this text"
        What messages call it.

    Returns
    -------
    Predictor
        Predicts as what was written.
    """
    _refuse_large(text, name)
    document = _parse(text, name)
    try:
        return _read(document)
    except (DamagedRecipeError, DamagedTermError, ModelFileError) as error:
        why = str(error)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        why = "a part is missing or of the wrong type"  # Python's own words would show values
    msg = f"{name} is damaged: {why}. Save the model again, or restore the file from a copy."
    raise ModelFileError(msg)


def _refuse_large(content: str | bytes, name: str) -> None:
    why = too_much(content)
    if why:
        msg = f"{name} is not read, because {why}. Pass a file that rfsc.export.save wrote."
        raise ModelFileError(msg)


def _parse(text: str, name: str) -> Mapping[str, Any]:
    """The JSON object, if it is a model of a version that we know."""

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        document = json.loads(text, parse_constant=refuse)
        if has_half_characters(text):
            json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        msg = f"{name} is not a model file: it is not JSON, or cut off. Pass a file that rfsc.export.save wrote."
        raise ModelFileError(msg) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        msg = f"{name} is JSON, but not a model file of rfsc. Pass a file that rfsc.export.save wrote."
        raise ModelFileError(msg)
    if document.get("version") != VERSION or isinstance(document["version"], bool):
        version = document.get("version")
        got = f"version {version}" if type(version) is int and abs(version) < 10**6 else "another version"
        msg = f"{name} is a model file of {got}, but this rfsc reads version {VERSION}. Install the rfsc that wrote it."
        raise ModelFileError(msg)
    return document


def _read(d: Mapping[str, Any]) -> Predictor:
    names = tuple(_checked(d["features"]["names"], str))
    scaling = Scaling(_numbers(d["features"]["half_minimum"]), _numbers(d["features"]["half_span"]))
    _require(scaling.half_minimum.size == scaling.half_span.size == len(names), "features have gaps in their ranges")
    _require(bool((scaling.half_span >= 0).all()), "a feature has a negative range")
    classes = _checked(d["classes"]["labels"], KINDS[d["classes"]["kind"]])
    _require(len(set(classes)) == len(classes) >= 2, "there must be two or more different classes")
    labels = classes[1:] if len(classes) == 2 else classes
    _require(len(d["outputs"]) == len(labels), "there must be one output for two classes, else one per class")
    blank = SparseModel((), np.empty(0), None, scaling, names, None, 0.0, None)
    models = [_model(o, replace(blank, label=label)) for o, label in zip(d["outputs"], labels, strict=True)]
    recipe = None if d["recipe"] is None else Recipe.from_dict(d["recipe"])
    _require(recipe is None or recipe.names == names, "the recipe makes other features than the models read")
    named = d["features"]["named"]
    _require(isinstance(named, bool) and isinstance(d["settings"], dict), "settings or names are of the wrong type")
    manifest = None if d.get("manifest") is None else read_manifest(d["manifest"])  # the first files had none
    return Predictor(models, np.array(classes), recipe, d["settings"], named=named, manifest=manifest)


def _output(model: SparseModel, *, history: bool) -> dict[str, Any]:
    error = model.standard_error
    return {
        "terms": [term.as_dict() for term in model.terms],
        "names": list(model.names),
        "coef": model.coef.tolist(),
        "standard_error": None if error is None else error.tolist(),
        "n_observations": model.n_observations,
        "score": None if model.score is None else float(model.score),
        "evidence": None if model.evidence is None else _evidence(model.evidence, history=history),
    }


def _model(d: Mapping[str, Any], blank: SparseModel) -> SparseModel:
    """The model of one output; its names are there for people and other programs, the terms know them."""
    terms = _terms(d["terms"], blank)
    coef = _numbers(d["coef"])
    error = None if d["standard_error"] is None else _numbers(d["standard_error"])
    _require(len(terms) == coef.size and (error is None or error.size == coef.size), "a term lacks its coefficient")
    score = None if d["score"] is None else _number(d["score"])
    evidence = None if d["evidence"] is None else _read_evidence(d["evidence"], blank, terms)
    n = _number(d["n_observations"])
    return replace(
        blank, terms=terms, coef=coef, standard_error=error, n_observations=n, score=score, evidence=evidence
    )


def _terms(dicts: Any, blank: SparseModel) -> tuple[Term, ...]:
    terms = tuple(Term.from_dict(d) for d in dicts)
    used = {p for term in terms for p in term.features}
    _require(all(p < len(blank.feature_names) for p in used), "a term reads a feature that is not there")
    _require(not blank.scaling.constant[list(used)].any(), "a term reads a feature without a range")
    return terms


def _evidence(evidence: Evidence, *, history: bool) -> dict[str, Any]:
    test = evidence.filter
    return {
        "n_candidates": evidence.n_candidates,
        "score": evidence.score,
        "terms": [term.as_dict() for term in evidence.terms],
        "selected": [np.flatnonzero(row).tolist() for row in evidence.selected],
        "rip": evidence.rip.tolist(),
        "stop_reasons": list(evidence.stop_reasons),
        "traced": list(evidence.traced) if history else [],
        "traces": [_trace(trace) for trace in evidence.traces] if history else [],
        "filter": None
        if test is None
        else {
            "statistic": test.statistic.tolist(),
            "threshold": test.threshold,
            "significance": test.significance,
            "spared": list(test.spared),
        },
    }


def _trace(trace: Trace) -> dict[str, Any]:
    return {name: getattr(trace, name).tolist() for name in Trace.__slots__}


def _read_evidence(d: Mapping[str, Any], blank: SparseModel, own: tuple[Term, ...]) -> Evidence:
    terms = _terms(d["terms"], blank)
    _require(terms[: len(own)] == own, "the evidence is of other terms than the model's")
    rip = _table(d["rip"], len(terms))
    n_restarts = len(rip)
    _require(len(d["selected"]) == n_restarts == len(d["stop_reasons"]), "a restart is incomplete")
    selected = np.zeros(rip.shape, dtype=np.bool_)
    for row, places in zip(selected, d["selected"], strict=True):
        row[_places(places, len(terms))] = True
    traced = tuple(_places(d["traced"], len(terms)))
    traces = tuple(_read_trace(trace, len(traced)) for trace in d["traces"])
    _require(len(traces) in (0, n_restarts), "the history of a restart is missing")
    test = d["filter"]
    if test is not None:
        test = FilterEvidence(
            _numbers(test["statistic"]),
            _number(test["threshold"]),
            _number(test["significance"]),
            tuple(_places(test["spared"], len(blank.feature_names))),
        )
        _require(test.statistic.size == len(blank.feature_names), "the filter's statistics have gaps")
    return Evidence(
        n_candidates=int(_number(d["n_candidates"])),
        score=_checked([d["score"]], str)[0],
        terms=terms,
        feature_names=blank.feature_names,
        selected=selected,
        rip=rip,
        stop_reasons=tuple(_checked(d["stop_reasons"], str)),
        traced=traced,
        traces=traces,
        filter=test,
    )


def _read_trace(d: Mapping[str, Any], n_traced: int) -> Trace:
    columns = [_numbers(d[name]) for name in Trace.__slots__[:-1]]
    rips = _table(d["rips"], n_traced)
    _require(all(column.size == len(rips) for column in columns), "the history of a restart has gaps")
    return Trace(columns[0], columns[1], columns[2], columns[3], rips)


def _places(values: Any, n: int) -> list[int]:
    places = _checked(values, int)
    _require(all(0 <= place < n for place in places), "a number of a term is out of range")
    return places


def _numbers(values: Any, ndim: int = 1) -> FloatArray:
    array = np.array(values, dtype=np.float64) if len(values) else np.empty((0,) * ndim)
    flat = values if ndim == 1 else [number for row in values for number in row]
    _require(array.ndim == ndim and all(type(number) in (int, float) for number in flat), "a number is not a number")
    _require(bool(np.isfinite(array).all()), "a number is not finite")
    return array


def _table(rows: Any, n_columns: int) -> FloatArray:
    """Rows of numbers; a model without terms has rows of none."""
    array = _numbers(rows, 2)
    _require(all(len(row) == n_columns for row in rows), "a row of numbers is too short or too long")
    return array.reshape(len(rows), n_columns)


def _number(value: Any) -> float:
    return float(_numbers([value])[0])


def _checked(values: Any, kind: type) -> list[Any]:
    """The list, if all its values are of that very type; whole numbers may stand for floats."""
    kinds = (int, float) if kind is float else (kind,)
    _require(isinstance(values, list) and all(type(value) in kinds for value in values), "a value is of the wrong type")
    return [kind(value) for value in values]


def _require(condition: bool, why: str) -> None:
    if not condition:
        raise ModelFileError(why)


def _plain_classes(classes: Any) -> tuple[str, list[Any]]:
    """The labels as JSON knows them, and what they are."""
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    for kind, cls in KINDS.items():
        if all(type(label) is cls for label in labels) and (cls is not float or all(map(math.isfinite, labels))):
            return kind, labels
    found = sorted({type(label).__name__ for label in labels})
    msg = f"classes must be all texts, all integers, all finite numbers or all booleans; got {', '.join(found)}."
    raise TypeError(msg)


def _plain(value: Any) -> Any:
    """A setting as JSON knows it, else in the words of its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {key: _plain(part) for key, part in value.items()}
    return re.sub(" at 0x[0-9A-Fa-f]+", "", repr(value))  # the same file for the same fit: no address in memory
