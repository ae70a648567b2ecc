"""Figures of the three stages of training, and of which set the first one selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from ..dynamics import Trajectory
from ..selection import SelectionMap
from . import _given as given
from .general import matrix
from .information import name_of
from .style import BLACK, COLORS, looks_of, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Subset = tuple[int, ...]


def selector_race(
    runs: Mapping[str, tuple[Trajectory, Sequence[Subset]]], *, span: tuple[float, float]
) -> Figure:
    """Draw the share of each set during Stage I, one panel for each run, over the logarithm of time."""
    runs = given.mapping("runs", runs, _run_and_sets)
    start, end = given.parts("span", span, (check.real, check.real))
    first = max(run.times[0] for run, _ in runs.values())
    last = min(run.times[-1] for run, _ in runs.values())
    if start <= 0 or not first <= start < end <= last:
        check.refuse("span", span, f"two increasing times above 0, from {first:g} to {last:g}")
    times = np.geomspace(start, end, 300)
    with style():
        figure = new_figure(7.2, 3.8)
        panels = figure.subplots(1, len(runs), squeeze=False, sharey=True)[0]
        for axes, (title, (run, sets)) in zip(panels, runs.items()):
            for subset, p in zip(sets, run.at(times).p_S.T):
                color, dashes = looks_of(subset)
                axes.plot(times, p, color=color, linestyle=dashes, label=name_of(subset))
            axes.set(title=title, xlabel="time", xscale="log", ylim=(-0.03, 1.05))
        panels[0].set_ylabel("share $p_S$")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=7, columnspacing=1.2)
    return figure


def selector_log_ratios(
    times: np.ndarray,
    ratios: Mapping[Subset, np.ndarray],
    predicted: Mapping[Subset, float],
) -> Figure:
    """Draw log-ratios of the winner to each other set over time, with lines of predicted slope dashed."""
    times = given.numbers("times", times)
    ratios = given.by_set("ratios", ratios, given.array(len(times), finite=True))
    predicted = given.entries("predicted", predicted, dict.fromkeys(ratios, check.real))
    with style():
        figure = new_figure(7.2, 3.7)
        axes = figure.subplots()
        for subset, values in ratios.items():
            color = looks_of(subset)[0]
            axes.plot(times, values, color=color, label=name_of(subset))
            axes.plot(times, predicted[subset] * times, color=color, linestyle="--", linewidth=1.2)
        axes.set(xlabel="time", ylabel=r"$\log(c_{S^\star}^2 / c_S^2)$")
        axes.set(xlim=(0, times[-1]), ylim=(0, 1.15 * max(v[-1] for v in ratios.values())))
        axes.legend(title="dashed: predicted", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def position_weights(weights: Mapping[str, np.ndarray]) -> Figure:
    """Draw position weights side by side on one scale: a row for each head, a column for each lag."""
    weights = given.mapping("weights", weights, given.array(None, None, finite=True))
    with style():
        figure = new_figure(7.2, 3.9)
        figure.get_layout_engine().set(h_pad=0.1)
        panels = figure.subplots(1, len(weights), squeeze=False)[0]
        low, high = min(w.min() for w in weights.values()), max(w.max() for w in weights.values())
        for axes, (title, w) in zip(panels, weights.items()):
            matrix(axes, w, title=title, labels=("lag", "head"), vmin=low, vmax=high)
            axes.set_xticks(range(w.shape[1]), [str(i + 1) for i in range(w.shape[1])])
            axes.set_yticks(range(w.shape[0]), [str(h + 1) for h in range(w.shape[0])])
    return figure


def classifier_growth(runs: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Draw the growth of a, over time and over its logarithm; each run is its times and values of a."""
    runs = given.mapping("runs", runs, given.curve, most=len(COLORS))
    with style():
        figure = new_figure(7.2, 3.5)
        left, right = figure.subplots(1, 2, sharey=True)
        for color, (label, (times, a)) in zip(COLORS, runs.items()):
            left.plot(times, a, color=color)
            right.plot(times[times > 0], a[times > 0], color=color, label=label)
        left.set(xlabel="time", ylabel="a", ylim=(0, None), title="the whole of Stage III")
        right.set(xlabel="time", xscale="log", title="the same, time in logarithms")
        right.legend(loc="upper left")
    return figure


def classifier_speeds(
    panels: Mapping[str, Mapping[str, tuple[np.ndarray, np.ndarray]]],
    slopes: Mapping[str, Mapping[float, tuple[float, float]]],
    *,
    floor: float = 1e-10,
) -> Figure:
    """Draw the speed of a against a on a logarithmic scale, one panel for each group of curves.

    A curve stops before its speed turns negative, at a cross. `slopes` holds for each
    panel reference slopes, each with the point (a, speed) that its dotted line goes through.
    """
    curves = partial(given.mapping, check_part=given.curve, most=len(COLORS))
    panels = given.mapping("panels", panels, curves)
    slopes = given.some("slopes", slopes, panels, _slopes)
    floor = check.real("floor", floor, 0, 0.5, strict=True)
    with style():
        figure = new_figure(7.2, 3.9)
        columns = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for axes, (title, curves) in zip(columns, panels.items()):
            for color, (label, (a, speed)) in zip(COLORS, curves.items()):
                stop = np.flatnonzero(speed <= 0)
                end = stop[0] if stop.size else len(a)
                axes.plot(a[:end], speed[:end], color=color, label=label)
                if stop.size:
                    axes.plot(a[end - 1], speed[end - 1], "X", color=color, markersize=9)
            for slope, (at, height) in slopes.get(title, {}).items():
                _draw_slope(axes, slope, (at, height), a[-1], floor)
            axes.set(title=title, xlabel="a", yscale="log", ylim=(floor, 1))
        columns[0].set_ylabel("speed of a")
        handles, labels = columns[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _draw_slope(axes: Axes, slope: float, start: tuple[float, float], end: float, floor: float) -> None:
    """Draw a dotted line of a slope, with a label above it, or below where the line leaves the panel."""
    at, height = start
    leaves = at + np.log(floor / height) / slope if slope < 0 < height - floor else end
    x = np.array([at, min(leaves, end)])
    axes.plot(x, height * np.exp(slope * (x - at)), ":", color=BLACK, linewidth=1.4)
    side, offset = ("right", (-4, -12)) if leaves < end else ("left", (4, 4))
    axes.annotate(
        f"slope {slope:g}".replace("-", "−"),
        (x.mean(), height * np.exp(slope * (x.mean() - at))),
        xytext=offset,
        textcoords="offset points",
        ha=side,
        fontsize=10,
    )


def phase_diagram(
    predicted: SelectionMap,
    trained: Sequence[SelectionMap],
    thresholds: np.ndarray,
    *,
    ringed: Sequence[tuple[float, float]] | None = None,
) -> Figure:
    """Draw which set Stage I selects: predicted regions, trained runs as dots, the threshold as a line.

    Runs are dots in the colour of the set that won, one beside the other for several data sets. The
    thresholds belong to the concentrations of `predicted`. `ringed` are points, each a concentration and
    a gap, that get a ring.
    """
    predicted = given.instance(SelectionMap)("predicted", predicted)
    trained = given.each("trained", trained, given.instance(SelectionMap))
    thresholds = given.array(len(predicted.concentrations), finite=True)("thresholds", thresholds)
    ringed = given.optional(partial(given.each, check_part=_point))("ringed", ringed)
    with style():
        figure = new_figure(7.2, 4.6)
        axes = figure.subplots()
        draw_regions(axes, predicted)
        low, high = predicted.concentrations[0], predicted.concentrations[-1]
        step = (high / low) ** (0.011)
        for k, found in enumerate(trained):
            shift = step ** (k - (len(trained) - 1) / 2)
            for i, alpha in enumerate(found.concentrations):
                colors = [looks_of(found.sets[j])[0] for j in found.winners[i]]
                axes.scatter(
                    np.full(found.gaps.size, alpha * shift),
                    found.gaps,
                    s=26,
                    c=colors,
                    edgecolor=BLACK,
                    linewidth=0.7,
                    zorder=3,
                )
        for alpha, gap in ringed or []:
            axes.plot(alpha, gap, "o", fillstyle="none", color=BLACK, markersize=21, markeredgewidth=2)
        axes.plot(predicted.concentrations, thresholds, "--", color=BLACK, label="threshold (3.6)")
        top = max(np.ceil(thresholds.max()), *(found.gaps.max() for found in trained))
        axes.set(xlim=(low / 1.15, high * 1.15), ylim=(0, top + 0.2))
        axes.set(xlabel="Dirichlet concentration α", ylabel="copying gap", xscale="log")
        shown = sorted(
            {m.sets[i] for m in (predicted, *trained) for i in np.unique(m.winners)},
            key=lambda s: (len(s), s),
        )
        handles = [region_patch(subset) for subset in shown] + axes.get_legend_handles_labels()[0]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), columnspacing=1.2)
    return figure


def _run_and_sets(name: str, value: object) -> list:
    run, sets = given.parts(name, value, (given.instance(Trajectory), given.sets))
    return [run, given.sets(f"{name}[1]", sets, run.c.shape[-1])]


def _slopes(name: str, value: object) -> dict[float, list[float]]:
    """Return points by the slope of the line through them."""
    if not isinstance(value, Mapping) or not all(isinstance(x, Real) and np.isfinite(x) for x in value):
        check.refuse(name, value, "a mapping from slopes to points")
    point = partial(given.parts, checks=(check.real, partial(check.real, minimum=0, strict=True)))
    return {slope: point(f"{name}[{slope!r}]", at) for slope, at in value.items()}


def _point(name: str, value: object) -> list[float]:
    """Return a concentration and a copying gap."""
    above_zero = partial(check.real, minimum=0, strict=True)
    return given.parts(name, value, (above_zero, partial(check.real, minimum=0)))


def draw_regions(axes: Axes, predicted: SelectionMap) -> None:
    """Shade each point of a grid in a pale version of the winner's colour."""
    from matplotlib.colors import ListedColormap

    sets = predicted.sets
    colors = ListedColormap([_pale(subset) for subset in sets])
    x = np.log(predicted.concentrations)
    edges_x = np.exp(_edges(x))
    axes.pcolormesh(
        edges_x, _edges(predicted.gaps), predicted.winners.T, cmap=colors, vmin=-0.5, vmax=len(sets) - 0.5
    )
    axes.grid(False)


def region_patch(subset: Subset) -> object:
    """Return what stands for a set in the legend of a diagram."""
    from matplotlib.patches import Patch

    return Patch(facecolor=_pale(subset), edgecolor=looks_of(subset)[0], linewidth=2, label=name_of(subset))


def _pale(subset: Subset) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(0.65 + 0.35 * channel for channel in to_rgb(looks_of(subset)[0]))


def _edges(centres: np.ndarray) -> np.ndarray:
    middle = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])
