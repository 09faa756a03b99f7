"""The figures that the paper prints (arXiv 1607.08400), exactly; None if it prints a dash.

Where two of its tables disagree, both figures are kept: `SIZES` is its Table 2, `MODEL_SIZE` its Table 4.
"""

from __future__ import annotations

from typing import NamedTuple

SETS = ("Bupa", "Ionosphere", "Iris", "Sonar", "WDBC", "Wine")


class Characteristics(NamedTuple):
    """A row of Table 1."""

    samples: int
    features: int
    real: int
    integer: int
    classes: int


class Sizes(NamedTuple):
    """A row of Table 2: attributes and terms in the data, after the filter (None: not filtered), and in the models."""

    attributes: int
    attributes_kept: int | None
    attributes_used: float
    terms: int
    terms_kept: int | None
    terms_used: float


CHARACTERISTICS = {
    "Bupa": Characteristics(345, 6, 1, 5, 2),
    "Ionosphere": Characteristics(351, 34, 32, 1, 2),
    "Iris": Characteristics(150, 4, 4, 0, 3),
    "Sonar": Characteristics(208, 60, 60, 0, 2),
    "WDBC": Characteristics(569, 30, 13, 0, 2),
    "Wine": Characteristics(178, 13, 13, 0, 3),
}

SIZES = {
    "Bupa": Sizes(6, None, 5.8, 28, None, 7.4),
    "Ionosphere": Sizes(34, 29, 16.4, 595, 465, 14.7),
    "Iris": Sizes(4, None, 3.2, 15, None, 6.1),
    "Sonar": Sizes(60, 39, 25.8, 1891, 820, 18.7),
    "WDBC": Sizes(30, 24, 11.5, 496, 325, 10.3),
    "Wine": Sizes(13, None, 7.3, 105, None, 7.5),
}

Pair = tuple[float, float | None] | None  # accuracy and kappa

PERFORMANCE: dict[str, tuple[Pair, ...]] = {  # Table 3, in the order of SETS
    "ACO + PMC": (
        (0.6725, 0.3259),
        (0.9373, 0.8604),
        (0.9600, 0.9400),
        (0.9087, 0.8164),
        None,
        (0.9755, 0.9659),
    ),
    "DGC+": ((0.6744, 0.3076), (0.9311, 0.8487), (0.9533, 0.9300), (0.8487, 0.6943), None, (0.9731, 0.9590)),
    "DGC": ((0.6525, 0.2220), (0.6724, 0.1142), (0.9533, 0.9300), (0.7694, 0.5187), (0.9619, None), (0.9706, 0.9552)),
    "KNN": ((0.6066, 0.1944), (0.8518, 0.6494), (0.9400, 0.9100), (0.8307, 0.6554), None, (0.9549, 0.9318)),
    "KNN-A": ((0.6257, 0.2021), (0.9372, 0.8595), (0.9533, 0.9300), (0.8798, 0.7549), None, (0.9663, 0.9491)),
    "DW-KNN": ((0.6376, 0.2645), (0.8747, 0.7083), (0.9400, 0.9100), (0.8648, 0.7248), None, (0.9438, 0.9152)),
    "Cam-NN": ((0.5962, 0.1024), (0.7379, 0.5145), (0.9467, 0.9200), (0.7743, 0.5364), None, (0.9497, 0.9228)),
    "CNN": ((0.6316, 0.2571), (0.8917, 0.7526), (0.9267, 0.8900), (0.8940, 0.7861), None, (0.9663, 0.9491)),
    "SSMA+SFLSDE": (
        (0.6426, 0.2731),
        (0.9088, 0.7986),
        (0.9533, 0.9300),
        (0.8079, 0.6100),
        None,
        (0.9438, 0.9145),
    ),
    "forward FS + LDA": ((0.6110, None), (0.8530, None), (0.9630, None), (0.7610, None), None, (0.9660, None)),
    "backward FS + LDA": ((0.6430, None), (0.9090, None), (0.9370, None), (0.8550, None), None, (0.9990, None)),
    "PSO + LDA": ((0.6520, None), (0.9220, None), (0.9700, None), (0.9050, None), None, (1.0000, None)),
    "PSO(4-2) + 5NN": (None, (0.8727, None), None, (0.7816, None), (0.9398, None), (0.9526, None)),
    "RFSC": (
        (0.7800, 0.4950),
        (0.9330, 0.8541),
        (0.9666, 0.9500),
        (0.8806, 0.8101),
        (0.9827, 0.9621),
        (0.9944, 0.9916),
    ),
}

MODEL_SIZE: dict[str, tuple[float | None, ...]] = {  # Table 4: features used, in the order of SETS
    "forward FS + LDA": (3.6, 4.8, 2.3, 10.7, None, 7.1),
    "backward FS + LDA": (4.7, 30.4, 3.9, 56.4, None, 12.8),
    "PSO + LDA": (4.6, 21.7, 3.6, 38.1, None, 12.3),
    "PSO(4-2) + 5NN": (None, 3.26, None, 11.24, 3.46, 6.84),
    "RFSC": (5.8, 16.4, 3.1, 25.8, 11.5, 3.3),
}

MINUTES: dict[str, dict[str, float]] = {  # Table 5
    "RFSC": {"Ionosphere": 0.95, "Sonar": 1.2, "Wine": 0.2, "WDBC": 1.1},
    "PSO(4-2) + 5NN": {"Ionosphere": 1.03, "Sonar": 0.54, "Wine": 0.31, "WDBC": 2.88},
    "PSO + LDA": {"Ionosphere": 0.46, "Sonar": 0.61, "Wine": 0.09},
}
