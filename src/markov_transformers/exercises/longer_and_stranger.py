"""Exercises of the chapter *Longer and stranger*."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ..chains import DirichletPrior
from ..induction import BayesOptimal, Unigram
from ..staged import StagedModel
from ..windows import WindowCounts
from ._answers import Wrong, a_number, a_set, call, choice, function, number
from ._cases import generators
from ._exercise import exercise

_CHAPTER = "longer-and-stranger"
# What the chapter trains on 100 tokens at concentration 0.1, rounded.
_TRAINED = {
    "c": np.eye(7)[4],
    "w": np.array([[4.834, -0.986, -0.828], [-0.940, 4.976, -1.016], [0.01, 0.01, 3.0]]),
    "a": 8.868,
}


@exercise(_CHAPTER, "a-fourth-token", "A fourth token", level=1, minutes=15)
class AFourthToken:
    def must_change(answer):
        remarks = {
            "the copier": "Its weights belong to lags. Does a lag depend on the vocabulary?",
            "the selector": "Its weights belong to sets of heads. Do these depend on the vocabulary?",
            "the classifier": "Its scale multiplies a score, and scores count matches.",
        }
        choice(answer, "nothing", remarks)
        return (
            "The parameters know lags and matches. What the tokens are called, or how many, they do not know."
        )

    def distance(answer):
        hint = "Sum the absolute differences over the four tokens, then take the mean over the chains."
        slips = {0.00064: hint, 0.00128: "This is the total variation. How does the l1 distance differ?"}
        number(answer, 0.00256, rel=0.02, low=hint, high=hint, slips=slips)
        return "On four tokens it is the induction head that it was on three."


@exercise(_CHAPTER, "other-eyes", "Seen with other eyes", level=2, minutes=20)
class OtherEyes:
    def work(answer):
        if isinstance(answer, (list, tuple, set)) and not all(isinstance(name, str) for name in answer):
            raise Wrong('Give the predictors by name, as text, like ["transformer", "GIH"].')
        a_set(answer, ["FullHistoryMatch"], what="Your list of predictors")
        return "Whoever compares whole windows need not know which lags are parents."

    def beats_unigram(answer):
        remarks = {"no": "Lag 1 is still a parent, and the model still matches on it."}
        choice(answer, "yes", remarks)
        return "Half of the parents are better than none: among its matches lag 1 is right."


@exercise(_CHAPTER, "when-the-leak-shows", "When the leak shows", level=2, minutes=20)
class WhenTheLeakShows:
    def length(answer):
        cases = [
            (10 ** rng.uniform(-4, -2), rng.uniform(0.02, 0.2), int(rng.integers(50, 5000)))
            for rng in generators(15, 4)
        ]
        slips = [
            (lambda leak, d, at: at * d / leak, "The distance falls with the root of the length."),
            (lambda leak, d, at: at * np.sqrt(d / leak), "Solve for the length: the root becomes a square."),
        ]
        function(
            answer,
            lambda leak, d, at: at * (d / leak) ** 2,
            cases,
            show=lambda leak, d, at: f"a leak of {leak:.1e} and a distance of {d:.3f} at {at}",
            slips=slips,
        )
        return "A leak ten times smaller is good for contexts a hundred times longer."

    def scale(answer):
        cases = [(10 ** rng.uniform(-4, -1), rng.uniform(0.01, 0.4)) for rng in generators(16, 5)]
        slips = [
            (
                lambda share, m: np.log((1 / share - 1) / m),
                "One is missing: a match has the weight e^a, and the rest of the share is not zero.",
            ),
            (lambda share, m: np.log(1 / share), "The frequency of matches counts too."),
            (
                lambda share, m: np.log1p((1 / share - 1) * m),
                "A query that is rare needs a larger scale, not a smaller one.",
            ),
        ]
        function(
            answer,
            lambda share, m: np.log1p((1 / share - 1) / m),
            cases,
            show=lambda share, m: f"a leak of {share:.1e} and the frequency {m:.3f}",
            slips=slips,
        )
        return "To halve the leak takes only log 2 more of the scale."


@exercise(_CHAPTER, "worse-than-nothing", "Worse than nothing", level=2, minutes=30)
class WorseThanNothing:
    def prior(answer):
        if not isinstance(answer, DirichletPrior):
            raise Wrong(f"A DirichletPrior is wanted, this is {type(answer).__name__}.")
        if answer.vocab_size != 3 or max(answer.lags) > 3:
            raise Wrong("The prior should have three tokens, and parents among the last three lags.")
        transformer, unigram, bayes = _losses(answer)
        if unigram - bayes < 0.1:
            raise Wrong(
                f"There is too little to learn: the unigram loses only {unigram - bayes:.3f} to the best."
            )
        if transformer <= unigram:
            raise Wrong(f"The transformer is still ahead of the unigram, by {unigram - transformer:.3f}.")
        return "Its lags tell nothing about the next token, so its few matches are nothing but noise."


@exercise(_CHAPTER, "a-humbler-scale", "A humbler scale", level=2, minutes=25)
class AHumblerScale:
    def factor(answer):
        value = a_number(answer)
        if not 0.14 <= value <= 0.21:
            below = value < 0.14
            if value > 0.25 and value <= 2:
                raise Wrong("Too high. Also try factors below those of the chapter's range.")
            raise Wrong("Too low. There the model hardly looks for matches." if below else "Too high.")
        return "With ten tokens a match or two deserve a little trust, and a scale near 1.6 gives that much."

    def stops(answer):
        slips = {8.87: "This is the scale of the trained model. Train on contexts of 10 tokens."}
        number(
            answer,
            1.57,
            abs=0.15,
            low="There the speed of a is still positive.",
            high="There the speed of a is negative. Are the contexts 10 tokens long, and is α = 1?",
            slips=slips,
        )
        return "Training finds it, if it sees such data. Clean chains of 100 tokens never punished trust."


@exercise(_CHAPTER, "one-scale-for-all", "One scale for all lengths?", level=3, minutes=60)
class OneScaleForAll:
    def settle(answer):
        rng = np.random.default_rng()
        fresh = (int(rng.integers(10, 40)), int(rng.integers(40, 80)))
        for lengths in ((10,), (10, 30), (30, 60), (10, 20, 100), fresh):
            models = [_short(length) for length in lengths]
            shown = f"contexts of {', '.join(map(str, lengths))} tokens"
            best = _settle(models)
            value = a_number(call(answer, models, _TRAINED["c"], _TRAINED["w"], shown=shown))
            if abs(value - best) > 0.03 * best:
                raise Wrong(f"For {shown} the scale is too {'low' if value < best else 'high'}.")
        return "At this scale the lengths pull with equal force in opposite directions."

    def mixture(answer):
        slips = {
            5.1: "This is where contexts of 100 tokens alone would settle.",
            1.43: "This is where contexts of 10 tokens alone would settle.",
        }
        hint = "Add the losses of all five lengths, one model each, and find the least sum."
        number(answer, 3.66, abs=0.1, low=hint, high=hint, slips=slips)
        return "A compromise: near the best for 30 tokens, too bold for 10, too timid for 1,000."

    def needed(answer):
        remarks = {
            "falls": "Compare where single lengths settle.",
            "stays": "Compare where single lengths settle.",
        }
        choice(answer, "grows", remarks)
        return "More matches deserve more trust. A scale that knew the length, or the count, would do better."


def _log_loss(law: np.ndarray, truth: np.ndarray) -> float:
    return float(-(truth * np.log(law + 0.1)).sum(axis=1).mean())


def _losses(prior: DirichletPrior) -> tuple[float, float, float]:
    """Return the losses of the trained model, the unigram and Bayes on 1,000 tokens."""
    x, kernels = prior.sample(600, 1000, rng=3, return_kernels=True)
    truth = kernels[(np.arange(len(x)), *(x[:, -lag] for lag in prior.lags))]
    counts = WindowCounts.from_tokens(np.column_stack([x, x[:, :1]]), window=3, vocab_size=3)
    laws = (
        StagedModel(counts, degree=2).predict(**_TRAINED),
        Unigram().predict(x, 3),
        BayesOptimal(prior.lags, prior.concentration).predict(x, 3),
    )
    transformer, unigram, bayes = (_log_loss(law, truth) for law in laws)
    return transformer, unigram, bayes


@cache
def _short(length: int) -> StagedModel:
    tokens = DirichletPrior(3, (1, 2), 1.0).sample(300, length + 1, rng=17)
    return StagedModel(WindowCounts.from_tokens(tokens, window=3, vocab_size=3), degree=2)


def _settle(models: Sequence[StagedModel]) -> float:
    from scipy.optimize import minimize_scalar

    def total(a: float) -> float:
        return sum(m.loss_and_gradients(_TRAINED["c"], _TRAINED["w"], a)[0] for m in models)

    return float(minimize_scalar(total, bounds=(0, 15), method="bounded").x)
