"""Plausible wrong answers to the exercises of *What it costs*."""

import numpy as np

WRONG = {
    "how-many-windows": [
        (lambda length, m, d: d**m, "only so many places"),
        (lambda length, m, d: length - m, "different windows"),
        (lambda length, m, d: min(length, d**m), "no full window"),
        (lambda length, m, d: min(length - m + 1, d**m), "a slightly different one"),
    ],
    "read-the-exponent": [
        (lambda n, t: np.polyfit(n, t, 1)[0], "Take logarithms first"),
        (lambda n, t: np.polyfit(n, np.log(t), 1)[0], "logarithm of both"),
        (lambda n, t: 1.0, "the result is off"),
    ],
    "when-has-it-paid": [
        (lambda counting, plain, engine: counting / (plain - engine), "a whole number"),
        (
            lambda counting, plain, engine: int(counting // (plain - engine)) if plain > engine else 0,
            "too few",
        ),
        (
            lambda counting, plain, engine: -(-counting // (plain - engine)) if plain != engine else 0,
            "gains nothing",
        ),
        (
            lambda counting, plain, engine: -(-counting // (plain - engine)) if plain > engine else None,
            "returned nothing for",
        ),
    ],
    "names-do-not-matter": [
        ({"renamed": lambda x: np.unique(x, return_inverse=True)[1]}, "The old names still show"),
        ({"renamed": lambda x: x[::-1]}, "off"),
        ({"n_queries": lambda d, m: d**m}, "up to renaming"),
        ({"n_queries": lambda d, m: 5}, "the result is off"),
    ],
}
