"""PartitionedRFSC: the classifier for very wide data, whose terms are searched in bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from ._engines import Problem
from ._fit.workbench import FEW_TERMS, Job, OutputFit, Rows, Workbench, candidate_terms
from ._model import FilterEvidence
from ._search import Brake, Candidate, SearchResult
from ._search.bins import BinSpec, outside
from ._search.progress import ConsoleProgress
from ._search.rounds import PoolResult, Round, RoundsSpec, find_pool
from ._search.stopping import EARLY, INTERRUPTED, TIME_LIMIT
from ._terms import TermSpace
from ._terms.subspace import SubSpace
from ._utils.compat import Interval, StrOptions
from ._utils.seeds import seeds_of_searches
from .bases import CONSTANT
from .classifier import PAPER, RFSCClassifier, _as_list
from .export.onnx import converts

FINDING = 0.8  # of the time that an output has; the rest is for the searches of the pool
TERMS_IN_A_BIN = 500  # that n_bins="auto" aims at: few enough for random draws to try them all
MOST_BINS = 1_000  # of n_bins="auto": beyond, bins grow
CAUTION = 0.5  # of the price of a term among as many independent ones: terms that move together amount to fewer
OWN = ("restrictions", "rescreen_every", "max_samples", "precision")  # parameters of the plain search that bins lack


@converts
class PartitionedRFSC(RFSCClassifier):
    """Sparse classifier for very wide data (D-RFSC): the terms are dealt into bins that are searched side by side.

    A search of a hundred thousand terms meets each of them too seldom to judge it. So the terms are shuffled into bins
    that a search can judge, each bin is searched together with a pool of the terms that the bins found before, and the
    best of what they find is the pool of the next round, until the best small model of the pool stands. Then the terms
    of the pool are searched as `RFSCClassifier` does, which gives the model. Bins are joblib tasks: they run on the
    cores of this machine or, in ``joblib.parallel_config("dask")``, on those of others.

    Parameters
    ----------
    degree : int, default=1
        Largest degree of a polynomial term.
    basis : str, object or list, default="polynomial"
        What terms are made of, as in `RFSCClassifier`, but for "auto".
    n_bins : int or "auto", default="auto"
        Into how many bins the terms are dealt. "auto": bins of about 500 terms, at most 1,000 of them.
    n_rounds : int, default=10
        Largest number of rounds.
    patience : int, default=2
        The pool is stable when its best small model has stood for so many rounds.
    sharing : {"model", "pool", "none"}, default="model"
        What every bin is searched together with: the terms of the best small model of the pool, all of the pool, or
        nothing.
    reshuffle : bool, default=True
        Deal the terms anew in every round; else every bin keeps its terms.
    max_pool : int, default=60
        Most terms of the pool.
    n_models : int, default=50
        Models drawn in each iteration.
    max_iter : int, default=300
        Largest number of iterations of one search, of a bin or of the pool.
    n_restarts : int, default=10
        Searches of the final pool, from independent seeds. Bins are searched once in a round.
    score : str, default="loo_log_loss"
        What the searches maximise on the training rows, as in `RFSCClassifier`.
    significance : float, default=0.05
        Level of the t-test.
    initial_rip : {"auto", "uniform", "screened"}, default="auto"
        Inclusion probabilities with which a bin's own terms begin. "uniform": the same for all. "screened": by a score
        test of each. "auto" screens bins of more than 2,000 terms.
    unseen : {"keep", "zero"}, default="keep"
        What happens to the inclusion probability of a term that no model of an iteration drew.
    ridge : float, default=1.0
        Penalty of the fits, as a multiple of the variance of each term.
    filter_significance : float or None, default=None
        Level of a distance-correlation test of each feature against each output; features that do not pass are left
        out. None keeps all.
    max_terms : int, default=60
        Largest model that is drawn.
    tol : float, default=2e-3
        A search has converged when no inclusion probability moves by more.
    combine : {"pool", "best", "average"}, default="pool"
        How the searches of the final pool become one model, as in `RFSCClassifier`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    engine : {"auto", "numba", "numpy", "torch", "cupy"}, default="auto"
        Where the models are fitted.
    n_jobs : int or None, default=None
        Bins that are searched at the same time; the result does not depend on it, nor on joblib's backend.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the search.
    callbacks : object, list of objects or None, default=None
        Observers, as in `RFSCClassifier`. Bins count as restarts, round after round; an observer is shown the
        iterations of a bin when the bin is finished, so "stop_search" comes too late for it, while "stop_all" ends the
        rounds there.
    verbose : int, default=0
        1 shows a progress bar on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    models_ : list of SparseModel
        One for two classes (f > 0 speaks for the second), else one per class.
    rounds_ : list of list of Round
        Per output and round: the pool, its best small model, scores, and how many models were fitted.
    n_bins_ : ndarray of shape (n_outputs,)
        Number of bins.
    n_fits_ : ndarray of shape (n_outputs,)
        Number of models that were fitted, in bins and in the searches of the final pool.
    round_stop_reasons_ : list of str
        Per output why there was no further round: "stable", "perfect" (a bin reached score 1), "n_rounds", "observer",
        "time_limit" or "interrupted".
    n_terms_ : ndarray of shape (n_outputs,)
        Number of candidate terms.
    searches_ : list of list of SearchResult
        Per output the searches of the final pool.
    support_ : ndarray of shape (n_features_in_,), dtype=bool
        Features that some model uses.
    initial_rip_ : list of str
        Per output how the searches of the final pool began.
    basis_ : tuple of Basis
        Families of terms that were searched.
    engine_ : str
        The engine that fitted the models.
    constant_features_ : ndarray of int
        Features that do not vary over the training rows; they were left out.
    n_iter_ : ndarray of shape (n_outputs,)
        Most iterations that a search of the final pool took.
    stop_reason_ : {"finished", "time_limit", "interrupted", "observer"}
        Whether the fit ran to its end, or why not.
    manifest_ : dict
        What the fit was made with and made of.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had string column names.

    See Also
    --------
    RFSCClassifier : The plain search, for up to some thousand features.

    Examples
    --------
    >>> import numpy as np
    >>> from rfsc import PartitionedRFSC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1000))
    >>> y = X[:, 3] - X[:, 500] + 0.3 * rng.logistic(size=200) > 0
    >>> clf = PartitionedRFSC(n_rounds=2, n_restarts=2, random_state=0).fit(X, y)
    >>> {"x3", "x500"} <= set(clf.models_[0].names)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in RFSCClassifier._parameter_constraints.items() if name not in OWN},
        "n_bins": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "sharing": [StrOptions({"pool", "model", "none"})],
        "reshuffle": ["boolean"],
        "max_pool": [Interval(Integral, 2, None, closed="left")],
    }

    # what the plain search can be told and bins cannot: a rule may name terms of several bins, a wide table is short
    restrictions = None
    rescreen_every = None
    max_samples = None
    precision = "float64"

    def __init__(
        self,
        degree: int = 1,
        *,
        basis: Any = "polynomial",
        n_bins: int | str = "auto",
        n_rounds: int = 10,
        patience: int = 2,
        sharing: str = "model",
        reshuffle: bool = True,
        max_pool: int = 60,
        n_models: int = 50,
        max_iter: int = 300,
        n_restarts: int = 10,
        score: str = "loo_log_loss",
        significance: float = 0.05,
        initial_rip: str = "auto",
        unseen: str = "keep",
        ridge: float = 1.0,
        filter_significance: float | None = None,
        max_terms: int = 60,
        tol: float = 2e-3,
        combine: str = "pool",
        class_weight: Any = None,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.degree = degree
        self.basis = basis
        self.n_bins = n_bins
        self.n_rounds = n_rounds
        self.patience = patience
        self.sharing = sharing
        self.reshuffle = reshuffle
        self.max_pool = max_pool
        self.n_models = n_models
        self.max_iter = max_iter
        self.n_restarts = n_restarts
        self.score = score
        self.significance = significance
        self.initial_rip = initial_rip
        self.unseen = unseen
        self.ridge = ridge
        self.filter_significance = filter_significance
        self.max_terms = max_terms
        self.tol = tol
        self.combine = combine
        self.class_weight = class_weight
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """The settings of the paper: polynomials, training accuracy, unseen terms fall, level 0.01, little ridge.

        Parameters
        ----------
        **overrides : object
            Parameters to set otherwise.

        Returns
        -------
        PartitionedRFSC
            Not fitted.
        """
        return cls(**(PAPER | overrides))

    def _fit_outputs(self, rows: Rows, tests: list[FilterEvidence | None], brake: Brake) -> list[list[OutputFit]]:
        """Per output the rounds that find its pool, and the searches of that pool."""
        if self._chooses_basis:
            msg = 'basis="auto" compares families by plain searches. Name a family, such as "polynomial" or "centred".'
            raise ValueError(msg)
        n_outputs = len(rows.targets.outputs)
        seeds, layout_seed = seeds_of_searches(self.random_state, n_outputs, self.n_restarts)
        (spec,) = self._specs_of_mixes(rows, self._spec(rows, layout_seed), None, brake)
        jobs = [
            Job(output, features, spec, tuple(own))
            for output, (features, own) in enumerate(zip(self._allowed_features(rows, tests), seeds, strict=True))
        ]
        self.rounds_: list[list[Round]] = []
        self.round_stop_reasons_: list[str] = []
        self.n_bins_ = np.zeros(n_outputs, dtype=np.int64)
        self.n_fits_ = np.zeros(n_outputs, dtype=np.int64)
        fits: list[list[OutputFit]] = []
        bar = ConsoleProgress(n_outputs, self.n_restarts, self.max_iter) if self.verbose else None
        observers = [*_as_list(self.callbacks), *([bar] if bar else [])]
        try:
            for job in jobs:
                stopped = any(fit.restarts.stopped for (fit,) in fits)
                share = brake.within(1.0 / (n_outputs - job.output))
                fits.append([self._fit_output(rows, job, observers, bar, share, stopped)])
            if bar:
                bar.finished = True
        finally:
            if bar:
                bar.close()
            if self._checkpoint is not None:
                self._checkpoint.save()
        return fits

    def _fit_output(
        self, rows: Rows, job: Job, observers: list[Any], bar: ConsoleProgress | None, brake: Brake, stopped: bool
    ) -> OutputFit:
        """One output; after an observer's "stop_all" a glance at its bins and a single iteration."""
        space = candidate_terms(rows, job.features, job.spec)
        n_bins = self.n_bins_[job.output] = self._bin_count(space)
        if bar:
            bar.n_restarts = int(n_bins) * self.n_rounds + self.n_restarts
        spec = replace(job.spec, initial_rip="uniform", price=price_of_a_term(space.n_terms, rows.weight.sum()))
        found = self._find_pool(rows, replace(job, spec=spec), space, observers, brake.within(FINDING), stopped)
        stopped = stopped or found.stop_reason == "observer"
        part = SubSpace(space, np.union1d(found.pool, [CONSTANT]))
        job = replace(job, spec=spec, before=len(found.rounds) * int(n_bins))
        job = job.shortened() if stopped else job
        # searches of a pool that is not the last one are not kept: the fit that goes on will search another
        checkpoint = None if stopped or found.stop_reason in EARLY else self._checkpoint
        target, code = rows.targets.outputs[job.output], rows.targets.code
        fit = Workbench(rows.table, target, rows.weight, code, part, None, job, brake).fit(observers, checkpoint)
        fit = _in_the_whole_space(fit, part, stopped)
        n_fitted = sum(record.n_fitted for search in fit.restarts.searches for record in search.history)
        self.rounds_.append(list(found.rounds))
        self.round_stop_reasons_.append(found.stop_reason)
        self.n_fits_[job.output] = n_fitted + sum(one.n_fitted for one in found.rounds)
        return fit

    def _stop_reason(self, brake: Brake) -> str:
        """Why the fit as a whole ended: rounds that were cut short count too."""
        reasons = (super()._stop_reason(brake), *self.round_stop_reasons_)
        return next((reason for reason in (INTERRUPTED, TIME_LIMIT, "observer") if reason in reasons), "finished")

    def _stop_reasons(self) -> list[list[str]]:
        """Per output why its rounds ended, and then its searches."""
        return [[rounds, *own] for rounds, own in zip(self.round_stop_reasons_, super()._stop_reasons(), strict=True)]

    def _bin_count(self, space: TermSpace) -> int:
        if isinstance(self.n_bins, str):
            return min(-(-space.n_terms // TERMS_IN_A_BIN), MOST_BINS)
        return min(self.n_bins, space.n_terms)

    def _find_pool(
        self, rows: Rows, job: Job, space: TermSpace, observers: list[Any], brake: Brake, stopped: bool
    ) -> PoolResult:
        """The rounds of one output; a single iteration of every bin where everything is to stop."""
        spec, target = job.spec, rows.targets.outputs[job.output]
        bins = BinSpec(
            options=spec.options,
            search=replace(spec.search, max_iter=1) if stopped else spec.search,
            engine=self.engine_,
            n_bins=int(self.n_bins_[job.output]),
            constant=CONSTANT,
            most_uniform={"auto": FEW_TERMS, "uniform": space.n_terms, "screened": 0}[self.initial_rip],
        )
        rounds = RoundsSpec(
            n_rounds=1 if stopped else self.n_rounds,
            patience=self.patience,
            sharing=self.sharing,
            reshuffle=self.reshuffle,
            max_pool=self.max_pool,
            largest=spec.pool_terms,
            price=spec.price,
        )
        return find_pool(
            Problem(space, rows.table, target, rows.weight, spec.options, spec.search.max_terms),
            bins,
            rounds,
            spec.layout_seed,
            n_jobs=self.n_jobs,
            observers=observers,
            output=job.output,
            brake=brake,
            checkpoint=None if stopped else self._checkpoint,
        )


def classifier_with(settings: Mapping[str, Any]) -> RFSCClassifier:
    """A classifier of the class that settings out of a file belong to; unknown ones, of another version, are left out.

    Parameters
    ----------
    settings : mapping
        Parameters by name.

    Returns
    -------
    RFSCClassifier or PartitionedRFSC
        Not fitted.
    """
    kind = PartitionedRFSC if "n_bins" in settings else RFSCClassifier
    known = kind().get_params()
    return kind(**{name: value for name, value in settings.items() if name in known})


def price_of_a_term(n_terms: int, n_observations: float) -> float:
    """What a term must improve the mean log-loss by: half of what the best of as many irrelevant ones does by chance.

    Twice the gain in log-likelihood of an irrelevant term is about the square of a standard normal number, and the
    largest of n such squares is about 2 log n.

    Parameters
    ----------
    n_terms : int
        Candidate terms.
    n_observations : float
        Observations that the log-loss is the mean of.
    """
    return CAUTION * float(np.log(n_terms) / n_observations)


def _in_the_whole_space(fit: OutputFit, part: SubSpace, stopped: bool) -> OutputFit:
    """The fit of a part of a space, by the ids of the whole space."""
    searches = tuple(
        SearchResult(
            _renamed(search.model, part),
            None if search.limit is None else _renamed(search.limit, part),
            tuple(replace(record, rips=outside(record.rips, part)) for record in search.history),
            "observer" if stopped else search.stop_reason,
        )
        for search in fit.restarts.searches
    )
    restarts = replace(fit.restarts, searches=searches, stopped=stopped or fit.restarts.stopped)
    return replace(fit, space=part.whole, restarts=restarts, ids=part.outside(fit.ids))


def _renamed(model: Candidate, part: SubSpace) -> Candidate:
    return replace(model, ids=part.outside(model.ids))
