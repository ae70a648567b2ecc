r"""Measurements behind the paper's statements on information and the information set.

Each measuring function computes exactly and returns what it found as a dictionary of numbers: no
verdict, nothing printed. A rule turns such a dictionary into a verdict, or into one for each part.

Several statements suppose that windows of :math:`r_n` tokens are uniform. That is the case exactly
if, whatever the nearer parents are, the map from the oldest parent to the next token is doubly
stochastic, which `doubly_stochastic_kernels` draws.

Source: Chen et al. (2024), section 3.1 and appendix C.
"""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from .. import _validation as check
from .._lags import lag_set, lag_subsets
from ..chains import DirichletPrior, NGramChain
from ..induction import monomial_features, n_monomial_features
from ..information import information_of_subsets
from . import _arguments as given

_ROUNDING = 1e-9  # far above rounding, far below any effect
_WIDEST = 16  # window: more lags have more sets than one would wait for


def doubly_stochastic_kernels(
    n_kernels: int,
    vocab_size: int,
    lags: tuple[int, ...],
    concentration: float,
    *,
    rng: np.random.Generator | int,
) -> np.ndarray:
    """Draw kernels under which every window of r_n tokens is equally likely.

    For each value of the nearer parents, the matrix from the oldest parent to the next token is a
    mixture of all permutations, with Dirichlet weights (Birkhoff: every doubly stochastic matrix
    is such a mixture).

    Parameters
    ----------
    n_kernels : int
        Number of kernels, at least 1.
    vocab_size : int
        Number of tokens d, between 2 and 6.
    lags : tuple of int
        Lags of the parents.
    concentration : float
        Concentration of the weights, above 0; small ones give matrices close to permutations.
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.

    Returns
    -------
    numpy.ndarray, shape (n_kernels,) + (d,) * (n + 1)
        A batch for `NGramChain`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), appendix C.7, the symmetric case.

    Examples
    --------
    >>> kernels = doubly_stochastic_kernels(1, 2, (1, 2), 1.0, rng=0)
    >>> NGramChain(kernels[0], (1, 2)).stationary_windows(2).round(12)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    n_kernels = check.integer("n_kernels", n_kernels, minimum=1)
    d = check.integer("vocab_size", vocab_size, 2, 6)
    lags = lag_set("lags", lags)
    matrices = np.eye(d)[np.array(list(permutations(range(d))))]  # (d!, d, d)
    prior = DirichletPrior(len(matrices), (1,), concentration)
    n_numbers = n_kernels * check.power(d, len(lags) - 1) * (len(matrices) + d**2)
    check.room("n_kernels and lags", (n_kernels, lags), 3 * n_numbers)
    n_contexts = d ** (len(lags) - 1)
    draws = prior.sample_kernels(-(-n_kernels * n_contexts // len(matrices)), rng=rng)
    weights = draws.reshape(-1, len(matrices))[: n_kernels * n_contexts]
    return np.tensordot(weights, matrices, axes=1).reshape(n_kernels, *[d] * (len(lags) + 1))


def near_lag_two_chain(repeat: tuple[float, float]) -> NGramChain:
    """Return the chain over two tokens that repeats the token two steps back, most of the time.

    Its windows of two tokens are uniform. For M of 4 or more the set {2, 4} can have more modified
    information than the parents {1, 2}: near repetition makes windows at lags 2 and 4 far from
    uniform, so that they match twice as often.

    Parameters
    ----------
    repeat : tuple of two floats
        Probability of a repetition after the token 0 and after the token 1, in [0, 1].

    Returns
    -------
    NGramChain
        With lags (1, 2).

    Raises
    ------
    ValueError
        If `repeat` does not hold two probabilities.

    Examples
    --------
    >>> near_lag_two_chain((0.95, 0.85)).stationary_windows(2)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    stay = check.real_array("repeat", repeat, (2,))
    if (stay < 0).any() or (stay > 1).any():
        check.refuse("repeat", repeat, "two probabilities")
    return NGramChain(_repeating(stay), (1, 2))


def four_parent_chain() -> NGramChain:
    """Return the chain that contradicts Corollary C.5: five lags beat every set of at most four.

    It repeats the token four steps back with a probability that depends on the three tokens in
    between. Windows of four tokens are uniform and every entry of the kernel is positive, yet for M
    of 6 or more the largest modified information belongs to {1, 2, 4, 5, 6}.

    Returns
    -------
    NGramChain
        With lags (1, 2, 3, 4), over two tokens.

    Examples
    --------
    >>> from markov_transformers import information_set
    >>> information_set(four_parent_chain().stationary_windows(7), max_size=6).subset
    (1, 2, 4, 5, 6)
    """
    repeat = np.array([0.99, 0.99, 0.01, 0.1, 0.99, 0.01, 0.99, 0.1])
    repeat = repeat.reshape(2, 2, 2, 1, 1)  # by the tokens at lags 1, 2, 3
    return NGramChain(np.where(np.eye(2, dtype=bool), repeat, 1 - repeat), (1, 2, 3, 4))


def data_processing(
    *,
    rng: np.random.Generator | int,
    n_chains: int = 1000,
    vocab_size: int = 3,
    lags: tuple[int, ...] = (1, 2),
    window: int = 4,
    concentration: float = 1.0,
) -> dict[str, float]:
    """Measure how vanilla chi-squared information behaves under loss of tokens.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_chains : int, default 1000
        Chains drawn from the Dirichlet prior.
    vocab_size, lags, window, concentration
        The prior, and the window M, which must contain the lags.

    Returns
    -------
    dict
        ``superset_difference``: largest relative difference between the parents and a superset;
        ``largest_ratio``: largest information of any set over that of the parents;
        ``largest_subset_ratio``: largest information of a set over that of the set with one more lag;
        ``n_comparisons``: how many of the latter there were.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), section 3.1 and appendix C.3.
    """
    # With room for a superset.
    n_chains, lags, window = _checked(n_chains, vocab_size, lags, window, larger=True)
    kernels = DirichletPrior(vocab_size, lags, concentration).sample_kernels(n_chains, rng=rng)
    values = _information(kernels, lags, window, "chi2")
    parents = values[lags]
    pairs = [(s, t) for t in values for s in values if len(s) + 1 == len(t) and set(s) < set(t)]
    supersets = [s for s in values if set(s) > set(lags)]
    return {
        "superset_difference": max(float(np.abs(values[s] / parents - 1).max()) for s in supersets),
        "largest_ratio": max(float((v / parents).max()) for v in values.values()),
        "largest_subset_ratio": max(float((values[s] / values[t]).max()) for s, t in pairs),
        "n_comparisons": len(pairs) * n_chains,
    }


def strict_supersets(
    *,
    rng: np.random.Generator | int,
    n_chains: int = 1000,
    vocab_size: int = 3,
    lags: tuple[int, ...] = (1, 2),
    window: int = 4,
    concentration: float = 1.0,
) -> dict[str, float]:
    """Measure what a superset of the parents loses in modified information.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_chains : int, default 1000
        Chains drawn from the Dirichlet prior.
    vocab_size, lags, window, concentration
        The prior, and the window M, which must be larger than the number of parents.

    Returns
    -------
    dict
        ``largest_ratio``, ``median_ratio``: of a superset's modified information to the parents';
        ``n_not_smaller``: chains with a superset that is not strictly smaller;
        ``deterministic_ratio``: the same ratio where the statement ends, for the deterministic
        walk x_t = x_{t-1} + 1, in which every earlier token is known from the parent.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), section 3.1.
    """
    # With room for a superset.
    n_chains, lags, window = _checked(n_chains, vocab_size, lags, window, larger=True)
    kernels = DirichletPrior(vocab_size, lags, concentration).sample_kernels(n_chains, rng=rng)
    values = _information(kernels, lags, window)
    ratios = np.array([values[s] / values[lags] for s in values if set(s) > set(lags)])
    walk = _information(np.roll(np.eye(vocab_size), 1, axis=1)[None], (1,), 2)
    return {
        "largest_ratio": float(ratios.max()),
        "median_ratio": float(np.median(ratios)),
        "n_not_smaller": int((ratios.max(axis=0) >= 1).sum()),
        "deterministic_ratio": float((walk[1, 2] / walk[(1,)])[0]),
    }


def uniform_windows(
    *,
    rng: np.random.Generator | int,
    n_chains: int = 1000,
    vocab_size: int = 3,
    lags: tuple[int, ...] = (1, 2),
    window: int = 4,
    concentration: float = 1.0,
) -> dict[str, object]:
    r"""Measure the deviation from (C.6) for chains whose windows of r_n tokens are uniform.

    .. math:: \log \tilde I_{\chi^2}(S) = \log I_{\chi^2}(S) - |S| \log d

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_chains : int, default 1000
        Chains drawn by `doubly_stochastic_kernels`.
    vocab_size, lags, concentration
        Arguments of `doubly_stochastic_kernels`.
    window : int, default 4
        Window M, which must contain the lags.

    Returns
    -------
    dict
        ``deviation``: for each set of lags, the largest absolute deviation over chains; only where
        the information exceeds 1e-12. ``within`` and ``beyond``: the largest over sets whose span
        (largest minus smallest lag, plus one) is at most r_n, and over the others; ``nonuniformity_within``
        and ``nonuniformity_beyond``: how far the probability of a window of r_n, and of r_n + 1,
        tokens is from uniform, relatively.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), (C.6), and the sentence before it, that a window of any other length is
    uniform as well.
    """
    n_chains, lags, window = _checked(n_chains, vocab_size, lags, window)
    kernels = doubly_stochastic_kernels(n_chains, vocab_size, lags, concentration, rng=rng)
    modified = _information(kernels, lags, window)
    vanilla = _information(kernels, lags, window, "chi2")
    memory = max(lags)
    deviation = {}
    for subset, value in modified.items():
        told = vanilla[subset] > 1e-12
        if subset and told.any():
            logs = np.log(value[told] / vanilla[subset][told]) + len(subset) * math.log(vocab_size)
            deviation[subset] = float(np.abs(logs).max())
    chains = NGramChain(kernels, lags)

    def nonuniformity(length: int) -> float:
        return float(np.abs(chains.stationary_windows(length) * vocab_size**length - 1).max())

    def largest(beyond: bool) -> float:
        return max((v for s, v in deviation.items() if (s[-1] - s[0] >= memory) == beyond), default=0.0)

    return {
        "deviation": deviation,
        "within": largest(False),
        "beyond": largest(True),
        "nonuniformity_within": nonuniformity(memory),
        "nonuniformity_beyond": nonuniformity(memory + 1),
    }


def selected_sets(
    *,
    rng: np.random.Generator | int,
    n_chains: int = 1000,
    vocab_size: int = 3,
    lags: tuple[int, ...] = (1, 2),
    window: int = 4,
    concentration: float = 1.0,
    uniform: bool = True,
    fixed_size: bool = False,
) -> dict[str, object]:
    """Measure which sets of lags win, chain by chain, against the parents.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_chains : int, default 1000
        Number of chains.
    vocab_size, lags, concentration
        Of the chains: arguments of `doubly_stochastic_kernels`, or of `DirichletPrior`.
    window : int, default 4
        Window M, which must contain the lags; sets of every size take part.
    uniform : bool, default True
        Whether windows of r_n tokens are uniform; otherwise kernels come from the Dirichlet prior.
    fixed_size : bool, default False
        Whether only sets of the size n of the parents take part.

    Returns
    -------
    dict
        ``counts``: how many chains each set wins, the parents in a tie (to 1e-9); ``n_other``: how
        many of these sets are not the parents; ``n_larger``: how many are larger than the parents;
        ``rival`` and ``rival_ratio``: the set that beats the parents by the largest factor, or
        comes closest, and that factor; ``larger_ratio``: largest ratio of the best set of more than
        n lags to the best of at most n, zero for `fixed_size`. Where nothing tells more than 1e-12,
        the parents count as the winners.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), appendix C.7 and Corollary C.5: S* is the parent set for n = 1, and for
    known n; sets of at most n lags suffice. All three for uniform windows.
    """
    n_chains, lags, window = _checked(n_chains, vocab_size, lags, window)
    draw = doubly_stochastic_kernels if check.flag("uniform", uniform) else _dirichlet_kernels
    fixed_size = check.flag("fixed_size", fixed_size)
    return _winners(draw(n_chains, vocab_size, lags, concentration, rng=rng), lags, window, fixed_size)


def repeating_grid(window: int, *, n_points: int = 50, fixed_size: bool = True) -> dict[str, object]:
    """Measure which sets win over the square of all `near_lag_two_chain`.

    Parameters
    ----------
    window : int
        Window M, at least 2.
    n_points : int, default 50
        Points along each side of the square, at odd multiples of 1 / (2 n_points).
    fixed_size : bool, default True
        Whether only sets of two lags take part, the size of the parents.

    Returns
    -------
    dict
        As for `selected_sets`. Where the two probabilities are equal, lag 2 alone is the parent.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), appendix C.7, for known n.
    """
    window = check.integer("window", window, 2, _WIDEST)
    n_points = check.integer("n_points", n_points, minimum=1)
    check.room("n_points", n_points, 4 * n_points**2 * 2 ** (window + 1))
    side = (np.arange(n_points) + 0.5) / n_points
    stay = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    return _winners(_repeating(stay), (1, 2), window, check.flag("fixed_size", fixed_size))


def polynomial_kernel(
    *,
    rng: np.random.Generator | int,
    n_pairs: int = 1000,
    n_heads: int = 3,
    vocab_size: int = 3,
    max_degree: int = 2,
) -> dict[str, float]:
    """Measure how well the explicit monomial features realise the polynomial kernel (2.3).

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_pairs : int, default 1000
        Random pairs of head outputs (normal entries), all with one set of random coefficients.
    n_heads, vocab_size, max_degree : int
        H, d and D.

    Returns
    -------
    dict
        ``error``: largest difference between an inner product of features and the kernel, in units
        of the product of the norms; ``n_features``: their number; ``n_features_formula``: by (C.4).

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), Lemma C.1, (2.3), (C.4).
    """
    rng = check.generator(rng)
    n_pairs = check.integer("n_pairs", n_pairs, minimum=1)
    n_features = n_monomial_features(n_heads, vocab_size, max_degree)
    n_numbers = n_pairs * (n_heads * vocab_size + n_features)
    check.room("n_pairs, n_heads and vocab_size", (n_pairs, n_heads, vocab_size), 4 * n_numbers)
    left, right = rng.standard_normal((2, n_pairs, n_heads, vocab_size))
    subsets = lag_subsets(n_heads, max_degree)
    weights = rng.standard_normal(len(subsets))
    products = (left * right).sum(axis=-1)  # (n_pairs, H)
    heads = [[head - 1 for head in subset] for subset in subsets]
    kernel = sum(c**2 * products[:, h].prod(axis=1) for c, h in zip(weights, heads))
    a = monomial_features(left, weights, max_degree)
    b = monomial_features(right, weights, max_degree)
    scale = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return {
        "error": float((np.abs((a * b).sum(axis=1) - kernel) / scale).max()),
        "n_features": a.shape[1],
        "n_features_formula": n_features,
    }


def one_parent(
    *,
    rng: np.random.Generator | int,
    n_chains: int = 1000,
    cases: tuple[tuple[int, int], ...] = ((2, 1), (2, 3), (3, 1), (3, 2)),
    window: int = 4,
    concentration: float = 0.3,
) -> dict[str, float]:
    """Measure how often another set than the only parent wins, for uniform tokens.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_chains : int, default 1000
        Chains for each case.
    cases : tuple of pairs of int
        Number of tokens d and lag of the parent.
    window, concentration
        Arguments of `selected_sets`.

    Returns
    -------
    dict
        ``n_other``: chains in which another set wins; ``n_chains``, in all; ``rival_ratio``: largest
        modified information of another set over the parent's.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), appendix C.7, for n = 1.
    """
    rng = check.generator(rng)
    window = check.integer("window", window, 1, _WIDEST)
    cases = _checked_cases(cases, window)
    seen = [
        selected_sets(
            rng=rng, n_chains=n_chains, vocab_size=d, lags=(lag,), window=window, concentration=concentration
        )
        for d, lag in cases
    ]
    return {
        "n_other": sum(s["n_other"] for s in seen),
        "n_chains": n_chains * len(cases),
        "rival_ratio": max(s["rival_ratio"] for s in seen),
    }


def known_size(*, windows: tuple[int, ...] = (3, 4, 5), n_points: int = 50) -> dict[int, dict[str, object]]:
    """Measure how often another pair than the two parents wins, over a square of chains.

    Parameters
    ----------
    windows : tuple of int, default (3, 4, 5)
        Values of M.
    n_points : int, default 50
        As for `repeating_grid`.

    Returns
    -------
    dict
        For each window ``share`` of the chains that another pair wins, ``rival`` and ``rival_ratio``
        as for `repeating_grid`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), appendix C.7, for known n.
    """
    found: dict[int, dict[str, object]] = {}
    for window in given.whole_numbers("windows", windows, 2, _WIDEST):
        seen = repeating_grid(window, n_points=n_points)
        share = seen["n_other"] / n_points**2
        found[window] = {"share": share, "rival": seen["rival"], "rival_ratio": seen["rival_ratio"]}
    return found


def enough_lags(
    *, rng: np.random.Generator | int, n_chains: int = 1000, windows: tuple[int, ...] = (4, 5, 6)
) -> dict[str, object]:
    """Measure whether sets of more lags than there are parents can win, for uniform windows.

    Parameters
    ----------
    rng : numpy.random.Generator or int
        Source of randomness, or a seed.
    n_chains : int, default 1000
        Random chains over two tokens with three parents, M = 5.
    windows : tuple of int, default (4, 5, 6)
        Values of M for `four_parent_chain`.

    Returns
    -------
    dict
        ``n_larger``: random chains in which a set of more than three lags wins; ``n_chains``;
        ``best``: for each window the information set of `four_parent_chain`, of any size; ``ratio``:
        modified information of the best set of more than four lags over the best of at most four.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chen et al. (2024), Corollary C.5.
    """
    windows = given.whole_numbers("windows", windows, 4, _WIDEST)
    random = selected_sets(
        rng=rng, n_chains=n_chains, vocab_size=2, lags=(1, 2, 3), window=5, concentration=0.3
    )
    kernel = four_parent_chain().kernel[None]
    seen = {window: _winners(kernel, (1, 2, 3, 4), window, False) for window in windows}
    return {
        "n_larger": random["n_larger"],
        "n_chains": n_chains,
        "best": {window: next(iter(s["counts"])) for window, s in seen.items()},
        "ratio": {window: s["larger_ratio"] for window, s in seen.items()},
    }


def rule_chen2024_dpi(measurement: dict[str, float]) -> dict[str, str]:
    """Judge both statements on vanilla information, to rounding."""
    ratios = max(measurement["largest_ratio"], measurement["largest_subset_ratio"])
    return {
        "data processing": _holds(ratios < 1 + _ROUNDING),
        "supersets of the parents": _holds(measurement["superset_difference"] < _ROUNDING),
    }


def rule_chen2024_superset(measurement: dict[str, float]) -> str:
    """Judge: no superset of the parents has as much modified information, in any chain."""
    return _holds(measurement["n_not_smaller"] == 0 and measurement["largest_ratio"] < 1)


def rule_chen2024_uniform(measurement: dict[str, object]) -> dict[str, str]:
    """Judge (C.6) where its patterns are uniform, and the sentence that windows of any length are."""
    return {
        "(C.6) for sets that fit into r_n tokens": _holds(measurement["within"] < _ROUNDING),
        "longer windows": _holds(max(measurement["beyond"], measurement["nonuniformity_beyond"]) < _ROUNDING),
    }


def rule_chen2024_one_parent(measurement: dict[str, float]) -> str:
    """Judge: the parent wins in every chain."""
    return _holds(measurement["n_other"] == 0)


def rule_chen2024_known_size(measurement: dict[int, dict[str, object]]) -> dict[str, str]:
    """Judge, for each window: the parents win against all sets of their size, in every chain."""
    return {f"M = {window}": _holds(seen["share"] == 0) for window, seen in measurement.items()}


def rule_chen2024_degree(measurement: dict[str, object]) -> dict[str, str]:
    """Judge: no set of more lags than there are parents wins."""
    return {
        "random chains with three parents": _holds(measurement["n_larger"] == 0),
        "the chain with four parents": _holds(max(measurement["ratio"].values()) <= 1 + _ROUNDING),
    }


def _holds(statement: bool) -> str:
    return "reproduced" if statement else "contradicted"


def _repeating(stay: np.ndarray) -> np.ndarray:
    """Kernels (..., 2, 2, 2) that repeat the oldest of two parents with probability `stay` (..., 2)."""
    stay = stay[..., :, None, None]
    return stay * np.eye(2) + (1 - stay) * (1 - np.eye(2))


def _dirichlet_kernels(
    n_kernels: int, vocab_size: int, lags: tuple[int, ...], concentration: float, *, rng: object
) -> np.ndarray:
    return DirichletPrior(vocab_size, lags, concentration).sample_kernels(n_kernels, rng=rng)


def _information(
    kernels: np.ndarray, lags: tuple[int, ...], window: int, measure: str = "modified_chi2"
) -> dict[tuple[int, ...], np.ndarray]:
    """Information of every set of lags of the window, one value for each chain."""
    windows = NGramChain(kernels, lags).stationary_windows(window + 1)
    return information_of_subsets(windows, window, measure=measure, average=False)


def _checked(
    n_chains: int, vocab_size: int, lags: tuple[int, ...], window: int, *, larger: bool = False
) -> tuple[int, tuple[int, ...], int]:
    """Return arguments whose laws of all windows fit into memory; `larger` asks for a lag beside `lags`."""
    n_chains = check.integer("n_chains", n_chains, minimum=1)
    d = check.integer("vocab_size", vocab_size, minimum=2)
    lags = lag_set("lags", lags, _WIDEST)
    window = check.integer("window", window, max(lags[-1], len(lags) + larger), _WIDEST)
    check.room("n_chains and vocab_size", (n_chains, d), 4 * n_chains * check.power(d, window + 1))
    return n_chains, lags, window


def _checked_cases(cases: object, window: int) -> list[list[int]]:
    pairs = check.real_array("cases", cases, (None, 2))
    whole = np.asarray(cases).dtype.kind != "f"
    if not whole or not len(pairs) or (pairs < [2, 1]).any() or (pairs > [6, window]).any():
        check.refuse("cases", cases, f"pairs of 2 to 6 tokens and a lag of 1 to {window}")
    return np.asarray(cases).tolist()


def _winners(
    kernels: np.ndarray, parents: tuple[int, ...], window: int, fixed_size: bool
) -> dict[str, object]:
    n = len(parents)
    values = _information(kernels, parents, window)
    values = {s: v for s, v in values.items() if not fixed_size or len(s) == n}
    # Where nothing tells anything, all that differs is rounding, and the parents keep the tie.
    told = np.max(list(values.values()), axis=0) > 1e-12  # (n_chains,)
    values = {s: np.where(told, v, 1.0) for s, v in values.items()}
    # The last row stands for "no other set", so that the parents may be alone.
    others = [s for s in values if s != parents]
    ratios = np.array([*(values[s] / values[parents] for s in others), np.zeros(len(told))])
    best = np.where(ratios.max(axis=0) > 1 + 1e-9, ratios.argmax(axis=0), -1)
    winners = [parents if i < 0 else others[i] for i in best]
    closest = int(ratios.max(axis=1).argmax())
    small, large = (
        np.max([v for s, v in values.items() if (len(s) > n) == larger], axis=0, initial=0.0)
        for larger in (False, True)
    )
    return {
        "counts": {s: winners.count(s) for s in sorted(set(winners), key=lambda s: (len(s), s))},
        "n_other": sum(s != parents for s in winners),
        "n_larger": sum(len(s) > n for s in winners),
        "rival": others[closest] if others else None,
        "rival_ratio": float(ratios[closest].max()),
        "larger_ratio": float(np.max(large / small)),
    }
