"""The speed table: each exact engine beside the literal model, timed in one process.

Timings are medians of repeated runs. Where the literal model would take minutes, a few of its
steps are timed, the whole is extrapolated from them, and the row says so.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ._progress import progress


@dataclass(frozen=True)
class Timing:
    """One row of the speed table; times in seconds.

    Attributes
    ----------
    name : str
        What was timed.
    seconds : float
        Median time of the exact engine.
    baseline : str
        What it is compared with.
    baseline_seconds : float
        Time of the baseline for the same work.
    ratio : float
        `baseline_seconds` over `seconds`.
    extrapolated : bool
        Whether the baseline's time was extrapolated from a few of its steps.
    """

    name: str
    seconds: float
    baseline: str
    baseline_seconds: float
    ratio: float
    extrapolated: bool


def one_layer() -> Timing:
    """Time the walk experiment of Shi and Cao: 50 iterations on 1,000 walks of length 97."""
    import torch

    from .models import OneLayerTransformer
    from .one_layer import OneLayerModel
    from .walks import CircleWalk

    walk = CircleWalk(6, 0.5)
    train, test = walk.sample(1000, 97, rng=0), walk.sample(1000, 97, rng=1)
    truth = walk.predict(test[:, :-1])
    model = OneLayerModel(6, 97, 1000)
    seconds = _median(lambda: model.train(train, learning_rate=1.0, steps=50, test=test, truth=truth), 7)
    literal, tokens = OneLayerTransformer(6, 97, 1000), torch.as_tensor(train)
    step = _median(lambda: literal.gradient_step(tokens, 1.0), 3)
    return _row("one-layer", seconds, "literal torch model, 50 steps", 50 * step, extrapolated=True)


ROWS: dict[str, Callable[[], Timing]] = {"one-layer": one_layer}


def run(names: Iterable[str] = ()) -> list[Timing]:
    """Time the named rows of the table, all by default.

    Parameters
    ----------
    names : iterable of str, default ()
        Keys of `ROWS`.

    Raises
    ------
    ValueError
        If a name is not one of `ROWS`.
    """
    names = list(names) or list(ROWS)
    for name in names:
        if name not in ROWS:
            raise ValueError(f"name must be one of {', '.join(ROWS)}, got {name!r}")
    return [ROWS[name]() for name in progress(names, "timing")]


def table(rows: Iterable[Timing]) -> str:
    """Return the rows as text in columns."""
    lines = [f"{'name':<14}{'exact':>10}{'baseline':>12}{'ratio':>9}  baseline is"]
    for row in rows:
        note = f"{row.baseline}{' (extrapolated)' if row.extrapolated else ''}"
        lines.append(
            f"{row.name:<14}{row.seconds:>8.3f} s{row.baseline_seconds:>10.2f} s{row.ratio:>9.0f}  {note}"
        )
    return "\n".join(lines)


def _row(name: str, seconds: float, baseline: str, baseline_seconds: float, *, extrapolated: bool) -> Timing:
    return Timing(name, seconds, baseline, baseline_seconds, baseline_seconds / seconds, extrapolated)


def _median(work: Callable[[], object], repeats: int) -> float:
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
