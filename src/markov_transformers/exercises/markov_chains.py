"""Exercises of the chapter *Markov chains*."""

from __future__ import annotations

import numpy as np

from ..walks import CircleWalk
from ._answers import Wrong, an_array, call, function, number, stochastic
from ._exercise import exercise

_CHAPTER = "markov-chains"


@exercise(_CHAPTER, "wet-spells", "How long does the rain last?", level=1, minutes=10)
class WetSpells:
    def days(answer):
        hint = "The spell ends each day with the probability of a dry day after a wet one."
        slips = {
            1.5: "This counts the days after the first one. The first wet day belongs to the spell.",
            10.0: "This is the mean length of a dry spell.",
        }
        number(answer, 2.5, rel=1e-3, low=hint, high=hint, slips=slips)
        return "If each wet day is the last with probability q, there are 1/q of them on average."

    def balanced(answer):
        kernel = stochastic(answer, 2)
        wet, dry_after_wet = kernel[0, 1] / max(kernel[0, 1] + kernel[1, 0], 1e-300), kernel[1, 0]
        if not np.isclose(dry_after_wet, 0.1):
            direction = "too short" if dry_after_wet > 0.1 else "too long"
            raise Wrong(f"Wet spells are {direction}. State 1 is wet, row 1 the law of the day after.")
        if not np.isclose(wet, 0.5):
            raise Wrong(f"Spells have the right length, but {wet:.0%} of all days are wet.")
        return "The two states are left equally often, so the chain is in each half of the time."


@exercise(_CHAPTER, "period-three", "A clock that hesitates", level=2, minutes=15)
class PeriodThree:
    def kernel(answer):
        matrix = stochastic(answer, 6)
        if np.isclose(matrix.max(axis=1), 1).all():
            raise Wrong("This chain is deterministic: every row is a point mass.")
        reach = np.linalg.matrix_power(np.eye(6) + (matrix > 0), 6) > 0
        if not reach.all():
            start, end = np.argwhere(~reach)[0]
            raise Wrong(f"State {end} cannot be reached from state {start}.")
        period = np.gcd.reduce(
            [n for n in range(1, 37) if np.linalg.matrix_power(matrix, n).diagonal().any()]
        )
        if period != 3:
            raise Wrong(f"The period is {period}.")
        return "Its states fall into three classes that are visited in turn."

    def on_the_circle(answer):
        try:
            values = np.asarray(answer, dtype=complex).ravel()
        except (TypeError, ValueError, OverflowError):
            raise Wrong("A list of complex numbers is wanted.") from None
        off = values[~np.isclose(np.abs(values), 1, atol=2e-2)]
        if off.size:
            raise Wrong(f"{off[0]:.3g} is not on the unit circle: its modulus is {abs(off[0]):.5g}.")
        if values.size != 3:
            raise Wrong(f"There are not {values.size} of them. Their number is the period.")
        if not np.allclose(values**3, 1, atol=5e-2) or len(set(np.round(np.angle(values), 1) % 6.2)) < 3:
            raise Wrong("The number is right. Three steps bring each class back to itself: what is λ³?")
        return "A period of d puts the d-th roots of one into the spectrum."


@exercise(_CHAPTER, "lazy-walk", "How lazy should a walker be?", level=2, minutes=15)
class LazyWalk:
    def hold(answer):
        slips = {
            0.0: "Then nothing breaks the period, and -1 stays in the spectrum.",
            0.5: "At 1/2 no eigenvalue is negative. That is more laziness than it takes.",
            1 / 3: "That would be right if -1/2 were the eigenvalue to worry about. Which one is smaller?",
        }
        hint = "The largest and the smallest of the other eigenvalues should have the same modulus."
        number(answer, 0.2, abs=2e-3, low=hint, high=hint, slips=slips)
        return "Staying costs speed: the best walker stays just often enough to tame the eigenvalue -1."


@exercise(_CHAPTER, "there-and-back", "There and back", level=2, minutes=20)
class ThereAndBack:
    def eigenvalues(answer):
        rng = np.random.default_rng(7)
        cases = [(CircleWalk(k, rng.uniform(0.05, 0.95)).transition_matrix(),) for k in (3, 4, 5, 8)]

        def ascending(matrix):
            return np.sort(an_array(call(answer, matrix, shown="a walk"), (len(matrix),), "The result"))

        function(
            ascending,
            lambda pi: np.linalg.eigvalsh(pi @ pi.T),
            cases,
            show=lambda pi: f"a walk on {len(pi)} nodes",
            slips=[
                (lambda pi: np.sort(np.linalg.eigvals(pi @ pi).real), "These belong to two steps with Π.")
            ],
        )
        return "They are |λ|², because the shift makes Π normal: it commutes with its transpose."


@exercise(_CHAPTER, "never-staying", "Never stay where you are", level=3, minutes=40)
class NeverStaying:
    def kernel(answer):
        matrix = stochastic(answer, 4)
        if matrix.diagonal().any():
            raise Wrong(f"State {int(np.argmax(matrix.diagonal()))} can stay where it is.")
        second = np.sort(np.abs(np.linalg.eigvals(matrix)))[-2]
        if second > 1 / 3 + 5e-3:
            raise Wrong(f"This chain has |λ₂| = {second:.4f}. There are faster ones.")
        return f"|λ₂| = {second:.4f}, within 0.005 of the smallest possible."

    def best(answer):
        slips = [(lambda n: 1 / n, "The trace is zero and one eigenvalue is one. How many others are there?")]
        cases = [(n,) for n in (2, 3, 4, 7, 30)]
        function(answer, lambda n: 1 / (n - 1), cases, show=lambda n: f"{n} states", slips=slips)
        return "The others sum to -1, so one of them is at least as large as their mean."
