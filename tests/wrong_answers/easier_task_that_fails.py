"""Plausible wrong answers to the exercises of *The easier task that cannot be learned*."""

import numpy as np

WRONG = {
    "lengths-that-fail": [
        ({"on_five_nodes": [5, 10, 15, 20, 25, 30]}, "do not belong"),
        ({"on_five_nodes": [6, 11, 16, 21]}, "lacks one member"),
        ({"visits": lambda k, n: np.bincount(-np.arange(n) % k, minlength=k)}, "is too high"),
        ({"visits": lambda k, n: np.bincount(np.arange(1, n) % k, minlength=k)}, "comes from below"),
    ],
    "a-nudge": [
        (lambda nudge: 2, "the result is off"),
        (lambda nudge: -np.log10(nudge), "Now train"),
        (lambda nudge: {-3: 2, -6: 4, -8: 5, -12: 9}[round(np.log10(nudge))], "barely more than a tie"),
    ],
    "a-loss-that-objects": [
        ({"gradient": lambda k, n: np.zeros((k, k))}, "entries are off"),
        ({"gradient": lambda k, n: 0.0}, "should have shape"),
        ({"one_token_more": "never starts"}, "which node gets the highest score"),
        ({"one_token_more": "perfect after some steps"}, "which node gets the highest score"),
    ],
    "the-best-constant": [
        (lambda w: 1 / 6, "equally likely"),
        (lambda w: (w**2).sum(), "guess at random"),
        (lambda w: np.sqrt(w).max(), "another matter"),
    ],
    "how-near-is-too-near": [
        ({"signal": lambda p, k, n: 0.0}, "the result is off"),
        ({"slope": lambda k, n: (n - 1) / k}, "to first order"),
        ({"slope": lambda k, n: 2 * (n - 1) / k}, "the two that lose"),
    ],
}
