"""Explorers, timed from a slider's change to the new picture."""

from __future__ import annotations

import numpy as np

from .. import _validation as check
from .. import explorers
from ._rows import Moves, seconds

_MOST_MOVES = 1_000_000  # which take a day


def explorer(name: str, moves: int = 200) -> Moves:
    """Time random moves of random controls of an explorer, in the kernel.

    Parameters
    ----------
    name : str
        One of `markov_transformers.explorers`.
    moves : int, default 200
        Each takes one control to another of its values; at least 1.

    Returns
    -------
    Moves

    Raises
    ------
    ValueError
        If there is no such explorer, or `moves` is out of range.
    """
    name = check.choice("name", name, tuple(explorers.__all__))
    moves = check.integer("moves", moves, 1, _MOST_MOVES)
    shown = getattr(explorers, name)()
    fields, rng, times = shown._live.fields, np.random.default_rng(0), []
    for _ in range(moves):
        key = list(fields)[rng.integers(len(fields))]
        others = [value for value in shown.controls[key].values if value != fields[key].value]
        value = others[rng.integers(len(others))]
        times.append(seconds(lambda field=fields[key], value=value: setattr(field, "value", value)))
    p50, p95, largest = np.quantile(times, [0.5, 0.95, 1])
    return Moves(f"explorer-{shown.name}", float(p50), float(p95), float(largest), moves)
