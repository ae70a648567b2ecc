r"""How much the past tells about the next token, and what it costs to look.

Let :math:`z` be the next token and :math:`Z_{-S}` the tokens at a set of lags :math:`S`, with
stationary joint law :math:`\mu`. Besides Shannon's mutual information there is the one that
belongs to the chi-squared divergence,

.. math:: I_{\chi^2}(S) = \sum_E \mu(E)\, D_{\chi^2}(\mu(\cdot \mid E) \,\|\, \mu),

and the modified one, which weighs each pattern :math:`E` of the past by its probability once
more, and so prices patterns that are too rare to be met again:

.. math:: \tilde I_{\chi^2}(S) = \sum_E \mu(E)^2\, D_{\chi^2}(\mu(\cdot \mid E) \,\|\, \mu).

All are evaluated without subtracting large numbers:

.. math:: I_{\chi^2} = \sum_{E,e} (\mu(e \mid E) - \mu(e)) (\mu(E \mid e) - \mu(E)),

whose two factors share their sign, and the modified one the same with another factor
:math:`\mu(E)`.

Everywhere, `windows` is a stationary law of M + 1 consecutive tokens as returned by
``NGramChain.stationary_windows(M + 1)``, of shape ``(d,) * (M + 1)``, oldest token first. A batch
has one more axis in front. The two are told apart by their total, one for a single chain and
the number of chains for a batch. Source: Chen et al. (2024), section 3.1 and appendix C.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from . import _validation as check
from ._lags import lag_set, lag_subsets

_CHUNK = 1 << 20  # entries of the windows worked on at a time, so that they stay in the cache
_MOST_SUBSETS = 100_000  # about a quarter of a minute
_MOST_WORK = 1 << 33  # numbers added up for one call of `information_of_subsets`: some minutes


def chi2_divergence(p: np.ndarray, q: np.ndarray) -> float | np.ndarray:
    r"""Return the chi-squared divergence between discrete laws.

    .. math:: D_{\chi^2}(P \| Q) = \sum_{x : Q(x) > 0} \frac{(P(x) - Q(x))^2}{Q(x)},

    and infinity where P puts mass on a point that Q excludes.

    Parameters
    ----------
    p, q : array, shape (..., d)
        Probabilities along the last axis; leading axes broadcast.

    Returns
    -------
    float or numpy.ndarray
        Nonnegative, zero only for equal laws.

    Raises
    ------
    ValueError
        If `p` or `q` does not hold probabilities, or their shapes do not broadcast.

    References
    ----------
    Chen et al. (2024), appendix C.3.

    Examples
    --------
    >>> chi2_divergence([0.75, 0.25], [0.5, 0.5])
    0.25
    >>> chi2_divergence([0.5, 0.5], [1.0, 0.0])
    inf
    """
    p = check.probability_array("p", p)
    q = check.probability_array("q", q)
    try:
        p, q = np.broadcast_arrays(p, q)
    except ValueError:
        raise ValueError(f"p and q must broadcast, got shapes {p.shape} and {q.shape}") from None
    with np.errstate(over="ignore"):
        terms = (p - q) * _ratio(p - q, q)
    value = np.where(((p > 0) & (q == 0)).any(axis=-1), np.inf, terms.sum(axis=-1))
    return float(value) if value.ndim == 0 else value


def chi2_information(
    windows: np.ndarray, subset: tuple[int, ...], *, average: bool = True
) -> float | np.ndarray:
    r"""Return the chi-squared mutual information between the next token and those at some lags.

    .. math:: I_{\chi^2}(S) = \sum_E \mu(E)\, D_{\chi^2}(\mu(\cdot \mid E) \,\|\, \mu)

    It obeys data processing: no set of lags tells more than the parents, and all supersets of the
    parents tell the same. It is at most d - 1.

    Parameters
    ----------
    windows : array, shape (d,) * (M + 1) or (batch,) + (d,) * (M + 1)
        Stationary law of M + 1 tokens, oldest first, newest last.
    subset : tuple of int
        The lags S, within 1 ... M; ``()`` has information zero.
    average : bool, default True
        For a batch: the mean over its chains, or one value for each.

    Returns
    -------
    float, or numpy.ndarray of shape (batch,) if not `average`

    Raises
    ------
    ValueError
        If `windows` is not a law of windows or `subset` not a set of lags within them.

    Notes
    -----
    Cost :math:`O(d^{M+1})` for each chain.

    References
    ----------
    Chen et al. (2024), section 3.1 and appendix C.3.

    Examples
    --------
    >>> import numpy as np
    >>> copy = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> round(chi2_information(copy, (1,)), 12)
    0.36
    """
    return _one_subset(windows, subset, average, _chi2)


def modified_chi2_information(
    windows: np.ndarray, subset: tuple[int, ...], *, average: bool = True
) -> float | np.ndarray:
    r"""Return the modified chi-squared mutual information.

    .. math::

        \tilde I_{\chi^2}(S) = \mathbb E_\pi \sum_E \mu^\pi(E)^2\,
        D_{\chi^2}(\mu^\pi(\cdot \mid E) \,\|\, \mu^\pi)

    The factor :math:`\mu(E)`, by which it differs from `chi2_information`, is the chance to meet
    the pattern E again: a larger set of lags tells more but matches less often.

    Parameters
    ----------
    windows : array, shape (d,) * (M + 1) or (batch,) + (d,) * (M + 1)
        Stationary law of M + 1 tokens, oldest first, newest last. A batch stands for draws from
        the prior.
    subset : tuple of int
        The lags S, within 1 ... M; ``()`` has information zero.
    average : bool, default True
        For a batch: the mean over its chains, the expectation under the prior, or one value for
        each.

    Returns
    -------
    float, or numpy.ndarray of shape (batch,) if not `average`

    Raises
    ------
    ValueError
        If `windows` is not a law of windows or `subset` not a set of lags within them.

    Notes
    -----
    Cost :math:`O(d^{M+1})` for each chain. For many subsets use `information_of_subsets`.

    References
    ----------
    Chen et al. (2024), (3.1).

    Examples
    --------
    >>> import numpy as np
    >>> copy = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> round(modified_chi2_information(copy, (1,)), 12)
    0.18
    """
    return _one_subset(windows, subset, average, _modified_chi2)


def shannon_information(
    windows: np.ndarray, subset: tuple[int, ...], *, average: bool = True
) -> float | np.ndarray:
    r"""Return Shannon's mutual information between the next token and those at some lags, in nats.

    .. math:: I(S) = \sum_{E, e} \mu(E, e) \log \frac{\mu(E, e)}{\mu(E) \mu(e)} \le \log(1 + I_{\chi^2}(S))

    Parameters
    ----------
    windows : array, shape (d,) * (M + 1) or (batch,) + (d,) * (M + 1)
        Stationary law of M + 1 tokens, oldest first, newest last.
    subset : tuple of int
        The lags S, within 1 ... M; ``()`` has information zero.
    average : bool, default True
        For a batch: the mean over its chains, or one value for each.

    Returns
    -------
    float, or numpy.ndarray of shape (batch,) if not `average`

    Raises
    ------
    ValueError
        If `windows` is not a law of windows or `subset` not a set of lags within them.

    References
    ----------
    Cover and Thomas (2006), *Elements of Information Theory*, section 2.3.

    Examples
    --------
    >>> import numpy as np
    >>> round(shannon_information(np.diag([0.5, 0.5]), (1,)), 4)
    0.6931
    """
    return _one_subset(windows, subset, average, _shannon)


def information_of_subsets(
    windows: np.ndarray, max_size: int, *, measure: str = "modified_chi2", average: bool = True
) -> dict[tuple[int, ...], float | np.ndarray]:
    r"""Return the information of every set of at most `max_size` lags, in one shared pass.

    Parameters
    ----------
    windows : array, shape (d,) * (M + 1) or (batch,) + (d,) * (M + 1)
        Stationary law of M + 1 tokens, oldest first, newest last.
    max_size : int
        Largest size D of a set, between 0 and M.
    measure : {"modified_chi2", "chi2", "shannon"}, default "modified_chi2"
        Which information.
    average : bool, default True
        For a batch: means over its chains, or one value for each.

    Returns
    -------
    dict of tuple to float or numpy.ndarray
        Sets by size, then lexicographically: ``(), (1,), ..., (M,), (1, 2), ...``.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The law of the tokens at each set of lags is a sum over the others. Lags are decided from the
    oldest on, and sets that agree so far share their sums: for each chain the cost is
    :math:`O(\sum_{j \le M} \sum_{k \le D} \binom jk d^{M+1-j+k})`, a few times the size
    :math:`d^{M+1}` of the windows instead of :math:`\binom MD` times.

    Examples
    --------
    >>> import numpy as np
    >>> copy = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> {s: round(v, 12) for s, v in information_of_subsets(copy, max_size=1).items()}
    {(): 0.0, (1,): 0.18}
    """
    laws, batched = _laws(windows)
    max_size = check.integer("max_size", max_size, 0, laws.ndim - 2)
    _check_work(laws, max_size)
    measure = check.choice("measure", measure, tuple(_MEASURES))
    average = check.flag("average", average)
    values = _all_subsets(laws, max_size, _MEASURES[measure])  # (batch, n_subsets)
    subsets = lag_subsets(laws.ndim - 2, max_size)
    if batched and not average:
        return dict(zip(subsets, values.T))
    return dict(zip(subsets, values.mean(axis=0).tolist()))


@dataclass(frozen=True)
class InformationSet:
    """The set of lags with the largest modified information, and its rivals.

    Attributes
    ----------
    subset : tuple of int
        The information set. Among tied sets, the first by size, then lexicographically.
    value : float
        Its modified chi-squared information.
    runner_up : tuple of int or None
        The best of the other sets; ``None`` if there is no other.
    gap : float
        How far the runner-up falls short, (3.5); zero for a tie, infinite without another set.
    ties : tuple of tuple of int
        Other sets that reach the same value to rounding; empty if the maximum is unique.
    values : dict of tuple to float
        The information of every set that took part.

    Examples
    --------
    >>> from markov_transformers import NGramChain
    >>> copier = NGramChain([[0.9, 0.1], [0.1, 0.9]], lags=(1,))
    >>> found = information_set(copier.stationary_windows(3), max_size=2)
    >>> found.subset, found.runner_up, round(found.gap, 4)
    ((1,), (1, 2), 0.0576)
    """

    subset: tuple[int, ...]
    value: float
    runner_up: tuple[int, ...] | None
    gap: float
    ties: tuple[tuple[int, ...], ...]
    values: dict[tuple[int, ...], float] = field(repr=False)


def information_set(windows: np.ndarray, max_size: int) -> InformationSet:
    r"""Return the set of lags with the largest modified chi-squared information.

    .. math:: S^\star = \arg\max_{S \subseteq [M],\ |S| \le D} \tilde I_{\chi^2}(S)

    Parameters
    ----------
    windows : array, shape (d,) * (M + 1) or (batch,) + (d,) * (M + 1)
        Stationary law of M + 1 tokens, oldest first, newest last. Over a batch, draws from the
        prior, the information is averaged before the sets are compared.
    max_size : int
        Largest size D of a set, between 0 and M.

    Returns
    -------
    InformationSet
        With the runner-up, the gap (3.5), all values, and ties.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Cost as for `information_of_subsets`. Values closer than what rounding leaves undecided (1e-10
    of the value, more for information below 1e-8) count as tied.

    References
    ----------
    Chen et al. (2024), (3.2) and (3.5).

    Examples
    --------
    >>> from markov_transformers.chains import NGramChain
    >>> chain = NGramChain([[0.9, 0.1], [0.2, 0.8]], lags=(2,))
    >>> best = information_set(chain.stationary_windows(4), max_size=2)
    >>> best.subset, best.ties
    ((2,), ())
    """
    values = information_of_subsets(windows, max_size)
    best, *ties = _largest(values)
    others = {subset: value for subset, value in values.items() if subset != best}
    if not others:
        return InformationSet(best, values[best], None, math.inf, (), values)
    runner_up = _largest(others)[0]
    gap = 0.0 if ties else values[best] - values[runner_up]
    return InformationSet(best, values[best], runner_up, gap, tuple(ties), values)


def empirical_windows(
    tokens: np.ndarray, length: int, vocab_size: int | None = None, *, per_sequence: bool = False
) -> np.ndarray:
    """Return the frequencies of windows in data, in the form of a stationary law.

    Parameters
    ----------
    tokens : array of int, shape (n_sequences, sequence_length)
        Sequences, at least `length` long.
    length : int
        Tokens per window, at least 1: M + 1 for information about lags up to M.
    vocab_size : int, optional
        Number of tokens d; by default the largest token plus one.
    per_sequence : bool, default False
        Whether to keep the sequences apart, as a batch. Sequences from different chains must
        be: the information of pooled windows is not the average information.

    Returns
    -------
    numpy.ndarray, shape (d,) * length or (n_sequences,) + (d,) * length
        Frequencies of all overlapping windows, axes oldest token first.

    Raises
    ------
    ValueError
        If the sequences are shorter than a window, or the result would not fit in memory.

    Notes
    -----
    Information computed from frequencies is biased upwards, more so for larger sets of lags:
    chance coincidences look like dependence.

    Examples
    --------
    >>> empirical_windows([[0, 1, 0, 1, 1]], length=2)
    array([[0.  , 0.5 ],
           [0.25, 0.25]])
    """
    length = check.integer("length", length, 1, check.MOST_AXES)
    if vocab_size is not None:
        vocab_size = check.integer("vocab_size", vocab_size, minimum=1)
    tokens = check.token_array("tokens", tokens, vocab_size, min_length=length)
    per_sequence = check.flag("per_sequence", per_sequence)
    d = int(tokens.max()) + 1 if vocab_size is None else vocab_size
    n = len(tokens) if per_sequence else 1
    check.room("length and vocab_size", (length, d), 2 * n * check.power(d, length))
    n_windows = tokens.shape[1] - length + 1
    number = np.zeros((len(tokens), n_windows), dtype=np.intp)
    for i in range(length):
        number = number * d + tokens[:, i : i + n_windows]
    if per_sequence:
        number += np.arange(n)[:, None] * d**length
    counts = np.bincount(number.ravel(), minlength=n * d**length) * (n / number.size)
    return counts.reshape(*([n] if per_sequence else []), *[d] * length)


def copying_gap_threshold(information: float, gap: float, window: int) -> float:
    r"""Return the copying gap from which the theorem on training dynamics holds.

    .. math::

        \Delta_w \ge \log(M - 1)
        - \log\Bigl[\Bigl(1 + \frac{\Delta \tilde I}{14\, \tilde I(S^\star)}\Bigr)^{1/(2M)} - 1\Bigr]

    It is how much larger the logit of each head's own lag must be, at the start, than those of its
    other lags.

    Parameters
    ----------
    information : float
        The modified information of the information set, above 0.
    gap : float
        How far the runner-up falls short, between 0 and `information`.
    window : int
        Window M, at least 1.

    Returns
    -------
    float
        In logits; infinite for a gap of zero, minus infinity for M = 1, where a head has no
        choice.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), Assumption 3.3, (3.6). The constant 14 is not legible in the copies at
    hand; it is the one for which the margins of both proofs close.

    Examples
    --------
    >>> round(copying_gap_threshold(information=0.1, gap=0.05, window=3), 4)
    5.8318
    """
    information = check.real("information", information, 0.0, strict=True)
    gap = check.real("gap", gap, 0.0, information)
    window = check.integer("window", window, minimum=1)
    if window == 1:
        return -math.inf
    root = math.expm1(math.log1p(gap / (14 * information)) / (2 * window))
    return math.log(window - 1) - math.log(root) if root > 0 else math.inf


def _laws(windows: object) -> tuple[np.ndarray, bool]:
    """Return `windows` with a batch axis, and whether it came with one."""
    laws = check.real_array("windows", windows)
    expected = (
        "a law of at least two tokens of shape (d,) * (M + 1) that sums to one, or a batch of them of "
        "shape (batch,) + (d,) * (M + 1)"
    )
    if laws.ndim < 2 or laws.size == 0:
        raise ValueError(f"windows must be {expected}, got shape {laws.shape}")
    if (laws < 0).any():
        raise ValueError(f"windows must be {expected}, got a negative entry {laws.min():g}")
    if len(set(laws.shape)) == 1 and abs(laws.sum() - 1) <= 1e-6:
        return laws[None], False
    if laws.ndim < 3 or len(set(laws.shape[1:])) > 1:
        raise ValueError(f"windows must be {expected}, got shape {laws.shape} and a sum of {laws.sum():g}")
    totals = laws.reshape(len(laws), -1).sum(axis=1)
    worst = totals[np.abs(totals - 1).argmax()]
    if abs(worst - 1) > 1e-6:
        raise ValueError(f"windows must be {expected}, got shape {laws.shape} and a sum of {worst:g}")
    return laws, True


def _one_subset(windows: object, subset: object, average: object, measure: Callable) -> float | np.ndarray:
    laws, batched = _laws(windows)
    window = laws.ndim - 2
    subset = lag_set("subset", subset, window, empty=True)
    average = check.flag("average", average)
    others = tuple(1 + window - lag for lag in range(1, window + 1) if lag not in subset)
    d = laws.shape[-1]
    values = measure(laws.sum(axis=others).reshape(len(laws), -1, d))
    return values if batched and not average else float(values.mean())


def _check_work(laws: np.ndarray, max_size: int) -> None:
    """Refuse sizes whose sums over lags, as counted in `information_of_subsets`, would take hours."""
    window, d = laws.ndim - 2, laws.shape[-1]
    if sum(math.comb(window, k) for k in range(max_size + 1)) > _MOST_SUBSETS:
        check.refuse("max_size", max_size, f"small enough for {_MOST_SUBSETS} sets of {window} lags")
    work = sum(
        math.comb(j, k) * d ** (window + 1 - j + k)
        for j in range(window)
        for k in range(min(j, max_size) + 1)
    )
    if len(laws) * work > _MOST_WORK:
        check.refuse("max_size", max_size, f"smaller for {window} lags and {d} tokens")


def _all_subsets(laws: np.ndarray, max_size: int, measure: Callable) -> np.ndarray:
    """Measure every set of lags, shape (batch, n_subsets)."""
    batch, window, d = len(laws), laws.ndim - 2, laws.shape[-1]
    column = {subset: i for i, subset in enumerate(lag_subsets(window, max_size))}
    values = np.empty((batch, len(column)))

    def decide(table: np.ndarray, lag: int, kept: tuple[int, ...], rows: slice) -> None:
        # table (batch, d^|kept|, d^(lag + 1)): tokens kept so far, then those still undecided.
        chains, patterns = table.shape[:2]
        if len(kept) == max_size or lag == 0:
            joint = table.reshape(chains, patterns, -1, d).sum(axis=2)
            values[rows, column[kept]] = measure(joint)
            return
        decide(table.reshape(chains, patterns, d, -1).sum(axis=2), lag - 1, kept, rows)
        decide(table.reshape(chains, patterns * d, -1), lag - 1, (lag, *kept), rows)

    chunk = max(1, _CHUNK // d ** (window + 1))
    for first in range(0, batch, chunk):
        rows = slice(first, first + chunk)
        part = laws[rows].reshape(-1, 1, d ** (window + 1))
        decide(part, window, (), rows)
    return values


def _largest(values: dict[tuple[int, ...], float]) -> list[tuple[int, ...]]:
    """Return the sets whose value is the largest to rounding, in their order."""
    top = max(values.values())
    # Rounding of order 1e-16 enters the square roots of the terms.
    tolerance = 1e-10 * top + 1e-14 * math.sqrt(top) + 1e-28
    return [subset for subset, value in values.items() if value >= top - tolerance]


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide, with 0 / 0 = 0."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)


def _marginals(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Laws of the past (batch, patterns, 1) and of the token (batch, 1, d)."""
    token = joint.sum(axis=1, keepdims=True)
    # A single pattern is certain, exactly: the empty set then has information zero, exactly.
    past = joint.sum(axis=2, keepdims=True) if joint.shape[1] > 1 else np.ones((len(joint), 1, 1))
    return past, token


def _chi2(joint: np.ndarray) -> np.ndarray:
    past, token = _marginals(joint)
    terms = (_ratio(joint, past) - token) * (_ratio(joint, token) - past)  # (batch, patterns, d)
    return np.maximum(terms.sum(axis=(1, 2)), 0)


def _modified_chi2(joint: np.ndarray) -> np.ndarray:
    past, token = _marginals(joint)
    terms = (joint - past * token) * (_ratio(joint, token) - past)  # (batch, patterns, d)
    return np.maximum(terms.sum(axis=(1, 2)), 0)


def _shannon(joint: np.ndarray) -> np.ndarray:
    past, token = _marginals(joint)
    possible = joint > 0
    surprise = np.log(_ratio(joint, past), where=possible, out=np.zeros(joint.shape))
    surprise -= np.log(token, where=token > 0, out=np.zeros(token.shape))
    return np.maximum(np.where(possible, joint * surprise, 0).sum(axis=(1, 2)), 0)


_MEASURES = {"modified_chi2": _modified_chi2, "chi2": _chi2, "shannon": _shannon}
