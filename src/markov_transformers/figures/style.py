"""One style for all figures of the book.

Colours are seven of the eight of Okabe and Ito, which readers with any colour vision can tell apart; a
shade always comes with a number, a marker or a label. A set of lags and a predictor have one look
in all figures, which `looks_of` tells. Figures have a white background, so that they read the same
on a light and on a dark page.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from .. import _validation as check
from . import _given as given

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, VERMILION = "#0072b2", "#e69f00", "#009e73", "#d55e00"
PURPLE, SKY, BLACK = "#cc79a7", "#56b4e9", "#000000"
COLORS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)

Subset = tuple[int, ...]

_SETS = {  # pairs are solid, single lags dashed
    (): ("0.55", ":"),
    (1,): (SKY, "--"),
    (2,): (GREEN, "--"),
    (3,): (ORANGE, "--"),
    (1, 2): (BLUE, "-"),
    (1, 3): (PURPLE, "-"),
    (2, 3): (VERMILION, "-"),
    (1, 4): (PURPLE, "-."),
    (2, 4): (PURPLE, "-."),
    (1, 2, 3): (PURPLE, "-."),
}
_OTHER_SETS = (SKY, GREEN, ORANGE, PURPLE, VERMILION, BLUE)
_PREDICTORS = {
    "unigram": (ORANGE, "-"),
    "inductionhead": (PURPLE, "-"),
    "gih": (BLUE, "-"),
    "generalizedinductionhead": (BLUE, "-"),
    "fullhistorymatch": (VERMILION, "-"),
    "bayes": (GREEN, "-"),
    "bayesoptimal": (GREEN, "-"),
    "bestpossible": (BLACK, "--"),
    "transformer": (BLACK, "-"),
}

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


def looks_of(what: Subset | str) -> tuple[str, str]:
    """Return the colour and the dashes that a set of lags or a predictor has in every figure.

    A predictor may go by its class or in words: `FullHistoryMatch`, `full-history match`.
    """
    if isinstance(what, str):
        return _PREDICTORS.get(_plain(what), (BLACK, "-"))
    return _SETS.get(what, (_OTHER_SETS[sum(lag**2 for lag in what) % len(_OTHER_SETS)], "-."))


def color_of_label(label: str) -> str | None:
    """Return the colour of the set of lags or the predictor that a label starts with or is, if any."""
    lags = re.match(r"\{([\d, ]+)\}|∅", label)
    if lags:
        return looks_of(tuple(int(lag) for lag in (lags[1] or "").split(",") if lag.strip()))[0]
    return looks_of(label)[0] if _plain(label) in _PREDICTORS else None


def _plain(name: str) -> str:
    return re.sub(r"[\s-]", "", name).lower()


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
