"""Figures of random initialization: readings of an experiment, and the time to break a symmetry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..one_layer import OneLayerRun
from . import _given as given
from .style import BLACK, BLUE, GREEN, VERMILION, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CHANCES = ((0.5, BLUE, "p = 0.5"), (1.0, VERMILION, "p = 1"))


def readings(measured: Mapping[str, Mapping[float, Mapping[str, object]]]) -> Figure:
    """Draw the accuracy of every run under each reading, as `figure_six` measures it."""
    measured = given.mapping("measured", measured, partial(_reading, names=["accuracy"]))
    with style():
        rows = -(-len(measured) // 3)
        figure = new_figure(7.6, 0.6 + 2.1 * rows)
        panels = figure.subplots(rows, 3, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, (name, reading) in zip(panels, measured.items()):
            for p, color, _ in _CHANCES:
                axes.axhline(p, color=color, linestyle="--", linewidth=1)
                axes.plot(reading[p]["iterations"], np.transpose(reading[p]["accuracy"]), color=color, lw=1.2)
            axes.set(title=name, ylim=(0, 1.06))
        for axes in panels[len(measured) :]:
            axes.axis("off")
        figure.supxlabel("iteration", fontsize=12)
        figure.supylabel("accuracy", fontsize=12)
        _legend(figure)
    return figure


def accuracy_and_divergence(reading: Mapping[float, Mapping[str, object]]) -> Figure:
    """Draw the accuracy and the divergence of every run under one reading."""
    reading = _reading("reading", reading, ["accuracy", "kl"])
    with style():
        figure = new_figure(7.2, 3.5)
        left, right = figure.subplots(1, 2)
        for p, color, _ in _CHANCES:
            left.axhline(p, color=color, linestyle="--", linewidth=1)
            left.plot(reading[p]["iterations"], np.transpose(reading[p]["accuracy"]), color=color, lw=1.3)
            right.plot(reading[p]["iterations"], np.transpose(reading[p]["kl"]), color=color, lw=1.3)
        left.set(xlabel="iteration", title="accuracy (dashed: best)", ylim=(0, 1.06))
        right.set(xlabel="iteration", title="divergence in nats", ylim=(0, 2.2))
        _legend(figure)
    return figure


def escape_times(measured: Mapping[str, object]) -> Figure:
    """Draw the times that `escape_times` measures against log(1/sigma) and against its square."""
    scales = {"sigmas": given.positive, "walk_sigmas": given.positive}
    n, n_walk = map(len, given.entries("measured", measured, scales).values())
    times = dict.fromkeys(("attention", "accuracy", "sample_accuracy", "law"), given.array(n, None))
    times["walk"] = given.array(n_walk, None)
    measured = given.entries("measured", measured, {**scales, **times})
    with style():
        figure = new_figure(7.6, 4.0)
        panels = figure.subplots(1, 2, sharey=True)
        logs, walk_logs = np.log(1 / measured["sigmas"]), np.log(1 / measured["walk_sigmas"])
        lines = (
            (logs, "attention", VERMILION, "o", "p = 1: attention"),
            (logs, "sample_accuracy", BLACK, "s", "p = 1: accuracy, 1,000 walks"),
            (logs, "accuracy", GREEN, "^", "p = 1: accuracy, population"),
            (walk_logs, "walk", BLUE, "D", "p = 0.5: accuracy"),
        )
        decades = np.arange(2, 2 * np.ceil(logs.max() / np.log(100)) + 1, 2)
        for axes, power in zip(panels, (1, 2)):
            for x, name, color, marker, label in lines:
                times = measured[name]
                median, low, high = np.nanmedian(times, 1), np.nanmin(times, 1), np.nanmax(times, 1)
                bars = (median - low, high - median)
                axes.errorbar(
                    x**power, median, bars, color=color, marker=marker, capsize=3, lw=1.5, label=label
                )
            scales = axes.secondary_xaxis("top")
            scales.set_xticks((decades * np.log(10)) ** power, [f"$10^{{-{n:.0f}}}$" for n in decades])
            scales.set_xlabel("σ")
            law = np.median(measured["law"], axis=1)
            axes.plot(
                logs**power, law, color=VERMILION, linestyle="--", lw=1.5, label="law, from the start alone"
            )
        panels[0].set(xlabel="log(1/σ)", ylabel="iterations", ylim=(0, None))
        panels[1].set(xlabel="log(1/σ) squared")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def chosen_columns(runs: Mapping[str, OneLayerRun]) -> Figure:
    """Draw the attention on each column after training; the class of the largest is in another colour.

    One panel for each of up to three runs on the deterministic walk. Columns K apart are one lag class.
    """
    runs = given.mapping("runs", runs, given.instance(OneLayerRun), most=3)
    with style():
        figure = new_figure(7.2, 0.7 + 1.6 * len(runs))
        panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, (label, run) in zip(panels, runs.items()):
            n_nodes, weights = run.value.shape[1], run.attention[-1, :-1]
            columns = np.arange(1, len(weights) + 1)
            best = int(weights.argmax()) + 1
            same = (columns - best) % n_nodes == 0
            for part, color, marker in ((~same, BLUE, "."), (same, VERMILION, "o")):
                axes.vlines(columns[part], 0, weights[part], color=color, linewidth=2)
                axes.plot(columns[part], weights[part], marker, color=color, markersize=4)
            lag_class = (len(weights) + 1 - best) % n_nodes
            axes.set(title=f"{label}: lag class {lag_class}, most on column {best}", ylim=(-0.04, 1.08))
        panels[-1].set(xlim=(0, len(weights) + 1), xlabel="column")
        figure.supylabel("attention", fontsize=12)
    return figure


def _reading(name: str, value: object, names: Sequence[str]) -> dict[float, dict[str, np.ndarray]]:
    over = partial(_over_iterations, names=names)
    return given.entries(name, value, {p: over for p, *_ in _CHANCES})


def _over_iterations(name: str, value: object, names: Sequence[str]) -> dict[str, np.ndarray]:
    axis = {"iterations": given.numbers}
    n = len(given.entries(name, value, axis)["iterations"])
    return given.entries(name, value, {**axis, **dict.fromkeys(names, given.array(None, n))})


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=color, label=label) for _, color, label in _CHANCES]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
