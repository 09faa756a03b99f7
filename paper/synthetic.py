"""Data whose truth is known: fourteen families, each a small function from a generator to rows and probabilities.

No method is tuned on them. A family gives features in mixed units and, for every row, the probability of each class;
classes are drawn from these. So the best possible accuracy and log-loss of every family are known. A draw has its own
training rows and its own large test set; draws of one family differ in nothing but the rows.

The truths are stated in `u`, the features with mean 0 and standard deviation 1; in `v`, features spread evenly over
[0, 1]. Features that a truth does not name are irrelevant.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.special import expit, ndtr, softmax

from .arrays import BoolArray, FloatArray, IntArray

N_TRAIN = 300
N_TEST = 3000
N_CEILING = 50_000  # rows on which the best possible figures are taken; their error is below 0.002

Rows = tuple[FloatArray, FloatArray]
_SKEW = 0.6  # of the logarithm of the skewed features


def _mixed(normal: FloatArray) -> Rows:
    """Features in mixed units out of normal ones, and the same standardised.

    By turns: normal around 50, skewed (log-normal), whole numbers from 0 around 5, evenly spread over 0 to 0.001.
    """
    X, u = np.empty_like(normal), np.empty_like(normal)
    for j, z in enumerate(normal.T):
        if j % 4 == 0:
            column, mean, spread = 50 + 10 * z, 50.0, 10.0
        elif j % 4 == 1:
            grown = np.exp(_SKEW**2)
            column, mean, spread = np.exp(_SKEW * z), np.sqrt(grown), np.sqrt(grown * (grown - 1))
        elif j % 4 == 2:
            column, mean, spread = np.maximum(np.rint(5 + 2 * z), 0), 5.0, 2.0
        else:
            column, mean, spread = 0.001 * ndtr(z), 0.0005, 0.001 / np.sqrt(12)
        X[:, j], u[:, j] = column, (column - mean) / spread
    return X, u


def independent(rng: np.random.Generator, n_rows: int, n_features: int) -> Rows:
    """Independent features in mixed units, and the same standardised."""
    return _mixed(rng.standard_normal((n_rows, n_features)))


def _even(rng: np.random.Generator, n_rows: int, n_features: int, n_irrelevant: int) -> Rows:
    """Evenly spread features in several units with irrelevant mixed ones behind them; and the former on [0, 1]."""
    v = rng.random((n_rows, n_features))
    units = 10.0 ** (np.arange(n_features) % 3 * 2 - 1)  # 0.1, 10, 1000
    return np.hstack([v * units, independent(rng, n_rows, n_irrelevant)[0]]), v


def _two(logit: FloatArray) -> FloatArray:
    """Probabilities of two classes out of the log-odds of the second."""
    return np.column_stack([expit(-logit), expit(logit)])


def _nearly_sure(second: BoolArray, sure: float) -> FloatArray:
    """Probabilities of two classes by a rule that is right in a share `sure` of the rows."""
    return _two(np.where(second, 1.0, -1.0) * np.log(sure / (1 - sure)))


def linear(rng: np.random.Generator, n_rows: int) -> Rows:
    """Logistic regression: eight features, all of them at work."""
    X, u = independent(rng, n_rows, 8)
    return X, _two(1.5 * u @ np.array([1.0, -0.9, 0.8, -0.7, 0.6, -0.5, 0.4, -0.3]))


def correlated(rng: np.random.Generator, n_rows: int) -> Rows:
    """Four of twenty features in a chain (0.8 between neighbours): 2 u1 - 2 u6 + 1.5 u11 + u16."""
    normal = rng.standard_normal((n_rows, 20))
    for j in range(1, 20):
        normal[:, j] = 0.8 * normal[:, j - 1] + 0.6 * normal[:, j]
    X, u = _mixed(normal)
    return X, _two(2.0 * u[:, 1] - 2.0 * u[:, 6] + 1.5 * u[:, 11] + u[:, 16])


def pairs(rng: np.random.Generator, n_rows: int) -> Rows:
    """Products of two features and nothing else: 2 u0 u1 - 2 u2 u3 + 1.5 u4 u6, ten features."""
    X, u = independent(rng, n_rows, 10)
    return X, _two(2.0 * u[:, 0] * u[:, 1] - 2.0 * u[:, 2] * u[:, 3] + 1.5 * u[:, 4] * u[:, 6])


def curved(rng: np.random.Generator, n_rows: int) -> Rows:
    """A cubic: 2 u0^3 - 4 u0 + 1.5 u3^3 - 2 u1 + 1, six features."""
    X, u = independent(rng, n_rows, 6)
    return X, _two(2.0 * u[:, 0] ** 3 - 4.0 * u[:, 0] + 1.5 * u[:, 3] ** 3 - 2.0 * u[:, 1] + 1.0)


def ball(rng: np.random.Generator, n_rows: int) -> Rows:
    """Inside a ball around the middle with a soft border: 40 (0.31 - |v - 0.5|^2) of four features, two irrelevant."""
    X, v = _even(rng, n_rows, 4, 2)
    return X, _two(40.0 * (0.31 - np.sum((v - 0.5) ** 2, axis=1)))


def islands(rng: np.random.Generator, n_rows: int) -> Rows:
    """Inside a ring or on one of two islands in the plane, right in 95 % of the rows; four irrelevant features."""
    X, v = _even(rng, n_rows, 2, 4)
    from_middle = np.hypot(v[:, 0] - 0.35, v[:, 1] - 0.35)
    ring = (from_middle > 0.15) & (from_middle < 0.32)
    land = (np.hypot(v[:, 0] - 0.82, v[:, 1] - 0.25) < 0.16) | (np.hypot(v[:, 0] - 0.7, v[:, 1] - 0.8) < 0.18)
    return X, _nearly_sure(ring | land, 0.95)


def rules(rng: np.random.Generator, n_rows: int) -> Rows:
    """Two boxes, right in 95 % of the rows: u0 > 0 and u1 < 0.3, or x2 at least 6 and u3 > 0.2; eight features."""
    X, u = independent(rng, n_rows, 8)
    return X, _nearly_sure(((u[:, 0] > 0) & (u[:, 1] < 0.3)) | ((X[:, 2] >= 6) & (u[:, 3] > 0.2)), 0.95)


def checkerboard(rng: np.random.Generator, n_rows: int) -> Rows:
    """A board of three by three fields in two features, no noise; three irrelevant features."""
    X, v = _even(rng, n_rows, 2, 3)
    fields = np.floor(3 * v).sum(axis=1)
    return X, np.eye(2)[(fields % 2).astype(np.int64)]


def thresholds(rng: np.random.Generator, n_rows: int) -> Rows:
    """Effects that begin at a knot and level off: of u0, u1, u3 and u5, each clipped to a stretch; eight features."""
    X, u = independent(rng, n_rows, 8)
    rise = 4.0 * np.clip(u[:, 0], 0.0, 1.0) + 4.0 * np.clip(u[:, 3], -0.5, 0.5)
    fall = 3.0 * np.clip(u[:, 1], -0.5, 0.5) + 4.0 * np.maximum(u[:, 5] - 0.5, 0.0)
    return X, _two(rise - fall - 0.3)


def irrelevant(rng: np.random.Generator, n_rows: int) -> Rows:
    """Three of sixty features: 2 u0 - 2 u1 + 1.5 (u3^2 - 1)."""
    X, u = independent(rng, n_rows, 60)
    return X, _two(2.0 * u[:, 0] - 2.0 * u[:, 1] + 1.5 * (u[:, 3] ** 2 - 1.0))


def imbalance(rng: np.random.Generator, n_rows: int) -> Rows:
    """About 7 % of the rows are of the second class: 1.5 u0 - 1.2 u1 + u0 u4 - 4, eight features."""
    X, u = independent(rng, n_rows, 8)
    return X, _two(1.5 * u[:, 0] - 1.2 * u[:, 1] + u[:, 0] * u[:, 4] - 4.0)


def label_noise(rng: np.random.Generator, n_rows: int) -> Rows:
    """A curved border and 20 % of the labels flipped: u0 + u1 - u3 + u4^2 > 0.8, eight features."""
    X, u = independent(rng, n_rows, 8)
    return X, _nearly_sure(u[:, 0] + u[:, 1] - u[:, 3] + u[:, 4] ** 2 > 0.8, 0.8)


def periodic(rng: np.random.Generator, n_rows: int) -> Rows:
    """Two full waves over the range of one feature and a slope in another; four irrelevant features."""
    X, v = _even(rng, n_rows, 2, 4)
    return X, _two(4.0 * np.sin(4 * np.pi * v[:, 0]) + 3.0 * (v[:, 1] - 0.5))


def three_classes(rng: np.random.Generator, n_rows: int) -> Rows:
    """Scores 2 u0, 2 u1 + u3 and 1.5 u4^2 - u0 compete by a softmax; eight features."""
    X, u = independent(rng, n_rows, 8)
    scores = np.column_stack([2.0 * u[:, 0], 2.0 * u[:, 1] + u[:, 3], 1.5 * u[:, 4] ** 2 - u[:, 0]])
    return X, softmax(1.5 * scores, axis=1)


FAMILIES: dict[str, Callable[[np.random.Generator, int], Rows]] = {
    "linear": linear,
    "correlated": correlated,
    "pairs": pairs,
    "curved": curved,
    "ball": ball,
    "islands": islands,
    "rules": rules,
    "checkerboard": checkerboard,
    "thresholds": thresholds,
    "irrelevant": irrelevant,
    "imbalance": imbalance,
    "label noise": label_noise,
    "periodic": periodic,
    "three classes": three_classes,
}


def sample(name: str, rng: np.random.Generator, n_rows: int) -> tuple[FloatArray, IntArray]:
    """Rows of a family, and classes drawn from their probabilities."""
    X, probability = FAMILIES[name](rng, n_rows)
    passed = rng.random((n_rows, 1)) > np.cumsum(probability, axis=1)[:, :-1]
    return X, passed.sum(axis=1).astype(np.int64)


def draw(name: str, number: int) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """X_train, y_train, X_test, y_test of a draw: 300 and 3,000 rows."""
    rng = _generator(name, number)
    return (*sample(name, rng, N_TRAIN), *sample(name, rng, N_TEST))


@cache
def best_possible(name: str) -> tuple[float, float]:
    """(accuracy, log-loss) of a classifier that knows the truth, over many rows."""
    _, probability = FAMILIES[name](_generator(name, -1), N_CEILING)
    surprise = -np.log(np.where(probability > 0, probability, 1.0))
    return float(np.mean(probability.max(axis=1))), float(np.mean(np.sum(probability * surprise, axis=1)))


def _generator(name: str, number: int) -> np.random.Generator:
    """A stream for every draw of every family; a new family changes no other."""
    return np.random.default_rng([zlib.crc32(name.encode()), number + 1])
