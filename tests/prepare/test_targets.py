"""Labels to outputs, and the weight of every row."""

from __future__ import annotations

import numpy as np
import pytest

from rfsc._fit.encoding import encode, row_weights

X = np.zeros((6, 1))
Y = np.array([0, 0, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("y", "second"),
    [(["no", "yes", "no"], "yes"), ([3, -1, -1], 3), ([True, False, True], True), ([0.0, 1.0, 1.0], 1.0)],
)
def test_two_classes_give_one_output_that_is_positive_for_the_second(y, second):
    targets = encode(np.array(y))
    (output,) = targets.outputs
    assert targets.classes[1] == second
    np.testing.assert_array_equal(output, np.where(np.array(y) == second, 1.0, -1.0))


def test_three_classes_give_one_output_each_against_the_rest():
    targets = encode(np.array(["c", "a", "b", "a"]))
    assert targets.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(targets.outputs, [[-1, 1, -1, 1], [-1, -1, 1, -1], [1, -1, -1, -1]])


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y holds 1 class; RFSC needs samples of at least two classes"):
        encode(np.array(["a", "a"]))


def test_continuous_targets_are_refused():
    with pytest.raises(ValueError, match="continuous"):
        encode(np.array([0.1, 0.7, 2.3]))


@pytest.mark.parametrize(("given", "expected"), [(None, np.ones(6)), (2.5, np.full(6, 2.5)), ([1] * 6, np.ones(6))])
def test_weights_without_classes(given, expected):
    weight = row_weights(given, None, X, Y)
    assert weight.dtype == np.float64
    np.testing.assert_array_equal(weight, expected)


def test_balanced_weights_give_every_class_the_same_sum():
    weight = row_weights(None, "balanced", X, Y)
    np.testing.assert_allclose(weight, [0.75] * 4 + [1.5] * 2)
    assert weight[Y == 0].sum() == pytest.approx(weight[Y == 1].sum())


def test_rows_of_weight_zero_do_not_count_when_classes_are_balanced():
    weight = row_weights([1, 1, 0, 0, 1, 1], "balanced", X, Y)
    np.testing.assert_allclose(weight, [1, 1, 0, 0, 1, 1])


def test_class_weights_multiply_sample_weights():
    weight = row_weights([1, 2, 3, 0, 1, 2], {0: 10.0, 1: 0.5}, X, Y)
    np.testing.assert_allclose(weight, [10, 20, 30, 0, 0.5, 1])


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 5.0, 1: 1.0}])
def test_the_users_weights_are_not_changed(class_weight):
    given = np.arange(6.0)
    row_weights(given, class_weight, X, Y)
    np.testing.assert_array_equal(given, np.arange(6.0))


def test_negative_weights_are_refused_and_counted():
    with pytest.raises(ValueError, match="must not be negative, 2 of 6 weights are"):
        row_weights([1, -1, 1, -2, 1, 1], None, X, Y)


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):
        row_weights(np.zeros(6), None, X, Y)
