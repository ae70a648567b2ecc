"""Exercises of the chapter *Information with a price*."""

from __future__ import annotations

import numpy as np

from ..chains import NGramChain
from ..information import information_of_subsets
from ._answers import Wrong, an_array, choice, function, number
from ._exercise import exercise

_CHAPTER = "information-with-a-price"


@exercise(_CHAPTER, "price-by-hand", "What a copy costs", level=1, minutes=15)
class PriceByHand:
    def parent(answer):
        _of_noise(answer, lambda e: (1 - 2 * e) ** 2 / 2)
        return "Two patterns, each met again half of the time."

    def with_lag_1(answer):
        _of_noise(answer, lambda e: (1 - 2 * e) ** 2 / 4)
        return "The same news at twice the price: the other lag doubles the patterns and tells nothing."

    def twice_as_far(answer):
        slip = (lambda e: (1 - 2 * e) ** 2 / 2, "Two copies stand in between, each with its own noise.")
        _of_noise(answer, lambda e: (1 - 2 * e) ** 4 / 2, slip)
        return "Each copy multiplies the lead of one token by 1 - 2ε, and the information by its square."


def _of_noise(answer: object, reference, *slips) -> None:
    without_price = (lambda e: 2 * reference(e), "Is one factor μ(E) missing?")
    too_cheap = (lambda e: 4 * reference(e), "Is a factor μ(E) missing?")
    cases = [(e,) for e in (0.1, 0.25, 0.4)]
    function(answer, reference, cases, show="ε = {}".format, slips=(without_price, too_cheap, *slips))


def _square(a: float, b: float) -> tuple[float, float]:
    u, v = 2 * a - 1, 2 * b - 1
    return (u * u + v * v) / 8, (u + v) ** 2 / 8


@exercise(_CHAPTER, "stranger-in-the-square", "The stranger in the square", level=2, minutes=30)
class StrangerInTheSquare:
    def ties(answer):
        points = an_array(answer, (None, 2), "The list of points (a, b)")
        if len(points) < 3:
            raise Wrong("Three points are wanted.")
        if (points <= 0).any() or (points >= 1).any():
            raise Wrong("The points should lie inside the square.")
        for a, b in points:
            both, single = _square(a, b)
            if abs(both - single) > 1e-3 * both:
                winner = "{1, 2}" if both > single else "{2}"
                raise Wrong(f"At ({a:g}, {b:g}) there is no tie: {winner} is ahead.")
        on_line = np.abs(points - 0.5) < 0.02  # (point, token)
        if not (on_line[:, 0] & ~on_line[:, 1]).any() or not (on_line[:, 1] & ~on_line[:, 0]).any():
            raise Wrong("All of these lie on one line. There is another one.")
        return "On both lines one of the two tokens is followed by a fair coin."

    def stranger(answer):
        def reference(a, b):
            return (a - b) ** 4 / 2

        slips = [
            (lambda a, b: (a - b) ** 2 / 2, "The third lag acts through two kernels, one after the other."),
            (lambda a, b: (a - b) ** 4, "Is one factor μ(E) missing?"),
        ]
        cases = [(0.9, 0.1), (0.95, 0.85), (0.3, 0.8), (0.5, 0.6)]
        function(answer, reference, cases, show="a = {} and b = {}".format, slips=slips)
        return "It lives on the difference of the two tokens, as the parity does."


@exercise(_CHAPTER, "noise-and-the-wide-pair", "How much noise does it take?", level=2, minutes=20)
class NoiseAndTheWidePair:
    def delta(answer):
        slips = {
            1.0: "At δ = 1 nothing tells anything. Look just before.",
            0.156: "This is the share of the kernel that is left. How much is noise?",
        }
        hint = "Plot both values over the whole range of δ, or rather their ratio."
        number(answer, 0.8440539940802056, rel=5e-3, low=hint, high=hint, slips=slips)
        return "Five sixths of the kernel must be noise before the parents win this duel."

    def single(answer):
        remark = "Noise multiplies u and v by 1 - δ. What happens to the two sides of the tie?"
        choice(
            answer, "never", {"at the same noise": remark, "at less noise": remark, "at more noise": remark}
        )
        return "Both sides shrink by the same factor, so the sign of uv decides at every noise."


@exercise(_CHAPTER, "nearly-uniform", "Almost no structure", level=3, minutes=40)
class NearlyUniform:
    def ratio(answer):
        def reference(d, n, k):
            return (1 - d**-n) / (1 - d**-k)

        slips = [
            (
                lambda d, n, k: 1.0,
                "Right if the mean of all rows were exactly uniform. It deviates a little, too.",
            ),
            (lambda d, n, k: 1 / reference(d, n, k), "Upside down: the parents are in the numerator."),
            (lambda d, n, k: (d + 1) / d, "Right for two parents and one of them. What about n and k?"),
        ]
        cases = [(2, 2, 1), (3, 2, 1), (2, 3, 2), (5, 4, 1), (3, 3, 3)]
        function(answer, reference, cases, show="d = {}, n = {} and k = {}".format, slips=slips)
        return "The price cancels: what a set gains by its size is only that it knows more of the mean."


@exercise(_CHAPTER, "a-larger-lead", "More lags than parents", level=3, minutes=60)
class ALargerLead:
    def repeat(answer):
        chances = an_array(answer, (2, 2, 2), "The array of probabilities")
        if (chances <= 0).any() or (chances >= 1).any():
            raise Wrong(
                "All probabilities should lie strictly between 0 and 1, so that the kernel is positive."
            )
        chances = chances.reshape(2, 2, 2, 1, 1)
        kernel = np.where(np.eye(2, dtype=bool), chances, 1 - chances)
        values = information_of_subsets(NGramChain(kernel, (1, 2, 3, 4)).stationary_windows(7), 6)
        large = max(value for lags, value in values.items() if len(lags) > 4)
        small = max(value for lags, value in values.items() if len(lags) <= 4)
        if large < 1e-9:
            raise Wrong("Nothing tells anything here.")
        lead = large / small - 1
        if lead <= 0:
            raise Wrong(f"Four lags or fewer win here, by {small / large - 1:.1%}.")
        if lead < 0.04:
            raise Wrong(f"Five lags or more win by {lead:.1%}. Four per cent can be had.")
        return f"A larger set wins by {lead:.1%}, against the corollary."
