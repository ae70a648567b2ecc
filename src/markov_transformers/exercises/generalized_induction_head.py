"""Exercises of the chapter *The generalized induction head*."""

from __future__ import annotations

import numpy as np

from ..chains import DirichletPrior
from ..induction import GeneralizedInductionHead, Unigram
from ._answers import Wrong, an_array, array, call, choice, function
from ._exercise import exercise

_CHAPTER = "generalized-induction-head"


@exercise(_CHAPTER, "votes-by-hand", "Count the votes", level=1, minutes=10)
class VotesByHand:
    def lag_1(answer):
        slips = [
            ([0.5, 0.5], "Position 3 comes after a 1, but it lies within the first M and has no vote."),
            ([1 / 3, 2 / 3], "Vote for the token at the match, not for the other one."),
        ]
        array(answer, [2 / 3, 1 / 3], rel=1e-2, what="The law", slips=slips)

    def lag_2(answer):
        array(answer, [0, 1], rel=1e-2, what="The law", abs=1e-6)

    def both(answer):
        array(answer, [0, 1], rel=1e-2, what="The law", abs=1e-6)
        return "Three votes, one vote, one vote: certainty is cheap when few are asked."


@exercise(_CHAPTER, "how-many-matches", "How many matches?", level=2, minutes=20)
class HowManyMatches:
    def expected(answer):
        def reference(patterns, length, window):
            return (length - window) * float((patterns**2).sum())

        slips = [
            (lambda p, length, window: length * (p**2).sum(), "The first M positions have no vote."),
            (
                lambda p, length, window: (length - window) / len(p),
                "Right for patterns that are equally likely.",
            ),
            (
                lambda p, length, window: (length - window) * p.max(),
                "The query is not always the commonest pattern.",
            ),
        ]
        rng = np.random.default_rng(2)
        settings = ((3, 50, 2), (9, 50, 3), (27, 500, 5))
        cases = [(rng.dirichlet(np.full(n, 0.7)), length, window) for n, length, window in settings]
        show = lambda p, length, window: f"{len(p)} patterns, L = {length} and M = {window}"  # noqa: E731
        function(answer, reference, cases, show=show, slips=slips)

    def full_history(answer):
        remarks = {
            "still no better than the unigram": "How many votes does it have now? Run the table again.",
            "ahead of the head with lags 1 and 2": "It matches those two and one that says nothing more.",
        }
        choice(answer, "ahead of the unigram", remarks)
        return "Ten times the context makes some forty votes of four, and then the third lag hardly hurts."


@exercise(_CHAPTER, "fool-the-head", "Fool the induction head", level=2, minutes=20)
class FoolTheHead:
    def sequence(answer):
        try:
            letters = list(answer)
            tokens = np.unique(letters, return_inverse=True)[1]
        except (TypeError, ValueError):
            raise Wrong("Hand in a text or a list.") from None
        if len(letters) != 20 or tokens.ndim != 1 or tokens.size != 20:
            raise Wrong(f"Twenty letters are wanted, these are {len(letters)}.")
        d = int(tokens.max()) + 1
        for place in range(8, 21):
            context, next_token = tokens[None, : place - 1], tokens[place - 1]
            guess = {s: GeneralizedInductionHead((s,), 3).predict(context, d)[0].argmax() for s in (1, 2)}
            if guess[1] == next_token:
                raise Wrong(f"The plain head guesses position {place} right.")
            if guess[2] != next_token:
                raise Wrong(f"Matching at lag 2 guesses position {place} wrong.")
        return (
            "Where each letter is followed by each equally often, only a longer look can tell which is due."
        )


def _back_off(tokens: np.ndarray, k: int, d: int = 3, window: int = 3) -> np.ndarray:
    law = Unigram().predict(tokens, d)
    length = tokens.shape[1]
    for subset in ((1,), (1, 2)):
        same = [tokens[:, window - s : length - s] == tokens[:, length - s, None] for s in subset]
        enough = np.all(same, axis=0).sum(axis=1) >= k
        law = np.where(enough[:, None], GeneralizedInductionHead(subset, window).predict(tokens, d), law)
    return law


@exercise(_CHAPTER, "back-off", "Back off", level=2, minutes=35)
class BackOff:
    def predict(answer):
        prior = DirichletPrior(3, (1, 2), 1.0)
        cases = [(prior.sample(60, length, rng=length), k) for length, k in ((12, 1), (20, 3), (40, 6))]
        slips = [
            (lambda tokens, k: _back_off(tokens, k + 1), "Exactly k matches are enough."),
            (
                lambda tokens, k: GeneralizedInductionHead((1, 2), 3).predict(tokens, 3),
                "This never backs off from the two lags.",
            ),
        ]
        show = lambda tokens, k: f"contexts of length {tokens.shape[1]} and k = {k}"  # noqa: E731
        function(answer, _back_off, cases, show=show, slips=slips)

    def patience(answer):
        remark = "Compute the loss over k at both values of ε. What does a wrong certainty cost at each?"
        choice(answer, "the small one", {"the large one": remark, "neither": remark})
        return "The smaller ε, the dearer it is to rule out a token on a few votes."


@exercise(_CHAPTER, "single-token-report", "When to say one thing only", level=2, minutes=25)
class SingleTokenReport:
    def threshold(answer):
        rng = np.random.default_rng(4)
        cases = [(np.array([0.6, 0.35, 0.05]),)]
        cases += [(rng.permutation([0.1 + a, *(b * (0.9 - a))]),) for a, b in _laws(rng)]

        def reference(law):
            second, first = np.sort(law)[-2:]
            return second / (first - second)

        slips = [
            (
                lambda law: np.sort(law)[0] / (law.max() - np.sort(law)[0]),
                "Which token is the last to be given up?",
            ),
            (lambda law: np.sort(law)[-2] / law.max(), "Does c stay the same while tokens are given up?"),
        ]
        show = lambda law: f"m = {np.round(law, 3).tolist()}"  # noqa: E731
        function(answer, reference, cases, show=show, slips=slips)
        return "The closer the first two are, the longer both are worth naming."


def _laws(rng: np.random.Generator):
    return [(0.4 + 0.4 * rng.random(), rng.dirichlet(np.ones(n))) for n in (2, 3, 5)]


@exercise(_CHAPTER, "softer-matches", "Softer than a match", level=3, minutes=60)
class SofterMatches:
    def predict(answer):
        prior = DirichletPrior(3, (1, 2), 1.0)
        tokens, kernels = prior.sample(5000, 20, rng=11, return_kernels=True)
        law = an_array(call(answer, tokens, shown="5000 contexts"), (5000, 3), "The result")
        if (law < -1e-12).any() or not np.allclose(law.sum(axis=1), 1):
            raise Wrong("Each row should be a probability law.")
        voters = np.eye(3, dtype=bool)[tokens].any(axis=1)
        if (law[~voters] > 1e-9).any():
            raise Wrong("A token that stands nowhere in the context got a share. Votes alone cannot do that.")
        truth = kernels[np.arange(len(tokens)), tokens[:, -1], tokens[:, -2]]
        hard = GeneralizedInductionHead((1, 2), 3).predict(tokens, 3)
        gain = (truth * np.log((law + 0.1) / (hard + 0.1))).sum(axis=1)
        mean, error = gain.mean(), gain.std() / np.sqrt(len(gain))
        if mean < 4 * error:
            raise Wrong(f"Ahead of the GIH by {mean:.4f}, with a standard error of {error:.4f}.")
        if mean < 0.08:
            raise Wrong(f"Ahead of the GIH by {mean:.4f}. More than 0.08 can be had.")
        return f"Ahead of the GIH by {mean:.3f}: near misses are witnesses too."
