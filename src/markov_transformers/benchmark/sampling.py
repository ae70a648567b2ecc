"""Sampling chains, beside a loop that draws token by token in plain Python."""

from __future__ import annotations

from bisect import bisect

import numpy as np

from ..chains import DirichletPrior, NGramChain
from ._rows import Timing, median

_PART = 100  # the loop draws one token in so many; its time is proportional to their number


def private_kernels() -> Timing:
    """Time 10,000 sequences of 101 tokens, each from a kernel of its own."""
    prior, n = DirichletPrior(3, (1, 2), 0.1), 10_000
    kernels = prior.sample_kernels(n // _PART, rng=0)
    loop = median(lambda: [_token_by_token(kernel, 101) for kernel in kernels], 3)
    engine = median(lambda: prior.sample(n, 101, rng=0), 5)
    return Timing.against("sampling-kernels", engine, "loop over tokens", _PART * loop, extrapolated=True)


def million_steps() -> Timing:
    """Time one sequence of a million tokens."""
    kernel = DirichletPrior(3, (1, 2), 1.0).sample_kernels(1, rng=0)[0]
    chain, length = NGramChain(kernel, (1, 2)), 1_000_000
    loop = median(lambda: _token_by_token(kernel, length // _PART), 3)
    engine = median(lambda: chain.sample(1, length, rng=0), 5)
    return Timing.against("sampling-million", engine, "loop over tokens", _PART * loop, extrapolated=True)


def _token_by_token(kernel: np.ndarray, length: int, seed: int = 0) -> list[int]:
    rows = kernel.cumsum(axis=-1)[..., :-1].tolist()
    older, newer = 0, 0
    tokens = [older, newer]
    for number in np.random.default_rng(seed).random(length - 2).tolist():
        older, newer = newer, bisect(rows[older][newer], number)
        tokens.append(newer)
    return tokens
