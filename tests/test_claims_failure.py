"""The deterministic walk: the symmetric solution, its instability, and the measurements on them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers import CircleWalk, ExponentialLoss, OneLayerModel, OneLayerParameters, SquareLoss
from markov_transformers.claims import failure as claims
from markov_transformers.explorers import deterministic_failure
from markov_transformers.symmetry import (
    follow_deviation,
    lag_profile,
    symmetric_solution,
    train_with_gram,
)

SIZES = st.tuples(st.integers(3, 8), st.integers(1, 5))  # nodes K, rounds r
CHOICES = st.tuples(st.sampled_from(list(claims.LOSSES)), st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e3]))


def population(n_nodes, length, p=1.0):
    walks, weights = CircleWalk(n_nodes, p).enumerate(length)
    return OneLayerModel(n_nodes, length, 200), walks, weights


@given(SIZES, CHOICES, st.sampled_from([0.0, 1.0]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_training_stays_symmetric_and_follows_two_numbers(size, choice, p, unit_length):
    (K, r), (name, rate) = size, choice
    walks, weights = CircleWalk(K, p).enumerate(r * K + 1)
    model = OneLayerModel(K, r * K + 1, 200, unit_length=unit_length)
    options = {"learning_rate": rate, "steps": 12, "loss": claims.LOSSES[name]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        run = model.train(walks, weights=weights, **options)
        two = symmetric_solution(model, **options)
    assert np.allclose(run.accuracy, 1 / K)
    assert np.ptp(run.attention[:, :-1], axis=1).max() < 1e-12
    n = min(len(run.value), len(two.value))
    assert n >= 2
    size = np.maximum(1, np.abs(two.value[:n]).max())
    assert np.abs(run.value[:n] - two.value[:n, None, None]).max() < 1e-9 * size
    assert np.allclose(run.attention[:n, 0], two.attention[:n], atol=1e-9)


@given(st.integers(3, 8), st.integers(2, 40), st.sampled_from([0.0, 1.0]), CHOICES)
@settings(max_examples=60, deadline=None)
def test_one_step_is_enough_where_the_nodes_do_not_divide_the_input(K, length, p, choice):
    if (length - 1) % K == 0:
        length += 1
    name, rate = choice
    model, walks, weights = population(K, length, p)
    run = model.train(walks, weights=weights, learning_rate=rate, steps=1, loss=claims.LOSSES[name])
    assert run.accuracy[1] == pytest.approx(1)


@given(SIZES, st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_a_sample_leaves_columns_of_V_and_attention_equal(size, seed):
    K, r = size
    rng = np.random.default_rng(seed)
    model, walks, _ = population(K, r * K + 1)
    shares = rng.dirichlet(np.ones(K))
    run = model.train(walks, weights=shares, learning_rate=1.0, steps=10)
    assert np.ptp(run.value, axis=2).max() < 1e-12
    assert np.ptp(run.attention[:, :-1], axis=1).max() < 1e-12
    # Row y follows its own share: the first step by hand, and who wins at the end.
    by_target = np.zeros(K)
    by_target[walks[:, -1]] = shares
    first = by_target * (r * K) / (0.1 * K * (r * K + 1))
    assert np.allclose(run.value[1], first[:, None])
    assert run.accuracy[-1] == pytest.approx(shares.max())


def test_the_first_steps_of_the_two_numbers_are_those_by_hand():
    two = symmetric_solution(OneLayerModel(6, 97), learning_rate=1.0, steps=1)
    assert two.value[1] == pytest.approx(96 / (0.1 * 97 * 36))
    assert two.attention == pytest.approx(1 / 97)
    assert two.slope[0] == pytest.approx(-10)


def test_the_recursion_warns_and_keeps_what_it_has_when_numbers_overflow():
    # Raising the square loss's step beyond its stability limit makes V grow without bound.
    model = OneLayerModel(3, 4, 50, unit_length=True)
    with pytest.warns(RuntimeWarning, match="no longer finite"):
        two = symmetric_solution(model, learning_rate=1e160, steps=50, loss=SquareLoss())
    assert 1 <= len(two.value) < 51
    assert np.isfinite(two.value).all()


@pytest.mark.parametrize("size", [1e-9, 1e-12])
@pytest.mark.parametrize("unit_length", [False, True])
def test_small_deviations_follow_the_linear_recursion(size, unit_length):
    model = OneLayerModel(5, 16, 300, unit_length=unit_length)
    walks, weights = CircleWalk(5, 1.0).enumerate(16)
    rng = np.random.default_rng(0)
    start = OneLayerParameters(
        size * rng.standard_normal((5, 5)), np.zeros(5), size * rng.standard_normal(16)
    )
    run = model.train(walks, weights=weights, learning_rate=0.3, steps=8, start=start)
    two = symmetric_solution(model, learning_rate=0.3, steps=8)
    V, q = follow_deviation(model, two, 0, *lag_profile(model, start), learning_rate=0.3)
    for t in range(9):
        phi, psi = lag_profile(model, run.parameters(t))
        scale = np.abs(q[t]).max()
        if scale > 1e-3:  # no longer small
            break
        assert np.allclose(psi, q[t], atol=2e-2 * scale)
        assert np.allclose(phi, V[t], atol=2e-2 * np.abs(V[t]).max())
    assert t >= 4


def test_equal_parameters_have_no_profile_at_all():
    model = OneLayerModel(3, 10)
    same = OneLayerParameters(np.full((3, 3), 0.1), np.full(3, 0.7), np.full(10, 1 / 3))
    for part in lag_profile(model, same):
        assert (part == 0).all()


def test_exact_inner_products_give_the_reduced_model_again():
    model, walks, weights = population(6, 13)
    run = model.train(walks, weights=weights, learning_rate=1.0, steps=20)
    start = train_with_gram(model, 100.5 * np.eye(13), learning_rate=1.0, steps=20)
    assert np.abs(run.value - start.value).max() < 1e-12
    assert np.abs(run.attention - start.attention).max() < 1e-12


@pytest.mark.parametrize("unit_length", [False, True])
def test_one_step_with_mixed_positions_is_that_of_the_literal_matrices(unit_length):
    # By hand: W moves by -eta sum_j g_j x_j x_N', with positions that are not orthogonal.
    model = OneLayerModel(3, 5, 40, unit_length=unit_length)
    P = np.random.default_rng(1).standard_normal((40, 5))
    P /= np.linalg.norm(P, axis=0) / np.sqrt(20.5)  # of the lengths that the model supposes
    walks, weights = CircleWalk(3, 1.0).enumerate(5)
    run = train_with_gram(model, P.T @ P, learning_rate=0.2, steps=2)
    _, slope = model.loss_and_gradients(run.parameters(1), walks, None, weights)
    rho = np.sqrt(np.array([21.5] * 4 + [20.5])) if unit_length else np.ones(5)
    query = np.linalg.norm(P[:, -1] / rho[-1]) ** 2
    u = -0.2 * query * (P / rho) @ slope.position
    assert np.allclose(run.position[2] - run.position[1], (P / rho).T @ u)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_rounding_breaks_the_symmetry_of_the_literal_model_and_of_rounded_inner_products(precision):
    pytest.importorskip("torch")
    walks, _ = CircleWalk(6, 1.0).enumerate(97)
    literal = claims.literal_run(walks, 6, learning_rate=1.0, steps=25, precision=precision)
    gram = claims.floating_gram(97, 1000, precision)
    mixed = train_with_gram(OneLayerModel(6, 97), gram, learning_rate=1.0, steps=25)
    assert claims.escape(literal) is not None and claims.escape(mixed) is not None
    assert abs(claims.escape(literal) - claims.escape(mixed)) <= 3
    assert literal.accuracy[-1] == pytest.approx(1)


def test_the_literal_run_is_the_reduced_one_where_chance_breaks_the_symmetry_anyway():
    pytest.importorskip("torch")
    walks = CircleWalk(5, 0.6).sample(8, 14, rng=0)
    weights = np.random.default_rng(0).dirichlet(np.ones(8))
    options = {"learning_rate": 0.5, "steps": 10, "weights": weights}
    literal = claims.literal_run(walks, 5, position_dim=30, **options)
    run = OneLayerModel(5, 14, 30).train(walks, **options)
    for name in ("loss", "accuracy", "attention", "value", "position"):
        assert np.abs(getattr(literal, name) - getattr(run, name)).max() < 1e-8, name


def test_the_sweep_on_a_length_of_the_theorem_stays_at_chance_and_is_reproduced():
    found = claims.any_loss(n_nodes=4, length=9, steps=10)
    assert found["accuracy"] == pytest.approx((1 / 4, 1 / 4))
    assert found["n_runs"] == 70
    assert found["other_one_step"] == pytest.approx(1)
    assert claims.rule_shi2025_any_loss(found) == "reproduced"


def test_a_run_that_learns_contradicts_the_theorem_and_an_overflow_qualifies_it():
    good = {
        "chance": 1 / 6,
        "accuracy": (1 / 6, 1 / 6),
        "value_spread": 0.0,
        "attention_spread": 0.0,
        "n_diverged": 0,
    }
    assert claims.rule_shi2025_any_loss(good) == "reproduced"
    assert claims.rule_shi2025_any_loss({**good, "n_diverged": 2}) == "reproduced with a change"
    assert claims.rule_shi2025_any_loss({**good, "accuracy": (1 / 6, 1.0)}) == "contradicted"
    assert claims.rule_shi2025_any_loss({**good, "value_spread": 0.1}) == "contradicted"


def test_figure_5_comes_out_with_exact_inner_products():
    found = claims.figure_5(rng=0, n_seeds=5, literal=False)
    assert found["true_accuracy"] == pytest.approx((1 / 6, 1 / 6))
    assert found["column_spread"] < 1e-12 and found["attention_spread"] < 1e-12
    assert claims.rule_shi2025_fig5(found) == "reproduced with a change"


def test_figure_5_is_judged_by_its_parts():
    good = {
        "accuracy": (0.167, 0.15, 0.18),
        "uneven": 0.1,
        "column_spread": 0.0,
        "attention_spread": 0.0,
        "escapes": {"float32": None, "float64": None, "float32, unit length": None},
    }
    assert claims.rule_shi2025_fig5(good) == "reproduced"
    rounded = {**good, "escapes": {**good["escapes"], "float32": 7}}
    assert claims.rule_shi2025_fig5(rounded) == "reproduced with a change"
    assert claims.rule_shi2025_fig5({**good, "accuracy": (1.0, 1.0, 1.0)}) == "not reproduced"
    assert claims.rule_shi2025_fig5({**good, "attention_spread": 0.5}) == "not reproduced"


def test_rounding_is_measured_without_torch_and_judged_by_nobody():
    found = claims.rounding(steps=25, literal=False)
    assert found["escapes"]["exact"] is None and found["predicted"]["exact"] is None
    for name in ("float32 inner products", "float64 inner products"):
        assert abs(found["escapes"][name] - found["predicted"][name]) <= 1
    assert found["escapes"]["float32 inner products"] < found["escapes"]["float64 inner products"]
    assert claims.rule_new_rounding(found) is None


def test_a_run_that_overflows_is_kept_as_far_as_it_got():
    walks, weights = CircleWalk(3, 1.0).enumerate(4)
    unit = OneLayerModel(3, 4, 50, unit_length=True)
    with pytest.warns(RuntimeWarning, match="no longer finite"):
        run = unit.train(walks, weights=weights, learning_rate=1e160, steps=50, loss=SquareLoss())
    assert run.diverged
    assert np.allclose(run.accuracy, 1 / 3)


@pytest.mark.parametrize("loss", ["log", "exponential"])
@pytest.mark.parametrize("remainder", [0, 1, 5])
def test_the_explorer_tells_whether_the_average_token_gives_the_target_away(loss, remainder):
    _, text = deterministic_failure().render(remainder=remainder, loss=loss, iteration=1)
    assert ("differs by target" in text) == (remainder > 0)
    assert f"accuracy {1 if remainder else 1 / 6:.3f}" in text


def test_the_explorer_shows_how_far_a_run_got_that_overflowed(monkeypatch):
    from markov_transformers.explorers import failure

    class Steep(ExponentialLoss):
        def derivative(self, score):
            return np.where(np.asarray(score) > 0.5, np.inf, -1.0)

    monkeypatch.setitem(claims.LOSSES, "exponential", Steep())
    failure._run.cache_clear()
    try:
        _, text = deterministic_failure().render(loss="exponential", learning_rate=100, iteration=50)
    finally:
        failure._run.cache_clear()
    assert "overflowed at iteration 1" in text and "after 1 of 50" in text


@pytest.mark.parametrize(
    "call",
    [
        lambda: symmetric_solution(OneLayerModel(6, 98), learning_rate=1.0, steps=1),
        lambda: symmetric_solution(OneLayerModel(6, 97), learning_rate=-1.0, steps=1),
        lambda: train_with_gram(OneLayerModel(6, 97), np.eye(3), learning_rate=1.0, steps=1),
        lambda: claims.sweep(6, 0.5, 97, steps=1),
        lambda: claims.any_loss(n_nodes=6, length=98),
        lambda: claims.rounding(steps=3),
        lambda: claims.floating_gram(5, 9, "float16"),
        lambda: claims.figure_5(rng=-1),
    ],
)
def test_arguments_out_of_range_are_refused(call):
    with pytest.raises(ValueError, match="must be"):
        call()


def test_what_is_not_a_model_or_a_solution_is_refused():
    with pytest.raises(TypeError, match="OneLayerModel"):
        symmetric_solution("model", learning_rate=1.0, steps=1)
    with pytest.raises(TypeError, match="SymmetricSolution"):
        model = OneLayerModel(6, 97)
        follow_deviation(model, None, 0, np.zeros(6), np.zeros(6), learning_rate=1.0)
