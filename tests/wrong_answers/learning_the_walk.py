"""Plausible wrong answers to the exercises of *Learning the walk*."""

import numpy as np

import markov_transformers as mt


def _home(n_nodes, steps):
    return np.linalg.matrix_power(mt.CircleWalk(n_nodes, 0.5).transition_matrix(), steps)[0, 0]


WRONG = {
    "timid-forever": [
        (lambda p: [p, 1 - p], "This is the truth"),
        (lambda p: np.sqrt([p, 1 - p]), "sum to one"),
        (lambda p: [0.75, 0.25], "entries are off"),
    ],
    "a-small-rate": [
        ({"power_of_rate": 1}, "What is V made of"),
        ({"power_of_A": 1}, "the position of the question"),
        ({"power_of_A": 4}, "Too high"),
        ({"power_of_rate": 1.9}, "Too low"),
    ],
    "the-tie-of-step-one": [
        ({"lead": lambda n_nodes, length: _home(n_nodes, length - 1)}, "left over after pairing"),
        (
            {"lead": lambda n_nodes, length: _home(n_nodes, length) / (n_nodes * length)},
            "Leave out the factor",
        ),
        ({"ties_on_five": []}, "is empty"),
        ({"ties_on_five": [3, 5, 7]}, "2 members too many"),
    ],
    "the-cube-root": [
        (lambda z: -((z + 0.1) ** -3.0), "the fourth root"),
        (lambda z: -((z + 0.1) ** (-1 / 3)), "the power 3/4"),
        (lambda z: (z + 0.1) ** -2.0, "should fall"),
    ],
    "a-chain-that-misleads": [
        (mt.CircleWalk(5, 0.7).transition_matrix(), "Near zero no position"),
        ([[0.34, 0.33, 0.33], [0.33, 0.34, 0.33], [0.33, 0.33, 0.34]], "is symmetric"),
        ([[0.34, 0.33, 0.33], [0.32, 0.35, 0.33], [0.33, 0.32, 0.35]], "Near zero no position"),
        (
            [
                [0.01, 0.8, 0.01, 0.18],
                [0.26, 0.62, 0.07, 0.05],
                [0.05, 0.35, 0.58, 0.02],
                [0.25, 0.73, 0.02, 0],
            ],
            "The parent gets 100.0%",
        ),
        (mt.CircleWalk(6, 1.0).transition_matrix(), "Not every state"),
        ([[0.5, 0.5], [0.5, 0.5]], "Three to six states"),
    ],
}
