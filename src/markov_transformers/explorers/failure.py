"""The explorer of the deterministic walk, which training cannot learn, or learns at once."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..explorer import Choice, Explorer, Slider
from ..figures.style import BLACK, BLUE, VERMILION, freeze_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..one_layer import OneLayerRun

_NODES, _LENGTH, _STEPS = 6, 97, 50  # the paper's experiment


def deterministic_failure() -> Explorer:
    """Return the explorer that trains on all deterministic walks of a length, with exact arithmetic.

    Examples
    --------
    >>> figure, description = deterministic_failure().render(remainder=0, iteration=50)
    >>> description[:57]
    'log-loss, learning rate 1, N = 97, after 50 of 50 iterati'
    """
    losses = ["log", "square", "logistic", "hinge", "exponential"]
    return Explorer(
        _draw_deterministic_failure,
        {
            "remainder": Slider("N − 1 modulo K", range(_NODES), start=0, page=[0, 1]),
            "learning_rate": Slider("learning rate η", 10.0 ** np.arange(-3, 4), start=1, page=[1, 1000]),
            "iteration": Slider("iteration", range(_STEPS + 1), start=0, page=[0, 1, 50], play=True),
            "loss": Choice("loss", losses, start="log", page=["log", "square", "hinge"]),
        },
        name="deterministic-failure",
        title="A deterministic walk on 6 nodes: all walks of a length",
        presets={
            "Theorem 4.1": {"iteration": 50},
            "Any loss: hinge": {"loss": "hinge", "iteration": 50},
            "Any rate: 1000": {"learning_rate": 1000, "iteration": 50},
            "One token more": {"remainder": 1, "iteration": 1},
            "Learned, then lost": {"remainder": 1, "loss": "square", "learning_rate": 1000, "iteration": 50},
        },
        size=(7.2, 6.4),
    )


@lru_cache(maxsize=128)
def _run(remainder: int, learning_rate: float, loss: str) -> OneLayerRun:
    from ..claims.failure import LOSSES
    from ..one_layer import OneLayerModel
    from ..walks import CircleWalk

    length = _LENGTH + remainder
    walks, weights = CircleWalk(_NODES, 1.0).enumerate(length)
    model = OneLayerModel(_NODES, length)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the picture says where a run ended
        run = model.train(
            walks, weights=weights, learning_rate=learning_rate, steps=_STEPS, loss=LOSSES[loss]
        )
    return run


def _average_token(run: OneLayerRun, at: int) -> np.ndarray:
    """Return the attended average of the one-hot tokens of each target's walk, shape (K, K)."""
    from ..one_layer import OneLayerModel
    from ..walks import CircleWalk

    length = run.attention.shape[1]
    walks, _ = CircleWalk(_NODES, 1.0).enumerate(length)
    attention = OneLayerModel(_NODES, length).attention(run.parameters(at), walks[:, :-1])
    average = np.zeros((_NODES, _NODES))
    np.add.at(average, (walks[:, -1:], walks[:, :-1]), attention[:, :-1])
    return average


def _draw_deterministic_failure(
    figure: Figure, remainder: int, learning_rate: float, iteration: int, loss: str
) -> str:
    run = _run(remainder, learning_rate, loss)
    kept = figure.artists_kept
    if not kept:
        _lay_out_deterministic_failure(figure, kept)
    at = min(iteration, len(run.iterations) - 1)  # a run that overflowed ends early
    V, weights, accuracy, seen = run.value[at], run.attention[at], run.accuracy[at], _average_token(run, at)
    length = _LENGTH + remainder
    kept["curve"].set_data(run.iterations, run.accuracy)
    kept["now"].set_data([run.iterations[at]], [accuracy])
    position = np.arange(1, length + 1)
    kept["attention"].set_data(position, weights)
    kept["stems"].set_segments([[(i, 0), (i, w)] for i, w in zip(position, weights)])
    top = 1.15 * max(weights.max(), 1.5 / length)
    kept["attention"].axes.set_ylim(-0.02 * top, top)
    _fill(kept["average"], kept["shares"], seen, ".3f")
    _fill(kept["value"], kept["entries"], V, ".3g")
    if seen.max() < 1e-9:
        tells = "is zero: all attention is on the empty column"
    else:
        tells = "is the same for all targets" if np.ptp(seen) < 1e-9 else "differs by target"
    ended = f" The numbers overflowed at iteration {run.iterations[-1]}." if run.diverged else ""
    return (
        f"{loss}-loss, learning rate {learning_rate:g}, N = {length}, after {run.iterations[at]} of {_STEPS} "
        f"iterations: accuracy {accuracy:.3f}, a guess has {1 / _NODES:.3f}; entries of V from {V.min():.3g} "
        f"to {V.max():.3g}; largest attention {weights.max():.3f}, at position {1 + weights.argmax()}. "
        f"The average token {tells}.{ended}"
    )


def _fill(image: object, texts: list, values: np.ndarray, digits: str) -> None:
    low, high = values.min(), values.max()
    if high - low <= 1e-9 * max(abs(low), abs(high)):  # one shade for equal entries
        high = low + 1
    image.set(data=values, clim=(low, high))
    middle = (low + high) / 2
    for text, entry in zip(texts, values.ravel()):
        text.set(text=format(entry, digits), color="black" if entry > middle else "white")


def _lay_out_deterministic_failure(figure: Figure, kept: dict) -> None:
    from matplotlib.ticker import MaxNLocator

    (top, average), (bottom, value) = figure.subplots(2, 2, width_ratios=(1, 1.15))
    (kept["curve"],) = top.plot([], [], color=BLUE)
    top.axhline(1, color=BLACK, linestyle="--", linewidth=1.2)
    top.axhline(1 / _NODES, color=BLACK, linestyle=":", linewidth=1.4)
    for level, label in ((1, "best possible"), (1 / _NODES, "a guess")):
        top.text(_STEPS, level - 0.03, label, ha="right", va="top", fontsize=10)
    (kept["now"],) = top.plot([], [], "o", color=VERMILION, markersize=9)
    top.set(xlim=(-1, _STEPS + 1), ylim=(0, 1.06), xlabel="iteration", title="accuracy")
    (kept["attention"],) = bottom.plot([], [], "o", color=VERMILION, markersize=3)
    kept["stems"] = bottom.vlines([1], 0, [0], color=VERMILION, linewidth=0.8)
    bottom.set(xlim=(0, _LENGTH + _NODES + 1), ylim=(0, 0.02), xlabel="position", title="mean attention")
    bottom.set_yticks([0, 0.005, 0.01, 0.015])  # the widest labels, while the layout is worked out
    kept["average"], kept["shares"] = _cells(average, "what V is given: average token", "node", "target")
    kept["value"], kept["entries"] = _cells(value, "value matrix V", "from node", "to node")
    freeze_layout(figure)
    bottom.yaxis.set_major_locator(MaxNLocator(4))


def _cells(axes: Axes, title: str, across: str, down: str) -> tuple[object, list]:
    image = axes.imshow(np.zeros((_NODES, _NODES)))
    texts = [
        axes.text(x, y, "", ha="center", va="center", fontsize=9)
        for y in range(_NODES)
        for x in range(_NODES)
    ]
    axes.set(title=title, xlabel=across, ylabel=down, xticks=range(_NODES))
    axes.set_yticks(range(_NODES))
    axes.grid(False)
    return image, texts
