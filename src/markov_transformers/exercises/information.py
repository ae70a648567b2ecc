"""Exercises of the chapter *How much does the past tell?*."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from itertools import islice

import numpy as np

from ..chains import NGramChain
from ..information import chi2_information
from ._answers import Wrong, a_set, an_array, choice, function, number
from ._exercise import exercise

_CHAPTER = "information"


@exercise(_CHAPTER, "two-coins", "Which way round?", level=1, minutes=10)
class TwoCoins:
    def chi2_p_from_q(answer):
        slips = {0.25: "This is the divergence of Q from P. Divide by what is expected, by Q."}
        number(answer, 1 / 3, rel=1e-3, slips=slips)

    def chi2_q_from_p(answer):
        slips = {1 / 3: "This is the divergence of P from Q. Here P is what is expected."}
        number(answer, 1 / 4, rel=1e-3, slips=slips)

    def kl_p_from_q(answer):
        expected = 0.5 * np.log(4 / 3)
        slips = {
            0.25 * np.log(27 / 16): "This is the divergence of Q from P.",
            expected / np.log(2): "These are bits. The chapter measures in nats, with natural logarithms.",
        }
        number(answer, expected, rel=1e-3, slips=slips)

    def kl_q_from_p(answer):
        expected = 0.25 * np.log(27 / 16)
        slips = {
            0.5 * np.log(4 / 3): "This is the divergence of P from Q.",
            expected / np.log(2): "These are bits. The chapter measures in nats, with natural logarithms.",
        }
        number(answer, expected, rel=1e-3, slips=slips)
        return "Each is about twice its Kullback-Leibler counterpart, as for all small surprises."


def _told(n_nodes: int, p: float, lag: int) -> float:
    waves = np.sin(2 * np.pi * np.arange(1, n_nodes) / n_nodes)
    return float(((1 - 4 * p * (1 - p) * waves**2) ** lag).sum())


@exercise(_CHAPTER, "forty-steps-ago", "What a walk remembers", level=2, minutes=20)
class FortyStepsAgo:
    def clockwork(answer):
        slips = {
            6.0: "Close: subtract the one, which stands for what was expected anyway.",
            1.0: "That is what the parity tells. A clockwork tells more than its parity.",
            0.0: "From any earlier node of a clockwork the next one can be computed.",
        }
        number(answer, 5.0, rel=1e-3, slips=slips)
        return "It reaches the ceiling d - 1 at every lag."

    def told(answer):
        cases = [(6, 0.9, 40), (5, 0.7, 3), (8, 0.35, 2), (7, 0.5, 10), (6, 1.0, 4)]
        slips = [
            (lambda k, p, lag: 1 + _told(k, p, lag), "Leave out the eigenvalue one: it carries no news."),
            (lambda k, p, lag: _told(k, p, lag / 2), "Each modulus counts to the power of twice the lag."),
            (
                lambda k, p, lag: (np.cos(2 * np.pi * np.arange(1, k) / k) ** (2 * lag)).sum(),
                "This is the walk without bias. For p ≠ 1/2 the eigenvalues are not real.",
            ),
        ]
        show = "{} nodes, p = {} and lag {}".format
        function(answer, _told, cases, show=show, rel=1e-6, slips=slips)
        return "The symmetric case of the proposition extends to every walk, with |λ| for λ."


@exercise(_CHAPTER, "uneven-flips", "Useless parents, one more time", level=2, minutes=15)
class UnevenFlips:
    def by_last_token(answer):
        a_set(_lags(answer), [2, 3, 4])
        return "Lag 1 tells nothing: whatever the token there, the one at lag 2 is still a fair coin."

    def by_second_last(answer):
        a_set(_lags(answer), [1, 2, 3, 4])
        return "The flips now favour one token, and that small imbalance is seen at every lag."


def _lags(answer: object) -> list[float]:
    given = list(islice(answer, 100)) if isinstance(answer, Iterable) else answer
    lags = an_array(given, (None,), "The list")
    strange = [lag for lag in lags if lag not in (1, 2, 3, 4)]
    if strange:
        raise Wrong(f"Only the lags 1, 2, 3 and 4 are asked for, not {strange[0]:g}.")
    return lags.tolist()


@exercise(_CHAPTER, "as-good-as-the-parents", "As good as the parents", level=3, minutes=35)
class AsGoodAsTheParents:
    def example(answer):
        try:
            kernel, lags, subset = answer
        except (TypeError, ValueError):
            raise Wrong("Hand in three things: (kernel, lags, subset).") from None
        if not all(isinstance(some, Iterable) for some in (lags, subset)):
            raise Wrong("Write the lags and the subset as tuples, like (1,).")
        try:
            parents, seen = (tuple(sorted(operator.index(lag) for lag in some)) for some in (lags, subset))
            if max(*parents, *seen, 0) > 8:
                raise Wrong("Lags up to 8 are enough for an example.")
            chain = NGramChain(kernel, lags=parents)
            windows = chain.stationary_windows(max(*chain.lags, *seen, 0) + 1)
            told, most = (chi2_information(windows, s) for s in (seen, chain.lags))
        except (TypeError, ValueError, OverflowError) as error:
            raise Wrong(f"The library refuses it: {error}.") from None
        for axis, lag in enumerate(chain.lags):
            if np.ptp(chain.kernel, axis=axis).max() < 1e-2:
                raise Wrong(f"The kernel does not depend on lag {lag}, or hardly: it is no parent.")
        if set(seen) >= set(chain.lags):
            raise Wrong("The set holds all parents.")
        if most < 1e-9:
            raise Wrong("The parents tell nothing, so that everything tells as much.")
        if told < most - 1e-9:
            raise Wrong(f"The set tells {told:.4f}, the parents {most:.4f}.")
        return "Equality in data processing means that what is lost would not have changed the prediction."


def _cubic(joint: np.ndarray) -> float:
    seen, token = joint.sum(axis=1), joint.sum(axis=0)
    given = joint[seen > 0] / seen[seen > 0, None]
    return float((seen[seen > 0, None] * given**3 / token**2).sum() - 1)


@exercise(_CHAPTER, "three-coincidences", "Coincidences of three", level=3, minutes=45)
class ThreeCoincidences:
    def information(answer):
        rng = np.random.default_rng(5)
        cases = [(rng.dirichlet(np.ones(e * d)).reshape(e, d),) for e, d in ((2, 2), (9, 3), (4, 5))]
        slips = [
            (lambda joint: _cubic(joint) + 1, "Where both laws agree, the divergence should be zero."),
            (lambda joint: _cubic(joint.T), "The rows are the patterns, the columns the next tokens."),
            (
                lambda joint: ((joint**2).sum(axis=0) / joint.sum(axis=0)) @ np.ones(joint.shape[1]),
                "Each pattern counts by its own probability, and its law is the row divided by that.",
            ),
        ]
        function(answer, _cubic, cases, show=lambda joint: f"{joint.shape[0]} patterns", slips=slips)

    def parents_win(answer):
        remark = "What did the proof of data processing use of the divergence?"
        choice(answer, "yes", {"no": remark})
        return "The proof needs convexity in the first law, and a cube of a positive number is convex."
