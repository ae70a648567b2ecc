"""The exact engine against the literal models, finite differences and theory."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers.dynamics import softmax
from markov_transformers.full_model import FullModel
from markov_transformers.information import modified_chi2_information
from markov_transformers.losses import LogLoss, SquareLoss
from markov_transformers.readout import SoftmaxCrossEntropy
from markov_transformers.reweighting import classifier_speed, induction_head_bound, reweighted_law
from markov_transformers.staged import StagedModel
from markov_transformers.windows import WindowCounts
from tests.memory import expected_over_taken

CASES = [
    # vocab, window, heads, degree
    (2, 1, 1, 1),
    (3, 3, 3, 2),
    (2, 5, 5, 3),
    (3, 2, 4, 3),
    (4, 3, 5, 2),
    (4, 5, 5, 1),
    (3, 4, 2, 2),
]


def dirichlet_chains(n, length, vocab=3, concentration=0.1, lags=2, seed=0):
    """Chains with a fresh kernel each: independent of the library's own sampler."""
    rng = np.random.default_rng(seed)
    kernels = rng.dirichlet(np.full(vocab, concentration), size=(n, vocab**lags))
    tokens = np.empty((n, length), dtype=int)
    tokens[:, :lags] = rng.integers(vocab, size=(n, lags))
    for t in range(lags, length):
        context = tokens[:, t - lags : t] @ vocab ** np.arange(lags)
        law = kernels[np.arange(n), context].cumsum(axis=1)
        tokens[:, t] = (rng.random((n, 1)) > law[:, :-1]).sum(axis=1)
    return tokens


def random_parameters(shapes, rng, a=1.3):
    parameters = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    return {**parameters, "a": np.array(a)}


def reference(kind, model, tokens, parameters, loss=None):
    """Loss and gradients of the literal model by automatic differentiation."""
    torch = pytest.importorskip("torch")
    from markov_transformers.models.two_layer import FullTransformer, TwoLayerTransformer

    literal = {"staged": TwoLayerTransformer, "full": FullTransformer}[kind](
        model.counts.window, model.heads, model.counts.vocab_size, model.degree, mask=model.mask
    )
    assert literal.sets == model.sets
    with torch.no_grad():
        for name, value in parameters.items():
            getattr(literal, name).copy_(torch.tensor(value))
    tokens = torch.tensor(tokens)
    value = (
        literal.loss(tokens, model.epsilon) if loss is None else loss(literal(tokens[:, :-1]), tokens[:, -1])
    )
    value.backward()
    return value.item(), {name: getattr(literal, name).grad.numpy() for name in parameters}


def assert_close(found, expected, tolerance=1e-10):
    loss, gradients = found
    expected_loss, expected_gradients = expected
    assert abs(loss - expected_loss) <= tolerance * abs(expected_loss)
    assert gradients.keys() == expected_gradients.keys()
    for name, gradient in expected_gradients.items():
        assert gradients[name].shape == gradient.shape
        assert np.abs(gradients[name] - gradient).max() <= tolerance * np.abs(gradient).max(), name


def test_training_starts_where_the_paper_says():
    # Section B.1: 3 at each head's own offset, 0.01 everywhere else.
    model = StagedModel(WindowCounts.from_tokens(dirichlet_chains(2, 8), 3, 3), 2, heads=2)
    start = model.initial_parameters()
    assert start.keys() == {"c", "w", "a"}
    np.testing.assert_array_equal(start["w"], [[3, 0.01, 0.01], [0.01, 3, 0.01]])
    np.testing.assert_array_equal(start["c"], [0.01] * 4)
    assert start["a"] == 0.01
    assert model.epsilon == 0.1


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_loss_and_every_gradient_equal_the_literal_model(case, mask):
    vocab, window, heads, degree = case
    rng = np.random.default_rng([*case, mask])
    tokens = rng.integers(vocab, size=(7, 14))
    model = StagedModel(WindowCounts.from_tokens(tokens, window, vocab), degree, heads, mask=mask)
    parameters = random_parameters(model._shapes, rng)
    assert_close(model.loss_and_gradients(**parameters), reference("staged", model, tokens, parameters))


@pytest.mark.parametrize("mask", [True, False])
def test_loss_and_gradients_equal_the_literal_model_at_the_papers_initialization(mask):
    tokens = dirichlet_chains(40, 31)
    model = StagedModel(WindowCounts.from_tokens(tokens, 3, 3), 2, mask=mask)
    start = model.initial_parameters()
    assert_close(model.loss_and_gradients(**start), reference("staged", model, tokens, start))


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("case", [(2, 1, 1, 2), (3, 3, 3, 2), (3, 2, 3, 3), (4, 2, 1, 1)])
def test_the_full_model_equals_the_literal_one(case, mask):
    vocab, window, heads, degree = case
    rng = np.random.default_rng([*case, mask])
    tokens = rng.integers(vocab, size=(6, 12))
    model = FullModel(WindowCounts.from_tokens(tokens, window, vocab), degree, heads, mask=mask)
    parameters = random_parameters(model._shapes, rng)
    assert_close(model.loss_and_gradients(**parameters), reference("full", model, tokens, parameters))
    start = model.initial_parameters()
    if window > 1:  # with one offset and multiples of the identity all gradients in w vanish
        assert_close(model.loss_and_gradients(**start), reference("full", model, tokens, start))


@pytest.mark.parametrize("mask", [True, False])
def test_softmax_cross_entropy_equals_torch_on_probabilities(mask):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    tokens = rng.integers(3, size=(30, 25))
    counts = WindowCounts.from_tokens(tokens, 3, 3)
    for kind, Model in (("staged", StagedModel), ("full", FullModel)):
        model = Model(counts, 2, mask=mask, loss=SoftmaxCrossEntropy())
        parameters = random_parameters(model._shapes, rng)
        expected = reference(kind, model, tokens, parameters, torch.nn.functional.cross_entropy)
        assert_close(model.loss_and_gradients(**parameters), expected)


def test_any_function_of_the_output_distribution_can_be_the_loss():
    def brier(probabilities, targets):
        difference = probabilities - np.eye(probabilities.shape[1])[targets]
        weights = np.arange(1, probabilities.shape[1] + 1)  # tokens do not count alike
        return (weights * difference**2).sum(axis=1), 2 * weights * difference

    def literal(y, targets):
        import torch

        difference = y - torch.nn.functional.one_hot(targets, y.shape[1])
        return (torch.arange(1, y.shape[1] + 1) * difference**2).sum(dim=1).mean()

    rng = np.random.default_rng(6)
    tokens = rng.integers(3, size=(30, 25))
    model = StagedModel(WindowCounts.from_tokens(tokens, 2, 3), 2, loss=brier)
    parameters = random_parameters(model._shapes, rng)
    assert_close(
        model.loss_and_gradients(**parameters), reference("staged", model, tokens, parameters, literal)
    )


def test_a_loss_of_the_targets_probability_can_be_the_loss():
    rng = np.random.default_rng(7)
    tokens = rng.integers(3, size=(30, 25))
    model = StagedModel(WindowCounts.from_tokens(tokens, 2, 3), 2, loss=SquareLoss())
    parameters = random_parameters(model._shapes, rng)

    def literal(y, targets):
        return ((y.gather(1, targets[:, None]) - 1) ** 2 / 2).mean()

    assert_close(
        model.loss_and_gradients(**parameters), reference("staged", model, tokens, parameters, literal)
    )


@pytest.mark.parametrize("mask", [True, False])
def test_predictions_equal_those_of_the_literal_model(mask):
    torch = pytest.importorskip("torch")
    from markov_transformers.models.two_layer import TwoLayerTransformer

    rng = np.random.default_rng(8)
    tokens = rng.integers(3, size=(20, 15))
    model = StagedModel(WindowCounts.from_tokens(tokens, 3, 3), 2, mask=mask)
    parameters = random_parameters(model._shapes, rng, a=4.0)
    literal = TwoLayerTransformer(3, 3, 3, 2, mask=mask)
    with torch.no_grad():
        for name, value in parameters.items():
            getattr(literal, name).copy_(torch.tensor(value))
        expected = literal(torch.tensor(tokens[:, :-1])).numpy()
    np.testing.assert_allclose(model.predict(**parameters), expected, rtol=1e-12, atol=1e-14)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.floats(-3, 8))
def test_gradients_agree_with_finite_differences(seed, mask, a):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(3, size=(5, 9))
    model = StagedModel(WindowCounts.from_tokens(tokens, 2, 3), 2, mask=mask)
    parameters = random_parameters(model._shapes, rng, a)
    parameters["c"] += np.sign(parameters["c"])  # away from c = 0, where the loss turns sharply
    gradients = model.loss_and_gradients(**parameters)[1]
    direction = random_parameters(model._shapes, rng, rng.normal())
    step = 1e-5
    ends = [
        model.loss_and_gradients(**{k: v + sign * step * direction[k] for k, v in parameters.items()})[0]
        for sign in (1, -1)
    ]
    slope = sum((gradients[name] * direction[name]).sum() for name in gradients)
    assert abs((ends[0] - ends[1]) / (2 * step) - slope) < 1e-6 * max(1.0, abs(slope))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_the_loss_ignores_which_token_is_which_and_the_order_of_the_sequences(seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(4, size=(6, 12))
    model = StagedModel(WindowCounts.from_tokens(tokens, 2, 4), 2)
    parameters = random_parameters(model._shapes, rng)
    other = rng.permutation(4)[tokens][rng.permutation(6)]
    renamed = StagedModel(WindowCounts.from_tokens(other, 2, 4), 2)
    assert_close(renamed.loss_and_gradients(**parameters), model.loss_and_gradients(**parameters), 1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_the_gradient_in_c_is_orthogonal_to_c(seed):
    rng = np.random.default_rng(seed)
    model = StagedModel(WindowCounts.from_tokens(rng.integers(3, size=(6, 12)), 2, 3), 2)
    parameters = random_parameters(model._shapes, rng)
    gradient = model.loss_and_gradients(**parameters)[1]["c"]
    assert abs(parameters["c"] @ gradient) < 1e-13


def test_both_ways_of_normalizing_the_attention_agree(monkeypatch):
    from markov_transformers import readout

    rng = np.random.default_rng(9)
    counts = WindowCounts.from_tokens(rng.integers(3, size=(20, 25)), 3, 3)
    for loss in (LogLoss(0.1), LogLoss(0.0), SoftmaxCrossEntropy()):
        for mask in (True, False):
            model = StagedModel(counts, 2, mask=mask, loss=loss)
            parameters = random_parameters(model._shapes, rng, a=20.0)
            direct = model.loss_and_gradients(**parameters)
            monkeypatch.setattr(readout, "_LARGEST_SPREAD", -1.0)
            rescaled = model.loss_and_gradients(**parameters)
            monkeypatch.undo()
            if np.isfinite(direct[0]):
                assert_close(rescaled, direct)
            else:
                assert rescaled[0] == np.inf
                assert_close((1.0, rescaled[1]), (1.0, direct[1]))


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_extreme_parameters_give_no_nan(mask, epsilon):
    rng = np.random.default_rng(10)
    tokens = rng.integers(3, size=(30, 12))
    for a, w, degree in product((0.0, 1e-300, 1e3, -1e3), (0.0, 1e3, -1e3), (0, 3)):
        model = StagedModel(WindowCounts.from_tokens(tokens, 3, 4), degree, epsilon=epsilon, mask=mask)
        parameters = model.initial_parameters(own=w, a=a)
        parameters["c"][-1] = 1e3
        loss, gradients = model.loss_and_gradients(**parameters)
        assert not np.isnan(loss) and loss > -np.inf
        assert all(np.isfinite(g).all() for g in gradients.values())
        assert np.isfinite(model.predict(**parameters)).all()


def test_without_epsilon_a_tiny_probability_gives_its_logarithm_and_an_impossible_one_infinity():
    tokens = [[0, 0, 0, 1, 1, 0, 1]]  # the context matches after 0: [0, 0, 1] and after 1: [1, 0]
    model = StagedModel(WindowCounts.from_tokens(tokens, 1, 2), 1, epsilon=0.0)
    loss, gradients = model.loss_and_gradients([0.0, 1.0], [[0.0]], 1e3)
    # Matches are followed by 0, 0, 1 and the two others by 1, 0.
    assert loss == pytest.approx(np.log(3.0), rel=1e-12)
    # Now the target 2 follows a mismatch only.
    tokens = [[0, 0, 1, 2, 0, 2]]
    model = StagedModel(WindowCounts.from_tokens(tokens, 1, 3), 1, epsilon=0.0)
    loss, gradients = model.loss_and_gradients([0.0, 1.0], [[0.0]], 1e3)
    assert loss == pytest.approx(1e3 + np.log(2.0), rel=1e-12)
    assert gradients["a"] == pytest.approx(1.0, rel=1e-12)
    # And here nowhere: the loss is infinite whatever the parameters, so nothing can be gained.
    tokens = [[0, 0, 1, 1, 0, 2]]
    model = StagedModel(WindowCounts.from_tokens(tokens, 1, 3), 1, epsilon=0.0)
    loss, gradients = model.loss_and_gradients([0.5, 1.0], [[0.0]], 2.0)
    assert loss == np.inf
    assert all((g == 0).all() for g in gradients.values())


def test_a_flow_without_epsilon_leaves_out_the_sequences_of_infinite_loss():
    tokens = np.random.default_rng(11).integers(4, size=(40, 9))
    model = StagedModel(WindowCounts.from_tokens(tokens, 2, 4), 2, epsilon=0.0)
    run = model.three_stages(durations=(10, 10, 10))
    assert np.isinf(run.loss).all()
    assert all(np.isfinite(value).all() for value in run.parameters.values())


def test_one_chain_that_just_fits_works_with_degree_zero_and_full_degree():
    tokens = [[0, 1, 1, 0, 2]]  # L = M + 1
    for degree in (0, 3):
        model = StagedModel(WindowCounts.from_tokens(tokens, 3, 3), degree)
        loss, gradients = model.loss_and_gradients(**model.initial_parameters())
        assert loss == pytest.approx(-np.log(0.1), rel=1e-14)  # the one key is followed by 0, not by 2
        assert all(np.abs(g).max() < 1e-16 for g in gradients.values())
        assert model.three_stages(durations=(1, 1, 1)).times[-1] == 3


def test_large_and_small_c_change_nothing_but_the_size_of_their_gradient():
    rng = np.random.default_rng(12)
    model = StagedModel(WindowCounts.from_tokens(rng.integers(3, size=(10, 15)), 2, 3), 2)
    parameters = random_parameters(model._shapes, rng)
    loss, gradients = model.loss_and_gradients(**parameters)
    for scale in (1e-200, 1e200):
        scaled = model.loss_and_gradients(**{**parameters, "c": scale * parameters["c"]})
        assert scaled[0] == pytest.approx(loss, rel=1e-13)
        np.testing.assert_allclose(scaled[1]["c"] * scale, gradients["c"], rtol=1e-12)


@pytest.fixture(scope="module")
def small():
    return StagedModel(WindowCounts.from_tokens(dirichlet_chains(300, 61, seed=3), 3, 3), 2)


@pytest.fixture(scope="module")
def run(small):
    return small.three_stages()


def test_each_stage_moves_its_own_parameters_only(run):
    end_c, end_w = run.stage_ends[:2]
    first, third = run.times <= end_c, run.times >= end_w
    second = (run.times >= end_c) & (run.times <= end_w)
    assert (run.w[first] == run.w[0]).all() and (run.a[first] == run.a[0]).all()
    assert (run.c[second] == run.c[first][-1]).all() and (run.a[second] == run.a[0]).all()
    assert (run.c[third] == run.c[-1]).all() and (run.w[third] == run.w[second][-1]).all()
    assert run.stage_ends == (2_000.0, 52_000.0, 57_000.0)


def test_the_loss_falls_along_the_flow(run):
    assert (np.diff(run.loss) <= 1e-9).all()


def test_the_flow_conserves_the_sum_of_squares(small, run):
    assert np.abs(run.C_D / run.C_D[0] - 1).max() < 1e-12
    together = small.flow(small.initial_parameters(), 2_000.0)
    assert np.abs(together.C_D / together.C_D[0] - 1).max() < 1e-12


def test_the_flow_agrees_with_an_implicit_integrator_in_the_original_coordinates(small, run):
    from scipy.integrate import solve_ivp

    start = small.initial_parameters()

    def velocity(_, c):
        return -small.loss_and_gradients(c, start["w"], start["a"])[1]["c"]

    times = np.array([0.3, 1.0, 3.0, 10.0])
    exact = solve_ivp(velocity, (0, 10), start["c"], "LSODA", t_eval=times, rtol=1e-10, atol=1e-14)
    assert exact.success
    tight = small.flow(start, 10.0, "c", rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(tight.at(times).c, exact.y.T, rtol=1e-5, atol=1e-9)
    shares = exact.y.T**2 / (exact.y.T**2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(run.at(times).p_S, shares, atol=1e-4)


@pytest.mark.parametrize("train", ["c", "w", "a", ("c", "w", "a")])
def test_gradient_descent_with_a_small_step_follows_the_flow(small, train):
    start = small.initial_parameters(a=1.0)
    duration, n_steps = {"c": (0.1, 2000), "w": (2.0, 1000), "a": (2.0, 1000)}.get(train, (0.05, 1000))
    flow = small.flow(start, duration, train, rtol=1e-10, atol=1e-12).at(duration)
    ends = [
        small.descend(start, n, train, learning_rate=duration / n).at(duration)
        for n in (n_steps, 2 * n_steps)
    ]
    for name in flow.parameters:
        # Euler's method errs in the first order of its step, so this cancels the leading term.
        extrapolated = 2 * ends[1].parameters[name] - ends[0].parameters[name]
        moved = np.abs(flow.parameters[name] - start[name]).max()
        error = np.abs(extrapolated - flow.parameters[name]).max()
        assert error <= 1e-4 * moved, name
        assert (moved > 0) == (name in train)


def test_a_stiff_flow_of_one_parameter_is_handed_to_an_implicit_method(small, monkeypatch):
    from markov_transformers import dynamics

    start = small.initial_parameters(a=1.0)
    explicit = small.flow(start, 0.1, "c", rtol=1e-8)
    monkeypatch.setattr(dynamics, "_MOST_EXPLICIT", 10)
    handed_over = small.flow(start, 0.1, "c", rtol=1e-8)
    assert handed_over.times.size != explicit.times.size
    np.testing.assert_allclose(handed_over.at(0.1).p_S, explicit.at(0.1).p_S, atol=1e-7)
    asked_for = small.flow(start, 0.1, "c", rtol=1e-8, method="LSODA")
    np.testing.assert_array_equal(asked_for.c, handed_over.c)
    with pytest.raises(ValueError, match="method must be"):
        small.flow(start, 1.0, method="Euler")


def test_a_gradient_step_grows_the_sum_of_squares_by_that_of_the_gradient(small):
    start = small.initial_parameters()
    step = small.descend(start, 1, "c", learning_rate=0.7)
    gradient = small.loss_and_gradients(**start)[1]["c"]
    assert step.C_D[1] == pytest.approx(step.C_D[0] + 0.49 * gradient @ gradient, rel=1e-12)


def test_gradient_descent_records_every_step_and_its_loss(small):
    run = small.descend(small.initial_parameters(), 5, learning_rate=0.5)
    np.testing.assert_array_equal(run.times, [0, 0.5, 1, 1.5, 2, 2.5])
    for step in range(6):
        now = {name: value[step] for name, value in run.parameters.items()}
        loss, gradients = small.loss_and_gradients(**now)
        assert run.loss[step] == pytest.approx(loss, rel=1e-13)
        if step < 5:
            for name, value in run.parameters.items():
                np.testing.assert_allclose(value[step + 1], now[name] - 0.5 * gradients[name], rtol=1e-11)
    middle = run.at(0.75)
    np.testing.assert_allclose(middle.w, (run.w[1] + run.w[2]) / 2)


def test_at_agrees_with_the_recorded_times(run):
    again = run.at(run.times)
    for name, value in run.parameters.items():
        np.testing.assert_allclose(again.parameters[name], value, rtol=1e-9, atol=1e-12)
    assert run.at(10.0).loss.shape == ()
    assert run.at(10.0).attention.shape == (3, 3)


@pytest.mark.parametrize("time", [-1.0, 57_001.0, np.nan, [[1.0]], []])
def test_times_outside_the_run_are_refused(run, time):
    with pytest.raises(ValueError, match="time must be"):
        run.at(time)


def test_a_set_that_starts_at_zero_stays_at_zero_and_signs_are_kept(small):
    start = small.initial_parameters()
    start["c"][[0, 3]] = 0.0
    start["c"][4] = -0.01
    flow = small.flow(start, 1.0, "c")
    assert (flow.c[:, [0, 3]] == 0).all()
    assert (flow.c[:, 4] < 0).all()


def test_training_does_not_change_its_start(small):
    start = small.initial_parameters()
    before = {name: value.copy() for name, value in start.items()}
    small.flow(start, 1.0)
    small.descend(start, 3)
    for name, value in before.items():
        np.testing.assert_array_equal(start[name], value)


def test_the_replicator_equation_drives_the_log_ratios(small):
    """(E.5): the logarithms of two shares part at a rate 4 a / C_D times their difference in g."""
    start = small.initial_parameters()
    slope = np.gradient(np.log(small.flow(start, 1e-3, "c", rtol=1e-10).at([0.0, 1e-6]).p_S), 1e-6, axis=0)[0]
    gradient = small.loss_and_gradients(**start)[1]["c"]
    expected = -2 * gradient / start["c"]  # of log c squared
    np.testing.assert_allclose(slope - slope[0], expected - expected[0], rtol=1e-4)


def test_stage_one_at_the_papers_settings_selects_the_parents():
    tokens = dirichlet_chains(3000, 101, seed=4)
    model = StagedModel(WindowCounts.from_tokens(tokens, 3, 3), 2)
    run = model.descend(model.initial_parameters(), 20, "c", learning_rate=1.0)
    parents = model.sets.index((1, 2))
    np.testing.assert_allclose(run.p_S[[1, 10, 20], parents], [0.24, 0.93, 0.998], atol=0.03)


def test_the_full_models_flow_conserves_c_and_lowers_the_loss():
    tokens = dirichlet_chains(50, 31, seed=5)
    model = FullModel(WindowCounts.from_tokens(tokens, 2, 3), 2)
    start = model.initial_parameters(identity=0.1)
    run = model.flow(start, 0.1)
    assert np.abs(run.C_D / run.C_D[0] - 1).max() < 1e-12
    assert (np.diff(run.loss) < 1e-9).all()
    ends = [model.descend(start, n, learning_rate=0.1 / n).at(0.1) for n in (500, 1000)]
    for name, value in run.at(0.1).parameters.items():
        # Euler's method errs in the first order of its step, so this cancels the leading term.
        extrapolated = 2 * ends[1].parameters[name] - ends[0].parameters[name]
        moved = np.abs(value - start[name]).max()
        assert np.abs(extrapolated - value).max() <= 1e-3 * moved, name


def test_the_cost_does_not_depend_on_the_length():
    tokens = np.tile([0, 1, 1], (4, 400))
    short, long = (WindowCounts.from_tokens(tokens[:, :n], 3, 2).by_match() for n in (31, 1200))
    assert short.matrix.nnz == long.matrix.nnz


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"degree": 4}, "degree must be"),
        ({"degree": -1}, "degree must be"),
        ({"degree": 2, "heads": 0}, "heads must be"),
        ({"degree": 2, "epsilon": -0.1}, "epsilon must be"),
        ({"degree": 2, "epsilon": np.nan}, "epsilon must be"),
        ({"degree": 2, "mask": 1}, "mask must be"),
        ({"degree": 2, "loss": "log"}, "loss must be"),
    ],
)
def test_models_refuse_bad_settings(small, arguments, message):
    for Model in (StagedModel, FullModel):
        if Model is FullModel and arguments["degree"] == 4:
            arguments = {"degree": 5}
        with pytest.raises(ValueError, match=message):
            Model(small.counts, **arguments)
        with pytest.raises(ValueError, match="counts must be"):
            Model(np.zeros((2, 5), dtype=int), 2)


@pytest.mark.parametrize("Model", [StagedModel, FullModel])
def test_a_class_in_place_of_a_loss_is_refused(small, Model):
    for loss in (LogLoss, SoftmaxCrossEntropy):
        with pytest.raises(TypeError, match="^loss must be an object of a class"):
            Model(small.counts, 2, loss=loss)


@pytest.mark.parametrize("Model", [StagedModel, FullModel])
def test_too_many_heads_or_sets_are_refused_before_they_are_listed(small, Model):
    for heads in (10**9, 10**400):
        with pytest.raises(ValueError, match="^heads must be"):
            Model(small.counts, 1, heads=heads)
    for heads, degree in [(20, 20), (1000, 2), (99_999, 3), (60, 4)]:
        with pytest.raises(ValueError, match="^degree must be small enough"):
            Model(small.counts, degree, heads=heads)
    assert len(StagedModel(small.counts, 3, heads=40).sets) == 1 + 40 + 780 + 9880


@pytest.mark.parametrize(
    ("argument", "size", "window", "heads", "degree"),
    [
        ("heads", (200, 100), 4, 100, 0),  # many kinds of key
        ("heads", (1, 35), 30, 300, 0),  # many offsets
        ("degree", (20, 60), 3, 40, 2),  # many sets
        ("degree", (20, 30), 3, 1000, 1),  # many heads
    ],
)
def test_an_evaluation_takes_about_the_memory_for_which_it_would_be_refused(
    argument, size, window, heads, degree
):
    counts = WindowCounts.from_tokens(np.random.default_rng(14).integers(3, size=size), window, 3)

    def evaluate():
        model = StagedModel(counts, degree, heads)
        return model.loss_and_gradients(**model.initial_parameters())

    assert 0.95 < expected_over_taken(argument, evaluate) < {"heads": 1.6, "degree": 1.2}[argument]


@pytest.mark.parametrize(
    ("argument", "size", "vocab_size", "window", "heads", "degree"),
    [
        ("heads", (200, 100), 3, 4, 100, 0),  # many kinds of key
        ("heads", (1, 35), 3, 30, 300, 0),  # many offsets
        ("heads", (20, 30), 40, 2, 30, 0),  # many tokens
        ("heads", (20, 30), 3, 3, 1000, 1),  # many heads
        ("degree", (20, 60), 3, 3, 40, 2),  # many sets
    ],
)
def test_the_full_model_is_refused_for_about_the_memory_that_it_takes(
    argument, size, vocab_size, window, heads, degree
):
    tokens = np.random.default_rng(14).integers(vocab_size, size=size)
    counts = WindowCounts.from_tokens(tokens, window, vocab_size)

    def evaluate():
        model = FullModel(counts, degree, heads)
        return model.loss_and_gradients(**model.initial_parameters())

    assert 0.8 < expected_over_taken(argument, evaluate) < 1.4


@pytest.mark.parametrize("Model", [StagedModel, FullModel])
def test_initial_weights_of_zero_are_refused(small, Model):
    with pytest.raises(ValueError, match="^c must be .* other than 0"):
        Model(small.counts, 2).initial_parameters(c=0)


class Broken:
    """The square loss, with one thing wrong."""

    def __init__(self, value=None, slope=None):
        self._value, self._slope = value, slope

    def value(self, y):
        return (y - 1) ** 2 / 2 if self._value is None else np.full_like(y, self._value)

    def derivative(self, y):
        return y - 1 if self._slope is None else np.full_like(y, self._slope)


@pytest.mark.parametrize("a", [1.0, 1e4])  # both ways of normalizing the attention
@pytest.mark.parametrize("loss", [Broken(slope=np.nan), Broken(slope=-np.inf), Broken(value=np.nan)])
def test_a_loss_with_wrong_numbers_is_refused(small, loss, a):
    def of_distributions(y, targets):
        rows, slopes = np.arange(len(targets)), np.zeros_like(y)
        slopes[rows, targets] = loss.derivative(y[rows, targets])
        return loss.value(y[rows, targets]), slopes

    for given_loss in (loss, of_distributions):
        model = StagedModel(small.counts, 2, loss=given_loss)
        with pytest.raises(ValueError, match="^loss must return"):
            model.loss_and_gradients(**model.initial_parameters(a=a))


def test_a_loss_with_wrong_slopes_is_refused_along_a_flow(small):
    model = StagedModel(small.counts, 2, loss=Broken(slope=np.nan))
    for train in ("c", ("c", "w")):
        with pytest.raises(ValueError, match="^loss must return"):
            model.flow(model.initial_parameters(), 1.0, train)


@pytest.mark.parametrize("a", [1.0, 1e4])
def test_the_slope_counts_as_zero_where_the_loss_is_infinite(small, a):
    for slope in (np.nan, -np.inf):
        model = StagedModel(small.counts, 2, loss=Broken(value=np.inf, slope=slope))
        loss, gradients = model.loss_and_gradients(**model.initial_parameters(a=a))
        assert loss == np.inf
        assert all((gradient == 0).all() for gradient in gradients.values())


@pytest.mark.parametrize(
    "train, method",
    [
        (None, None),
        (None, "RK45"),
        (None, "DOP853"),
        (None, "BDF"),
        ("c", None),
        ("w", "LSODA"),
        ("a", "RK23"),
    ],
)
def test_a_flow_that_takes_too_many_evaluations_is_stopped(small, monkeypatch, train, method):
    from markov_transformers import dynamics

    monkeypatch.setattr(dynamics, "_MOST_EXPLICIT", 10)
    monkeypatch.setattr(dynamics, "_MOST_EVALUATIONS", 40)
    start = small.initial_parameters()
    with pytest.raises(RuntimeError, match=r"reached time .* of 50000 after 40 evaluations.*use descend"):
        small.flow(start, 50_000.0, train, method=method, rtol=1e-9)
    monkeypatch.undo()
    assert small.flow(start, 1.0, train, method=method).times[-1] == 1.0


def test_the_stiff_flow_of_the_full_model_ends_in_an_error(monkeypatch):
    from markov_transformers import dynamics

    monkeypatch.setattr(dynamics, "_MOST_EVALUATIONS", 500)
    model = FullModel(WindowCounts.from_tokens(dirichlet_chains(50, 31, seed=5), 2, 3), 2)
    with pytest.raises(RuntimeError, match="the flow reached time 0.* of 1 after"):
        model.flow(model.initial_parameters(), 1.0)


def test_the_flows_of_the_chapters_take_far_fewer_evaluations_than_they_may(small, monkeypatch):
    from markov_transformers import dynamics

    expected = small.flow(small.initial_parameters(), 57_000.0)
    monkeypatch.setattr(dynamics, "_MOST_EVALUATIONS", dynamics._MOST_EVALUATIONS // 20)
    again = small.flow(small.initial_parameters(), 57_000.0)
    np.testing.assert_array_equal(again.c, expected.c)
    monkeypatch.setattr(dynamics, "_MOST_EVALUATIONS", 0)  # the three stages never need the stiff method
    assert small.three_stages().times[-1] == 57_000


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"durations": (1.0, -1.0, 1.0)}, "durations must be"),
        ({"durations": (1.0, 1.0)}, "durations must be"),
        (
            {"durations": (1.0, 1.25, 1.0), "learning_rate": 0.1},
            "durations must be multiples of learning_rate",
        ),
        (
            {"durations": (0.4, 1.0, 1.0), "learning_rate": 1.0},
            "durations must be multiples of learning_rate",
        ),
        ({"learning_rate": 1e-320}, "durations must be multiples of learning_rate"),
        ({"learning_rate": 0.0}, "learning_rate must be"),
        ({"learning_rate": 1.0, "method": "RK45"}, "method must be"),
        ({"learning_rate": 1.0, "method": "Euler"}, "method must be"),
        ({"learning_rate": 1.0, "rtol": -1.0}, "rtol must be"),
    ],
)
def test_three_stages_refuse_bad_arguments(small, arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        small.three_stages(**arguments)


@pytest.mark.parametrize("rate", [1, 0.1, 0.01, 0.02])
def test_the_papers_durations_are_whole_numbers_of_the_usual_steps(rate):
    from markov_transformers.dynamics import _n_steps

    for duration in (2_000.0, 50_000.0, 5_000.0):
        assert _n_steps(duration, rate) * round(1 / rate) ** -1 == pytest.approx(duration)


def test_stages_of_gradient_steps_take_as_many_steps_as_fit_in_their_durations(small):
    run = small.three_stages(durations=(0.3, 0.7, 0.0), learning_rate=0.1)
    assert run.times.size == 1 + 3 + 7
    assert run.stage_ends == pytest.approx((0.3, 1.0, 1.0))


def test_a_run_is_followed_only_by_one_that_starts_at_its_end(small):
    start = small.initial_parameters()
    first = small.flow(start, 1.0, "c")
    end = {name: value[-1] for name, value in first.parameters.items()}
    second = small.flow(end, 2.0, "w")
    whole = first.then(second)
    assert whole.stage_ends == (1.0, 3.0)
    np.testing.assert_array_equal(whole.at(3.0).w, second.w[-1])
    with pytest.raises(TypeError, match="^following must be a Trajectory"):
        first.then(end)
    other = StagedModel(small.counts, 1)
    for following in (
        small.flow(start, 2.0, "w"),
        other.flow(other.initial_parameters(), 1.0, "c"),
        second.at(0.0),
        second.at([0.5, 1.0]),
    ):
        with pytest.raises(ValueError, match="^following must be"):
            first.then(following)
    for incomplete in (first.at(1.0), first.at([0.0, 0.5])):
        with pytest.raises(ValueError, match="^following must be"):
            incomplete.then(second)


def test_gradient_descent_that_diverges_warns_and_keeps_the_run():
    model = FullModel(WindowCounts.from_tokens(dirichlet_chains(50, 31, seed=5), 2, 3), 2)
    start = model.initial_parameters()
    with pytest.warns(RuntimeWarning, match="stopped at step . of 20.*smaller learning_rate") as caught:
        run = model.descend(start, 20, learning_rate=1e200)
    assert len(caught) == 1
    n = run.times.size
    assert 1 < n < 21 and run.loss.size == n
    assert all(len(value) == n and np.isfinite(value).all() for value in run.parameters.values())
    first = model.descend(start, 1, learning_rate=1e-3)
    np.testing.assert_allclose(run.a[1] - run.a[0], (first.a[1] - first.a[0]) * 1e203, rtol=1e-9)
    np.testing.assert_array_equal(run.at(run.times[-1]).c, run.c[-1])


def test_stages_end_where_gradient_descent_diverges(small):
    class Steep:
        def value(self, y):
            return -1e300 * y

        def derivative(self, y):
            return np.full_like(y, -1e300)

    model = StagedModel(small.counts, 2, loss=Steep())
    with pytest.warns(RuntimeWarning, match="stopped at step 0 of 3"):
        run = model.three_stages(durations=(3e20, 3e20, 3e20), learning_rate=1e20)
    assert run.times.tolist() == [0.0] and run.stage_ends == (0.0,)


@pytest.mark.parametrize("train", [5, [[]], [], ["c", "c"], ["c", 1], [None], 1.5])
def test_names_that_are_no_parameters_are_refused(small, train):
    start = small.initial_parameters()
    for call in (lambda: small.flow(start, 1.0, train), lambda: small.descend(start, 1, train)):
        with pytest.raises(ValueError, match="^train must be"):
            call()


def test_models_refuse_bad_parameters(small):
    start = small.initial_parameters()
    for name, value in [
        ("c", np.zeros(7)),
        ("c", np.ones(6)),
        ("w", np.ones((3, 2))),
        ("a", np.inf),
        ("a", [1.0]),
    ]:
        with pytest.raises(ValueError, match=f"{name} must be"):
            small.loss_and_gradients(**{**start, name: value})
    with pytest.raises(ValueError, match="start must be"):
        small.flow({"c": start["c"]}, 1.0)
    with pytest.raises(ValueError, match="train must be"):
        small.flow(start, 1.0, "b")
    with pytest.raises(ValueError, match="duration must be"):
        small.flow(start, -1.0)
    with pytest.raises(ValueError, match="learning_rate must be"):
        small.descend(start, 1, learning_rate=0.0)
    with pytest.raises(ValueError, match="n_steps must be"):
        small.descend(start, 1.5)
    with pytest.raises(ValueError, match="loss must return"):
        StagedModel(small.counts, 2, loss=lambda y, t: (0.0, y)).loss_and_gradients(**start)


# Theory: the limit of long sequences, and the distance from the induction head.


def stationary_windows(concentration, seed, vocab=3, lags=2):
    """Law of windows of three tokens, oldest first, of a random chain, by power iteration."""
    rng = np.random.default_rng(seed)
    kernel = rng.dirichlet(np.full(vocab, concentration), size=(vocab,) * lags)  # [old, new, next]
    pair = np.full((vocab, vocab), vocab**-2.0)
    for _ in range(5000):
        pair = (pair + (pair[:, :, None] * kernel).sum(axis=0)) / 2
    return pair[:, :, None] * kernel


def expected_log_probability(windows, subset, a):
    """E log of the reweighted prediction, by the double sum of its definition."""
    total = 0.0
    for X in np.ndindex(windows.shape):
        votes = np.zeros(windows.shape[-1])
        for Z in np.ndindex(windows.shape):
            match = all(X[-1 - s] == Z[-1 - s] for s in subset)
            votes[Z[-1]] += windows[Z] * np.exp(a * match)
        if windows[X]:
            total += windows[X] * np.log(votes[X[-1]] / votes.sum())
    return total


@pytest.mark.parametrize("subset", [(), (1,), (2,), (1, 2)])
@pytest.mark.parametrize("a", [0.0, 0.5, 3.0])
def test_the_speed_of_a_is_the_slope_of_the_expected_log_probability(subset, a):
    windows = stationary_windows(1.0, 0)
    h = 1e-5
    ends = [expected_log_probability(windows, subset, a + sign * h) for sign in (1, -1)]
    slope = (ends[0] - ends[1]) / (2 * h)
    assert classifier_speed(windows, subset, a) == pytest.approx(slope, abs=1e-8)


def test_the_reweighted_law_mixes_the_marginal_and_the_conditional():
    windows = stationary_windows(1.0, 1)
    law = reweighted_law(windows, (1, 2), 1.7)
    for x1, x2 in product(range(3), repeat=2):
        votes = np.zeros(3)
        for Z in np.ndindex(windows.shape):
            votes[Z[-1]] += windows[Z] * np.exp(1.7 * (Z[-2] == x1 and Z[-3] == x2))
        np.testing.assert_allclose(law[x1, x2], votes / votes.sum(), rtol=1e-10)
    np.testing.assert_allclose(reweighted_law(windows, (1,), 0.0), np.tile(windows.sum(axis=(0, 1)), (3, 1)))


def test_the_speed_of_a_decays_like_the_inverse_square_exponential_where_nothing_is_impossible():
    windows = stationary_windows(5.0, 2)
    speeds = [classifier_speed(windows, (1, 2), a) for a in (30.0, 31.0)]
    assert np.log(speeds[1] / speeds[0]) == pytest.approx(-2.0, abs=1e-6)
    never = np.array([[0.3, 0.0], [0.2, 0.5]])  # after 0 never 1, made stationary or not: a law of pairs
    speeds = [classifier_speed(never, (1,), a) for a in (30.0, 31.0)]
    assert np.log(speeds[1] / speeds[0]) == pytest.approx(-1.0, abs=1e-6)
    assert classifier_speed(never, (1,), 1e3) == pytest.approx(0.0, abs=1e-300)


def test_several_chains_give_several_laws():
    windows = np.stack([stationary_windows(1.0, seed) for seed in (3, 4)])
    speeds = classifier_speed(windows, (1, 2), 1.0, average=False)
    assert speeds.shape == (2,)
    assert classifier_speed(windows, (1, 2), 1.0) == pytest.approx(speeds.mean(), rel=1e-13)
    assert speeds[1] == pytest.approx(classifier_speed(windows[1], (1, 2), 1.0), rel=1e-13)
    assert reweighted_law(windows, (2,), 1.0).shape == (2, 3, 3)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.floats(0, 12), st.floats(0, 8), st.floats(0, 5))
def test_no_output_is_further_from_the_induction_head_than_the_bound(seed, a, own, purity):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(3, size=(8, 20))
    counts = WindowCounts.from_tokens(tokens, 3, 3)
    model = StagedModel(counts, 2)
    subset = model.sets[rng.integers(len(model.sets))]
    parameters = model.initial_parameters(own=own, a=a)
    parameters["c"] *= rng.uniform(0.5, 1.5, size=7)
    parameters["c"][model.sets.index(subset)] *= 10**purity
    head = np.zeros((8, 3))
    matches = np.zeros(8, dtype=int)
    for b, x in enumerate(tokens):
        L = 19
        hits = [x[p] for p in range(3, L) if all(x[p - s] == x[L - s] for s in subset)]
        matches[b] = len(hits)
        head[b] = np.bincount(hits or x[3:L], minlength=3) / len(hits or x[3:L])
    np.testing.assert_array_equal(counts.n_matches(subset), matches)
    error = sum(model.misspecification(parameters["c"], parameters["w"], subset))
    distance = np.abs(model.predict(**parameters) - head).sum(axis=1)
    assert (distance <= induction_head_bound(a, error, matches, 16) + 1e-12).all()


def test_sets_without_a_share_are_refused(small):
    start = small.initial_parameters()
    for subset in ((4,), (1, 2, 3), 1):
        with pytest.raises(ValueError, match="subset must be"):
            small.misspecification(start["c"], start["w"], subset)


def test_the_speed_of_a_starts_at_the_modified_information():
    windows = stationary_windows(0.5, 5)
    for subset in ((), (1,), (2,), (1, 2)):
        information = modified_chi2_information(windows, subset) if subset else 0.0
        assert classifier_speed(windows, subset, 0.0) == pytest.approx(information, abs=1e-13)


def test_misspecification_is_one_minus_share_and_one_minus_squared_attention(small):
    w = np.random.default_rng(13).normal(size=(3, 3))
    c = np.arange(1.0, 8.0)
    selector, copier = small.misspecification(c, w, (1, 3))
    assert selector == pytest.approx(1 - 36 / 140)
    s = softmax(w)
    assert copier == pytest.approx(1 - (s[0, 0] * s[2, 2]) ** 2)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: classifier_speed(np.ones((2, 2)), (1,), 0.0), "windows must be"),
        (lambda: classifier_speed(np.full((2, 2), 0.25), (2,), 0.0), "subset must be"),
        (lambda: classifier_speed(np.full((2, 2), 0.25), 1, 0.0), "subset must be"),
        (lambda: classifier_speed(np.full((2, 2), 0.25), (1,), -1.0), "a must be"),
        (lambda: reweighted_law(np.full((2, 3), 1 / 6), (1,), 1.0), "windows must be"),
        (lambda: induction_head_bound(1.0, 0.1, [5], 4), "n_matches must be"),
        (lambda: induction_head_bound(1.0, -0.1, [5], 8), "error must be"),
    ],
)
def test_theory_refuses_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
