"""Figures that serve many chapters: matrices with their numbers, and labelled curves."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _validation as check
from . import _given as given
from .style import COLORS, color_of_label, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def matrix(
    axes: Axes,
    values: np.ndarray,
    *,
    title: str = "",
    labels: tuple[str, str] = ("", ""),
    vmin: float | None = None,
    vmax: float | None = None,
    aspect: str = "equal",
) -> None:
    """Draw a matrix as shades with its numbers written in.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    values : array, shape (n_rows, n_columns)
    title : str, optional
    labels : pair of str, optional
        Of the columns and of the rows.
    vmin, vmax : float, optional
        Where the darkest and the lightest shade stand; by default the extremes of the values.
    aspect : {'equal', 'auto'}, default 'equal'
        Square cells, or cells that fill the axes.
    """
    from matplotlib.axes import Axes

    given.instance(Axes)("axes", axes)
    values = given.array(None, None)("values", values)
    title, labels = given.text("title", title), given.words("labels", labels, 2)
    vmin, vmax = given.optional(check.real)("vmin", vmin), given.optional(check.real)("vmax", vmax)
    aspect = check.choice("aspect", aspect, ("equal", "auto"))
    image = axes.imshow(values, vmin=vmin, vmax=vmax, aspect=aspect)
    low, high = image.get_clim()
    middle = (low + high) / 2
    if max(values.shape) <= 8:
        size = 10 if max(values.shape) <= 6 else 8
        for (row, column), value in np.ndenumerate(values):
            color = "black" if value > middle else "white"
            axes.text(column, row, _short(value), ha="center", va="center", color=color, fontsize=size)
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1])
    axes.set_xticks(range(values.shape[1]))
    axes.set_yticks(range(values.shape[0]))
    axes.tick_params(length=0)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def matrices(values: Mapping[str, np.ndarray], *, labels: tuple[str, str], shared: bool = True) -> Figure:
    """Draw matrices side by side, on one scale if `shared`."""
    values = given.mapping("values", values, given.array(None, None))
    labels = given.words("labels", labels, 2)
    shared = check.flag("shared", shared)
    with style():
        figure = new_figure(max(7.2, 2.9 * len(values)), 3.4 if len(values) > 2 else 3.7)
        figure.get_layout_engine().set(h_pad=0.1)
        panels = figure.subplots(1, len(values), squeeze=False)[0]
        low, high = (f(np.min(v) if f is min else np.max(v) for v in values.values()) for f in (min, max))
        limits = {"vmin": low, "vmax": high} if shared else {}
        for axes, (title, value) in zip(panels, values.items()):
            matrix(
                axes, value, title=title, labels=(labels[0], labels[1] if axes is panels[0] else ""), **limits
            )
    return figure


def curves(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    *,
    labels: tuple[str, str],
    scales: tuple[str, str] = ("linear", "linear"),
    dashed: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """Draw labelled curves in one panel; those named in `dashed` are references.

    A curve whose label starts with a set of lags, or is the name of a predictor, has its colour.

    Parameters
    ----------
    curves : mapping of str to pair of arrays, shape (n_points,)
        Label of a curve, then its x and y; at most twelve curves.
    labels : pair of str
        Of the two axes.
    scales : pair of {'linear', 'log'}, default ('linear', 'linear')
        Of the two axes.
    dashed : sequence of str, optional
        Labels of curves.
    title : str, optional
    """
    curves = given.mapping("curves", curves, given.curve, most=2 * len(COLORS))
    labels, title = given.words("labels", labels, 2), given.text("title", title)
    x_scale, y_scale = given.parts("scales", scales, (given.scale, given.scale))
    dashed = given.known("dashed", dashed, curves)
    with style():
        figure = new_figure(7.2, 3.6)
        axes = figure.subplots()
        for color, (label, (x, y)) in zip(_colors(curves), curves.items()):
            axes.plot(x, y, linestyle="--" if label in dashed else "-", color=color, label=label)
        axes.set(xlabel=labels[0], ylabel=labels[1], xscale=x_scale, yscale=y_scale, title=title)
        axes.legend()
    return figure


def _colors(labels: Iterable[str]) -> list[str]:
    """Return a colour for each label: its own where it has one, and the others in turn."""
    own = [color_of_label(label) for label in labels]
    rest = itertools.cycle([color for color in COLORS if color not in own])
    return [color or next(rest) for color in own]


def _short(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.2f}".removeprefix("0") if abs(value) < 10 else f"{value:.0f}"
