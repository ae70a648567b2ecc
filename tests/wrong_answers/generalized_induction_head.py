"""Plausible wrong answers to the exercises of *The generalized induction head*."""

import numpy as np

import markov_transformers as mt


def _gih(tokens, *_):
    return mt.GeneralizedInductionHead((1, 2), 3).predict(tokens, 3)


WRONG = {
    "votes-by-hand": [
        ({"lag_1": [0.5, 0.5]}, "has no vote"),
        ({"lag_1": [1 / 3, 2 / 3]}, "Vote for the token at the match"),
        ({"lag_2": [0.5, 0.5]}, "entries are off"),
        ({"both": [0, 1, 0]}, "should have shape (2,)"),
    ],
    "how-many-matches": [
        ({"expected": lambda p, length, window: length * (p**2).sum()}, "The first M positions"),
        ({"expected": lambda p, length, window: (length - window) / len(p)}, "equally likely"),
        ({"expected": lambda p, length, window: (length - 3) * (p**2).sum()}, "Too low"),
        ({"full_history": "still no better than the unigram"}, "Run the table again"),
    ],
    "fool-the-head": [
        ("abababababababababab", "guesses position 8 right"),
        ("aabbaabb", "Twenty letters"),
        ("abcacbabcbacabcacbba", "position"),
    ],
    "back-off": [
        ({"predict": _gih}, "never backs off"),
        ({"predict": lambda tokens, k: mt.Unigram().predict(tokens, 3)}, "entries are off"),
        ({"patience": "the large one"}, "wrong certainty"),
    ],
    "single-token-report": [
        (lambda law: np.sort(law)[-2] / law.max(), "Does c stay the same"),
        (lambda law: np.sort(law)[0] / (law.max() - np.sort(law)[0]), "last to be given up"),
        (lambda law: 1.4, "the result is off"),
    ],
    "softer-matches": [
        (_gih, "Ahead of the GIH by 0.0000"),
        (lambda tokens: mt.Unigram().predict(tokens, 3), "can be had"),
        (lambda tokens: mt.BayesOptimal((1, 2), 1.0).predict(tokens, 3), "stands nowhere"),
        (lambda tokens: np.ones((len(tokens), 3)), "probability law"),
    ],
}
