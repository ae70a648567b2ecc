"""Plausible wrong answers to the exercises of *Questions and averages*."""

import numpy as np
from scipy.special import softmax


def _pull_only(V, scores, words, target):
    attention, columns = softmax(scores), V[:, words]
    output = columns @ attention
    return (softmax(output)[target] - 1) * attention * (columns[target] - output[target])


WRONG = {
    "first-of-the-bag": [
        (lambda n: 0.5, "The counts do help"),
        (lambda n: 1.0, "One apple and one orange"),
        (lambda n: 0.75, "the result is off"),
    ],
    "a-race-with-a-head-start": [
        ({"repeated_name": "one time in five"}, "Who leads after one step?"),
        ({"repeated_fruit": "never"}, "worth winning"),
        ({"repeated_fruit": "sometimes"}, "Choose one of"),
    ],
    "the-walk-by-symmetry": [
        (lambda k, r: (np.arange(k * r), np.arange(k)), "rho reaches 1 of 6"),
        (lambda k, r: (np.arange(k * r), (np.arange(k) + 1) % k), "not mapped to itself"),
        (lambda k, r: (np.arange(k), np.arange(k)), "should have shape"),
        (lambda k, r: np.arange(3), "Return two arrays"),
    ],
    "who-is-hurt": [
        ({"tau": list(range(11))}, "look at place 4"),
        ({"tau": [0, 7, 2, 3, 4, 5, 6, 1, 8, 9, 10]}, "look at place"),
        ({"words": "are exchanged"}, "title"),
        ({"accuracy": 1}, "Which rows of V are equal"),
        ({"accuracy": 0}, "right once, and wrong once"),
    ],
    "a-softmax-that-objects": [
        (_pull_only, "The wrong ones push"),
        (lambda V, z, words, y: np.zeros(len(z)), "entries are off"),
        (lambda V, z, words, y: softmax(z), "entries are off"),
    ],
}
