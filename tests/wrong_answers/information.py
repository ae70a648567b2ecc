"""Plausible wrong answers to the exercises of *How much does the past tell?*."""

import numpy as np

_WALK = np.roll(np.eye(3), 1, axis=1)


def _chi2(joint):
    return (joint**2 / joint.sum(axis=1, keepdims=True) / joint.sum(axis=0)).sum() - 1


WRONG = {
    "two-coins": [
        ({"chi2_p_from_q": 0.25}, "divergence of Q from P"),
        ({"chi2_q_from_p": 1 / 3}, "Here P is what is expected"),
        ({"kl_p_from_q": 0.2075}, "These are bits"),
        ({"kl_q_from_p": 0.1438}, "divergence of P from Q"),
    ],
    "forty-steps-ago": [
        ({"clockwork": 1}, "what the parity tells"),
        ({"clockwork": 0}, "can be computed"),
        ({"clockwork": 6}, "subtract the one"),
        (
            {"told": lambda k, p, lag: (np.cos(2 * np.pi * np.arange(1, k) / k) ** (2 * lag)).sum()},
            "without bias",
        ),
        ({"told": lambda k, p, lag: 1.0000136}, "the result is off"),
    ],
    "uneven-flips": [
        ({"by_last_token": [1, 2, 3, 4]}, "one member too many"),
        ({"by_last_token": [3]}, "lacks 2 members"),
        ({"by_second_last": [2, 3, 4]}, "lacks one member"),
        ({"by_second_last": [5]}, "Only the lags"),
    ],
    "as-good-as-the-parents": [
        (([[0.9, 0.1], [0.1, 0.9]], (1,), (2,)), "The set tells"),
        (([[0.5, 0.5], [0.5, 0.5]], (1,), (2,)), "does not depend on lag 1"),
        ((_WALK, (1,), (1, 2)), "holds all parents"),
        (([[0.9, 0.2], [0.1, 0.9]], (1,), (2,)), "The library refuses it"),
        (([[0.9, 0.1], [0.1, 0.9]], 1, 2), "as tuples, like (1,)"),
        ((_WALK, (1,)), "Hand in three things"),
    ],
    "three-coincidences": [
        ({"information": _chi2}, "the result is off"),
        ({"information": lambda joint: (joint**3 / joint.sum(axis=0) ** 2).sum()}, "the result is off"),
        ({"parents_win": "no"}, "What did the proof"),
    ],
}
