"""Terms by name, and what they ask for: every family finds what it writes, without going through large spaces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import MonomialSpace
from rfsc._terms.naming import name_of
from rfsc._terms.polynomial import RestrictedMonomialSpace, monomials_of
from rfsc.bases import Centred, Fourier, Hinge, Polynomial, Radial, Rule, Sigmoid, Step, build_space
from tests.reference.naive_requirements import NaiveRequirements
from tests.terms.layout import all_terms, training_of

ODD = ["a", "b", "a*b", "a^2", "1", "[a", "a]", "[a*b]", "mean a", "x-3", "52", "max(0, a", "a*", "*", "^2", "a^2*b"]


def table(n_rows=60, seed=0):
    """Two quantities, one feature of five levels, one of two."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(50, 10, (n_rows, 2)), rng.integers(0, 5, n_rows), rng.integers(0, 2, n_rows)])


FAMILIES = {
    "polynomial": [Polynomial(degree=3)],
    "interactions and powers": [Polynomial(degree=3, interaction_only=True), Polynomial(degree=4, max_features=1)],
    "centred": [Centred(3)],
    "products": [Hinge(3, products=True)],
    "step": [Step(4, levels=True)],
    "rule": [Rule(n_knots=2)],
    "fourier": [Fourier(2)],
    "radial": [Radial(5)],
    "sigmoid": [Sigmoid(10)],
    "all": [
        Polynomial(degree=2),
        Hinge(2, products=True),
        Step(2, levels="grouped"),
        Fourier(1),
        Radial(3),
        Sigmoid(3),
    ],
}


@pytest.mark.parametrize("bases", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("names", [["age", "bmi", "stage", "sex"], ["a", "b", "a*b", "a^2"], ["x-3", "52", "x", "-3"]])
def test_every_term_is_found_by_its_name(bases, names):
    space = build_space(bases, training_of(table()), 0)
    written = [term.name(names) for term in all_terms(space)]
    found = np.array([space.find(name, names) for name in written])
    wanted = np.array([written.index(name) for name in written])
    np.testing.assert_array_equal(space.simplest(found), space.simplest(wanted))  # terms that are one have one id
    for name in (
        "",
        "*",
        "age*",
        "*age",
        "no such term",
        "age*age*age*age*age*age",
        "age^",
        "age^0",
        written[-1] + "*",
    ):
        assert space.find(name, names) is None


@given(data=st.data())
def test_products_of_oddly_named_features_are_read_back(data):
    names = data.draw(st.permutations(ODD).map(lambda some: some[:6]))
    space = MonomialSpace(np.arange(6), 3)
    j = data.draw(st.integers(0, space.n_terms - 1))
    found = space.find(space.terms(np.array([j]))[0].name(names), names)
    # names such as "[a" and "a]" may be read in two ways, but never as a term that is written otherwise
    assert space.terms(np.array([found]))[0].name(names) == space.terms(np.array([j]))[0].name(names)


def test_factors_may_come_in_any_order():
    names = ["age", "bmi", "stage", "sex"]
    space = build_space([Polynomial(degree=3), Hinge(2, products=True)], training_of(table()), 0)
    assert space.find("bmi*age", names) == space.find("age*bmi", names) == 6
    assert space.find("bmi*age*bmi", names) == space.find("age*bmi^2", names)
    for term in all_terms(space)[-20:]:
        first, second = (name_of(part, names) for part in term.expression.parts)
        turned = f"{second}*{first}"
        assert space.find(turned, names) == space.find(term.name(names), names)
    single = all_terms(space)[space.find("age*bmi*stage", names) + 1 :][0]
    assert space.find(f"{single.name(names)}*{single.name(names)}", names) is None


@pytest.mark.parametrize("bases", [bases for name, bases in FAMILIES.items() if name != "rule"])
def test_parents_are_the_terms_with_one_factor_less(bases):
    space = build_space(bases, training_of(table()), 0)
    ids = np.random.default_rng(0).permutation(np.unique(space.simplest(np.arange(space.n_terms))))
    naive = NaiveRequirements(space)
    assert [set(parents) for parents in space.parents(ids)] == [naive.parents(j) for j in ids.tolist()]
    assert space.parents(np.empty(0, np.int64)) == []


@given(features=st.sets(st.integers(0, 12), max_size=6), data=st.data())
def test_ranks_of_restricted_monomials(features, data):
    families = data.draw(
        st.lists(
            st.builds(
                Polynomial,
                degree=st.integers(0, 4),
                interaction_only=st.booleans(),
                max_features=st.none() | st.integers(1, 3),
            ),
            min_size=1,
            max_size=2,
        )
    )
    space = monomials_of(families, np.array(sorted(features), dtype=np.int64))
    terms = all_terms(space)
    assert [space.rank(term.factors) for term in terms] == list(range(space.n_terms))
    present = {term.factors for term in terms}
    for term in terms:  # a family that has a product has all that divides it
        assert all(term.factors[:i] + term.factors[i + 1 :] in present for i in range(len(term.factors)))


def test_what_a_space_lacks_has_no_rank():
    space = RestrictedMonomialSpace(np.array([1, 3, 5]), [(1, 1), (2, 2)])
    assert space.rank([3, 3]) is None
    assert space.find("c^2", list("abcdef")) is None
    for other in (space, MonomialSpace(np.array([1, 3, 5]), 2)):
        assert other.find("b*c", list("abcdefgh")) is None
        assert other.find("h", list("abcdefgh")) is None


def test_grouped_levels_are_those_of_one_feature():
    space = build_space(FAMILIES["all"], training_of(table()), 0)
    terms = all_terms(space)
    levels = [j for j, term in enumerate(terms) if getattr(term.expression, "relation", "") == "="]
    (group,) = space.groups
    assert sorted(group) == levels
    assert {terms[j].features for j in group} == {(2,)}
    assert build_space([Step(4, levels=True)], training_of(table()), 0).groups == ()


@pytest.mark.parametrize("levels", ["group", None, 1.5, "Grouped"])
def test_levels_are_true_false_or_grouped(levels):
    with pytest.raises(ValueError, match="levels must be True, False or 'grouped'"):
        Step(levels=levels)


@pytest.mark.parametrize("basis", [Polynomial(degree=2), Hinge(8, products=True), Rule(), Step(levels=True), Fourier()])
def test_names_in_wide_tables_are_found_without_listing_all_terms(basis):
    X = np.random.default_rng(0).normal(size=(20, 20_000))
    names = [f"x{j}" for j in range(20_000)]
    space = build_space([basis], training_of(X), 0)
    j = space.n_terms - 1
    name = space.terms(np.array([j]))[0].name(names)
    assert space.find(name, names) == j
    space.parents(np.array([j]))
