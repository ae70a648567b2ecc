"""Exercises of the chapter *A transformer you can hold in your hand*."""

from __future__ import annotations

from itertools import product

import numpy as np

from ._answers import Wrong, a_set, an_array, array, call, function, whole
from ._cases import generators
from ._exercise import exercise

_CHAPTER = "transformer-in-your-hand"
_WINDOWS = list(product(range(3), repeat=3))


@exercise(_CHAPTER, "count-the-numbers", "How much is there to hold?", level=1, minutes=10)
class CountTheNumbers:
    def parameters(answer):
        slips = {
            26: "These are the sets alone. Heads and classifier have numbers too.",
            51: "One number is missing: the classifier's.",
            36: "Sets of exactly three heads? Smaller ones count too.",
        }
        hint = "Add up: what the heads own, one number for each set of at most D heads, and the scale."
        whole(answer, 52, low=hint, high=hint, slips=slips)
        return "The vocabulary does not enter: no parameter knows which token it deals with."

    def features(answer):
        slips = {
            640: "These are the features of sets of three heads. Smaller sets have features too.",
            820: "The empty set has a feature as well.",
            26: "A set of k heads has one feature for each choice of k tokens.",
        }
        hint = "A set of k heads has one feature for each choice of k tokens, the empty set has one."
        whole(answer, 821, low=hint, high=hint, slips=slips)
        return "Features grow like the vocabulary to the power D. The kernel computes with them unseen."


@exercise(_CHAPTER, "scores-by-hand", "Scores by hand", level=1, minutes=15)
class ScoresByHand:
    def scores(answer):
        slips = [
            ([2, 0, 1], "A score is a share of sets: divide by the sum of the squares of all weights."),
            ([1, 0, 0], "Position 16 matches in lag 1. Which set is content with that?"),
            ([1, 0.5, 0], "Which tokens stand before positions 9 and 16? Lag 1 is the token just before."),
            (
                [1, 0, np.sqrt(0.5)],
                "The share of a set is its weight squared over the sum of the squares.",
            ),
        ]
        array(answer, [1, 0, 0.5], what="The list of scores", slips=slips)
        return "A partial match earns a part of the score."

    def limit(answer):
        slips = [
            ([0.0, 0.0, 1.0], "Position 13 reaches the largest score too."),
            ([0.375, 0.25, 0.375], "This is the answer for a = 0."),
        ]
        array(answer, [0, 1 / 3, 2 / 3], rel=1e-2, abs=1e-3, what="The output", slips=slips)
        return "In the limit only the largest score votes, so half a share for {1} changes nothing."


@exercise(_CHAPTER, "twin-heads", "Twins", level=2, minutes=15)
class TwinHeads:
    def reachable(answer):
        lags = _sets(answer, "Your list of lags")
        a_set(lags, [(), (1,), (3,), (1, 3)], what="Your list of lags")
        return "What no head looks at, no weights can bring back."

    def like_head_one(answer):
        heads = _sets(answer, "Your list of heads")
        a_set(heads, [(2,), (1, 2)], what="Your list of heads")
        return "A match that is counted twice is the same match. Only shares of the three add up."


@exercise(_CHAPTER, "purer-than-perfect", "Purer than perfect", level=2, minutes=25)
class PurerThanPerfect:
    def lost(answer):
        slips = [
            ([3, 4, 4], "This is what the copy of head 1 loses. The score is a product of two."),
            ([4, 3, 4], "This is what the copy of head 2 loses. The score is a product of two."),
            ([8, 8, 8], "This forgets that a repeated token collects two of a head's weights."),
        ]
        array(answer, [7, 7, 8], rel=1e-2, what="The list of losses", slips=slips)
        return "A repeated token collects attention that a perfect copy spends on a third token."

    def scale(answer):
        def blur(rho):
            return 1 / (np.exp(rho) + 2)

        slips = [
            (lambda rho: 1 / blur(rho), "This is where the ratio of the votes is e. It should be two."),
            (lambda rho: rho + np.log(np.log(2)), "This is its logarithm."),
            (
                lambda rho: np.log(2) / (8 * blur(rho)),
                "Both windows lose some score. What counts is the difference of the two.",
            ),
        ]
        cases = [(rho,) for rho in (6.5, 8.0, 10.0, 12.5, np.random.default_rng().uniform(7, 12))]
        function(
            answer,
            lambda rho: np.log(2) / blur(rho),
            cases,
            show=lambda rho: f"ρ = {rho:g}",
            rel=0.03,
            slips=slips,
        )
        return "A scale is safe as long as it stays well below the exponential of ρ."


@exercise(_CHAPTER, "best-scale", "The best scale for a blurred copier", level=2, minutes=20)
class BestScale:
    def scale(answer):
        cases = [(10 ** rng.uniform(-6, -2), rng.uniform(0.05, 0.6)) for rng in generators(5, 5)]

        def best(error, share):
            odds = (1 - share) / share
            return np.log(2 * odds * (1 - 2 * error) / error) / (1 - error)

        slips = [
            (
                lambda d, s: np.log((1 - s) / s / d),
                "The second term of the bound has a factor 2. Did the derivative keep it?",
            ),
            (
                lambda d, s: np.log(2 / s / d),
                "The share of matches is N/n; the bound has (n - N)/N.",
            ),
            (lambda d, s: -np.log(d), "The number of matches counts too."),
        ]
        function(
            answer,
            best,
            cases,
            show=lambda d, s: f"Δ = {d:.1e} and a share of {s:.2f}",
            rel=0.02,
            slips=slips,
        )
        return "The best scale grows with the logarithm of the copier's quality, and no faster."


@exercise(_CHAPTER, "two-heads-three-lags", "Two heads for three lags", level=3, minutes=60)
class TwoHeadsThreeLags:
    def attention(answer):
        weights = an_array(answer, (2, 3), "The attention")
        if (weights < 0).any() or not np.allclose(weights.sum(axis=1), 1, atol=1e-6):
            raise Wrong("Each row should be the attention of a head: not negative, with the sum one.")
        own = _score(weights, (0, 1, 2), (0, 1, 2))
        rival = max((w for w in _WINDOWS if w != (0, 1, 2)), key=lambda w: _score(weights, (0, 1, 2), w))
        best = _score(weights, (0, 1, 2), rival)
        if best >= own - 1e-9:
            raise Wrong(
                f"The window {rival} has the score {best:.4f}, the query's own window only {own:.4f}."
            )
        return "Two soft heads tell three lags apart, as long as three different tokens stand there."

    def rival(answer):
        cases = [
            *(rng.dirichlet(np.full(3, 0.7), 2) for rng in generators(6, 5)),
            np.array([[0.6, 0.0, 0.4], [0.0, 0.6, 0.4]]),
            np.array([[0.011, 0.486, 0.503], [0.508, 0.490, 0.002]]),  # half of one head counts for more
        ]
        for weights in cases:
            rows = " and ".join(str(tuple(row.round(3).tolist())) for row in weights)
            shown = f"the attention {rows}"
            pair = an_array(call(answer, weights, shown=shown), (2, 3), "The pair of windows")
            if not np.isin(pair, (0, 1, 2)).all():
                raise Wrong("A window holds three tokens out of 0, 1 and 2.")
            query, key = pair.astype(int).tolist()
            if query == key:
                raise Wrong("The rival should differ from the query.")
            if _score(weights, query, key) < _score(weights, query, query) - 1e-12:
                raise Wrong(f"For {shown} the query {tuple(query)} beats the rival {tuple(key)}.")
        return "To some lag no head gives more than half of its attention. So M lags need M heads."


def _score(attention: np.ndarray, query: tuple[int, ...], key: tuple[int, ...]) -> float:
    match = np.equal.outer(query, key)
    return float(np.prod([row @ match @ row for row in attention]))


def _sets(answer: object, what: str) -> object:
    """Read sets, which have no order, as sorted tuples; what is no list at all is left as it is."""
    if not isinstance(answer, (list, tuple, set, frozenset)):
        return answer
    wrong = Wrong(f"{what} should hold tuples, like [(1,), (2, 3)].")
    if not all(isinstance(member, (list, tuple, set, frozenset, np.ndarray)) for member in answer):
        raise wrong
    try:
        return [tuple(sorted(member)) for member in answer]
    except (TypeError, ValueError):
        raise wrong from None
