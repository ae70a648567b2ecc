r"""The exact reduction of the one-layer transformer with a ReLU layer.

It puts one hidden layer of m neurons between the attention and the scores (Shi and Cao 2025, F.1):

.. math:: f(X) = A \, \mathrm{ReLU}\bigl( V X S(\tilde X^\top W \tilde x_N) \bigr), \qquad
          A \in \mathbb{R}^{K \times m}, \; V \in \mathbb{R}^{m \times K}.

The attention is that of `OneLayerModel`, so the same K + N numbers stand for W. A neuron that is
on passes the average through, one that is off passes nothing. So for one sequence the model is
linear in its average, with the neurons that are on, and token x is worth
:math:`\sum_{i\,\text{on}} A_{yi} V_{ix}` in place of :math:`V_{yx}`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from . import _validation as check
from ._progress import progress
from .losses import Loss
from .one_layer import OneLayerModel, _checked_loss, _Data, _forward, _highest


@dataclass(frozen=True)
class ReluParameters:
    """The parameters that the loss can see, or their gradients.

    Attributes
    ----------
    output : numpy.ndarray, shape (vocab_size, width)
        The matrix A from neurons to scores.
    value : numpy.ndarray, shape (width, vocab_size)
        The matrix V from tokens to neurons.
    content : numpy.ndarray, shape (vocab_size,)
        What a column's token adds to its attention score.
    position : numpy.ndarray, shape (length,)
        What a column's place adds to its attention score.

    Examples
    --------
    >>> start = ReluModel(vocab_size=3, length=4, width=5).random(0.1, rng=0)
    >>> start.output.shape, start.value.shape, start.content.shape, start.position.shape
    ((3, 5), (5, 3), (3,), (4,))
    """

    output: np.ndarray
    value: np.ndarray
    content: np.ndarray
    position: np.ndarray


@dataclass(frozen=True)
class ReluRun:
    """A training run; the first axis of each array runs over the iterations.

    Attributes
    ----------
    loss, accuracy : numpy.ndarray, shape (n_records,)
        On the training sequences.
    attention : numpy.ndarray, shape (n_records, length)
        Attention on each column, averaged over the training sequences.
    iterations : numpy.ndarray of int, shape (n_records,)
    parameters : ReluParameters
        At the end.
    diverged : bool
        Whether training stopped early because the loss or a gradient was no longer finite.

    Examples
    --------
    >>> model = ReluModel(3, 4, width=5)
    >>> run = model.train([[0, 1, 2, 0]], learning_rate=0.1, steps=2, start=model.random(0.1, rng=0))
    >>> run.loss.shape, run.attention.shape, run.diverged
    ((3,), (3, 4), False)
    """

    iterations: np.ndarray
    loss: np.ndarray
    accuracy: np.ndarray
    attention: np.ndarray
    parameters: ReluParameters
    diverged: bool


class ReluModel:
    """The one-layer transformer with a ReLU layer, reduced to what its loss can see.

    Parameters
    ----------
    vocab_size : int
        Number of tokens K, at least 2.
    length : int
        Columns N: the input tokens and the one to predict, at least 2.
    width : int, default 19
        Number of neurons m, at least 1.
    position_dim : int, default 1000
        Dimension M of the sine positions, at least `length`.
    unit_length : bool, default False
        Whether embeddings are scaled to length one in the attention.

    Raises
    ------
    ValueError
        If a size is out of range.

    References
    ----------
    Shi and Cao (2025), (F.1).

    Examples
    --------
    >>> from markov_transformers import CircleWalk
    >>> walks = CircleWalk(n_nodes=5, p=0.5).sample(200, 9, rng=0)
    >>> model = ReluModel(5, 9, unit_length=True)
    >>> run = model.train(walks, learning_rate=0.1, steps=50, start=model.random(0.1, rng=0))
    >>> bool(run.loss[-1] < run.loss[0])
    True
    """

    def __init__(
        self,
        vocab_size: int,
        length: int,
        width: int = 19,
        position_dim: int = 1000,
        *,
        unit_length: bool = False,
    ) -> None:
        self._linear = OneLayerModel(vocab_size, length, position_dim, unit_length=unit_length)
        self.width = check.integer("width", width, minimum=1)
        check.room("width", width, 6 * self.width * self._linear.vocab_size)

    def __repr__(self) -> str:
        return repr(self._linear).replace("OneLayerModel(", f"ReluModel(width={self.width}, ")

    def random(self, scale: float, *, rng: np.random.Generator | int) -> ReluParameters:
        """Draw the parameters that belong to Gaussian A, V and W.

        At zero there is nothing to learn from: A and V are each other's gradient.

        Parameters
        ----------
        scale : float
            Standard deviation of each entry, zero or more.
        rng : numpy.random.Generator or int
            Source of randomness, or a seed.

        Raises
        ------
        ValueError
            If `scale` is negative or not finite.

        Examples
        --------
        >>> ReluModel(3, 4, width=5).random(0.01, rng=0).output.shape
        (3, 5)
        """
        rng = check.generator(rng)
        rest = self._linear.random(scale, rng=rng)
        K, m = self._linear.vocab_size, self.width
        A, V = (scale * rng.standard_normal(shape) for shape in ((K, m), (m, K)))
        return ReluParameters(A, V, rest.content, rest.position)

    def loss_and_gradients(
        self,
        parameters: ReluParameters,
        tokens: np.ndarray,
        loss: Loss | None = None,
        weights: np.ndarray | None = None,
    ) -> tuple[float, ReluParameters]:
        """Return the loss and its partial derivatives.

        The derivative of ReLU at zero is taken as zero.

        Parameters
        ----------
        parameters : ReluParameters
        tokens : array of int, shape (n_sequences, length)
            Sequences; the last column is the target.
        loss : object with ``value(score)`` and ``derivative(score)``, default ``LogLoss(0.1)``
        weights : array, shape (n_sequences,), optional
            Weight of each sequence, zero or more; they are scaled to sum to one. Equal by default.

        Returns
        -------
        loss : float
        gradients : ReluParameters

        Raises
        ------
        ValueError
            If a shape does not fit, a token is out of range or a weight is negative.

        Examples
        --------
        >>> model = ReluModel(3, 4, width=2)
        >>> start = model.random(0.01, rng=0)
        >>> round(model.loss_and_gradients(start, [[0, 1, 2, 0]])[0], 2)
        2.3
        """
        parameters, loss = self._checked("parameters", parameters), _checked_loss(loss)
        data = self._linear._checked_data("tokens", tokens, weights)
        value, gradients, _ = self._step(parameters, data, loss)
        return value, gradients

    def train(
        self,
        tokens: np.ndarray,
        *,
        learning_rate: float,
        steps: int,
        start: ReluParameters,
        loss: Loss | None = None,
        weights: np.ndarray | None = None,
    ) -> ReluRun:
        """Train by gradient descent on A, V and W, and record every iteration.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length)
            Training sequences; the last column is the target.
        learning_rate : float
            Step size of gradient descent, zero or more.
        steps : int
            Number of gradient steps, zero or more.
        start : ReluParameters
            Where training starts.
        loss : object with ``value(score)`` and ``derivative(score)``, default ``LogLoss(0.1)``
        weights : array, shape (n_sequences,), optional
            Weights of the sequences; probabilities give the population loss.

        Returns
        -------
        ReluRun

        Raises
        ------
        ValueError
            If an argument is out of range or a shape does not fit.

        Warns
        -----
        RuntimeWarning
            If the loss or a gradient stops being finite. Training ends there and the run is kept.
        """
        learning_rate = check.real("learning_rate", learning_rate, 0.0)
        steps = check.integer("steps", steps, minimum=0)
        now, loss = self._checked("start", start), _checked_loss(loss)
        data = self._linear._checked_data("tokens", tokens, weights)
        check.room("steps", steps, (self._linear.length + 20) * (steps + 1))
        rates, diverged, rows = self._linear.rates, False, []
        for step in progress(range(steps + 1), "training"):
            with np.errstate(over="ignore", invalid="ignore"):
                value, slope, (accuracy, attention) = self._step(now, data, loss)
            rows.append((step, value, accuracy, attention))
            if not (np.isfinite(value) and all(np.isfinite(g).all() for g in vars(slope).values())):
                diverged = True
                warnings.warn(
                    f"training stopped at iteration {step} of {steps}: the loss ({value:g}) or a gradient "
                    "is no longer finite; a smaller learning_rate or another loss or start may help",
                    RuntimeWarning,
                    stacklevel=2,
                )
                break
            if step < steps:
                now = ReluParameters(
                    now.output - learning_rate * slope.output,
                    now.value - learning_rate * slope.value,
                    now.content - learning_rate * rates.content * slope.content,
                    now.position - learning_rate * rates.position * slope.position,
                )
        return ReluRun(*map(np.array, zip(*rows)), now, diverged)

    def _step(
        self, parameters: ReluParameters, data: _Data, loss: Loss
    ) -> tuple[float, ReluParameters, tuple[float, np.ndarray]]:
        A, V = parameters.output, parameters.value
        out = _forward(self._linear, parameters, data)
        hidden = out.mass @ V.T  # (B, m)
        on = hidden > 0
        neurons = np.where(on, hidden, 0.0)
        scores = neurons @ A.T  # (B, K)
        f = scores[np.arange(len(scores)), data.targets]  # (B,)
        slope = data.weights * loss.derivative(f)  # (B,)
        back = slope[:, None] * A[data.targets] * on  # (B, m)
        # The score is linear in the average, so a token is worth `back @ V`, their average slope f.
        pull = back @ V - (slope * f)[:, None]  # (B, K)
        A_gradient = np.zeros_like(A)
        np.add.at(A_gradient, data.targets, slope[:, None] * neurons)
        position = np.empty(self._linear.length)
        position[:-1] = out.over_positions(data, pull)
        position[-1] = -(slope * out.last * f).sum()
        content = (out.mass * pull).sum(axis=0) / self._linear._token_norm
        gradients = ReluParameters(A_gradient, back.T @ out.mass, content, position)
        attention = np.empty(self._linear.length)
        attention[:-1] = out.over_positions(data, np.broadcast_to(data.weights[:, None], data.shape))
        attention[-1] = data.weights @ out.last
        accuracy = float(data.weights @ (_highest(scores) == data.targets))
        return float(data.weights @ loss.value(f)), gradients, (accuracy, attention)

    def _checked(self, name: str, parameters: ReluParameters) -> ReluParameters:
        if not isinstance(parameters, ReluParameters):
            raise TypeError(f"{name} must be ReluParameters, got {parameters!r}")
        K, N, m = self._linear.vocab_size, self._linear.length, self.width
        return ReluParameters(
            check.real_array(f"{name}.output", parameters.output, (K, m), largest=check.LARGEST_WEIGHT),
            check.real_array(f"{name}.value", parameters.value, (m, K), largest=check.LARGEST_WEIGHT),
            check.real_array(f"{name}.content", parameters.content, (K,), largest=check.LARGEST_WEIGHT),
            check.real_array(f"{name}.position", parameters.position, (N,), largest=check.LARGEST_WEIGHT),
        )
