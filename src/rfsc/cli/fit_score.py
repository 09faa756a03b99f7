"""The score that `rfsc fit` shows, on rows that the whole pipeline has not seen, and the time limit of its fits."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .console import CommandError, Messages, output_width, table_text

if TYPE_CHECKING:
    from .. import StopAfter
    from .._input.training_data import ChunkedTable, TrainingTable

MOST_ROWS_OF_FOLDS = 5000  # up to which all folds of a cross-validation are affordable
TEST_SHARE = 0.2  # of the rows, above
N_BLOCKS = 5  # of later rows
FOLDS = {"rows": "", "groups": " of whole groups", "sites": ", one for each site", "time": " of later rows"}
MOST_TEST_ROWS = 100_000  # of a table larger than memory
LEAST_SECONDS = 1e-3  # of a time limit that is over: each fit ends as soon as it has a model
SEARCH_SHARE = 0.97  # of a time limit; the rest is for reading the table and writing the results


class FitTimeLimit:
    """The time that is left for several fits."""

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None and not seconds > 0:
            msg = f"--time-limit expects a positive number of seconds, got {seconds:g}."
            raise CommandError(msg, 2)
        self._deadline = None if seconds is None else time.monotonic() + SEARCH_SHARE * seconds
        self.is_set = seconds is not None

    def callbacks(self, n_fits: int) -> list[StopAfter]:
        """Callbacks of the next of `n_fits` fits, which share the time that is left."""
        if self._deadline is None or n_fits == 0:
            return []
        from .. import StopAfter

        return [StopAfter(max(self._deadline - time.monotonic(), LEAST_SECONDS) / n_fits)]


# ---- which rows are held out


def check_score_options(cv: int | None, test_size: float | None) -> None:
    """Raise if --cv and --test-size are wrong for any table."""
    if cv is not None and test_size is not None:
        msg = "--cv and --test-size are two ways to score a model; pass one of them."
        raise CommandError(msg, 2)
    if cv is not None and (cv == 1 or cv < 0):
        msg = f"--cv expects 2 or more folds, or 0 for no score, got {cv}."
        raise CommandError(msg, 2)
    if test_size is not None and not 0 < test_size < 1:
        msg = f"--test-size expects a share between 0 and 1, got {test_size:g}."
        raise CommandError(msg, 2)


def choose_folds(table: TrainingTable, cv: int | None, test_size: float | None, seed: int, limit: FitTimeLimit) -> Any:
    """A splitter of scikit-learn or a list of folds; None for no score."""
    import numpy as np
    from sklearn.model_selection import StratifiedShuffleSplit

    from ..report.honest_score import grouped_folds, stratified_folds

    labels = table.y
    _, code, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if cv is not None and cv > sizes.min():
        msg = f"--cv {cv} asks for more folds than the smallest class has rows ({sizes.min()}). Use fewer folds."
        raise CommandError(msg, 2)
    n_rows, n_test = len(labels), math.ceil(len(labels) * (test_size or TEST_SHARE))
    can_split = len(sizes) <= n_test <= n_rows - len(sizes)
    if test_size is not None and not can_split:
        msg = f"--test-size {test_size:g} of {n_rows} rows does not leave a row of every class on both sides."
        raise CommandError(msg, 2)
    if cv == 0:
        return None
    is_costly = n_rows > MOST_ROWS_OF_FOLDS or (limit.is_set and can_split)
    if table.roles:
        n_folds = cv if test_size is None else round(1.0 / test_size)
        if table.roles.keys() == {"group"}:
            folds = grouped_folds(code, table.roles["group"], n_folds, seed)
        else:
            folds = _folds_by_role(table, code, n_folds or N_BLOCKS)
        is_one = test_size is not None or (cv is None and is_costly and "site" not in table.roles)
        return folds[-1:] if is_one else folds
    if test_size is not None or (cv is None and is_costly):
        return StratifiedShuffleSplit(1, test_size=test_size or TEST_SHARE, random_state=seed)
    return stratified_folds(code, cv, seed)


def _folds_by_role(table: TrainingTable, code: Any, n_folds: int) -> list[tuple[Any, Any]]:
    """Blocks of later rows after all earlier ones, or every site after the others; groups are never on both sides."""
    import numpy as np

    roles, every = table.roles, np.arange(len(code))
    if "time" in roles:
        times = roles["time"]
        ends = np.quantile(times, np.arange(1, n_folds + 1) / (n_folds + 1), method="lower")
        pairs = [
            (every[times <= a], every[(times > a) & (times <= b)])
            for a, b in zip(ends, [*ends[1:], times.max()], strict=True)
        ]
    else:
        pairs = [(every[roles["site"] != k], every[roles["site"] == k]) for k in np.unique(roles["site"])]
    if "group" in roles:
        group = roles["group"]
        pairs = [(seen[~np.isin(group[seen], group[left])], left) for seen, left in pairs]
    n_classes = np.unique(code).size
    kept = [(seen, left) for seen, left in pairs if left.size and np.unique(code[seen]).size == n_classes]
    if not kept:
        msg = "no fold by --time or --site leaves rows of every class to learn from. Use --cv 0 for no score."
        raise CommandError(msg)
    return kept


# ---- scores


def cross_validation(messages: Messages, pipeline: Any, table: TrainingTable, folds: Any, *, baselines: bool) -> Any:
    """Fit clones of the pipeline without some of the rows, and score them on those."""
    from ..report.honest_score import MAJORITY, cross_validated, default_baselines

    seed = pipeline[-1].random_state
    methods = default_baselines(seed)
    methods = methods if baselines else {MAJORITY: methods[MAJORITY]}
    options = {"cv": folds, "baselines": methods, "random_state": seed, "groups": table.roles.get("group")}
    with messages.progress("scoring on held-out rows") as update:
        score = cross_validated(pipeline, table.X, table.y, pipeline.classes_, progress=update, **options)
    if "time" in table.roles:
        return replace(score, folds_of="time")
    if "site" in table.roles:
        sites = table.roles["site"]
        named = tuple((table.sites[int(sites[test[0]])], len(test)) for _, test in folds)
        return replace(score, folds_of="sites", folds=named)
    return score


def held_out_score(messages: Messages, search: Any, table: ChunkedTable, test_size: float | None) -> Any:
    """Fit a clone to a part of a table larger than memory, and score it on the rest."""
    import numpy as np
    from sklearn.base import clone

    from .._search.context import uninterruptible_fits
    from .._utils.validation import codes_of
    from ..report.honest_score import aligned, on_given_rows

    share, seed = test_size or min(TEST_SHARE, MOST_TEST_ROWS / table.n_rows), search.random_state
    target, names = table.y.name, list(table.X.columns)
    train, test = table.X.assign(**{target: table.y}).random_split([1.0 - share, share], random_state=seed)
    with messages.progress("scoring on held-out rows"), uninterruptible_fits():
        fitted = clone(search).fit(train[names], train[target])
        rows = test.compute()
        proba = aligned(fitted.predict_proba(rows[names]), fitted.classes_, search.classes_)
        code = codes_of(np.asarray(rows[target], dtype=object), search.classes_)
    return on_given_rows(proba, code, how="cross-validation", random_state=seed)


# ---- scores as text and as numbers


def score_text(score: Any) -> str:
    """A score as a table; without the Brier score, so that it fits 80 columns."""
    from ..report.metrics import METRICS

    what = FOLDS[score.folds_of]
    if score.n_folds == 1:
        which = "later rows" if score.folds_of == "time" else f"rows{what}"
        how = f"{score.n_rows:,} {which}, ± standard deviation over random resamples"
    else:
        how = f"{score.n_folds} folds{what}, mean ± standard deviation"
    rows = [
        [method.name, *(f"{mean:.3f} ± {spread:.3f}" for mean, spread in list(_figures(method))[:4])]
        for method in score.methods
    ]
    headers = ["", *(metric.name.replace(" ", "\n") for metric in METRICS[:4])]
    return f"Score on held-out rows ({how}):\n" + table_text(headers, rows, output_width())


def score_as_dict(score: Any) -> dict[str, Any]:
    from ..report.content import plain
    from ..report.metrics import METRICS

    methods = {
        method.name: {
            metric.key: {"mean": mean, "std": spread}
            for metric, (mean, spread) in zip(METRICS, _figures(method), strict=True)
        }
        for method in score.methods
    }
    return dict(plain({"how": score.how, "n_folds": score.n_folds, "n_rows": score.n_rows, "methods": methods}))


def _figures(method: Any) -> Iterator[tuple[float, float]]:
    """Mean and standard deviation of every metric."""
    return zip(method.mean.tolist(), method.spread.tolist(), strict=True)
