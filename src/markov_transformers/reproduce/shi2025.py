"""The claims of Shi and Cao (2025): random walks, deterministic ones, and questions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..claims import escape, failure, questions, success
from ..claims._claim import Claim
from ._words import braces, escapes, power, small, spread

_SOURCE = "Shi and Cao (2025)"
# A quick check keeps the sizes, and leaves out readings that decide nothing.
_QUICK_READINGS = {"readings": {name: escape.READINGS[name] for name in ("as printed", "summed loss")}}


def _directions(found: Mapping[float, dict], what: str) -> str:
    return (
        "Population, N = 11. "
        + "; ".join(
            f"p = {p}: distance to the printed limit {x[f'{what}_to_step']:.3f} (exponent "
            f"{x[f'{what}_step_rate']:.2f}), to the square root {x[f'{what}_to_root']:.3f} (exponent "
            f"{x[f'{what}_root_rate']:.2f}); the two are {x[f'{what}_between']:.3f} apart"
            for p, x in found.items()
        )
        + "."
    )


def _readings(found: Mapping[str, Mapping[float, dict]], p: float) -> str:
    """How many runs of each reading reach their best accuracy, when, and how far the divergence fell."""

    def told(name: str) -> str:
        seen = found[name][p]
        reach = [at for at in seen["reach"] if at is not None]
        when = f"{len(reach)} of {len(seen['reach'])} runs get there"
        when += f", at {spread(reach, '.0f')}" if reach else ""
        fall, other = (_percent(float(np.median(found[name][q]["progress"]))) for q in (p, 1.5 - p))
        return f"{name}: {when}; divergence fell by {fall} (p = {1.5 - p:g}: {other})"

    return "; ".join(map(told, found)) + "."


def _percent(share: float) -> str:
    return f"{abs(share) if abs(share) < 0.005 else share:.0%}"


def _task(found: Mapping[str, float]) -> str:
    return (
        "; ".join(
            f"{name}: all right in {found[f'solved_{key}']:.0%} of runs, near one half in "
            f"{found[f'near_half_{key}']:.0%}, accuracy from {found[f'worst_{key}']:.3f} to "
            f"{found[f'best_{key}']:.3f}"
            for name, key in (("raw embeddings", "raw"), ("unit length", "unit_length"))
        )
        + "."
    )


def _lead(visits: float) -> str:
    """Return how a position's gain compares with the parent's, in words."""
    return f"{abs(visits):.3f} visits {'more' if visits > 0 else 'fewer'} than the parent"


CLAIMS = (
    Claim(
        id="shi2025-optimal",
        source=f"{_SOURCE}, section 2",
        claim="Πᵀx_{N−1} is the best predictor of the walk; its accuracy is max{p, 1 − p}.",
        printed="max{p, 1 − p}",
        chapter="walk-and-transformer",
        measure=success.best_prediction,
        report=lambda m: (
            f"All walks of length 11 on six nodes, p = 0.3, 0.5, 0.7, 1. Its difference from the law of the "
            f"target {small(m[0]['law_error'])}, from the accuracy {small(m[0]['accuracy_error'])}; gain "
            f"of any function of the input {small(m[0]['gain'])}."
        ),
        rule=success.rule_shi2025_optimal,
        judged="all three below 1e-9",
        seeds=0,
    ),
    Claim(
        id="shi2025-positions",
        source=f"{_SOURCE}, section 2 and Lemma E.5",
        claim="Different positional embeddings are orthogonal.",
        printed="0 for i ≠ j; M = 1000, N = 97",
        chapter="walk-and-transformer",
        measure=success.position_products,
        report=lambda m: (
            f"Largest inner product of two: about 1e{np.log10(m[0]['float32']):.0f} in float32, "
            f"{small(m[0]['float64'])} in float64; squared lengths (M + 1)/2 to "
            f"{small(m[0]['square_error'])}."
        ),
        rule=success.rule_shi2025_positions,
        judged="within the bound for rounding errors in each precision, and at least a million times "
        "smaller in the finer one",
        seeds=0,
    ),
    Claim(
        id="shi2025-first-step",
        source=f"{_SOURCE}, section 3, Step 1, and Lemma C.1",
        claim="After one step V is a Toeplitz matrix whose largest entries stand exactly where Πᵀ has them, "
        "and W is zero.",
        printed="K = 6, N = 97",
        chapter="learning-the-walk",
        measure=success.first_step,
        report=lambda m: (
            "Offsets with the largest entry: "
            + "; ".join(
                f"{braces(offsets)} at p = {p}, N = {length}"
                for (p, length), offsets in m[0]["largest"].items()
            )
            + (
                f". Population, exact. On 1,000 walks entries scatter along a diagonal by "
                f"{spread(m[0]['sample_spread'], '.1%')}, where the signal is {m[0]['signal']:.1%}."
            )
        ),
        rule=success.rule_shi2025_first_step,
        judged="Toeplitz and zero to 1e-9; largest entries at the offsets of Πᵀ, at the printed N, or at "
        "another",
        change="For the largest entries: N even. At p = 1/2 and the printed N = 97 the diagonal is exactly "
        "as large, since N − 1 powers pair off. The tie does no harm.",
        inside="n_seeds",
    ),
    Claim(
        id="shi2025-accuracy",
        source=f"{_SOURCE}, Theorem 3.1 (1)",
        claim="After a constant number of steps the accuracy is max{p, 1 − p}.",
        printed="max{p, 1 − p}",
        chapter="learning-the-walk",
        measure=success.theorem,
        report=lambda m: (
            "; ".join(
                f"p = {p}: {x['accuracy']:.6f} on the population, from step {x['learned_at']} on; "
                f"{spread(x['sample_accuracy'])} when trained on 1,000 walks; "
                f"on 20 nodes {x['large_accuracy']:.3f} (N = 13), where the best other position "
                f"gains {_lead(x['large_lead'])} (N = 401)"
                for p, x in m[0].items()
            )
            + "."
        ),
        rule=success.rule_shi2025_accuracy,
        judged="population accuracy best possible to 1e-9, from the tenth step on at the latest; with a "
        "change if not on twenty nodes, too, or if there another position gains more than the parent",
        change="It takes an upper bound on the number of nodes, which depends on p. At p = 0.8 on 20 nodes "
        "all attention goes to the node three steps back, and the accuracy is 0.8³.",
        inside="n_seeds",
        quick={"steps": 1000},
    ),
    Claim(
        id="shi2025-output",
        source=f"{_SOURCE}, Theorem 3.1 (2)",
        claim="The output converges in direction to the best predictor, at rate T^(−1/2).",
        printed="O(T^(−1/2)), 0 < p < 1",
        chapter="learning-the-walk",
        measure=success.theorem,
        report=lambda m: _directions(m[0], "output"),
        rule=success.rule_shi2025_output,
        judged="distance below 0.05 with exponent between −0.6 and −0.4; contradicted if that holds for the "
        "square root and the distance stays",
        change="True instead, where attention finds the parent: for p ≠ 1/2 the limit is the direction of "
        "the entrywise square root, at the same rate.",
        inside="n_seeds",
        quick={"steps": 1000},
    ),
    Claim(
        id="shi2025-value",
        source=f"{_SOURCE}, Theorem 3.1 (3)",
        claim="V converges in direction to the transition matrix Πᵀ, at rate T^(−1/2).",
        printed="O(T^(−1/2)), 0 < p < 1",
        chapter="learning-the-walk",
        measure=success.theorem,
        report=lambda m: _directions(m[0], "value"),
        rule=success.rule_shi2025_value,
        judged="distance below 0.05 with exponent between −0.6 and −0.4; contradicted if that holds for the "
        "square root and the distance stays",
        change="True instead, where attention finds the parent: for p ≠ 1/2 the limit is the entrywise "
        "square root of Πᵀ, at the same rate.",
        inside="n_seeds",
        quick={"steps": 1000},
    ),
    Claim(
        id="shi2025-attention",
        source=f"{_SOURCE}, Theorem 3.1 (4)",
        claim="The direct parent gets attention close to one.",
        printed="at least 1 − e^(−Ω(N))",
        chapter="learning-the-walk",
        measure=success.theorem,
        report=lambda m: (
            "; ".join(
                f"p = {p}: short of one by less than {power(1 - x['attention'])} on the population "
                f"(N = 11), {power(1 - np.median(x['sample_attention']))} in the median sample (N = 97); "
                f"on 20 nodes the parent gets {x['large_attention']:.3f} (N = 13), and the best "
                f"other position gains {_lead(x['large_lead'])} (N = 401)"
                for p, x in m[0].items()
            )
            + "."
        ),
        rule=success.rule_shi2025_attention,
        judged="short of one by less than 1e-4, population and median sample; with a change if not on twenty "
        "nodes, too, or if there another position gains more than the parent. The rate in N is not tested",
        change="It takes an upper bound on the number of nodes, which depends on p: a position gains what it "
        "says on average, and on a large circle drift makes the node three steps back say more.",
        inside="n_seeds",
        quick={"steps": 1000},
    ),
    Claim(
        id="shi2025-fig4",
        source=f"{_SOURCE}, Figure 4",
        claim="From zero, at p = 0.5: accuracy near 50 % in a few steps, V recovers Πᵀ, attention on N − 1.",
        printed="K = 6, N = 97, M = 1000, 1,000 walks, learning rate 1, 50 steps",
        chapter="learning-the-walk",
        measure=success.figure_4,
        report=lambda m: (
            f"Accuracy {spread(m[0]['accuracy'])} after 10 steps, {spread(m[0]['end'])} after 50; smallest "
            f"entry of V on Πᵀ over the largest off it {spread(m[0]['contrast'], '.1f')}; attention on N − "
            f"1 {spread(m[0]['attention'], '.4f')}."
        ),
        rule=success.rule_shi2025_fig4,
        judged="median accuracies within 0.05 of 0.5, contrast above 2, attention above 0.99",
        inside="n_seeds",
    ),
    Claim(
        id="shi2025-any-loss",
        source=f"{_SOURCE}, Theorem 4.1",
        claim="For a deterministic walk with N = rK + 1 the accuracy stays 1/K, for any loss, rate and time.",
        printed="1/K",
        chapter="easier-task-that-fails",
        measure=failure.any_loss,
        report=lambda m: (
            f"Five losses, rates from 0.001 to 1,000, p = 0 and 1, 200 steps: accuracy "
            f"{spread(m[0]['accuracy'], '.4f')}; V and attention on the input differ from constant by "
            f"{small(max(m[0]['value_spread'], m[0]['attention_spread']))}. At other N, all right after one "
            f"step in {'every' if m[0]['other_one_step'] > 1 - 1e-9 else 'not every'} run. "
            "The literal model leaves this course by rounding: see new-rounding."
        ),
        rule=failure.rule_shi2025_any_loss,
        judged="1/K at every step of every run, V and attention constant to 1e-9",
        seeds=0,
    ),
    Claim(
        id="shi2025-fig5",
        source=f"{_SOURCE}, Figure 5",
        claim="From zero, at p = 1: accuracy near 1/6, V a multiple of ones, flat attention.",
        printed="0.167; K = 6, N = 97, learning rate 1, 50 steps",
        chapter="easier-task-that-fails",
        measure=failure.figure_5,
        report=lambda m: (
            "Exact inner products: accuracy {:.3f} ({:.3f} to {:.3f}), ".format(*m[0]["accuracy"])
            + f"rows of V uneven by up to {m[0]['uneven']:.0%}, attention flat to "
            f"{small(m[0]['attention_spread'])}. The literal model leaves this course at iteration: "
            f"{escapes(m[0]['escapes'])}."
        ),
        rule=failure.rule_shi2025_fig5,
        judged="median accuracy within 0.02 of 1/6, V within 25 % of constant, columns and attention flat; "
        "as printed only if the literal model stays there too",
        change="Exact inner products of the positions. In the literal model with raw embeddings rounding "
        "grows, and the walk is learned after all.",
        seeds=20,
        quick={"steps": 20},
        quick_seeds=5,
        inside="n_seeds",
    ),
    Claim(
        id="shi2025-fig6-walk",
        source=f"{_SOURCE}, Figure 6(a)",
        claim="From a random start, p = 0.5 reaches 50 % after about 400 iterations.",
        printed="σ = η = 0.01, unit length, 1,000 walks",
        chapter="breaking-the-symmetry",
        measure=escape.figure_six,
        report=lambda m: _readings(m[0], 0.5),
        rule=escape.rule_shi2025_fig6_walk,
        judged="most runs of a reading get there, with 400 in their range; as printed, or with one departure",
        change="The loss summed over the walks, not averaged. As printed nothing moves in 1,000 iterations.",
        inside="n_seeds",
        quick_seeds=5,
        quick=_QUICK_READINGS,
    ),
    Claim(
        id="shi2025-fig6-deterministic",
        source=f"{_SOURCE}, Figure 6(c), (d)",
        claim="From a random start, p = 1 does not reach 100 % in 1,000 iterations, and its divergence "
        "falls more slowly than at p = 0.5.",
        printed="σ = η = 0.01, unit length, 1,000 walks",
        chapter="breaking-the-symmetry",
        measure=escape.figure_six,
        report=lambda m: _readings(m[0], 1.0),
        rule=escape.rule_shi2025_fig6_deterministic,
        judged="most runs of a reading do not get there, and its divergence falls less than at p = 0.5 by 5 "
        "% of the start at least; as printed, or with one departure",
        change="It takes two changes, a summed loss and a start of 1e-6; with every single one, either "
        "neither walk is learned or p = 1 is the faster.",
        inside="n_seeds",
        quick_seeds=5,
        quick=_QUICK_READINGS,
    ),
    Claim(
        id="shi2025-task1",
        source=f"{_SOURCE}, section 6, Task 1",
        claim="The first question task is learned within 100 iterations.",
        printed="100 %; σ = 0.01, η = 0.1, 1,000 samples",
        chapter="questions-and-averages",
        measure=questions.task1,
        report=lambda m: _task(m[0]),
        rule=questions.rule_shi2025_task1,
        judged="nine runs in ten end with every answer right: with raw and with unit-length embeddings, or "
        "with one",
        change="Embeddings of length one in the attention, which the paper names for its other random "
        "starts.",
        seeds=40,
        quick_seeds=10,
        inside="n_runs",
    ),
    Claim(
        id="shi2025-task2",
        source=f"{_SOURCE}, section 6, Task 2",
        claim="The second question task stays near 50 % for 100 iterations.",
        printed="50 %; σ = 0.01, η = 0.1, 1,000 samples",
        chapter="questions-and-averages",
        measure=questions.task2,
        report=lambda m: _task(m[0]),
        rule=questions.rule_shi2025_task2,
        judged="three runs in four end between 0.4 and 0.6, with raw and with unit-length embeddings, or "
        "with one",
        change="One of the two readings of the embeddings.",
        seeds=40,
        quick_seeds=10,
        inside="n_runs",
    ),
)
