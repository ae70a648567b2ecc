"""Figures of what sets of lags tell about the next token, and of what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from . import _given as given
from .style import BLACK, BLUE, COLORS, SKY, VERMILION, looks_of, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Subset = tuple[int, ...]


def name_of(subset: Subset) -> str:
    """Return a set of lags as it is written in the book."""
    return "{" + ", ".join(map(str, subset)) + "}" if subset else "∅"


def lag_dots(axes: Axes, subsets: Sequence[Subset], parents: Subset | None = None) -> None:
    """Draw which lags each column's set holds, as a grid of dots; the parents' column is shaded."""
    window = max(map(max, subsets))
    grid = [(i, lag, lag in subset) for i, subset in enumerate(subsets) for lag in range(1, window + 1)]
    axes.vlines(range(len(subsets)), [s[0] for s in subsets], [s[-1] for s in subsets], color=BLACK)
    axes.plot(*zip(*((i, lag) for i, lag, inside in grid if not inside)), "o", color="0.85", zorder=1)
    axes.plot(*zip(*((i, lag) for i, lag, inside in grid if inside)), "o", color=BLACK)
    if parents in subsets:
        axes.axvspan(subsets.index(parents) - 0.5, subsets.index(parents) + 0.5, color="0.9", zorder=0)
    axes.set(xlim=(-0.6, len(subsets) - 0.4), ylim=(window + 0.6, 0.4), xticks=[])
    axes.set_yticks(range(1, window + 1), [f"lag {lag}" for lag in range(1, window + 1)])
    axes.tick_params(length=0)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def subset_bars(
    panels: Mapping[str, Mapping[Subset, float]],
    *,
    parents: Subset | None = None,
    marked: Sequence[Subset] | None = None,
) -> Figure:
    """Draw one number for each set of lags, as bars over a grid of dots that spells the sets.

    In each panel the largest value and its ties stand out, or the sets in `marked` if given.
    """
    panels = given.mapping("panels", panels, partial(given.by_set, check_part=check.real))
    sets = dict.fromkeys(next(iter(panels.values())), check.real)
    if not any(sets):
        check.refuse("panels", panels, "values of at least one set of lags")
    panels = given.mapping("panels", panels, partial(given.entries, checks=sets))
    parents = given.optional(given.subset)("parents", parents)
    marked = given.optional(partial(given.known, names=sets))("marked", marked)
    subsets = sorted(filter(None, sets), key=lambda s: (len(s), s))
    window = max(map(max, subsets))
    with style():
        figure = new_figure(7.2, 1.9 * len(panels) + 0.26 * window + 0.3)
        ratios = [1.6] * len(panels) + [0.26 * window]
        *rows, below = figure.subplots(len(panels) + 1, 1, height_ratios=ratios, sharex=True)
        for axes, (title, values) in zip(rows, panels.items()):
            heights = np.array([values[subset] for subset in subsets])
            if marked is None:
                stand_out = heights >= heights.max() * (1 - 1e-9)
            else:
                stand_out = np.array([subset in marked for subset in subsets])
            axes.bar(range(len(subsets)), heights, color=np.where(stand_out, VERMILION, SKY), width=0.72)
            if parents in subsets:
                at = subsets.index(parents)
                axes.axvspan(at - 0.5, at + 0.5, color="0.9", zorder=0)
            axes.set_title(title, loc="left")
            axes.grid(axis="x", visible=False)
            axes.tick_params(axis="x", length=0)
        lag_dots(below, subsets, parents)
    return figure


def exchange(chi2: Mapping[Subset, float], vocab_size: int, *, parents: Subset | None = None) -> Figure:
    """Draw sets in the plane of size and information, with lines along which the exchange is even."""
    chi2 = given.by_set("chi2", chi2, check.real)
    vocab_size = check.integer("vocab_size", vocab_size, minimum=2)
    parents = given.optional(given.subset)("parents", parents)
    sets = [subset for subset, value in chi2.items() if subset and value > 1e-9]
    if not sets:
        check.refuse("chi2", chi2, "the information of at least one set of lags that tells something")
    size = np.array([len(subset) for subset in sets])
    height = np.log([chi2[subset] for subset in sets]) / np.log(vocab_size)
    score = height - size
    best = int(score.argmax())
    with style():
        figure = new_figure(7.2, 4.0)
        axes = figure.subplots()
        x = np.array([0.6, max(size) + 0.9])
        low, high = height.min() - 0.5, height.max() + 0.5
        for offset in np.arange(np.floor(low - x[1]), np.ceil(high - x[0]) + 0.1, 0.5):
            axes.plot(x, x + offset, color="0.85", linewidth=1, zorder=0)
        axes.plot(x, x + score[best], color=VERMILION, linestyle="--", linewidth=1.8, zorder=1)
        for i, subset in enumerate(sets):
            color = VERMILION if i == best else BLUE
            axes.plot(size[i], height[i], "s" if subset == parents else "o", color=color, markersize=9)
        for group in _close_together(size, height):
            names = [name_of(sets[i]) for i in group]
            per_line = 2 if size[group[0]] < 3 else 1
            lines = [", ".join(names[i : i + per_line]) for i in range(0, len(names), per_line)]
            at = size[group[0]], height[group[0]]
            axes.annotate("\n".join(lines), at, (9, 0), textcoords="offset points", va="center", fontsize=10)
        axes.set(xlim=x, ylim=(low, high), xticks=range(1, max(size) + 1))
        axes.set(xlabel="number of lags |S|", ylabel=f"log of the information, base {vocab_size}")
        axes.grid(False)
    return figure


def winner_maps(
    maps: Mapping[str, Mapping[Subset, np.ndarray]],
    side: np.ndarray,
    *,
    labels: tuple[str, str],
    point: tuple[float, float],
) -> Figure:
    """Draw which set has the largest value over a square, one panel each, with one point marked.

    The values of a set run over the points of the square, row by row from below.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    side = given.numbers("side", side)
    if len(side) < 2 or np.diff(side).min() <= 0:
        check.refuse("side", side, "increasing numbers, at least two")
    on_square = given.array(len(side) ** 2, finite=True)
    maps = given.mapping("maps", maps, partial(given.by_set, check_part=on_square))
    labels = given.words("labels", labels, 2)
    point = given.parts("point", point, (check.real, check.real))
    grids = {title: _winners(values).reshape(len(side), -1) for title, values in maps.items()}
    sets = {title: list(values) for title, values in maps.items()}
    found = {sets[title][i] for title, grid in grids.items() for i in np.unique(grid)}
    shown = sorted(found, key=lambda s: (len(s), s))
    palette = [looks_of(subset)[0] for subset in shown]
    step = side[1] - side[0]
    extent = (side[0] - step / 2, side[-1] + step / 2) * 2
    with style():
        figure = new_figure(7.2, 4.1)
        panels = figure.subplots(1, len(maps), squeeze=False, sharey=True)[0]
        for axes, (title, grid) in zip(panels, grids.items()):
            number = np.vectorize(lambda i, names=sets[title]: shown.index(names[i]))(grid)
            colors = ListedColormap(palette)
            axes.imshow(number, origin="lower", extent=extent, cmap=colors, vmin=-0.5, vmax=len(shown) - 0.5)
            axes.plot(*point, "o", color="white", markeredgecolor=BLACK, markersize=9)
            axes.set(title=title, xlabel=labels[0], xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
            axes.grid(False)
        panels[0].set_ylabel(labels[1])
        handles = [Patch(color=color, label=name_of(s)) for color, s in zip(palette, shown)]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(shown))
    return figure


def selection_over_concentration(
    concentrations: np.ndarray,
    values: Sequence[Mapping[Subset, np.ndarray]],
    *,
    parents: Subset,
    averaged: Sequence[Subset],
    counted: Sequence[Subset],
) -> Figure:
    """Draw averages over a prior for some sets, and the share of single chains that each set wins.

    `values` holds, for each concentration, one value of each set for each chain. Averages are
    relative to the parents'. Chains in which no set has a value above 1e-9 are not counted.
    """
    concentrations = given.positive("concentrations", concentrations)
    values = given.each("values", values, _of_chains, len(concentrations))
    sets = [subset for subset in values[0] if all(subset in at for at in values)]
    parents = given.subset("parents", parents, sets)
    averaged = given.known("averaged", averaged, sets, least=1)
    counted = given.known("counted", counted, sets, least=1)
    if len({*averaged, *counted}) > len(COLORS):
        check.refuse("counted", counted, f"at most {len(COLORS)} sets, together with those averaged")
    averages = {s: np.array([v[s].mean() / v[parents].mean() for v in values]) for s in averaged}
    shares = {s: np.zeros(len(values)) for s in counted}
    for i, at in enumerate(values):
        winners = _winners(at, parents)[np.max(list(at.values()), axis=0) > 1e-9]
        for subset in counted:
            shares[subset][i] = np.mean(winners == list(at).index(subset))
    with style():
        figure = new_figure(7.2, 6.0)
        top, bottom = figure.subplots(2, 1, sharex=True)
        for subset, values_of in averages.items():
            color, dashes = looks_of(subset)
            top.plot(concentrations, values_of, dashes, color=color, label=name_of(subset))
        top.set_title("average over chains, relative to the parents", loc="left")
        top.set(xscale="log", ylim=(0, 1.15))
        top.legend(loc="lower left", ncols=2)
        rest = np.clip(1 - sum(shares.values()), 0, 1)
        bottom.stackplot(
            concentrations,
            *shares.values(),
            rest,
            colors=[*(looks_of(subset)[0] for subset in counted), "0.7"],
            labels=[*map(name_of, counted), "others"],
        )
        bottom.set_title("share of single chains that each set wins", loc="left")
        bottom.set(
            xlabel="Dirichlet concentration α", ylim=(0, 1), xlim=(concentrations[0], concentrations[-1])
        )
        bottom.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def information_scatter(
    chi2: Mapping[Subset, np.ndarray], shannon: Mapping[Subset, np.ndarray], shown: Sequence[Subset]
) -> Figure:
    """Draw Shannon's information against the chi-squared one, a point for each chain and set."""
    chi2 = _of_chains("chi2", chi2)
    n_chains = len(next(iter(chi2.values())))
    shannon = given.by_set("shannon", shannon, given.array(n_chains, finite=True))
    shown = given.known("shown", shown, [subset for subset in chi2 if subset in shannon], least=1, most=4)
    with style():
        figure = new_figure(7.2, 4.0)
        axes = figure.subplots()
        for marker, subset in zip("os^D", shown):
            axes.plot(
                chi2[subset],
                shannon[subset],
                marker,
                color=looks_of(subset)[0],
                markersize=3.5,
                alpha=0.6,
                label=name_of(subset),
            )
        x = np.linspace(0, max(values.max() for values in chi2.values()) * 1.02, 200)
        axes.plot(x, np.log1p(x), color=BLACK, linewidth=1.4, label="log(1 + χ²)")
        axes.plot(x, x / 2, color=BLACK, linewidth=1.4, linestyle=":", label="χ²/2")
        axes.set(xlabel="chi-squared information", ylabel="Shannon's information (nats)")
        axes.set(xlim=(0, x[-1]), ylim=(0, 1.05 * np.log1p(x[-1])))
        axes.legend()
    return figure


def estimates_over_context(
    lengths: np.ndarray,
    panels: Mapping[str, tuple[Sequence[Mapping[Subset, float]], Mapping[Subset, float]]],
    shown: Sequence[Subset],
) -> Figure:
    """Draw estimates from contexts against their length, with the exact values dashed.

    A panel has the values of each set for each length, and the exact ones.
    """
    lengths = given.sizes("lengths", lengths)
    exact = partial(given.by_set, check_part=check.real)
    estimates = partial(given.each, check_part=exact, number=len(lengths))
    panels = given.mapping("panels", panels, partial(given.parts, checks=(estimates, exact)))
    found = [values for estimates, exact in panels.values() for values in (exact, *estimates)]
    sets = [subset for subset in found[0] if all(subset in values for values in found)]
    shown = given.known("shown", shown, sets, least=1, most=len(COLORS))
    with style():
        figure = new_figure(7.2, 4.0)
        columns = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, (estimates, exact)) in zip(columns, panels.items()):
            for subset in shown:
                color = looks_of(subset)[0]
                heights = [values[subset] for values in estimates]
                axes.plot(lengths, heights, "o-", color=color, markersize=4, label=name_of(subset))
                axes.axhline(exact[subset], color=color, linestyle="--", linewidth=1.4)
            axes.set(title=title, xlabel="context length L", xscale="log")
            axes.set_ylim(bottom=0)
        columns[0].legend(title="dashed: exact")
    return figure


def _of_chains(name: str, value: object) -> dict[Subset, np.ndarray]:
    """Return a value of each set for each chain."""
    values = given.by_set(name, value, given.numbers)
    return given.by_set(name, values, given.array(len(next(iter(values.values())))))


def _winners(values: Mapping[Subset, np.ndarray], parents: Subset | None = None) -> np.ndarray:
    """Return the position of the set with the largest value; ties go to the parents, then the first."""
    table = np.array(list(values.values()))
    tied = table >= table.max(axis=0) * (1 - 1e-9)
    first = tied.argmax(axis=0)
    if parents is None:
        return first
    at = list(values).index(parents)
    return np.where(tied[at], at, first)


def _close_together(x: np.ndarray, y: np.ndarray) -> list[list[int]]:
    """Group points that stand in one column so close that their labels would collide."""
    groups: list[list[int]] = []
    for i in np.lexsort((-y, x)):
        last = groups[-1][-1] if groups else None
        if last is not None and x[last] == x[i] and abs(y[last] - y[i]) < 0.13:
            groups[-1].append(int(i))
        else:
            groups.append([int(i)])
    return groups
