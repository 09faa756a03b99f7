"""What a reader should know before trusting a model: checks that return a few sentences, the most serious first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.optimize import linprog
from scipy.stats import rankdata

from .._model import SparseModel
from .._model.access import WEIGHTED, weights_classes
from .._utils.arrays import FloatArray, IntArray
from .._utils.words import fixed, listed, percent, plural
from ..certify import Certificate
from ..explain.term_table import EVENTS_PER_TERM
from ..monitor.shift import outside_range
from .honest_score import MAJORITY, OURS, HonestScore
from .metrics import measure
from .subject import ColumnSummary, Subject

LEVELS = ("serious", "caution", "note")
SMALL_CLASS = 20  # rows
OFTEN_MISSING = 0.2
HIGH_CORRELATION = 0.95
MAX_OPTIMISM = 0.05  # accuracy on the rows given minus accuracy on held-out rows
MANY_DUPLICATES = 0.02
MAX_SEPARATION_ROWS = 20_000  # a linear program over more takes long, and long tables are rarely separable
NEGLIGIBLE = 1e-7
MAX_OUTPUTS, MAX_PAIRS, MAX_NAMES = 5, 2, 5  # in one sentence

# cautions that are found output by output: level, title, meaning
OF_OUTPUTS = {
    "empty": ("serious", "Empty model", "Every row gets the same prediction."),
    "separation": (
        "caution",
        "Separable classes",
        "Only the ridge penalty keeps the coefficients finite, so their size, standard errors and p-values mean "
        "little; the predictions are still usable.",
    ),
    "partial_separation": (
        "note",
        "Partly separable classes",
        "A combination of terms classifies them correctly and is zero for the others. Only the ridge penalty keeps its "
        "coefficients finite, and their p-values mean little.",
    ),
    "few_events": ("caution", "Few rows per term", "Fewer than ten for each term: the coefficients may be far off."),
    "collinear": ("note", "Correlated terms", f"Correlation above {HIGH_CORRELATION:g}: interpret them together."),
    "alike": (
        "caution",
        "Nearly the same features",
        f"Rank correlation above {HIGH_CORRELATION:g}: judge them together; their effects cannot be told apart.",
    ),
    "not_converged": ("note", "Search not converged", "A larger max_iter in SearchSettings may improve the model."),
}


@dataclass(frozen=True, slots=True)
class Caution:
    level: str  # one of LEVELS
    key: str  # for programs
    title: str
    text: str  # what was found, what it means, what to do


def find_cautions(
    subject: Subject,
    columns: Sequence[ColumnSummary],
    score: HonestScore,
    warnings: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> list[Caution]:
    """All cautions; with the warnings of the fit, and notes on how the table was read."""
    models, features, code = subject.models, subject.features, subject.code
    found = [
        *_score_cautions(score, subject),
        *_class_cautions(code, subject.class_names),
        *_range_cautions(subject),
        *_table_cautions(models[0].n_observations, len(features), columns),
        *(Caution("caution", "warning", "Warning", _sentence(text)) for text in warnings),
        *(Caution("note", "table", "How the table was read", _sentence(text)) for text in notes),
    ]
    details: dict[str, list[str]] = {}
    for model in models:
        target = np.where(code == subject.class_names.index(str(model.label)), 1.0, -1.0)
        is_fit = model.n_observations in (None, len(features))  # other rows say nothing about the fit
        of_fit = _fit_findings(model, features, target) if is_fit else ()
        for key, detail in chain(of_fit, _search_findings(model)):
            details.setdefault(key, []).append(detail if len(models) == 1 else f"class “{model.label}”: {detail}")
    found += [_of_outputs(key, some) for key, some in details.items()]
    if weights_classes(subject.predictor):
        found.append(Caution("serious", "class_weight", "Weighted classes", WEIGHTED))
    if subject.predictor.settings_.get("random_state", 0) is None:
        text = "random_state was not set, so another fit may find other terms. Set it to make the fit reproducible."
        found.append(Caution("note", "no_seed", "No random seed", text))
    return sorted(found, key=lambda caution: LEVELS.index(caution.level))


def certificate_cautions(certificate: Certificate, subject: Subject) -> list[Caution]:
    """Whether a certificate was made of other rows than the model; one of other classes is refused."""
    record, made = subject.predictor.manifest_, certificate.settings
    if record is not None and sorted(made.classes) != sorted(subject.class_names):
        msg = "the certificate is about other classes than the model. Make one of the same estimator and rows."
        raise ValueError(msg)
    if record is None or record["data"]["content"] == made.content:
        return []
    text = "Its rows or features are not those that the model was fitted to. Make one of the table of the fit."
    return [Caution("caution", "other_table", "Certificate of another table", text)]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _of_outputs(key: str, details: Sequence[str]) -> Caution:
    """One caution for what was found in several outputs."""
    level, title, meaning = OF_OUTPUTS[key]
    n_more = len(details) - MAX_OUTPUTS
    text = "; ".join([*details[:MAX_OUTPUTS], *([f"and {n_more} more"] if n_more > 0 else [])])
    return Caution(level, key, title, f"{text[0].upper()}{text[1:]}. {meaning}")


def _score_cautions(score: HonestScore, subject: Subject) -> Iterator[Caution]:
    if not score.is_honest:
        text = (
            "The model was scored on the rows given. If it was fitted to them, or selected by them, the score is too "
            "good. Judge it by rows that it has never seen."
        )
        yield Caution("serious", "not_held_out", "The score may be too optimistic", text)
        return
    if not score.beats_majority:
        text = (
            "On held-out rows, no metric of the model is clearly better than that of the class shares alone. The "
            "features may hold no information about the class, or there are too few rows to show it."
        )
        yield Caution("serious", "no_better_than_majority", "Hardly better than guessing", text)
    loss, of_shares = (score.figures(name)["log_loss"] for name in (OURS, MAJORITY))
    if loss > of_shares:
        text = (
            f"The log-loss on held-out rows is {fixed(loss)}, and {fixed(of_shares)} for the class shares alone. The "
            "probabilities are not reliable, even if the model ranks rows better than chance."
        )
        yield Caution("serious", "log_loss_above_class_shares", "Log-loss above that of the class shares", text)
    never = score.never_predicted
    if never:
        named = listed([f"“{subject.class_names[k]}”" for k in never], MAX_NAMES)
        text = (
            f"No held-out row is predicted as {named}: no probability is high enough. Choose a threshold of your own "
            "for the probability, by what a missed case and a false alarm cost."
        )
        yield Caution("caution", "never_predicted", "A class that is never predicted", text)
    here, held_out = measure(subject.code, subject.proba, subject.weight)["accuracy"], score.figures()["accuracy"]
    if here - held_out > MAX_OPTIMISM:
        text = (
            f"The accuracy is {percent(here)} on the rows given, but {percent(held_out)} on held-out rows: the model "
            "has learnt part of the noise. Fewer terms (max_terms), a lower degree or more rows may help."
        )
        yield Caution("caution", "overfitting", "Overfitting", text)
    _, counts = np.unique(np.column_stack([subject.features, subject.code]), axis=0, return_counts=True)
    duplicates = float(counts[counts > 1].sum() / len(subject.code))
    if duplicates > MANY_DUPLICATES:
        text = (
            f"{percent(duplicates)} of the rows have an exact duplicate. Duplicates in both the training and the test "
            "rows of a fold make a cross-validation too optimistic: remove those that are the same case entered twice."
        )
        yield Caution("note", "duplicates", "Duplicate rows", text)


def _class_cautions(code: IntArray, classes: Sequence[str]) -> Iterator[Caution]:
    counts = np.bincount(code, minlength=len(classes))
    small = [f"{label} ({plural(int(n), 'row')})" for label, n in zip(classes, counts, strict=True) if n < SMALL_CLASS]
    if small:
        text = f"{listed(small)}: predictions of so small a class are unreliable, and its score varies much."
        yield Caution("caution", "small_class", "Small class", text)


def _range_cautions(subject: Subject) -> Iterator[Caution]:
    read, model = subject.features_read, subject.models[0]
    shares = outside_range(model.scaling, subject.features, read).mean(axis=0).tolist()
    worst = sorted((pair for pair in zip(read, shares, strict=True) if pair[1]), key=lambda pair: -pair[1])
    if worst:
        named = [f"“{model.feature_names[p]}” ({percent(share)} of the rows)" for p, share in worst]
        text = (
            f"Beyond the range of the training rows: {listed(named, MAX_NAMES)}. The formula extrapolates there, and "
            "powers can become very large."
        )
        yield Caution("caution", "outside_range", "Values outside the training range", text)


def _table_cautions(n_fitted: float, n_rows: int, columns: Sequence[ColumnSummary]) -> Iterator[Caution]:
    if abs(n_fitted - n_rows) > 0.5:
        text = f"The model was fitted to {n_fitted:,.6g} observations; this report is about {n_rows:,} rows."
        yield Caution("note", "other_rows", "Not the rows of the fit", text)
    missing = sorted(((c.missing, c.name) for c in columns if c.missing > OFTEN_MISSING), reverse=True)
    if missing:
        named = listed([f"“{name}” ({percent(share)})" for share, name in missing], MAX_NAMES)
        text = f"Often missing, and imputed or marked as missing: {named}."
        yield Caution("caution", "missing", "Many missing values", text)
    constant = [f"“{c.name}”" for c in columns if c.kind in ("constant", "empty")]
    if constant:
        text = f"{listed(constant, MAX_NAMES)}: a column with a single value carries no information."
        yield Caution("note", "constant", "Constant columns", text)


def _fit_findings(model: SparseModel, features: FloatArray, target: FloatArray) -> Iterator[tuple[str, str]]:
    columns = model.columns(features)
    n_terms = sum(bool(term.features) for term in model.terms)
    if not n_terms:
        yield "empty", "the model uses no feature"
        return
    separated = separation(columns, target)
    if separated == 1.0:
        yield "separation", "the terms separate the classes perfectly on these rows"
    elif separated > 0.0:
        yield "partial_separation", f"{percent(separated)} of the rows"
    events = int(min((target > 0).sum(), (target < 0).sum()))
    if events / n_terms < EVENTS_PER_TERM:
        yield "few_events", f"{plural(n_terms, 'term')} for {plural(events, 'row')} of the less frequent class"
    pairs = _correlated(columns, model.names)
    if pairs:
        yield "collinear", listed(pairs, MAX_PAIRS)
    read = list(model.features)
    if alike := _correlated(rankdata(features[:, read], axis=0).T, [model.feature_names[p] for p in read]):
        yield "alike", listed(alike, MAX_PAIRS)


def _correlated(columns: FloatArray, names: Sequence[str]) -> list[str]:
    varying = np.flatnonzero(columns.std(axis=1) > 0)
    if varying.size < 2:
        return []
    high = np.triu(np.abs(np.corrcoef(columns[varying])) > HIGH_CORRELATION, k=1)
    return [f"“{names[varying[i]]}” with “{names[varying[j]]}”" for i, j in np.argwhere(high)]


def _search_findings(model: SparseModel) -> Iterator[tuple[str, str]]:
    evidence = model.evidence
    if evidence is None:
        return
    n_cut = evidence.n_restarts - evidence.n_converged
    if n_cut > evidence.n_restarts / 2:
        yield "not_converged", f"{n_cut} of {plural(evidence.n_restarts, 'search', 'searches')} ended early"


def separation(columns: FloatArray, target: FloatArray) -> float:
    """Share of the rows that a linear combination of terms, of shape (n_terms, n_rows), separates by class.

    It is on the wrong side of zero for no row, and strictly on the right side for the share returned: then the
    likelihood has no maximum, and without a ridge penalty some coefficients would be infinite.
    """
    n_terms, n_rows = columns.shape
    if not n_terms or n_rows > MAX_SEPARATION_ROWS:
        return 0.0
    sides = (columns * target).T
    largest = np.abs(sides).max(axis=0)
    sides = sides / np.where(largest > 0, largest, 1.0)
    strict = linprog(np.zeros(n_terms), A_ub=-sides, b_ub=-np.ones(n_rows), bounds=(None, None))
    if strict.status == 0:
        return 1.0
    weak = linprog(-sides.sum(axis=0), A_ub=-sides, b_ub=np.zeros(n_rows), bounds=(-1.0, 1.0))
    return float((sides @ weak.x > NEGLIGIBLE).mean()) if weak.status == 0 else 0.0
