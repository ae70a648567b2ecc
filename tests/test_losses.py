"""Losses, against their definitions and against derivatives taken numerically."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers import ExponentialLoss, HingeLoss, LogisticLoss, LogLoss, SquareLoss

DEFINITIONS = [
    (LogLoss(0.1), lambda z: -math.log(z + 0.1)),
    (LogLoss(0.5), lambda z: -math.log(z + 0.5)),
    (SquareLoss(), lambda z: 0.5 * (z - 1) ** 2),
    (LogisticLoss(), lambda z: math.log(1 + math.exp(-z))),
    (HingeLoss(), lambda z: max(0.0, 1 - z)),
    (ExponentialLoss(), lambda z: math.exp(-z)),
]
LOSSES = [loss for loss, _ in DEFINITIONS]


@pytest.mark.parametrize(("loss", "definition"), DEFINITIONS, ids=lambda x: repr(x)[:20])
def test_a_loss_has_the_value_of_its_definition(loss, definition):
    score = np.linspace(-0.09, 3, 50)
    np.testing.assert_allclose(loss.value(score), [definition(z) for z in score], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@settings(deadline=None, max_examples=50)
@given(z=st.floats(0.01, 5))
def test_the_derivative_is_the_slope_of_the_value(loss, z):
    h = 1e-3 * (z + 0.1)
    if isinstance(loss, HingeLoss) and abs(z - 1) <= 2 * h:
        return  # no slope at the kink
    # Central differences of order h^4.
    f = loss.value(z + h * np.array([-2, -1, 1, 2]))
    slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
    np.testing.assert_allclose(loss.derivative(z), slope, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@settings(deadline=None, max_examples=30)
@given(a=st.floats(0, 5), b=st.floats(0, 5))
def test_each_loss_is_convex(loss, a, b):
    # A convex function lies above each of its tangents.
    tangent = loss.value(a) + loss.derivative(a) * (b - a)
    assert loss.value(b) >= tangent - 1e-12 * (1 + abs(tangent))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_loss_works_entry_by_entry_and_leaves_the_scores_alone(loss):
    score = np.array([[0.0, 0.5, 1.0], [1.5, 2.0, 0.25]])
    before = score.copy()
    for method in (loss.value, loss.derivative):
        result = method(score)
        assert result.shape == score.shape
        for index in np.ndindex(score.shape):
            assert result[index] == method(score[index])
    np.testing.assert_array_equal(score, before)


@pytest.mark.parametrize("score", [-0.1, -0.5, -100.0])
def test_the_log_loss_is_infinite_outside_its_domain_and_has_no_slope_there(score):
    assert LogLoss(0.1).value(score) == np.inf
    assert np.isnan(LogLoss(0.1).derivative(score))


def test_the_log_loss_of_nothing_to_add_is_infinite_at_zero():
    assert LogLoss(0).value(0.0) == np.inf
    assert LogLoss(0).value(1.0) == 0


def test_the_default_epsilon_of_the_log_loss_is_the_papers():
    assert LogLoss() == LogLoss(0.1)


@pytest.mark.parametrize("score", [-1000.0, 1000.0])
def test_the_logistic_loss_does_not_overflow(score):
    with np.errstate(over="raise"):
        value, slope = LogisticLoss().value(score), LogisticLoss().derivative(score)
    assert value == pytest.approx(max(0.0, -score))
    assert slope == pytest.approx(-1.0 if score < 0 else 0.0)


def test_the_hinge_loss_is_flat_from_the_kink_on():
    np.testing.assert_array_equal(HingeLoss().derivative(np.array([0.999, 1.0, 1.001])), [-1, 0, 0])


def test_a_loss_cannot_be_changed_after_it_is_made():
    with pytest.raises(AttributeError):
        LogLoss().epsilon = 0.2


def test_the_log_loss_of_a_score_that_is_not_a_number_is_none_either():
    assert np.isnan(LogLoss().value(np.nan))
    assert LogLoss().value(-1.0) == np.inf
