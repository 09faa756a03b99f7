"""Everything that a report says, as plain numbers, texts and lists: what `Report.json()` writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..explain import equation, filter_table, stability, term_table
from ..model import SparseModel
from .cautions import find_cautions
from .columns import ColumnSummary, summarize_columns
from .honest_score import HonestScore
from .metrics import METRICS, measure
from .settings import code_for, versions
from .subject import Subject
from .words import listed, percent, plural

VERSION = 1
UNEVEN = 0.75  # share of the largest class beyond which accuracy flatters


def collect(subject: Subject, X: Any, score: HonestScore, *, target: str, title: str) -> dict[str, Any]:
    """All that a report says, without a single row of the table.

    Parameters
    ----------
    subject : Subject
        The model and the rows.
    X : data frame or array of shape (n_samples, n_columns)
        The table as it was given.
    score : HonestScore
        How good the model is.
    target : str
        Name of what is predicted.
    title : str
        Headline.

    Returns
    -------
    dict
        Fit for strict JSON.
    """
    columns = summarize_columns(X, _names_of_columns(subject, X))
    models = [_model(model, subject) for model in subject.models]
    cautions = find_cautions(subject, columns, score, [model["stability"]["terms"] for model in models])
    content = {
        "kind": "rfsc report",
        "version": VERSION,
        "created": datetime.now(UTC).date().isoformat(),
        "title": title,
        "asked": _asked(subject, columns, target),
        "score": _score(score, subject),
        "cautions": [asdict(caution) for caution in cautions],
        "models": models,
        "data": _data(subject, columns),
        "filter": _filter(subject),
        "settings": _settings(subject, len(columns)),
    }
    content["headline"] = headline(content)
    plain_content: dict[str, Any] = plain(content)
    return plain_content


def plain(value: Any) -> Any:
    """Numbers of NumPy as Python's, tuples as lists, and None for what strict JSON cannot write.

    Parameters
    ----------
    value : object
        Nested dicts and sequences of numbers and texts.

    Returns
    -------
    object
        The same, plain.
    """
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
