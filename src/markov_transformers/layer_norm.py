r"""The full two-layer transformer with the normalization of a deep-learning framework.

Section B.2 of Chen et al. (2024) divides each head's output by its length. The experiment code in
the authors' public repository (``gszfwsb/Unveiling-Induction-Heads``) calls a framework's layer
normalization instead and lets a position attend to itself. The differences are four switches here,
so that each can be turned on alone:

* the mean of the d entries is subtracted before the division;
* the result has length :math:`\sqrt d` instead of one, so that a match of two heads weighs d times
  as much as a match of one;
* a small number, the floor, is added to the variance, and a value matrix that is small against
  its root makes a small output;
* a position attends to itself, with position weight zero: a key's copies hold its own token.

The trainable scale and shift of a layer normalization, one and zero at first, are left out.
"""

from __future__ import annotations

import math

import numpy as np

from . import _validation as check
from ._selector import shares
from .dynamics import Parameters, Pulls
from .full_model import SHORTEST, FullModel, _Copies
from .losses import Loss
from .readout import Distribution, distribution, labels_for
from .windows import ScoreCounts, WindowCounts


class LayerNormModel(FullModel):
    r"""The full transformer of section B.2 with another normalization of its heads.

    With m the mean of the d entries of a head's output v if `centre`, and zero otherwise, v becomes

    .. math:: g \, \frac{v - m}{\sqrt{\|v - m\|^2 + d \, \mathrm{floor}}}, \qquad
              g = \sqrt d \text{ if unit\_variance, else } 1.

    Parameters
    ----------
    counts : WindowCounts
        The data set.
    degree, heads, epsilon, mask, loss
        As for `FullModel`.
    centre : bool, default True
        Whether the mean of the entries is subtracted.
    unit_variance : bool, default True
        Whether outputs have length :math:`\sqrt d`, and so entries of mean square one.
    floor : float, default 1e-5
        What is added to the mean square before the root.
    self_attention : bool, default True
        Whether a position attends to itself too, with position weight zero. The input is zero at
        the target, so there it only takes attention away.

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If `loss` is not a loss.

    Notes
    -----
    With all four switched off (`floor` zero) this is `FullModel`. Training costs the same.

    Examples
    --------
    >>> tokens = np.random.default_rng(0).integers(3, size=(20, 31))
    >>> counts = WindowCounts.from_tokens(tokens, window=3, vocab_size=3)
    >>> model = LayerNormModel(counts, degree=2)
    >>> run = model.descend(model.initial_parameters(), 10, learning_rate=0.001)
    >>> run.p_S.shape
    (11, 11)
    """

    def __init__(
        self,
        counts: WindowCounts,
        degree: int,
        heads: int | None = None,
        epsilon: float = 0.1,
        mask: bool = True,
        loss: Loss | Distribution | None = None,
        *,
        centre: bool = True,
        unit_variance: bool = True,
        floor: float = 1e-5,
        self_attention: bool = True,
    ) -> None:
        super().__init__(counts, degree, heads, epsilon, mask, loss)
        self._options = {
            "centre": check.flag("centre", centre),
            "unit_variance": check.flag("unit_variance", unit_variance),
            "floor": check.real("floor", floor, 0.0),
            "self_attention": check.flag("self_attention", self_attention),
        }
        self._copies = self._normalizing(counts.by_key(mask=self.mask, labels=labels_for(self.loss)))

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"LayerNormModel({self.counts!r}, degree={self.degree}, {options}, loss={self.loss!r})"

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

        Parameters and result are those of `FullModel.predict`.

        Parameters
        ----------
        c : array, shape (n_sets,)
        w : array, shape (heads, window)
        a : float
        query, key, value : array, shape (heads, vocab_size, vocab_size)

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)

        Raises
        ------
        ValueError
            If a shape does not fit, an entry is not finite, or c is zero.

        Examples
        --------
        >>> counts = WindowCounts.from_tokens([[0, 1, 0, 1, 0, 1]], window=1, vocab_size=2)
        >>> model = LayerNormModel(counts, degree=1)
        >>> model.predict(**model.initial_parameters(a=0.0))
        array([[0.5, 0.5]])
        """
        now = self._checked({"c": c, "w": w, "a": a, "query": query, "key": key, "value": value})
        compressed = self.counts.by_key(mask=self.mask, labels="tokens")
        kernels = self._normalizing(compressed).kernels(now)[0]
        scores = shares(now["c"]) @ self._selector.products(kernels)
        return distribution(compressed, scores, now["a"])[compressed.group]

    def _normalizing(self, compressed: ScoreCounts) -> _NormalizedCopies:
        return _NormalizedCopies(compressed, self.counts.vocab_size, **self._options)


class _NormalizedCopies(_Copies):
    """The first attention layer, with the four switches."""

    def __init__(
        self,
        counts: ScoreCounts,
        vocab_size: int,
        *,
        centre: bool,
        unit_variance: bool,
        floor: float,
        self_attention: bool,
    ) -> None:
        super().__init__(counts, vocab_size)
        d = vocab_size
        self._window = self._key_tokens.shape[1]
        self._centring = np.eye(d) - (1 / d if centre else 0)
        self._square_gain = d if unit_variance else 1
        self._floor = d * floor
        self._self_attention = self_attention
        if self_attention:  # one more place to attend to: offset zero, the key's own token
            self._key_tokens = np.concatenate([self._key_tokens, self._own_token[:, None]], axis=1)
            self._query_tokens = np.pad(self._query_tokens, ((0, 0), (0, 1), (0, 0)))
            self._absent = np.pad(self._absent, ((0, 0), (0, 1)))

    def kernels(self, now: Parameters) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        now = self._widened(now)
        kernels, trace = super().kernels(now)
        for side in ("query", "key"):
            trace[side], trace[f"{side}_scale"] = self._shortened(trace[f"{side}_mix"] @ now["value"])
        query, key = trace["query"][:, self._query_of], trace["key"][:, self._key_of]
        np.einsum("hpd,hpd->hp", query, key, out=kernels[1:])
        kernels *= self._square_gain
        return kernels, trace

    def pulls(self, now: Parameters, trace: dict[str, np.ndarray], force: np.ndarray) -> Pulls:
        pulls = super().pulls(self._widened(now), trace, self._square_gain * force)
        pulls["w"] = pulls["w"][:, : self._window]
        pulls["value"] = pulls["value"] @ self._centring
        return pulls

    def _widened(self, now: Parameters) -> Parameters:
        """Return the parameters with centred values and a weight for every place."""
        places = np.pad(now["w"], ((0, 0), (0, 1))) if self._self_attention else now["w"]
        return {**now, "w": places, "value": now["value"] @ self._centring}

    def _shortened(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors over the root of their square length plus the floor, and one over it."""
        largest = np.abs(vectors).max(axis=-1, keepdims=True)
        largest = np.maximum(largest, math.sqrt(self._floor))  # keeps the squares from underflowing
        largest = np.where(largest > 0, largest, 1)
        parts = np.append(vectors, np.full_like(largest, math.sqrt(self._floor)), axis=-1) / largest
        length = largest * np.linalg.norm(parts, axis=-1, keepdims=True)
        scale = np.divide(1, length, out=np.zeros_like(length), where=length > SHORTEST)
        return vectors * scale, scale
