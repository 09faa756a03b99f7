"""Report: everything about a model on one page."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.special import expit

from .._model import SparseModel
from .._model.fallback import Fallback
from .._utils.files import whole_file
from .._utils.optional import require
from .._utils.words import fixed, minus_sign, plural
from ..atlas import Atlas
from ..certify import Certificate
from ..explain import definitions, equation
from ..explain.equation import original_equation
from .content import PageWords, collect
from .figures import MAX_OUTPUTS, Figure, draw_figures
from .honest_score import HonestScore, cross_validated, default_baselines, on_given_rows
from .page_tables import make_tables
from .subject import Subject

FRAME_STYLE = "width: 100%; height: 700px; border: 1px solid #ccc; border-radius: 6px"
# tags and separators of an equation; a name is one piece, whatever signs it holds
EQUATION_PIECES = re.compile(r"<var>.*?</var>|<[^>]*>| [+−] |.", re.DOTALL)
BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|points)|(?<=±) ")


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A model, how well it predicts, and what to know before trusting it; made by `Report.from_estimator`.

    Parameters
    ----------
    content : dict
        All that the report says, as plain numbers, texts and lists, without any row of the table.
    models : tuple of SparseModel
        The models.
    figures : tuple of Figure
        The figures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> from rfsc.report import Report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = RFSCClassifier(basis="polynomial", n_restarts=2, random_state=0).fit(X, y)
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
        sample_weight: Any = None,
        groups: Any = None,
        label: object = None,
        target: str | None = None,
        title: str | None = None,
        source: str | None = None,
        warnings: Sequence[str] = (),
        notes: Sequence[str] = (),
        fallbacks: Sequence[Fallback] | None = None,
        certificate: Certificate | None = None,
        atlas: Atlas | None = None,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> Self:
        """Report on a model and the rows of a table.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        X : data frame or array-like of shape (n_samples, n_columns)
            The table: for an estimator the rows of its fit, for a model from a file any rows.
        y : array-like of shape (n_samples,)
            Labels.
        cv : "auto", int, splitter, iterable, HonestScore or None, default="auto"
            Folds on which clones of an estimator are scored, or a result of `cross_validated`. "auto" takes 5
            stratified folds, repeated three times below 200 rows. With None, and for a model from a file, which cannot
            be fitted again, the rows given are scored, and the page says so.
        baselines : mapping of str to estimator or None, default=None
            Methods to compare with, after the same preprocessing. None takes `default_baselines`, {} none.
        sample_weight, groups : array-like of shape (n_samples,), default=None
            Those of the fit, for the fits and scores of `cv`; intervals resample whole groups.
        label : object, default=None
            Which of two classes the report is about, by default the second.
        target, title : str or None, default=None
            Name of what is predicted, None takes that of y if it has one; and title of the page.
        source : str or None, default=None
            Where the rows come from, such as the name of a file, for the methods.
        warnings, notes : sequence of str, default=()
            Warnings of the fit, and notes on how the table was read, to repeat.
        fallbacks : sequence of Fallback or None, default=None
            Models for rows in which a measurement is missing; None takes those of a model from a file.
        certificate, atlas : Certificate or None, Atlas or None, default=None
            What to believe, in place of naive intervals; and other good models.
        random_state, verbose : int or None, int, default=0
            Seed of the folds and baselines; 1 reports progress on stderr.

        Returns
        -------
        Report
            The report.
        """
        require("A report", ["jinja2", "matplotlib"], "report")  # now, not after minutes of cross-validation
        subject = Subject.read(estimator, X, y, sample_weight, label)
        baselines = default_baselines(random_state) if baselines is None else baselines
        options = {"baselines": baselines, "cv": cv, "groups": groups, "random_state": random_state}
        score = _score(subject, X, progress=partial(print, file=sys.stderr) if verbose else None, **options)
        if subject.is_turned and score.is_honest:
            score = score.turned()
        target = target or str(getattr(y, "name", None) or "the target")
        title = title or f"Model report: {target}"
        fallbacks = subject.predictor.fallbacks_ if fallbacks is None else fallbacks
        n_groups = None if groups is None else len(set(np.asarray(groups).tolist()))
        words = PageWords(target, title, source, warnings, notes, n_groups, fallbacks)
        content = collect(subject, X, score, words, certificate=certificate, atlas=atlas)
        figures = draw_figures(subject, X, score, certificate=certificate, atlas=atlas)
        return cls(content, tuple(subject.models), tuple(figures))

    def html(self) -> str:
        """One page that needs no network, no script and no other file."""
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup

        # only what rfsc itself has escaped is marked as safe: formulas, and figures by matplotlib
        formulas = []
        for model in self.models:
            original, scaled = original_equation(model, "html"), equation(model, units="scaled", form="html")
            formulas.append(
                {
                    "original": original and Markup(unbroken(original)),
                    "scaled": Markup(unbroken(scaled)),
                    "definitions": {Markup(k): Markup(v) for k, v in definitions(model, form="html").items()},
                }
            )
        environment = Environment(
            loader=PackageLoader("rfsc.report", "."),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters["minus"] = minus_sign
        for function in (fixed, plural, no_break):
            environment.filters[function.__name__] = function
        return environment.get_template("report.html.jinja").render(
            **self.content,
            tables=make_tables(self.content),
            formulas=formulas,
            drawings=[(figure, Markup(figure.svg)) for figure in self.figures],
            max_outputs=MAX_OUTPUTS,
            example_probability=float(expit(self.content["models"][0]["example"]["f"])),
        )

    def write_html(self, path: str | Path) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or Path
            Where to write; an existing file is replaced as a whole or not at all.

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
        """The content as strict JSON, with the version of its format."""
        return json.dumps(self.content, ensure_ascii=False, allow_nan=False, indent=1)

    def _repr_html_(self) -> str:
        # in a frame of its own, so that the styles of the notebook and of the page do not mix
        return f'<iframe title="rfsc report" sandbox srcdoc="{escape(self.html())}" style="{FRAME_STYLE}"></iframe>'


def _score(subject: Subject, X: Any, *, cv: Any, groups: Any, random_state: int | None, **options: Any) -> HonestScore:
    if isinstance(cv, HonestScore):
        return cv
    groups = None if groups is None else np.asarray(groups)
    options |= {"groups": groups}
    if cv is None or subject.estimator is None:
        more: dict[str, Any] = {"weight": subject.weight, "groups": groups, "random_state": random_state}
        return on_given_rows(subject.proba, subject.code, **more)
    options |= {"cv": cv, "sample_weight": subject.weight, "random_state": random_state}
    return cross_validated(subject.estimator, X, subject.labels, subject.estimator.classes_, **options)


def no_break(sentence: str) -> str:
    """A sentence whose lines do not break between a number and its unit."""
    return BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", sentence)


def unbroken(formula: str) -> str:
    """A formula whose lines break between its summands, never inside one."""
    start, _, rest = formula.partition(" = ")
    summands, depth = [""], 0
    for piece in EQUATION_PIECES.findall(rest):
        depth += (piece in "([") - (piece in ")]")
        if piece in (" + ", " − ") and depth == 0 and summands[-1]:
            summands.append("")
        summands[-1] += piece
    spans = "".join(f'<span class="summand">{summand}</span>' for summand in summands)
    return f"{start} = {spans}"
