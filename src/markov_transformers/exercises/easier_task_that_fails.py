"""Exercises of the chapter *The easier task that cannot be learned*."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..walks import CircleWalk
from ._answers import a_set, choice, function
from ._exercise import exercise

if TYPE_CHECKING:
    from ..one_layer import OneLayerRun

_CHAPTER = "easier-task-that-fails"


def _visits(n_nodes: int, length: int) -> np.ndarray:
    return np.bincount(-np.arange(1, length) % n_nodes, minlength=n_nodes)


@exercise(_CHAPTER, "lengths-that-fail", "Which lengths fail?", level=1, minutes=10)
class LengthsThatFail:
    def on_five_nodes(answer):
        a_set(answer, [6, 11, 16, 21, 26], "The list of lengths")
        return "Whole rounds of input say nothing: N - 1 must be a multiple of K."

    def visits(answer):
        slips = [
            (
                lambda k, n: _visits(k, n + 1),
                "A walk of length N shows N - 1 nodes. The target is not among them.",
            ),
            (
                lambda k, n: np.roll(_visits(k, n)[::-1], 1),
                "The walk climbs: it comes from below its target.",
            ),
        ]
        show = "K = {} and N = {}".format
        function(answer, _visits, [(5, 11), (5, 13), (6, 98), (4, 4)], show=show, slips=slips)
        return "One visit more or less is the whole fingerprint of the target."


@exercise(_CHAPTER, "a-nudge", "A nudge", level=2, minutes=25)
class ANudge:
    def leaves_at(answer):
        slips = [
            (lambda nudge: -np.log10(nudge), "That is tenfold growth each time, a fair guess. Now train."),
            (
                lambda nudge: np.argmax(_nudged(nudge).accuracy > 0.999),
                "There the accuracy is perfect, by a lead that is barely more than a tie. Look at attention.",
            ),
        ]
        show = "a nudge of {:g}".format
        function(answer, _leaves_at, [(1e-3,), (1e-6,), (1e-8,), (1e-12,)], show=show, slips=slips)
        return "Three powers of ten cost between two and three iterations."


def _leaves_at(nudge: float) -> int:
    weights = _nudged(nudge).attention[:, :96]
    return int(np.argmax(weights.max(axis=1) > 2 * weights.mean(axis=1)))


def _nudged(nudge: float) -> OneLayerRun:
    from ..one_layer import OneLayerModel, OneLayerParameters

    walks, chances = CircleWalk(6, 1.0).enumerate(97)
    start = OneLayerParameters(np.zeros((6, 6)), np.zeros(6), nudge * (np.arange(1, 98) == 96))
    return OneLayerModel(6, 97).train(walks, weights=chances, start=start, learning_rate=1.0, steps=50)


@exercise(_CHAPTER, "a-loss-that-objects", "A loss that objects", level=2, minutes=30)
class ALossThatObjects:
    def gradient(answer):
        def reference(n_nodes, length):
            visits = np.array(
                [np.roll(_visits(n_nodes, length), y) for y in range(n_nodes)]
            )  # (target, node)
            return (1 / n_nodes - np.eye(n_nodes)).T @ visits / (n_nodes * length)

        slips = [
            (lambda k, n: -reference(k, n), "This is the step of descent. The gradient points uphill."),
            (
                lambda k, n: reference(k, n).T,
                "Rows belong to the scores, columns to the nodes that were seen.",
            ),
            (lambda k, n: reference(k, n) * k, "Average over the K walks."),
            (
                lambda k, n: reference(k, n) * n / (n - 1),
                "The empty column takes its share of the attention.",
            ),
        ]
        show = "K = {} and N = {}".format
        # The first is exactly zero; finite differences and single precision leave some dust there.
        cases = [(6, 97), (6, 98), (5, 13)]
        function(answer, reference, cases, show=show, slips=slips, abs=1e-8)

    def one_token_more(answer):
        remark = "Use the gradient: which node gets the highest score on the walk with target y?"
        choice(answer, "perfect after one step", {"never starts": remark, "perfect after some steps": remark})
        return "The proof for one score alone works for the softmax too: Cauchy and Schwarz decide."


@exercise(_CHAPTER, "the-best-constant", "The best constant answer", level=2, minutes=25)
class TheBestConstant:
    def accuracy(answer):
        rng = np.random.default_rng(6)
        cases = [(rng.dirichlet(np.ones(6)),) for _ in range(3)]
        slips = [
            (lambda w: 1 / 6, "That is the accuracy where all targets are equally likely."),
            (lambda w: (w**2).sum(), "The model does not guess at random in proportion to the shares."),
            (lambda w: np.sqrt(w).max(), "The rows of V go like the roots. Who wins is another matter."),
        ]
        show = lambda w: f"shares {np.round(w, 2).tolist()}"  # noqa: E731
        function(answer, lambda w: float(w.max()), cases, show=show, slips=slips)
        return "Whatever it sees, it says the same."


def _sum_of_powers(p: float, n_nodes: int, length: int) -> np.ndarray:
    step, power, total = CircleWalk(n_nodes, p).transition_matrix(), np.eye(n_nodes), np.zeros(n_nodes)
    for _ in range(length - 1):
        power = power @ step
        total = total + power[0]
    return total


@exercise(_CHAPTER, "how-near-is-too-near", "How near is too near?", level=3, minutes=60)
class HowNearIsTooNear:
    def signal(answer):
        def reference(p, n_nodes, length):
            return np.ptp(_sum_of_powers(p, n_nodes, length))

        cases = [(1.0, 6, 97), (0.99, 6, 97), (0.7, 6, 97), (0.999, 5, 31), (1.0, 6, 99)]
        slips = [
            (
                lambda p, k, n: np.std(_sum_of_powers(p, k, n)),
                "The difference of the largest and the smallest entry.",
            ),
            (lambda p, k, n: np.ptp(_sum_of_powers(p, k, n + 1)), "N - 1 powers, not N."),
        ]
        show = "p = {}, K = {} and N = {}".format
        function(answer, reference, cases, show=show, abs=1e-9, slips=slips)

    def slope(answer):
        slips = [
            (
                lambda k, n: (n - 1) / k,
                "Expand a power of Π to first order: how many places can the one wrong step take?",
            ),
            (lambda k, n: 2 * (n - 1) / k, "That is what most offsets gain. What do the two that lose lose?"),
        ]
        cases = [(6, 97), (5, 31), (8, 17)]
        function(answer, lambda k, n: n - 1, cases, show="K = {} and N = {}".format, rel=1e-2, slips=slips)
        return "At 1 - p = 0.001 the signal is a tenth of a visit, where each node has sixteen."
