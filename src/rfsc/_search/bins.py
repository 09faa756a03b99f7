"""One bin of a partitioned search: its own terms and those that it shares with the others, searched as any space."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._engines import Engine, FitOptions, Memo, Problem, make_engine
from .._engines.base import Supports
from .._terms import TermSpace
from .._terms.bins import deal
from .._terms.subspace import SubSpace
from .._utils.arrays import FloatArray, IntArray
from .._utils.seeds import Seed
from .history import Candidate, IterationRecord
from .loop import SearchSpec, run_search
from .rips import RIPs
from .screening import Screening
from .stopping import NEVER, Brake, brake_on_ctrl_c

FIELDS: dict[str, Any] = {"ids": np.int64, "coef": np.float64, "worth": np.float64}
SCREENING = 0.2  # of the time that is left
SHARED_RIP = 0.4  # of the shared terms and the constant: what a bin finds is what they leave unexplained


@dataclass(frozen=True, slots=True, kw_only=True)
class BinSpec:
    """What all bins of one output have in common.

    Parameters
    ----------
    options : FitOptions
        How a support is fitted, tested and scored.
    search : SearchSpec
        How a bin is searched.
    engine : str
        Name of the engine.
    n_bins : int
        How many bins there are.
    constant : int
        Id of the constant, a term of every bin.
    most_uniform : int
        Own terms beyond which a bin begins with score tests of all of them.
    tells : bool
        Whether every iteration is sent back.
    deadline : float
        On the clock of `time.time`, when every bin must have ended.
    """

    options: FitOptions
    search: SearchSpec
    engine: str
    n_bins: int
    constant: int
    most_uniform: int
    tells: bool = False
    deadline: float = float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class BinTask:
    """One bin in one round; all that is random in it is drawn before it is sent off.

    Parameters
    ----------
    output, number, which : int
        The output, the number that observers are told, and which bin it is.
    dealing, seed : numpy.random.SeedSequence
        Of the shuffle that deals the terms, and of the search.
    shared : ndarray of int
        Terms that all bins hold, ascending.
    """

    output: int
    number: int
    which: int
    dealing: Seed
    seed: Seed
    shared: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class BinResult:
    """What a bin has found, by ids of the whole space.

    Parameters
    ----------
    model : Candidate
        Its best model.
    worth : ndarray of shape (n_terms,)
        How much the score falls without each term of the model.
    n_fitted : int
        Supports that had to be fitted.
    history : tuple of IterationRecord
        Every iteration, where they are asked for.
    """

    model: Candidate
    worth: FloatArray
    n_fitted: int
    history: tuple[IterationRecord, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """All but the history as plain numbers and lists, which JSON keeps to the last bit."""
        model = self.model
        numbers = {"score": model.score, "log_loss": model.log_loss, "n_fitted": self.n_fitted}
        return {"ids": model.ids.tolist(), "coef": model.coef.tolist(), "worth": self.worth.tolist(), **numbers}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> BinResult:
        """The result that `as_dict` described."""
        ids, coef, worth = (np.array(d[name], dtype=kind) for name, kind in FIELDS.items())
        return cls(Candidate(ids, coef, d["score"], d["log_loss"]), worth, d["n_fitted"])


def search_bins(
    table: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    space: TermSpace,
    spec: BinSpec,
    tasks: Sequence[BinTask],
) -> list[BinResult]:
    """Search some bins one after the other: a task of joblib that is worth sending off."""
    with brake_on_ctrl_c(spec.deadline) as brake:
        return [search_bin(table, target, weight, space, spec, task, brake) for task in tasks]


def search_bin(
    table: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    space: TermSpace,
    spec: BinSpec,
    task: BinTask,
    brake: Brake = NEVER,
) -> BinResult:
    """Search one bin."""
    own = deal(space.n_terms, spec.n_bins, task.which, task.dealing)
    part = SubSpace(space, np.union1d(own, np.append(task.shared, spec.constant)))
    problem = Problem(part, table, target, weight, spec.options, spec.search.max_terms)
    engine = Memo(make_engine(spec.engine, problem))
    start = _first_rips(problem, part, engine, spec, task.shared)
    found, _ = run_search(
        engine,
        part.n_terms,
        spec.search,
        task.seed,
        start=start,
        output=task.output,
        restart=task.number,
        brake=brake,
    )
    model, worth = found.model, _worth(engine, found.model)
    return BinResult(
        replace(model, ids=part.outside(model.ids)),
        worth,
        engine.n_fitted,
        tuple(replace(record, rips=outside(record.rips, part)) for record in found.history) if spec.tells else (),
    )


def outside(rips: RIPs, part: SubSpace) -> RIPs:
    """RIPs of some terms, by the ids of the whole space; the others have none."""
    listed = rips.values > 0.0
    return RIPs(part.whole.n_terms, 0.0, part.outside(rips.ids[listed]), rips.values[listed])


def _first_rips(problem: Problem, part: SubSpace, engine: Engine, spec: BinSpec, shared: IntArray) -> RIPs:
    """The shared terms and the constant high, the bin's own alike or by their score tests."""
    common = np.unique(part.inside(np.append(shared, spec.constant)))
    n_own = part.n_terms - common.size
    high = np.full(common.size, SHARED_RIP)
    if n_own > spec.most_uniform:
        screening = Screening(problem, spec.search, None, 1, SCREENING * (spec.deadline - time.time()))
        if screening.n_tested:
            constant = int(part.inside(np.array([spec.constant]))[0])
            return screening.first_rips(constant, engine).raised(common, high)
    value = float(np.clip(spec.search.initial_size / max(n_own, 1), *spec.search.rip_bounds))
    return RIPs(part.n_terms, value, common, high)


def _worth(engine: Engine, model: Candidate) -> FloatArray:
    """How much the score of a model falls without each of its terms."""
    if not model.ids.size:
        return np.empty(0)
    without = engine.evaluate(Supports.from_lists(np.delete(model.ids, k) for k in range(model.ids.size)))
    return model.score - without.score
