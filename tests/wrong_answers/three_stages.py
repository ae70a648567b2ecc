"""Plausible wrong answers to the exercises of *Three stages*, and what a reader should be told."""

import numpy as np

_SPEED = 4 * 0.01 / 0.0007 * 0.02


def _fittest_at_the_start(model, w, a):
    c = np.full(len(model.sets), 0.01)
    speed = -model.loss_and_gradients(c, w, a)[1]["c"]
    return [model.sets[speed.argmax()]]


def _as_if_heads_were_alike(model, w, a):
    alike = np.eye(3) * w.diagonal().mean()
    found = []
    for i, S in enumerate(model.sets):
        c = np.where(np.arange(len(model.sets)) == i, 1.0, 1e-5)
        speed = -model.loss_and_gradients(c, alike, a)[1]["c"] / c
        found += [S] if speed.argmax() == i else []
    return found


def _gap(attention, window):
    return np.log((window - 1) * attention / (1 - attention))


WRONG = {
    "who-comes-to-rest": [
        ({"half_time": 4 * np.log(99) / _SPEED}, "factor 4"),
        ({"half_time": 2 * np.log(99) / _SPEED}, "speed of c"),
        ({"half_time": np.log(100) / _SPEED}, "leaves ninety-nine"),
        ({"half_time": 5}, "Too high"),
        ({"resting": ["A", "B"]}, "lacks 2 members"),
        ({"resting": ["a", "b"]}, "what is there is right"),
        ({"resting": ["A", "B", "C", "D", "F"]}, "one member too many"),
        ({"stable": ["A", "F"]}, "one member too many"),
        ({"stable": ["B"]}, "does not belong there"),
    ],
    "one-lag-or-two": [
        ({"least_gap": lambda single, pair, window: _gap(single / pair, window)}, "a pair of heads as σ⁴"),
        ({"least_gap": lambda single, pair, window: _gap((single / pair) ** 0.5, 2)}, "for M = 2 only"),
        ({"least_gap": lambda single, pair, window: (single / pair) ** 0.5}, "is off"),
        ({"winner": "both parents"}, "more attention"),
        ({"winner": "lag 3"}, "nearly deterministic"),
        ({"winner": "(1,)"}, "Choose one of"),
    ],
    "the-wrong-head-sharpens": [
        ({"head": 1}, "Which heads take part in the score"),
        ({"constant": 1145}, "Too high"),
        ({"constant": 147.3}, "squared"),
        ({"constant": 589}, "here there is one head"),
    ],
    "almost-no-shift": [
        ({"needed": 1}, "at ε = 0.1"),
        ({"needed": 0.01}, "A whole number is wanted"),
        ({"needed": 10}, "leave α as it is"),
        ({"ends_near": 22}, "The shift has to reach the model"),
        ({"ends_near": 4}, "still positive"),
        ({"ends_near": 9.3}, "negative already"),
    ],
    "where-a-race-can-end": [
        (_fittest_at_the_start, "too many"),
        (lambda model, w, a: [(1, 2)], "does not belong there"),
        (lambda model, w, a: model.sets, "too many"),
        (lambda model, w, a: [], "is empty"),
        (_as_if_heads_were_alike, "does not belong there"),
    ],
}
