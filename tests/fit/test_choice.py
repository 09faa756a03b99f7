"""The choice of basis, size and shrinkage: an honest one, the same for every seed and order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import brunnermunzel
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from rfsc._fit import choice
from rfsc._fit import rows as fit_rows
from rfsc._fit.encoding import encode
from rfsc._fit.fitting import _spec
from rfsc._fit.output import Job, OutputSearch
from rfsc._fit.rows import Rows, column_order, folds_of, read_rows
from rfsc._model.inference import WaldFit, calibration_slopes, intercepts, refit, shrunken
from rfsc._search.context import Context
from rfsc._search.progress import ConsoleProgress
from rfsc._terms.expression import evaluate
from rfsc._terms.scaling import Scaling
from rfsc.bases import Polynomial, auto_mixes
from rfsc.explain import term_table
from rfsc.export import from_json, to_json
from tests.making import make

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_models": 20, "max_iter": 15, "n_restarts": 2, "random_state": 0}


def boxes(n_rows, rng):
    """Six clusters of alternating class in the plane: no polynomial of low degree follows them."""
    centre = np.array([[0, 0], [2, 0], [4, 0], [0, 2], [2, 2], [4, 2]], dtype=float)
    which = rng.integers(6, size=n_rows)
    return centre[which] + rng.normal(scale=0.25, size=(n_rows, 2)), np.array([0, 1, 0, 1, 0, 1])[which]


def blobs(n_rows, rng):
    """Eight clusters anywhere in five dimensions, four of each class."""
    centre = np.random.default_rng(8).random((8, 5))
    which = rng.integers(8, size=n_rows)
    return centre[which] + rng.normal(scale=0.15, size=(n_rows, 5)), which % 2


def kinked(n_rows, rng):
    """Two features that begin to count at a knot, among six."""
    X = rng.random((n_rows, 6))
    f = np.maximum(0, X[:, 0] - 0.6) + np.maximum(0, 0.4 - X[:, 1])
    return X, (20 * f + rng.logistic(size=n_rows) > 2.5).astype(int)


def straight(n_rows, rng):
    """Two of six features, straight lines."""
    X = rng.random((n_rows, 6))
    return X, (4 * X[:, 0] - 4 * X[:, 3] + rng.logistic(size=n_rows) > 0).astype(int)


@pytest.mark.parametrize(
    ("draw", "mix"), [(blobs, "linear + radial"), (boxes, "rule"), (kinked, "hinge"), (straight, "linear")]
)
def test_takes_the_simplest_that_fits(draw, mix):
    X, y = draw(240, np.random.default_rng(3))
    clf = make(**QUICK).fit(X, y)
    assert clf.basis_ == auto_mixes(*X.shape[::-1])[mix]
    assert set(clf.basis_losses_) == set(auto_mixes(*X.shape[::-1]))
    unseen, truth = draw(400, np.random.default_rng(1))
    assert log_loss(truth, clf.predict_proba(unseen)) < log_loss(truth, np.full(400, y.mean()))


def test_a_size_is_left_out_like_any_model():
    """The slow twin: the path of one search on the rows of the other folds, evaluated by the expressions."""
    X, y = straight(150, np.random.default_rng(0))
    clf = make("polynomial", **QUICK).fit(X, y)
    rows, _ = read_rows(make("polynomial"), X, y, None, None)
    some, fold, n_left_out = folds_of(rows, 5, np.random.default_rng(choice.CHOICE_SEED))
    assert some is rows
    assert n_left_out == 5
    spec = replace(_spec(make("polynomial", **QUICK).fit(X, y), rows), max_size=8)
    values = np.zeros((9, len(X)))
    for k in range(5):
        part = rows.take(np.flatnonzero(fold != k))
        job = Job(0, column_order(rows), spec, (np.random.SeedSequence([choice.CHOICE_SEED, k, 0]),))
        work = OutputSearch(part, job)
        unseen = rows.table[:, fold == k]
        for model in work.path([work.run(0, Context())], Context()):
            terms = work.space.terms(model.ids)
            f = sum(c * evaluate(term.expression, unseen) for c, term in zip(model.coef, terms, strict=True))
            values[work.size(model.ids) :, fold == k] = f
    target = rows.targets.outputs[0]
    slopes = calibration_slopes(values, target, rows.weight)
    values *= slopes[:, None]
    constants = np.where(slopes < 1.0, intercepts(values, target, rows.weight), 0.0)
    loss = np.logaddexp(0.0, -target * (values + constants[:, None]))
    sizes = clf.models_[0].sizes
    assert sizes.log_loss == pytest.approx(loss.mean(axis=1)[sizes.n_terms], rel=1e-9)
    best = int(np.argmin(loss.mean(axis=1)))
    paired = (loss - loss[best]).std(axis=1) / np.sqrt(len(X))
    assert sizes.standard_error == pytest.approx(paired[sizes.n_terms], rel=1e-6, abs=1e-12)


def test_number_one_standard_error_and_best():
    X, y = kinked(240, np.random.default_rng(0))
    best, small, three = (make("hinge", size=size, **QUICK).fit(X, y) for size in ("best", "1se", 3))
    assert three.models_[0].size == 3
    curve = best.models_[0].sizes
    assert small.models_[0].size == curve.n_terms[curve.above_best <= curve.standard_error][0]
    assert make("hinge", size=0, **QUICK).fit(X, y).models_[0].size == 0


def test_noise_gives_the_constant():
    rng = np.random.default_rng(0)
    clf = make(**QUICK).fit(rng.normal(size=(200, 10)), rng.random(200) < 0.3)
    assert [model.size for model in clf.models_] == [0]
    assert clf.predict_proba(np.zeros((1, 10)))[0, 1] == pytest.approx(0.3, abs=0.1)


@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_order_of_rows_and_columns_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = kinked(120, np.random.default_rng(0))
    rows, columns = rng.permutation(120), rng.permutation(6)
    one = make(**QUICK).fit(X, y)
    other = make(**QUICK).fit(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X[:, columns]), rtol=1e-9, atol=1e-9)
    assert one.basis_losses_ == pytest.approx(other.basis_losses_, rel=1e-9)


def test_basis_and_size_do_not_depend_on_the_seed():
    X, y = straight(200, np.random.default_rng(0))
    fits = [make(**QUICK | {"random_state": seed}).fit(X, y) for seed in (0, 1)]
    assert fits[0].basis_losses_ == fits[1].basis_losses_
    assert fits[0].models_[0].size == fits[1].models_[0].size
    again = clone(fits[0]).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), fits[0].decision_function(X))


def test_groups_and_equal_rows_are_on_one_side_of_every_split():
    rng = np.random.default_rng(0)
    X, y = rng.random((90, 2)), np.arange(90) % 3
    groups = rng.integers(30, size=90)
    rows, _ = read_rows(make(), X, y, None, groups)
    _, fold, _ = folds_of(rows, 5, np.random.default_rng(0))
    assert all(np.unique(fold[rows.groups == g]).size == 1 for g in np.unique(rows.groups))
    twice, _ = read_rows(make(), np.repeat(X, 2, axis=0), np.repeat(y, 2), None, None)
    _, fold, _ = folds_of(twice, 5, np.random.default_rng(0))
    pairs = {}
    for row, k in zip(map(tuple, twice.table.T), fold, strict=True):
        assert pairs.setdefault(row, k) == k


def test_names_of_groups_do_not_matter():
    X, y = straight(120, np.random.default_rng(0))
    groups = np.random.default_rng(1).integers(30, size=120)
    one, other = (make("hinge", **QUICK).fit(X, y, groups=g) for g in (groups, [f"patient {99 - g}" for g in groups]))
    assert one.basis_losses_ == other.basis_losses_
    with pytest.raises(ValueError, match="missing values"):
        make("hinge", **QUICK).fit(X, y, groups=np.where(groups == 3, np.nan, groups))


@given(
    weight=st.lists(st.integers(1, 40), min_size=12, max_size=12).filter(lambda w: sum(w) >= 60),
    seed=st.integers(0, 99),
)
def test_observations_of_few_distinct_rows_are_divided_among_the_folds(weight, seed):
    X, y = np.array([[a, b] for a in range(3) for b in range(2)] * 2, dtype=float), np.repeat([0, 1], 6)
    rows, _ = read_rows(make(), X, y, np.array(weight), None)
    some, fold, n_left_out = folds_of(rows, 5, np.random.default_rng(seed))
    assert n_left_out == 5
    # nothing is lost, every part is a whole number of observations, and every class is spread evenly
    for row, code, total in zip(rows.table.T, rows.targets.code, rows.weight, strict=True):
        is_same = (row == some.table.T).all(axis=1) & (some.targets.code == code)
        assert some.weight[is_same].sum() == pytest.approx(total)
    assert some.weight == pytest.approx(np.rint(some.weight))
    for c in (0, 1):
        by_fold = np.bincount(fold[some.targets.code == c], some.weight[some.targets.code == c], 5)
        assert np.ptp(by_fold) <= 1.0 + 1e-9
    repeated, _ = read_rows(make(), np.repeat(X, weight, axis=0), np.repeat(y, weight), None, None)
    again, fold_again, _ = folds_of(repeated, 5, np.random.default_rng(seed))
    np.testing.assert_array_equal(again.weight, some.weight)
    np.testing.assert_array_equal(fold_again, fold)


def test_a_table_of_two_levels_gives_its_main_effect():
    """Without all rows of one level and class, what is left says the opposite."""
    rng = np.random.default_rng(0)
    smokes = rng.integers(0, 2, 500)
    ill = smokes ^ (rng.random(500) < 0.15)
    clf = make(**QUICK).fit(smokes[:, None], ill)
    shares = [ill[smokes == k].mean() for k in (0, 1)]
    assert clf.predict_proba([[0], [1]])[:, 1] == pytest.approx(shares, abs=0.03)


def test_groups_change_what_is_left_out():
    """Rows of a group are copies up to a trifle: only with groups is the loss that of new groups."""
    rng = np.random.default_rng(0)
    centre, label = rng.normal(size=(30, 8)), np.arange(30) % 2
    which = np.repeat(np.arange(30), 8)
    X, y = centre[which] + 1e-6 * rng.normal(size=(240, 8)), label[which]
    leaked, honest = make("hinge", **QUICK).fit(X, y), make("hinge", **QUICK).fit(X, y, groups=which)
    assert leaked.models_[0].sizes.log_loss.min() < 0.8 * honest.models_[0].sizes.log_loss.min()
    with pytest.raises(ValueError, match="one value for each of the 240 rows"):
        make("hinge", **QUICK).fit(X, y, groups=which[:5])


def test_weights_are_rows():
    X, y = straight(100, np.random.default_rng(0))
    weight = np.random.default_rng(1).integers(1, 3, len(X))
    weighted = make(**QUICK).fit(X, y, sample_weight=weight)
    repeated = make(**QUICK).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.basis_losses_ == pytest.approx(repeated.basis_losses_, rel=1e-6)


def test_long_tables_leave_out_one_fold_of_some_rows(monkeypatch):
    monkeypatch.setattr(fit_rows, "FEW_ROWS", 100)
    monkeypatch.setattr(fit_rows, "MANY_ROWS", 150)
    monkeypatch.setattr(fit_rows, "MOST_ROWS", 180)
    X, y = straight(300, np.random.default_rng(0))
    rows, _ = read_rows(make(), X, y, None, None)
    some, fold, n_left_out = folds_of(rows, 5, np.random.default_rng(0))
    assert (n_left_out, some.n_rows, fold.size, fold.max()) == (1, 180, 180, 2)
    assert make(**QUICK).fit(X, y).score(X, y) > 0.7


def test_the_filter_does_not_see_the_rows_left_out():
    """On pure noise no mix is clearly better than a coin (0.69); with a filter that sees all rows one has 0.52."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 400)), np.arange(80) % 2
    clf = make(filter_significance=0.05, n_restarts=1, n_models=40, random_state=0, size=4).fit(X, y)
    assert min(clf.basis_losses_.values()) > 0.65


def test_too_few_rows_take_the_first_mix_and_the_least_leave_one_out_loss():
    X, y = np.random.default_rng(0).random((7, 2)), np.array([0, 0, 0, 0, 0, 0, 1])
    clf = make(**QUICK).fit(X, y)
    assert clf.basis_losses_ == {}
    assert clf.basis_ == auto_mixes(2, 7)["linear"]
    assert clf.front_.log_loss is None


def test_progress_of_the_comparison(capsys):
    X, y = blobs(120, np.random.default_rng(0))
    make(verbose=1, **QUICK).fit(X, y)
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("cross-validation")]
    assert [line.rsplit(" ", 1)[0] for line in said] == [f"cross-validation: fold {k} of 5" for k in range(1, 6)]


def test_a_mix_that_falls_behind_is_not_searched_on_the_other_folds(monkeypatch):
    X, y = boxes(400, np.random.default_rng(0))
    searched = []
    run = choice.Comparison.run

    def spy(self, item, context):
        searched.append((item.mix, item.fold))
        return run(self, item, context)

    monkeypatch.setattr(choice.Comparison, "run", spy)
    monkeypatch.setattr(choice, "RACE_ROWS", 80)
    raced = make(**QUICK).fit(X, y)
    assert [k for mix, k in searched if mix == "rule"] == [0, 1, 2, 3, 4]
    assert [k for mix, k in searched if mix == "linear"] == [0]
    monkeypatch.setattr(choice, "RACE_ROWS", np.inf)
    full = make(**QUICK).fit(X, y)
    assert raced.basis_ == full.basis_
    # its loss is that of the best mix and the difference on the rows that both were judged on
    assert raced.basis_losses_ == pytest.approx(full.basis_losses_, abs=0.1)
    assert raced.basis_losses_["rule"] == full.basis_losses_["rule"]


def test_the_answer_is_searched_among_the_terms_of_the_folds_at_its_size():
    X, y = kinked(240, np.random.default_rng(0))
    clf = make("hinge", **QUICK).fit(X, y)
    rows, _ = read_rows(make("hinge"), X, y, None, None)
    spec = replace(_spec(clf, rows), max_size=8)
    allowed = column_order(rows)
    found = choice.choose({"hinge": spec.bases}, rows, lambda _: [allowed], spec, "best", None, Context()).outputs[0]
    among = {j for ids in found.known for j in ids.tolist()}
    for record in clf.searches_[0][0].history:
        assert set(record.rips.ids.tolist()) <= among
        assert record.mean_size_drawn <= found.size + 1


def test_searches_that_are_left_are_counted_down(monkeypatch):
    left = []
    monkeypatch.setattr(ConsoleProgress, "on_choice", lambda *given: left.append(given[-1]))
    X, y = blobs(120, np.random.default_rng(0))
    make("polynomial", verbose=1, **QUICK).fit(X, y)
    assert left == [4, 3, 2, 1, 0]
    left.clear()
    make(verbose=1, **QUICK).fit(X, y)
    assert left[0] == 5 * len(auto_mixes(2, 120)) - 1
    assert left[-1] == 0


def test_auto_stands_alone():
    with pytest.raises(ValueError, match="cannot stand in a list"):
        make(basis=["auto", "hinge"]).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="Name a basis"):
        make(size=None).fit(*straight(50, np.random.default_rng(0)))


# the front


def test_every_size_is_a_classifier():
    X, y = kinked(240, np.random.default_rng(0))
    clf = make("hinge", **QUICK).fit(X, y)
    front = clf.front_
    assert front.n_terms.tolist() == list(range(len(front.n_terms)))
    assert front.chosen.sum() == 1
    assert front.n_terms[front.chosen][0] == clf.models_[0].size
    for size in front.n_terms.tolist():
        other = clf.at_size(size)
        assert other.models_[0].size == size
        assert other.support_.sum() == front.n_features[size]
    np.testing.assert_array_equal(clf.at_size(clf.models_[0].size).predict_proba(X), clf.predict_proba(X))
    assert clf.models_[0].size == front.n_terms[front.chosen][0]  # the fit itself has not changed
    largest = int(front.n_terms[-1])
    for wrong in (-1, largest + 1, 99, 1.0, True):
        with pytest.raises(ValueError, match=rf"one of 0, 1, .*{largest}, the sizes of this fit, got {wrong}"):
            clf.at_size(wrong)
    assert front.to_frame().loc[2, "equation"] == front.equation[2]


@pytest.mark.parametrize("n_columns", [12, 60])
def test_a_size_is_met_however_large_if_there_are_so_many_terms(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, n_columns))
    y = X[:, 0] + rng.logistic(size=200) > 0
    clf = make(Polynomial(degree=1), size=45, **QUICK)
    if n_columns == 60:
        assert clf.fit(X, y).models_[0].size == 45
        return
    with pytest.warns(UserWarning, match="has 12 terms, fewer than size=45"):
        assert clf.fit(X, y).models_[0].size == 12


def test_models_of_all_sizes_know_what_their_terms_are_worth():
    X, y = kinked(240, np.random.default_rng(0))
    clf = make("hinge", **QUICK).fit(X, y)
    for size in clf.front_.n_terms[1:].tolist():
        model = clf.at_size(size).models_[0]
        assert np.isnan(model.worth).sum() == len(model.terms) - size  # of the intercept
        assert term_table(clf.at_size(size)).text().split()[:2] == ["term", "worth"]
        np.testing.assert_array_equal(from_json(to_json(clf.at_size(size))).models_[0].worth, model.worth)
    answer = clf.models_[0]
    np.testing.assert_array_equal(clf.at_size(answer.size).models_[0].worth, answer.worth)


def test_worth_is_the_leave_one_out_loss_without_the_term():
    """The slow twin: the loss of the path, and that of the model without a term, from fits without each row in turn."""
    X, y = straight(120, np.random.default_rng(0))
    clf = make("polynomial", size=2, ridge=0.0, **QUICK).fit(X, y)
    model, target = clf.models_[0], np.where(y, 1.0, -1.0)
    columns = model.columns(X)

    def left_out(columns):
        losses = []
        for row in range(len(y)):
            rest = np.arange(len(y)) != row
            zeros = np.zeros(len(columns))
            fit = refit(columns[:, rest], target[rest], np.ones(len(y) - 1), zeros, zeros)
            losses.append(np.logaddexp(0.0, -target[row] * (fit.coef @ columns[:, row])))
        return np.mean(losses)

    whole = left_out(columns)
    for j, term in enumerate(model.terms):
        if term.features:
            assert model.worth[j] == pytest.approx(left_out(np.delete(columns, j, axis=0)) - whole, rel=0.05)
        else:
            assert np.isnan(model.worth[j])


# shrinkage


def test_slope_is_that_of_scikit_learn_and_drawn_towards_one():
    rng = np.random.default_rng(0)
    f = rng.normal(scale=4.0, size=2000)
    y = rng.random(2000) < expit(0.5 * f + 0.3)
    target, weight = np.where(y, 1.0, -1.0), rng.integers(1, 4, 2000).astype(float)
    predictors = np.array([f, f / 4, np.zeros(2000), 50 * target, -f])
    slopes = calibration_slopes(predictors, target, weight)
    fit = refit(np.vstack([np.ones(2000), f]), target, weight, np.full(2, 1e-3), np.zeros(2))
    distance, error = 1.0 - fit.coef[1], fit.standard_error[1]
    assert slopes[0] == pytest.approx(1.0 - distance + error**2 / distance, rel=1e-6)
    plain = LogisticRegression(C=np.inf, tol=1e-8).fit(f[:, None], y, weight).coef_[0, 0]
    assert plain < slopes[0] < plain + 0.05
    # too timid, the constant, and separated classes stay as they are; what is wrong hardly counts
    assert slopes[1:].tolist() == [1.0, 1.0, 1.0, 0.05]
    few = slice(0, 12)
    assert calibration_slopes(f[None, few], target[few], np.ones(12))[0] >= plain  # its error is large


@pytest.mark.parametrize("effect", [-0.5, 0.0, 1.0])
def test_standardised_auc_is_the_rank_test_of_scipy(effect):
    rng = np.random.default_rng(0)
    is_class = np.arange(160) % 2 == 0
    f = np.round(rng.normal(size=160) + effect * is_class, 1)
    expected = brunnermunzel(f[~is_class], f[is_class]).statistic * np.sqrt(80 / 79)  # scipy divides by n - 1
    assert choice.standardised_auc(f, is_class, np.ones(160)) == pytest.approx(expected, rel=1e-9)
    weight = rng.integers(1, 4, 160)
    twice = [np.repeat(values, weight) for values in (f, is_class)]
    assert choice.standardised_auc(f, is_class, weight.astype(float)) == pytest.approx(
        choice.standardised_auc(*twice, np.ones(weight.sum())), rel=1e-9
    )


def test_separated_and_constant_predictions():
    is_class, weight = np.arange(6) < 3, np.ones(6)
    assert choice.standardised_auc(-np.arange(6.0), is_class, weight) == np.inf
    assert choice.standardised_auc(np.zeros(6), is_class, weight) == 0.0
    next_to_none = np.where(is_class, 5e-324, 3.5e16)
    assert choice.standardised_auc(np.array([2.0, 1.0, 4.0, 0.0, 3.0, 1.0]), is_class, next_to_none) == 0.0


def test_shrunken_fit_keeps_the_mean():
    rng = np.random.default_rng(0)
    columns = np.vstack([np.ones(300), rng.random((2, 300))])
    target = np.where(rng.random(300) < expit(3 * columns[1] - 1), 1.0, -1.0)
    fit = WaldFit(np.array([-1.0, 3.0, 0.5]), np.full(3, 0.1))
    found = shrunken(fit, 0.5, np.array([True, False, False]), columns, target, np.ones(300))
    assert found.coef[1:].tolist() == [1.5, 0.25]
    assert expit(found.coef @ columns).mean() == pytest.approx((target > 0).mean(), abs=1e-6)


def judged_size(losses, rule="best"):
    """The size that is chosen for rows whose left-out losses by size are given."""
    target = np.where(np.arange(losses.shape[1]) % 2, 1.0, -1.0)
    values = -target * np.log(np.expm1(losses))  # whose log-loss this is
    rows = Rows(encode(target), Scaling(np.zeros(1), np.ones(1)), np.zeros((1, target.size)), np.ones(target.size))
    judge = choice._Judge(rows, len(losses) - 1, rule)
    return judge.size(0, choice._Calibrated(values, np.ones(len(losses))))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), n_sizes=st.integers(1, 13), n_rows=st.integers(30, 200))
def test_sizes_are_chosen_as_the_method_page_says(seed, n_sizes, n_rows):
    rng = np.random.default_rng(seed)
    level = 0.3 + 0.4 * np.exp(-rng.uniform(0.2, 2.0) * np.arange(n_sizes)) + 0.03 * rng.normal(size=n_sizes)
    losses = np.maximum(level, 0.01)[:, None] * rng.gamma(4.0, 0.25, size=n_rows) + 0.01 * rng.random((n_sizes, n_rows))
    most = min(n_sizes - 1, max(1, n_rows // 2 // 3))
    loss = losses.mean(axis=1)
    error = [[(losses[j] - losses[k]).std() / np.sqrt(n_rows) for k in range(n_sizes)] for j in range(n_sizes)]
    usual = min(6, most)
    best = min(range(most + 1), key=lambda k: loss[k] - loss[usual] + error[k][usual])
    enough = max(0.02 * (loss[0] - loss[best]), 0.0)
    assert judged_size(losses) == next(k for k in range(most + 1) if loss[k] - loss[best] + error[k][best] <= enough)
    lowest = int(np.argmin(loss[: most + 1]))
    within = next(k for k in range(most + 1) if loss[k] - loss[lowest] <= error[k][lowest])
    assert judged_size(losses, "1se") == within


def test_a_lucky_small_size_is_not_taken_and_a_clear_one_is():
    rng = np.random.default_rng(0)
    noise = 0.5 * rng.random((9, 60))
    flat = np.linspace(0.7, 0.5, 9)[:, None] + noise
    lucky = flat.copy()
    lucky[1] -= flat[1].mean() - flat.mean(axis=1).min() + 0.001  # the lowest loss, by chance
    assert judged_size(lucky) > 1
    clear = np.full((9, 60), 0.5) + 0.01 * noise
    clear[0] += 0.2
    assert judged_size(clear) == 1
