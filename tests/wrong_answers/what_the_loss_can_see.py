"""Plausible wrong answers to the exercises of *What the loss can see*."""

from math import comb

import numpy as np

_ENTRIES = [(2, 3, 2, 1), (2, 2, 1, 1), (1, 2, 0, 2), (0, 1, 3, 1), (3, 0, 2, 1), (2, 3, 1, 1)]
_ONE = [1, 0, 1, 2, 2, 0, 0, 1, 2, 1, 1, 0, 2, 0, 1, 2, 0, 0]
_TWO = [1, 0, 1, 2, 1, 1, 0, 2, 0, 1, 2, 2, 0, 0, 1, 2, 0, 0]
_TAIL = np.random.default_rng(0).integers(0, 3, 300).tolist()
_W, _P, _Q = [1, 1, 1], [0, 2], [2, 2, 0]
_FAR = [_W + _P + _W + _Q + _W + _TAIL, _W + _Q + _W + _P + _W + _TAIL]  # λ = 0.01 tells them apart

_IDLE = {  # the cases that never change
    (3, 4, 0, 0): True,
    (3, 4, 3, 4): True,
    (3, 4, 1, 2): False,
    (2, 6, 4, 1, 3, 2): True,
    (2, 0, 4, 1, 0, 2): True,
    (5, 2): True,
    (2, 0, 4, 1, 0, 1): False,
}


def _pull(n, m, s, a, epsilon):
    votes = np.exp(a * s)
    y = (m * votes).sum() / (n * votes).sum()
    return votes / (n * votes).sum() * (m - n * y) / (y + epsilon)


def _alike(first, n, end_counts=True):
    runs = [n[1, 0] + (first == 0), n[0, 1] + (first == 1)]
    if not end_counts:
        runs = [n[1, 0], n[0, 1]]
    return np.prod([comb(n[i, i] + runs[i] - 1, n[i, i]) if runs[i] else 1 for i in (0, 1)])


def _limit(laws, scores, a, epsilon, query=True):
    votes = np.exp(a * scores) @ laws
    y = votes / votes.sum(axis=2, keepdims=True)
    weight = laws if query else laws / laws.sum(axis=2, keepdims=True) / laws.shape[1]
    return -(weight * np.log(y + epsilon)).sum(axis=(1, 2)).mean()


WRONG = {
    "count-by-hand": [
        ({"entries": [(b, a, k, n) for a, b, k, n in _ENTRIES]}, "newest comes first"),
        ({"entries": _ENTRIES[:-1]}, "lacks one member"),
        ({"entries": [(2, 3, 2)]}, "tuple of four numbers"),
        ({"entries": [np.array(entry) for entry in _ENTRIES[1:]]}, "what is there is right"),
        ({"entries": np.array([(b, a, k, n) for a, b, k, n in _ENTRIES])}, "newest comes first"),
        ({"kinds": 6}, "the same table"),
        ({"kinds": 5}, "without any token of the query"),
        ({"unmatched": 1}, "More than one window"),
        ({"unmatched": 2}, "Count positions"),
    ],
    "tables-of-matches": [
        ({"two_tokens": 16}, "many of them share a table"),
        ({"two_tokens": 15}, "only two tokens"),
        ({"twins": [(0, 1, 0), (1, 1, 2), (1, 0, 1), (0, 0, 2)]}, "with other names"),
        ({"twins": [(0, 0, 0), (1, 1, 1), (0, 0, 0), (1, 1, 0)]}, "different tables"),
        ({"twins": [(0, 0, 3), (1, 1, 1), (0, 0, 0), (1, 1, 0)]}, "out of 0, 1 and 2"),
    ],
    "nothing-to-pull": [
        ({"R": lambda n, m, s, a, epsilon: _pull(n, m, s, a, 0.0)}, "shift ε"),
        ({"R": lambda n, m, s, a, epsilon: -_pull(n, m, s, a, epsilon)}, "the other way round"),
        ({"R": lambda n, m, s, a, epsilon: _pull(n, m, s, 0.0, epsilon)}, "right for a = 0"),
        ({"R": lambda n, m, s, a, epsilon: _pull(n, m, s, a, 0.1)}, "ε = 0.3"),
        ({"idle": lambda n, m: not m.any()}, "nothing but the target comes is idle"),
        (
            {"idle": lambda n, m: len(set(m / np.maximum(n, 1))) == 1},
            "one kind of key does not occur is idle",
        ),
        ({"idle": lambda n, m: 0.5}, "True or False"),
        ({"idle": lambda n, m: np.array(False)}, "is idle"),
        ({"idle": lambda n, m: _IDLE.get((*n, *m), True)}, "is not idle"),
        ({"idle": lambda n, m: _IDLE.get((*n, *m), False)}, "is idle"),
    ],
    "how-many-look-alike": [
        (lambda first, n: _alike(first, n, end_counts=False), "is off"),
        (lambda first, n: comb(n.sum(), n[1].sum()), "Too high"),
        (lambda first, n: n, "A single number is wanted"),
    ],
    "a-sense-of-time": [
        ({"told_apart": [_ONE, _ONE]}, "are the same"),
        ({"told_apart": [_ONE, _ONE[::-1]]}, "window counts"),
        ({"told_apart": [_ONE[:6], _TWO[:6]]}, "at least 8 tokens"),
        ({"told_apart": _FAR}, "at most 100 tokens"),
        ({"blind": _FAR}, "at most 100 tokens"),
        ({"blind": [_ONE, _TWO]}, "with a slope tells"),
        ({"blind": [_ONE, _ONE[::-1]]}, "Even the model without a slope"),
    ],
    "train-on-the-limit": [
        ({"limit_loss": lambda laws, s, a, e: _limit(laws, s, a, 0.0)}, "shift ε"),
        ({"limit_loss": lambda laws, s, a, e: _limit(laws, s, a, e, query=False)}, "not equally likely"),
        ({"limit_loss": lambda laws, s, a, e: _limit(laws, s, a, 0.1)}, "ε = 0.3"),
        ({"limit_loss": lambda laws, s, a, e: _limit(laws, s.T, a, e)}, "is off"),
        ({"scale": "it stops earlier"}, "hedge against"),
        ({"scale": "it stops at the same place"}, "few and noisy"),
    ],
}
