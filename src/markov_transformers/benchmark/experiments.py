"""The experiments of both papers: exact engine, plain torch model, and the model as printed."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ._rows import Timing, median, seconds

if TYPE_CHECKING:
    import torch

    from ..staged import StagedModel

_WALK_STEPS = 50


def one_layer() -> Timing:
    """Time the walk experiment of Shi and Cao: 50 iterations on 1,000 walks of length 97."""
    return _plain_walk("one-layer", "plain torch", parts=False)


def one_layer_parts() -> Timing:
    """Compare it with a torch model that adds scores of tokens and of places."""
    return _plain_walk("one-layer-parts", "torch, tokens and places apart", parts=True)


def one_layer_definition() -> Timing:
    """Compare it with the model as printed."""
    import torch

    from ..models import OneLayerTransformer

    literal, tokens = OneLayerTransformer(6, 97, 1000), torch.as_tensor(_walks())
    step = partial(literal.gradient_step, tokens)
    return _beside_walk("one-layer-definition", "torch as printed", step)


def staged_flow() -> Timing:
    """Time the three stages of Chen et al. as a flow: 9,000 chains of length 100, concentration 0.01."""
    return _beside_stages("staged-flow", _flow_seconds(), "plain torch", _plain_stages())


def staged_gd() -> Timing:
    """Time the same three stages as gradient descent, all 57,000 steps."""
    return _beside_stages("staged-gd", _gd_seconds(), "plain torch", _plain_stages())


def staged_gd_single() -> Timing:
    """Compare it with the plain torch model in single precision."""
    import torch

    baseline = "plain torch, single precision"
    return _beside_stages("staged-gd-single", _gd_seconds(), baseline, _plain_stages(dtype=torch.float32))


def staged_gd_tables() -> Timing:
    """Compare it with a torch model that reads kernels off tables of matches."""
    baseline = "torch on tables of matches"
    return _beside_stages("staged-gd-tables", _gd_seconds(), baseline, _plain_stages(tables=True))


def staged_gd_definition() -> Timing:
    """Compare it with the model as printed, timed on the first 1,000 chains."""
    import torch

    from ..models import TwoLayerTransformer
    from .baselines import PIECE, fastest

    tokens = _chains()
    batch, steps = torch.as_tensor(tokens[:PIECE]), []
    for part in "cwa":
        model = TwoLayerTransformer(window=3, heads=3, vocab_size=3, degree=2)
        trained = getattr(model, part)

        def step(model: torch.nn.Module = model, trained: torch.nn.Parameter = trained) -> None:
            torch.autograd.grad(model.loss(batch), trained)

        steps.append(fastest(step, 2) * len(tokens) / PIECE)
    return _beside_stages("staged-gd-definition", _gd_seconds(), "torch as printed", tuple(steps))


@cache
def _walks() -> np.ndarray:
    from ..walks import CircleWalk

    return CircleWalk(6, 0.5).sample(1000, 97, rng=0)


@cache
def _walk_seconds() -> float:
    from ..one_layer import OneLayerModel

    walks, model = _walks(), OneLayerModel(6, 97, 1000)
    work = {"learning_rate": 1.0, "steps": _WALK_STEPS, "record_every": _WALK_STEPS}
    return median(lambda: model.train(walks, **work), 7)


def _plain_walk(name: str, baseline: str, *, parts: bool) -> Timing:
    from .baselines import PlainOneLayer

    return _beside_walk(name, baseline, PlainOneLayer(_walks(), 6, 1000, parts=parts).gradient_step)


def _beside_walk(name: str, baseline: str, gradient_step: Callable[[float], float]) -> Timing:
    from .baselines import fastest

    whole = _WALK_STEPS * fastest(lambda: gradient_step(1.0), 5)
    return Timing.against(name, _walk_seconds(), f"{baseline}, {_WALK_STEPS} steps", whole, extrapolated=True)


@cache
def _chains() -> np.ndarray:
    from ..chains import DirichletPrior

    return DirichletPrior(3, (1, 2), 0.01).sample(9000, 101, rng=0)


def _staged() -> StagedModel:
    from ..staged import StagedModel
    from ..windows import WindowCounts

    return StagedModel(WindowCounts.from_tokens(_chains(), window=3, vocab_size=3), degree=2)


@cache
def _flow_seconds() -> float:
    return median(lambda: _staged().three_stages(), 5)


@cache
def _gd_seconds() -> float:
    _staged().three_stages(durations=(10, 10, 10), learning_rate=1.0)
    return statistics.median(seconds(lambda: _staged().three_stages(learning_rate=1.0)) for _ in range(3))


@cache
def _plain_stages(**how: object) -> tuple[float, ...]:
    """Return the seconds of one step in each stage."""
    from .baselines import PlainTwoLayer, fastest

    return tuple(
        fastest(PlainTwoLayer(_chains(), 3, 3, 2, train=part, **how).loss_and_gradients, 5) for part in "cwa"
    )


def _beside_stages(name: str, engine: float, baseline: str, steps: tuple[float, ...]) -> Timing:
    from ..dynamics import PAPER_DURATIONS

    whole = sum(n * step for n, step in zip(PAPER_DURATIONS, steps))
    told = f"{baseline}, {sum(PAPER_DURATIONS):,.0f} steps"
    return Timing.against(name, engine, told, whole, extrapolated=True)
