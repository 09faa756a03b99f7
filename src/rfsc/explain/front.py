"""Accuracy against size: what each further term of a model is worth on rows that were left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._model import SparseModel
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .equation import equation
from .term_table import ReadableTable, events_caution, per_row

DIGITS = 3  # of the coefficients in the equations


@dataclass(frozen=True, slots=True, eq=False)
class Front(ReadableTable):
    """One row for each size; with several classes, for each size of each output.

    Parameters
    ----------
    label : tuple
        The class that the model of the row predicts.
    n_terms : ndarray of shape (n_rows,)
        Number of terms, the intercept not counted.
    n_features : ndarray of shape (n_rows,)
        Number of features that they read.
    log_loss : ndarray of shape (n_rows,) or None
        Mean log-loss of left-out rows, of models of this size; None if nothing could be left out.
    above_best : ndarray of shape (n_rows,) or None
        By how much it is above that of the best size.
    standard_error : ndarray of shape (n_rows,) or None
        Paired standard error of this difference.
    within_1se : ndarray of shape (n_rows,), dtype=bool, or None
        Whether the difference is at most one standard error.
    chosen : ndarray of shape (n_rows,), dtype=bool
        The size of the answer.
    equation : tuple of str
        The model, in the units of the table.
    cautions : tuple of str, default=()
        Sentences about the size of the answer.
    """

    n_terms: IntArray = field(metadata=per_row("d", "terms"))
    label: tuple[str, ...] = field(metadata=per_row("", "class"))
    n_features: IntArray = field(metadata=per_row("d", "features"))
    log_loss: FloatArray | None = field(metadata=per_row(".4f", "log-loss"))
    above_best: FloatArray | None = field(metadata=per_row("+.4f", "above best"))
    standard_error: FloatArray | None = field(metadata=per_row(".4f", "±"))
    within_1se: BoolArray | None = field(metadata=per_row("", "within 1 s.e."))
    chosen: BoolArray = field(metadata=per_row())
    equation: tuple[str, ...] = field(metadata=per_row(long=True))
    cautions: tuple[str, ...] = ()

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Without the equations, and the class if there is one output only."""
        shown = super(Front, self).text_columns
        return tuple(name for name in shown if name != "label" or len(set(self.label)) > 1)

    @property
    def notes(self) -> tuple[str, ...]:
        if self.log_loss is None:
            return ("sizes were not compared on left-out rows.", *self.cautions)
        return (
            "log-loss: of rows that were left out in turn; ±: paired standard error of the distance from the best",
            *self.cautions,
        )


def front_of(paths: Sequence[Sequence[SparseModel]], fitted: Any) -> Front:
    """The table for the models of each output by size, and the answer."""
    chosen = fitted.models_
    models = [model for path in paths for model in path]
    curves = [path[0].sizes for path in paths]
    known = [curve for curve in curves if curve is not None]
    is_known = len(known) == len(curves)
    above, error = (
        np.concatenate([getattr(curve, name) for curve in known]) if is_known else None
        for name in ("above_best", "standard_error")
    )
    return Front(
        n_terms=np.array([model.size for model in models]),
        label=tuple(str(model.label) for model in models),
        n_features=np.array([len(model.features) for model in models]),
        log_loss=np.concatenate([curve.log_loss for curve in known]) if is_known else None,
        above_best=above,
        standard_error=error,
        within_1se=None if above is None or error is None else above <= error,
        chosen=np.concatenate(
            [[model.size == answer.size for model in path] for path, answer in zip(paths, chosen, strict=True)]
        ),
        equation=tuple(str(equation(model, digits=DIGITS)) for model in models),
        cautions=events_caution(fitted, {model.label: model.size for model in chosen}),
    )
