"""Plausible wrong answers to the exercises of *All at once*, and what a reader should be told."""

import numpy as np


def _match(size, floor, d):
    variance = size**2 * (d - 1) / d**2
    return variance / (variance + floor)


WRONG = {
    "a-head-start": [
        (5.7, "frozen scale"),
        (np.sqrt(2 * 0.057 / 0.117), "does not start at zero"),
        (0.5, "Too low"),
        (2, "Too high"),
    ],
    "only-longer": [
        ({"factor": 1}, "Its gradient does"),
        ({"factor": 0.1}, "over a shorter way"),
        ({"factor": 100}, "twice"),
        ({"length": lambda length, slope, rate: abs(length - rate * slope)}, "What is the angle?"),
        ({"length": lambda length, slope, rate: np.hypot(length, slope)}, "How long is the step?"),
        ({"power": 0.5}, "keeps its size"),
        ({"power": 1}, "squares of the steps"),
        ({"power": 0.3}, "Too high"),
    ],
    "a-product-that-starts-small": [
        ({"query": lambda q, k, g, t: q * np.exp(g * t)}, "pull at each other"),
        ({"query": lambda q, k, g, t: q + g * k * t}, "does not stand still"),
        ({"times_longer": 1000}, "constant speed"),
        ({"times_longer": 3}, "Too high"),
    ],
    "selector-or-copier": [
        ({"pair": "w and a"}, "keep their share"),
        ({"pair": "c"}, "Choose one of"),
        ({"loss": 0.0852}, "all three reach"),
        ({"loss": 0.134}, "without the selector"),
        ({"loss": 0.3}, "Too high"),
    ],
    "under-the-floor": [
        ({"match": lambda size, floor, d: d}, "without a floor"),
        ({"match": _match}, "root of d"),
        ({"match": lambda size, floor, d: d * size**2 / (size**2 + floor * d)}, "mean is subtracted"),
        ({"match": lambda size, floor, d: d * np.sqrt(_match(size, floor, d))}, "Both copies"),
        ({"wakes": "earlier"}, "either floor"),
    ],
    "why-the-wrong-pair": [
        ({"share_speeds": lambda c, slope: 2 * c * slope / (c @ c)}, "down the gradient"),
        ({"share_speeds": lambda c, slope: -2 * slope / c}, "logarithm of a share"),
        ({"at_start": (2, 3)}, "does not belong there"),
        ({"after_fifty": (1, 2)}, "does not belong there"),
        ({"after_fifty": 3}, "should be a list"),
        ({"frozen": (1, 3)}, "does not belong there"),
    ],
}
