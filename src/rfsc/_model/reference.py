"""What a model file remembers of the rows of its fit, so that later rows can be compared with them: counts, no row.

No postponed annotations: files are read by the types of these classes.
"""

from dataclasses import dataclass

MOST_ROWS = 2**53  # beyond, counts are no exact numbers


@dataclass(frozen=True, slots=True)
class Spread:
    """How many rows had which values of a column or a score; a bin and a level stand for at least five rows."""

    name: str
    kind: str  # "number" or "text"
    cuts: tuple[float, ...]  # between the bins of numbers; a number on a cut belongs to the bin below
    levels: tuple[str, ...]  # of a text column, each a bin
    counts: tuple[int, ...]  # rows of each bin
    n_other: int = 0  # rows with other levels
    n_blank: int = 0  # rows without a value

    def __post_init__(self) -> None:
        n_bins = {"number": len(self.cuts) + 1, "text": len(self.levels)}.get(self.kind)
        is_sound = list(self.cuts) == sorted(self.cuts) and min((*self.counts, self.n_other, self.n_blank)) >= 0
        if len(self.counts) != n_bins or not is_sound or self.n_rows > MOST_ROWS:
            msg = "every bin of a reference needs a count that is possible, and cuts must rise"
            raise ValueError(msg)

    @property
    def n_rows(self) -> int:
        """Number of rows, with and without a value."""
        return sum(self.counts) + self.n_other + self.n_blank


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure of how good predictions are."""

    measure: str
    label: str  # the class that it is about; empty if it is about all
    value: float | None  # None if the rows do not tell
    standard_error: float | None


def score_name(label: object) -> str:
    """Name of the probability of a class."""
    return f"probability of {label}"


@dataclass(frozen=True, slots=True)
class Observed:
    """How often the second of two classes was true among rows with similar predictions."""

    highest: float  # probability of the bin
    n_rows: int
    share: float

    def __post_init__(self) -> None:
        if not (0.0 <= self.highest <= 1.0 and 0.0 <= self.share <= 1.0 and 1 <= self.n_rows <= MOST_ROWS):
            msg = "shares and probabilities of a reference are from 0 to 1, and its bins hold rows"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Reference:
    """What later rows are compared with."""

    n_rows: int  # of which the columns were seen
    is_left_out: bool  # whether figures are of rows that the predicting model was not fitted to
    scores: tuple[Spread, ...]  # probability of the second of two classes, else of every class
    columns: tuple[Spread, ...]  # that the model reads
    figures: tuple[Measured, ...]  # empty if the classes were not known
    observed: tuple[Observed, ...]  # by deciles of the predictions; empty as the figures, and for several classes

    def is_about(self, label: object) -> bool:
        """Whether this is the one of two classes whose probability the reference holds."""
        return [score.name for score in self.scores] == [score_name(label)]
