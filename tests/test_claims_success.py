"""The measurements behind Theorem 3.1 and its neighbours, small, and their rules on good and bad ones."""

import numpy as np
import pytest

from markov_transformers.claims import success as claims
from markov_transformers.one_layer import OneLayerModel
from markov_transformers.walks import CircleWalk

DIRECTIONS = {
    "value_to_step": 0.02,
    "value_to_root": 0.02,
    "value_step_rate": -0.5,
    "value_root_rate": -0.5,
    "value_between": 0.0,
    "output_to_step": 0.02,
    "output_to_root": 0.02,
    "output_step_rate": -0.5,
    "output_root_rate": -0.5,
    "output_between": 0.0,
}


@pytest.fixture(scope="module")
def short_theorem():
    return claims.theorem(rng=0, steps=300, n_seeds=1, sample_steps=10)


def stuck(what):
    return DIRECTIONS | {f"{what}_to_step": 0.174, f"{what}_step_rate": -0.01, f"{what}_between": 0.1745}


def test_the_best_predictor_is_the_law_of_the_target():
    found = claims.best_prediction(chances=(0.2, 0.5), n_nodes=5, length=6)
    assert claims.rule_shi2025_optimal(found) == "reproduced"
    for name in found:
        assert claims.rule_shi2025_optimal(found | {name: 0.01}) == "contradicted"


def test_positions_are_orthogonal_up_to_rounding_that_shrinks_with_the_precision():
    found = claims.position_products(length=20, dim=50)
    assert found["float64"] < 1e-12 < found["float32"]
    assert claims.rule_shi2025_positions(found) == "reproduced"
    assert claims.rule_shi2025_positions(found | {"float64": 0.5}) == "contradicted"
    assert claims.rule_shi2025_positions(found | {"float64": found["float32"]}) == "contradicted"


def test_means_over_offsets_read_a_circulant_matrix():
    matrix = CircleWalk(5, 0.7).transition_matrix().T
    assert claims.by_offset(matrix).tolist() == pytest.approx([0, 0.7, 0, 0, 0.3])
    assert claims.by_offset(np.stack([matrix, 2 * matrix]))[1, 1] == pytest.approx(1.4)


def test_the_direction_gap_ignores_length_and_sees_angles():
    assert claims.direction_gap([3.0, 0.0], [5.0, 0.0]) == 0
    assert claims.direction_gap([1.0, 0.0], [0.0, 2.0]) == pytest.approx(np.sqrt(2))


def test_the_tie_of_the_first_step_is_exact_for_a_fair_walk_and_an_even_number_of_inputs():
    def visits(length):
        """Number of walks of each length from node 0 to each offset, brought to one denominator."""
        count, total = [1, 0, 0, 0, 0, 0], [0] * 6
        for m in range(1, length):
            count = [count[k - 1] + count[(k + 1) % 6] for k in range(6)]
            total = [t + c * 2 ** (length - m) for t, c in zip(total, count, strict=True)]
        return total

    for length in (95, 96, 97, 98):
        total = visits(length)
        assert (total[0] == total[1] == total[5]) == (length % 2 == 1)
        assert total[1] == max(total)
        V = claims.by_offset(claims.population_first_step(CircleWalk(6, 0.5), length))
        expected = np.array(total, dtype=float)
        assert V / V.sum() == pytest.approx(expected / expected.sum(), rel=1e-12)


def test_training_takes_the_first_step_that_the_formula_predicts():
    walk = CircleWalk(5, 0.3)
    walks, weights = walk.enumerate(8)
    run = OneLayerModel(5, 8).train(walks, weights=weights, learning_rate=1.0, steps=1)
    assert run.value[1] == pytest.approx(claims.population_first_step(walk, 8), rel=1e-12)


def test_the_first_step_has_a_tie_at_the_printed_length_and_none_beside_it():
    found = claims.first_step(rng=0, n_walks=200, n_seeds=2)
    assert found["largest"][0.5, 97] == (0, 1, 5)
    assert found["largest"][0.5, 96] == found["expected"][0.5] == (1, 5)
    assert len(found["sample_spread"]) == 2
    verdicts = claims.rule_shi2025_first_step(found)
    assert list(verdicts.values()) == ["reproduced", "reproduced", "reproduced with a change"]


@pytest.mark.parametrize(
    "change, part, verdict",
    [
        ({"largest": {(0.5, 97): (1, 5)}}, "largest entries", "reproduced"),
        ({"largest": {(0.5, 97): (0,), (0.5, 96): (1, 5)}}, "largest entries", "reproduced with a change"),
        ({"largest": {(0.5, 97): (0,), (0.5, 96): (0,)}}, "largest entries", "contradicted"),
        ({"spread": 0.1}, "V is Toeplitz", "contradicted"),
        ({"formula_error": 0.1}, "V is Toeplitz", "contradicted"),
        ({"moved": 0.1}, "W = 0", "contradicted"),
    ],
)
def test_the_rule_for_the_first_step_judges_each_part(change, part, verdict):
    found = {"formula_error": 0.0, "spread": 0.0, "moved": 0.0, "printed": 97, "expected": {0.5: (1, 5)}}
    found |= {"largest": {(0.5, 97): (1, 5)}} | change
    assert claims.rule_shi2025_first_step(found)[part] == verdict


def test_the_theorem_is_measured_on_the_population_and_on_samples(short_theorem):
    fair, biased = short_theorem[0.5], short_theorem[0.7]
    assert biased["accuracy"] == pytest.approx(0.7)
    assert fair["learned_at"] <= 10
    assert fair["value_between"] == pytest.approx(0, abs=1e-12)
    assert biased["value_to_root"] < biased["value_to_step"]
    assert len(fair["sample_accuracy"]) == len(fair["sample_attention"]) == 1
    # Once attention has settled, outputs are columns of V; all columns tell the same distance.
    assert biased["output_to_step"] == pytest.approx(biased["value_to_step"], rel=1e-3)
    verdicts = {"p = 0.5": "reproduced", "p = 0.7": "reproduced", "p = 0.8": "reproduced with a change"}
    assert claims.rule_shi2025_accuracy(short_theorem) == verdicts
    assert claims.rule_shi2025_attention(short_theorem) == verdicts


def test_on_a_large_circle_drift_makes_another_position_win(short_theorem):
    # What a position gains in walks of length N, by the Fourier transform of a step: an independent
    # reason. From three steps back nobody is right more often than in 0.8 to the third.
    frequencies = 2 * np.pi * np.arange(1, 20) / 20

    def gain(p, k, length=401):
        step = p * np.exp(1j * frequencies) + (1 - p) * np.exp(-1j * frequencies)
        back = step.conj()
        return (step**k * back * (1 - back ** (length - 1)) / (1 - back)).real.sum() / 20

    assert gain(0.8, 3) > gain(0.8, 1) > gain(0.8, 2)
    assert all(gain(p, 1) > gain(p, k) for p in (0.5, 0.7) for k in range(2, 30))
    for p in (0.5, 0.7, 0.8):
        lead = max(gain(p, k) for k in range(2, 401)) - gain(p, 1)
        assert short_theorem[p]["large_lead"] == pytest.approx(lead, abs=1e-9)
    assert short_theorem[0.8]["large_accuracy"] == pytest.approx(0.8**3)
    assert short_theorem[0.8]["large_attention"] < 1e-6
    for p in (0.5, 0.7):
        assert short_theorem[p]["large_accuracy"] == pytest.approx(p)
        assert short_theorem[p]["large_attention"] == pytest.approx(1)


@pytest.mark.parametrize(
    "what, rule", [("value", claims.rule_shi2025_value), ("output", claims.rule_shi2025_output)]
)
def test_a_limit_is_reproduced_or_contradicted_by_where_the_distance_goes(what, rule):
    lost = DIRECTIONS | {f"{what}_to_step": 0.5, f"{what}_to_root": 0.5}
    assert rule({0.5: DIRECTIONS, 0.7: stuck(what), 0.9: lost}) == {
        "p = 0.5": "reproduced",
        "p = 0.7": "contradicted",
        "p = 0.9": "not reproduced",
    }
    slow = DIRECTIONS | {f"{what}_step_rate": -0.2, f"{what}_root_rate": -0.2}
    assert rule({0.5: slow}) == {"p = 0.5": "not reproduced"}


@pytest.mark.parametrize(
    "accuracy, learned_at, verdict",
    [
        (0.7, 2, "reproduced"),
        (0.69, 2, "contradicted"),
        (0.7, None, "contradicted"),
        (0.7, 40, "not reproduced"),
    ],
)
def test_the_accuracy_must_be_the_best_possible_and_early(accuracy, learned_at, verdict):
    found = {"accuracy": accuracy, "learned_at": learned_at, "large_accuracy": 0.7, "large_lead": -0.1}
    assert claims.rule_shi2025_accuracy({0.7: found}) == {"p = 0.7": verdict}


@pytest.mark.parametrize("change", [{"large_accuracy": 0.6, "large_attention": 0.2}, {"large_lead": 0.01}])
def test_a_failure_on_a_large_circle_alone_is_a_change(change):
    found = {"accuracy": 0.7, "learned_at": 2, "attention": 1.0, "sample_attention": [1.0]}
    found |= {"large_accuracy": 0.7, "large_attention": 1.0, "large_lead": -0.1} | change
    for rule in (claims.rule_shi2025_accuracy, claims.rule_shi2025_attention):
        assert rule({0.7: found}) == {"p = 0.7": "reproduced with a change"}


@pytest.mark.parametrize("population, sample", [(1 - 1e-9, [1.0, 0.2, 0.1]), (0.9, [1.0])])
def test_attention_that_misses_the_parent_is_not_close_to_one(population, sample):
    large = {"large_attention": 1.0, "large_lead": -0.1}
    good = {"attention": 1 - 1e-9, "sample_attention": [1.0, 1.0, 0.0], **large}
    bad = {"attention": population, "sample_attention": sample, **large}
    verdicts = claims.rule_shi2025_attention({0.5: good, 0.7: bad})
    assert verdicts == {"p = 0.5": "reproduced", "p = 0.7": "not reproduced"}


def test_figure_4_comes_out_and_each_panel_can_fail():
    found = claims.figure_4(rng=0, n_seeds=1, steps=10)
    assert set(claims.rule_shi2025_fig4(found).values()) == {"reproduced"}
    for name, panel in (("end", "accuracy"), ("contrast", "value matrix"), ("attention", "attention")):
        verdicts = claims.rule_shi2025_fig4(found | {name: [0.2]})
        assert [part for part, verdict in verdicts.items() if verdict == "not reproduced"] == [panel]


def test_the_limit_of_v_follows_the_square_root_and_the_power_law():
    found = claims.square_root(chances=(0.3, 0.7), powers=(0.0, 1.0), length=7, steps=300)
    for seen, law in [*found["ratio"].values(), *found["power"].values()]:
        assert seen == pytest.approx(law, rel=0.02)
    assert found["to_step"][0.0] < 0.01 < found["to_step"][1.0]
    assert found["square"] == pytest.approx(1.0)
    assert claims.rule_new_square_root(found) is None


@pytest.mark.parametrize("s", [0.0, 0.5, 1.0, 2.0])
def test_the_slope_of_a_power_loss_is_the_derivative_of_its_value(s):
    loss, z, h = claims.PowerLoss(s), np.array([0.2, 1.0, 3.0]), 1e-6
    slope = (loss.value(z + h) - loss.value(z - h)) / (2 * h)
    assert loss.derivative(z) == pytest.approx(slope, rel=1e-6)


def test_arguments_out_of_range_are_refused_by_name():
    with pytest.raises(ValueError, match="chances"):
        claims.theorem(rng=0, chances=(1.0,))
    with pytest.raises(ValueError, match="steps"):
        claims.theorem(rng=0, steps=50)
    with pytest.raises(ValueError, match="n_seeds"):
        claims.figure_4(rng=0, n_seeds=0)
    with pytest.raises(ValueError, match="rng"):
        claims.first_step(rng="0")
