"""Exercises of the chapter *Which set wins*."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..chains import DirichletPrior, NGramChain
from ..selection import blurred_information
from ._answers import Wrong, a_set, an_array, array, call, choice, number
from ._exercise import exercise

_CHAPTER = "phase-diagram"


@exercise(_CHAPTER, "a-gap-for-95-per-cent", "A gap for 95 per cent", level=1, minutes=10)
class AGapFor95PerCent:
    def three(answer):
        slips = {
            np.log(19): "This is right for a single wrong lag. There are M - 1 of them.",
            np.log(57): "This counts the own lag among the wrong ones.",
        }
        hint = "Solve the formula for the attention for the gap."
        number(answer, np.log(38), abs=5e-3, low=hint, high=hint, slips=slips)
        return "It is well within the phase of the parents but for nearly deterministic chains."

    def ten(answer):
        slips = {
            np.log(19): "This is right for a single wrong lag. There are M - 1 of them.",
            np.log(190): "This counts the own lag among the wrong ones.",
        }
        hint = "Only the number of wrong lags has changed, and it stands in a logarithm."
        number(answer, np.log(171), abs=5e-3, low=hint, high=hint, slips=slips)
        return "More lags distract a head more, but a gap is a logarithm and grows slowly."


@exercise(_CHAPTER, "move-the-border", "Move the border", level=2, minutes=20)
class MoveTheBorder:
    def corner(answer):
        choice(
            answer,
            "down",
            {
                "up": "Compare the leads of the parents over lag 3 for sharp heads, at both shifts.",
                "stays": "Look at the smallest gap at which the parents win, in steps of 0.2.",
            },
        )
        return "A smaller shift gives rare tokens their full weight, and these need both parents."

    def right(answer):
        choice(
            answer,
            "stays",
            {
                "up": "Look at the smallest gap at which the parents win, in steps of 0.2.",
                "down": "Look at the smallest gap at which the parents win, in steps of 0.2.",
            },
        )
        return "There no token is rare, so a shift takes the same share from all sets."


@exercise(_CHAPTER, "other-parents", "Other parents", level=2, minutes=20)
class OtherParents:
    def one_and_three(answer):
        _corner(answer, (3,))
        return "Cycles of three still favour lag 3. Now it is a parent, so no stranger wins."

    def two_and_three(answer):
        _corner(answer, (3,))
        return "Cycles of three still favour lag 3. Now it is a parent, so no stranger wins."

    def two(answer):
        _corner(answer, (2,))
        return "With one parent nothing is gained by a second lag, and no other lag repeats it."


@exercise(_CHAPTER, "how-long-is-a-cycle", "How long is a cycle?", level=2, minutes=30)
class HowLongIsACycle:
    def law(answer):
        for d in (1, 2, 3, 5, 8, int(np.random.default_rng().integers(4, 20))):
            shown = f"d = {d}"
            given = an_array(call(answer, d, shown=shown), (d,), f"For {shown} the law")
            if not np.isclose(given.sum(), 1, atol=1e-6):
                raise Wrong(f"For {shown} the probabilities sum to {given.sum():.4g}.")
            if d > 1 and np.allclose(given, 1 / d):
                raise Wrong("All lengths equally likely? The first step already returns with chance 1/d.")
            array(given, _cycle_law(d), what=f"For {shown} the law")
        return "Given how many tokens the path meets, it closes at each of them with the same chance."


@exercise(_CHAPTER, "a-pair-of-strangers", "A pair of strangers", level=3, minutes=60)
class APairOfStrangers:
    def sharpest(answer):
        a_set(answer, [2, 4], what="Your set")
        return "Lag 4 repeats cycles of two and four, and in cycles of three it stands in for lag 1."

    def gaps(answer):
        given = an_array(answer, (4,), "The list of copying gaps")
        if given.min() < 3 or given.max() > 1000:
            raise Wrong("Each copying gap should be at least 3, and at most 1000.")
        values = blurred_information(_laws(), np.diag(given), 2, epsilon=0.1)
        best = max(values, key=values.__getitem__)
        if best != (3, 4):
            kind = "one lag" if len(best) == 1 else "a set with a parent in it"
            raise Wrong(f"The set {best} has the largest blurred information, {kind}.")
        return "A selector judges lags by what their heads make of them."


def _corner(answer: object, expected: tuple[int, ...]) -> None:
    if isinstance(answer, (int, np.integer)) and not isinstance(answer, bool):
        raise Wrong("A set of lags is wanted, as a tuple like (1,) or (1, 2).")
    a_set(answer, expected, what="Your set of lags")


def _cycle_law(d: int) -> np.ndarray:
    """Return the law of the cycle length of a random map of d tokens, from a random start."""
    fresh = np.cumprod(1 - np.arange(d) / d)  # the first n tokens of the path are different
    return np.cumsum(fresh[::-1])[::-1] / d


@cache
def _laws() -> np.ndarray:
    kernels = DirichletPrior(3, (1, 2), 0.001).sample_kernels(500, rng=0)
    return NGramChain(kernels, (1, 2)).stationary_windows(5, initial="uniform")
