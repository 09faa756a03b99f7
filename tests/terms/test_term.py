"""One term: what is read from a file, names of expressions of any shape, bounds of single nodes."""

from __future__ import annotations

import numpy as np
import pytest

from rfsc._terms import DamagedTermError, Mention, Term, monomial
from rfsc._terms.expression import (
    Condition,
    Divided,
    Exp,
    Number,
    Positive,
    Product,
    Ramp,
    Scaled,
    Sum,
    Wave,
    bound,
    falling,
    minus,
)
from rfsc._terms.scaling import Scaling
from rfsc._terms.term import MAX_DEPTH

X, Y = Scaled(0), Scaled(1)
HINGE = Positive(minus(X, 0.5, 52.0))
ONE_OF_EACH = [
    Number(1.0),
    X,
    Product((X, X, Y)),
    HINGE,
    Condition(X, ">", 0.5, 52.0),
    Condition(Y, "=", 0.25),
    Exp(Product((Number(-1.0), Sum((Product((X, X)), Divided(Y, 2.0)))))),
    Ramp(Sum((Number(0.5, 3.0), Product((Number(2.0, 0.4), X))))),
    Wave("sin", Product((Number(np.pi), Scaled(0, (10.0, 32.0))))),
    Product((HINGE, Condition(Y, ">", 0.5))),
]


def deep(depth):
    d = ["x", 0]
    for _ in range(depth):
        d = ["max0", d]
    return d


@pytest.mark.parametrize("node", ONE_OF_EACH, ids=lambda node: type(node).__name__)
def test_every_kind_of_node_survives_a_file_with_what_it_shows(node):
    again = Term.from_dict(Term(node).as_dict())
    assert again == Term(node)
    assert repr(again) == repr(Term(node))  # equality ignores what is only shown


def test_labels_survive_a_file_and_follow_the_names_of_features():
    term = Term(HINGE, ("near ", Mention(0, 61.0), ", far from ", Mention(1)))
    assert Term.from_dict(term.as_dict()) == term
    assert term.name(["age", "a,b"]) == "near age≈61, far from [a,b]"


@pytest.mark.parametrize(
    "d",
    [
        None,
        [],
        {},
        {"expression": ["x", 0], "more": 1},
        {"expression": None},
        {"expression": "x"},
        {"expression": True},
        {"expression": float("nan")},
        {"expression": 10**400},
        {"expression": ["x"]},
        {"expression": ["x", -1]},
        {"expression": ["x", 0.5]},
        {"expression": ["x", True]},
        {"expression": ["x", 0, 1.0]},
        {"expression": ["x", 0, 1.0, 0.0]},
        {"expression": ["sum"]},
        {"expression": ["over", ["x", 0], 0.0]},
        {"expression": ["over", ["x", 0], -1.0]},
        {"expression": ["number", 1.0, "2"]},
        {"expression": ["exp", ["x", 0], ["x", 1]]},
        {"expression": ["above", ["x", 0], 0.5, 0.5, 0.5]},
        {"expression": ["__import__('os').abort()", 1.0]},
        {"expression": [["x"], 0]},
        {"expression": deep(MAX_DEPTH + 1)},
        {"expression": ["x", 0], "label": "near"},
        {"expression": ["x", 0], "label": [3]},
        {"expression": ["x", 0], "label": [[0, float("inf")]]},
        {"expression": ["x", 0], "label": [["0", 1.0]]},
    ],
    ids=lambda d: str(d)[:50],
)
def test_damaged_descriptions_are_refused(d):
    with pytest.raises(DamagedTermError, match="in the description of a term, "):
        Term.from_dict(d)


def test_errors_show_no_values():
    with pytest.raises(DamagedTermError) as caught:
        Term.from_dict({"expression": ["above", ["x", 0], "secret 123"]})
    assert "secret" not in str(caught.value)


def test_an_expression_may_be_as_deep_as_the_limit():
    assert Term.from_dict({"expression": deep(MAX_DEPTH)}).features == (0,)


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (Product((X, HINGE, HINGE)), "age*max(0, age-52)^2"),
        (Product((Condition(X, ">", 0.5, 52.0), Y)), "(age>52)*[b*c]"),
        (minus(X, 0.5, 52.0), "(age-52)"),
        (Positive(falling(Y, 0.5, -3.0)), "max(0, -3-[b*c])"),
        (Positive(Sum((Number(1.0), Product((Number(-1.0), Divided(HINGE, 2.0)))))), "max(0, 1 - max(0, age-52)/2)"),
        (Exp(Product((Number(-1.0), X))), "exp(-1*age)"),
        (Condition(minus(X, 0.5, 52.0), ">", 0.1), "(age-52)>0.1"),
        (Ramp(Wave("cos", X)), "ramp(cos(age))"),
    ],
)
def test_expressions_of_any_shape_have_a_name(node, name):
    assert Term(node).name(["age", "b*c"]) == name


@pytest.mark.parametrize("node", ONE_OF_EACH, ids=lambda node: type(node).__name__)
def test_expressions_of_any_shape_are_known_in_the_units_of_the_user(node, rng):
    scaling = Scaling(np.array([10.0, -1.0]), np.array([32.0, 4.0]))  # brings 52 to 0.5
    raw = rng.uniform(-50, 150, size=(2, 40))
    scaled = (raw / 2 - scaling.half_minimum[:, None]) / scaling.half_span[:, None]
    total = sum(weight * part.column(raw, 40) for part, weight in Term(node).unscaled(scaling).items())
    np.testing.assert_allclose(total, Term(node).column(scaled, 40), rtol=1e-9, atol=1e-9)


def test_a_square_is_not_a_product_of_two_unrelated_factors():
    square = Sum((Product((X, X)), Number(0.0)))
    assert bound(square, {0: (-2.0, 1.0)}) == 4.0
    assert bound(Exp(Product((Number(-1.0), square))), {0: (-2.0, 1.0)}) == 1.0
    assert bound(Exp(Product((Number(-1.0), square))), {0: (1.0, 2.0)}) == pytest.approx(np.exp(-1.0))


def test_the_constant_reads_nothing():
    assert monomial([]) == Term(Number(1.0))
    assert monomial([]).features == monomial([]).factors == ()
    np.testing.assert_array_equal(monomial([]).column({}, 3), np.ones(3))
