"""Plausible wrong answers to the exercises of *A walk and a one-layer transformer*."""

import numpy as np

_PI = np.array([[0, 0.25, 0.75], [0.75, 0, 0.25], [0.25, 0.75, 0]])

WRONG = {
    "three-nodes": [
        ({"two_steps": (_PI @ _PI).T}, "where the walker comes from"),
        ({"two_steps": _PI**2}, "not its entries"),
        ({"two_steps": _PI}, "a single step"),
        ({"period": 2}, "once around"),
        ({"period": 3}, "Too high"),
    ],
    "attention-by-hand": [
        ({"lead": lambda share, n: np.log(share / (1 - share))}, "How many other columns"),
        ({"lead": lambda share, n: np.log(share / (1 - share) * (n - 2))}, "empty column"),
        ({"weight": lambda share, n, m: np.log(share / (1 - share) * (n - 1))}, "How long?"),
        (
            {"weight": lambda share, n, m: np.log(share / (1 - share) * (n - 1)) * 2 / (m + 1)},
            "on either side",
        ),
    ],
    "what-is-left-of-a-million": [
        ({"numbers_of_W": lambda k, n: (k + n) ** 2}, "always meets the same vector"),
        ({"numbers_of_W": lambda k, n: n}, "which node stands there"),
        ({"numbers_of_W": lambda k, n: k + n - 1}, "idle or not"),
        ({"numbers_of_W": lambda k, n: k + n - 2}, "True of the dimension"),
        ({"smallest_M": lambda n: n - 1}, "a place of its own"),
        ({"smallest_M": lambda n: 1000}, "the result is off"),
    ],
    "waves-that-do-not-meet": [
        (lambda i, j, m: (m + 1) / 2 * (i == j), "Right for places up to M"),
        (lambda i, j, m: m / 2 * (i == j), "the result is off"),
        (lambda i, j, m: (m + 1) / 2 * ((i - j) % (2 * m + 2) == 0), "the sign changed"),
    ],
    "neighbours-with-similar-names": [
        (lambda g, gram, rate: -rate * gram[-1, -1] ** 2 * g, "orthogonal names"),
        (lambda g, gram, rate: -rate * gram @ g, "move u?"),
        (lambda g, gram, rate: rate * gram[-1, -1] * gram @ g, "down the slope"),
        (lambda g, gram, rate: -rate * np.diag(gram) * (gram @ g), "entries are off"),
        (lambda g, gram, rate: -rate * 3 * (gram @ g), "entries are off"),
        (lambda g, gram, rate: -0.2 * gram[0, 0] * (g @ gram), "entries are off"),
    ],
}
