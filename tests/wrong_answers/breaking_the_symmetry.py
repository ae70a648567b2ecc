"""Plausible wrong answers to the exercises of *Breaking the symmetry*."""

import numpy as np

WRONG = {
    "lag-classes": [
        (lambda k, n: np.arange(1, n) % k, "Count back from the target"),
        (lambda k, n: (n - 1 - np.arange(1, n)) % k, "one step before the target"),
        (lambda k, n: (n - np.arange(1, n + 1)) % k, "in no class"),
        (lambda k, n: [-i % k for i in range(n - 1)], "For K = 3 and N = 8"),
        (lambda k, n: (1 - np.arange(1, n)) % k, "entries are off"),
    ],
    "a-hundred-times-smaller": [
        ({"time": lambda a, k, n, rate: (n - 1) * np.log(1 / a) ** 2 / (2 * rate)}, "Here ε still counts"),
        ({"factor": 100}, "does not go like 1/σ"),
        ({"factor": 2.5}, "Too low"),
    ],
    "a-loss-that-is-content": [
        ({"symmetric": lambda t, rate, k: 1 - np.exp(-rate * t / k)}, "one target in K"),
        ({"growth": lambda k, n: np.exp(k / (n - 1))}, "square root in it"),
        ({"attention": "picks a class late"}, "enough for a small start"),
    ],
    "rows-of-a-sample": [
        (lambda w, t, rate, e: rate * w * t / len(w) / e, "Later the slope falls"),
        (lambda w, t, rate, e: np.sqrt(2 * rate * w * t / len(w)) - e, "At time zero"),
        (lambda w, t, rate, e: np.sqrt(w), "entries are off"),
        (lambda w, t, rate, e: np.sqrt(e * e + w * t / len(w)) - e, "entries are off"),
        (lambda w, t, rate, e: np.sqrt(0.01 + 2 * rate * w * t / len(w)) - 0.1, "entries are off"),
    ],
    "nearly-deterministic": [
        ({"time": lambda delta: 1 / delta}, "the result is off"),
        ({"law": "a power of 1/δ"}, "Do they stay put?"),
        ({"law": "the logarithm of 1/δ"}, "evenly spaced"),
    ],
}
