"""The walk laboratory's engine in a headless browser, beside the Python one: same data, same numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

import markov_transformers as mt
from markov_transformers.claims.failure import floating_gram
from markov_transformers.symmetry import train_with_gram

LOSSES = {
    "LogLoss": mt.LogLoss(0.1),
    "SquareLoss": mt.SquareLoss(),
    "LogisticLoss": mt.LogisticLoss(),
    "HingeLoss": mt.HingeLoss(),
    "ExponentialLoss": mt.ExponentialLoss(),
}
PARTS = ("value", "content", "position")
PREPARE = """() => {
  const typed = (lists) =>
    Object.fromEntries(Object.entries(lists).map(([key, list]) => [key, Float64Array.from(list)]));
  window.setting = ({ tokens, test, K, dim, unit, weights, truth, parameters, loss }) => ({
    model: new engine.OneLayerModel(K, tokens[0].length, dim, { unitLength: unit }),
    data: engine.oneLayerData(tokens, K, { weights }),
    exam: test && engine.oneLayerData(test, K, { truth }),
    parameters: typed(parameters),
    loss: new engine[loss](),
  });
  window.finish = (steps) => { let last; for (last of steps); return last; };
}"""


@pytest.fixture(scope="module")
def run(laboratory):
    """A function that calls a JavaScript function with one argument, where the engine is in scope."""
    return laboratory("walk", PREPARE)


class Setting:
    """Walks, a model, parameters and a loss, for both engines."""

    def __init__(self, seed, size=1.0):
        rng = np.random.default_rng(seed)
        K, N = int(rng.integers(3, 9)), int(rng.integers(3, 40))
        self.walk = mt.CircleWalk(K, float(rng.choice([0.0, 0.3, 0.5, 0.85, 1.0])))
        self.model = mt.OneLayerModel(K, N, position_dim=N + 20, unit_length=bool(rng.integers(2)))
        self.tokens, self.test = self.walk.sample(40, N, rng=rng), self.walk.sample(30, N, rng=rng)
        self.weights = rng.uniform(0, 1, 40)
        self.truth = self.walk.predict(self.test[:, :-1])
        self.loss = list(LOSSES)[seed % len(LOSSES)]
        self.parameters = mt.OneLayerParameters(
            rng.uniform(0.1, 0.9, (K, K)), size * rng.standard_normal(K), size * rng.standard_normal(N)
        )

    def plain(self, parameters=None):
        """Return everything as lists and numbers, for the browser."""
        parameters = parameters or self.parameters
        return {
            "tokens": self.tokens.tolist(),
            "test": self.test.tolist(),
            "K": self.model.vocab_size,
            "dim": self.model.position_dim,
            "unit": self.model.unit_length,
            "weights": self.weights.tolist(),
            "truth": self.truth.tolist(),
            "parameters": {part: getattr(parameters, part).ravel().tolist() for part in PARTS},
            "loss": self.loss,
        }


def agrees(theirs, ours, tolerance=1e-9, scale=None):
    """Assert equality up to a tolerance, relative to the largest entry or to a given scale."""
    ours = np.asarray(ours, dtype=float)
    scale = np.abs(ours[np.isfinite(ours)]).max(initial=0) if scale is None else scale
    np.testing.assert_allclose(
        np.reshape(theirs, ours.shape), ours, rtol=tolerance, atol=tolerance * scale + 1e-300
    )


# Loss and gradients -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 30.0, 900.0], ids=["gentle", "steep", "place by place"])
def test_loss_and_gradients_are_those_of_python(run, size):
    for seed in range(15):
        setting = Setting(seed, size)
        value, slope = setting.model.loss_and_gradients(
            setting.parameters, setting.tokens, LOSSES[setting.loss], setting.weights
        )
        got = run(
            "x => { const s = setting(x); return s.model.lossAndGradients(s.parameters, s.data, s.loss); }",
            setting.plain(),
        )
        agrees(got["loss"], value)
        scale = np.abs(slope.value).max()  # where V[y, x] is close to f, the other gradients are its rounding
        for part in PARTS:
            agrees(got["gradient"][part], getattr(slope, part), scale=scale)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_has_the_value_and_the_derivative_of_python(run, name):
    scores = np.concatenate([np.linspace(-0.09, 3, 50), [-700.0, 700.0, 1.0, 0.0]])
    with np.errstate(over="ignore"):
        value, derivative = LOSSES[name].value(scores), LOSSES[name].derivative(scores)
    code = f"x => {{ const l = new engine.{name}(); return x.map((z) => [l.value(z), l.derivative(z)]); }}"
    got = np.array(run(code, scores.tolist()))
    np.testing.assert_allclose(got[:, 0], value, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(got[:, 1], derivative, rtol=1e-12, atol=0)


# Training -----------------------------------------------------------------------------------------

TRAIN = """x => {
  const s = setting(x);
  return finish(s.model.train(s.data, { ...x, loss: s.loss, exam: s.exam, start: s.parameters }));
}"""


@pytest.mark.parametrize("seed", range(25))
def test_a_training_run_is_that_of_python(run, seed):
    setting = Setting(seed)
    start = setting.model.zero() if seed % 2 else setting.model.random(0.1, rng=seed)
    if not seed % 2 and setting.loss == "LogLoss":
        start = mt.OneLayerParameters(abs(start.value), start.content, start.position)
    rate = 0.3 if setting.model.unit_length else 0.01
    ours = setting.model.train(
        setting.tokens,
        learning_rate=rate,
        steps=20,
        loss=LOSSES[setting.loss],
        start=start,
        weights=setting.weights,
        test=setting.test,
        truth=setting.truth,
        record_every=3,
    )
    theirs = run(TRAIN, {**setting.plain(start), "learningRate": rate, "steps": 20, "recordEvery": 3})
    assert theirs["iterations"] == ours.iterations.tolist()
    agrees(theirs["accuracy"], ours.accuracy)
    for part in ("loss", "kl", "attention", *PARTS):
        agrees(theirs[part], getattr(ours, part), 1e-8)


@pytest.mark.filterwarnings("ignore:training stopped")
def test_a_run_that_leaves_the_domain_of_its_loss_ends_there_as_in_python(run):
    setting = Setting(5)  # with log-loss
    p = setting.parameters
    start = mt.OneLayerParameters(-p.value, p.content, p.position)
    ours = setting.model.train(setting.tokens, learning_rate=1.0, steps=9, start=start)
    theirs = run(TRAIN, {**setting.plain(start), "learningRate": 1, "steps": 9})
    assert ours.diverged and theirs["diverged"]
    assert theirs["iterations"] == ours.iterations.tolist() == [0]


# The deterministic walk ---------------------------------------------------------------------------

POPULATION = """({ K, N, p, loss, rate, steps, gram }) => {
  const walks = new engine.CircleWalk(K, p).enumerate(N), model = new engine.OneLayerModel(K, N);
  const run = finish(model.train(engine.oneLayerData(walks, K), {
    learningRate: rate, steps, loss: new engine[loss](), mix: gram && engine.mixOf(model, gram),
  }));
  return { ...run, uneven: run.attention.map((a) => engine.unevenness(a)) };
}"""


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("p", [0, 1])
def test_zero_initialization_keeps_the_symmetry_of_theorem_4_1_exactly(run, name, p):
    for rate in (0.01, 1, 100):
        found = run(POPULATION, {"K": 5, "N": 31, "p": p, "loss": name, "rate": rate, "steps": 40})
        assert set(found["uneven"]) == {0}
        assert found["accuracy"] == pytest.approx([1 / 5] * len(found["accuracy"]))
        assert np.ptp(found["value"], axis=1).max() == 0


@pytest.mark.parametrize("K, N, p", [(6, 98, 1), (5, 22, 0), (4, 13, 1)])
def test_the_population_of_a_deterministic_walk_trains_as_in_python(run, K, N, p):
    walks, weights = mt.CircleWalk(K, float(p)).enumerate(N)
    ours = mt.OneLayerModel(K, N).train(walks, weights=weights, learning_rate=1.0, steps=15)
    theirs = run(POPULATION, {"K": K, "N": N, "p": p, "loss": "LogLoss", "rate": 1, "steps": 15})
    agrees(theirs["accuracy"], ours.accuracy)
    for part in ("loss", "attention", *PARTS):
        agrees(theirs[part], getattr(ours, part))


def test_given_inner_products_break_the_symmetry_as_in_python(run):
    gram = floating_gram(31, 100, "float32")
    ours = train_with_gram(mt.OneLayerModel(5, 31), gram, learning_rate=1.0, steps=25)
    theirs = run(
        POPULATION,
        {"K": 5, "N": 31, "p": 1, "loss": "LogLoss", "rate": 1, "steps": 25, "gram": gram.tolist()},
    )
    assert ours.accuracy[-1] == pytest.approx(1)
    agrees(theirs["accuracy"], ours.accuracy)
    agrees(theirs["attention"], ours.attention, 1e-7)
    agrees(theirs["value"], ours.value, 1e-7)


@pytest.mark.parametrize("precision, least, most", [("float32", 1e-6, 1e-2), ("float64", 1e-15, 1e-10)])
def test_inner_products_have_the_rounding_errors_of_their_precision(run, precision, least, most):
    got = np.array(run("x => engine.floatingGram(25, 200, x)", precision))
    errors = np.abs(got - 100.5 * np.eye(25))
    assert (got == got.T).all()
    assert least < errors.max() < most
    if precision == "float32":
        assert (got == got.astype(np.float32)).all()


# Randomness ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_walks_start_anywhere_and_step_up_with_probability_p(run, p):
    walks = np.array(run("p => new engine.CircleWalk(7, p).sample(4000, 6, new engine.Random(3))", p))
    assert stats.chisquare(np.bincount(walks[:, 0], minlength=7)).pvalue > 1e-4
    steps = np.diff(walks, axis=1) % 7
    assert set(np.unique(steps)) <= {1, 6}
    assert stats.binomtest(int((steps == 1).sum()), steps.size, p).pvalue > 1e-4


def test_walks_and_predictions_follow_the_transition_matrix(run):
    walks = np.array(run("() => new engine.CircleWalk(5, 0.8).sample(3, 6, new engine.Random(0))"))
    matrix, laws = run(
        """x => {
          const walk = new engine.CircleWalk(5, 0.8);
          return [walk.transitionMatrix(), walk.predict(x.map((w) => Uint8Array.from(w)))];
        }""",
        walks.tolist(),
    )
    agrees(matrix, mt.CircleWalk(5, 0.8).transition_matrix())
    agrees(laws, mt.CircleWalk(5, 0.8).predict(walks[:, :-1]))


@pytest.mark.parametrize("unit", [False, True])
def test_a_random_start_has_the_law_of_gaussian_matrices(run, unit):
    code = """unit => {
      const model = new engine.OneLayerModel(20, 30, 50, { unitLength: unit });
      const rng = new engine.Random(5);
      return Array.from({ length: 40 }, () => model.random(0.5, rng));
    }"""
    drawn = run(code, unit)
    model = mt.OneLayerModel(20, 30, 50, unit_length=unit)
    square = 51 / 2
    scales = {
        "value": 0.5,
        "content": 0.5 * np.sqrt(1 if unit else square),
        "position": 0.5 * np.sqrt(model.rates.position),
    }
    for part, scale in scales.items():
        numbers = np.array([start[part] for start in drawn]) / scale
        assert stats.kstest(numbers.ravel(), "norm").pvalue > 1e-4


def test_walks_that_occur_several_times_are_counted(run):
    found = run("x => engine.distinct(x.map((w) => Uint8Array.from(w)))", [[0, 1], [2, 1], [0, 1], [1, 12]])
    assert found == {"walks": [[0, 1], [2, 1], [1, 12]], "weights": [2, 1, 1]}


# The sentence ---------------------------------------------------------------------------------------

SAYS = """changes => {
  const settings = settled(lab, { ...startOf(lab), ...changes }), steps = lab.compute(settings, {});
  let step;
  do step = steps.next(); while (!step.done);
  const { iterations, attention } = step.value.run;
  return iterations.map((at, i) => [lab.describe(step.value, { ...settings, at }), [...attention[i]]]);
}"""


@pytest.fixture(scope="module")
def says(taken_apart):
    """A function that trains in the laboratory and returns, by iteration, the sentence and the attention."""
    run = taken_apart("walk", "lab", "startOf", "settled")
    return lambda settings: run(SAYS, settings)


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"p": 1}, "Its attention on the nodes is exactly even. So all walks look alike"),
        ({"p": 1, "arithmetic": "float64"}, "Its attention on the nodes is even to 12 digits."),
        ({"p": 1, "arithmetic": "float32"}, "Its attention is spread over the whole walk"),
        ({"p": 0.5}, "It looks at the last node alone"),
        ({"p": 0.7, "eta": 1000}, "it has found the parent, and has yet to learn what follows it."),
        ({"p": 1, "N": 93}, "It looks at 2 of every 6 places"),
        ({"p": 1, "N": 98}, "from which the answer is one step on"),
        (
            {"p": 1, "loss": "square", "K": 12, "eta": 1000, "embedding": "unit"},
            "It looks at the empty column",
        ),
        (
            {"p": 0.5, "K": 12, "eta": 1000, "embedding": "unit", "start": "random"},
            ", and the empty column gets",
        ),
    ],
)
def test_the_sentence_tells_at_every_iteration_where_the_attention_is(says, settings, sentence):
    told = says(settings)
    assert any(sentence in said for said, _ in told)
    for said, attention in told:
        *nodes, empty = attention
        uneven = np.ptp(nodes) / np.mean(nodes) if np.ptp(nodes) else 0
        assert ("looks at the empty column" in said) == (empty > 0.9)
        assert ("exactly even" in said) == (uneven == 0 and empty <= 0.9)
        if digits := re.search(r"even to (\d+) digits", said):
            assert 10.0 ** -(int(digits[1]) + 1) < uneven <= 10.0 ** -int(digits[1]) < 1e-8
        if "looks at" not in said:
            assert ("empty column" in said) == (empty > max(nodes))


def test_a_start_with_an_infinite_loss_is_told_apart_from_a_run_that_fails(says):
    infinite = {"p": 1, "data": "sample", "start": "random", "sigma": 0.1, "embedding": "unit", "eta": 0.01}
    assert says(infinite)[0][0].startswith("Training cannot begin")
    assert not any("cannot begin" in said for said, _ in says({"p": 1}))


PRESET = """name => {
  const settings = settled(lab, { ...startOf(lab), ...lab.presets[name].set });
  const steps = lab.compute(settings, {});
  let step;
  do step = steps.next(); while (!step.done);
  const { run, law } = step.value;
  const at = settings.at === 1 ? 1 : run.iterations.length - 1;
  const nodes = [...run.attention[at].subarray(0, settings.N - 1)];
  return { accuracy: run.accuracy[at], nodes, V: [...run.value[at]], law: law.flat(), K: settings.K };
}"""


@pytest.fixture(scope="module")
def preset(taken_apart):
    """A function that trains with the settings of a preset and returns the numbers that its line is about."""
    run = taken_apart("walk", "lab", "startOf", "settled")
    return lambda name: run(PRESET, name)


def even(run):
    return max(run["nodes"]) == min(run["nodes"])


def all_right(run):
    return abs(run["accuracy"] - 1) < 1e-9


def at_chance(run):
    return abs(run["accuracy"] - 1 / 6) < 1e-9


def finds_the_parent(run):
    return run["nodes"][-1] > 0.99


def gap(run, power):
    """The distance in direction of V from a power of the transposed law."""
    V, law = np.array(run["V"]), np.array(run["law"]).reshape(run["K"], -1).T.ravel() ** power
    return np.linalg.norm(V / np.linalg.norm(V) - law / np.linalg.norm(law))


def neighbours(run):
    """What V says on average of the node above and of the one below."""
    V = np.array(run["V"]).reshape(run["K"], -1)  # to, from
    nodes = np.arange(run["K"])
    return [V[(nodes + step) % run["K"], nodes].mean() for step in (1, -1)]


TRUE_OF = {
    "After one step": lambda run: 0 < min(run["V"]) < max(run["V"]) < 0.5 and even(run),
    "Figure 4, Theorem 3.1": lambda run: finds_the_parent(run) and np.ptp(neighbours(run)) < 0.1,
    "Square root of Πᵀ": lambda run: 3 * gap(run, 0.5) < gap(run, 1),
    "Figure 5, Theorem 4.1": lambda run: at_chance(run) and even(run),
    "Any loss: hinge": lambda run: at_chance(run) and even(run),
    "One node more": all_right,
    "Rounding, float32": all_right,
    "Rounding, float64": all_right,
    "Figure 6 as printed": lambda run: run["accuracy"] < 0.2 and max(run["nodes"]) < 0.02,
    "Figure 6, summed loss": lambda run: all_right(run) and max(run["nodes"]) > 0.9,
    "Figure 6, summed, p = 0.5": finds_the_parent,
}


@pytest.mark.parametrize("name", TRUE_OF)
def test_the_line_of_a_preset_is_true(preset, name):
    assert TRUE_OF[name](preset(name))


def test_every_preset_has_its_line_tested(taken_apart):
    assert taken_apart("walk", "lab")("Object.keys(lab.presets)") == list(TRUE_OF)
