"""Figures of the walk on the circle and of the transformer that learns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from ..one_layer import OneLayerRun
from ..walks import CircleWalk
from . import _given as given
from .general import matrix
from .style import BLUE, COLORS, GREEN, VERMILION, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def circle(n_nodes: int, p: float) -> Figure:
    """Draw the walk on the circle: nodes, and the two steps from one of them."""
    walk = CircleWalk(n_nodes, p)
    n_nodes, p = walk.n_nodes, walk.p
    with style():
        figure = new_figure(4.6, 4.2)
        axes = figure.subplots()
        axes.set_aspect("equal")
        axes.axis("off")
        axes.set(xlim=(-1.45, 1.45), ylim=(-1.35, 1.35))
        angle = np.pi / 2 - 2 * np.pi * np.arange(n_nodes) / n_nodes
        x, y = np.cos(angle), np.sin(angle)
        turn = np.linspace(0, 2 * np.pi, 200)
        axes.plot(np.cos(turn), np.sin(turn), color="0.8", zorder=0)
        axes.scatter(x, y, s=900, color="white", edgecolor=BLUE, linewidth=2.2, zorder=2)
        axes.scatter(x[:1], y[:1], s=900, color=BLUE, zorder=3)
        for node in range(n_nodes):
            color = "white" if node == 0 else "black"
            axes.text(
                x[node], y[node], str(node), ha="center", va="center", color=color, fontsize=15, zorder=4
            )
        for end, bend, color, text, side in (
            (1, -0.45, VERMILION, f"p = {p:g}", 1),
            (n_nodes - 1, 0.45, GREEN, f"1 − p = {1 - p:g}", -1),
        ):
            axes.annotate(
                "",
                (x[end], y[end]),
                (x[0], y[0]),
                arrowprops={
                    "arrowstyle": "-|>,head_width=0.4,head_length=0.7",
                    "connectionstyle": f"arc3,rad={bend}",
                    "color": color,
                    "linewidth": 2.2,
                    "shrinkA": 17,
                    "shrinkB": 17,
                },
            )
            axes.text(side * 0.98, 1.08, text, ha="center", color=color, fontsize=14)
    return figure


def cover(run: OneLayerRun, iterations: int = 8, positions: int = 13) -> Figure:
    """Draw how a run finds the parent (attention over iterations) and what it then knows (V).

    Shades of attention are logarithmic, so that an even share of all positions is not the darkest.
    """
    from matplotlib.colors import LogNorm

    run = given.instance(OneLayerRun)("run", run)
    iterations = check.integer("iterations", iterations, minimum=1)
    positions = check.integer("positions", positions, 1, run.attention.shape[1])
    with style():
        figure = new_figure(7.8, 3.8)
        left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
        n = run.attention.shape[1]
        shown = run.attention[: iterations + 1, n - positions :]
        image = left.imshow(
            np.maximum(shown, 1e-4),
            aspect="auto",
            norm=LogNorm(1e-4, 1),
            extent=(n - positions + 0.5, n + 0.5, iterations + 0.5, -0.5),
        )
        left.set(title="attention", xlabel=f"position ({n - 1}: last node, {n}: empty)", ylabel="steps taken")
        left.set_xticks(range(n - 1, n - positions, -3))
        left.grid(False)
        figure.colorbar(image, ax=left, fraction=0.06, extend="min")
        matrix(right, run.value[-1], title="value matrix V", labels=("from node", "to node"))
    return figure


def walks(tokens: np.ndarray, n_nodes: int, titles: Sequence[str]) -> Figure:
    """Draw walks as paths of nodes over time, one panel each."""
    n_nodes = check.integer("n_nodes", n_nodes, minimum=1)
    tokens = check.token_array("tokens", tokens, n_nodes)
    titles = given.words("titles", titles, len(tokens))
    with style():
        figure = new_figure(7.2, 1.5 * len(tokens) + 0.6)
        panels = figure.subplots(len(tokens), 1, sharex=True, squeeze=False)[:, 0]
        for axes, path, title in zip(panels, tokens, titles):
            axes.plot(np.arange(1, len(path) + 1), path, ".-", color=BLUE, linewidth=1)
            axes.set(ylabel="node", title=title, yticks=range(0, n_nodes, 1 + n_nodes // 7))
        panels[-1].set_xlabel("position in the sequence")
    return figure


def accuracy(runs: Mapping[str, OneLayerRun], optimal: Mapping[str, float]) -> Figure:
    """Draw the test accuracy of runs over iterations, with the best possible accuracies dashed."""
    runs = given.mapping("runs", runs, given.instance(OneLayerRun), most=len(COLORS))
    optimal = given.entries("optimal", optimal, dict.fromkeys(runs, check.real))
    with style():
        figure = new_figure(7.2, 3.4)
        axes = figure.subplots()
        for color, (label, run) in zip(COLORS, runs.items()):
            axes.plot(run.iterations, run.accuracy, "o-", color=color, markersize=4, label=label)
            axes.axhline(optimal[label], color=color, linestyle="--", linewidth=1.4)
        axes.set(xlabel="iteration", ylabel="accuracy", ylim=(0, 1))
        axes.legend(loc="lower right", title="dashed: best possible")
    return figure


def attention(runs: Mapping[str, OneLayerRun], zoom: int = 8) -> Figure:
    """Draw the mean attention after training, of up to three runs: all positions, and the last ones."""
    runs = given.mapping("runs", runs, given.instance(OneLayerRun), most=3)
    zoom = check.integer("zoom", zoom, 1, max(run.attention.shape[1] for run in runs.values()))
    with style():
        figure = new_figure(7.2, 3.4)
        whole, end = figure.subplots(1, 2, width_ratios=(3, 2), sharey=True)
        for shift, color, (label, run) in zip((-0.15, 0.15, 0.3), COLORS, runs.items()):
            weights = run.attention[-1]
            position = np.arange(1, len(weights) + 1)
            for axes in (whole, end):
                axes.vlines(position + shift, 0, weights, color=color, linewidth=2.2)
                axes.plot(position + shift, weights, "o", color=color, markersize=4, label=label)
        n = run.attention.shape[1]
        whole.set(xlabel="position", ylabel="mean attention", ylim=(-0.02, 1.05), title="all positions")
        end.set(xlabel="position", xlim=(n - zoom + 0.4, n + 0.6), title="the last ones")
        end.set_xticks(range(n - zoom + 1, n + 1))
        end.tick_params(axis="x", rotation=60)
        whole.legend(loc="upper left")
    return figure
