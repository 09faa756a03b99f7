"""A real cluster: the same bits for one worker and for two, and when one of them is killed in mid-search."""

from __future__ import annotations

import os
import signal
import warnings
from collections import Counter

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.exceptions import ConvergenceWarning

from rfsc import RFSCClassifier
from rfsc.blocks import Blocks, errands
from rfsc.export import to_json

N = 3000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 4))
    y = (X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * rng.logistic(size=N) > 0).astype(int)
    return X, y


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield client


def fitted(X, y, **settings):
    small = {"n_restarts": 1, "n_models": 20, "max_iter": 2, "combine": "best", "basis": "polynomial"}
    settings = small | {"random_state": 0, "engine": "dask"} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return RFSCClassifier(**settings).fit(X, y)


def model_text(clf):
    """The model file without what differs from run to run."""
    clf.manifest_["timings"] = None
    return to_json(clf.set_params(callbacks=None))


def places_of(monkeypatch, X, y):
    """How many blocks each worker was given, and how many messages a pass took."""
    seen = []
    close = Blocks.close
    with monkeypatch.context() as patch:
        patch.setattr(Blocks, "close", lambda self: (seen.append((dict(self.places), self.traffic)), close(self)))
        fitted(X, y)
    ((places, traffic),) = seen
    return Counter(worker for worker, _ in places.values()), traffic.tasks / traffic.passes


def test_workers_share_the_blocks_and_get_one_message_each(client, table, monkeypatch):
    X, y = (da.from_array(part, chunks=(375, 4)[: part.ndim]) for part in table)
    counts, messages = places_of(monkeypatch, X, y)
    assert sorted(counts.values()) == [4, 4]
    assert messages == 2
    few = model_text(fitted(X, y))
    assert model_text(fitted(client.persist(X), y)) == few  # rows that workers held before
    monkeypatch.setattr(errands, "FEW", 3)
    assert model_text(fitted(X, y)) == few  # the first pass is another, as nobody knows how large its answers are
    monkeypatch.setattr(errands, "MOST_BYTES", 0)
    assert model_text(fitted(X, y)) == few  # sums that are added up by tasks


def test_same_bits_on_one_worker_on_two_and_after_a_loss(client, table):
    X, y = (da.from_array(part, chunks=(1000, 4)[: part.ndim]) for part in table)
    two = fitted(X, y)
    here = fitted(*table, engine="auto")
    np.testing.assert_allclose(two.models_[0].coef, here.models_[0].coef, rtol=1e-8)
    assert two.models_[0].terms == here.models_[0].terms

    killed = []

    def kill_one(record):
        if record.iteration == 1 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    survived = fitted(X, y, callbacks=kill_one)
    assert killed
    assert model_text(survived) == model_text(two)

    client.retire_workers(list(client.run(os.getpid))[1:])
    one = fitted(X, y)
    assert model_text(one) == model_text(two)
