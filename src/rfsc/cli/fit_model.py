"""The model file of `rfsc fit`: with models for rows with blanks, and with what later rows are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._utils.words import listed
from .console import CommandError
from .new_rows import shown

if TYPE_CHECKING:
    from .._input.training_data import ChunkedTable, TrainingTable
    from .._model.predictor import Predictor


def model_with_fallbacks(estimator: Any, table: TrainingTable | ChunkedTable, *, wanted: bool) -> Predictor:
    """The model of a fit, if wanted with others for rows in which a measurement is missing."""
    from .._model.access import as_predictor
    from ..atlas import with_fallbacks

    model = with_fallbacks(estimator, table.X, table.y) if wanted else as_predictor(estimator)
    _check(as_predictor(estimator), estimator, table.sample)
    return model


def _check(model: Predictor, estimator: Any, X: Any) -> None:
    """Raise if a model does not predict the same as the estimator."""
    import numpy as np

    if not np.allclose(estimator.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9):
        msg = "the model file would not predict the same as the model, so nothing was saved. Please report this."
        raise CommandError(msg)


def fallback_text(model: Predictor) -> str:
    """What is used in the place of a missing measurement, and what that costs."""
    if not model.fallbacks_:
        return "No other model is better for rows with blanks, or there are too few of them."
    lines = ["If a measurement is missing (price: rise of the log-loss of left-out rows beside the whole model):"]
    for one in model.fallbacks_:
        price = f"price {one.price:+.4f} ± {one.standard_error:.4f}"
        lines.append(f"  without {listed(one.when_missing)}: {', '.join(one.terms) or 'no terms'}; {price}")
        if one.blank_log_loss is not None and one.median_log_loss is not None:
            gain = f"{one.blank_log_loss:.4f} instead of {one.median_log_loss:.4f} with the median"
            lines.append(f"    log-loss of left-out rows with this blank: {gain}")
    return "\n".join(lines)


def model_text(model: Predictor, table: TrainingTable | ChunkedTable, score: Any) -> str:
    """The text of a model file, after a check that it predicts the same as the model."""

    from .._input.training_data import TrainingTable
    from ..export import from_json, to_json
    from ..export.json_file import is_too_large
    from ..monitor import with_reference

    about = shown(model)
    if score is not None:
        score = score if about is model else score.turned()
        code, proba = score.code[: score.n_rows], score.proba[: score.n_rows]
        found = with_reference(about, table.sample, about.classes_[code], proba=proba)
    else:  # of chunks only a sample is in memory
        found = with_reference(about, table.sample, table.y if isinstance(table, TrainingTable) else None)
    whole = model.with_reference(found.reference_)
    text = to_json(whole)
    if is_too_large(text):
        text = to_json(whole, history=False)  # the course of a thousand searches is too long for a file
    _check(from_json(text), model, table.sample)
    return text
