"""The claims of Chen et al. (2024): induction heads, and how training in stages finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from ..claims import construction, information, joint, stages
from ..claims._claim import Claim
from ._words import braces, each, over, small, spread

_SOURCE = "Chen et al. (2024)"
# A quick check keeps the sizes, and leaves out steps that decide nothing.
_QUICK_JOINT = {"rates": (1.0,), "n_steps": 2000}


def _winners(sets: Iterable[tuple[int, ...] | None]) -> str:
    counts = Counter(sets)
    if len(counts) == 1:
        return braces(next(iter(counts)))
    return ", ".join(f"{braces(s)} in {count} of {counts.total()}" for s, count in counts.most_common())


def _ends(values: Iterable[float]) -> str:
    """In how many samples a would stop growing, which the speed at larger values tells."""
    values = list(values)
    found = [value for value in values if np.isfinite(value)]
    told = f"growth would end below a = 30 in {len(found)} of {len(values)} samples"
    return f"{told}, at {min(found):g} or later" if found else told


def _stage_two(*, rng: int, descend: bool = True) -> dict:
    """Take the printed 50,000 steps at the first seed, and follow the flow, which is near, at others."""
    return stages.stage_two_heads(rng=rng, learning_rate=1.0 if descend and rng == 0 else None)


def _joint_runs(found: Mapping[str, list[dict]]) -> list[tuple[str, list[dict]]]:
    named = [(f"text, rate {run['rate']:g}", [run]) for run in found["printed"]]
    return [*named, (f"public code, rate {found['framework'][0]['rate']:g}", found["framework"])]


def _joint_shares(found: Mapping[str, list[dict]]) -> str:
    return (
        "; ".join(
            f"{name}: first {_winners(run['first'] for run in runs)}, last "
            f"{_winners(run['last'] for run in runs)}, shares of {{1, 2}}, {{1, 3}}, {{2, 3}} "
            f"{each([run['pairs'] for run in runs])}"
            for name, runs in _joint_runs(found)
        )
        + "."
    )


def _joint_matrices(found: Mapping[str, list[dict]]) -> str:
    def nearest(run: dict, name: str) -> float:
        """A number of the head whose W_V is nearest to a multiple of the identity plus a constant."""
        return run[name][int(np.argmin(run["with_constant"]))]

    def told(runs: list[dict]) -> str:
        size, off, far, left = (
            spread(nearest(run, name) for run in runs)
            for name in ("diagonal", "off", "proportional", "with_constant")
        )
        return (
            f"W_Q, W_K up to {over(runs, 'query_key', '.4f')}, W_V {size} on and {off} off the diagonal, "
            f"distance from the multiples of the identity {far}, with a constant {left}"
        )

    return "Best head: " + "; ".join(f"{name}: {told(runs)}" for name, runs in _joint_runs(found)) + "."


def _length_curves(measurements: list[dict]) -> str:
    curves = []
    for alpha in measurements[0]["loss"]:
        ends = [np.array(m["loss"][alpha]["transformer"])[[0, 3, -1]] for m in measurements]
        curves.append(f"{each(ends)} at α = {alpha}")
    return (
        f"Trained on α = {measurements[0]['trained_on']}, loss at L = 10, 100, 1,000: {'; '.join(curves)}. "
        f"Largest rise above 100 at α = 0.2, in standard errors: "
        f"{spread((m['rise'][0.2] for m in measurements), '.1f')}. Chance of one at the next length in a "
        f"test set of 1,000: {spread((m['chance'][0.2] for m in measurements), '.2f')}."
    )


CLAIMS = (
    Claim(
        id="chen2024-dpi",
        source=f"{_SOURCE}, section 3.1 and C.5",
        claim="Vanilla chi-squared information obeys the data processing inequality, and every superset of "
        "the parents has exactly as much of it as the parents.",
        printed="an inequality and an equality",
        chapter="information",
        measure=information.data_processing,
        report=lambda m: (
            f"1,000 chains a seed (d = 3, lags 1 and 2, M = 4). Largest ratio of a set to one with a lag "
            f"more: {over(m, 'largest_subset_ratio', '.6f')}; largest relative difference between a "
            f"superset and the parents: {small(max(x['superset_difference'] for x in m))}."
        ),
        rule=information.rule_chen2024_dpi,
        judged="no ratio above one and no difference from the parents, to 1e-9",
    ),
    Claim(
        id="chen2024-superset",
        source=f"{_SOURCE}, section 3.1",
        claim="A strict superset of the parents has strictly less modified chi-squared information than "
        "they.",
        printed="a strict inequality",
        chapter="information-with-a-price",
        measure=information.strict_supersets,
        report=lambda m: (
            f"Largest ratio of a superset to the parents: {over(m, 'largest_ratio')}, median ratio "
            f"{over(m, 'median_ratio')}, over 1,000 chains a seed (d = 3, lags 1 and 2, M = 4). It is one "
            f"for a "
            "deterministic walk, which Assumption 3.5 excludes."
        ),
        rule=information.rule_chen2024_superset,
        judged="every ratio is below one",
    ),
    Claim(
        id="chen2024-uniform",
        source=f"{_SOURCE}, (C.6) and the sentence before it",
        claim="If windows of r_n tokens are uniform, so are windows of any other length, and the logarithm "
        "of the modified information is that of the vanilla one less |S| log d.",
        printed="log Ĩ(S) = log I(S) − |S| log d",
        chapter="information-with-a-price",
        measure=information.uniform_windows,
        report=lambda m: (
            f"Deviation from (C.6) for sets that fit into r_n = 2 tokens: "
            f"{small(max(x['within'] for x in m))}; for wider sets up to {over(m, 'beyond', '.2f')}. "
            f"Windows of three tokens differ from uniform by up to a relative "
            f"{over(m, 'nonuniformity_beyond', '.2f')}."
        ),
        rule=information.rule_chen2024_uniform,
        judged="each part to 1e-9, over 1,000 chains a seed whose windows of two tokens are uniform",
        change="True instead: windows of up to r_n tokens are uniform, and (C.6) holds for sets that fit "
        "into r_n neighbouring tokens.",
    ),
    Claim(
        id="chen2024-one-parent",
        source=f"{_SOURCE}, C.7",
        claim="With one parent, and uniform tokens, the information set is the parent.",
        printed="S* = pa for n = 1",
        chapter="information-with-a-price",
        measure=information.one_parent,
        report=lambda m: (
            f"Another set wins {sum(x['n_other'] for x in m)} of {sum(x['n_chains'] for x in m):,} chains "
            f"(d = 2 and 3, lags 1 to 3, M = 4). The closest rival has less than the parent, if only by a "
            f"relative {1 - max(x['rival_ratio'] for x in m):.0e}."
        ),
        rule=information.rule_chen2024_one_parent,
        judged="the parent wins in every chain",
    ),
    Claim(
        id="chen2024-known-size",
        source=f"{_SOURCE}, C.7",
        claim="If the number n of parents is known, the best set of n lags is the parents, for uniform "
        "windows.",
        printed="S* = pa if |S| = n",
        chapter="information-with-a-price",
        measure=information.known_size,
        report=lambda m: (
            "2,500 chains over two tokens that repeat lag 2 with a probability set by lag 1. Another pair "
            "wins "
            + ", ".join(f"{x['share']:.1%} at M = {window}" for window, x in m[0].items())
            + f"; {braces(m[0][4]['rival'])} has up to {m[0][4]['rival_ratio']:.2f} times the parents' "
            f"information."
        ),
        rule=information.rule_chen2024_known_size,
        judged="the parents win in every chain, at each M",
        change="True instead: the parents are the best of the sets of n lags that fit into r_n neighbouring "
        "tokens, so the claim holds for M = r_n. The paper assumes M > r_n.",
        seeds=0,
    ),
    Claim(
        id="chen2024-degree",
        source=f"{_SOURCE}, Corollary C.5",
        claim="For uniform windows the information set has at most n lags, so D ≤ n loses nothing.",
        printed="|S*| ≤ n",
        chapter="information-with-a-price",
        measure=information.enough_lags,
        report=lambda m: (
            f"More lags than parents win {sum(x['n_larger'] for x in m)} of "
            f"{sum(x['n_chains'] for x in m):,} random chains with three parents. A chain with four parents "
            f"at M = 6 selects {braces(m[0]['best'][6])}, which has {m[0]['ratio'][6]:.4f} times the "
            f"information of the best set of at most four lags."
        ),
        rule=information.rule_chen2024_degree,
        judged="no set of more than n lags beats all of at most n",
        change="True instead: no superset of the parents, and no set of more than n lags that fits into r_n "
        "neighbouring tokens, beats the parents. Wider sets can.",
    ),
    Claim(
        id="chen2024-kernel",
        source=f"{_SOURCE}, Lemma C.1, (2.3) and (C.4)",
        claim="The feed-forward network realises the polynomial kernel with explicit monomial features.",
        printed="37 features at H = d = 3, D = 2",
        chapter="generalized-induction-head",
        measure=information.polynomial_kernel,
        report=lambda m: (
            f"Largest error over 1,000 pairs a seed: {small(max(x['error'] for x in m))}; "
            f"{m[0]['n_features']} features, {m[0]['n_features_formula']} by (C.4)."
        ),
        rule=construction.rule_chen2024_kernel,
        judged="no error above 1e-10 and the number of features as in (C.4)",
    ),
    Claim(
        id="chen2024-construction",
        source=f"{_SOURCE}, C.1, (C.1) and (C.2)",
        claim="With weights set by hand the transformer tends to the generalized induction head as position "
        "weights ρ and scale a grow, also where nothing matches.",
        printed="a limit",
        chapter="transformer-in-your-hand",
        measure=construction.construction,
        report=lambda m: (
            f"Largest l1 distance at ρ = a = 2, 5, 10: "
            f"{', '.join(spread((x['together'][i] for x in m), '.2g') for i in range(3))}; at 50 "
            f"{small(max(x['together'][-1] for x in m))}. Sequences without a match: "
            f"{small(max(x['fallback'][-1] for x in m))} at 50."
        ),
        rule=construction.rule_chen2024_construction,
        judged="the distance ends below 1e-10, over all sequences and over those without a match",
    ),
    Claim(
        id="chen2024-sequential",
        source=f"{_SOURCE}, C.4 and (C.5)",
        claim="With relative positions, features depend on the last M tokens alone, whatever the length, "
        "and the sequential loss is the sum of the losses over lengths.",
        printed="two equalities",
        chapter="what-the-loss-can-see",
        measure=construction.sequential_loss,
        report=lambda m: (
            f"Feature change under a shift: {small(max(x['shift_difference'] for x in m))}, by the oldest "
            f"token of the window: {over(m, 'window_difference', '.2f')}. Relative difference of the two "
            f"losses: {small(max(x['sum_difference'] for x in m))}."
        ),
        rule=construction.rule_chen2024_sequential,
        judged="both differences below 1e-10, and the window's tokens do matter",
    ),
    Claim(
        id="chen2024-norm",
        source=f"{_SOURCE}, Lemma E.1",
        claim="The sum of squares C_D stays constant along the flow of Stage I.",
        printed="dC_D/dt = 0",
        chapter="three-stages",
        measure=stages.conservation,
        report=lambda m: (
            f"Relative change along the flow, solved in c itself: "
            f"{small(max(x['drift'] for x in m), 1e-6)}. Descent with learning rate 1 multiplies C_D by "
            f"{over(m, 'descent_growth', '.2f')} in 2,000 steps, "
            "each step adding the squared gradient."
        ),
        rule=stages.rule_conservation,
        judged="change below 1e-6, and c orthogonal to its gradient to 1e-9",
    ),
    Claim(
        id="chen2024-fig3a",
        source=f"{_SOURCE}, Figure 3(a) and B.1",
        claim="Stage I selects the set {1, 2}.",
        printed="p of {1, 2} → 1; α = 0.01, w = 3 and 0.01, c = a = 0.01, learning rate 1, 2,000 epochs",
        chapter="three-stages",
        measure=stages.stage_one_selection,
        report=lambda m: (
            "Selected sets: "
            + "; ".join(
                f"α = {alpha:g} and a gap of {gap:g}: {_winners(found['winners'])}"
                for (alpha, gap), found in m[0]["settings"].items()
            )
            + "."
        ),
        rule=stages.rule_stage_one_selection,
        judged="{1, 2} ends with a share above 0.99 in every data set, as printed, or with another α or gap",
        change="α = 0.1, as in the authors' public code, or a copying gap of 4 in place of 2.99. The "
        "printed settings select {3}.",
        inside="seeds",
    ),
    Claim(
        id="chen2024-rate1",
        source=f"{_SOURCE}, Theorem 3.6 (I) and (D.6)",
        claim="In Stage I the share of S* tends to one exponentially: log-ratios grow linearly, with slope "
        "4aΔĨ/C_D.",
        printed="an upper bound, and a slope",
        chapter="three-stages",
        measure=stages.stage_one_rates,
        report=lambda m: (
            f"α = 0.1. Largest 1 − p over its bound: {over(m, 'bound_ratio')}. Slopes change by at most "
            f"{max(x['bend'] for x in m):.1%} during the race. Measured over predicted slope: "
            f"{spread(r for x in m for r in x['ratios'].values())} with the printed start, "
            f"{spread(r for x in m for r in x['sharp_ratios'].values())} with sharp heads and a small ε."
        ),
        rule=stages.rule_stage_one_rates,
        judged="no share beyond its bound, slopes constant to 5 % and within 15 % of the predicted",
        change="For the slope: sharp heads (a copying gap of 20) and ε = 1e-4, the limit in which it is "
        "derived. The bound and the linear growth need no change.",
    ),
    Claim(
        id="chen2024-fig3b",
        source=f"{_SOURCE}, Figure 3(b) and B.1",
        claim="In Stage II heads 1 and 2 concentrate on lags 1 and 2, and head 3 stays.",
        printed="attention → 1; 50,000 epochs of learning rate 1, α = 0.01",
        chapter="three-stages",
        measure=_stage_two,
        report=lambda m: (
            "; ".join(
                f"α = {alpha:g}: own weights {each([x['alphas'][alpha]['own'] for x in m])}, attention "
                f"{each([x['alphas'][alpha]['attention'] for x in m], '.3f')}, weights at time 5e7 "
                f"{each([x['alphas'][alpha]['long_own'] for x in m])}"
                for alpha in m[0]["alphas"]
            )
            + ". (First seed by descent, others by the flow.)"
        ),
        rule=stages.rule_stage_two_heads,
        judged="attention of heads 1 and 2 above 0.98, weights of head 3 moved by less than 0.05",
        change="α = 0.1, as in the authors' public code. With α = 0.01 Stage I has selected {3}, and head 3 "
        "moves. Our flow reaches the weights of about 9.6 in the authors' picture only near time "
        "5e7, not by 50,000.",
        quick={"descend": False},
    ),
    Claim(
        id="chen2024-rate2",
        source=f"{_SOURCE}, Theorem 3.6 (II)",
        claim="In Stage II one minus the product of squared attentions decays like 1/t, below an explicit "
        "bound.",
        printed="exponent −1",
        chapter="three-stages",
        measure=stages.stage_two_rate,
        report=lambda m: (
            f"Exponent {over(m, 'slope', '.4f')}; largest distance over its bound "
            f"{over(m, 'bound_ratio', '.2f')}; time × distance tends to {over(m, 'constant', '.0f')}, "
            f"predicted {over(m, 'predicted', '.0f')}."
        ),
        rule=stages.rule_stage_two_rate,
        judged="exponent within 0.02 of −1, bound never exceeded",
    ),
    Claim(
        id="chen2024-fig3c",
        source=f"{_SOURCE}, Figure 3(c) and B.1",
        claim="In Stage III the scale a grows, first fast, then slowly, and does not stop.",
        printed="5,000 epochs of learning rate 1, α = 0.01",
        chapter="three-stages",
        measure=stages.stage_three_growth,
        report=lambda m: (
            "; ".join(
                f"α = {alpha:g}: a = {each([x['alphas'][alpha]['a'][1:] for x in m])} after 1, 10, 100, "
                f"1,000 and 5,000 steps; {_ends(x['alphas'][alpha]['ends_at'] for x in m)}"
                for alpha in m[0]["alphas"]
            )
            + "."
        ),
        rule=stages.rule_stage_three_growth,
        judged="a grows over every recorded interval, in the last at under a tenth of its greatest speed",
    ),
    Claim(
        id="chen2024-rate3",
        source=f"{_SOURCE}, Theorem 3.6 (III) and E.4",
        claim="In Stage III the speed of a grows like e^a while a is small; later a grows slowly.",
        printed="e^a, then slow growth: the extract reads 1/a, the appendix has e^(−2a), logarithmic growth",
        chapter="three-stages",
        measure=stages.stage_three_rate,
        report=lambda m: (
            f"Exponent of the speed in a: {over(m, 'small', '.2f')} at a = 0 with many contexts; "
            f"{over(m, 'bounded')} at a = 18 where the kernel is bounded away from zero; under a Dirichlet "
            f"prior "
            + ", ".join(
                f"{spread(x['dirichlet'][alpha] for x in m)} at α = {alpha}" for alpha in m[0]["dirichlet"]
            )
            + "."
        ),
        rule=stages.rule_stage_three_rate,
        judged="first exponent above 0.8, second within 0.02 of −2: the form that the paper derives",
    ),
    Claim(
        id="chen2024-gih-distance",
        source=f"{_SOURCE}, Lemma E.6",
        claim="The trained transformer and the generalized induction head differ by at most O(L^(−1/8)).",
        printed="exponent −1/8 at a = (log L)/8",
        chapter="transformer-in-your-hand",
        measure=construction.gih_distance,
        report=lambda m: (
            f"Exponent for very long sequences {over(m, 'exponent', '.4f')}; constant "
            f"{spread(max(x['scaled']) for x in m)}, at L up to 10,000. No distance exceeds its "
            f"deterministic bound (largest ratio {over(m, 'largest_ratio', '.2f')}). The model trained at L "
            f"= 100 differs by {spread((x['trained']['mean'] for x in m), '.4f')} on average."
        ),
        rule=construction.rule_chen2024_gih_distance,
        judged="no ratio above one, constant below 3, exponent within 0.005 of −1/8",
    ),
    Claim(
        id="chen2024-fig5",
        source=f"{_SOURCE}, Figure 5 and B.2",
        claim="With all weights trained at once {2, 3} leads first, then {1, 2} rises to about 0.6 and two "
        "others to about 0.2.",
        printed="the full model; 10,000 epochs, learning rate 1",
        chapter="all-at-once",
        measure=joint.joint_training,
        report=lambda m: _joint_shares(m[0]),
        rule=joint.rule_chen2024_fig5,
        judged="{2, 3} is the first to hold half, {1, 2} ends between 0.4 and 0.8, the other pairs above "
        "0.08, and the loss falls: as printed, with another learning rate, or with the public code's "
        "model",
        change="No reading of this size shows all of it. In the public code's model (a framework's layer "
        "normalization, attention to oneself, its loss, rate 0.001) a wrong pair leads first and the shares "
        "end about as pictured, but that pair is {1, 3}; on some samples of 1,000 chains it is {2, 3}. In "
        "the model of the text {2, 3} can lead at rate 0.001, and is not overtaken in 10,000 steps.",
        inside="n_samples",
        quick=_QUICK_JOINT,
    ),
    Claim(
        id="chen2024-fig6",
        source=f"{_SOURCE}, Figure 6 and B.2",
        claim="Trained at once, W_Q and W_K stay near zero and W_V becomes a multiple of the identity.",
        printed="W_V near 0.07 times the identity",
        chapter="all-at-once",
        measure=joint.joint_training,
        report=lambda m: _joint_matrices(m[0]),
        rule=joint.rule_chen2024_fig6,
        judged="W_Q and W_K below 0.005, diagonal of W_V between 0.03 and 0.15, relative distance from the "
        "multiples of the identity below 0.25; with a change: plus a constant, or in another reading",
        change="The public code's model (see chen2024-fig5), and a constant beside the identity, which "
        "layer normalization hides.",
        inside="n_samples",
        quick=_QUICK_JOINT,
    ),
    Claim(
        id="chen2024-fig7",
        source=f"{_SOURCE}, Figure 7 and B.3",
        claim="Trained at L = 100, the loss falls with L for three concentrations; at 0.2 it has a small "
        "bump above 100.",
        printed="L from 10 to 1,000, α = 0.05, 0.1, 0.2",
        chapter="longer-and-stranger",
        measure=joint.length_generalization,
        report=_length_curves,
        rule=joint.rule_chen2024_fig7,
        judged="the loss falls at every α, and at 0.2 it rises above 100 by three standard errors",
        change="The fall comes out for α = 0.1 in training (the printed 0.01 selects {3}). The bump does "
        "not: a test set of 1,000 sequences shows one by chance.",
        options={"n_chains": 4000},
    ),
)
