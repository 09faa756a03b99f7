"""Means over folds and seeds against sums done by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import friedmanchisquare
from sklearn.metrics import cohen_kappa_score

from paper.results import Ranks, Results, compare, kappa_of


def test_figures_by_hand(make_cell):
    cells = [
        make_cell(
            seed=0, fold=0, accuracy=0.8, kappa=0.5, n_features=2, n_terms=3, seconds=1, confusion=[[4, 1], [1, 4]]
        ),
        make_cell(
            seed=0, fold=1, accuracy=1.0, kappa=1.0, n_features=3, n_terms=5, seconds=2, confusion=[[5, 0], [0, 5]]
        ),
        make_cell(
            seed=1, fold=0, accuracy=0.6, kappa=0.2, n_features=4, n_terms=4, seconds=9, confusion=[[3, 2], [2, 3]]
        ),
        make_cell(
            seed=1, fold=1, accuracy=0.8, kappa=0.3, n_features=1, n_terms=8, seconds=3, confusion=[[4, 1], [1, 4]]
        ),
    ]
    figures = Results(cells).get("Iris", "KNN", "honest")
    assert figures.accuracy == pytest.approx(0.8)
    assert figures.accuracy_spread == pytest.approx(0.1)  # of the seeds' means .9 and .7
    assert figures.kappa == pytest.approx(0.5)
    assert figures.pooled_kappa == pytest.approx((0.8 + 0.4) / 2)  # 18 and 14 of 20 right, half by chance
    assert figures.n_features == pytest.approx(2.5)
    assert figures.n_terms == pytest.approx(5)
    assert figures.size == figures.n_terms
    assert figures.seconds == pytest.approx(2.5)
    assert (figures.n_seeds, figures.n_folds) == (2, 4)


def test_method_without_formula_counts_features(make_cell):
    figures = Results([make_cell(n_features=7)]).get("Iris", "KNN", "honest")
    assert figures.n_terms is None
    assert figures.size == 7
    assert figures.accuracy_spread == 0


def test_protocols_sets_and_methods_stay_apart(make_cell):
    results = Results(
        [
            make_cell(accuracy=0.1),
            make_cell(protocol="keel", accuracy=0.2),
            make_cell("Wine", accuracy=0.3),
            make_cell(method="CNN", accuracy=0.4),
        ]
    )
    keys = [("Iris", "KNN", "honest"), ("Iris", "KNN", "keel"), ("Wine", "KNN", "honest"), ("Iris", "CNN", "honest")]
    assert [results.get(*key).accuracy for key in keys] == [0.1, 0.2, 0.3, 0.4]
    assert results.get("Wine", "CNN", "honest") is None
    assert results.has("KNN", "keel")
    assert not results.has("CNN", "keel")
    assert not results.has("DGC", "honest")


def test_complete_keeps_methods_that_ran_on_every_set(make_cell):
    results = Results(
        [
            make_cell("Iris", "KNN", accuracy=0.9),
            make_cell("Wine", "KNN", accuracy=0.0),  # nothing right is a figure too
            make_cell("Iris", "CNN", accuracy=0.8),
            make_cell("Wine", "CNN", "keel", accuracy=0.7),
            make_cell("Wine", "DGC", accuracy=0.6),
            make_cell("Iris", "DGC", accuracy=0.5),
        ]
    )
    found = results.complete(["DGC", "CNN", "KNN", "DGC+"], ["Wine", "Iris"], "honest")
    assert found == {"DGC": [0.6, 0.5], "KNN": [0.0, 0.9]}
    assert list(found) == ["DGC", "KNN"]
    assert results.complete(["CNN"], ["Iris"], "honest") == {"CNN": [0.8]}


def test_log_loss_and_terms_per_output(make_cell):
    losses = {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.5, (1, 1): 0.9}
    cells = [make_cell(seed=s, fold=f, log_loss=v, terms_per_output=f + 2.0) for (s, f), v in losses.items()]
    figures = Results(cells).get("Iris", "KNN", "honest")
    assert figures.log_loss == pytest.approx(0.45)
    assert figures.log_loss_spread == pytest.approx(0.25)  # of the seeds' means .2 and .7
    assert figures.terms_per_output == pytest.approx(2.5)


def test_no_log_loss_where_a_fold_has_none(make_cell):
    figures = Results([make_cell(log_loss=0.1, terms_per_output=3.0), make_cell(seed=1)]).get("Iris", "KNN", "honest")
    assert (figures.log_loss, figures.log_loss_spread, figures.terms_per_output) == (None, None, None)


def test_complete_by_log_loss(make_cell):
    results = Results(
        [
            make_cell("Iris", "KNN", log_loss=0.0),  # a perfect figure is a figure
            make_cell("Wine", "KNN", log_loss=0.5),
            make_cell("Iris", "CNN", log_loss=0.1),
            make_cell("Wine", "CNN"),
        ]
    )
    assert results.complete(["KNN", "CNN"], ["Wine", "Iris"], "honest", "log_loss") == {"KNN": [0.5, 0.0]}


@given(arrays(np.int64, st.integers(2, 4).map(lambda n: (n, n)), elements=st.integers(0, 12)))
def test_kappa_is_that_of_scikit_learn(confusion):
    true, predicted = (np.repeat(index.ravel(), confusion.ravel()) for index in np.indices(confusion.shape))
    assume(len(np.union1d(true, predicted)) > 1)  # a single class: 0 for us, not defined for scikit-learn
    assert kappa_of(confusion) == pytest.approx(cohen_kappa_score(true, predicted), abs=1e-12)


@given(arrays(np.int64, array_shapes(min_dims=1, max_dims=1), elements=st.integers(0, 50)))
def test_kappa_of_perfect_answers_is_one(counts):
    assume(np.count_nonzero(counts) > 1)
    assert kappa_of(np.diag(counts)) == pytest.approx(1)


def test_kappa_where_chance_explains_everything():
    assert kappa_of(np.array([[9, 0], [0, 0]])) == 0
    assert kappa_of(np.zeros((2, 2), dtype=int)) == 0
    assert kappa_of(np.array([[4, 4], [4, 4]])) == 0


# ---- ranks

# few different values, so that ties are common
tables = arrays(float, st.tuples(st.integers(2, 6), st.integers(2, 7)), elements=st.sampled_from([0.5, 0.7, 0.8, 0.9]))


def as_scores(table):
    return {f"m{i}": row.tolist() for i, row in enumerate(table)}


@given(tables)
def test_mean_ranks_by_counting(table):
    found = compare(as_scores(table))
    for name, rank in zip(found.names, found.mean_rank, strict=True):
        own = table[int(name[1:])]
        better, equal = (table > own).sum(axis=0), (table == own).sum(axis=0)
        assert rank == pytest.approx(np.mean(better + (equal + 1) / 2))
    assert sorted(found.names) == sorted(as_scores(table))
    assert (np.diff(found.mean_rank) >= 0).all()
    assert found.mean_rank.mean() == pytest.approx((len(table) + 1) / 2)


@given(tables)
def test_p_value_is_that_of_scipy(table):
    p_value = compare(as_scores(table)).p_value
    if len(table) == 2 or (table == table[:1]).all():
        assert math.isnan(p_value)
    else:
        assert p_value == pytest.approx(friedmanchisquare(*table).pvalue)


def test_scores_that_differ_by_rounding_are_tied():
    found = compare({"a": [0.1 + 0.2, 0.5], "b": [0.3, 0.5]})
    assert found.mean_rank.tolist() == [1.5, 1.5]
    assert found.names == ("a", "b")


@pytest.mark.parametrize(
    ("n_methods", "n_sets", "level", "difference"),
    [
        (4, 14, 0.05, 1.25),  # Demšar 2006, section 3.2.2
        (4, 14, 0.10, 2.291 * math.sqrt(20 / 84)),  # his Table 5
        (2, 10, 0.05, 1.960 * math.sqrt(6 / 60)),
        (10, 6, 0.05, 3.164 * math.sqrt(110 / 36)),
    ],
)
def test_critical_difference_of_demsar(n_methods, n_sets, level, difference):
    table = np.random.default_rng(0).random((n_methods, n_sets))
    found = compare(as_scores(table), level=level)
    assert found.critical_difference == pytest.approx(difference, rel=3e-3)
    assert found.level == level


@given(
    st.lists(st.integers(4, 40).map(lambda quarter: quarter / 4), min_size=1, max_size=9),
    st.integers(0, 24).map(lambda quarter: quarter / 4),
)
def test_groups_are_the_longest_runs_within_the_difference(ranks, difference):
    rank = np.sort(np.array(ranks))  # quarters: sums and differences are exact
    names = tuple(f"m{i}" for i in range(len(rank)))
    groups = Ranks(names, rank, math.nan, difference, 0.05).groups()
    runs = [(a, b) for a, b in itertools.combinations(range(len(rank)), 2) if rank[b] - rank[a] <= difference]
    longest = [(a, b) for a, b in runs if not any((c, d) != (a, b) and c <= a and b <= d for c, d in runs)]
    assert groups == sorted(longest)


@pytest.mark.parametrize("scores", [{"a": [1.0, 0.5]}, {"a": [1.0], "b": [0.5]}])
def test_too_few_to_compare(scores):
    with pytest.raises(ValueError, match="at least two methods on at least two data sets"):
        compare(scores)
