"""A fitted classifier, or a pipeline that ends in one, with its training rows: what further models are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._fit.fitting import revisited
from .._fit.output import FittedTerms, OutputFit, OutputSearch
from .._fit.rows import read_rows
from .._model import SparseModel
from .._model.access import models_of, predictor_if_readable
from .._search.history import Candidate
from .._terms import Term
from .._utils.arrays import FloatArray
from .._utils.validation import is_large
from .._utils.words import listed
from ..certify.halves import has_steps, last_step
from .exploring import Support

MOST_NAMES = 10  # in a message


class FeatureNames:
    """Features of a fitted estimator by their names, and those made from each column of a raw table."""

    def __init__(self, estimator: Any) -> None:
        self.features = models_of(estimator)[0].feature_names
        found: dict[str, list[int]] = {}
        predictor = predictor_if_readable(estimator)
        if predictor is not None and predictor.recipe_ is not None:
            recipe = predictor.recipe_
            for p, made in enumerate(recipe.features):
                found.setdefault(recipe.columns[made.column].name, []).append(p)
        self._columns = found | {name: [p] for p, name in enumerate(self.features) if name not in found}

    def find(self, which: str, names: Any) -> list[list[int]]:
        """For each name that a user gives, the features that it stands for."""
        wrong = names if isinstance(names, str) else next((one for one in names if not isinstance(one, str)), None)
        if wrong is not None:
            what = "a single name" if isinstance(wrong, str) else f"an entry of type {type(wrong).__name__}"
            msg = f"{which} must be a list of names of features, got {what}. Write {which}=['...']."
            raise TypeError(msg)
        unknown = [name for name in names if name not in self._columns]
        if unknown:
            by_lower = {name.lower(): name for name in self._columns}
            near = get_close_matches(unknown[0].lower(), by_lower, n=1)
            known = listed([repr(name) for name in self._columns], MOST_NAMES)
            advice = f"Did you mean {by_lower[near[0]]!r}?" if near else f"Choose from {known}."
            msg = f"{which} names {unknown[0]!r}, but the fit has no column of this name. {advice}"
            raise ValueError(msg)
        if which not in ("increasing", "decreasing"):
            return [self._columns[name] for name in names]
        texts = [name for name in names if name not in self.features]
        if texts:
            msg = f"{which} names {texts[0]!r}, which is no column of numbers, so it cannot rise or fall."
            raise ValueError(msg)
        return [[self.features.index(name)] for name in names]  # not the indicator of its blanks


class Source:
    """The fit that an atlas is about. It holds the training rows, which no method shows or writes."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self._estimator, self.clf = estimator, last_step(estimator)
        check_is_fitted(estimator)
        if is_large(X):
            msg = "an atlas needs a table in memory; this one is read in chunks. Fit a sample of its rows instead."
            raise ValueError(msg)
        seen = estimator[:-1].transform(X) if has_steps(estimator) else X
        self.rows, data = read_rows(clone(self.clf), seen, y, sample_weight, None)
        known = self.clf.manifest_["data"] if hasattr(self.clf, "manifest_") else self.clf._data_record
        if data["content"] != known["content"]:
            msg = "X and y are not the rows that clf was fitted to. Pass the training rows, in the same order."
            raise ValueError(msg)
        if data["weights"] != known["weights"]:
            msg = "the weights of the rows are not those of the fit. Pass its sample_weight, or none if it had none."
            raise ValueError(msg)
        self.is_grouped = known["groups"] is not None
        self.searches: list[OutputSearch] = revisited(self.clf, self.rows)
        self.answers: list[Support] = [self._answer(output) for output in range(len(self.searches))]

    def _answer(self, output: int) -> Support:
        """The ids of the terms of a model of the classifier."""
        fit, wanted = self.clf._fits[output], set(self.clf.models_[output].terms)
        for model in fit.models:
            if set(fit.space.terms(model.ids)) == wanted:
                return tuple(model.ids.tolist())
        msg = "the models of clf are not those of its fit: its models_ were replaced. Fit it again."
        raise ValueError(msg)

    @property
    def labels(self) -> list[str]:
        """The classes that the outputs predict."""
        return [str(model.label) for model in self.clf.models_]

    @cached_property
    def names(self) -> FeatureNames:
        """What a user may call the features of the classifier."""
        return FeatureNames(self._estimator)

    def fitted(self, search: OutputSearch, supports: Sequence[Support]) -> list[FittedTerms]:
        """Supports fitted in full precision, shrunken as the answer is."""
        if not supports:
            return []
        result = search.evaluated([np.array(support, dtype=np.int64) for support in supports])
        return search.fitted([Candidate.at(result, m) for m in range(len(supports))])

    def sparse(self, output: int, models: Sequence[FittedTerms]) -> list[SparseModel]:
        """Fitted terms as models of the classifier."""
        fit: OutputFit = replace(self.clf._fits[output], models=tuple(models))
        return fit.sparse_models(
            self.rows, self.searches[output].job.spec.feature_names, self.clf.models_[output].label
        )

    def view(self, fits: Mapping[int, FittedTerms]) -> Any:
        """The estimator with other models for some outputs; it predicts, explains and exports like any other."""
        clf = copy(self.clf)
        if hasattr(clf, "manifest_"):  # fitting again would not give these models
            clf._data_record = clf.manifest_["data"]
            del clf.manifest_
        clf.models_, clf._fits, clf._paths = (list(own) for own in (clf.models_, clf._fits, clf._paths))
        for output, fit in fits.items():
            fit = replace(fit, worth=self.searches[output].worth(fit))
            (model,) = self.sparse(output, [fit])
            clf.models_[output], clf._paths[output] = model, [model]
            clf._fits[output] = replace(clf._fits[output], models=(fit,), chosen=0)
        return self._around(clf)

    def as_shown(self, models: Sequence[SparseModel]) -> list[SparseModel]:
        """Models of the classifier as explanations show them: after a pipeline, in the units of the raw table."""
        if not models or (not has_steps(self._estimator) and self.clf.recipe_ is None):
            return list(models)
        clf = copy(self.clf)
        clf.models_ = list(models)
        return models_of(self._around(clf))

    def shown_names(self, model: SparseModel, terms: Sequence[Term]) -> tuple[str, ...]:
        """Names of terms as explanations show them."""
        if not terms:
            return ()
        bare = replace(model, standard_error=None, worth=None, evidence=None)
        return self.as_shown([replace(bare, terms=tuple(terms), coef=np.ones(len(terms)))])[0].names

    def values(self, X: Any) -> FloatArray:
        """The features of the classifier for new rows."""
        seen = self._estimator[:-1].transform(X) if has_steps(self._estimator) else X
        return np.asarray(self.clf._table(seen), dtype=np.float64)

    def _around(self, clf: Any) -> Any:
        if not hasattr(self._estimator, "steps"):
            return clf
        pipeline = copy(self._estimator)
        pipeline.steps = [*self._estimator.steps[:-1], (self._estimator.steps[-1][0], clf)]
        return pipeline
