"""Which features the distance-correlation filter dropped, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.arrays import BoolArray, FloatArray
from .._utils.optional import require
from .checks import one_model
from .tables import cells, html_table, markdown_table, text_table

FORMATS = {"feature": "", "statistic": ".3g", "margin": "+.3g", "kept": ""}
HEADS = ["feature", "statistic", "above threshold by", "kept"]


@dataclass(frozen=True, slots=True, eq=False)
class FilterTable:
    """The filter's verdict on every feature, the strongest first.

    Parameters
    ----------
    feature : tuple of str
        Names.
    statistic : ndarray of shape (n_features,)
        The test's statistic: the larger, the more the feature depends on the class.
    kept : ndarray of shape (n_features,), dtype=bool
        Whether it exceeds the threshold, or is kept all the same because restrictions name it.
    threshold : float
        What a feature must exceed.
    significance : float
        The level of the test.
    """

    feature: tuple[str, ...]
    statistic: FloatArray
    kept: BoolArray
    threshold: float
    significance: float

    @property
    def margin(self) -> FloatArray:
        """Statistic less the threshold; negative where a feature was dropped."""
        return np.asarray(self.statistic - self.threshold)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Names of the features that did not pass, the nearest to the threshold first."""
        return tuple(name for name, kept in zip(self.feature, self.kept, strict=True) if not kept)

    @property
    def note(self) -> str:
        """What was tested."""
        return (
            f"{len(self.dropped)} of {len(self.feature)} features dropped: in the distance-correlation test their "
            f"statistic is not above the threshold of {self.threshold:.3g} (level {self.significance:g})."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One dict of plain values for each feature."""
        columns = zip(self.feature, self.statistic.tolist(), self.margin.tolist(), self.kept.tolist(), strict=True)
        return [dict(zip(FORMATS, values, strict=True)) for values in columns]

    def text(self) -> str:
        """The table as plain text."""
        return f"{text_table(HEADS, cells(self.rows(), FORMATS))}\n({self.note})"

    def markdown(self) -> str:
        """The table as Markdown."""
        return f"{markdown_table(HEADS, cells(self.rows(), FORMATS))}\n\n{self.note}"

    def html(self) -> str:
        """The table as an HTML element without style."""
        return html_table(HEADS, cells(self.rows(), FORMATS), caption=self.note)

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row for each feature."""
        require("a table as a DataFrame", ["pandas"], "demo")
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(FORMATS)).set_index("feature")


def filter_table(source: Any, *, label: object = None) -> FilterTable | None:
    """What the filter said of every feature.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    label : object, optional
        Which class, where the source has an output for each of several: every output has its own test.

    Returns
    -------
    FilterTable or None
        None where no filter was asked for (``filter_significance=None``), or the model carries no record of it.
    """
    model = one_model(source, label)
    test = None if model.evidence is None else model.evidence.filter
    if test is None:
        return None
    order = np.argsort(-test.statistic, kind="stable")
    statistic = test.statistic[order]
    names = tuple(model.feature_names[p] for p in order.tolist())
    return FilterTable(names, statistic, test.kept[order], test.threshold, test.significance)
