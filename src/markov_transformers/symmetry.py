r"""The symmetric solution of the deterministic walk, and what becomes of small deviations from it.

A deterministic walk of length :math:`N = rK + 1` visits each node :math:`r` times before its
target. From zero initialization, training then never leaves a small family of parameters,

.. math:: V = v\,1 1^\top, \qquad [S]_1 = \dots = [S]_{N-1} = a,

and two numbers, :math:`v` and the gap between the scores of a token and of the empty column, take
the place of all parameters. The family is kept exactly, but it is unstable: deviations between
nodes of different distance to the target grow by a factor of about

.. math:: 1 + \eta\,|\ell'(f)|\,a\,\sqrt{R\, r / K}

per iteration, where :math:`R` is the speed of a position's score. Rounding errors are such
deviations.

Source: Shi and Cao (2025), section 4 and Theorem 4.1; the two recursions are derived here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from . import _validation as check
from .losses import Loss
from .one_layer import OneLayerModel, OneLayerParameters, OneLayerRun, _checked_loss
from .walks import CircleWalk


@dataclass(frozen=True)
class SymmetricSolution:
    """The whole course of training on a deterministic walk, in two numbers an iteration.

    Attributes
    ----------
    iterations : numpy.ndarray of int, shape (steps + 1,)
    value : numpy.ndarray, shape (steps + 1,)
        Every entry v of the value matrix.
    attention : numpy.ndarray, shape (steps + 1,)
        Attention a on each input token.
    empty : numpy.ndarray, shape (steps + 1,)
        Attention on the empty column, 1 - (N - 1) a.
    score : numpy.ndarray, shape (steps + 1,)
        Score f of every node, the right one and the others.
    slope : numpy.ndarray, shape (steps + 1,)
        Derivative of the loss at that score.

    Examples
    --------
    >>> solution = symmetric_solution(OneLayerModel(6, 97), learning_rate=1.0, steps=3)
    >>> bool(np.allclose(96 * solution.attention + solution.empty, 1))
    True
    """

    iterations: np.ndarray
    value: np.ndarray
    attention: np.ndarray
    empty: np.ndarray
    score: np.ndarray
    slope: np.ndarray


def symmetric_solution(
    model: OneLayerModel, *, learning_rate: float, steps: int, loss: Loss | None = None
) -> SymmetricSolution:
    r"""Train on a deterministic walk from zero, by the recursion of two numbers.

    Parameters
    ----------
    model : OneLayerModel
        Its length N must be rK + 1 with r at least 1, so that each node is seen equally often.
    learning_rate : float
        Step size of gradient descent, zero or more.
    steps : int
        Number of gradient steps, zero or more.
    loss : object with ``value(score)`` and ``derivative(score)``, default ``LogLoss(0.1)``

    Returns
    -------
    SymmetricSolution

    Raises
    ------
    ValueError
        If an argument is out of range, or if K does not divide N - 1.

    Warns
    -----
    RuntimeWarning
        If a number stops being finite. The solution is kept up to there.

    References
    ----------
    Shi and Cao (2025), Theorem 4.1.

    Examples
    --------
    >>> solution = symmetric_solution(OneLayerModel(6, 97), learning_rate=1.0, steps=2)
    >>> solution.value.round(4)  # after one step, (N - 1) / (epsilon N K^2)
    array([0.    , 0.2749, 0.3488])
    """
    model, r = _checked_model(model)
    learning_rate = check.real("learning_rate", learning_rate, 0.0)
    steps = check.integer("steps", steps, minimum=0)
    check.room("steps", steps, 40 * (steps + 1))
    loss = _checked_loss(loss)
    K, n = model.vocab_size, model.length - 1
    rates = model.rates
    token_rate = rates.content[0] * r / model._token_norm**2 + rates.position[0]
    empty_rate = rates.position[-1]
    v, gap, rows = 0.0, 0.0, []
    for step in range(steps + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            peak = max(gap, 0.0)
            token, empty = np.exp(gap - peak), np.exp(-peak)
            a, empty = token / (n * token + empty), empty / (n * token + empty)
            f = n * a * v
            slope = float(loss.derivative(np.array([f]))[0])
        if not np.isfinite([v, gap, f, slope]).all():
            warnings.warn(
                f"the recursion stopped at iteration {step} of {steps}: a number is no longer finite",
                RuntimeWarning,
                stacklevel=2,
            )
            break
        rows.append((step, v, a, empty, f, slope))
        with np.errstate(over="ignore", invalid="ignore"):
            pull, empty_pull = slope * a * v * empty, -slope * empty * f  # v - f = v * empty
            v = v - learning_rate * slope * n * a / K**2
            gap = gap - learning_rate * (token_rate * pull - empty_rate * empty_pull)
    step, *others = map(np.array, zip(*rows))
    return SymmetricSolution(step, *others)


def lag_profile(model: OneLayerModel, parameters: OneLayerParameters) -> tuple[np.ndarray, np.ndarray]:
    """Return how parameters tell apart the nodes 1, 2, ..., K steps before the target.

    On the walk with p = 1 the node m steps before the target y is y - m. Index 0 stands for m = K.

    Parameters
    ----------
    model : OneLayerModel
        Its length N must be rK + 1.
    parameters : OneLayerParameters

    Returns
    -------
    value : numpy.ndarray, shape (vocab_size,)
        Entry m is the mean of ``V[y, y - m]`` over y, less the mean of V.
    position : numpy.ndarray, shape (vocab_size,)
        Entry m is the mean score of the places m, m + K, ... before the target, less their mean.

    Raises
    ------
    ValueError
        If a shape does not fit, or K does not divide N - 1.

    Examples
    --------
    >>> model = OneLayerModel(3, 4)
    >>> start = OneLayerParameters(np.roll(np.eye(3), 1, axis=0), np.zeros(3), np.array([0, 0, 3, 0]))
    >>> lag_profile(model, start)  # both prefer the node one step before the target
    (array([-0.33333333,  0.66666667, -0.33333333]), array([-1.,  2., -1.]))
    """
    model, _ = _checked_model(model)
    parameters = model._checked(parameters)
    K, n = model.vocab_size, model.length - 1
    nodes = np.arange(K)
    # Less one of them first, so that equal numbers leave exactly nothing.
    V, q = parameters.value - parameters.value[0, 0], parameters.position[:-1] - parameters.position[0]
    value = np.array([V[nodes, (nodes - m) % K].mean() for m in nodes])
    lags = (model.length - np.arange(1, n + 1)) % K  # (N - 1,)
    position = np.array([q[lags == m].mean() for m in nodes])
    return value - value.mean(), position - position.mean()


def follow_deviation(
    model: OneLayerModel,
    solution: SymmetricSolution,
    start: int,
    value: np.ndarray,
    position: np.ndarray,
    *,
    learning_rate: float,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Follow a small deviation from the symmetric solution, to first order.

    With :math:`\phi_m` and :math:`q_m` as returned by `lag_profile`, one step of training does

    .. math::
        \phi_m \leftarrow \phi_m - \tfrac{\eta}{K}\, \ell'(f)\, r a\, q_m, \qquad
        q_m \leftarrow q_m - \eta R\, \ell'(f)\, a\, (\phi_m + v a_N\, q_m).

    Parameters
    ----------
    model : OneLayerModel
    solution : SymmetricSolution
        Around which to linearize.
    start : int
        Iteration at which the deviation is given.
    value, position : array, shape (vocab_size,)
        The deviation at that iteration.
    learning_rate : float
        The one that the solution was computed with.

    Returns
    -------
    value, position : numpy.ndarray, shape (steps + 1 - start, vocab_size)
        The deviation at iterations `start`, `start` + 1, and so on to the end of `solution`.

    Raises
    ------
    ValueError
        If an argument is out of range or a shape does not fit.

    Examples
    --------
    >>> model = OneLayerModel(6, 97)
    >>> solution = symmetric_solution(model, learning_rate=1.0, steps=4)
    >>> tiny = 1e-15 * np.array([1, -1, 0, 0, 0, 0])
    >>> V, q = follow_deviation(model, solution, 2, tiny, tiny, learning_rate=1.0)
    >>> f"{q[-1, 0] / tiny[0]:.0f}-fold in two iterations"
    '11241-fold in two iterations'
    """
    model, r = _checked_model(model)
    if not isinstance(solution, SymmetricSolution):
        raise TypeError(f"solution must be a SymmetricSolution, got {solution!r}")
    start = check.integer("start", start, 0, len(solution.iterations) - 1)
    K = model.vocab_size
    phi = check.real_array("value", value, (K,), largest=check.LARGEST_WEIGHT)
    q = check.real_array("position", position, (K,), largest=check.LARGEST_WEIGHT)
    learning_rate = check.real("learning_rate", learning_rate, 0.0)
    rate = model.rates.position[0]
    rows = [(phi, q)]
    for t in range(start, len(solution.iterations) - 1):
        push = -learning_rate * solution.slope[t] * solution.attention[t]
        away = solution.value[t] * solution.empty[t]
        phi, q = phi + push * r / K * q, q + push * rate * (phi + away * q)
        rows.append((phi, q))
    value, position = map(np.array, zip(*rows))
    return value, position


def train_with_gram(
    model: OneLayerModel, gram: np.ndarray, *, learning_rate: float, steps: int, loss: Loss | None = None
) -> OneLayerRun:
    """Train on the deterministic walk, p = 1, with given inner products of the positions.

    With exact inner products this is `OneLayerModel.train` on the population. With those that a
    computer gets from its sines, small wrong numbers off the diagonal mix the places, and nothing
    else differs: all other arithmetic treats equal places alike.

    Parameters
    ----------
    model : OneLayerModel
    gram : array, shape (length, length)
        Inner products of the positions; (M + 1) / 2 times the identity would be exact.
    learning_rate : float
        Step size of gradient descent, zero or more.
    steps : int
        Number of gradient steps, zero or more.
    loss : object with ``value(score)`` and ``derivative(score)``, default ``LogLoss(0.1)``

    Returns
    -------
    OneLayerRun
        Every iteration, measured on the population.

    Raises
    ------
    ValueError
        If an argument is out of range, a shape does not fit, or the loss stops being finite.

    Examples
    --------
    >>> model = OneLayerModel(6, 13)
    >>> run = train_with_gram(model, 500.5 * np.eye(13), learning_rate=1.0, steps=50)
    >>> float(np.ptp(run.value[-1])), float(run.accuracy[-1].round(4))
    (0.0, 0.1667)
    """
    if not isinstance(model, OneLayerModel):
        raise TypeError(f"model must be a OneLayerModel, got {model!r}")
    gram = check.real_array("gram", gram, (model.length, model.length), largest=check.LARGEST_WEIGHT)
    learning_rate = check.real("learning_rate", learning_rate, 0.0)
    steps = check.integer("steps", steps, minimum=0)
    loss = _checked_loss(loss)
    n_numbers = model.vocab_size * (model.vocab_size + 1) + 2 * model.length
    check.room("steps", steps, 2 * n_numbers * (steps + 1))
    tokens, weights = CircleWalk(model.vocab_size, 1.0).enumerate(model.length)
    # From the gradient in q: divided by the lengths of the columns, mixed by the inner products.
    mix = model._query_square * gram / np.outer(model._norms, model._norms)
    speed = model._query_square
    now, rows = model.zero(), []
    for step in range(steps + 1):
        value, slope = model.loss_and_gradients(now, tokens, loss, weights)
        attention = model.attention(now, tokens[:, :-1]).mean(axis=0)
        accuracy = (model.predict(now, tokens[:, :-1]) == tokens[:, -1]).mean()
        rows.append((step, value, accuracy, attention, now.value, now.content, now.position))
        if step < steps:
            with np.errstate(over="ignore", invalid="ignore"):
                now = OneLayerParameters(
                    now.value - learning_rate * slope.value,
                    now.content - learning_rate * speed * slope.content,
                    now.position - learning_rate * mix @ slope.position,
                )
            if not all((np.abs(part) <= check.LARGEST_WEIGHT).all() for part in vars(now).values()):
                check.refuse(
                    "learning_rate", learning_rate, f"small enough to stay finite at step {step + 1}"
                )
    step, value, accuracy, *others = map(np.array, zip(*rows))
    return OneLayerRun(step, value, accuracy, None, *others, diverged=False)


def _checked_model(model: OneLayerModel) -> tuple[OneLayerModel, int]:
    """Return the model and how often each node is seen."""
    if not isinstance(model, OneLayerModel):
        raise TypeError(f"model must be a OneLayerModel, got {model!r}")
    K = check.integer("model.vocab_size", model.vocab_size, minimum=3)
    if (model.length - 1) % K:
        check.refuse("model.length", model.length, f"one more than a multiple of the {K} nodes")
    return model, (model.length - 1) // K
