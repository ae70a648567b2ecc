"""The measurements of joint training and of other lengths, small, and their rules on good and bad ones."""

import copy

import numpy as np
import pytest

from markov_transformers.chains import DirichletPrior
from markov_transformers.claims import joint as claims
from markov_transformers.induction import GeneralizedInductionHead
from markov_transformers.windows import WindowCounts


@pytest.fixture(scope="module")
def joint():
    return claims.joint_training(rng=0, n_chains=200, n_steps=60, rates=(1.0, 0.1), n_samples=2)


@pytest.fixture(scope="module")
def lengths():
    return claims.length_generalization(
        rng=0, n_train=1000, n_chains=800, concentrations=(0.2, 1.0), lengths=(10, 20, 50, 100, 200)
    )


def run_like_figure_5(**changes):
    run = {
        "rate": 0.001,
        "first": (2, 3),
        "last": (1, 2),
        "pairs": [0.6, 0.2, 0.2],
        "loss": (0.9, 0.7),
        "query_key": 0.001,
        "diagonal": [0.2, 0.07],
        "proportional": [0.1, 0.1],
        "with_constant": [0.1, 0.1],
    }
    return run | changes


def test_every_reading_is_described(joint):
    assert [run["rate"] for run in joint["printed"]] == [1.0, 0.1]
    assert len(joint["framework"]) == 2
    for run in joint["printed"] + joint["framework"]:
        assert run["loss"][1] < run["loss"][0]
        for with_constant, proportional in zip(run["with_constant"], run["proportional"], strict=True):
            assert 0 <= with_constant <= proportional <= 1
        assert 0 <= min(run["pairs"]) <= sum(run["pairs"]) <= 1 + 1e-12


def test_sets_with_the_input_keep_no_weight_in_the_public_reading():
    tokens = DirichletPrior(3, (1, 2), 0.1).sample(30, 21, rng=0)
    model, start = claims.framework_model(WindowCounts.from_tokens(tokens, 3, 3))
    end = model.descend(start, 5, learning_rate=0.001).c[-1]
    for S, c in zip(model.sets, end, strict=True):
        assert (c == 0) == (0 in S)


def test_figure_5_is_judged_by_order_and_by_size():
    good, bad = run_like_figure_5(), run_like_figure_5(first=(1, 2))

    def verdict(printed, others):
        return claims.rule_chen2024_fig5({"printed": printed, "framework": others})

    assert verdict([good, bad], [bad]) == "reproduced"
    assert verdict([bad, good], [bad]) == "reproduced with a change"
    assert verdict([bad, bad], [bad, good]) == "reproduced with a change"
    for changes in ({"first": (1, 3)}, {"last": (2, 3)}, {"pairs": [1.0, 0.0, 0.0]}, {"loss": (0.7, 0.9)}):
        assert verdict([bad], [run_like_figure_5(**changes)]) == "not reproduced"


def test_figure_6_is_judged_by_all_three_matrices():
    good, constant = run_like_figure_5(), run_like_figure_5(proportional=[0.6, 0.6])

    def verdict(printed, others):
        return claims.rule_chen2024_fig6({"printed": printed, "framework": others})

    assert verdict([good], [constant]) == "reproduced"
    assert verdict([constant], []) == "reproduced with a change"
    bad = run_like_figure_5(with_constant=[0.9, 0.9], proportional=[0.9, 0.9])
    assert verdict([bad], [constant]) == "reproduced with a change"
    for changes in (
        {"query_key": 0.1},
        {"diagonal": [0.2, 0.001]},
        {"diagonal": [0.2, 0.3]},
        {"with_constant": [0.1, 0.5]},
    ):
        assert verdict([bad], [constant | changes]) == "not reproduced"


def test_the_distance_to_the_identity_is_that_of_the_best_fit():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(3, 3))
    ones, identity = np.ones((3, 3)), np.eye(3)
    assert claims._distance_to_span(2 * identity - 0.7 * ones, [identity, ones]) == pytest.approx(
        0, abs=1e-14
    )
    a = np.trace(matrix) / 3  # the best multiple of the identity
    expected = np.linalg.norm(matrix - a * identity) / np.linalg.norm(matrix)
    assert claims._distance_to_span(matrix, [identity]) == pytest.approx(expected, rel=1e-12)


def test_a_sharp_transformer_predicts_as_the_induction_head_at_lengths_it_was_not_made_for():
    sets = ((), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3))
    sharp = {"c": np.array([float(S == (1, 2)) for S in sets]), "w": 100 * np.eye(3), "a": 200.0}
    for length in (5, 40, 300):
        x = DirichletPrior(3, (1, 2), 0.3).sample(30, length, rng=1)
        head = GeneralizedInductionHead((1, 2), 3).predict(x, 3)
        assert claims.transformer_law(sharp, x, 3) == pytest.approx(head, abs=1e-12)


def test_the_trained_transformer_stays_near_the_induction_head_and_above_the_best(lengths):
    assert lengths["selected"] == (1, 2)
    gaps = claims.bayes_gap(lengths)
    for alpha, losses in lengths["loss"].items():
        head = np.array(losses["GIH"])
        assert np.array(losses["transformer"]) == pytest.approx(head, abs=0.01)
        assert min(gaps[alpha]["BayesOptimal"]) > 0
        assert gaps[alpha]["Unigram"][-1] > 0.1
    assert gaps[0.2]["BayesOptimal"][3] > gaps[0.2]["transformer"][3]  # the loss is not a proper one
    assert gaps[1.0]["BayesOptimal"][0] < gaps[1.0]["transformer"][0]
    assert claims.rule_new_bayes_gap(lengths) is None


def test_the_chance_of_a_rise_is_that_of_a_normal_difference():
    each = np.array([[0.0, 0.0, 0.0, 0.0], [0.3, 0.1, 0.2, 0.2]])  # a rise of 0.2 from 100 to 200
    rise, chance = claims._rises([100, 200], each, [0.5, 0.5], 25)
    assert rise == pytest.approx(0.2 / (each[1].std() / 2))
    assert chance == pytest.approx(0.8413447, abs=1e-6)  # one standard error of 0.2


def test_figure_7_is_judged_by_the_trend_and_the_bump(lengths):
    assert claims.rule_chen2024_fig7(lengths) == "not reproduced"
    bump = copy.deepcopy(lengths) | {"rise": {0.2: 4.0}}
    assert claims.rule_chen2024_fig7(bump) == "reproduced with a change"
    assert claims.rule_chen2024_fig7(bump | {"trained_on": 0.01}) == "reproduced"
    bump["loss"][0.2]["transformer"][2] = 5.0
    assert claims.rule_chen2024_fig7(bump) == "not reproduced"
