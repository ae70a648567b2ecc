r"""The second attention layer and the loss, on compressed counts.

With :math:`E = e^{a s}` over the kinds of key, a group of sequences gives label k the probability

.. math:: y_k = \frac{\sum_P n_{k,P} E_P}{\sum_{k'} \sum_P n_{k',P} E_P},

one sparse product forward and one backward. Source: Chen et al. (2024), (2.4) and (E.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from . import _validation as check
from .losses import LogLoss, Loss
from .windows import ScoreCounts

Distribution = Callable[[np.ndarray, np.ndarray], "tuple[np.ndarray, np.ndarray]"]

_LARGEST_SPREAD = 500.0  # of exponents: e^-500 is still far from underflow


class SoftmaxCrossEntropy:
    r"""The cross-entropy of the softmax of the output probabilities.

    .. math:: \ell(y, t) = -y_t + \log \sum_k e^{y_k}

    The output is a distribution already and is normalized once more. This is what a framework's
    cross-entropy computes when it is handed probabilities; the public code behind the figures of
    Chen et al. (2024) does so (repository ``gszfwsb/Unveiling-Induction-Heads``).

    Examples
    --------
    >>> values, gradient = SoftmaxCrossEntropy()(np.array([[1.0, 0.0]]), np.array([0]))
    >>> np.round(values, 4), np.round(gradient, 4)
    (array([0.3133]), array([[-0.2689,  0.2689]]))
    """

    def __call__(self, probabilities: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the loss of each distribution and its gradient in the probabilities.

        Parameters
        ----------
        probabilities : array, shape (n, d)
            One distribution a row. Their sums are not checked, so that differences can be taken.
        targets : array of int, shape (n,)

        Returns
        -------
        values : numpy.ndarray, shape (n,)
        gradient : numpy.ndarray, shape (n, d)

        Raises
        ------
        ValueError
            If a shape does not fit, an entry is not finite or a target is out of range.
        """
        probabilities = check.real_array("probabilities", probabilities, (None, None))
        if probabilities.shape[1] == 0:
            check.refuse("probabilities", probabilities, "laws of at least one token")
        targets = check.token_array("targets", targets, probabilities.shape[1], ndim=1)
        if len(targets) != len(probabilities):
            check.refuse("targets", targets, f"one for each of the {len(probabilities)} distributions")
        return self._unchecked(probabilities, targets)

    @staticmethod
    def _unchecked(probabilities: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(len(targets))
        exponentials = np.exp(probabilities)  # (n, d)
        total = exponentials.sum(axis=1)
        gradient = exponentials / total[:, None]
        gradient[rows, targets] -= 1
        return np.log(total) - probabilities[rows, targets], gradient

    def __repr__(self) -> str:
        return "SoftmaxCrossEntropy()"


def labels_for(loss: object) -> str:
    """Return what a loss must tell apart, as an option of ``WindowCounts.by_match``."""
    if isinstance(loss, type):
        raise TypeError(f"loss must be an object of a class, not the class itself, got {loss!r}")
    if hasattr(loss, "value") and hasattr(loss, "derivative"):
        return "target"
    if isinstance(loss, SoftmaxCrossEntropy):
        return "shifted"
    if callable(loss):
        return "tokens"
    check.refuse(
        "loss",
        loss,
        "an object with value(score) and derivative(score), or a function of (probabilities, targets)",
    )


class Readout:
    """Loss of a data set as a function of the score of each kind of key.

    Parameters
    ----------
    counts : ScoreCounts
        Counted with the labels that `loss` asks for.
    loss : Loss or callable
    """

    def __init__(self, counts: ScoreCounts, loss: Loss | Distribution) -> None:
        self._counts = counts
        self._loss = loss._unchecked if isinstance(loss, SoftmaxCrossEntropy) else loss
        self._targeted = labels_for(loss) == "target"
        self._forward = counts.matrix
        self._backward = counts.matrix.T.tocsr()  # long rows: few branches to mispredict

    def __call__(
        self, scores: np.ndarray, a: float, *, with_loss: bool = True
    ) -> tuple[float | None, np.ndarray]:
        r"""Return the loss and :math:`R = -\frac1a \partial L / \partial s` for each kind of key."""
        logits = a * scores
        top = logits.max()
        if top - logits.min() > _LARGEST_SPREAD:
            return self._rescaled(logits)
        E = np.exp(logits - top)  # (P,)
        Y = (self._forward @ E).reshape(-1, self._counts.n_groups)  # (C, G)
        Z = Y[0] + Y[1] if len(Y) == 2 else Y.sum(axis=0)
        weight = self._counts.weights / Z
        U = np.empty_like(Y)
        if self._targeted:
            y = Y[0] / Z
            values, slopes = self._evaluate(y, with_loss)
            weight *= slopes
            np.multiply(weight, y, out=U[1])
            np.subtract(U[1], weight, out=U[0])
        else:
            y = Y / Z
            values, slopes = self._evaluate(y, with_loss)
            np.multiply(weight, (slopes * y).sum(axis=0) - slopes, out=U)
        R = (self._backward @ U.reshape(-1)) * E
        return (float(self._counts.weights @ values) if with_loss else None), R

    def _evaluate(self, y: np.ndarray, with_loss: bool = True) -> tuple[np.ndarray | None, np.ndarray]:
        """Return values and slopes of the loss; where it is infinite the slope counts as zero.

        `y` are probabilities of the target, shape (G,), or of all labels, shape (C, G).
        """
        if self._targeted:
            slopes = np.asarray(self._loss.derivative(y))
            values = np.asarray(self._loss.value(y)) if with_loss else None
        else:
            values, slopes = self._loss(y.T, self._counts.targets)
            values, slopes = np.asarray(values), np.asarray(slopes).T
            if values.shape != self._counts.targets.shape or slopes.shape != y.shape:
                raise ValueError(
                    "loss must return values of shape (n,) and gradients of shape (n, vocab_size), "
                    f"got {values.shape} and {slopes.T.shape}"
                )
        broken = not math.isfinite(slopes.sum())
        if broken or (values is not None and not math.isfinite(values.sum())):
            known = np.asarray(self._loss.value(y)) if values is None else values
            wrong = np.isnan(known) | (np.isfinite(known) & ~np.isfinite(slopes))
            if np.isfinite(y).all() and wrong.any():
                raise ValueError(
                    "loss must return numbers, and finite slopes wherever it is finite, got "
                    "NaN or an infinite slope"
                )
            slopes = np.where(np.isfinite(slopes), slopes, 0.0)
        return values, slopes

    def _rescaled(self, logits: np.ndarray) -> tuple[float, np.ndarray]:
        rows, share, log_y = _by_row(self._counts, logits)
        y = np.exp(log_y)
        if isinstance(self._loss, LogLoss) and self._loss.epsilon == 0:
            values = -log_y[0]  # finite where y itself underflows
            moment = np.zeros_like(y)  # y times the slope in y
            moment[0] = np.where(np.isfinite(values), -1.0, 0.0)
        else:
            values, slopes = self._evaluate(y[0] if self._targeted else y)
            moment = slopes * y
            if self._targeted:
                moment[1] = 0
        U = self._counts.weights * (moment - y * moment.sum(axis=0))
        R = -np.bincount(self._forward.indices, share * U.ravel()[rows], minlength=logits.size)
        return float(self._counts.weights @ values), R


def distribution(counts: ScoreCounts, scores: np.ndarray, a: float) -> np.ndarray:
    """Return the probability of each label in each group, shape (n_groups, n_labels)."""
    return np.exp(_by_row(counts, a * scores)[2].T)


def _by_row(counts: ScoreCounts, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each entry its row and its share of it, and the log-probability of each row.

    Every row is shifted by its own maximum, so nothing that matters underflows.
    """
    A = counts.matrix
    sizes = np.diff(A.indptr)
    rows, filled = np.repeat(np.arange(A.shape[0]), sizes), np.flatnonzero(sizes)
    starts = A.indptr[filled]
    entry = logits[A.indices]  # (nnz,)
    top = np.full(A.shape[0], -np.inf)
    top[filled] = np.maximum.reduceat(entry, starts)
    share = A.data * np.exp(entry - top[rows])
    total = np.ones(A.shape[0])
    total[filled] = np.add.reduceat(share, starts)
    share /= total[rows]
    log_mass = (np.log(total) + top).reshape(-1, counts.n_groups)  # (C, G)
    highest = log_mass.max(axis=0)
    return rows, share, log_mass - highest - np.log(np.exp(log_mass - highest).sum(axis=0))
