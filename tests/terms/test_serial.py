"""Terms through JSON and back, and what is said of dicts that are not terms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import Training
from rfsc._terms.scaling import Scaling
from rfsc._terms.serial import READERS, term_from_dict
from rfsc.bases import Centred, Fourier, Hinge, Polynomial, Radial, Sigmoid, Step

FAMILIES = [
    Polynomial(degree=3),
    Polynomial(degree=4, max_features=1),
    Centred(3),
    Hinge(4, products=True),
    Step(4, levels=True),
    Fourier(3),
    Radial(4),
    Radial(3, widths=(1.0,)),
    Sigmoid(20, n_features=3),
]


def terms_of(family, X, seed):
    scaling = Scaling.from_rows(X)
    training = Training(scaling.table(X), np.ones(len(X)), np.arange(X.shape[1]), scaling)
    space = family.space(training, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    scaled = space.terms(rng.choice(space.n_terms, min(20, space.n_terms), replace=False))
    return [*scaled, *(raw for term in scaled for raw in term.unscaled(scaling))]


def examples():
    """One dict of every kind."""
    X = np.column_stack([np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 4])
    found = {d["kind"]: d for family in FAMILIES for d in (term.as_dict() for term in terms_of(family, X, 0))}
    return [found[kind] for kind in READERS]


EXAMPLES = examples()


@given(
    family=st.sampled_from(FAMILIES),
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-9, 1.0, 1e5]),
    integers=st.booleans(),
)
def test_terms_survive_json(family, seed, scale, integers):
    X = np.random.default_rng(seed).normal(size=(40, 4))
    X = scale * (np.round(X) if integers else X)
    for term in terms_of(family, X, seed):
        again = term_from_dict(json.loads(json.dumps(term.as_dict(), allow_nan=False)))
        assert again == term
        assert hash(again) == hash(term)
        assert type(again) is type(term)
        rows = {p: np.random.default_rng(p).random(5) for p in term.features}
        np.testing.assert_array_equal(again.column(rows, 5), term.column(rows, 5))
        assert again.name("abcd") == term.name("abcd")


def test_every_kind_has_an_example():
    assert [d["kind"] for d in EXAMPLES] == list(READERS)


@pytest.mark.parametrize(
    ("d", "message"),
    [
        ([1, 2], "got a list"),
        (None, "got a NoneType"),
        ({}, "got none"),
        ({"kind": "transformed"}, "got 'transformed'.*update rfsc"),
        ({"kind": "__import__('os').abort()"}, "must be one of 'monomial'"),
        ({"kind": "x" * 10_000}, r"got 'x{40}'\."),
        ({"kind": ["monomial"]}, "got a list"),
        ({"kind": 3}, "got a int"),
    ],
)
def test_what_is_no_term_is_refused(d, message):
    with pytest.raises(ValueError, match=message):
        term_from_dict(d)


@pytest.mark.parametrize("d", EXAMPLES, ids=lambda d: d["kind"])
def test_damage_is_refused(d):
    for field in [field for field in d if field != "kind"]:
        without = {key: value for key, value in d.items() if key != field}
        with pytest.raises(ValueError, match=rf"dict of a {d['kind']} term is damaged: it has no '{field}'"):
            term_from_dict(without)
        for wrong in (None, {}, {"a": 1}, object(), [None], [["a"]], float("nan"), float("inf"), 10**400, b"7"):
            with pytest.raises(ValueError, match=f"dict of a {d['kind']} term is damaged: .*Write the model again"):
                term_from_dict({**d, field: wrong})
    with pytest.raises(ValueError, match="fields are not those"):
        term_from_dict({**d, "extra": 1})


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("monomial", {"factors": [2, 1]}),
        ("monomial", {"factors": [-1, 1]}),
        ("monomial", {"factors": [0.5]}),
        ("monomial", {"factors": ["0"]}),
        ("centred", {"factors": [[0, 0.5, 1.0]]}),
        ("centred", {"factors": [[1, 0.5, 1.0], [0, 0.5, 1.0]]}),
        ("centred", {"factors": [[0, 0.5, 1.0], [0, 0.6, 1.2]]}),
        ("hinge", {"factors": []}),
        ("hinge", {"factors": [[0, 2, 0.5, 1.0]]}),
        ("hinge", {"factors": [[0, 1, 0.5]]}),
        ("hinge", {"factors": [[1, 1, 0.5, 1.0], [0, 1, 0.5, 1.0]]}),
        ("hinge", {"factors": [[0, 1, float("inf"), 1.0]]}),
        ("step", {"feature": -1}),
        ("step", {"knot": "0.5"}),
        ("level", {"shown": float("nan")}),
        ("fourier", {"wave": "tan"}),
        ("fourier", {"frequency": 0}),
        ("fourier", {"half_span": 0.0}),
        ("fourier", {"scaled": "no"}),
        ("radial", {"centre": [0.5]}),
        ("radial", {"width": [0.5, -0.5, 1.0]}),
        ("radial", {"shown": [[1, 2, 3]]}),
        ("sigmoid", {"slopes": []}),
        ("sigmoid", {"shown": [1.0]}),
    ],
)
def test_values_that_make_no_term_are_refused(kind, change):
    (d,) = (d for d in EXAMPLES if d["kind"] == kind)
    with pytest.raises(ValueError, match=f"dict of a {kind} term is damaged"):
        term_from_dict({**d, **change})


def test_errors_show_no_values():
    (d,) = (d for d in EXAMPLES if d["kind"] == "step")
    with pytest.raises(ValueError, match="damaged") as caught:
        term_from_dict({**d, "knot": "secret 123"})
    assert "secret" not in str(caught.value)
