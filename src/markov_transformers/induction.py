r"""Predictors that look into the context: the generalized induction head and its rivals.

An induction head finds earlier places in the context that look like the present one and
predicts what came next there. The generalized induction head (GIH) decides likeness by the
tokens at a set of lags S:

.. math:: y^\star = \frac1N \sum_{l=M+1}^{L} x_l \, 1(X_{l-S} = X_{L+1-S}),

N being the number of matches. Source: Chen et al. (2024), (3.3).

All predictors share one method, ``predict(tokens, vocab_size=None)``, from contexts
:math:`x_{1:L}` of shape ``(n_sequences, L)`` to the law of the next token, ``(n_sequences, d)``.
"""

from __future__ import annotations

import math

import numpy as np

from . import _validation as check
from ._lags import lag_set, lag_subsets

_MOST_BITS = 14_000  # of a number that Python still prints
_LARGE = 1e200  # a report is the same for every epsilon above it


class GeneralizedInductionHead:
    r"""Average the tokens that followed earlier matches of the present tokens at a set of lags.

    .. math::

        y^\star = \frac1N \sum_{l=M+1}^{L} x_l \, 1(X_{l-S} = X_{L+1-S}) \quad\text{or, if } N = 0,\quad
        \frac1{L-M} \sum_{l=M+1}^{L} x_l .

    Parameters
    ----------
    subset : tuple of int
        The lags S to match, within 1 ... `window`; ``()`` matches everywhere.
    window : int
        Window M, at least 1. The first M tokens are never counted, whatever the lags.

    Raises
    ------
    ValueError
        If `subset` is not a set of lags within the window.

    References
    ----------
    Chen et al. (2024), (3.3) and (C.2).

    Examples
    --------
    The last two tokens, 0 1, occurred twice before; 2 and then 0 came next:

    >>> head = GeneralizedInductionHead(subset=(1, 2), window=2)
    >>> head.predict([[0, 1, 2, 0, 1, 0, 0, 1]])
    array([[0.5, 0. , 0.5]])

    Without a match, the average of all tokens after the first two:

    >>> head.predict([[0, 1, 0, 0, 2]])
    array([[0.66666667, 0.        , 0.33333333]])
    """

    def __init__(self, subset: tuple[int, ...], window: int) -> None:
        self.window = check.integer("window", window, minimum=1)
        self.subset = lag_set("subset", subset, self.window, empty=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(subset={self.subset}, window={self.window})"

    def predict(self, tokens: np.ndarray, vocab_size: int | None = None) -> np.ndarray:
        """Return the law of the next token.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length)
            Contexts, longer than the window.
        vocab_size : int, optional
            Number of tokens d; by default the largest token plus one.

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)
            Rows sum to one.

        Raises
        ------
        ValueError
            If `tokens` is too short or holds a token outside the vocabulary.

        Notes
        -----
        Cost ``O(n_sequences * length * |S|)``.
        """
        tokens, d = _contexts(tokens, vocab_size, self.window + 1)
        counts = _counts_after_matches(tokens, self.subset, self.window, d)
        unmatched = counts.sum(axis=1) == 0
        if unmatched.any():
            counts[unmatched] = _counts_after_matches(tokens[unmatched], (), self.window, d)
        return counts / counts.sum(axis=1, keepdims=True)


class InductionHead(GeneralizedInductionHead):
    """The plain induction head: match the last token alone, predict what followed it.

    Parameters
    ----------
    window : int, default 1
        Window M: the first M tokens are never counted.

    Raises
    ------
    ValueError
        If the window is not a positive integer.

    References
    ----------
    Chen et al. (2024), (3.3) with S = {1}; Olsson et al. (2022).

    Examples
    --------
    >>> InductionHead().predict([[2, 0, 1, 2, 0]])
    array([[0., 1., 0.]])
    """

    def __init__(self, window: int = 1) -> None:
        super().__init__((1,), window)

    def __repr__(self) -> str:
        return f"InductionHead(window={self.window})"


class FullHistoryMatch(GeneralizedInductionHead):
    """Match all tokens of the window at once.

    Parameters
    ----------
    window : int
        Window M, at least 1; the lags 1 ... M are matched.

    Raises
    ------
    ValueError
        If the window is not a positive integer.

    References
    ----------
    Chen et al. (2024), (3.3) with S = {1, ..., M}.

    Examples
    --------
    >>> FullHistoryMatch(3).predict([[0, 1, 1, 0, 1, 0, 1, 1]])
    array([[1., 0.]])
    """

    def __init__(self, window: int) -> None:
        self.window = check.integer("window", window, minimum=1)
        check.room("window", window, 4.9 * self.window)  # 4.5 to 5, as Python makes the tuple
        self.subset = tuple(range(1, self.window + 1))

    def __repr__(self) -> str:
        return f"FullHistoryMatch(window={self.window})"


class Unigram:
    """Predict the frequencies of the tokens in the whole context.

    Examples
    --------
    >>> Unigram().predict([[0, 1, 0, 0]])
    array([[0.75, 0.25]])
    """

    def __repr__(self) -> str:
        return "Unigram()"

    def predict(self, tokens: np.ndarray, vocab_size: int | None = None) -> np.ndarray:
        """Return the law of the next token.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length)
            Contexts.
        vocab_size : int, optional
            Number of tokens d; by default the largest token plus one.

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)

        Raises
        ------
        ValueError
            If `tokens` is not an array of tokens of the vocabulary.
        """
        tokens, d = _contexts(tokens, vocab_size, 1)
        return _counts_after_matches(tokens, (), 0, d) / tokens.shape[1]


def best_report(law: np.ndarray, epsilon: float) -> np.ndarray:
    r"""Return the prediction that the loss with epsilon rewards most, for a known law.

    Among all laws y, :math:`-\sum_k m_k \log(y_k + \epsilon)` is smallest at

    .. math:: y_k = \max(0, \lambda m_k - \epsilon),

    where lambda makes the entries sum to one. It is sharper than m: the loss is not a proper one.

    Parameters
    ----------
    law : array, shape (..., vocab_size)
        The law m of the next token, along the last axis.
    epsilon : float
        The constant inside the logarithm, zero or more; at zero the best report is the law itself.

    Returns
    -------
    numpy.ndarray, shape (..., vocab_size)

    Raises
    ------
    ValueError
        If `law` does not hold probabilities, or `epsilon` is negative or not finite.

    Examples
    --------
    >>> np.round(best_report([0.6, 0.35, 0.05], epsilon=0.1), 4)
    array([0.6579, 0.3421, 0.    ])
    """
    law = check.probability_array("law", law)
    epsilon = min(check.real("epsilon", epsilon, 0.0), _LARGE)
    falling = -np.sort(-law, axis=-1)
    # With the k likeliest tokens kept, lambda is (1 + k epsilon) / their sum s, and a report times s
    # is m + epsilon (k m - s), which does not cancel for large epsilon. The last k whose smallest
    # report is positive is right.
    k, s = np.arange(1, law.shape[-1] + 1), falling.cumsum(axis=-1)
    positive = falling + epsilon * (k * falling - s) > 0
    kept = positive.sum(axis=-1, keepdims=True)
    s = np.take_along_axis(s, kept - 1, axis=-1)
    report = np.maximum(law + epsilon * (kept * law - s), 0)
    return report / report.sum(axis=-1, keepdims=True)


class BayesOptimal:
    r"""Posterior predictive under a Dirichlet prior with known lags.

    No predictor has a smaller mean log-loss. A loss with :math:`\epsilon` inside the logarithm is
    another matter: see `best_report`.

    .. math::

        y(k) = \frac{\alpha + N_k}{d \alpha + N}, \quad N = \sum_k N_k, \quad
        N_k = \sum_{l=r_n+1}^{L} 1(x_l = k)\, 1(X_{l-\mathrm{pa}} = X_{L+1-\mathrm{pa}}) .

    The first window is taken to carry no information on the kernel, as when it is drawn
    uniformly.

    Parameters
    ----------
    lags : tuple of int
        The lags of the parents.
    concentration : float
        Concentration alpha of the prior, above 0 and at most 1e300.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), the prior of section 2.1; the posterior is the conjugate one.

    Examples
    --------
    >>> BayesOptimal(lags=(1,), concentration=0.5).predict([[0, 1, 0, 1, 0]])
    array([[0.16666667, 0.83333333]])
    """

    def __init__(self, lags: tuple[int, ...], concentration: float) -> None:
        self.lags = lag_set("lags", lags)
        self.concentration = check.real("concentration", concentration, 0.0, 1e300, strict=True)

    def __repr__(self) -> str:
        return f"BayesOptimal(lags={self.lags}, concentration={self.concentration:g})"

    def predict(self, tokens: np.ndarray, vocab_size: int | None = None) -> np.ndarray:
        """Return the law of the next token.

        Parameters
        ----------
        tokens : array of int, shape (n_sequences, length)
            Contexts, at least r_n tokens long.
        vocab_size : int, optional
            Number of tokens d; by default the largest token plus one.

        Returns
        -------
        numpy.ndarray, shape (n_sequences, vocab_size)

        Raises
        ------
        ValueError
            If `tokens` is too short or holds a token outside the vocabulary.
        """
        tokens, d = _contexts(tokens, vocab_size, self.lags[-1])
        weights = _counts_after_matches(tokens, self.lags, self.lags[-1], d) + self.concentration
        return weights / weights.sum(axis=1, keepdims=True)


def match_features(tokens: np.ndarray, subset: tuple[int, ...], vocab_size: int | None = None) -> np.ndarray:
    r"""Return the features whose inner products decide matches.

    .. math:: \psi_S(l) = \mathrm{vec}\bigotimes_{s \in S} x_{l-s}, \qquad
              \langle \psi_S(l), \psi_S(m) \rangle = 1(X_{l-S} = X_{m-S}).

    Parameters
    ----------
    tokens : array of int, shape (n_sequences, length)
        Contexts :math:`x_{1:L}`, at least as long as the largest lag.
    subset : tuple of int
        The lags S; ``()`` gives the single feature 1.
    vocab_size : int, optional
        Number of tokens d; by default the largest token plus one.

    Returns
    -------
    numpy.ndarray, shape (n_sequences, length + 1 - max(S), n_patterns)
        Features of the positions l = max(S) + 1, ..., L + 1, counted from one; the last belongs
        to the token to be predicted. There is an entry for each pattern at the lags, in
        lexicographic order, nearest lag first.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), appendix C.2.

    Examples
    --------
    >>> match_features([[0, 1, 1]], subset=(1,))
    array([[[1., 0.],
            [0., 1.],
            [0., 1.]]])
    """
    subset = lag_set("subset", subset, empty=True)
    first = subset[-1] if subset else 0
    tokens, d = _contexts(tokens, vocab_size, first)
    length = tokens.shape[1]
    shape = (len(tokens), length + 1 - first)
    n_patterns = check.power(d, len(subset))
    check.room("subset", subset, n_patterns * (math.prod(shape) + n_patterns))
    number = np.zeros(shape, dtype=np.intp)
    for lag in subset:
        number = number * d + tokens[:, first - lag : length + 1 - lag]
    return np.eye(d ** len(subset))[number]


def match_kernel(tokens: np.ndarray, subset: tuple[int, ...]) -> np.ndarray:
    r"""Return which positions match at a set of lags, the Gram matrix of `match_features`.

    Parameters
    ----------
    tokens : array of int, shape (n_sequences, length)
        Contexts, at least as long as the largest lag.
    subset : tuple of int
        The lags S.

    Returns
    -------
    numpy.ndarray, shape (n_sequences, length + 1 - max(S), length + 1 - max(S))
        :math:`1(X_{l-S} = X_{m-S})` for the positions l, m = max(S) + 1, ..., L + 1. The last row
        holds the weights of the generalized induction head, before it normalises them.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), (C.1) and appendix C.2.

    Examples
    --------
    >>> match_kernel([[0, 1, 1]], subset=(1,))
    array([[[1., 0., 0.],
            [0., 1., 1.],
            [0., 1., 1.]]])
    """
    subset = lag_set("subset", subset, empty=True)
    first = subset[-1] if subset else 0
    tokens = check.token_array("tokens", tokens, min_length=first)
    length = tokens.shape[1]
    size = length + 1 - first
    check.room("tokens", tokens.shape, 1.25 * len(tokens) * size**2)
    match = np.ones((len(tokens), size, size), dtype=bool)
    for lag in subset:
        seen = tokens[:, first - lag : length + 1 - lag]
        match &= seen[:, :, None] == seen[:, None, :]
    return match.astype(np.float64)


def monomial_features(heads: np.ndarray, weights: np.ndarray, max_degree: int) -> np.ndarray:
    r"""Return the explicit features of the polynomial kernel of the feed-forward layer.

    .. math::

        \phi(v) = \Bigl(c_S \, \mathrm{vec} \bigotimes_{h \in S} v^{(h)}\Bigr)_{|S| \le D}, \qquad
        \langle \phi(v), \phi(v') \rangle
        = \sum_{|S| \le D} c_S^2 \prod_{h \in S} \langle v^{(h)}, v'^{(h)} \rangle .

    Parameters
    ----------
    heads : array, shape (..., H, d)
        Outputs of the H heads.
    weights : array, shape (n_subsets,)
        The coefficients c in the order (), (1,), ..., (H,), (1, 2), ...: by size, then
        lexicographically.
    max_degree : int
        The degree D, between 0 and H.

    Returns
    -------
    numpy.ndarray, shape (..., sum of C(H, k) d^k for k = 0 ... D)
        37 features for H = d = 3, D = 2.

    Raises
    ------
    ValueError
        If an argument is out of range or the shapes do not fit.

    References
    ----------
    Chen et al. (2024), (2.3), (C.3), (C.4), Lemma C.1.

    Examples
    --------
    >>> monomial_features([[1.0, 2.0], [3.0, 5.0]], weights=[1, 1, 1, 1], max_degree=2)
    array([ 1.,  1.,  2.,  3.,  5.,  3.,  5.,  6., 10.])
    """
    heads = check.real_array("heads", heads)
    if heads.ndim < 2 or 0 in heads.shape:
        raise ValueError(f"heads must be an array of shape (..., H, d), got shape {heads.shape}")
    n_heads = heads.shape[-2]
    max_degree = check.integer("max_degree", max_degree, 0, n_heads)
    n_features = _n_monomial_features(n_heads, heads.shape[-1], max_degree)
    check.room("heads", heads.shape, 2 * math.prod(heads.shape[:-2]) * n_features)
    subsets = lag_subsets(n_heads, max_degree)
    weights = check.real_array("weights", weights, (len(subsets),))
    parts = []
    for weight, subset in zip(weights, subsets):
        part = np.full((*heads.shape[:-2], 1), weight)
        for head in subset:
            outer = part[..., :, None] * heads[..., head - 1, None, :]
            part = outer.reshape(*outer.shape[:-2], -1)
        parts.append(part)
    return np.concatenate(parts, axis=-1)


def n_monomial_features(n_heads: int, vocab_size: int, max_degree: int) -> int:
    r"""Return the number of features of `monomial_features`, :math:`\sum_{k \le D} \binom Hk d^k`.

    Parameters
    ----------
    n_heads, vocab_size : int
        H and d, at least 1.
    max_degree : int
        D, between 0 and H.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), (C.4).

    Examples
    --------
    >>> n_monomial_features(n_heads=3, vocab_size=3, max_degree=2)
    37
    """
    n_heads = check.integer("n_heads", n_heads, minimum=1)
    vocab_size = check.integer("vocab_size", vocab_size, minimum=1)
    max_degree = check.integer("max_degree", max_degree, 0, n_heads)
    return _n_monomial_features(n_heads, vocab_size, max_degree)


def _n_monomial_features(n_heads: int, vocab_size: int, max_degree: int) -> int:
    bits = min(max_degree * math.log2(n_heads * vocab_size), n_heads * math.log2(1 + vocab_size))
    if bits > _MOST_BITS:
        check.refuse("max_degree", max_degree, f"small enough for a number of at most {_MOST_BITS} bits")
    return sum(math.comb(n_heads, k) * vocab_size**k for k in range(max_degree + 1))


def _contexts(tokens: object, vocab_size: int | None, min_length: int) -> tuple[np.ndarray, int]:
    if vocab_size is not None:
        vocab_size = check.integer("vocab_size", vocab_size, minimum=1)
    tokens = check.token_array("tokens", tokens, vocab_size, min_length=min_length)
    d = int(tokens.max()) + 1 if vocab_size is None else vocab_size
    name, value = ("tokens", d - 1) if vocab_size is None else ("vocab_size", vocab_size)
    check.room(name, value, 3 * len(tokens) * d)
    return tokens, d


def _counts_after_matches(tokens: np.ndarray, subset: tuple[int, ...], window: int, d: int) -> np.ndarray:
    """Count the tokens at l = window + 1 ... L whose lagged tokens match those of L + 1."""
    n, length = tokens.shape
    match = np.ones((n, length - window), dtype=bool)
    for lag in subset:
        match &= tokens[:, window - lag : length - lag] == tokens[:, length - lag, None]
    sequence, position = np.nonzero(match)
    cell = sequence * d + tokens[sequence, window + position]
    return np.bincount(cell, minlength=n * d).reshape(n, d).astype(np.float64)
