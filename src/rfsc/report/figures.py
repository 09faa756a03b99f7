"""The pictures of a report: aggregates by default, single rows only where they were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..plots import (
    CalibrationDisplay,
    CoefficientsDisplay,
    ContributionsDisplay,
    DecisionMapDisplay,
    FilterDisplay,
    RIPEvolutionDisplay,
    SearchHistoryDisplay,
    StabilityDisplay,
    to_svg,
)
from ..plots.drawing import shorten
from .honest_score import HonestScore
from .subject import Subject

MAX_OUTPUTS = 6  # pictures of more classes would be a book


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its words.

    Parameters
    ----------
    section : {"score", "model", "search", "filter", "rows"}
        Where it stands on the page.
    output : int
        Which model it is about.
    caption : str
        What it shows and how to read it.
    svg : str
        An ``<svg>`` element.
    """

    section: str
    output: int
    caption: str
    svg: str


def draw_figures(subject: Subject, X: Any, score: HonestScore, *, show_rows: bool) -> list[Figure]:
    """All pictures that there are data for.

    Parameters
    ----------
    subject : Subject
        The model and the rows.
    X : data frame or array of shape (n_samples, n_columns)
        The table as it was given.
    score : HonestScore
        How good the model is.
    show_rows : bool
        Whether pictures may show single rows.

    Returns
    -------
    list of Figure
        In the order of the page.
    """
    return [_drawn(*wanted) for wanted in _wanted(subject, X, score, show_rows)]


Wanted = tuple[str, int, str, str, Callable[[], Any]]


def _wanted(subject: Subject, X: Any, score: HonestScore, show_rows: bool) -> Iterator[Wanted]:
    yield "score", 0, "Calibration", _calibration_text(score), lambda: _calibration(subject, score)
    for k, model in enumerate(subject.models[:MAX_OUTPUTS]):
        of = f" of class “{model.label}”" if len(subject.models) > 1 else ""
        yield (
            "model",
            k,
            f"Coefficients{of}",
            "on the common scale from 0 to 1, with naive 95 % intervals. To the right a term speaks for the class.",
            lambda k=k: CoefficientsDisplay.from_estimator(subject.predictor, output=k),
        )
        evidence = model.evidence
        if evidence is None:
            continue
        if evidence.n_restarts > 1:
            yield (
                "search",
                k,
                f"Agreement{of}",
                "how many restarts selected each term. Terms that all restarts find do not depend on luck.",
                lambda k=k: StabilityDisplay.from_estimator(subject.predictor, output=k),
            )
        if evidence.traces:
            yield (
                "search",
                k,
                f"Inclusion probabilities{of}",
                "how one restart made up its mind: terms of the model rise to 1, the others fall to 0.",
                lambda k=k: RIPEvolutionDisplay.from_estimator(subject.predictor, output=k),
            )
            yield (
                "search",
                k,
                f"Course of the search{of}",
                "score of the models drawn, and their size before and after the test of every term.",
                lambda k=k: SearchHistoryDisplay.from_estimator(subject.predictor, output=k),
            )
        if evidence.filter is not None:
            yield (
                "filter",
                k,
                f"Filter{of}",
                "statistic of each feature against the threshold below which it was left out.",
                lambda k=k: FilterDisplay.from_estimator(subject.predictor, output=k),
            )
        if show_rows:
            yield (
                "rows",
                k,
                f"For and against{of}",
                "what speaks for and against the class in single rows, and how sure the model is.",
                lambda k=k: ContributionsDisplay.from_estimator(subject.predictor, X, subject.labels, output=k),
            )
    if show_rows and len({p for model in subject.models for p in model.features}) >= 2 and subject.reads_table:
        yield (
            "rows",
            0,
            "Map",
            "the two features that matter most, with the rows; the others are held.",
            lambda: DecisionMapDisplay.from_estimator(subject.predictor, X, subject.labels),
        )


def _drawn(section: str, output: int, title: str, text: str, draw: Callable[[], Any]) -> Figure:
    caption = f"{title}: {text}"
    return Figure(section, output, caption, to_svg(draw().figure_, title))


def _calibration(subject: Subject, score: HonestScore) -> CalibrationDisplay:
    if len(subject.class_names) == 2:
        what = f"class {shorten(subject.class_names[1], 24)}"
        return CalibrationDisplay.from_predictions(score.code == 1, score.proba[:, 1], what=what)
    right = score.proba.argmax(axis=1) == score.code
    return CalibrationDisplay.from_predictions(right, score.proba.max(axis=1), what="the predicted class")


def _calibration_text(score: HonestScore) -> str:
    rows = "rows left out of the fit" if score.is_honest else "the rows given"
    return (
        f"probabilities beside what came true, on {rows}. On the diagonal, a probability of 70 % comes true in 7 cases of "
        "10; bars are 95 % intervals."
    )
