"""The ledger: every claim of both papers put to the test.

Each entry of `CLAIMS` names what is claimed and where, how it is measured, and the rule that turns
the measurement into a verdict. `run` checks claims; `table` and `Ledger` show the outcome.

    python -m markov_transformers reproduce [ID ...] [--json] [--quick] [--list]
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ._progress import progress
from .claims import _claim, construction, escape, failure, information, joint, questions, stages, success
from .claims._claim import VERDICTS, Claim, Row
from .claims._ledger import FIELDS, Ledger, as_objects, stored, summary, table

__all__ = [
    "CLAIMS",
    "FIELDS",
    "VERDICTS",
    "Claim",
    "Ledger",
    "Row",
    "as_objects",
    "listing",
    "run",
    "stored",
    "summary",
    "table",
]

_P1, _P2 = "Chen et al. (2024)", "Shi and Cao (2025)"
# A quick check keeps the sizes, and leaves out readings and steps that decide nothing.
_QUICK_JOINT = {"rates": (1.0,), "n_steps": 2000}
_QUICK_READINGS = {"readings": {name: escape.READINGS[name] for name in ("as printed", "summed loss")}}


def run(ids: Iterable[str] = (), *, quick: bool = False) -> list[Row]:
    """Check the named claims, all by default.

    Parameters
    ----------
    ids : iterable of str, default ()
        Keys of `CLAIMS`; the rows come in the order of the ledger.
    quick : bool, default False
        Whether to use fewer seeds, and to leave out readings and steps that decide nothing.

    Returns
    -------
    list of Row

    Raises
    ------
    ValueError
        If an id is unknown. The message names the nearest.

    Examples
    --------
    >>> run(["shi2025-positions"])[0].verdict
    'reproduced'
    """
    wanted = list(ids)
    for name in wanted:
        if name not in CLAIMS:
            nearest = difflib.get_close_matches(str(name), CLAIMS, n=1, cutoff=0.0)[0]
            raise ValueError(
                f"id must be one of the {len(CLAIMS)} of the ledger, got {name!r}; the nearest is {nearest!r}"
            )
    chosen = [claim for name, claim in CLAIMS.items() if not wanted or name in wanted]
    known: dict = {}
    return [_claim.run(claim, quick, known) for claim in progress(chosen, "checking")]


def listing() -> str:
    """Return the ids, one a line, each with what is claimed."""
    wide = max(map(len, CLAIMS))
    return "\n".join(f"{claim.id:<{wide}}  {claim.claim}" for claim in CLAIMS.values())


def _spread(values: Iterable[float], form: str = ".3f") -> str:
    """Median, with the range where there is one to see."""
    values = np.array(list(values), dtype=float)
    middle, low, high = (f"{v:{form}}" for v in (np.median(values), values.min(), values.max()))
    return middle if low == high else f"{middle} ({low} to {high})"


def _over(measurements: list[dict], name: str, form: str = ".3f") -> str:
    return _spread((m[name] for m in measurements), form)


def _short(value: float) -> str:
    return f"{value:g}".replace("e-0", "e-")


def _each(rows: Sequence[Sequence[float]], form: str = ".2f") -> str:
    """Median, and range, of each entry of a list that every seed has."""
    return ", ".join(_spread(values, form) for values in zip(*rows))


def _small(value: float, limit: float = 1e-9) -> str:
    """A rounding error, told so that every processor tells the same."""
    return f"below {_power(limit)}" if abs(value) < limit else f"{value:.1e}"


def _power(value: float) -> str:
    """The next power of ten above, 1e-9 at least."""
    return f"1e{int(np.ceil(np.log10(max(value, 1e-9)) - 1e-9))}"


def _set(subset: Iterable[int] | None) -> str:
    return "no set" if subset is None else "{" + ", ".join(map(str, subset)) + "}"


def _winners(sets: Iterable[tuple[int, ...] | None]) -> str:
    counts = Counter(sets)
    if len(counts) == 1:
        return _set(next(iter(counts)))
    return ", ".join(f"{_set(s)} in {count} of {counts.total()}" for s, count in counts.most_common())


def _gap(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _ends(values: Iterable[float]) -> str:
    """In how many samples a would stop growing, which the speed at larger values tells."""
    values = list(values)
    found = [value for value in values if np.isfinite(value)]
    told = f"growth would end below a = 30 in {len(found)} of {len(values)} samples"
    return f"{told}, at {min(found):g} or later" if found else told


def _pairs(found: Mapping[float, tuple[float, float]], name: str) -> str:
    return ", ".join(f"{seen:.3f} against {law:.3f} ({name} = {x:g})" for x, (seen, law) in found.items())


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
            f"{_each([run['pairs'] for run in runs])}"
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
            _spread(nearest(run, name) for run in runs)
            for name in ("diagonal", "off", "proportional", "with_constant")
        )
        return (
            f"W_Q, W_K up to {_over(runs, 'query_key', '.4f')}, W_V {size} on and {off} off the diagonal, "
            f"distance from the multiples of the identity {far}, with a constant {left}"
        )

    return "Best head: " + "; ".join(f"{name}: {told(runs)}" for name, runs in _joint_runs(found)) + "."


def _length_curves(measurements: list[dict]) -> str:
    curves = []
    for alpha in measurements[0]["loss"]:
        ends = [np.array(m["loss"][alpha]["transformer"])[[0, 3, -1]] for m in measurements]
        curves.append(f"{_each(ends)} at α = {alpha}")
    return (
        f"Trained on α = {measurements[0]['trained_on']}, loss at L = 10, 100, 1,000: {'; '.join(curves)}. "
        f"Largest rise above 100 at α = 0.2, in standard errors: "
        f"{_spread((m['rise'][0.2] for m in measurements), '.1f')}. Chance of one at the next length in a "
        f"test set of 1,000: {_spread((m['chance'][0.2] for m in measurements), '.2f')}."
    )


def _gaps(measurements: list[dict]) -> str:
    gaps = [joint.bayes_gap(m)[0.1] for m in measurements]
    return (
        "Nats above the best possible at L = 10, 100, 1,000 and α = 0.1: "
        + "; ".join(
            f"{name} {_each([np.array(g[name])[[0, 3, -1]] for g in gaps], '.3f')}" for name in gaps[0]
        )
        + "."
    )


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


def _escapes(found: Mapping[str, int | None]) -> str:
    return ", ".join(f"{name}: {'never' if at is None else at}" for name, at in found.items())


def _readings(found: Mapping[str, Mapping[float, dict]], p: float) -> str:
    """How many runs of each reading reach their best accuracy, when, and how far the divergence fell."""

    def told(name: str) -> str:
        seen = found[name][p]
        reach = [at for at in seen["reach"] if at is not None]
        when = f"{len(reach)} of {len(seen['reach'])} runs get there"
        when += f", at {_spread(reach, '.0f')}" if reach else ""
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


def _escape(found: Mapping) -> str:
    times = ", ".join(
        f"{_spread(row, '.0f')} at σ = {_short(sigma)}"
        for sigma, row in zip(found["sigmas"], found["attention"])
    )
    walk = ", ".join(
        f"{_spread(row, '.0f')} at {_short(sigma)}" for sigma, row in zip(found["walk_sigmas"], found["walk"])
    )
    ratio = found["law"] / found["attention"]
    return (
        f"Iterations until one lag class has half of the attention (learning rate 10): {times}. The law T = "
        f"K²/(2η) ((v + ε)² − ε²) with v = log(1/amplitude)/κ, quadratic in log(1/σ), gives "
        f"{_spread(ratio.ravel(), '.2f')} of these; κ predicted {found['rate_predicted']:.3f}, measured "
        f"{_spread(found['rate_measured'])}. The walk with p = 1/2 needs {walk}."
    )


_CLAIMS = (
    Claim(
        id="chen2024-dpi",
        source=f"{_P1}, section 3.1 and C.5",
        claim="Vanilla chi-squared information obeys the data processing inequality, and every superset of "
        "the parents has exactly as much of it as the parents.",
        printed="an inequality and an equality",
        chapter="information",
        measure=information.data_processing,
        report=lambda m: (
            f"1,000 chains a seed (d = 3, lags 1 and 2, M = 4). Largest ratio of a set to one with a lag "
            f"more: {_over(m, 'largest_subset_ratio', '.6f')}; largest relative difference between a "
            f"superset and the parents: {_small(max(x['superset_difference'] for x in m))}."
        ),
        rule=information.rule_chen2024_dpi,
        judged="no ratio above one and no difference from the parents, to 1e-9",
    ),
    Claim(
        id="chen2024-superset",
        source=f"{_P1}, section 3.1",
        claim="A strict superset of the parents has strictly less modified chi-squared information than "
        "they.",
        printed="a strict inequality",
        chapter="information-with-a-price",
        measure=information.strict_supersets,
        report=lambda m: (
            f"Largest ratio of a superset to the parents: {_over(m, 'largest_ratio')}, median ratio "
            f"{_over(m, 'median_ratio')}, over 1,000 chains a seed (d = 3, lags 1 and 2, M = 4). It is one "
            f"for a "
            "deterministic walk, which Assumption 3.5 excludes."
        ),
        rule=information.rule_chen2024_superset,
        judged="every ratio is below one",
    ),
    Claim(
        id="chen2024-uniform",
        source=f"{_P1}, (C.6) and the sentence before it",
        claim="If windows of r_n tokens are uniform, so are windows of any other length, and the logarithm "
        "of the modified information is that of the vanilla one less |S| log d.",
        printed="log Ĩ(S) = log I(S) − |S| log d",
        chapter="information-with-a-price",
        measure=information.uniform_windows,
        report=lambda m: (
            f"Deviation from (C.6) for sets that fit into r_n = 2 tokens: "
            f"{_small(max(x['within'] for x in m))}; for wider sets up to {_over(m, 'beyond', '.2f')}. "
            f"Windows of three tokens differ from uniform by up to a relative "
            f"{_over(m, 'nonuniformity_beyond', '.2f')}."
        ),
        rule=information.rule_chen2024_uniform,
        judged="each part to 1e-9, over 1,000 chains a seed whose windows of two tokens are uniform",
        change="True instead: windows of up to r_n tokens are uniform, and (C.6) holds for sets that fit "
        "into r_n neighbouring tokens.",
    ),
    Claim(
        id="chen2024-one-parent",
        source=f"{_P1}, C.7",
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
        source=f"{_P1}, C.7",
        claim="If the number n of parents is known, the best set of n lags is the parents, for uniform "
        "windows.",
        printed="S* = pa if |S| = n",
        chapter="information-with-a-price",
        measure=information.known_size,
        report=lambda m: (
            "2,500 chains over two tokens that repeat lag 2 with a probability set by lag 1. Another pair "
            "wins "
            + ", ".join(f"{x['share']:.1%} at M = {window}" for window, x in m[0].items())
            + f"; {_set(m[0][4]['rival'])} has up to {m[0][4]['rival_ratio']:.2f} times the parents' "
            f"information."
        ),
        rule=information.rule_chen2024_known_size,
        judged="the parents win in every chain, at each M",
        change="True instead: the parents are the best of the sets of n lags that fit into r_n neighbouring "
        "tokens, so the claim holds for M ≤ r_n.",
        seeds=0,
    ),
    Claim(
        id="chen2024-degree",
        source=f"{_P1}, Corollary C.5",
        claim="For uniform windows the information set has at most n lags, so D ≤ n loses nothing.",
        printed="|S*| ≤ n",
        chapter="information-with-a-price",
        measure=information.enough_lags,
        report=lambda m: (
            f"More lags than parents win {sum(x['n_larger'] for x in m)} of "
            f"{sum(x['n_chains'] for x in m):,} random chains with three parents. A chain with four parents "
            f"at M = 6 selects {_set(m[0]['best'][6])}, which has {m[0]['ratio'][6]:.4f} times the "
            f"information of the best set of at most four lags."
        ),
        rule=information.rule_chen2024_degree,
        judged="no set of more than n lags beats all of at most n",
        change="True instead: no superset of the parents, and no set of more than n lags that fits into r_n "
        "neighbouring tokens, beats the parents. Wider sets can.",
    ),
    Claim(
        id="chen2024-kernel",
        source=f"{_P1}, Lemma C.1, (2.3) and (C.4)",
        claim="The feed-forward network realises the polynomial kernel with explicit monomial features.",
        printed="37 features at H = d = 3, D = 2",
        chapter="generalized-induction-head",
        measure=information.polynomial_kernel,
        report=lambda m: (
            f"Largest error over 1,000 pairs a seed: {_small(max(x['error'] for x in m))}; "
            f"{m[0]['n_features']} features, {m[0]['n_features_formula']} by (C.4)."
        ),
        rule=construction.rule_chen2024_kernel,
        judged="no error above 1e-10 and the number of features as in (C.4)",
    ),
    Claim(
        id="chen2024-construction",
        source=f"{_P1}, C.1, (C.1) and (C.2)",
        claim="With weights set by hand the transformer tends to the generalized induction head as position "
        "weights ρ and scale a grow, also where nothing matches.",
        printed="a limit",
        chapter="transformer-in-your-hand",
        measure=construction.construction,
        report=lambda m: (
            f"Largest l1 distance at ρ = a = 2, 5, 10: "
            f"{', '.join(_spread((x['together'][i] for x in m), '.2g') for i in range(3))}; at 50 "
            f"{_small(max(x['together'][-1] for x in m))}. Sequences without a match: "
            f"{_small(max(x['fallback'][-1] for x in m))} at 50."
        ),
        rule=construction.rule_chen2024_construction,
        judged="the distance ends below 1e-10, over all sequences and over those without a match",
    ),
    Claim(
        id="chen2024-sequential",
        source=f"{_P1}, C.4 and (C.5)",
        claim="With relative positions, features depend on the last M tokens alone, whatever the length, "
        "and the sequential loss is the sum of the losses over lengths.",
        printed="two equalities",
        chapter="what-the-loss-can-see",
        measure=construction.sequential_loss,
        report=lambda m: (
            f"Feature change under a shift: {_small(max(x['shift_difference'] for x in m))}, by the oldest "
            f"token of the window: {_over(m, 'window_difference', '.2f')}. Relative difference of the two "
            f"losses: {_small(max(x['sum_difference'] for x in m))}."
        ),
        rule=construction.rule_chen2024_sequential,
        judged="both differences below 1e-10, and the window's tokens do matter",
    ),
    Claim(
        id="chen2024-norm",
        source=f"{_P1}, Lemma E.1",
        claim="The sum of squares C_D stays constant along the flow of Stage I.",
        printed="dC_D/dt = 0",
        chapter="three-stages",
        measure=stages.conservation,
        report=lambda m: (
            f"Relative change along the flow, solved in c itself: "
            f"{_small(max(x['drift'] for x in m), 1e-6)}. Descent with learning rate 1 multiplies C_D by "
            f"{_over(m, 'descent_growth', '.2f')} in 2,000 steps, "
            "each step adding the squared gradient."
        ),
        rule=stages.rule_conservation,
        judged="change below 1e-6, and c orthogonal to its gradient to 1e-9",
    ),
    Claim(
        id="chen2024-fig3a",
        source=f"{_P1}, Figure 3(a) and B.1",
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
        source=f"{_P1}, Theorem 3.6 (I) and (D.6)",
        claim="In Stage I the share of S* tends to one exponentially: log-ratios grow linearly, with slope "
        "4aΔĨ/C_D.",
        printed="an upper bound, and a slope",
        chapter="three-stages",
        measure=stages.stage_one_rates,
        report=lambda m: (
            f"α = 0.1. Largest 1 − p over its bound: {_over(m, 'bound_ratio')}. Slopes change by at most "
            f"{max(x['bend'] for x in m):.1%} during the race. Measured over predicted slope: "
            f"{_spread(r for x in m for r in x['ratios'].values())} with the printed start, "
            f"{_spread(r for x in m for r in x['sharp_ratios'].values())} with sharp heads and a small ε."
        ),
        rule=stages.rule_stage_one_rates,
        judged="no share beyond its bound, slopes constant to 5 % and within 15 % of the predicted",
        change="For the slope: sharp heads (a copying gap of 20) and ε = 1e-4, the limit in which it is "
        "derived. The bound and the linear growth need no change.",
    ),
    Claim(
        id="chen2024-fig3b",
        source=f"{_P1}, Figure 3(b) and B.1",
        claim="In Stage II heads 1 and 2 concentrate on lags 1 and 2, and head 3 stays.",
        printed="attention → 1; 50,000 epochs of learning rate 1, α = 0.01",
        chapter="three-stages",
        measure=_stage_two,
        report=lambda m: (
            "; ".join(
                f"α = {alpha:g}: own weights {_each([x['alphas'][alpha]['own'] for x in m])}, attention "
                f"{_each([x['alphas'][alpha]['attention'] for x in m], '.3f')}, weights at time 5e7 "
                f"{_each([x['alphas'][alpha]['long_own'] for x in m])}"
                for alpha in m[0]["alphas"]
            )
            + ". (First seed by descent, others by the flow.)"
        ),
        rule=stages.rule_stage_two_heads,
        judged="attention of heads 1 and 2 above 0.98, weights of head 3 moved by less than 0.05",
        change="α = 0.1, as in the authors' public code. With α = 0.01 Stage I has selected {3}, and head 3 "
        "moves. The weights of about 9.6 in the authors' picture belong to a time near 5e7, not "
        "50,000.",
        quick={"descend": False},
    ),
    Claim(
        id="chen2024-rate2",
        source=f"{_P1}, Theorem 3.6 (II)",
        claim="In Stage II one minus the product of squared attentions decays like 1/t, below an explicit "
        "bound.",
        printed="exponent −1",
        chapter="three-stages",
        measure=stages.stage_two_rate,
        report=lambda m: (
            f"Exponent {_over(m, 'slope', '.4f')}; largest distance over its bound "
            f"{_over(m, 'bound_ratio', '.2f')}; time × distance tends to {_over(m, 'constant', '.0f')}, "
            f"predicted {_over(m, 'predicted', '.0f')}."
        ),
        rule=stages.rule_stage_two_rate,
        judged="exponent within 0.02 of −1, bound never exceeded",
    ),
    Claim(
        id="chen2024-fig3c",
        source=f"{_P1}, Figure 3(c) and B.1",
        claim="In Stage III the scale a grows, first fast, then slowly, and does not stop.",
        printed="5,000 epochs of learning rate 1, α = 0.01",
        chapter="three-stages",
        measure=stages.stage_three_growth,
        report=lambda m: (
            "; ".join(
                f"α = {alpha:g}: a = {_each([x['alphas'][alpha]['a'][1:] for x in m])} after 1, 10, 100, "
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
        source=f"{_P1}, Theorem 3.6 (III) and E.4",
        claim="In Stage III the speed of a grows like e^a while a is small; later a grows slowly.",
        printed="e^a, then slow growth: the extract reads 1/a, the appendix has e^(−2a), logarithmic growth",
        chapter="three-stages",
        measure=stages.stage_three_rate,
        report=lambda m: (
            f"Exponent of the speed in a: {_over(m, 'small', '.2f')} at a = 0 with many contexts; "
            f"{_over(m, 'bounded')} at a = 18 where the kernel is bounded away from zero; under a Dirichlet "
            f"prior "
            + ", ".join(
                f"{_spread(x['dirichlet'][alpha] for x in m)} at α = {alpha}" for alpha in m[0]["dirichlet"]
            )
            + "."
        ),
        rule=stages.rule_stage_three_rate,
        judged="first exponent above 0.8, second within 0.02 of −2: the form that the paper derives",
    ),
    Claim(
        id="chen2024-gih-distance",
        source=f"{_P1}, Lemma E.6",
        claim="The trained transformer and the generalized induction head differ by at most O(L^(−1/8)).",
        printed="exponent −1/8 at a = (log L)/8",
        chapter="transformer-in-your-hand",
        measure=construction.gih_distance,
        report=lambda m: (
            f"Exponent for very long sequences {_over(m, 'exponent', '.4f')}; constant "
            f"{_spread(max(x['scaled']) for x in m)}, at L up to 10,000. No distance exceeds its "
            f"deterministic bound (largest ratio {_over(m, 'largest_ratio', '.2f')}). The model trained at L "
            f"= 100 differs by {_spread((x['trained']['mean'] for x in m), '.4f')} on average."
        ),
        rule=construction.rule_chen2024_gih_distance,
        judged="no ratio above one, constant below 3, exponent within 0.005 of −1/8",
    ),
    Claim(
        id="chen2024-fig5",
        source=f"{_P1}, Figure 5 and B.2",
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
        source=f"{_P1}, Figure 6 and B.2",
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
        source=f"{_P1}, Figure 7 and B.3",
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
    Claim(
        id="shi2025-optimal",
        source=f"{_P2}, section 2",
        claim="Πᵀx_{N−1} is the best predictor of the walk; its accuracy is max{p, 1 − p}.",
        printed="max{p, 1 − p}",
        chapter="walk-and-transformer",
        measure=success.best_prediction,
        report=lambda m: (
            f"All walks of length 11 on six nodes, p = 0.3, 0.5, 0.7, 1. Its difference from the law of the "
            f"target {_small(m[0]['law_error'])}, from the accuracy {_small(m[0]['accuracy_error'])}; gain "
            f"of any function of the input {_small(m[0]['gain'])}."
        ),
        rule=success.rule_shi2025_optimal,
        judged="all three below 1e-9",
        seeds=0,
    ),
    Claim(
        id="shi2025-positions",
        source=f"{_P2}, section 2 and Lemma E.5",
        claim="Different positional embeddings are orthogonal.",
        printed="0 for i ≠ j; M = 1000, N = 97",
        chapter="walk-and-transformer",
        measure=success.position_products,
        report=lambda m: (
            f"Largest inner product of two: about 1e{np.log10(m[0]['float32']):.0f} in float32, "
            f"{_small(m[0]['float64'])} in float64; squared lengths (M + 1)/2 to "
            f"{_small(m[0]['square_error'])}."
        ),
        rule=success.rule_shi2025_positions,
        judged="within the bound for rounding errors in each precision, and at least a million times "
        "smaller in the finer one",
        seeds=0,
    ),
    Claim(
        id="shi2025-first-step",
        source=f"{_P2}, section 3, Step 1, and Lemma C.1",
        claim="After one step V is a Toeplitz matrix whose largest entries stand exactly where Πᵀ has them, "
        "and W is zero.",
        printed="K = 6, N = 97",
        chapter="learning-the-walk",
        measure=success.first_step,
        report=lambda m: (
            "Offsets with the largest entry: "
            + "; ".join(
                f"{_set(offsets)} at p = {p}, N = {length}"
                for (p, length), offsets in m[0]["largest"].items()
            )
            + (
                f". Population, exact. On 1,000 walks entries scatter along a diagonal by "
                f"{_spread(m[0]['sample_spread'], '.1%')}, where the signal is {m[0]['signal']:.1%}."
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
        source=f"{_P2}, Theorem 3.1 (1)",
        claim="After a constant number of steps the accuracy is max{p, 1 − p}.",
        printed="max{p, 1 − p}",
        chapter="learning-the-walk",
        measure=success.theorem,
        report=lambda m: (
            "; ".join(
                f"p = {p}: {x['accuracy']:.6f} on the population, from step {x['learned_at']} on; "
                f"{_spread(x['sample_accuracy'])} when trained on 1,000 walks"
                for p, x in m[0].items()
            )
            + "."
        ),
        rule=success.rule_shi2025_accuracy,
        judged="population accuracy best possible to 1e-9, from the tenth step on at the latest",
        inside="n_seeds",
        quick={"steps": 1000},
    ),
    Claim(
        id="shi2025-output",
        source=f"{_P2}, Theorem 3.1 (2)",
        claim="The output converges in direction to the best predictor, at rate T^(−1/2).",
        printed="O(T^(−1/2)), 0 < p < 1",
        chapter="learning-the-walk",
        measure=success.theorem,
        report=lambda m: _directions(m[0], "output"),
        rule=success.rule_shi2025_output,
        judged="distance below 0.05 with exponent between −0.6 and −0.4; contradicted if that holds for the "
        "square root and the distance stays",
        change="True instead, for p ≠ 1/2: the limit is the direction of the entrywise square root, at the "
        "same rate.",
        inside="n_seeds",
        quick={"steps": 1000},
    ),
    Claim(
        id="shi2025-value",
        source=f"{_P2}, Theorem 3.1 (3)",
        claim="V converges in direction to the transition matrix Πᵀ, at rate T^(−1/2).",
        printed="O(T^(−1/2)), 0 < p < 1",
        chapter="learning-the-walk",
        measure=success.theorem,
        report=lambda m: _directions(m[0], "value"),
        rule=success.rule_shi2025_value,
        judged="distance below 0.05 with exponent between −0.6 and −0.4; contradicted if that holds for the "
        "square root and the distance stays",
        change="True instead, for p ≠ 1/2: the limit is the entrywise square root of Πᵀ, at the same rate.",
        inside="n_seeds",
        quick={"steps": 1000},
    ),
    Claim(
        id="shi2025-attention",
        source=f"{_P2}, Theorem 3.1 (4)",
        claim="The direct parent gets attention close to one.",
        printed="at least 1 − e^(−Ω(N))",
        chapter="learning-the-walk",
        measure=success.theorem,
        report=lambda m: (
            "; ".join(
                f"p = {p}: short of one by less than {_power(1 - x['attention'])} on the population "
                f"(N = 11), {_power(1 - np.median(x['sample_attention']))} in the median sample (N = 97)"
                for p, x in m[0].items()
            )
            + "."
        ),
        rule=success.rule_shi2025_attention,
        judged="short of one by less than 1e-4, population and median sample",
        inside="n_seeds",
        quick={"steps": 1000},
    ),
    Claim(
        id="shi2025-fig4",
        source=f"{_P2}, Figure 4",
        claim="From zero, at p = 0.5: accuracy near 50 % in a few steps, V recovers Πᵀ, attention on N − 1.",
        printed="K = 6, N = 97, M = 1000, 1,000 walks, learning rate 1, 50 steps",
        chapter="learning-the-walk",
        measure=success.figure_4,
        report=lambda m: (
            f"Accuracy {_spread(m[0]['accuracy'])} after 10 steps, {_spread(m[0]['end'])} after 50; smallest "
            f"entry of V on Πᵀ over the largest off it {_spread(m[0]['contrast'], '.1f')}; attention on N − "
            f"1 {_spread(m[0]['attention'], '.4f')}."
        ),
        rule=success.rule_shi2025_fig4,
        judged="median accuracies within 0.05 of 0.5, contrast above 2, attention above 0.99",
        inside="n_seeds",
    ),
    Claim(
        id="shi2025-any-loss",
        source=f"{_P2}, Theorem 4.1",
        claim="For a deterministic walk with N = rK + 1 the accuracy stays 1/K, for any loss, rate and time.",
        printed="1/K",
        chapter="easier-task-that-fails",
        measure=failure.any_loss,
        report=lambda m: (
            f"Five losses, rates from 0.001 to 1,000, p = 0 and 1, 200 steps: accuracy "
            f"{_spread(m[0]['accuracy'], '.4f')}; V and attention on the input differ from constant by "
            f"{_small(max(m[0]['value_spread'], m[0]['attention_spread']))}. At other N, all right after one "
            f"step in {'every' if m[0]['other_one_step'] > 1 - 1e-9 else 'not every'} run. "
            "The literal model leaves this course by rounding: see new-rounding."
        ),
        rule=failure.rule_shi2025_any_loss,
        judged="1/K at every step of every run, V and attention constant to 1e-9",
        seeds=0,
    ),
    Claim(
        id="shi2025-fig5",
        source=f"{_P2}, Figure 5",
        claim="From zero, at p = 1: accuracy near 1/6, V a multiple of ones, flat attention.",
        printed="0.167; K = 6, N = 97, learning rate 1, 50 steps",
        chapter="easier-task-that-fails",
        measure=failure.figure_5,
        report=lambda m: (
            "Exact inner products: accuracy {:.3f} ({:.3f} to {:.3f}), ".format(*m[0]["accuracy"])
            + f"rows of V uneven by up to {m[0]['uneven']:.0%}, attention flat to "
            f"{_small(m[0]['attention_spread'])}. The literal model leaves this course at iteration: "
            f"{_escapes(m[0]['escapes'])}."
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
        source=f"{_P2}, Figure 6(a)",
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
        source=f"{_P2}, Figure 6(c), (d)",
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
        source=f"{_P2}, section 6, Task 1",
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
        source=f"{_P2}, section 6, Task 2",
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
    Claim(
        id="new-phase-diagram",
        source="beyond both papers",
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
        source="beyond both papers",
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
        source="beyond both papers",
        claim="How does floating-point error alone break the symmetry of Theorem 4.1?",
        printed="",
        chapter="easier-task-that-fails",
        measure=failure.rounding,
        report=lambda m: (
            f"Iteration at which a token gets twice its share of attention: {_escapes(m[0]['escapes'])}. "
            f"Predicted from the deviation at iteration 3: {_escapes(m[0]['predicted'])}."
        ),
        rule=failure.rule_new_rounding,
        judged="no verdict: a question",
        quick={"steps": 20},
        seeds=0,
    ),
    Claim(
        id="new-bayes-gap",
        source="beyond both papers",
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
        source="beyond both papers",
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
CLAIMS = {claim.id: claim for claim in _CLAIMS}
