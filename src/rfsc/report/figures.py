"""The pictures of a report: aggregates by default, single rows only where they were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
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

WIDE = ("Coefficients", "Inclusion", "For and", "Filter")
MAX_TERMS = 20
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
    wide : bool, default=False
        Whether it needs the width of the page.
    """

    section: str
    output: int
    caption: str
    svg: str
    wide: bool = False


def draw_figures(subject: Subject, X: Any, score: HonestScore, *, show_rows: bool) -> list[Figure]:
    """All pictures that there are data for."""
    from matplotlib import style

    with style.context("default"):  # whatever the user's own pictures look like, a page is black on white
        return [_drawn(*wanted) for wanted in _wanted(subject, X, score, show_rows)]


Wanted = tuple[str, int, str, str, Callable[[], Any]]


def _wanted(subject: Subject, X: Any, score: HonestScore, show_rows: bool) -> Iterator[Wanted]:
    yield "score", 0, "Calibration", _calibration_text(score), partial(_calibration, subject, score)
    model_of, table = subject.predictor, X if subject.reads_table else subject.features
    draw: Callable[[], Any]
    for k, model in enumerate(subject.models[:MAX_OUTPUTS]):
        if not model.terms:
            continue
        of = f" of class “{model.label}”" if len(subject.models) > 1 else ""
        draw = partial(CoefficientsDisplay.from_estimator, model_of, output=k)
        text = "on the common scale from 0 to 1, with naive 95 % intervals. To the right a term speaks for the class."
        yield "model", k, f"Coefficients{of}", text, draw
        yield from _search_figures(subject, k, of)
        if show_rows:
            text = "what speaks for and against the class in single rows, and how sure the model is."
            draw = partial(ContributionsDisplay.from_estimator, model_of, table, subject.labels, output=k)
            yield "rows", k, f"For and against{of}", text, draw
    if show_rows and len({p for model in subject.models for p in model.features}) > 1:
        text = "the two features that matter most, with the rows; the others are held."
        yield "rows", 0, "Map", text, partial(DecisionMapDisplay.from_estimator, model_of, table, subject.labels)


def _search_figures(subject: Subject, k: int, of: str) -> Iterator[Wanted]:
    model_of, evidence = subject.predictor, subject.models[k].evidence
    draw: Callable[[], Any]
    if evidence is None:
        return
    if evidence.n_restarts > 1:
        text = "how many restarts selected each term. What all restarts find does not hang on luck."
        draw = partial(StabilityDisplay.from_estimator, model_of, output=k, max_terms=MAX_TERMS)
        yield "search", k, f"Agreement{of}", text, draw
    if evidence.traces:
        text = "score of the models drawn, and their size before and after the test of every term."
        draw = partial(SearchHistoryDisplay.from_estimator, model_of, output=k)
        yield "search", k, f"Course of the search{of}", text, draw
        text = "how one restart made up its mind: what it keeps rises to 1, the rest falls to 0."
        draw = partial(RIPEvolutionDisplay.from_estimator, model_of, output=k)
        yield "search", k, f"Inclusion probabilities{of}", text, draw
    if evidence.filter is not None:
        text = "statistic of each feature against the threshold below which it was left out."
        yield "filter", k, f"Filter{of}", text, partial(FilterDisplay.from_estimator, model_of, output=k)


def _drawn(section: str, output: int, title: str, text: str, draw: Callable[[], Any]) -> Figure:
    figure = draw().figure_
    svg = to_svg(figure, title)
    if figure.canvas.manager is not None:  # pyplot is in use, and would show and keep what the page has already
        from matplotlib import pyplot as plt

        plt.close(figure)
    return Figure(section, output, f"{title}: {text}", svg, wide=title.startswith(WIDE))


def _calibration(subject: Subject, score: HonestScore) -> CalibrationDisplay:
    if len(subject.class_names) == 2:
        what = f"class {shorten(subject.class_names[1], 24)}"
        return CalibrationDisplay.from_predictions(score.code == 1, score.proba[:, 1], what=what)
    right = score.proba.argmax(axis=1) == score.code
    return CalibrationDisplay.from_predictions(right, score.proba.max(axis=1), what="the predicted class")


def _calibration_text(score: HonestScore) -> str:
    rows = "rows left out of the fit" if score.is_honest else "the rows given"
    return (
        f"probabilities beside what came true, on {rows}. On the diagonal, a probability of 70 % comes true in 7 cases "
        "of 10; bars are 95 % intervals."
    )
