"""Models to draw: a fitted one of two and of three classes, and a made-up one with 60 features and long names."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from rfsc import RFSCClassifier, SearchSettings, SparseModel
from rfsc._model import Evidence, FilterEvidence, Trace
from rfsc._terms import monomial
from rfsc._terms.scaling import Scaling
from rfsc.certify import Certificate, CertificateSettings, HalfScore, UnitTable
from rfsc.certify.certificate import CHANCE, MEANING, with_shares
from rfsc.explain.stability import stability_of


@pytest.fixture(autouse=True)
def _untouched():
    """Drawing changes no setting of matplotlib and leaves no figure with pyplot."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    before = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


@pytest.fixture(scope="session")
def two_classes():
    """WDBC with two restarts and the filter: classifier, samples, labels."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data.iloc[::2, :12], data.target_names[data.target][::2]
    search = SearchSettings(max_iter=30, filter_significance=0.05)
    clf = RFSCClassifier(basis="polynomial", n_restarts=2, search=search, random_state=0)
    return clf.fit(X, y), X, y


@pytest.fixture(scope="session")
def three_classes():
    """Iris with one restart: classifier, samples, labels."""
    data = load_iris(as_frame=True)
    y = data.target_names[data.target]
    clf = RFSCClassifier(basis="polynomial", n_restarts=1, search=SearchSettings(max_iter=30), random_state=0)
    return clf.fit(data.data, y), data.data, y


def made_up(n_features=60, n_terms=40, n_restarts=10, n_iter=25, seed=0):
    """A model with long and awkward names, and the record of a search."""
    rng = np.random.default_rng(seed)
    names = tuple(
        f"$average consumption of _resource_ {j} in the laboratory since 2019, kW/h $" for j in range(n_features)
    )
    products = [(p, q) for p in range(n_features) for q in range(p, n_features)]
    singles = [(p,) for p in range(n_features)]
    terms = [monomial(()), *(monomial(factors) for factors in rng.permutation(np.array([*singles, *products], object)))]
    terms = terms[: n_terms + 30]
    coef = rng.normal(0, 5, n_terms)
    rips = np.clip(np.cumsum(rng.normal(0.02, 0.05, (n_restarts, n_iter, len(terms))), axis=1), 0, 1)
    score = np.sort(rng.random((n_restarts, n_iter)), axis=1)
    traces = tuple(
        Trace(
            mean_score=score[r],
            best_score=score[r] + 0.1,
            size_drawn=rng.uniform(5, 9, n_iter),
            size_kept=rng.uniform(2, 5, n_iter),
            rips=rips[r],
        )
        for r in range(n_restarts)
    )
    evidence = Evidence(
        n_candidates=1891,
        score="loo_log_loss",
        terms=tuple(terms),
        feature_names=names,
        selected=rng.random((n_restarts, len(terms))) < 0.4,
        rip=rips[:, -1],
        stop_reasons=("max_iter",) * n_restarts,
        traced=tuple(range(len(terms))),
        traces=traces,
        filter=FilterEvidence(rng.exponential(4.0, n_features), 3.84, 0.05),
    )
    return SparseModel(
        terms=tuple(terms[:n_terms]),
        coef=coef,
        standard_error=rng.uniform(0.5, 4, n_terms),
        scaling=Scaling.from_rows(np.array([np.zeros(n_features), np.ones(n_features)])),
        feature_names=names,
        label="readmitted within thirty days of the discharge from hospital",
        n_observations=200.0,
        score=0.8,
        evidence=evidence,
    )


@pytest.fixture(scope="session")
def large():
    """60 features, 40 terms, ten restarts: model, samples, labels."""
    model, rng = made_up(), np.random.default_rng(1)
    X = pd.DataFrame(rng.random((300, 60)), columns=model.feature_names)
    return model, X, np.where(rng.random(300) < 0.5, model.label, "other")


def made_up_certificate(n_features=40, seed=0):
    """A certificate with long and awkward names, clusters of several features and all verdicts."""
    rng = np.random.default_rng(seed)
    names = [f"$concentration of _substance_ {j}, measured in the laboratory, mg/l" for j in range(n_features)]
    share = np.sort(rng.random(n_features))[::-1]
    p_value = np.sort(rng.random(n_features) ** 6)
    # four in clusters of two that have no name, three in a cluster that the user has named, all others alone
    cluster_of = {name: " | ".join(own) for own in (names[0:4:3], names[1:6:4]) for name in own}
    cluster_of |= dict.fromkeys(names[6:12:2], "of the second laboratory, in the afternoon")
    members = {}
    for name, own in zip(names, share.tolist(), strict=True):
        members.setdefault(cluster_of.get(name, name), {})[name] = own
    others = [{one: s for one, s in members[cluster_of.get(name, name)].items() if one != name} for name in names]
    words = tuple(word for word in MEANING if word != CHANCE)  # it is said of all or of none
    clusters = UnitTable(
        tuple(members),
        tuple(words[j % 4] for j in range(len(members))),
        p_value[: len(members)],
        np.full(len(members), 0.5),
        None,
        None,
        tuple(with_shares(own) for own in members.values()),
    )
    features = UnitTable(
        tuple(names),
        tuple(words[j % len(words)] for j in range(n_features)),
        p_value,
        share,
        None,
        np.ones(n_features),
        tuple(map(with_shares, others)),
        tuple(cluster_of.get(name, name) for name in names),
    )
    settings = CertificateSettings(
        n_pairs=50,
        n_halves=100,
        level=0.05,
        n_rows=200,
        is_weighted=False,
        n_groups=None,
        half_rows=100,
        half_events=45,
        n_features=60,
        classes=("no", "yes"),
        basis="auto",
        cut=0.7,
        random_state=0,
        content="sha256:1",
        version="1",
    )
    stability = stability_of(rng.random((100, n_features)) < 0.5, 60, of="features")
    return Certificate(clusters, features, features, 0.001, stability, HalfScore(0.5, 0.69, 0.8), settings)
