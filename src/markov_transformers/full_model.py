r"""The full two-layer transformer of Chen et al. (2024), section B.2, on window counts.

Each head has weights for queries, keys and values beside its positions, its output is divided by
its length, and the input itself joins the heads as one more block (the residual connection). The
input at the target's place is zero, so the query depends on the window before it alone, and a key
depends on its own window and token: keys that agree in these are counted together, exactly as in
the simplified model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import _validation as check
from ._selector import Selector, shares
from .dynamics import Parameters, Pulls, Trainable, checked_sizes, nonzero, softmax
from .losses import LogLoss, Loss
from .readout import Distribution, Readout, distribution, labels_for
from .windows import ScoreCounts, WindowCounts

SHORTEST = 1e-300  # of a vector that has a direction; a shorter one counts as zero


class FullModel(Trainable):
    r"""The full transformer of section B.2 on a data set: exact loss, gradients and training.

    With :math:`A^h = W_Q^h W_K^{h\top}`, head h of a key with token k and window W is

    .. math:: \tilde v^h = \sum_i \sigma_i \, (W_V^h)_{W_i, \cdot}, \qquad
              \sigma = \mathrm{softmax}_i\big(A^h_{k, W_i} + w^h_i\big),

    that of the query has no content term, and both are divided by their Euclidean length.

    Parameters
    ----------
    counts : WindowCounts
        The data set.
    degree : int
        Largest size of a set of blocks, D, from 0 to `heads` + 1.
    heads : int, optional
        Number of heads H, by default one for each offset in the window.
    epsilon : float, default 0.1
        Shift in the loss (2.1).
    mask : bool, default True
        Whether keys with less than a full window before them are left out.
    loss : object or callable, optional
        Replaces (2.1), as in `StagedModel`.

    Attributes
    ----------
    sets : tuple of tuple of int
        The sets of blocks in the order of c: by size, then lexicographic. Heads count from one;
        block 0 is the input itself. It is zero at the target, so sets with it never match.

    Raises
    ------
    ValueError
        If an argument is out of range, or there are more than 100,000 heads or sets.
    TypeError
        If `loss` is a class instead of an object of it.

    Notes
    -----
    A copy of length zero stays zero where the model divides by its length, with zero gradient.

    The length of W_V does not change the output, so its gradient grows as W_V shrinks. From the
    paper's initialization, 0.001 times the identity, the flow is stiff and slow to integrate:
    over more than a time of one, take gradient steps with a small learning rate instead.

    References
    ----------
    Chen, Sheen, Wang and Yang (2024), section B.2.

    Examples
    --------
    >>> tokens = np.random.default_rng(0).integers(3, size=(20, 31))
    >>> model = FullModel(WindowCounts.from_tokens(tokens, window=3, vocab_size=3), degree=2)
    >>> loss, gradients = model.loss_and_gradients(**model.initial_parameters())
    >>> round(loss, 3), gradients["value"].shape
    (0.819, (3, 3, 3))
    """

    def __init__(
        self,
        counts: WindowCounts,
        degree: int,
        heads: int | None = None,
        epsilon: float = 0.1,
        mask: bool = True,
        loss: Loss | Distribution | None = None,
    ) -> None:
        if not isinstance(counts, WindowCounts):
            check.refuse("counts", counts, "a WindowCounts")
        self.counts = counts
        self.heads, self.degree = checked_sizes(counts.window if heads is None else heads, degree, n_extra=1)
        self.epsilon = check.real("epsilon", epsilon, 0.0)
        self.mask = check.flag("mask", mask)
        self.loss = LogLoss(self.epsilon) if loss is None else loss
        self._selector = Selector(tuple(range(self.heads + 1)), self.degree)
        self.sets = self._selector.sets
        d = counts.vocab_size
        check.room("heads", self.heads, 9 * self.heads * d * (d + counts.window))
        compressed = counts.by_key(mask=self.mask, labels=labels_for(self.loss))
        check.room("heads", self.heads, 5 * self.heads * compressed.n_kinds * d)
        check.room("degree", self.degree, len(self.sets) * (3 * compressed.n_kinds + self.heads + 1))
        self._readout = Readout(compressed, self.loss)
        self._copies = _Copies(compressed, counts.vocab_size)
        square = (self.heads, counts.vocab_size, counts.vocab_size)
        self._shapes = {
            "c": (len(self.sets),),
            "w": (self.heads, counts.window),
            "a": (),
            "query": square,
            "key": square,
            "value": square,
        }

    def __repr__(self) -> str:
        return (
            f"FullModel({self.counts!r}, degree={self.degree}, heads={self.heads}, "
            f"mask={self.mask}, loss={self.loss!r})"
        )

    def initial_parameters(
        self, own: float = 1.0, other: float = 0.01, c: float = 0.01, a: float = 0.01, identity: float = 0.001
    ) -> Parameters:
        """Return the paper's initialization.

        Parameters
        ----------
        own : float, default 1.0
            Position weight of head h at offset h.
        other : float, default 0.01
            Position weight at every other offset.
        c : float, default 0.01
            Weight of every set of blocks, not zero.
        a : float, default 0.01
            Scale of the second attention.
        identity : float, default 0.001
            Multiple of the identity in ``query``, ``key`` and ``value``.

        Returns
        -------
        dict
            Arrays ``c``, ``w``, ``a``, ``query``, ``key`` and ``value``.

        Raises
        ------
        ValueError
            If an argument is not finite, or c is zero.

        References
        ----------
        Chen et al. (2024), section B.2.

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1]], window=2, vocab_size=2)
        >>> FullModel(counts, degree=1).initial_parameters()["query"][0]
        array([[0.001, 0.   ],
               [0.   , 0.001]])
        """
        w = np.full(self._shapes["w"], check.real("other", other))
        np.fill_diagonal(w, check.real("own", own))
        matrix = check.real("identity", identity) * np.eye(self.counts.vocab_size)
        return {
            "c": np.full(len(self.sets), nonzero("c", c)),
            "w": w,
            "a": np.array(check.real("a", a)),
            **{name: np.tile(matrix, (self.heads, 1, 1)) for name in ("query", "key", "value")},
        }

    def loss_and_gradients(
        self,
        c: np.ndarray,
        w: np.ndarray,
        a: float,
        query: np.ndarray,
        key: np.ndarray,
        value: np.ndarray,
    ) -> tuple[float, dict[str, np.ndarray]]:
        """Return the loss and its partial derivatives.

        Parameters
        ----------
        c : array, shape (n_sets,)
            Weight of each set of blocks, not all zero, in the order of `sets`.
        w : array, shape (heads, window)
            Position weights: ``w[h, i]`` is head h + 1 at offset i + 1.
        a : float
            Scale of the second attention.
        query, key, value : array, shape (heads, vocab_size, vocab_size)
            W_Q, W_K and W_V of each head; they multiply token rows from the right.

        Returns
        -------
        loss : float
        gradients : dict
            Arrays of the arguments' names and shapes.

        Raises
        ------
        ValueError
            If a shape does not fit, an entry is not finite, c is zero or so small beside a that a
            derivative is beyond the largest float, or a loss of the reader's own returns NaN, or a
            slope that is not finite where the loss is.

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1, 0, 1]], window=1, vocab_size=2)
        >>> model = FullModel(counts, degree=1)
        >>> loss, gradients = model.loss_and_gradients(**model.initial_parameters())
        >>> sorted(gradients)
        ['a', 'c', 'key', 'query', 'value', 'w']
        """
        return self._loss_and_gradients({"c": c, "w": w, "a": a, "query": query, "key": key, "value": value})

    def predict(
        self,
        c: np.ndarray,
        w: np.ndarray,
        a: float,
        query: np.ndarray,
        key: np.ndarray,
        value: np.ndarray,
    ) -> np.ndarray:
        """Return the output distribution of each sequence of the data set.

        Parameters
        ----------
        c : array, shape (n_sets,)
        w : array, shape (heads, window)
        a : float
        query, key, value : array, shape (heads, vocab_size, vocab_size)

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)
            Each row sums to one.

        Raises
        ------
        ValueError
            If a shape does not fit, an entry is not finite, or c is zero.

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1, 0, 1]], window=1, vocab_size=2)
        >>> model = FullModel(counts, degree=1)
        >>> model.predict(**model.initial_parameters(a=0.0))
        array([[0.5, 0.5]])
        """
        now = self._checked({"c": c, "w": w, "a": a, "query": query, "key": key, "value": value})
        compressed = self.counts.by_key(mask=self.mask, labels="tokens")
        kernels = _Copies(compressed, self.counts.vocab_size).kernels(now)[0]
        scores = shares(now["c"]) @ self._selector.products(kernels)
        return distribution(compressed, scores, now["a"])[compressed.group]

    def _evaluator(self, frozen: Parameters) -> Callable[..., tuple[float | None, Pulls]]:
        def evaluate(moving: Parameters, with_loss: bool = True) -> tuple[float | None, Pulls]:
            now = {**frozen, **moving}
            a = float(now["a"])
            p = shares(now["c"])
            kernels, trace = self._copies.kernels(now)
            k = self._selector.products(kernels)  # (S, P)
            s = p @ k  # (P,)
            loss, R = self._readout(s, a, with_loss=with_loss)
            g = k @ R
            pulls = {"c": 2 * a * (g - p @ g), "a": R @ s}
            if not moving.keys() <= {"c", "a"}:
                pulls.update(self._copies.pulls(now, trace, a * R * self._selector.slopes(p, k)[1:]))
            return loss, {name: pulls[name] for name in moving}

        return evaluate


class _Copies:
    """The first attention layer on every kind of query and of key.

    A head's output before its values is a mixture of tokens, shape (H, n, d).
    """

    def __init__(self, counts: ScoreCounts, vocab_size: int) -> None:
        from scipy.sparse import csr_array

        n_pairs = counts.n_kinds
        queries, query_of = np.unique(counts.queries, axis=0, return_inverse=True)  # (Q, M)
        keys = np.column_stack([counts.keys, counts.key_tokens])
        keys, key_of = np.unique(keys, axis=0, return_inverse=True)  # (K, M + 1)
        self._query_of, self._key_of = query_of.reshape(-1), key_of.reshape(-1)
        pairs, one = np.arange(n_pairs), np.ones(n_pairs)
        self._add_to_query = csr_array((one, (self._query_of, pairs)), shape=(len(queries), n_pairs))
        self._add_to_key = csr_array((one, (self._key_of, pairs)), shape=(len(keys), n_pairs))
        one_hot = np.vstack([np.eye(vocab_size), np.zeros(vocab_size)])  # the last row is no token
        self._query_tokens = one_hot[queries]  # (Q, M, d)
        self._key_tokens = one_hot[keys[:, :-1]]  # (K, M, d)
        self._own_token = one_hot[keys[:, -1]]  # (K, d)
        self._absent = keys[:, :-1] < 0  # (K, M)

    def kernels(self, now: Parameters) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return the kernel of each block, zero for the input, and what the pulls need again."""
        w, V = now["w"], now["value"]
        content = self._own_token @ now["query"] @ now["key"].transpose(0, 2, 1)  # (H, K, d)
        logits = np.einsum("hkt,kmt->hkm", content, self._key_tokens) + w[:, None, :]
        query_share, key_share = softmax(w), _softmax_without(logits, self._absent)  # (H, M), (H, K, M)
        query_mix = np.einsum("hm,qmt->hqt", query_share, self._query_tokens)
        key_mix = np.einsum("hkm,kmt->hkt", key_share, self._key_tokens)
        query, query_scale = _unit(query_mix @ V)  # (H, Q, d)
        key, key_scale = _unit(key_mix @ V)  # (H, K, d)
        kernels = np.zeros((len(w) + 1, self._key_of.size))
        np.einsum("hpd,hpd->hp", query[:, self._query_of], key[:, self._key_of], out=kernels[1:])
        return kernels, {
            "query_share": query_share,
            "key_share": key_share,
            "query_mix": query_mix,
            "key_mix": key_mix,
            "query": query,
            "key": key,
            "query_scale": query_scale,
            "key_scale": key_scale,
        }

    def pulls(self, now: Parameters, trace: dict[str, np.ndarray], force: np.ndarray) -> Pulls:
        """Return the derivatives of the sum of the heads' kernels weighted by `force`, (H, P)."""
        V = now["value"]
        query, key = trace["query"], trace["key"]
        to_query = _through_unit(
            _added(self._add_to_query, force, key[:, self._key_of]), query, trace["query_scale"]
        )  # (H, Q, d)
        to_key = _through_unit(
            _added(self._add_to_key, force, query[:, self._query_of]), key, trace["key_scale"]
        )  # (H, K, d)
        V_transposed = V.transpose(0, 2, 1)
        felt = np.einsum("hqt,qmt->hm", to_query @ V_transposed, self._query_tokens)
        position = _through_softmax(felt, trace["query_share"])
        felt = np.einsum("hkt,kmt->hkm", to_key @ V_transposed, self._key_tokens)
        logit = _through_softmax(felt, trace["key_share"])  # (H, K, M)
        content = self._own_token.T @ np.einsum("hkm,kmt->hkt", logit, self._key_tokens)  # (H, d, d)
        return {
            "w": position + logit.sum(axis=1),
            "value": trace["query_mix"].transpose(0, 2, 1) @ to_query
            + trace["key_mix"].transpose(0, 2, 1) @ to_key,
            "query": content @ now["key"],
            "key": content.transpose(0, 2, 1) @ now["query"],
        }


def _added(add: object, force: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the sums of vectors weighted by `force`, (H, P) and (H, P, d) to (H, n, d)."""
    heads, n_pairs, d = vectors.shape
    flat = (force[:, :, None] * vectors).transpose(1, 0, 2).reshape(n_pairs, heads * d)
    return (add @ flat).reshape(-1, heads, d).transpose(1, 0, 2)


def _unit(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of length one and one over the old lengths; zero stays zero."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    length = largest * np.linalg.norm(vectors / np.where(largest > 0, largest, 1), axis=-1, keepdims=True)
    scale = np.divide(1, length, out=np.zeros_like(length), where=length > SHORTEST)
    return vectors * scale, scale


def _through_unit(gradient: np.ndarray, unit: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the gradient before the division by the length."""
    return scale * (gradient - unit * (gradient * unit).sum(axis=-1, keepdims=True))


def _through_softmax(gradient: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the gradient before the softmax."""
    return share * (gradient - (share * gradient).sum(axis=-1, keepdims=True))


def _softmax_without(logits: np.ndarray, absent: np.ndarray) -> np.ndarray:
    """Return the softmax over the entries that are there; all zero where none is."""
    logits = np.where(absent, -np.inf, logits)
    top = logits.max(axis=-1, keepdims=True)
    exponentials = np.exp(logits - np.where(np.isfinite(top), top, 0))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total > 0, total, 1)
