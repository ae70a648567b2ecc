"""Plausible wrong answers to the exercises of *Information with a price*."""

import numpy as np

_BOOK = np.array([0.99, 0.99, 0.01, 0.1, 0.99, 0.01, 0.99, 0.1]).reshape(2, 2, 2)

WRONG = {
    "price-by-hand": [
        ({"parent": lambda e: (1 - 2 * e) ** 2}, "Is one factor μ(E) missing?"),
        ({"with_lag_1": lambda e: (1 - 2 * e) ** 2 / 2}, "Is one factor μ(E) missing?"),
        ({"twice_as_far": lambda e: (1 - 2 * e) ** 2 / 2}, "Two copies stand in between"),
        ({"parent": lambda e: 0.32}, "the result is off"),
    ],
    "stranger-in-the-square": [
        ({"ties": [(0.5, 0.2), (0.5, 0.7), (0.5, 0.9)]}, "There is another one"),
        ({"ties": [(0.5, 0.2), (0.9, 0.9), (0.3, 0.5)]}, "{2} is ahead"),
        ({"ties": [(0.5, 0.2), (0.9, 0.1), (0.3, 0.5)]}, "{1, 2} is ahead"),
        ({"stranger": lambda a, b: (a - b) ** 2 / 2}, "two kernels"),
        ({"stranger": lambda a, b: (a - b) ** 4}, "Is one factor"),
    ],
    "noise-and-the-wide-pair": [
        ({"delta": 0.5}, "Too low"),
        ({"delta": 0.156}, "the share of the kernel that is left"),
        ({"delta": 1}, "nothing tells anything"),
        ({"single": "at less noise"}, "two sides of the tie"),
    ],
    "nearly-uniform": [
        (lambda d, n, k: (d + 1) / d, "What about n and k?"),
        (lambda d, n, k: (1 - d**-k) / (1 - d**-n), "Upside down"),
        (lambda d, n, k: 1.0, "deviates a little"),
    ],
    "a-larger-lead": [
        (_BOOK, "Four per cent can be had"),
        (np.full((2, 2, 2), 0.9), "Four lags or fewer win"),
        (np.full((2, 2), 0.9), "should have shape"),
        (np.ones((2, 2, 2)), "strictly between"),
    ],
}
