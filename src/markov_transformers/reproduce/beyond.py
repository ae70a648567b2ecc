"""Questions beyond both papers: measured as the claims are, and without a verdict."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..claims import escape, failure, joint, stages, success
from ..claims._claim import Claim
from ._words import each, escapes, spread

_SOURCE = "beyond both papers"


def _short(value: float) -> str:
    return f"{value:g}".replace("e-0", "e-")


def _gap(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _pairs(found: Mapping[float, tuple[float, float]], name: str) -> str:
    return ", ".join(f"{seen:.3f} against {law:.3f} ({name} = {x:g})" for x, (seen, law) in found.items())


def _gaps(measurements: list[dict]) -> str:
    gaps = [joint.bayes_gap(m)[0.1] for m in measurements]
    return (
        "Nats above the best possible at L = 10, 100, 1,000 and α = 0.1: "
        + "; ".join(
            f"{name} {each([np.array(g[name])[[0, 3, -1]] for g in gaps], '.3f')}" for name in gaps[0]
        )
        + "."
    )


def _escape(found: Mapping) -> str:
    times = ", ".join(
        f"{spread(row, '.0f')} at σ = {_short(sigma)}"
        for sigma, row in zip(found["sigmas"], found["attention"])
    )
    walk = ", ".join(
        f"{spread(row, '.0f')} at {_short(sigma)}" for sigma, row in zip(found["walk_sigmas"], found["walk"])
    )
    ratio = found["law"] / found["attention"]
    return (
        f"Iterations until one lag class has half of the attention (learning rate 10): {times}. The law T = "
        f"K²/(2η) ((v + ε)² − ε²) with v = log(1/amplitude)/κ, quadratic in log(1/σ), gives "
        f"{spread(ratio.ravel(), '.2f')} of these; κ predicted {found['rate_predicted']:.3f}, measured "
        f"{spread(found['rate_measured'])}. The walk with p = 1/2 needs {walk}."
    )


CLAIMS = (
    Claim(
        id="new-phase-diagram",
        source=_SOURCE,
        claim="Which set does Stage I select over the plane of concentration α and copying gap?",
        printed="",
        chapter="phase-diagram",
        measure=stages.selection_phase_diagram,
        report=lambda m: (
            "Copying gap from which on {1, 2} wins every run: "
            + ", ".join(f"{_gap(gap)} at α = {alpha:g}" for alpha, gap in m[0]["needed"].items())
            + (
                f"; (3.6) asks for {min(m[0]['threshold'].values()):.1f} to "
                f"{max(m[0]['threshold'].values()):.1f}. The first gradient names the winner in "
                f"{m[0]['agreement']:.0%} of runs."
            )
        ),
        rule=stages.rule_selection_phase_diagram,
        judged="no verdict: a question",
        inside="seeds",
    ),
    Claim(
        id="new-escape-time",
        source=_SOURCE,
        claim="How long does a deterministic walk need to leave chance, over the scale σ of the start?",
        printed="",
        chapter="breaking-the-symmetry",
        measure=escape.escape_times,
        report=lambda m: _escape(m[0]),
        rule=escape.rule_new_escape_time,
        judged="no verdict: a question",
        inside="n_seeds",
        quick={"walk_sigmas": (1e-2,)},
    ),
    Claim(
        id="new-rounding",
        source=_SOURCE,
        claim="How does floating-point error alone break the symmetry of Theorem 4.1?",
        printed="",
        chapter="easier-task-that-fails",
        measure=failure.rounding,
        report=lambda m: (
            f"Iteration at which a token gets twice its share of attention: {escapes(m[0]['escapes'])}. "
            f"Predicted from the deviation at iteration 3: {escapes(m[0]['predicted'])}."
        ),
        rule=failure.rule_new_rounding,
        judged="no verdict: a question",
        quick={"steps": 20},
        seeds=0,
    ),
    Claim(
        id="new-bayes-gap",
        source=_SOURCE,
        claim="How far are the induction head, the trained transformer and simpler predictors from the best "
        "possible over L?",
        printed="",
        chapter="longer-and-stranger",
        measure=joint.length_generalization,
        report=lambda m: _gaps(m),
        rule=joint.rule_new_bayes_gap,
        judged="no verdict: a question",
        options={"n_chains": 4000},
    ),
    Claim(
        id="new-square-root",
        source=_SOURCE,
        claim="What is the limit of V for every p, and which loss would give Πᵀ itself?",
        printed="",
        chapter="learning-the-walk",
        measure=success.square_root,
        report=lambda m: (
            "Log-loss, V(up)/V(down) against √(p/(1−p)): "
            + _pairs(m[0]["ratio"], "p")
            + ". At p = 0.7 a loss with slope −(z + ε)^(−s) against (p/(1−p))^(1/(1+s)): "
            + _pairs(m[0]["power"], "s")
            + f". The linear loss, s = 0, gives Πᵀ, to a distance of {m[0]['to_step'][0.0]:.3f}; the square "
            f"loss forgets p (ratio {m[0]['square']:.2f})."
        ),
        rule=success.rule_new_square_root,
        judged="no verdict: a question",
        quick={"steps": 300},
        seeds=0,
    ),
)
