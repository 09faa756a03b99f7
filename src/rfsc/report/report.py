"""Report: everything about a model on one page that can be shown to a colleague."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from .._model import SparseModel
from .._utils.files import whole_file
from .._utils.optional import require
from .content import collect
from .figures import Figure, draw_figures
from .honest_score import HonestScore, Progress, cross_validated, default_baselines, on_given_rows
from .markdown import to_markdown
from .page import in_a_frame, render
from .subject import Subject


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A model, how good it is, and what to know before trusting it; make one by `Report.from_estimator`.

    Parameters
    ----------
    content : dict
        All that it says, as plain numbers, texts and lists; no row of the table is in it.
    models : tuple of SparseModel
        The models.
    figures : tuple of Figure
        The pictures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> from rfsc.report import Report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = RFSCClassifier(basis="polynomial", n_restarts=2, max_iter=30, random_state=0).fit(X, y)
    >>> report = Report.from_estimator(clf, X, y, cv=2, baselines={}, title="Iris")
    >>> report.html().startswith("<!doctype html>")
    True
    """

    content: dict[str, Any]
    models: tuple[SparseModel, ...]
    figures: tuple[Figure, ...]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        cv: Any = "auto",
        baselines: Mapping[str, Any] | None = None,
        target: str | None = None,
        title: str | None = None,
        show_rows: bool = False,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> Self:
        """Look at a model through the rows of a table.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        X : data frame or array-like of shape (n_samples, n_columns)
            The table: for an estimator the rows of its fit, for a model from a file any rows.
        y : array-like of shape (n_samples,)
            Labels.
        cv : "auto", int, splitter, iterable, HonestScore or None, default="auto"
            How to score an estimator: clones are fitted again without the rows that they are scored on. "auto" takes
            5 folds that keep the shares of the classes, three times over below 200 rows. None, and a model from a file,
            which cannot be fitted again, are scored on the rows given, and the page says so. What `cross_validated` has
            returned is taken as it is.
        baselines : mapping of str to estimator or None, default=None
            Methods to show beside the model, on the same folds and behind the same preprocessing. None takes the
            majority class, logistic regression, random forest and gradient boosting; an empty mapping none.
        target : str or None, default=None
            What is predicted; None takes the name of y, where it has one.
        title : str or None, default=None
            Headline of the page.
        show_rows : bool, default=False
            Whether to add pictures that show single rows. Without, the page holds aggregates only.
        random_state : int or None, default=0
            Seed of the folds and baselines.
        verbose : int, default=0
            1 says on stderr what is being fitted.

        Returns
        -------
        Report
            Ready to be written.
        """
        require("A report", ["jinja2", "matplotlib"], "report")  # now, not after minutes of cross-validation
        subject = Subject.read(estimator, X, y)
        score = _score(subject, X, cv, baselines, random_state, _say if verbose else None)
        target = target or str(getattr(y, "name", None) or "the target")
        content = collect(subject, X, score, target=target, title=title or f"A readable model of {target}")
        figures = draw_figures(subject, X, score, show_rows=show_rows)
        return cls(content, tuple(subject.models), tuple(figures))

    def html(self) -> str:
        """One page that needs no network, no script and no other file."""
        return render(self.content, self.models, self.figures)

    def write_html(self, path: str | Path) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or Path
            Where to; an existing file is replaced as a whole or not at all.

        Returns
        -------
        Path
            The file.
        """
        path = Path(path)
        page = self.html()
        with whole_file(path) as part:
            part.write_text(page, encoding="utf-8")
        return path

    def json(self) -> str:
        """The content as strict JSON, with the version of its form."""
        return json.dumps(self.content, ensure_ascii=False, allow_nan=False, indent=1)

    def markdown(self) -> str:
        """The content as Markdown that also reads well as plain text; without the pictures."""
        return to_markdown(self.content)

    def _repr_html_(self) -> str:
        return in_a_frame(self.html())


def _score(
    subject: Subject, X: Any, cv: Any, baselines: Any, random_state: int | None, progress: Progress | None
) -> HonestScore:
    if isinstance(cv, HonestScore):
        return cv
    if cv is None or subject.estimator is None:
        return on_given_rows(subject.proba, subject.code, random_state=random_state)
    return cross_validated(
        subject.estimator,
        X,
        subject.labels,
        subject.predictor.classes_,
        cv=cv,
        baselines=default_baselines(random_state) if baselines is None else baselines,
        random_state=random_state,
        progress=progress,
    )


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
