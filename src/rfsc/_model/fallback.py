"""Models for rows in which a measurement is missing, and one formula for all rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from .._terms import Term
from .._terms.expression import Condition, Number, Product, Scaled, bare, product
from .._utils.arrays import BoolArray, FloatArray
from .recipe import MissingIn, Recipe
from .sparse_model import SparseModel


@dataclass(frozen=True, slots=True, eq=False)
class Fallback:
    """The best model for rows in which some columns are blank; it does not read them."""

    when_missing: tuple[str, ...]  # the columns that are blank, while those of all other fallbacks are not
    models: tuple[SparseModel, ...]  # one for each output, with the features and the scaling of the answer
    log_loss: float  # left-out rows without these columns; with several classes, summed over the outputs
    price: float  # by how much it is above that of the answer
    standard_error: float  # of the price, paired
    # left-out log-loss of the training rows with these blanks by this model, and by the answer with medians in their
    # place; None for fewer than five such rows
    blank_log_loss: float | None = None
    median_log_loss: float | None = None

    @property
    def terms(self) -> list[str]:
        """Names of the terms of all its models."""
        named = (zip(model.names, model.terms, strict=True) for model in self.models)
        return list(dict.fromkeys(name for pairs in named for name, term in pairs if term.features))

    @property
    def figures(self) -> dict[str, Any]:
        """All numbers by name."""
        names = ("log_loss", "price", "standard_error", "blank_log_loss", "median_log_loss")
        return {name: getattr(self, name) for name in names}


def indicators(recipe: Recipe, fallbacks: Sequence[Fallback]) -> dict[str, int]:
    """For every column of some fallback, the feature that is 1 if it is blank."""
    columns = {column.name: c for c, column in enumerate(recipe.columns)}
    names = dict.fromkeys(name for one in fallbacks for name in one.when_missing)
    return {name: recipe.features.index(MissingIn(columns[name])) for name in names}


def rows_of(fallbacks: Sequence[Fallback], flags: Mapping[str, int], table: FloatArray) -> Iterator[BoolArray]:
    """The rows that each fallback predicts, by the features of all rows."""
    for one in fallbacks:
        fits = [table[:, p] == float(name in one.when_missing) for name, p in flags.items()]
        yield np.logical_and.reduce(fits)


def combined(
    models: Sequence[SparseModel], fallbacks: Sequence[Fallback], flags: Mapping[str, int]
) -> list[SparseModel]:
    """One formula for each output that holds for all rows: every term times the conditions under which it counts."""
    known: dict[frozenset[str], Sequence[SparseModel]] = {frozenset(one.when_missing): one.models for one in fallbacks}
    blank = [frozenset(some) for n in range(len(flags) + 1) for some in combinations(flags, n)]
    cases = [(some, known.get(some, models)) for some in blank]
    found = []
    for output, model in enumerate(models):
        terms, coef = [], []
        for missing, own in cases:
            conditions = [Condition(Scaled(p), "=", float(name in missing)) for name, p in flags.items()]
            for term in own[output].terms:
                part = bare(term.expression)
                parts = () if part == Number(1.0) else part.parts if isinstance(part, Product) else (part,)
                terms.append(Term(product(*conditions, *parts)))
            coef.append(own[output].coef)
        whole = replace(model, standard_error=None, evidence=None, worth=None, sizes=None)
        found.append(replace(whole, terms=tuple(terms), coef=np.concatenate(coef)))
    return found
