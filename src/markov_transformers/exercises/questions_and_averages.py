"""Exercises of the chapter *Questions and averages*."""

from __future__ import annotations

from math import comb

import numpy as np

from ._answers import Wrong, an_array, call, choice, function, number
from ._exercise import exercise

_CHAPTER = "questions-and-averages"


@exercise(_CHAPTER, "first-of-the-bag", "First of the bag", level=1, minutes=15)
class FirstOfTheBag:
    def bound(answer):
        def reference(n):
            return sum(max(comb(n - 1, k), comb(n - 1, k - 1) if k else 0) for k in range(n + 1)) / 2**n

        slips = [
            (lambda n: 0.5, "The counts do help: with two apples and one orange, apple is the better bet."),
            (lambda n: 1.0, "One apple and one orange: who can tell from that which was first?"),
        ]
        function(answer, reference, [(3,), (1,), (2,), (6,), (9,)], show="{} fruits".format, slips=slips)
        return "The longer the list, the less its counts say about any one place."


@exercise(_CHAPTER, "a-race-with-a-head-start", "A race with a head start", level=2, minutes=20)
class ARaceWithAHeadStart:
    def repeated_name(answer):
        remark = "Two places that hold the same word feed the same entries of V. Who leads after one step?"
        choice(answer, "never", {"one time in five": remark, "always": remark})

    def repeated_fruit(answer):
        remark = "Who has the head start now, and is it worth winning?"
        choice(answer, "always", {"one time in five": remark, "never": remark})
        return "A word that occurs twice wins the race, for better or worse."


@exercise(_CHAPTER, "the-walk-by-symmetry", "The walk by symmetry", level=2, minutes=30)
class TheWalkBySymmetry:
    def relabelling(answer):
        for n_nodes, rounds in ((6, 16), (5, 1), (4, 3)):
            shown = f"K = {n_nodes} and r = {rounds}"
            places = n_nodes * rounds
            try:
                tau, rho = call(answer, n_nodes, rounds, shown=shown)
            except (TypeError, ValueError):
                raise Wrong("Return two arrays: (tau, rho).") from None
            tau = _permutation(tau, places, "tau")
            rho = _permutation(rho, n_nodes, "rho")
            for target in range(n_nodes):
                walk = (target - places + np.arange(places)) % n_nodes
                if (rho[walk[tau]] != walk).any():
                    raise Wrong(f"For {shown} the walk with target {target} is not mapped to itself.")
            reached, node = set(), 0
            while node not in reached:
                reached.add(node)
                node = int(rho[node])
            if len(reached) < n_nodes:
                raise Wrong(
                    f"From node 0, rho reaches {len(reached)} of {n_nodes} nodes only: try another one."
                )
        return "All columns of V are equal. Turning the whole circle makes the rows equal, too."


def _permutation(answer: object, n: int, name: str) -> np.ndarray:
    given = an_array(answer, (n,), name)
    if sorted(given.tolist()) != list(range(n)):
        raise Wrong(f"{name} should hold each of the numbers 0 to {n - 1} once.")
    return given.astype(int)


@exercise(_CHAPTER, "who-is-hurt", "Who is hurt?", level=3, minutes=40)
class WhoIsHurt:
    def tau(answer):
        given = _permutation(answer, 11, "tau")
        one = np.array(["a", "dog", "story", "the", "dog", "bites", "the", "man", "who", "is", "hurt"])
        other = np.array(["a", "dog", "story", "the", "man", "bites", "the", "dog", "who", "is", "hurt"])
        if (one[given] != other).any():
            place = int(np.argmax(one[given] != other))
            raise Wrong(f"It does not turn the first question into the second: look at place {place}.")
        if (other[given] != one).any():
            raise Wrong("It turns the first question into the second, but not the second into the first.")

    def words(answer):
        remark = "One of the two words stands in the story's title, where it must stay."
        choice(answer, "stay", {"are exchanged": remark})

    def accuracy(answer):
        slips = {
            1.0: "Which rows of V are equal, by the proposition? What do they predict?",
            0.0: "A tie goes to the smaller number. That is right once, and wrong once.",
        }
        number(answer, 0.5, rel=1e-6, slips=slips)
        return "The two rows of V are equal, so both answers tie on every question."


@exercise(_CHAPTER, "a-softmax-that-objects", "A softmax that objects", level=3, minutes=60)
class ASoftmaxThatObjects:
    def slope(answer):
        from scipy.special import softmax

        def reference(V, scores, words, target):
            attention = softmax(scores)
            columns = V[:, words]  # (answers, places)
            output = columns @ attention
            wrong = softmax(output) - np.eye(len(V))[target]
            return attention * (wrong @ (columns - output[:, None]))

        def log_loss_only(V, scores, words, target):
            attention = softmax(scores)
            columns = V[:, words]
            output = columns @ attention
            share = softmax(output)[target] - 1
            return share * attention * (columns[target] - output[target])

        slips = [
            (log_loss_only, "This is the pull of the right answer. The wrong ones push."),
            (lambda V, z, words, y: -reference(V, z, words, y), "This is the way down. The slope points up."),
            (
                lambda V, z, words, y: (softmax(V[:, words] @ softmax(z)) - np.eye(len(V))[y]) @ V[:, words],
                "Attention on one place is taken from the others.",
            ),
        ]
        rng = np.random.default_rng(9)
        cases = [
            (rng.normal(size=(5, 7)), rng.normal(size=n), rng.integers(7, size=n), int(rng.integers(5)))
            for n in (3, 8)
        ]
        show = lambda V, z, words, y: f"{len(z)} places"  # noqa: E731
        function(answer, reference, cases, show=show, slips=slips)
        return "A neutral place now pulls and pushes alike, once both answers are equally likely."
