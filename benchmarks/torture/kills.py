"""A real process that is killed again and again (SIGKILL) while it fits, and started again until it ends.

What it ends with must be the model of a fit that was never killed, to the last bit. Lost counts checkpoints that could
not be read after a kill, or held less than before it; wrong counts other models, and files left in the folder.
"""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from benchmarks.measuring import ROOT, make_classifier
from rfsc import Checkpoint, RFSCClassifier
from rfsc.export.compare import compared_text

FITS: dict[str, tuple[Any, dict[str, Any]]] = {
    "two classes": (load_breast_cancer, {"basis": "polynomial", "n_restarts": 6, "max_iter": 60}),
    "three classes": (load_wine, {"basis": "auto", "n_restarts": 2, "max_iter": 60}),
    "quick": (load_wine, {"basis": "polynomial", "n_restarts": 4, "max_iter": 40}),
}
BEGUN = "begun"
N_KILLS = 100
N_AIMED = 30
PARTS = 4  # a kill comes within one part in so many of the time of a whole fit
PATIENCE = 120.0  # seconds for a fit that is not killed


class Outcome(NamedTuple):
    """What kills have done to one fit after the other."""

    kills: int = 0
    in_writes: int = 0
    fits: int = 0
    lost: int = 0
    wrong: int = 0


def digest(classifier: RFSCClassifier) -> str:
    """Hash of the model file without timings."""
    return hashlib.sha256(compared_text(classifier).encode()).hexdigest()


def fit(name: str, **more: Any) -> str:
    """The hash of the model of one of the fits."""
    load, settings = FITS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return digest(make_classifier(random_state=7, **settings, **more).fit(*load(return_X_y=True)))


def start(name: str, path: Path) -> subprocess.Popen[str]:
    """A process that fits with a checkpoint, from the moment at which its fit begins."""
    command = [sys.executable, "-m", "benchmarks.torture.kills", name, str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    if process.stdout.readline().strip() != BEGUN:
        process.wait()
        msg = "the process ended before its fit began"
        raise RuntimeError(msg)
    return process


def kept(path: Path) -> int:
    """How many parts of the fit a checkpoint holds; an error if the file is not whole."""
    if not path.exists():
        return 0
    content = path.read_text(encoding="utf-8").partition("\n")[2]
    return len(json.loads(content)["finished"])


def kill_and_resume(name: str, n_kills: int, seed: int, *, aimed: bool = False) -> Outcome:
    """Kill fits until `n_kills` kills have hit one that was running, each fit as often as it takes."""
    rng, outcome = np.random.default_rng(seed), Outcome()
    expected = fit(name)
    began = time.perf_counter()
    if fit(name) != expected:  # the first one may have compiled kernels, which takes time
        msg = "two fits that were not killed differ"
        raise RuntimeError(msg)
    seconds = time.perf_counter() - began
    while (outcome.in_writes if aimed else outcome.kills) < n_kills and outcome.fits < 3 + n_kills:
        with tempfile.TemporaryDirectory() as folder:
            left = n_kills - (outcome.in_writes if aimed else outcome.kills)
            one = _one_fit(name, Path(folder, "fit.checkpoint"), expected, left, seconds / PARTS, rng, aimed)
        outcome = Outcome(*(a + b for a, b in zip(outcome, one, strict=True)))
    return outcome


def _one_fit(
    name: str, path: Path, expected: str, most: int, within: float, rng: np.random.Generator, aimed: bool
) -> Outcome:
    """One fit, killed up to `most` times, to its end."""
    kills = in_writes = lost = before = 0
    while True:
        hits = in_writes if aimed else kills
        process = start(name, path)
        try:
            said, _ = process.communicate(timeout=PATIENCE if hits >= most else within * rng.random())
        except subprocess.TimeoutExpired:
            hit = _hit(process, path.parent if aimed and hits < most else None)
        else:
            left = [file.name for file in path.parent.iterdir() if file != path]
            wrong = said.strip() != expected or bool(left)
            if wrong:
                print(f"{name}: after {kills} kills another model, or left in the folder: {left}")
            return Outcome(kills, in_writes, 1, lost + (process.returncode != 0), int(wrong))
        kills += hit
        in_writes += hit and any(path.parent.glob(".*.part"))
        try:
            after = kept(path)
        except (ValueError, KeyError) as error:
            print(f"{name}: after {kills} kills the checkpoint cannot be read: {error!r}")
            after = -1
        lost += after < before
        before = after
        if hits >= most:  # it took longer than PATIENCE
            return Outcome(kills, in_writes, 1, lost + 1, 0)


def _hit(process: subprocess.Popen[str], folder: Path | None) -> bool:
    """Kill a process, if a folder is given while a file is being written there; whether it was still running."""
    if folder is not None:
        before = set(folder.glob(".*.part"))
        while process.poll() is None and not set(folder.glob(".*.part")) - before:
            pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def kill_torture(n_kills: int = N_KILLS, n_aimed: int = N_AIMED, seed: int = 0) -> list[tuple[str, int, int, int]]:
    """Rows (name, kills, lost, wrong): half of the kills for two classes, half for three."""
    rows = []
    for name, share in (("two classes", n_kills // 2), ("three classes", n_kills - n_kills // 2)):
        found = kill_and_resume(name, share, seed)
        rows.append((f"SIGKILL at random moments, {name}", found.kills, found.lost, found.wrong))
    found = kill_and_resume("two classes", n_aimed, seed + 1, aimed=True)
    rows.append(("SIGKILL in the middle of a write", found.in_writes, found.lost, found.wrong))
    return rows


if __name__ == "__main__":
    which, where = sys.argv[1:]
    print(BEGUN, flush=True)
    print(fit(which, callbacks=Checkpoint(where)))
