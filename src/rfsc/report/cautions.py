"""What a reader should know before trusting a model: each check gives at most a few sentences, the gravest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from ..model import SparseModel
from .columns import ColumnSummary
from .honest_score import MAJORITY, HonestScore
from .metrics import METRICS, measure
from .separation import separation
from .subject import Subject
from .words import listed, percent, plural

LEVELS = ("serious", "caution", "note")
EVENTS_PER_TERM = 10  # the usual rule of thumb of logistic regression
TINY_CLASS = 20
OFTEN_MISSING = 0.2
ALIKE = 0.95  # correlation of two terms beyond which their coefficients cannot be told apart
POOR_STABILITY = 0.4  # below, Nogueira, Sechidis and Brown (2018) call a selection poor
RARELY_SELECTED = 0.5
TOO_GOOD = 0.05  # points of accuracy by which training rows may look better than others
MANY_TWINS = 0.02


@dataclass(frozen=True, slots=True)
class Caution:
    """One thing to know.

    Parameters
    ----------
    level : {"serious", "caution", "note"}
        How much it matters.
    key : str
        A name for programs.
    title : str
        A few words.
    text : str
        What was found, what it means, what to do.
    """

    level: str
    key: str
    title: str
    text: str


def find_cautions(
    subject: Subject, columns: Sequence[ColumnSummary], score: HonestScore, stability: Sequence[float | None]
) -> list[Caution]:
    """All checks.

    Parameters
    ----------
    subject : Subject
        The model and the rows.
    columns : sequence of ColumnSummary
        The table as it was given.
    score : HonestScore
        How good the model is.
    stability : sequence of float or None
        Index of the selection of every output; None where it is not known.

    Returns
    -------
    list of Caution
        The gravest first.
    """
    models, features, code = subject.models, subject.features, subject.code
    found = [
        *_score_cautions(score, subject),
        *_class_cautions(code, subject.class_names),
        *_range_cautions(models, features),
        *_table_cautions(models, features, columns),
    ]
    for model, index in zip(models, stability, strict=True):
        name = "" if len(models) == 1 else f" of class “{model.label}”"
        target = np.where(code == subject.class_names.index(str(model.label)), 1.0, -1.0)
        found += [*_fit_cautions(model, name, features, target), *_search_cautions(model, name, index)]
    if subject.predictor.settings_.get("random_state", 0) is None:
        text = "random_state was not set, so another fit may find other terms. Set it to be able to run this again."
        found.append(Caution("note", "no_seed", "No seed", text))
    return sorted(found, key=lambda caution: LEVELS.index(caution.level))


def _score_cautions(score: HonestScore, subject: Subject) -> list[Caution]:
    found = []
    if not score.is_honest:
        text = (
            "The score is that of the rows given. Where the model was fitted to them, or chosen with their help, it looks "
            "better than it is. Judge it by rows that it has never seen."
        )
        found.append(Caution("serious", "not_honest", "The score may not be honest", text))
    elif not _beats_majority(score):
        text = (
            "On rows left out, the probabilities are not clearly better than the bare shares of the classes. The features "
            "may hold no information about the class, or there are too few rows to show it."
        )
        found.append(Caution("serious", "no_better_than_majority", "Hardly better than guessing", text))
    here, honest = measure(subject.code, subject.proba)["accuracy"], score.mean("accuracy")
    if score.is_honest and here - honest > TOO_GOOD:
        text = (
            f"The model is right for {percent(here)} of the rows given, but for {percent(honest)} of rows left out of the "
            "fit: it has learnt part of the noise. Fewer terms (max_terms), a lower degree or more rows help."
        )
        found.append(Caution("caution", "overfitting", "Better on its own rows than on others", text))
    twins = _share_of_twins(subject.features, subject.code)
    if score.is_honest and twins > MANY_TWINS:
        text = (
            f"{percent(twins)} of the rows have an exact twin. Twins on both sides of a fold make a cross-validation look "
            "too good: where they are the same case written twice, remove them."
        )
        found.append(Caution("caution", "twins", "Rows that repeat", text))
    return found


def _beats_majority(score: HonestScore) -> bool:
    majority = next((method for method in score.methods if method.name == MAJORITY), None)
    if majority is None:
        return True  # nothing to compare with
    gap, half_width = score.difference(majority)
    k = [metric.key for metric in METRICS].index("log_loss")
    return bool(gap[k] + half_width[k] < 0)


def _share_of_twins(features: FloatArray, code: IntArray) -> float:
    _, counts = np.unique(np.column_stack([features, code]), axis=0, return_counts=True)
    return float(counts[counts > 1].sum() / max(len(code), 1))


def _class_cautions(code: IntArray, classes: Sequence[str]) -> list[Caution]:
    counts = np.bincount(code, minlength=len(classes))
    tiny = [f"{label} ({plural(int(n), 'row')})" for label, n in zip(classes, counts, strict=True) if n < TINY_CLASS]
    if not tiny:
        return []
    text = f"{listed(tiny)}: what is said about so small a class is a guess, and its score has a wide spread."
    return [Caution("caution", "tiny_class", "Few rows of a class", text)]


def _fit_cautions(model: SparseModel, name: str, features: FloatArray, target: FloatArray) -> list[Caution]:
    found = []
    columns = model.columns(features)
    kind = separation(columns, target)
    if kind is not None:
        how = "without a mistake" if kind == "complete" else "without a mistake but for rows on the border"
        text = (
            f"The terms of the model{name} can tell these rows apart {how}. Only the ridge keeps the coefficients finite, "
            "so their size, standard errors and p-values say little; the predictions are still usable."
        )
        found.append(Caution("caution", "separation", "Classes are separable", text))
    n_terms = sum(bool(term.features) for term in model.terms)
    events = int(min((target > 0).sum(), (target < 0).sum()))
    if n_terms and events / n_terms < EVENTS_PER_TERM:
        text = (
            f"The model{name} has {plural(n_terms, 'term')} for {plural(events, 'row')} of the rarer class: "
            f"{events / n_terms:.1f} per term, where ten are the rule of thumb. Coefficients may be far off."
        )
        found.append(Caution("caution", "few_events", "Few events per term", text))
    pairs = _alike(columns, model.names)
    if pairs:
        text = (
            f"In the model{name} {listed(pairs[:3])} rise and fall together (correlation above {ALIKE:g}). Read their "
            "coefficients as a whole, not one by one."
        )
        found.append(Caution("note", "collinear", "Terms that overlap", text))
    if not n_terms:
        text = f"The model{name} holds no feature: every row gets the same answer."
        found.append(Caution("serious", "empty", "An empty model", text))
    return found


def _alike(columns: FloatArray, names: Sequence[str]) -> list[str]:
    spread = columns.std(axis=1) if columns.size else np.empty(0)
    moving = np.flatnonzero(spread > 0)
    if moving.size < 2:
        return []
    high = np.triu(np.abs(np.corrcoef(columns[moving])) > ALIKE, k=1)
    return [f"“{names[moving[i]]}” and “{names[moving[j]]}”" for i, j in np.argwhere(high)]


def _search_cautions(model: SparseModel, name: str, stability: float | None) -> list[Caution]:
    found = []
    if model.standard_error is None:
        text = f"The model{name} is an average of several: standard errors and p-values do not apply."
        found.append(Caution("note", "average", "An average of models", text))
    evidence = model.evidence
    if evidence is None:
        return found
    if stability is not None and stability < POOR_STABILITY:
        text = (
            f"The restarts of the search{name} agree little on the terms (index {stability:.2f}, where 1 is full agreement "
            "and below 0.4 is called poor). Other formulas do as well as this one: do not read its terms as causes."
        )
        found.append(Caution("caution", "unstable", "The selection is not stable", text))
    share = evidence.selected[:, : len(model.terms)].mean(axis=0) if evidence.n_restarts > 1 else np.ones(0)
    rare = [n for n, s in zip(model.names, share, strict=False) if s < RARELY_SELECTED]
    if rare:
        text = f"Fewer than half of the restarts selected {listed([f'“{n}”' for n in rare[:5]], more=len(rare) - 5)}{name}."
        found.append(Caution("note", "rarely_selected", "Terms that few restarts found", text))
    cut = sum(reason != "converged" for reason in evidence.stop_reasons)
    if cut > len(evidence.stop_reasons) / 2:
        text = (
            f"{cut} of {plural(len(evidence.stop_reasons), 'search', 'searches')}{name} ended before the inclusion "
            "probabilities stood still. The model may improve with a larger max_iter."
        )
        found.append(Caution("note", "not_converged", "The search was cut short", text))
    return found


def _range_cautions(models: Sequence[SparseModel], features: FloatArray) -> list[Caution]:
    read = sorted({p for model in models for p in model.features})
    if not read:
        return []
    low, span = models[0].scaling.half_minimum * 2, models[0].scaling.half_span * 2
    slack = 1e-9 * np.maximum(span, np.abs(low))  # rounding of a range kept as minimum and span
    outside = (features < low - slack) | (features > low + span + slack)
    shares = {p: float(outside[:, p].mean()) for p in read if outside[:, p].any()}
    if not shares:
        return []
    worst = sorted(shares, key=lambda p: -shares[p])
    named = [f"“{models[0].feature_names[p]}” ({percent(shares[p])} of the rows)" for p in worst[:5]]
    text = (
        f"Beyond the range of the training rows: {listed(named, more=len(worst) - 5)}. There the formula is a guess; a power "
        "may run away."
    )
    return [Caution("caution", "outside_range", "Values outside the training range", text)]


def _table_cautions(
    models: Sequence[SparseModel], features: FloatArray, columns: Sequence[ColumnSummary]
) -> list[Caution]:
    found = []
    trained = models[0].n_observations
    if abs(trained - len(features)) > 0.5:
        text = f"The model was fitted to {trained:,.6g} observations; this page is about {len(features):,} rows."
        found.append(Caution("note", "other_rows", "Not the rows of the fit", text))
    blank = [(c.missing, c.name) for c in columns if c.missing > OFTEN_MISSING]
    if blank:
        worst = [f"“{name}” ({percent(share)})" for share, name in sorted(blank, reverse=True)]
        text = f"Often missing, and filled in or marked: {listed(worst[:5], more=len(worst) - 5)}."
        found.append(Caution("caution", "missing", "Many blanks", text))
    still = [f"“{c.name}”" for c in columns if c.kind in ("constant", "empty")]
    if still:
        text = f"{listed(still[:5], more=len(still) - 5)}: nothing can be learnt from a column that never changes."
        found.append(Caution("note", "constant", "Columns that do not vary", text))
    return found
