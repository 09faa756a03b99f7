"""Input checks. scikit-learn's own words may quote cells of the table or of y; ours never do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.exceptions import DTypePromotionError
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter, validate_data

from .arrays import IntArray

TIMES = (date, timedelta, np.datetime64, np.timedelta64)
MAPPED_MEMORY_SHARE = 0.25  # of the memory of the machine that a fit in memory may take for one copy of a mapped array
REPEATED_NAMES = "X must have a different name for every column, but some repeat. Rename them."


def is_lazy(X: Any) -> bool:
    """Whether a table is a dask array or data frame; dask itself is not imported to find out."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "npartitions")


def is_large(X: Any) -> bool:
    """Whether a table is read chunk by chunk: one of dask, or a memory-mapped array too large to be copied."""
    if not isinstance(X, np.memmap) or X.ndim != 2 or not hasattr(os, "sysconf"):
        return is_lazy(X)
    return 8 * X.size > MAPPED_MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def fit_params(estimator: Any, **given: Any) -> dict[str, Any]:
    """Arguments of `fit` for the last step of a pipeline, without those that it does not take."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in fit_params(last, **given).items()}
    return {key: own for key, own in given.items() if own is not None and has_fit_parameter(estimator, key)}


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was when the block raises: nothing is half-fitted."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def check_table(
    estimator: Any,
    X: Any,
    y: Any = "no_validation",
    *,
    reset: bool,
    min_samples: int = 1,
    allow_nan: bool = False,
) -> Any:
    """`validate_data` to float64, with messages that say what to do and show no data."""
    finite = "allow-nan" if allow_nan else True
    return _validated(estimator, X, y, reset=reset, ensure_min_samples=min_samples, ensure_all_finite=finite)


def check_raw_table(estimator: Any, X: Any, y: Any, *, min_samples: int) -> np.ndarray[Any, Any]:
    """The labels of a table that is not all numbers; the estimator gets the number and the names of its columns."""
    _, labels = check_table(estimator, np.zeros((len(X), 1)), y, reset=True, min_samples=min_samples)
    check_columns(estimator, X, reset=True)
    return np.asarray(labels)


def check_cells(estimator: Any, X: Any, *, reset: bool) -> np.ndarray[Any, Any]:
    """An array of cells of any type."""
    return np.asarray(_validated(estimator, X, "no_validation", reset=reset, dtype=None, ensure_all_finite=False))


def check_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """The number and the names of the columns alone."""
    _validated(estimator, X, "no_validation", reset=reset, skip_check_array=True)


def _validated(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    msg = _silently_misread(X, are_numbers=not {"dtype", "skip_check_array"} & set(options)) or odd_labels(y)
    if msg is not None:
        raise ValueError(msg)
    dtypes = [getattr(y, "dtype", None)] if getattr(y, "ndim", 1) == 1 else list(getattr(y, "dtypes", []))
    numpy_dtype = getattr(dtypes[0], "numpy_dtype", None) if len(dtypes) == 1 else None
    if numpy_dtype is not None:  # of pandas' Int64: scikit-learn would make floats of it, and one of two large integers
        with suppress(ValueError):  # missing labels, which are refused below
            y = y.to_numpy(dtype=numpy_dtype)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the sum with which it looks for NaN may overflow
            return validate_data(estimator, X, y, **{"dtype": np.float64} | options)
    except (TypeError, ValueError, OverflowError) as error:
        msg = _in_our_words(error, X)
        if msg is None:
            raise
        kind = TypeError if isinstance(error, TypeError) and "argument must be" in msg else ValueError
    raise kind(msg)  # outside the handler, so that the traceback does not quote the original


def _silently_misread(X: Any, *, are_numbers: bool) -> str | None:
    """What is wrong with arrays that would become other numbers than their owner means."""
    if isinstance(X, np.ma.MaskedArray):
        return "X is a masked array, whose mask would be lost. Pass X.filled(np.nan) to an imputer, or drop those rows."
    kind = X.dtype.kind if isinstance(X, np.ndarray) else ""
    if kind in ("m", "M") or (kind == "O" and are_numbers and any(isinstance(cell, TIMES) for cell in X.flat)):
        return "X must hold numbers, but it holds dates or durations. Turn them into days or years first."
    return None


def check_unmasked(name: str, values: Any) -> None:
    """Refuse an array whose mask NumPy would lose."""
    if isinstance(values, np.ma.MaskedArray):
        msg = f"{name} is a masked array, whose mask would be lost. Drop the rows that are masked."
        raise ValueError(msg)


def odd_labels(y: Any) -> str | None:
    """What is wrong with labels that scikit-learn refuses in words about X, or without saying that it means y."""
    if isinstance(y, np.ma.MaskedArray):
        return "y is a masked array, whose mask would be lost. Drop the rows that are masked."
    if isinstance(y, list | tuple) and len({isinstance(label, str) for label in y}) > 1:
        y = np.array(y, dtype=object)  # else NumPy makes texts of numbers, and 1 and "1" one class
        if not any(map(is_missing, y.flat)):
            return "y mixes texts with other labels. Give all labels one type."
    dtype = getattr(y, "dtype", None)
    if y is None or isinstance(y, str) or issparse(y) or (isinstance(dtype, np.dtype) and dtype.kind not in "OmM"):
        return None
    try:
        labels = np.asarray(y)
    except ValueError:
        return "y must hold one label for each row, but some of its entries are lists. Pass a flat list."
    if labels.dtype.kind in "OmM" and labels.ndim in (1, 2) and any(map(is_missing, labels.flat)):
        return "y contains missing labels (NaN or None). Drop those rows, or give them a class of their own."
    return None


def labels_of(y: Any, n_samples: int) -> np.ndarray[Any, Any]:
    """The labels as an array, one for each sample."""
    labels = np.asarray(y)
    if labels.shape != (n_samples,):
        msg = f"y must hold one label for each of the {n_samples} rows of X, got shape {labels.shape}."
        raise ValueError(msg)
    return labels


def codes_of(labels: np.ndarray[Any, Any], classes: Any) -> IntArray:
    """Positions of labels among the classes of a model."""
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    code = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if (code < 0).any():
        unknown = len(set(labels[code < 0].tolist()))
        msg = (
            f"y holds labels that are not among the {len(place)} classes of the model ({unknown}). "
            "Leave those rows out, or check that y is the column that the model predicts."
        )
        raise ValueError(msg)
    return code


def check_count(name: str, value: Any, least: int = 1, most: int | None = None) -> None:
    """Refuse a setting that is not an integer of at least `least` and at most `most`."""
    is_count = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_count or value < least or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        msg = f"{name} must be an integer {allowed}, got {value!r}."
        raise ValueError(msg)


def is_missing(cell: Any) -> bool:
    """None, NaN or pandas.NA, which compares to nothing and is recognised by its type."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, Decimal):
        return cell.is_nan()  # also one that must not be compared
    unequal = cell != cell  # of a list of numbers, one answer for each
    return isinstance(unequal, bool | np.bool_) and bool(unequal)


def _in_our_words(error: Exception, X: Any) -> str | None:
    """A message for errors whose original text shows data or is hard to act on; None to keep the original."""
    text = str(error)
    if "inhomogeneous shape" in text:
        return "X must be a table, but its rows are not all of the same length. Fill them up, or drop the short ones."
    if isinstance(error, OverflowError):
        return f"X must hold numbers that fit into a double, but {_odd_columns(X)} larger ones. Scale them first."
    if "could not convert string to float" in text:
        where = f"{_odd_columns(X)} text" if np.ndim(X) == 2 else "it is text"
        return f"X must hold numbers, but {where}. Encode it first, for instance with OneHotEncoder."
    if isinstance(error, DTypePromotionError) or "setting an array element with a sequence" in text:
        return f"X must hold numbers, but {_odd_columns(X)} dates or other objects. Turn them into numbers first."
    if "float() argument must be" in text or "Cannot cast array data" in text:
        return (
            f"X must be a table of numbers, an array or a data frame, got {type(X).__name__} with other things in it "
            "(float() argument must be a string or a number). Convert it first, for instance with pandas.DataFrame."
        )
    if "unique column names" in text:
        return REPEATED_NAMES
    if "Feature names are only supported" in text:
        return (
            "X must have names of one type, but some are text and some are not. Use X.columns = X.columns.astype(str)."
        )
    if "Expected 2D array" in text:
        kind = "a scalar" if np.ndim(X) == 0 else f"{np.ndim(X)}D"
        return (
            f"Expected 2D array, a table with one row per sample, got {kind} instead. Reshape your data with "
            "X.reshape(-1, 1) for a single feature or X.reshape(1, -1) for a single sample."
        )
    if "Complex data not supported" in text:
        where = "X" if np.iscomplexobj(X) else "y"
        return f"Complex data not supported: {where} must hold real values. Pass real and imaginary parts separately."
    if "Input X contains NaN" in text:
        return "Input X contains NaN. Fill missing values first, for instance with SimpleImputer, or drop those rows."
    return None


def _odd_columns(X: Any) -> str:
    """Which columns do not hold numbers, in words."""
    names = list(getattr(X, "column_names", getattr(X, "columns", [])))  # of Arrow, and of data frames
    columns = [np.asarray(X[name]) for name in names] if names else list(np.asarray(X, dtype=object).T)
    labels = [str(name) for name in names] or [str(j) for j in range(len(columns))]
    bad = [label for label, column in zip(labels, columns, strict=True) if not _is_numeric(column)]
    from .words import listed  # only this message needs it

    shown = listed(bad, 5)
    return f"column {shown} holds" if len(bad) == 1 else f"columns {shown} hold"


def _is_numeric(column: Any) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return bool(np.asarray(column).dtype.kind not in "mM")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of the texts that it may be."""
    if value not in choices:
        *first, last = (repr(choice) for choice in choices)
        msg = f"{name} must be {', '.join(first)} or {last}, got {value!r}."
        raise ValueError(msg)
