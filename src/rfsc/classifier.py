"""RFSCClassifier: the scikit-learn face. Read `fit` first; it is a table of contents."""

from __future__ import annotations

import time
import warnings
from contextlib import closing
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ._engines import ENGINES, PRECISIONS, Criterion, FitOptions, choose_engine
from ._fit.basis_choice import choose_bases
from ._fit.distance_correlation import independence_test, threshold
from ._fit.output import fit_outputs
from ._fit.output_evidence import gather
from ._fit.targets import encode, row_weights
from ._fit.workbench import OutputFit, OutputSpec, Rows, pool_terms, start_by_size
from ._model import FilterEvidence, FormulaPredictions, SparseModel, weighted_mean
from ._search import Brake, Checkpoint, SearchSpec, StopAfter, sample_size
from ._search.progress import ConsoleProgress
from ._search.stopping import INTERRUPTED, TIME_LIMIT, brake_on_ctrl_c
from ._terms.scaling import Scaling
from ._utils.arrays import BoolArray, FloatArray, IntArray
from ._utils.compat import Interval, RealNotInt, StrOptions, check_feature_names
from ._utils.manifest import fingerprint, manifest_of
from ._utils.score_parameter import ScoreParameter
from ._utils.seeds import seeds_of_searches
from ._utils.threads import thread_count
from ._utils.validation import check_table, unchanged_on_error
from ._version import __version__
from .bases import auto_mixes, resolve
from .blocks import Parts, is_dask, most_in_hand, read_blocks, rows_in_hand
from .blocks.filter import independence_test_of_blocks
from .blocks.predicting import accuracy_of
from .blocks.reading import fetch_all, look
from .export.onnx import converts
from .restrictions import Restrictions, barred_features, named_features

COMPARING = 0.4  # of a time limit; the rest is for the searches with the basis that was chosen
FEW_OBSERVATIONS = 20  # below, the t-test hardly lets a term pass

# the paper names no ridge; without one, separable classes (Iris, Wine) have no fit and the test drops good terms
PAPER: dict[str, Any] = {
    "basis": "polynomial",
    "score": "accuracy",
    "unseen": "zero",
    "significance": 0.01,
    "ridge": 0.1,
    "combine": "best",
    "initial_rip": "uniform",
}


@converts
class RFSCClassifier(FormulaPredictions, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse classifier found by a randomised search (RFSC, arXiv 1607.08400): one short formula per output.

    Populations of model structures are drawn, each is fitted by logistic regression, insignificant terms are pruned
    by a t-test, and the inclusion probability of every term moves up or down by how much better the models that hold
    it do. The paper's terms are polynomials; by default the data choose between these and other families.

    Parameters
    ----------
    degree : int, default=2
        Largest degree of a polynomial term.
    basis : str, object or list, default="auto"
        What terms are made of. "auto" chooses between polynomials, centred products, hinges and straight lines with
        radial functions by cross-validation inside the training rows, which takes about twice as long as one of them,
        longer on long tables. "polynomial" (the paper), "centred", "hinge", "radial", "fourier", "sigmoid", "step", a
        family with settings from `rfsc.bases`, a fitted transformer, or a list of these, which then compete in one
        search.
    restrictions : Restrictions or None, default=None
        Terms that every model holds, that none may hold, that come only together, and whether products need their
        parents. None leaves the search free.
    n_models : int, default=100
        Models drawn in each iteration.
    max_iter : int, default=300
        Largest number of iterations of one search.
    n_restarts : int, default=10
        Searches from independent seeds.
    score : str, default="loo_log_loss"
        What the search maximises on the training rows: "accuracy" (the paper), "balanced_accuracy", "kappa",
        "log_loss", or the approximate leave-one-out scores "loo_accuracy" and "loo_log_loss".
    significance : float, default=0.05
        Level of the t-test. A term stays when abs(t) > t.ppf(1 - significance), a two-sided p-value below twice the
        level.
    initial_rip : {"auto", "uniform", "screened"}, default="auto"
        Inclusion probabilities with which a search begins. "uniform": the same for all terms, as in the paper.
        "screened": a score test of every term against the class gives those that stand out a higher one. "auto"
        screens where there are more than 2,000 terms, which random draws cannot explore, or more than 5,000
        observations, which tell well what matters, as far as testing is affordable.
    rescreen_every : int or None, default=None
        After so many iterations, and before it ends, a search tests all terms again, against what its best model leaves
        unexplained, and brings in those that stand out. Each time costs as much as the screening.
    unseen : {"keep", "zero"}, default="keep"
        What happens to the inclusion probability of a term that no model of an iteration drew: it stays, or it falls
        as in the paper's relatives.
    ridge : float, default=1.0
        Penalty of the fits, as a multiple of the variance of each term; keeps separable classes finite.
    filter_significance : float or None, default=None
        Level of a distance-correlation test of each feature against each output; features that do not pass are left
        out. None keeps all.
    max_terms : int, default=60
        Largest model that is drawn.
    max_samples : int, float or None, default=None
        For long tables: rows (float: share of the rows) that the models of an iteration are fitted and scored on, drawn
        anew for each iteration with every class in its share, at least 20 rows of each. Which of the leading models a
        search returns is decided on all rows, and its coefficients come from all rows. None, or as many as there are,
        uses all rows throughout.
    tol : float, default=2e-3
        A search has converged when no inclusion probability moves by more.
    combine : {"pool", "best", "average"}, default="pool"
        How the restarts become one model. "pool": their terms together, reduced one by one to the model with the best
        left-out log-loss among those of at most 15 terms; with several outputs at most 20 terms in all, but at least 5
        each. "best": the restart with the best score; every term passes the t-test. "average": the mean of several
        models, one formula with more terms, usually the most accurate: with basis="auto" the pooled models of the
        mixes, each with the share that predicts left-out rows best; otherwise the models of the restarts.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    engine : {"auto", "numba", "numpy", "torch", "cupy", "dask"}, default="auto"
        Where the models are fitted; all engines give the same answer. "auto" takes "torch" for long tables where it is
        installed and has a CUDA device, else "numba"; for dask arrays and data frames of more than 100,000 rows it
        takes "dask", which leaves the rows in blocks, on the workers of a cluster where there is one. "cupy" needs a
        CUDA device, "torch" takes the CPU without one.
    precision : {"float64", "float32"}, default="float64"
        Precision in which "torch" and "cupy" take the first Newton steps; the last steps, and all that is tested and
        scored, are in double precision. "numba" and "numpy" know double precision only; where "auto" takes one of
        them, this has no effect.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the search.
    callbacks : object, list of objects or None, default=None
        Observers: functions of an `IterationRecord`, or objects with a method `on_iteration`. An observer may return
        "stop_search" or "stop_all". They are not shown the searches by which "auto" compares bases. `Checkpoint(path)`
        keeps the fit in a file, from which it goes on; `StopAfter(seconds)` ends it in time.
    verbose : int, default=0
        1 shows a progress bar on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    models_ : list of SparseModel
        One for two classes (f > 0 speaks for the second), else one per class.
    n_terms_ : ndarray of shape (n_outputs,)
        Number of candidate terms.
    searches_ : list of list of SearchResult
        Per output and restart: every iteration and how the search ended.
    support_ : ndarray of shape (n_features_in_,), dtype=bool
        Features that some model uses.
    initial_rip_ : list of str
        Per output how its searches began: "uniform", "screened", or "partly screened" where only part of the terms
        could be tested in reasonable time.
    basis_ : tuple of Basis
        Families of terms that were searched.
    basis_losses_ : dict of str to float
        With basis="auto" the left-out log-loss of every mix of families that was compared; empty where nothing was:
        too few rows of a class, or restrictions that name terms of a single mix.
    basis_shares_ : dict of str to float
        With basis="auto" the mix that was chosen, with share 1; with combine="average" too, the share of every mix in
        the answer. Else empty.
    engine_ : str
        The engine that fitted the models on all rows.
    constant_features_ : ndarray of int
        Features that do not vary over the training rows; they were left out.
    n_iter_ : ndarray of shape (n_outputs,)
        Most iterations that a restart took.
    stop_reason_ : {"finished", "time_limit", "interrupted", "observer"}
        Whether the fit ran to its end, or why not: `StopAfter`, Ctrl-C, or another callback. Then this is the best
        model so far.
    manifest_ : dict
        What the fit was made with and made of: versions, engine, seed, a fingerprint of the data without values, why
        the searches ended, timings. It is saved with the model.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had string column names.

    See Also
    --------
    RFSCSelector : The chosen features or terms, as a transformer.
    DistanceCorrelationFilter : The filter alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = RFSCClassifier(basis="polynomial", n_restarts=2, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "degree": [Interval(Integral, 1, 5, closed="both")],
        "basis": "no_validation",
        "restrictions": [Restrictions, None],
        "n_models": [Interval(Integral, 2, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
        "score": [StrOptions(Criterion.names())],
        "significance": [Interval(Real, 0, 1, closed="neither")],
        "initial_rip": [StrOptions({"auto", "uniform", "screened"})],
        "rescreen_every": [Interval(Integral, 1, None, closed="left"), None],
        "unseen": [StrOptions({"keep", "zero"})],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "filter_significance": [Interval(Real, 0, 1, closed="neither"), None],
        "max_terms": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="right"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "combine": [StrOptions({"pool", "best", "average"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "engine": [StrOptions(set(ENGINES))],
        "precision": [StrOptions(set(PRECISIONS))],
        "n_jobs": [Interval(Integral, None, -1, closed="right"), Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state", np.random.Generator],
        "callbacks": "no_validation",
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        degree: int = 2,
        *,
        basis: Any = "auto",
        restrictions: Restrictions | None = None,
        n_models: int = 100,
        max_iter: int = 300,
        n_restarts: int = 10,
        score: str = "loo_log_loss",
        significance: float = 0.05,
        initial_rip: str = "auto",
        rescreen_every: int | None = None,
        unseen: str = "keep",
        ridge: float = 1.0,
        filter_significance: float | None = None,
        max_terms: int = 60,
        max_samples: float | None = None,
        tol: float = 2e-3,
        combine: str = "pool",
        class_weight: Any = None,
        engine: str = "auto",
        precision: str = "float64",
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
    ) -> None:
        self.degree = degree
        self.basis = basis
        self.restrictions = restrictions
        self.n_models = n_models
        self.max_iter = max_iter
        self.n_restarts = n_restarts
        self.score = score
        self.significance = significance
        self.initial_rip = initial_rip
        self.rescreen_every = rescreen_every
        self.unseen = unseen
        self.ridge = ridge
        self.filter_significance = filter_significance
        self.max_terms = max_terms
        self.max_samples = max_samples
        self.tol = tol
        self.combine = combine
        self.class_weight = class_weight
        self.engine = engine
        self.precision = precision
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    # the parameter `score` and the method `score(X, y)` share their name
    score = ScoreParameter(accuracy_of)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator.

        Parameters
        ----------
        deep : bool, default=True
            Has no effect; there are no nested estimators.

        Returns
        -------
        dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep)
        params["score"] = vars(self)["score"]
        return params

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """The settings of the paper: polynomials, training accuracy, unseen terms fall, level 0.01, little ridge.

        Parameters
        ----------
        **overrides : object
            Parameters to set otherwise.

        Returns
        -------
        RFSCClassifier
            Not fitted.
        """
        return cls(**(PAPER | overrides))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search for the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numeric features, no missing values. A dask array or data frame stays where it is.
        y : array-like of shape (n_samples,)
            Class labels; of dask in partitions like those of X, or in memory.
        sample_weight : array-like of shape (n_samples,), default=None
            Observations that each row stands for: weight 2 is the same as the row twice, 0 as the row left out.

        Returns
        -------
        RFSCClassifier
            Itself.
        """
        self._validate_params()
        began = time.time()
        with (
            unchanged_on_error(self),
            brake_on_ctrl_c(began + self._seconds) as brake,
            closing(self._read(X, y, sample_weight)) as rows,
        ):
            self.engine_ = choose_engine(self.engine, rows.n_rows, self.precision) if rows.blocks is None else "dask"
            self._open_checkpoint()
            tests = self._filter(rows)
            fits = self._fit_outputs(rows, tests, brake)
            self._publish(rows, fits, tests)
            self.stop_reason_ = self._stop_reason(brake)
            self.manifest_ = self._manifest(y, time.time() - began)
        self._warn_unless_settled()
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """The rows, or where they are to be left."""
        in_blocks = self.engine == "dask" or is_dask(X)
        return (self._read_blocks if in_blocks else self._read_rows)(X, y, sample_weight)

    def _read_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Validate the input, drop rows of weight zero, encode the classes and scale the features."""
        X, y = check_table(self, X, y, reset=True, min_samples=2)
        weight = row_weights(sample_weight, self.class_weight, X, y)
        used = weight > 0
        if not used.all():  # the table may be long: no copy without need
            X, y, weight = X[used], y[used], weight[used]
        targets = encode(y)
        names = self._feature_names() if hasattr(self, "feature_names_in_") else None
        self._fingerprint = fingerprint(X, targets.classes, targets.code, weight, names)
        scaling = Scaling.from_rows(X)
        return Rows(targets, scaling, scaling.table(X), weight)

    def _read_blocks(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Look at all rows where they are, take some in hand, and leave the others in blocks."""
        if self.engine not in ("auto", "dask") or self.precision != "float64":
            msg = (
                "a dask table needs engine='auto' or engine='dask', and precision='float64', got "
                f"engine={self.engine!r} and precision={self.precision!r}. Other engines hold all rows in memory: pass "
                "X.compute() to them."
            )
            raise ValueError(msg)
        parts, n_threads = Parts.of(X, y, sample_weight), thread_count(self.n_jobs)
        check_feature_names(self, parts.head, reset=True)
        self.n_features_in_ = parts.head.shape[1]
        names = self._feature_names() if hasattr(self, "feature_names_in_") else None
        reading = look(parts, self.class_weight, names, n_threads)
        most = most_in_hand(self.n_features_in_)
        if reading.n_rows > most:
            self._fingerprint = reading.fingerprint
            blocks = read_blocks(reading, n_threads)
            targets, table, weight = rows_in_hand(blocks, most, reading.classes)
            return Rows(targets, reading.scaling, table, weight, blocks)
        rows = self._read_rows(*fetch_all(reading))
        return rows if self.engine == "auto" else replace(rows, blocks=read_blocks(reading, n_threads))

    @property
    def _seconds(self) -> float:
        """How long a fit may take."""
        return min((one.seconds for one in _as_list(self.callbacks) if isinstance(one, StopAfter)), default=np.inf)

    def _fit_outputs(self, rows: Rows, tests: list[FilterEvidence | None], brake: Brake) -> list[list[OutputFit]]:
        """Per output one fit for each mix of families that was chosen; one mix, unless mixes are averaged."""
        n_outputs = len(rows.targets.outputs)
        seeds, layout_seed = seeds_of_searches(self.random_state, n_outputs, self.n_restarts)
        spec, features = self._spec(rows, layout_seed), self._allowed_features(rows, tests)
        bar = ConsoleProgress(n_outputs, self.n_restarts, self.max_iter) if self.verbose else None
        observers = [*_as_list(self.callbacks), *([bar] if bar else [])]
        try:
            specs = self._specs_of_mixes(rows, spec, bar, brake.within(COMPARING))
            # with more time another basis might be chosen, whose searches are others
            checkpoint = self._checkpoint if self._compared_all else None
            fits = fit_outputs(rows, features, specs, seeds, observers, brake, checkpoint)
            if bar:
                bar.finished = True
        finally:
            if bar:
                bar.close()
            if self._checkpoint is not None:
                self._checkpoint.save()
        return fits

    @property
    def _checkpoint(self) -> Checkpoint | None:
        return next((one for one in _as_list(self.callbacks) if isinstance(one, Checkpoint)), None)

    def _open_checkpoint(self) -> None:
        """Take up an interrupted fit, if this one is it."""
        if self._checkpoint is None:
            return
        if sum(isinstance(one, Checkpoint) for one in _as_list(self.callbacks)) > 1:
            msg = "callbacks holds several checkpoints; pass one, for a fit is kept in one file."
            raise ValueError(msg)
        if not isinstance(self.random_state, Integral):
            msg = (
                "a checkpoint needs a random_state that is a whole number, for only then is the fit that goes on the "
                f"same; got {type(self.random_state).__name__}."
            )
            raise ValueError(msg)
        # what cannot change the answer may change between two runs
        free = {"callbacks", "verbose", "n_jobs"}
        settings = {name: repr(value) for name, value in self.get_params().items() if name not in free}
        self._checkpoint.open({"data": self._fingerprint, "rfsc": __version__, **settings})

    def _spec(self, rows: Rows, layout_seed: int) -> OutputSpec:
        """How every output is fitted."""
        n_rows = rows.n_rows
        max_samples = sample_size(self.max_samples, n_rows, rows.targets.classes.size)
        observations = rows.n_observations * min(1.0, (max_samples or n_rows) / n_rows)
        search = SearchSpec(
            n_models=self.n_models,
            max_iter=self.max_iter,
            tol=self.tol,
            unseen=self.unseen,
            # fewer terms than observations: the t-test needs degrees of freedom
            max_terms=min(self.max_terms, max(int(observations) - 1, 1)),
            rescreen_every=self.rescreen_every,
        )
        return OutputSpec(
            bases=() if self._chooses_basis else resolve(self.basis, self.degree),
            restrictions=self.restrictions,
            feature_names=self._feature_names(),
            layout_seed=layout_seed,
            options=FitOptions(Criterion[vars(self)["score"].upper()], self.ridge, self.significance),
            search=search,
            max_samples=max_samples,
            combine=self.combine,
            engine=self.engine,
            precision=self.precision,
            n_threads=thread_count(self.n_jobs),
            n_jobs=self.n_jobs,
            initial_rip=start_by_size(rows.n_observations) if self.initial_rip == "auto" else self.initial_rip,
            pool_terms=pool_terms(len(rows.targets.outputs)),
        )

    @property
    def _chooses_basis(self) -> bool:
        return isinstance(self.basis, str) and self.basis == "auto"

    def _specs_of_mixes(
        self, rows: Rows, spec: OutputSpec, bar: ConsoleProgress | None, brake: Brake
    ) -> list[OutputSpec]:
        """The settings for each mix of families: the one that was asked for or chosen, or all that are averaged."""
        self.basis_losses_: dict[str, float] = {}
        self.basis_shares_: dict[str, float] = {}
        self._compared_all = True
        specs = [spec]
        if self._chooses_basis:
            mixes = auto_mixes(self.degree, self.n_features_in_)
            allowed = lambda some: self._allowed_features(some, self._filter(some))  # noqa: E731
            choice = choose_bases(mixes, rows, allowed, spec, bar.on_choice if bar else None, brake, self._checkpoint)
            self.basis_losses_, self.basis_shares_ = choice.losses, choice.shares
            self._compared_all = choice.is_whole
            # the parts of an average of mixes are small models already
            combine = "pool" if self.combine == "average" else self.combine
            specs = [replace(spec, bases=mixes[name], combine=combine) for name in choice.shares]
            if bar:
                bar.say("basis: " + ", ".join(f"{name} {share:.0%}" for name, share in choice.shares.items()))
                bar.n_restarts *= len(specs)
        several = len(specs) > 1
        self.basis_ = tuple({basis: None for one in specs for basis in one.bases}) if several else specs[0].bases
        return specs

    def _filter(self, rows: Rows) -> list[FilterEvidence | None]:
        """Per output what the distance-correlation test says of every feature, where it was asked for."""
        level = self.filter_significance
        if level is None:
            return [None] * len(rows.targets.outputs)
        if rows.blocks is not None and rows.n_rows > rows.weight.size:
            test = independence_test_of_blocks(rows.blocks, rows.table)
        else:
            test = independence_test(rows.table.T, rows.targets.code, rows.weight, one_vs_rest=True)
        spared = tuple(named_features(self.restrictions, self._feature_names()))
        return [FilterEvidence(statistic, threshold(level), float(level), spared) for statistic in test.statistic]

    def _allowed_features(self, rows: Rows, tests: list[FilterEvidence | None]) -> list[IntArray]:
        """Features that each output may use: not constant, not barred and, where asked for, dependent on the output."""
        names = self._feature_names()
        varies = ~rows.scaling.constant
        varies[barred_features(self.restrictions, names)] = False
        return [np.flatnonzero(varies if test is None else varies & test.kept) for test in tests]

    def _publish(self, rows: Rows, fits: list[list[OutputFit]], tests: list[FilterEvidence | None]) -> None:
        """Set the fitted attributes; nothing here can fail half-way."""
        names = self._feature_names()
        classes = rows.targets.classes
        labels = classes[1:] if classes.size == 2 else classes
        self.classes_ = classes
        shares = list(self.basis_shares_.values()) or [1.0]
        self.models_ = []
        for own, label, test in zip(fits, labels, tests, strict=True):
            model = weighted_mean([fit.model(rows, names, label) for fit in own], shares)
            self.models_.append(replace(model, evidence=gather(model, own, vars(self)["score"], test)))
        self.n_terms_ = np.array([sum(fit.space.n_terms for fit in own) for own in fits], dtype=np.int64)
        self.searches_ = [[search for fit in own for search in fit.restarts.searches] for own in fits]
        self._left_out = [[fit.restarts.left_out for fit in own if fit.restarts.left_out] for own in fits]
        began = [{fit.initial_rip for fit in own} for own in fits]
        self.initial_rip_ = [some.pop() if len(some) == 1 else "partly screened" for some in began]
        self.constant_features_ = np.flatnonzero(rows.scaling.constant)
        self.n_iter_ = np.array([max(s.n_iter for s in searches) for searches in self.searches_], dtype=np.int64)
        self.support_: BoolArray = np.zeros(self.n_features_in_, dtype=np.bool_)
        for model in self.models_:
            self.support_[list(model.features)] = True
        self._spaces = [[fit.space for fit in own for _ in fit.restarts.searches] for own in fits]

    def _stop_reason(self, brake: Brake) -> str:
        """Why the fit as a whole ended; a brake that was pulled while models were combined counts too."""
        reasons = {brake.reason, *(reason for own in self._stop_reasons() for reason in own)}
        return next((reason for reason in (INTERRUPTED, TIME_LIMIT, "observer") if reason in reasons), "finished")

    def _stop_reasons(self) -> list[list[str]]:
        """Per output why its searches ended; before them why the comparison of bases did, if before its time.

        After them, why others were not begun.
        """
        hurried = [] if self._compared_all else [TIME_LIMIT]
        return [
            [*hurried, *(search.stop_reason for search in searches), *left_out]
            for searches, left_out in zip(self.searches_, self._left_out, strict=True)
        ]

    def _manifest(self, y: Any, seconds: float) -> dict[str, Any]:
        target = getattr(y, "name", None)
        return manifest_of(self._fingerprint, self.engine_, self.random_state, self._stop_reasons(), seconds, target)

    def _feature_names(self) -> tuple[str, ...]:
        """What the features are called: as the columns of X, else x0, x1, ..."""
        given = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return tuple(str(name) for name in given)

    def _warn_unless_settled(self) -> None:
        """Warn of outputs for which no restart came to a decision, unless the searches were cut short."""
        if self.stop_reason_ == INTERRUPTED:
            warnings.warn("The fit was interrupted; this is the best model so far.", ConvergenceWarning, stacklevel=3)
        if self.stop_reason_ != "finished":
            return
        for output, searches in enumerate(self.searches_):
            if all(search.limit is None for search in searches):
                msg = (
                    f"No term of output {output} reached an inclusion probability of {SearchSpec().cutoff} within "
                    f"max_iter={self.max_iter} iterations; the best model visited is returned. {self._advice(output)}"
                )
                warnings.warn(msg, ConvergenceWarning, stacklevel=3)

    def _advice(self, output: int) -> str:
        """What a user can do about a search that came to no decision."""
        n = self.models_[output].n_observations
        if self.n_terms_[output] == 1:
            if self.filter_significance is None and self.constant_features_.size < self.n_features_in_:
                return "The basis offers no term but the constant for these rows: add rows, or 'polynomial' to basis."
            return "No feature varies and passes the filter: raise filter_significance or check X."
        if n < FEW_OBSERVATIONS:
            return (
                f"The rows count for only {n:.3g} observations, too few for the t-test: add rows, raise significance "
                "or, where sample_weight was scaled to a small sum, scale it to count observations."
            )
        more = "max_samples, max_iter" if self.max_samples is not None else "max_iter"
        return f"Raise {more} or n_models, or check that the features carry information about y."

    def term_names(self, ids: Any, output: int = 0, restart: int = 0) -> list[str]:
        """Names of candidate terms, for the ids that `searches_` records.

        Parameters
        ----------
        ids : array-like of int
            Term ids.
        output : int, default=0
            Which output's search they come from.
        restart : int, default=0
            Which restart they come from; restarts differ only where several bases were averaged.

        Returns
        -------
        list of str
            Their names.
        """
        check_is_fitted(self)
        terms = self._spaces[output][restart].terms(np.asarray(ids, dtype=np.int64))
        return [term.name(self.models_[output].feature_names) for term in terms]

    def restart_model(self, restart: int, output: int = 0, *, limit: bool = False) -> SparseModel:
        """The model that one restart found, before the restarts were combined.

        Parameters
        ----------
        restart : int
            Which restart.
        output : int, default=0
            Which output.
        limit : bool, default=False
            The model that the inclusion probabilities settled on, where there is one, even if a better one was visited.

        Returns
        -------
        SparseModel
            Without standard errors.
        """
        check_is_fitted(self)
        search = self.searches_[output][restart]
        found = search.limit if limit and search.limit is not None else search.model
        terms = self._spaces[output][restart].terms(found.ids)
        return replace(
            self.models_[output], terms=terms, coef=found.coef, standard_error=None, score=found.score, evidence=None
        )

    def _table(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return np.asarray(check_table(self, X, reset=False), dtype=np.float64)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "models_")


def _as_list(callbacks: Any) -> list[Any]:
    found = [] if callbacks is None else list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]
    for callback in found:
        if not callable(getattr(callback, "on_iteration", callback)):
            msg = (
                f"callbacks must be functions of a record or objects with a method on_iteration, got a "
                f"{type(callback).__name__}. Pass None, one of these, or a list of them."
            )
            raise TypeError(msg)
    return found
