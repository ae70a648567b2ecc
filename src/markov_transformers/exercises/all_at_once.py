"""Exercises of the chapter *All at once*."""

from __future__ import annotations

import numpy as np

from ._answers import a_set, choice, function, number
from ._cases import generators
from ._exercise import exercise

_CHAPTER = "all-at-once"


@exercise(_CHAPTER, "a-head-start", "A race with a rising wind", level=1, minutes=15)
class AHeadStart:
    def together(answer):
        slips = {
            5.7: "This is the time with a frozen scale.",
            0.4871: "The scale grows from 0.01 on. Its sum over time has a half in it, as a triangle has.",
            0.9871: "The scale does not start at zero.",
        }
        number(
            answer,
            (np.sqrt(0.01**2 + 2 * 0.117 * 0.057) - 0.01) / 0.117,
            rel=1e-2,
            low="By then the area under a(t) is smaller than the one that the frozen scale needed.",
            high="By then the area under a(t) is larger than the one that the frozen scale needed.",
            slips=slips,
        )
        return "The flow needed 0.96. What drives the selector is the area under the scale, not the time."


@exercise(_CHAPTER, "only-longer", "A matrix that can only grow", level=2, minutes=25)
class OnlyLonger:
    def factor(answer):
        slips = {
            1.0: "The loss does not change with the length. Its gradient does.",
            0.1: "The loss of a shorter matrix changes as much, over a shorter way.",
            100.0: "This counts the shorter way twice.",
        }
        hint = "Compare the losses at W + δ and at W/10 + δ/10."
        number(answer, 10.0, rel=1e-3, low=hint, high=hint, slips=slips)
        return "That is why the first steps throw the value matrix about: it starts short."

    def length(answer):
        cases = [tuple(rng.uniform(0.1, 2, 3).round(3).tolist()) for rng in generators(12, 4)]
        slips = [
            (
                lambda length, slope, rate: abs(length - rate * slope),
                "The gradient does not point along the matrix. What is the angle?",
            ),
            (lambda length, slope, rate: length + rate * slope, "Which angle is between the two?"),
            (lambda length, slope, rate: np.hypot(length, slope), "How long is the step?"),
        ]
        function(
            answer,
            lambda length, slope, rate: np.hypot(length, rate * slope),
            cases,
            show=lambda length, slope, rate: f"length {length}, gradient {slope} and rate {rate}",
            slips=slips,
        )
        return "Each step adds to the length, and a longer matrix takes smaller turns."

    def power(answer):
        slips = {
            0.5: "This would be right for a gradient that keeps its size. Here it falls as the matrix grows.",
            1.0: "The squares of the steps add up, not the steps.",
            0.0: "It does not stop. How fast does the square of the length grow?",
        }
        hint = "Write down the change of the squared length in one step, with the gradient over the length."
        number(answer, 0.25, rel=1e-3, low=hint, high=hint, slips=slips)
        return "Its own length lowers the learning rate for its direction, ever more slowly."


@exercise(_CHAPTER, "a-product-that-starts-small", "A product that starts small", level=2, minutes=25)
class AProductThatStartsSmall:
    def query(answer):
        cases = [tuple(rng.uniform(-1, 2, 4).round(3).tolist()) for rng in generators(13, 5)]
        slips = [
            (
                lambda q, k, g, t: q * np.exp(g * t),
                "This is right if query and key are equal. They pull at each other, not each at itself.",
            ),
            (lambda q, k, g, t: q + g * k * t, "The key does not stand still meanwhile."),
        ]
        function(
            answer,
            lambda q, k, g, t: q * np.cosh(g * t) + k * np.sinh(g * t),
            cases,
            show=lambda q, k, g, t: f"q = {q}, k = {k}, g = {g} and t = {t}",
            slips=slips,
        )
        return "The sum of the two grows and the difference dies, both exponentially."

    def times_longer(answer):
        slips = {
            1000.0: "That would be a constant speed. This one grows with the size.",
            6.908: "This is the time itself, in units of 1/g. How does it compare with the other?",
        }
        hint = "From equal starts the size is an exponential. When does it reach one?"
        number(answer, 2.0, rel=1e-2, low=hint, high=hint, slips=slips)
        return "A small start costs a logarithm. Near zero is where they wait, not where they belong."


@exercise(_CHAPTER, "selector-or-copier", "Which would you rather freeze?", level=2, minutes=20)
class SelectorOrCopier:
    def pair(answer):
        remarks = {
            "w and a": "Then all seven sets keep their share, and six of them vote for the wrong places."
        }
        choice(answer, "c and a", remarks)
        return "Slightly blurred copies of the right lags beat sharp copies of all lags."

    def loss(answer):
        slips = {
            0.1339: "This is what copier and classifier reach without the selector.",
            0.0852: "This is what all three reach.",
            0.1587: "This is what the classifier reaches on its own.",
        }
        number(answer, 0.09946, rel=5e-3, slips=slips)
        return "Close to what all three reach together, 0.0852."


@exercise(_CHAPTER, "under-the-floor", "Under the floor", level=2, minutes=25)
class UnderTheFloor:
    def match(answer):
        def counted(size, floor, d):
            variance = size**2 * (d - 1) / d**2
            return d * variance / (variance + floor)

        slips = [
            (lambda size, floor, d: d, "This is right without a floor."),
            (
                lambda size, floor, d: counted(size, floor, d) / d,
                "The length of a whole copy is the root of d, not one.",
            ),
            (
                lambda size, floor, d: d * (size**2 / d) / (size**2 / d + floor),
                "The mean is subtracted before anything else.",
            ),
            (
                lambda size, floor, d: d * np.sqrt(counted(size, floor, d) / d),
                "Both copies, the query's and the key's, are shortened.",
            ),
        ]
        rng = np.random.default_rng()
        fresh = (10 ** rng.uniform(-2, 0), 10 ** rng.uniform(-4, -1), int(rng.integers(2, 7)))
        cases = [(0.001, 1e-5, 3), (0.05, 1e-5, 3), (0.001, 0.1, 3), (0.3, 0.02, 5), (2.0, 0.5, 2), fresh]
        function(
            answer,
            counted,
            cases,
            show=lambda size, floor, d: f"size {size:g}, floor {floor:g} and d = {d}",
            slips=slips,
        )
        return "Far below the floor a match counts with the square of the value matrix."

    def wakes(answer):
        remarks = {
            "earlier": "Compute what a match counts at the start, with either floor.",
            "at the same time": "Compute what a match counts at the start, with either floor.",
        }
        choice(answer, "later", remarks)
        return "A match that counts nearly nothing pulls at nothing. First the value matrix has to grow."


@exercise(_CHAPTER, "why-the-wrong-pair", "Why the wrong pair?", level=3, minutes=60)
class WhyTheWrongPair:
    def share_speeds(answer):
        cases = []
        for size, rng in zip((2, 4, 7, 5), generators(14, 3)):
            c, slope = rng.uniform(0.2, 1, size), rng.normal(size=size)
            cases.append((c, slope - c * (c @ slope) / (c @ c)))  # no gradient along c

        slips = [
            (lambda c, slope: 2 * c * slope / (c @ c), "The flow goes down the gradient."),
            (lambda c, slope: -2 * c * slope, "A share is divided by the sum of all squares."),
            (lambda c, slope: -2 * slope / c, "This is the relative speed, of the logarithm of a share."),
            (lambda c, slope: -c * slope / (c @ c), "A share goes with the square of c."),
        ]
        function(
            answer,
            lambda c, slope: -2 * c * slope / (c @ c),
            cases,
            show=lambda c, slope: f"c = {c.round(2).tolist()} and a gradient orthogonal to it",
            slips=slips,
        )
        return "Divided by the share it is the fitness above the average: the replicator equation again."

    def at_start(answer):
        a_set(answer, [1, 2], what="Your set")
        return "So the right pair is the fittest before anything has moved, by a hair."

    def after_fifty(answer):
        a_set(answer, [2, 3], what="Your set")
        return "Fifty steps later the order is another. What has moved by then?"

    def frozen(answer):
        a_set(answer, [1, 2], what="Your set")
        return "On this sample the early turns of the value matrices put the wrong pair in front."
