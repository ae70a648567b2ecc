r"""The one-layer transformer of Shi and Cao (2025), (2.1), as a torch module."""

from __future__ import annotations

import torch
from torch import nn

from .. import _validation as check
from ..one_layer import OneLayerModel, sine_positions
from ._inputs import float_type, token_tensor


class OneLayerTransformer(nn.Module):
    r"""The one-layer transformer, with every one of its parameters.

    .. math:: f(X) = V X \, S(\tilde X^\top W \tilde x_N), \qquad
              \tilde X = \begin{bmatrix} X \\ P \end{bmatrix}

    The columns of :math:`X` are the one-hot tokens :math:`x_1, \dots, x_{N-1}` and a zero, those
    of :math:`P` are sine positions, and :math:`S` is the softmax over all :math:`N` columns.

    Parameters
    ----------
    vocab_size : int
        Number of tokens K, at least 2.
    length : int
        Columns N: the input tokens and the one to predict, at least 2.
    position_dim : int, default 1000
        Dimension M of the positional embedding, at least `length`.
    unit_length : bool, default False
        Whether the columns of :math:`\tilde X` are scaled to length one in the attention.
    dtype : torch.dtype, default torch.float64

    Attributes
    ----------
    value : torch.nn.Parameter, shape (vocab_size, vocab_size)
        V, zero at first.
    query_key : torch.nn.Parameter, shape (vocab_size + position_dim,) * 2
        W, zero at first.

    Raises
    ------
    ValueError
        If a size is out of range.

    References
    ----------
    Shi and Cao (2025), (2.1) to (2.3).

    Examples
    --------
    >>> model = OneLayerTransformer(vocab_size=3, length=4, position_dim=8)
    >>> model(torch.tensor([[0, 1, 2]])).detach()
    tensor([[0., 0., 0.]], dtype=torch.float64)
    """

    def __init__(
        self,
        vocab_size: int,
        length: int,
        position_dim: int = 1000,
        *,
        unit_length: bool = False,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        super().__init__()
        sizes = OneLayerModel(vocab_size, length, position_dim, unit_length=unit_length)  # checks them
        self.vocab_size, self.length, self.unit_length = sizes.vocab_size, sizes.length, sizes.unit_length
        dtype, size = float_type(dtype), sizes.vocab_size + sizes.position_dim
        check.room("position_dim", position_dim, 3 * size**2)
        positions = torch.as_tensor(sine_positions(length, position_dim), dtype=dtype)  # (M, N)
        self.register_buffer("positions", positions)
        self.value = nn.Parameter(torch.zeros(self.vocab_size, self.vocab_size, dtype=dtype))
        self.query_key = nn.Parameter(torch.zeros(size, size, dtype=dtype))

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        r"""Return :math:`\tilde X` for each sequence, shape (n_sequences, K + M, N)."""
        tokens = token_tensor(tokens, self.vocab_size, length=self.length - 1)
        one_hot = nn.functional.one_hot(tokens, self.vocab_size).to(self.value.dtype)
        X = nn.functional.pad(one_hot.mT, (0, 1))  # (B, K, N), last column zero
        P = self.positions.expand(len(X), -1, -1)  # (B, M, N)
        return torch.cat([X, P], dim=1)

    def attention(self, embedded: torch.Tensor) -> torch.Tensor:
        """Return the attention weights over the N columns, shape (n_sequences, N)."""
        if self.unit_length:
            embedded = embedded / embedded.norm(dim=1, keepdim=True)
        scores = embedded.mT @ (self.query_key @ embedded[:, :, -1:])  # (B, N, 1)
        return torch.softmax(scores.squeeze(-1), dim=1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the scores of each token as the next one, shape (n_sequences, K).

        Parameters
        ----------
        tokens : torch.Tensor of int64, shape (n_sequences, N - 1)
            The input, without the target.
        """
        embedded = self.embed(tokens)
        X = embedded[:, : self.vocab_size]  # (B, K, N)
        average = X @ self.attention(embedded).unsqueeze(-1)  # (B, K, 1)
        return average.squeeze(-1) @ self.value.T

    def loss(self, tokens: torch.Tensor, epsilon: float = 0.1) -> torch.Tensor:
        """Return the mean log-loss (2.2); the last column of `tokens` is the target."""
        tokens = token_tensor(tokens, self.vocab_size, length=self.length)
        epsilon = check.real("epsilon", epsilon, 0.0)
        scores = self(tokens[:, :-1])
        right = scores.gather(1, tokens[:, -1:])
        return -torch.log(right + epsilon).mean()

    def gradient_step(self, tokens: torch.Tensor, learning_rate: float, epsilon: float = 0.1) -> float:
        """Take one step of gradient descent (2.3) and return the loss before it."""
        learning_rate = check.real("learning_rate", learning_rate, 0.0)
        loss = self.loss(tokens, epsilon)
        V_gradient, W_gradient = torch.autograd.grad(loss, (self.value, self.query_key))
        with torch.no_grad():
            self.value -= learning_rate * V_gradient
            self.query_key -= learning_rate * W_gradient
        return loss.item()
