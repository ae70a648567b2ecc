"""Exercises of the chapter *Breaking the symmetry*."""

from __future__ import annotations

import numpy as np

from ..walks import CircleWalk
from ._answers import choice, function, number
from ._exercise import exercise

_CHAPTER = "breaking-the-symmetry"


@exercise(_CHAPTER, "lag-classes", "Which columns agree?", level=1, minutes=10)
class LagClasses:
    def classes(answer):
        def reference(n_nodes, length):
            return (length - np.arange(1, length)) % n_nodes

        slips = [
            (lambda k, n: np.arange(1, n) % k, "Count back from the target, not forward from the start."),
            (
                lambda k, n: (n - 1 - np.arange(1, n)) % k,
                "The last input column is one step before the target.",
            ),
            (lambda k, n: (n - np.arange(1, n + 1)) % k, "The empty column is in no class."),
        ]
        cases = [(3, 7), (6, 13), (4, 9), (3, 8), (5, 12)]  # in the last two K does not divide N - 1
        function(answer, reference, cases, show="K = {} and N = {}".format, slips=slips)
        return "Columns of one class hold the same node on every deterministic walk."


def _law(alpha, n_nodes, length, rate, epsilon=0.1):
    target = np.log(1 / alpha) / (n_nodes / np.sqrt(length - 1))
    return float(n_nodes**2 / (2 * rate) * ((target + epsilon) ** 2 - epsilon**2))


@exercise(_CHAPTER, "a-hundred-times-smaller", "A start a hundred times smaller", level=2, minutes=20)
class AHundredTimesSmaller:
    def time(answer):
        def without_epsilon(alpha, k, n, rate):
            return (n - 1) * np.log(1 / alpha) ** 2 / (2 * rate)

        slips = [
            (without_epsilon, "Right in the limit of a tiny start. Here ε still counts."),
            (lambda a, k, n, rate: _law(a, k, n, rate) * rate, "Where is the learning rate?"),
        ]
        cases = [(3e-5, 6, 97, 10.0), (3e-3, 6, 97, 10.0), (1e-4, 4, 13, 1.0)]
        show = "α = {:g}, K = {}, N = {} and η = {:g}".format
        function(answer, _law, cases, show=show, slips=slips)

    def factor(answer):
        slips = {
            100.0: "The time does not go like 1/σ.",
            2.0: "That would be the linear term alone, with α = σ.",
        }
        number(answer, _law(3e-5, 6, 97, 10.0) / _law(3e-3, 6, 97, 10.0), rel=0.05, slips=slips)
        return "A hundred times smaller, three times as long: logarithms are patient."


@exercise(_CHAPTER, "rows-of-a-sample", "Rows of a sample", level=2, minutes=25)
class RowsOfASample:
    def rows(answer):
        def reference(shares, t, rate, epsilon):
            return np.sqrt(epsilon**2 + 2 * rate * shares * t / len(shares)) - epsilon

        slips = [
            (lambda w, t, rate, e: reference(w, t, rate, e) + e, "This is v + ε."),
            (lambda w, t, rate, e: np.sqrt(2 * rate * w * t / len(w)) - e, "At time zero v is zero."),
            (lambda w, t, rate, e: rate * w * t / len(w) / e, "Right at the start. Later the slope falls."),
        ]
        rng = np.random.default_rng(8)
        settings = ((6, 1.0, 0.5, 0.1), (4, 40.0, 0.3, 0.2))
        cases = [(rng.dirichlet(np.full(n, 9.0)), *rest) for n, *rest in settings]
        show = lambda w, t, rate, e: f"{len(w)} shares, t = {t:g}, η = {rate} and ε = {e}"  # noqa: E731
        function(answer, reference, cases, show=show, slips=slips)
        return "In the long run the rows go like the square roots of the shares."


@exercise(_CHAPTER, "a-loss-that-is-content", "A loss that is content", level=3, minutes=45)
class ALossThatIsContent:
    def symmetric(answer):
        def reference(t, rate, n_nodes):
            return 1 - np.exp(-rate * t / n_nodes**2)

        slips = [
            (
                lambda t, rate, k: 1 - np.exp(-rate * t / k),
                "A row is trained by one target in K, and a node is in one place of K.",
            ),
            (
                lambda t, rate, k: 1 - np.exp(-rate * t),
                "A row is trained by one target in K, and a node is in one place of K.",
            ),
        ]
        cases = [(1.0, 10.0, 6), (20.0, 1.0, 4), (300.0, 0.5, 6)]
        function(answer, reference, cases, show="t = {:g}, η = {:g} and K = {}".format, slips=slips)

    def growth(answer):
        def reference(n_nodes, length):
            return np.exp(n_nodes / np.sqrt(length - 1))

        slips = [(lambda k, n: np.exp(k / (n - 1)), "The rate κ has a square root in it.")]
        function(
            answer,
            reference,
            [(6, 97), (4, 13), (12, 25)],
            show="K = {} and N = {}".format,
            slips=slips,
            rel=5e-3,
        )

    def attention(answer):
        remark = "The growth is at most e^κ, whatever the time. Is that enough for a small start?"
        choice(answer, "stays flat", {"picks a class late": remark, "picks a class at once": remark})
        return "The loss is content with v = 1, and lets the asymmetry grow by a fixed factor only."


def _time_to_learn(delta: float) -> int:
    from ..one_layer import OneLayerModel

    walks, chances = CircleWalk(6, 1 - delta).enumerate(7)
    model = OneLayerModel(6, 7, unit_length=True)
    run = model.train(walks, weights=chances, learning_rate=10.0, steps=100)
    return int(np.argmax(run.attention[:, -2] > 0.5))


@exercise(_CHAPTER, "nearly-deterministic", "Nearly deterministic", level=3, minutes=60)
class NearlyDeterministic:
    def time(answer):
        function(answer, _time_to_learn, [(0.1,), (0.01,), (0.001,)], show="δ = {:g}".format)

    def law(answer):
        remarks = {
            "a power of 1/δ": "Divide the times by such a power, from δ = 0.1 to 0.000001. Do they stay put?",
            "the logarithm of 1/δ": "Take times at δ = 0.01, 0.0001 and 0.000001. Are they evenly spaced?",
        }
        choice(answer, "the squared logarithm of 1/δ", remarks)
        return "A wrong step now and then plays the part of the random start."
