"""The code in a report: running it makes the same estimator."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from rfsc import Restrictions, RFSCClassifier, SearchSettings
from rfsc._input.column_checks import useless
from rfsc.bases import Hinge, Polynomial
from rfsc.report.content import fit_code, restored_classifier

ESTIMATORS = [
    RFSCClassifier(),
    RFSCClassifier.paper(n_restarts=3),
    RFSCClassifier(
        basis=["hinge", Polynomial(degree=2), Hinge(products=True)],
        restrictions=Restrictions(force=["age"], forbid=[("sex", "age"), "it's"], hierarchy=True),
        class_weight={"a": np.float64(2.0), "b": 1},
        random_state=np.int64(7),
    ),
    make_pipeline(StandardScaler(with_mean=False), RFSCClassifier(criterion="kappa", search=SearchSettings(tol=0.1))),
    Pipeline(
        [
            (
                "columns",
                ColumnTransformer(
                    [
                        ("numbers", SimpleImputer(strategy="median", add_indicator=True), [f"n{k}" for k in range(50)]),
                        ("texts", OneHotEncoder(min_frequency=10), ("only one",)),
                    ]
                ),
            ),
            ("model", RFSCClassifier(max_terms=9)),
        ]
    ),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_code_makes_the_same_estimator(estimator):
    code = fit_code(estimator, "3 rows")
    made = {}
    exec(code.replace("model.fit(X, y)", "pass"), made)
    wanted = repr(clone(estimator).get_params()).replace("np.float64(2.0)", "2.0").replace("np.int64(7)", "7")
    assert repr(made["model"].get_params()) == wanted
    assert code.endswith("model.fit(X, y)  # 3 rows")
    assert max(map(len, code.splitlines())) <= 120


def test_rows_with_weights_and_groups():
    given = ["weights", "groups"]
    assert fit_code(RFSCClassifier(), "9 rows", given).endswith(
        "fit(X, y, sample_weight=weights, groups=groups)  # 9 rows"
    )
    code = fit_code(make_pipeline(StandardScaler(), RFSCClassifier()), "9 rows", ["groups"])
    assert code.endswith("model.fit(X, y, rfscclassifier__groups=groups)  # 9 rows")


def test_functions_are_imported_and_lambdas_left_open():
    code = fit_code(OneHotEncoder(feature_name_combiner=useless), "3 rows")
    assert "from rfsc._input.column_checks import useless" in code
    assert "feature_name_combiner=useless" in code
    assert "func=...)" in fit_code(FunctionTransformer(lambda x: x), "3 rows")


def test_only_changed_settings_are_written():
    code = fit_code(RFSCClassifier(n_restarts=4, search=SearchSettings(tol=0.1)), "3 rows")
    assert "model = RFSCClassifier(n_restarts=4, search=SearchSettings(tol=0.1))" in code
    assert code.startswith("from rfsc import RFSCClassifier\nfrom rfsc import SearchSettings\n")


def test_settings_objects_are_restored_from_the_text_in_a_file():
    rules = Restrictions(force=["age"], forbid=[("sex", "age")], increasing=["age"], decreasing=["it's"])
    settings = {"basis": ["hinge", "Polynomial(degree=3)"], "restrictions": repr(rules), "search": {"tol": 0.1}}
    made = restored_classifier(settings | {"unknown": 1})
    assert made.basis == ["hinge", Polynomial(degree=3)]
    assert (made.restrictions, made.search) == (rules, SearchSettings(tol=0.1))


@pytest.mark.parametrize(
    "text", ["hinge", "open('secret')", "Polynomial(degree=open('secret'))", "Polynomial(**{})", "(" * 500]
)
def test_no_code_in_a_file_is_run(text):
    assert restored_classifier({"basis": text, "search": {"odd": 1}}).basis == text
