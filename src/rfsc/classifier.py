"""RFSCClassifier: read `fit` first; it is a table of contents."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import replace
from itertools import chain
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ._engines import ENGINES, Criterion, choose_engine
from ._fit.encoding import columns_of, feature_names
from ._fit.fitting import FitResult, fit_rows, gather, open_checkpoint, settings_of, warn_unless_settled
from ._fit.rows import Rows, read_rows
from ._model.predictor import FormulaPredictions, Predictor
from ._model.sparse_model import SparseModel
from ._search.context import fit_context, strongest_reason
from ._search.loop import SearchSettings
from ._utils.arrays import BoolArray, FloatArray
from ._utils.compat import Interval, RealNotInt, StrOptions
from ._utils.manifest import manifest_of
from ._utils.validation import check_columns, check_table, unchanged_on_error
from .restrictions import Restrictions

# the paper names no ridge; without one, separable classes (Iris, Wine) have no fit and the test drops good terms
PAPER: dict[str, Any] = {
    "basis": "polynomial",
    "criterion": "accuracy",
    "significance": 0.01,
    "size": None,
    "n_restarts": 10,
    "search": SearchSettings(
        n_models=100,
        max_drawn=60,
        unseen="zero",
        least_rip=0.0,
        patience=None,
        intercept=False,
        ridge=0.1,
        initial_rip="uniform",
    ),
}


class RFSCClassifier(FormulaPredictions, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse classifier found by a randomised search (RFSC, arXiv 1607.08400): one short formula per output.

    Populations of models are drawn and fitted by logistic regression, insignificant terms are pruned by a t-test, and
    terms whose models do better are drawn more often. By default the data choose between polynomials, as in the paper,
    and other terms. `criterion`, `significance`, `n_restarts`, `max_samples`, `search` and `engine` are for experts.

    Parameters
    ----------
    basis : str, object or list, default="auto"
        What terms are made of. "auto" chooses between straight lines, polynomials, centred products, rules, hinges, and
        lines with radial functions by cross-validation inside the training rows; a richer family is taken only if it
        is clearly better.
        "polynomial" (the paper; degree 2), "centred", "rule", "hinge", "radial", "fourier", "sigmoid", "step", a
        family with settings from `rfsc.bases` such as ``Polynomial(degree=3)``, or a list of these, which then compete
        in one search.
    size : {"best", "1se"}, int or None, default="best"
        Number of terms of the answer, the intercept not counted; with several classes of each output. Both rules
        compare the log-loss of left-out rows. "best" takes six terms, unless another size is better by a paired
        standard error, and fewer if they surely keep 98 % of the gain over the constant. "1se" takes the smallest size
        within one paired standard error of the one with the lowest loss. Both may give 0, the constant. `front_` shows
        all sizes, `at_size` gives the model of any. A number is the size itself; a smaller answer comes with a warning.
        None takes the model of the best restart, as in the paper.
    max_terms : int, default=8
        Largest size that "best" and "1se" may choose. Fewer than three rows of the smaller class per term are a limit
        too.
    restrictions : Restrictions or None, default=None
        Terms that every model holds, that none may hold, that come only together, products that need their parents,
        and features with which the odds never fall or never rise. None leaves the search free.
    criterion : str, default="loo_log_loss"
        What the search maximises on the training rows: "accuracy" (the paper), "balanced_accuracy", "kappa",
        "log_loss", or the approximate leave-one-out scores "loo_accuracy" and "loo_log_loss".
    significance : float, default=0.05
        Significance level of the t-test. A term is kept if abs(t) > t.ppf(1 - significance), a two-sided p-value below
        twice the level.
    n_restarts : int, default=3
        Number of searches on all rows, from independent seeds. They show how much of a selection is chance
        (`rfsc.explain.stability`); with `size=None`, above 30,000 or below 50 distinct rows, the answer is theirs.
    max_samples : "auto", int, float or None, default="auto"
        Rows (float: share of the rows) that the models of an iteration are fitted and scored on, drawn again for each
        iteration with every class in its share, at least 20 rows of each. The answer is decided on and fitted to all
        rows. "auto" takes all rows up to 10,000, else 5,000 at a time; None always takes all.
    search : SearchSettings or None, default=None
        Settings of the search for experts, such as the size of the population, the ridge, how the search begins, and a
        filter of the features. None means ``SearchSettings()``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    engine : {"auto", "numba", "numpy", "torch"}, default="auto"
        Where models are fitted; all give the same answer. "auto" takes "torch" for fits to 50,000 rows or more, if it
        is installed and finds a CUDA device, else "numba", or without it "numpy". "torch" without one uses the CPU.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it. None takes one for each core, or a single one inside a
        parallel loop of joblib.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the restarts. Folds and their searches have fixed seeds, so other answers do not depend on it.
    callbacks : object, list of objects or None, default=None
        Observers: functions of an `IterationRecord`, or objects with a method `on_iteration`. An observer may return
        "stop_search" or "stop_all". They do not see the searches by which basis and size are chosen. `Checkpoint(path)`
        keeps finished searches in a file, from which the fit continues; `StopAfter(seconds)` ends it in time.
    verbose : int or None, default=None
        1 shows a progress bar on stderr, 0 nothing. None shows it if the fit will take longer than ten seconds, but not
        in worker processes and threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    models_ : list of SparseModel
        One for two classes (f > 0 predicts the second), else one per class.
    n_terms_ : ndarray of shape (n_outputs,)
        Number of candidate terms.
    searches_ : list of list of SearchResult
        Per output and restart: every iteration and how the search ended.
    support_ : ndarray of shape (n_features_in_,), dtype=bool
        Columns of X that some model uses.
    recipe_ : Recipe or None
        How the features of the models are made from the columns of X, if some cells are missing or no numbers. None if
        the columns are the features.
    initial_rip_ : list of str
        Per output how its searches began: "uniform", "screened", or "partly screened" if only part of the terms
        could be tested in reasonable time.
    basis_ : tuple of Basis
        Families of terms that were searched.
    basis_losses_ : dict of str to float
        Log-loss of left-out rows of every mix of families that was compared; empty if a class has too few rows.
    engine_ : str
        The engine of fits to all rows; with "auto" and `max_samples`, that of the iterations may be another.
    constant_features_ : ndarray of int
        Columns of X that do not vary over the training rows, or of which no cell is there; they are not used.
    n_iter_ : ndarray of shape (n_outputs,)
        Number of iterations of the longest restart.
    stop_reason_ : {"finished", "time_limit", "interrupted", "observer"}
        Whether the fit ran to its end, or why not: `StopAfter`, Ctrl-C, or another callback. Then this is the best
        model so far.
    manifest_ : dict
        How the fit was made: versions, engine, seed, a fingerprint of the data without values, why the searches
        ended, timings. It is saved with the model.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit. Defined only if X has feature names that are all strings.

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
        "basis": "no_validation",
        "restrictions": [Restrictions, None],
        "criterion": [StrOptions({criterion.name.lower() for criterion in Criterion})],
        "size": [StrOptions({"best", "1se"}), Interval(Integral, 0, None, closed="left"), None],
        "significance": [Interval(Real, 0, 1, closed="neither")],
        "max_terms": [Interval(Integral, 1, None, closed="left")],
        "n_restarts": [Interval(Integral, 1, 10**15, closed="both")],
        "max_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"auto"}),
            None,
        ],
        "search": [SearchSettings, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "engine": [StrOptions(set(ENGINES))],
        "n_jobs": [Interval(Integral, None, -1, closed="right"), Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state", np.random.Generator],
        "callbacks": "no_validation",
        "verbose": ["verbose", None],
    }

    def __init__(
        self,
        basis: Any = "auto",
        *,
        size: int | str | None = "best",
        max_terms: int = 8,
        restrictions: Restrictions | None = None,
        criterion: str = "loo_log_loss",
        significance: float = 0.05,
        n_restarts: int = 3,
        max_samples: float | str | None = "auto",
        search: SearchSettings | None = None,
        class_weight: Any = None,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int | None = None,
    ) -> None:
        self.basis = basis
        self.size = size
        self.max_terms = max_terms
        self.restrictions = restrictions
        self.criterion = criterion
        self.significance = significance
        self.n_restarts = n_restarts
        self.max_samples = max_samples
        self.search = search
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
            Parameters that override the settings of the paper.

        Returns
        -------
        RFSCClassifier
            Not fitted.
        """
        return cls(**(PAPER | overrides))

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Search for the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers, text or categories; cells may be missing (NaN, None). The median takes the place of a missing
            number, and ``age missing``, 0 or 1, is a feature too. A level in at least 5 rows and 1 % of them is a
            feature such as ``sex=male``; all others, new ones too, count as one. A dask array or data frame, or a
            memory-mapped array too large for memory, must hold numbers only; it is searched on a sample.
        y : array-like of shape (n_samples,)
            Class labels; of dask with the same partitions as X, or in memory.
        sample_weight : array-like of shape (n_samples,), default=None
            Observations that each row stands for: weight 2 is the same as the row twice, 0 as the row left out.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as the visits of a patient, are kept together where basis and size are chosen.

        Returns
        -------
        RFSCClassifier
            Fitted estimator.
        """
        self._validate_params()
        began = time.time()
        with unchanged_on_error(self), fit_context(self.callbacks, self.verbose) as context:
            rows, data = read_rows(self, X, y, sample_weight, groups)
            self.engine_ = choose_engine(self.engine, rows.n_rows)
            open_checkpoint(self, data, context)
            found = fit_rows(self, rows, context)
            self._publish(rows, found)
            self.stop_reason_ = strongest_reason([context.stop_reason, *chain(*found.stop_reasons)])
            seconds, target = time.time() - began, getattr(y, "name", None)
            run = self.engine_, self.random_state, found.stop_reasons
            self.manifest_ = manifest_of(data, *run, seconds=seconds, target=target)
            if context.progress:
                context.progress.is_finished = True
        warn_unless_settled(self)
        return self

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``search__ridge`` is the field `ridge` of `search`, also in a grid search."""
        nested = [name for name in params if name.startswith("search__")]
        if nested:
            fields = {name.removeprefix("search__"): params.pop(name) for name in nested}
            params["search"] = replace(params.get("search") or settings_of(self), **fields)
        return super().set_params(**params)  # type: ignore[no-any-return]

    def _publish(self, rows: Rows, found: FitResult) -> None:
        """Set the fitted attributes."""
        fits, choice, self.classes_ = found.outputs, found.choice, rows.targets.classes
        labels = self.classes_[1:] if self.classes_.size == 2 else self.classes_
        self.basis_, self.basis_losses_ = found.bases, dict(choice.losses or {})
        names = feature_names(self)
        self._paths = [fit.sparse_models(rows, names, label) for fit, label in zip(fits, labels, strict=True)]
        if choice.outputs:
            pairs = zip(self._paths, choice.outputs, strict=True)
            self._paths = [[replace(model, sizes=one.curve(path)) for model in path] for path, one in pairs]
        self.models_ = [
            replace(path[fit.chosen], evidence=gather(path[fit.chosen], fit, self.criterion, test))
            for path, fit, test in zip(self._paths, fits, found.tests, strict=True)
        ]
        self.n_terms_ = np.array([fit.space.n_terms for fit in fits], dtype=np.int64)
        self.searches_ = [list(fit.searches) for fit in fits]
        self.initial_rip_ = [fit.initial_rip for fit in fits]
        varying = columns_of(self, np.flatnonzero(~rows.scaling.constant))
        self.constant_features_ = np.setdiff1d(np.arange(self.n_features_in_), varying)
        self.n_iter_ = np.array([max(s.n_iter for s in searches) for searches in self.searches_], dtype=np.int64)
        self._fits = fits

    @property
    def support_(self) -> BoolArray:
        """Columns of X that some model uses."""
        check_is_fitted(self)
        used = columns_of(self, [p for model in self.models_ for p in model.features])
        return np.isin(np.arange(self.n_features_in_), used)

    @property
    def front_(self) -> Any:
        """Accuracy against size: one row for each size, with its left-out log-loss and its equation."""
        check_is_fitted(self)
        from .explain.front import front_of

        return front_of(self._paths, self)

    def at_size(self, size: int) -> Self:
        """The same fit with the model of another size.

        Parameters
        ----------
        size : int
            Number of terms, the intercept not counted, one of those that `front_` lists. With several classes, every
            output gets its largest model of at most this size. It becomes the parameter `size`.

        Returns
        -------
        RFSCClassifier
            Fitted; it predicts, explains and exports like any other.
        """
        check_is_fitted(self)
        least = max(path[0].size for path in self._paths)
        sizes = sorted({model.size for path in self._paths for model in path if model.size >= least})
        if isinstance(size, bool) or not isinstance(size, Integral) or size not in sizes:
            msg = f"size must be one of {', '.join(map(str, sizes))}, the sizes of this fit, got {size!r}."
            raise ValueError(msg)
        other = copy(self)
        other.size = int(size)
        other.models_ = [replace([m for m in path if m.size <= size][-1], evidence=None) for path in self._paths]
        return other

    def term_names(self, ids: Any, output: int = 0) -> list[str]:
        """Names of candidate terms, for the ids that `searches_` records.

        Parameters
        ----------
        ids : array-like of int
            Term ids.
        output : int, default=0
            Which output's search they come from.

        Returns
        -------
        list of str
            Their names.
        """
        check_is_fitted(self)
        terms = self._fits[output].space.terms(np.asarray(ids, dtype=np.int64))
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
            The model that the inclusion probabilities settled on, if there is one, even if a better one was visited.

        Returns
        -------
        SparseModel
            Without standard errors.
        """
        check_is_fitted(self)
        search = self.searches_[output][restart]
        found = search.limit if limit and search.limit is not None else search.model
        terms = self._fits[output].space.terms(found.ids)
        model = replace(self.models_[output], terms=terms, coef=found.coef, score=found.score)
        return replace(model, standard_error=None, evidence=None, worth=None)

    def _detached(self) -> Predictor:
        check_is_fitted(self)
        return Predictor(self.models_, self.classes_, self.recipe_, named=hasattr(self, "feature_names_in_"))

    def _table(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if self.recipe_ is None:
            return np.asarray(check_table(self, X, reset=False), dtype=np.float64)
        check_columns(self, X, reset=False)
        return self._detached().features(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "models_")

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._formulas_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What notebooks show: scikit-learn's diagram, and the formulas below it."""
        output: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in output:
            output["text/html"] += self._formulas_html()
        return output

    def _formulas_html(self) -> str:
        from .explain.equation import formulas_html  # not at import

        return formulas_html(self.models_) if hasattr(self, "models_") else ""
