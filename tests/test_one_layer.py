"""The reduced one-layer model, against the literal one and against formulas spelt out here."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_transformers import (
    CircleWalk,
    ExponentialLoss,
    HingeLoss,
    LogisticLoss,
    LogLoss,
    OneLayerModel,
    OneLayerParameters,
    SquareLoss,
    one_layer,
    sine_positions,
)
from tests.memory import expected_over_taken

# The losses once more, for complex scores.
LOSSES = [
    (LogLoss(0.1), lambda z: -np.log(z + 0.1)),
    (SquareLoss(), lambda z: (z - 1) ** 2 / 2),
    (LogisticLoss(), lambda z: np.log(1 + np.exp(-z))),
    (HingeLoss(), lambda z: np.where(z.real < 1, 1 - z, 0)),
    (ExponentialLoss(), lambda z: np.exp(-z)),
]
UNIT_LENGTH = pytest.mark.parametrize("unit_length", [False, True], ids=["raw", "unit length"])


def columns(model, inputs):
    """Spell out X-tilde of (2.1) for one sequence: a one-hot token above a sine position."""
    K, M, N = model.vocab_size, model.position_dim, model.length
    X = np.zeros((K + M, N))
    for j in range(N):
        if j < N - 1:
            X[inputs[j], j] = 1
        for m in range(M):
            X[K + m, j] = math.sin((m + 1) * (j + 1) * math.pi / (M + 1))
    return X


def literal_attention(model, W, inputs):
    """Spell out S(X-tilde' W x-tilde_N) for one sequence."""
    X = columns(model, inputs)
    if model.unit_length:
        X = X / np.sqrt((X**2).sum(axis=0))
    weights = [math.exp(X[:, j] @ W @ X[:, -1]) for j in range(model.length)]
    return np.array(weights) / math.fsum(weights)


def naive_loss(model, V, content, position, tokens, weights, of_score):
    """Return the loss, sequence by sequence and column by column; complex numbers are welcome."""
    norm = math.sqrt(1 + (model.position_dim + 1) / 2) if model.unit_length else 1
    total = 0
    for sequence, weight in zip(tokens, weights):
        *seen, target = sequence
        exponentials = [np.exp(content[s] / norm + q) for s, q in zip(seen, position)] + [
            np.exp(position[-1])
        ]
        score = sum(e * V[target, s] for e, s in zip(exponentials, seen)) / sum(exponentials)
        total = total + weight * of_score(score)
    return total


def some_parameters(model, rng, size=0.5):
    """Draw parameters with positive V, so that every loss is defined."""
    K, N = model.vocab_size, model.length
    return OneLayerParameters(
        rng.uniform(0.1, 0.9, (K, K)), size * rng.standard_normal(K), size * rng.standard_normal(N)
    )


def copies(parameters):
    return [p.copy() for p in vars(parameters).values()]


# The literal model --------------------------------------------------------------------------------


@pytest.fixture
def torch():
    """Torch on one thread: on matrices this small, threads wait for each other."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(threads)


def relative_gap(actual, expected):
    return np.abs(actual - expected).max() / max(1.0, np.abs(expected).max())


def assert_the_models_agree(torch, p, random, unit_length, length, position_dim, steps=50):
    """Train both side by side on 60 walks and compare all that (2.1) to (2.3) define."""
    from markov_transformers.models import OneLayerTransformer

    K, size = 6, 6 + position_dim
    rng = np.random.default_rng(11)
    tokens = CircleWalk(K, p).sample(60, length, rng=rng)
    V, W = np.zeros((K, K)), np.zeros((size, size))
    if random:
        V, W = 0.01 * rng.standard_normal((K, K)), 0.01 * rng.standard_normal((size, size))
    reduced = OneLayerModel(K, length, position_dim, unit_length=unit_length)
    literal = OneLayerTransformer(K, length, position_dim, unit_length=unit_length)
    literal.load_state_dict({"value": torch.tensor(V), "query_key": torch.tensor(W)}, strict=False)
    run = reduced.train(tokens, learning_rate=1.0, steps=steps, start=reduced.from_matrices(V, W))
    assert not run.diverged
    np.testing.assert_array_equal(run.iterations, np.arange(steps + 1))
    data = torch.tensor(tokens)
    for step in range(steps + 1):
        now = run.parameters(step)
        seen = literal.value.detach().numpy().copy(), literal.query_key.detach().numpy().copy()
        rebuilt = reduced.to_matrices(now, start=W)
        expected = reduced.from_matrices(*seen)
        with torch.no_grad():
            attention = literal.attention(literal.embed(data[:, :-1])).numpy()
        gaps = {
            "value": relative_gap(now.value, seen[0]),
            "content": relative_gap(now.content, expected.content),
            "position": relative_gap(now.position, expected.position),
            "rebuilt value": relative_gap(rebuilt[0], seen[0]),
            "rebuilt query_key": relative_gap(rebuilt[1], seen[1]),
            "attention": relative_gap(reduced.attention(now, tokens[:, :-1]), attention),
            "mean attention": relative_gap(run.attention[step], attention.mean(axis=0)),
            "loss": relative_gap(run.loss[step], literal.gradient_step(data, learning_rate=1.0)),
        }
        assert max(gaps.values()) < 1e-10, f"step {step}: {gaps}"
    # What was compared must have moved.
    assert np.abs(run.value[-1] - V).max() > 0.1
    assert np.abs(run.position[-1] - run.position[0]).max() > 0.1


@UNIT_LENGTH
@pytest.mark.parametrize("random", [False, True], ids=["zero", "random"])
@pytest.mark.parametrize("p", [0.3, 0.5, 0.7])
def test_the_reduced_model_follows_the_literal_one_all_the_way(torch, p, random, unit_length):
    assert_the_models_agree(torch, p, random, unit_length, length=25, position_dim=100)


def test_the_reduced_model_follows_the_literal_one_at_the_papers_size(torch):
    assert_the_models_agree(torch, 0.7, random=False, unit_length=False, length=97, position_dim=1000)


@UNIT_LENGTH
def test_the_literal_model_computes_the_printed_formula(torch, unit_length):
    from markov_transformers.models import OneLayerTransformer

    sizes = OneLayerModel(3, 6, 9, unit_length=unit_length)
    literal = OneLayerTransformer(3, 6, 9, unit_length=unit_length)
    rng = np.random.default_rng(0)
    V, W = rng.uniform(0, 1, (3, 3)), 0.1 * rng.standard_normal((12, 12))
    literal.load_state_dict({"value": torch.tensor(V), "query_key": torch.tensor(W)}, strict=False)
    tokens = rng.integers(3, size=(5, 6))
    expected = []
    for sequence in tokens:
        X = columns(sizes, sequence[:-1])[:3]
        expected.append(V @ X @ literal_attention(sizes, W, sequence[:-1]))
    scores = literal(torch.tensor(tokens[:, :-1])).detach().numpy()
    np.testing.assert_allclose(scores, expected, rtol=1e-13)
    loss = np.mean([-math.log(f[y] + 0.2) for f, y in zip(np.array(expected), tokens[:, -1])])
    assert literal.loss(torch.tensor(tokens), epsilon=0.2).item() == pytest.approx(loss, rel=1e-13)


# Positions and the map between both models --------------------------------------------------------


@pytest.mark.parametrize(("length", "dim"), [(2, 2), (5, 5), (4, 9), (97, 1000)])
def test_sine_positions_are_orthogonal_and_equally_long(length, dim):
    P = sine_positions(length, dim)
    assert P.shape == (dim, length)
    np.testing.assert_allclose(P.T @ P, (dim + 1) / 2 * np.eye(length), atol=1e-11)


def test_sine_positions_are_the_printed_sines():
    P = sine_positions(5, 8)
    for i, m in itertools.product(range(1, 6), range(1, 9)):
        assert P[m - 1, i - 1] == pytest.approx(math.sin(m * i * math.pi / 9), abs=1e-14)


@UNIT_LENGTH
def test_attention_is_the_literal_softmax(unit_length):
    model = OneLayerModel(3, 6, 9, unit_length=unit_length)
    rng = np.random.default_rng(1)
    W = 0.2 * rng.standard_normal((12, 12))
    inputs = rng.integers(3, size=(8, 5))
    expected = [literal_attention(model, W, row) for row in inputs]
    attention = model.attention(model.from_matrices(np.zeros((3, 3)), W), inputs)
    np.testing.assert_allclose(attention, expected, rtol=1e-12)


@UNIT_LENGTH
def test_matrices_rebuilt_from_parameters_reduce_to_the_same_parameters(unit_length):
    model = OneLayerModel(3, 5, 7, unit_length=unit_length)
    rng = np.random.default_rng(2)
    parameters = some_parameters(model, rng)
    for start in (None, rng.standard_normal((10, 10))):
        V, W = model.to_matrices(parameters, start)
        again = model.from_matrices(V, W)
        for name, expected in vars(parameters).items():
            np.testing.assert_allclose(getattr(again, name), expected, atol=1e-13)
        moved = W - (0 if start is None else start)
        assert np.linalg.matrix_rank(moved) == 1


@UNIT_LENGTH
def test_random_parameters_follow_the_law_of_gaussian_matrices(unit_length):
    model = OneLayerModel(2, 3, 4, unit_length=unit_length)
    scale, n = 0.3, 20_000

    def flat(parameters):
        return np.concatenate([p.ravel() for p in vars(parameters).values()])

    # The map from (V, W) is linear, so its matrix gives the covariance of the reduced Gaussian.
    rows = [flat(model.from_matrices(e.reshape(2, 2), np.zeros((6, 6)))) for e in np.eye(4)]
    rows += [flat(model.from_matrices(np.zeros((2, 2)), e.reshape(6, 6))) for e in np.eye(36)]
    covariance = scale**2 * np.array(rows).T @ np.array(rows)  # (9, 9)
    rng = np.random.default_rng(3)
    draws = np.array([flat(model.random(scale, rng=rng)) for _ in range(n)])
    deviation = np.sqrt(np.diag(covariance))
    assert (np.abs(draws.mean(axis=0)) < 4.5 * deviation / math.sqrt(n)).all()
    # An entry of a sample covariance has variance (c_ii c_jj + c_ij^2) / n.
    error = np.sqrt((np.outer(deviation, deviation) ** 2 + covariance**2) / n)
    assert (np.abs(np.cov(draws.T) - covariance) < 4.5 * error).all()
    kurtosis = (draws**4).mean(axis=0) / deviation**4
    assert (np.abs(kurtosis - 3) < 4.5 * math.sqrt(96 / n)).all()


# Scores, loss and gradients -----------------------------------------------------------------------


@UNIT_LENGTH
@pytest.mark.parametrize(("loss", "of_score"), LOSSES, ids=lambda x: repr(x)[:15])
def test_loss_and_gradients_match_a_complex_step_through_the_formula(loss, of_score, unit_length):
    model = OneLayerModel(3, 5, 8, unit_length=unit_length)
    rng = np.random.default_rng(4)
    parameters = some_parameters(model, rng)
    tokens, weights = rng.integers(3, size=(7, 5)), rng.dirichlet(np.ones(7))
    value, gradients = model.loss_and_gradients(parameters, tokens, loss, weights)
    V, u, q = copies(parameters)
    assert value == pytest.approx(naive_loss(model, V, u, q, tokens, weights, of_score).real, rel=1e-13)
    for name, expected_shape in [("value", (3, 3)), ("content", (3,)), ("position", (5,))]:
        gradient = getattr(gradients, name)
        assert gradient.shape == expected_shape
        for index in np.ndindex(expected_shape):
            bent = {k: v.astype(complex) for k, v in vars(parameters).items()}
            bent[name][index] += 1e-30j
            slope = naive_loss(model, *bent.values(), tokens, weights, of_score).imag / 1e-30
            assert gradient[index] == pytest.approx(slope, rel=1e-11, abs=1e-14)


@UNIT_LENGTH
def test_rates_turn_reduced_gradients_into_steps_of_the_matrices(unit_length):
    # A step of W along its own gradient, which Lemma B.1 gives as X-tilde (...) x-tilde_N'.
    model = OneLayerModel(3, 5, 8, unit_length=unit_length)
    rng = np.random.default_rng(5)
    V, W = rng.uniform(0.1, 0.9, (3, 3)), 0.1 * rng.standard_normal((11, 11))
    tokens = rng.integers(3, size=(7, 5))
    step = np.zeros((11, 11))
    for sequence in tokens:
        X = columns(model, sequence[:-1])
        one_hot = X[:3]
        S = literal_attention(model, W, sequence[:-1])
        if unit_length:
            X = X / np.sqrt((X**2).sum(axis=0))
        f = (V @ one_hot @ S)[sequence[-1]]
        inner = (np.diag(S) - np.outer(S, S)) @ one_hot.T @ V[sequence[-1]]
        step += -1 / (f + 0.1) / len(tokens) * np.outer(X @ inner, X[:, -1])
    before, after = model.from_matrices(V, W), model.from_matrices(V, W - 0.7 * step)
    gradients = model.loss_and_gradients(before, tokens)[1]
    for name in ("content", "position"):
        expected = getattr(before, name) - 0.7 * getattr(model.rates, name) * getattr(gradients, name)
        np.testing.assert_allclose(getattr(after, name), expected, rtol=1e-11, atol=1e-13)


def test_scores_are_the_value_matrix_times_the_attended_tokens():
    model = OneLayerModel(4, 6, 9)
    rng = np.random.default_rng(6)
    parameters, inputs = some_parameters(model, rng), rng.integers(4, size=(10, 5))
    attention = model.attention(parameters, inputs)
    expected = np.einsum("yx,bjx,bj->by", parameters.value, np.eye(4)[inputs], attention[:, :-1])
    np.testing.assert_allclose(model.scores(parameters, inputs), expected, rtol=1e-13)


def test_the_predicted_token_is_the_smallest_one_of_the_highest_score():
    model = OneLayerModel(3, 3, 5)
    values = {0: [[1, 1, 1], [2, 2, 2], [2, 2, 2]], 1: [[0] * 3, [1] * 3, [-1] * 3]}
    ties = OneLayerParameters(np.array(values[0], float), np.zeros(3), np.zeros(3))
    clear = OneLayerParameters(np.array(values[1], float), np.zeros(3), np.zeros(3))
    zero = model.zero()
    inputs = [[0, 1], [2, 2]]
    np.testing.assert_array_equal(model.predict(ties, inputs), [1, 1])
    np.testing.assert_array_equal(model.predict(clear, inputs), [1, 1])
    np.testing.assert_array_equal(model.predict(zero, inputs), [0, 0])


def test_rounding_does_not_break_a_tie_but_a_real_difference_does():
    model = OneLayerModel(2, 3, 5)
    for gap, winner in ((1e-13, 0), (0.9e-9, 0), (1.2e-9, 1), (1e-6, 1)):
        V = np.array([[1.0, 1.0], [1.0 + gap, 1.0 + gap]])
        assert model.predict(OneLayerParameters(V, np.zeros(2), np.zeros(3)), [[0, 1]]) == [winner]
    tiny = OneLayerParameters(np.array([[0.0, 0.0], [1e-320, 1e-320]]), np.zeros(2), np.zeros(3))
    assert model.predict(tiny, [[0, 1]]) == [1]


def test_a_tie_is_judged_by_the_scores_of_its_own_sequence():
    V = np.array([[1.0, 1e6], [1.0 + 1e-6, 0.0]])  # a small lead after token 0, a large one after token 1
    model = OneLayerModel(2, 3, 5)
    predicted = model.predict(OneLayerParameters(V, np.zeros(2), np.zeros(3)), [[0, 0], [1, 1]])
    np.testing.assert_array_equal(predicted, [1, 0])


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(2, 7), st.booleans())
def test_each_row_of_attention_is_a_distribution_that_a_common_shift_leaves_alone(seed, K, N, unit_length):
    model = OneLayerModel(K, N, 10, unit_length=unit_length)
    rng = np.random.default_rng(seed)
    parameters, inputs = some_parameters(model, rng, size=5), rng.integers(K, size=(4, N - 1))
    attention = model.attention(parameters, inputs)
    assert (attention >= 0).all()
    np.testing.assert_allclose(attention.sum(axis=1), 1, rtol=0, atol=1e-14)
    shifted = OneLayerParameters(parameters.value, parameters.content, parameters.position + 17)
    np.testing.assert_allclose(model.attention(shifted, inputs), attention, rtol=1e-12)
    np.testing.assert_allclose(model.scores(shifted, inputs), model.scores(parameters, inputs), rtol=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32), st.integers(2, 5))
def test_renaming_the_tokens_renames_the_gradients(seed, K):
    model = OneLayerModel(K, 5, 10)
    rng = np.random.default_rng(seed)
    p, tokens = some_parameters(model, rng), rng.integers(K, size=(6, 5))
    name = rng.permutation(K)  # the new name of each token
    old = np.argsort(name)
    renamed = OneLayerParameters(p.value[np.ix_(old, old)], p.content[old], p.position)
    loss, g = model.loss_and_gradients(p, tokens)
    other, h = model.loss_and_gradients(renamed, name[tokens])
    assert other == pytest.approx(loss, rel=1e-13)
    np.testing.assert_allclose(h.value, g.value[np.ix_(old, old)], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(h.content, g.content[old], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(h.position, g.position, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("where", range(4))
def test_huge_scores_give_all_attention_to_one_column_without_a_warning(where):
    model = OneLayerModel(3, 4, 5)
    position = np.full(4, -3000.0)
    position[where] = 3000.0
    parameters = OneLayerParameters(np.ones((3, 3)), np.array([500.0, -500.0, 0.0]), position)
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_array_equal(model.attention(parameters, [[0, 1, 2]])[0], np.eye(4)[where])
        loss, gradients = model.loss_and_gradients(parameters, [[0, 1, 2, 0]])
    assert loss == pytest.approx(-math.log(1.1 if where < 3 else 0.1))
    assert all(np.isfinite(g).all() for g in vars(gradients).values())


# Weights and the population loss ------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.3, 1.0])
def test_enumerated_walks_give_the_population_loss(p):
    K, length = 3, 5
    model, parameters = (
        OneLayerModel(K, length, 8),
        some_parameters(OneLayerModel(K, length, 8), np.random.default_rng(7)),
    )
    expected = 0
    for nodes in itertools.product(range(K), repeat=length):
        steps = [(j - i) % K for i, j in itertools.pairwise(nodes)]
        probability = math.prod({1: p, K - 1: 1 - p}.get(step, 0) for step in steps) / K
        if probability:
            V, u, q = copies(parameters)
            expected += naive_loss(model, V, u, q, [nodes], [probability], lambda z: -np.log(z + 0.1))
    walks, probabilities = CircleWalk(K, p).enumerate(length)
    loss, _ = model.loss_and_gradients(parameters, walks, weights=probabilities)
    assert loss == pytest.approx(expected, rel=1e-13)


def test_many_samples_approach_the_population_loss():
    walk, model = CircleWalk(3, 0.3), OneLayerModel(3, 5, 8)
    parameters = some_parameters(model, np.random.default_rng(8))
    tokens = walk.sample(20_000, 5, rng=8)
    loss, _ = model.loss_and_gradients(parameters, tokens)
    each = LogLoss().value(model.scores(parameters, tokens[:, :-1])[np.arange(20_000), tokens[:, -1]])
    walks, probabilities = walk.enumerate(5)
    population, _ = model.loss_and_gradients(parameters, walks, weights=probabilities)
    assert abs(loss - population) < 4 * each.std() / math.sqrt(20_000)


def test_a_weight_of_two_counts_a_sequence_twice_and_a_weight_of_zero_drops_it():
    model = OneLayerModel(3, 5, 8)
    rng = np.random.default_rng(9)
    parameters, tokens = some_parameters(model, rng), rng.integers(3, size=(4, 5))
    loss, gradients = model.loss_and_gradients(parameters, tokens, weights=[6, 3, 0, 3])
    other, expected = model.loss_and_gradients(parameters, tokens[[0, 0, 1, 3]])
    assert loss == pytest.approx(other, rel=1e-14)
    for name, gradient in vars(gradients).items():
        np.testing.assert_allclose(gradient, getattr(expected, name), rtol=1e-12, atol=1e-15)


def test_the_order_of_the_sequences_does_not_matter():
    model = OneLayerModel(3, 5, 8)
    rng = np.random.default_rng(10)
    parameters, tokens, weights = some_parameters(model, rng), rng.integers(3, size=(20, 5)), rng.random(20)
    order = rng.permutation(20)
    loss, gradients = model.loss_and_gradients(parameters, tokens, weights=weights)
    other, expected = model.loss_and_gradients(parameters, tokens[order], weights=weights[order])
    assert loss == pytest.approx(other, rel=1e-13)
    for name, gradient in vars(gradients).items():
        np.testing.assert_allclose(gradient, getattr(expected, name), rtol=1e-11, atol=1e-14)


# Training -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learning():
    """A small run that learns, with everything recorded."""
    walk, model = CircleWalk(4, 0.7), OneLayerModel(4, 9, 20)
    tokens, test = walk.sample(200, 9, rng=0), walk.sample(100, 9, rng=1)
    weights = np.random.default_rng(2).random(100)
    truth = walk.predict(test[:, :-1])
    run = model.train(tokens, learning_rate=1.0, steps=60, test=test, test_weights=weights, truth=truth)
    return model, tokens, test, weights, truth, run


def test_each_record_is_what_its_parameters_give(learning):
    model, tokens, test, weights, truth, run = learning
    share = weights / weights.sum()
    for record in (0, 1, 7, 60):
        parameters = run.parameters(record)
        scores = model.scores(parameters, test[:, :-1])
        assert run.loss[record] == pytest.approx(model.loss_and_gradients(parameters, tokens)[0], rel=1e-13)
        hits = model.predict(parameters, test[:, :-1]) == test[:, -1]
        assert run.accuracy[record] == pytest.approx(share @ hits, rel=1e-13)
        attention = share @ model.attention(parameters, test[:, :-1])
        np.testing.assert_allclose(run.attention[record], attention, rtol=1e-12, atol=1e-15)
        guess = scores / scores.sum(axis=1, keepdims=True) if scores.any() else np.full_like(scores, 0.25)
        assert (guess >= 0).all()
        divergence = [sum(t * math.log(t / g) for t, g in zip(*pair) if t > 0) for pair in zip(truth, guess)]
        assert run.kl[record] == pytest.approx(share @ divergence, rel=1e-11, abs=1e-14)


def test_training_learns_the_walk(learning):
    *_, run = learning
    assert run.attention[-1].argmax() == 7
    assert run.attention[-1, 7] > 0.99
    assert run.loss[-1] < run.loss[0]
    assert run.kl[-1] < run.kl[0]
    assert run.accuracy[-1] > 0.6


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_the_divergence_counts_the_positive_part_of_the_scores_and_may_be_infinite(scale):
    model = OneLayerModel(2, 3, 5)
    V = scale * np.array([[3.0, 3.0], [1.0, -1.0]])
    # All attention goes to the last token: scores in proportion to (3, 1) and (3, -1).
    start = OneLayerParameters(V, np.zeros(2), np.array([-2000.0, 0.0, -2000.0]))

    def divergence(token, truth):
        run = model.train([[0, token, 0]], learning_rate=1, steps=0, start=start, truth=[truth])
        return run.kl[0]

    assert divergence(0, [0.5, 0.5]) == pytest.approx(0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25))
    assert divergence(1, [1.0, 0.0]) == 0
    assert divergence(1, [0.5, 0.5]) == np.inf


def test_without_a_truth_no_divergence_is_recorded_and_without_a_test_the_training_set_is_used():
    model, tokens = OneLayerModel(3, 5, 8), CircleWalk(3, 0.6).sample(30, 5, rng=0)
    weights = np.arange(30.0)
    run = model.train(tokens, learning_rate=0.5, steps=4, weights=weights)
    same = model.train(tokens, learning_rate=0.5, steps=4, weights=weights, test=tokens, test_weights=weights)
    assert run.kl is None
    np.testing.assert_array_equal(run.accuracy, same.accuracy)
    np.testing.assert_array_equal(run.attention, same.attention)


@pytest.mark.parametrize(
    ("steps", "every", "expected"),
    [(0, 1, [0]), (5, 1, [0, 1, 2, 3, 4, 5]), (7, 3, [0, 3, 6, 7]), (6, 3, [0, 3, 6]), (2, 10, [0, 2])],
)
def test_records_come_at_the_iterations_asked_for_and_at_the_end(steps, every, expected):
    model, tokens = OneLayerModel(3, 5, 8), CircleWalk(3, 0.6).sample(30, 5, rng=0)
    every_step = model.train(tokens, learning_rate=0.5, steps=steps)
    run = model.train(tokens, learning_rate=0.5, steps=steps, record_every=every)
    np.testing.assert_array_equal(run.iterations, expected)
    for name in ("loss", "accuracy", "attention", "value", "content", "position"):
        np.testing.assert_array_equal(getattr(run, name), getattr(every_step, name)[expected])


def test_a_run_can_be_taken_up_where_it_ended():
    model, tokens = OneLayerModel(3, 5, 8, unit_length=True), CircleWalk(3, 0.6).sample(30, 5, rng=0)
    start = model.random(0.05, rng=1)
    whole = model.train(tokens, learning_rate=0.5, steps=10, start=start)
    half = model.train(tokens, learning_rate=0.5, steps=5, start=start)
    rest = model.train(tokens, learning_rate=0.5, steps=5, start=half.parameters())
    for name, expected in vars(whole.parameters()).items():
        np.testing.assert_array_equal(getattr(rest.parameters(), name), expected)


def test_a_learning_rate_of_zero_changes_nothing():
    model, tokens = OneLayerModel(3, 5, 8), CircleWalk(3, 0.6).sample(30, 5, rng=0)
    start = model.random(0.05, rng=1)
    run = model.train(tokens, learning_rate=0, steps=3, start=start)
    for name, expected in vars(start).items():
        np.testing.assert_array_equal(getattr(run.parameters(), name), expected)
    assert len(set(run.loss)) == 1


def test_a_readers_own_loss_trains_as_well_as_the_librarys():
    class Own:
        def value(self, score):
            return (score - 1) ** 2 / 2

        def derivative(self, score):
            return score - 1

    model, tokens = OneLayerModel(3, 5, 8), CircleWalk(3, 0.6).sample(30, 5, rng=0)
    own = model.train(tokens, learning_rate=0.1, steps=5, loss=Own())
    ours = model.train(tokens, learning_rate=0.1, steps=5, loss=SquareLoss())
    np.testing.assert_array_equal(own.value, ours.value)
    assert own.loss[-1] < own.loss[0]


@pytest.mark.parametrize("loss", [loss for loss, _ in LOSSES], ids=repr)
@pytest.mark.parametrize("p", [0.0, 1.0])
@pytest.mark.parametrize(("K", "length"), [(3, 13), (5, 26), (6, 97)])
def test_a_deterministic_walk_keeps_all_values_equal_bit_for_bit(K, length, p, loss):
    # Theorem 4.1: with zero initialization the model learns nothing about the order.
    walks, probabilities = CircleWalk(K, p).enumerate(length)
    model = OneLayerModel(K, length)
    run = model.train(walks, weights=probabilities, learning_rate=1.0, steps=100, loss=loss, record_every=10)
    assert not run.diverged
    assert run.value[-1, 0, 0] > 0
    for same in (*run.value, *run.content):
        assert np.ptp(same) == 0
    np.testing.assert_allclose(run.accuracy, 1 / K, rtol=1e-15)


def test_random_initialization_breaks_the_symmetry_of_a_deterministic_walk():
    walks, probabilities = CircleWalk(6, 1.0).enumerate(97)
    model = OneLayerModel(6, 97)
    start = model.random(0.01, rng=0)
    run = model.train(walks, weights=probabilities, learning_rate=1.0, steps=100, start=start)
    assert np.ptp(run.value[-1]) > 0.1
    assert run.accuracy[-1] == pytest.approx(1.0)


def test_diverging_training_stops_with_a_warning_and_keeps_the_run():
    model, tokens = OneLayerModel(3, 5, 8), CircleWalk(3, 0.6).sample(30, 5, rng=0)
    start = OneLayerParameters(np.full((3, 3), 0.5), np.zeros(3), np.zeros(5))
    with pytest.warns(RuntimeWarning, match=r"iteration \d+ of 1000.*learning_rate") as caught:
        run = model.train(
            tokens, learning_rate=50.0, steps=1000, start=start, loss=SquareLoss(), record_every=7
        )
    assert caught[0].filename == __file__  # it points to who called
    assert run.diverged
    assert len(run.iterations) > 1 and run.iterations[-1] < 1000
    assert np.isfinite(run.loss[:-1]).all()
    np.testing.assert_array_equal(run.value[0], start.value)


def test_leaving_the_domain_of_the_log_loss_counts_as_diverging():
    model = OneLayerModel(3, 5, 8)
    start = OneLayerParameters(np.full((3, 3), -1.0), np.zeros(3), np.zeros(5))
    with pytest.warns(RuntimeWarning, match="iteration 0 of 10"):
        run = model.train([[0, 1, 2, 0, 1]], learning_rate=1.0, steps=10, start=start)
    assert run.diverged
    np.testing.assert_array_equal(run.iterations, [0])
    assert run.loss[0] == np.inf


@pytest.mark.filterwarnings("error")
def test_a_run_that_does_not_diverge_warns_of_nothing():
    model, tokens = OneLayerModel(6, 97), CircleWalk(6, 0.7).sample(50, 97, rng=0)
    assert not model.train(tokens, learning_rate=1.0, steps=50).diverged


def test_no_argument_is_changed_and_no_record_shares_memory_with_one():
    model = OneLayerModel(3, 5, 8)
    rng = np.random.default_rng(0)
    start, W = some_parameters(model, rng), rng.standard_normal((11, 11))
    tokens, weights, truth = rng.integers(3, size=(6, 5)), rng.random(6), rng.dirichlet(np.ones(3), 6)
    arrays = [*vars(start).values(), W, tokens, weights, truth]
    before = [a.copy() for a in arrays]
    run = model.train(
        tokens,
        learning_rate=0.1,
        steps=3,
        start=start,
        weights=weights,
        test=tokens,
        test_weights=weights,
        truth=truth,
    )
    model.loss_and_gradients(start, tokens, weights=weights)
    reduced, rebuilt = model.from_matrices(start.value, W), model.to_matrices(start, W)
    for mine in (*vars(run.parameters(0)).values(), *vars(reduced).values(), *rebuilt):
        assert not any(np.shares_memory(mine, a) for a in arrays)
        mine += 1
    for array, copy in zip(arrays, before):
        np.testing.assert_array_equal(array, copy)


def test_a_model_and_its_seed_tell_all():
    model = OneLayerModel(6, 97, unit_length=True)
    assert repr(model) == "OneLayerModel(vocab_size=6, length=97, position_dim=1000, unit_length=True)"
    first, second = model.random(0.1, rng=1), model.random(0.1, rng=np.random.default_rng(1))
    for name, expected in vars(first).items():
        np.testing.assert_array_equal(getattr(second, name), expected)


def test_extreme_content_and_position_scores_that_cancel_do_not_lose_a_token():
    model = OneLayerModel(vocab_size=2, length=3, position_dim=5)
    parameters = OneLayerParameters(
        value=np.eye(2), content=np.array([0.0, 900.0]), position=np.array([0.0, -800.0, -2000.0])
    )
    np.testing.assert_allclose(model.scores(parameters, [[0, 1]]), [[np.exp(-100.0), 1.0]])
    np.testing.assert_allclose(model.attention(parameters, [[0, 1]]), [[np.exp(-100.0), 1.0, 0.0]])


def test_an_extreme_score_of_the_empty_column_takes_all_attention():
    model = OneLayerModel(vocab_size=2, length=3, position_dim=5)
    parameters = OneLayerParameters(
        value=np.eye(2), content=np.array([0.0, 900.0]), position=np.array([0.0, -800.0, 2000.0])
    )
    np.testing.assert_array_equal(model.attention(parameters, [[0, 1]]), [[0, 0, 1]])
    np.testing.assert_array_equal(model.scores(parameters, [[0, 1]]), [[0, 0]])


@pytest.mark.parametrize(("stretch", "forced"), [(1.0, False), (1.0, True), (300.0, False)])
def test_both_ways_of_summing_over_places_agree_with_the_attention(monkeypatch, stretch, forced):
    if forced:
        monkeypatch.setattr(one_layer, "_RANGE", 0.0)
    rng = np.random.default_rng(3)
    model = OneLayerModel(vocab_size=3, length=6, position_dim=9)
    parameters = OneLayerParameters(
        value=rng.standard_normal((3, 3)),
        content=stretch * rng.uniform(-2, 2, 3) + stretch * np.array([-2, 0, 2]),
        position=stretch * rng.uniform(-2, 2, 6) + stretch * np.array([-2, 2, 0, 0, 0, 0]),
    )
    tokens = rng.integers(3, size=(40, 6))
    attention = model.attention(parameters, tokens[:, :-1])  # (B, N)
    V = parameters.value
    f = np.einsum("bj,bkj->bk", attention[:, :-1], V[:, tokens[:, :-1]].transpose(1, 0, 2))
    np.testing.assert_allclose(model.scores(parameters, tokens[:, :-1]), f, atol=1e-12)
    score = f[np.arange(40), tokens[:, -1]]
    value, gradients = model.loss_and_gradients(parameters, tokens, SquareLoss())
    assert value == pytest.approx(np.mean((score - 1) ** 2 / 2), rel=1e-12)
    reward = np.column_stack([V[tokens[:, -1:], tokens[:, :-1]], np.zeros(40)])  # (B, N)
    pull = (score - 1)[:, None] * attention * (reward - score[:, None])
    np.testing.assert_allclose(gradients.position, pull.mean(axis=0), atol=1e-12)


def test_numbers_are_finite_even_if_their_sum_is_not():
    with np.errstate(all="ignore"):
        assert one_layer._finite(np.full(3, 1e308))
        assert not one_layer._finite(np.array([0.0, np.inf, -np.inf]))
        assert not one_layer._finite(np.array([0.0, np.nan]))


@pytest.mark.parametrize("weight", [0.0, 1e308])
def test_weights_whose_sum_is_zero_or_overflows_are_refused(weight):
    model = OneLayerModel(vocab_size=3, length=4)
    tokens = [[0, 1, 2, 0], [1, 2, 0, 1]]
    with pytest.raises(ValueError, match="weights must be .* finite sum"):
        model.loss_and_gradients(model.zero(), tokens, weights=np.full(2, weight))


def test_a_small_negative_weight_is_refused_although_the_sum_is_positive():
    tokens = CircleWalk(5, 0.7).sample(3, 9, rng=0)
    with pytest.raises(ValueError, match="weights"):
        OneLayerModel(5, 9).train(tokens, learning_rate=1.0, steps=1, weights=[-0.5, 2.0, 1.0])


def test_a_gradient_that_is_not_finite_stops_training_although_the_loss_is():
    class Wall:
        def value(self, score):
            return np.zeros_like(score)

        def derivative(self, score):
            return np.full_like(score, -np.inf)

    tokens = CircleWalk(5, 0.7).sample(3, 9, rng=0)
    with pytest.warns(RuntimeWarning, match="no longer finite"):
        run = OneLayerModel(5, 9).train(tokens, learning_rate=1.0, steps=3, loss=Wall())
    assert run.diverged


def test_the_parameters_of_a_run_are_those_of_its_last_record_unless_another_is_asked_for(learning):
    *_, run = learning
    for record, parameters in [(-1, run.parameters()), (0, run.parameters(0)), (-61, run.parameters(-61))]:
        for name, value in vars(parameters).items():
            np.testing.assert_array_equal(value, getattr(run, name)[record])


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("length", lambda model, run: sine_positions(1, 5)),
        ("dim", lambda model, run: sine_positions(3, 2)),
        ("vocab_size", lambda model, run: OneLayerModel(1, 3)),
        ("length", lambda model, run: OneLayerModel(3, 1)),
        ("position_dim", lambda model, run: OneLayerModel(3, 5, 4)),
        ("record", lambda model, run: run.parameters(61)),
        ("record", lambda model, run: run.parameters(-62)),
        ("steps", lambda model, run: model.train([[0] * 9], learning_rate=1.0, steps=-1)),
        (
            "record_every",
            lambda model, run: model.train([[0] * 9], learning_rate=1.0, steps=1, record_every=0),
        ),
        ("learning_rate", lambda model, run: model.train([[0] * 9], learning_rate=-1.0, steps=1)),
    ],
)
def test_bad_arguments_are_refused_by_name(learning, argument, call):
    with pytest.raises(ValueError, match=f"^{argument} must be"):
        call(learning[0], learning[-1])


@pytest.mark.parametrize("loss", [SquareLoss, "log", lambda score: score**2])
def test_what_lacks_the_methods_of_a_loss_is_refused(loss):
    model = OneLayerModel(3, 4)
    with pytest.raises(TypeError, match=r"^loss must be an object with the methods value\(score\)"):
        model.loss_and_gradients(model.zero(), [[0, 1, 2, 0]], loss)


# Memory -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "vocab_size", "length", "position_dim", "margin"),
    [("vocab_size", 150, 2, 3, 1.5), ("length", 2, 100_000, 100_000, 1.2)],
)
def test_a_model_and_its_gradients_take_about_the_memory_for_which_it_would_be_refused(
    argument, vocab_size, length, position_dim, margin
):
    tokens = np.zeros((1, length), dtype=int)

    def build():
        model = OneLayerModel(vocab_size, length, position_dim)
        return model.loss_and_gradients(model.zero(), tokens)

    assert 1 < expected_over_taken(argument, build) < margin


@pytest.mark.parametrize(("vocab_size", "position_dim"), [(2, 150), (100, 20)])
def test_matrices_take_about_the_memory_for_which_they_would_be_refused(vocab_size, position_dim):
    model = OneLayerModel(vocab_size, 3, position_dim)
    expected = expected_over_taken("position_dim", lambda: model.to_matrices(model.zero()))
    assert 0.9 < expected < 1.2


def test_sine_positions_take_about_the_memory_for_which_they_would_be_refused():
    assert 0.95 < expected_over_taken("dim", lambda: sine_positions(400, 500)) < 1.1


@pytest.mark.parametrize(
    ("n_sequences", "vocab_size", "length", "margin"), [(200, 40, 4, 1.1), (150, 3, 150, 1.45)]
)
def test_a_pass_over_the_sequences_takes_about_the_memory_for_which_they_would_be_refused(
    n_sequences, vocab_size, length, margin
):
    model, rng = OneLayerModel(vocab_size, length), np.random.default_rng(0)
    tokens = rng.integers(vocab_size, size=(n_sequences, length))
    truth = np.full((n_sequences, vocab_size), 1 / vocab_size)

    def train():
        return model.train(tokens, learning_rate=0.1, steps=0, truth=truth)

    assert 0.95 < expected_over_taken("tokens", train) < margin


@pytest.mark.parametrize(
    ("vocab_size", "length", "steps", "record_every"),
    [(20, 30, 400, 1), (2, 300, 400, 7), (3, 5, 300, 2), (100, 6, 0, 1)],
)
def test_a_run_takes_about_the_memory_for_which_its_steps_would_be_refused(
    vocab_size, length, steps, record_every
):
    model, tokens = OneLayerModel(vocab_size, length), np.zeros((1, length), dtype=int)

    def train():
        return model.train(tokens, learning_rate=0.1, steps=steps, record_every=record_every)

    assert 0.95 < expected_over_taken("steps", train) < 1.2
