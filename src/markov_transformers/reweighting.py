r"""What the transformer tends to once its selector and copier are trained.

The second attention then gives weight :math:`e^a` to a match on the set S and weight one to
everything else. In the limit of long sequences it averages tokens under a reweighted law, whose
distance from the conditional law drives the growth of a; and for every single sequence its output
is close to that of the generalized induction head.

Source: Chen et al. (2024), (D.12), Proposition E.4 and Lemma E.6.
"""

from __future__ import annotations

import numpy as np

from . import _validation as check
from ._lags import lag_set
from .information import _laws as window_laws


def reweighted_law(windows: np.ndarray, subset: tuple[int, ...], a: float) -> np.ndarray:
    r"""Return what the second attention predicts in the limit of long sequences.

    .. math:: \tilde\mu(x \mid E) = r_E \, \mu(x) + (1 - r_E) \, \mu(x \mid E), \qquad
              r_E = \frac{1}{1 + \mu(E) (e^a - 1)}

    Parameters
    ----------
    windows : array, shape (vocab_size,) * length or (n_chains,) + (vocab_size,) * length
        Stationary law of windows, oldest token first, the predicted one last.
    subset : tuple of int
        The lags S.
    a : float
        Scale of the second attention, zero or more.

    Returns
    -------
    numpy.ndarray, shape (vocab_size,) * (len(subset) + 1), after n_chains if there are several
        Its axes are the tokens at the lags of S, smallest lag first, then the token predicted.
        Where a context has probability zero it is the law without context.

    Raises
    ------
    ValueError
        If `windows` is no such law, a lag lies outside it, or `a` is negative.

    References
    ----------
    Chen et al. (2024), (D.12).

    Examples
    --------
    >>> copying = np.diag([0.5, 0.5])  # the next token repeats the last
    >>> np.round(reweighted_law(copying, (1,), a=np.log(3.0)), 3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    joint, batched = _joint(windows, subset)
    a = check.real("a", a, 0.0)
    law = _mixture(joint, a)
    law = law.reshape(len(joint), *(joint.shape[-1],) * (len(subset) + 1))
    return law if batched else law[0]


def classifier_speed(
    windows: np.ndarray, subset: tuple[int, ...], a: float, *, average: bool = True
) -> float | np.ndarray:
    r"""Return how fast a grows in Stage III, in the limit of long sequences.

    .. math:: f_5(a) = \mathbb E_E\Big[ e^a \mu(E) r_E^2 \sum_x
              \frac{\theta_x (\theta_x - \mu_x)}{r_E \mu_x + (1 - r_E) \theta_x} \Big],
              \qquad \theta_x = \mu(x \mid E)

    It starts at the modified :math:`\chi^2` information of S, grows like :math:`e^a`, and decays
    like :math:`e^{-2a}` at last, if no conditional probability is zero, like :math:`e^{-a}`
    otherwise.

    Parameters
    ----------
    windows : array, shape (vocab_size,) * length or (n_chains,) + (vocab_size,) * length
        Stationary law of windows, oldest token first, the predicted one last.
    subset : tuple of int
        The lags S.
    a : float
        Scale of the second attention, zero or more.
    average : bool, default True
        For several chains: the mean over them, the expectation under the prior that they were
        drawn from, or one value for each.

    Returns
    -------
    float, or numpy.ndarray of shape (n_chains,) if not `average`

    Raises
    ------
    ValueError
        If `windows` is no such law, a lag lies outside it, or `a` is negative.

    References
    ----------
    Chen et al. (2024), (D.12) and Proposition E.4.

    Examples
    --------
    >>> copying = np.diag([0.5, 0.5])
    >>> classifier_speed(copying, (1,), a=0.0)  # its modified information
    0.5
    """
    joint, batched = _joint(windows, subset)
    a, average = check.real("a", a, 0.0), check.flag("average", average)
    m, mu, theta = _laws(joint)
    excess = m * _expm1(a)
    # The sum over x in a form without cancellation: the differences theta - mu add up to zero.
    weight = np.where(theta > 0, excess * np.where(theta > 0, theta, 1), 0) + mu
    J = np.divide((theta - mu) ** 2, weight, out=np.zeros_like(weight), where=weight > 0).sum(axis=-1)
    r = 1 / (1 + excess[..., 0])
    boosted = 1 / (np.exp(-a) + m[..., 0] * -np.expm1(-a))  # e^a r
    speed = (m[..., 0] ** 2 * boosted * r * J).sum(axis=-1)
    return speed if batched and not average else float(speed.mean())


def induction_head_bound(a: float, error: float, n_matches: np.ndarray, n_positions: int) -> np.ndarray:
    r"""Bound the distance between the transformer and the generalized induction head.

    .. math:: \|y - y^\star\|_1 \le (e^{a\Delta} - 1) + \frac{2 (n - N)}{N} e^{-a (1 - 2\Delta)}

    for every sequence, where N of its n positions match. Without a match the second term is not
    there: the fallback of the induction head is the uniform average that the transformer tends to.

    Parameters
    ----------
    a : float
        Scale of the second attention, zero or more.
    error : float
        :math:`\Delta`, the largest distance of a score from 0 or 1: the sum of what
        `StagedModel.misspecification` returns.
    n_matches : int or array of int
        Matching positions N of each sequence.
    n_positions : int
        Positions n that the second attention sees: L - M with the mask.

    Returns
    -------
    numpy.ndarray, shape of `n_matches`
        No distance exceeds 2, so a larger bound is returned as 2.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), Lemma E.6, in a form that holds for each sequence.

    Examples
    --------
    >>> np.round(induction_head_bound(a=8.0, error=0.01, n_matches=np.array([10, 0]), n_positions=90), 4)
    array([0.0896, 0.0833])
    """
    a = check.real("a", a, 0.0)
    error = check.real("error", error, 0.0)
    n_positions = check.integer("n_positions", n_positions, minimum=1)
    N = check.real_array("n_matches", n_matches)
    if N.size and (N.min() < 0 or N.max() > n_positions):
        check.refuse("n_matches", n_matches, f"between 0 and n_positions, {n_positions}")
    matched = N > 0
    tail = np.where(matched, 2 * (n_positions - N) / np.where(matched, N, 1), 0.0)
    with np.errstate(over="ignore"):
        far = np.where(tail > 0, tail * np.exp(min(-a * (1 - 2 * error), 700.0)), 0.0)
        return np.minimum(_expm1(a * error) + far, 2.0)


def _joint(windows: np.ndarray, subset: tuple[int, ...]) -> tuple[np.ndarray, bool]:
    """Return the law of (context on the subset, next token), shape (n_chains, contexts, d)."""
    windows, batched = window_laws(windows)  # (B, d, ..., d)
    d = windows.shape[-1]
    lags = lag_set("subset", subset, windows.ndim - 2, empty=True)
    kept = [windows.ndim - 1 - lag for lag in lags]
    dropped = tuple(axis for axis in range(1, windows.ndim - 1) if axis not in kept)
    joint = windows.sum(axis=dropped)  # kept axes stay oldest first
    joint = np.moveaxis(joint, range(1, len(lags) + 1), range(len(lags), 0, -1))
    return joint.reshape(len(windows), -1, d), batched


def _laws(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return probabilities of the contexts, the law of a token, and that given each context."""
    m = joint.sum(axis=-1, keepdims=True)  # (B, E, 1)
    mu = joint.sum(axis=-2, keepdims=True)  # (B, 1, d)
    return m, mu, np.where(m > 0, joint / np.where(m > 0, m, 1), mu)


def _mixture(joint: np.ndarray, a: float) -> np.ndarray:
    m, mu, theta = _laws(joint)
    r = 1 / (1 + m * _expm1(a))
    return r * mu + (1 - r) * theta


def _expm1(x: float) -> float:
    return float(np.expm1(min(x, 700.0)))  # near the largest double, and far beyond any use
