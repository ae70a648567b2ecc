"""Hostile calls: each must raise one clear error that names the argument and what came."""

from __future__ import annotations

import re

import numpy as np
import pytest

from markov_transformers import (
    Choice,
    CircleWalk,
    Explorer,
    LogLoss,
    OneLayerModel,
    OneLayerParameters,
    Slider,
    SquareLoss,
    sine_positions,
)

WALK = CircleWalk(6, 0.5)
MODEL = OneLayerModel(3, 5, 8)
ZERO = MODEL.zero()
TOKENS = np.array([[0, 1, 2, 0, 1], [1, 2, 0, 1, 0]])
RUN = MODEL.train(TOKENS, learning_rate=0.1, steps=2)
NAN, INF = float("nan"), float("inf")


INPUTS = TOKENS[:, :-1]


def parameters(**changed):
    return OneLayerParameters(**{**vars(ZERO), **changed})


def train(tokens=TOKENS, **changed):
    return MODEL.train(tokens, **{"learning_rate": 0.1, "steps": 2, **changed})


def loss(params=ZERO, tokens=TOKENS, *rest):
    return MODEL.loss_and_gradients(params, tokens, *rest)


def slider(**changed):
    return Slider(**{"label": "x", "values": [0, 1, 2], "start": 1, **changed})


def choice(**changed):
    return Choice(**{"label": "x", "values": ["a", "b"], "start": "a", **changed})


def explorer(draw=lambda figure, x: "A picture.", controls=None, **changed):
    return Explorer(
        draw, {"x": slider()} if controls is None else controls, **{"name": "n", "title": "T", **changed}
    )


# What is called, the argument at fault, and how the message shows what came.
CALLS = [
    # walks
    *[(lambda p=p: CircleWalk(6, p), "p", shown) for p, shown in [
        (-0.1, "-0.1"), (1.0000001, "1.0000001"), (NAN, "nan"), (INF, "inf"), (-INF, "-inf"),
        ("0.5", "'0.5'"), (None, "None"), (True, "True"), (0.5 + 0j, "(0.5+0j)"), ([0.5], "[0.5]"),
        (np.float64("nan"), "nan"), (10**400, "1000000"), (np.bool_(True), "True"), (b"1", "b'1'"),
    ]],
    *[(lambda n=n: CircleWalk(n, 0.5), "n_nodes", shown) for n, shown in [
        (2, "2"), (0, "0"), (-6, "-6"), (6.0, "6.0"), ("6", "'6'"), (None, "None"), (True, "True"),
        (NAN, "nan"), ([6], "[6]"), (np.array([6]), "array([6])"),
    ]],
    (lambda: WALK.sample(0, 5, rng=0), "n_sequences", "0"),
    (lambda: WALK.sample(-1, 5, rng=0), "n_sequences", "-1"),
    (lambda: WALK.sample(2.5, 5, rng=0), "n_sequences", "2.5"),
    (lambda: WALK.sample(2, 1, rng=0), "length", "1"),
    (lambda: WALK.sample(2, "5", rng=0), "length", "'5'"),
    (lambda: WALK.sample(2, 5, rng=None), "rng", "None"),
    (lambda: WALK.sample(2, 5, rng=-1), "rng", "-1"),
    (lambda: WALK.sample(2, 5, rng=0.5), "rng", "0.5"),
    (lambda: WALK.sample(2, 5, rng=True), "rng", "True"),
    (lambda: WALK.sample(2, 5, rng=np.random.RandomState(0)), "rng", "RandomState"),
    (lambda: WALK.sample(2, 5), "rng", "missing"),
    (lambda: WALK.enumerate(1), "length", "1"),
    (lambda: WALK.enumerate(5.0), "length", "5.0"),
    (lambda: WALK.enumerate(40), "length", "40"),
    (lambda: WALK.enumerate(10**9), "length", "1000000000"),
    (lambda: CircleWalk(6, 1.0).enumerate(10**9), "length", "1000000000"),
    (lambda: WALK.predict([[0, 6]]), "tokens", "6"),
    (lambda: WALK.predict([[0, -1]]), "tokens", "-1"),
    (lambda: WALK.predict([0, 1]), "tokens", "(2,)"),
    (lambda: WALK.predict([[]]), "tokens", "[[]]"),
    (lambda: WALK.predict(np.empty((0, 3), int)), "tokens", "(0, 3)"),
    (lambda: WALK.predict([[0.0, 1.0]]), "tokens", "[[0.0, 1.0]]"),
    (lambda: WALK.predict([[0, 1], [2]]), "tokens", "[[0, 1], [2]]"),
    (lambda: WALK.predict([[True, False]]), "tokens", "[[True, False]]"),
    (lambda: WALK.predict(None), "tokens", "None"),
    (lambda: WALK.predict("ab"), "tokens", "'ab'"),
    # losses
    *[(lambda e=e: LogLoss(e), "epsilon", shown) for e, shown in [
        (-0.1, "-0.1"), (NAN, "nan"), (INF, "inf"), ("0.1", "'0.1'"), (None, "None"), (True, "True"),
    ]],
    # one_layer
    (lambda: sine_positions(1, 5), "length", "1"),
    (lambda: sine_positions(5.0, 5), "length", "5.0"),
    (lambda: sine_positions(5, 4), "dim", "4"),
    (lambda: sine_positions(5, NAN), "dim", "nan"),
    (lambda: OneLayerModel(1, 5), "vocab_size", "1"),
    (lambda: OneLayerModel(3.0, 5), "vocab_size", "3.0"),
    (lambda: OneLayerModel(3, 1), "length", "1"),
    (lambda: OneLayerModel(3, None), "length", "None"),
    (lambda: OneLayerModel(3, 97, 96), "position_dim", "96"),
    (lambda: OneLayerModel(3, 97, 1e3), "position_dim", "1000.0"),
    (lambda: OneLayerModel(3, 5, unit_length=1), "unit_length", "1"),
    (lambda: OneLayerModel(3, 5, unit_length="yes"), "unit_length", "'yes'"),
    (lambda: MODEL.random(-1, rng=0), "scale", "-1"),
    (lambda: MODEL.random(NAN, rng=0), "scale", "nan"),
    (lambda: MODEL.random(INF, rng=0), "scale", "inf"),
    (lambda: MODEL.random(0.1, rng="0"), "rng", "'0'"),
    (lambda: MODEL.from_matrices(np.zeros((3, 4)), np.zeros((11, 11))), "value", "(3, 4)"),
    (lambda: MODEL.from_matrices(np.full((3, 3), NAN), np.zeros((11, 11))), "value", "nan"),
    (lambda: MODEL.from_matrices(np.zeros((3, 3)), np.zeros((8, 8))), "query_key", "(8, 8)"),
    (lambda: MODEL.from_matrices(np.zeros((3, 3)), np.full((11, 11), INF)), "query_key", "inf"),
    (lambda: MODEL.from_matrices(np.zeros((3, 3)), np.zeros((11, 11), complex)), "query_key", "0.+0.j"),
    (lambda: MODEL.to_matrices(ZERO, np.zeros((3, 3))), "start", "(3, 3)"),
    (lambda: MODEL.to_matrices(ZERO, "W"), "start", "'W'"),
    (lambda: MODEL.to_matrices(None), "parameters", "None"),
    (lambda: MODEL.attention((1, 2, 3), INPUTS), "parameters", "(1, 2, 3)"),
    (lambda: MODEL.attention(parameters(value=np.zeros((2, 2))), INPUTS), "parameters.value", "(2, 2)"),
    (lambda: MODEL.scores(parameters(content=np.zeros(4)), INPUTS), "parameters.content", "(4,)"),
    (lambda: MODEL.predict(parameters(position=np.full(5, NAN)), INPUTS), "parameters.position", "nan"),
    (lambda: MODEL.attention(ZERO, TOKENS), "inputs", "(2, 5)"),
    (lambda: MODEL.attention(ZERO, TOKENS[0, :-1]), "inputs", "(4,)"),
    (lambda: MODEL.scores(ZERO, INPUTS + 1), "inputs", "3"),
    (lambda: MODEL.predict(ZERO, INPUTS - 1), "inputs", "-1"),
    (lambda: MODEL.predict(ZERO, TOKENS[:0, :-1]), "inputs", "(0, 4)"),
    (lambda: loss(None), "parameters", "None"),
    (lambda: loss(ZERO, INPUTS), "tokens", "(2, 4)"),
    (lambda: loss(ZERO, TOKENS + 2), "tokens", "4"),
    (lambda: loss(ZERO, TOKENS.astype(float)), "tokens", "0., 1., 2."),
    (lambda: loss(ZERO, TOKENS, "log"), "loss", "'log'"),
    (lambda: loss(ZERO, TOKENS, np.square), "loss", "<ufunc 'square'>"),
    (lambda: loss(ZERO, TOKENS, SquareLoss), "loss", "SquareLoss"),
    (lambda: loss(ZERO, TOKENS, None, [1.0]), "weights", "(1,)"),
    (lambda: loss(ZERO, TOKENS, None, [1.0, -0.5]), "weights", "-0.5"),
    (lambda: loss(ZERO, TOKENS, None, [0.0, 0.0]), "weights", "0."),
    (lambda: loss(ZERO, TOKENS, None, [1.0, NAN]), "weights", "nan"),
    (lambda: loss(ZERO, TOKENS, None, [1.0, INF]), "weights", "inf"),
    (lambda: train(learning_rate=-0.1), "learning_rate", "-0.1"),
    (lambda: train(learning_rate=NAN), "learning_rate", "nan"),
    (lambda: train(learning_rate=INF), "learning_rate", "inf"),
    (lambda: train(learning_rate="1"), "learning_rate", "'1'"),
    (lambda: train(steps=-1), "steps", "-1"),
    (lambda: train(steps=1.5), "steps", "1.5"),
    (lambda: train(record_every=0), "record_every", "0"),
    (lambda: train(record_every=True), "record_every", "True"),
    (lambda: train(TOKENS[:, 1:]), "tokens", "(2, 4)"),
    (lambda: train(loss=0), "loss", "0"),
    (lambda: train(start=0), "start", "0"),
    (lambda: train(start=parameters(value=np.zeros((4, 4)))), "start.value", "(4, 4)"),
    (lambda: train(start=parameters(content=np.full(3, INF))), "start.content", "inf"),
    (lambda: train(weights=[1, 2, 3]), "weights", "(3,)"),
    (lambda: train(test=TOKENS[:, 1:]), "test", "(2, 4)"),
    (lambda: train(test=TOKENS + 5), "test", "7"),
    (lambda: train(test=TOKENS, test_weights=[1.0, -2.0]), "test_weights", "-2."),
    (lambda: train(test=TOKENS, test_weights=[1.0]), "test_weights", "(1,)"),
    (lambda: train(test_weights=[1.0, 1.0]), "test_weights", "alone"),
    (lambda: train(truth=np.full((3, 3), 1 / 3)), "truth", "(3, 3)"),
    (lambda: train(truth=np.full((2, 3), 0.5)), "truth", "1.5"),
    (lambda: train(truth=[[1.5, -0.5, 0.0], [1, 0, 0]]), "truth", "-0.5"),
    (lambda: train(truth=np.full((2, 3), NAN)), "truth", "nan"),
    (lambda: RUN.parameters(3), "record", "3"),
    (lambda: RUN.parameters(-4), "record", "-4"),
    (lambda: RUN.parameters(0.5), "record", "0.5"),
    # explorer
    (lambda: slider(label=""), "label", "''"),
    (lambda: slider(label=3), "label", "3"),
    (lambda: slider(values=[1]), "values", "[1]"),
    (lambda: slider(values=[0, 2, 1]), "values", "[0, 2, 1]"),
    (lambda: slider(values=[0, 1, 1]), "values", "[0, 1, 1]"),
    (lambda: slider(values=[0, 1, NAN]), "values", "nan"),
    (lambda: slider(values=["a", "b"]), "values", "['a', 'b']"),
    (lambda: slider(values=3), "values", "()"),
    (lambda: slider(start=1.5), "start", "1.5"),
    (lambda: slider(start=NAN), "start", "nan"),
    (lambda: slider(start="1"), "start", "'1'"),
    (lambda: slider(page=[0, 5]), "page", "5"),
    (lambda: slider(page=["a"]), "page", "a"),
    (lambda: slider(page=1), "page", "()"),
    (lambda: slider(play="yes"), "play", "'yes'"),
    (lambda: choice(label=None), "label", "None"),
    (lambda: choice(values=["a"]), "values", "['a']"),
    (lambda: choice(values=["a", "a"]), "values", "['a', 'a']"),
    (lambda: choice(values=["a", 1]), "values", "['a', 1]"),
    (lambda: choice(values=None), "values", "None"),
    (lambda: choice(start="c"), "start", "'c'"),
    (lambda: choice(page=["c"]), "page", "'c'"),
    (lambda: choice(page=None), "page", "None"),
    (lambda: choice(values="ab"), "values", "'ab'"),
    (lambda: explorer(draw="picture"), "draw", "str"),
    (lambda: explorer(controls={}), "controls", "{}"),
    (lambda: explorer(controls={"x": 3}), "controls", "{'x': 3}"),
    (lambda: explorer(controls=[slider()]), "controls", "[Slider("),
    (lambda: explorer(name="two words"), "name", "'two words'"),
    (lambda: explorer(name=""), "name", "''"),
    (lambda: explorer(name='"><script>'), "name", "<script>"),
    (lambda: explorer(name=1), "name", "1"),
    (lambda: explorer(title=None), "title", "None"),
    (lambda: explorer(presets={"far": {"x": 9}}), "x", "9"),
    (lambda: explorer(presets={"odd": {"y": 1}}), "control", "'y'"),
    (lambda: explorer(presets=["far"]), "presets", "['far']"),
    (lambda: explorer(presets={"far": 1}), "presets", "{'far': 1}"),
    (lambda: explorer(size=(0, 4)), "size", "0"),
    (lambda: explorer(size=(7, 400)), "size", "400"),
    (lambda: explorer(size=(7, NAN)), "size", "nan"),
    (lambda: explorer(size=7), "size", "()"),
    (lambda: explorer(size=(7,)), "size", "(1,)"),
    (lambda: explorer().render(x=9), "x", "9"),
    (lambda: explorer().render(x=NAN), "x", "nan"),
    (lambda: explorer().render(x=[0]), "x", "[0]"),
    (lambda: explorer().render(y=0), "control", "'y'"),
    (lambda: explorer(lambda figure, x: None).render(), "draw", "None"),
    (lambda: explorer(lambda figure, x: "").render(), "draw", "''"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "argument", "shown"),
    CALLS,
    ids=[f"{argument}-{shown}" for _, argument, shown in CALLS],
)
def test_a_hostile_call_raises_an_error_that_names_the_argument_and_what_came(call, argument, shown):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert re.search(rf"(?<![\w.]){re.escape(argument)}(?!\w)", message), message
    assert shown in message.replace(argument, "", 1), message


# The literal models' own arguments.
LITERAL_CALLS = [
    ({"vocab_size": 1}, "vocab_size", "1"),
    ({"length": 1}, "length", "1"),
    ({"length": 5.0}, "length", "5.0"),
    ({"position_dim": 4}, "position_dim", "4"),
    ({"position_dim": None}, "position_dim", "None"),
    ({"unit_length": 1}, "unit_length", "1"),
]


@pytest.mark.parametrize(("changed", "argument", "shown"), LITERAL_CALLS, ids=lambda x: str(x))
def test_the_literal_model_refuses_the_sizes_that_the_reduced_one_refuses(changed, argument, shown):
    pytest.importorskip("torch")
    from markov_transformers.models import OneLayerTransformer

    with pytest.raises(ValueError, match=rf"^{argument} must be .*got {re.escape(shown)}"):
        OneLayerTransformer(**{"vocab_size": 3, "length": 5, "position_dim": 8, **changed})
    with pytest.raises(ValueError, match=rf"^{argument} must be .*got {re.escape(shown)}"):
        OneLayerModel(**{"vocab_size": 3, "length": 5, "position_dim": 8, **changed})
