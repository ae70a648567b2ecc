"""Plausible wrong answers to the exercises of *Longer and stranger*, and what a reader should be told."""

import numpy as np

import markov_transformers as mt


def _first_model(models, c, w):
    from scipy.optimize import minimize_scalar

    return minimize_scalar(
        lambda a: models[0].loss_and_gradients(c, w, a)[0], bounds=(0, 15), method="bounded"
    ).x


WRONG = {
    "a-fourth-token": [
        ({"must_change": "the copier"}, "belong to lags"),
        ({"must_change": "the selector"}, "sets of heads"),
        ({"must_change": "the embedding"}, "Choose one of"),
        ({"distance": 0.00128}, "total variation"),
        ({"distance": 0.01}, "Too high"),
    ],
    "other-eyes": [
        ({"work": ["FullHistoryMatch", "BayesOptimal"]}, "one member too many"),
        ({"work": ["GIH"]}, "does not belong there"),
        ({"work": [mt.FullHistoryMatch]}, "by name, as text"),
        ({"beats_unigram": "no"}, "still a parent"),
    ],
    "when-the-leak-shows": [
        ({"length": lambda leak, distance, at: at * distance / leak}, "root of the length"),
        ({"length": lambda leak, distance, at: at * (distance / leak) ** 0.5}, "becomes a square"),
        ({"scale": lambda share, m: np.log(1 / share)}, "frequency of matches"),
        ({"scale": lambda share, m: np.log(1 + (1 / share - 1) * m)}, "not a smaller one"),
        ({"scale": lambda share, m: np.log((1 / share - 1) / m)}, "One is missing"),
    ],
    "worse-than-nothing": [
        (mt.DirichletPrior(3, (1, 2), 1.0), "still ahead of the unigram"),
        (mt.DirichletPrior(3, (3,), 0.01), "still ahead of the unigram"),
        (mt.DirichletPrior(3, (1, 3), 100.0), "too little to learn"),
        (mt.DirichletPrior(4, (3,), 1.0), "three tokens"),
        ((3, (3,), 1.0), "A DirichletPrior is wanted"),
    ],
    "a-humbler-scale": [
        ({"factor": 0.3}, "Also try factors below"),
        ({"factor": 2}, "Too high"),
        ({"factor": 0.05}, "hardly looks for matches"),
        ({"stops": 8.87}, "scale of the trained model"),
        ({"stops": 5.1}, "10 tokens long"),
    ],
    "one-scale-for-all": [
        ({"settle": _first_model}, "too low"),
        ({"settle": lambda models, c, w: 8.87}, "too high"),
        ({"settle": lambda models, c, w: models.clear() or 14.99999549}, "too high"),
        ({"mixture": 5.1}, "100 tokens alone"),
        ({"mixture": 8.9}, "Too high"),
        ({"needed": "stays"}, "single lengths"),
    ],
}
