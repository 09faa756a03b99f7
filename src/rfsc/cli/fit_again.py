"""A model file before its fit: the estimator with its settings and preprocessing, and the rows that it learns from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.words import listed
from .arguments import check_settings
from .console import CommandError, Messages
from .new_rows import labels_for_model, rows_for_model

if TYPE_CHECKING:
    from .._input.table_files import RawTable
    from .._model.predictor import Predictor
    from ..classifier import RFSCClassifier


def record_of(predictor: Predictor) -> dict[str, Any]:
    """What a model file says about its fit."""
    if predictor.manifest_ is None:
        msg = "the file holds a single model without the record of its fit, so it cannot be fitted again."
        raise CommandError(msg)
    return dict(predictor.manifest_)


def fit_with_groups(estimator: Any, X: Any, y: Any, groups: Any) -> Any:
    """Fit a classifier or a pipeline; groups are None where each row stands for itself."""
    from .._utils.validation import fit_params

    return estimator.fit(X, y, **fit_params(estimator, groups=groups))


def unfitted(
    messages: Messages, predictor: Predictor, data: str, target: str | None, **given: Any
) -> tuple[Any, Any, Any, Any]:
    """The search, or the pipeline of `rfsc fit` around it, and features, labels and groups (or None) of a table."""
    from sklearn.pipeline import make_pipeline

    from .._input.table_files import read_table
    from .._input.training_data import ColumnChoice, chunked_table, is_larger_than_memory, training_table

    target = target or record_of(predictor)["target"]
    if target is None:
        msg = "the model file does not say which column holds the class; name it with --target."
        raise CommandError(msg)
    search = _search(predictor, **given)
    if is_larger_than_memory(data):
        names = list(predictor.models_[0].feature_names)
        chunks = chunked_table(data, target, ColumnChoice(keep=names, only=names))
        return search, chunks.X, chunks.y, None
    group = record_of(predictor)["group"]
    table = _known_columns(predictor, read_table(data), [target, *([group] if group else [])])
    if predictor.recipe_ is None:
        rows, labels = labels_for_model(predictor, table, target)
        X = rows_for_model(messages, predictor, table)[rows]
        return search, X if predictor.named else X.to_numpy(), labels, None
    names = [str(name) for name in table.frame.columns if name not in (target, group)]
    formats = {raw.name: raw.cells for raw in predictor.recipe_.columns if raw.kind == "number"}
    numbers = [name for name, form in formats.items() if form is None or not form.since]
    texts = [name for name in numbers if any(isinstance(cell, str) for cell in table.frame[name])]
    commas = {form.comma for name in texts if (form := formats[name]) is not None}
    decimal = "." if "" in commas else "," if commas and None not in commas else None
    roles = {"group": group} if group else {}
    choice = ColumnChoice(keep=names, number=numbers, roles=roles, decimal=decimal)
    training = training_table(table, target, choice)
    pipeline = make_pipeline(training.encoder, search)
    return pipeline, training.X, training.y, training.roles.get("group")


def unfitted_in_memory(
    messages: Messages, predictor: Predictor, data: str, target: str | None, what: str, **given: Any
) -> tuple[Any, Any, Any, Any]:
    """The same for what needs the whole table, after a look at whether it is that of the model."""
    from .._input.training_data import is_larger_than_memory

    if is_larger_than_memory(data):
        msg = f"the {what} needs the table in memory, but {Path(data).name} is too large for that; use a sample."
        raise CommandError(msg)
    found = unfitted(messages, predictor, data, target, verbose=int(messages.is_live), **given)
    _check_table(messages, predictor, *found, what)
    return found


def fitted_again(
    messages: Messages, predictor: Predictor, data: str, target: str | None, what: str, **given: Any
) -> tuple[Any, Any, Any, Any]:
    """The same, fitted; ends if that was interrupted, and warns if other terms were found than the file holds."""
    from .._model.access import models_of
    from ..certify.halves import last_step

    estimator, X, y, groups = unfitted_in_memory(messages, predictor, data, target, what, **given)
    messages.info("Fitting again ...")
    fit_with_groups(estimator, X, y, groups)
    if last_step(estimator).stop_reason_ == "interrupted":
        msg = f"interrupted: the {what} needs a fit that came to its end."
        raise CommandError(msg, 130)
    found, kept = ([set(model.names) for model in models_of(one)] for one in (estimator, predictor))
    if found != kept:
        messages.warn(f"fitting again gave another model than that of the file; the {what} is about the new one")
    return estimator, X, y, groups


def _check_table(
    messages: Messages, predictor: Predictor, estimator: Any, X: Any, y: Any, groups: Any, what: str
) -> None:
    """Refuse other classes than those of the model, and warn if the classifier does not see what it was fitted to."""
    import numpy as np
    from sklearn.base import clone

    from .._fit.encoding import encode
    from .._fit.rows import group_codes
    from .._utils.manifest import fingerprint

    targets = encode(y)
    if targets.classes.tolist() != predictor.classes_.tolist():
        known = listed([repr(label) for label in predictor.classes_.tolist()])
        msg = f"the model knows the classes {known}, but the table holds others; choose their column with --target."
        raise CommandError(msg)
    values = clone(estimator[:-1]).fit_transform(X) if hasattr(estimator, "steps") else X
    values, codes = np.asarray(values, np.float64), group_codes(groups, len(y))
    found = fingerprint(values, targets.classes, targets.code, np.ones(len(y)), None, codes)
    record = record_of(predictor)["data"]
    if any(found[key] != record[key] for key in ("content", "weights", "groups")):
        messages.warn(f"the model was fitted to other rows, weights or groups; the {what} is about this table")


def _search(predictor: Predictor, **given: Any) -> RFSCClassifier:
    from ..report.content import restored_classifier

    search = restored_classifier(predictor.settings_).set_params(**given)
    try:
        check_settings(search)
    except (ValueError, TypeError, AttributeError):
        msg = "a setting of this model cannot be read back from its file; fit it again in Python."
        raise CommandError(msg) from None
    return search


def _known_columns(predictor: Predictor, table: RawTable, more: list[str]) -> RawTable:
    """The columns of the model, in its order and with its names, and more of them, the class first."""
    from .._input.column_checks import check_names

    names, target = predictor.column_names, more[0]
    check_names(list(table.frame.columns), [*names, *more], table.name)
    if target in names:
        msg = f"the model reads {target!r} as a feature; choose the column with the class with --target."
        raise CommandError(msg)
    return replace(table, frame=table.frame[[*names, *more]])
