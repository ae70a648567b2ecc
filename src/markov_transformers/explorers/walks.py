"""The explorer that trains the one-layer transformer on a walk."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..explorer import Explorer, Slider
from ..figures.style import BLACK, BLUE, VERMILION, freeze_layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..one_layer import OneLayerRun

_NODES, _LENGTH, _WALKS, _STEPS = 6, 97, 1000, 50  # the paper's experiment


def learning_the_walk() -> Explorer:
    """Return the explorer that trains the one-layer transformer on a walk.

    Examples
    --------
    >>> figure, description = learning_the_walk().render(p=0.5, iteration=10)
    >>> description[:44]
    'p = 0.5, learning rate 1, after 10 of 50 ite'
    """
    shown = [0, 1, 2, 3, 10, 50]
    return Explorer(
        _draw_learning_the_walk,
        {
            "p": Slider("step up p", np.arange(0.1, 0.91, 0.1), start=0.7, page=[0.5, 0.7, 0.9]),
            "learning_rate": Slider("learning rate η", [0.03, 0.1, 0.3, 1, 3], start=1, page=[0.03, 1]),
            "iteration": Slider("iteration", range(_STEPS + 1), start=3, page=shown, play=True),
        },
        name="learning-the-walk",
        title="Learning the walk: 6 nodes, 1,000 walks of length 97",
        presets={
            "One step taken": {"iteration": 1},
            "The parent is found": {"iteration": 2},
            "Theorem 3.1": {"p": 0.5, "iteration": 50},
            "A small rate": {"learning_rate": 0.03, "iteration": 50},
        },
        size=(7.2, 4.6),
    )


@lru_cache(maxsize=64)
def _walk_run(p: float, learning_rate: float) -> OneLayerRun:
    from ..one_layer import OneLayerModel
    from ..walks import CircleWalk

    walk = CircleWalk(_NODES, p)
    train, test = (walk.sample(_WALKS, _LENGTH, rng=seed) for seed in (0, 1))
    model = OneLayerModel(_NODES, _LENGTH)
    return model.train(train, learning_rate=learning_rate, steps=_STEPS, test=test)


def _draw_learning_the_walk(figure: Figure, p: float, learning_rate: float, iteration: int) -> str:
    run = _walk_run(p, learning_rate)
    kept = figure.artists_kept
    if not kept:
        _lay_out_learning_the_walk(figure, kept)
    V, weights = run.value[iteration], run.attention[iteration]
    best = max(p, 1 - p)
    kept["curve"].set_data(run.iterations, run.accuracy)
    kept["best"].set_ydata([best, best])
    kept["now"].set_data([iteration], [run.accuracy[iteration]])
    position = np.arange(1, _LENGTH + 1)
    kept["attention"].set_data(position, weights)
    kept["stems"].set_segments([[(i, 0), (i, w)] for i, w in zip(position, weights)])
    low, high = V.min(), max(V.max(), V.min() + 1e-12)
    kept["value"].set(data=V, clim=(low, high))
    for text, entry in zip(kept["entries"], V.ravel()):
        text.set(text=f"{entry:.2f}", color="black" if entry > (low + high) / 2 else "white")
    parent = weights[_LENGTH - 2]
    found = "It has found the parent." if parent > 0.9 else "It has not found the parent yet."
    return (
        f"p = {p:g}, learning rate {learning_rate:g}, after {iteration} of {_STEPS} iterations: "
        f"test accuracy {run.accuracy[iteration]:.3f} of at most {best:g}; "
        f"attention on the last token {parent:.3f}; "
        f"entries of V from {V.min():.2f} to {V.max():.2f}. {found}"
    )


def _lay_out_learning_the_walk(figure: Figure, kept: dict) -> None:
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.15))
    top, bottom = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    right = figure.add_subplot(grid[:, 1])
    (kept["curve"],) = top.plot([], [], color=BLUE)
    kept["best"] = top.axhline(0, color=BLACK, linestyle="--", linewidth=1.2)
    (kept["now"],) = top.plot([], [], "o", color=VERMILION, markersize=9)
    top.set(xlim=(-1, _STEPS + 1), ylim=(0, 1), xlabel="iteration", title="accuracy (dashed: best)")
    (kept["attention"],) = bottom.plot([], [], "o", color=VERMILION, markersize=4)
    kept["stems"] = bottom.vlines([1], 0, [0], color=VERMILION)
    bottom.set(xlim=(0, _LENGTH + 2), ylim=(-0.03, 1.06), xlabel="position", title="mean attention")
    kept["value"] = right.imshow(np.zeros((_NODES, _NODES)))
    kept["entries"] = [
        right.text(x, y, "", ha="center", va="center", fontsize=10)
        for y in range(_NODES)
        for x in range(_NODES)
    ]
    right.set(xlabel="from node", ylabel="to node", title="value matrix V", xticks=range(_NODES))
    right.set_yticks(range(_NODES))
    right.grid(False)
    freeze_layout(figure)
