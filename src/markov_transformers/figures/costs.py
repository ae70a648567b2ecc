"""Figures of what training costs: times beside each other, and how they grow."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from . import _given as given
from .style import BLACK, BLUE, GREEN, VERMILION, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = ((VERMILION, "s", "-"), (GREEN, "^", "--"), (BLUE, "o", "-"))


def ladder(seconds: Mapping[str, float], *, told: Mapping[str, str]) -> Figure:
    """Draw times as dots on a logarithmic axis, one row each.

    Parameters
    ----------
    seconds : mapping of str to float
        Name of a row, from top to bottom, and its time.
    told : mapping of str to str
        The time of each row in words, written beside its dot.
    """
    seconds = given.mapping("seconds", seconds, partial(check.real, minimum=0, strict=True))
    told = given.entries("told", told, dict.fromkeys(seconds, given.text))
    with style():
        figure = new_figure(7.2, 0.9 + 0.45 * len(seconds))
        axes = figure.subplots()
        places = np.arange(len(seconds))[::-1]
        values = np.array(list(seconds.values()))
        axes.hlines(places, values.min() / 3, values, color=BLACK, linewidth=1, alpha=0.4)
        axes.plot(values, places, "o", color=BLUE, markersize=9)
        for place, name in zip(places, seconds):
            axes.annotate(told[name], (seconds[name], place), (9, 0), textcoords="offset points", va="center")
        axes.set_yticks(places, list(seconds))
        axes.set(xscale="log", xlabel="seconds", xlim=(values.min() / 3, values.max() * 20))
        axes.set_ylim(-0.6, len(seconds) - 0.4)
        axes.grid(False, axis="y")
    return figure


def growth_curves(panels: Mapping[str, Mapping[str, tuple[np.ndarray, np.ndarray]]]) -> Figure:
    """Draw times over sizes on logarithmic axes, one panel for each quantity that doubles.

    Parameters
    ----------
    panels : mapping of str to mapping of str to pair of arrays
        Label of a quantity, then name of a curve, then sizes and seconds. A dotted line, which
        doubles when the quantity does, starts where the first curve starts.
    """
    curves = partial(given.mapping, check_part=_sizes_and_seconds, most=len(_LOOKS))
    panels = given.mapping("panels", panels, curves)
    with style():
        figure = new_figure(7.2, 2.9 * -(-len(panels) // 2) + 0.5)
        drawn = figure.subplots(-(-len(panels) // 2), 2, sharey=True, squeeze=False)
        for axes, (quantity, curves) in zip(drawn.flat, panels.items()):
            for (color, marker, dashes), (name, (sizes, seconds)) in zip(_LOOKS, curves.items()):
                axes.plot(sizes, 1e3 * np.asarray(seconds), dashes, color=color, marker=marker, label=name)
            sizes, seconds = next(iter(curves.values()))
            line = 1e3 * seconds[0] * np.asarray(sizes) / sizes[0]
            axes.plot(sizes, line, ":", color=BLACK, linewidth=1.4, label="in proportion")
            axes.set(xscale="log", yscale="log", xlabel=quantity)
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
            axes.minorticks_off()
        for axes in drawn[:, 0]:
            axes.set_ylabel("milliseconds")
        figure.legend(*drawn[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _sizes_and_seconds(name: str, value: object) -> list[np.ndarray]:
    sizes, seconds = given.parts(name, value, (given.sizes, given.positive))
    return [sizes, given.array(len(sizes))(f"{name}[1]", seconds)]
