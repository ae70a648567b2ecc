r"""The simplified two-layer transformer of Chen et al. (2024) on window counts.

Its parameters are :math:`w^{(h)}`, the relative positions of head h (the copier), :math:`c_S`, the
weight of each set of heads (the selector), and the scalar :math:`a` (the classifier). A key with
window W and a query window q, newest token first, have the score

.. math:: s = \sum_{|S| \le D} p_S \prod_{h \in S} K^h, \qquad
          K^h = \sum_{i,j} \sigma^h_i \sigma^h_j \, 1(q_i = W_j), \qquad
          p_S = c_S^2 / C_D, \qquad \sigma^h = \mathrm{softmax}(w^{(h)}),

which depends on the table of matches alone. Loss and gradients are computed on these tables,
exactly, at a cost that does not depend on the length of the sequences.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import _validation as check
from ._lags import lag_set
from ._selector import Selector, shares
from .dynamics import Parameters, Pulls, Trainable, checked_sizes, nonzero, softmax
from .losses import LogLoss, Loss
from .readout import Distribution, Readout, distribution, labels_for
from .windows import ScoreCounts, WindowCounts


class StagedModel(Trainable):
    r"""The transformer (2.5) on a data set: its exact loss, gradients and training.

    Parameters
    ----------
    counts : WindowCounts
        The data set.
    degree : int
        Largest size of a set of heads, D, from 0 to `heads`.
    heads : int, optional
        Number of heads H, by default one for each offset in the window.
    epsilon : float, default 0.1
        Shift in the loss (2.1), :math:`-\log(y_{x_{L+1}} + \epsilon)`. At zero the loss is
        infinite once a target never follows any key of its sequence. No parameter can help such
        a sequence; it adds nothing to the gradients, which stay finite.
    mask : bool, default True
        Whether keys with less than a full window before them are left out, as in (2.4).
    loss : object or callable, optional
        Replaces (2.1), and `epsilon` with it: either an object with ``value(score)`` and
        ``derivative(score)`` of the target's probability, such as those of
        `markov_transformers.losses`, or a function of the output distributions, shape (n, d), and
        the targets, shape (n,), which returns the n losses and their gradients in the
        distributions, shape (n, d). `SoftmaxCrossEntropy` is one.

    Attributes
    ----------
    sets : tuple of tuple of int
        The sets S in the order of c: by size, then lexicographic; heads count from one.

    Raises
    ------
    ValueError
        If an argument is out of range, or there are more than 100,000 heads or sets.
    TypeError
        If `loss` is a class instead of an object of it.

    Notes
    -----
    One evaluation costs two sparse products with the compressed counts, whose nonzeros are far
    fewer than the positions, and a few small matrix products over the tables of matches.

    References
    ----------
    Chen, Sheen, Wang and Yang (2024), section 2.3; gradients (E.3), (E.4) and (E.15).

    Examples
    --------
    >>> tokens = np.random.default_rng(0).integers(3, size=(20, 31))
    >>> model = StagedModel(WindowCounts.from_tokens(tokens, window=3, vocab_size=3), degree=2)
    >>> model.sets
    ((), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3))
    >>> start = model.initial_parameters()
    >>> loss, gradients = model.loss_and_gradients(**start)
    >>> round(loss, 3), gradients["w"].shape
    (0.819, (3, 3))
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
        self.heads, self.degree = checked_sizes(counts.window if heads is None else heads, degree)
        self.epsilon = check.real("epsilon", epsilon, 0.0)
        self.mask = check.flag("mask", mask)
        self.loss = LogLoss(self.epsilon) if loss is None else loss
        self._selector = Selector(tuple(range(1, self.heads + 1)), self.degree)
        self.sets = self._selector.sets
        compressed = counts.by_match(mask=self.mask, labels=labels_for(self.loss))
        check.room("heads", self.heads, self.heads * (3 * compressed.n_kinds + 2 * counts.window**2))
        check.room("degree", self.degree, len(self.sets) * (3 * compressed.n_kinds + self.heads))
        self._readout = Readout(compressed, self.loss)
        self._copies = _Copies(compressed, counts.window)
        self._shapes = {"c": (len(self.sets),), "w": (self.heads, counts.window), "a": ()}

    def __repr__(self) -> str:
        return (
            f"StagedModel({self.counts!r}, degree={self.degree}, heads={self.heads}, "
            f"mask={self.mask}, loss={self.loss!r})"
        )

    def initial_parameters(
        self, own: float = 3.0, other: float = 0.01, c: float = 0.01, a: float = 0.01
    ) -> Parameters:
        """Return the paper's initialization.

        Parameters
        ----------
        own : float, default 3.0
            Position weight of head h at offset h.
        other : float, default 0.01
            Position weight at every other offset.
        c : float, default 0.01
            Weight of every set of heads, not zero.
        a : float, default 0.01
            Scale of the second attention.

        Returns
        -------
        dict
            Arrays ``c``, ``w`` and ``a``.

        Raises
        ------
        ValueError
            If an argument is not finite, or c is zero.

        References
        ----------
        Chen et al. (2024), section B.1.

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1]], window=2, vocab_size=2)
        >>> StagedModel(counts, degree=1).initial_parameters()["w"]
        array([[3.  , 0.01],
               [0.01, 3.  ]])
        """
        w = np.full(self._shapes["w"], check.real("other", other))
        np.fill_diagonal(w, check.real("own", own))
        selector = np.full(len(self.sets), nonzero("c", c))
        return {"c": selector, "w": w, "a": np.array(check.real("a", a))}

    def loss_and_gradients(
        self, c: np.ndarray, w: np.ndarray, a: float
    ) -> tuple[float, dict[str, np.ndarray]]:
        r"""Return the loss and its partial derivatives.

        Parameters
        ----------
        c : array, shape (n_sets,)
            Weight of each set of heads, not all zero, in the order of `sets`.
        w : array, shape (heads, window)
            Position weights: ``w[h, i]`` is head h + 1 at offset i + 1.
        a : float
            Scale of the second attention.

        Returns
        -------
        loss : float
            Mean over the sequences, in nats for the losses that are logarithms.
        gradients : dict
            Arrays ``c``, ``w`` and ``a`` of the arguments' shapes. Sequences whose loss is
            infinite add nothing to them.

        Raises
        ------
        ValueError
            If a shape does not fit, an entry is not finite, c is zero or so small beside a that a
            derivative is beyond the largest float, or a loss of the reader's own returns NaN, or a
            slope that is not finite where the loss is.

        References
        ----------
        Chen et al. (2024), (E.4), (E.15) and section D.4.

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1, 0, 1]], window=1, vocab_size=2)
        >>> loss, gradients = StagedModel(counts, degree=1).loss_and_gradients([0, 1], [[0]], 1)
        >>> round(loss, 3), round(float(gradients["a"]), 3)
        (0.185, -0.237)
        """
        return self._loss_and_gradients({"c": c, "w": w, "a": a})

    def predict(self, c: np.ndarray, w: np.ndarray, a: float) -> np.ndarray:
        """Return the output distribution of each sequence of the data set.

        Parameters
        ----------
        c : array, shape (n_sets,)
        w : array, shape (heads, window)
        a : float

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)
            Each row sums to one.

        Raises
        ------
        ValueError
            If a shape does not fit, an entry is not finite, or c is zero.

        References
        ----------
        Chen et al. (2024), (2.4).

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1, 0, 1]], window=1, vocab_size=2)
        >>> np.round(StagedModel(counts, degree=1).predict([0, 1], [[0]], 1), 3)
        array([[0.269, 0.731]])
        """
        now = self._checked({"c": c, "w": w, "a": a})
        compressed = self.counts.by_match(mask=self.mask, labels="tokens")
        copies = _Copies(compressed, self.counts.window)
        scores = shares(now["c"]) @ self._selector.products(copies.kernels(now["w"]))
        return distribution(compressed, scores, now["a"])[compressed.group]

    def misspecification(self, c: np.ndarray, w: np.ndarray, subset: tuple[int, ...]) -> tuple[float, float]:
        r"""Return how far selector and copier are from those of an induction head.

        .. math:: \Delta_1 = 1 - p_S, \qquad
                  \Delta_2 = 1 - \prod_{h \in S} (\sigma^{(h)}_{-h})^2

        No score is further than their sum from :math:`1(X_{l-S} = X_{L+1-S})`.

        Parameters
        ----------
        c : array, shape (n_sets,)
        w : array, shape (heads, window)
        subset : tuple of int
            The set S, one of `sets`; its members name heads and the offsets that they copy.

        Returns
        -------
        selector, copier : float
            :math:`\Delta_1` and :math:`\Delta_2`.

        Raises
        ------
        ValueError
            If a shape does not fit or `subset` is no such set.

        References
        ----------
        Chen et al. (2024), Lemma F.1.

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1]], window=2, vocab_size=2)
        >>> StagedModel(counts, degree=1).misspecification([0, 1, 0], np.zeros((2, 2)), (1,))
        (0.0, 0.75)
        """
        now = self._checked({"c": c, "w": w, "a": 0.0})
        subset = lag_set("subset", subset, min(self.heads, self.counts.window), empty=True)
        if subset not in self.sets:
            check.refuse("subset", subset, f"a set of at most {self.degree} lags")
        attention = softmax(now["w"])
        copied = np.prod([attention[h - 1, h - 1] ** 2 for h in subset])
        return float(1 - shares(now["c"])[self.sets.index(subset)]), float(1 - copied)

    def _evaluator(self, frozen: Parameters) -> Callable[..., tuple[float | None, Pulls]]:
        kept_p = shares(frozen["c"]) if "c" in frozen else None
        kept_k = self._selector.products(self._copies.kernels(frozen["w"])) if "w" in frozen else None
        kept_s = kept_p @ kept_k if "c" in frozen and "w" in frozen else None

        def evaluate(moving: Parameters, with_loss: bool = True) -> tuple[float | None, Pulls]:
            a = float(moving["a"] if "a" in moving else frozen["a"])
            p = shares(moving["c"]) if kept_p is None else kept_p  # (S,)
            k = kept_k  # (S, P)
            if k is None:
                k = self._selector.products(self._copies.kernels(moving["w"]))
            s = p @ k if kept_s is None else kept_s  # (P,)
            loss, R = self._readout(s, a, with_loss=with_loss)
            pulls = {}
            if "c" in moving:
                g = k @ R
                pulls["c"] = 2 * a * (g - p @ g)
            if "w" in moving:
                pulls["w"] = a * self._copies.pull(moving["w"], R * self._selector.slopes(p, k))
            if "a" in moving:
                pulls["a"] = R @ s
            return loss, pulls

        return evaluate


class _Copies:
    """The first attention layer on tables of matches: what a key's copies share with the query's."""

    def __init__(self, counts: ScoreCounts, window: int) -> None:
        self._window = window
        self._matches = counts.matches.reshape(counts.n_kinds, -1).astype(float)  # (P, M * M)
        lengths, starts = np.unique(counts.lengths, return_index=True)
        stops = [*starts[1:], counts.n_kinds]
        self._spans = [(int(m), slice(*span)) for m, *span in zip(lengths, starts, stops)]

    def kernels(self, w: np.ndarray) -> np.ndarray:
        """Return the inner product of the copies of each head, shape (H, P)."""
        query = softmax(w)  # (H, M)
        K = np.empty((len(w), len(self._matches)))
        for m, span in self._spans:
            pairs = query[:, :, None] * self._key_attention(w, m)[:, None, :]  # (H, M, M)
            K[:, span] = pairs.reshape(len(w), -1) @ self._matches[span].T
        return K

    def pull(self, w: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Return the derivative in w of the sum of kernels weighted by `force`, shape (H, P)."""
        query = softmax(w)
        total = np.zeros_like(w)
        for m, span in self._spans:
            key = self._key_attention(w, m)
            T = (force[:, span] @ self._matches[span]).reshape(len(w), self._window, self._window)
            from_key = (T @ key[:, :, None])[:, :, 0]  # (H, M)
            from_query = (query[:, None, :] @ T)[:, 0, :]
            mean = (query * from_key).sum(axis=1, keepdims=True)
            total += query * (from_key - mean) + key * (from_query - mean)
        return total

    def _key_attention(self, w: np.ndarray, length: int) -> np.ndarray:
        """Return the attention of a key that has only `length` tokens before it."""
        if length == self._window:
            return softmax(w)
        attention = np.zeros_like(w)
        if length:
            attention[:, :length] = softmax(w[:, :length])
        return attention
