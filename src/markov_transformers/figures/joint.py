"""Figures of training everything at once, with and without query, key and value matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from ..dynamics import Trajectory
from . import _given as given
from .information import name_of
from .style import BLACK, BLUE, COLORS, VERMILION, looks_of, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Subset = tuple[int, ...]


def time_scales(times: np.ndarray, selector: np.ndarray, copier: np.ndarray, a: np.ndarray) -> Figure:
    """Draw how far selector and copier are from done, and the classifier's scale, over log time.

    Parameters
    ----------
    times : array, shape (n_times,)
    selector : array, shape (n_times,)
        One less the share of the set that is selected.
    copier : array, shape (n_times,)
        One less the product of its heads' squared attention on their own lags.
    a : array, shape (n_times,)
    """
    times = given.positive("times", times)
    over_time = given.array(len(times))
    selector, copier = over_time("selector", selector), over_time("copier", copier)
    a = over_time("a", a)
    with style():
        figure = new_figure(7.2, 3.6)
        left, right = figure.subplots(1, 2)
        left.plot(times, np.maximum(selector, 1e-6), color=BLUE, label="selector")
        left.plot(times, copier, color=VERMILION, linestyle="--", label="copier")
        left.set(xscale="log", yscale="log", ylim=(1e-4, 1.5), xlabel="time", title="what is left to learn")
        left.legend(loc="upper right")
        right.plot(times, a, color=BLACK)
        right.set(xscale="log", xlabel="time", title="scale a of the classifier")
    return figure


def joint_shares(runs: Mapping[str, Trajectory], sets: Sequence[Subset], *, scale: str = "log") -> Figure:
    """Draw the share of each set over time, one panel for each run, at most two in a row.

    Parameters
    ----------
    runs : mapping of str to Trajectory
        By title.
    sets : sequence of tuple of int
        The sets in the order of c. Sets with block 0, the input itself, are drawn as one curve.
    scale : {'log', 'linear'}, default 'log'
        Of the time axis.
    """
    runs = given.mapping("runs", runs, _over_time)
    for run in runs.values():
        sets = given.sets("sets", sets, run.c.shape[-1])
    scale = given.scale("scale", scale)
    with style():
        rows = -(-len(runs) // 2)
        figure = new_figure(7.2, 2.5 * rows + 0.9)
        panels = figure.subplots(rows, min(2, len(runs)), squeeze=False, sharey=True)
        for axes in panels.flat[len(runs) :]:
            axes.set_visible(False)
        for axes, (title, run) in zip(panels.flat, runs.items(), strict=False):
            draw_shares(axes, run.times, run.p_S, sets)
            axes.set(title=title, xscale=scale)
            if scale == "log":
                axes.set_xlim(run.times[1], run.times[-1])
        for axes in panels[-1]:
            axes.set_xlabel("time")
        for axes in panels[:, 0]:
            axes.set_ylabel("share $p_S$")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, columnspacing=1.2)
    return figure


def _over_time(name: str, value: object) -> Trajectory:
    run = given.instance(Trajectory)(name, value)
    if run.times.size < 2:
        raise ValueError(f"{name} must run over two times or more, got {run}")
    return run


def draw_shares(axes: Axes, x: np.ndarray, p: np.ndarray, sets: Sequence[Subset]) -> None:
    """Draw shares, shape (n, n_sets), over x."""
    for index, subset in enumerate(sets):
        if 0 not in subset:
            color, dashes = looks_of(subset)
            axes.plot(x, p[:, index], color=color, linestyle=dashes, label=name_of(subset))
    dead = [index for index, subset in enumerate(sets) if 0 in subset]
    if p[:, dead].any():
        axes.plot(x, p[:, dead].sum(axis=1), color="0.75", linestyle="-.", label="with the input")
    axes.set_ylim(-0.03, 1.05)


def joint_summary(run: Trajectory, sets: Sequence[Subset], *, learning_rate: float) -> Figure:
    """Draw a run as Figure 5 of Chen et al. does: loss, shares, position weights and scale over steps."""
    run = _over_time("run", run)
    sets = given.sets("sets", sets, run.c.shape[-1])
    learning_rate = check.real("learning_rate", learning_rate, 0, strict=True)
    steps = run.times / learning_rate
    with style():
        figure = new_figure(7.2, 6.2)
        (loss, shares), (weights, scale) = figure.subplots(2, 2)
        loss.plot(steps, run.loss, color=BLACK)
        loss.set(title="loss", xlabel="step")
        draw_shares(shares, steps, run.p_S, sets)
        shares.set(title="share $p_S$", xlabel="step")
        scale.plot(steps, run.a, color=BLACK)
        scale.set(title="scale a", xlabel="step")
        heads, window = run.w.shape[1:]
        for head in range(heads):
            place = np.arange(1, window + 1) + 0.25 * (head - (heads - 1) / 2)
            weights.bar(place, run.w[-1, head], width=0.22, color=COLORS[head], label=f"head {head + 1}")
            weights.hlines(run.w[0, head], place - 0.11, place + 0.11, color=BLACK, linewidth=1.5)
        weights.set(title="position weights (bar: start)", xlabel="lag", xticks=range(1, window + 1))
        weights.margins(y=0.3)
        weights.legend(loc="upper right", ncols=heads, fontsize=9, columnspacing=0.8, handlelength=1)
        weights.grid(axis="x", visible=False)
        handles, labels = shares.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=7, columnspacing=1.0)
    return figure


def projections(rows: Mapping[str, Mapping[str, np.ndarray]]) -> Figure:
    """Draw small matrices with three decimals on one scale, a row of panels for each entry of `rows`.

    Parameters
    ----------
    rows : mapping of str to mapping of str to array, shape (d, d)
        Title of a row, then name of a matrix; as many in each row.
    """
    rows = given.mapping("rows", rows, partial(given.mapping, check_part=given.square))
    if len(set(map(len, rows.values()))) > 1:
        check.refuse("rows", rows, "rows of equally many matrices")
    with style():
        width = max(len(matrices) for matrices in rows.values())
        figure = new_figure(7.2, 2.6 * len(rows))
        panels = figure.subplots(len(rows), width, squeeze=False)
        largest = max(np.abs(m).max() for matrices in rows.values() for m in matrices.values())
        for line, (title, matrices) in zip(panels, rows.items(), strict=True):
            for axes, (name, values) in zip(line, matrices.items(), strict=True):
                image = axes.imshow(values, cmap="RdBu", vmin=-largest, vmax=largest)
                for (i, j), value in np.ndenumerate(values):
                    color = "white" if abs(value) > 0.6 * largest else "black"
                    text = f"{round(value, 3) + 0:.3f}".replace("-", "−")
                    axes.text(j, i, text, ha="center", va="center", color=color, fontsize=9)
                axes.set(title=name, xticks=[], yticks=[])
                axes.grid(False)
            line[0].set_ylabel(title)
        figure.colorbar(image, ax=panels, shrink=0.6, aspect=30)
    return figure
