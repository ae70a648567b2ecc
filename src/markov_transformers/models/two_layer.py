r"""The two-layer transformers of Chen et al. (2024) as torch modules, printed literally.

`TwoLayerTransformer` is (2.5), `FullTransformer` the model of section B.2. Every matrix is formed
at its full size: the positions as :math:`(L + 1) \times (L + 1)` matrices, the features with all
their monomials, the second attention over all L keys.
"""

from __future__ import annotations

import math
from itertools import combinations

import torch
from torch import nn

from .. import _validation as check
from .._lags import lag_set
from ..dynamics import checked_sizes, n_sets
from ._inputs import float_type, token_tensor


class TwoLayerTransformer(nn.Module):
    r"""The simplified two-layer transformer (2.5).

    .. math::

        V^{(h)} = \sigma(W_P^{(h)}) \tilde X, \qquad
        U = \phi(V) / \sqrt{C_D}, \qquad
        y^\top = \sigma\big(a \, u_{L+1}^\top \mathrm{Mask}(U_{1:L}^\top)\big) X

    Parameters
    ----------
    window : int
        Offsets that a head can attend to, M.
    heads : int
        Number of heads H.
    vocab_size : int
        Number of tokens d, at least 2.
    degree : int
        Largest size of a set of heads, D, from 0 to `heads`.
    mask : bool, default True
        Whether the second attention leaves out the first M positions.
    dtype : torch.dtype, default torch.float64

    Attributes
    ----------
    w : torch.nn.Parameter, shape (heads, window)
        Relative positions: ``w[h, i]`` is head h + 1 at offset i + 1. At first 3 where the
        offset is the head's own number, 0.01 elsewhere.
    c : torch.nn.Parameter, shape (n_sets,)
        Weight of each set in the features, 0.01 at first.
    a : torch.nn.Parameter, scalar
        Scale of the second attention, 0.01 at first.
    sets : tuple of tuple of int
        The sets in the order of c: by size, then lexicographic; heads count from one.

    Raises
    ------
    ValueError
        If a size is out of range.

    References
    ----------
    Chen, Sheen, Wang and Yang (2024), section 2.3 and Lemma C.1.

    Examples
    --------
    >>> model = TwoLayerTransformer.construction(2, 2, 2, 2, subset=(1, 2), rho=50.0, a=50.0)
    >>> model(torch.tensor([[0, 0, 1, 0, 0]])).round(decimals=6).tolist()  # after 0, 0 came 1
    [[0.0, 1.0]]
    """

    _own_position = 3.0

    def __init__(
        self,
        window: int,
        heads: int,
        vocab_size: int,
        degree: int,
        *,
        mask: bool = True,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        super().__init__()
        self.window = check.integer("window", window, minimum=1)
        self.heads, _ = checked_sizes(heads, 0)
        self.vocab_size = check.integer("vocab_size", vocab_size, minimum=2)
        blocks = self._blocks()
        self.degree = check.integer("degree", degree, 0, len(blocks))
        n_sets(len(blocks), self.degree)
        check.room("window", window, 2 * self.heads * self.window)
        dtype = float_type(dtype)
        self.mask = check.flag("mask", mask)
        self.sets = tuple(S for size in range(self.degree + 1) for S in combinations(blocks, size))
        w = torch.full((self.heads, self.window), 0.01, dtype=dtype)
        own = torch.arange(min(self.heads, self.window))
        w[own, own] = self._own_position
        self.w = nn.Parameter(w)
        self.c = nn.Parameter(torch.full((len(self.sets),), 0.01, dtype=dtype))
        self.a = nn.Parameter(torch.tensor(0.01, dtype=dtype))

    @classmethod
    def construction(
        cls,
        window: int,
        heads: int,
        vocab_size: int,
        degree: int,
        *,
        subset: tuple[int, ...],
        rho: float,
        a: float,
        mask: bool = True,
        dtype: torch.dtype = torch.float64,
    ) -> TwoLayerTransformer:
        r"""Set by hand the weights that make the transformer an induction head.

        Head h gets position weight :math:`\rho` at offset h and 0 elsewhere, the set gets
        :math:`c_S = 1` and all others 0. As :math:`\rho` and a grow the output tends to the
        average of the tokens that follow a match on the set, and to the average of all tokens
        from M + 1 on where nothing matches.

        Parameters
        ----------
        window, heads, vocab_size, degree : int
            As for the class.
        subset : tuple of int
            Offsets to match, at most `degree` of them, none beyond the heads or the window.
        rho : float
            Position weight of each head at its own offset.
        a : float
            Scale of the second attention.
        mask : bool, default True
        dtype : torch.dtype, default torch.float64

        Returns
        -------
        TwoLayerTransformer

        Raises
        ------
        ValueError
            If an argument is out of range.

        References
        ----------
        Chen et al. (2024), section C.1, (C.1) and (C.2).

        Examples
        --------
        >>> model = TwoLayerTransformer.construction(3, 3, 3, 2, subset=(1, 2), rho=5.0, a=2.0)
        >>> model.w.tolist()
        [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]]
        """
        model = cls(window, heads, vocab_size, degree, mask=mask, dtype=dtype)
        subset = lag_set("subset", subset, min(model.heads, model.window), empty=True)
        if subset not in model.sets:
            check.refuse("subset", subset, f"a set of at most {model.degree} lags")
        with torch.no_grad():
            model.w.zero_()
            own = torch.arange(min(model.heads, model.window))
            model.w[own, own] = check.real("rho", rho)
            model.c.zero_()
            model.c[model.sets.index(subset)] = 1.0
            model.a.fill_(check.real("a", a))
        return model

    def _blocks(self) -> tuple[int, ...]:
        return tuple(range(1, self.heads + 1))

    @property
    def _shortest(self) -> int:
        """Length of the shortest context in which a key can be seen."""
        return self.window + 1 if self.mask else 1

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        r"""Return :math:`\tilde X = (x_1, \dots, x_L, 0)^\top`, shape (n_sequences, L + 1, d)."""
        tokens = token_tensor(tokens, self.vocab_size)
        one_hot = nn.functional.one_hot(tokens, self.vocab_size).to(self.w.dtype)
        return nn.functional.pad(one_hot, (0, 0, 0, 1))

    def position_matrices(self, size: int) -> torch.Tensor:
        r"""Return :math:`W_P`, shape (heads, size, size): the weight of offset i - j at [i, j],
        minus infinity where the offset is not in the window."""
        offset = torch.arange(size)[:, None] - torch.arange(size)[None, :]
        inside = (offset >= 1) & (offset <= self.window)
        weights = self.w[:, (offset - 1).clamp(0, self.window - 1)]  # (H, L + 1, L + 1)
        return weights.masked_fill(~inside, -math.inf)

    def copies(self, embedded: torch.Tensor) -> torch.Tensor:
        """Return the blocks V of the first attention, shape (n_sequences, blocks, L + 1, d)."""
        attention = _row_softmax(self.position_matrices(embedded.shape[1]))  # (H, L + 1, L + 1)
        return attention @ embedded[:, None]

    def features(self, blocks: torch.Tensor) -> torch.Tensor:
        r"""Return the monomials of the feed-forward layer, :math:`\phi` without normalization.

        Parameters
        ----------
        blocks : torch.Tensor, shape (..., blocks, length, d)

        Returns
        -------
        torch.Tensor, shape (..., length, d_e)
            The sum of d^|S| over the sets is d_e, (C.4); set S has
            :math:`c_S \, \mathrm{vec}(\otimes_{h \in S} z^{(h)})`, (C.3).
        """
        z = dict(zip(self._blocks(), blocks.unbind(dim=-3), strict=True))  # each (..., length, d)
        parts = []
        for weight, S in zip(self.c, self.sets, strict=True):
            product = torch.ones_like(blocks[..., 0, :, :1])
            for h in S:
                product = (product[..., :, None] * z[h][..., None, :]).flatten(-2)
            parts.append(weight * product)
        return torch.cat(parts, dim=-1)

    def kernel(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        r"""Return :math:`\langle \phi(v), \phi(v') \rangle` without forming the features, (2.3).

        Parameters
        ----------
        left, right : torch.Tensor, shapes (..., blocks, n, d) and (..., blocks, m, d)

        Returns
        -------
        torch.Tensor, shape (..., n, m)
        """
        inner = dict(zip(self._blocks(), (left @ right.mT).unbind(dim=-3), strict=True))
        total = torch.zeros_like(next(iter(inner.values())))
        for weight, S in zip(self.c, self.sets, strict=True):
            term = torch.ones_like(total)
            for h in S:
                term = term * inner[h]
            total = total + weight**2 * term
        return total

    def scores(self, tokens: torch.Tensor, *, through_kernel: bool = False) -> torch.Tensor:
        r"""Return :math:`s_l = \langle u_{L+1}, u_l \rangle`, shape (n_sequences, L).

        Parameters
        ----------
        tokens : torch.Tensor of int64, shape (n_sequences, L)
            The context, without the target.
        through_kernel : bool, default False
            Compute them by the kernel (2.3) instead of the features (C.3).
        """
        through_kernel = check.flag("through_kernel", through_kernel)
        V = self.copies(self.embed(tokens))  # (B, H, L + 1, d)
        total = (self.c**2).sum()  # C_D
        if through_kernel:
            return self.kernel(V[..., -1:, :], V[..., :-1, :])[:, 0] / total
        U = self.features(V) / total.sqrt()  # (B, L + 1, d_e)
        return (U[:, -1:] @ U[:, :-1].mT)[:, 0]

    def forward(self, tokens: torch.Tensor, *, through_kernel: bool = False) -> torch.Tensor:
        """Return the distribution of the next token (2.4), shape (n_sequences, vocab_size).

        Parameters
        ----------
        tokens : torch.Tensor of int64, shape (n_sequences, L)
            The context, without the target; with the mask, L must exceed the window.
        through_kernel : bool, default False
            As for `scores`.
        """
        tokens = token_tensor(tokens, self.vocab_size, min_length=self._shortest)
        logits = self.a * self.scores(tokens, through_kernel=through_kernel)
        if self.mask:
            masked = torch.arange(logits.shape[1]) < self.window
            logits = logits.masked_fill(masked, -math.inf)
        attention = torch.softmax(logits, dim=1)  # (B, L)
        return (attention[:, None] @ self.embed(tokens)[:, :-1])[:, 0]

    def loss(self, tokens: torch.Tensor, epsilon: float = 0.1) -> torch.Tensor:
        """Return the mean log-loss (2.1); the last column of `tokens` is the target."""
        tokens = token_tensor(tokens, self.vocab_size, min_length=self._shortest + 1)
        epsilon = check.real("epsilon", epsilon, 0.0)
        probability = self(tokens[:, :-1]).gather(1, tokens[:, -1:])
        return -torch.log(probability + epsilon).mean()

    def sequential_loss(self, tokens: torch.Tensor, epsilon: float = 0.1) -> torch.Tensor:
        """Return the sum of the losses of predicting every token from those before it.

        The first prediction is that of the second token without the mask; with it, that of
        token M + 2, the first that has a key to look at.

        References
        ----------
        Chen et al. (2024), section C.4.
        """
        tokens = token_tensor(tokens, self.vocab_size, min_length=self._shortest + 1)
        lengths = range(self._shortest, tokens.shape[1])
        return torch.stack([self.loss(tokens[:, : length + 1], epsilon) for length in lengths]).sum()


class FullTransformer(TwoLayerTransformer):
    r"""The full two-layer transformer of section B.2.

    .. math::

        \tilde V^{(h)} &= \sigma\big(\tilde X W_Q^{(h)} W_K^{(h)\top} \tilde X^\top + W_P^{(h)}\big)
                          \tilde X W_V^{(h)}, \\
        V &= \big(\tilde X, LN(\tilde V^{(1)}), \dots, LN(\tilde V^{(H)})\big), \qquad
        LN(x) = x / \|x\|_2

    and the rest as in the simplified model, on H + 1 blocks. The extract of the paper does not
    settle where LN stands; it is applied to each head, which leaves the one-hot input as it is.

    Parameters
    ----------
    window, heads, vocab_size : int
        As for `TwoLayerTransformer`.
    degree : int
        Largest size of a set of blocks, from 0 to `heads` + 1.
    mask : bool, default True
    dtype : torch.dtype, default torch.float64

    Attributes
    ----------
    w, c, a : torch.nn.Parameter
        As for `TwoLayerTransformer`, but w starts at 1 on a head's own offset.
    query, key, value : torch.nn.Parameter, shape (heads, vocab_size, vocab_size)
        W_Q, W_K and W_V, 0.001 times the identity at first.
    sets : tuple of tuple of int
        The sets in the order of c; block 0 is the input itself, heads count from one.

    Raises
    ------
    ValueError
        If a size is out of range.

    References
    ----------
    Chen, Sheen, Wang and Yang (2024), section B.2.

    Examples
    --------
    >>> model = FullTransformer(window=2, heads=2, vocab_size=3, degree=1)
    >>> model.sets
    ((), (0,), (1,), (2,))
    """

    _own_position = 1.0

    def __init__(
        self,
        window: int,
        heads: int,
        vocab_size: int,
        degree: int,
        *,
        mask: bool = True,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        super().__init__(window, heads, vocab_size, degree, mask=mask, dtype=dtype)
        start = 0.001 * torch.eye(self.vocab_size, dtype=dtype).expand(self.heads, -1, -1)
        self.query = nn.Parameter(start.clone())
        self.key = nn.Parameter(start.clone())
        self.value = nn.Parameter(start.clone())

    def _blocks(self) -> tuple[int, ...]:
        return tuple(range(self.heads + 1))

    def copies(self, embedded: torch.Tensor) -> torch.Tensor:
        """Return the input and the normalized heads, shape (n_sequences, H + 1, L + 1, d)."""
        X = embedded[:, None]  # (B, 1, L + 1, d)
        content = (X @ self.query) @ (X @ self.key).mT  # (B, H, L + 1, L + 1)
        attention = _row_softmax(content + self.position_matrices(embedded.shape[1]))
        heads = attention @ (X @ self.value)  # (B, H, L + 1, d)
        return torch.cat([X, _unit(heads)], dim=1)


def _row_softmax(logits: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row; the first row, which sees nothing, is zero."""
    below = torch.softmax(logits[..., 1:, :], dim=-1)
    return torch.cat([torch.zeros_like(logits[..., :1, :]), below], dim=-2)


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    """Return vectors divided by their length; zero stays zero, and so does its gradient."""
    square = (vectors**2).sum(dim=-1, keepdim=True)
    nonzero = square > 0
    return torch.where(nonzero, vectors / torch.where(nonzero, square, 1.0).sqrt(), 0.0)
