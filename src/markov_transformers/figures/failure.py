"""Figures of the deterministic walk and of the transformer that does not learn it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from ..one_layer import OneLayerRun
from ..symmetry import SymmetricSolution
from . import _given as given
from .general import matrix
from .style import BLACK, BLUE, COLORS, VERMILION, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def failed_training(run: OneLayerRun) -> Figure:
    """Draw a run as the paper's Figure 5 does: accuracy, the value matrix, the attention."""
    run = given.instance(OneLayerRun)("run", run)
    n_nodes, n = run.value.shape[1], run.attention.shape[1]
    with style():
        figure = new_figure(7.2, 5.6)
        grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.1))
        left, right = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])
        below = figure.add_subplot(grid[1, :])
        left.plot(run.iterations, run.accuracy, "o-", color=BLUE, markersize=4)
        left.axhline(1, color=BLACK, linestyle="--", linewidth=1.4)
        left.axhline(1 / n_nodes, color=VERMILION, linestyle=":", linewidth=1.8)
        left.text(run.iterations[-1], 1 / n_nodes + 0.05, "a guess", ha="right", color=VERMILION)
        left.text(run.iterations[-1], 0.88, "best possible", ha="right")
        left.set(ylim=(0, 1.05), xlabel="iteration", title="(a) test accuracy")
        V = run.value[-1]
        limits = {"vmin": 0, "vmax": 1.2 * V.max()}
        matrix(right, V, title="(b) value matrix V", labels=("from node", "to node"), **limits)
        weights = run.attention[-1]
        position = np.arange(1, n + 1)
        below.vlines(position, 0, weights, color=BLUE, linewidth=2)
        below.plot(position, weights, "o", color=BLUE, markersize=4)
        below.set(ylim=(0, 2 / n), xlim=(0, n + 1), xlabel="position", title="(c) mean attention")
    return figure


def loss_and_accuracy(runs: Mapping[str, OneLayerRun]) -> Figure:
    """Draw training losses as shares of where they started, and the accuracies of up to five runs."""
    runs = given.mapping("runs", runs, given.instance(OneLayerRun), most=5)
    with style():
        figure = new_figure(7.2, 3.6)
        left, right = figure.subplots(1, 2)
        for color, mark, (label, run) in zip(COLORS, "osv^D", runs.items()):
            look = {"color": color, "marker": mark, "markersize": 4, "markevery": 6, "label": label}
            left.plot(run.iterations, run.loss / run.loss[0], **look)
            right.plot(run.iterations, run.accuracy, **look)
        left.axhline(0, color=BLACK, linewidth=1)
        left.set(xlabel="iteration", title="training loss (start = 1)")
        right.set(xlabel="iteration", title="accuracy", ylim=(0, 1))
        level = max(run.accuracy.max() for run in runs.values())
        right.text(0.5, level + 0.05, "all of them", ha="center", transform=right.get_yaxis_transform())
        left.legend(fontsize=10)
    return figure


def accuracy_over_lengths(
    lengths: Sequence[int], accuracies: Mapping[str, Sequence[float]], n_nodes: int
) -> Figure:
    """Draw up to three accuracies over the length N; lengths with N - 1 divisible by K are shaded."""
    lengths, n_nodes = given.sizes("lengths", lengths), check.integer("n_nodes", n_nodes, minimum=1)
    accuracies = given.mapping("accuracies", accuracies, given.array(len(lengths)), most=3)
    with style():
        figure = new_figure(7.2, 3.4)
        axes = figure.subplots()
        for n in lengths:
            if (n - 1) % n_nodes == 0:
                axes.axvspan(n - 0.4, n + 0.4, color="0.88", zorder=0)
        for color, mark, size, (label, accuracy) in zip(COLORS, "osv", (10, 5, 4), accuracies.items()):
            axes.plot(lengths, accuracy, mark, color=color, markersize=size, label=label)
        axes.axhline(1 / n_nodes, color=BLACK, linestyle=":", linewidth=1.4)
        axes.set(ylim=(0, 1.08), xlabel="length N (shaded: K divides N − 1)", ylabel="accuracy")
        axes.set_xticks(list(lengths)[:: 1 + len(lengths) // 16])
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=0.2)
    return figure


def broken_symmetry(
    runs: Mapping[str, OneLayerRun],
    predictions: Mapping[str, tuple[np.ndarray, np.ndarray]],
    *,
    until: int = 25,
) -> Figure:
    """Draw the accuracy of up to four runs, and on a log scale how far attention is from even.

    Runs whose attention is exactly even appear on the left only. Predictions are dashed. Both panels
    end at iteration `until`.
    """
    runs = given.mapping("runs", runs, given.instance(OneLayerRun), most=4)
    predictions = given.some("predictions", predictions, runs, given.curve)
    until = check.real("until", until, 0, strict=True)
    with style():
        figure = new_figure(7.2, 4.0)
        left, right = figure.subplots(1, 2)
        for color, mark, (label, run) in zip(COLORS, "osv^", runs.items()):
            left.plot(run.iterations, run.accuracy, mark + "-", color=color, markersize=4, label=label)
            uneven = relative_spread(run)
            seen = uneven > 0
            if seen.any():
                right.plot(run.iterations[seen], uneven[seen], mark, color=color, markersize=5)
            if label in predictions:
                right.plot(*predictions[label], "--", color=color, linewidth=1.4)
        left.set(xlabel="iteration", title="accuracy", ylim=(0, 1.05))
        right.set(xlabel="iteration", title="unevenness of attention", yscale="log", ylim=(1e-15, 1e3))
        for axes in (left, right):
            axes.set_xlim(-0.02 * until, until)
        left.legend(loc="center right", fontsize=10)
    return figure


def relative_spread(run: OneLayerRun) -> np.ndarray:
    """Return the difference of the largest and the smallest attention on a token, over their mean."""
    run = given.instance(OneLayerRun)("run", run)
    weights = run.attention[:, :-1]  # (T, N - 1)
    return np.ptp(weights, axis=1) / weights.mean(axis=1)


def two_numbers(solutions: Mapping[str, SymmetricSolution]) -> Figure:
    """Draw the symmetric solution: the entry of V, and the attention on the empty column."""
    solutions = given.mapping("solutions", solutions, given.instance(SymmetricSolution), most=len(COLORS))
    with style():
        figure = new_figure(7.2, 3.3)
        left, right = figure.subplots(1, 2)
        for color, (label, solution) in zip(COLORS, solutions.items()):
            left.plot(solution.iterations[1:], solution.value[1:], color=color, label=label)
            right.plot(solution.iterations, solution.empty, color=color, label=label)
        left.set(xlabel="iteration", title="every entry of V", yscale="log")
        right.set(xlabel="iteration", title="attention on the empty column")
        left.legend()
    return figure
