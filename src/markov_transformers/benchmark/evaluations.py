"""An evaluation of loss and gradients beside one pass over the arrays that it reads.

The pass adds up each array once. No evaluation can be faster than reading its data. The arrays must
be made first, so one evaluation is also timed with all that comes before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ._rows import Timing, median

_REPEATS = 201


def staged() -> Timing:
    """Time the two-layer engine on 9,000 chains of length 100, concentration 0.1."""
    from ..chains import DirichletPrior
    from ..staged import StagedModel
    from ..windows import WindowCounts

    tokens = DirichletPrior(3, (1, 2), 0.1).sample(9000, 101, rng=0)
    counts = WindowCounts.from_tokens(tokens, window=3, vocab_size=3)
    model, kept = StagedModel(counts, degree=2), counts.by_match()
    start = model.initial_parameters()
    read = (kept.matrix.data, kept.matrix.indices, kept.matrix.indptr, kept.weights, kept.matches)
    return _against_a_pass("evaluation-staged", lambda: model.loss_and_gradients(**start), read)


def one_layer() -> Timing:
    """Time the one-layer engine on 1,000 walks of length 97."""
    from ..one_layer import OneLayerModel
    from ..walks import CircleWalk

    tokens = CircleWalk(6, 0.5).sample(1000, 97, rng=0)
    model = OneLayerModel(6, 97, 1000)
    start = model.random(0.1, rng=0)
    return _against_a_pass("evaluation-one-layer", lambda: model.loss_and_gradients(start, tokens), [tokens])


def from_scratch() -> Timing:
    """Time one evaluation with all preparations, beside the plain torch model with its own."""
    from ..chains import DirichletPrior
    from ..staged import StagedModel
    from ..windows import WindowCounts
    from .baselines import PlainTwoLayer, fastest

    tokens = DirichletPrior(3, (1, 2), 0.1).sample(2000, 101, rng=0)

    def engine() -> None:
        model = StagedModel(WindowCounts.from_tokens(tokens, window=3, vocab_size=3), degree=2)
        model.loss_and_gradients(**model.initial_parameters())

    plain = fastest(lambda: PlainTwoLayer(tokens, 3, 3, 2).loss_and_gradients(), 3)
    baseline = "plain torch from scratch"
    return Timing.against("evaluation-from-scratch", median(engine, 7), baseline, plain)


def _against_a_pass(name: str, evaluate: Callable[[], object], arrays: Iterable[np.ndarray]) -> Timing:
    arrays = list(arrays)
    one_pass = median(lambda: [array.sum() for array in arrays], _REPEATS)
    return Timing.against(name, median(evaluate, _REPEATS), "one pass over the same arrays", one_pass)
