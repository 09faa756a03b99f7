"""What a reader should know before trusting a model: each check gives at most a few sentences, the gravest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from .._model import SparseModel
from .._terms.distinct import distinct_rows
from .._utils.arrays import FloatArray, IntArray
from .._utils.words import listed, percent, plural
from .columns import ColumnSummary
from .honest_score import MAJORITY, HonestScore
from .metrics import measure
from .separation import separation
from .subject import Subject

LEVELS = ("serious", "caution", "note")
EVENTS_PER_TERM = 10  # the usual rule of thumb of logistic regression
TINY_CLASS = 20
OFTEN_MISSING = 0.2
ALIKE = 0.95  # correlation of two terms beyond which their coefficients cannot be told apart
POOR_STABILITY = 0.4  # below, Nogueira, Sechidis and Brown (2018) call a selection poor
RARELY_SELECTED = 0.5
TOO_GOOD = 0.05  # points of accuracy by which training rows may look better than others
MANY_TWINS = 0.02
MAX_DETAILS, MAX_PAIRS, MAX_NAMES = 5, 2, 5

OF_OUTPUTS = {
    "empty": ("serious", "An empty model", "Every row gets the same answer."),
    "separation": (
        "caution",
        "Classes are separable",
        "Only the ridge keeps the coefficients finite, so their size, standard errors and p-values say little; the "
        "predictions are still usable.",
    ),
    "partial_separation": (
        "note",
        "Some rows are separable",
        "A combination of terms is right about them and silent about the others. Only the ridge keeps its coefficients "
        "finite, and their p-values say little.",
    ),
    "few_events": (
        "caution",
        "Few events per term",
        "Fewer than ten rows for each term, the rule of thumb: coefficients may be far off.",
    ),
    "unstable": (
        "caution",
        "The selection is not stable",
        "Repeated searches agree little on the terms (1 is full agreement, below 0.4 is called poor). Other formulas "
        "do as well as this one: do not read its terms as causes.",
    ),
    "average": ("note", "An average of models", "Standard errors and p-values do not apply."),
    "collinear": (
        "note",
        "Terms that overlap",
        f"They rise and fall together (correlation above {ALIKE:g}): read their coefficients as a whole.",
    ),
    "rarely_selected": ("note", "Terms that few restarts found", "Fewer than half of the restarts selected them."),
    "not_converged": (
        "note",
        "The search was cut short",
        "They ended before the inclusion probabilities stood still; a larger max_iter may improve the model.",
    ),
}


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
    """All checks."""
    models, features, code = subject.models, subject.features, subject.code
    found = [
        *_score_cautions(score, subject),
        *_class_cautions(code, subject.class_names),
        *_range_cautions(models, features),
        *_table_cautions(models, features, columns),
    ]
    details: dict[str, list[str]] = {}
    for model, index in zip(models, stability, strict=True):
        target = np.where(code == subject.class_names.index(str(model.label)), 1.0, -1.0)
        for key, detail in chain(_fit_findings(model, features, target), _search_findings(model, index)):
            details.setdefault(key, []).append(detail if len(models) == 1 else f"class “{model.label}”: {detail}")
    found += [_joined(key, some) for key, some in details.items()]
    if subject.predictor.settings_.get("random_state", 0) is None:
        text = "random_state was not set, so another fit may find other terms. Set it to be able to run this again."
        found.append(Caution("note", "no_seed", "No seed", text))
    return sorted(found, key=lambda caution: LEVELS.index(caution.level))


def _score_cautions(score: HonestScore, subject: Subject) -> list[Caution]:
    found = []
    if not score.is_honest:
        text = (
            "The score is that of the rows given. Where the model was fitted to them, or chosen with their help, it "
            "looks better than it is. Judge it by rows that it has never seen."
        )
        found.append(Caution("serious", "not_honest", "The score may not be honest", text))
    elif not _beats_majority(score):
        text = (
            "On rows left out, the model is by no measure clearly better than the bare shares of the classes. The "
            "features may hold no information about the class, or there are too few rows to show it."
        )
        found.append(Caution("serious", "no_better_than_majority", "Hardly better than guessing", text))
    here, honest = measure(subject.code, subject.proba)["accuracy"], score.mean("accuracy")
    if score.is_honest and here - honest > TOO_GOOD:
        text = (
            f"The model is right for {percent(here)} of the rows given, but for {percent(honest)} of rows left out of "
            "the fit: it has learnt part of the noise. Fewer terms (max_terms), a lower degree or more rows help."
        )
        found.append(Caution("caution", "overfitting", "Better on its own rows than on others", text))
    twins = _share_of_twins(subject.features, subject.code)
    if score.is_honest and twins > MANY_TWINS:
        text = (
            f"{percent(twins)} of the rows have an exact twin. Twins on both sides of a fold make a cross-validation "
            "look too good: where they are the same case written twice, remove them."
        )
        found.append(Caution("note", "twins", "Rows that repeat", text))
    return found


def _beats_majority(score: HonestScore) -> bool:
    majority = next((method for method in score.methods if method.name == MAJORITY), None)
    if majority is None:
        return True  # nothing to compare with
    gap, half_width = score.difference(majority)
    return bool((gap + half_width < 0).any())


def _share_of_twins(features: FloatArray, code: IntArray) -> float:
    _, which = distinct_rows([*features.T, code], len(code))
    counts = np.bincount(which)
    return float(counts[counts > 1].sum() / len(code))


def _class_cautions(code: IntArray, classes: Sequence[str]) -> list[Caution]:
    counts = np.bincount(code, minlength=len(classes))
    tiny = [f"{label} ({plural(int(n), 'row')})" for label, n in zip(classes, counts, strict=True) if n < TINY_CLASS]
    if not tiny:
        return []
    text = f"{listed(tiny)}: what is said about so small a class is a guess, and its score has a wide spread."
    return [Caution("caution", "tiny_class", "Few rows of a class", text)]


def _joined(key: str, details: Sequence[str]) -> Caution:
    """What was found for several outputs, said once."""
    level, title, meaning = OF_OUTPUTS[key]
    text = "; ".join(details[:MAX_DETAILS]) + (
        f"; and {len(details) - MAX_DETAILS} more" * (len(details) > MAX_DETAILS)
    )
    return Caution(level, key, title, f"{text[0].upper()}{text[1:]}. {meaning}")


def _fit_findings(model: SparseModel, features: FloatArray, target: FloatArray) -> Iterator[tuple[str, str]]:
    columns = model.columns(features)
    n_terms = sum(bool(term.features) for term in model.terms)
    if not n_terms:
        yield "empty", "the model reads no feature"
        return
    separated = separation(columns, target)
    if separated == 1.0:
        yield "separation", "its terms can tell the rows apart without a mistake"
    elif separated > 0.0:
        yield "partial_separation", f"{percent(separated)} of the rows"
    events = int(min((target > 0).sum(), (target < 0).sum()))
    if events / n_terms < EVENTS_PER_TERM:
        yield "few_events", f"{plural(n_terms, 'term')} for {plural(events, 'row')} of the rarer side"
    pairs = _alike(columns, model.names)
    if pairs:
        yield "collinear", listed(pairs, MAX_PAIRS)


def _alike(columns: FloatArray, names: Sequence[str]) -> list[str]:
    spread = columns.std(axis=1) if columns.size else np.empty(0)
    moving = np.flatnonzero(spread > 0)
    if moving.size < 2:
        return []
    high = np.triu(np.abs(np.corrcoef(columns[moving])) > ALIKE, k=1)
    return [f"“{names[moving[i]]}” with “{names[moving[j]]}”" for i, j in np.argwhere(high)]


def _search_findings(model: SparseModel, stability: float | None) -> Iterator[tuple[str, str]]:
    if model.standard_error is None:
        yield "average", "the formula is the mean of several"
    evidence = model.evidence
    if evidence is None:
        return
    if stability is not None and stability < POOR_STABILITY:
        yield "unstable", f"index {stability:.2f} over {plural(evidence.n_restarts, 'restart')}"
    share = evidence.selected[:, : len(model.terms)].mean(axis=0)
    rare = [f"“{name}”" for name, part in zip(model.names, share, strict=True) if part < RARELY_SELECTED]
    if rare and stability is not None and stability >= POOR_STABILITY:
        yield "rarely_selected", listed(rare, MAX_NAMES)
    n_cut = sum(reason != "converged" for reason in evidence.stop_reasons)
    if n_cut > len(evidence.stop_reasons) / 2:
        yield "not_converged", f"{n_cut} of {plural(len(evidence.stop_reasons), 'search', 'searches')}"


def _range_cautions(models: Sequence[SparseModel], features: FloatArray) -> list[Caution]:
    read = sorted({p for model in models for p in model.features})
    if not read:
        return []
    low, span = models[0].scaling.half_minimum, models[0].scaling.half_span  # halves, which cannot overflow
    slack = 1e-9 * np.maximum(span, np.abs(low))  # rounding of a range kept as minimum and span
    outside = (features / 2 < low - slack) | (features / 2 > low + span + slack)
    shares = {p: float(outside[:, p].mean()) for p in read if outside[:, p].any()}
    if not shares:
        return []
    worst = sorted(shares, key=lambda p: -shares[p])
    named = [f"“{models[0].feature_names[p]}” ({percent(shares[p])} of the rows)" for p in worst]
    text = (
        f"Beyond the range of the training rows: {listed(named, MAX_NAMES)}. There the formula is a guess; "
        "a power may run away."
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
        text = f"Often missing, and filled in or marked: {listed(worst, MAX_NAMES)}."
        found.append(Caution("caution", "missing", "Many blanks", text))
    still = [f"“{c.name}”" for c in columns if c.kind in ("constant", "empty")]
    if still:
        text = f"{listed(still, MAX_NAMES)}: nothing can be learnt from a column that never changes."
        found.append(Caution("note", "constant", "Columns that do not vary", text))
    return found
