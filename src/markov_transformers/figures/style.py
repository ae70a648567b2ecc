"""One style for all figures of the book.

Colours are the eight of Okabe and Ito, which readers with any colour vision can tell apart; a
shade always comes with a number, a marker or a label. Figures have a white background, so that
they read the same on a light and on a dark page.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from .. import _validation as check
from . import _given as given

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, VERMILION = "#0072b2", "#e69f00", "#009e73", "#d55e00"
PURPLE, SKY, YELLOW, BLACK = "#cc79a7", "#56b4e9", "#f0e442", "#000000"
COLORS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)

_STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "font.size": 12,
    "grid.alpha": 0.3,
    "image.cmap": "cividis",
    "legend.frameon": False,
    "legend.fontsize": 11,
    "lines.linewidth": 2.2,
    "lines.markersize": 7,
    "savefig.dpi": 120,
    "savefig.facecolor": "white",
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
}


def style() -> AbstractContextManager:
    """Return a context in which figures are drawn in the book's style."""
    import matplotlib
    from cycler import cycler

    return matplotlib.rc_context({**_STYLE, "axes.prop_cycle": cycler(color=COLORS)})


def use_style() -> None:
    """Draw all figures of this session in the book's style, and show them in a notebook.

    A figure's size then depends on its code alone: nothing is cropped when it is shown.
    """
    import matplotlib
    from cycler import cycler

    matplotlib.rcParams.update({**_STYLE, "axes.prop_cycle": cycler(color=COLORS)})
    try:
        from IPython import get_ipython
        from IPython.core.pylabtools import select_figure_formats
    except ImportError:
        return
    shell = get_ipython()
    if shell is not None:
        select_figure_formats(shell, {"png"}, bbox_inches=None)


def new_figure(width: float = 7.2, height: float = 3.4) -> Figure:
    """Return an empty figure in the book's style, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width, height = check.real("width", width, 0.5, 100), check.real("height", height, 0.5, 100)
    with style():
        figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def freeze_layout(figure: Figure) -> None:
    """Work out where the panels and the labels below them stand, once; later changes redraw faster.

    Labels of y axes still give way to the numbers beside them, whose width may change.
    """
    from matplotlib.figure import Figure

    given.instance(Figure)("figure", figure)
    figure.canvas.draw()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            label = axis.label
            if axis is axes.xaxis or not label.get_text():
                place = label.get_transform().transform(label.get_position())
                axis.set_label_coords(*axes.transAxes.inverted().transform(place))
