r"""Which set of heads the selector picks in Stage I, predicted and trained.

While the scale a of the second attention is small, the output is close to the unigram, whatever
the selector, and every :math:`\log c_S^2` grows at a speed of its own, :math:`4 a\, g_S / C_D` up
to a common term. In long sequences g tends to the *blurred information*

.. math:: \tilde I_\sigma(S) = \mathbb E_\pi \sum_{E, F} k_S(E, F) \sum_x
          \frac{\mu^\pi(E, x)\, \bigl(\mu^\pi(F, x) - \mu^\pi(F)\, \mu^\pi(x)\bigr)}{\mu^\pi(x) + \epsilon},
          \qquad k_S(E, F) = \prod_{h \in S} \sum_{i, j} \sigma^h_i \sigma^h_j\, 1(E_i = F_j),

where E and F run over all windows of M tokens. For heads that copy one offset each and
:math:`\epsilon = 0` it is the modified chi-squared information. The set with the largest value
wins the race; a wide copying gap makes the heads sharp.

Source: Chen et al. (2024), (D.3) to (D.6), before the approximation (D.2) of sharp heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import _validation as check
from ._progress import progress
from ._selector import Selector
from .chains import DirichletPrior, NGramChain
from .dynamics import n_sets, softmax
from .information import _laws as window_laws
from .staged import StagedModel
from .windows import WindowCounts

_LARGEST = 4096  # windows; their table of pairs then takes 128 MB
_OTHER = 0.01  # logit of the lags that are not a head's own, as in the paper

Subset = tuple[int, ...]


def blurred_information(
    windows: np.ndarray, w: np.ndarray, degree: int, *, epsilon: float = 0.0
) -> dict[Subset, float]:
    r"""Return the information of each set of heads, as heads that blur their lags see it.

    Parameters
    ----------
    windows : array, shape (d,) * (M + 1) or (batch,) + (d,) * (M + 1)
        Stationary law of M + 1 tokens, oldest first, newest last. A batch stands for draws from
        the prior.
    w : array, shape (heads, M)
        Position weights: ``w[h, i]`` is head h + 1 at offset i + 1.
    degree : int
        Largest size D of a set of heads.
    epsilon : float, default 0.0
        Shift in the log-loss.

    Returns
    -------
    dict of tuple to float
        Sets of heads by size, then lexicographically; zero for ``()``.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Cost O(batch d^{2M + 1}).

    References
    ----------
    Chen et al. (2024), (D.4), with the kernel of (2.3) in place of the indicator.

    Examples
    --------
    >>> copy = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> round(blurred_information(copy, w=[[0.0]], degree=1)[1,], 12)
    0.18
    """
    laws, _ = window_laws(windows)
    if laws.shape[-1] ** (laws.ndim - 2) > _LARGEST:
        check.refuse("windows", laws.shape, f"a law with at most {_LARGEST} windows of M tokens")
    w = check.real_array("w", w, (None, laws.ndim - 2), largest=check.LARGEST_WEIGHT)
    if len(w) == 0:
        check.refuse("w", w, "the position weights of at least one head")
    degree = check.integer("degree", degree, 0, len(w))
    _check_room("degree", degree, laws.shape[-1], laws.ndim - 2, len(w), degree)
    epsilon = check.real("epsilon", epsilon, 0.0)
    return _blur(_sharp_table(laws, epsilon), _matches(laws.shape[-1], laws.ndim - 2), w, degree)


@dataclass(frozen=True)
class SelectionMap:
    """Which set wins Stage I over a grid of concentrations and copying gaps.

    Attributes
    ----------
    concentrations : numpy.ndarray, shape (n,)
        Dirichlet concentrations of the prior.
    gaps : numpy.ndarray, shape (m,)
        Copying gaps, in logits.
    sets : tuple of tuple of int
    winners : numpy.ndarray of int, shape (n, m)
        Position of the winner in `sets`.
    shares : numpy.ndarray, shape (n, m)
        Share p_S of the winner at the end of training; one in a prediction.

    Examples
    --------
    >>> found = predict_selection([0.01, 0.1], [5.0], n_chains=200, rng=0)
    >>> [found.sets[row[0]] for row in found.winners], found.shares.shape
    ([(1, 2), (1, 2)], (2, 1))
    """

    concentrations: np.ndarray
    gaps: np.ndarray
    sets: tuple[Subset, ...]
    winners: np.ndarray
    shares: np.ndarray


def predict_selection(
    concentrations: Sequence[float],
    gaps: Sequence[float],
    *,
    lags: Subset = (1, 2),
    vocab_size: int = 3,
    window: int = 3,
    degree: int = 2,
    epsilon: float = 0.1,
    n_chains: int = 1000,
    rng: np.random.Generator | int,
) -> SelectionMap:
    """Predict the winner of Stage I for small a and long sequences: the largest blurred information.

    Parameters
    ----------
    concentrations : array, shape (n,)
        Dirichlet concentrations, above 0.
    gaps : array, shape (m,)
        Copying gaps, in logits, 0 or more; every head has the same.
    lags : tuple of int, default (1, 2)
        Lags of the parents.
    vocab_size, window, degree : int, default 3, 3 and 2
        Vocabulary size d, window M, which is the number of heads too, and largest set D.
    epsilon : float, default 0.1
        Shift in the log-loss.
    n_chains : int, default 1000
        Kernels drawn for each concentration; the same random numbers serve for all.
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.

    Returns
    -------
    SelectionMap

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> found = predict_selection([0.01, 0.1], [3.0, 5.0], n_chains=200, rng=0)
    >>> [[found.sets[i] for i in row] for row in found.winners]
    [[(3,), (1, 2)], [(1, 2), (1, 2)]]
    """
    concentrations, gaps = _grid(concentrations, gaps)
    window, degree = _sizes(window, degree)
    epsilon = check.real("epsilon", epsilon, 0.0)
    n_chains = check.integer("n_chains", n_chains, minimum=1)
    d = check.integer("vocab_size", vocab_size, minimum=2)
    _check_room("window and vocab_size", (window, d), d, window, window, degree)
    check.room("n_chains", n_chains, 4 * n_chains * d ** (window + 1))
    seed = check.generator(rng).integers(1 << 31)
    sets = Selector(tuple(range(1, window + 1)), degree).sets
    winners = np.empty((concentrations.size, gaps.size), dtype=np.intp)
    for row, alpha in zip(winners, progress(concentrations, "predicting the selection")):
        kernels = DirichletPrior(vocab_size, lags, float(alpha)).sample_kernels(n_chains, rng=int(seed))
        laws = NGramChain(kernels, lags).stationary_windows(window + 1, initial="uniform")
        table, matches = _sharp_table(laws, epsilon), _matches(vocab_size, window)
        for j, gap in enumerate(gaps):
            values = _blur(table, matches, gap * np.eye(window), degree)
            row[j] = np.argmax(list(values.values()))
    return SelectionMap(concentrations, gaps, sets, winners, np.ones(winners.shape))


def train_selection(
    concentrations: Sequence[float],
    gaps: Sequence[float],
    *,
    lags: Subset = (1, 2),
    vocab_size: int = 3,
    window: int = 3,
    degree: int = 2,
    epsilon: float = 0.1,
    a: float = 0.01,
    n_chains: int = 2000,
    length: int = 100,
    duration: float = 2000.0,
    rng: np.random.Generator | int,
) -> SelectionMap:
    """Train Stage I at each point of a grid and see which set wins.

    Parameters
    ----------
    concentrations : array, shape (n,)
        Dirichlet concentrations, above 0.
    gaps : array, shape (m,)
        Copying gaps, in logits, 0 or more; every head has the same.
    lags : tuple of int, default (1, 2)
        Lags of the parents.
    vocab_size, window, degree : int, default 3, 3 and 2
        Vocabulary size d, window M, which is the number of heads too, and largest set D.
    epsilon : float, default 0.1
        Shift in the log-loss.
    a : float, default 0.01
        Scale of the second attention.
    n_chains, length : int, default 2000 and 100
        Sequences for each concentration, and their context length L, above `window`.
    duration : float, default 2000.0
        Time that the flow is followed.
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.

    Returns
    -------
    SelectionMap

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> found = train_selection([0.01, 0.1], [3.0, 5.0], n_chains=1000, rng=0)
    >>> [[found.sets[i] for i in row] for row in found.winners]
    [[(3,), (1, 2)], [(1, 2), (1, 2)]]
    """
    concentrations, gaps = _grid(concentrations, gaps)
    window, degree = _sizes(window, degree)
    epsilon, a = check.real("epsilon", epsilon, 0.0), check.real("a", a)
    n_chains = check.integer("n_chains", n_chains, minimum=1)
    length = check.integer("length", length, minimum=window + 1)
    check.room("n_chains and length", (n_chains, length), 4 * n_chains * length)
    prior = DirichletPrior(vocab_size, lags, 1.0)
    n_numbers = check.power(prior.vocab_size, len(prior.lags) + 1)
    check.room("vocab_size and n_chains", (vocab_size, n_chains), 4 * n_chains * n_numbers)
    duration = check.real("duration", duration, 0.0)
    rng = check.generator(rng)
    winners = np.empty((concentrations.size, gaps.size), dtype=np.intp)
    shares = np.empty(winners.shape)
    for i, alpha in enumerate(progress(concentrations, "training the selector")):
        tokens = DirichletPrior(vocab_size, lags, float(alpha)).sample(n_chains, length + 1, rng=rng)
        counts = WindowCounts.from_tokens(tokens, window=window, vocab_size=vocab_size)
        model = StagedModel(counts, degree=degree, epsilon=epsilon)
        for j, gap in enumerate(gaps):
            start = model.initial_parameters(own=_OTHER + gap, other=_OTHER, a=a)
            p = model.flow(start, duration, "c").p_S[-1]
            winners[i, j], shares[i, j] = p.argmax(), p.max()
    return SelectionMap(concentrations, gaps, model.sets, winners, shares)


def _grid(concentrations: object, gaps: object) -> tuple[np.ndarray, np.ndarray]:
    concentrations = check.real_array("concentrations", concentrations, (None,))
    gaps = check.real_array("gaps", gaps, (None,), largest=check.LARGEST_WEIGHT)
    if concentrations.size == 0 or concentrations.min() <= 0:
        check.refuse("concentrations", concentrations, "at least one number above 0")
    if gaps.size == 0 or gaps.min() < 0:
        check.refuse("gaps", gaps, "at least one number, none below 0")
    return concentrations, gaps


def _sizes(window: object, degree: object) -> tuple[int, int]:
    window = check.integer("window", window, minimum=1)
    return window, check.integer("degree", degree, 0, window)


def _check_room(name: str, value: object, d: int, window: int, heads: int, degree: int) -> None:
    """Refuse an argument that makes the tables of all pairs of windows too large."""
    n_pairs = check.power(d, 2 * window)
    check.room(name, value, n_pairs * (window**2 + heads))
    check.room(name, value, n_pairs * n_sets(heads, degree))


def _sharp_table(laws: np.ndarray, epsilon: float) -> np.ndarray:
    """Return the sum over x, averaged over the chains, for each pair of windows (E, F)."""
    d = laws.shape[-1]
    joint = laws.reshape(len(laws), -1, d)  # (B, E, d)
    token = joint.sum(axis=1, keepdims=True)  # (B, 1, d)
    excess = joint - joint.sum(axis=2, keepdims=True) * token
    shifted = token + epsilon
    ratio = np.divide(joint, shifted, out=np.zeros_like(joint), where=shifted > 0)
    return np.tensordot(ratio, excess, axes=([0, 2], [0, 2])) / len(laws)


def _matches(d: int, window: int) -> np.ndarray:
    """Return 1(E_i = F_j), newest token first, shape (E, F, M, M)."""
    tokens = np.stack(np.unravel_index(np.arange(d**window), (d,) * window), axis=1)[:, ::-1]
    return (tokens[:, None, :, None] == tokens[None, :, None, :]).astype(float)


def _blur(table: np.ndarray, matches: np.ndarray, w: np.ndarray, degree: int) -> dict[Subset, float]:
    attention = softmax(w)
    kernels = np.einsum("hi,efij,hj->hef", attention, matches, attention, optimize=True)  # (H, E, F)
    selector = Selector(tuple(range(1, len(w) + 1)), degree)
    values = selector.products(kernels.reshape(len(w), -1)) @ table.ravel()
    # Without heads the kernel is one and the excess sums to zero.
    return {S: float(value) if S else 0.0 for S, value in zip(selector.sets, values)}
