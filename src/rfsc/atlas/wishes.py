"""The best model under a wish: without some features, with others, with few terms, rising or falling with some."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._fit.output import OutputSearch
from .._utils.arrays import FloatArray, IntArray
from .._utils.words import listed, plural
from ..restrictions import Restrictions, check_number_of_classes
from .exploring import Exploration, Support
from .source import Source

N_BEGUN = 20  # models of the atlas from which the search under a wish begins
N_IMPROVED = 4  # best models of each size whose terms are exchanged


@dataclass(frozen=True, slots=True)
class Wish:
    """What a model should be like; features by their positions."""

    without: tuple[int, ...] = ()
    required: tuple[tuple[int, ...], ...] = ()  # of each of these some
    max_terms: int | None = None
    increasing: tuple[int, ...] = ()
    decreasing: tuple[int, ...] = ()

    def restricted(self, search: OutputSearch, n_classes: int) -> OutputSearch:
        """The same candidate terms under the restrictions of the fit and of the wish."""
        spec = search.job.spec
        old, names = spec.restrictions or Restrictions(), spec.feature_names
        new = replace(
            old,
            forbid=(*old.forbid, *((names[p],) for p in self.without)),
            increasing=(*old.increasing, *(names[p] for p in self.increasing)),
            decreasing=(*old.decreasing, *(names[p] for p in self.decreasing)),
        )
        check_number_of_classes(new, n_classes)
        return OutputSearch(search.rows, replace(search.job, spec=replace(spec, restrictions=new)), space=search.space)


@dataclass(frozen=True, slots=True, eq=False)
class FoundModel:
    """The best model under a wish, and what the wish costs.

    Parameters
    ----------
    wish : str
        The wish in words.
    model : RFSCClassifier or Pipeline
        Fitted; it predicts, explains and exports like any other.
    terms : tuple of str
        Terms of the model; with several classes of all outputs, each after the class.
    log_loss : float
        Mean log-loss of left-out rows (approximate leave-one-out); with several classes, the sum over the outputs.
    price : float
        By how much it is above that of the answer.
    standard_error : float
        Paired standard error of the price.
    n_outputs : int, default=1
        Number of outputs that `log_loss` and `price` are summed over.
    """

    wish: str
    model: Any
    terms: tuple[str, ...]
    log_loss: float
    price: float
    standard_error: float
    n_outputs: int = 1

    def __str__(self) -> str:
        summed = f", summed over {self.n_outputs} classes against the rest" if self.n_outputs > 1 else ""
        error = f"(paired standard error {self.standard_error:.4f})"
        lines = [
            f"{self.wish}: leave-one-out log-loss {self.log_loss:.4f}{summed}",
            f"Price: {self.price:+.4f} beside the answer {error}, {self._verdict}",
            f"Terms: {', '.join(self.terms) or 'none, the prediction is constant'}",
        ]
        return "\n".join(lines)

    @property
    def _verdict(self) -> str:
        if abs(self.price) <= self.standard_error:
            return "as good within one standard error"
        if abs(self.price) <= 2.0 * self.standard_error:
            return "perhaps worse" if self.price > 0.0 else "perhaps better"
        return "worse" if self.price > 0.0 else "better"


def explored_under(
    wish: Wish,
    source: Source,
    base: Exploration,
    pool: IntArray,
    begin: Iterable[Support],
    most_work: float | None = None,
) -> Exploration:
    """Models that obey a wish, improved by exchanges until nothing is better; none if it cannot be fulfilled."""
    search = wish.restricted(base.search, source.rows.targets.classes.size)
    max_size = base.max_size if wish.max_terms is None else min(wish.max_terms, base.max_size + pool.size)
    pool = np.union1d(pool, _terms_of(wish, search))
    found = Exploration(search, pool, max_size, None, wish.required, most_work)
    requirements = search.requirements
    seeds: dict[Support, None] = dict.fromkeys(begin)
    if requirements is not None:
        seeds = {tuple(sorted(requirements.gather(support, len(support) + 1))): None for support in seeds}
        seeds[tuple(sorted(requirements.forced))] = None
    for seed in seeds:
        for compact in (False, True):
            obeying = _obeying(seed, found, compact=compact)
            found.ask([] if obeying is None else [obeying])
    found.improve(N_IMPROVED)
    return found


def _terms_of(wish: Wish, search: OutputSearch) -> IntArray:
    """The features that are required, as terms, if there are such terms."""
    names = search.job.spec.feature_names
    ids = [search.space.find(names[p], names) for features in wish.required for p in features]
    return np.array([j for j in ids if j is not None], dtype=np.int64)


def _obeying(support: Support, found: Exploration, *, compact: bool) -> Support | None:
    """A model like this one that reads what is required and is small enough; with few terms for that if `compact`."""

    def best_of(options: Sequence[Support]) -> Support | None:
        return options[int(np.argmin(found.fit(options).log_loss))] if options else None

    grown: Support | None = support
    while grown is not None and (unread := found.unread(grown)):
        options = [one for one in found.grown(grown) if found.unread(one) < unread]
        least = min((found.unread(one) for one in options), default=0)
        grown = best_of([one for one in options if not compact or found.unread(one) == least])
    while grown is not None and found.size(grown) > found.max_size:
        rests = [one for one in found.rests(grown) if one and one != grown and not found.unread(one)]
        grown = best_of(rests)
    return grown


def in_words(without: Sequence[str], require: Sequence[str], signs: Sequence[Sequence[str]], most: int | None) -> str:
    """A wish as the beginning of a sentence."""
    parts = [f"without {listed(without)}" if without else "", f"with {listed(require)}" if require else ""]
    parts += [
        f"{word} with {listed(names)}"
        for word, names in zip(("never falling", "never rising"), signs, strict=True)
        if names
    ]
    parts.append("" if most is None else f"with at most {plural(most, 'term')}")
    text = ", ".join(part for part in parts if part) or "any model"
    return text[0].upper() + text[1:]


def price_of(pairs: Sequence[tuple[FloatArray, FloatArray]], weigh: Exploration) -> tuple[float, float, float]:
    """Mean loss of some models, by how much it is above that of others, and the standard error; summed over outputs."""
    own, others = (np.sum([pair[side] for pair in pairs], axis=0) for side in (0, 1))
    above = own - others
    return float(weigh.mean(own)[0]), float(weigh.mean(above)[0]), float(weigh.error(above)[0])
