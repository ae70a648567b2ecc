"""Plausible wrong answers to the exercises of *The ledger*."""

from fractions import Fraction

import numpy as np

_HALF, _MOST = Fraction(1, 2), Fraction(3, 4)


def _judge(accuracy, optimum, n_walks, enough):
    close = abs(accuracy - optimum) <= 3 * (optimum * (1 - optimum) / n_walks) ** 0.5
    if close.all():
        return "reproduced"
    return "with a change" if enough(close) else "not reproduced"


WRONG = {
    "none-in-a-thousand": [
        ({"largest_share": lambda n: 3 / n}, "rule of thumb"),
        ({"largest_share": lambda n: -np.log(0.05) / n}, "in the limit of large n"),
        ({"largest_share": lambda n: round(1 - 0.05 ** (1 / n), 4)}, "Is it rounded"),
        ({"largest_share": lambda n: 1 - 0.05 ** (1 / n) if n > 3 else None}, "nothing for 3 chains"),
        ({"largest_share": lambda n: 0.0}, "not none there"),
        ({"largest_share": lambda n: 1 - 0.95 ** (1 / n)}, "Turn it round"),
        ({"may_be_proved": "yes"}, "all chains"),
    ],
    "range-of-five": [
        (lambda n: 1 - 0.5**n, "on either side"),
        (lambda n: (n - 1) / (n + 1), "a new measurement"),
        (lambda n: 0.9375, "the result is off"),
    ],
    "a-rule-with-teeth": [
        (lambda accuracy, optimum, n: "reproduced", "one run in five far below"),
        (
            lambda accuracy, optimum, n: (
                "reproduced" if accuracy.min() > optimum - 0.06 else "not reproduced"
            ),
            "With",
        ),
        (lambda accuracy, optimum, n: True, "A rule returns"),
        (lambda accuracy, optimum, n: _judge(accuracy, optimum, n, lambda close: close.sum() >= 3), "six"),
        (lambda accuracy, optimum, n: np.where(accuracy > 0.5, "reproduced", "no"), "one string"),
    ],
    "a-witness-in-fractions": [
        ([[[_HALF, _HALF]] * 2] * 2, "the kernel says nothing"),
        ([[[_MOST, 1 - _MOST]] * 2] * 2, "not uniform"),
        ([[[0.75, 0.25], [0.25, 0.75]]] * 2, "should be a Fraction"),
        ([[[_MOST, _MOST]] * 2] * 2, "sum to one exactly"),
    ],
}
