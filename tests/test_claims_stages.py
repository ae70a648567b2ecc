"""The measurements of the three stages at small size, and their rules on good and bad measurements."""

import copy
import math

import numpy as np
import pytest

from markov_transformers.claims import stages as claims


@pytest.fixture(scope="module")
def found():
    """Every measurement once, on few chains and few steps."""
    return {
        "norm": claims.conservation(n_chains=300, rng=0),
        "fig3a": claims.stage_one_selection(
            settings=((0.01, 2.0), (0.1, 2.0), (0.01, 6.0)), seeds=2, n_chains=600, n_steps=500, rng=0
        ),
        "rate1": claims.stage_one_rates(n_chains=2000, rng=0),
        "fig3b": claims.stage_two_heads(
            n_chains=600, learning_rate=None, alphas=(0.01, 0.1), long_time=5e7, rng=0
        ),
        "rate2": claims.stage_two_rate(n_chains=600, rng=0),
        "fig3c": claims.stage_three_growth(n_chains=600, n_steps=1000, rng=0),
        "rate3": claims.stage_three_rate(n_kernels=2000, rng=0),
        "phase": claims.selection_phase_diagram(
            concentrations=(0.01, 0.1, 1.0), gaps=(3.0, 6.0), seeds=1, n_chains=1000, rng=0
        ),
    }


def test_the_flow_in_c_conserves_the_norm_and_descent_does_not(found):
    assert found["norm"]["drift"] < 1e-7
    assert found["norm"]["descent_growth"] > 1.5
    assert found["norm"]["pythagoras"] < 1e-12
    assert claims.rule_conservation(found["norm"]) == "reproduced"
    assert claims.rule_conservation({**found["norm"], "drift": 1e-3}) == "contradicted"
    assert claims.rule_conservation({**found["norm"], "cosine": 1e-3}) == "contradicted"


def test_blurred_heads_at_small_concentration_lose_the_parents(found):
    settings = found["fig3a"]["settings"]
    assert settings[0.01, 2.0]["winners"] == [(3,), (3,)]
    assert settings[0.1, 2.0]["winners"] == settings[0.01, 6.0]["winners"] == [(1, 2), (1, 2)]
    assert settings[0.01, 2.0]["threshold"] > 8
    assert claims.rule_stage_one_selection(found["fig3a"]) == "reproduced with a change"
    good, bad = copy.deepcopy(found["fig3a"]), copy.deepcopy(found["fig3a"])
    good["settings"][0.01, 2.0]["shares"] = [1.0, 0.999]
    assert claims.rule_stage_one_selection(good) == "reproduced"
    for key in ((0.1, 2.0), (0.01, 6.0)):
        bad["settings"][key]["shares"][1] = 0.2
    assert claims.rule_stage_one_selection(bad) == "not reproduced"


def test_two_changes_at_once_are_not_one_change():
    settings = {(0.01, 2.0): {"shares": [0.0]}, (0.1, 6.0): {"shares": [1.0]}}
    assert claims.rule_stage_one_selection({"settings": settings, "printed": (0.01, 2.0)}) == "not reproduced"


def test_speeds_of_stage_one_are_constant_and_below_those_for_sharp_heads(found):
    rates = found["rate1"]
    assert rates["subset"] == (1, 2)
    assert rates["bound_ratio"] <= 1
    assert rates["bend"] < 0.01
    assert max(rates["ratios"].values()) < 0.7
    assert min(rates["sharp_ratios"].values()) > 0.9
    assert claims.rule_stage_one_rates(rates) == "reproduced with a change"
    exact = dict.fromkeys(rates["ratios"], 1.02)
    assert claims.rule_stage_one_rates({**rates, "ratios": exact}) == "reproduced"
    assert claims.rule_stage_one_rates({**rates, "bend": 0.5}) == "not reproduced"
    assert claims.rule_stage_one_rates({**rates, "bound_ratio": 1.2}) == "contradicted"


def test_only_heads_of_the_selected_set_move(found):
    at = found["fig3b"]["alphas"]
    assert at[0.1]["moved"][2] < 1e-6 < min(at[0.1]["moved"][:2])
    assert at[0.01]["moved"][0] < 1e-6 < at[0.01]["moved"][2]
    assert min(at[0.1]["long_own"][:2]) > 9
    assert claims.rule_stage_two_heads(found["fig3b"]) == "reproduced with a change"
    swapped = {**found["fig3b"], "printed": 0.1}
    assert claims.rule_stage_two_heads(swapped) == "reproduced"
    broken = copy.deepcopy(found["fig3b"])
    broken["alphas"][0.1]["attention"][0] = 0.5
    assert claims.rule_stage_two_heads(broken) == "not reproduced"


def test_copies_become_perfect_like_one_over_t_with_the_predicted_constant(found):
    rate = found["rate2"]
    assert rate["slope"] == pytest.approx(-1, abs=0.005)
    assert rate["growth"] == pytest.approx(2 / 3, abs=0.005)
    assert rate["constant"] == pytest.approx(rate["predicted"], rel=2e-3)
    assert claims.rule_stage_two_rate(rate) == "reproduced"
    assert claims.rule_stage_two_rate({**rate, "slope": -0.5}) == "not reproduced"
    assert claims.rule_stage_two_rate({**rate, "bound_ratio": 1.5}) == "contradicted"


def test_descent_and_flow_of_stage_three_agree_in_the_end():
    by_steps = claims.stage_three_growth(alphas=(0.1,), n_chains=300, n_steps=1000, rng=0)
    by_flow = claims.stage_three_growth(alphas=(0.1,), n_chains=300, n_steps=1000, learning_rate=None, rng=0)
    np.testing.assert_allclose(by_steps["alphas"][0.1]["a"], by_flow["alphas"][0.1]["a"], atol=0.03)


def test_the_classifier_grows_fast_then_slowly(found):
    a = found["fig3c"]["alphas"][0.1]["a"]
    assert 0.1 < a[1] < 0.2 and 6.5 < a[-1] < 8
    assert found["fig3c"]["alphas"][0.1]["ends_at"] > a[-1]
    assert claims.rule_stage_three_growth(found["fig3c"]) == "reproduced"
    stopped = copy.deepcopy(found["fig3c"])
    for at in stopped["alphas"].values():
        at["a"][-1] = at["a"][-2]
    assert claims.rule_stage_three_growth(stopped) == "not reproduced"
    stopped["alphas"][0.1] = found["fig3c"]["alphas"][0.1]
    assert claims.rule_stage_three_growth(stopped) == "reproduced with a change"


def test_exponents_of_the_classifier(found):
    rate = found["rate3"]
    assert rate["small"] > 0.9
    assert rate["bounded"] == pytest.approx(-2, abs=1e-3)
    assert rate["dirichlet"][0.1] == pytest.approx(-1.05, abs=0.06)
    assert rate["dirichlet"][0.5] == pytest.approx(-1.5, abs=0.1)
    assert rate["dirichlet"][2.0] == pytest.approx(-2, abs=0.02)
    assert rate["speed_times_a"] == pytest.approx(math.exp(-2), rel=0.1)
    assert claims.rule_stage_three_rate(rate) == "reproduced"
    assert claims.rule_stage_three_rate({**rate, "small": 0.1}) == "not reproduced"
    assert claims.rule_stage_three_rate({**rate, "bounded": -1.0}) == "contradicted"


def test_the_phase_diagram_needs_less_than_the_theorem_asks_for(found):
    phase = found["phase"]
    assert phase["agreement"] >= 5 / 6
    assert phase["needed"] == {0.01: 6.0, 0.1: 3.0, 1.0: 3.0}
    assert all(phase["needed"][alpha] < phase["threshold"][alpha] for alpha in phase["needed"])
    assert claims.rule_selection_phase_diagram(phase) is None


def test_every_claim_has_a_measurement_and_a_rule():
    assert sorted(claims.CLAIMS) == sorted(
        [f"chen2024-{name}" for name in ("norm", "fig3a", "rate1", "fig3b", "rate2", "fig3c", "rate3")]
        + ["new-phase-diagram"]
    )
    assert all(callable(part) for pair in claims.CLAIMS.values() for part in pair)
