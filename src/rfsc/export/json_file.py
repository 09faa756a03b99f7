"""The model file: JSON with a version, from which a model comes back without training data and without running code.

`model.schema.json` beside this file describes it for other programs. The size is limited before anything is parsed,
every part is checked, and a file that is not what `save` writes gives one error that shows nothing of it.
"""

import json
import math
import os
import re
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._model import Evidence, Predictor, SizeCurve, SparseModel
from .._model.access import as_predictor
from .._model.fallback import Fallback, indicators
from .._model.recipe import Recipe
from .._model.reference import Reference
from .._terms import DamagedTermError, Term
from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray
from .._utils.files import MAX_SIZE, DamagedError, decode, encode, require, whole_file
from .._utils.manifest import read_manifest
from .._version import __version__

FORMAT = "rfsc-model"
VERSION = 1
TOO_LARGE = f"larger than {MAX_SIZE // 2**20} MiB"
SURROGATE = re.compile("\\\\u[dD][89a-fA-F]|[\ud800-\udfff]")


class ModelFileError(ValueError):
    """A file that is not a model, or not one that this version reads."""


@dataclass(frozen=True, slots=True)
class _Output:
    terms: tuple[Term, ...]
    names: tuple[str, ...]  # for people and other programs; terms know their names
    coef: FloatArray
    standard_error: FloatArray | None
    n_observations: float
    score: float | None
    evidence: Evidence | None
    worth: list[float | None] | None
    sizes: SizeCurve | None


@dataclass(frozen=True, slots=True)
class _Fallback:
    when_missing: tuple[str, ...]
    outputs: tuple[_Output, ...]
    log_loss: float
    price: float
    standard_error: float
    blank_log_loss: float | None
    median_log_loss: float | None


@dataclass(frozen=True, slots=True)
class _ModelFile:
    format: str
    version: int
    written_by: str
    classes: list[Any]  # labels of one type
    features: tuple[str, ...]
    named: bool  # whether the table had column names
    scaling: Scaling
    recipe: Recipe | None
    outputs: tuple[_Output, ...]
    settings: dict[str, Any]
    manifest: dict[str, Any] | None
    reference: Reference | None
    fallbacks: tuple[_Fallback, ...]


def save(source: Any, path: str | os.PathLike[str], *, history: bool = True) -> None:
    """Write a model file; an older file of that name is replaced only when the new one is complete.

    Parameters
    ----------
    source : RFSCClassifier, Pipeline, Predictor or SparseModel
        What to save. The steps of a pipeline before the classifier are saved as a recipe for raw columns.
    path : str or path
        Where to save it.
    history : bool, default=True
        Whether to keep the course of every search, for plots.
    """
    path = Path(path)
    text = to_json(source, history=history)
    if not path.parent.is_dir():
        msg = f"the folder {str(path.parent)!r} does not exist. Make it first, or save elsewhere."
        raise FileNotFoundError(msg)
    if is_too_large(text):
        msg = f"{path.name} was not written, because it is {TOO_LARGE} and could not be read again. Pass history=False."
        raise ValueError(msg)
    with whole_file(path) as part:
        part.write_bytes(text.encode())


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
    # bytes that are no text become half characters, which are found like those that the file spells out
    with Path(path).open(encoding="utf-8", errors="surrogateescape") as file:
        return from_json(read_limited(file), name=Path(path).name)


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
    document = _ModelFile(
        format=FORMAT,
        version=VERSION,
        written_by=f"rfsc {__version__}",
        classes=_plain_classes(predictor.classes_),
        features=first.feature_names,
        named=predictor.named,
        scaling=first.scaling,
        recipe=predictor.recipe_,
        outputs=tuple(_output(model, history=history) for model in predictor.models_),
        settings={key: _plain(value) for key, value in sorted(predictor.settings_.items()) if key != "callbacks"},
        manifest=manifest if manifest is None or timings else manifest | {"timings": None},
        reference=predictor.reference_,
        fallbacks=tuple(
            _Fallback(one.when_missing, tuple(_output(m, history=False) for m in one.models), **one.figures)
            for one in predictor.fallbacks_
        ),
    )
    text = json.dumps(encode(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if any("\ud800" <= letter <= "\udfff" for letter in set(text)):
        msg = "a name, level or class holds half a surrogate pair, which no file can hold. Replace it before the fit."
        raise ValueError(msg)
    return text


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
    if is_too_large(text):
        msg = f"{name} is not read, because it is {TOO_LARGE}. Pass a file that rfsc.export.save wrote."
        raise ModelFileError(msg)
    document = _parse(text, name)
    try:
        return _predictor(decode(_ModelFile, document))
    except (DamagedError, DamagedTermError) as error:
        why = str(error)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError):
        why = "a part is missing or of the wrong type"  # Python's own words would show values
    msg = f"{name} is damaged: {why}. Save the model again, or restore the file from a copy."
    raise ModelFileError(msg)


def read_limited(stream: IO[str]) -> str:
    """At most one more than is allowed of a stream; pipes and devices that never end do no harm."""
    return stream.read(MAX_SIZE + 1)


def is_too_large(text: str) -> bool:
    """Whether a text should not even be parsed."""
    return len(text) > MAX_SIZE


def _parse(text: str, name: str) -> dict[str, Any]:
    """The JSON object, if it is a model of this version."""

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        document = json.loads(text, parse_constant=refuse)
        if SURROGATE.search(text):  # half a character, which nothing can print
            json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        msg = f"{name} is not a model file: it is not JSON that can be read. Pass a file that rfsc.export.save wrote."
        raise ModelFileError(msg) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        msg = f"{name} is JSON, but not a model file of rfsc. Pass a file that rfsc.export.save wrote."
        raise ModelFileError(msg)
    version = document.get("version")
    if version != VERSION or isinstance(version, bool):
        got = f"version {version}" if type(version) is int and abs(version) < 10**6 else "another version"
        msg = f"{name} is a model file of {got}, but this rfsc reads version {VERSION}. Install the rfsc that wrote it."
        raise ModelFileError(msg)
    return document


def _predictor(file: _ModelFile) -> Predictor:
    """What a file describes, if its parts fit together."""
    names, scaling, classes = file.features, file.scaling, file.classes
    require(scaling.half_minimum.shape == scaling.half_span.shape == (len(names),), "a feature has no range")
    require(bool((scaling.half_span >= 0).all()), "a feature has a negative range")
    known = [values for values in (scaling.median, scaling.upper) if values is not None]
    is_typical = all(v.shape == (len(names),) and ((v >= 0) & (v <= 1)).all() for v in known)
    require(len(known) in (0, 2) and is_typical, "a feature has no typical value")
    require(_of_one_type(classes), "a label is of the wrong type")
    require(len(set(classes)) == len(classes) >= 2, "there must be two or more different classes")
    labels = classes[1:] if len(classes) == 2 else classes
    require(len(file.outputs) == len(labels), "there must be one output for two classes, else one per class")
    require(file.recipe is None or file.recipe.names == names, "the recipe makes other features than the models read")
    models = [_model(output, scaling, names, label) for output, label in zip(file.outputs, labels, strict=True)]
    manifest = None if file.manifest is None else read_manifest(file.manifest)
    given: dict[str, Any] = {"named": file.named, "manifest": manifest}
    given["fallbacks"] = [_read_fallback(one, file, labels) for one in file.fallbacks]
    predictor = Predictor(models, _labels(classes), file.recipe, file.settings, **given)
    return predictor.with_reference(file.reference)


def _labels(classes: list[Any]) -> np.ndarray[Any, Any]:
    """Labels as an array; NumPy alone would drop zeros at the end of texts, and make floats of large integers."""
    large = [np.uint64] if isinstance(classes[0], int) and min(classes) >= 0 else []
    made = (np.array(classes, dtype=dtype) for dtype in (None, *large, object))
    return next(labels for labels in made if labels.tolist() == classes)


def _read_fallback(one: _Fallback, file: _ModelFile, labels: list[Any]) -> Fallback:
    """Models for rows with blanks, if the recipe tells such rows."""
    require(file.recipe is not None and bool(one.when_missing), "a fallback does not say when it is used")
    require(len(one.outputs) == len(labels), "a fallback has another number of outputs than the model")
    pairs = zip(one.outputs, labels, strict=True)
    models = tuple(_model(output, file.scaling, file.features, label) for output, label in pairs)
    figures = one.log_loss, one.price, one.standard_error, one.blank_log_loss, one.median_log_loss
    found = Fallback(one.when_missing, models, *figures)
    indicators(file.recipe, [found])  # type: ignore[arg-type]  # an error if a column or its indicator does not exist
    return found


def _output(model: SparseModel, *, history: bool) -> _Output:
    evidence = model.evidence
    if evidence is not None and not history:
        evidence = replace(evidence, traced=(), traces=())
    score = None if model.score is None else float(model.score)
    worth = None if model.worth is None else [None if w != w else w for w in model.worth.tolist()]
    known = model.terms, model.names, model.coef, model.standard_error, float(model.n_observations), score
    return _Output(*known, evidence, worth, model.sizes)


def _model(output: _Output, scaling: Scaling, names: tuple[str, ...], label: object) -> SparseModel:
    n_terms, error, evidence = len(output.terms), output.standard_error, output.evidence
    require(output.coef.shape == (n_terms,), "a term has no coefficient")
    require(error is None or error.shape == (n_terms,), "a term has no standard error")
    _check_terms(output.terms, scaling)
    if evidence is not None:
        evidence = replace(evidence, feature_names=names)
        require(evidence.terms[:n_terms] == output.terms, "the evidence is of other terms than the model's")
        _check_terms(evidence.terms, scaling)
        _check_evidence(evidence)
    worth, sizes = output.worth, output.sizes
    require(worth is None or len(worth) == n_terms, "a term has no worth")
    if sizes is not None:
        arrays = sizes.n_features, sizes.log_loss, sizes.above_best, sizes.standard_error
        require(all(array.shape == sizes.n_terms.shape for array in arrays), "a size is incomplete")
    return SparseModel(
        output.terms,
        output.coef,
        error,
        scaling,
        names,
        label,
        output.n_observations,
        output.score,
        evidence,
        None if worth is None else np.array([np.nan if w is None else w for w in worth]),
        sizes,
    )


def _check_terms(terms: tuple[Term, ...], scaling: Scaling) -> None:
    used = {p for term in terms for p in term.features}
    require(all(p < scaling.half_span.size for p in used), "a term reads a feature that does not exist")
    require(not scaling.constant[list(used)].any(), "a term reads a feature without a range")


def _check_evidence(evidence: Evidence) -> None:
    """Refuse arrays that do not fit together."""
    n_terms, n_features = len(evidence.terms), len(evidence.feature_names)
    shape = (len(evidence.stop_reasons), n_terms)
    require(evidence.selected.shape == evidence.rip.shape == shape, "a restart is incomplete")
    require(all(0 <= j < n_terms for j in evidence.traced), "a number of a term is out of range")
    require(len(evidence.traces) in (0, shape[0]), "the history of a restart is missing")
    for trace in evidence.traces:
        n_iter = len(trace.rips)
        require(trace.rips.shape == (n_iter, len(evidence.traced)), "the history of a restart has gaps")
        others = (trace.mean_score, trace.best_score, trace.size_drawn, trace.size_kept)
        require(all(values.shape == (n_iter,) for values in others), "the history of a restart has gaps")
    test = evidence.filter
    if test is not None:
        require(test.statistic.shape == (n_features,), "the filter's statistics have gaps")
        require(all(0 <= p < n_features for p in test.spared), "a number of a feature is out of range")


def _of_one_type(labels: list[Any]) -> bool:
    """Whether the labels are all texts, all integers, all finite numbers or all booleans."""
    kinds = {type(label) for label in labels}
    finite = all(math.isfinite(label) for label in labels if isinstance(label, float))
    return finite and len(kinds) == 1 and kinds <= {str, int, float, bool}


def _plain_classes(classes: Any) -> list[Any]:
    """The labels as JSON knows them."""
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    if not _of_one_type(labels):
        found = sorted({type(label).__name__ for label in labels})
        msg = f"classes must be all texts, all integers, all finite numbers or all booleans; got {', '.join(found)}."
        raise TypeError(msg)
    return labels


def _plain(value: Any) -> Any:
    """A setting as JSON knows it, else its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {key: _plain(part) for key, part in value.items()}
    if is_dataclass(value) and type(value).__name__ == "SearchSettings":
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return re.sub(" at 0x[0-9A-Fa-f]+", "", repr(value))  # the same file for the same fit: no address in memory
