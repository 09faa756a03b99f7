"""What the restarts of one output have seen of its terms, gathered for the model that comes out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._model.sparse_model import Evidence, FilterEvidence, SparseModel, Trace
from .._search.history import SearchResult
from .._terms import Term
from .._utils.arrays import FloatArray, IntArray
from .output import OutputFit

MOST_OTHERS = 30  # terms that are in no model but whose inclusion probability rose: the losers of the picture
NOTABLE = 0.1  # inclusion probability that such a term has reached
DIGITS = 5  # decimals of what the traces hold


def gather(
    model: SparseModel, fits: Sequence[OutputFit], score: str, filtered: FilterEvidence | None = None
) -> Evidence:
    """Lay the restarts of all fits side by side, by term."""
    place: dict[Term, int] = {term: i for i, term in enumerate(model.terms)}
    known = [_selected_ids(fit) for fit in fits]
    for fit, ids in zip(fits, known, strict=True):
        for term in fit.space.terms(ids):
            place.setdefault(term, len(place))
    others = [_notable_ids(fit, ids) for fit, ids in zip(fits, known, strict=True)]
    for fit, ids in zip(fits, others, strict=True):
        for term in fit.space.terms(ids):
            place.setdefault(term, len(place))
    terms = tuple(place)
    selected, rip, traces, reasons = [], [], [], []
    for fit, own, more in zip(fits, known, others, strict=True):
        ids = np.union1d(own, more)
        at = np.array([place[term] for term in fit.space.terms(ids)], dtype=np.int64)
        for search in fit.searches:
            held = np.zeros(len(terms), dtype=np.bool_)
            held[at] = np.isin(ids, search.model.ids)
            selected.append(held)
            trace = _trace(search, ids, at, len(terms))
            rip.append(trace.rips[-1])
            traces.append(trace)
            reasons.append(search.stop_reason)
    traced = _worth_tracing(len(model.terms), traces)
    return Evidence(
        n_candidates=sum(fit.space.n_terms for fit in fits),
        score=score,
        terms=terms,
        feature_names=model.feature_names,
        selected=np.stack(selected),
        rip=np.stack(rip),
        stop_reasons=tuple(reasons),
        traced=traced,
        traces=tuple(replace(trace, rips=trace.rips[:, traced]) for trace in traces),
        filter=filtered,
    )


def _selected_ids(fit: OutputFit) -> IntArray:
    """Terms of the answer and of every restart's model, ascending."""
    return np.unique(np.concatenate([fit.ids, *(search.model.ids for search in fit.searches)]))


def _notable_ids(fit: OutputFit, known: IntArray) -> IntArray:
    """Other terms whose RIP rose: the highest ones, ascending."""
    records = [record.rips for search in fit.searches for record in search.history]
    ids, at = np.unique(np.concatenate([rips.ids for rips in records]), return_inverse=True)
    peak = np.zeros(ids.size)
    np.maximum.at(peak, at, np.concatenate([rips.values for rips in records]))
    peak[np.isin(ids, known)] = 0.0
    best = np.argsort(-peak, kind="stable")[:MOST_OTHERS]
    return np.sort(ids[best[peak[best] >= NOTABLE]])


def _trace(search: SearchResult, ids: IntArray, at: IntArray, n_terms: int) -> Trace:
    """The course of one restart with the RIPs of all terms, zero for those that its space does not offer."""
    history = search.history
    rips = np.zeros((len(history), n_terms))
    rips[:, at] = [record.rips[ids] for record in history]
    return Trace(
        mean_score=_rounded([record.mean_score for record in history]),
        best_score=_rounded([record.best_score for record in history]),
        size_drawn=_rounded([record.mean_size_drawn for record in history]),
        size_kept=_rounded([record.mean_size_kept for record in history]),
        rips=_rounded(rips),
    )


def _rounded(values: Sequence[float] | FloatArray) -> FloatArray:
    array: FloatArray = np.asarray(values, dtype=np.float64)
    return np.round(array, DIGITS)


def _worth_tracing(n_model: int, traces: Sequence[Trace]) -> tuple[int, ...]:
    """The model's terms, then the others that rose highest."""
    peak = np.max([trace.rips.max(axis=0) for trace in traces], axis=0)
    rest = n_model + np.argsort(-peak[n_model:], kind="stable")
    return (*range(n_model), *sorted(int(j) for j in rest[:MOST_OTHERS] if peak[j] >= NOTABLE))
