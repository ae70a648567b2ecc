"""Plausible wrong answers to the exercises of *A transformer you can hold in your hand*."""

import numpy as np


def _least_in_squares(attention):
    neglected = (attention**2).sum(axis=0).argmin()
    return np.eye(3, dtype=int)[neglected], np.zeros(3, dtype=int)


WRONG = {
    "count-the-numbers": [
        ({"parameters": 51}, "the classifier's"),
        ({"parameters": 26}, "sets alone"),
        ({"features": 820}, "empty set"),
        ({"features": 640}, "Smaller sets"),
        ({"features": 1000}, "Too high"),
    ],
    "scores-by-hand": [
        ({"scores": [2, 0, 1]}, "divide by"),
        ({"scores": [1, 0, 0]}, "content with that"),
        ({"scores": [1, 0]}, "should have shape (3,)"),
        ({"limit": [0, 0, 1]}, "Position 13"),
        ({"limit": [0.375, 0.25, 0.375]}, "a = 0"),
    ],
    "twin-heads": [
        ({"reachable": [(1,), (3,), (1, 3)]}, "lacks one member"),
        ({"reachable": [(), (1,), (2,), (3,), (1, 3)]}, "one member too many"),
        ({"like_head_one": [(2,)]}, "lacks one member"),
        ({"like_head_one": [2]}, "should hold tuples"),
        ({"reachable": [np.array([]), np.array([1]), np.array([3, 1])]}, "lacks one member; what is there"),
        ({"like_head_one": [(2, 1)]}, "lacks one member; what is there is right"),
    ],
    "purer-than-perfect": [
        ({"lost": [3, 4, 4]}, "copy of head 1"),
        ({"lost": [8, 8, 8]}, "repeated token"),
        ({"lost": [6, 7, 8]}, "too low"),
        ({"scale": lambda rho: np.exp(rho) + 2}, "ratio of the votes is e"),
        ({"scale": lambda rho: np.log(2) * (np.exp(rho) + 2) / 8}, "difference of the two"),
        ({"scale": lambda rho: np.log(2) * np.exp(rho) / 2}, "Too low"),
    ],
    "best-scale": [
        (lambda error, share: np.log((1 - share) / share / error), "factor 2"),
        (lambda error, share: np.log(2 / share / error), "(n - N)/N"),
        (lambda error, share: 1 / error, "Too high"),
    ],
    "two-heads-three-lags": [
        ({"attention": [[1, 0, 0], [0, 1, 0]]}, "the query's own window only"),
        ({"attention": [[0.5, 0, 0.5], [0, 0.5, 0.5]]}, "the query's own window only"),
        ({"attention": [[3, 0, 0], [0, 3, 0]]}, "with the sum one"),
        ({"rival": lambda attention: ((0, 1, 2), (0, 1, 1))}, "beats the rival"),
        ({"rival": lambda attention: ((0, 1, 2), (0, 1, 2))}, "should differ"),
        ({"rival": lambda attention: ((0, 0, 1), (0, 0, 0))}, "beats the rival"),
        ({"rival": _least_in_squares}, "beats the rival"),
    ],
}
