"""Exact engines against the literal models and against difference quotients, on random instances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import markov_transformers as mt

many = settings(max_examples=200, deadline=None)
seeds = st.integers(0, 2**32 - 1)
small = st.integers(1, 3)


@pytest.fixture(scope="module")
def torch():
    """Torch on one thread: on matrices this small, threads wait for each other."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(threads)


def assert_close(found, expected, tolerance=1e-9):
    """Compare arrays relative to their largest entry; below one the comparison is absolute."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def one_layer(seed, K, N, unit_length):
    """Draw a one-layer model, matrices with positive V, and sequences."""
    rng = np.random.default_rng(seed)
    model = mt.OneLayerModel(K, N, N + int(rng.integers(3)), unit_length=unit_length)
    size = K + model.position_dim
    return model, rng.uniform(0.1, 1, (K, K)), rng.normal(0, 0.3, (size, size)), rng.integers(K, size=(5, N))


@many
@given(seed=seeds, K=st.integers(2, 5), N=st.integers(2, 8), unit_length=st.booleans())
def test_the_one_layer_engine_takes_the_step_of_the_literal_model(torch, seed, K, N, unit_length):
    from markov_transformers.models import OneLayerTransformer

    model, V, W, tokens = one_layer(seed, K, N, unit_length)
    literal = OneLayerTransformer(K, N, model.position_dim, unit_length=unit_length)
    literal.load_state_dict({"value": torch.tensor(V), "query_key": torch.tensor(W)}, strict=False)
    run = model.train(tokens, learning_rate=0.1, steps=1, start=model.from_matrices(V, W))
    seen = torch.tensor(tokens[:, :-1])
    assert_close(model.scores(run.parameters(0), tokens[:, :-1]), literal(seen).detach().numpy())
    assert_close(run.loss[0], literal.gradient_step(torch.tensor(tokens), 0.1))
    after = model.from_matrices(literal.value.detach().numpy(), literal.query_key.detach().numpy())
    for name, value in vars(run.parameters(1)).items():
        assert_close(value, getattr(after, name))


@many
@given(seed=seeds, K=st.integers(2, 5), N=st.integers(2, 8), width=small, unit_length=st.booleans())
def test_the_relu_engine_takes_the_step_of_the_literal_model(torch, seed, K, N, width, unit_length):
    from markov_transformers.models import ReluTransformer

    sizes, _, W, tokens = one_layer(seed, K, N, unit_length)
    rng = np.random.default_rng([seed, 1])
    A, V = rng.uniform(0.1, 1, (K, width)), rng.normal(size=(width, K))
    literal = ReluTransformer(K, N, width, sizes.position_dim, unit_length=unit_length)
    matrices = {"output": A, "value": V, "query_key": W}
    literal.load_state_dict({name: torch.tensor(m) for name, m in matrices.items()}, strict=False)
    attended = sizes.from_matrices(np.zeros((K, K)), W)
    start = mt.ReluParameters(A, V, attended.content, attended.position)
    model = mt.ReluModel(K, N, width, sizes.position_dim, unit_length=unit_length)
    run = model.train(tokens, learning_rate=0.1, steps=1, start=start)
    assert_close(run.loss[0], literal.gradient_step(torch.tensor(tokens), 0.1))
    assert_close(run.parameters.output, literal.output.detach().numpy())
    assert_close(run.parameters.value, literal.value.detach().numpy())
    after = sizes.from_matrices(np.zeros((K, K)), literal.query_key.detach().numpy())
    assert_close(run.parameters.content, after.content)
    assert_close(run.parameters.position, after.position)


def two_layer(Model, seed, d, window, heads, **options):
    """Draw a two-layer model on random sequences, with random parameters."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(d, size=(4, window + 6))
    degree = int(rng.integers(1, heads + 1))
    model = Model(mt.WindowCounts.from_tokens(tokens, window, d), degree, heads, **options)
    now = {name: rng.normal(size=np.shape(value)) for name, value in model.initial_parameters().items()}
    return model, now, tokens


@pytest.mark.parametrize("kind", ["StagedModel", "FullModel"])
@many
@given(seed=seeds, d=st.integers(2, 4), window=small, heads=small, mask=st.booleans())
def test_the_two_layer_engines_have_the_loss_and_gradients_of_the_literal_models(
    torch, kind, seed, d, window, heads, mask
):
    from markov_transformers.models import FullTransformer, TwoLayerTransformer

    model, now, tokens = two_layer(getattr(mt, kind), seed, d, window, heads, mask=mask)
    literal = {"StagedModel": TwoLayerTransformer, "FullModel": FullTransformer}[kind](
        window, heads, d, model.degree, mask=mask
    )
    literal.load_state_dict({name: torch.tensor(value) for name, value in now.items()})
    expected = literal.loss(torch.tensor(tokens))
    expected.backward()
    loss, gradients = model.loss_and_gradients(**now)
    assert_close(loss, expected.item())
    for name, gradient in gradients.items():
        assert_close(gradient, getattr(literal, name).grad.numpy())
    assert_close(model.predict(**now), literal(torch.tensor(tokens[:, :-1])).detach().numpy())


# Gradients without torch ---------------------------------------------------------------------------


def complex_loss(model, V, content, position, tokens, loss):
    """Spell out the one-layer loss for complex parameters."""
    inputs, targets = tokens[:, :-1], tokens[:, -1]
    norm = np.sqrt(1 + (model.position_dim + 1) / 2) if model.unit_length else 1
    z = np.concatenate(
        [content[inputs] / norm + position[:-1], np.full((len(tokens), 1), position[-1])], axis=1
    )
    attention = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    score = (attention[:, :-1] * V[targets[:, None], inputs]).sum(axis=1)
    return loss(score).mean()


COMPLEX = [
    (mt.LogLoss(0.1), lambda z: -np.log(z + 0.1)),
    (mt.SquareLoss(), lambda z: (z - 1) ** 2 / 2),
    (mt.LogisticLoss(), lambda z: np.log(1 + np.exp(-z))),
    (mt.HingeLoss(), lambda z: np.where(z.real < 1, 1 - z, 0)),
    (mt.ExponentialLoss(), lambda z: np.exp(-z)),
]


@many
@given(
    seed=seeds, K=st.integers(2, 5), N=st.integers(2, 8), unit_length=st.booleans(), which=st.integers(0, 4)
)
def test_one_layer_gradients_are_those_of_a_complex_step(seed, K, N, unit_length, which):
    model, V, W, tokens = one_layer(seed, K, N, unit_length)
    loss, of_score = COMPLEX[which]
    at = model.from_matrices(V, W)
    value, gradients = model.loss_and_gradients(at, tokens, loss)
    rng = np.random.default_rng([seed, 1])
    direction = {name: rng.normal(size=np.shape(part)) for name, part in vars(at).items()}
    moved = [part + 1e-30j * direction[name] for name, part in vars(at).items()]
    along = complex_loss(model, *moved, tokens, of_score)
    assert_close(value, along.real, 1e-13)
    slope = sum((direction[name] * part).sum() for name, part in vars(gradients).items())
    assert_close(slope, along.imag / 1e-30, 1e-11)


@pytest.mark.parametrize("kind", ["StagedModel", "FullModel", "LayerNormModel"])
@many
@given(
    seed=seeds, d=st.integers(2, 4), window=small, heads=small, mask=st.booleans(), normalized=st.booleans()
)
def test_two_layer_gradients_are_those_of_a_difference_quotient(
    kind, seed, d, window, heads, mask, normalized
):
    loss = mt.SoftmaxCrossEntropy() if normalized else mt.LogLoss(0.5)
    floor = {"floor": 0.01} if kind == "LayerNormModel" else {}
    model, now, _ = two_layer(getattr(mt, kind), seed, d, window, heads, mask=mask, loss=loss, **floor)
    rng = np.random.default_rng([seed, 1])
    # Away from weights and vectors of zero, where the loss turns too sharply for a quotient.
    now["c"] += np.sign(now["c"])
    if "value" in now:
        now["value"] = np.eye(d) + 0.2 * now["value"]
    gradients = model.loss_and_gradients(**now)[1]
    direction = {name: rng.normal(size=np.shape(value)) for name, value in now.items()}
    direction = {name: part / np.sqrt((part**2).sum()) for name, part in direction.items()}

    def along(t):
        return model.loss_and_gradients(**{name: now[name] + t * direction[name] for name in now})[0]

    h = 1e-4
    quotient = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
    slope = sum((gradients[name] * direction[name]).sum() for name in now)
    assert_close(slope, quotient, 1e-6)


@many
@given(seed=seeds, score=st.floats(0.01, 5), which=st.integers(0, 4))
def test_the_derivative_of_a_loss_is_that_of_a_complex_step(seed, score, which):
    loss, of_score = COMPLEX[which]
    z = np.array([score + 1e-30j])
    assert_close(loss.value([score]), of_score(z).real, 1e-13)
    if which != 3 or score != 1:  # the hinge has no derivative at its corner
        assert_close(loss.derivative([score]), of_score(z).imag / 1e-30, 1e-13)


@many
@given(seed=seeds, n=small, d=st.integers(1, 5))
def test_the_gradient_of_the_softmax_cross_entropy_is_that_of_a_complex_step(seed, n, d):
    rng = np.random.default_rng(seed)
    y, targets = rng.dirichlet(np.ones(d), size=n), rng.integers(d, size=n)
    values, gradient = mt.SoftmaxCrossEntropy()(y, targets)
    direction = rng.normal(size=y.shape)
    z = y + 1e-30j * direction
    along = np.log(np.exp(z).sum(axis=1)) - z[np.arange(n), targets]
    assert_close(values, along.real, 1e-13)
    assert_close((gradient * direction).sum(axis=1), along.imag / 1e-30, 1e-12)
