"""Exercises of the chapter *A walk and a one-layer transformer*."""

from __future__ import annotations

import numpy as np

from ._answers import array, function, whole
from ._exercise import exercise

_CHAPTER = "walk-and-transformer"


@exercise(_CHAPTER, "three-nodes", "Two steps on three nodes", level=1, minutes=10)
class ThreeNodes:
    def two_steps(answer):
        up, down = 1 / 4, 3 / 4
        wanted = np.array([np.roll([2 * up * down, down**2, up**2], i) for i in range(3)])
        one = np.array([np.roll([0, up, down], i) for i in range(3)])
        slips = [
            (wanted.T, "Rows are where the walker comes from. Up is the direction of growing node numbers."),
            (one, "This is a single step."),
            (one**2, "Square the matrix, not its entries."),
        ]
        array(answer, wanted, rel=1e-4, what="The matrix", slips=slips)
        return "Two steps down are one step up: on three nodes the circle closes quickly."

    def period(answer):
        whole(answer, 1, slips={2: "Back and forth takes two steps. What about once around?"})
        return "A walker can return in two steps and in three."


def _lead(share: float, length: int) -> float:
    return float(np.log(share / (1 - share) * (length - 1)))


@exercise(_CHAPTER, "attention-by-hand", "A transformer by hand", level=2, minutes=25)
class AttentionByHand:
    def lead(answer):
        slips = [
            (lambda share, n: np.log(share / (1 - share)), "How many other columns share the rest?"),
            (
                lambda share, n: np.log(share / (1 - share) * (n - 2)),
                "The empty column takes part in the softmax, too.",
            ),
            (lambda share, n: np.log(share / (1 - share) * n), "The parent is not one of the others."),
        ]
        cases = [(0.99, 97), (0.5, 10), (0.999, 7)]
        function(answer, _lead, cases, show="a share of {} and N = {}".format, slips=slips)
        return "It grows with the logarithm of the length only."

    def weight(answer):
        def reference(share, length, dim):
            return _lead(share, length) / ((dim + 1) / 2) ** 2

        slips = [
            (lambda share, n, m: 2 * _lead(share, n) / (m + 1), "W meets a position on either side."),
            (lambda share, n, m: _lead(share, n), "The positions are long vectors. How long?"),
        ]
        cases = [(0.99, 97, 1000), (0.9, 20, 50)]
        show = "a share of {}, N = {} and M = {}".format
        function(answer, reference, cases, show=show, slips=slips)
        return "Long position vectors make tiny weights do: one reason why attention jumps."


@exercise(_CHAPTER, "what-is-left-of-a-million", "What is left of a million", level=1, minutes=15)
class WhatIsLeftOfAMillion:
    def numbers_of_W(answer):
        slips = [
            (lambda k, n: (k + n) ** 2, "The right side of W always meets the same vector."),
            (lambda k, n: k * n, "A column's score is a sum: a part for the node, a part for the place."),
            (lambda k, n: n, "There is a part for which node stands there, too."),
            (
                lambda k, n: k + n - 1,
                "You leave out an idle direction. Count the numbers u and q, idle or not.",
            ),
            (lambda k, n: k + n - 2, "True of the dimension. Count the numbers u and q, idle or not."),
        ]
        show = "K = {} and N = {}".format
        function(answer, lambda k, n: k + n, [(6, 97), (4, 9)], show=show, slips=slips)

    def smallest_M(answer):
        slips = [(lambda n: n - 1, "The empty column has a place of its own.")]
        function(answer, lambda n: n, [(97,), (8,)], show="N = {}".format, slips=slips)
        return "N orthogonal vectors need N dimensions. The thousand of the paper are a luxury."


def _gram(i: int, j: int, dim: int) -> float:
    round_trip = 2 * (dim + 1)
    return (dim + 1) / 2 * (int((i - j) % round_trip == 0) - int((i + j) % round_trip == 0))


@exercise(_CHAPTER, "waves-that-do-not-meet", "Waves that do not meet", level=2, minutes=35)
class WavesThatDoNotMeet:
    def inner_product(answer):
        cases = [
            (3, 3, 10),
            (3, 4, 10),
            (2, 4, 9),
            (12, 12, 10),
            (3, 19, 10),
            (3, 25, 10),
            (11, 11, 10),
            (8, 14, 10),
        ]
        slips = [
            (lambda i, j, m: (m + 1) / 2 * (i == j), "Right for places up to M. Beyond, names come back."),
            (
                lambda i, j, m: (m + 1) / 2 * ((i - j) % (2 * m + 2) == 0),
                "Some names come back with the sign changed.",
            ),
        ]
        show = "i = {}, j = {} and M = {}".format
        function(answer, _gram, cases, show=show, abs=1e-6, slips=slips)
        return (
            "Beyond M names come back: with the opposite sign, which turns a score around, and after "
            "2 (M + 1) places the same, and those two no model can tell apart."
        )


@exercise(_CHAPTER, "neighbours-with-similar-names", "Neighbours with similar names", level=3, minutes=45)
class NeighboursWithSimilarNames:
    def step(answer):
        rng = np.random.default_rng(1)
        cases = []
        for n, rho in ((5, 0.5), (8, 0.9), (4, 0.0)):
            places = np.arange(n)
            cases.append((rng.normal(size=n), 3.0 * rho ** np.abs(places[:, None] - places), 0.2))
        # Positions of different lengths, and another rate.
        names = rng.normal(size=(6, 6))
        cases.append((rng.normal(size=6), names @ names.T, 0.05))

        def reference(slope, gram, rate):
            return -rate * gram[-1, -1] * gram @ slope

        slips = [
            (lambda g, gram, rate: -rate * gram[-1, -1] ** 2 * g, "This is the rule for orthogonal names."),
            (lambda g, gram, rate: -rate * gram @ g, "How does a step along the gradient move u?"),
            (lambda g, gram, rate: rate * gram[-1, -1] * gram @ g, "Descent goes down the slope."),
        ]
        show = lambda g, gram, rate: f"{len(g)} places"  # noqa: E731
        function(answer, reference, cases, show=show, slips=slips)
        return "What one place learns leaks to its neighbours, by as much as their names overlap."
