"""Exercises of the chapter *Three stages*."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..chains import DirichletPrior
from ..staged import StagedModel
from ..windows import WindowCounts
from ._answers import a_set, call, choice, function, number, whole
from ._cases import generators
from ._exercise import exercise

_CHAPTER = "three-stages"


@exercise(_CHAPTER, "who-comes-to-rest", "Who comes to rest?", level=1, minutes=15)
class WhoComesToRest:
    def half_time(answer):
        speed = 0.04 * 0.02 / 0.0007
        slips = {
            4 * np.log(99) / speed: "The speed has a factor 4 in front.",
            2 * np.log(99) / speed: "This is the speed of c. The share goes with its square.",
            np.log(100) / speed: "A share of one in a hundred leaves ninety-nine for the other.",
            50: "That is the lead itself, inverted. The logarithm of which ratio grows at a constant speed?",
        }
        hint = "Start from the logarithm of the ratio of the two shares, and from its speed."
        number(answer, np.log(99) / speed, rel=1e-3, low=hint, high=hint, slips=slips)
        return "A set that is hardly there needs only a logarithm of its odds to catch up."

    def resting(answer):
        a_set(_capitals(answer), ["A", "B", "C", "F"], what="Your list of resting states")
        return "A set without a share has no speed, and sets that are all equally fit leave each other alone."

    def stable(answer):
        a_set(_capitals(answer), ["A"], what="Your list of stable states")
        return "Rest is not stability: only where the fittest set has everything does a disturbance die out."


def _capitals(answer: object) -> object:
    """Read lower-case names of states as capitals; what is no list is left as it is."""
    if not isinstance(answer, (list, tuple, set, frozenset)):
        return answer
    return [name.upper() if isinstance(name, str) else name for name in answer]


@exercise(_CHAPTER, "one-lag-or-two", "When is a second head worth it?", level=2, minutes=20)
class OneLagOrTwo:
    def least_gap(answer):
        cases = []
        for rng in generators(3, 5):
            single = rng.uniform(0.05, 0.4)
            cases.append((single, single * rng.uniform(1.02, 1.6), int(rng.integers(2, 9))))

        def gap(attention, window):
            return np.log((window - 1) * attention / (1 - attention))

        slips = [
            (
                lambda i, j, m: gap(i / j, m),
                "This compares σ with the ratio. A head sees a match as σ², a pair of heads as σ⁴.",
            ),
            (
                lambda i, j, m: gap((i / j) ** 0.5, 2),
                "A head looks away to one of M - 1 lags; this is right for M = 2 only.",
            ),
        ]
        function(
            answer,
            lambda i, j, m: gap((i / j) ** 0.5, m),
            cases,
            show=lambda i, j, m: f"a lag of {i:.3f}, a pair of {j:.3f} and M = {m}",
            slips=slips,
        )
        return "The closer the single lag comes to the pair, the sharper the heads have to be."

    def winner(answer):
        choice(
            answer,
            "one parent",
            {
                "both parents": "The rule of thumb asks for more attention than a gap of 1 gives.",
                "lag 3": "That needs chains that are nearly deterministic, which repeat every third token.",
            },
        )
        return "The pair carries more, but at this blur the second head costs more than it adds."


@exercise(_CHAPTER, "the-wrong-head-sharpens", "The 1/t law of a stranger", level=2, minutes=25)
class TheWrongHeadSharpens:
    def head(answer):
        hint = "Which heads take part in the score, once {3} has all of the share?"
        whole(answer, 3, low=hint, high=hint)
        return "A head that is in no selected set has no gradient."

    def constant(answer):
        slips = {
            147.3: "One head has one term less in the product, but its attention still stands there squared.",
            883.7: "Look at the factor in front again. Does it hold the number of lags?",
            589.1: "Two heads had twice as many terms; here there is one head.",
        }
        hint = "Take G from the gradient at a sharp third head, as the chapter does for heads 1 and 2."
        number(answer, 294.56, rel=0.01, low=hint, high=hint, slips=slips)
        return "The law does not care whether the lag is a parent. It holds for whatever was selected."


@exercise(_CHAPTER, "almost-no-shift", "Almost no shift", level=2, minutes=20)
class AlmostNoShift:
    def needed(answer):
        hint = "Insert the new ε into the rule of thumb, and leave α as it is."
        whole(answer, 100, low=hint, high=hint, slips={1: "This is the number at ε = 0.1."})
        return "A context of 100 tokens has about eleven matches for a pattern, far too few."

    def ends_near(answer):
        slips = {
            22.0: "This is where growth ends at ε = 0.1. The shift has to reach the model.",
            22.5: "This is where growth ends at ε = 0.1. The shift has to reach the model.",
        }
        number(
            answer,
            5.92,
            abs=0.3,
            low="There the speed of a is still positive.",
            high="There the speed of a is negative already. Did Stage III last for 5,000 units of time?",
            slips=slips,
        )
        return "An unforgiving loss makes the model hedge, and a finite scale is how it hedges."


@exercise(_CHAPTER, "where-a-race-can-end", "Where a race can end", level=3, minutes=50)
class WhereARaceCanEnd:
    def can_end(answer):
        cases = [
            (0.1, np.full(3, 3.0), 0.01),
            (0.01, np.full(3, 3.0), 0.01),
            (0.01, np.full(3, 3.0), 1.0),
            (0.01, np.full(3, 5.0), 0.01),
            (0.01, np.full(3, 3.0), 12.0),
            (0.1, _one_blind_head(), 0.1),
        ]
        for alpha, own, a in cases:
            model, w = _model(alpha), np.diag(own)
            shown = f"α = {alpha:g}, own weights {own.round(1).tolist()} and a = {a:g}"
            ends = _ends(model, w, a)
            a_set(call(answer, model, w, a, shown=shown), ends, what=f"For {shown} your list")
        return "A set can end the race if no set is fitter once it has everything. Some races have no winner."


def _one_blind_head() -> np.ndarray:
    rng = np.random.default_rng()
    own = rng.uniform(5, 6, 3)
    own[rng.integers(2)] = 0.0
    return own


@cache
def _model(alpha: float) -> StagedModel:
    tokens = DirichletPrior(3, (1, 2), alpha).sample(1000, 101, rng=4)
    return StagedModel(WindowCounts.from_tokens(tokens, window=3, vocab_size=3), degree=2)


def _ends(model: StagedModel, w: np.ndarray, a: float) -> list[tuple[int, ...]]:
    found = []
    for i, subset in enumerate(model.sets):
        c = np.full(len(model.sets), 1e-5)
        c[i] = 1.0
        speed = -model.loss_and_gradients(c, w, a)[1]["c"] / c
        if speed.argmax() == i:
            found.append(subset)
    return found
