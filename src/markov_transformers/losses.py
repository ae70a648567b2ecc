r"""Losses of a single score: the score that the model gives to the right answer.

The one-layer transformer is trained on :math:`\ell(e_y^\top f(X))` (Shi and Cao 2025, (2.2)).
A loss is any object with ``value(score)`` and ``derivative(score)``, both working entry by
entry on an array, so a reader's own class does as well as those below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from . import _validation as check


class Loss(Protocol):
    """What training asks of a loss."""

    def value(self, score: np.ndarray) -> np.ndarray:
        """Return the loss of each score."""
        ...

    def derivative(self, score: np.ndarray) -> np.ndarray:
        """Return the derivative of the loss at each score."""
        ...


def _numbers(score: object) -> np.ndarray:
    # Called at every step of training. Scores that are not finite have a loss that is not, either.
    if type(score) is np.ndarray and score.dtype == np.float64:
        return score
    return check.real_array("score", score, finite=False)


@dataclass(frozen=True)
class LogLoss:
    r"""The log-loss :math:`-\log(z + \epsilon)`, the loss of Theorem 3.1.

    Parameters
    ----------
    epsilon : float, default 0.1
        Keeps the loss finite at a score of zero, where training starts. Zero or more.

    Raises
    ------
    ValueError
        If `epsilon` is negative or not finite.

    Notes
    -----
    Where :math:`z + \epsilon \le 0` the loss is infinite and its derivative is NaN, which
    training reports as an error.

    References
    ----------
    Shi and Cao (2025), (2.2).

    Examples
    --------
    >>> loss = LogLoss(epsilon=0.5)
    >>> loss.value(np.array([0.5])), loss.derivative(np.array([0.5]))
    (array([-0.]), array([-1.]))
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check.real("epsilon", self.epsilon, 0.0))

    def value(self, score: np.ndarray) -> np.ndarray:
        """Return :math:`-\\log(z + \\epsilon)`, infinite outside the domain."""
        shifted = _numbers(score) + self.epsilon
        outside = np.where(np.isnan(shifted), np.nan, np.inf)
        return np.where(shifted > 0, -np.log(np.where(shifted > 0, shifted, 1.0)), outside)

    def derivative(self, score: np.ndarray) -> np.ndarray:
        """Return :math:`-1 / (z + \\epsilon)`, NaN outside the domain."""
        shifted = _numbers(score) + self.epsilon
        return -1 / np.where(shifted > 0, shifted, np.nan)


@dataclass(frozen=True)
class SquareLoss:
    r"""The square loss :math:`\tfrac12 (z - 1)^2`.

    Examples
    --------
    >>> SquareLoss().derivative(np.array([0.0, 1.0]))
    array([-1.,  0.])
    """

    def value(self, score: np.ndarray) -> np.ndarray:
        """Return half the squared distance of the score from one."""
        return (_numbers(score) - 1) ** 2 / 2

    def derivative(self, score: np.ndarray) -> np.ndarray:
        """Return :math:`z - 1`."""
        return _numbers(score) - 1


@dataclass(frozen=True)
class LogisticLoss:
    r"""The logistic loss :math:`\log(1 + e^{-z})`.

    Examples
    --------
    >>> LogisticLoss().derivative(np.array([0.0]))
    array([-0.5])
    """

    def value(self, score: np.ndarray) -> np.ndarray:
        """Return :math:`\\log(1 + e^{-z})` without overflow."""
        return np.logaddexp(0, -_numbers(score))

    def derivative(self, score: np.ndarray) -> np.ndarray:
        """Return :math:`-1 / (1 + e^{z})`."""
        return -np.exp(-np.logaddexp(0, _numbers(score)))


@dataclass(frozen=True)
class HingeLoss:
    r"""The hinge loss :math:`\max(0, 1 - z)`; at the kink the derivative is taken as zero.

    Examples
    --------
    >>> HingeLoss().derivative(np.array([0.5, 1.5]))
    array([-1.,  0.])
    """

    def value(self, score: np.ndarray) -> np.ndarray:
        """Return :math:`\\max(0, 1 - z)`."""
        return np.maximum(0, 1 - _numbers(score))

    def derivative(self, score: np.ndarray) -> np.ndarray:
        """Return -1 below a score of one and 0 from there on."""
        return np.where(_numbers(score) < 1, -1.0, 0.0)


@dataclass(frozen=True)
class ExponentialLoss:
    r"""The exponential loss :math:`e^{-z}`.

    Examples
    --------
    >>> ExponentialLoss().derivative(np.array([0.0]))
    array([-1.])
    """

    def value(self, score: np.ndarray) -> np.ndarray:
        """Return :math:`e^{-z}`."""
        return np.exp(-_numbers(score))

    def derivative(self, score: np.ndarray) -> np.ndarray:
        """Return :math:`-e^{-z}`."""
        return -np.exp(-_numbers(score))
