"""Plausible wrong answers to the exercises of *The ledger*."""

from fractions import Fraction

_HALF, _MOST = Fraction(1, 2), Fraction(3, 4)

WRONG = {
    "none-in-a-thousand": [
        ({"largest_share": lambda n: 3 / n}, "rule of thumb"),
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
    ],
    "a-witness-in-fractions": [
        ([[[_HALF, _HALF]] * 2] * 2, "the kernel says nothing"),
        ([[[_MOST, 1 - _MOST]] * 2] * 2, "not uniform"),
        ([[[0.75, 0.25], [0.25, 0.75]]] * 2, "should be a Fraction"),
        ([[[_MOST, _MOST]] * 2] * 2, "sum to one exactly"),
    ],
}
