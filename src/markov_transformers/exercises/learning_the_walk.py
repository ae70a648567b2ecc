"""Exercises of the chapter *Learning the walk*."""

from __future__ import annotations

import numpy as np

from ..chains import NGramChain
from ..walks import CircleWalk
from ._answers import Wrong, a_set, function, number, stochastic
from ._exercise import exercise

_CHAPTER = "learning-the-walk"


@exercise(_CHAPTER, "timid-forever", "Timid for ever", level=1, minutes=10)
class TimidForever:
    def limit(answer):
        def reference(p):
            return np.sqrt([p, 1 - p]) / np.sqrt([p, 1 - p]).sum()

        slips = [
            (lambda p: [p, 1 - p], "This is the truth. V goes to its entrywise square root."),
            (lambda p: np.sqrt([p, 1 - p]), "The scores have this ratio. Let them sum to one."),
            (lambda p: reference(1 - p), "The step up comes first."),
        ]
        function(answer, reference, [(0.9,), (0.5,), (0.23,)], show="p = {}".format, slips=slips)
        return "Unless p is one half, the limit lies nearer to one half than the truth."


@exercise(_CHAPTER, "a-small-rate", "A small rate", level=2, minutes=20)
class ASmallRate:
    def power_of_rate(answer):
        slips = {1.0: "One factor comes from the step itself. What is V made of when attention moves?"}
        number(answer, 2.0, rel=0.02, slips=slips)  # room for a measured power

    def power_of_A(answer):
        slips = {1.0: "W meets the position of the column, and the position of the question."}
        number(answer, 2.0, rel=0.02, slips=slips)  # room for a measured power
        return (
            "With A near 500 even a tiny η gives attention a large stride, as soon as V has something to say."
        )


@exercise(_CHAPTER, "the-tie-of-step-one", "The tie of step one", level=2, minutes=30)
class TheTieOfStepOne:
    def lead(answer):
        def reference(n_nodes, length):
            return np.linalg.matrix_power(CircleWalk(n_nodes, 0.5).transition_matrix(), length)[0, 0]

        slips = [
            (
                lambda k, n: reference(k, n - 1),
                "The sums have N - 1 terms. Which one is left over after pairing?",
            ),
            (lambda k, n: reference(k, n) / (n * k), "Close. Leave out the factor η / (ε N K), as asked."),
        ]
        cases = [(5, 7), (5, 6), (6, 97), (6, 98), (7, 12)]
        function(answer, reference, cases, show="K = {} and N = {}".format, slips=slips)

    def ties_on_five(answer):
        a_set(answer, [3], "The list of lengths")
        return "A tie needs a walker who cannot be back home after N steps."


@exercise(_CHAPTER, "the-cube-root", "The cube root", level=2, minutes=15)
class TheCubeRoot:
    def slope(answer):
        scores = np.array([0.0, 0.3, 1.0, 4.0, 20.0])
        cases = [(z,) for z in scores]
        slips = [
            (lambda z: -((z + 0.1) ** -3.0), "A slope of -(z + ε) to the power -3 leads to the fourth root."),
            (lambda z: -((z + 0.1) ** (-1 / 3)), "This leads to the power 3/4: the exponent is 1 / (1 + s)."),
            (lambda z: (z + 0.1) ** -2.0, "A loss should fall as the score grows."),
        ]
        function(answer, lambda z: -((z + 0.1) ** -2.0), cases, show="a score of {:g}".format, slips=slips)
        return "The sooner a loss tires of a high score, the flatter is V."


@exercise(_CHAPTER, "a-chain-that-misleads", "A chain that misleads", level=3, minutes=60)
class AChainThatMisleads:
    def transition_matrix(answer):
        from ..one_layer import OneLayerModel

        matrix = stochastic(answer)
        if not 3 <= len(matrix) <= 6:
            raise Wrong(f"Three to six states are wanted, this has {len(matrix)}.")
        if np.allclose(matrix, matrix.T):
            raise Wrong("This matrix is symmetric, and near zero no symmetric one misleads.")
        chain = NGramChain(matrix, lags=(1,))
        if not chain.irreducible or not chain.primitive:
            raise Wrong("Not every state can be reached from every other after any long enough time.")
        start = chain.stationary_distribution()
        joint = [start[:, None] * np.linalg.matrix_power(matrix, k) for k in range(1, 5)]
        parent, *others = ((law * np.sum(joint, axis=0)).sum() for law in joint)
        if max(others) < parent * (1 + 1e-9):
            raise Wrong("Near zero no position gains more than the parent on this chain.")
        tokens = np.indices((len(matrix),) * 5).reshape(5, -1).T
        chances = start[tokens[:, 0]] * matrix[tokens[:, :-1], tokens[:, 1:]].prod(axis=1)
        run = OneLayerModel(len(matrix), 5).train(
            tokens, weights=chances, learning_rate=0.01, steps=100, record_every=100
        )
        *others, parent = run.attention[-1, :-1]
        shares = f"The parent gets {parent:.1%} of the attention, another token {max(others):.1%}."
        if max(others) <= 0.5:
            raise Wrong(shares)
        return shares
