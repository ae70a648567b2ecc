r"""The exact reduction of the one-layer transformer of Shi and Cao (2025).

The literal model (2.1) scores column :math:`j` of the input by
:math:`\tilde x_j^\top W \tilde x_N`. The query :math:`\tilde x_N` is the same for every
sequence, so :math:`W` acts through one vector only, :math:`u = W \tilde x_N`. The positions are
orthogonal, so a column sees two numbers of it: one for its token and one for its place,

.. math:: z_j = \frac{u_x[s_j]}{\rho_j} + q_j, \qquad q_j = \frac{p_j^\top u_p}{\rho_j},

where :math:`\rho_j` is the length by which the column is divided (one for raw embeddings).
Gradient descent on :math:`W` moves :math:`u` and nothing else that the loss can see. What is left
of :math:`(K + M)^2` entries are :math:`K + N` numbers, and training is exact on them.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from . import _validation as check
from ._progress import progress
from .losses import LogLoss, Loss

_RANGE = 600.0  # exp() of a smaller difference does not underflow
_TIE = 1e-9  # scores this close, relative to the largest, are equal: rounding cannot cross it


def sine_positions(length: int, dim: int) -> np.ndarray:
    r"""Return the sine positional embeddings as columns.

    Column i is :math:`p_i = (\sin\frac{i\pi}{M+1}, \sin\frac{2i\pi}{M+1}, \dots)`. The columns are
    orthogonal and each has squared length :math:`(M + 1) / 2`.

    Parameters
    ----------
    length : int
        Number of positions N, at least 2.
    dim : int
        Dimension M of each embedding, at least `length`: there are no more orthogonal vectors.

    Returns
    -------
    numpy.ndarray, shape (dim, length)

    Raises
    ------
    ValueError
        If `length` is below 2 or `dim` is below `length`.

    References
    ----------
    Shi and Cao (2025), section 2 and Lemma E.5.

    Examples
    --------
    >>> P = sine_positions(length=2, dim=3)
    >>> np.round(P.T @ P, 12)
    array([[2., 0.],
           [0., 2.]])
    """
    length = check.integer("length", length, minimum=2)
    dim = check.integer("dim", dim)
    if dim < length:
        check.refuse("dim", dim, f"at least the length {length}, so that the positions are orthogonal")
    check.room("dim", dim, 3 * dim * length)
    steps = np.outer(np.arange(1, dim + 1), np.arange(1, length + 1))
    return np.sin(np.pi * (steps % (2 * dim + 2)) / (dim + 1))


@dataclass(frozen=True)
class OneLayerParameters:
    """The parameters that the loss can see, or their gradients.

    Attributes
    ----------
    value : numpy.ndarray, shape (vocab_size, vocab_size)
        The value matrix V; entry ``[y, x]`` is the score that token x gives to y as the next one.
    content : numpy.ndarray, shape (vocab_size,)
        What a column's token adds to its attention score.
    position : numpy.ndarray, shape (length,)
        What a column's place adds to its attention score.

    Examples
    --------
    >>> start = OneLayerModel(vocab_size=3, length=4).zero()
    >>> start.value.shape, start.content.shape, start.position.shape
    ((3, 3), (3,), (4,))
    """

    value: np.ndarray
    content: np.ndarray
    position: np.ndarray


@dataclass(frozen=True)
class OneLayerRun:
    """A recorded training run; the first axis of each array runs over the recorded iterations.

    Attributes
    ----------
    iterations : numpy.ndarray of int, shape (n_records,)
        Gradient steps taken before each record.
    loss : numpy.ndarray, shape (n_records,)
        Training loss.
    accuracy : numpy.ndarray, shape (n_records,)
        Share of test sequences whose target is predicted (Definition 2.1).
    kl : numpy.ndarray or None, shape (n_records,)
        Mean Kullback-Leibler divergence from the true law of the target to the prediction, in
        nats; ``None`` where no true law was given.
    attention : numpy.ndarray, shape (n_records, length)
        Attention on each column, averaged over the test sequences.
    value : numpy.ndarray, shape (n_records, vocab_size, vocab_size)
    content : numpy.ndarray, shape (n_records, vocab_size)
    position : numpy.ndarray, shape (n_records, length)
        The parameters, as in `OneLayerParameters`.
    diverged : bool
        Whether training stopped early because the loss or a gradient was no longer finite; the
        records up to there are kept.

    Examples
    --------
    >>> from markov_transformers import CircleWalk
    >>> walks = CircleWalk(n_nodes=3, p=0.9).sample(50, 4, rng=0)
    >>> run = OneLayerModel(3, 4).train(walks, learning_rate=1.0, steps=2)
    >>> run.iterations, run.attention.shape, run.diverged
    (array([0, 1, 2]), (3, 4), False)
    """

    iterations: np.ndarray
    loss: np.ndarray
    accuracy: np.ndarray
    kl: np.ndarray | None
    attention: np.ndarray
    value: np.ndarray
    content: np.ndarray
    position: np.ndarray
    diverged: bool

    def parameters(self, record: int = -1) -> OneLayerParameters:
        """Return the parameters at one record, the last by default."""
        record = check.integer("record", record, -len(self.iterations), len(self.iterations) - 1)
        return OneLayerParameters(self.value[record], self.content[record], self.position[record])


class OneLayerModel:
    r"""The one-layer transformer, reduced to what its loss can see.

    Parameters
    ----------
    vocab_size : int
        Number of tokens K, at least 2.
    length : int
        Columns N: the input tokens and the one to predict, at least 2.
    position_dim : int, default 1000
        Dimension M of the sine positions, at least `length`. It enters only through their squared
        length (M + 1) / 2.
    unit_length : bool, default False
        Whether embeddings are scaled to length one in the attention.

    Raises
    ------
    ValueError
        If a size is out of range.

    Notes
    -----
    One gradient step costs two passes over the tokens, whatever `position_dim` is.

    References
    ----------
    Shi and Cao (2025), (2.1) to (2.3) and Lemma B.1.

    Examples
    --------
    >>> from markov_transformers import CircleWalk
    >>> walk = CircleWalk(n_nodes=6, p=0.5)
    >>> model = OneLayerModel(vocab_size=6, length=25)
    >>> run = model.train(walk.sample(500, 25, rng=0), learning_rate=1.0, steps=20)
    >>> int(run.attention[-1].argmax())  # the direct parent, the last token of the input
    23
    """

    def __init__(
        self, vocab_size: int, length: int, position_dim: int = 1000, *, unit_length: bool = False
    ) -> None:
        self.vocab_size = check.integer("vocab_size", vocab_size, minimum=2)
        self.length = check.integer("length", length, minimum=2)
        self.position_dim = check.integer("position_dim", position_dim)
        if self.position_dim < self.length:
            check.refuse(
                "position_dim",
                self.position_dim,
                f"at least the length {self.length}, so that the positions are orthogonal",
            )
        check.room("vocab_size", vocab_size, 3 * self.vocab_size**2)
        check.room("length", length, 8 * self.length)
        self.unit_length = check.flag("unit_length", unit_length)
        square = (self.position_dim + 1) / 2  # of every position's length
        self._position_square = square
        self._query_square = 1.0 if unit_length else square
        self._token_norm = np.sqrt(1 + square) if unit_length else 1.0
        self._query_norm = np.sqrt(square) if unit_length else 1.0
        norms = np.full(self.length, self._token_norm)
        norms[-1] = self._query_norm
        self._norms = norms  # (N,)

    def __repr__(self) -> str:
        return (
            f"OneLayerModel(vocab_size={self.vocab_size}, length={self.length}, "
            f"position_dim={self.position_dim}, unit_length={self.unit_length})"
        )

    @property
    def rates(self) -> OneLayerParameters:
        r"""Speed of each reduced parameter when V and W take a gradient step of size one.

        A step of W along its gradient moves `content` by :math:`\|\tilde x_N\|^2` times its own
        gradient, and `position` by that times :math:`\|p_j\|^2 / \rho_j^2`.
        """
        position = self._query_square * self._position_square / self._norms**2
        return OneLayerParameters(
            np.ones((self.vocab_size,) * 2), np.full(self.vocab_size, self._query_square), position
        )

    def zero(self) -> OneLayerParameters:
        """Return the zero initialization, V = 0 and W = 0."""
        K, N = self.vocab_size, self.length
        return OneLayerParameters(np.zeros((K, K)), np.zeros(K), np.zeros(N))

    def random(self, scale: float, *, rng: np.random.Generator | int) -> OneLayerParameters:
        r"""Draw the parameters that belong to Gaussian V and W.

        With independent entries of standard deviation `scale` in W, the two parts of
        :math:`u = W \tilde x_N` are independent and Gaussian, so W itself need not be drawn.

        Parameters
        ----------
        scale : float
            Standard deviation of each entry of V and W, zero or more.
        rng : numpy.random.Generator or int
            Source of randomness, or a seed.

        Raises
        ------
        ValueError
            If `scale` is negative or not finite.

        Examples
        --------
        >>> OneLayerModel(3, 4, unit_length=True).random(0.01, rng=0).value.shape
        (3, 3)
        """
        scale = check.real("scale", scale, 0.0)
        rng = check.generator(rng)
        K, N = self.vocab_size, self.length
        return OneLayerParameters(
            scale * rng.standard_normal((K, K)),
            scale * np.sqrt(self._query_square) * rng.standard_normal(K),
            scale * np.sqrt(self.rates.position) * rng.standard_normal(N),
        )

    def from_matrices(self, value: np.ndarray, query_key: np.ndarray) -> OneLayerParameters:
        """Reduce the literal model's matrices V and W.

        Parameters
        ----------
        value : array, shape (vocab_size, vocab_size)
        query_key : array, shape (vocab_size + position_dim, vocab_size + position_dim)

        Raises
        ------
        ValueError
            If a shape does not fit or an entry is not finite.

        Examples
        --------
        >>> model = OneLayerModel(2, 3, position_dim=4)
        >>> model.from_matrices(np.eye(2), np.zeros((6, 6))).position
        array([0., 0., 0.])
        """
        K, M = self.vocab_size, self.position_dim
        V = check.real_array("value", value, (K, K), largest=check.LARGEST_WEIGHT)
        W = check.real_array("query_key", query_key, (K + M, K + M), largest=check.LARGEST_WEIGHT)
        P = sine_positions(self.length, M)  # (M, N)
        query = np.concatenate([np.zeros(K), P[:, -1]]) / self._query_norm
        u = W @ query  # (K + M,)
        return OneLayerParameters(V.copy(), u[:K], P.T @ u[K:] / self._norms)

    def to_matrices(
        self, parameters: OneLayerParameters, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Rebuild the literal model's V and W.

        Gradient descent adds to W a matrix of rank one, :math:`(u - u^{(0)}) \tilde x_N^\top /
        \|\tilde x_N\|^2`, so W follows from where it started and from the reduced parameters.

        Parameters
        ----------
        parameters : OneLayerParameters
        start : array, shape (vocab_size + position_dim, vocab_size + position_dim), optional
            W at initialization, zero by default.

        Returns
        -------
        value : numpy.ndarray, shape (vocab_size, vocab_size)
        query_key : numpy.ndarray, shape (vocab_size + position_dim, vocab_size + position_dim)

        Raises
        ------
        ValueError
            If a shape does not fit or an entry is not finite.

        Examples
        --------
        >>> model = OneLayerModel(2, 3, position_dim=4)
        >>> V, W = model.to_matrices(model.zero())
        >>> W.shape
        (6, 6)
        """
        parameters = self._checked(parameters)
        K, M = self.vocab_size, self.position_dim
        check.room("position_dim", M, 3 * ((K + M) ** 2 + K**2))
        W = np.zeros((K + M, K + M)) if start is None else start
        W = check.real_array("start", W, (K + M, K + M), largest=check.LARGEST_WEIGHT)
        P = sine_positions(self.length, M)
        query = np.concatenate([np.zeros(K), P[:, -1]]) / self._query_norm
        before = self.from_matrices(parameters.value, W)
        moved = P @ (self._norms * (parameters.position - before.position)) / self._position_square
        u = np.concatenate([parameters.content - before.content, moved])  # (K + M,)
        return parameters.value.copy(), W + np.outer(u, query) / self._query_square

    def attention(self, parameters: OneLayerParameters, inputs: np.ndarray) -> np.ndarray:
        """Return the attention weights of each sequence over the N columns.

        Parameters
        ----------
        parameters : OneLayerParameters
        inputs : array of int, shape (n_sequences, length - 1)
            Sequences without their target.

        Returns
        -------
        numpy.ndarray, shape (n_sequences, length)
            Each row sums to one.

        Raises
        ------
        ValueError
            If a shape does not fit or a token is outside 0 ... vocab_size - 1.

        Examples
        --------
        >>> model = OneLayerModel(3, 4)
        >>> model.attention(model.zero(), [[0, 1, 2]])
        array([[0.25, 0.25, 0.25, 0.25]])
        """
        parameters = self._checked(parameters)
        inputs = self._checked_inputs(inputs)
        z = np.tile(parameters.position, (len(inputs), 1))  # (B, N)
        z[:, :-1] += parameters.content[inputs] / self._token_norm
        z = np.exp(z - z.max(axis=1, keepdims=True))
        return z / z.sum(axis=1, keepdims=True)

    def scores(self, parameters: OneLayerParameters, inputs: np.ndarray) -> np.ndarray:
        """Return the score of each token as the next one.

        Parameters
        ----------
        parameters : OneLayerParameters
        inputs : array of int, shape (n_sequences, length - 1)
            Sequences without their target.

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)

        Raises
        ------
        ValueError
            If a shape does not fit or a token is outside 0 ... vocab_size - 1.

        Examples
        --------
        >>> model = OneLayerModel(3, 4)
        >>> model.scores(model.zero(), [[0, 1, 2]])
        array([[0., 0., 0.]])
        """
        parameters = self._checked(parameters)
        data = _Data(self._checked_inputs(inputs), self.vocab_size)
        return _forward(self, parameters, data).mass @ parameters.value.T

    def predict(self, parameters: OneLayerParameters, inputs: np.ndarray) -> np.ndarray:
        """Return the predicted token of each sequence: the smallest one of the highest score.

        Scores that differ by less than one part in a billion count as equal.

        Parameters
        ----------
        parameters : OneLayerParameters
        inputs : array of int, shape (n_sequences, length - 1)
            Sequences without their target.

        Returns
        -------
        numpy.ndarray of int, shape (n_sequences,)

        References
        ----------
        Shi and Cao (2025), Definition 2.1.

        Examples
        --------
        >>> model = OneLayerModel(3, 4)
        >>> model.predict(model.zero(), [[2, 1, 2]])
        array([0])
        """
        return _highest(self.scores(parameters, inputs))

    def loss_and_gradients(
        self,
        parameters: OneLayerParameters,
        tokens: np.ndarray,
        loss: Loss | None = None,
        weights: np.ndarray | None = None,
    ) -> tuple[float, OneLayerParameters]:
        """Return the loss and its partial derivatives.

        Parameters
        ----------
        parameters : OneLayerParameters
        tokens : array of int, shape (n_sequences, length)
            Sequences; the last column is the target.
        loss : object with ``value(score)`` and ``derivative(score)``, default ``LogLoss(0.1)``
        weights : array, shape (n_sequences,), optional
            Weight of each sequence, zero or more; they are scaled to sum to one. Probabilities
            from `CircleWalk.enumerate` give the population loss. Equal by default.

        Returns
        -------
        loss : float
        gradients : OneLayerParameters
            Derivatives in `value`, `content` and `position`. Gradient descent on V and W moves
            these by the learning rate times `rates` times them.

        Raises
        ------
        ValueError
            If a shape does not fit, a token is out of range or a weight is negative.

        References
        ----------
        Shi and Cao (2025), (2.2) and Lemma B.1.

        Examples
        --------
        >>> model = OneLayerModel(3, 4)
        >>> value, gradients = model.loss_and_gradients(model.zero(), [[0, 1, 2, 0]])
        >>> round(value, 4), np.round(gradients.value[0], 4)
        (2.3026, array([-2.5, -2.5, -2.5]))
        """
        parameters = self._checked(parameters)
        loss = _checked_loss(loss)
        data = self._checked_data("tokens", tokens, weights)
        return _loss_and_gradients(self, parameters, data, loss)

    def train(
        self,
        tokens: np.ndarray,
        *,
        learning_rate: float,
        steps: int,
        loss: Loss | None = None,
        start: OneLayerParameters | None = None,
        weights: np.ndarray | None = None,
        test: np.ndarray | None = None,
        test_weights: np.ndarray | None = None,
        truth: np.ndarray | None = None,
        record_every: int = 1,
    ) -> OneLayerRun:
        """Train by gradient descent on V and W, and record what happens.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length)
            Training sequences; the last column is the target.
        learning_rate : float
            Step size of gradient descent, zero or more.
        steps : int
            Number of gradient steps, zero or more.
        loss : object with ``value(score)`` and ``derivative(score)``, default ``LogLoss(0.1)``
        start : OneLayerParameters, optional
            Where training starts; zero initialization by default.
        weights : array, shape (n_sequences,), optional
            Weights of the training sequences; probabilities give the population loss.
        test : array of int, shape (n_test, length), optional
            Sequences for accuracy, divergence and attention; the training ones by default.
        test_weights : array, shape (n_test,), optional
            Weights of the test sequences. Without `test` they are those of the training ones.
        truth : array, shape (n_test, vocab_size), optional
            True law of each test target; the run then records the divergence from it.
        record_every : int, default 1
            Record each iteration that this number divides, and the last one.

        Returns
        -------
        OneLayerRun

        Raises
        ------
        ValueError
            If an argument is out of range or a shape does not fit.
        TypeError
            If `start` or `loss` is of another kind.

        Warns
        -----
        RuntimeWarning
            If the loss or a gradient stops being finite. Training ends there and the run is kept.

        References
        ----------
        Shi and Cao (2025), (2.3).

        Examples
        --------
        The population loss of a deterministic walk, on which zero initialization fails
        (Theorem 4.1): after a hundred steps the accuracy is still that of a guess.

        >>> from markov_transformers import CircleWalk
        >>> walks, probabilities = CircleWalk(6, p=1.0).enumerate(97)
        >>> model = OneLayerModel(6, 97)
        >>> run = model.train(walks, weights=probabilities, learning_rate=1.0, steps=100)
        >>> round(float(run.accuracy[-1]), 4)
        0.1667
        """
        learning_rate = check.real("learning_rate", learning_rate, 0.0)
        steps = check.integer("steps", steps, minimum=0)
        record_every = check.integer("record_every", record_every, minimum=1)
        loss = _checked_loss(loss)
        data = self._checked_data("tokens", tokens, weights)
        if test is None:
            if test_weights is not None:
                raise ValueError("test_weights must come with test, got test_weights alone")
            exam = data
        else:
            exam = self._checked_data("test", test, test_weights, "test_weights")
        if truth is not None:
            truth = check.probability_array("truth", truth, (len(exam.targets), self.vocab_size))
        now = self.zero() if start is None else self._checked(start, "start")
        # A record keeps parameters and attention; Python needs some more to keep it.
        n_numbers = sum(part.size for part in vars(now).values()) + self.length + 50
        check.room("steps", steps, 2 * n_numbers * (steps // record_every + 2))
        rates, record, diverged = self.rates, _Record(exam, truth), False
        for step in progress(range(steps + 1), "training"):
            with np.errstate(over="ignore", invalid="ignore"):
                value, slope = _loss_and_gradients(self, now, data, loss)
                finite = math.isfinite(value) and all(map(_finite, vars(slope).values()))
            if not finite:
                diverged = True
                warnings.warn(
                    f"training stopped at iteration {step} of {steps}: the loss ({value:g}) or a gradient "
                    "is no longer finite; a smaller learning_rate or another loss or start may help",
                    RuntimeWarning,
                    stacklevel=2,
                )
            if diverged or step % record_every == 0 or step == steps:
                record.add(self, step, value, now)
            if diverged:
                break
            if step < steps:
                now = OneLayerParameters(
                    now.value - learning_rate * slope.value,
                    now.content - learning_rate * rates.content * slope.content,
                    now.position - learning_rate * rates.position * slope.position,
                )
        return record.run(diverged)

    def _checked(self, parameters: OneLayerParameters, name: str = "parameters") -> OneLayerParameters:
        if not isinstance(parameters, OneLayerParameters):
            raise TypeError(f"{name} must be OneLayerParameters, got {parameters!r}")
        K, N = self.vocab_size, self.length
        return OneLayerParameters(
            check.real_array(f"{name}.value", parameters.value, (K, K), largest=check.LARGEST_WEIGHT),
            check.real_array(f"{name}.content", parameters.content, (K,), largest=check.LARGEST_WEIGHT),
            check.real_array(f"{name}.position", parameters.position, (N,), largest=check.LARGEST_WEIGHT),
        )

    def _checked_inputs(self, inputs: np.ndarray) -> np.ndarray:
        inputs = check.token_array("inputs", inputs, self.vocab_size)
        if inputs.shape[1] != self.length - 1:
            raise ValueError(
                f"inputs must be sequences of length {self.length - 1} "
                f"(the model's length {self.length} counts the target), got shape {inputs.shape}"
            )
        return inputs

    def _checked_data(
        self, name: str, tokens: np.ndarray, weights: np.ndarray | None, weights_name: str = "weights"
    ) -> _Data:
        tokens = check.token_array(name, tokens, self.vocab_size)
        if tokens.shape[1] != self.length:
            raise ValueError(f"{name} must be sequences of length {self.length}, got shape {tokens.shape}")
        check.room(name, tokens.shape, len(tokens) * (11 * self.vocab_size + 3 * self.length))
        if weights is not None:
            weights = check.real_array(weights_name, weights, (len(tokens),))
            with np.errstate(over="ignore"):
                total = weights.sum()
            if (weights < 0).any() or not 0 < total < np.inf:
                check.refuse(weights_name, weights, "zero or more, not all zero, with a finite sum")
        return _Data(tokens[:, :-1], self.vocab_size, tokens[:, -1], weights)


class _Data:
    """Sequences with what every pass over them needs, worked out once."""

    def __init__(
        self,
        inputs: np.ndarray,
        vocab_size: int,
        targets: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> None:
        n = len(inputs)
        # Sorted by target, a sum over the sequences of each target is a sum over neighbours,
        # taken in the same order in every column: symmetric data give exactly symmetric sums.
        order = np.arange(n) if targets is None else np.argsort(targets, kind="stable")
        self.order = order
        self.cell = inputs[order] + vocab_size * np.arange(n)[:, None]  # (B, N - 1), into (B, K)
        self.shape = (n, vocab_size)
        self.weights = np.full(n, 1 / n) if weights is None else weights[order] / weights.sum()
        if targets is not None:
            self.targets = targets[order]
            self.present, self.first = np.unique(self.targets, return_index=True)

    def spread(self, per_position: np.ndarray) -> np.ndarray:
        """Add up a number per position over the places of each token: (N - 1,) to (B, K)."""
        tiled = np.tile(per_position, self.shape[0])
        return np.bincount(self.cell.ravel(), tiled, minlength=self.shape[0] * self.shape[1]).reshape(
            self.shape
        )


@dataclass(frozen=True)
class _Forward:
    mass: np.ndarray  # (B, K) attention on all the places of each token
    last: np.ndarray  # (B,) attention on the empty column N
    place: np.ndarray  # (N - 1,) or (B, N - 1); attention on a place is this ...
    unit: np.ndarray  # (B, K) ... times this, at the token that stands there

    def over_positions(self, data: _Data, per_token: np.ndarray) -> np.ndarray:
        """Average a number per token, (B, K), with the attention on each position: to (N - 1,)."""
        terms = (per_token * self.unit).ravel()[data.cell]
        return self.place * terms.sum(axis=0) if self.place.ndim == 1 else (self.place * terms).sum(axis=0)


def _forward(model: OneLayerModel, parameters: OneLayerParameters, data: _Data) -> _Forward:
    q, content = parameters.position, parameters.content / model._token_norm
    top = q[:-1].max()
    if top - q[:-1].min() > _RANGE and np.ptp(content) > _RANGE:
        return _forward_place_by_place(q, content, data)
    place = np.exp(q[:-1] - top)
    total = data.spread(place)  # (B, K)
    seen = total > 0
    total = np.where(seen, total, 1.0)
    # Each token's places are added up first; what remains is a softmax over K + 1 numbers.
    z = np.where(seen, content + np.log(total), -np.inf)
    z_last = q[-1] - top
    peak = np.maximum(z.max(axis=1), z_last)[:, None]
    mass = np.exp(z - peak)
    last = np.exp(z_last - peak)
    Z = mass.sum(axis=1, keepdims=True) + last
    mass /= Z
    return _Forward(mass, (last / Z)[:, 0], place, mass / total)


def _forward_place_by_place(q: np.ndarray, content: np.ndarray, data: _Data) -> _Forward:
    """Do the same at three times the cost, where a sum over places first would underflow."""
    K = data.shape[1]
    z = q[:-1] + content[data.cell % K]  # (B, N - 1)
    peak = np.maximum(z.max(axis=1), q[-1])[:, None]
    a, last = np.exp(z - peak), np.exp(q[-1] - peak)
    Z = a.sum(axis=1, keepdims=True) + last
    a /= Z
    mass = np.bincount(data.cell.ravel(), a.ravel(), minlength=data.shape[0] * K).reshape(data.shape)
    return _Forward(mass, (last / Z)[:, 0], a, np.ones(data.shape))


def _loss_and_gradients(
    model: OneLayerModel, parameters: OneLayerParameters, data: _Data, loss: Loss
) -> tuple[float, OneLayerParameters]:
    V = parameters.value
    out = _forward(model, parameters, data)
    reward = V[data.targets]  # (B, K)
    f = (out.mass * reward).sum(axis=1)  # (B,)
    slope = data.weights * loss.derivative(f)  # (B,)
    V_gradient = np.zeros_like(V)
    V_gradient[data.present] = np.add.reduceat(slope[:, None] * out.mass, data.first, axis=0)
    pull = slope[:, None] * (reward - f[:, None])  # (B, K)
    position = np.empty(model.length)
    position[:-1] = out.over_positions(data, pull)
    position[-1] = -(slope * out.last * f).sum()
    content = (out.mass * pull).sum(axis=0) / model._token_norm
    return float(data.weights @ loss.value(f)), OneLayerParameters(V_gradient, content, position)


def _finite(numbers: np.ndarray) -> bool:
    # A finite sum has finite terms; only where it is not finite need they be looked at.
    return math.isfinite(np.add.reduce(numbers, axis=None)) or bool(np.isfinite(numbers).all())


def _highest(scores: np.ndarray) -> np.ndarray:
    slack = _TIE * np.abs(scores).max(axis=1, keepdims=True)
    return (scores >= scores.max(axis=1, keepdims=True) - slack).argmax(axis=1)


class _Record:
    """What a run leaves behind, gathered step by step."""

    def __init__(self, exam: _Data, truth: np.ndarray | None) -> None:
        self.exam = exam
        self.truth = None if truth is None else truth[exam.order]
        self.rows: list[tuple] = []

    def add(self, model: OneLayerModel, step: int, loss: float, parameters: OneLayerParameters) -> None:
        exam = self.exam
        out = _forward(model, parameters, exam)
        scores = out.mass @ parameters.value.T  # (B, K)
        accuracy = exam.weights @ (_highest(scores) == exam.targets)
        kl = np.nan if self.truth is None else exam.weights @ _divergence(self.truth, scores)
        attention = np.empty(model.length)
        attention[:-1] = out.over_positions(exam, np.broadcast_to(exam.weights[:, None], exam.shape))
        attention[-1] = exam.weights @ out.last
        p = parameters
        self.rows.append((step, loss, accuracy, kl, attention, p.value, p.content, p.position))

    def run(self, diverged: bool) -> OneLayerRun:
        step, loss, accuracy, kl, attention, value, content, position = map(np.array, zip(*self.rows))
        kl = None if self.truth is None else kl
        return OneLayerRun(step, loss, accuracy, kl, attention, value, content, position, diverged)


def _divergence(truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return KL(truth || prediction); the prediction is the positive part of the scores, normalised."""
    positive = np.maximum(scores, 0)
    total = positive.sum(axis=1, keepdims=True)
    guess = np.where(total > 0, positive / np.where(total > 0, total, 1), 1 / scores.shape[1])
    with np.errstate(divide="ignore"):
        ratio = np.log(np.where(truth > 0, truth, 1)) - np.log(np.where(truth > 0, guess, 1))
    return (truth * ratio).sum(axis=1)


def _checked_loss(loss: Loss | None) -> Loss:
    loss = LogLoss() if loss is None else loss
    able = all(callable(getattr(loss, method, None)) for method in ("value", "derivative"))
    if isinstance(loss, type) or not able:
        raise TypeError(
            f"loss must be an object with the methods value(score) and derivative(score), got {loss!r}"
        )
    return loss
