"""The tables of an atlas: its models, their features, what replaces what, and the rows on which they differ."""

from __future__ import annotations

from dataclasses import dataclass, field

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.words import listed, plural
from ..explain.term_table import ReadableTable, per_row

IN_ALL, IN_SOME, IN_NONE = "in all", "in some", "in none"
MOST_UNUSED = 15  # features that a note names


@dataclass(frozen=True, slots=True, eq=False)
class ModelTable(ReadableTable):
    """The models of an atlas, the size of the answer first; of each size the best of each set of features first.

    Parameters
    ----------
    number : ndarray of shape (n_models,)
        What `Atlas.model` takes.
    label : tuple of str or None
        The class whose model this is, in the place of that of the answer; None for two classes.
    n_terms : ndarray of shape (n_models,)
        Number of terms, the intercept not counted.
    log_loss : ndarray of shape (n_models,)
        Mean log-loss of left-out rows (approximate leave-one-out).
    above_best : ndarray of shape (n_models,)
        By how much it is above that of the best model of its size.
    standard_error : ndarray of shape (n_models,)
        Paired standard error of this difference.
    above_answer : ndarray of shape (n_models,)
        By how much the log-loss is above that of the answer.
    is_answer : ndarray of shape (n_models,), dtype=bool
        The model of the classifier itself.
    features : tuple of tuple of str
        Features that each model reads.
    equation : tuple of str
        The model, in the units of the table.
    """

    number: IntArray = field(metadata=per_row("d", "model"))
    label: tuple[str, ...] | None = field(metadata=per_row("", "class"))
    n_terms: IntArray = field(metadata=per_row("d", "terms"))
    log_loss: FloatArray = field(metadata=per_row(".4f", "log-loss"))
    above_best: FloatArray = field(metadata=per_row("+.4f", "above best"))
    standard_error: FloatArray = field(metadata=per_row(".4f", "±"))
    above_answer: FloatArray = field(metadata=per_row("+.4f", "above answer"))
    is_answer: BoolArray = field(metadata=per_row("", "answer"))
    features: tuple[tuple[str, ...], ...] = field(metadata=per_row(text=True))
    equation: tuple[str, ...] = field(metadata=per_row(long=True))

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            "log-loss: mean of left-out rows (approximate leave-one-out). The terms were chosen with these rows, so it "
            "is too low: it compares models, and is no score.",
            "above best ±: difference from the best model of the same size, and its paired standard error.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class FeatureUseTable(ReadableTable):
    """Features that some model of an atlas reads, the most frequent first.

    Parameters
    ----------
    feature : tuple of str
        Names.
    label : tuple of str or None
        The class whose models are meant; None for two classes.
    use : tuple of str
        "in all" or "in some".
    share : ndarray of shape (n_features,)
        Share of the models that read the feature.
    least, greatest : ndarray of shape (n_features,)
        Range over these models of its importance: by how much the left-out log-loss rises without the terms that read
        the feature, in thousandths.
    unused : tuple of str
        Features that no model reads.
    """

    feature: tuple[str, ...] = field(metadata=per_row())
    label: tuple[str, ...] | None = field(metadata=per_row("", "class"))
    use: tuple[str, ...] = field(metadata=per_row(text=True))
    share: FloatArray = field(metadata=per_row(".0%", "models"))
    least: FloatArray = field(metadata=per_row(".1f", "importance from"))
    greatest: FloatArray = field(metadata=per_row(".1f", "to"))
    unused: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        names = f": {listed(self.unused, MOST_UNUSED)}" if self.unused else ""
        unused = f"in none of the models: {plural(len(self.unused), 'feature')}{names}."
        what = ["importance: rise of the left-out log-loss without the terms that read the feature, in thousandths."]
        if any(own == IN_SOME and share == 1.0 for own, share in zip(self.use, self.share, strict=True)):
            what.append(
                "in some, 100%: every model that was kept reads it, but one without it is within the tolerance."
            )
        return (unused, *what) if self.feature else (unused,)

    def named(self, use: str = IN_ALL) -> tuple[str, ...]:
        """The features with this use: "in all", "in some" or "in none" of the models."""
        if use == IN_NONE:
            return self.unused
        return tuple(name for name, own in zip(self.feature, self.use, strict=True) if own == use)


@dataclass(frozen=True, slots=True, eq=False)
class SwapTable(ReadableTable):
    """Pairs of terms by whose exchange one model of an atlas becomes another, the most frequent first.

    Exchanges of features come before those of one form of a feature for another.

    Parameters
    ----------
    term, replacement : tuple of str
        What is replaced, and by what.
    label : tuple of str or None
        The class whose models are meant; None for two classes.
    times : ndarray of shape (n_swaps,)
        Number of models of the atlas in which the exchange gives another model of the atlas.
    least, median : ndarray of shape (n_swaps,)
        Price of the exchange: by how much it raises the left-out log-loss, in thousandths.
    """

    term: tuple[str, ...] = field(metadata=per_row())
    replacement: tuple[str, ...] = field(metadata=per_row("", "replaced by", text=True))
    label: tuple[str, ...] | None = field(metadata=per_row("", "class"))
    times: IntArray = field(metadata=per_row("d"))
    least: FloatArray = field(metadata=per_row("+.1f", "least price"))
    median: FloatArray = field(metadata=per_row("+.1f", "median price"))

    @property
    def notes(self) -> tuple[str, ...]:
        return ("price: rise of the left-out log-loss by the exchange, in thousandths.",)


@dataclass(frozen=True, slots=True, eq=False)
class Disagreement(ReadableTable):
    """Rows of a table on which the models of an atlas differ, the most disputed first.

    Parameters
    ----------
    row : ndarray of shape (n_rows,)
        Position of the row in the table, from 0.
    predicted : tuple of str
        The class that the classifier itself predicts.
    least, mean, greatest : ndarray of shape (n_rows,)
        Of the probability that the models give: for two classes of the second one, for several of `predicted`.
    spread : ndarray of shape (n_rows,)
        Greatest less least.
    is_disputed : ndarray of shape (n_rows,), dtype=bool
        Whether some model predicts another class.
    of : str
        The class that the probabilities are of, or "the predicted class".
    """

    row: IntArray = field(metadata=per_row("d"))
    predicted: tuple[str, ...] = field(metadata=per_row())
    least: FloatArray = field(metadata=per_row(".3f"))
    mean: FloatArray = field(metadata=per_row(".3f"))
    greatest: FloatArray = field(metadata=per_row(".3f"))
    spread: FloatArray = field(metadata=per_row(".3f", "range"))
    is_disputed: BoolArray = field(metadata=per_row("", "disputed"))
    of: str

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            f"least, mean, greatest: of the models' probabilities of {self.of}; disputed: some predict another class.",
        )
