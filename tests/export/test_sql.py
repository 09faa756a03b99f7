"""SQL against `decision_function`, in real databases."""

from __future__ import annotations

import numpy as np
import pytest

from rfsc.export.sql import to_sql

from .random_models import answers, assert_agree, awkward_rows, ordinary_rows, random_predictor


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
    decision, probability, predicted = answers(predictor, X)
    n = len(predictor.models_)
    assert names[-1] == "predicted"
    assert_agree([row[:n] for row in rows], decision)
    assert_agree([row[n:-1] for row in rows], probability)
    assert [row[-1] for row in rows] == predicted
