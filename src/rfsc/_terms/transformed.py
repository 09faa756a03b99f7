"""Terms out of any fitted scikit-learn transformer: one for every column that it puts out."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._utils.arrays import FloatArray, IntArray
from .._utils.optional import require
from .base import Term, Training, Unrelated, checked_ids, first_named
from .expression import Expression
from .scaling import Scaling

DIGITS = 14  # scaling and back costs the last two of sixteen digits
LARGEST_EXACT_POWER = 22  # of ten, in double precision


@dataclass(frozen=True, slots=True, eq=False)
class TransformedTerm:
    """One output column of a transformer that reads the features in the user's own units.

    Two terms are equal when they share the very same transformer object, the column and the kind of rows.

    Parameters
    ----------
    transformer : object
        The fitted transformer.
    output : int
        Which column of its output.
    scaling : Scaling
        How the features were brought to [0, 1]. It also tells the value of features that are constant in training:
        those are held at it, because a model has no scaled values of them.
    raw : bool
        Whether the term is evaluated on features in the user's own units, not on scaled ones.
    """

    transformer: Any
    output: int
    scaling: Scaling
    raw: bool = False

    def __eq__(self, other: object) -> bool:
        """By identity of the transformer, which knows no other equality."""
        if not isinstance(other, TransformedTerm):
            return NotImplemented
        return self.transformer is other.transformer and self.output == other.output and self.raw == other.raw

    def __hash__(self) -> int:
        """Hash of what makes two terms equal."""
        return hash((id(self.transformer), self.output, self.raw))

    @property
    def features(self) -> tuple[int, ...]:
        """All features that vary: a transformer does not tell which ones a column depends on."""
        return tuple(np.flatnonzero(~self.scaling.constant).tolist())

    def name(self, feature_names: Sequence[str]) -> str:
        """What the transformer calls the column; its own name goes in front where that is the name of a feature."""
        name = _output_names(self.transformer, feature_names)[self.output]
        return f"{type(self.transformer).__name__}({name})" if name in feature_names else name

    def column(self, rows: Mapping[int, FloatArray], n_samples: int) -> FloatArray:
        """Values of the column; runs the whole transformer."""
        out = _picked(_output(self.transformer, self._raw_rows(rows, n_samples)), np.array([self.output]))
        return np.asarray(out[0], dtype=np.float64)

    def expression(self) -> Expression:
        """Raise a TypeError: nobody knows what a transformer computes."""
        kind = type(self.transformer).__name__
        msg = (
            f"a term of a transformer ({kind}) cannot be written in another language. Fit the classifier without this "
            "basis, or put the transformer before it in a pipeline."
        )
        raise TypeError(msg)

    def unscaled(self, scaling: Scaling) -> dict[Term, float]:
        """The same column, evaluated on the features themselves."""
        return {replace(self, scaling=scaling, raw=True): 1.0}

    def bound(self, ranges: Mapping[int, tuple[float, float]]) -> float:  # noqa: ARG002
        """Infinite: nothing is known about the values."""
        return math.inf

    def as_dict(self) -> dict[str, Any]:
        """Raise a TypeError: code cannot be written as plain numbers."""
        kind = type(self.transformer).__name__
        msg = (
            f"a term of a transformer ({kind}) cannot be written as JSON, which holds no code. Save the classifier "
            "with pickle, joblib or skops, or fit it without this basis."
        )
        raise TypeError(msg)

    def _raw_rows(self, rows: Mapping[int, FloatArray], n_samples: int) -> FloatArray:
        """What the transformer reads, shape (n_samples, n_features)."""
        X = np.empty((n_samples, self.scaling.half_span.size))
        X[:] = 2.0 * self.scaling.half_minimum
        for p in self.features:
            X[:, p] = rows[p] if self.raw else _restored(rows[p], self.scaling, p)
        return X


class TransformedSpace(Unrelated):
    """Some output columns of a transformer, in their order.

    Parameters
    ----------
    transformer : object
        The fitted transformer.
    scaling : Scaling
        How the features were brought to [0, 1].
    outputs : ndarray of int
        Numbers of the columns.
    """

    def __init__(self, transformer: Any, scaling: Scaling, outputs: IntArray) -> None:
        self._transformer, self._scaling, self._outputs = transformer, scaling, outputs
        self.n_terms = int(outputs.size)

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each; the transformer runs once."""
        terms = self.terms(ids)
        if not terms:
            return np.empty((0, table.shape[1]))
        X = terms[0]._raw_rows(dict(enumerate(table)), table.shape[1])
        return _picked(_output(self._transformer, X), np.array([term.output for term in terms]))

    def terms(self, ids: IntArray) -> tuple[TransformedTerm, ...]:
        """The columns behind `ids`."""
        ids = checked_ids(ids, self.n_terms)
        return tuple(TransformedTerm(self._transformer, j, self._scaling) for j in self._outputs[ids].tolist())

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the column that is written so, None where there is none."""
        # few of them: every single name asks the transformer for all
        names = _output_names(self._transformer, feature_names)
        ids = np.flatnonzero([names[j] in name for j in self._outputs.tolist()])
        return first_named(self, name, feature_names, ids)


@dataclass(frozen=True, slots=True, eq=False)
class Transformed:
    """Every output column of a fitted transformer that varies over the training rows, as a term.

    It is given all features of the table in the user's own units, also those that a filter has set aside, and its
    output is not scaled. The features come back from the [0, 1] scale rounded to 13 digits: numbers of up to so many
    digits, categories among them, are exact, but one of 16 digits that is itself the edge of a bin may fall on the
    other side of it, in training and prediction alike. A model of such terms holds the transformer, and with it
    whatever that has kept of the rows that it was fitted to; it can be pickled but not written as JSON.

    Parameters
    ----------
    transformer : object
        A scikit-learn transformer that is already fitted and has ``get_feature_names_out``, such as a
        ``SplineTransformer`` or a pipeline.
    """

    transformer: Any

    def space(self, training: Training, rng: np.random.Generator) -> TransformedSpace:  # noqa: ARG002
        """Check that the transformer fits the table; nothing is drawn."""
        _check(self.transformer, len(training.table))
        X = TransformedTerm(self.transformer, 0, training.scaling)._raw_rows(
            dict(enumerate(training.table)), training.table.shape[1]
        )
        out = _output(self.transformer, X)
        if not np.isfinite(out.data if hasattr(out, "tocsc") else out).all():
            msg = (
                f"{type(self.transformer).__name__} gives values that are not finite numbers for the training rows. "
                "Let it impute or clip them, or leave out such columns."
            )
            raise ValueError(msg)
        # without columns that do not vary: the constant is a term already, and two of them have no unique fit
        return TransformedSpace(self.transformer, training.scaling, _varying(out))


def _check(transformer: Any, n_features: int) -> None:
    kind = type(transformer).__name__
    for method in ("transform", "get_feature_names_out"):
        if not hasattr(transformer, method):
            msg = f"expected a fitted scikit-learn transformer, got {kind}, which has no {method}()."
            raise TypeError(msg)
    try:
        check_is_fitted(transformer)
        expected = transformer.n_features_in_
    except (NotFittedError, AttributeError) as error:
        msg = (
            f"{kind} is not fitted. Fit it first, and wrap it: Transformed(transformer.fit(X)). A fitted transformer "
            "without this wrapper is reset by scikit-learn's clone, and so by cross-validation and RFSCSelector."
        )
        raise ValueError(msg) from error
    if expected != n_features:
        msg = (
            f"{kind} was fitted to {expected} features, but the table has {n_features}. Fit it to the same table; a "
            "ColumnTransformer picks some of the features."
        )
        raise ValueError(msg)


def _output_names(transformer: Any, feature_names: Sequence[str] | None) -> list[str]:
    """Names of the output columns, after the user's features where the transformer accepts their names."""
    if feature_names is not None:
        try:
            return [str(name) for name in transformer.get_feature_names_out(np.asarray(feature_names, dtype=object))]
        except (ValueError, TypeError):  # it was fitted to a table with other names, and knows only those
            pass
    return [str(name) for name in transformer.get_feature_names_out()]


def _output(transformer: Any, X: FloatArray) -> Any:
    """What the transformer makes of the rows: a sparse matrix as it is, anything else as an array of floats."""
    if not len(X):  # transformers refuse an empty table
        return np.empty((0, len(transformer.get_feature_names_out())))
    table: Any = X
    if hasattr(transformer, "feature_names_in_"):  # it would warn about, or refuse, a table without names
        require(f"{type(transformer).__name__}, fitted to a table with names,", ["pandas"], "demo")
        table = importlib.import_module("pandas").DataFrame(X, columns=transformer.feature_names_in_)
    out = transformer.transform(table)
    return out if hasattr(out, "tocsc") else np.asarray(out, dtype=np.float64)


def _picked(out: Any, columns: IntArray) -> FloatArray:
    """Some columns of an output, one contiguous row for each; nothing else of a sparse one becomes dense."""
    chosen = out.tocsc()[:, columns].toarray() if hasattr(out, "tocsc") else out[:, columns]
    return np.ascontiguousarray(chosen.T, dtype=np.float64)


def _varying(out: Any) -> IntArray:
    """Numbers of the columns with more than one value."""
    low, high = out.min(axis=0), out.max(axis=0)
    if hasattr(out, "tocsc"):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.flatnonzero(low < high).astype(np.int64)


def _restored(row: FloatArray, scaling: Scaling, p: int) -> FloatArray:
    """Feature p as the user has given it: scaling costs the last digits, and a category must not become 2.9999."""
    half_minimum, half_span = float(scaling.half_minimum[p]), float(scaling.half_span[p])
    decimals = DIGITS - math.ceil(math.log10(max(abs(half_minimum), abs(half_minimum + half_span)))) - 1
    with np.errstate(over="ignore"):  # rows that the scaling has drawn in may still lie beyond the largest number
        x = 2.0 * (half_minimum + half_span * row)
        x = np.round(x, decimals) if abs(decimals) <= LARGEST_EXACT_POWER else x
    return np.nan_to_num(x, nan=np.nan)
