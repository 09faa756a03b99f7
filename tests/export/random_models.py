"""Random models of every family, and rows that are hard on generated code.

Everything is a function of a seed, so that hypothesis can drive it: ``st.integers(0, 2**32 - 1).map(random_model)``.
"""

from __future__ import annotations

import numpy as np

from rfsc._model import Predictor, SparseModel, class_codes, class_probabilities, decision_table
from rfsc._model.recipe import LevelOf, MissingIn, NumberOf, RawColumn, Recipe
from rfsc._terms import Term, monomial
from rfsc._terms.expression import Condition, Divided, Exp, Number, Product, Ramp, Scaled, Sum, minus, product
from rfsc._terms.fourier import wave
from rfsc._terms.hinges import hinge
from rfsc._terms.scaling import Scaling

FAMILIES = ("monomial", "centred", "hinge", "step", "level", "fourier", "radial", "sigmoid")
# where the features of a random model lie: ordinary, counts from zero, narrow, tiny, and as wide as doubles go
RANGES = ((0.0, 1.0), (-3.0, 5.0), (0.0, 4.0), (0.0, 1e6), (1e6, 1e6 + 0.5), (2e-305, 7e-305), (-1e-200, 0.0))
WIDE = (-1.7e308, 1.7e308)
EXTREMES = (0.0, -0.0, 5e-324, -5e-324, 2e-308, 1e-300, -1e-300, 1e-80, 1e16, 1e300, -1e300, 1.79e308, -1.79e308)


def scaling_of(ranges) -> Scaling:
    """The scaling that rows with these lowest and highest values give."""
    return Scaling.from_rows(np.array(ranges, dtype=np.float64).T)


def random_term(rng, family, scaling):
    """One term of a family, its numbers drawn; knots may lie at the ends of the training range or where a row is."""
    n = scaling.half_span.size
    some = np.sort(rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)).tolist()
    p = some[0]
    knot = float(rng.choice([0.0, 1.0, 0.5, rng.random(), rng.random()]))
    if family == "monomial":
        return monomial(sorted(rng.choice(some, size=int(rng.integers(0, 6))).tolist()))
    if family == "centred":
        centres = {q: float(rng.choice([0.0, rng.random()])) for q in some}
        factors = sorted(rng.choice(some, rng.integers(2, 6)).tolist())
        return Term(product(*(minus(Scaled(q), centres[q], 0.5) for q in factors)))
    if family == "hinge":
        return Term(product(*(hinge(q, int(rng.choice([-1, 1])), knot, 0.5) for q in some[:2])))
    if family == "step":
        return Term(Condition(Scaled(p), ">", knot, 0.5))
    if family == "level":
        return Term(Condition(Scaled(p), "=", float(rng.choice([0.0, 0.25, 1.0, 1 / 3])), 0.5))
    if family == "fourier":
        kind, frequency = str(rng.choice(["sin", "cos"])), int(rng.integers(1, 5))
        half_range = float(scaling.half_minimum[p]), float(scaling.half_span[p])
        return Term(wave(kind, frequency, Scaled(p, half_range)))
    if family == "radial":
        centres = [float(rng.choice([0.0, rng.random()])) for _ in some]
        widths = rng.uniform(0.05, 2.0, len(some)).tolist()
        parts = [Divided(minus(Scaled(q), c), w) for q, c, w in zip(some, centres, widths, strict=True)]
        bump = Exp(Product((Number(-1.0), Sum(tuple(Product((part, part)) for part in parts)))))
        return Term(bump, ("near cluster 1, wide (…)",))
    slopes = (rng.standard_normal(len(some)) * 10.0 ** rng.integers(-1, 3)).tolist()
    parts = [Product((Number(slope), Scaled(q))) for q, slope in zip(some, slopes, strict=True)]
    return Term(Ramp(Sum((Number(float(rng.standard_normal())), *parts))))


def random_model(seed, *, families=FAMILIES, ranges=None, label="yes", n_terms=None, names=None) -> SparseModel:
    """A model whose terms are drawn from the families.

    Parameters
    ----------
    seed : int
        What everything is drawn from.
    families : sequence of str
        Families to draw from.
    ranges : sequence of (float, float), default=None
        Training range of every feature; drawn where None.
    label : object
        The class that f > 0 predicts.
    n_terms : int, default=None
        Number of terms; drawn where None.
    names : sequence of str, default=None
        Names of the features; x0, x1, ... where None.
    """
    rng = np.random.default_rng(seed)
    if ranges is None:
        ranges = random_ranges(rng)
    scaling = scaling_of(ranges)
    n_terms = int(rng.integers(1, 9)) if n_terms is None else n_terms
    drawn = [random_term(rng, str(rng.choice(list(families))), scaling) for _ in range(n_terms)]
    terms = tuple(dict.fromkeys(drawn))
    coef = rng.standard_normal(len(terms)) * 10.0 ** rng.integers(-2, 3, len(terms))
    return SparseModel(
        terms=terms,
        coef=coef,
        standard_error=None,
        scaling=scaling,
        feature_names=tuple(names) if names else tuple(f"x{p}" for p in range(len(ranges))),
        label=label,
        n_observations=100.0,
        score=None,
    )


def random_ranges(rng):
    """Ranges of three to six features."""
    ranges = [RANGES[int(i)] for i in rng.integers(0, len(RANGES), int(rng.integers(3, 7)))]
    return [*ranges[:-1], WIDE] if rng.random() < 0.3 else ranges


def random_models(seed, labels, **settings) -> list[SparseModel]:
    """One model for each label over the same features, as a classifier of three and more classes holds them."""
    ranges = settings.pop("ranges", None) or random_ranges(np.random.default_rng(seed))
    return [random_model((seed, k), ranges=ranges, label=label, **settings) for k, label in enumerate(labels)]


def random_predictor(seed, classes=("no", "yes"), **settings) -> Predictor:
    """A classifier of random models that takes plain arrays."""
    labels = classes[1:] if len(classes) == 2 else classes
    return Predictor(random_models(seed, labels, **settings), list(classes), named=False)


def ordinary_rows(model, rng, n_rows=20):
    """Rows within the training ranges; every value of the first rows at an end, the middle or another level."""
    low, span = model.scaling.half_minimum, model.scaling.half_span
    share = rng.random((n_rows, low.size))
    share[: n_rows // 2] = rng.choice([0.0, 0.25, 0.5, 1.0], (n_rows // 2, low.size))
    return 2 * (low + span * share)


def awkward_rows(model, rng, n_rows=60):
    """Rows far outside the training ranges and of extreme magnitude; NaN is not among them."""
    low, span = model.scaling.half_minimum, model.scaling.half_span
    X = ordinary_rows(model, rng, n_rows)
    third = n_rows // 3
    away = rng.choice([-1e6, -10.0, -1.0, 1.5, 3.0, 1e9], (third, low.size))
    with np.errstate(over="ignore"):
        X[:third] = np.clip(low + span * away, -8.9e307, 8.9e307) * 2
    X[third : 2 * third] = rng.choice(EXTREMES, (third, low.size))
    for row in X[2 * third :]:  # one extreme value among ordinary ones
        row[rng.integers(low.size)] = rng.choice(EXTREMES)
    return X


def answers(predictor, rows):
    """What every export must say: formulas (n_samples, n_outputs), class probabilities, classes.

    Unlike a Predictor it takes gaps: a formula that reads one is NaN; where any of them is, so are the probabilities,
    and the class is None.
    """
    table = predictor.recipe_.table(rows) if predictor.recipe_ else np.asarray(rows, dtype=np.float64)
    decision = np.stack([_decision(model, table) for model in predictor.models_], axis=1)
    probability = np.full((len(table), len(predictor.classes_)), np.nan)
    predicted = [None] * len(table)
    known = np.flatnonzero(~np.isnan(decision).any(axis=1))
    if known.size:
        values = decision_table(list(decision[known].T))
        probability[known] = class_probabilities(values)
        for i, label in zip(known, predictor.classes_[class_codes(values)].tolist(), strict=True):
            predicted[i] = label
    return decision, probability, predicted


def _decision(model, table):
    gaps = np.isnan(table[:, list(model.features)]).any(axis=1)
    return np.where(gaps, np.nan, model.decision(np.nan_to_num(table, nan=float(model.scaling.half_minimum[0]))))


def clear(decision):
    """Rows whose class does not hang on the last digits of a formula, nor on a tie other than at zero itself."""
    if decision.shape[1] == 1:
        return (np.abs(decision[:, 0]) > 1e-9) | (decision[:, 0] == 0)
    top = np.sort(decision, axis=1)[:, ::-1]
    return ~np.isnan(decision).any(axis=1) & (top[:, 0] - top[:, 1] > 1e-9 * np.maximum(1.0, np.abs(top[:, 0])))


def assert_same_classes(found, predicted, decision):
    """Equal wherever the class is clear, and missing in the same places."""
    sure = clear(decision)
    assert [x is None for x in found] == [x is None for x in predicted]
    assert [x for x, there in zip(found, sure, strict=True) if there] == [
        x for x, there in zip(predicted, sure, strict=True) if there
    ]


LEVELS = ("red", "Red", "it's", 'say "hi"', "grün", "", "a\\b", "c?? /*x*/ --")
CODES = (1.0, 2.0, 7.5)


def random_recipe(rng):
    """A recipe with everything in it: numbers with and without a substitute, indicators, levels of both kinds."""
    columns = (
        RawColumn("age", "number"),
        RawColumn("in come", "number"),
        RawColumn("colour", "text"),
        RawColumn("code", "number"),
        RawColumn("unused", "text"),
    )
    some = tuple(rng.choice(LEVELS, 3, replace=False).tolist())
    features = (
        NumberOf(0, fill=41.5),
        MissingIn(0),
        NumberOf(1),
        NumberOf(0, fill=-3.0),
        LevelOf(2, some[:1]),
        LevelOf(2, (*some[1:], None)),
        LevelOf(2, some, other=True),
        MissingIn(2),
        LevelOf(3, (*CODES[:2], "no number")),
        LevelOf(3, (*CODES, None), other=True),
        MissingIn(3),
    )
    return Recipe(columns, features, tuple(f"feature {j}" for j in range(len(features))))


def recipe_predictor(seed, classes=("no", "yes"), **settings) -> Predictor:
    """A classifier of random models over the features of a random recipe."""
    rng = np.random.default_rng(seed)
    recipe = random_recipe(rng)
    ranges = [(18.0, 90.0), (0.0, 1.0), (-2.0, 2.0), (-0.25, 7.5)] + [(0.0, 1.0)] * 7
    labels = classes[1:] if len(classes) == 2 else classes
    models = random_models(seed, labels, ranges=ranges, names=recipe.names, **settings)
    return Predictor(models, list(classes), recipe, named=False)


def raw_rows(rng, n_rows=60):
    """Rows of the raw table of `random_recipe`, with gaps, and levels that the recipe does not know."""
    ages = rng.choice([None, 0.0, 18.0, 50.5, 90.0, 1e9, -1e300, 1e-300, 5e-324], n_rows)
    incomes = rng.choice([None, 0.0, 30.0, 31.25, -1e12, 1e290, 1e-300], n_rows)
    colours = rng.choice([None, "other", "RED", *LEVELS], n_rows)
    codes = rng.choice([None, 0.0, 3.0, *CODES], n_rows)
    return [list(row) for row in zip(ages, incomes, colours, codes, ["x"] * n_rows, strict=True)]


def with_gaps(X, rng, share=0.2):
    """A copy with some values missing."""
    X = X.copy()
    X[rng.random(X.shape) < share] = np.nan
    return X


def assert_agree(found, expected, tol=1e-9):
    """Equal to `tol`, relative or absolute, whichever is larger; missing in the same places."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    there = ~np.isnan(expected)
    gap = np.abs(found[there] - expected[there]) / np.maximum(1.0, np.abs(expected[there]))
    assert np.all(gap <= tol), f"largest gap {gap.max():.3g}"
