"""A model that comes from a file is explained like a fresh one, word for word."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rfsc import RFSCClassifier, SearchSettings
from rfsc.explain import (
    contributions,
    definitions,
    equations,
    explain,
    legend,
    stability,
    summary,
    term_table,
)
from rfsc.export import from_json, to_json


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def sources(request):
    """A pipeline and what comes back from its file."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.uniform(20, 80, 240).round(), "noise": rng.normal(size=240)})
    X["city"] = rng.choice(["Rome", "Oslo", "Lima"], 240)
    signal = (X.age - 50) / 12 + 2.0 * (X.city == "Oslo") + 0.5 * rng.normal(size=240)
    y = np.array(["low", "medium", "high"])[np.digitize(signal, [0.7, 2.0][: request.param - 1])]
    X.loc[::17, "age"] = np.nan
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    before = ColumnTransformer([("n", numbers, ["age", "noise"]), ("c", OneHotEncoder(), ["city"])])
    clf = RFSCClassifier(
        basis=["step", "sigmoid"], n_restarts=2, search=SearchSettings(filter_significance=0.01), random_state=0
    )
    pipe = make_pipeline(before, clf).fit(X, y)
    return pipe, from_json(to_json(pipe)), X


def test_word_for_word(sources):
    fresh, loaded, X = sources
    for i in range(5):
        assert explain(loaded, X.iloc[i]) == explain(fresh, X.iloc[i])
    assert equations(loaded, units="original") == equations(fresh, units="original")
    for label in equations(fresh):
        for told in (summary, legend, definitions):
            assert told(loaded, label=label) == told(fresh, label=label)
        assert term_table(loaded, label=label).text() == term_table(fresh, label=label).text()
        for of in ("terms", "features"):
            assert stability(loaded, of=of, label=label) == stability(fresh, of=of, label=label)
        for by in ("term", "feature"):
            parts = [contributions(source, X, by=by, label=label) for source in (loaded, fresh)]
            assert parts[0].names == parts[1].names
            np.testing.assert_array_equal(parts[0].values, parts[1].values)
