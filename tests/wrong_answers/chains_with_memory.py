"""Plausible wrong answers to the exercises of *Chains with memory*."""

import numpy as np

import markov_transformers as mt

_A, _B, _X = np.indices((2, 2, 2))


def _second(matrix):
    return np.sort(np.abs(np.linalg.eigvals(matrix)))[-2]


def _one_set_only(tokens, concentration):
    return mt.DirichletPrior(3, (1, 2), concentration).predict(tokens)


def _one_set_for_all(tokens, concentration):
    sets = [(1,), (2,), (3,), (1, 2), (1, 3), (2, 3)]
    laws = [mt.DirichletPrior(3, subset, concentration).predict(tokens) for subset in sets]
    return np.mean(laws, axis=0)


WRONG = {
    "parity-at-a-distance": [
        ({"kernel": np.where((_A + _B) % 2 == _X, 0.05, 0.95)}, "the probability 0.05"),
        ({"kernel": np.where(_A == _X, 0.95, 0.05)}, "repeats the nearest parent"),
        ({"kernel": np.full((2, 2, 2, 2), 0.5)}, "should have shape (2, 2, 2)"),
        ({"n_windows": 4}, "skipped ones too"),
        ({"neighbours": [[0.475, 0.025], [0.025, 0.475]]}, "entries are off"),
    ],
    "without-hesitation": [
        ({"irreducible": "no"}, "follow the arrows"),
        ({"period": 2}, "Is there one with three?"),
        ({"period": 4}, "there are shorter ones"),
        ({"clockwork": np.full((2, 2, 2), 0.5)}, "The period is 1"),
        ({"clockwork": np.where(_B == _X, 1.0, 0.0)}, "It is reducible"),
        ({"clockwork": np.where(_A == _X, 0.9, 0.2)}, "sum to one"),
    ],
    "slow-by-interleaving": [
        (lambda matrix, lag: _second(matrix), "right for lag 1 only"),
        (lambda matrix, lag: _second(matrix) ** lag, "forget faster"),
        (lambda matrix, lag: _second(matrix) / lag, "make one step of a copy"),
        (lambda matrix, lag: 0.5, "with lag 1 the result is off"),
    ],
    "wrong-concentration": [
        ({"worse": "too little"}, "factor of a hundred"),
        ({"worse": "Both"}, "Choose one of"),
        ({"extra_loss": lambda concentration, tokens, kernels: 0.1}, "the result is off"),
        (
            {
                "extra_loss": lambda concentration, tokens, kernels: (
                    -np.mean(
                        [
                            law @ np.log(said)
                            for law, said in zip(
                                mt.NGramChain(kernels, lags=(1, 2)).predict(tokens),
                                mt.DirichletPrior(3, (1, 2), concentration).predict(tokens),
                            )
                        ]
                    )
                )
            },
            "This is the whole loss",
        ),
    ],
    "unknown-lags": [
        (_one_set_only, "entries are off"),
        (_one_set_for_all, "entries are off"),
        (lambda tokens, concentration: np.full((len(tokens), 2), 0.5), "should have shape (4, 3)"),
    ],
}
