"""SQL against `decision_function`, in real databases."""

from __future__ import annotations

import numpy as np
import pytest

from rfsc.export.sql import sql_expressions, to_sql
from rfsc.model import Predictor, as_predictor

from .random_models import assert_agree, awkward_rows, ordinary_rows, random_predictor


def numbers(names):
    return [(name, "number") for name in names]


@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1, 2)], ids=["two", "three"])
@pytest.mark.parametrize("seed", range(20))
def test_select_of_random_models(database, seed, classes):
    predictor, rng = random_predictor(seed, classes), np.random.default_rng(seed)
    model = predictor.models_[0]
    X = np.vstack([ordinary_rows(model, rng), awkward_rows(model, rng)])
    database.load(X.tolist(), numbers(model.feature_names))
    names, rows = database.ask(to_sql(predictor, dialect=database.dialect, keep=["row_number"]))
    n = len(predictor.models_)
    assert names[-1] == "predicted"
    assert_agree([row[:n] for row in rows], predictor.decision_function(X).reshape(len(X), n))
    assert_agree([row[n:-1] for row in rows], predictor.predict_proba(X))
    assert [row[-1] for row in rows] == predictor.predict(X).tolist()
