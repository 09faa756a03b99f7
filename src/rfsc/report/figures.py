"""The figures of a report: aggregates, no single rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import plots
from ..atlas import Atlas
from ..certify import Certificate
from ..plots.drawing import AGAINST, COLOURS, FOR, GREY, make_axes, shorten, title_and_legend
from .honest_score import HonestScore
from .performance import Outcomes
from .subject import MIN_ROWS, Subject

MAX_OUTPUTS = 6  # figures of more classes would make the page too long; not more than there are colours
CURVE_SIZE = (6.0, 6.2)  # inches, that of the calibration


@dataclass(frozen=True, slots=True)
class Figure:
    section: str  # of the page: "score", "certificate", "model", "effects", "atlas", "search", ...
    output: int  # index of its model
    caption: str
    svg: str
    wide: bool  # whether it needs the width of the page


def draw_figures(
    subject: Subject,
    X: Any,
    score: HonestScore,
    *,
    certificate: Certificate | None = None,
    atlas: Atlas | None = None,
) -> list[Figure]:
    """All figures that there are data for."""
    from matplotlib import style

    with style.context("default"):  # black on white, whatever style the user has set
        figures = [*_curves(subject, score), _calibration(subject, score)]
        figures.sort(key=lambda figure: figure.caption.startswith("Decision"))
        if certificate is not None:
            text = "how often the fits to halves of the rows chose each feature. Members of a cluster stand together."
            display = plots.CertificateDisplay.from_certificate(certificate)
            figures.append(_figure("certificate", 0, "Features by verdict", text, display, wide=True))
        figures += _of_outputs(subject, X)
        if atlas is not None:
            figures += _of_atlas(atlas)
        return figures


def _of_atlas(atlas: Atlas) -> Iterator[Figure]:
    text = "models down, the best of each size first, features across; the darker, the more a model needs the feature."
    for k, label in enumerate(list(dict.fromkeys(atlas.models.label or [""]))[:MAX_OUTPUTS]):
        of = f" of class “{label}”" if label else ""
        display = plots.AtlasDisplay.from_atlas(atlas, label=label or None)
        yield _figure("atlas", k, f"Features of good models{of}", text, display, wide=True)


def _figure(section: str, output: int, title: str, text: str, drawn: Any, *, wide: bool = False) -> Figure:
    """A display, or an Axes, with its caption."""
    figure = getattr(drawn, "figure_", None) or drawn.figure
    svg = plots.to_svg(figure, title)
    if figure.canvas.manager is not None:  # pyplot is in use, and would show and keep the figure
        from matplotlib import pyplot as plt

        plt.close(figure)
    return Figure(section, output, f"{title}: {text}", svg, wide)


def _curves(subject: Subject, score: HonestScore) -> Iterator[Figure]:
    """ROC curves, and of two classes the decision curve."""
    classes = list(enumerate(subject.class_names))
    shown = classes[1:] if len(classes) == 2 else classes[:MAX_OUTPUTS]
    every = [(label, Outcomes.of_class(score, k)) for k, label in shown]
    (ax,) = make_axes(None, CURVE_SIZE)
    ax.plot([0, 1], [0, 1], color="0.5", lw=1.2, ls="--", label="chance")
    for place, (label, outcomes) in enumerate(every):
        points = outcomes.roc()
        is_mean = len(classes) == 2 and score.n_folds > 1
        area = score.figures()["auc"] if is_mean else outcomes.auc()[0]
        name = f"{shorten(label, 18)}, {'mean ' * is_mean}AUC {area:.3f}"
        ax.plot(*points.values(), color=COLOURS[place], lw=2, label=name)
    ax.set(xlabel="1 − specificity", ylabel="sensitivity", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    title_and_legend(ax, "ROC curve")
    yield _figure(
        "score", 0, "ROC curve", "sensitivity against the share of false alarms, at every threshold.", _plain(ax)
    )
    if len(classes) == 2:
        yield _decision_curve(*every[0])


def _decision_curve(label: str, outcomes: Outcomes) -> Figure:
    curve = outcomes.decision_curve()
    (ax,) = make_axes(None, CURVE_SIZE)
    ax.plot(curve["threshold"], curve["model"], color=FOR, lw=2, label="model")
    ax.plot(curve["threshold"], curve["all"], color=AGAINST, lw=1.2, label="treat all")
    ax.axhline(0, color=GREY, lw=1.2, ls="--", label="treat none")
    top = max(outcomes.prevalence, max(curve["model"]))
    ax.set(xlabel="threshold probability", ylabel="net benefit", xlim=(0, 1), ylim=(-0.25 * top, 1.1 * top))
    title_and_legend(ax, f"Decision curve, class {shorten(label, 20)}")
    text = "net benefit of acting on the model, on everybody and on nobody, by the probability at which one would act."
    return _figure("score", 0, "Decision curve", text, _plain(ax))


def _plain(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _calibration(subject: Subject, score: HonestScore) -> Figure:
    rows = "held-out rows" if score.is_honest else "the rows given"
    text = (
        f"predicted probabilities and how often they came true, on {rows}. On the diagonal, a probability of 70 % "
        "comes true in 7 of 10 cases; bars are 95 % intervals."
    )
    code, proba = score.code[: score.n_rows], score.proba[: score.n_rows]  # each row once, for the intervals
    if len(subject.class_names) == 2:
        what, happened, probability = f"class {shorten(subject.class_names[1], 24)}", code == 1, proba[:, 1]
    else:
        what, happened = "the predicted class", proba.argmax(axis=1) == code
        probability = proba.max(axis=1)
    groups = None if score.groups is None else score.groups[: score.n_rows]
    display = plots.CalibrationDisplay.from_predictions(happened, probability, what=what, groups=groups)
    return _figure("score", 0, "Calibration", text, display)


def _shown_outputs(subject: Subject) -> Iterator[tuple[int, str]]:
    """Index of each output to draw, and what to add to titles."""
    for k, model in enumerate(subject.models[:MAX_OUTPUTS]):
        if model.size:
            yield k, f" of class “{model.label}”" if len(subject.models) > 1 else ""


def _of_outputs(subject: Subject, X: Any) -> Iterator[Figure]:
    """Figures of every output, without naive intervals."""
    source, table = subject.predictor, X if subject.reads_table else subject.features
    for k, of in _shown_outputs(subject):
        text = "on the common scale from 0 to 1. Terms to the right favour the class."
        display: Any = plots.CoefficientsDisplay.from_estimator(replace(subject.models[k], standard_error=None))
        yield _figure("model", k, f"Coefficients{of}", text, display, wide=True)
        if subject.models[k].sizes is not None:
            text = "log-loss of left-out rows by the number of terms; the band is one paired standard error."
            display = plots.FrontDisplay.from_estimator(source, output=k)
            yield _figure("sizes", k, f"Size of the model{of}", text, display)
        if any(len(term.features) == 1 for term in subject.models[k].terms):
            text = (
                "what the terms of each single feature add to f where nearly all rows are, and how many these are; "
                f"bars of fewer than {MIN_ROWS} rows are left out."
            )
            display = plots.FeatureEffectsDisplay.from_estimator(source, table, least=MIN_ROWS, output=k)
            yield _figure("effects", k, f"Features{of}", text, display, wide=True)
        evidence = subject.models[k].evidence
        if evidence is not None and evidence.traces:
            text = "how one restart converged: the terms that it selects rise to 1, the others fall to 0."
            display = plots.RIPEvolutionDisplay.from_estimator(source, output=k)
            yield _figure("search", k, f"Inclusion probabilities{of}", text, display, wide=True)
