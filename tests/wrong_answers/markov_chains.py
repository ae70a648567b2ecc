"""Plausible wrong answers to the exercises of *Markov chains*, and what a reader should be told."""

import numpy as np

_RING = np.roll(np.eye(6), 1, axis=1)

WRONG = {
    "wet-spells": [
        ({"days": 1.5}, "The first wet day belongs to the spell"),
        ({"days": 10}, "mean length of a dry spell"),
        ({"days": 2.4}, "Too low"),
        ({"balanced": [[0.9, 0.1], [0.4, 0.6]]}, "too short"),
        ({"balanced": [[0.8, 0.2], [0.1, 0.9]]}, "67% of all days are wet"),
        ({"balanced": [[0.9, 0.1], [0.9, 0.2]]}, "row 1 sums to 1.1"),
    ],
    "period-three": [
        ({"kernel": np.roll(np.eye(6), 2, axis=1)}, "deterministic"),
        ({"kernel": 0.5 * (_RING + _RING.T)}, "The period is 2"),
        ({"kernel": np.kron([[1, 0], [0.5, 0.5]], np.roll(np.eye(3), 1, axis=1))}, "cannot be reached"),
        ({"on_the_circle": [1, -1]}, "Their number is the period"),
        ({"on_the_circle": [1, 1j, -1j]}, "what is λ³?"),
        ({"on_the_circle": [1, 0.5, -0.5]}, "not on the unit circle"),
    ],
    "lazy-walk": [
        (1 / 3, "Which one is smaller?"),
        (0.5, "more laziness than it takes"),
        (0.0, "nothing breaks the period"),
        (0.25, "Too high"),
    ],
    "there-and-back": [
        (lambda pi: np.abs(np.linalg.eigvals(pi)), "entries are off"),
        (lambda pi: np.linalg.eigvals(pi @ pi).real, "two steps with Π"),
        (lambda pi: np.linalg.eigvals(pi @ pi.T)[:2], "should have shape"),
    ],
    "never-staying": [
        ({"kernel": np.roll(np.eye(4), 1, axis=1)}, "There are faster ones"),
        ({"kernel": np.full((4, 4), 0.25)}, "can stay where it is"),
        ({"best": lambda n: 1 / n}, "How many others are there?"),
        ({"best": lambda n: 1 / (n - 2)}, "ZeroDivisionError"),
    ],
}
