"""Hostile calls of the literal transformers: the same refusals as everywhere in the library."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from tests.hostile import FLAG, LAGS, OBJECT, Table, count, number, tokens

torch = pytest.importorskip("torch")
models = pytest.importorskip("markov_transformers.models")

TABLE = Table()
SEQUENCES = torch.tensor([[0, 1, 2, 0, 1], [1, 2, 0, 1, 0]])
DTYPE = [None, "float64", float, torch.int64, torch.complex128, np.float64]
EPSILON = {"epsilon": (0.1, number(0))}
RATE = {"learning_rate": (0.1, number(0))}
KERNEL = {"through_kernel": (True, FLAG)}


def sequences(shortest):
    return [*tokens(3, shortest=shortest), SEQUENCES.double(), SEQUENCES + 3, SEQUENCES - 1, SEQUENCES[0]]


one_layer = {
    "vocab_size": (3, count(2, huge=True)),
    "length": (5, count(2)),
    "position_dim": (8, count(5)),
    "unit_length": (False, FLAG),
    "dtype": (torch.float64, DTYPE),
}
two_layer = {
    "window": (2, count(1, huge=True)),
    "heads": (2, count(1, huge=True)),
    "vocab_size": (3, count(2)),
    "degree": (1, count(0, 3)),
    "mask": (True, FLAG),
    "dtype": (torch.float64, DTYPE),
}
MODELS = {
    "OneLayerTransformer": models.OneLayerTransformer(3, 5, 8),
    "ReluTransformer": models.ReluTransformer(3, 5, 2, 8),
    "TwoLayerTransformer": models.TwoLayerTransformer(2, 2, 3, 1),
    "FullTransformer": models.FullTransformer(2, 2, 3, 1),
}
for name, model in MODELS.items():
    own = {"width": (2, count(1, huge=True))} if name == "ReluTransformer" else {}
    whole = {"tokens": (SEQUENCES, [*sequences(4), SEQUENCES[:, :3]])}
    seen = {"tokens": (SEQUENCES[:, :4], [*sequences(3), SEQUENCES[:, :2]])}
    TABLE.row(f"{name}.loss", model.loss, **whole, **EPSILON)
    if isinstance(model, models.OneLayerTransformer):
        TABLE.row(name, type(model), **one_layer, **own)
        TABLE.row(f"{name}.embed", model.embed, **seen)
        TABLE.row(f"{name}.forward", model.forward, **seen)
        TABLE.row(f"{name}.gradient_step", model.gradient_step, **whole, **RATE, **EPSILON)
    else:
        TABLE.row(name, type(model), **two_layer)
        TABLE.row(
            f"{name}.construction",
            type(model).construction,
            **two_layer,
            subset=((1,), [*LAGS, [3]]),
            rho=(1.0, number()),
            a=(1.0, number()),
        )
        TABLE.row(f"{name}.embed", model.embed, tokens=(SEQUENCES, sequences(1)))
        TABLE.row(f"{name}.forward", model.forward, **seen, **KERNEL)
        TABLE.row(f"{name}.scores", model.scores, tokens=(SEQUENCES, sequences(1)), **KERNEL)
        TABLE.row(f"{name}.sequential_loss", model.sequential_loss, **whole, **EPSILON)
TABLE.row(
    "ReluTransformer.reset",
    MODELS["ReluTransformer"].reset,
    scale=(0.1, number(0)),
    generator=(torch.Generator(), [*OBJECT, 0, np.random.default_rng(0)]),
)

# Layers, which take what the layer before them returns.
LAYERS = ("attention", "copies", "features", "kernel", "position_matrices")


@pytest.mark.parametrize(("name", "argument"), TABLE.cases())
def test_a_hostile_argument_raises_one_error_that_names_it_and_shows_what_came(name, argument):
    TABLE.assert_refuses(name, argument)


@pytest.mark.parametrize("name", TABLE)
def test_the_arguments_beside_a_hostile_one_are_good(name):
    TABLE.assert_takes_good_arguments(name)


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_of_a_model_has_hostile_rows(name):
    own = [m for m in dir(type(MODELS[name])) if not m.startswith("_") and not hasattr(torch.nn.Module, m)]
    functions = {name: type(MODELS[name]), f"{name}.forward": MODELS[name].forward}
    functions |= {f"{name}.{m}": getattr(MODELS[name], m) for m in own if callable(getattr(MODELS[name], m))}
    for called, function in functions.items():
        covered = set(TABLE[called].arguments) if called in TABLE else set()
        if called.rpartition(".")[2] not in LAYERS:
            assert covered == set(inspect.signature(function).parameters), called


def test_every_model_is_there():
    assert set(MODELS) == set(models.__all__)
