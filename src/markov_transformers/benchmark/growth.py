"""How the cost of an evaluation grows when the data or the model double.

An evaluation gives the loss and its gradients in all parameters, at the paper's start.
"""

from __future__ import annotations

from functools import cache

from ._rows import Growth, median, seconds

BASE = {"length": 100, "chains": 2000, "vocab": 3, "window": 3, "concentration": 0.1}
SIZES = {
    "length": (25, 50, 100, 200, 400, 800),
    "chains": (250, 500, 1000, 2000, 4000, 8000),
    "vocab": (2, 4, 8, 16),
    "window": (1, 2, 4, 8),
    "noisy-window": (1, 2, 4, 8, 16),
}


def at(quantity: str, value: int) -> Growth:
    """Time the engine and the plain torch model at one size, all others as in `BASE`."""
    engine, counting, nonzeros = _engine(**_sizes(quantity, value))
    half = value // 2
    growth = engine / _engine(**_sizes(quantity, half))[0] if half in SIZES[quantity] else None
    return Growth.against(
        f"growth-{quantity}-{value}",
        engine,
        "plain torch",
        _plain(**_sizes(quantity, value)),
        quantity=quantity,
        value=value,
        counting=counting,
        nonzeros=nonzeros,
        growth=growth,
    )


def _sizes(quantity: str, value: int) -> dict[str, float]:
    """Return all sizes; a window is noisy where chains are so random that it hardly repeats."""
    if quantity == "noisy-window":
        return {**BASE, "window": value, "concentration": 1.0}
    return {**BASE, quantity: value}


@cache
def _engine(
    length: int, chains: int, vocab: int, window: int, concentration: float
) -> tuple[float, float, int]:
    """Return the seconds of an evaluation and of the counting before it, and the numbers kept."""
    tokens = _tokens(length, chains, vocab, concentration)
    counting = median(lambda: _model(tokens, window, vocab), 3)
    model = _model(tokens, window, vocab)
    start = model.initial_parameters()
    once = seconds(lambda: model.loss_and_gradients(**start))
    repeats = 51 if once < 0.01 else 3
    return (
        median(lambda: model.loss_and_gradients(**start), repeats),
        counting,
        int(model.counts.by_match().matrix.nnz),
    )


def _plain(length: int, chains: int, vocab: int, window: int, concentration: float) -> float:
    from .baselines import PlainTwoLayer, fastest

    tokens = _tokens(length, chains, vocab, concentration)
    model = PlainTwoLayer(tokens, window, vocab, min(window, 2))
    return fastest(model.loss_and_gradients, 3)


def _tokens(length: int, chains: int, vocab: int, concentration: float) -> object:
    from ..chains import DirichletPrior

    return DirichletPrior(vocab, (1, 2), concentration).sample(chains, length + 1, rng=0)


def _model(tokens: object, window: int, vocab: int) -> object:
    from ..staged import StagedModel
    from ..windows import WindowCounts

    return StagedModel(WindowCounts.from_tokens(tokens, window, vocab), degree=min(window, 2))
