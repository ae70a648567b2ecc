r"""The one-layer transformer with a ReLU layer of Shi and Cao (2025), (F.1), as a torch module."""

from __future__ import annotations

import torch
from torch import nn

from .. import _validation as check
from .one_layer import OneLayerTransformer


class ReluTransformer(OneLayerTransformer):
    r"""The one-layer transformer with one hidden layer after the attention.

    .. math:: f(X) = A \, \mathrm{ReLU}\bigl( V X \, S(\tilde X^\top W \tilde x_N) \bigr)

    We work from the text of the paper, which names the shapes; the display is read as above.

    Parameters
    ----------
    vocab_size : int
        Number of tokens K, at least 2.
    length : int
        Columns N: the input tokens and the one to predict, at least 2.
    width : int, default 19
        Number of neurons m, at least 1.
    position_dim : int, default 1000
        Dimension M of the positional embedding, at least `length`.
    unit_length : bool, default False
        Whether the columns of :math:`\tilde X` are scaled to length one in the attention.
    dtype : torch.dtype, default torch.float64

    Attributes
    ----------
    output : torch.nn.Parameter, shape (vocab_size, width)
        A, zero at first.
    value : torch.nn.Parameter, shape (width, vocab_size)
        V, zero at first.
    query_key : torch.nn.Parameter, shape (vocab_size + position_dim,) * 2
        W, zero at first.

    Raises
    ------
    ValueError
        If a size is out of range.

    Notes
    -----
    All gradients are zero at zero initialization. `reset` draws a random start.

    References
    ----------
    Shi and Cao (2025), (F.1).

    Examples
    --------
    >>> model = ReluTransformer(vocab_size=3, length=4, position_dim=8)
    >>> model(torch.tensor([[0, 1, 2]])).detach()
    tensor([[0., 0., 0.]], dtype=torch.float64)
    """

    def __init__(
        self,
        vocab_size: int,
        length: int,
        width: int = 19,
        position_dim: int = 1000,
        *,
        unit_length: bool = False,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        super().__init__(vocab_size, length, position_dim, unit_length=unit_length, dtype=dtype)
        width = check.integer("width", width, minimum=1)
        check.room("width", width, 3 * width * self.vocab_size)
        self.output = nn.Parameter(torch.zeros(self.vocab_size, width, dtype=dtype))
        self.value = nn.Parameter(torch.zeros(width, self.vocab_size, dtype=dtype))

    def reset(self, scale: float, generator: torch.Generator) -> None:
        """Draw every entry of A, V and W from a Gaussian of standard deviation `scale`."""
        scale = check.real("scale", scale, 0.0)
        if not isinstance(generator, torch.Generator):
            check.refuse("generator", generator, "a torch.Generator")
        with torch.no_grad():
            for matrix in (self.output, self.value, self.query_key):
                matrix.normal_(0, scale, generator=generator)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the scores of each token as the next one, shape (n_sequences, K).

        Parameters
        ----------
        tokens : torch.Tensor of int64, shape (n_sequences, N - 1)
            The input, without the target.
        """
        neurons = torch.relu(super().forward(tokens))  # (B, m)
        return neurons @ self.output.T

    def gradient_step(self, tokens: torch.Tensor, learning_rate: float, epsilon: float = 0.1) -> float:
        """Take one step of gradient descent on A, V and W and return the loss before it."""
        learning_rate = check.real("learning_rate", learning_rate, 0.0)
        loss = self.loss(tokens, epsilon)
        matrices = (self.output, self.value, self.query_key)
        gradients = torch.autograd.grad(loss, matrices)
        with torch.no_grad():
            for matrix, gradient in zip(matrices, gradients):
                matrix -= learning_rate * gradient
        return loss.item()
