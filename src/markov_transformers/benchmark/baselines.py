r"""The papers' models as a practised PyTorch user would write them: what the engines are measured against.

`markov_transformers.models` prints the models as they are defined and forms everything in full. The
classes here compute the same loss of the same parameters, with gradients by autograd, but only what
the loss needs: the prediction after the last token, kernels instead of features, nothing twice that
does not change from step to step, and pieces of the data that fit into the processor's cache. Each
can also use a first idea of the engine's reduction, to show how much that idea alone brings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch
from torch import nn

from .. import _validation as check
from ..models import TwoLayerTransformer
from ..one_layer import sine_positions
from ._rows import median

PIECE = 1000  # sequences at a time: the arrays of more do not fit into the cache


def fastest(work: Callable[[], object], repeats: int) -> float:
    """Return the median time in seconds with one thread or with all, whichever is shorter."""
    threads = torch.get_num_threads()
    everything = median(work, repeats)
    torch.set_num_threads(1)
    try:
        return min(everything, median(work, repeats))
    finally:
        torch.set_num_threads(threads)


class PlainTwoLayer:
    """The two-layer transformer (2.5) with the mask, one head for each offset, on a data set.

    Parameters
    ----------
    tokens : array of int, shape (n_sequences, length + 1)
        The last column is the target.
    window : int
        M, and the number of heads.
    vocab_size : int
        Number of tokens, d.
    degree : int
        Largest size of a set of heads, D.
    train : iterable of {'c', 'w', 'a'}, default all three
        Parameters that get gradients. What depends on the others alone is computed once.
    start : mapping of str to array, optional
        Values of all parameters, by default the paper's initialization.
    tables : bool, default False
        Whether the kernels of a head are read off tables of matches, without forming copies.
    dtype : torch.dtype, default torch.float64

    Attributes
    ----------
    c, w, a : torch.Tensor
        As in `TwoLayerTransformer`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen, Sheen, Wang and Yang (2024), (2.1) to (2.5).
    """

    def __init__(
        self,
        tokens: np.ndarray,
        window: int,
        vocab_size: int,
        degree: int,
        *,
        train: Iterable[str] = "cwa",
        start: Mapping[str, np.ndarray] | None = None,
        tables: bool = False,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        window = check.integer("window", window, 1, check.MOST_AXES)
        definition = TwoLayerTransformer(window, window, vocab_size, degree, dtype=dtype)
        tokens = check.token_array("tokens", tokens, vocab_size, min_length=window + 2)
        parameters = {name: getattr(definition, name).detach() for name in "cwa"}
        start = parameters if start is None else _checked_start(start, parameters)
        self.c, self.w, self.a = (torch.as_tensor(start[name], dtype=dtype).clone() for name in "cwa")
        self.train = _checked_train(train)
        for name in self.train:
            getattr(self, name).requires_grad_()
        self.sets = [[h - 1 for h in S] for S in definition.sets]
        self.n_sequences = len(tokens)
        head = _Tables if check.flag("tables", tables) else _Copies
        pieces = torch.as_tensor(tokens).split(PIECE)
        self.pieces = [_Piece(x, head(x[:, :-1], window, vocab_size, dtype)) for x in pieces]
        self._keep_what_rests()

    def loss_and_gradients(self, epsilon: float = 0.1) -> tuple[float, dict[str, torch.Tensor]]:
        """Return the mean log-loss (2.1) and its gradients in the trained parameters."""
        epsilon = check.real("epsilon", epsilon, 0.0)
        moving = [getattr(self, name) for name in self.train]
        total, gradients = 0.0, [torch.zeros_like(parameter) for parameter in moving]
        for piece in self.pieces:
            attention = torch.softmax(self.a * self._scores(piece), dim=1)  # (B, L - M)
            probability = (attention * piece.right).sum(dim=1)
            loss = -torch.log(probability + epsilon).sum() / self.n_sequences
            for gradient, more in zip(gradients, torch.autograd.grad(loss, moving)):
                gradient += more
            total += loss.item()
        return total, dict(zip(self.train, gradients))

    def _keep_what_rests(self) -> None:
        for piece in self.pieces:
            if "w" not in self.train:
                piece.products = self._products(piece)
                if "c" not in self.train:
                    piece.scores = self._scores(piece)

    def _scores(self, piece: _Piece) -> torch.Tensor:
        if piece.scores is not None:
            return piece.scores
        shares = self.c**2 / (self.c**2).sum()
        return torch.tensordot(shares, self._products(piece), dims=1)  # (B, L - M)

    def _products(self, piece: _Piece) -> torch.Tensor:
        """Return the product of the kernels over each set, (2.3), shape (n_sets, B, L - M)."""
        if piece.products is not None:
            return piece.products
        kernels = piece.head.kernels(torch.softmax(self.w, dim=1)).unbind()
        products = []
        for S in self.sets:
            product = torch.ones_like(kernels[0])
            for h in S:
                product = kernels[h] if len(S) == 1 else product * kernels[h]
            products.append(product)
        return torch.stack(products)


def _checked_start(start: object, parameters: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    if not isinstance(start, Mapping) or set(start) != set(parameters):
        check.refuse("start", start, "a mapping with arrays 'c', 'w' and 'a'")
    return {
        name: check.real_array(f"start[{name!r}]", start[name], tuple(like.shape))
        for name, like in parameters.items()
    }


def _checked_train(train: object) -> tuple[str, ...]:
    names = tuple(train) if isinstance(train, Iterable) else ()
    if not names or any(name not in ("c", "w", "a") for name in names) or len(set(names)) < len(names):
        check.refuse("train", train, "one or more of 'c', 'w' and 'a', each once")
    return names


class _Piece:
    """A part of the data: its first layer, where its keys hold the target, and what is kept of it."""

    def __init__(self, tokens: torch.Tensor, head: _Copies | _Tables) -> None:
        self.head = head
        n_keys = head.shape[2]
        self.right = (tokens[:, -1 - n_keys : -1] == tokens[:, -1:]).to(head.dtype)  # (B, L - M)
        self.products: torch.Tensor | None = None
        self.scores: torch.Tensor | None = None


class _Copies:
    """Kernels by the copies of (2.2), from M + 1 on, and their inner products with those of L + 1."""

    def __init__(self, context: torch.Tensor, window: int, vocab_size: int, dtype: torch.dtype) -> None:
        one_hot = nn.functional.one_hot(context, vocab_size).to(dtype)
        length = context.shape[1]
        shifted = [one_hot[:, window - i : length + 1 - i] for i in range(1, window + 1)]
        self.shape = (window, len(context), length - window)  # (H, B, L - M)
        self.dtype = dtype
        self.shifted = torch.stack(shifted).flatten(1)

    def kernels(self, sigma: torch.Tensor) -> torch.Tensor:
        H, B, n_keys = self.shape
        copies = (sigma @ self.shifted).view(H, B, n_keys + 1, -1)
        return (copies[:, :, :-1] @ copies[:, :, -1:].mT)[..., 0]  # (H, B, L - M)


class _Tables:
    """Kernels as sums over the places where query and key hold the same token."""

    def __init__(self, context: torch.Tensor, window: int, vocab_size: int, dtype: torch.dtype) -> None:
        length = context.shape[1]
        keys = torch.stack([context[:, window - i : length - i] for i in range(1, window + 1)])
        query = context[:, length - window :].flip(1).T
        matches = query[:, None, :, None] == keys[None]  # (M, M, B, L - M)
        self.shape = matches.shape[1:]
        self.dtype = dtype
        self.matches = matches.flatten(2).flatten(0, 1).to(dtype)

    def kernels(self, sigma: torch.Tensor) -> torch.Tensor:
        pairs = (sigma[:, :, None] * sigma[:, None, :]).flatten(1)  # (H, M * M)
        return (pairs @ self.matches).view(self.shape)


class PlainOneLayer:
    r"""The one-layer transformer of Shi and Cao on a data set, with all of V and W.

    The columns are embedded once, and the query :math:`W \tilde x_N`, the same for all
    sequences, is formed once in a step.

    Parameters
    ----------
    tokens : array of int, shape (n_sequences, N)
        The last column is the target.
    vocab_size : int
        Number of tokens, K.
    position_dim : int, default 1000
        Dimension M of the positional embedding.
    parts : bool, default False
        Whether the scores of tokens and of places are computed apart and added.

    Attributes
    ----------
    value, query_key : torch.Tensor
        V and W, zero at first.

    References
    ----------
    Shi and Cao (2025), (2.1) to (2.3).
    """

    def __init__(
        self, tokens: np.ndarray, vocab_size: int, position_dim: int = 1000, *, parts: bool = False
    ) -> None:
        tokens = torch.as_tensor(tokens)
        self.targets = tokens[:, -1:]
        positions = torch.as_tensor(sine_positions(tokens.shape[1], position_dim))  # (M, N)
        one_hot = nn.functional.one_hot(tokens[:, :-1], vocab_size).to(positions.dtype)
        self.X = nn.functional.pad(one_hot, (0, 0, 0, 1))  # (B, N, K), last row zero
        self.query = torch.cat([positions.new_zeros(vocab_size), positions[:, -1]])
        self.positions = positions.T.contiguous()  # (N, M)
        self.parts = parts
        if not parts:
            self.columns = torch.cat([self.X, self.positions.expand(len(tokens), -1, -1)], dim=2)
        size = vocab_size + position_dim
        self.value = positions.new_zeros(vocab_size, vocab_size).requires_grad_()
        self.query_key = positions.new_zeros(size, size).requires_grad_()

    def gradient_step(self, learning_rate: float, epsilon: float = 0.1) -> float:
        """Take one step of gradient descent (2.3) and return the loss before it."""
        attention = torch.softmax(self._scores(), dim=1)  # (B, N)
        average = (attention[:, None] @ self.X)[:, 0]  # (B, K)
        right = (average @ self.value.T).gather(1, self.targets)
        loss = -torch.log(right + epsilon).mean()
        matrices = (self.value, self.query_key)
        gradients = torch.autograd.grad(loss, matrices)
        with torch.no_grad():
            for matrix, gradient in zip(matrices, gradients):
                matrix -= learning_rate * gradient
        return loss.item()

    def _scores(self) -> torch.Tensor:
        asked = self.query_key @ self.query  # (K + M,)
        if not self.parts:
            return self.columns @ asked
        K = self.X.shape[-1]
        return self.X @ asked[:K] + self.positions @ asked[K:]
