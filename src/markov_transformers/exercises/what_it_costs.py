"""Exercises of the chapter *What it costs*."""

from __future__ import annotations

import math

import numpy as np

from ._answers import Wrong, call, function
from ._exercise import exercise

_CHAPTER = "what-it-costs"


@exercise(_CHAPTER, "how-many-windows", "How many windows?", level=1, minutes=10)
class HowManyWindows:
    def at_most(answer):
        slips = [
            (lambda length, m, d: d**m, "A sequence has only so many places for a window."),
            (lambda length, m, d: length - m, "There are only so many different windows."),
            (
                lambda length, m, d: min(length, d**m),
                "The first M positions have no full window before them.",
            ),
        ]
        cases = [(100, 3, 3), (100, 5, 3), (20, 2, 10), (1000, 9, 2)]
        show = "L = {}, M = {} and d = {}".format
        function(answer, lambda length, m, d: min(length - m, d**m), cases, show=show, slips=slips)
        return "Up to the crossing nothing need repeat. Beyond it, a longer sequence is nearly free."


@exercise(_CHAPTER, "read-the-exponent", "Read the exponent", level=1, minutes=15)
class ReadTheExponent:
    def exponent(answer):
        def reference(sizes, seconds):
            return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]

        slips = [
            (
                lambda n, t: np.polyfit(n, t, 1)[0],
                "This is a slope in seconds per unit. Take logarithms first.",
            ),
            (lambda n, t: np.polyfit(n, np.log(t), 1)[0], "Take the logarithm of both."),
            (lambda n, t: 1 / reference(n, t), "Upside down: time over size, not size over time."),
        ]
        sizes = np.array([25.0, 50.0, 100.0, 200.0])
        noise = np.array([1.0, 1.05, 0.97, 1.02])
        cases = [(sizes, 3e-4 * sizes**p * noise) for p in (0.0, 1.0, 2.3)]
        show = lambda n, t: f"{len(n)} sizes"  # noqa: E731
        function(answer, reference, cases, show=show, slips=slips, abs=1e-6)
        return "Zero: the size does not matter. One: twice the size, twice the time."


@exercise(_CHAPTER, "when-has-it-paid", "When has it paid?", level=2, minutes=15)
class WhenHasItPaid:
    def evaluations(answer):
        def reference(counting, plain, engine):
            return math.ceil(counting / (plain - engine)) if plain > engine else math.inf

        for case in [(20.0, 5.0, 1.0), (21.0, 5.0, 1.0), (3.0, 2.0, 2.5), (1.0, 1.0, 1.0), (0.5, 100.0, 1.0)]:
            shown = "counting {:g}, plain {:g}, engine {:g}".format(*case)
            value, wanted = call(answer, *case, shown=shown), reference(*case)
            try:
                value = float(value)  # type: ignore[arg-type]
            except (TypeError, ValueError, OverflowError):
                raise Wrong(f"For {shown} the result should be a number.") from None
            if wanted == math.inf:
                if value != math.inf:
                    raise Wrong(f"For {shown} an evaluation gains nothing: math.inf is the honest answer.")
            elif value != wanted:
                if not math.isfinite(value) or value != round(value):
                    raise Wrong(f"For {shown} the result should be a whole number.")
                direction = "too few" if value < wanted else "too many"
                raise Wrong(f"For {shown} the result is {direction} evaluations.")
        return "A reduction is an investment."


def _renamed(tokens: np.ndarray) -> np.ndarray:
    names: dict[int, int] = {}
    for token in tokens[::-1]:
        names.setdefault(int(token), len(names))
    return np.array([names[int(token)] for token in tokens])


@exercise(_CHAPTER, "names-do-not-matter", "Names do not matter", level=3, minutes=45)
class NamesDoNotMatter:
    def renamed(answer):
        rng = np.random.default_rng(3)
        cases = [(rng.integers(d, size=n),) for d, n in ((3, 12), (5, 9), (2, 1), (4, 30))]
        slips = [
            (
                lambda x: _renamed(x[::-1])[::-1],
                "Number the tokens as they appear looking *back* from the end.",
            ),
            (
                lambda x: np.unique(x, return_inverse=True)[1],
                "The old names still show. Number tokens as they appear from the end.",
            ),
        ]
        show = lambda x: f"{x.tolist()}"  # noqa: E731
        function(answer, _renamed, cases, show=show, slips=slips)
        return "Sequences that differ in names only become equal, and are counted once."

    def n_queries(answer):
        def reference(d, m):
            partitions = [1] + [0] * m  # by number of blocks
            for _ in range(m):
                partitions = [k * partitions[k] + (partitions[k - 1] if k else 0) for k in range(m + 1)]
            return sum(partitions[: d + 1])

        slips = [
            (lambda d, m: d**m, "This counts windows with names. Which of them are the same up to renaming?"),
            (
                lambda d, m: d**m / math.factorial(d),
                "A window with few different tokens has fewer namesakes than d!.",
            ),
        ]
        fresh = np.random.default_rng().integers(2, 7, size=2)
        cases = [(3, 3), (2, 3), (10, 3), (3, 5), (2, 1), tuple(int(n) for n in fresh)]
        function(answer, reference, cases, show="d = {} and M = {}".format, slips=slips)
        return "What is left of a window is which of its tokens are equal: a partition."
