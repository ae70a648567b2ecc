import numpy as np
import pytest

from markov_transformers.chains import DirichletPrior
from markov_transformers.full_model import FullModel
from markov_transformers.layer_norm import LayerNormModel
from markov_transformers.readout import SoftmaxCrossEntropy
from markov_transformers.windows import WindowCounts

OFF = {"centre": False, "unit_variance": False, "floor": 0.0, "self_attention": False}
SWITCHES = [
    {},
    {"centre": False},
    {"unit_variance": False},
    {"floor": 0.0},
    {"self_attention": False},
    {"floor": 0.1},
]


def tokens(n_sequences=20, length=30, rng=0):
    return DirichletPrior(3, (1, 2), 0.3).sample(n_sequences, length + 1, rng=rng)


def random_parameters(model, rng):
    rng = np.random.default_rng(rng)
    return {name: rng.normal(size=np.shape(v)) for name, v in model.initial_parameters().items()}


def literal_output(x, model_sets, parameters, mask, centre, unit_variance, floor, self_attention):
    """The output distribution of one context, position by position."""
    d, M, H = 3, parameters["w"].shape[1], len(parameters["w"])
    L = len(x)
    X = np.vstack([np.eye(d)[x], np.zeros(d)])
    blocks = [X]
    for h in range(H):
        V = np.zeros((L + 1, d))
        for t in range(L + 1):
            places = [j for j in range(L + 1) if 1 <= t - j <= M or (self_attention and j == t)]
            if not places:
                continue
            content = [X[t] @ parameters["query"][h] @ parameters["key"][h].T @ X[j] for j in places]
            position = [parameters["w"][h, t - j - 1] if j < t else 0 for j in places]
            logits = np.add(content, position)
            weights = np.exp(logits) / np.sum(np.exp(logits))
            V[t] = weights @ X[places] @ parameters["value"][h]
        if centre:
            V = V - V.mean(axis=1, keepdims=True)
        length = np.sqrt((V**2).sum(axis=1, keepdims=True) + d * floor)
        gain = np.sqrt(d) if unit_variance else 1
        blocks.append(gain * np.divide(V, length, out=np.zeros_like(V), where=length > 0))
    c = parameters["c"]
    score = np.zeros(L)
    for c_S, S in zip(c, model_sets, strict=True):
        factor = np.ones(L)
        for h in S:
            factor *= blocks[h][:L] @ blocks[h][L]
        score += c_S**2 / (c @ c) * factor
    E = np.exp(parameters["a"] * score)
    E[: M if mask else 0] = 0
    return E @ X[:L] / E.sum()


def test_with_every_switch_off_it_is_the_full_model():
    counts = WindowCounts.from_tokens(tokens(), 3, 3)
    for mask in (True, False):
        full = FullModel(counts, 2, mask=mask)
        other = LayerNormModel(counts, 2, mask=mask, **OFF)
        now = random_parameters(full, rng=1)
        loss, gradients = full.loss_and_gradients(**now)
        loss_too, gradients_too = other.loss_and_gradients(**now)
        assert loss_too == pytest.approx(loss, rel=1e-14)
        for name in gradients:
            assert gradients_too[name] == pytest.approx(gradients[name], rel=1e-12, abs=1e-16)


@pytest.mark.parametrize("switches", SWITCHES)
@pytest.mark.parametrize("mask", [True, False])
def test_its_output_is_that_of_the_model_written_out_position_by_position(switches, mask):
    x = tokens(5, 12)
    model = LayerNormModel(WindowCounts.from_tokens(x, 3, 3), 2, mask=mask, **switches)
    now = random_parameters(model, rng=2)
    literal = [literal_output(row[:-1], model.sets, now, mask, **model._options) for row in x]
    assert model.predict(**now) == pytest.approx(np.array(literal), abs=1e-13)


@pytest.mark.parametrize("switches", SWITCHES)
@pytest.mark.parametrize("loss", [None, SoftmaxCrossEntropy()])
def test_gradients_are_those_of_finite_differences(switches, loss):
    model = LayerNormModel(WindowCounts.from_tokens(tokens(), 3, 3), 2, mask=False, loss=loss, **switches)
    now = random_parameters(model, rng=3)
    gradients = model.loss_and_gradients(**now)[1]
    rng = np.random.default_rng(4)
    for name, gradient in gradients.items():
        direction = rng.normal(size=gradient.shape)

        def along(step, name=name, direction=direction):
            return model.loss_and_gradients(**{**now, name: now[name] + step * direction})[0]

        slope = (8 * (along(1e-3) - along(-1e-3)) - (along(2e-3) - along(-2e-3))) / 12e-3
        assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_the_loss_is_that_of_its_predictions():
    x = tokens()
    model = LayerNormModel(WindowCounts.from_tokens(x, 3, 3), 2)
    now = random_parameters(model, rng=5)
    hit = model.predict(**now)[np.arange(len(x)), x[:, -1]]
    assert model.loss_and_gradients(**now)[0] == pytest.approx(-np.log(hit + 0.1).mean(), rel=1e-13)


def test_without_a_floor_the_length_of_the_values_does_not_matter_and_with_one_it_does():
    counts = WindowCounts.from_tokens(tokens(), 3, 3)
    without, with_floor = (LayerNormModel(counts, 2, floor=f) for f in (0.0, 1e-5))
    now = random_parameters(without, rng=6)
    small = {**now, "value": 1e-3 * now["value"]}
    assert without.loss_and_gradients(**small)[0] == pytest.approx(
        without.loss_and_gradients(**now)[0], rel=1e-12
    )
    gap = with_floor.loss_and_gradients(**small)[0] - with_floor.loss_and_gradients(**now)[0]
    assert abs(gap) > 1e-4


def test_values_of_zero_and_values_far_below_one_give_no_nan():
    counts = WindowCounts.from_tokens(tokens(), 3, 3)
    for floor in (0.0, 1e-5):
        model = LayerNormModel(counts, 2, floor=floor)
        for scale in (0.0, 1e-200):
            now = model.initial_parameters(identity=scale)
            loss, gradients = model.loss_and_gradients(**now)
            assert np.isfinite(loss)
            assert all(np.isfinite(gradients[name]).all() for name in ("c", "w", "a"))


def test_bad_switches_are_refused_by_name():
    counts = WindowCounts.from_tokens(tokens(), 3, 3)
    for name, value in {"centre": 1, "unit_variance": None, "floor": -1.0, "self_attention": "yes"}.items():
        with pytest.raises(ValueError, match=name):
            LayerNormModel(counts, 2, **{name: value})
