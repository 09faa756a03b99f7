"""Fits that are hard on the numbers, beside the same fits to a hundred digits.

What is promised, in standard errors of the exact fit:

- with a ridge of 1e-6 or more, whatever the condition of the terms and whether or not the classes are separable: final
  fits within `CLOSE`, fits of the engines within `ENGINE_CLOSE`;
- without a ridge, if there is a finite optimum: final fits within `PER_CONDITION` times the condition of the terms,
  as the rows count at the optimum (few do if classes are nearly separable), up to `MOST`; beyond, terms count as
  dependent and have huge standard errors. An engine drops terms that depend on others, and its coefficients are those
  of what it keeps. Beyond a condition of `ENGINE_MOST` they are less exact (`ENGINE_CLOSE_BEYOND`), and it may give up
  a support;
- without a ridge and without a finite optimum: finite numbers, and huge standard errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from rfsc._engines import Criterion, FitOptions, Problem, Supports, make_engine
from rfsc._model import refit
from rfsc._terms import MonomialSpace

from .high_precision import Exact, exact_fit

CLOSE = 1e-9
ENGINE_CLOSE = 1e-5  # a search needs no more: a term stays or goes by its second digit
ENGINE_CLOSE_BEYOND = 1e-4  # beyond:
ENGINE_MOST = 1e6  # squared, the inverse of the pivot at which a term counts as dependent
PER_CONDITION = 1e-14
MOST = 1e13
HUGE = 1e3  # standard errors of what the rows do not determine, relative to the coefficients
RIDGES = (0.0, 1e-6, 1.0)
CONDITIONS = range(2, 17)  # powers of ten
SEEDS = range(5)
N_ROWS = 40
_KNOWN: dict[tuple[object, ...], Exact] = {}


class Case(NamedTuple):
    """Terms (the first is the constant), outputs and weights; `finite` if an optimum needs no ridge."""

    columns: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    finite: bool = True


def _draw(rng: np.random.Generator, n_rows: int = N_ROWS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two features and classes that overlap."""
    x, z = rng.random((2, n_rows))
    return x, z, np.where(x - 0.5 + 0.3 * rng.logistic(size=n_rows) > 0, 1.0, -1.0)


def collinear(rng: np.random.Generator, condition: float) -> Case:
    """A term that differs from another by one part in `condition`."""
    x, z, y = _draw(rng)
    return Case(np.stack([np.ones_like(x), x, x + z / condition]), y, np.ones_like(x))


def scales(rng: np.random.Generator, condition: float) -> Case:
    """Terms whose scales are `condition` apart."""
    x, z, y = _draw(rng)
    return Case(np.stack([np.ones_like(x), x / np.sqrt(condition), z * np.sqrt(condition)]), y, np.ones_like(x))


def powers(rng: np.random.Generator, degree: int) -> Case:
    """All powers of one feature, nearly dependent from the sixth on."""
    x, _, y = _draw(rng)
    return Case(np.stack([x**p for p in range(degree + 1)]), y, np.ones_like(x))


def weights(rng: np.random.Generator) -> Case:
    """Weights from 1e-6 to 1e6."""
    x, z, y = _draw(rng)
    return Case(np.stack([np.ones_like(x), x, z]), y, 10 ** rng.uniform(-6, 6, x.size))


def imbalance(rng: np.random.Generator) -> Case:
    """One row in ten thousand is of the other class."""
    n_rows = 20_000
    x = rng.integers(0, 21, n_rows) / 20  # few distinct values, so that a hundred digits take no time
    y = -np.ones(n_rows)
    y[[np.flatnonzero(x == 0.4)[0], np.flatnonzero(x == 0.9)[0]]] = 1.0
    return Case(np.stack([np.ones(n_rows), x, x**2]), y, np.ones(n_rows))


def separable(rng: np.random.Generator) -> Case:
    """Classes that a line separates."""
    x, z, _ = _draw(rng)
    return Case(np.stack([np.ones_like(x), x, z]), np.where(x > 0.5, 1.0, -1.0), np.ones_like(x), finite=False)


def quasi_separable(rng: np.random.Generator) -> Case:
    """A yes-or-no term that settles the rows on one of its sides only."""
    x, z, y = _draw(rng)
    side = (x > 0.5).astype(np.float64)
    y = np.where(side == 0.0, -1.0, y)
    y[np.flatnonzero(side)[:2]] = -1.0, 1.0  # both classes on the other side
    return Case(np.stack([np.ones_like(x), side, z]), y, np.ones_like(x), finite=False)


def separable_by_weight(rng: np.random.Generator) -> Case:
    """Separable classes with weights from 1e-6 to 1e6."""
    return separable(rng)._replace(weight=10 ** rng.uniform(-6, 6, N_ROWS))


def cases(conditions: range = CONDITIONS) -> dict[str, Callable[[np.random.Generator], Case]]:
    """Every kind of case by name, with condition numbers up to 1e16."""
    found: dict[str, Callable[[np.random.Generator], Case]] = {}
    for power in conditions:
        found[f"collinear 1e{power}"] = lambda rng, power=power: collinear(rng, 10.0**power)
        found[f"scales 1e{power}"] = lambda rng, power=power: scales(rng, 10.0**power)
    for degree in (3, 5, 8, 12):
        found[f"powers to {degree}"] = lambda rng, degree=degree: powers(rng, degree)
    for kind in (weights, imbalance, separable, quasi_separable, separable_by_weight):
        found[kind.__name__.replace("_", " ")] = kind
    return found


def penalties(case: Case, ridge: float) -> np.ndarray:
    """The ridge of each term: a multiple of its variance."""
    share = case.weight / case.weight.sum()
    mean = (case.columns * share).sum(axis=1, keepdims=True)
    return ridge * (np.square(case.columns - mean) * share).sum(axis=1)


def condition(case: Case, coef: np.ndarray | None = None) -> float:
    """Condition number of the terms, each brought to length one: scale alone does no harm.

    Where coefficients are given, rows count by their curvature there, which is what standard errors are made of.
    """
    weighted = case.columns * np.sqrt(case.weight)
    if coef is not None:
        f = np.einsum("j,jk->k", coef, case.columns)
        weighted = weighted * np.sqrt(expit(f)) * np.sqrt(expit(-f))
    return float(np.linalg.cond(weighted / np.linalg.norm(weighted, axis=1, keepdims=True)))


def final_fit_faults(case: Case, ridge: float) -> Iterator[str]:
    """What is wrong with the final fit of a case."""
    penalty = penalties(case, ridge)
    found = refit(case.columns, case.target, case.weight, penalty, np.zeros(len(penalty)))
    if not (np.isfinite(found.coef).all() and np.isfinite(found.standard_error).all()):
        yield "numbers that are not finite"
    elif ridge == 0.0 and not case.finite:
        if (found.standard_error < HUGE * np.abs(found.coef)).all():
            yield "small standard errors without an optimum"
    elif ridge == 0.0 and condition(case) > MOST:
        if found.standard_error.max() < HUGE**2:  # of terms on [0, 1]
            yield "small standard errors of dependent terms"
    else:
        exact = _exact(case, penalty)
        tolerance = CLOSE if ridge else max(CLOSE, PER_CONDITION * condition(case, exact.coef))
        if (apart := _apart(found.coef, exact)) > tolerance:
            yield f"coefficients {apart:.0e} standard errors from the optimum"
        if (apart := np.abs(found.standard_error / exact.standard_error - 1).max()) > tolerance:
            yield f"standard errors {apart:.0e} off"


def engine_faults(case: Case, ridge: float, engine: str) -> Iterator[str]:
    """What is wrong with the fit of an engine, with no test of significance."""
    n_terms = len(case.columns)
    options = FitOptions(Criterion.LOG_LOSS, ridge, significance=0.5)
    space = MonomialSpace(np.arange(n_terms - 1), 1)
    problem = Problem(space, case.columns[1:], case.target, case.weight, options, n_terms)
    found = make_engine(engine, problem).evaluate(Supports.from_lists([range(n_terms)]))
    if not (np.isfinite(found.coef).all() and np.isfinite(found.score).all()):
        yield "numbers that are not finite"
        return
    hard = not ridge and condition(case) > ENGINE_MOST
    if not found.coef.size:
        if not hard:
            yield "no model"
    elif ridge or case.finite:
        tolerance = ENGINE_CLOSE_BEYOND if hard else ENGINE_CLOSE
        kept = case._replace(columns=case.columns[found.supports[0]])
        exact = _exact(kept, penalties(kept, ridge))
        if (apart := _apart(found.coef, exact)) > tolerance:
            yield f"coefficients {apart:.0e} standard errors from the optimum"
        if (apart := abs(found.log_loss[0] - exact.log_loss)) > tolerance:
            yield f"log-loss {apart:.0e} off"


def _exact(case: Case, penalty: np.ndarray) -> Exact:
    """The exact fit, computed once for all who compare with it."""
    data = (case.columns, case.target, case.weight, penalty)
    key = (case.columns.shape, *(part.tobytes() for part in data))
    if key not in _KNOWN:
        _KNOWN[key] = exact_fit(*data)
    return _KNOWN[key]


def _apart(coef: np.ndarray, exact: Exact) -> float:
    return float((np.abs(coef - exact.coef) / exact.standard_error).max())


def numerical_torture(seeds: range = SEEDS) -> list[tuple[str, int, int, int]]:
    """Rows (name, tried, lost, wrong); lost are fits that raised an error."""
    trials: dict[str, Callable[[Case, float], Iterator[str]]] = {"hard fits: final fit": final_fit_faults}
    for engine in ("numba", "numpy"):
        trials[f"hard fits: engine {engine}"] = lambda case, ridge, engine=engine: engine_faults(case, ridge, engine)
    rows = []
    for name, faults in trials.items():
        tried = lost = wrong = 0
        for label, build in cases().items():
            for seed in seeds:
                for ridge in RIDGES:
                    tried += 1
                    try:
                        found = list(faults(build(np.random.default_rng(seed)), ridge))
                    except Exception as error:  # counted, and named
                        lost, found = lost + 1, [repr(error)]
                    else:
                        wrong += bool(found)
                    for fault in found:
                        print(f"{name}, {label}, seed {seed}, ridge {ridge:g}: {fault}")
        rows.append((name, tried, lost, wrong))
    return rows


if __name__ == "__main__":
    for row in numerical_torture():
        print(row)
