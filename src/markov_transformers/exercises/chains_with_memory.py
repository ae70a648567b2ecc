"""Exercises of the chapter *Chains with memory*."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..chains import DirichletPrior, NGramChain
from ._answers import Wrong, an_array, array, choice, function, whole
from ._exercise import exercise

_CHAPTER = "chains-with-memory"


def _kernel(answer: object, shape: tuple[int, ...]) -> np.ndarray:
    kernel = an_array(answer, shape, "The kernel")
    if (kernel < 0).any() or not np.allclose(kernel.sum(axis=-1), 1):
        raise Wrong("Along its last axis a kernel holds probabilities that sum to one.")
    return kernel


@exercise(_CHAPTER, "parity-at-a-distance", "A sum that skips a token", level=1, minutes=10)
class ParityAtADistance:
    def kernel(answer):
        given = _kernel(answer, (2, 2, 2))
        a, b, x = np.indices((2, 2, 2))
        wanted = np.where((a + b) % 2 == x, 0.95, 0.05)
        slips = [
            (1 - wanted, "This gives the sum the probability 0.05."),
            (np.where(a == x, 0.95, 0.05), "This repeats the nearest parent."),
        ]
        array(given, wanted, what="The kernel", slips=slips)
        return "The axes are [x_{t-1}, x_{t-3}, x_t]; the skipped token has none."

    def n_windows(answer):
        whole(answer, 8, slips={4: "A window holds all tokens back to the largest lag, skipped ones too."})
        return "The memory is three tokens long, whatever the number of parents."

    def neighbours(answer):
        array(answer, np.full((2, 2), 0.25), what="The law of pairs", abs=1e-3)
        return "All four pairs are equally likely: neighbours tell nothing about each other."


@exercise(_CHAPTER, "without-hesitation", "Zeros in the kernel", level=2, minutes=20)
class WithoutHesitation:
    def irreducible(answer):
        choice(
            answer, "yes", {"no": "Start in each of the four windows and follow the arrows that are left."}
        )

    def period(answer):
        slips = {
            2: "There is a way round with two steps. Is there one with three?",
            3: "There is a way round with three steps. Is there one with two?",
            4: "There is a way round with four steps, and there are shorter ones.",
        }
        whole(answer, 1, slips=slips)
        return "Rounds of two and of three steps have no common divisor."

    def clockwork(answer):
        kernel = _kernel(answer, (2, 2, 2))
        lifted = NGramChain(kernel, lags=(1, 2)).transition_matrix()
        reach = np.linalg.matrix_power(np.eye(4) + (lifted > 0), 4) > 0
        if not reach.all():
            raise Wrong(f"It is reducible: {int((~reach).sum())} of the 16 ways between windows are closed.")
        rounds = [n for n in range(1, 17) if np.linalg.matrix_power(lifted, n).diagonal().any()]
        period = np.gcd.reduce(rounds)
        if period != 4:
            raise Wrong(f"The period is {period}.")
        return "With four windows, period four leaves no choice at any step: each row is a point mass."


@exercise(_CHAPTER, "slow-by-interleaving", "The price of a long lag", level=2, minutes=20)
class SlowByInterleaving:
    def second_modulus(answer):
        rng = np.random.default_rng(3)
        cases = [(rng.dirichlet(np.ones(3), size=3), lag) for lag in (1, 2, 3, 4)]

        def modulus(matrix):
            return np.sort(np.abs(np.linalg.eigvals(matrix)))[-2]

        slips = [
            (lambda matrix, lag: modulus(matrix), "This is right for lag 1 only. What does one step do?"),
            (
                lambda matrix, lag: modulus(matrix) / lag,
                "The rate per step: r of them make one step of a copy.",
            ),
            (lambda matrix, lag: modulus(matrix) ** lag, "This makes long lags forget faster."),
        ]
        function(
            answer,
            lambda matrix, lag: modulus(matrix) ** (1 / lag),
            cases,
            show=lambda matrix, lag: f"a chain on three tokens with lag {lag}",
            slips=slips,
        )
        return "The lifted chain is r copies of the short one that take turns."


def _extra_loss(concentration: float, tokens: np.ndarray, kernels: np.ndarray) -> float:
    truth = NGramChain(kernels, lags=(1, 2)).predict(tokens)
    said = DirichletPrior(kernels.shape[-1], (1, 2), concentration).predict(tokens)
    possible = truth > 0
    return float((truth[possible] * np.log(truth[possible] / said[possible])).sum() / len(tokens))


@exercise(_CHAPTER, "wrong-concentration", "A reader with the wrong prior", level=2, minutes=25)
class WrongConcentration:
    def worse(answer):
        remark = "Compare 0.001 and 10 by the function: both are off by a factor of a hundred."
        choice(answer, "too much", {"too little": remark, "neither": remark})
        return (
            "Too little concentration leaves a reader too sure, too much makes them blind to what they see."
        )

    def extra_loss(answer):
        prior = DirichletPrior(3, (1, 2), 0.1)
        cases = [
            (assumed, *prior.sample(50, 40, rng=seed, return_kernels=True))
            for seed, assumed in enumerate((0.001, 0.1, 2.0))
        ]

        def entropy_too(concentration, tokens, kernels):
            truth = NGramChain(kernels, lags=(1, 2)).predict(tokens)
            logs = np.log(truth, where=truth > 0, out=np.zeros_like(truth))
            return _extra_loss(concentration, tokens, kernels) - (truth * logs).sum() / len(tokens)

        function(
            answer,
            _extra_loss,
            cases,
            show=lambda concentration, tokens, kernels: f"an assumed concentration of {concentration:g}",
            slips=[
                (entropy_too, "This is the whole loss. Take off what one who knows the kernel has to pay.")
            ],
        )
        return "It is the mean divergence of what is said from what is true."


def _unknown_lags(tokens: np.ndarray, concentration: float, *, equal: bool = False) -> np.ndarray:
    """Predict by all sets of at most two lags out of three, weighed by what they say of the context."""
    from scipy.special import gammaln

    n, length, d = len(tokens), tokens.shape[1], 3
    sets = [subset for size in range(3) for subset in combinations((1, 2, 3), size)]
    evidence, laws = np.zeros((n, len(sets))), np.zeros((n, len(sets), d))
    for j, subset in enumerate(sets):
        for i, row in enumerate(tokens):
            counts = np.zeros((d,) * len(subset) + (d,))
            for t in range(3, length):
                counts[(*(row[t - lag] for lag in subset), row[t])] += 1
            totals = counts.sum(axis=-1)
            evidence[i, j] = (gammaln(counts + concentration) - gammaln(concentration)).sum() - (
                gammaln(totals + d * concentration) - gammaln(d * concentration)
            ).sum()
            seen = counts[tuple(row[length - lag] for lag in subset)]
            laws[i, j] = (seen + concentration) / (seen.sum() + d * concentration)
    weights = np.exp(evidence - evidence.max(axis=1, keepdims=True)) if not equal else np.ones_like(evidence)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", weights, laws)


@exercise(_CHAPTER, "unknown-lags", "A reader who does not know the lags", level=3, minutes=60)
class UnknownLags:
    def predict(answer):
        cases = []
        for seed, (lags, concentration) in enumerate([((1,), 0.1), ((2, 3), 0.1), ((1, 3), 1.0)]):
            tokens = DirichletPrior(3, lags, concentration).sample(4, 30, rng=seed)
            cases.append((tokens, concentration))
        equal = "All sets have the same say here, however badly they explain the context."
        function(
            answer,
            _unknown_lags,
            cases,
            show=lambda tokens, concentration: f"{len(tokens)} contexts at concentration {concentration:g}",
            slips=[(lambda tokens, concentration: _unknown_lags(tokens, concentration, equal=True), equal)],
        )
        return "Weighing by the evidence finds the lags without being told, after a few dozen tokens."
