"""A model file before its fit: the estimator with its settings and preprocessing, and the rows that it learns from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .arguments import check_settings
from .console import CommandError, Messages
from .new_rows import labels_for_model, numbered_columns, rows_for_model

if TYPE_CHECKING:
    from .._model.predictor import Predictor
    from .._tables.table_files import RawTable
    from ..classifier import RFSCClassifier


def record_of(predictor: Predictor) -> dict[str, Any]:
    """What a model file says about its fit."""
    if predictor.manifest_ is None:
        msg = "the file holds a single model without the record of its fit, so it cannot be fitted again."
        raise CommandError(msg)
    return dict(predictor.manifest_)


def unfitted(
    messages: Messages, predictor: Predictor, data: str, target: str | None, **given: Any
) -> tuple[Any, Any, Any]:
    """The search, or the pipeline of `rfsc fit` around it, and features and labels of a table."""
    from sklearn.pipeline import make_pipeline

    from .._tables.table_files import read_table
    from .._tables.training_data import ColumnChoice, chunked_table, encoder_of, is_larger_than_memory, training_table

    target = target or record_of(predictor)["target"]
    if target is None:
        msg = "the model file does not say which column holds the class; name it with --target."
        raise CommandError(msg)
    search = _search(predictor, **given)
    if is_larger_than_memory(data):
        names = list(predictor.models_[0].feature_names)
        chunks = chunked_table(data, target, ColumnChoice(keep=names, only=names))
        return search, chunks.X, chunks.y
    table = _known_columns(predictor, read_table(data), target)
    if predictor.recipe_ is None:
        rows, labels = labels_for_model(predictor, table, target)
        X = rows_for_model(messages, predictor, table)[rows]
        return search, X if predictor.named else X.to_numpy(), labels
    names = [str(name) for name in table.frame.columns if name != target]
    training = training_table(table, target, ColumnChoice(keep=names))
    return make_pipeline(encoder_of(training.columns), search), training.X, training.y


def _search(predictor: Predictor, **given: Any) -> RFSCClassifier:
    from ..report.content import restored_classifier

    search = restored_classifier(predictor.settings_).set_params(**given)
    try:
        check_settings(search)
    except (ValueError, TypeError, AttributeError):
        msg = "a setting of this model cannot be read back from its file; fit it again in Python."
        raise CommandError(msg) from None
    return search


def _known_columns(predictor: Predictor, table: RawTable, target: str) -> RawTable:
    """The columns of the model, in its order and with its names, and the class."""
    from .._tables.column_checks import check_names

    names = [str(name) for name in getattr(predictor, "feature_names_in_", ())]
    check_names(list(table.frame.columns), [*names, target], table.name)
    if target in names:
        msg = f"the model reads {target!r} as a feature; choose the column with the class with --target."
        raise CommandError(msg)
    if not names:
        return numbered_columns(predictor, table, target)
    return replace(table, frame=table.frame[[*names, target]])
