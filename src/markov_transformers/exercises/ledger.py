"""Exercises of the chapter *The ledger*."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ._answers import Wrong, call, choice, function
from ._exercise import exercise

_CHAPTER = "ledger"


@exercise(_CHAPTER, "none-in-a-thousand", "None in a thousand", level=1, minutes=15)
class NoneInAThousand:
    def largest_share(answer):
        slips = [
            (
                lambda n: 1 - 0.95 ** (1 / n),
                "That is a share with which none is seen in 95 % of cases. Turn it round.",
            ),
            (lambda n: -np.log(0.05) / n, "Right in the limit of large n. The exact value is asked for."),
            (lambda n: 3 / n, "A good rule of thumb for large n. The exact value is asked for."),
            (lambda n: 0.0, "None seen is not none there."),
            (lambda n: 1 / n, "At this share none is seen in more than a third of cases."),
        ]
        cases = [(1000,), (20,), (3,)]
        function(answer, lambda n: 1 - 0.05 ** (1 / n), cases, show="{} chains".format, slips=slips)
        return "About three in n: a thousand good cases leave room for exceptions."

    def may_be_proved(answer):
        remark = "A claim about all chains, and a number of chains that were tried."
        choice(answer, "no", {"yes": remark})


@exercise(_CHAPTER, "range-of-five", "The range of five", level=2, minutes=20)
class RangeOfFive:
    def covers(answer):
        slips = [
            (lambda n: 1 - 0.5**n, "The median can be missed on either side."),
            (lambda n: (n - 1) / (n + 1), "That is the chance that a new measurement falls into the range."),
        ]
        function(
            answer,
            lambda n: 1 - 0.5 ** (n - 1),
            [(5,), (1,), (2,), (9,)],
            show="{} seeds".format,
            slips=slips,
        )
        return "It holds for every law: that is why the rows of the ledger show a range."


def _judge(accuracy: np.ndarray, optimum: float, n_walks: int) -> str:
    error = np.sqrt(optimum * (1 - optimum) / n_walks)
    near = np.abs(accuracy - optimum) <= 3 * error
    if near.all():
        return "reproduced"
    return "with a change" if near.mean() > 0.5 else "not reproduced"


@exercise(_CHAPTER, "a-rule-with-teeth", "A rule with teeth", level=2, minutes=25)
class ARuleWithTeeth:
    def rule(answer):
        cases = [
            ([0.7, 0.69, 0.71, 0.7, 0.68], "all runs close to the optimum"),
            ([0.7, 0.69, 0.71, 0.7, 0.5], "one run in five far below"),
            ([0.7, 0.45, 0.5, 0.52, 0.3], "one run in five close"),
            ([0.7, 0.75, 0.71, 0.7, 0.7], "one run too good to be true"),
            ([0.7, 0.658, 0.7, 0.7, 0.7], "a run just within three standard errors"),
            ([0.7, 0.655, 0.7, 0.7, 0.7], "a run just beyond three standard errors"),
            ([0.7, 0.69, 0.5, 0.4, 0.3], "two runs in five close"),
            ([0.7, 0.69, 0.71, 0.4, 0.3], "three runs in five close"),
            ([0.7, 0.69, 0.4, 0.3], "half of the runs close"),
            ([0.7, 0.7, 0.7, 0.3, 0.3, 0.3], "three runs in six close"),
        ]
        for values, shown in cases:
            accuracy = np.array(values)
            verdict = call(answer, accuracy, 0.7, 1000, shown=shown)
            words = ("reproduced", "with a change", "not reproduced")
            if not isinstance(verdict, str) or verdict not in words:
                raise Wrong("A rule returns one string: 'reproduced', 'with a change' or 'not reproduced'.")
            if verdict != _judge(accuracy, 0.7, 1000):
                raise Wrong(f"With {shown}, the rule says {verdict!r}.")
        for sigmas, wanted in ((2.9, "reproduced"), (3.1, "not reproduced")):
            accuracy = np.full(5, 0.95 - sigmas * np.sqrt(0.95 * 0.05 / 1000))
            if call(answer, accuracy, 0.95, 1000) != wanted:
                raise Wrong(
                    f"All runs lie {sigmas} standard errors below an optimum of 0.95. Which error is it?"
                )
        if call(answer, np.full(5, 0.65), 0.7, 100) != "reproduced":
            raise Wrong(
                "With 100 test walks the same distance is within the noise. Does the rule use the number?"
            )
        return "A rule that could not have said anything else would be worth nothing."


@exercise(_CHAPTER, "a-witness-in-fractions", "A witness in fractions", level=3, minutes=45)
class AWitnessInFractions:
    def kernel(answer):
        entries = _fractions(answer)
        if min(entries.values()) <= 0:
            raise Wrong("All entries should be positive.")
        for a in (0, 1):
            for b in (0, 1):
                if entries[a, b, 0] + entries[a, b, 1] != 1:
                    raise Wrong(f"After the parents ({a}, {b}) the entries do not sum to one exactly.")
        for a in (0, 1):
            for x in (0, 1):
                if entries[a, 0, x] + entries[a, 1, x] != 1:
                    raise Wrong("Windows of two tokens are not uniform. Which sums must be one for that?")
        if all(entry == Fraction(1, 2) for entry in entries.values()):
            raise Wrong("Windows of three tokens are uniform here: the kernel says nothing.")
        return "Four equations between fractions settle it, with no rounding and no sample."


def _fractions(answer: object) -> dict[tuple[int, int, int], Fraction]:
    entries = {}
    try:
        for index in np.ndindex(2, 2, 2):
            entry = answer
            for i in index:
                entry = entry[i]  # type: ignore[index]
            if isinstance(entry, (bool, float, str)) or not isinstance(entry, (int, Fraction)):
                raise Wrong(f"The entry at {index} should be a Fraction: a float has been rounded.")
            entries[index] = Fraction(entry)
    except (TypeError, IndexError, KeyError):
        raise Wrong("Nested lists of shape (2, 2, 2) are wanted, by x_{t-1}, x_{t-2} and x_t.") from None
    return entries
