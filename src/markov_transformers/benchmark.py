"""The speed table: each exact engine beside the literal model, timed in one process.

Timings are medians of repeated runs. Where the literal model would take minutes, a few of its
steps are timed, the whole is extrapolated from them, and the row says so. The literal models are
written to be read beside the papers, not to be fast. Explorers are timed from a slider's change to
the new picture.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from . import explorers
from ._progress import progress

if TYPE_CHECKING:
    import torch

    from .staged import StagedModel

_MOVES = 200  # of an explorer's controls


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


def staged_flow() -> Timing:
    """Time the three stages of Chen et al. as a flow: 9,000 chains of length 100, concentration 0.01."""
    tokens = _printed_chains()
    seconds = _median(lambda: _staged(tokens).three_stages(), 5)
    return _beside_the_literal_stages("staged-flow", seconds, tokens)


def staged_gd() -> Timing:
    """Time the same three stages as gradient descent, all 57,000 steps."""
    tokens = _printed_chains()
    _staged(tokens).three_stages(durations=(10, 10, 10), learning_rate=1.0)
    seconds = _seconds(lambda: _staged(tokens).three_stages(learning_rate=1.0))
    return _beside_the_literal_stages("staged-gd", seconds, tokens)


def _printed_chains() -> np.ndarray:
    from .chains import DirichletPrior

    return DirichletPrior(3, (1, 2), 0.01).sample(9000, 101, rng=0)


def _staged(tokens: np.ndarray) -> StagedModel:
    from .staged import StagedModel
    from .windows import WindowCounts

    return StagedModel(WindowCounts.from_tokens(tokens, window=3, vocab_size=3), degree=2)


def _beside_the_literal_stages(name: str, seconds: float, tokens: np.ndarray) -> Timing:
    import torch

    from .dynamics import PAPER_DURATIONS
    from .models import TwoLayerTransformer

    batch, literal = torch.as_tensor(tokens), 0.0
    for part, duration in zip("cwa", PAPER_DURATIONS):
        model = TwoLayerTransformer(window=3, heads=3, vocab_size=3, degree=2)
        for parameter, value in model.named_parameters():
            value.requires_grad_(parameter == part)
        optimizer = torch.optim.SGD([getattr(model, part)], lr=1.0)

        def step(model: torch.nn.Module = model, optimizer: torch.optim.Optimizer = optimizer) -> None:
            optimizer.zero_grad()
            model.loss(batch).backward()
            optimizer.step()

        literal += duration * _median(step, 3)
    steps = f"literal torch model, {sum(PAPER_DURATIONS):,.0f} steps"
    return _row(name, seconds, steps, literal, extrapolated=True)


@dataclass(frozen=True)
class Moves:
    """How fast an explorer follows its controls; times in seconds, training included.

    Attributes
    ----------
    name : str
        The explorer.
    p50, p95, max : float
        Median, 95th percentile and largest time from a control's change to the new picture.
    moves : int
        Number of moves timed.
    """

    name: str
    p50: float
    p95: float
    max: float
    moves: int


def explorer(name: str, moves: int = _MOVES) -> Moves:
    """Time random moves of random controls of an explorer, in the kernel.

    Parameters
    ----------
    name : str
        One of `markov_transformers.explorers`.
    moves : int, default 200
        Each takes one control to another of its values.
    """
    shown = getattr(explorers, name)()
    fields, rng, times = shown._live.fields, np.random.default_rng(0), []
    for _ in range(moves):
        key = list(fields)[rng.integers(len(fields))]
        others = [value for value in shown.controls[key].values if value != fields[key].value]
        value = others[rng.integers(len(others))]
        times.append(_seconds(lambda field=fields[key], value=value: setattr(field, "value", value)))
    p50, p95, largest = np.quantile(times, [0.5, 0.95, 1])
    return Moves(f"explorer-{shown.name}", float(p50), float(p95), float(largest), moves)


_EXPLORERS: dict[str, Callable[[], Moves]] = {
    f"explorer-{name.replace('_', '-')}": partial(explorer, name) for name in explorers.__all__
}
ROWS: dict[str, Callable[[], Timing | Moves]] = {
    "one-layer": one_layer,
    "staged-flow": staged_flow,
    "staged-gd": staged_gd,
    **_EXPLORERS,
}


def run(names: Iterable[str] = ()) -> list[Timing | Moves]:
    """Time the named rows of the table, all by default.

    Parameters
    ----------
    names : iterable of str, default ()
        Keys of `ROWS`; "explorers" stands for those of all explorers.

    Raises
    ------
    ValueError
        If a name is not one of `ROWS`.
    """
    chosen: list[str] = []
    for name in list(names) or list(ROWS):
        if name not in ROWS and name != "explorers":
            raise ValueError(f"name must be explorers or one of {', '.join(ROWS)}, got {name!r}")
        chosen += _EXPLORERS if name == "explorers" else [name]
    return [ROWS[name]() for name in progress(list(dict.fromkeys(chosen)), "timing")]


def table(rows: Iterable[Timing | Moves]) -> str:
    """Return the rows as text in columns."""
    timings, moves = [], []
    for row in rows:
        if isinstance(row, Moves):
            times = "".join(f"{1000 * value:>9.0f} ms" for value in (row.p50, row.p95, row.max))
            moves.append(f"{row.name:<32}{times}{row.moves:>9}")
        else:
            note = f"{row.baseline}{' (extrapolated)' if row.extrapolated else ''}"
            times = f"{row.seconds:>8.3f} s{row.baseline_seconds:>10.2f} s{row.ratio:>9.0f}"
            timings.append(f"{row.name:<14}{times}  {note}")
    if timings:
        timings.insert(0, f"{'name':<14}{'exact':>10}{'baseline':>12}{'ratio':>9}  baseline is")
    if moves:
        moves.insert(0, f"{'name':<32}{'p50':>12}{'p95':>12}{'max':>12}{'moves':>9}")
    return "\n".join([*timings, *([""] if timings and moves else []), *moves])


def _row(name: str, seconds: float, baseline: str, baseline_seconds: float, *, extrapolated: bool) -> Timing:
    return Timing(name, seconds, baseline, baseline_seconds, baseline_seconds / seconds, extrapolated)


def _median(work: Callable[[], object], repeats: int) -> float:
    work()
    return statistics.median(_seconds(work) for _ in range(repeats))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
