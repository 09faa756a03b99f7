"""The honest score that `rfsc fit` shows: on rows that the whole pipeline has not seen."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from typing import Any

from .console import Failure, Voice, out_width, plain, text_table

SMALL = 5000  # rows up to which all folds of a cross-validation are affordable


def check_score(cv: int | None, test_size: float | None) -> None:
    """Complain about a score that cannot be, whatever the table."""
    if cv is not None and test_size is not None:
        msg = "--cv and --test-size are two ways to score a model; pass one of them."
        raise Failure(msg, 2)
    if cv is not None and (cv == 1 or cv < 0):
        msg = f"--cv expects 2 or more folds, or 0 for no score, got {cv}."
        raise Failure(msg, 2)
    if test_size is not None and not 0 < test_size < 1:
        msg = f"--test-size expects a share between 0 and 1, got {test_size:g}."
        raise Failure(msg, 2)


def folds_for(labels: Any, cv: int | None, test_size: float | None, seed: int, *, in_haste: bool = False) -> Any:
    """Which rows are left out."""
    sizes, n_rows = Counter(labels.tolist()), len(labels)
    smallest, n_test = min(sizes.values()), math.ceil(n_rows * (test_size or 0.2))
    if cv is not None and cv > smallest:
        msg = f"--cv {cv} asks for more folds than the smallest class has rows, which is {smallest}. Take fewer."
        raise Failure(msg, 2)
    fits_one = len(sizes) <= n_test <= n_rows - len(sizes)
    if test_size is not None and not fits_one:
        msg = f"--test-size {test_size:g} of {n_rows} rows does not leave a row of every class on both sides."
        raise Failure(msg, 2)
    if cv is not None:
        return cv or None
    if test_size is None and n_rows <= SMALL and not (in_haste and fits_one):
        return "auto"
    from sklearn.model_selection import StratifiedShuffleSplit

    return StratifiedShuffleSplit(1, test_size=test_size or 0.2, random_state=seed)


def n_fits(folds: Any, n_rows: int) -> int:
    """How many fits a score takes at most."""
    from ..report.honest_score import FEW_ROWS, N_FOLDS, REPEATS

    if folds is None or not isinstance(folds, int | str):
        return 0 if folds is None else 1
    return (folds if isinstance(folds, int) else N_FOLDS) * (REPEATS if n_rows < FEW_ROWS else 1)


def honest_score(
    voice: Voice, pipeline: Any, X: Any, labels: Any, folds: Any, seed: int, *, beside_others: bool
) -> Any:
    """Fit clones of the pipeline without some of the rows, and score them on these."""
    if folds is None:
        return None
    from ..report.honest_score import MAJORITY, cross_validated, default_baselines

    methods = default_baselines(seed)
    with voice.working("scoring on rows left out") as tell, warnings.catch_warnings():
        # a level that only rows left out have; counting it as a rare one is what is asked for
        warnings.filterwarnings("ignore", message="Found unknown categories")
        return cross_validated(
            pipeline,
            X,
            labels,
            pipeline.classes_,
            cv=folds,
            baselines=methods if beside_others else {MAJORITY: methods[MAJORITY]},
            random_state=seed,
            progress=tell,
        )


def no_better(score: Any) -> str:
    """Why a model is not worth having, in words; nothing where it beats the commonest class."""
    from ..report.honest_score import MAJORITY
    from ..report.metrics import METRICS

    place = [method.name for method in score.methods].index(MAJORITY)
    lost = []
    for metric, found in zip(METRICS, _by_metric(score), strict=True):
        ours, theirs = found[0][0], found[place][0]
        worse = ours <= theirs if metric.higher_is_better else ours >= theirs
        if metric.key in ("accuracy", "log_loss") and worse:
            lost.append(f"{metric.name} {ours:.3f} against {theirs:.3f}")
    if not lost:
        return ""
    return f"on rows left out it is no better than always naming the commonest class: {', '.join(lost)}"


def score_text(score: Any) -> str:
    """An honest score as a table."""
    from ..report.metrics import METRICS

    how = f"{score.n_folds} folds, mean ± spread" if score.n_folds > 1 else f"{len(score.code)} rows"
    cells = [
        [f"{mean:.3f}" + (f" ± {spread:.3f}" if spread is not None else "") for mean, spread in found]
        for found in _by_metric(score)[:4]
    ]
    rows = [[method.name, *row] for method, row in zip(score.methods, zip(*cells, strict=True), strict=True)]
    headers = ["", *(metric.name.replace(" ", "\n") for metric in METRICS[:4])]  # narrow enough for 80 columns
    return f"On rows it has not seen ({how}):\n" + plain(text_table(headers, rows), out_width())


def score_as_dict(score: Any) -> dict[str, Any]:
    """An honest score as plain numbers."""
    from ..report.metrics import METRICS

    methods: dict[str, dict[str, Any]] = {method.name: {} for method in score.methods}
    for metric, found in zip(METRICS, _by_metric(score), strict=True):
        for method, (mean, spread) in zip(score.methods, found, strict=True):
            methods[method.name][metric.key] = {"mean": mean if math.isfinite(mean) else None, "std": spread}
    return {"how": score.how, "n_folds": score.n_folds, "n_rows": len(score.code), "methods": methods}


def _by_metric(score: Any) -> list[list[tuple[float, float | None]]]:
    """For every metric, mean and spread of every method."""

    def cell(values: Any) -> tuple[float, float | None]:
        spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
        return float(values.mean()), spread if math.isfinite(spread) else None

    n_metrics = score.methods[0].values.shape[1]
    return [[cell(method.values[:, k]) for method in score.methods] for k in range(n_metrics)]
