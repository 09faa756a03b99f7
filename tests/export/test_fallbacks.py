"""Every export predicts rows with a missing measurement as the model file does: by the model without it."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

from rfsc._model.fallback import Fallback
from rfsc.export import from_json, to_c, to_json, to_python, to_sql
from rfsc.export.json_file import ModelFileError

from .random_models import assert_agree, random_models, raw_rows, recipe_predictor
from .test_c_code import COMPILER, call, compiled
from .test_json_file import SCHEMA
from .test_python_code import made

COLUMNS = ("age", "code")
CASES = (("age",), ("code",), COLUMNS)


@pytest.fixture(params=[("no", "yes"), ("a", "b", "c")], ids=["two", "three"])
def predictor(request):
    """Random models of a recipe, others for each set of two columns that may be blank, and rows of all four cases."""
    whole = recipe_predictor(3, request.param)
    names, scaling = whole.models_[0].feature_names, whole.models_[0].scaling
    low, span = 2 * scaling.half_minimum, 2 * scaling.half_span
    labels = [model.label for model in whole.models_]
    ranges = list(zip(low.tolist(), (low + span).tolist(), strict=True))
    sets = [random_models(10 + k, labels, ranges=ranges, names=names) for k in range(3)]
    given = [Fallback(case, tuple(own), 0.5, 0.1, 0.01) for case, own in zip(CASES, sets, strict=True)]
    rows = [row for row in raw_rows(np.random.default_rng(0), 120) if row[1] is not None]
    return whole.replaced(fallbacks=given), rows


def expected(predictor, rows):
    """Each row by the one model that is meant for its blanks."""
    out = []
    for row in rows:
        blank = tuple(
            name for name, cell in zip(("age", None, None, "code"), row, strict=False) if name and cell is None
        )
        models = next((one.models for one in predictor.fallbacks_ if one.when_missing == blank), predictor.models_)
        table = predictor.recipe_.table([row])
        out.append([model.decision(table)[0] for model in models])
    return np.array(out)


def test_predictions_are_those_of_the_model_for_the_blanks(predictor):
    model, rows = predictor
    assert len({(row[0] is None, row[3] is None) for row in rows}) == 4
    assert_agree(model.decision_function(rows).reshape(len(rows), -1), expected(model, rows), tol=1e-14)
    bare = model.replaced(fallbacks=())
    whole = [i for i, row in enumerate(rows) if row[0] is not None and row[3] is not None]
    some = [rows[i] for i in whole]
    assert_agree(model.predict_proba(some), bare.predict_proba(some), tol=1e-14)
    assert model.predict_proba(rows).tolist() != bare.predict_proba(rows).tolist()


def test_model_file(predictor):
    model, rows = predictor
    text = to_json(model)
    jsonschema.validate(json.loads(text), SCHEMA)
    again = from_json(text)
    assert to_json(again) == text
    assert again.decision_function(rows).tolist() == model.decision_function(rows).tolist()
    for change in ({"when_missing": []}, {"when_missing": ["in come"]}, {"outputs": []}, {"price": None}):
        document = json.loads(text)
        document["fallbacks"][0] |= change
        with pytest.raises(ModelFileError, match="is damaged"):
            from_json(json.dumps(document))


def test_sql(predictor, database):
    model, rows = predictor
    kinds = [(column.name, column.kind) for column in model.recipe_.columns]
    database.load(rows, kinds)
    _, found = database.ask(to_sql(model, dialect=database.dialect, keep=["row_number"]))
    want = expected(model, rows)
    assert_agree([row[: want.shape[1]] for row in found], want)


def test_python(predictor):
    model, rows = predictor
    predict, names = made(model), model.column_names
    found = [list(predict(dict(zip(names, row, strict=True)))["decision"].values()) for row in rows]
    assert_agree(found, expected(model, rows))
    assert to_python(from_json(to_json(model))) == to_python(model)


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_c(predictor, tmp_path):
    model, rows = predictor
    decision, _, _ = call(compiled([to_c(model)], tmp_path), "rfsc_predict", model, rows)
    assert_agree(decision, expected(model, rows))
