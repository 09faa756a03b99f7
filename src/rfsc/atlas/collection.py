"""The atlas of a classifier: its models, and what can be asked of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from itertools import chain
from typing import Any

import numpy as np

from .._fit.output import FittedTerms
from .._model.predictor import Predictor
from .._utils.arrays import FloatArray, IntArray
from .._utils.validation import check_count
from .._utils.words import listed, paragraphs, plural
from ..explain.term_table import ReadableTable, events_caution
from .exploring import Exploration, Support
from .model_tables import IN_SOME, Disagreement, FeatureUseTable, ModelTable, SwapTable
from .source import Source
from .wishes import N_BEGUN, FoundModel, Wish, explored_under, in_words, price_of

MOST_SHOWN = 15  # rows of a table of text


@dataclass(frozen=True, slots=True, kw_only=True)
class AtlasSettings:
    """How an atlas was made; lists hold one entry for each output."""

    tolerance: float | str
    max_models: int
    n_rows: int
    classes: tuple[str, ...]
    sizes: tuple[tuple[int, ...], ...]  # of the models, ascending
    n_tried: tuple[int, ...]  # candidate terms that were tried in the best models
    n_terms: tuple[int, ...]  # candidate terms that there are
    n_fitted: tuple[int, ...]  # models that were fitted
    is_closed: tuple[bool, ...]  # whether exchanges of one term lead to no further model, else the budget ended
    is_cut: tuple[bool, ...]  # whether more models are as good than were kept


@dataclass(frozen=True, slots=True, eq=False)
class OutputMap:
    """What was explored for one output, and the models that were kept."""

    exploration: Exploration
    pool: IntArray  # terms that were tried
    supports: list[Support]
    fits: list[FittedTerms]
    in_all: frozenset[int] = frozenset()  # features that all models within the tolerance read, also others than these
    in_each: tuple[frozenset[int], ...] = ()  # clusters of which all these models read a member
    sizes: tuple[int, ...] = ()  # of the models, ascending
    n_fitted: int = 0
    is_closed: bool = False  # whether exchanges of one term lead to no further model
    is_cut: bool = False  # whether more models are as good than were kept


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Atlas:
    """Models that are as good as the best of their size; made by `rfsc.atlas.atlas`.

    It holds the training rows, because `find` fits models to them; no table, text or file shows them.

    Parameters
    ----------
    models : ModelTable
        One row for each model, those of the size of the answer first; of each size the best of each set of features
        first.
    features : FeatureUseTable
        Features that are in all, in some or in none of the models, and the range of their importance.
    swaps : SwapTable
        What replaces what, and at which price.
    importance : ndarray of shape (n_models, n_features)
        By how much the left-out log-loss of each model rises without the terms that read each feature of the table,
        in thousandths; NaN if the model does not read it.
    feature_names : tuple of str
        Names of these features.
    clusters : ndarray of shape (n_features,)
        Number of the cluster of each feature, by rank correlation.
    settings : AtlasSettings
        Tolerance, sizes, how many terms were tried, and whether the exploration came to its end.
    _source, _maps : object
        What `model`, `find` and `disagreement` need, the training rows among it; private.
    """

    models: ModelTable
    features: FeatureUseTable
    swaps: SwapTable
    importance: FloatArray
    feature_names: tuple[str, ...]
    clusters: IntArray
    settings: AtlasSettings
    _source: Source = field(repr=False)
    _maps: Sequence[OutputMap] = field(repr=False)

    def __len__(self) -> int:
        return self.models.number.size

    def model(self, number: int) -> Any:
        """One of the models as a fitted estimator.

        Parameters
        ----------
        number : int
            The number of the model in `models`.

        Returns
        -------
        RFSCClassifier or Pipeline
            Like the one that the atlas was made from, but with this model; with several classes, in the place of that
            of one class. It predicts, explains and exports like any other.
        """
        check_count("number", number, 0, len(self) - 1)
        entries = [(output, fit) for output, own in enumerate(self._maps) for fit in own.fits]
        output, fit = entries[int(number)]
        return self._source.view({output: fit})

    def find(
        self,
        *,
        without: Sequence[str] = (),
        require: Sequence[str] = (),
        max_terms: int | None = None,
        increasing: Sequence[str] = (),
        decreasing: Sequence[str] = (),
        label: object = None,
    ) -> FoundModel:
        """The best model under a wish, searched for among all candidate terms that were tried.

        With several classes the model of every class obeys the wish.

        Parameters
        ----------
        without : list of str, default=()
            Features that it must not read; after a pipeline also columns of the table, with all that is made of them.
        require : list of str, default=()
            Features that it must read.
        max_terms : int or None, default=None
            Its largest number of terms, the intercept not counted; None takes that of the answer.
        increasing, decreasing : list of str, default=()
            Features with which the probability of a class must not fall, or not rise, while the others stay the same,
            within the range of the training rows. For two classes only.
        label : object, default=None
            This class, by default the second.

        Returns
        -------
        FoundModel
            The model, and by how much its left-out log-loss is above that of the answer.
        """
        if max_terms is not None:
            check_count("max_terms", max_terms, 0)
        named = {"without": without, "require": require, "increasing": increasing, "decreasing": decreasing}
        known = {which: self._source.names.find(which, names) for which, names in named.items()}
        both = {*without} & {*require} | {*increasing} & {*decreasing}
        if both:
            msg = f"{min(both)!r} is both in without and in require, or both increasing and decreasing. Choose one."
            raise ValueError(msg)
        required = tuple(map(tuple, known.pop("require")))
        features = {which: tuple(chain.from_iterable(own)) for which, own in known.items()}
        if label is not None and label == self._source.rows.targets.classes[0]:  # signs are those of the second
            features |= {"increasing": features["decreasing"], "decreasing": features["increasing"]}
        wish = Wish(required=required, max_terms=None if max_terms is None else int(max_terms), **features)
        most = max(own.exploration.max_size for own in self._maps) if max_terms is None else max_terms
        words = in_words(list(without), list(require), (list(increasing), list(decreasing)), most)
        words += " for each class" if len(self._maps) > 1 else ""
        return _found_model(wish, words, self._source, self._maps)

    def disagreement(self, X: Any) -> Disagreement:
        """Rows of a table on which the models differ, and by how much.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows such as those that the classifier predicts.

        Returns
        -------
        Disagreement
            One row for each row of X, the most disputed first.
        """
        source = self._source
        values = source.values(X)
        classes, own = source.clf.classes_, list(source.clf.models_)
        answer = Predictor(own, classes, named=False).predict_proba(values)
        predicted = answer.argmax(axis=1)
        shown = np.ones_like(predicted) if len(classes) == 2 else predicted
        least, greatest, total = np.full(len(values), np.inf), np.full(len(values), -np.inf), np.zeros(len(values))
        is_disputed = np.zeros(len(values), dtype=np.bool_)
        for output, fits in enumerate(self._maps):
            for model in source.sparse(output, fits.fits):
                others = [*own[:output], model, *own[output + 1 :]]
                proba = Predictor(others, classes, named=False).predict_proba(values)
                p = np.take_along_axis(proba, shown[:, None], axis=1)[:, 0]
                least, greatest, total = np.minimum(least, p), np.maximum(greatest, p), total + p
                is_disputed |= proba.argmax(axis=1) != predicted
        order = np.lexsort((np.arange(len(values)), least - greatest, ~is_disputed))
        return Disagreement(
            row=order,
            predicted=tuple(str(classes[predicted[k]]) for k in order),
            least=least[order],
            mean=total[order] / len(self),
            greatest=greatest[order],
            spread=(greatest - least)[order],
            is_disputed=is_disputed[order],
            of=f"class {classes[1]}" if len(classes) == 2 else "the predicted class",
        )

    # ---- as text

    def lines(self) -> list[str]:
        """What was found, in sentences."""
        made, found = self.settings, []
        how = "one paired standard error" if made.tolerance == "1se" else f"{made.tolerance:g}"
        for output, label in enumerate(self._source.labels):
            of = f"Class {label}: " if len(self._maps) > 1 else ""
            sizes, n_models = made.sizes[output], len(self._maps[output].supports)
            span = f"{sizes[0]} to {sizes[-1]} terms" if len(sizes) > 1 else plural(sizes[0], "term")
            found.append(
                f"{of}{plural(n_models, 'model')} of {span}, each within {how} of the best of its size "
                f"in left-out log-loss (leave-one-out, {made.n_rows:,} rows)."
            )
            tried = f"{made.n_tried[output]:,} of {plural(made.n_terms[output], 'candidate term')} tried"
            end = "nothing new was found" if made.is_closed[output] else "the budget ended"
            found.append(f"{of}{tried} in {plural(made.n_fitted[output], 'model')}, until {end}.")
            if made.is_cut[output]:
                found.append(f"{of}More models are as good; the best were kept (max_models={made.max_models}).")
        if len(self._maps) == 1:
            names = self._source.names.features
            either = [" or ".join(names[p] for p in sorted(some)) for some in self._maps[0].in_each]
            uses = {"In all models": (*self.features.named(), *either), "In some models": self.features.named(IN_SOME)}
            found += [f"{use}: {listed(names, MOST_SHOWN)}." for use, names in uses.items() if names]
        found += events_caution(self._source.clf, dict(zip(self._source.labels, map(max, made.sizes), strict=True)))
        if self._source.is_grouped:
            found.append(
                "Caution: the fit kept the rows of a group together, but here single rows are left out, so standard "
                "errors and the tolerance are too small."
            )
        return found

    def _tables(self) -> dict[str, ReadableTable]:
        return {"Features": self.features, "What replaces what": self.swaps, "Models": self.models}

    def text(self) -> str:
        """Sentences and the first rows of the tables as plain text."""
        parts = [self.lines()]
        for title, table in self._tables().items():
            n_rows = len(table.rows())
            more = [f"... and {n_rows - MOST_SHOWN:,} more"] if n_rows > MOST_SHOWN else []
            if n_rows:
                rows = table.first(MOST_SHOWN).aligned(table.text_columns)
                parts.append([title, rows, *more, *(f"({note})" for note in table.notes)])
        return paragraphs(parts)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Atlas({plural(len(self), 'model')})"

    def _repr_html_(self) -> str:
        head = "".join(f"<p>{escape(line)}</p>" for line in self.lines())
        return head + "".join(
            f"<h4>{title}</h4>{table.first(MOST_SHOWN)._repr_html_()}" for title, table in self._tables().items()
        )

    def to_json(self) -> str:
        """Tables and settings as JSON: names and figures, no row of the table."""
        content: dict[str, Any] = {name: getattr(self, name).rows() for name in ("models", "features", "swaps")}
        content |= {"settings": asdict(self.settings), "unused": self.features.unused}
        return json.dumps(content, indent=1, allow_nan=False)


def best_under(
    wish: Wish, words: str, source: Source, maps: Sequence[OutputMap]
) -> tuple[dict[int, FittedTerms], list[tuple[FloatArray, FloatArray]]]:
    """For each output the best model under a wish, and the left-out losses of all rows by it and by the answer."""
    fits, pairs = {}, []
    for output, own in enumerate(maps):
        begin = [*own.supports[:N_BEGUN], *map(own.exploration.best, own.exploration.sizes)]
        found = explored_under(wish, source, own.exploration, own.pool, begin)
        if not found.sizes:
            msg = f"no model fulfils this wish: {words[0].lower()}{words[1:]}. Allow more terms, or other features."
            raise ValueError(msg)
        best = min(map(found.best, found.sizes), key=found.loss)
        (fits[output],) = source.fitted(found.search, [best])
        pairs.append((found.row_losses([best]), own.exploration.row_losses([source.answers[output]])))
    return fits, pairs


def _found_model(wish: Wish, words: str, source: Source, maps: Sequence[OutputMap]) -> FoundModel:
    """The best model under a wish, and what the wish costs."""
    fits, pairs = best_under(wish, words, source, maps)
    models = source.as_shown([source.sparse(output, [fit])[0] for output, fit in fits.items()])
    terms = [
        name if len(models) == 1 else f"{model.label}: {name}"
        for model in models
        for name, term in zip(model.names, model.terms, strict=True)
        if term.features
    ]
    figures = price_of(pairs, maps[0].exploration)
    return FoundModel(words, source.view(fits), tuple(terms), *figures, n_outputs=len(models))
