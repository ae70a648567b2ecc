"""Plausible wrong answers to the exercises of *Which set wins*, and what a reader should be told."""

import numpy as np

WRONG = {
    "a-gap-for-95-per-cent": [
        ({"three": np.log(19)}, "M - 1 of them"),
        ({"three": np.log(57)}, "own lag among the wrong ones"),
        ({"ten": np.log(190)}, "own lag among the wrong ones"),
        ({"ten": 3.64}, "Too low"),
    ],
    "move-the-border": [
        ({"corner": "up"}, "leads of the parents"),
        ({"corner": "stays"}, "steps of 0.2"),
        ({"right": "up"}, "steps of 0.2"),
        ({"right": "left"}, "Choose one of"),
    ],
    "other-parents": [
        ({"one_and_three": (1, 3)}, "one member too many"),
        ({"one_and_three": 3}, "as a tuple"),
        ({"two_and_three": (2,)}, "does not belong there"),
        ({"two": (3,)}, "does not belong there"),
    ],
    "how-long-is-a-cycle": [
        (lambda d: np.full(d, 1 / d), "The first step already returns"),
        (lambda d: np.cumprod(1 - np.arange(d) / d) / d, "sum to"),
        (lambda d: np.eye(d)[0], "entries are off"),
        (lambda d: 1 / d, "should have shape (1,)"),
    ],
    "a-pair-of-strangers": [
        ({"sharpest": (1, 2)}, "does not belong there"),
        ({"sharpest": (2,)}, "lacks one member"),
        ({"gaps": [4, 4, 4, 4]}, "a set with a parent in it"),
        ({"gaps": [3, 3, 8, 3]}, "one lag"),
        ({"gaps": [0, 0, 8, 8]}, "at least 3"),
    ],
}
